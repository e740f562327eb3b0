/* recipe_impl.h - a recipe's inside; for engine/recipe/ alone. */
#ifndef TUTTI_RECIPE_IMPL_H
#define TUTTI_RECIPE_IMPL_H

#include <tutti/recipe.h>

/* A file that was read; entries point to it. The command line is one, too. */
struct recipe_file {
  char *path;   /* as it was named, for messages */
  char *folder; /* absolute: what paths in it are relative to */
  bool command_line;
};

/* "key = value" in a section, or with an empty key the section's heading. */
struct recipe_entry {
  const struct recipe_file *file;
  int line;
  unsigned layer; /* 0: the file at the bottom of the chain of `extends`; the command line is the highest */
  char *section, *key, *value;
};

struct tutti_recipe {
  struct recipe_file **files;
  size_t file_count, file_room;
  struct recipe_entry *entries; /* one for each section and key, in the order in which they were first seen */
  size_t count, room;
  char *folder;
  tutti_config *run, *data, *head, *evaluation;       /* all but run: NULL without data. The source is in the host */
  struct tutti_evaluation_options evaluation_options; /* what `evaluation` says */
  tutti_domain *hyperparameters;
  tutti_host *host;
};

/* --- reading (recipe_parse.c) ------------------------------------------------------------------------------------ */

/* Read a file with all that it extends, then the overrides; entries of higher layers replace those of lower ones. */
TUTTI_NODISCARD enum tutti_status tutti_recipe_read(tutti_context *context, tutti_recipe *recipe, const char *path,
                                                    size_t count, const char *const *overrides);
/* Free files and entries. */
void tutti_recipe_release_entries(tutti_recipe *recipe);
/* The entry of a section and key, or NULL. */
const struct recipe_entry *tutti_recipe_find(const tutti_recipe *recipe, const char *section, const char *key);
/* Put "FILE:LINE: [section] key: " in front of an error's message. Returns `status`. */
enum tutti_status tutti_recipe_blame(tutti_context *context, const struct recipe_entry *entry,
                                     enum tutti_status status);
/* "FILE:LINE: " alone, or "--set section.key: ". */
enum tutti_status tutti_recipe_blame_line(tutti_context *context, const struct recipe_entry *entry,
                                          enum tutti_status status);

/* --- checking (recipe_check.c) ----------------------------------------------------------------------------------- */

/* Fill run, data, head, hyperparameters and host from the entries. */
TUTTI_NODISCARD enum tutti_status tutti_recipe_check(tutti_context *context, tutti_recipe *recipe);
/* Fail for a key that a table does not have, nor `more` (or NULL). `owner` has the tables, as in "backend cpu"; parameters
   that lack one of `flags` are not told of. */
enum tutti_status tutti_recipe_unknown_key(tutti_context *context, const struct recipe_entry *entry, const char *owner,
                                           const struct tutti_params *params, const struct tutti_params *more,
                                           unsigned flags);
/* The layer that decided which plugin stands in a section; 0 when it is the default. */
unsigned tutti_recipe_decided(const tutti_recipe *recipe, const char *section);
/* Descriptor of the plugin in a section, or NULL. */
const struct tutti_descriptor *tutti_recipe_plugin(const tutti_recipe *recipe, const char *section,
                                                   const tutti_config **config);

/* --- the source (recipe_source.c) -------------------------------------------------------------------------------- */

/* Put the source that [data] names, or that the ending of its path says, into the section "data" of the host. */
TUTTI_NODISCARD enum tutti_status tutti_recipe_put_source(tutti_context *context, tutti_recipe *recipe);
/* Fail for a key of [data] that neither the data set nor its source has. */
enum tutti_status tutti_recipe_unknown_data_key(tutti_context *context, const struct recipe_entry *entry,
                                                const struct tutti_descriptor *source);

/* --- hyperparameters (recipe_hyperparameters.c) ------------------------------------------------------------------ */

/* Does an entry of [hyperparameters], of a higher layer, take the place of this one of [backend]? */
bool tutti_recipe_is_superseded(const tutti_recipe *recipe, const struct recipe_entry *entry);
/* Make the domain of what is searched, and set what is fixed in the host's backend. */
TUTTI_NODISCARD enum tutti_status tutti_recipe_set_hyperparameters(tutti_context *context, tutti_recipe *recipe);

#endif
