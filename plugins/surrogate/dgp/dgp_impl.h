/* dgp_impl.h - the parts of surrogate gp-otmann: observations with the distances between their architectures,
   covariance, projection, likelihood and its optimum, and the posterior.

   Matrices are LAPACK's: column-major, [n][n], symmetric ones in the lower triangle. Values are in standardised
   units. */
#ifndef TUTTI_DGP_IMPL_H
#define TUTTI_DGP_IMPL_H

#include <tutti/plugin.h>

#include "plugins/shared/gp/gp_impl.h"

enum { DGP_GROUPS = 8 }; /* at most */

/* What becomes of negative eigenvalues: they stay; they are clipped, and candidates are projected on the rest; they are
   clipped in the matrix of the observations alone. In the order of the parameter's choices. */
enum dgp_projection { DGP_PROJECT_NOTHING, DGP_PROJECT_ALL, DGP_PROJECT_MATRIX };

/* The ingredients of the covariance. The measures form `groups` of equal size, one after another. The hyperparameters
   are one array: alpha[groups], beta[measures], length[width], noise. */
struct dgp_shape {
  size_t groups, each, measures; /* measures = groups * each */
  size_t width;                  /* of the encoded hyperparameters */
  const double *powers;          /* [groups] */
  enum gp_kernel kernel;         /* over the hyperparameters */
  gp_column_function *column;
  enum dgp_projection projection;
};
static inline size_t dgp_beta(const struct dgp_shape *shape) { return shape->groups; }
static inline size_t dgp_length(const struct dgp_shape *shape) { return shape->groups + shape->measures; }
static inline size_t dgp_noise(const struct dgp_shape *shape) { return dgp_length(shape) + shape->width; }
static inline size_t dgp_count(const struct dgp_shape *shape) { return dgp_noise(shape) + 1; }

/* --- observations ------------------------------------------------------------------------------------------------- */

/* Points: observations, then pending ones. The caller sets shape and domain, all else is zero at first. Equal
   architectures are kept once. The distances of each to those before it are computed once and kept raised to their
   powers. Everything is a function of the sequence of points. */
struct dgp_data {
  struct dgp_shape shape;
  const tutti_domain *domain; /* of the hyperparameters; NULL: none */
  size_t count, pending, room;
  size_t *places;             /* [room]: number of the point's architecture */
  double *vectors;            /* [room][width] */
  double *values, *noise;     /* [room] */
  size_t distinct, settled;   /* architectures, and those of the observations among them */
  tutti_genotype **genotypes; /* [room] */
  double *measures;           /* row i, at i (i - 1)/2: [i][measures] */
  size_t measure_room;        /* rows */
  double *fresh;              /* [room][measures]: scratch */
};
void dgp_data_clear(struct dgp_data *data);
/* Forget all points. Distances are kept as long as the next points have the same architectures in the same order. */
void dgp_data_forget(struct dgp_data *data);
enum tutti_status dgp_data_add(tutti_context *context, struct dgp_data *data, const struct tutti_points *points,
                               const double *values, const double *noise);
/* Append pending points after the observations; remove all of them again. */
enum tutti_status dgp_data_suppose(tutti_context *context, struct dgp_data *data, const struct tutti_points *points);
void dgp_data_release(struct dgp_data *data);
/* Raised distances of an architecture to the first `count` ones, out[count][measures]. */
enum tutti_status dgp_data_measure(tutti_context *context, struct dgp_data *data, const tutti_genotype *genotype,
                                   size_t count, double *out);
/* Raised distances between architectures i and j, i > j. */
static inline const double *dgp_data_measures(const struct dgp_data *data, size_t i, size_t j) {
  return data->measures + (i * (i - 1) / 2 + j) * data->shape.measures;
}

/* --- covariance --------------------------------------------------------------------------------------------------- */

/* Variance of the function: the sum of the alphas. */
double dgp_variance(const struct dgp_shape *shape, const double *hyper);
/* The architectures' part of the covariance at raised distances[measures], and the share of each group unless NULL. */
double dgp_correlate(const struct dgp_shape *shape, const double *hyper, const double *distances, double *shares);
/* Divide a vector by the length scales, at[width]; do so for points first.. into inputs->scaled[width][stride]. */
void dgp_scale_vector(const struct dgp_shape *shape, const double *hyper, const double *vector, double *at);
void dgp_scale(const struct dgp_data *data, const double *hyper, size_t first, size_t count,
               const struct gp_inputs *inputs);

/* Memory for the covariance of some observations and its derivatives. */
struct dgp_workspace {
  size_t count;
  struct gp_inputs inputs;
  double *at;                      /* [width] */
  double *shares;                  /* [groups][count][count]: the covariance's parts, architectures alone */
  double *euclidean, *slope;       /* [count][stride]: correlation of hyperparameters, and its slope */
  double *covariance;              /* [count][count] */
  double *diagonal;                /* [count] */
  double *factor, *inverse, *part; /* [count][count] */
  double *residual, *weight;       /* [count] */
  struct dgp_spectrum *spectrum;
};
enum tutti_status dgp_workspace_create(tutti_context *context, const struct dgp_data *data, size_t count,
                                       struct dgp_workspace *workspace);
void dgp_workspace_destroy(struct dgp_workspace *workspace);
/* The first `count` points' covariance without noise, lower triangle. */
void dgp_covariance(const struct dgp_data *data, const double *hyper, struct dgp_workspace *workspace);
/* gradient[dgp_noise] = 1/2 <g, dK/dlog hyper> for a symmetric g, lower triangle. */
void dgp_contract(const struct dgp_data *data, const double *hyper, const struct dgp_workspace *workspace,
                  const double *g, double *gradient);

/* --- projection and factorisation --------------------------------------------------------------------------------- */

/* Eigenvalues in ascending order, and eigenvectors, of a symmetric matrix. */
struct dgp_spectrum {
  size_t count, clipped; /* eigenvalues below the floor, which were clipped; with 0 the rest may be unset */
  double floor;          /* eigenvalues below this are rounding errors and are raised to it */
  double *values;        /* [count] */
  double *vectors;       /* [count][count] */
  double *work;
  int *integers;
};
enum tutti_status dgp_spectrum_create(tutti_context *context, size_t count, struct dgp_spectrum **spectrum);
void dgp_spectrum_destroy(struct dgp_spectrum *spectrum);
enum tutti_status dgp_decompose(tutti_context *context, const double *matrix, struct dgp_spectrum *spectrum);
/* The nearest positive definite matrix (Frobenius norm), lower triangle; `scratch` [count][count]. */
void dgp_project(const struct dgp_spectrum *spectrum, double *scratch, double *matrix);
/* Replace the matrix by its Cholesky factor. If there is none, the error shows the eigenvalues; for that, `original`
   holds `matrix` without noise. */
enum tutti_status dgp_factorise(tutti_context *context, size_t count, const double *original,
                                struct dgp_spectrum *spectrum, double *matrix);
/* Factorise the covariance with projection and noise: from workspace->covariance into workspace->factor. */
enum tutti_status dgp_factor(tutti_context *context, const struct dgp_data *data, const double *hyper,
                             struct dgp_workspace *workspace);

/* --- likelihood and fit ------------------------------------------------------------------------------------------- */

/* Values of the first workspace->count observations, minus their median, divided by their standard deviation. */
struct dgp_units {
  double shift, scale;
};
enum tutti_status dgp_units_of(tutti_context *context, const struct dgp_data *data, size_t count,
                               struct dgp_units *units);
/* Log marginal likelihood and, unless NULL, its gradient [dgp_count] with respect to the hyperparameters'
   logarithms. */
enum tutti_status dgp_likelihood(tutti_context *context, const struct dgp_data *data, const struct dgp_units *units,
                                 const double *hyper, struct dgp_workspace *workspace, double *likelihood,
                                 double *gradient);

/* Which hyperparameters of those drawn: the most likely ones, which ascend; so many of the most likely, each of which
   ascends; so many, by their likelihood. In the order of the parameter's choices. */
enum dgp_inference { DGP_OPTIMUM, DGP_OPTIMA, DGP_SAMPLING };

struct dgp_search {
  const double (*ranges)[2]; /* [dgp_count] */
  size_t draws, evaluations;
  size_t rows; /* observations that it may see; 0: all */
  enum dgp_inference inference;
  struct tutti_random *random;
};
/* Hyperparameters hypers[models][dgp_count] of the first `count` observations, or a random part of them, and the
   greatest of their log likelihoods; one model with DGP_OPTIMUM. */
enum tutti_status dgp_fit(tutti_context *context, const struct dgp_data *data, const struct dgp_units *units,
                          size_t count, const struct dgp_search *search, size_t models, double *hypers,
                          double *likelihood);

/* --- posterior ---------------------------------------------------------------------------------------------------- */

enum { DGP_BATCH = 64 };
struct dgp_posterior {
  struct dgp_units units;
  double *hyper;           /* [dgp_count] */
  bool settled;            /* the fields below cover all observations */
  size_t count, negative;  /* observations in the model; eigenvalues below zero that the projection clipped */
  double *reducer;         /* [count][count]: maps cross-covariances to the part that the data explain */
  double *weight;          /* [count] */
  size_t pending;          /* number of pending points */
  double *pending_reduced; /* [pending][count] */
  double *pending_factor;  /* [pending][pending] */

  size_t room;             /* number of points that the following have memory for */
  struct gp_inputs inputs; /* in length scales */
  double *distances;       /* [room][measures], of one candidate */
  double *architecture;    /* [room]: covariances with it */
  double *euclidean;       /* [stride] */
  double *block, *reduced; /* [DGP_BATCH][room] */
  double *left;            /* [room] */
  double *vector, *at;     /* [width] */
};
enum tutti_status dgp_posterior_init(tutti_context *context, const struct dgp_shape *shape,
                                     struct dgp_posterior *posterior);
void dgp_posterior_clear(struct dgp_posterior *posterior);
/* Condition on all observations, unless that is already done. */
enum tutti_status dgp_posterior_settle(tutti_context *context, struct dgp_data *data, struct dgp_posterior *posterior);
/* Condition deviations on the pending points as well; release removes them. */
enum tutti_status dgp_posterior_suppose(tutti_context *context, struct dgp_data *data, struct dgp_posterior *posterior);
void dgp_posterior_release(struct dgp_posterior *posterior);
/* Mean and deviation, [models][points->count] each, by posteriors of the same data. */
enum tutti_status dgp_posterior_predict(tutti_context *context, struct dgp_data *data, size_t models,
                                        struct dgp_posterior *posteriors, const struct tutti_points *points,
                                        double *mean, double *deviation);

#endif
