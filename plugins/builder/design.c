/* design.c - Sobol points of the joint domain as candidates. */
#include "design.h"

/* Point number `index` of the run's Sobol sequence. */
static enum tutti_status sobol_point(tutti_context *context, const struct design *design, uint64_t index,
                                     double *unit) {
  struct tutti_random shift;
  tutti_sobol *sobol = NULL;
  tutti_random_init(&shift, design->seed, "bo design", 0);
  TUTTI_TRY(context, tutti_sobol_create(context, tutti_domain_count(tutti_scope_joint(design->scope)), &shift, &sobol));
  for (uint64_t i = 0; i <= index; i++)
    tutti_sobol_next(sobol, unit);
  tutti_sobol_destroy(sobol);
  return TUTTI_OK;
}

/* The candidate at a point; NULL where the space refuses it. */
static enum tutti_status candidate_at(tutti_context *context, const struct design *design, uint64_t trial,
                                      const double *point, tutti_candidate **candidate) {
  enum tutti_status status =
      tutti_scope_from_point(context, design->scope, point, tutti_trial_seed(design->seed, trial), candidate);
  if (status != TUTTI_ERROR_USAGE)
    return status;
  tutti_error_clear(context);
  return TUTTI_OK;
}

enum tutti_status design_check(tutti_context *context, const struct design *design) {
  const tutti_domain *joint = tutti_scope_joint(design->scope);
  size_t count = joint ? tutti_domain_count(joint) : 0;
  if (design->config->kind == DESIGN_SOBOL && count > TUTTI_SOBOL_DIMENSIONS)
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "[builder] design = sobol: the space and the hyperparameters have %zu dimensions, and Sobol points "
        "%d at most; choose design = random",
        count, TUTTI_SOBOL_DIMENSIONS);
  return TUTTI_OK;
}

enum tutti_status design_candidate(tutti_context *context, const struct design *design, uint64_t trial,
                                   bool (*known)(const void *argument, const tutti_candidate *candidate),
                                   const void *argument, tutti_candidate **candidate) {
  enum { TRIES = 10 };
  const tutti_domain *joint = tutti_scope_joint(design->scope);
  size_t count = joint ? tutti_domain_count(joint) : 0;
  uint64_t initial = (uint64_t)design->config->initial;
  enum tutti_status status = TUTTI_OK;
  double *unit = NULL, *point = NULL;
  if (design->config->kind == DESIGN_RANDOM || count == 0)
    return TUTTI_OK;
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(double), &unit));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(double), &point));
  for (uint64_t i = 0; i < TRIES && !*candidate; i++) {
    TUTTI_TRY_OUT(context, sobol_point(context, design, trial + i * initial, unit));
    tutti_domain_from_unit(joint, unit, point);
    TUTTI_TRY_OUT(context, candidate_at(context, design, trial, point, candidate));
    if (*candidate && known(argument, *candidate)) {
      tutti_candidate_unref(*candidate);
      *candidate = NULL;
    }
  }
out:
  tutti_free(unit);
  tutti_free(point);
  return status;
}
