/* design.c - Sobol points of the joint domain as candidates, and the architectures that a space knows. */
#include "design.h"

enum { TRIES = 10 }; /* for a candidate that was not tried before */

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

typedef bool known_function(const void *argument, const tutti_candidate *candidate);

static void drop_known(known_function *known, const void *argument, tutti_candidate **candidate) {
  if (!*candidate || !known(argument, *candidate))
    return;
  tutti_candidate_unref(*candidate);
  *candidate = NULL;
}

static enum tutti_status sobol_candidate(tutti_context *context, const struct design *design, uint64_t trial,
                                         known_function *known, const void *argument, tutti_candidate **candidate) {
  const tutti_domain *joint = tutti_scope_joint(design->scope);
  size_t count = joint ? tutti_domain_count(joint) : 0;
  uint64_t initial = (uint64_t)design->config->initial;
  enum tutti_status status = TUTTI_OK;
  double *unit = NULL, *point = NULL;
  if (count == 0)
    return TUTTI_OK;
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(double), &unit));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(double), &point));
  for (uint64_t i = 0; i < TRIES && !*candidate; i++) {
    TUTTI_TRY_OUT(context, sobol_point(context, design, trial + i * initial, unit));
    tutti_domain_from_unit(joint, unit, point);
    TUTTI_TRY_OUT(context, candidate_at(context, design, trial, point, candidate));
    drop_known(known, argument, candidate);
  }
out:
  tutti_free(unit);
  tutti_free(point);
  return status;
}

static size_t count_known(const struct design *design) {
  const tutti_space *space = tutti_scope_space(design->scope);
  const char *name, *json;
  size_t count = 0;
  while (space && tutti_space_known(space, count, &name, &json))
    count++;
  return count;
}

/* Sobol points stand in where a space knows no architectures. */
static bool is_sobol(const struct design *design) {
  return design->config->kind == DESIGN_SOBOL || (design->config->kind == DESIGN_KNOWN && count_known(design) == 0);
}

enum tutti_status design_check(tutti_context *context, const struct design *design) {
  const tutti_domain *joint = tutti_scope_joint(design->scope);
  size_t count = joint ? tutti_domain_count(joint) : 0;
  if (is_sobol(design) && count > TUTTI_SOBOL_DIMENSIONS)
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "[builder] design = sobol: the space and the hyperparameters have %zu dimensions, and Sobol points "
        "%d at most; choose design = random",
        count, TUTTI_SOBOL_DIMENSIONS);
  return TUTTI_OK;
}

/* A mutant of the space's architecture number `parent`. */
static enum tutti_status known_mutant(tutti_context *context, const struct design *design, size_t parent,
                                      struct tutti_random *random, uint64_t seed, tutti_candidate **candidate) {
  tutti_candidate *origin;
  TUTTI_TRY(context, tutti_scope_known(context, design->scope, parent, random, seed, &origin));
  enum tutti_status status = tutti_scope_mutate(context, design->scope, random, origin, seed, candidate);
  tutti_candidate_unref(origin);
  return status;
}

static enum tutti_status known_candidate(tutti_context *context, const struct design *design, uint64_t trial,
                                         size_t count, known_function *known, const void *argument,
                                         tutti_candidate **candidate) {
  uint64_t seed = tutti_trial_seed(design->seed, trial);
  struct tutti_random random;
  tutti_random_init(&random, design->seed, "known design", trial);
  if (trial < count)
    TUTTI_TRY(context, tutti_scope_known(context, design->scope, (size_t)trial, &random, seed, candidate));
  drop_known(known, argument, candidate);
  for (int i = 0; i < TRIES && !*candidate; i++) {
    size_t parent = (size_t)tutti_random_below(&random, count);
    TUTTI_TRY(context, known_mutant(context, design, parent, &random, seed, candidate));
    drop_known(known, argument, candidate);
  }
  return TUTTI_OK;
}

enum tutti_status design_candidate(tutti_context *context, const struct design *design, uint64_t trial,
                                   bool (*known)(const void *argument, const tutti_candidate *candidate),
                                   const void *argument, tutti_candidate **candidate) {
  if (design->config->kind == DESIGN_RANDOM)
    return TUTTI_OK;
  return is_sobol(design) ? sobol_candidate(context, design, trial, known, argument, candidate)
                          : known_candidate(context, design, trial, count_known(design), known, argument, candidate);
}
