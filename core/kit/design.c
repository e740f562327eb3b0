/* design.c - Sobol points of the joint domain as candidates, and the architectures that a space knows. */
#include <tutti/design.h>

#include <tutti/sized.h>

#include <tutti/space.h>

enum { TRIES = 10 }; /* attempts to find a candidate that was not tried before */

/* The facts from which a candidate of the design is made. */
struct draft {
  struct tutti_design design;
  const tutti_scope *scope;
  const tutti_candidate_set *known;
  uint64_t seed, trial;
};

static struct draft draft_of(const struct tutti_design *design, const tutti_candidate_set *known, uint64_t trial) {
  struct draft draft = {
      .scope = tutti_host_scope(design->host), .known = known, .seed = tutti_host_seed(design->host), .trial = trial};
  TUTTI_TAKE(&draft.design, design);
  return draft;
}

static void drop_known(const struct draft *draft, tutti_candidate **candidate) {
  if (!*candidate || !tutti_candidate_set_has(draft->known, *candidate))
    return;
  tutti_candidate_unref(*candidate);
  *candidate = NULL;
}

/* Point number `index` of the run's Sobol sequence. */
static enum tutti_status sobol_point(tutti_context *context, const struct draft *draft, uint64_t index, double *unit) {
  struct tutti_random shift;
  tutti_sobol *sobol = NULL;
  tutti_random_init(&shift, draft->seed, "bo design", 0);
  TUTTI_TRY(context, tutti_sobol_create(context, tutti_domain_count(tutti_scope_joint(draft->scope)), &shift, &sobol));
  for (uint64_t i = 0; i <= index; i++)
    tutti_sobol_next(sobol, unit);
  tutti_sobol_destroy(sobol);
  return TUTTI_OK;
}

/* The candidate at a point; NULL where the space refuses it. */
static enum tutti_status candidate_at(tutti_context *context, const struct draft *draft, const double *point,
                                      tutti_candidate **candidate) {
  uint64_t seed = tutti_trial_seed(draft->seed, draft->trial);
  enum tutti_status status = tutti_scope_from_point(context, draft->scope, point, seed, candidate);
  if (status != TUTTI_ERROR_USAGE)
    return status;
  tutti_error_clear(context);
  return TUTTI_OK;
}

static size_t dimensions_of(const struct draft *draft) {
  const tutti_domain *joint = tutti_scope_joint(draft->scope);
  return joint ? tutti_domain_count(joint) : 0;
}

static enum tutti_status sobol_candidate(tutti_context *context, const struct draft *draft,
                                         tutti_candidate **candidate) {
  size_t count = dimensions_of(draft);
  enum tutti_status status = TUTTI_OK;
  double *unit = NULL, *point = NULL;
  if (count == 0)
    return TUTTI_OK;
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(double), &unit));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(double), &point));
  for (uint64_t i = 0; i < TRIES && !*candidate; i++) {
    TUTTI_TRY_OUT(context, sobol_point(context, draft, draft->trial + i * draft->design.initial, unit));
    tutti_domain_from_unit(tutti_scope_joint(draft->scope), unit, point);
    TUTTI_TRY_OUT(context, candidate_at(context, draft, point, candidate));
    drop_known(draft, candidate);
  }
out:
  tutti_free(unit);
  tutti_free(point);
  return status;
}

/* Architectures that the space knows. */
static size_t count_known(const struct draft *draft) {
  const tutti_space *space = tutti_scope_space(draft->scope);
  const char *name, *json;
  size_t count = 0;
  while (space && tutti_space_known(space, count, &name, &json))
    count++;
  return count;
}

static bool is_sobol(const struct draft *draft) {
  return draft->design.kind == TUTTI_DESIGN_SOBOL ||
         (draft->design.kind == TUTTI_DESIGN_KNOWN && count_known(draft) == 0);
}

enum tutti_status tutti_design_check(tutti_context *context, const struct tutti_design *design) {
  const struct draft draft = draft_of(design, NULL, 0);
  if (is_sobol(&draft) && dimensions_of(&draft) > TUTTI_SOBOL_DIMENSIONS)
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "[builder] design = sobol: the space and the hyperparameters have %zu dimensions, and Sobol points "
        "%d at most; choose design = random",
        dimensions_of(&draft), TUTTI_SOBOL_DIMENSIONS);
  return TUTTI_OK;
}

/* A mutant of the space's architecture number `parent`. */
static enum tutti_status known_mutant(tutti_context *context, const struct draft *draft, size_t parent,
                                      struct tutti_random *random, tutti_candidate **candidate) {
  uint64_t seed = tutti_trial_seed(draft->seed, draft->trial);
  tutti_candidate *origin;
  TUTTI_TRY(context, tutti_scope_known(context, draft->scope, parent, random, seed, &origin));
  enum tutti_status status = tutti_scope_mutate(context, draft->scope, random, origin, seed, candidate);
  tutti_candidate_unref(origin);
  return status;
}

static enum tutti_status known_candidate(tutti_context *context, const struct draft *draft,
                                         tutti_candidate **candidate) {
  size_t count = count_known(draft);
  struct tutti_random random;
  tutti_random_init(&random, draft->seed, "known design", draft->trial);
  if (draft->trial < count)
    TUTTI_TRY(context, tutti_scope_known(context, draft->scope, (size_t)draft->trial, &random,
                                         tutti_trial_seed(draft->seed, draft->trial), candidate));
  drop_known(draft, candidate);
  for (int i = 0; i < TRIES && !*candidate; i++) {
    size_t parent = (size_t)tutti_random_below(&random, count);
    TUTTI_TRY(context, known_mutant(context, draft, parent, &random, candidate));
    drop_known(draft, candidate);
  }
  return TUTTI_OK;
}

enum tutti_status tutti_design_candidate(tutti_context *context, const struct tutti_design *design, uint64_t trial,
                                         const tutti_candidate_set *known, tutti_candidate **candidate) {
  const struct draft draft = draft_of(design, known, trial);
  *candidate = NULL;
  if (draft.design.kind == TUTTI_DESIGN_RANDOM)
    return TUTTI_OK;
  return is_sobol(&draft) ? sobol_candidate(context, &draft, candidate) : known_candidate(context, &draft, candidate);
}
