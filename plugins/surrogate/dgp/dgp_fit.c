/* dgp_fit.c - the most likely hyperparameters: Sobol points from the log-uniform ranges are evaluated, and the best
   ones climb. */
#include <string.h>

#include "plugins/surrogate/ascent.h"
#include "dgp_impl.h"

struct target {
  const struct dgp_data *data;
  const struct dgp_units *units;
  struct dgp_workspace workspace;
  double *hyper; /* [dgp_count] */
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

/* The middle of the ranges, then Sobol points. Dimensions beyond those that Sobol points have are drawn. */
static enum tutti_status survey(tutti_context *context, const struct dgp_search *search, struct ascent *ascent) {
  enum tutti_status status;
  tutti_sobol *sobol = NULL;
  double *theta = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, ascent->count, sizeof(double), &theta));
  for (size_t i = 0; i < ascent->count; i++)
    theta[i] = between(ascent->bounds[i], 0.5);
  TUTTI_TRY_OUT(context, ascent_try(ascent, theta));
  if (ascent->unknowns == 0)
    goto out;
  size_t spread = ascent->count < TUTTI_SOBOL_DIMENSIONS ? ascent->count : TUTTI_SOBOL_DIMENSIONS;
  TUTTI_TRY_OUT(context, tutti_sobol_create(context, spread, search->random, &sobol));
  for (size_t draw = 1; draw < search->draws; draw++) {
    tutti_sobol_next(sobol, theta);
    for (size_t i = 0; i < ascent->count; i++)
      theta[i] = between(ascent->bounds[i], i < spread ? theta[i] : tutti_random_uniform(search->random));
    TUTTI_TRY_OUT(context, ascent_try(ascent, theta));
  }
out:
  tutti_sobol_destroy(sobol);
  tutti_free(theta);
  return status;
}

enum tutti_status dgp_fit(tutti_context *context, const struct dgp_data *data, const struct dgp_units *units,
                          size_t count, const struct dgp_search *search, double *hyper, double *likelihood) {
  enum tutti_status status;
  double(*bounds)[2] = NULL;
  struct target target = {.data = data, .units = units, .hyper = hyper};
  struct ascent ascent = {
      .context = context, .function = likelihood_at, .argument = &target, .count = dgp_count(&data->shape)};
  TUTTI_TRY_OUT(context, tutti_alloc(context, ascent.count, sizeof(*bounds), &bounds));
  for (size_t i = 0; i < ascent.count; i++)
    for (int end = 0; end < 2; end++)
      bounds[i][end] = log(search->ranges[i][end]);
  ascent.bounds = (const double(*)[2])bounds;
  TUTTI_TRY_OUT(context, ascent_init(&ascent));
  TUTTI_TRY_OUT(context, dgp_workspace_create(context, data, count, &target.workspace));
  TUTTI_TRY_OUT(context, survey(context, search, &ascent));
  if (ascent.value > -HUGE_VAL && search->evaluations > 0 && ascent.unknowns > 0)
    TUTTI_TRY_OUT(context, ascent_climb(&ascent, ascent.best, search->evaluations));
  if (ascent.value == -HUGE_VAL) { /* the last error says why */
    status = ascent.status != TUTTI_OK
                 ? ascent.status
                 : TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC,
                              "surrogate gp-otmann: no finite likelihood at %zu observations", count);
    goto out;
  }
  tutti_error_clear(context);
  for (size_t i = 0; i < ascent.count; i++)
    hyper[i] = exp(ascent.best[i]);
  *likelihood = ascent.value;
out:
  dgp_workspace_destroy(&target.workspace);
  ascent_clear(&ascent);
  tutti_free(bounds);
  return status;
}
