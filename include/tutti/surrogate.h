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
  size_t size; /* these four: see struct tutti_setup (host.h) */
  const tutti_host *host;
  const struct tutti_task *task;
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
  /* OPTIONAL, without default. Condition the standard deviation, not the mean, on pending points as if they had been
     observed (hallucination), until released. */
  enum tutti_status (*hallucinate)(void *self, tutti_context *context, const struct tutti_points *points);
  /* REQUIRED with hallucinate, fantasise or realise, whose ends it is. */
  void (*release)(void *self);
  /* OPTIONAL, without default. Mean and deviation at one vector and their gradients [dimension]. */
  enum tutti_status (*gradient)(void *self, tutti_context *context, const double *vector, double *mean,
                                double *deviation, double *mean_gradient, double *deviation_gradient);
  /* OPTIONAL; default: independent normals. One joint draw of the unknown values at the points, [count]. */
  enum tutti_status (*draw)(void *self, tutti_context *context, const struct tutti_points *points,
                            struct tutti_random *random, double *values);
  /* OPTIONAL, without default: fitted hyperparameters as JSON, for status and the catalogue; free with tutti_free. */
  enum tutti_status (*describe)(void *self, tutti_context *context, char **json);

  /* OPTIONAL, the first two together; default: one component, as predicted. Predictions as an even mixture of models, over
     which acquisitions are averaged; predict and gradient give the mixture's own moments. The number of components, >= 1,
     changes with fit, add, fantasise, realise and release alone. mean and deviation [components][count]; the gradients
     [components][dimension]. */
  size_t (*components)(void *self);
  enum tutti_status (*predict_components)(void *self, tutti_context *context, const struct tutti_points *points,
                                          double *mean, double *deviation);
  /* REQUIRED with predict_components where there is `gradient`. */
  enum tutti_status (*gradient_components)(void *self, tutti_context *context, const double *vector, double *mean,
                                           double *deviation, double *mean_gradient, double *deviation_gradient);
  /* OPTIONAL, both or neither and with components, without default. Condition on pending points as if each of `draws` joint
     draws of their values had been observed, which makes components of each, until released. least [components]: the least
     value that a component supposes at a pending point; infinity where there is none. */
  enum tutti_status (*fantasise)(void *self, tutti_context *context, const struct tutti_points *points,
                                 struct tutti_random *random, size_t draws);
  void (*least)(void *self, double *least);
  /* OPTIONAL; default: what is predicted is drawn independently at each point, the same each time. Draw the unknown function:
     until released, predict and gradient give its values, with deviations of 0, as a single component. What is pending stays so. */
  enum tutti_status (*realise)(void *self, tutti_context *context, struct tutti_random *random);

  /* OPTIONAL, both or neither, without default. In how many stages predictions can be approached for less work than they cost;
     0 where they cannot: while there are several components or fantasies, or a drawn function. */
  size_t (*stages)(void *self);
  /* Upper bounds of the deviations [count] at a stage below `stages`, and, unless NULL, the means [count] as predicted. A bound
     MUST NOT be below that of a later stage nor below the deviation itself, rounding included, and predictions MUST be the same
     bits whatever points they come with. */
  enum tutti_status (*bound)(void *self, tutti_context *context, const struct tutti_points *points, size_t stage,
                             double *mean, double *deviation);
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
TUTTI_API size_t tutti_surrogate_components(const tutti_surrogate *surrogate);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_surrogate_predict_components(tutti_context *context,
                                                                               tutti_surrogate *surrogate,
                                                                               const struct tutti_points *points,
                                                                               double *mean, double *deviation);
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_surrogate_gradient_components(tutti_context *context, tutti_surrogate *surrogate, const double *vector,
                                    double *mean, double *deviation, double *mean_gradient, double *deviation_gradient);
TUTTI_API bool tutti_surrogate_has_fantasies(const tutti_surrogate *surrogate);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_surrogate_fantasise(tutti_context *context,
                                                                      tutti_surrogate *surrogate,
                                                                      const struct tutti_points *points,
                                                                      struct tutti_random *random, size_t draws);
TUTTI_API void tutti_surrogate_least(const tutti_surrogate *surrogate, double *least);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_surrogate_realise(tutti_context *context, tutti_surrogate *surrogate,
                                                                    struct tutti_random *random);
TUTTI_API size_t tutti_surrogate_stages(const tutti_surrogate *surrogate);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_surrogate_bound(tutti_context *context, tutti_surrogate *surrogate,
                                                                  const struct tutti_points *points, size_t stage,
                                                                  double *mean, double *deviation);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_surrogate_describe(tutti_context *context, tutti_surrogate *surrogate,
                                                                     char **json);

TUTTI_END_DECLS
#endif
