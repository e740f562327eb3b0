/* host.h - what a running plugin may ask of its host: the run's facts, sub-plugins that its parameters name, and the
   predictions of finished trials. */
#ifndef TUTTI_HOST_H
#define TUTTI_HOST_H

#include <tutti/candidate.h>
#include <tutti/param.h>
#include <tutti/predictions.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_host tutti_host;

TUTTI_API uint64_t tutti_host_seed(const tutti_host *host);
TUTTI_API const struct tutti_task *tutti_host_task(const tutti_host *host);
/* NULL outside runs that search (tutti select, say). */
TUTTI_API const tutti_scope *tutti_host_scope(const tutti_host *host);
/* Networks to train in all, and how many trials may be outstanding at once. */
TUTTI_API uint64_t tutti_host_budget(const tutti_host *host);
TUTTI_API size_t tutti_host_window(const tutti_host *host);
/* Name of the plugin that the parameter `section` of some plugin names; NULL for "none" and unknown sections. Instances
   are made by tutti_surrogate_create(context, host, "surrogate", ...) and its like in the headers of the kinds. */
TUTTI_API const char *tutti_host_plugin(const tutti_host *host, const char *section);

/* What the setup of every kind begins with; a plugin of any kind finds it here. The host fills in what an embedder leaves
   out: itself, and its task. `host` and `task` live as long as the instance. */
struct tutti_setup {
  size_t size;                   /* of the whole setup; where a member is beyond it, the plugin does without */
  const tutti_host *host;        /* the run's facts, and the plugins that parameters name */
  const struct tutti_task *task; /* what is to be predicted; NULL where the host knows none */
  uint64_t seed;                 /* keys the streams that the plugin draws from */
};

/* The candidate of a trial of another run, as JSON (see tutti_scope_parse; free with tutti_free). `run` is a run directory;
   trial TUTTI_BEST_TRIAL means the finished one of the least loss. TUTTI_ERROR_USAGE: it has no such trial;
   TUTTI_ERROR_UNSUPPORTED: this host knows no runs. */
#define TUTTI_BEST_TRIAL UINT64_MAX
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_host_other_run(tutti_context *context, const tutti_host *host,
                                                                 const char *run, uint64_t trial, char **candidate);

/* Models as selectors see them. Arrays are borrowed from whoever made the pool. */
struct tutti_pool {
  size_t size; /* sizeof(struct tutti_pool) */
  enum tutti_task_kind kind;
  size_t models, rows, outputs;
  const float *const *predictions; /* [models] -> [rows][width], see predictions.h */
  const uint64_t *trials;          /* [models], ascending */
  const double *losses;            /* [models], each alone, on these rows */
  const double *values;            /* regression: targets [rows][outputs] in their own units; NULL without */
  const int32_t *labels;           /* classification: targets [rows]; NULL without */
};

/* The number of a trial's model in a pool; pool->models if it is not there. */
TUTTI_API size_t tutti_pool_find(const struct tutti_pool *pool, uint64_t trial);

/* The predictions of one of its models, and its targets, as metrics.h takes them. The caller has set `size`; what they point to
   is the pool's. */
TUTTI_API void tutti_pool_predictions(const struct tutti_pool *pool, size_t model,
                                      struct tutti_predictions *predictions);
TUTTI_API void tutti_pool_targets(const struct tutti_pool *pool, struct tutti_targets *targets);

/* The predictions of finished trials (ascending numbers) on a split ("validation", or a shifted one). Files are mapped,
   not read. The caller has set pool->size. TUTTI_ERROR_UNSUPPORTED where trials have no predictions (backend function).
   Release with tutti_host_pool_release. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_host_pool(tutti_context *context, const tutti_host *host,
                                                            const char *split, size_t count, const uint64_t *trials,
                                                            struct tutti_pool *pool);
TUTTI_API void tutti_host_pool_release(const tutti_host *host, struct tutti_pool *pool);

TUTTI_END_DECLS
#endif
