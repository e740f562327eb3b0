/* recipe_impl.h - a recipe's entries and the tables of the core's own sections. */
#ifndef TUTTI_RECIPE_IMPL_H
#define TUTTI_RECIPE_IMPL_H

#include <tutti/recipe.h>

/* One "key = value", and where it stands. */
struct tutti_entry {
  char *section, *key, *value;
  char *file; /* "--set" for overrides */
  int line;   /* 0 for overrides */
  int level;  /* 0: the last base of the `extends` chain; higher ones override lower ones */
  bool used;
};
struct tutti_entries {
  struct tutti_entry *items;
  size_t count, room;
};

/* Read a file and the files that it extends; later entries override earlier ones, which are gone. */
TUTTI_NODISCARD enum tutti_status tutti_entries_read(tutti_context *context, const char *path,
                                                     struct tutti_entries *entries);
/* Add "section.key=value". */
TUTTI_NODISCARD enum tutti_status tutti_entries_override(tutti_context *context, const char *text,
                                                         struct tutti_entries *entries);
void tutti_entries_release(struct tutti_entries *entries);
struct tutti_entry *tutti_entries_find(const struct tutti_entries *entries, const char *section, const char *key);
bool tutti_entries_has_section(const struct tutti_entries *entries, const char *section);
/* Put "FILE:LINE: [section] key: " in front of the current error. Returns `status`. */
enum tutti_status tutti_entry_blame(tutti_context *context, const struct tutti_entry *entry, enum tutti_status status);

/* The table of [run] (run_params.c). */
const struct tutti_params *tutti_run_params(void);

struct tutti_recipe {
  struct tutti_entries entries;
  char *folder;
  char *name;          /* of the run, unless the recipe gives one */
  tutti_config *run, *data, *head; /* data and head: NULL without [data] */
  tutti_domain *hyperparameters;
  tutti_host *host; /* plugins with their parameters, as assemble() gives them */
};

#endif
