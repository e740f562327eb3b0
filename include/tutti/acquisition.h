/* acquisition.h - kind `acquisition`: how much a point is worth; larger is better. Values are minimised. */
#ifndef TUTTI_ACQUISITION_H
#define TUTTI_ACQUISITION_H

#include <tutti/surrogate.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_acquisition tutti_acquisition;

struct tutti_acquisition_setup {
  size_t size; /* these four: see struct tutti_setup (host.h) */
  const tutti_host *host;
  const struct tutti_task *task;
  uint64_t seed;
  const tutti_scope *scope; /* what is searched; NULL where nobody knows */
};

/* How far a search has come. */
struct tutti_standing {
  size_t size;
  double best;                         /* the least value observed; infinity before the first */
  uint64_t step;                       /* how many proposals came before this one */
  uint64_t steps;                      /* the budget */
  const struct tutti_points *observed; /* all points that have a value or are pending */
};

struct tutti_acquisition_ops {
  size_t size; /* sizeof(struct tutti_acquisition_ops) */

  /* One of `moments` and `evaluate` is REQUIRED; `moments` is the default of `evaluate`. */
  /* Compute worth[count] from mean[count] and deviation[count] (standard deviations, >= 0) and, unless NULL, the
     derivatives by_mean[count] and by_deviation[count]. MUST be finite for finite input. */
  enum tutti_status (*moments)(void *self, tutti_context *context, const struct tutti_standing *standing, size_t count,
                               const double *mean, const double *deviation, double *worth, double *by_mean,
                               double *by_deviation);
  enum tutti_status (*evaluate)(void *self, tutti_context *context, const struct tutti_standing *standing,
                                tutti_surrogate *surrogate, const struct tutti_points *points, double *worth);

  /* OPTIONAL; default: nothing. Called once after the surrogate has been fitted and before the maximiser runs. */
  enum tutti_status (*prepare)(void *self, tutti_context *context, const struct tutti_standing *standing,
                               tutti_surrogate *surrogate);
  /* OPTIONAL; default: accept. May refuse the maximiser's proposal (`round` = 0, 1, ...) after changing its own state.
     The maximiser then runs again. MUST accept in the end: the host allows 1000 rounds. */
  enum tutti_status (*judge)(void *self, tutti_context *context, const struct tutti_standing *standing,
                             const struct tutti_points *proposal, unsigned round, bool *accept);
  /* OPTIONAL; default: false. True: the worth that `moments` gives is a logarithm. Where the surrogate is a mixture of
     models, the worth is averaged over the models; for logarithms, their exponentials are averaged. */
  bool (*in_logs)(void *self);
  /* OPTIONAL; default: false. True: the worth that `moments` gives never falls when the deviation rises. Rounding may
     lower it by 1e-12 of its size, and a logarithm by 1e-12 more. */
  bool (*rises)(void *self);
  /* OPTIONAL; default: false. True: no worth depends on the surrogate, which therefore need not learn anything. */
  bool (*blind)(void *self);
  /* OPTIONAL; default: nothing. Fix what stays for the whole search, with the surrogate fitted to the first
     observations alone (standing->step says how many). Called once before the first `prepare`, or again for each
     proposal while there are fewer observations than the builder starts with. MUST be a function of its arguments and
     the setup alone, so that a resumed run gets the same. */
  enum tutti_status (*calibrate)(void *self, tutti_context *context, const struct tutti_standing *standing,
                                 tutti_surrogate *surrogate);
};

/* --- the host's side --- */

/* Make an instance of the acquisition plugin in `section` of the host; the caller destroys *acquisition. What is copied
   or borrowed, and the errors of every kind: struct tutti_setup (host.h). */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_acquisition_create(tutti_context *context, const tutti_host *host,
                                                                     const char *section,
                                                                     const struct tutti_acquisition_setup *setup,
                                                                     tutti_acquisition **acquisition);
/* Destroy it; NULL is allowed. */
TUTTI_API void tutti_acquisition_destroy(tutti_acquisition *acquisition);
/* The plugin's descriptor, valid for the life of the process. */
TUTTI_API const struct tutti_descriptor *tutti_acquisition_descriptor(const tutti_acquisition *acquisition);
/* Can the surrogate stay without observations (op `blind`)? */
TUTTI_API bool tutti_acquisition_is_blind(const tutti_acquisition *acquisition);
/* Does it have the op `calibrate`? */
TUTTI_API bool tutti_acquisition_calibrates(const tutti_acquisition *acquisition);
/* Run the op `calibrate`; does nothing if the plugin has none. All arguments are borrowed until return. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_acquisition_calibrate(tutti_context *context,
                                                                        tutti_acquisition *acquisition,
                                                                        const struct tutti_standing *standing,
                                                                        tutti_surrogate *surrogate);
/* Run the op `prepare`; does nothing if the plugin has none. All arguments are borrowed until return. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_acquisition_prepare(tutti_context *context,
                                                                      tutti_acquisition *acquisition,
                                                                      const struct tutti_standing *standing,
                                                                      tutti_surrogate *surrogate);
/* Compute worth[points->count] with a fitted surrogate: by the op `evaluate`, or by `moments` from the surrogate's
   predictions. A mixture of models is averaged. TUTTI_ERROR_PLUGIN: a worth is NaN. Errors of acquisition and surrogate
   pass through. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_acquisition_evaluate(tutti_context *context, tutti_acquisition *acquisition,
                           const struct tutti_standing *standing, tutti_surrogate *surrogate,
                           const struct tutti_points *points, double *worth);
/* Can bounds rule points out before they are predicted? True if the worth never falls as the deviation rises (op
   `rises`), the plugin has no op `evaluate`, and the surrogate bounds deviations now (tutti_surrogate_stages). */
TUTTI_API bool tutti_acquisition_has_bounds(const tutti_acquisition *acquisition, const tutti_surrogate *surrogate);
/* Like tutti_acquisition_evaluate, with the same bits, but guaranteed only for the `wanted` (>= 1) best points,
   whichever of equals are counted among them. Where there are bounds (tutti_acquisition_has_bounds), others may get
   NaN, which saves their predictions. TUTTI_ERROR_CANCELLED as well. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_acquisition_evaluate_best(tutti_context *context, tutti_acquisition *acquisition,
                                const struct tutti_standing *standing, tutti_surrogate *surrogate,
                                const struct tutti_points *points, size_t wanted, double *worth);
/* Can tutti_acquisition_gradient be called? True if the plugin has `moments` and no `evaluate`, and the surrogate has
   gradients. */
TUTTI_API bool tutti_acquisition_has_gradient(const tutti_acquisition *acquisition, const tutti_surrogate *surrogate);
/* Compute the worth at vector[dimension] and its gradient[dimension]. TUTTI_ERROR_UNSUPPORTED without `moments`, or
   without the surrogate's gradient; TUTTI_ERROR_PLUGIN: the worth is NaN. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_acquisition_gradient(tutti_context *context, tutti_acquisition *acquisition,
                           const struct tutti_standing *standing, tutti_surrogate *surrogate, size_t dimension,
                           const double *vector, double *worth, double *gradient);
/* Compute worth[count] from mean[count] and deviation[count] and, unless NULL, its derivatives by_mean[count] and
   by_deviation[count]. TUTTI_ERROR_UNSUPPORTED without the op `moments`; TUTTI_ERROR_PLUGIN: a worth is NaN. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_acquisition_moments(tutti_context *context, tutti_acquisition *acquisition, const struct tutti_standing *standing,
                          size_t count, const double *mean, const double *deviation, double *worth, double *by_mean,
                          double *by_deviation);
/* May this proposal, a single point, be tried? *accept = true without the op `judge`. `round` counts the refusals so
   far. TUTTI_ERROR_PLUGIN: the plugin has refused 1000 proposals in a row. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_acquisition_judge(tutti_context *context, tutti_acquisition *acquisition, const struct tutti_standing *standing,
                        const struct tutti_points *proposal, unsigned round, bool *accept);

TUTTI_END_DECLS
#endif
