/* Rules of rungs, and the checks around pruners. */
#include <setjmp.h>
#include <stdarg.h>
#include <math.h>
#include <string.h>
#include <tutti/tutti.h>
#include <cmocka.h>

static tutti_context *context;
static tutti_rule *rule;

static void must(enum tutti_status status) {
  if (status != TUTTI_OK)
    fail_msg("%s", tutti_error_message(context));
}

/* --- a pruner: a rung at the epoch that was told last, and none that is valid for trial 9 --- */

static size_t told;

static enum tutti_status tell(void *self, tutti_context *its_context, const struct tutti_curve *curve) {
  (void)self, (void)its_context;
  told = curve->epochs;
  return TUTTI_OK;
}

static enum tutti_status make_rule(void *self, tutti_context *its_context, uint64_t trial, tutti_rule *made) {
  struct tutti_rung rung = {.size = sizeof rung, .epoch = trial == 9 ? 0 : (uint32_t)told, .threshold = 1};
  (void)self;
  return tutti_rule_add(its_context, made, &rung);
}

static const struct tutti_pruner_ops ops = {.size = sizeof ops, .tell = tell, .rule = make_rule};
static const struct tutti_pruner_ops without_rule = {.size = sizeof without_rule, .tell = tell};
#define PRUNER(name_, ops_)                                                                                            \
  {                                                                                                                    \
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_PRUNER, name_), .version = "1", .summary = "a test's", .source = "",              \
                                                     .licence = "Apache-2.0", .params = TUTTI_NO_PARAMS, .ops = ops_   \
  }
static const struct tutti_descriptor fake = PRUNER("fake", &ops), unfinished = PRUNER("unfinished", &without_rule),
                                     none = PRUNER("none", &ops);

static int setup(void **state) {
  (void)state;
  told = 0;
  return tutti_context_create(&context) == TUTTI_OK && tutti_rule_create(context, &rule) == TUTTI_OK ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  tutti_rule_destroy(rule);
  tutti_context_destroy(context);
  return 0;
}

static enum tutti_status add(uint32_t epoch, enum tutti_measure measure, double threshold) {
  struct tutti_rung rung = {.size = sizeof rung, .epoch = epoch, .measure = measure, .threshold = threshold};
  return tutti_rule_add(context, rule, &rung);
}

/* --- rules --- */

static void test_measures(void **state) {
  const double losses[] = {1, NAN, 4, 5};
  (void)state;
  must(add(1, TUTTI_MEASURE_LAST, 1));
  must(add(2, TUTTI_MEASURE_LAST, 0)); /* not evaluated there */
  must(add(3, TUTTI_MEASURE_BEST, 1));
  must(add(4, TUTTI_MEASURE_MEAN, 3.3));
  assert_true(tutti_rule_allows(rule, 1, losses));
  assert_true(tutti_rule_allows(rule, 2, losses));
  assert_true(tutti_rule_allows(rule, 3, losses));
  assert_false(tutti_rule_allows(rule, 4, losses)); /* 10 / 3 */
  assert_true(tutti_rule_allows(rule, 4, (const double[]){1, 2, 4, 5}));
  assert_false(tutti_rule_allows(rule, 1, (const double[]){1.5}));
  assert_false(tutti_rule_allows(rule, 3, (const double[]){2, 1.5, 1.2}));
}

/* Only the rungs' own epochs say no, and a curve without a loss is allowed. */
static void test_between_rungs(void **state) {
  const double losses[] = {9, 9, NAN};
  (void)state;
  must(add(2, TUTTI_MEASURE_BEST, 1));
  must(add(3, TUTTI_MEASURE_MEAN, INFINITY));
  assert_true(tutti_rule_allows(rule, 1, losses));
  assert_false(tutti_rule_allows(rule, 2, losses));
  assert_true(tutti_rule_allows(rule, 3, losses));
  assert_true(tutti_rule_allows(rule, 2, (const double[]){NAN, NAN}));
}

/* A rung of training losses does not look at the others; where they are not known, the trial goes on. */
static void test_training(void **state) {
  const double low[] = {1, 1, 1}, high[] = {9, 9, 9};
  const struct tutti_rung rung = {
      .size = sizeof rung, .epoch = 2, .measure = TUTTI_MEASURE_BEST, .threshold = 5, .training = true};
  struct tutti_curve curve = {.size = sizeof curve, .epochs = 2, .losses = high, .training = low};
  (void)state;
  must(tutti_rule_add(context, rule, &rung));
  must(add(3, TUTTI_MEASURE_LAST, 5));
  assert_true(tutti_rule_allows_curve(rule, &curve));
  curve.losses = low;
  curve.training = high;
  assert_false(tutti_rule_allows_curve(rule, &curve));
  curve.epochs = 3; /* that rung is one of validation losses */
  assert_true(tutti_rule_allows_curve(rule, &curve));
  curve.epochs = 2;
  curve.size = offsetof(struct tutti_curve, training); /* of a caller that knows no more */
  assert_true(tutti_rule_allows_curve(rule, &curve));
  assert_true(tutti_rule_allows(rule, 2, high));
  struct tutti_rung back = {.size = sizeof back};
  tutti_rule_rung(rule, 0, &back);
  assert_true(back.training);
  tutti_rule_rung(rule, 1, &back);
  assert_false(back.training);
}

static void test_order(void **state) {
  (void)state;
  must(add(4, TUTTI_MEASURE_LAST, 0.5));
  assert_int_equal(add(4, TUTTI_MEASURE_LAST, 1), TUTTI_ERROR_INTERNAL);
  assert_string_equal(tutti_error_message(context),
                      "a rung at epoch 4 with threshold 1 and measure 0: expected an epoch "
                      "after 4, a number, and one of the measures");
  assert_int_equal(add(5, TUTTI_MEASURE_LAST, NAN), TUTTI_ERROR_INTERNAL);
  assert_int_equal(add(5, (enum tutti_measure)3, 1), TUTTI_ERROR_INTERNAL);
  assert_int_equal(tutti_rule_rungs(rule), 1);
  for (uint32_t epoch = 5; epoch < 40; epoch++)
    must(add(epoch, TUTTI_MEASURE_MEAN, epoch));
  assert_int_equal(tutti_rule_rungs(rule), 36);
  struct tutti_rung rung = {.size = sizeof rung};
  tutti_rule_rung(rule, 35, &rung);
  assert_int_equal(rung.epoch, 39);
  assert_int_equal(rung.measure, TUTTI_MEASURE_MEAN);
  assert_true(rung.threshold == 39);
}

/* A caller that knows less of a rung gets no more than it has room for. */
static void test_shorter_rung(void **state) {
  struct tutti_rung rung = {.size = offsetof(struct tutti_rung, threshold), .threshold = 7};
  (void)state;
  must(add(2, TUTTI_MEASURE_BEST, 1));
  tutti_rule_rung(rule, 0, &rung);
  assert_int_equal(rung.epoch, 2);
  assert_true(rung.threshold == 7);
}

/* --- pruners --- */

static void test_pruner(void **state) {
  const double losses[] = {3, 2, 1};
  struct tutti_curve curve = {.size = sizeof curve, .epochs = 3, .losses = losses};
  struct tutti_pruner_setup of = {.size = sizeof of};
  struct tutti_host_facts facts = {.size = sizeof facts};
  tutti_host *host;
  tutti_pruner *pruner;
  tutti_rule *made;
  (void)state;
  must(tutti_plugin_register(context, &fake));
  must(tutti_host_create(context, &facts, &host));
  must(tutti_host_put(context, host, "pruner", TUTTI_KIND_PRUNER, "fake"));
  must(tutti_pruner_create(context, host, "pruner", &of, &pruner));
  must(tutti_pruner_tell(context, pruner, &curve));
  must(tutti_pruner_rule(context, pruner, 1, &made));
  assert_int_equal(tutti_rule_rungs(made), 1);
  assert_false(tutti_rule_allows(made, 3, (const double[]){2, 2, 2}));
  tutti_rule_destroy(made);
  assert_int_equal(tutti_pruner_rule(context, pruner, 9, &made), TUTTI_ERROR_INTERNAL);
  assert_null(made);
  assert_non_null(strstr(tutti_error_message(context), "pruner fake: a rung at epoch 0"));
  tutti_pruner_destroy(pruner);
  tutti_host_destroy(host);
}

/* "none" is a plugin here, and elsewhere the lack of one. */
static void test_none(void **state) {
  struct tutti_host_facts facts = {.size = sizeof facts};
  tutti_host *host;
  (void)state;
  must(tutti_plugin_register(context, &none));
  must(tutti_host_create(context, &facts, &host));
  must(tutti_host_put(context, host, "pruner", TUTTI_KIND_PRUNER, "none"));
  assert_string_equal(tutti_host_plugin(host, "pruner"), "none");
  must(tutti_host_put(context, host, "pruner", TUTTI_KIND_SELECTOR, "none"));
  assert_null(tutti_host_plugin(host, "pruner"));
  tutti_host_destroy(host);
}

static void test_required(void **state) {
  (void)state;
  assert_int_equal(tutti_plugin_register(context, &unfinished), TUTTI_ERROR_PLUGIN);
  assert_string_equal(tutti_error_message(context), "linked-in plugin: a pruner must have the operation rule");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_measures),     TEST(test_between_rungs), TEST(test_training), TEST(test_order),
      TEST(test_shorter_rung), TEST(test_pruner),        TEST(test_none),     TEST(test_required),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
