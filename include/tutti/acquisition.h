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
};

/* Where a search stands. */
struct tutti_standing {
  size_t size;
  double best;                         /* least value observed; infinity when none */
  uint64_t step;                       /* how many proposals came before this one */
  uint64_t steps;                      /* the budget */
  const struct tutti_points *observed; /* all points with a value or pending */
};

struct tutti_acquisition_ops {
  size_t size; /* sizeof(struct tutti_acquisition_ops) */

  /* One of `moments` and `evaluate` is REQUIRED; `moments` is the default of `evaluate`. */
  /* Worth [count] of points with these means and standard deviations (0 is allowed), and, unless NULL, its derivatives in
     both [count]. MUST be finite for finite input. */
  enum tutti_status (*moments)(void *self, tutti_context *context, const struct tutti_standing *standing, size_t count,
                               const double *mean, const double *deviation, double *worth, double *by_mean,
                               double *by_deviation);
  enum tutti_status (*evaluate)(void *self, tutti_context *context, const struct tutti_standing *standing,
                                tutti_surrogate *surrogate, const struct tutti_points *points, double *worth);

  /* OPTIONAL; default: nothing. Called once after the surrogate was fitted, before the maximiser runs. */
  enum tutti_status (*prepare)(void *self, tutti_context *context, const struct tutti_standing *standing,
                               tutti_surrogate *surrogate);
  /* OPTIONAL; default: accept. May refuse the maximiser's proposal (`round` = 0, 1, ...) after changing its own state, so
     that the maximiser runs again; MUST accept in the end. */
  enum tutti_status (*judge)(void *self, tutti_context *context, const struct tutti_standing *standing,
                             const struct tutti_points *proposal, unsigned round, bool *accept);
  /* OPTIONAL; default: false. Is the worth that `moments` gives a logarithm? Where the surrogate is a mixture of models, the
     worth is averaged over them, and of logarithms the exponentials are. */
  bool (*in_logs)(void *self);
  /* OPTIONAL; default: false. Is the worth that `moments` gives never less for a larger deviation? But for rounding: 1e-12 of it,
     of a logarithm 1e-12 more. */
  bool (*rises)(void *self);
};

/* --- the host's side --- */

TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_acquisition_create(tutti_context *context, const tutti_host *host,
                                                                     const char *section,
                                                                     const struct tutti_acquisition_setup *setup,
                                                                     tutti_acquisition **acquisition);
TUTTI_API void tutti_acquisition_destroy(tutti_acquisition *acquisition);
TUTTI_API const struct tutti_descriptor *tutti_acquisition_descriptor(const tutti_acquisition *acquisition);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_acquisition_prepare(tutti_context *context,
                                                                      tutti_acquisition *acquisition,
                                                                      const struct tutti_standing *standing,
                                                                      tutti_surrogate *surrogate);
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_acquisition_evaluate(tutti_context *context, tutti_acquisition *acquisition,
                           const struct tutti_standing *standing, tutti_surrogate *surrogate,
                           const struct tutti_points *points, double *worth);
/* Has it worths that rise with deviations of which there are bounds? */
TUTTI_API bool tutti_acquisition_has_bounds(const tutti_acquisition *acquisition, const tutti_surrogate *surrogate);
/* The same worth, bit for bit, of the `wanted` (>= 1) best points at least, whichever of equals are counted among them; NaN of
   some of the others, where there are bounds. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_acquisition_evaluate_best(tutti_context *context, tutti_acquisition *acquisition,
                                const struct tutti_standing *standing, tutti_surrogate *surrogate,
                                const struct tutti_points *points, size_t wanted, double *worth);
/* Worth at one vector and its gradient [dimension]; TUTTI_ERROR_UNSUPPORTED without `moments` or the surrogate's
   gradient. */
TUTTI_API bool tutti_acquisition_has_gradient(const tutti_acquisition *acquisition, const tutti_surrogate *surrogate);
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_acquisition_gradient(tutti_context *context, tutti_acquisition *acquisition,
                           const struct tutti_standing *standing, tutti_surrogate *surrogate, size_t dimension,
                           const double *vector, double *worth, double *gradient);
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_acquisition_moments(tutti_context *context, tutti_acquisition *acquisition, const struct tutti_standing *standing,
                          size_t count, const double *mean, const double *deviation, double *worth, double *by_mean,
                          double *by_deviation);
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_acquisition_judge(tutti_context *context, tutti_acquisition *acquisition, const struct tutti_standing *standing,
                        const struct tutti_points *proposal, unsigned round, bool *accept);

TUTTI_END_DECLS
#endif
