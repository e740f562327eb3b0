/* surrogate.h - kind `surrogate`: mean and standard deviation of an unknown value. */
#ifndef TUTTI_SURROGATE_H
#define TUTTI_SURROGATE_H

#include <tutti/descriptor.h>
#include <tutti/host.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_surrogate tutti_surrogate;

/* Points, borrowed. A surrogate reads the form that it needs. */
struct tutti_points {
  size_t size;
  size_t count, dimension;
  const double *vectors;                    /* [count][dimension], or NULL */
  const tutti_candidate *const *candidates; /* [count], or NULL */
};

enum { TUTTI_NEEDS_VECTORS = 1, TUTTI_NEEDS_DISTANCES = 2 };

struct tutti_surrogate_setup {
  size_t size;
  const tutti_host *host; /* for sub-plugins, such as the backend of a surrogate made of networks */
  uint64_t seed;
  size_t dimension;           /* of the vectors */
  const tutti_domain *domain; /* whose encoding the vectors are; NULL: plain reals */
  const tutti_scope *scope;   /* what candidates belong to; NULL: vectors only */
};

struct tutti_surrogate_ops {
  size_t size;    /* sizeof(struct tutti_surrogate_ops) */
  unsigned needs; /* TUTTI_NEEDS_*: what must be in the points */

  /* REQUIRED. Forget everything and fit `values` [count] at the points; noise [count] is the known variance of each
     observation's noise, or NULL. Constant and duplicate observations MUST work; count >= 1. */
  enum tutti_status (*fit)(void *self, tutti_context *context, const struct tutti_points *points, const double *values,
                           const double *noise);
  /* REQUIRED. Mean and standard deviation (of the value itself, without observation noise) at each point, [count] each.
     MUST allocate nothing that grows from call to call. */
  enum tutti_status (*predict)(void *self, tutti_context *context, const struct tutti_points *points, double *mean,
                               double *deviation);

  /* OPTIONAL; default: fit again. Add observations to the last fit; it may keep fitted hyperparameters. */
  enum tutti_status (*add)(void *self, tutti_context *context, const struct tutti_points *points, const double *values,
                           const double *noise);
  /* OPTIONAL, both or neither, without default. Condition the standard deviation, not the mean, on pending points as if
     they had been observed (hallucination), until released. */
  enum tutti_status (*hallucinate)(void *self, tutti_context *context, const struct tutti_points *points);
  void (*release)(void *self);
  /* OPTIONAL, without default. Mean and deviation at one vector and their gradients [dimension]. */
  enum tutti_status (*gradient)(void *self, tutti_context *context, const double *vector, double *mean,
                                double *deviation, double *mean_gradient, double *deviation_gradient);
  /* OPTIONAL; default: independent normals. One joint draw of the unknown values at the points, [count]. */
  enum tutti_status (*draw)(void *self, tutti_context *context, const struct tutti_points *points,
                            struct tutti_random *random, double *values);
  /* OPTIONAL, without default: fitted hyperparameters as JSON, for status and the catalogue; free with tutti_free. */
  enum tutti_status (*describe)(void *self, tutti_context *context, char **json);
};

/* --- the host's side --- */

TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_surrogate_create(tutti_context *context, const tutti_host *host,
                                                                   const char *section,
                                                                   const struct tutti_surrogate_setup *setup,
                                                                   tutti_surrogate **surrogate);
TUTTI_API void tutti_surrogate_destroy(tutti_surrogate *surrogate);
TUTTI_API const struct tutti_descriptor *tutti_surrogate_descriptor(const tutti_surrogate *surrogate);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_surrogate_fit(tutti_context *context, tutti_surrogate *surrogate,
                                                                const struct tutti_points *points, const double *values,
                                                                const double *noise);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_surrogate_add(tutti_context *context, tutti_surrogate *surrogate,
                                                                const struct tutti_points *points, const double *values,
                                                                const double *noise);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_surrogate_predict(tutti_context *context, tutti_surrogate *surrogate,
                                                                    const struct tutti_points *points, double *mean,
                                                                    double *deviation);
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_surrogate_hallucinate(tutti_context *context, tutti_surrogate *surrogate, const struct tutti_points *points);
TUTTI_API void tutti_surrogate_release(tutti_surrogate *surrogate);
TUTTI_API bool tutti_surrogate_has_gradient(const tutti_surrogate *surrogate);
TUTTI_API bool tutti_surrogate_has_hallucination(const tutti_surrogate *surrogate);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_surrogate_gradient(tutti_context *context, tutti_surrogate *surrogate,
                                                                     const double *vector, double *mean,
                                                                     double *deviation, double *mean_gradient,
                                                                     double *deviation_gradient);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_surrogate_draw(tutti_context *context, tutti_surrogate *surrogate,
                                                                 const struct tutti_points *points,
                                                                 struct tutti_random *random, double *values);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_surrogate_describe(tutti_context *context, tutti_surrogate *surrogate,
                                                                     char **json);

TUTTI_END_DECLS
#endif
