/* gp_impl.h - the parts of Gaussian processes: covariance, likelihood and its optimum, and the posterior that grows.
   Matrices are LAPACK's: column-major, only the upper triangle is used. K = UᵀU: column j of U is row j of
   the lower factor, so a new observation adds a column. Everything here is in standardised units. */
#ifndef TUTTI_GP_IMPL_H
#define TUTTI_GP_IMPL_H

#include <tutti/plugin.h>

enum gp_kernel { GP_MATERN52, GP_RBF };
enum gp_mean { GP_MEAN_SAMPLE, GP_MEAN_FITTED };

/* Loops run over blocks of this many doubles. Strides are multiples of it; the padding is finite. */
enum { GP_LANES = 8 };
static inline size_t gp_padded(size_t count) { return (count + GP_LANES - 1) / GP_LANES * GP_LANES; }

/* Stride of matrices. Columns that lie a multiple of 512 bytes apart would compete for few sets of the cache. */
static inline size_t gp_stride(size_t count) {
  size_t padded = gp_padded(count);
  return padded % 64 == 0 ? padded + GP_LANES : padded;
}

/* Inputs divided by the length scales: scaled[dimension][stride]. */
struct gp_inputs {
  size_t dimension, stride;
  double *scaled;
};

/* Correlations value[count] of points 0..count-1 with the point at[dimension] (scaled). Unless slope is NULL, also
   slope[count] = -2 dk/d(r²), from which all derivatives follow: dk/dlog l_k = slope (Δ_k/l_k)², dk/dx_k = -slope
   Δ_k/l_k². Both arrays are written up to gp_padded(count). */
typedef void gp_column_function(enum gp_kernel kernel, const struct gp_inputs *inputs, size_t count, const double *at,
                                double *value, double *slope);
/* The fastest implementation for this processor. */
gp_column_function *gp_column_choose(void);

/* Points are predicted in panels of up to GP_BATCH: block[rows][GP_BATCH] has one point per column. Only the first
   `columns` columns count; the rest of the last tile of GP_TILE is finite. */
enum { GP_TILE = 24, GP_BATCH = 4 * GP_TILE };
struct gp_panel_functions {
  /* sums[GP_BATCH] = Σ weight_i block_i over the rows. */
  void (*weigh)(size_t rows, size_t columns, const double *block, const double *weight, double *sums);
  /* block := U⁻ᵀ block for the factor's first `rows`, and squares[GP_BATCH], the sum of squares of each column. The
     bits of a column do not depend on its neighbours. Adding rows to the factor keeps the bits of the earlier rows:
     squares never fall. */
  void (*solve)(const double *factor, size_t stride, size_t rows, size_t columns, double *block, double *squares);
};
const struct gp_panel_functions *gp_panel_choose(void);

/* --- likelihood and fit ------------------------------------------------------------------------------------------ */

/* What is fitted, and how. */
struct gp_problem {
  enum gp_kernel kernel;
  enum gp_mean mean;
  bool ard;
  gp_column_function *column;
  size_t count, dimension;
  const double *points; /* [count][dimension] */
  const double *values; /* [count] */
  const double *noise;  /* [count]: known variances, added to the fitted one; or NULL */
};

/* Covariance amplitude·k + (noise + known noise) I. */
struct gp_hyper {
  double amplitude, noise, mean, likelihood;
  double *lengths; /* [dimension] */
};

/* Range of each hyperparameter; equal ends fix it, and so does a noise of 0. */
struct gp_bounds {
  double amplitude[2], length[2], noise[2];
};

/* Read them from parameters, each a range "low high" or one number. TUTTI_ERROR_USAGE, with a message that begins with
   `who`: one is neither, or a range of noise begins at 0. */
enum tutti_status gp_bounds_read(tutti_context *context, const char *who, const struct tutti_reals *amplitude,
                                 const struct tutti_reals *length, const struct tutti_reals *noise,
                                 struct gp_bounds *bounds);

struct gp_search {
  struct gp_bounds bounds;
  bool usual;                  /* the first start is the usual one; otherwise all are drawn */
  size_t looks;                /* number of starts whose likelihood is looked at */
  size_t starts, evaluations;  /* number of starts that climb; likelihoods that each ascent may cost */
  size_t rows;                 /* observations that it may see, a random part of more; 0: all */
  struct tutti_random *random; /* seed of the stream that draws the starts */
};

/* Length of the vector of logarithms: amplitude, lengths (one, or one per dimension), noise. */
size_t gp_theta_count(const struct gp_problem *problem);

/* Working memory for the likelihoods of one problem. */
struct gp_workspace {
  size_t stride;
  struct gp_inputs inputs;
  double *factor, *slope;    /* [count][stride] */
  double *products;          /* [dimension + 1][stride] */
  double *residual, *weight; /* [stride] */
  double *ones, *diagonal;   /* [stride] */
  double *at;                /* [dimension]: scratch */
};
enum tutti_status gp_workspace_create(tutti_context *context, const struct gp_problem *problem,
                                      struct gp_workspace *workspace);
void gp_workspace_destroy(struct gp_workspace *workspace);

/* Log marginal likelihood at theta and, unless NULL, its gradient. *mean is the constant mean: the given one or, for
   GP_MEAN_FITTED, the most likely one. The derivative with respect to that one vanishes, so the gradient is correct in
   both cases. */
enum tutti_status gp_likelihood(tutti_context *context, const struct gp_problem *problem,
                                struct gp_workspace *workspace, const double *theta, double *mean, double *likelihood,
                                double *gradient);
/* The most likely hyperparameters, by L-BFGS from several starts. The caller owns hyper->lengths. */
enum tutti_status gp_fit(tutti_context *context, const struct gp_problem *problem, const struct gp_search *search,
                         struct gp_hyper *hyper);

/* Range of number `index` of theta [count], and the start of spearmint within the ranges. */
const double *gp_bounds_of(const struct gp_bounds *bounds, size_t count, size_t index);
void gp_usual_start(const struct gp_bounds *bounds, size_t count, double *theta);

/* How hyperparameters are drawn from their posterior. */
struct gp_chain {
  struct gp_bounds bounds;
  size_t samples, burn_in;
  struct tutti_random *random;
};
/* The range of the length scales in a chain, which is also that of their prior. */
enum { GP_LONGEST = 2 };
/* Draw hyper[samples] by slice sampling, one sweep over all of them between samples. The caller owns their lengths. */
enum tutti_status gp_sample(tutti_context *context, const struct gp_problem *problem, const struct gp_chain *chain,
                            struct gp_hyper *const *hyper);
void gp_hyper_set(const struct gp_problem *problem, const double *theta, double mean, double likelihood,
                  struct gp_hyper *hyper);

/* --- factorisation ------------------------------------------------------------------------------------------------ */

/* amplitude (k + jitter I) + diagonal, and its factor. */
struct gp_matrix {
  enum gp_kernel kernel;
  gp_column_function *column;
  const struct gp_inputs *inputs;
  size_t stride; /* of the factor's columns */
  double amplitude, jitter;
  const double *diagonal; /* [count]: noise */
  double *factor;         /* [count][stride] */
  double *at;             /* [dimension]: scratch */
};

/* Factorise the first `count` rows with the smallest jitter of 0, 1e-12, 1e-10, ... 1e-4 that works; it is left in
   matrix->jitter. slope [count][stride] or NULL. TUTTI_ERROR_NUMERIC if none works. */
enum tutti_status gp_factor_all(tutti_context *context, struct gp_matrix *matrix, size_t count, double *slope);
/* Add row `count` to a factor of `count` rows; false if that leaves no positive pivot. */
bool gp_factor_row(const struct gp_matrix *matrix, size_t count);
/* x := U⁻ᵀ x and x := U⁻¹ x for the factor's first `count` rows. */
void gp_solve_lower(const struct gp_matrix *matrix, size_t count, double *x);
void gp_solve_upper(const struct gp_matrix *matrix, size_t count, double *x);

/* --- posterior ---------------------------------------------------------------------------------------------------- */

/* Observations, hyperparameters, and the factor over the observations followed by the pending points. */
struct gp_posterior {
  size_t dimension, capacity;
  size_t stride;          /* of factor, inputs and block: >= capacity */
  size_t count;           /* observations */
  size_t pending;         /* points after them, which change only the deviation */
  size_t factored;        /* rows of the factor that are up to date */
  size_t first;           /* rows that are factorised at once; later ones one by one, so that no bit depends on how the
                      observations came in groups */
  double *points;         /* [capacity][dimension], as given */
  double *values, *noise; /* [capacity], as given */
  double shift, scale;    /* value = shift + scale * standardised */
  struct gp_hyper hyper;
  struct gp_inputs inputs;
  struct gp_matrix matrix;
  double settled_jitter; /* scale of the observations' rows */
  double *diagonal, *slope;
  double *forward, *weight; /* U⁻ᵀ and K⁻¹ times the observations' residuals */
  const struct gp_panel_functions *functions;
  struct gp_inputs panel; /* GP_BATCH points to predict at */
  double *block;          /* [GP_BATCH][stride] or [rows][GP_BATCH] */
  size_t fantasies;       /* alternative values of the pending points; 0: none */
  size_t fantasy_rows;    /* observations and what was pending */
  double *fantasy_weight; /* [fantasies][fantasy_rows]: K⁻¹ times the residuals */
  double *fantasy_least;  /* [fantasies]: the smallest value at a pending point */
};

enum tutti_status gp_posterior_init(tutti_context *context, enum gp_kernel kernel, size_t dimension,
                                    struct gp_posterior *posterior);
void gp_posterior_clear(struct gp_posterior *posterior);
/* Forget all observations; add some, which also releases the pending points. */
void gp_posterior_forget(struct gp_posterior *posterior);
enum tutti_status gp_posterior_add(tutti_context *context, struct gp_posterior *posterior, size_t count,
                                   const double *points, const double *values, const double *noise);
/* Call after posterior->hyper, shift or scale have changed: the first `first` rows are factorised at once. */
void gp_posterior_refitted(struct gp_posterior *posterior, size_t first);
/* Bring factor and weights up to date. */
enum tutti_status gp_posterior_settle(tutti_context *context, struct gp_posterior *posterior);
/* Add pending points with this noise variance (standardised); release those after the first `kept`. */
enum tutti_status gp_posterior_suppose(tutti_context *context, struct gp_posterior *posterior, size_t count,
                                       const double *points, double noise);
void gp_posterior_release(struct gp_posterior *posterior, size_t kept);
/* Add pending points with `draws` joint draws of their values, with noise. */
enum tutti_status gp_posterior_fantasise(tutti_context *context, struct gp_posterior *posterior, size_t count,
                                         const double *points, struct tutti_random *random, size_t draws);
/* Number of means: one, or as many as there are fantasies. */
static inline size_t gp_posterior_means(const struct gp_posterior *posterior) {
  return posterior->fantasies > 0 ? posterior->fantasies : 1;
}
/* Means [means][count] and deviations [count] at points [count][dimension]. */
void gp_posterior_predict(struct gp_posterior *posterior, size_t count, const double *points, double *mean,
                          double *deviation);
/* Means as predicted, unless NULL, and deviations given only the first `rows` rows of observations and pending points.
   These deviations are equal to those of predict, or above them. They never rise with `rows`, even with rounding. */
void gp_posterior_bound(struct gp_posterior *posterior, size_t rows, size_t count, const double *points, double *mean,
                        double *deviation);
/* The same at one point, with gradients [means][dimension] and [dimension]. */
void gp_posterior_gradient(struct gp_posterior *posterior, const double *point, double *mean, double *deviation,
                           double *mean_gradient, double *deviation_gradient);
/* Correlations with one point times the amplitude, and, unless NULL, slopes. The posterior's scratch holds the scaled
   point afterwards. */
void gp_posterior_correlate(struct gp_posterior *posterior, const double *point, double *column, double *slope);

/* --- several posteriors ------------------------------------------------------------------------------------------- */

struct gp_mixture {
  size_t models;
  struct gp_posterior *posteriors; /* [models], of the same observations */
  double *room;                    /* [room_count]: scratch */
  size_t room_count;
};
enum tutti_status gp_mixture_init(tutti_context *context, size_t models, enum gp_kernel kernel, size_t dimension,
                                  struct gp_mixture *mixture);
void gp_mixture_clear(struct gp_mixture *mixture);
/* Number of models times the fantasies of each. */
size_t gp_mixture_components(const struct gp_mixture *mixture);
/* For each component: moments [components][count] at points [count][dimension]; gradients [components][dimension]. */
void gp_mixture_components_at(struct gp_mixture *mixture, size_t count, const double *points, double *mean,
                              double *deviation);
void gp_mixture_component_gradients(struct gp_mixture *mixture, const double *point, double *mean, double *deviation,
                                    double *mean_gradient, double *deviation_gradient);
/* For the mixture: moments [count], gradients [dimension]. */
enum tutti_status gp_mixture_predict(tutti_context *context, struct gp_mixture *mixture, size_t count,
                                     const double *points, double *mean, double *deviation);
enum tutti_status gp_mixture_gradient(tutti_context *context, struct gp_mixture *mixture, const double *point,
                                      double *mean, double *deviation, double *mean_gradient,
                                      double *deviation_gradient);

/* --- a draw of the function --------------------------------------------------------------------------------------- */

/* f = mean + Σ feature_j weight_j + Σ k(., x_i) update_i: random Fourier features draw from the prior, the second sum
   corrects the draw at the observations (Wilson et al., "Efficiently sampling functions from Gaussian process
   posteriors", ICML 2020). */
struct gp_function {
  struct gp_posterior *posterior; /* NULL: no function is drawn */
  double *frequency;              /* [GP_FEATURES][dimension], of scaled points */
  double *phase, *height;         /* [GP_FEATURES] */
  double *update;                 /* [rows of the posterior] */
};
enum { GP_FEATURES = 1024 };
/* Draw from a settled posterior, with one of its fantasies; gp_function_clear ends it. */
enum tutti_status gp_function_draw(tutti_context *context, struct gp_posterior *posterior, size_t fantasy,
                                   struct tutti_random *random, struct gp_function *function);
void gp_function_clear(struct gp_function *function);
/* The value at a point and, unless NULL, its gradient [dimension]. */
double gp_function_value(const struct gp_function *function, const double *point, double *gradient);

#endif
