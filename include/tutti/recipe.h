/* recipe.h - an INI recipe: parsed, extended, overridden. Every key is checked against the tables of the library and of
   the plugins that the recipe names. Errors give file, line, section.key, what was expected and the closest name. */
#ifndef TUTTI_RECIPE_H
#define TUTTI_RECIPE_H

#include <tutti/assembly.h>
#include <tutti/domain.h>
#include <tutti/evaluate.h>
#include <tutti/param.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_recipe tutti_recipe;

enum tutti_run_order { TUTTI_ORDER_TRIAL, TUTTI_ORDER_COMPLETION };
enum tutti_run_weights { TUTTI_WEIGHTS_OF_ALL, TUTTI_WEIGHTS_OF_MEMBERS };
enum tutti_run_unfinished { TUTTI_UNFINISHED_LEAVE, TUTTI_UNFINISHED_STOP };
enum tutti_run_objective { TUTTI_OBJECTIVE_KEPT /* of the weights that are kept */, TUTTI_OBJECTIVE_LAST_EPOCH };

/* Section [run], as in its table. Made only by the library, from its own table; grows only at the end. */
struct tutti_run_config {
  size_t size;      /* of the library's */
  const char *name; /* of the run directory */
  int64_t seed;
  int64_t budget;       /* networks to train; 0: as many as there is time for */
  int64_t window;       /* trials outstanding at once; it changes what is searched, so it is never a number of cores */
  int64_t workers;      /* processes; 0: one a core. Never changes results */
  int order;            /* enum tutti_run_order */
  int loss;             /* 0 auto, then 1 + enum tutti_loss: the loss that builders and selectors minimise */
  double trial_timeout; /* seconds; infinity */
  int64_t retries;      /* how often a trial is tried again if its worker crashed or was killed */
  double memory_limit;  /* MiB for each worker; 0: no limit */
  bool keep_weights;    /* write weights.safetensors of every trial */
  const char *plugin_path; /* folders, colon-separated */
  int objective;           /* enum tutti_run_objective: which weights that loss is of */
  double plugin_timeout;   /* seconds that a call of a plugin may take in the manager */
  int64_t batch;           /* results told before the builder is asked for as many trials */
  double time;             /* seconds that the run may take, over all sessions; infinity */
  bool keep_pruned;        /* write predictions and weights of pruned trials, too */
  int unfinished;          /* enum tutti_run_unfinished: trainings under way when the time is over */
  double map_inputs;       /* MiB of inputs from which on workers map what the manager has read */
  bool time_predictions;   /* measure what predictions of each trial take */
  int weights_of;          /* enum tutti_run_weights: whose weights stay when the run has ended */
};

/* The table of [run]; those of [data] and [head] are in data.h, that of [evaluation] in evaluate.h. Static. */
TUTTI_API const struct tutti_params *tutti_run_params(void);

/* Section [fit], as in its table: what `tutti fit` does with a surrogate. Made only by the library; grows only at the
   end. */
struct tutti_fit_config {
  size_t size;            /* of the library's */
  struct tutti_reals box; /* ends of each input's range, or of all; none: the training rows' */
  double c;               /* the factor of the deviations; 0: the one of least NLL on the validation rows */
  bool refit;             /* then fit to training and validation rows */
  bool gaps;              /* each repeat leaves out the middle third of another input */
  struct tutti_reals levels;
  int64_t grid, pictures;
  int drawn;             /* enum tutti_fit_drawn */
  const char *test_rows; /* pattern of files of row numbers: each repeat tests on those of another; "": none */
  int outside;           /* enum tutti_fit_outside: what becomes of rows to fit that `box` does not hold */
};
enum tutti_fit_drawn { TUTTI_FIT_POINTS, TUTTI_FIT_LINE };
enum tutti_fit_outside { TUTTI_FIT_REFUSE, TUTTI_FIT_KEEP };
/* The table of [fit]. Static. */
TUTTI_API const struct tutti_params *tutti_fit_params(void);

/* Read a recipe file with the files that it `extends`, and overrides[count], "section.key=value". The file is `path`,
   PATH.ini, or an installed recipe of that name ("quickstart", "nes/cifar10"), whichever is found first. Plugins are
   loaded and every key is checked; nothing is written. The caller destroys *recipe. TUTTI_ERROR_USAGE: the recipe is
   wrong. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_recipe_load(tutti_context *context, const char *path, size_t count,
                                                              const char *const *overrides, tutti_recipe **recipe);
/* The same for the recipe.ini of a run directory, which may be anybody's: the file has to be a regular one that extends
   nothing, and its plugin_path does not count, unless an override sets it or the context trusts runs
   (tutti_trust_runs). The message of a failure says so. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_recipe_load_recorded(tutti_context *context, const char *path,
                                                                       size_t count, const char *const *overrides,
                                                                       tutti_recipe **recipe);
/* A recipe that is installed; texts are borrowed. */
struct tutti_installed_recipe {
  size_t size;
  const char *name;    /* to load it by: "nes/cifar10" */
  const char *path;    /* its file */
  const char *summary; /* the first sentence of the comment at its top; may be "" */
};
/* Call visit(argument, context, recipe) for each installed recipe, in order of their names. They are in the folder that
   the environment variable TUTTI_RECIPE_FOLDER names (empty: none), or in that of the installation. The first status
   other than TUTTI_OK ends the tour and is returned. TUTTI_ERROR_USAGE: the folder cannot be read. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_recipe_visit_installed(
    tutti_context *context,
    enum tutti_status (*visit)(void *argument, tutti_context *context, const struct tutti_installed_recipe *recipe),
    void *argument);
/* Refuse overrides that would be ignored. reads[], which ends with NULL, is what the caller uses of the recipe:
   sections ("selector"), with those that its plugin's parameters name, and single keys ("run.plugin_path").
   TUTTI_ERROR_USAGE names the first override of anything else, what is read here, and where the override acts. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_recipe_refuse_unread(tutti_context *context, const tutti_recipe *recipe, const char *const *reads);
/* Destroy it; NULL is allowed. */
TUTTI_API void tutti_recipe_destroy(tutti_recipe *recipe);
/* The values of [run]; borrowed. */
TUTTI_API const struct tutti_run_config *tutti_recipe_run(const tutti_recipe *recipe);
/* The parameters of [data], and tutti_recipe_head: of [head]; borrowed. NULL if the recipe has no data
   (TUTTI_TASK_VALUE). */
TUTTI_API const tutti_config *tutti_recipe_data(const tutti_recipe *recipe);
TUTTI_API const tutti_config *tutti_recipe_head(const tutti_recipe *recipe);
/* The values of [evaluation]; borrowed. NULL if the recipe has no data. */
TUTTI_API const struct tutti_evaluation_options *tutti_recipe_evaluation(const tutti_recipe *recipe);
/* The values of [fit]; borrowed. NULL for a recipe without that section, which is one for `tutti run`. */
TUTTI_API const struct tutti_fit_config *tutti_recipe_fit(const tutti_recipe *recipe);
/* The recipe's file, as it was named; borrowed. */
TUTTI_API const char *tutti_recipe_path(const tutti_recipe *recipe);
/* The folder of the recipe's file, absolute; borrowed. Paths in configs are absolute already: relative ones were taken
   from the folder of the file that has them, those of overrides from the working folder. */
TUTTI_API const char *tutti_recipe_folder(const tutti_recipe *recipe);
/* The hyperparameters of [hyperparameters] that have ranges; borrowed. Fixed ones are set in [backend]. */
TUTTI_API const tutti_domain *tutti_recipe_hyperparameters(const tutti_recipe *recipe);
/* Make a host with the plugins of all sections and their parameters (space, backend, builder, selector, executor and
   the plugins that they name); the caller destroys *host. It has no facts yet: tutti_host_set_facts. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_recipe_assemble(tutti_context *context, const tutti_recipe *recipe,
                                                                  tutti_host **host);
/* The effective recipe as INI: every key with its value, paths absolute. Running it again gives the same run. Free
   *text with tutti_free. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_recipe_print(tutti_context *context, const tutti_recipe *recipe,
                                                               char **text);

/* What a key of the effective recipe decides; a section that several plugins name is of the first of their parts. */
enum tutti_recipe_part {
  TUTTI_RECIPE_SEARCH, /* what is searched, and how it is trained */
  /* [selector], [calibrator], what they alone name, [evaluation]: made of a finished pool, and can be made again */
  TUTTI_RECIPE_SELECTION,
  TUTTI_RECIPE_CIRCUMSTANCES, /* where and how fast a run is made, not what comes of it: run.name, run.workers, ... */
  TUTTI_RECIPE_EXTENT         /* how far a run goes, run.budget and run.time: a resumed one may go further */
};
/* One key with its value. If another section's parameter names the plugin of a section, that section's first item has
   the key "". */
struct tutti_recipe_item {
  size_t size;
  enum tutti_recipe_part part;
  const char *section, *key, *value, *doc;
  const char *note;                      /* follows the doc: a unit, a plugin's version; or NULL */
  bool input;                            /* the value is the path of a file or folder that trainings read, or "" */
  const struct tutti_param *param;       /* what the key may be; or NULL, as of hyperparameters with a range */
  const struct tutti_descriptor *plugin; /* whose name the value is, if the key is "plugin" or ""; or NULL */
};
/* Call visit(argument, context, item) for each item of the effective recipe, in the order of tutti_recipe_print; texts
   are borrowed until the visit returns. The first status other than TUTTI_OK ends the tour and is returned. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_recipe_visit(
    tutti_context *context, const tutti_recipe *recipe,
    enum tutti_status (*visit)(void *argument, tutti_context *context, const struct tutti_recipe_item *item),
    void *argument);
/* Are two recipes of one run? They are if they differ at most in circumstances: run.name, run.workers,
   run.trial_timeout, run.plugin_timeout, run.retries, run.memory_limit, run.plugin_path and executor sections, or in
   how far they go: run.budget and run.time. Otherwise TUTTI_ERROR_USAGE names the first key that differs, and both
   values. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_recipe_same_run(tutti_context *context, const tutti_recipe *a,
                                                                  const tutti_recipe *b);

TUTTI_END_DECLS
#endif
