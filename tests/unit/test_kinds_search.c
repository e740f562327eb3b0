/* What the wrappers of surrogates, acquisitions and maximisers check and default: plugins that break their contracts
   in every way that can be seen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>
#include <cmocka.h>

#include "kinds.h"
#include "tests/conformance/conform.h"

/* How the plugins below behave in the running test. */
static struct {
  bool nothing;
  int candidate; /* 0 none, else the depth of the one proposed */
  double number; /* mean, worth */
  size_t fitted, calls;
} act;

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
  *candidate = act.candidate ? kinds_candidate(act.candidate) : NULL;
  *worth = act.number;
  return TUTTI_OK;
}

static const struct tutti_maximiser_ops maximiser_ops = {
    .size = sizeof maximiser_ops, .needs = TUTTI_NEEDS_VECTORS, .maximise = maximise};

static const struct tutti_descriptor plugins[] = {
    KINDS_PLUGIN(TUTTI_KIND_SURROGATE, "plain", &plain_ops),
    KINDS_PLUGIN(TUTTI_KIND_SURROGATE, "rich", &rich_ops),
    KINDS_PLUGIN(TUTTI_KIND_SURROGATE, "distant", &distance_ops),
    KINDS_PLUGIN(TUTTI_KIND_ACQUISITION, "plain", &plain_acquisition),
    KINDS_PLUGIN(TUTTI_KIND_ACQUISITION, "picky", &picky_acquisition),
    KINDS_PLUGIN(TUTTI_KIND_MAXIMISER, "fake", &maximiser_ops),
};

static int setup(void **state) {
  (void)state;
  memset(&act, 0, sizeof act);
  act.candidate = 1;
  kinds_open(plugins, sizeof plugins / sizeof plugins[0]);
  return 0;
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
  kinds_must_fail(tutti_surrogate_predict(toy.context, surrogate, &points, mean, deviation), TUTTI_ERROR_PLUGIN,
                  "surrogate plain broke its contract: predict gave mean 0 and standard deviation nan");
  act.number = -1;
  kinds_must_fail(tutti_surrogate_predict(toy.context, surrogate, &points, mean, deviation), TUTTI_ERROR_PLUGIN,
                  "standard deviation -1");
  kinds_must_fail(tutti_surrogate_fit(toy.context, surrogate, &points, (double[]){1, INFINITY}, NULL),
                  TUTTI_ERROR_NUMERIC, "surrogate plain: observation 1 is not finite");
  kinds_must_fail(tutti_surrogate_fit(toy.context, surrogate, &points, values, (double[]){0, -1}), TUTTI_ERROR_NUMERIC,
                  "observation 1");
  points.dimension = 2;
  kinds_must_fail(tutti_surrogate_fit(toy.context, surrogate, &points, values, NULL), TUTTI_ERROR_INTERNAL,
                  "expected vectors of dimension 1, found 2");
  points = points_of(0, 0);
  kinds_must_fail(tutti_surrogate_fit(toy.context, surrogate, &points, values, NULL), TUTTI_ERROR_INTERNAL, "nothing");
  kinds_must_fail(tutti_surrogate_gradient(toy.context, surrogate, vectors, mean, deviation, mean, deviation),
                  TUTTI_ERROR_UNSUPPORTED, "surrogate plain has no gradients");
  kinds_must_fail(tutti_surrogate_hallucinate(toy.context, surrogate, &points), TUTTI_ERROR_UNSUPPORTED,
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
  kinds_must_fail(tutti_surrogate_bound(toy.context, surrogate, &points, 0, mean, deviation), TUTTI_ERROR_UNSUPPORTED,
                  "surrogate plain has no bounds at stage 0");
  tutti_surrogate_destroy(surrogate);
  TOY_OK(&toy, make_surrogate("rich", NULL, &surrogate));
  act.number = 0.25;
  TOY_OK(&toy, tutti_surrogate_bound(toy.context, surrogate, &points, 0, mean, deviation));
  assert_true(mean[3] == 6 && deviation[3] == 0.25);
  TOY_OK(&toy, tutti_surrogate_bound(toy.context, surrogate, &points, 0, NULL, deviation));
  act.number = -1;
  kinds_must_fail(tutti_surrogate_bound(toy.context, surrogate, &points, 0, NULL, deviation), TUTTI_ERROR_PLUGIN,
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
  kinds_must_fail(make_surrogate("plain", scope, &surrogate), TUTTI_ERROR_USAGE,
                  "surrogate plain needs vectors, and space conform-graphs has none");
  kinds_must_fail(make_surrogate("distant", toy.scope, &surrogate), TUTTI_ERROR_USAGE,
                  "surrogate distant needs distances between architectures, and space toy has none");
  kinds_must_fail(make_surrogate("distant", NULL, &surrogate), TUTTI_ERROR_USAGE, "surrogate distant needs distances");
  TOY_OK(&toy, make_surrogate("distant", scope, &surrogate));
  struct tutti_maximiser_setup setup_of = {.size = sizeof setup_of, .host = toy.host, .scope = scope};
  toy_put(&toy, "maximiser", TUTTI_KIND_MAXIMISER, "fake");
  kinds_must_fail(tutti_maximiser_create(toy.context, toy.host, "maximiser", &setup_of, &maximiser), TUTTI_ERROR_USAGE,
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
  kinds_must_fail(tutti_acquisition_evaluate(toy.context, acquisition, &standing, rich, &points, worth),
                  TUTTI_ERROR_PLUGIN, "acquisition plain broke its contract: the worth of point 0 is not a number");
  tutti_acquisition_destroy(acquisition);
  acquisition = open_acquisition("picky");
  TOY_OK(&toy, tutti_acquisition_judge(toy.context, acquisition, &standing, &points, 999, &accept));
  assert_false(accept);
  kinds_must_fail(tutti_acquisition_judge(toy.context, acquisition, &standing, &points, 1000, &accept),
                  TUTTI_ERROR_PLUGIN, "judge refused 1000 proposals in a row");
  tutti_acquisition_destroy(acquisition);
  tutti_surrogate_destroy(rich);
  tutti_surrogate_destroy(plain);
}

/* --- maximiser --- */

static void test_maximiser(void **state) {
  (void)state;
  tutti_maximiser *maximiser;
  tutti_candidate *candidate, *known = kinds_candidate(3);
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
  kinds_must_fail(tutti_maximiser_maximise(toy.context, maximiser, &objective, &candidate, &worth), TUTTI_ERROR_PLUGIN,
                  "maximiser fake broke its contract: maximise gave a candidate that was tried before");
  assert_null(candidate);
  act.candidate = 0;
  kinds_must_fail(tutti_maximiser_maximise(toy.context, maximiser, &objective, &candidate, &worth), TUTTI_ERROR_PLUGIN,
                  "maximise gave no candidate");
  act.candidate = 2;
  act.number = NAN;
  kinds_must_fail(tutti_maximiser_maximise(toy.context, maximiser, &objective, &candidate, &worth), TUTTI_ERROR_PLUGIN,
                  "the worth of what maximise gave is not a number");
  tutti_candidate_unref(known);
  tutti_maximiser_destroy(maximiser);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, kinds_close)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_surrogate_checks),
      TEST(test_surrogate_bounds),
      TEST(test_surrogate_add),
      TEST(test_surrogate_defaults),
      TEST(test_needs),
      TEST(test_acquisition),
      TEST(test_maximiser),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
