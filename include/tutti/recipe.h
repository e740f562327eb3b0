/* recipe.h - an INI recipe: parsed, extended, overridden; every key checked against the tables of the core and of the
   plugins that it names. Errors give file, line, section.key, what was expected and the closest name. */
#ifndef TUTTI_RECIPE_H
#define TUTTI_RECIPE_H

#include <tutti/assembly.h>
#include <tutti/domain.h>
#include <tutti/evaluate.h>
#include <tutti/param.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_recipe tutti_recipe;

enum tutti_run_objective { TUTTI_OBJECTIVE_KEPT /* of the weights that are kept */, TUTTI_OBJECTIVE_LAST_EPOCH };

/* Section [run], as in its table. */
struct tutti_run_config {
  const char *name; /* of the run directory */
  int64_t seed;
  int64_t budget;          /* networks to train */
  int64_t window;          /* trials outstanding at once; part of what is searched, so never a number of cores */
  int64_t workers;         /* processes; 0: one a core. Never changes results */
  int order;               /* 0 trial, 1 completion */
  int loss;                /* 0 auto, then 1 + enum tutti_loss: what builders minimise and selectors too */
  double trial_timeout;    /* seconds; infinity */
  int64_t retries;         /* how often a trial is tried again whose worker crashed or was killed */
  double memory_limit;     /* MiB of a worker; 0 none */
  bool keep_weights;       /* write weights.safetensors of every trial */
  const char *plugin_path; /* folders, colon-separated */
  int objective;           /* enum tutti_run_objective: whose loss that is */
};

/* The table of [run]; those of [data] and [head] are in data.h, that of [evaluation] in evaluate.h. */
TUTTI_API const struct tutti_params *tutti_run_params(void);

/* Read a recipe file, its `extends` chain and `count` overrides "section.key=value". Plugins are loaded and every key is
   checked; nothing is written. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_recipe_load(tutti_context *context, const char *path, size_t count,
                                                              const char *const *overrides, tutti_recipe **recipe);
TUTTI_API void tutti_recipe_destroy(tutti_recipe *recipe);
TUTTI_API const struct tutti_run_config *tutti_recipe_run(const tutti_recipe *recipe);
/* [data] and [head]; NULL when the recipe has no data (TUTTI_TASK_VALUE). */
TUTTI_API const tutti_config *tutti_recipe_data(const tutti_recipe *recipe);
TUTTI_API const tutti_config *tutti_recipe_head(const tutti_recipe *recipe);
/* [evaluation]; NULL likewise. */
TUTTI_API const struct tutti_evaluation_options *tutti_recipe_evaluation(const tutti_recipe *recipe);
/* The recipe's file, as it was named. */
TUTTI_API const char *tutti_recipe_path(const tutti_recipe *recipe);
/* Say where the recipe has the key that the current error's message begins with ("data.path: ..."): "FILE:LINE: " is put in
   front, or the recipe's file alone where no such key stands in it. Returns `status`. */
TUTTI_API enum tutti_status tutti_recipe_place(tutti_context *context, const tutti_recipe *recipe,
                                               enum tutti_status status);
/* Folder of the recipe's file, absolute. Paths in configs are absolute already: relative ones are taken from the folder of the
   file that has them, those of overrides from the working folder. */
TUTTI_API const char *tutti_recipe_folder(const tutti_recipe *recipe);
/* [hyperparameters] with ranges; fixed ones are set in [backend]. */
TUTTI_API const tutti_domain *tutti_recipe_hyperparameters(const tutti_recipe *recipe);
/* A host with all plugin sections put and set (space, backend, builder, selector, executor and what they name). */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_recipe_assemble(tutti_context *context, const tutti_recipe *recipe,
                                                                  tutti_host **host);
/* The effective recipe: every key with its value, paths absolute; running it again gives the same run. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_recipe_print(tutti_context *context, const tutti_recipe *recipe,
                                                               char **text);

/* What a key of the effective recipe has a say in. */
enum tutti_recipe_part {
  TUTTI_RECIPE_SEARCH,       /* what is searched, and how it is trained */
  TUTTI_RECIPE_SELECTION,    /* [selector], [evaluation]: what is made of a finished pool, and can be made of it anew */
  TUTTI_RECIPE_CIRCUMSTANCES /* where, and how fast, a run is made; not what comes of it: run.name, run.workers, ... */
};
/* One key with its value. A section whose plugin another section's parameter names has an item with key "" first. */
struct tutti_recipe_item {
  size_t size;
  enum tutti_recipe_part part;
  const char *section, *key, *value, *doc;
  const char *note; /* behind the doc: a unit, a plugin's version; or NULL */
};
/* Visit the effective recipe in the order of tutti_recipe_print; texts are borrowed until the visit returns. Ends with
   visit's status when that is not TUTTI_OK. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_recipe_visit(
    tutti_context *context, const tutti_recipe *recipe,
    enum tutti_status (*visit)(void *argument, tutti_context *context, const struct tutti_recipe_item *item),
    void *argument);
/* Two recipes are of one run when they differ at most in circumstances: run.name, run.workers, run.trial_timeout,
   run.retries, run.memory_limit, run.plugin_path and executor sections; the error names the first key that differs, and both values. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_recipe_same_run(tutti_context *context, const tutti_recipe *a,
                                                                  const tutti_recipe *b);

TUTTI_END_DECLS
#endif
