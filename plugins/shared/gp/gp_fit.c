/* gp_fit.c - the most likely hyperparameters.

   First the likelihood is evaluated ("a look") at Sobol points of the logarithms over all of the bounds. The best of
   them climb a little by bounded L-BFGS, together with the usual start, that of spearmint (amplitude of the values'
   variance, noise 1e-3, length scales 1). The best of these climbs to the end. Most points within the bounds are far
   from any optimum: there all correlations are 0 or 1 and the likelihood is flat, so an ascent is lost. A look needs no
   gradient and costs a third of the first step of an ascent.

   With many observations, looks and first ascents see only a random part of them; its optimum is near the optimum of
   all. The likelihood of all observations, or of as many as the search may see, decides which ascent goes on. */
#include <nlopt.h>
#include <string.h>

#include "gp_impl.h"

/* Observations in looks and first ascents; the factor by which each further ascent sees more, until it sees all;
   likelihoods that a first ascent may cost. */
enum { FIRST_LEVEL = 64, NEXT_LEVEL = 4, SCREENING = 20 };

struct attempt {
  tutti_context *context;
  const struct gp_search *search;
  struct gp_problem problem; /* over the observations in use */
  struct gp_workspace workspace;
  nlopt_opt optimiser;
  size_t count, unknowns;                     /* of theta; of those that are searched */
  size_t *free;                               /* [unknowns]: which numbers of theta are searched */
  double *theta, *gradient, *best_theta, *at; /* [count] */
  double mean, best, best_mean;
  enum tutti_status status; /* why the search was stopped */
};

/* NLopt's objective: minus the likelihood. A matrix that no jitter can mend counts as very unlikely. The best point is
   kept here, since an optimiser that stops on an error does not return it. */
static double objective(unsigned count, const double *unknowns, double *slope, void *argument) {
  struct attempt *attempt = argument;
  double likelihood = -HUGE_VAL;
  for (unsigned i = 0; i < count; i++)
    attempt->theta[attempt->free[i]] = unknowns[i];
  attempt->status = tutti_cancelled(attempt->context)
                        ? TUTTI_FAIL(attempt->context, TUTTI_ERROR_CANCELLED, "Gaussian process: cancelled in its fit")
                        : gp_likelihood(attempt->context, &attempt->problem, &attempt->workspace, attempt->theta,
                                        &attempt->mean, &likelihood, slope ? attempt->gradient : NULL);
  if (attempt->status == TUTTI_ERROR_CANCELLED && attempt->optimiser)
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

static enum tutti_status read_range(tutti_context *context, const char *who, const char *name,
                                    const struct tutti_reals *reals, double *range) {
  if (reals->count < 1 || reals->count > 2 || reals->values[0] > reals->values[reals->count - 1])
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s%s: a range \"low high\" or one number was expected, %zu numbers%s were found", who, name,
                      reals->count, reals->count == 2 ? " with the greater first" : "");
  range[0] = reals->values[0];
  range[1] = reals->values[reals->count - 1];
  return TUTTI_OK;
}

enum tutti_status gp_bounds_read(tutti_context *context, const char *who, const struct tutti_reals *amplitude,
                                 const struct tutti_reals *length, const struct tutti_reals *noise,
                                 struct gp_bounds *bounds) {
  TUTTI_TRY(context, read_range(context, who, "amplitude", amplitude, bounds->amplitude));
  TUTTI_TRY(context, read_range(context, who, "length_scale", length, bounds->length));
  TUTTI_TRY(context, read_range(context, who, "noise", noise, bounds->noise));
  if (bounds->noise[0] == 0 && bounds->noise[1] > 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%snoise: a range from above 0 was expected, since it is searched in its logarithm, and 0 %g was "
                      "found; give 1e-12 %g, or 0 alone",
                      who, bounds->noise[1], bounds->noise[1]);
  return TUTTI_OK;
}

const double *gp_bounds_of(const struct gp_bounds *bounds, size_t count, size_t index) {
  return index == 0 ? bounds->amplitude : index + 1 == count ? bounds->noise : bounds->length;
}

static double clipped(double value, const double *range) {
  return value < range[0] ? range[0] : value > range[1] ? range[1] : value;
}

/* The likelihood at `theta` [count], without a step. */
static enum tutti_status look(struct attempt *attempt, const double *theta, double *likelihood) {
  attempt->best = -HUGE_VAL;
  for (size_t i = 0; i < attempt->unknowns; i++)
    attempt->at[i] = theta[attempt->free[i]];
  (void)objective((unsigned)attempt->unknowns, attempt->at, NULL, attempt);
  *likelihood = attempt->best;
  return attempt->status == TUTTI_ERROR_CANCELLED ? attempt->status : TUTTI_OK;
}

/* Climb from `theta` [count] and replace it by the best point met. */
static enum tutti_status climb(struct attempt *attempt, size_t evaluations, double *theta) {
  double value;
  attempt->best = -HUGE_VAL;
  attempt->optimiser = nlopt_create(NLOPT_LD_LBFGS, (unsigned)attempt->unknowns);
  if (!attempt->optimiser)
    return TUTTI_FAIL(attempt->context, TUTTI_ERROR_MEMORY, "Gaussian process: no memory for the optimiser");
  for (size_t i = 0; i < attempt->unknowns; i++) {
    const double *range = gp_bounds_of(&attempt->search->bounds, attempt->count, attempt->free[i]);
    nlopt_set_lower_bound(attempt->optimiser, (int)i, log(range[0]));
    nlopt_set_upper_bound(attempt->optimiser, (int)i, log(range[1]));
    attempt->at[i] = theta[attempt->free[i]];
  }
  nlopt_set_min_objective(attempt->optimiser, objective, attempt);
  nlopt_set_ftol_rel(attempt->optimiser, 1e-9);
  nlopt_set_ftol_abs(attempt->optimiser, 1e-9);
  nlopt_set_maxeval(attempt->optimiser, (int)evaluations);
  (void)nlopt_optimize(attempt->optimiser, attempt->at, &value); /* the result is the best point met */
  nlopt_destroy(attempt->optimiser);
  attempt->optimiser = NULL;
  if (attempt->best > -HUGE_VAL)
    memcpy(theta, attempt->best_theta, attempt->count * sizeof(double));
  return attempt->status == TUTTI_ERROR_CANCELLED ? attempt->status : TUTTI_OK;
}

/* --- starts ------------------------------------------------------------------------------------------------------- */

/* The logarithms of all hyperparameters, clipped to the bounds. */
void gp_usual_start(const struct gp_bounds *bounds, size_t count, double *theta) {
  for (size_t i = 0; i < count; i++)
    theta[i] = log(clipped(i + 1 == count ? 1e-3 : 1, gp_bounds_of(bounds, count, i)));
}

/* Sobol points over the bounds; unknowns beyond the Sobol dimensions are drawn. On entry every row of `starts`
   [search->looks][count] holds the usual start. */
static enum tutti_status spread_starts(struct attempt *attempt, double *starts) {
  const struct gp_search *search = attempt->search;
  size_t spread = attempt->unknowns < TUTTI_SOBOL_DIMENSIONS ? attempt->unknowns : TUTTI_SOBOL_DIMENSIONS;
  tutti_sobol *sobol = NULL;
  TUTTI_TRY(attempt->context, tutti_sobol_create(attempt->context, spread, search->random, &sobol));
  for (size_t start = search->usual; start < search->looks; start++) {
    tutti_sobol_next(sobol, attempt->at);
    for (size_t i = 0; i < attempt->unknowns; i++) {
      const double *range = gp_bounds_of(&search->bounds, attempt->count, attempt->free[i]);
      double share = i < spread ? attempt->at[i] : tutti_random_uniform(search->random);
      starts[start * attempt->count + attempt->free[i]] = log(range[0]) + share * log(range[1] / range[0]);
    }
  }
  tutti_sobol_destroy(sobol);
  return TUTTI_OK;
}

/* The index of the largest of `count` values that is not -infinity; count when there is none. */
static size_t largest(const double *values, size_t count) {
  size_t best = count;
  for (size_t i = 0; i < count; i++)
    if (values[i] > -HUGE_VAL && (best == count || values[i] > values[best]))
      best = i;
  return best;
}

/* --- levels ------------------------------------------------------------------------------------------------------- */

static size_t first_level(const struct attempt *attempt, size_t count) {
  size_t level = FIRST_LEVEL > 8 * attempt->unknowns ? FIRST_LEVEL : 8 * attempt->unknowns;
  return 2 * level > count ? count : level;
}

static size_t next_level(size_t level, size_t count) {
  return 2 * NEXT_LEVEL * level > count ? count : NEXT_LEVEL * level;
}

/* Put the `n` observations in an order in which every beginning is a random part of them. Points, values and noise [n]
   each are in one array that the caller frees. */
static enum tutti_status mix_observations(struct attempt *attempt, size_t n, double **mixed) {
  struct gp_problem *problem = &attempt->problem;
  size_t d = problem->dimension;
  enum tutti_status status;
  uint32_t *order = NULL;
  TUTTI_TRY_OUT(attempt->context, tutti_alloc(attempt->context, n, sizeof(*order), &order));
  TUTTI_TRY_OUT(attempt->context, tutti_alloc(attempt->context, n, (d + 2) * sizeof(double), mixed));
  double *points = *mixed, *values = points + n * d, *noise = values + n;
  for (size_t i = 0; i < n; i++)
    order[i] = (uint32_t)i;
  tutti_random_shuffle(attempt->search->random, n, order);
  for (size_t i = 0; i < n; i++) {
    memcpy(points + i * d, problem->points + order[i] * d, d * sizeof(double));
    values[i] = problem->values[order[i]];
    noise[i] = problem->noise ? problem->noise[order[i]] : 0;
  }
  problem->points = points;
  problem->values = values;
  problem->noise = noise;
out:
  tutti_free(order);
  return status;
}

/* Look at all starts, and let the best of them climb a little on the first level. The usual start is always among them:
   where noise is low its first look is poor, but its basin is good. Afterwards they are at the front of `starts`, with
   the likelihood of all observations in worth[]; climbed: how many. */
static enum tutti_status screen(struct attempt *attempt, size_t all, double *starts, double *worth, size_t *climbed) {
  const struct gp_search *search = attempt->search;
  size_t count = attempt->count;
  attempt->problem.count = first_level(attempt, all);
  for (size_t i = 0; i < search->looks; i++)
    TUTTI_TRY(attempt->context, look(attempt, starts + i * count, worth + i));
  for (*climbed = 0; *climbed < search->starts; ++*climbed) {
    bool usual = search->usual && *climbed == 0;
    size_t best = usual ? 0 : *climbed + largest(worth + *climbed, search->looks - *climbed);
    if (best == search->looks)
      break;
    double *front = starts + *climbed * count, *chosen = starts + best * count, value = worth[best];
    for (size_t i = 0; i < count; i++) {
      double other = front[i];
      front[i] = chosen[i];
      chosen[i] = other;
    }
    worth[best] = worth[*climbed];
    worth[*climbed] = value;
    TUTTI_TRY(attempt->context, climb(attempt, SCREENING, front));
    worth[*climbed] = attempt->best;
  }
  bool parts = attempt->problem.count < all;
  attempt->problem.count = all;
  for (size_t i = 0; parts && i < *climbed; i++)
    TUTTI_TRY(attempt->context, look(attempt, starts + i * count, worth + i));
  return TUTTI_OK;
}

/* --- fit ---------------------------------------------------------------------------------------------------------- */

static enum tutti_status reserve(struct attempt *attempt, double **starts, double **worth) {
  tutti_context *context = attempt->context;
  size_t count = attempt->count, looks = attempt->search->looks;
  TUTTI_TRY(context, gp_workspace_create(context, &attempt->problem, &attempt->workspace));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof(size_t), &attempt->free));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof(double), &attempt->theta));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof(double), &attempt->gradient));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof(double), &attempt->best_theta));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof(double), &attempt->at));
  TUTTI_TRY(context, tutti_alloc(context, looks, count * sizeof(double), starts));
  TUTTI_TRY(context, tutti_alloc(context, looks, sizeof(double), worth));
  return TUTTI_OK;
}

static void release(struct attempt *attempt) {
  gp_workspace_destroy(&attempt->workspace);
  tutti_free(attempt->free);
  tutti_free(attempt->theta);
  tutti_free(attempt->gradient);
  tutti_free(attempt->best_theta);
  tutti_free(attempt->at);
}

/* If nothing is searched, take the usual start; otherwise take the best of all starts, over all levels. */
static enum tutti_status ascend(struct attempt *attempt, double *starts, double *worth) {
  const struct gp_search *search = attempt->search;
  tutti_context *context = attempt->context;
  size_t all = attempt->problem.count, climbed;
  for (size_t i = 0; i < search->looks; i++)
    gp_usual_start(&search->bounds, attempt->count, starts + i * attempt->count);
  memcpy(attempt->theta, starts, attempt->count * sizeof(double));
  if (attempt->unknowns == 0)
    return look(attempt, starts, worth);
  TUTTI_TRY(context, spread_starts(attempt, starts));
  TUTTI_TRY(context, screen(attempt, all, starts, worth, &climbed));
  size_t best = largest(worth, climbed), level = first_level(attempt, all);
  if (best == climbed)
    return TUTTI_OK; /* no point has a likelihood */
  do {
    attempt->problem.count = level = next_level(level, all);
    TUTTI_TRY(context, climb(attempt, search->evaluations, starts + best * attempt->count));
  } while (level < all);
  return TUTTI_OK;
}

void gp_hyper_set(const struct gp_problem *problem, const double *theta, double mean, double likelihood,
                  struct gp_hyper *hyper) {
  hyper->likelihood = likelihood;
  hyper->mean = mean;
  hyper->amplitude = exp(theta[0]);
  hyper->noise = exp(theta[gp_theta_count(problem) - 1]);
  for (size_t k = 0; k < problem->dimension; k++)
    hyper->lengths[k] = exp(theta[1 + (problem->ard ? k : 0)]);
}

enum tutti_status gp_fit(tutti_context *context, const struct gp_problem *problem, const struct gp_search *search,
                         struct gp_hyper *hyper) {
  enum tutti_status status;
  struct attempt attempt = {.context = context,
                            .search = search,
                            .problem = *problem,
                            .count = gp_theta_count(problem),
                            .mean = hyper->mean,
                            .best = -HUGE_VAL};
  double *starts = NULL, *worth = NULL, *mixed = NULL;
  if (search->rows > 0 && search->rows < problem->count)
    attempt.problem.count = search->rows;
  TUTTI_TRY_OUT(context, reserve(&attempt, &starts, &worth));
  for (size_t i = 0; i < attempt.count; i++) {
    const double *range = gp_bounds_of(&search->bounds, attempt.count, i);
    if (range[0] < range[1])
      attempt.free[attempt.unknowns++] = i;
  }
  if (first_level(&attempt, attempt.problem.count) < problem->count)
    TUTTI_TRY_OUT(context, mix_observations(&attempt, problem->count, &mixed));
  TUTTI_TRY_OUT(context, ascend(&attempt, starts, worth));
  if (attempt.best == -HUGE_VAL) { /* the last error says why */
    status = attempt.status != TUTTI_OK
                 ? attempt.status
                 : TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC,
                              "Gaussian process: no finite likelihood at %zu observations", problem->count);
    goto out;
  }
  tutti_error_clear(context);
  gp_hyper_set(problem, attempt.best_theta, attempt.best_mean, attempt.best, hyper);
out:
  release(&attempt);
  tutti_free(starts);
  tutti_free(worth);
  tutti_free(mixed);
  return status;
}
