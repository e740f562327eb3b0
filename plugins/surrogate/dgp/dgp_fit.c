/* dgp_fit.c - hyperparameters by their likelihood: Sobol points from the log-uniform ranges are evaluated, and the best
   climb, or some are drawn. A likelihood costs the cube of the observations, so with many of them the draws and the
   first ascent of the optimum see a random part, and further ascents from what was found see more. */
#include <stdlib.h>
#include <string.h>

#include "plugins/shared/ascent/ascent.h"
#include "dgp_impl.h"

/* Observations in the draws and the first ascent, more for many unknowns; the factor by which each further ascent sees
   more. As in surrogate gp. */
enum { FIRST_LEVEL = 64, NEXT_LEVEL = 4, PER_UNKNOWN = 8 };

struct target {
  const struct dgp_data *data;
  const struct dgp_units *units;
  struct dgp_workspace workspace;
  double *hyper; /* [dgp_count] */
  double *begin; /* [dgp_count]: where the ascent of a level begins */
};

static enum tutti_status likelihood_at(void *argument, tutti_context *context, const double *theta, double *value,
                                       double *gradient) {
  struct target *target = argument;
  for (size_t i = 0; i < dgp_count(&target->data->shape); i++)
    target->hyper[i] = exp(theta[i]);
  return dgp_likelihood(context, target->data, target->units, target->hyper, &target->workspace, value, gradient);
}

/* A noise fixed at 0 has the logarithm -infinity. */
static double between(const double *bounds, double share) {
  return bounds[0] < bounds[1] ? bounds[0] + share * (bounds[1] - bounds[0]) : bounds[0];
}

/* Hyperparameters tried, theta[room][count], and their log likelihoods; -infinity for those that have none. */
struct trials {
  size_t count;
  double *theta, *values;
};

static enum tutti_status try_one(struct ascent *ascent, struct trials *trials, const double *theta) {
  enum tutti_status status = ascent_try(ascent, theta);
  memcpy(trials->theta + trials->count * ascent->count, theta, ascent->count * sizeof(double));
  trials->values[trials->count++] = ascent->last;
  return status;
}

/* The middle of the ranges, then Sobol points. Dimensions beyond those that Sobol points have are drawn. */
static enum tutti_status survey(tutti_context *context, const struct dgp_search *search, struct ascent *ascent,
                                struct trials *trials) {
  enum tutti_status status;
  tutti_sobol *sobol = NULL;
  double *theta = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, ascent->count, sizeof(double), &theta));
  for (size_t i = 0; i < ascent->count; i++)
    theta[i] = between(ascent->bounds[i], 0.5);
  TUTTI_TRY_OUT(context, try_one(ascent, trials, theta));
  if (ascent->unknowns == 0)
    goto out;
  size_t spread = ascent->count < TUTTI_SOBOL_DIMENSIONS ? ascent->count : TUTTI_SOBOL_DIMENSIONS;
  TUTTI_TRY_OUT(context, tutti_sobol_create(context, spread, search->random, &sobol));
  for (size_t draw = 1; draw < search->draws; draw++) {
    tutti_sobol_next(sobol, theta);
    for (size_t i = 0; i < ascent->count; i++)
      theta[i] = between(ascent->bounds[i], i < spread ? theta[i] : tutti_random_uniform(search->random));
    TUTTI_TRY_OUT(context, try_one(ascent, trials, theta));
  }
out:
  tutti_sobol_destroy(sobol);
  tutti_free(theta);
  return status;
}

/* --- levels ------------------------------------------------------------------------------------------------------- */

/* The likelihood is that of the first `count` observations from now on. */
static void see(struct target *target, size_t count) {
  target->workspace.count = target->workspace.spectrum->count = count;
}

/* How many see the draws, if `all` may be seen at the end. A mixture's models are compared by the likelihood of all. */
static size_t first_level(const struct dgp_search *search, const struct ascent *ascent, size_t all) {
  size_t level = FIRST_LEVEL > PER_UNKNOWN * ascent->unknowns ? FIRST_LEVEL : PER_UNKNOWN * ascent->unknowns;
  return search->inference != DGP_OPTIMUM || 2 * level > all ? all : level;
}

static size_t next_level(size_t level, size_t all) { return 2 * NEXT_LEVEL * level > all ? all : NEXT_LEVEL * level; }

/* The first `count` observations in an order in which every beginning is a random part of them. */
static enum tutti_status mix(tutti_context *context, const struct dgp_data *data, size_t count,
                             struct tutti_random *random, struct dgp_data *mixed) {
  enum tutti_status status;
  size_t width = data->shape.width;
  uint32_t *order = NULL;
  *mixed = *data;
  mixed->places = NULL;
  mixed->vectors = mixed->values = mixed->noise = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *order, &order));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *mixed->places, &mixed->places));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, width * sizeof(double), &mixed->vectors));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(double), &mixed->values));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(double), &mixed->noise));
  for (size_t i = 0; i < count; i++)
    order[i] = (uint32_t)i;
  tutti_random_shuffle(random, count, order);
  for (size_t i = 0; i < count; i++) {
    size_t from = order[i];
    mixed->places[i] = data->places[from];
    mixed->values[i] = data->values[from];
    mixed->noise[i] = data->noise[from];
    if (width > 0)
      memcpy(mixed->vectors + i * width, data->vectors + from * width, width * sizeof(double));
  }
out:
  tutti_free(order);
  return status;
}

static void unmix(struct dgp_data *mixed) {
  tutti_free(mixed->places);
  tutti_free(mixed->vectors);
  tutti_free(mixed->values);
  tutti_free(mixed->noise);
}

/* --- ascents ------------------------------------------------------------------------------------------------------ */

static void take(const struct ascent *ascent, const double *theta, double *hyper) {
  for (size_t i = 0; i < ascent->count; i++)
    hyper[i] = exp(theta[i]);
}

/* Climb from the best draw on every level up to `all`; the best of the last one is found. */
static enum tutti_status climb_levels(tutti_context *context, const struct dgp_search *search, struct ascent *ascent,
                                      size_t all, double *hyper) {
  struct target *target = ascent->argument;
  for (size_t level = target->workspace.count;; level = next_level(level, all)) {
    if (level != target->workspace.count) {
      see(target, level);
      memcpy(target->begin, ascent->best, ascent->count * sizeof(double));
      ascent->value = -HUGE_VAL;
      TUTTI_TRY(context, ascent_try(ascent, target->begin));
    }
    if (search->evaluations > 0 && ascent->unknowns > 0)
      TUTTI_TRY(context, ascent_climb(ascent, ascent->best, search->evaluations));
    if (level == all)
      break;
  }
  take(ascent, ascent->best, hyper);
  return TUTTI_OK;
}

/* Climb from theta unless there is nothing to climb in. */
static enum tutti_status climb(tutti_context *context, const struct dgp_search *search, struct ascent *ascent,
                               const double *theta, double *hyper) {
  if (search->evaluations > 0 && ascent->unknowns > 0)
    TUTTI_TRY(context, ascent_climb(ascent, theta, search->evaluations));
  take(ascent, ascent->best, hyper);
  return TUTTI_OK;
}

/* The best trial that is worse than the one before, by value, then by number; with none left, the best again. */
static size_t next_best(const struct trials *trials, size_t before) {
  size_t best = trials->count;
  for (size_t i = 0; i < trials->count; i++) {
    double value = trials->values[i], last = before < trials->count ? trials->values[before] : HUGE_VAL;
    bool worse = value < last || (value == last && i > before);
    if (worse && value > -HUGE_VAL && (best == trials->count || value > trials->values[best]))
      best = i;
  }
  return best < trials->count || before >= trials->count ? best : next_best(trials, trials->count);
}

/* Each of the most likely trials climbs by itself. */
static enum tutti_status climb_many(tutti_context *context, const struct dgp_search *search, struct ascent *ascent,
                                    const struct trials *trials, size_t models, double *hypers) {
  double most = ascent->value;
  for (size_t m = 0, trial = trials->count; m < models; m++) {
    trial = next_best(trials, trial);
    ascent->value = -HUGE_VAL;
    TUTTI_TRY(context, ascent_try(ascent, trials->theta + trial * ascent->count));
    TUTTI_TRY(context,
              climb(context, search, ascent, trials->theta + trial * ascent->count, hypers + m * ascent->count));
    most = fmax(most, ascent->value);
  }
  ascent->value = most;
  return TUTTI_OK;
}

/* Trials drawn with replacement, by their likelihood. */
static void sample(const struct dgp_search *search, const struct ascent *ascent, const struct trials *trials,
                   size_t models, double *hypers) {
  double total = 0;
  for (size_t i = 0; i < trials->count; i++)
    total += exp(trials->values[i] - ascent->value);
  for (size_t m = 0; m < models; m++) {
    double left = tutti_random_uniform(search->random) * total;
    size_t drawn = 0;
    for (size_t i = 0; i < trials->count && left >= 0; i++) {
      double share = exp(trials->values[i] - ascent->value);
      drawn = share > 0 ? i : drawn;
      left -= share;
    }
    take(ascent, trials->theta + drawn * ascent->count, hypers + m * ascent->count);
  }
}

static enum tutti_status choose(tutti_context *context, const struct dgp_search *search, struct ascent *ascent,
                                const struct trials *trials, size_t all, size_t models, double *hypers) {
  if (ascent->value == -HUGE_VAL) /* the last error says why */
    return ascent->status != TUTTI_OK
               ? ascent->status
               : TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "surrogate gp-otmann: no finite likelihood");
  if (search->inference == DGP_OPTIMUM)
    return climb_levels(context, search, ascent, all, hypers);
  if (search->inference == DGP_OPTIMA)
    return climb_many(context, search, ascent, trials, models, hypers);
  sample(search, ascent, trials, models, hypers);
  return TUTTI_OK;
}

enum tutti_status dgp_fit(tutti_context *context, const struct dgp_data *data, const struct dgp_units *units,
                          size_t count, const struct dgp_search *search, size_t models, double *hypers,
                          double *likelihood) {
  enum tutti_status status;
  size_t all = search->rows > 0 && search->rows < count ? search->rows : count;
  double(*bounds)[2] = NULL;
  struct trials trials = {0};
  struct dgp_data mixed = {0};
  struct target target = {.data = data, .units = units};
  struct ascent ascent = {
      .context = context, .function = likelihood_at, .argument = &target, .count = dgp_count(&data->shape)};
  TUTTI_TRY_OUT(context, tutti_alloc(context, ascent.count, sizeof(double), &target.hyper));
  TUTTI_TRY_OUT(context, tutti_alloc(context, ascent.count, sizeof(double), &target.begin));
  TUTTI_TRY_OUT(context, tutti_alloc(context, search->draws, sizeof(double), &trials.values));
  TUTTI_TRY_OUT(context, tutti_alloc(context, search->draws, ascent.count * sizeof(double), &trials.theta));
  TUTTI_TRY_OUT(context, tutti_alloc(context, ascent.count, sizeof(*bounds), &bounds));
  for (size_t i = 0; i < ascent.count; i++)
    for (int end = 0; end < 2; end++)
      bounds[i][end] = log(search->ranges[i][end]);
  ascent.bounds = (const double(*)[2])bounds;
  TUTTI_TRY_OUT(context, ascent_init(&ascent));
  TUTTI_TRY_OUT(context, dgp_workspace_create(context, data, all, &target.workspace));
  if (first_level(search, &ascent, all) < count) {
    TUTTI_TRY_OUT(context, mix(context, data, count, search->random, &mixed));
    target.data = &mixed;
  }
  see(&target, first_level(search, &ascent, all));
  TUTTI_TRY_OUT(context, survey(context, search, &ascent, &trials));
  TUTTI_TRY_OUT(context, choose(context, search, &ascent, &trials, all, models, hypers));
  tutti_error_clear(context);
  *likelihood = ascent.value;
out:
  dgp_workspace_destroy(&target.workspace);
  ascent_clear(&ascent);
  unmix(&mixed);
  tutti_free(target.hyper);
  tutti_free(target.begin);
  tutti_free(trials.values);
  tutti_free(trials.theta);
  tutti_free(bounds);
  return status;
}
