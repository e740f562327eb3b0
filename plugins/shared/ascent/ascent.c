/* ascent.c - runs NLopt's L-BFGS on a function that may fail. */
#include "ascent.h"

#include <nlopt.h>
#include <string.h>

enum tutti_status ascent_init(struct ascent *ascent) {
  tutti_context *context = ascent->context;
  ascent->value = -HUGE_VAL;
  TUTTI_TRY(context, tutti_alloc(context, ascent->count, sizeof(size_t), &ascent->free));
  TUTTI_TRY(context, tutti_alloc(context, ascent->count, sizeof(double), &ascent->at));
  TUTTI_TRY(context, tutti_alloc(context, ascent->count, sizeof(double), &ascent->theta));
  TUTTI_TRY(context, tutti_alloc(context, ascent->count, sizeof(double), &ascent->gradient));
  TUTTI_TRY(context, tutti_alloc(context, ascent->count, sizeof(double), &ascent->best));
  for (size_t i = 0; i < ascent->count; i++)
    if (ascent->bounds[i][0] < ascent->bounds[i][1])
      ascent->free[ascent->unknowns++] = i;
  return TUTTI_OK;
}

void ascent_clear(struct ascent *ascent) {
  tutti_free(ascent->free);
  tutti_free(ascent->at);
  tutti_free(ascent->theta);
  tutti_free(ascent->gradient);
  tutti_free(ascent->best);
}

/* Evaluate at ascent->theta; false if there is no value. */
static bool evaluate(struct ascent *ascent, double *value, double *gradient) {
  enum tutti_status status =
      tutti_cancelled(ascent->context)
          ? TUTTI_FAIL(ascent->context, TUTTI_ERROR_CANCELLED, "cancelled in the search for hyperparameters")
          : ascent->function(ascent->argument, ascent->context, ascent->theta, value, gradient);
  ascent->last = -HUGE_VAL;
  if (status != TUTTI_OK)
    ascent->status = status;
  if (status != TUTTI_OK || !isfinite(*value))
    return false;
  ascent->last = *value;
  if (*value > ascent->value) { /* kept here: an optimiser that stops on an error does not return it */
    ascent->value = *value;
    memcpy(ascent->best, ascent->theta, ascent->count * sizeof(double));
  }
  return true;
}

/* NLopt's objective: minus the function. */
static double objective(unsigned count, const double *unknowns, double *slope, void *argument) {
  struct ascent *ascent = argument;
  double value;
  for (unsigned i = 0; i < count; i++)
    ascent->theta[ascent->free[i]] = unknowns[i];
  if (!evaluate(ascent, &value, ascent->gradient)) {
    if (ascent->status == TUTTI_ERROR_CANCELLED)
      nlopt_force_stop(ascent->optimiser);
    if (slope)
      memset(slope, 0, count * sizeof(*slope));
    return HUGE_VAL;
  }
  for (unsigned i = 0; slope && i < count; i++)
    slope[i] = -ascent->gradient[ascent->free[i]];
  return -value;
}

static enum tutti_status outcome(const struct ascent *ascent) {
  return ascent->status == TUTTI_ERROR_CANCELLED ? ascent->status : TUTTI_OK;
}

enum tutti_status ascent_try(struct ascent *ascent, const double *theta) {
  double value;
  memcpy(ascent->theta, theta, ascent->count * sizeof(double));
  (void)evaluate(ascent, &value, NULL);
  return outcome(ascent);
}

enum tutti_status ascent_climb(struct ascent *ascent, const double *theta, size_t evaluations) {
  double value;
  if (ascent->unknowns == 0)
    return ascent_try(ascent, theta);
  nlopt_opt optimiser = nlopt_create(NLOPT_LD_LBFGS, (unsigned)ascent->unknowns);
  if (!optimiser)
    return TUTTI_FAIL(ascent->context, TUTTI_ERROR_MEMORY, "no memory for the optimiser");
  memcpy(ascent->theta, theta, ascent->count * sizeof(double));
  for (size_t i = 0; i < ascent->unknowns; i++) {
    nlopt_set_lower_bound(optimiser, (int)i, ascent->bounds[ascent->free[i]][0]);
    nlopt_set_upper_bound(optimiser, (int)i, ascent->bounds[ascent->free[i]][1]);
    ascent->at[i] = ascent->theta[ascent->free[i]];
  }
  ascent->optimiser = optimiser;
  nlopt_set_min_objective(optimiser, objective, ascent);
  nlopt_set_ftol_rel(optimiser, 1e-9);
  nlopt_set_ftol_abs(optimiser, 1e-9);
  nlopt_set_maxeval(optimiser, (int)evaluations);
  (void)nlopt_optimize(optimiser, ascent->at, &value); /* the result is the best point met */
  nlopt_destroy(optimiser);
  ascent->optimiser = NULL;
  return outcome(ascent);
}
