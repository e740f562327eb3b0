/* gp_fit.c - the most likely hyperparameters, by bounded L-BFGS on their logarithms from several starts. The first start is
   that of Lacoste et al. (amplitude of the values' variance, noise 1e-3, length scales 1); the others are log-uniform within
   a factor of 10 (noise: 100) of it, clipped to the bounds: further out, correlations are all 0 or all 1, the likelihood is
   flat and a start is lost. All starts climb a little; then the best of them goes on to the end, which costs less than half
   of climbing them all. */
#include <nlopt.h>
#include <string.h>

#include "gp_impl.h"

enum { SCREENING = 15 }; /* likelihoods for each of several starts */

struct attempt {
  tutti_context *context;
  const struct gp_problem *problem;
  struct gp_workspace *workspace;
  nlopt_opt optimiser;
  size_t count;                          /* of theta */
  size_t *free;                          /* [unknowns]: which numbers of theta are searched */
  double *theta, *gradient, *best_theta; /* [count] */
  double mean, best, best_mean;
  enum tutti_status status; /* why the search was stopped */
};

/* NLopt's objective: minus the likelihood. A matrix that no jitter mends is a very unlikely one; the best point is kept
   here, since an optimiser that stops on an error does not give it. */
static double objective(unsigned count, const double *unknowns, double *slope, void *argument) {
  struct attempt *attempt = argument;
  double likelihood = -HUGE_VAL;
  for (unsigned i = 0; i < count; i++)
    attempt->theta[attempt->free[i]] = unknowns[i];
  attempt->status = tutti_cancelled(attempt->context)
                        ? TUTTI_FAIL(attempt->context, TUTTI_ERROR_CANCELLED, "surrogate gp: cancelled in its fit")
                        : gp_likelihood(attempt->context, attempt->problem, attempt->workspace, attempt->theta,
                                        &attempt->mean, &likelihood, attempt->gradient);
  if (attempt->status == TUTTI_ERROR_CANCELLED)
    nlopt_force_stop(attempt->optimiser);
  if (attempt->status != TUTTI_OK || !isfinite(likelihood)) {
    if (slope)
      memset(slope, 0, count * sizeof(*slope));
    return HUGE_VAL;
  }
  if (likelihood > attempt->best) {
    attempt->best = likelihood;
    attempt->best_mean = attempt->mean;
    memcpy(attempt->best_theta, attempt->theta, attempt->count * sizeof(double));
  }
  for (unsigned i = 0; slope && i < count; i++)
    slope[i] = -attempt->gradient[attempt->free[i]];
  return -likelihood;
}

static const double *bounds_of(const struct gp_bounds *bounds, size_t count, size_t index) {
  return index == 0 ? bounds->amplitude : index + 1 == count ? bounds->noise : bounds->length;
}

static double clipped(double value, const double *range) {
  return value < range[0] ? range[0] : value > range[1] ? range[1] : value;
}

/* Start number `start`: the logarithms of all hyperparameters. */
static void begin(const struct gp_search *search, size_t count, size_t start, double *theta) {
  for (size_t i = 0; i < count; i++) {
    bool noise = i + 1 == count;
    double middle = noise ? 1e-3 : 1, spread = start == 0 ? 0 : log(noise ? 100 : 10);
    if (spread > 0)
      middle *= exp(spread * (2 * tutti_random_uniform(search->random) - 1));
    theta[i] = log(clipped(middle, bounds_of(&search->bounds, count, i)));
  }
}

/* From attempt->theta; `at` [unknowns] is scratch. */
static enum tutti_status climb(struct attempt *attempt, const struct gp_search *search, size_t unknowns,
                               size_t evaluations, double *at) {
  double value;
  attempt->optimiser = nlopt_create(NLOPT_LD_LBFGS, (unsigned)unknowns);
  if (!attempt->optimiser)
    return TUTTI_FAIL(attempt->context, TUTTI_ERROR_MEMORY, "surrogate gp: no memory for the optimiser");
  for (size_t i = 0; i < unknowns; i++) {
    const double *range = bounds_of(&search->bounds, attempt->count, attempt->free[i]);
    nlopt_set_lower_bound(attempt->optimiser, (int)i, log(range[0]));
    nlopt_set_upper_bound(attempt->optimiser, (int)i, log(range[1]));
    at[i] = attempt->theta[attempt->free[i]];
  }
  nlopt_set_min_objective(attempt->optimiser, objective, attempt);
  nlopt_set_ftol_rel(attempt->optimiser, 1e-9);
  nlopt_set_ftol_abs(attempt->optimiser, 1e-9);
  nlopt_set_maxeval(attempt->optimiser, (int)evaluations);
  (void)nlopt_optimize(attempt->optimiser, at, &value); /* what counts is the best point met */
  nlopt_destroy(attempt->optimiser);
  return attempt->status == TUTTI_ERROR_CANCELLED ? attempt->status : TUTTI_OK;
}

enum tutti_status gp_fit(tutti_context *context, const struct gp_problem *problem, const struct gp_search *search,
                         struct gp_hyper *hyper) {
  enum tutti_status status;
  size_t count = gp_theta_count(problem), unknowns = 0;
  struct gp_workspace workspace = {0};
  struct attempt attempt = {.context = context,
                            .problem = problem,
                            .workspace = &workspace,
                            .count = count,
                            .mean = hyper->mean,
                            .best = -HUGE_VAL};
  double *at = NULL;
  TUTTI_TRY_OUT(context, gp_workspace_create(context, problem, &workspace));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(size_t), &attempt.free));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(double), &attempt.theta));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(double), &attempt.gradient));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(double), &attempt.best_theta));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(double), &at));
  for (size_t i = 0; i < count; i++) {
    const double *range = bounds_of(&search->bounds, count, i);
    if (range[0] < range[1])
      attempt.free[unknowns++] = i;
  }
  size_t starts = unknowns > 0 ? search->starts : 1;
  for (size_t start = 0; start < starts; start++) {
    begin(search, count, start, attempt.theta);
    if (unknowns == 0)
      (void)objective(0, NULL, NULL, &attempt);
    else
      TUTTI_TRY_OUT(context, climb(&attempt, search, unknowns, starts > 1 ? SCREENING : search->evaluations, at));
  }
  if (starts > 1 && attempt.best > -HUGE_VAL) {
    memcpy(attempt.theta, attempt.best_theta, count * sizeof(double));
    TUTTI_TRY_OUT(context, climb(&attempt, search, unknowns, search->evaluations, at));
  }
  if (attempt.best == -HUGE_VAL) { /* the last error says why */
    status = attempt.status != TUTTI_OK
                 ? attempt.status
                 : TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "surrogate gp: no finite likelihood at %zu observations",
                              problem->count);
    goto out;
  }
  tutti_error_clear(context);
  hyper->likelihood = attempt.best;
  hyper->mean = attempt.best_mean;
  hyper->amplitude = exp(attempt.best_theta[0]);
  hyper->noise = exp(attempt.best_theta[count - 1]);
  for (size_t k = 0; k < problem->dimension; k++)
    hyper->lengths[k] = exp(attempt.best_theta[1 + (problem->ard ? k : 0)]);
out:
  gp_workspace_destroy(&workspace);
  tutti_free(attempt.free);
  tutti_free(attempt.theta);
  tutti_free(attempt.gradient);
  tutti_free(attempt.best_theta);
  tutti_free(at);
  return status;
}
