/* sobol-lbfgs.c - Sobol points over the joint domain and points near the incumbent are evaluated; the best of them
   start bounded L-BFGS; the best point found wins (Lacoste, Larochelle, Laviolette, Marchand, "Sequential Model-Based
   Ensemble Optimization", UAI 2014, section 2). Counts are those of spearmint, which that paper's experiments use: 10
   points near the incumbent and 20 starts; `points` is 20,000 there and in the recipes of ini/smbo, and 5,000 by
   default, since the starts are refined. Choices keep the value of their start. Integers are relaxed during the ascent,
   then rounded and evaluated again. If the objective has no gradient, BOBYQA (COBYLA in one dimension) replaces L-BFGS.
   Candidates tried before are left out. */
#include <float.h>
#include <nlopt.h>
#include <string.h>

#include "pool.h"

struct sobol_lbfgs_config {
  int64_t points, near, starts, evaluations;
  double near_deviation;
};

static const struct tutti_param sobol_lbfgs_params[] = {
    TUTTI_INTEGER(struct sobol_lbfgs_config, points, "5000", 1, 10000000, "Sobol points for each proposal."),
    TUTTI_INTEGER(struct sobol_lbfgs_config, near, "10", 0, 1000000, "Normal points around the best candidate known."),
    TUTTI_REAL(struct sobol_lbfgs_config, near_deviation, "0.001", 0, 1,
               "Their standard deviation in each dimension, where its range is 1."),
    TUTTI_INTEGER(struct sobol_lbfgs_config, starts, "20", 0, 100000, "Best points that are refined."),
    TUTTI_INTEGER(struct sobol_lbfgs_config, evaluations, "50", 1, 1000000,
                  "Evaluations that one refinement may cost."),
};

struct sobol_lbfgs {
  const struct sobol_lbfgs_config *config;
  const tutti_scope *scope;
  uint64_t seed;
};

/* Is there a dimension to ascend in, and no more than Sobol points cover? */
static enum tutti_status check_scope_sobol_lbfgs(tutti_context *context, const tutti_scope *scope) {
  const tutti_domain *joint = tutti_scope_joint(scope);
  size_t count = joint ? tutti_domain_count(joint) : 0, ordered = 0;
  for (size_t i = 0; i < count; i++)
    ordered += tutti_domain_at(joint, i)->type != TUTTI_DIMENSION_CATEGORICAL;
  if (count > 0 && ordered == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "maximiser sobol-lbfgs needs a real or integer dimension to ascend in, and all %zu dimensions of "
                      "the space and the hyperparameters are choices; choose maximiser = sample",
                      count);
  if (count > TUTTI_SOBOL_DIMENSIONS)
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "maximiser sobol-lbfgs: the space and the hyperparameters have %zu dimensions, and Sobol points %d "
        "at most; choose maximiser = sample",
        count, TUTTI_SOBOL_DIMENSIONS);
  return TUTTI_OK;
}

static enum tutti_status maximiser_create_sobol_lbfgs(tutti_context *context, const void *config, const void *setup_,
                                                      void **instance) {
  const struct tutti_maximiser_setup *setup = setup_;
  struct sobol_lbfgs *self = NULL;
  TUTTI_TRY(context, check_scope_sobol_lbfgs(context, setup->scope));
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof(*self), &self));
  self->config = config;
  self->scope = setup->scope;
  self->seed = setup->seed;
  *instance = self;
  return TUTTI_OK;
}

static void maximiser_destroy_sobol_lbfgs(void *instance) { tutti_free(instance); }

/* --- points ------------------------------------------------------------------------------------------------------- */

/* One proposal. */
struct sobol_lbfgs_work {
  tutti_context *context;
  struct maximiser_pool pool;
  struct tutti_random random;
  double *unit, *point;                /* [count of joint] */
  double *vector, *gradient, *unknown; /* [width] */
  size_t *free;                        /* [unknowns]: columns that are searched */
  size_t unknowns, *starts;            /* starts [config->starts] */
  nlopt_opt optimiser;
  enum tutti_status status; /* of the last evaluation */
};

static enum tutti_status sobol_points_sobol_lbfgs(const struct sobol_lbfgs *self, tutti_context *context,
                                                  struct sobol_lbfgs_work *work) {
  const tutti_domain *joint = work->pool.joint;
  enum tutti_status status = TUTTI_OK;
  tutti_sobol *sobol = NULL;
  if (tutti_domain_count(joint) == 0)
    return maximiser_pool_add_point(context, &work->pool, work->point);
  TUTTI_TRY(context, tutti_sobol_create(context, tutti_domain_count(joint), &work->random, &sobol));
  for (int64_t i = 0; i < self->config->points && status == TUTTI_OK; i++) {
    tutti_sobol_next(sobol, work->unit);
    tutti_domain_from_unit(joint, work->unit, work->point);
    status = maximiser_pool_add_point(context, &work->pool, work->point);
  }
  tutti_sobol_destroy(sobol);
  return status;
}

/* Is the column a real or an integer that is active at the point? */
static bool searched_sobol_lbfgs(const tutti_domain *joint, const double *point, size_t column) {
  struct tutti_domain_column_facts about = {.size = sizeof about};
  tutti_domain_column(joint, column, &about);
  return about.type != TUTTI_DIMENSION_CATEGORICAL && !isnan(point[about.dimension]);
}

static enum tutti_status near_points_sobol_lbfgs(const struct sobol_lbfgs *self, tutti_context *context,
                                                 struct sobol_lbfgs_work *work) {
  const struct maximiser_pool *pool = &work->pool;
  size_t best;
  if (maximiser_pool_incumbents(pool->objective, 1, &best) == 0)
    return TUTTI_OK;
  for (int64_t i = 0; i < self->config->near; i++) {
    tutti_scope_to_point(pool->scope, pool->objective->known[best], work->point);
    tutti_domain_encode(pool->joint, work->point, work->vector);
    for (size_t c = 0; c < pool->width; c++)
      if (searched_sobol_lbfgs(pool->joint, work->point, c))
        work->vector[c] += self->config->near_deviation * tutti_random_normal(&work->random);
    tutti_domain_decode(pool->joint, work->vector, work->point);
    TUTTI_TRY(context, maximiser_pool_add_point(context, &work->pool, work->point));
  }
  return TUTTI_OK;
}

/* --- refinement --------------------------------------------------------------------------------------------------- */

/* Without a gradient, use the worth of the candidate nearest to the vector, which every acquisition can give. */
static enum tutti_status worth_nearby_sobol_lbfgs(struct sobol_lbfgs_work *work, double *worth) {
  tutti_domain_decode(work->pool.joint, work->vector, work->point);
  return maximiser_pool_worth(work->context, &work->pool, work->point, worth);
}

static double objective_sobol_lbfgs(unsigned count, const double *unknown, double *slope, void *argument) {
  struct sobol_lbfgs_work *work = argument;
  const struct tutti_objective *objective = work->pool.objective;
  double worth = -HUGE_VAL;
  for (unsigned i = 0; i < count; i++)
    work->vector[work->free[i]] = unknown[i];
  if (tutti_cancelled(work->context))
    work->status = TUTTI_FAIL(work->context, TUTTI_ERROR_CANCELLED, "cancelled in the ascent of an acquisition");
  else if (objective->gradient)
    work->status = objective->gradient(objective->argument, work->context, work->vector, &worth, work->gradient);
  else
    work->status = worth_nearby_sobol_lbfgs(work, &worth);
  if (work->status != TUTTI_OK)
    nlopt_force_stop(work->optimiser);
  for (unsigned i = 0; slope && i < count; i++)
    slope[i] = work->status == TUTTI_OK ? -work->gradient[work->free[i]] : 0;
  return -worth;
}

static nlopt_algorithm algorithm_sobol_lbfgs(const struct sobol_lbfgs_work *work) {
  if (work->pool.objective->gradient)
    return NLOPT_LD_LBFGS;
  return work->unknowns > 1 ? NLOPT_LN_BOBYQA : NLOPT_LN_COBYLA;
}

static enum tutti_status ascend_sobol_lbfgs(const struct sobol_lbfgs *self, struct sobol_lbfgs_work *work) {
  double value;
  work->optimiser = nlopt_create(algorithm_sobol_lbfgs(work), (unsigned)work->unknowns);
  if (!work->optimiser)
    return TUTTI_FAIL(work->context, TUTTI_ERROR_MEMORY, "maximiser sobol-lbfgs: no memory for the optimiser");
  nlopt_set_min_objective(work->optimiser, objective_sobol_lbfgs, work);
  nlopt_set_lower_bounds1(work->optimiser, 0);
  nlopt_set_upper_bounds1(work->optimiser, 1);
  nlopt_set_initial_step1(work->optimiser, 0.05);
  nlopt_set_ftol_rel(work->optimiser, 1e-6);
  nlopt_set_xtol_abs1(work->optimiser, 1e-6);
  nlopt_set_maxeval(work->optimiser, (int)self->config->evaluations);
  (void)nlopt_optimize(work->optimiser, work->unknown, &value); /* its best point counts, however it ended */
  nlopt_destroy(work->optimiser);
  return work->status;
}

/* Refine candidate number `start` of the pool, and add the result. */
static enum tutti_status refine_sobol_lbfgs(const struct sobol_lbfgs *self, tutti_context *context,
                                            struct sobol_lbfgs_work *work, size_t start) {
  struct maximiser_pool *pool = &work->pool;
  tutti_scope_to_point(pool->scope, pool->candidates[start], work->point);
  memcpy(work->vector, pool->vectors + start * pool->width, pool->width * sizeof(double));
  work->unknowns = 0;
  for (size_t c = 0; c < pool->width; c++)
    if (searched_sobol_lbfgs(pool->joint, work->point, c)) {
      work->unknown[work->unknowns] = work->vector[c];
      work->free[work->unknowns++] = c;
    }
  if (work->unknowns == 0 || pool->worth[start] <= -DBL_MAX)
    return TUTTI_OK;
  TUTTI_TRY(context, ascend_sobol_lbfgs(self, work));
  for (size_t i = 0; i < work->unknowns; i++)
    work->vector[work->free[i]] = work->unknown[i];
  tutti_domain_decode(pool->joint, work->vector, work->point);
  return maximiser_pool_add_point(context, pool, work->point);
}

static enum tutti_status reserve_sobol_lbfgs(const struct sobol_lbfgs *self, tutti_context *context,
                                             struct sobol_lbfgs_work *work) {
  size_t count = tutti_domain_count(work->pool.joint) + 1, width = work->pool.width + 1;
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof(double), &work->unit));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof(double), &work->point));
  TUTTI_TRY(context, tutti_alloc(context, width, sizeof(double), &work->vector));
  TUTTI_TRY(context, tutti_alloc(context, width, sizeof(double), &work->gradient));
  TUTTI_TRY(context, tutti_alloc(context, width, sizeof(double), &work->unknown));
  TUTTI_TRY(context, tutti_alloc(context, width, sizeof(size_t), &work->free));
  TUTTI_TRY(context, tutti_alloc(context, (size_t)self->config->starts, sizeof(size_t), &work->starts));
  return TUTTI_OK;
}

static void release_sobol_lbfgs(struct sobol_lbfgs_work *work) {
  maximiser_pool_clear(&work->pool);
  tutti_free(work->unit);
  tutti_free(work->point);
  tutti_free(work->vector);
  tutti_free(work->gradient);
  tutti_free(work->unknown);
  tutti_free(work->free);
  tutti_free(work->starts);
}

static enum tutti_status maximiser_maximise_sobol_lbfgs(void *instance, tutti_context *context,
                                                        const struct tutti_objective *objective,
                                                        tutti_candidate **candidate, double *worth) {
  const struct sobol_lbfgs *self = instance;
  enum tutti_status status;
  struct sobol_lbfgs_work work = {.context = context, .status = TUTTI_OK};
  tutti_random_init(&work.random, self->seed, "maximiser sobol-lbfgs", objective->step);
  TUTTI_TRY_OUT(context, maximiser_pool_init(context, self->scope, objective, &work.pool));
  TUTTI_TRY_OUT(context, reserve_sobol_lbfgs(self, context, &work));
  TUTTI_TRY_OUT(context, sobol_points_sobol_lbfgs(self, context, &work));
  TUTTI_TRY_OUT(context, near_points_sobol_lbfgs(self, context, &work));
  TUTTI_TRY_OUT(context, maximiser_pool_find_one(context, &work.pool, &work.random));
  size_t wanted = self->config->starts > 0 ? (size_t)self->config->starts : 1;
  TUTTI_TRY_OUT(context, maximiser_pool_evaluate_best(context, &work.pool, wanted));
  size_t starts = maximiser_pool_best(&work.pool, (size_t)self->config->starts, work.starts);
  for (size_t i = 0; i < starts; i++)
    TUTTI_TRY_OUT(context, refine_sobol_lbfgs(self, context, &work, work.starts[i]));
  TUTTI_TRY_OUT(context, maximiser_pool_evaluate(context, &work.pool));
  maximiser_pool_answer(&work.pool, candidate, worth);
out:
  release_sobol_lbfgs(&work);
  return status;
}

static const struct tutti_maximiser_ops sobol_lbfgs_ops = {
    .size = sizeof(struct tutti_maximiser_ops),
    .needs = TUTTI_NEEDS_VECTORS,
    .maximise = maximiser_maximise_sobol_lbfgs,
};

static const struct tutti_descriptor sobol_lbfgs_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_MAXIMISER, "sobol-lbfgs"),
    .version = "1.0",
    .summary = "Sobol points and points near the incumbent, the best refined by L-BFGS",
    .source = "Lacoste et al., Sequential Model-Based Ensemble Optimization, UAI 2014, section 2",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(sobol_lbfgs_params, struct sobol_lbfgs_config),
    .create = maximiser_create_sobol_lbfgs,
    .destroy = maximiser_destroy_sobol_lbfgs,
    .ops = &sobol_lbfgs_ops,
};

TUTTI_PLUGIN(sobol_lbfgs_descriptor)
