/* host.h - what a running plugin may ask of its host: the run's facts, the plugins that its parameters name, and the
   predictions of finished trials. */
#ifndef TUTTI_HOST_H
#define TUTTI_HOST_H

#include <tutti/candidate.h>
#include <tutti/param.h>
#include <tutti/predictions.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_host tutti_host;

/* The run's seed. */
TUTTI_API uint64_t tutti_host_seed(const tutti_host *host);
/* What is to be predicted; NULL where the host does not know. */
TUTTI_API const struct tutti_task *tutti_host_task(const tutti_host *host);
/* What is searched, borrowed; NULL where nothing is (in tutti select, for example). */
TUTTI_API const tutti_scope *tutti_host_scope(const tutti_host *host);
/* How many networks to train in all; tutti_host_window: how many trials may be outstanding at once. */
TUTTI_API uint64_t tutti_host_budget(const tutti_host *host);
TUTTI_API size_t tutti_host_window(const tutti_host *host);
/* The name of the plugin in a section, that is, the one that some plugin's parameter of this name names; NULL for
   "none" and for unknown sections. Instances are made by tutti_surrogate_create(context, host, "surrogate", ...) and
   its like. */
TUTTI_API const char *tutti_host_plugin(const tutti_host *host, const char *section);

/* The beginning of the setup of every kind, so that a plugin of any kind finds it. The host fills in what an embedder
   leaves out: itself, and its task.

   Every kind has tutti_KIND_create(context, host, section, setup, &object), which makes an instance of the plugin in
   that section with a copy of the section's parameters. The setup is borrowed until return, and may be shorter or
   longer than this library's; what it points to, and the host, must outlive the instance. On failure *object = NULL and
   nothing is left behind. TUTTI_ERROR_USAGE: no plugin is in the section, or one of another kind. TUTTI_ERROR_INTERNAL:
   setup->size is less than that of struct tutti_setup. Otherwise the error is that of the plugin's own `create`.

   Errors of a plugin's ops are returned with "KIND NAME: " in front of the message. TUTTI_ERROR_PLUGIN means that a
   plugin broke its contract. */
struct tutti_setup {
  size_t size;                   /* of the whole setup; members beyond it count as 0 */
  const tutti_host *host;        /* the run's facts, and the plugins that parameters name */
  const struct tutti_task *task; /* what is to be predicted; NULL where nobody knows */
  uint64_t seed;                 /* keys the streams that the plugin draws from */
};

/* The finished trial with the least loss. */
#define TUTTI_BEST_TRIAL UINT64_MAX
/* A trial of another run. Texts are borrowed. */
struct tutti_other_trial {
  size_t size;       /* sizeof(struct tutti_other_trial) */
  const char *run;   /* a run directory */
  uint64_t trial;    /* or TUTTI_BEST_TRIAL */
  const char *split; /* TUTTI_BEST_TRIAL: the rows on which it is best ("validation-5"); NULL: "validation" */
};
/* Its candidate, as the JSON that tutti_scope_parse reads; free *candidate with tutti_free. TUTTI_ERROR_USAGE: the run
   has no such trial, or other data or splits than this one, so that its choices could rest on this run's test rows;
   TUTTI_ERROR_UNSUPPORTED: this host knows no runs. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_host_other_run(tutti_context *context, const tutti_host *host,
                                                                 const struct tutti_other_trial *wanted,
                                                                 char **candidate);

/* What a prediction of one row costs: floating-point operations, the bytes of a model's weights on disk, or
   microseconds of a processor, measured once where the model was trained. A member with a model for each fold costs
   what all of them cost. */
enum tutti_cost { TUTTI_COST_FLOPS, TUTTI_COST_BYTES, TUTTI_COST_MICROSECONDS, TUTTI_COSTS };
/* Their names in recipes, NULL-terminated. */
static const char *const tutti_cost_names[] = {"flops", "bytes", "microseconds", NULL};

/* Models as selectors see them. The arrays belong to whoever made the pool. */
struct tutti_pool {
  size_t size; /* sizeof(struct tutti_pool) */
  enum tutti_task_kind kind;
  size_t models, rows, outputs;
  /* [models] -> [rows][width], see predictions.h. NULL, with rows = 0, for models that have losses and no more; only
     selectors that need no predictions get such pools */
  const float *const *predictions;
  const uint64_t *trials; /* [models], ascending */
  const double *losses;   /* [models]: of each model alone, on these rows */
  const double *values;   /* regression: targets [rows][outputs] in their own units; NULL without */
  const int32_t *labels;  /* classification: targets [rows]; NULL without */
  /* [models] -> [rows][tutti_epistemic_width]: what of their uncertainty is the models' own (predictions.h). NULL for
     those that do not say; NULL itself if none does */
  const float *const *epistemic;
  size_t cost_kinds;          /* how many kinds of cost are known, from the first one on */
  const double *const *costs; /* [cost_kinds] -> [models]; NaN: that of this model is not known */
};

/* The cost of model number `model`; NaN: it is not known. */
TUTTI_API double tutti_pool_cost(const struct tutti_pool *pool, enum tutti_cost cost, size_t model);

/* The number of a trial's model in the pool; pool->models if it is not in the pool. */
TUTTI_API size_t tutti_pool_find(const struct tutti_pool *pool, uint64_t trial);

/* Fill *predictions with those of model number `model`, and tutti_pool_targets: *targets with the pool's, as metrics.h
   takes them. The caller has set `size`; what they point to stays the pool's. */
TUTTI_API void tutti_pool_predictions(const struct tutti_pool *pool, size_t model,
                                      struct tutti_predictions *predictions);
TUTTI_API void tutti_pool_targets(const struct tutti_pool *pool, struct tutti_targets *targets);

/* Fill *pool with the predictions of finished trials[count] (ascending) on a split ("validation", or a shifted one).
   Files are mapped, not read. The caller has set pool->size and releases the pool. TUTTI_ERROR_UNSUPPORTED: trials have
   no predictions here (backend function). TUTTI_ERROR_INTERNAL: pool->size is not set. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_host_pool(tutti_context *context, const tutti_host *host,
                                                            const char *split, size_t count, const uint64_t *trials,
                                                            struct tutti_pool *pool);
/* Release a pool that tutti_host_pool filled; its arrays are gone then. */
TUTTI_API void tutti_host_pool_release(const tutti_host *host, struct tutti_pool *pool);

TUTTI_END_DECLS
#endif
