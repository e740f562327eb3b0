/* direct.c - maximiser by dividing rectangles, without gradients: DIRECT (Jones, Perttunen, Stuckman, "Lipschitzian
   optimization without the Lipschitz constant", JOTA 79, 1993), by default in its locally biased form (Gablonsky,
   Kelley, "A locally-biased form of the DIRECT algorithm", Journal of Global Optimization 21, 2001), by NLopt. It draws
   nothing: the same objective gives the same candidate. The cube has one side for each dimension of the joint domain,
   and every value has its share of the side. A choice is therefore one side, not one side for each of its values. */
#include <float.h>
#include <nlopt.h>

#include "pool.h"

struct direct_config {
  int64_t evaluations;
  bool local;
};

static const struct tutti_param direct_params[] = {
    TUTTI_INTEGER(struct direct_config, evaluations, "2000", 1, 10000000,
                  "Points that are evaluated for each proposal."),
    TUTTI_BOOL(struct direct_config, local, "yes",
               "Divide fewer of the large rectangles: right where there are few local maxima."),
};

struct direct {
  const struct direct_config *config;
  const tutti_scope *scope;
  uint64_t seed;
};

static enum tutti_status maximiser_create_direct(tutti_context *context, const void *config, const void *setup_,
                                                 void **instance) {
  const struct tutti_maximiser_setup *setup = setup_;
  struct direct *self = NULL;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof(*self), &self));
  self->config = config;
  self->scope = setup->scope;
  self->seed = setup->seed;
  *instance = self;
  return TUTTI_OK;
}

static void maximiser_destroy_direct(void *instance) { tutti_free(instance); }

/* One proposal. */
struct direct_work {
  tutti_context *context;
  struct maximiser_pool pool;
  double *unit, *point; /* [count of joint] */
  nlopt_opt optimiser;
  enum tutti_status status; /* of the last evaluation */
};

static enum tutti_status evaluate_direct(struct direct_work *work, const double *unit, double *worth) {
  if (tutti_cancelled(work->context))
    return TUTTI_FAIL(work->context, TUTTI_ERROR_CANCELLED, "cancelled in maximiser direct");
  tutti_domain_from_unit(work->pool.joint, unit, work->point);
  TUTTI_TRY(work->context, maximiser_pool_worth(work->context, &work->pool, work->point, worth));
  return maximiser_pool_add_point(work->context, &work->pool, work->point);
}

/* The worth of refused points and of points without worth: as low as possible while NLopt's differences stay finite. */
static double objective_direct(unsigned count, const double *unit, double *slope, void *argument) {
  static const double lowest = -1e100;
  struct direct_work *work = argument;
  double worth = lowest;
  (void)count, (void)slope;
  work->status = evaluate_direct(work, unit, &worth);
  if (work->status != TUTTI_OK)
    nlopt_force_stop(work->optimiser);
  return -fmax(worth, lowest);
}

static enum tutti_status divide_direct(const struct direct *self, struct direct_work *work) {
  unsigned count = (unsigned)tutti_domain_count(work->pool.joint);
  double value;
  if (count == 0)
    return maximiser_pool_add_point(work->context, &work->pool, work->point);
  work->optimiser = nlopt_create(self->config->local ? NLOPT_GN_DIRECT_L : NLOPT_GN_DIRECT, count);
  if (!work->optimiser)
    return TUTTI_FAIL(work->context, TUTTI_ERROR_MEMORY, "maximiser direct: no memory for the optimiser");
  for (unsigned i = 0; i < count; i++)
    work->unit[i] = 0.5;
  nlopt_set_min_objective(work->optimiser, objective_direct, work);
  nlopt_set_lower_bounds1(work->optimiser, 0);
  nlopt_set_upper_bounds1(work->optimiser, 1);
  nlopt_set_maxeval(work->optimiser, (int)self->config->evaluations);
  (void)nlopt_optimize(work->optimiser, work->unit, &value); /* the result is in the pool */
  nlopt_destroy(work->optimiser);
  return work->status;
}

static enum tutti_status maximiser_maximise_direct(void *instance, tutti_context *context,
                                                   const struct tutti_objective *objective, tutti_candidate **candidate,
                                                   double *worth) {
  const struct direct *self = instance;
  enum tutti_status status;
  struct tutti_random random;
  struct direct_work work = {.context = context, .status = TUTTI_OK};
  tutti_random_init(&random, self->seed, "maximiser direct", objective->step);
  TUTTI_TRY_OUT(context, maximiser_pool_init(context, self->scope, objective, &work.pool));
  size_t count = tutti_domain_count(work.pool.joint) + 1;
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(double), &work.unit));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(double), &work.point));
  TUTTI_TRY_OUT(context, divide_direct(self, &work));
  TUTTI_TRY_OUT(context, maximiser_pool_find_one(context, &work.pool, &random));
  TUTTI_TRY_OUT(context, maximiser_pool_evaluate(context, &work.pool));
  maximiser_pool_answer(&work.pool, candidate, worth);
out:
  maximiser_pool_clear(&work.pool);
  tutti_free(work.unit);
  tutti_free(work.point);
  return status;
}

static const struct tutti_maximiser_ops direct_ops = {
    .size = sizeof(struct tutti_maximiser_ops),
    .needs = TUTTI_NEEDS_VECTORS,
    .maximise = maximiser_maximise_direct,
};

static const struct tutti_descriptor direct_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_MAXIMISER, "direct"),
    .version = "1.0",
    .summary = "dividing rectangles, without gradients",
    .source =
        "Jones, Perttunen, Stuckman, Lipschitzian optimization without the Lipschitz constant, JOTA 79, 1993; "
        "Gablonsky, Kelley, A locally-biased form of the DIRECT algorithm, Journal of Global Optimization 21, 2001",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(direct_params, struct direct_config),
    .create = maximiser_create_direct,
    .destroy = maximiser_destroy_direct,
    .ops = &direct_ops,
};

TUTTI_PLUGIN(direct_descriptor)
