/* What the wrappers of the kinds check and default: plugins that break their contracts in every way that can be seen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>
#include <cmocka.h>

#include "tests/conformance/conform.h"
#include "toy.h"

/* How the plugins below behave in the running test. */
static struct {
  bool nothing, exhausted, refuse;
  int candidate; /* 0 none, else the depth of the one proposed */
  double number; /* mean, worth */
  enum tutti_state state;
  bool weightless;
  size_t fitted, calls;
  struct tutti_reply reply;
  uint64_t trial;
} act;

static enum tutti_status create(tutti_context *context, const void *config, const void *setup, void **self) {
  const void **made;
  (void)config;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *made, &made));
  *made = setup;
  *self = made;
  return TUTTI_OK;
}

static struct toy toy;

static tutti_candidate *candidate_of(int depth) {
  tutti_candidate *candidate;
  double point[8] = {depth, 0.5, 1};
  TOY_OK(&toy, tutti_scope_from_point(toy.context, toy.scope, point, 1, &candidate));
  return candidate;
}

/* --- builder --- */

static enum tutti_status ask(void *self, tutti_context *context, uint64_t trial, struct tutti_proposal *proposal) {
  (void)self, (void)context, (void)trial;
  memset(proposal->origin, 'x', sizeof proposal->origin);
  proposal->candidate = act.candidate ? candidate_of(act.candidate) : NULL;
  return TUTTI_OK;
}

static enum tutti_status tell(void *self, tutti_context *context, const struct tutti_result *result) {
  (void)self, (void)result;
  return act.refuse ? TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "I do not like it") : TUTTI_OK;
}

static bool exhausted(void *self) {
  (void)self;
  return act.exhausted;
}

static const struct tutti_builder_ops builder_ops = {
    .size = sizeof builder_ops, .ask = ask, .tell = tell, .exhausted = exhausted};

/* --- surrogates --- */

static enum tutti_status fit(void *self, tutti_context *context, const struct tutti_points *points,
                             const double *values, const double *noise) {
  (void)self, (void)context, (void)values;
  act.fitted = points->count;
  for (size_t i = 0; i < points->count; i++)
    assert_true(points->vectors[i] == (double)i && values[i] == 10 * (double)i);
  assert_true(!noise || noise[0] == 0);
  return TUTTI_OK;
}

static enum tutti_status predict(void *self, tutti_context *context, const struct tutti_points *points, double *mean,
                                 double *deviation) {
  (void)self, (void)context;
  for (size_t i = 0; i < points->count; i++) {
    mean[i] = points->vectors[i] * 2;
    deviation[i] = act.number;
  }
  return TUTTI_OK;
}

static enum tutti_status gradient(void *self, tutti_context *context, const double *vector, double *mean,
                                  double *deviation, double *mean_gradient, double *deviation_gradient) {
  (void)self, (void)context;
  *mean = 2 * vector[0];
  *deviation = 1;
  mean_gradient[0] = 2;
  deviation_gradient[0] = 5;
  return TUTTI_OK;
}

static enum tutti_status hallucinate(void *self, tutti_context *context, const struct tutti_points *points) {
  (void)self, (void)context;
  act.calls += points->count;
  return TUTTI_OK;
}

static size_t stages(void *self) {
  (void)self;
  return 1;
}

static enum tutti_status bound(void *self, tutti_context *context, const struct tutti_points *points, size_t stage,
                               double *mean, double *deviation) {
  (void)stage;
  double means[4];
  return predict(self, context, points, mean ? mean : means, deviation);
}

static void release(void *self) {
  (void)self;
  act.calls = 0;
}

static const struct tutti_surrogate_ops plain_ops = {
    .size = sizeof plain_ops, .needs = TUTTI_NEEDS_VECTORS, .fit = fit, .predict = predict};
static const struct tutti_surrogate_ops rich_ops = {.size = sizeof rich_ops,
                                                    .fit = fit,
                                                    .predict = predict,
                                                    .gradient = gradient,
                                                    .hallucinate = hallucinate,
                                                    .release = release,
                                                    .stages = stages,
                                                    .bound = bound};
static const struct tutti_surrogate_ops distance_ops = {
    .size = sizeof distance_ops, .needs = TUTTI_NEEDS_DISTANCES, .fit = fit, .predict = predict};

/* --- acquisition --- */

static enum tutti_status moments(void *self, tutti_context *context, const struct tutti_standing *standing,
                                 size_t count, const double *mean, const double *deviation, double *worth,
                                 double *by_mean, double *by_deviation) {
  (void)self, (void)context, (void)standing;
  for (size_t i = 0; i < count; i++) {
    worth[i] = act.nothing ? NAN : deviation[i] - mean[i];
    if (by_mean) {
      by_mean[i] = -1;
      by_deviation[i] = 3;
    }
  }
  return TUTTI_OK;
}

static enum tutti_status judge(void *self, tutti_context *context, const struct tutti_standing *standing,
                               const struct tutti_points *proposal, unsigned round, bool *accept) {
  (void)self, (void)context, (void)standing, (void)proposal, (void)round;
  *accept = false;
  return TUTTI_OK;
}

static const struct tutti_acquisition_ops plain_acquisition = {.size = sizeof plain_acquisition, .moments = moments};
static const struct tutti_acquisition_ops picky_acquisition = {
    .size = sizeof picky_acquisition, .moments = moments, .judge = judge};

/* --- maximiser --- */

static enum tutti_status maximise(void *self, tutti_context *context, const struct tutti_objective *objective,
                                  tutti_candidate **candidate, double *worth) {
  (void)self, (void)context, (void)objective;
  *candidate = act.candidate ? candidate_of(act.candidate) : NULL;
  *worth = act.number;
  return TUTTI_OK;
}

static const struct tutti_maximiser_ops maximiser_ops = {
    .size = sizeof maximiser_ops, .needs = TUTTI_NEEDS_VECTORS, .maximise = maximise};

/* --- selector --- */

static enum tutti_status choose(void *self, tutti_context *context, const struct tutti_pool *pool, size_t count,
                                tutti_ensemble *ensemble) {
  (void)self, (void)pool, (void)count;
  return act.nothing ? TUTTI_OK : tutti_ensemble_add(context, ensemble, act.trial, 1);
}

static const struct tutti_selector_ops selector_ops = {.size = sizeof selector_ops, .select = choose};

/* --- backends --- */

struct backend_config {
  int64_t epochs;
  int optimiser;
  double rate;
};
static const char *const optimisers[] = {"sgd", "adam", "nadam", NULL};
#define FIELD(member) .name = #member, .offset = offsetof(struct backend_config, member), .doc = "A field."
static const struct tutti_param backend_params[] = {
    {FIELD(epochs), .type = TUTTI_PARAM_INTEGER, .preset = "7", .min = 1, .max = 100},
    {FIELD(optimiser), .type = TUTTI_PARAM_CHOICE, .preset = "sgd", .choices = optimisers},
    {FIELD(rate), .type = TUTTI_PARAM_REAL, .preset = "0.25"}};

static bool supports(void *self, enum tutti_op op) {
  (void)self;
  return op != TUTTI_OP_DROPOUT && act.candidate;
}

static enum tutti_status train(void *self, tutti_context *context, const struct tutti_job *job,
                               struct tutti_outcome *outcome) {
  (void)self;
  if (act.refuse)
    return TUTTI_ERROR_NUMERIC;
  act.calls++;
  outcome->state = act.state;
  outcome->value = (double)job->trial;
  memset(outcome->failure, 'x', sizeof outcome->failure);
  return act.weightless ? TUTTI_OK : tutti_tensors_create(context, &outcome->weights);
}

static enum tutti_status predict_rows(void *self, tutti_context *context, const struct tutti_job *job,
                                      const tutti_tensors *weights, const tutti_split *split, float *out) {
  (void)self, (void)context, (void)job, (void)weights, (void)split;
  *out = 1;
  return TUTTI_OK;
}

static const struct tutti_backend_ops backend_ops = {
    .size = sizeof backend_ops, .supports = supports, .train = train, .predict = predict_rows};
static const struct tutti_backend_ops value_ops = {.size = sizeof value_ops, .supports = supports, .train = train};

static size_t capacity(void *self) {
  (void)self;
  return 2;
}

/* The last job is not told. */
static enum tutti_status train_all_but_one(void *self, tutti_context *context, size_t count,
                                           const struct tutti_job *const *jobs, struct tutti_outcome *const *outcomes,
                                           void (*done)(void *argument, size_t index), void *argument) {
  for (size_t i = 0; i + 1 < count; i++) {
    TUTTI_TRY(context, train(self, context, jobs[i], outcomes[i]));
    done(argument, i);
  }
  return TUTTI_OK;
}
static const struct tutti_backend_ops forgetful_ops = {.size = sizeof forgetful_ops,
                                                       .supports = supports,
                                                       .train = train,
                                                       .capacity = capacity,
                                                       .train_many = train_all_but_one};

/* --- executor --- */

static enum tutti_status submit(void *self, tutti_context *context, uint64_t trial, const char *request) {
  (void)self, (void)context, (void)trial, (void)request;
  return TUTTI_OK;
}

static enum tutti_status wait_for(void *self, tutti_context *context, double timeout, struct tutti_reply *reply) {
  (void)self, (void)context, (void)timeout;
  *reply = act.reply;
  return TUTTI_OK;
}

static const struct tutti_executor_ops executor_ops = {
    .size = sizeof executor_ops, .capacity = capacity, .submit = submit, .wait = wait_for};

/* --- fixture --- */

#define PLUGIN(kind_, name_, ops_)                                                                                     \
  {                                                                                                                    \
    TUTTI_DESCRIPTOR_HEAD(kind_, name_), .version = "1", .summary = "a test's", .source = "", .licence = "Apache-2.0", \
                                         .params = TUTTI_NO_PARAMS, .create = create, .destroy = tutti_free,           \
                                         .ops = ops_                                                                   \
  }
static const struct tutti_descriptor plugins[] = {
    PLUGIN(TUTTI_KIND_BUILDER, "fake", &builder_ops),
    PLUGIN(TUTTI_KIND_SURROGATE, "plain", &plain_ops),
    PLUGIN(TUTTI_KIND_SURROGATE, "rich", &rich_ops),
    PLUGIN(TUTTI_KIND_SURROGATE, "distant", &distance_ops),
    PLUGIN(TUTTI_KIND_ACQUISITION, "plain", &plain_acquisition),
    PLUGIN(TUTTI_KIND_ACQUISITION, "picky", &picky_acquisition),
    PLUGIN(TUTTI_KIND_MAXIMISER, "fake", &maximiser_ops),
    PLUGIN(TUTTI_KIND_SELECTOR, "fake", &selector_ops),
    PLUGIN(TUTTI_KIND_BACKEND, "valued", &value_ops),
    PLUGIN(TUTTI_KIND_BACKEND, "forgetful", &forgetful_ops),
    PLUGIN(TUTTI_KIND_EXECUTOR, "fake", &executor_ops),
};
static const struct tutti_descriptor backend = {TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BACKEND, "fake"),
                                                .version = "1",
                                                .summary = "a test's",
                                                .source = "",
                                                .licence = "Apache-2.0",
                                                .params = TUTTI_PARAMS(backend_params, struct backend_config),
                                                .create = create,
                                                .destroy = tutti_free,
                                                .ops = &backend_ops};

static int setup(void **state) {
  (void)state;
  memset(&act, 0, sizeof act);
  act.candidate = 1;
  toy_create(&toy, 5, 2, 9, "rate = uniform 0 1\noptimiser = choice nadam sgd");
  for (size_t i = 0; i < sizeof plugins / sizeof plugins[0]; i++)
    TOY_OK(&toy, tutti_plugin_register(toy.context, &plugins[i]));
  TOY_OK(&toy, tutti_plugin_register(toy.context, &backend));
  TOY_OK(&toy, tutti_plugin_register(toy.context, &world_space_graphs));
  return 0;
}

static int teardown(void **state) {
  (void)state;
  toy_destroy(&toy);
  return 0;
}

static void must_fail(enum tutti_status status, enum tutti_status expected, const char *message) {
  assert_int_equal(status, expected);
  if (!strstr(tutti_error_message(toy.context), message))
    fail_msg("expected '%s' in '%s'", message, tutti_error_message(toy.context));
}

/* --- builder --- */

static tutti_builder *open_builder(void) {
  tutti_builder *builder;
  struct tutti_builder_setup setup_of = {.size = sizeof setup_of, .host = toy.host};
  toy_put(&toy, "builder", TUTTI_KIND_BUILDER, "fake");
  TOY_OK(&toy, tutti_builder_create(toy.context, toy.host, "builder", &setup_of, &builder));
  return builder;
}

static void test_builder_ask(void **state) {
  (void)state;
  struct tutti_proposal proposal = {.size = sizeof proposal};
  struct tutti_result result = {.size = sizeof result};
  tutti_builder *builder = open_builder();
  TOY_OK(&toy, tutti_builder_ask(toy.context, builder, 0, &proposal));
  assert_int_equal(proposal.parent, TUTTI_NO_TRIAL);
  assert_int_equal(strlen(proposal.origin), sizeof proposal.origin - 1);
  tutti_candidate_unref(proposal.candidate);
  /* Nothing, while one is outstanding, is an answer; with none outstanding only the exhausted may give it. */
  act.candidate = 0;
  TOY_OK(&toy, tutti_builder_ask(toy.context, builder, 1, &proposal));
  assert_null(proposal.candidate);
  TOY_OK(&toy, tutti_builder_tell(toy.context, builder, &result));
  must_fail(tutti_builder_ask(toy.context, builder, 1, &proposal), TUTTI_ERROR_PLUGIN,
            "builder fake broke its contract: ask proposed nothing for trial 1 while no trial is outstanding");
  act.exhausted = true;
  TOY_OK(&toy, tutti_builder_ask(toy.context, builder, 1, &proposal));
  assert_true(tutti_builder_exhausted(builder));
  act.refuse = true;
  must_fail(tutti_builder_tell(toy.context, builder, &result), TUTTI_ERROR_NUMERIC, "builder fake: I do not like it");
  tutti_builder_destroy(builder);
}

/* Without `adopt` the builder is asked again, and has to say the same. */
static void test_builder_adopt(void **state) {
  (void)state;
  char *json;
  tutti_builder *builder = open_builder();
  struct tutti_proposal proposal = {.size = sizeof proposal, .candidate = candidate_of(1)};
  TOY_OK(&toy, tutti_builder_adopt(toy.context, builder, 0, &proposal));
  act.candidate = 2;
  must_fail(tutti_builder_adopt(toy.context, builder, 1, &proposal), TUTTI_ERROR_PLUGIN,
            "asked again for trial 1, it proposes another candidate than the one recorded");
  TOY_OK(&toy, tutti_builder_describe(toy.context, builder, &json));
  assert_null(json);
  tutti_candidate_unref(proposal.candidate);
  tutti_builder_destroy(builder);
}

static void test_trial_seed(void **state) {
  (void)state;
  assert_int_equal(tutti_trial_seed(1, 2), tutti_trial_seed(1, 2));
  assert_true(tutti_trial_seed(1, 2) != tutti_trial_seed(1, 3));
  assert_true(tutti_trial_seed(1, 2) != tutti_trial_seed(2, 2));
}

/* --- surrogate --- */

static enum tutti_status make_surrogate(const char *name, const tutti_scope *scope, tutti_surrogate **surrogate) {
  struct tutti_surrogate_setup setup_of = {.size = sizeof setup_of, .host = toy.host, .dimension = 1, .scope = scope};
  toy_put(&toy, "surrogate", TUTTI_KIND_SURROGATE, name);
  return tutti_surrogate_create(toy.context, toy.host, "surrogate", &setup_of, surrogate);
}

static const double vectors[] = {0, 1, 2, 3}, values[] = {0, 10, 20, 30};

static struct tutti_points points_of(size_t first, size_t count) {
  return (struct tutti_points){
      .size = sizeof(struct tutti_points), .count = count, .dimension = 1, .vectors = vectors + first};
}

static void test_surrogate_checks(void **state) {
  (void)state;
  tutti_surrogate *surrogate;
  struct tutti_points points = points_of(0, 2);
  double mean[2], deviation[2];
  TOY_OK(&toy, make_surrogate("plain", NULL, &surrogate));
  TOY_OK(&toy, tutti_surrogate_fit(toy.context, surrogate, &points, values, NULL));
  act.number = NAN;
  must_fail(tutti_surrogate_predict(toy.context, surrogate, &points, mean, deviation), TUTTI_ERROR_PLUGIN,
            "surrogate plain broke its contract: predict gave mean 0 and standard deviation nan");
  act.number = -1;
  must_fail(tutti_surrogate_predict(toy.context, surrogate, &points, mean, deviation), TUTTI_ERROR_PLUGIN,
            "standard deviation -1");
  must_fail(tutti_surrogate_fit(toy.context, surrogate, &points, (double[]){1, INFINITY}, NULL), TUTTI_ERROR_NUMERIC,
            "surrogate plain: observation 1 is not finite");
  must_fail(tutti_surrogate_fit(toy.context, surrogate, &points, values, (double[]){0, -1}), TUTTI_ERROR_NUMERIC,
            "observation 1");
  points.dimension = 2;
  must_fail(tutti_surrogate_fit(toy.context, surrogate, &points, values, NULL), TUTTI_ERROR_INTERNAL,
            "expected vectors of dimension 1, found 2");
  points = points_of(0, 0);
  must_fail(tutti_surrogate_fit(toy.context, surrogate, &points, values, NULL), TUTTI_ERROR_INTERNAL, "nothing");
  must_fail(tutti_surrogate_gradient(toy.context, surrogate, vectors, mean, deviation, mean, deviation),
            TUTTI_ERROR_UNSUPPORTED, "surrogate plain has no gradients");
  must_fail(tutti_surrogate_hallucinate(toy.context, surrogate, &points), TUTTI_ERROR_UNSUPPORTED,
            "surrogate plain does not hallucinate");
  assert_false(tutti_surrogate_has_hallucination(surrogate));
  tutti_surrogate_destroy(surrogate);
}

static void test_surrogate_bounds(void **state) {
  (void)state;
  tutti_surrogate *surrogate;
  struct tutti_points points = points_of(0, 4);
  double mean[4], deviation[4];
  TOY_OK(&toy, make_surrogate("plain", NULL, &surrogate));
  assert_int_equal(tutti_surrogate_stages(surrogate), 0);
  must_fail(tutti_surrogate_bound(toy.context, surrogate, &points, 0, mean, deviation), TUTTI_ERROR_UNSUPPORTED,
            "surrogate plain has no bounds at stage 0");
  tutti_surrogate_destroy(surrogate);
  TOY_OK(&toy, make_surrogate("rich", NULL, &surrogate));
  act.number = 0.25;
  TOY_OK(&toy, tutti_surrogate_bound(toy.context, surrogate, &points, 0, mean, deviation));
  assert_true(mean[3] == 6 && deviation[3] == 0.25);
  TOY_OK(&toy, tutti_surrogate_bound(toy.context, surrogate, &points, 0, NULL, deviation));
  act.number = -1;
  must_fail(tutti_surrogate_bound(toy.context, surrogate, &points, 0, NULL, deviation), TUTTI_ERROR_PLUGIN,
            "surrogate rich broke its contract: bound gave mean 0 and standard deviation -1");
  tutti_surrogate_destroy(surrogate);
}

/* A surrogate that cannot add is fitted again, to all observations so far (checked in fit). */
static void test_surrogate_add(void **state) {
  (void)state;
  tutti_surrogate *surrogate;
  struct tutti_points points = points_of(0, 2);
  TOY_OK(&toy, make_surrogate("plain", NULL, &surrogate));
  for (int again = 0; again < 2; again++) {
    points = points_of(0, 2);
    TOY_OK(&toy, tutti_surrogate_fit(toy.context, surrogate, &points, values, NULL));
    for (size_t i = 2; i < 4; i++) {
      points = points_of(i, 1);
      TOY_OK(&toy, tutti_surrogate_add(toy.context, surrogate, &points, values + i, (double[]){0.5}));
      assert_int_equal(act.fitted, i + 1);
    }
  }
  tutti_surrogate_destroy(surrogate);
}

static void test_surrogate_defaults(void **state) {
  (void)state;
  tutti_surrogate *surrogate;
  struct tutti_points points = points_of(0, 3);
  double drawn[3], sum = 0;
  char *json;
  act.number = 0.5;
  TOY_OK(&toy, make_surrogate("rich", NULL, &surrogate));
  for (uint64_t i = 0; i < 1000; i++) {
    struct tutti_random random;
    tutti_random_init(&random, 1, "draws", i);
    TOY_OK(&toy, tutti_surrogate_draw(toy.context, surrogate, &points, &random, drawn));
    sum += drawn[2] / 1000;
  }
  assert_true(fabs(sum - 4) < 0.08);
  /* Another hallucination, or a fit, ends the one before. */
  TOY_OK(&toy, tutti_surrogate_hallucinate(toy.context, surrogate, &points));
  TOY_OK(&toy, tutti_surrogate_hallucinate(toy.context, surrogate, &points));
  assert_int_equal(act.calls, 3);
  TOY_OK(&toy, tutti_surrogate_fit(toy.context, surrogate, &points, values, NULL));
  assert_int_equal(act.calls, 0);
  TOY_OK(&toy, tutti_surrogate_describe(toy.context, surrogate, &json));
  assert_null(json);
  tutti_surrogate_destroy(surrogate);
}

/* A surrogate that needs something the space lacks is refused, and so is a maximiser. */
static void test_needs(void **state) {
  (void)state;
  tutti_surrogate *surrogate;
  tutti_maximiser *maximiser;
  tutti_space *graphs;
  tutti_scope *scope;
  struct tutti_space_setup space = {.size = sizeof space, .task = &toy.task};
  toy_put(&toy, "graphs", TUTTI_KIND_SPACE, world_space_graphs.name);
  TOY_OK(&toy, tutti_space_create(toy.context, toy.host, "graphs", &space, &graphs));
  TOY_OK(&toy, tutti_scope_create(toy.context, graphs, NULL, &scope));
  must_fail(make_surrogate("plain", scope, &surrogate), TUTTI_ERROR_USAGE,
            "surrogate plain needs vectors, and space conform-graphs has none");
  must_fail(make_surrogate("distant", toy.scope, &surrogate), TUTTI_ERROR_USAGE,
            "surrogate distant needs distances between architectures, and space toy has none");
  must_fail(make_surrogate("distant", NULL, &surrogate), TUTTI_ERROR_USAGE, "surrogate distant needs distances");
  TOY_OK(&toy, make_surrogate("distant", scope, &surrogate));
  struct tutti_maximiser_setup setup_of = {.size = sizeof setup_of, .host = toy.host, .scope = scope};
  toy_put(&toy, "maximiser", TUTTI_KIND_MAXIMISER, "fake");
  must_fail(tutti_maximiser_create(toy.context, toy.host, "maximiser", &setup_of, &maximiser), TUTTI_ERROR_USAGE,
            "maximiser fake needs vectors, and space conform-graphs has none");
  tutti_surrogate_destroy(surrogate);
  tutti_scope_destroy(scope);
  tutti_space_destroy(graphs);
}

/* --- acquisition --- */

static tutti_acquisition *open_acquisition(const char *name) {
  tutti_acquisition *acquisition;
  struct tutti_acquisition_setup setup_of = {.size = sizeof setup_of, .host = toy.host};
  toy_put(&toy, "acquisition", TUTTI_KIND_ACQUISITION, name);
  TOY_OK(&toy, tutti_acquisition_create(toy.context, toy.host, "acquisition", &setup_of, &acquisition));
  return acquisition;
}

static void test_acquisition(void **state) {
  (void)state;
  tutti_surrogate *rich, *plain;
  tutti_acquisition *acquisition = open_acquisition("plain");
  struct tutti_points points = points_of(0, 4);
  struct tutti_standing standing = {.size = sizeof standing, .best = 1};
  double worth[4], slope;
  bool accept = false;
  TOY_OK(&toy, make_surrogate("rich", NULL, &rich));
  TOY_OK(&toy, make_surrogate("plain", NULL, &plain));
  TOY_OK(&toy, tutti_acquisition_prepare(toy.context, acquisition, &standing, rich));
  /* evaluate is moments of the surrogate's predictions; gradients follow by the chain rule. */
  act.number = 0.5;
  TOY_OK(&toy, tutti_acquisition_evaluate(toy.context, acquisition, &standing, rich, &points, worth));
  assert_true(worth[0] == 0.5 && worth[3] == 0.5 - 6);
  assert_true(tutti_acquisition_has_gradient(acquisition, rich));
  assert_false(tutti_acquisition_has_gradient(acquisition, plain));
  TOY_OK(&toy, tutti_acquisition_gradient(toy.context, acquisition, &standing, rich, 1, vectors + 1, worth, &slope));
  assert_true(worth[0] == 1 - 2 && slope == -1 * 2 + 3 * 5);
  TOY_OK(&toy, tutti_acquisition_judge(toy.context, acquisition, &standing, &points, 0, &accept));
  assert_true(accept);
  act.nothing = true;
  must_fail(tutti_acquisition_evaluate(toy.context, acquisition, &standing, rich, &points, worth), TUTTI_ERROR_PLUGIN,
            "acquisition plain broke its contract: the worth of point 0 is not a number");
  tutti_acquisition_destroy(acquisition);
  acquisition = open_acquisition("picky");
  TOY_OK(&toy, tutti_acquisition_judge(toy.context, acquisition, &standing, &points, 999, &accept));
  assert_false(accept);
  must_fail(tutti_acquisition_judge(toy.context, acquisition, &standing, &points, 1000, &accept), TUTTI_ERROR_PLUGIN,
            "judge refused 1000 proposals in a row");
  tutti_acquisition_destroy(acquisition);
  tutti_surrogate_destroy(rich);
  tutti_surrogate_destroy(plain);
}

/* --- maximiser --- */

static void test_maximiser(void **state) {
  (void)state;
  tutti_maximiser *maximiser;
  tutti_candidate *candidate, *known = candidate_of(3);
  const tutti_candidate *const all[] = {known};
  double worth;
  struct tutti_maximiser_setup setup_of = {.size = sizeof setup_of, .host = toy.host, .scope = toy.scope};
  struct tutti_objective objective = {.size = sizeof objective, .known = all, .known_count = 1};
  toy_put(&toy, "maximiser", TUTTI_KIND_MAXIMISER, "fake");
  TOY_OK(&toy, tutti_maximiser_create(toy.context, toy.host, "maximiser", &setup_of, &maximiser));
  act.candidate = 2;
  TOY_OK(&toy, tutti_maximiser_maximise(toy.context, maximiser, &objective, &candidate, &worth));
  tutti_candidate_unref(candidate);
  act.candidate = 3;
  must_fail(tutti_maximiser_maximise(toy.context, maximiser, &objective, &candidate, &worth), TUTTI_ERROR_PLUGIN,
            "maximiser fake broke its contract: maximise gave a candidate that was tried before");
  assert_null(candidate);
  act.candidate = 0;
  must_fail(tutti_maximiser_maximise(toy.context, maximiser, &objective, &candidate, &worth), TUTTI_ERROR_PLUGIN,
            "maximise gave no candidate");
  act.candidate = 2;
  act.number = NAN;
  must_fail(tutti_maximiser_maximise(toy.context, maximiser, &objective, &candidate, &worth), TUTTI_ERROR_PLUGIN,
            "the worth of what maximise gave is not a number");
  tutti_candidate_unref(known);
  tutti_maximiser_destroy(maximiser);
}

/* --- selector --- */

static enum tutti_status choose_from(size_t models, size_t *members) {
  static const uint64_t trials[] = {2, 5, 9};
  const struct tutti_pool pool = {.size = sizeof pool, .models = models, .rows = 1, .trials = trials};
  struct tutti_selector_setup setup_of = {.size = sizeof setup_of, .host = toy.host};
  tutti_selector *selector;
  tutti_ensemble *ensemble;
  toy_put(&toy, "selector", TUTTI_KIND_SELECTOR, "fake");
  TOY_OK(&toy, tutti_selector_create(toy.context, toy.host, "selector", &setup_of, &selector));
  TOY_OK(&toy, tutti_ensemble_create(toy.context, &ensemble));
  enum tutti_status status = tutti_selector_select(toy.context, selector, &pool, 0, ensemble);
  *members = tutti_ensemble_size(ensemble);
  tutti_ensemble_destroy(ensemble);
  tutti_selector_destroy(selector);
  return status;
}

static void test_selector(void **state) {
  (void)state;
  size_t members;
  static const uint64_t in[] = {2, 5, 9}, out[] = {0, 3, 6, 10, UINT64_MAX};
  for (size_t i = 0; i < 3; i++) {
    act.trial = in[i];
    TOY_OK(&toy, choose_from(3, &members));
    assert_int_equal(members, 1);
  }
  for (size_t i = 0; i < 5; i++) {
    act.trial = out[i];
    must_fail(choose_from(3, &members), TUTTI_ERROR_PLUGIN, "which is not in the pool");
  }
  act.nothing = true;
  must_fail(choose_from(3, &members), TUTTI_ERROR_PLUGIN,
            "selector fake broke its contract: select chose no member of 3 models");
  must_fail(choose_from(0, &members), TUTTI_ERROR_USAGE, "there is nothing to select from: 0 models");
}

/* --- backend --- */

static struct tutti_task task_of(enum tutti_task_kind kind) {
  return (struct tutti_task){.size = sizeof(struct tutti_task), .kind = kind, .input = {1, 1, 4}, .outputs = 1};
}

static enum tutti_status make_backend(const char *name, enum tutti_task_kind kind, tutti_backend **made) {
  static struct tutti_task task;
  struct tutti_backend_setup setup_of = {.size = sizeof setup_of, .task = &task};
  task = task_of(kind);
  toy_put(&toy, "backend", TUTTI_KIND_BACKEND, name);
  return tutti_backend_create(toy.context, toy.host, "backend", &setup_of, made);
}

/* A choice goes by its text: its number differs between the recipe's list and the backend's. */
static void test_backend_configure(void **state) {
  (void)state;
  tutti_backend *made;
  tutti_config *config;
  TOY_OK(&toy, make_backend("fake", TUTTI_TASK_REGRESSION, &made));
  TOY_OK(&toy, tutti_backend_configure(toy.context, made, toy.hyperparameters, (double[]){0.75, 0}, &config));
  const struct backend_config *set = tutti_config_values(config);
  assert_true(set->rate == 0.75 && set->optimiser == 2 && set->epochs == 7);
  tutti_config_destroy(config);
  /* What is inactive keeps the recipe's value. */
  TOY_OK(&toy, tutti_backend_configure(toy.context, made, toy.hyperparameters, (double[]){NAN, NAN}, &config));
  set = tutti_config_values(config);
  assert_true(set->rate == 0.25 && set->optimiser == 0);
  tutti_config_destroy(config);
  TOY_OK(&toy, tutti_domain_add_text(toy.context, toy.hyperparameters, "epochs", "integer 90 110"));
  must_fail(tutti_backend_configure(toy.context, made, toy.hyperparameters, (double[]){0.5, 1, 101}, &config),
            TUTTI_ERROR_USAGE, "[hyperparameters] epochs: expected an integer in [1, 100]; found '101'");
  tutti_backend_destroy(made);
}

static void test_backend_train(void **state) {
  (void)state;
  tutti_backend *made;
  struct tutti_task task = task_of(TUTTI_TASK_REGRESSION);
  struct tutti_job job = {.size = sizeof job, .task = &task, .trial = 4};
  struct tutti_outcome outcome = {.size = sizeof outcome};
  TOY_OK(&toy, make_backend("fake", TUTTI_TASK_REGRESSION, &made));
  TOY_OK(&toy, tutti_backend_train(toy.context, made, &job, &outcome));
  assert_int_equal(strlen(outcome.failure), sizeof outcome.failure - 1);
  tutti_tensors_destroy(outcome.weights);
  outcome.weights = NULL;
  act.weightless = true;
  must_fail(tutti_backend_train(toy.context, made, &job, &outcome), TUTTI_ERROR_PLUGIN,
            "backend fake broke its contract: train finished without weights");
  act.state = (enum tutti_state)9;
  must_fail(tutti_backend_train(toy.context, made, &job, &outcome), TUTTI_ERROR_PLUGIN, "train gave state 9");
  act.refuse = true;
  tutti_error_clear(toy.context);
  must_fail(tutti_backend_train(toy.context, made, &job, &outcome), TUTTI_ERROR_NUMERIC,
            "backend fake failed (numeric) without saying why");
  tutti_backend_destroy(made);
}

static void on_done(void *argument, size_t index) { *(size_t *)argument = *(size_t *)argument * 10 + index + 1; }

static void test_backend_many(void **state) {
  (void)state;
  tutti_backend *made;
  struct tutti_task task = task_of(TUTTI_TASK_VALUE);
  struct tutti_job jobs[2] = {{.size = sizeof jobs[0], .task = &task, .trial = 4},
                              {.size = sizeof jobs[0], .task = &task, .trial = 8}};
  struct tutti_outcome outcomes[2] = {{.size = sizeof outcomes[0]}, {.size = sizeof outcomes[0]}};
  const struct tutti_job *const job_list[] = {&jobs[0], &jobs[1]};
  struct tutti_outcome *const outcome_list[] = {&outcomes[0], &outcomes[1]};
  size_t done = 0;
  act.weightless = true;
  TOY_OK(&toy, make_backend("valued", TUTTI_TASK_VALUE, &made));
  assert_int_equal(tutti_backend_capacity(made), 1);
  TOY_OK(&toy, tutti_backend_train_many(toy.context, made, 2, job_list, outcome_list, on_done, &done));
  assert_int_equal(done, 12);
  assert_true(outcomes[0].value == 4 && outcomes[1].value == 8);
  tutti_backend *forgetful;
  TOY_OK(&toy, make_backend("forgetful", TUTTI_TASK_VALUE, &forgetful));
  must_fail(tutti_backend_train_many(toy.context, forgetful, 2, job_list, outcome_list, on_done, &done),
            TUTTI_ERROR_PLUGIN, "never called done for job 1 of 2");
  tutti_backend_destroy(forgetful);
  float out;
  double loss;
  tutti_tensors *slopes;
  must_fail(tutti_backend_predict(toy.context, made, &jobs[0], NULL, NULL, &out), TUTTI_ERROR_UNSUPPORTED,
            "backend valued does not predict");
  must_fail(tutti_backend_gradient(toy.context, made, &jobs[0], NULL, &loss, &slopes), TUTTI_ERROR_UNSUPPORTED,
            "backend valued does not give gradients");
  tutti_backend_destroy(made);
  must_fail(make_backend("valued", TUTTI_TASK_REGRESSION, &made), TUTTI_ERROR_USAGE,
            "backend valued does not predict; it works without [data] only");
}

static void test_backend_check(void **state) {
  (void)state;
  tutti_backend *made;
  tutti_network *network;
  uint32_t layer;
  struct tutti_task task = task_of(TUTTI_TASK_REGRESSION);
  struct tutti_job job = {.size = sizeof job, .task = &task};
  TOY_OK(&toy, make_backend("fake", TUTTI_TASK_REGRESSION, &made));
  assert_true(tutti_backend_takes_networks(made));
  TOY_OK(&toy, tutti_network_create(toy.context, task.input, &network));
  TOY_OK(&toy, tutti_network_add_dense(toy.context, network, NULL, 0, 3, TUTTI_ACTIVATION_RELU, &layer));
  job.network = network;
  TOY_OK(&toy, tutti_backend_check(toy.context, made, &job));
  TOY_OK(&toy, tutti_network_add_dropout(toy.context, network, "drop", layer, 0.5, &layer));
  must_fail(tutti_backend_check(toy.context, made, &job), TUTTI_ERROR_USAGE,
            "a layer that backend fake does not have: layer 3 'drop', op dropout");
  act.candidate = 0;
  assert_false(tutti_backend_takes_networks(made));
  tutti_network_destroy(network);
  tutti_backend_destroy(made);
}

/* --- executor --- */

static void test_executor(void **state) {
  (void)state;
  static const char *const command[] = {"worker", NULL};
  struct tutti_executor_setup setup_of = {
      .size = sizeof setup_of, .workers = 1, .capacity = 1, .worker_command = command};
  struct tutti_reply reply = {.size = sizeof reply};
  tutti_executor *executor;
  toy_put(&toy, "executor", TUTTI_KIND_EXECUTOR, "fake");
  TOY_OK(&toy, tutti_executor_create(toy.context, toy.host, "executor", &setup_of, &executor));
  assert_int_equal(tutti_executor_capacity(executor), 2);
  TOY_OK(&toy, tutti_executor_submit(toy.context, executor, 0, "work"));
  TOY_OK(&toy, tutti_executor_wait(toy.context, executor, 0, &reply));
  act.reply = (struct tutti_reply){.kind = TUTTI_REPLY_LOST};
  must_fail(tutti_executor_wait(toy.context, executor, 0, &reply), TUTTI_ERROR_PLUGIN,
            "executor fake broke its contract: wait gave a reply without a text");
  act.reply = (struct tutti_reply){.kind = (enum tutti_reply_kind)9};
  must_fail(tutti_executor_wait(toy.context, executor, 0, &reply), TUTTI_ERROR_PLUGIN, "wait gave a reply of kind 9");
  tutti_executor_destroy(executor);
  setup_of.workers = 0;
  must_fail(tutti_executor_create(toy.context, toy.host, "executor", &setup_of, &executor), TUTTI_ERROR_INTERNAL,
            "an executor needs workers");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_builder_ask),      TEST(test_builder_adopt), TEST(test_trial_seed),    TEST(test_surrogate_checks),
      TEST(test_surrogate_bounds), TEST(test_surrogate_add), TEST(test_needs),         TEST(test_surrogate_defaults),
      TEST(test_acquisition),      TEST(test_maximiser),     TEST(test_selector),      TEST(test_backend_configure),
      TEST(test_backend_train),    TEST(test_backend_many),  TEST(test_backend_check), TEST(test_executor),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
