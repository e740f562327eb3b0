/* The checks and defaults around calibrators. */
#include <setjmp.h>
#include <stdarg.h>
#include <math.h>
#include <string.h>
#include <tutti/tutti.h>
#include <cmocka.h>

/* --- a calibrator that does as it is told --- */

static struct {
  float scale, shift; /* applied to every number */
  bool fails, prints_nothing;
  const double *quantiles; /* [2], for every cell */
} act;

static enum tutti_status fit(void *self, tutti_context *context, const struct tutti_predictions *predictions,
                             const struct tutti_targets *targets) {
  (void)self, (void)predictions, (void)targets;
  return act.fails ? TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "no luck") : TUTTI_OK;
}

static enum tutti_status apply(void *self, tutti_context *context, const struct tutti_predictions *predictions,
                               float *out) {
  (void)self, (void)context;
  for (size_t i = 0; i < predictions->rows * tutti_predictions_width(predictions->kind, predictions->outputs); i++)
    out[i] = act.scale * predictions->values[i] + act.shift;
  return TUTTI_OK;
}

static enum tutti_status print(void *self, tutti_context *context, char **json) {
  (void)self;
  return act.prints_nothing ? TUTTI_OK : tutti_strdup(context, "{}", json);
}

static enum tutti_status parse(void *self, tutti_context *context, const char *json) {
  (void)self;
  return *json == '{' ? TUTTI_OK : TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "expected an object");
}

static enum tutti_status quantiles(void *self, tutti_context *context, const struct tutti_predictions *predictions,
                                   size_t count, const double *levels, double *out) {
  (void)self, (void)context, (void)levels;
  for (size_t i = 0; i < predictions->rows * predictions->outputs * count; i++)
    out[i] = act.quantiles[i % count];
  return TUTTI_OK;
}

enum { BOTH = TUTTI_CALIBRATES_REGRESSION | TUTTI_CALIBRATES_CLASSIFICATION };
#define OPS(tasks_, ...)                                                                                               \
  {                                                                                                                    \
    .size = sizeof(struct tutti_calibrator_ops), .tasks = tasks_, .fit = fit, .apply = apply, .print = print,          \
    .parse = parse, __VA_ARGS__                                                                                        \
  }
static const struct tutti_calibrator_ops plain_ops = OPS(BOTH, .quantiles = NULL),
                                         classes_ops = OPS(TUTTI_CALIBRATES_CLASSIFICATION, .quantiles = NULL),
                                         interval_ops = OPS(TUTTI_CALIBRATES_REGRESSION, .quantiles = quantiles);
#define CALIBRATOR(name_, ops_)                                                                                        \
  {                                                                                                                    \
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_CALIBRATOR, name_), .version = "1", .summary = "a test's", .source = "",          \
                                                         .licence = "Apache-2.0", .params = TUTTI_NO_PARAMS,           \
                                                         .ops = ops_                                                   \
  }
static const struct tutti_descriptor plugins[] = {CALIBRATOR("plain", &plain_ops), CALIBRATOR("classes", &classes_ops),
                                                  CALIBRATOR("interval", &interval_ops)};

/* --- fixture: two rows of one target, and of two classes --- */

static struct {
  tutti_context *context;
  struct tutti_task task;
  tutti_host *host;
  tutti_calibrator *calibrator;
} world;

static const float moments[] = {1, 4, -2, 9}, probabilities[] = {0.25f, 0.75f, 1, 0};
static const double values[] = {0, 1};
static const int32_t labels[] = {0, 1};
static const struct tutti_predictions
    real = {.size = sizeof real, .kind = TUTTI_TASK_REGRESSION, .rows = 2, .outputs = 1, .values = moments},
    classes = {
        .size = sizeof classes, .kind = TUTTI_TASK_CLASSIFICATION, .rows = 2, .outputs = 2, .values = probabilities};
static const struct tutti_targets real_targets = {.size = sizeof real_targets,
                                                  .kind = TUTTI_TASK_REGRESSION,
                                                  .rows = 2,
                                                  .outputs = 1,
                                                  .values = values},
                                  class_targets = {.size = sizeof class_targets,
                                                   .kind = TUTTI_TASK_CLASSIFICATION,
                                                   .rows = 2,
                                                   .outputs = 2,
                                                   .labels = labels};

static void must(enum tutti_status status) {
  if (status != TUTTI_OK)
    fail_msg("%s", tutti_error_message(world.context));
}

static void must_fail(enum tutti_status status, enum tutti_status expected, const char *message) {
  assert_int_equal(status, expected);
  assert_string_equal(tutti_error_message(world.context), message);
}

static int setup(void **state) {
  struct tutti_host_facts facts = {.size = sizeof facts, .task = &world.task};
  (void)state;
  memset(&act, 0, sizeof act);
  act.scale = 1;
  world.calibrator = NULL;
  must(tutti_context_create(&world.context));
  must(tutti_host_create(world.context, &facts, &world.host));
  for (size_t i = 0; i < sizeof plugins / sizeof plugins[0]; i++)
    must(tutti_plugin_register(world.context, &plugins[i]));
  return 0;
}

static int teardown(void **state) {
  (void)state;
  tutti_calibrator_destroy(world.calibrator);
  tutti_host_destroy(world.host);
  tutti_context_destroy(world.context);
  return 0;
}

static enum tutti_status make(const char *plugin, enum tutti_task_kind kind) {
  struct tutti_calibrator_setup of = {.size = sizeof of};
  world.task = (struct tutti_task){.size = sizeof world.task, .kind = kind, .outputs = 1};
  must(tutti_host_put(world.context, world.host, "calibrator", TUTTI_KIND_CALIBRATOR, plugin));
  return tutti_calibrator_create(world.context, world.host, "calibrator", &of, &world.calibrator);
}

static void fit_real(const char *plugin) {
  must(make(plugin, TUTTI_TASK_REGRESSION));
  must(tutti_calibrator_fit(world.context, world.calibrator, &real, &real_targets));
}

/* --- tests --- */

static void test_task(void **state) {
  (void)state;
  must_fail(make("classes", TUTTI_TASK_REGRESSION), TUTTI_ERROR_USAGE,
            "calibrator classes does not serve regression; choose another calibrator");
  must_fail(make("interval", TUTTI_TASK_CLASSIFICATION), TUTTI_ERROR_USAGE,
            "calibrator interval does not serve classification; choose another calibrator");
  must_fail(make("plain", TUTTI_TASK_VALUE), TUTTI_ERROR_USAGE,
            "calibrator plain: there are no predictions to calibrate");
  must(make("classes", TUTTI_TASK_CLASSIFICATION));
}

/* Nothing is applied before a fit, after one that failed, or after a text that was refused. */
static void test_fitted(void **state) {
  static const char message[] = "calibrator plain was not fitted";
  float out[4];
  char *json;
  (void)state;
  must(make("plain", TUTTI_TASK_REGRESSION));
  must_fail(tutti_calibrator_apply(world.context, world.calibrator, &real, out), TUTTI_ERROR_INTERNAL, message);
  must_fail(tutti_calibrator_print(world.context, world.calibrator, &json), TUTTI_ERROR_INTERNAL, message);
  must(tutti_calibrator_fit(world.context, world.calibrator, &real, &real_targets));
  must(tutti_calibrator_apply(world.context, world.calibrator, &real, out));
  assert_memory_equal(out, moments, sizeof out);
  act.fails = true;
  must_fail(tutti_calibrator_fit(world.context, world.calibrator, &real, &real_targets), TUTTI_ERROR_NUMERIC,
            "calibrator plain: no luck");
  must_fail(tutti_calibrator_apply(world.context, world.calibrator, &real, out), TUTTI_ERROR_INTERNAL, message);
  must(tutti_calibrator_parse(world.context, world.calibrator, "{}"));
  must(tutti_calibrator_print(world.context, world.calibrator, &json));
  assert_string_equal(json, "{}");
  tutti_free(json);
  assert_int_equal(tutti_calibrator_parse(world.context, world.calibrator, "["), TUTTI_ERROR_CORRUPT);
  must_fail(tutti_calibrator_apply(world.context, world.calibrator, &real, out), TUTTI_ERROR_INTERNAL, message);
}

static void test_shapes(void **state) {
  struct tutti_targets fewer = real_targets;
  struct tutti_predictions nothing = real;
  (void)state;
  fewer.rows = 1;
  nothing.rows = 0;
  must(make("plain", TUTTI_TASK_REGRESSION));
  must_fail(tutti_calibrator_fit(world.context, world.calibrator, &real, &fewer), TUTTI_ERROR_INTERNAL,
            "calibrator plain: predictions of 2 rows with 1 outputs beside targets of 1 with 1");
  assert_int_equal(tutti_calibrator_fit(world.context, world.calibrator, &nothing, &real_targets),
                   TUTTI_ERROR_INTERNAL);
}

static void test_breaches(void **state) {
  float out[4];
  char *json;
  (void)state;
  fit_real("plain");
  act.scale = -1;
  must_fail(tutti_calibrator_apply(world.context, world.calibrator, &real, out), TUTTI_ERROR_PLUGIN,
            "calibrator plain broke its contract: apply gave a variance of -4");
  act.shift = NAN;
  assert_int_equal(tutti_calibrator_apply(world.context, world.calibrator, &real, out), TUTTI_ERROR_PLUGIN);
  act.prints_nothing = true;
  must_fail(tutti_calibrator_print(world.context, world.calibrator, &json), TUTTI_ERROR_PLUGIN,
            "calibrator plain broke its contract: print gave nothing");
  tutti_calibrator_destroy(world.calibrator);
  must(make("plain", TUTTI_TASK_CLASSIFICATION));
  must(tutti_calibrator_fit(world.context, world.calibrator, &classes, &class_targets));
  act.scale = 2;
  act.shift = 0;
  must_fail(tutti_calibrator_apply(world.context, world.calibrator, &classes, out), TUTTI_ERROR_PLUGIN,
            "calibrator plain broke its contract: apply gave a probability of 1.5");
}

/* The default: quantiles of normals with the calibrated moments. */
static void test_normal_quantiles(void **state) {
  const double levels[] = {0.025, 0.5, 0.975}, score = 1.959963984540054;
  double out[6];
  (void)state;
  fit_real("plain");
  must(tutti_calibrator_quantiles(world.context, world.calibrator, &real, 3, levels, out));
  const double expected[] = {1 - 2 * score, 1, 1 + 2 * score, -2 - 3 * score, -2, -2 + 3 * score};
  for (size_t i = 0; i < 6; i++)
    assert_true(fabs(out[i] - expected[i]) < 1e-12);
}

static void test_own_quantiles(void **state) {
  const double levels[] = {0.1, 0.9}, rise[] = {-1, 1}, fall[] = {1, -1};
  double out[4];
  (void)state;
  fit_real("interval");
  act.quantiles = rise;
  must(tutti_calibrator_quantiles(world.context, world.calibrator, &real, 2, levels, out));
  assert_true(out[2] == -1 && out[3] == 1);
  act.quantiles = fall;
  must_fail(tutti_calibrator_quantiles(world.context, world.calibrator, &real, 2, levels, out), TUTTI_ERROR_PLUGIN,
            "calibrator interval broke its contract: quantiles gave -1, which does not ascend");
}

static void test_levels(void **state) {
  double out[4];
  (void)state;
  fit_real("plain");
  must_fail(tutti_calibrator_quantiles(world.context, world.calibrator, &real, 2, (const double[]){0.5, 0.5}, out),
            TUTTI_ERROR_USAGE, "level 1 is 0.5, expected an ascending number in (0, 1)");
  assert_int_equal(tutti_calibrator_quantiles(world.context, world.calibrator, &real, 1, (const double[]){1}, out),
                   TUTTI_ERROR_USAGE);
  must_fail(tutti_calibrator_quantiles(world.context, world.calibrator, &classes, 1, (const double[]){0.5}, out),
            TUTTI_ERROR_UNSUPPORTED, "classes have no quantiles");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_task),          TEST(test_fitted), TEST(test_shapes), TEST(test_breaches), TEST(test_normal_quantiles),
      TEST(test_own_quantiles), TEST(test_levels),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
