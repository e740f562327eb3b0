/* surrogate.h - kind `surrogate`: predicts mean and standard deviation of an unknown value. */
#ifndef TUTTI_SURROGATE_H
#define TUTTI_SURROGATE_H

#include <tutti/descriptor.h>
#include <tutti/host.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_surrogate tutti_surrogate;

/* Points; borrowed until return. A surrogate reads the form that it needs. */
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
  const tutti_domain *domain; /* the domain whose encoding the vectors are; NULL: plain reals */
  const tutti_scope *scope;   /* the scope of the candidates; NULL: vectors only */
};

struct tutti_surrogate_ops {
  size_t size;    /* sizeof(struct tutti_surrogate_ops) */
  unsigned needs; /* TUTTI_NEEDS_*: what the points must have */

  /* REQUIRED. Forget everything and fit `values` [count] at the points; noise [count] is the known variance of each
     observation's noise, or NULL. Constant and duplicate observations MUST work; count >= 1. */
  enum tutti_status (*fit)(void *self, tutti_context *context, const struct tutti_points *points, const double *values,
                           const double *noise);
  /* REQUIRED. Mean and standard deviation (of the value itself, without observation noise) at each point, [count] each.
     MUST allocate nothing that grows from call to call. */
  enum tutti_status (*predict)(void *self, tutti_context *context, const struct tutti_points *points, double *mean,
                               double *deviation);

  /* OPTIONAL; default: fit everything again. Add observations to the last fit; fitted hyperparameters may stay. */
  enum tutti_status (*add)(void *self, tutti_context *context, const struct tutti_points *points, const double *values,
                           const double *noise);
  /* OPTIONAL, without default. Condition the standard deviation, but not the mean, on pending points as if they had
     been observed (hallucination), until released. */
  enum tutti_status (*hallucinate)(void *self, tutti_context *context, const struct tutti_points *points);
  /* REQUIRED with hallucinate, fantasise or realise: ends what they began. */
  void (*release)(void *self);
  /* OPTIONAL, without default. Mean and deviation at one vector and their gradients [dimension]. */
  enum tutti_status (*gradient)(void *self, tutti_context *context, const double *vector, double *mean,
                                double *deviation, double *mean_gradient, double *deviation_gradient);
  /* OPTIONAL; default: independent normals. One joint draw of the unknown values at the points, [count]. */
  enum tutti_status (*draw)(void *self, tutti_context *context, const struct tutti_points *points,
                            struct tutti_random *random, double *values);
  /* OPTIONAL, without default: fitted hyperparameters as JSON, for status and the catalogue; free with tutti_free. */
  enum tutti_status (*describe)(void *self, tutti_context *context, char **json);

  /* OPTIONAL, the first two together; default: one component, as predicted. Predictions are an even mixture of models,
     over which acquisitions are averaged; predict and gradient give the mixture's own moments. The number of
     components, >= 1, changes only with fit, add, fantasise, realise and release. mean and deviation are
     [components][count], the gradients [components][dimension]. */
  size_t (*components)(void *self);
  enum tutti_status (*predict_components)(void *self, tutti_context *context, const struct tutti_points *points,
                                          double *mean, double *deviation);
  /* REQUIRED with predict_components where there is `gradient`. */
  enum tutti_status (*gradient_components)(void *self, tutti_context *context, const double *vector, double *mean,
                                           double *deviation, double *mean_gradient, double *deviation_gradient);
  /* OPTIONAL, both or neither, only with components, without default. fantasise: condition on pending points as if each
     of `draws` joint draws of their values had been observed, until released; each draw makes components. least
     [components]: the least value that a component supposes at a pending point; infinity if there is none. */
  enum tutti_status (*fantasise)(void *self, tutti_context *context, const struct tutti_points *points,
                                 struct tutti_random *random, size_t draws);
  void (*least)(void *self, double *least);
  /* OPTIONAL; default: an independent draw at each point, the same each time. Draw the unknown function: until
     released, predict and gradient give its values, with deviations of 0, as a single component. Pending points stay
     pending. */
  enum tutti_status (*realise)(void *self, tutti_context *context, struct tutti_random *random);

  /* OPTIONAL, both or neither, without default. stages: how many stages of bounds there are, each closer to the
     predictions, and all cheaper than predicting; 0 while there are none (with several components, with fantasies, with
     a drawn function). */
  size_t (*stages)(void *self);
  /* bound: write upper bounds of deviation[count] at a stage below `stages` and, unless NULL, mean[count] as predicted.
     A bound MUST NOT be below that of a later stage nor below the deviation itself, rounding included; and a prediction
     MUST have the same bits whatever points it comes with. */
  enum tutti_status (*bound)(void *self, tutti_context *context, const struct tutti_points *points, size_t stage,
                             double *mean, double *deviation);

  /* OPTIONAL, only with `gradient`; default: yes. Does this instance have gradients? The answer never changes. */
  bool (*has_gradient)(void *self);
};

/* --- the host's side --- */

/* Make an instance of the surrogate plugin in `section` of the host; the caller destroys *surrogate. What is copied or
   borrowed, and the errors of every kind: struct tutti_setup (host.h). TUTTI_ERROR_USAGE also if it needs vectors or
   distances that the scope's space does not have. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_surrogate_create(tutti_context *context, const tutti_host *host,
                                                                   const char *section,
                                                                   const struct tutti_surrogate_setup *setup,
                                                                   tutti_surrogate **surrogate);
/* Destroy it; NULL is allowed. */
TUTTI_API void tutti_surrogate_destroy(tutti_surrogate *surrogate);
/* The plugin's descriptor, valid for the life of the process. */
TUTTI_API const struct tutti_descriptor *tutti_surrogate_descriptor(const tutti_surrogate *surrogate);
/* Forget everything, also what is pending, and fit values[points->count] at the points, with noise[points->count], the
   known variance of each observation's noise (NULL: none). All are borrowed until return. TUTTI_ERROR_NUMERIC: a value
   or a noise is not finite, or a noise is negative; TUTTI_ERROR_INTERNAL, here and below: vectors of another dimension;
   here also no points. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_surrogate_fit(tutti_context *context, tutti_surrogate *surrogate,
                                                                const struct tutti_points *points, const double *values,
                                                                const double *noise);
/* Add observations to the last fit, likewise; a surrogate without the op `add` is fitted again to all. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_surrogate_add(tutti_context *context, tutti_surrogate *surrogate,
                                                                const struct tutti_points *points, const double *values,
                                                                const double *noise);
/* Predict mean[points->count] and standard deviation[points->count] of the value itself, without the noise of
   observations. TUTTI_ERROR_PLUGIN, here and below: one is not finite, or a deviation is negative. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_surrogate_predict(tutti_context *context, tutti_surrogate *surrogate,
                                                                    const struct tutti_points *points, double *mean,
                                                                    double *deviation);
/* Lower the standard deviation, but not the mean, as if the points had been observed, until tutti_surrogate_release.
   TUTTI_ERROR_UNSUPPORTED: tutti_surrogate_has_hallucination is false. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_surrogate_hallucinate(tutti_context *context, tutti_surrogate *surrogate, const struct tutti_points *points);
/* End hallucination, fantasies and a drawn function; does nothing without them. */
TUTTI_API void tutti_surrogate_release(tutti_surrogate *surrogate);
/* Does it have gradients now? Not under the default of tutti_surrogate_realise. */
TUTTI_API bool tutti_surrogate_has_gradient(const tutti_surrogate *surrogate);
/* Can it hallucinate? */
TUTTI_API bool tutti_surrogate_has_hallucination(const tutti_surrogate *surrogate);
/* Compute mean and deviation at vector[dimension] and their gradients [dimension]. TUTTI_ERROR_UNSUPPORTED:
   tutti_surrogate_has_gradient is false. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_surrogate_gradient(tutti_context *context, tutti_surrogate *surrogate,
                                                                     const double *vector, double *mean,
                                                                     double *deviation, double *mean_gradient,
                                                                     double *deviation_gradient);
/* Draw values[points->count], jointly if it has the op `draw`, else independent normals. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_surrogate_draw(tutti_context *context, tutti_surrogate *surrogate,
                                                                 const struct tutti_points *points,
                                                                 struct tutti_random *random, double *values);
/* The number of models in the mixture that it predicts with, >= 1. */
TUTTI_API size_t tutti_surrogate_components(const tutti_surrogate *surrogate);
/* Predict mean and deviation [components][points->count] of each model. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_surrogate_predict_components(tutti_context *context,
                                                                               tutti_surrogate *surrogate,
                                                                               const struct tutti_points *points,
                                                                               double *mean, double *deviation);
/* Compute mean and deviation [components] at vector[dimension] and their gradients [components][dimension].
   TUTTI_ERROR_UNSUPPORTED: tutti_surrogate_has_gradient is false. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_surrogate_gradient_components(tutti_context *context, tutti_surrogate *surrogate, const double *vector,
                                    double *mean, double *deviation, double *mean_gradient, double *deviation_gradient);
/* Does it have fantasies? */
TUTTI_API bool tutti_surrogate_has_fantasies(const tutti_surrogate *surrogate);
/* Condition on the points as if each of `draws` joint draws of their values had been observed, until
   tutti_surrogate_release. TUTTI_ERROR_UNSUPPORTED: tutti_surrogate_has_fantasies is false. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_surrogate_fantasise(tutti_context *context,
                                                                      tutti_surrogate *surrogate,
                                                                      const struct tutti_points *points,
                                                                      struct tutti_random *random, size_t draws);
/* Write least[components], the least value that each component supposes at a pending point; infinity if there is
   none. */
TUTTI_API void tutti_surrogate_least(const tutti_surrogate *surrogate, double *least);
/* Draw the unknown function: until tutti_surrogate_release, predictions are its values, with deviations of 0. Without
   the op `realise` the draw at each point is independent. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_surrogate_realise(tutti_context *context, tutti_surrogate *surrogate,
                                                                    struct tutti_random *random);
/* How many stages of bounds there are now; 0: none. */
TUTTI_API size_t tutti_surrogate_stages(const tutti_surrogate *surrogate);
/* Write upper bounds of deviation[points->count] at a stage and, unless NULL, mean[points->count] as predicted.
   TUTTI_ERROR_UNSUPPORTED: `stage` is not below tutti_surrogate_stages. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_surrogate_bound(tutti_context *context, tutti_surrogate *surrogate,
                                                                  const struct tutti_points *points, size_t stage,
                                                                  double *mean, double *deviation);
/* Fitted hyperparameters as JSON; free *json with tutti_free. *json = NULL if it has no op `describe`. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_surrogate_describe(tutti_context *context, tutti_surrogate *surrogate,
                                                                     char **json);

TUTTI_END_DECLS
#endif
