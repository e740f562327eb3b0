/* The checks and defaults around calibrators. */
#include <setjmp.h>
#include <stdarg.h>
#include <math.h>
#include <string.h>
#include <tutti/tutti.h>
#include <cmocka.h>

/* --- a calibrator that does as it is told --- */

static struct {
  double scale, shift;     /* applied to every number */
  enum tutti_status fails; /* what a fit returns */
  bool silent, prints_nothing;
  double ends[2]; /* of every interval, from the mean */
  size_t wide;    /* which of five terms has two columns; beyond: none */
} act;

static enum tutti_status fit(void *self, tutti_context *context, const struct tutti_combined *combined,
                             const struct tutti_targets *targets) {
  (void)self, (void)combined, (void)targets;
  return act.fails && !act.silent ? TUTTI_FAIL(context, act.fails, "no luck") : act.fails;
}

static enum tutti_status apply(void *self, tutti_context *context, const struct tutti_combined *combined, double *out) {
  (void)self, (void)context;
  for (size_t i = 0; i < combined->rows * tutti_combined_width(combined->kind, combined->outputs); i++)
    out[i] = act.scale * combined->values[i] + act.shift;
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

static enum tutti_status intervals(void *self, tutti_context *context, const struct tutti_combined *combined,
                                   double level, double *out) {
  (void)self, (void)context, (void)level;
  for (size_t i = 0; i < combined->rows * combined->outputs; i++)
    for (size_t end = 0; end < 2; end++)
      out[2 * i + end] = combined->values[i * TUTTI_COMBINED_PARTS] + act.ends[end];
  return TUTTI_OK;
}

static size_t least_rows(void *self, size_t outputs) {
  (void)self;
  return 7 * outputs;
}

/* Constants, one row for all. */
static enum tutti_status formula(void *self, tutti_context *context, tutti_formula *of,
                                 struct tutti_combined_terms *terms) {
  static const double numbers[] = {1, 2};
  tutti_term *const places[] = {&terms->mean, &terms->aleatoric, &terms->epistemic, &terms->lower, &terms->upper};
  (void)self, (void)context;
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    *places[i] = tutti_formula_constant(of, 1, act.wide == i ? 2 : 1, numbers);
  return TUTTI_OK;
}

enum { BOTH = TUTTI_GIVES_MOMENTS | TUTTI_GIVES_PROBABILITIES };
#define OPS(gives_, ...)                                                                                               \
  {                                                                                                                    \
    .size = sizeof(struct tutti_calibrator_ops), .gives = gives_, .fit = fit, .print = print, .parse = parse,          \
    __VA_ARGS__                                                                                                        \
  }
static const struct tutti_calibrator_ops plain_ops = OPS(BOTH, .apply = apply),
                                         classes_ops = OPS(TUTTI_GIVES_PROBABILITIES, .apply = apply),
                                         interval_ops = OPS(TUTTI_GIVES_INTERVALS, .intervals = intervals,
                                                            .least_rows = least_rows),
                                         telling_ops =
                                             OPS(TUTTI_GIVES_INTERVALS, .intervals = intervals, .formula = formula),
                                         idle_ops = OPS(TUTTI_GIVES_MOMENTS, .intervals = intervals),
                                         torn_ops = OPS(TUTTI_GIVES_INTERVALS, .apply = apply),
                                         double_ops = OPS(TUTTI_GIVES_INTERVALS | TUTTI_GIVES_MOMENTS, .apply = apply,
                                                          .intervals = intervals);
#define CALIBRATOR(name_, ops_)                                                                                        \
  {                                                                                                                    \
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_CALIBRATOR, name_), .version = "1", .summary = "a test's", .source = "",          \
                                                         .licence = "Apache-2.0", .params = TUTTI_NO_PARAMS,           \
                                                         .ops = ops_                                                   \
  }
static const struct tutti_descriptor plugins[] = {CALIBRATOR("plain", &plain_ops), CALIBRATOR("classes", &classes_ops),
                                                  CALIBRATOR("interval", &interval_ops),
                                                  CALIBRATOR("telling", &telling_ops)},
                                     wrong[] = {CALIBRATOR("idle", &idle_ops), CALIBRATOR("torn", &torn_ops),
                                                CALIBRATOR("double", &double_ops)};

/* --- fixture: two rows of one target, and of two classes --- */

static struct {
  tutti_context *context;
  struct tutti_task task;
  tutti_host *host;
  tutti_calibrator *calibrator;
} world;

/* Mean, aleatoric and epistemic variance. */
static const double moments[] = {1, 3, 1, -2, 9, 0}, probabilities[] = {0.25, 0.75, 1, 0};
static const double values[] = {0, 1};
static const int32_t labels[] = {0, 1};
static const struct tutti_combined
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

/* Why rows allow no fit is said as the plugin says it: the caller tells of whom. What it is not to fail by, or without
   a reason, has its name. */
static void test_reasons(void **state) {
  static const struct {
    enum tutti_status fails;
    bool silent;
    const char *message;
  } cases[] = {{TUTTI_ERROR_USAGE, false, "no luck"},
               {TUTTI_ERROR_NUMERIC, false, "no luck"},
               {TUTTI_ERROR_NUMERIC, true, "calibrator plain failed (numeric) without saying why"},
               {TUTTI_ERROR_MEMORY, false, "calibrator plain: no luck"}};
  (void)state;
  must(make("plain", TUTTI_TASK_REGRESSION));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    act.fails = cases[i].fails;
    act.silent = cases[i].silent;
    tutti_error_clear(world.context);
    must_fail(tutti_calibrator_fit(world.context, world.calibrator, &real, &real_targets), act.fails, cases[i].message);
  }
}

/* Nothing is applied before a fit, after one that failed, or after a text that was refused. */
static void test_fitted(void **state) {
  static const char message[] = "calibrator plain was not fitted";
  double out[6];
  char *json;
  (void)state;
  must(make("plain", TUTTI_TASK_REGRESSION));
  must_fail(tutti_calibrator_apply(world.context, world.calibrator, &real, out), TUTTI_ERROR_INTERNAL, message);
  must_fail(tutti_calibrator_print(world.context, world.calibrator, &json), TUTTI_ERROR_INTERNAL, message);
  must(tutti_calibrator_fit(world.context, world.calibrator, &real, &real_targets));
  must(tutti_calibrator_apply(world.context, world.calibrator, &real, out));
  assert_memory_equal(out, moments, sizeof out);
  act.fails = TUTTI_ERROR_NUMERIC;
  must_fail(tutti_calibrator_fit(world.context, world.calibrator, &real, &real_targets), TUTTI_ERROR_NUMERIC,
            "no luck");
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
  struct tutti_combined nothing = real;
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
  double out[6];
  char *json;
  (void)state;
  fit_real("plain");
  act.scale = -1;
  must_fail(tutti_calibrator_apply(world.context, world.calibrator, &real, out), TUTTI_ERROR_PLUGIN,
            "calibrator plain broke its contract: apply gave a variance of -3 instead of 3");
  act.scale = 1;
  act.shift = 1;
  must_fail(tutti_calibrator_apply(world.context, world.calibrator, &real, out), TUTTI_ERROR_PLUGIN,
            "calibrator plain broke its contract: apply gave a variance of 1 instead of 0");
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
            "calibrator plain broke its contract: apply gave a probability of 1.5 instead of 0.75");
}

/* What is not a number cannot be fitted to, and stays as it is. */
static void test_nan(void **state) {
  double numbers[6], out[6];
  struct tutti_combined torn = real;
  (void)state;
  memcpy(numbers, moments, sizeof numbers);
  torn.values = numbers;
  numbers[4] = NAN; /* heads without a variance */
  must(make("plain", TUTTI_TASK_REGRESSION));
  must(tutti_calibrator_fit(world.context, world.calibrator, &torn, &real_targets));
  numbers[3] = NAN;
  must_fail(tutti_calibrator_fit(world.context, world.calibrator, &torn, &real_targets), TUTTI_ERROR_NUMERIC,
            "the ensemble's prediction for row 1 is not finite");
  must(tutti_calibrator_fit(world.context, world.calibrator, &real, &real_targets));
  act.scale = 2;
  must(tutti_calibrator_apply(world.context, world.calibrator, &torn, out));
  assert_true(out[0] == 2 && out[1] == 6 && isnan(out[3]) && out[5] == 0);
}

static void test_intervals(void **state) {
  double out[4];
  (void)state;
  fit_real("interval");
  assert_int_equal(tutti_calibrator_least_rows(world.calibrator, 3), 21);
  act.ends[0] = -1;
  act.ends[1] = INFINITY;
  must(tutti_calibrator_intervals(world.context, world.calibrator, &real, 0.9, out));
  assert_true(out[0] == 0 && isinf(out[1]) && out[2] == -3);
  act.ends[0] = 1;
  must_fail(tutti_calibrator_intervals(world.context, world.calibrator, &real, 0.9, out), TUTTI_ERROR_PLUGIN,
            "calibrator interval broke its contract: intervals gave 2 to inf, which does not hold the mean 1");
  must_fail(tutti_calibrator_intervals(world.context, world.calibrator, &real, 1, out), TUTTI_ERROR_USAGE,
            "the level of an interval is to be inside (0, 1), found 1");
  /* Moments stay as they are. */
  double same[6];
  must(tutti_calibrator_apply(world.context, world.calibrator, &real, same));
  assert_memory_equal(same, moments, sizeof same);
}

static void test_no_intervals(void **state) {
  double out[4];
  (void)state;
  fit_real("plain");
  assert_int_equal(tutti_calibrator_gives(world.calibrator), BOTH);
  assert_int_equal(tutti_calibrator_least_rows(world.calibrator, 3), 1);
  must_fail(tutti_calibrator_intervals(world.context, world.calibrator, &real, 0.9, out), TUTTI_ERROR_UNSUPPORTED,
            "calibrator plain gives no intervals");
}

/* Each term is as wide as the predictions, or it is refused; and so is a struct without its size. */
static void test_formula(void **state) {
  enum { TERMS = 5 };
  tutti_formula *made;
  (void)state;
  fit_real("telling");
  must(tutti_formula_create(world.context, &made));
  for (act.wide = 0; act.wide <= TERMS; act.wide++) {
    struct tutti_combined_terms terms = {.size = sizeof terms, .mean = tutti_formula_input(made, 1), .level = 0.9};
    terms.aleatoric = terms.epistemic = TUTTI_NO_TERM;
    enum tutti_status status = tutti_calibrator_formula(world.context, world.calibrator, made, &terms);
    if (act.wide < TERMS)
      must_fail(status, TUTTI_ERROR_PLUGIN,
                "calibrator telling broke its contract: formula left out terms that it has to give, or gave some that "
                "have not 1 columns");
    else
      must(status);
  }
  struct tutti_combined_terms sizeless = {.mean = tutti_formula_input(made, 1), .level = 0.9};
  assert_int_equal(tutti_calibrator_formula(world.context, world.calibrator, made, &sizeless), TUTTI_ERROR_INTERNAL);
  assert_non_null(strstr(tutti_error_message(world.context), "expected the size of the struct tutti_combined_terms"));
  tutti_formula_destroy(made);
}

/* What a plugin gives, it must have the operation for. */
static void test_ops(void **state) {
  static const char *const missing[] = {"apply", "intervals", "gives"};
  (void)state;
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    assert_int_equal(tutti_plugin_register(world.context, &wrong[i]), TUTTI_ERROR_PLUGIN);
    assert_non_null(strstr(tutti_error_message(world.context), missing[i]));
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_task), TEST(test_reasons),   TEST(test_fitted),       TEST(test_shapes), TEST(test_breaches),
      TEST(test_nan),  TEST(test_intervals), TEST(test_no_intervals), TEST(test_ops),    TEST(test_formula),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
