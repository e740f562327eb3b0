/* recipe_impl.h - a recipe's inside; for engine/recipe/ alone. */
#ifndef TUTTI_RECIPE_IMPL_H
#define TUTTI_RECIPE_IMPL_H

#include <tutti/hosting.h>
#include <tutti/recipe.h>

/* A file that was read; entries point to it. The command line counts as a file, too. */
struct recipe_file {
  char *path;   /* as it was named, for messages */
  char *folder; /* absolute: the base of its relative paths */
  bool command_line;
};

/* "key = value" in a section; with an empty key, the heading of the section. */
struct recipe_entry {
  const struct recipe_file *file;
  int line;
  unsigned layer; /* 0: the last file in the chain of `extends`; the command line has the highest */
  char *section, *key, *value;
};

struct tutti_recipe {
  bool recorded; /* of a run directory, which may be anybody's */
  struct recipe_file **files;
  size_t file_count, file_room;
  struct recipe_entry *entries; /* one for each section and key, in the order in which they were first seen */
  size_t count, room;
  char *folder;
  tutti_config *run, *data, *head, *evaluation; /* NULL without data, except run. The source is in the host */
  tutti_config *fit;                            /* NULL without that section */
  tutti_domain *hyperparameters;
  tutti_host *host;
  struct recipe_absent *absent; /* NULL, unless it is recorded and its backend is not there */
};

/* --- a backend that is not there (recipe_absent.c) --------------------------------------------------------------- */

/* Let something stand in for the backend `name`, which could not be put because of `status`; that error is cleared. */
TUTTI_NODISCARD enum tutti_status tutti_recipe_put_absent(tutti_context *context, tutti_recipe *recipe,
                                                          const char *name, enum tutti_status status);
/* Why the backend is not there, or NULL if it is; and what stands in for it, or NULL. */
const char *tutti_recipe_absent(const tutti_recipe *recipe);
const struct tutti_descriptor *tutti_recipe_stand_in(const tutti_recipe *recipe);
void tutti_recipe_release_absent(tutti_recipe *recipe);

/* --- reading (recipe_parse.c) ------------------------------------------------------------------------------------ */

/* Read a file and everything that it extends, then the overrides. Entries of higher layers replace those of lower
   ones. */
TUTTI_NODISCARD enum tutti_status tutti_recipe_read(tutti_context *context, tutti_recipe *recipe, const char *name,
                                                    size_t count, const char *const *overrides);
/* Free files and entries. */
void tutti_recipe_release_entries(tutti_recipe *recipe);
/* The entry of a section and key, or NULL. */
const struct recipe_entry *tutti_recipe_find(const tutti_recipe *recipe, const char *section, const char *key);
/* Is it the name of a section that is no plugin's, as [run] and [data]? */
bool tutti_recipe_is_own(const char *section);
/* Is it the name of a kind of plugin? Clears the context's error. */
bool tutti_recipe_is_kind(tutti_context *context, const char *name);
/* Put "FILE:LINE: [section] key: " in front of an error's message. Returns `status`. */
enum tutti_status tutti_recipe_blame(tutti_context *context, const struct recipe_entry *entry,
                                     enum tutti_status status);
/* "FILE:LINE: " alone, or "--set section.key: ". */
enum tutti_status tutti_recipe_blame_line(tutti_context *context, const struct recipe_entry *entry,
                                          enum tutti_status status);

/* --- finding (recipe_installed.c) -------------------------------------------------------------------------------- */

/* The path of a recipe: `name` or NAME.ini in `folder` ("": here), or in the folder of the installed recipes. NULL if
   there is none. Free *path with tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_recipe_locate(tutti_context *context, const char *folder, const char *name,
                                                      char **path);

/* --- printing (recipe_print.c) ----------------------------------------------------------------------------------- */

/* Where a file or folder that trainings read will lie, relative to the recipe's folder: *moved, freed with tutti_free;
   NULL: it stays where it is. */
typedef enum tutti_status tutti_move_input(void *argument, tutti_context *context, const char *path, char **moved);
/* As tutti_recipe_print, with these paths. */
TUTTI_NODISCARD enum tutti_status tutti_recipe_print_moved(tutti_context *context, const tutti_recipe *recipe,
                                                           tutti_move_input *move, void *argument, char **text);

/* --- visiting (recipe_visit.c) ----------------------------------------------------------------------------------- */

typedef enum tutti_status tutti_visit_plugin(void *visitor, tutti_context *context,
                                             const struct tutti_descriptor *descriptor);
/* Visit the plugins that workers make for trainings, section by section. */
TUTTI_NODISCARD enum tutti_status tutti_recipe_visit_training(tutti_context *context, const tutti_recipe *recipe,
                                                              tutti_visit_plugin *visit, void *visitor);

/* --- checking (recipe_check.c) ----------------------------------------------------------------------------------- */

/* Does the recipe's plugin_path count? Not that of a run which is only looked at. */
bool tutti_recipe_path_counts(const tutti_context *context, const tutti_recipe *recipe);
/* Add to the message of a failure that it does not count, if that is so. Returns `status`. */
enum tutti_status tutti_recipe_say_untrusted(tutti_context *context, const tutti_recipe *recipe,
                                             enum tutti_status status);
/* Fill run, data, head, hyperparameters and host from the entries. */
TUTTI_NODISCARD enum tutti_status tutti_recipe_check(tutti_context *context, tutti_recipe *recipe);

/* --- sections (recipe_sections.c) -------------------------------------------------------------------------------- */

/* Sections that every run has, or every fit, and their default plugins. */
struct recipe_root {
  const char *section;
  enum tutti_kind kind;
  const char *plugin;
  bool of_run, of_fit;
  bool of_data;     /* only with a section [data] */
  bool of_training; /* workers make it, too */
  enum tutti_recipe_part part;
};
enum { RECIPE_ROOTS = 8 };
extern const struct recipe_root tutti_recipe_roots[RECIPE_ROOTS];
/* The section of the source, which also has keys of the data set. It exists if there are data. */
#define RECIPE_SOURCE_SECTION "data"
/* Does a recipe of this kind have that root? */
bool tutti_recipe_has_root(const tutti_recipe *recipe, const struct recipe_root *root);
/* Is the section one of those that it has? */
bool tutti_recipe_is_root(const tutti_recipe *recipe, const char *section);
/* May a resumed run have another value of this key of [run]? */
bool tutti_run_is_circumstance(const char *key);
/* Fail for a key that is neither in the tables nor in `more` (or NULL). `owner` has the tables, as in "backend cpu";
   parameters that lack one of `flags` are not mentioned. */
enum tutti_status tutti_recipe_unknown_key(tutti_context *context, const struct recipe_entry *entry, const char *owner,
                                           const struct tutti_params *params, const struct tutti_params *more,
                                           unsigned flags);
/* The layer that decided which plugin a section has, or that it has none: any plugin that was swapped may have named
   it. 0 if it is the default. */
unsigned tutti_recipe_decided(const tutti_recipe *recipe, const char *section);
/* Descriptor of the plugin in a section, or NULL. */
const struct tutti_descriptor *tutti_recipe_plugin(const tutti_recipe *recipe, const char *section,
                                                   const tutti_config **config);

/* --- learners: plugins that a searchable parameter of the backend may name (recipe_learners.c) -------------------- */

/* Put those that the recipe names, in [hyperparameters] or [backend], into their sections, and no others. */
TUTTI_NODISCARD enum tutti_status tutti_recipe_put_learners(tutti_context *context, tutti_recipe *recipe);
/* Does this entry say which learners there are? */
bool tutti_recipe_names_learners(const tutti_recipe *recipe, const struct recipe_entry *entry);
/* The section of the networks' last layer, which the engine fills itself; hyperparameters of it have this prefix. */
#define RECIPE_HEAD_SECTION "head"
#define RECIPE_HEAD_PREFIX RECIPE_HEAD_SECTION "."
/* What the hyperparameter `key` is a parameter of: the section of a learner, or [head], if the key is SECTION.NAME,
   else "backend". *name is the rest of the key, in it. */
const char *tutti_recipe_owner(const tutti_recipe *recipe, const char *key, const char **name);
/* The table of such a section, and what is set of it. */
const struct tutti_params *tutti_recipe_owner_params(const tutti_recipe *recipe, const char *section,
                                                     const tutti_config **config);
/* Is the section one of a learner? *parameter (may be NULL) is the parameter that may name it. */
bool tutti_recipe_is_learner(const tutti_recipe *recipe, const char *section, const char **parameter);

/* The value of an entry that is a range, with its condition as far as higher layers have not decided it
   (recipe_conditions.c); "": it never counts. Free *text with tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_recipe_condition(tutti_context *context, const tutti_recipe *recipe,
                                                         const struct recipe_entry *entry, char **text);

/* --- fits (recipe_fit.c) ----------------------------------------------------------------------------------------- */

/* The section that makes a recipe one for `tutti fit`. */
#define RECIPE_FIT_SECTION "fit"
/* Refuse a section that only `tutti run` has a use for, or a fit without data. */
TUTTI_NODISCARD enum tutti_status tutti_recipe_check_fit(tutti_context *context, const tutti_recipe *recipe);

/* --- the source (recipe_source.c) -------------------------------------------------------------------------------- */

/* Put the source into the section "data" of the host: the one that [data] names, or the one for the ending of its
   path. */
TUTTI_NODISCARD enum tutti_status tutti_recipe_put_source(tutti_context *context, tutti_recipe *recipe);
/* Fail for a key of [data] that neither the data set nor its source has. */
enum tutti_status tutti_recipe_unknown_data_key(tutti_context *context, const struct recipe_entry *entry,
                                                const struct tutti_descriptor *source);

/* --- hyperparameters (recipe_hyperparameters.c) ------------------------------------------------------------------ */

/* Does an entry of [hyperparameters], from a higher layer, replace this one of [backend], [head] or a learner? */
bool tutti_recipe_is_superseded(const tutti_recipe *recipe, const struct recipe_entry *entry);
/* Make the domain of the searched parameters, and set the fixed ones in the host's backend, or the head. */
TUTTI_NODISCARD enum tutti_status tutti_recipe_set_hyperparameters(tutti_context *context, tutti_recipe *recipe);

/* Say where the recipe has the key that the current error's message begins with ("data.path: ..."), itself or behind
   the plugin that says it ("backend cpu: backend.storage: ..."): put "FILE:LINE: " in front, or "--set " for an
   override, or only the recipe's file if it does not have the key. Returns `status`. */
enum tutti_status tutti_recipe_place(tutti_context *context, const tutti_recipe *recipe, enum tutti_status status);

#endif
