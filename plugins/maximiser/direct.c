/* direct.c - maximiser by dividing rectangles, without gradients: DIRECT (Jones, Perttunen, Stuckman, "Lipschitzian
   optimization without the Lipschitz constant", JOTA 79, 1993), by default in its locally biased form (Gablonsky,
   Kelley, "A locally-biased form of the DIRECT algorithm", Journal of Global Optimization 21, 2001). It draws
   nothing: the same objective gives the same candidate. The cube has one side for each dimension of the joint domain,
   and every value has its share of the side. A choice is therefore one side, not one side for each of its values. */
#include "pool.h"
#include "rectangles.h"

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
  struct maximiser_pool pool;
  double *points; /* [room][count of joint] */
  size_t room;
};

/* What is minimised. Refused points have the lowest worth at which differences stay finite. */
static double value_direct(double worth) {
  static const double lowest = -1e100;
  return isnan(worth) ? -lowest : -fmin(fmax(worth, lowest), -lowest);
}

static enum tutti_status evaluate_direct(void *argument, tutti_context *context, size_t count, const double *units,
                                         double *values) {
  struct direct_work *work = argument;
  size_t dimensions = tutti_domain_count(work->pool.joint);
  if (count > work->room) {
    TUTTI_TRY(context, tutti_realloc(context, 0, count, dimensions * sizeof *work->points, &work->points));
    work->room = count;
  }
  for (size_t i = 0; i < count; i++)
    tutti_domain_from_unit(work->pool.joint, units + i * dimensions, work->points + i * dimensions);
  TUTTI_TRY(context, maximiser_pool_evaluate_points(context, &work->pool, count, work->points, values));
  for (size_t i = 0; i < count; i++)
    values[i] = value_direct(values[i]);
  return TUTTI_OK;
}

static enum tutti_status divide_direct(const struct direct *self, tutti_context *context, struct direct_work *work) {
  struct rectangles_task task = {.dimensions = tutti_domain_count(work->pool.joint),
                                 .evaluations = (size_t)self->config->evaluations,
                                 .local = self->config->local,
                                 .evaluate = evaluate_direct,
                                 .argument = work};
  double worth, none;
  if (task.dimensions == 0)
    return maximiser_pool_evaluate_points(context, &work->pool, 1, &none, &worth);
  return rectangles_divide(context, &task);
}

static enum tutti_status maximiser_maximise_direct(void *instance, tutti_context *context,
                                                   const struct tutti_objective *objective, tutti_candidate **candidate,
                                                   double *worth) {
  const struct direct *self = instance;
  enum tutti_status status;
  struct tutti_random random;
  struct direct_work work = {0};
  tutti_random_init(&random, self->seed, "maximiser direct", objective->step);
  TUTTI_TRY_OUT(context, maximiser_pool_init(context, self->scope, objective, &work.pool));
  TUTTI_TRY_OUT(context, divide_direct(self, context, &work));
  TUTTI_TRY_OUT(context, maximiser_pool_find_one(context, &work.pool, &random));
  TUTTI_TRY_OUT(context, maximiser_pool_evaluate(context, &work.pool));
  maximiser_pool_answer(&work.pool, candidate, worth);
out:
  maximiser_pool_clear(&work.pool);
  tutti_free(work.points);
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
