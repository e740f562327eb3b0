/* The proposer, with a surrogate that writes down what it is given: order of learning, pending candidates, failures,
   transforms, judges, the end of a scope. */
#include "golden.h"
#include "toy.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include <tutti/propose.h>
#include <tutti/registry.h>

/* --- parts that write down ---------------------------------------------------------------------------------------- */

/* What was called since the last clear(): "fit 3; add 2; hallucinate 1; release; ". */
static struct {
  char calls[512];
  double values[64];
  size_t count, refusals, judged;
  double best;
} record;

static void clear(void) { memset(&record, 0, sizeof(record)); }

static void write_down(const char *call, size_t count) {
  size_t used = strlen(record.calls);
  snprintf(record.calls + used, sizeof(record.calls) - used, "%s %zu; ", call, count);
}

static enum tutti_status surrogate_create_recorder(tutti_context *context, const void *config, const void *setup,
                                                   void **instance) {
  (void)context, (void)config, (void)setup;
  *instance = &record;
  return TUTTI_OK;
}

static void surrogate_destroy_recorder(void *instance) { (void)instance; }

static enum tutti_status surrogate_fit_recorder(void *instance, tutti_context *context,
                                                const struct tutti_points *points, const double *values,
                                                const double *noise) {
  (void)instance, (void)context, (void)noise;
  write_down("fit", points->count);
  memcpy(record.values, values, points->count * sizeof(double));
  record.count = points->count;
  return TUTTI_OK;
}

static enum tutti_status surrogate_add_recorder(void *instance, tutti_context *context,
                                                const struct tutti_points *points, const double *values,
                                                const double *noise) {
  (void)instance, (void)context, (void)noise;
  write_down("add", points->count);
  memcpy(record.values + record.count, values, points->count * sizeof(double));
  record.count += points->count;
  return TUTTI_OK;
}

static enum tutti_status surrogate_predict_recorder(void *instance, tutti_context *context,
                                                    const struct tutti_points *points, double *mean,
                                                    double *deviation) {
  (void)instance, (void)context;
  for (size_t i = 0; i < points->count; i++) {
    mean[i] = points->vectors[i * points->dimension];
    deviation[i] = 1;
  }
  return TUTTI_OK;
}

static enum tutti_status surrogate_hallucinate_recorder(void *instance, tutti_context *context,
                                                        const struct tutti_points *points) {
  (void)instance, (void)context;
  write_down("hallucinate", points->count);
  return TUTTI_OK;
}

static enum tutti_status surrogate_fantasise_recorder(void *instance, tutti_context *context,
                                                      const struct tutti_points *points, struct tutti_random *random,
                                                      size_t draws) {
  (void)instance, (void)context;
  write_down("fantasise", points->count);
  write_down("draws", draws);
  record.values[0] = tutti_random_uniform(random);
  return TUTTI_OK;
}

static size_t surrogate_components_recorder(void *instance) {
  (void)instance;
  return 1;
}

static void surrogate_least_recorder(void *instance, double *least) {
  (void)instance;
  least[0] = -100;
}

static void surrogate_release_recorder(void *instance) {
  (void)instance;
  write_down("release", 0);
}

static const struct tutti_surrogate_ops recorder_ops = {.size = sizeof(recorder_ops),
                                                        .needs = TUTTI_NEEDS_VECTORS,
                                                        .fit = surrogate_fit_recorder,
                                                        .predict = surrogate_predict_recorder,
                                                        .add = surrogate_add_recorder,
                                                        .hallucinate = surrogate_hallucinate_recorder,
                                                        .release = surrogate_release_recorder,
                                                        .components = surrogate_components_recorder,
                                                        .predict_components = surrogate_predict_recorder,
                                                        .fantasise = surrogate_fantasise_recorder,
                                                        .least = surrogate_least_recorder};
static const struct tutti_surrogate_ops plain_ops = {.size = sizeof(plain_ops),
                                                     .needs = TUTTI_NEEDS_VECTORS,
                                                     .fit = surrogate_fit_recorder,
                                                     .predict = surrogate_predict_recorder,
                                                     .add = surrogate_add_recorder};

/* Prefers low means; refuses as often as the record says. */
static enum tutti_status acquisition_moments_picky(void *instance, tutti_context *context,
                                                   const struct tutti_standing *standing, size_t count,
                                                   const double *mean, const double *deviation, double *worth,
                                                   double *by_mean, double *by_deviation) {
  (void)instance, (void)context, (void)standing, (void)deviation, (void)by_mean, (void)by_deviation;
  for (size_t i = 0; i < count; i++)
    worth[i] = -mean[i];
  return TUTTI_OK;
}

static enum tutti_status acquisition_judge_picky(void *instance, tutti_context *context,
                                                 const struct tutti_standing *standing,
                                                 const struct tutti_points *proposal, unsigned round, bool *accept) {
  (void)instance, (void)context;
  assert_int_equal(round, record.judged);
  assert_int_equal(proposal->count, 1);
  assert_non_null(standing->observed->candidates[0]);
  record.judged++;
  *accept = record.judged > record.refusals;
  return TUTTI_OK;
}

static const struct tutti_acquisition_ops picky_ops = {
    .size = sizeof(picky_ops), .moments = acquisition_moments_picky, .judge = acquisition_judge_picky};

/* Writes down how many observations it was calibrated on, and the best of them. */
static enum tutti_status acquisition_calibrate_recorder(void *instance, tutti_context *context,
                                                        const struct tutti_standing *standing,
                                                        tutti_surrogate *surrogate) {
  (void)instance, (void)context, (void)surrogate;
  assert_int_equal(standing->step, standing->observed->count);
  write_down("calibrate", standing->observed->count);
  record.best = standing->best;
  return TUTTI_OK;
}

static const struct tutti_acquisition_ops calibrated_ops = {
    .size = sizeof(calibrated_ops), .moments = acquisition_moments_picky, .calibrate = acquisition_calibrate_recorder};

#define PART(part_kind, part_name, part_ops)                                                                           \
  {                                                                                                                    \
    TUTTI_DESCRIPTOR_HEAD(part_kind, part_name),                                                                       \
        .version = "1.0", .summary = "a test's part", .source = "", .licence = "Apache-2.0",                           \
        .params = TUTTI_NO_PARAMS, .create = surrogate_create_recorder, .destroy = surrogate_destroy_recorder,         \
        .ops = &(part_ops)                                                                                             \
  }

static const struct tutti_descriptor parts[] = {
    PART(TUTTI_KIND_SURROGATE, "recorder", recorder_ops),
    PART(TUTTI_KIND_SURROGATE, "plain", plain_ops),
    PART(TUTTI_KIND_ACQUISITION, "picky", picky_ops),
    PART(TUTTI_KIND_ACQUISITION, "calibrated", calibrated_ops),
};

/* --- helpers ------------------------------------------------------------------------------------------------------ */

static void begin(struct toy *toy, const char *surrogate, int depths) {
  clear();
  toy_create(toy, 1, 4, depths, NULL);
  for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
    TOY_OK(toy, tutti_plugin_register(toy->context, &parts[i]));
  toy_put(toy, "surrogate", TUTTI_KIND_SURROGATE, surrogate);
  toy_put(toy, "acquisition", TUTTI_KIND_ACQUISITION, "picky");
  toy_put(toy, "maximiser", TUTTI_KIND_MAXIMISER, "sample");
  toy_set(toy, "maximiser", "samples", "50");
}

static tutti_proposer *make(struct toy *toy, struct tutti_proposer_setup setup) {
  tutti_proposer *proposer;
  setup.size = sizeof(setup);
  setup.host = toy->host;
  setup.begin = 3;
  TOY_OK(toy, tutti_proposer_create(toy->context, &setup, &proposer));
  return proposer;
}

static tutti_candidate *candidate_at(struct toy *toy, double depth) {
  tutti_candidate *candidate;
  TOY_OK(toy, tutti_scope_from_point(toy->context, toy->scope, &depth, 0, &candidate));
  return candidate;
}

static void asked(struct toy *toy, tutti_proposer *proposer, uint64_t trial) {
  tutti_candidate *candidate = candidate_at(toy, 100 + (double)trial);
  TOY_OK(toy, tutti_proposer_asked(toy->context, proposer, trial, candidate));
  tutti_candidate_unref(candidate);
}

static void told(struct toy *toy, tutti_proposer *proposer, uint64_t trial, double loss) {
  tutti_candidate *candidate = candidate_at(toy, 100 + (double)trial);
  TOY_OK(toy, tutti_proposer_told(toy->context, proposer, trial, candidate, loss));
  tutti_candidate_unref(candidate);
}

/* Propose, and check what the surrogate was given for it. */
static void check_calls(struct toy *toy, tutti_proposer *proposer, const char *calls) {
  tutti_candidate *candidate;
  double worth;
  clear();
  TOY_OK(toy, tutti_proposer_propose(toy->context, proposer, 999, &candidate, &worth));
  assert_non_null(candidate);
  assert_string_equal(record.calls, calls);
  tutti_candidate_unref(candidate);
}

static void end(struct toy *toy, tutti_proposer *proposer) {
  tutti_proposer_destroy(proposer);
  toy_destroy(toy);
}

/* --- tests -------------------------------------------------------------------------------------------------------- */

static void test_order_of_learning(void **state) {
  struct toy toy;
  (void)state;
  begin(&toy, "recorder", 500);
  tutti_proposer *proposer = make(&toy, (struct tutti_proposer_setup){0}), *late;
  check_calls(&toy, proposer, ""); /* nothing known: a random candidate */
  told(&toy, proposer, 0, 5);
  told(&toy, proposer, 1, 4);
  check_calls(&toy, proposer, "fit 2; ");
  told(&toy, proposer, 2, 3);
  check_calls(&toy, proposer, "fit 3; ");
  check_calls(&toy, proposer, "");
  told(&toy, proposer, 3, 2);
  told(&toy, proposer, 4, 1);
  check_calls(&toy, proposer, "add 2; ");
  assert_true(tutti_proposer_best(proposer) == 1 && tutti_proposer_observed_count(proposer) == 5);

  late = make(&toy, (struct tutti_proposer_setup){0}); /* resumed: the same fit, the same additions */
  for (uint64_t i = 0; i < 5; i++)
    told(&toy, late, i, 5 - (double)i);
  check_calls(&toy, late, "fit 3; add 2; ");
  assert_memory_equal(record.values, ((double[]){5, 4, 3, 2, 1}), 5 * sizeof(double));
  tutti_proposer_destroy(late);
  end(&toy, proposer);
}

static void test_hallucinated_while_pending(void **state) {
  struct toy toy;
  (void)state;
  begin(&toy, "recorder", 500);
  tutti_proposer *proposer = make(&toy, (struct tutti_proposer_setup){0});
  for (uint64_t i = 0; i < 5; i++)
    asked(&toy, proposer, i);
  told(&toy, proposer, 2, 7);
  assert_int_equal(tutti_proposer_pending_count(proposer), 4);
  check_calls(&toy, proposer, "fit 1; hallucinate 4; release 0; ");
  for (uint64_t i = 0; i < 5; i++)
    if (i != 2)
      told(&toy, proposer, i, 1);
  check_calls(&toy, proposer, "fit 3; add 2; ");
  end(&toy, proposer);
}

static void test_fantasies_while_pending(void **state) {
  struct toy toy;
  (void)state;
  begin(&toy, "recorder", 500);
  tutti_proposer *proposer =
      make(&toy, (struct tutti_proposer_setup){.pending = TUTTI_PENDING_FANTASIES, .fantasies = 6});
  told(&toy, proposer, 0, 7);
  check_calls(&toy, proposer, "fit 1; ");
  for (uint64_t i = 1; i < 4; i++)
    asked(&toy, proposer, i);
  check_calls(&toy, proposer, "fantasise 3; draws 6; release 0; "); /* nothing was told: no fit */
  double drawn = record.values[0];
  check_calls(&toy, proposer, "fantasise 3; draws 6; release 0; ");
  assert_true(record.values[0] == drawn); /* keyed by the trial */
  tutti_candidate *candidate;
  double worth;
  clear();
  TOY_OK(&toy, tutti_proposer_propose(toy.context, proposer, 998, &candidate, &worth));
  tutti_candidate_unref(candidate);
  assert_true(record.values[0] != drawn); /* of another one */
  end(&toy, proposer);
}

static void test_lies(void **state) {
  static const double lies[] = {1, 3, 8};
  (void)state;
  for (int lie = TUTTI_LIE_MIN; lie <= TUTTI_LIE_MAX; lie++) {
    struct toy toy;
    begin(&toy, lie == TUTTI_LIE_MEAN ? "plain" : "recorder", 500);
    tutti_proposer *proposer = make(
        &toy, (struct tutti_proposer_setup){.pending = lie == TUTTI_LIE_MEAN ? TUTTI_PENDING_AUTO : TUTTI_PENDING_LIAR,
                                            .lie = (enum tutti_lie)lie});
    for (uint64_t i = 0; i < 6; i++)
      asked(&toy, proposer, i);
    told(&toy, proposer, 0, 8);
    told(&toy, proposer, 1, 1);
    told(&toy, proposer, 2, 2);
    told(&toy, proposer, 3, 1);
    check_calls(&toy, proposer, "fit 6; ");
    assert_memory_equal(record.values, ((double[]){8, 1, 2, 1, lies[lie], lies[lie]}), 6 * sizeof(double));
    told(&toy, proposer, 4, 9);
    told(&toy, proposer, 5, 9);
    check_calls(&toy, proposer, "fit 3; add 3; "); /* no lie is left */
    end(&toy, proposer);
  }
}

/* Lies of an older batch are forgotten with the next result. */
static void test_lies_of_a_batch(void **state) {
  struct toy toy;
  (void)state;
  begin(&toy, "recorder", 500);
  tutti_proposer *proposer =
      make(&toy, (struct tutti_proposer_setup){.pending = TUTTI_PENDING_LIAR_BATCH, .lie = TUTTI_LIE_MIN});
  for (uint64_t i = 0; i < 4; i++)
    asked(&toy, proposer, i);
  told(&toy, proposer, 0, 8);
  told(&toy, proposer, 1, 5); /* 2 and 3 are outstanding, but of an older batch */
  check_calls(&toy, proposer, "fit 2; ");
  asked(&toy, proposer, 4);
  asked(&toy, proposer, 5);
  check_calls(&toy, proposer, "fit 4; ");
  assert_memory_equal(record.values, ((double[]){8, 5, 5, 5}), 4 * sizeof(double));
  told(&toy, proposer, 4, 9);
  check_calls(&toy, proposer, "fit 3; ");
  end(&toy, proposer);
}

static void test_pending_left_alone(void **state) {
  struct toy toy;
  (void)state;
  begin(&toy, "recorder", 500);
  tutti_proposer *proposer = make(&toy, (struct tutti_proposer_setup){.pending = TUTTI_PENDING_NONE});
  asked(&toy, proposer, 0);
  told(&toy, proposer, 1, 7);
  check_calls(&toy, proposer, "fit 1; ");
  end(&toy, proposer);
}

static void test_refuses_what_cannot_hallucinate(void **state) {
  struct toy toy;
  tutti_proposer *proposer = NULL;
  (void)state;
  begin(&toy, "plain", 500);
  struct tutti_proposer_setup setup = {
      .size = sizeof(setup), .host = toy.host, .begin = 1, .pending = TUTTI_PENDING_HALLUCINATE};
  assert_int_equal(tutti_proposer_create(toy.context, &setup, &proposer), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(toy.context), "plain cannot"));
  setup.pending = TUTTI_PENDING_FANTASIES;
  assert_int_equal(tutti_proposer_create(toy.context, &setup, &proposer), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(toy.context), "plain has none"));
  assert_null(proposer);
  toy_destroy(&toy);
}

static void test_failures(void **state) {
  (void)state;
  for (int failed = TUTTI_FAILED_WORST; failed <= TUTTI_FAILED_IGNORE; failed++) {
    struct toy toy;
    bool ignore = failed == TUTTI_FAILED_IGNORE;
    begin(&toy, "recorder", 500);
    tutti_proposer *proposer = make(&toy, (struct tutti_proposer_setup){.failed = (enum tutti_failed)failed});
    told(&toy, proposer, 0, NAN); /* wait for the first value */
    told(&toy, proposer, 1, NAN);
    assert_int_equal(tutti_proposer_observed_count(proposer), 0);
    told(&toy, proposer, 2, 4);
    told(&toy, proposer, 3, 6);
    told(&toy, proposer, 4, 5);
    told(&toy, proposer, 5, INFINITY);
    told(&toy, proposer, 6, 9);
    check_calls(&toy, proposer, ignore ? "fit 3; add 1; " : "fit 3; add 4; ");
    if (ignore)
      assert_memory_equal(record.values, ((double[]){4, 6, 5, 9}), 4 * sizeof(double));
    else
      assert_memory_equal(record.values, ((double[]){4, 4, 4, 6, 5, 6, 9}), 7 * sizeof(double));
    tutti_candidate *failure = candidate_at(&toy, 100); /* not tried again either way */
    assert_true(tutti_candidate_set_has(tutti_proposer_known(proposer), failure));
    tutti_candidate_unref(failure);
    assert_true(tutti_proposer_best(proposer) == 4);
    end(&toy, proposer);
  }
}

static void test_transform(void **state) {
  static const double losses[] = {-1e300, -5, -1e-6, 0, 1e-9, 1e-6, 1e-3, 1, 20, 1e300};
  enum { COUNT = sizeof(losses) / sizeof(losses[0]) };
  struct toy toy;
  (void)state;
  begin(&toy, "recorder", 500);
  tutti_proposer *proposer = make(&toy, (struct tutti_proposer_setup){.transform = TUTTI_TRANSFORM_LOG});
  for (uint64_t i = 0; i < COUNT; i++)
    told(&toy, proposer, i, losses[i]);
  check_calls(&toy, proposer, "fit 3; add 7; ");
  for (size_t i = 1; i < COUNT; i++)
    assert_true(record.values[i] > record.values[i - 1] && isfinite(record.values[i - 1]));
  assert_close(record.values[8], log(20), 1e-15, 0);
  assert_close(record.values[6], log(1e-3), 1e-15, 0);
  assert_close(record.values[3], log(1e-6) - log(2), 1e-15, 0);
  end(&toy, proposer);
}

/* Near 0 the loss itself; a loss of 1e35, as of a variance that was far too small, is but ten times one of 3000. */
static void test_transform_of_huge_losses(void **state) {
  static const double losses[] = {-1e300, -3000, -2, -1e-3, 0, 1e-3, 2, 3000, 1e35, 1e300};
  enum { COUNT = sizeof(losses) / sizeof(losses[0]) };
  struct toy toy;
  (void)state;
  begin(&toy, "recorder", 500);
  tutti_proposer *proposer = make(&toy, (struct tutti_proposer_setup){.transform = TUTTI_TRANSFORM_ASINH});
  for (uint64_t i = 0; i < COUNT; i++)
    told(&toy, proposer, i, losses[i]);
  check_calls(&toy, proposer, "fit 3; add 7; ");
  for (size_t i = 1; i < COUNT; i++)
    assert_true(record.values[i] > record.values[i - 1] && isfinite(record.values[i]));
  assert_close(record.values[5], 1e-3, 1e-6, 0);
  assert_close(record.values[6], log(2 + sqrt(5)), 1e-15, 0);
  assert_close(record.values[7], log(6000), 1e-7, 0);
  assert_true(record.values[8] < 10 * record.values[7] && record.values[1] == -record.values[7]);
  end(&toy, proposer);
}

static void test_judge(void **state) {
  struct toy toy;
  tutti_candidate *candidate;
  double worth;
  (void)state;
  begin(&toy, "recorder", 500);
  tutti_proposer *proposer = make(&toy, (struct tutti_proposer_setup){0});
  told(&toy, proposer, 0, 5);
  clear();
  record.refusals = 3;
  TOY_OK(&toy, tutti_proposer_propose(toy.context, proposer, 1, &candidate, &worth));
  assert_int_equal(record.judged, 4);
  tutti_candidate_unref(candidate);
  end(&toy, proposer);
}

/* An acquisition is calibrated on the observations that there are, and once there are enough of them, for good. */
static void test_calibration(void **state) {
  struct toy toy;
  (void)state;
  begin(&toy, "recorder", 500);
  toy_put(&toy, "acquisition", TUTTI_KIND_ACQUISITION, "calibrated");
  tutti_proposer *proposer = make(&toy, (struct tutti_proposer_setup){.calibrate = 2}), *late;
  told(&toy, proposer, 0, 5);
  check_calls(&toy, proposer, "fit 1; calibrate 1; ");
  assert_true(record.best == 5);
  told(&toy, proposer, 1, 4);
  check_calls(&toy, proposer, "fit 2; calibrate 2; ");
  assert_true(record.best == 4);
  told(&toy, proposer, 2, 3);
  check_calls(&toy, proposer, "fit 3; ");
  told(&toy, proposer, 3, 2);
  check_calls(&toy, proposer, "add 1; ");

  late = make(&toy, (struct tutti_proposer_setup){.calibrate = 2}); /* resumed: on the first two, too */
  for (uint64_t i = 0; i < 4; i++)
    told(&toy, late, i, 5 - (double)i);
  check_calls(&toy, late, "fit 2; calibrate 2; fit 3; add 1; ");
  assert_true(record.best == 4);
  tutti_proposer_destroy(late);
  end(&toy, proposer);
}

/* Three candidates: each once, in whatever state they are, then none. */
static void test_end_of_a_scope(void **state) {
  struct toy toy;
  (void)state;
  begin(&toy, "recorder", 3);
  tutti_proposer *proposer = make(&toy, (struct tutti_proposer_setup){0});
  for (uint64_t i = 0; i < 4; i++) {
    tutti_candidate *candidate;
    double worth;
    clear();
    TOY_OK(&toy, tutti_proposer_propose(toy.context, proposer, i, &candidate, &worth));
    assert_int_equal(candidate != NULL, i < 3);
    if (!candidate)
      continue;
    assert_false(tutti_candidate_set_has(tutti_proposer_known(proposer), candidate));
    TOY_OK(&toy, tutti_proposer_asked(toy.context, proposer, i, candidate));
    if (i == 0)
      TOY_OK(&toy, tutti_proposer_told(toy.context, proposer, i, candidate, 1));
    tutti_candidate_unref(candidate);
  }
  assert_int_equal(tutti_proposer_asked_count(proposer), 3);
  end(&toy, proposer);
}

static void test_told_twice(void **state) {
  struct toy toy;
  (void)state;
  begin(&toy, "recorder", 500);
  tutti_proposer *proposer = make(&toy, (struct tutti_proposer_setup){0});
  told(&toy, proposer, 0, 5);
  tutti_candidate *candidate = candidate_at(&toy, 100);
  assert_int_equal(tutti_proposer_told(toy.context, proposer, 0, candidate, 5), TUTTI_ERROR_INTERNAL);
  tutti_candidate_unref(candidate);
  end(&toy, proposer);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order_of_learning),
      cmocka_unit_test(test_hallucinated_while_pending),
      cmocka_unit_test(test_fantasies_while_pending),
      cmocka_unit_test(test_lies),
      cmocka_unit_test(test_lies_of_a_batch),
      cmocka_unit_test(test_pending_left_alone),
      cmocka_unit_test(test_refuses_what_cannot_hallucinate),
      cmocka_unit_test(test_failures),
      cmocka_unit_test(test_transform),
      cmocka_unit_test(test_transform_of_huge_losses),
      cmocka_unit_test(test_judge),
      cmocka_unit_test(test_calibration),
      cmocka_unit_test(test_end_of_a_scope),
      cmocka_unit_test(test_told_twice),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
