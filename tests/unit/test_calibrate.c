/* test_calibrate.c - calibrators judged: when one is taken or refused, of mixtures of members, too, and the mixtures'
   quantiles. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>
#include <cmocka.h>

#include "engine/evaluation/calibrate_impl.h"

#include "calibrating.h"

/* --- judging --- */

static struct tutti_verdict judge(int64_t folds) {
  struct tutti_verdict verdict;
  const struct tutti_calibrating of = {
      .host = world.host, .seed = 1, .folds = folds, .combined = &world.combined, .targets = &world.targets};
  tutti_calibrator_destroy(world.calibrator);
  must(tutti_calibrate(world.context, &of, &world.calibrator, &verdict));
  assert_int_equal(world.calibrator == NULL, *verdict.refused != '\0');
  return verdict;
}

/* Taken where it helps; refused where the ensemble is right already, where rows are few, of one class, or no
   numbers. */
static void test_verdicts(void **state) {
  (void)state;
  put("temperature", TUTTI_TASK_CLASSIFICATION, 3);
  draw_classes(400, 0.4);
  struct tutti_verdict verdict = judge(5);
  assert_string_equal(verdict.refused, "");
  assert_string_equal(verdict.measure, "nll");
  assert_true(verdict.after < verdict.before);
  assert_near(verdict.before, nll_of(world.values), 1e-9);
  draw_classes(60, 1);
  put("vector-scaling", TUTTI_TASK_CLASSIFICATION, 3); /* six numbers from 60 rows that need none */
  rows(60);
  verdict = judge(5);
  assert_non_null(strstr(verdict.refused, "it does not help by more than chance may: nll"));
  assert_string_equal(judge(0).refused, "");
  rows(59);
  assert_string_equal(judge(5).refused, "it needs 60 rows to fit to, and there are 59");
  rows(60);
  world.values[7] = NAN;
  assert_string_equal(judge(5).refused, "the ensemble's prediction for row 2 is not finite");
  world.values[7] = 0.1;
  for (size_t r = 0; r < 60; r++)
    world.labels[r] = 2;
  assert_string_equal(judge(0).refused, "all 60 rows to calibrate on are of one class");
  assert_string_equal(judge(5).refused, "all 48 rows to calibrate on are of one class");
  world.labels[9] = 1;
  assert_string_equal(judge(5).refused,
                      "it is judged by 5 folds of the 60 rows, and without one of them the other 48 are of one class");
}

/* Lay out groups of `each` equal rows, of the rows that there are: row r is of group r % groups. */
static void copy_rows(size_t groups, size_t each, uint32_t *group) {
  const size_t width = world.combined.outputs;
  for (size_t r = groups * each; r-- > 0;) { /* the first row of each group is there already */
    const size_t first = r % groups;
    memmove(world.values + width * r, world.values + width * first, width * sizeof *world.values);
    world.labels[r] = world.labels[first];
    group[r] = (uint32_t)first;
  }
  rows(groups * each);
}

/* Twelve patients with five equal rows each: a fit to rows of a patient knows the others, and seems to help. Judged on
   patients that the fit has not seen, it does not. */
static void test_folds_of_groups(void **state) {
  enum { PATIENTS = 12, EACH = 5 };
  uint32_t group[PATIENTS * EACH];
  struct tutti_verdict verdict;
  (void)state;
  put("vector-scaling", TUTTI_TASK_CLASSIFICATION, 3);
  draw_classes(PATIENTS, 1);
  copy_rows(PATIENTS, EACH, group);
  struct tutti_calibrating of = {
      .host = world.host, .seed = 1, .folds = 4, .combined = &world.combined, .targets = &world.targets};
  must(tutti_calibrate(world.context, &of, &world.calibrator, &verdict));
  assert_string_equal(verdict.refused, "");
  of.group = group;
  tutti_calibrator_destroy(world.calibrator);
  must(tutti_calibrate(world.context, &of, &world.calibrator, &verdict));
  assert_non_null(strstr(verdict.refused, "it does not help by more than chance may: nll"));
  of.folds = PATIENTS + 1;
  must(tutti_calibrate(world.context, &of, &world.calibrator, &verdict));
  assert_string_equal(verdict.refused,
                      "it is judged by 13 folds of whole groups, and its 60 rows are of 12 groups; give more of "
                      "them, or fewer evaluation.folds");
}

/* Copies of rows say nothing new: what helps by less than chance may of so many rows does so of groups of copies of
   them, however many rows there are. */
static void test_gain_of_groups(void **state) {
  enum { GROUPS = 60, EACH = 16 };
  uint32_t group[GROUPS * EACH];
  struct tutti_verdict verdict;
  (void)state;
  put("temperature", TUTTI_TASK_CLASSIFICATION, 3);
  draw_classes(GROUPS, 0.65);
  assert_non_null(strstr(judge(5).refused, "it does not help by more than chance may: nll"));
  copy_rows(GROUPS, EACH, group);
  assert_string_equal(judge(5).refused, "");
  const struct tutti_calibrating of = {.host = world.host,
                                       .seed = 1,
                                       .folds = 5,
                                       .combined = &world.combined,
                                       .targets = &world.targets,
                                       .group = group};
  tutti_calibrator_destroy(world.calibrator);
  must(tutti_calibrate(world.context, &of, &world.calibrator, &verdict));
  assert_non_null(strstr(verdict.refused, "it does not help by more than chance may: nll"));
  assert_true(verdict.after < verdict.before); /* a gain, but one that so few groups may have by chance */
}

/* Intervals that are as good as conformal ones already: without rows of their own these are refused, with such rows
   they are taken for what they promise, and where the ensemble's own cover too much, for that; the verdict says so. */
static void test_promises_are_kept(void **state) {
  enum { ROWS = 200 };
  static double plain[TUTTI_FIXED_LEVELS][ROWS][2];
  const struct tutti_evaluation_options options = TUTTI_EVALUATION_DEFAULTS;
  struct tutti_verdict verdict;
  (void)state;
  put("conformal", TUTTI_TASK_REGRESSION, 1);
  rows(ROWS);
  for (size_t r = 0; r < ROWS; r++) {
    const double moments[TUTTI_COMBINED_PARTS] = {(double)r, 1, 0};
    memcpy(world.values + r * TUTTI_COMBINED_PARTS, moments, sizeof moments);
    world.truths[r] = (double)r + tutti_normal_quantile(((double)r + 0.5) / ROWS);
    for (size_t l = 0; l < TUTTI_FIXED_LEVELS; l++) {
      const double reach = tutti_normal_quantile(0.5 + tutti_level_at(&options, l) / 2);
      plain[l][r][0] = (double)r - reach;
      plain[l][r][1] = (double)r + reach;
    }
  }
  struct tutti_calibrating of = {.host = world.host,
                                 .seed = 1,
                                 .folds = 5,
                                 .combined = &world.combined,
                                 .targets = &world.targets,
                                 .plain = &plain[0][0][0]};
  must(tutti_calibrate(world.context, &of, &world.calibrator, &verdict));
  assert_null(world.calibrator);
  assert_non_null(strstr(verdict.refused, "the ensemble's own intervals cover what they should"));
  of.own_rows = true;
  must(tutti_calibrate(world.context, &of, &world.calibrator, &verdict));
  assert_string_equal(verdict.refused, "");
  assert_string_equal(verdict.taken,
                      "taken for what its intervals cover: the rows that it is fitted to chose nothing, so "
                      "that these hold what they promise");
  assert_non_null(world.calibrator);
  /* Rows of groups are no draws of their own, and few groups promise little. */
  uint32_t group[ROWS];
  for (size_t r = 0; r < ROWS; r++)
    group[r] = (uint32_t)(r % 100); /* one near the middle of the errors, one further out */
  of.group = group;
  tutti_calibrator_destroy(world.calibrator);
  must(tutti_calibrate(world.context, &of, &world.calibrator, &verdict));
  assert_string_equal(verdict.taken,
                      "taken for what its intervals cover: the rows that it is fitted to chose nothing; they are of "
                      "100 groups: the more there are, the better these hold what they promise");
  of.group = NULL;
  of.own_rows = false;
  for (size_t r = 0; r < ROWS; r++) { /* those of 50 % alone */
    plain[0][r][0] = (double)r - 0.9;
    plain[0][r][1] = (double)r + 0.9;
  }
  tutti_calibrator_destroy(world.calibrator);
  must(tutti_calibrate(world.context, &of, &world.calibrator, &verdict));
  assert_string_equal(verdict.refused, "");
  assert_string_equal(verdict.taken,
                      "taken for what its intervals cover: the ensemble's own of 50 % cover 63 % of these rows");
  of.group = group;
  tutti_calibrator_destroy(world.calibrator);
  must(tutti_calibrate(world.context, &of, &world.calibrator, &verdict));
  assert_non_null(strstr(verdict.taken, " % of these rows; the rows are of 100 groups"));
  of.group = NULL;
  for (size_t r = 0; r < ROWS; r++)
    for (size_t l = 0; l < TUTTI_FIXED_LEVELS; l++) {
      plain[l][r][0] -= 2;
      plain[l][r][1] += 2;
    }
  tutti_calibrator_destroy(world.calibrator);
  must(tutti_calibrate(world.context, &of, &world.calibrator, &verdict));
  assert_string_equal(verdict.taken, ""); /* its figures speak for it */
  assert_true(verdict.after < verdict.before);
}

/* An ensemble of two Gaussians with weights .997 and .003, for targets of variance 1. If the second is wide, the
   ensemble's variance is mostly its; a factor that fits the variance makes the first one far too narrow. */
enum { MIXED = 400 };
struct mixed {
  float narrow[2 * MIXED], wide[2 * MIXED], within[MIXED];
  const float *predictions[2], *epistemic[2];
  uint64_t trials[2];
  struct tutti_pool pool;
  tutti_ensemble *ensemble;
  struct tutti_combined combined;
  struct tutti_mixtures mixtures;
};

static void draw_mixed(struct mixed *mixed, float narrow, float wide, float apart, double weight) {
  const struct tutti_evaluation_options options = TUTTI_EVALUATION_DEFAULTS;
  *mixed = (struct mixed){.predictions = {mixed->narrow, mixed->wide}, .trials = {0, 1}};
  mixed->pool = (struct tutti_pool){.size = sizeof mixed->pool,
                                    .kind = TUTTI_TASK_REGRESSION,
                                    .rows = MIXED,
                                    .outputs = 1,
                                    .models = 2,
                                    .trials = mixed->trials,
                                    .predictions = mixed->predictions,
                                    .values = world.truths};
  rows(MIXED);
  for (size_t r = 0; r < MIXED; r++) {
    mixed->narrow[2 * r] = (float)r - apart;
    mixed->wide[2 * r] = (float)r + apart;
    mixed->narrow[2 * r + 1] = narrow;
    mixed->wide[2 * r + 1] = wide;
    world.truths[r] = (double)r + tutti_random_normal(&world.random);
  }
  must(tutti_ensemble_create(world.context, &mixed->ensemble));
  must(tutti_ensemble_add(world.context, mixed->ensemble, 0, 1 - weight));
  must(tutti_ensemble_add(world.context, mixed->ensemble, 1, weight));
  must(tutti_combine(world.context, &mixed->pool, mixed->ensemble, &options, &mixed->combined));
  must(tutti_combine_mixtures(world.context, &mixed->pool, mixed->ensemble, &mixed->mixtures));
  mixed->combined.mixtures = mixed->mixtures.all;
}

static void release_mixed(struct mixed *mixed) {
  tutti_free((double *)(uintptr_t)mixed->combined.values);
  tutti_mixtures_release(&mixed->mixtures);
  tutti_ensemble_destroy(mixed->ensemble);
}

/* The mean NLL of the mixtures with a factor for the variance, by its definition: members that are moved and scaled. */
static double scaled_nll(const struct mixed *mixed, double factor) {
  double sum = 0;
  for (size_t r = 0; r < MIXED; r++) {
    const struct tutti_mixture *plain = &mixed->mixtures.all[r];
    const double mean = plain->weights[0] * plain->means[0] + plain->weights[1] * plain->means[1];
    double means[2], variances[2];
    for (size_t k = 0; k < 2; k++) {
      means[k] = mean + sqrt(factor) * (plain->means[k] - mean);
      variances[k] = factor * plain->variances[k];
    }
    const struct tutti_mixture scaled = {2, plain->weights, means, variances, 0};
    sum += tutti_mixture_nll(&scaled, world.truths[r]);
  }
  return sum / MIXED;
}

static double fitted_factor(const struct mixed *mixed) {
  char *text, *factor;
  must(tutti_calibrator_fit(world.context, world.calibrator, &mixed->combined, &world.targets));
  must(tutti_calibrator_print(world.context, world.calibrator, &text));
  assert_non_null(factor = strstr(text, "\"epistemic_factors\":["));
  const double found = atof(factor + strlen("\"epistemic_factors\":["));
  tutti_free(text);
  apply();
  return found;
}

/* No factor of a fine grid has a lower NLL of the mixtures, whatever the members are like. */
static void test_variance_of_mixtures(void **state) {
  static const float shapes[][3] = {{1, 1e6F, 0}, {16, 16, 0}, {0.05F, 0.2F, 1}, {0.01F, 3, 0.2F}, {4, 1, 5}};
  static struct mixed mixed;
  (void)state;
  put("variance-scaling", TUTTI_TASK_REGRESSION, 1);
  make();
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    draw_mixed(&mixed, shapes[i][0], shapes[i][1], shapes[i][2], i ? 0.3 : 0.003);
    const double factor = fitted_factor(&mixed), nll = scaled_nll(&mixed, factor);
    for (double x = -2; x <= 2; x += 0.01)
      assert_true(nll <= scaled_nll(&mixed, pow(10, x)) + 1e-7);
    assert_true(i != 1 || fabs(factor - 1.0 / 16) < 0.2 / 16); /* one Gaussian, four times too wide */
    release_mixed(&mixed);
  }
}

/* By the moments the factor is mean z^2, as without mixtures. */
static void test_variance_of_moments(void **state) {
  static struct mixed mixed;
  double sum = 0;
  (void)state;
  put("variance-scaling", TUTTI_TASK_REGRESSION, 1);
  set("likelihood", "moments");
  make();
  draw_mixed(&mixed, 1, 100, 0, 0.3);
  for (size_t r = 0; r < MIXED; r++)
    sum += pow(world.truths[r] - (double)r, 2) / (0.7 * 1 + 0.3 * 100) / MIXED;
  assert_near(fitted_factor(&mixed), sum, 1e-9);
  release_mixed(&mixed);
}

static struct tutti_verdict judge_mixed(const struct mixed *mixed) {
  const struct tutti_calibrating of = {.host = world.host,
                                       .seed = 1,
                                       .folds = 5,
                                       .combined = &mixed->combined,
                                       .targets = &world.targets,
                                       .parts = mixed->mixtures.parts};
  struct tutti_verdict verdict;
  tutti_calibrator_destroy(world.calibrator);
  must(tutti_calibrate(world.context, &of, &world.calibrator, &verdict));
  assert_int_equal(world.calibrator == NULL, *verdict.refused != '\0');
  return verdict;
}

/* What is judged is the mixture: a factor for moments that one wide member decides is refused, and of the right mixture
   nothing is changed. `before` is the NLL of the plain mixtures. */
static void test_verdict_of_mixtures(void **state) {
  static struct mixed mixed;
  (void)state;
  put("variance-scaling", TUTTI_TASK_REGRESSION, 1);
  set("likelihood", "moments");
  draw_mixed(&mixed, 1, 1e6F, 0, 0.003);
  struct tutti_verdict verdict = judge_mixed(&mixed);
  assert_true(verdict.after > verdict.before + 1);
  assert_non_null(strstr(verdict.refused, "it does not help by more than chance may: nll"));
  assert_near(verdict.before, scaled_nll(&mixed, 1), 1e-12);
  set("likelihood", "mixture");
  verdict = judge_mixed(&mixed);
  assert_near(verdict.after, verdict.before, 0.02);
  release_mixed(&mixed);
  draw_mixed(&mixed, 16, 16, 0, 0.003); /* both are too wide */
  verdict = judge_mixed(&mixed);
  assert_string_equal(verdict.refused, "");
  assert_near(verdict.after, scaled_nll(&mixed, 1.0 / 16), 0.05);
  release_mixed(&mixed);
}

/* Of several targets the NLL is that of the mixture of the members' joint densities, as the metric has it, and not the
   sum of each target's. */
static void test_verdict_of_targets(void **state) {
  enum { ROWS = 300, TARGETS = 2 };
  static float moments[2][ROWS][TARGETS][2];
  const float *const predictions[] = {&moments[0][0][0][0], &moments[1][0][0][0]};
  const struct tutti_evaluation_options options = TUTTI_EVALUATION_DEFAULTS;
  const uint64_t trials[] = {0, 1};
  struct tutti_pool pool = {.size = sizeof pool,
                            .kind = TUTTI_TASK_REGRESSION,
                            .rows = ROWS,
                            .outputs = TARGETS,
                            .models = 2,
                            .trials = trials,
                            .predictions = predictions,
                            .values = world.truths};
  struct mixed mixed = {.mixtures = {.all = NULL}};
  tutti_evaluation *evaluation;
  double apart = 0, together = 0;
  (void)state;
  put("variance-scaling", TUTTI_TASK_REGRESSION, TARGETS);
  rows(ROWS);
  for (size_t r = 0; r < ROWS; r++)
    for (size_t o = 0; o < TARGETS; o++) { /* either member is right in both targets */
      for (size_t k = 0; k < 2; k++) {
        moments[k][r][o][0] = k ? 4 : 0;
        moments[k][r][o][1] = 1;
      }
      world.truths[TARGETS * r + o] = (r % 2 ? 4 : 0) + tutti_random_normal(&world.random);
    }
  must(tutti_ensemble_create(world.context, &mixed.ensemble));
  must(tutti_ensemble_add(world.context, mixed.ensemble, 0, 0.5));
  must(tutti_ensemble_add(world.context, mixed.ensemble, 1, 0.5));
  must(tutti_combine(world.context, &pool, mixed.ensemble, &options, &mixed.combined));
  must(tutti_combine_mixtures(world.context, &pool, mixed.ensemble, &mixed.mixtures));
  mixed.combined.mixtures = mixed.mixtures.all;
  for (size_t i = 0; i < ROWS * TARGETS; i++)
    apart += tutti_mixture_nll(&mixed.mixtures.all[i], world.truths[i]) / ROWS;
  for (size_t r = 0; r < ROWS; r++) {
    double density = 0;
    for (size_t k = 0; k < 2; k++)
      density += 0.5 * exp(-tutti_gaussian_nll(k ? 4 : 0, 1, world.truths[2 * r]) -
                           tutti_gaussian_nll(k ? 4 : 0, 1, world.truths[2 * r + 1]));
    together -= log(density) / ROWS;
  }
  assert_true(apart > together + 0.5);
  must(tutti_evaluate(world.context, &pool, mixed.ensemble, &options, &evaluation));
  assert_near(tutti_evaluation_find(evaluation, "nll")->value, together, 1e-6);
  assert_near(judge_mixed(&mixed).before, together, 1e-6);
  tutti_evaluation_destroy(evaluation);
  release_mixed(&mixed);
}

/* Members that tell their own epistemic variance: the judge scales the parts of their variances apart, as the
   calibrated ensemble has them. Errors here are as large as those variances say, whatever the aleatoric ones are. */
static void test_verdict_of_parts(void **state) {
  static struct mixed mixed;
  const struct tutti_evaluation_options options = TUTTI_EVALUATION_DEFAULTS;
  struct tutti_calibrated calibrated;
  (void)state;
  put("variance-scaling", TUTTI_TASK_REGRESSION, 1);
  set("apart", "yes");
  draw_mixed(&mixed, 16, 9, 0.1F, 0.3);
  release_mixed(&mixed);
  for (size_t r = 0; r < MIXED; r++) {
    mixed.within[r] = r % 2 ? 8.5F : 0.5F;
    world.truths[r] = (double)r + sqrt((double)mixed.within[r]) * tutti_random_normal(&world.random);
  }
  mixed.epistemic[0] = mixed.epistemic[1] = mixed.within;
  mixed.pool.epistemic = mixed.epistemic;
  must(tutti_ensemble_create(world.context, &mixed.ensemble));
  must(tutti_ensemble_add(world.context, mixed.ensemble, 0, 0.7));
  must(tutti_ensemble_add(world.context, mixed.ensemble, 1, 0.3));
  must(tutti_combine(world.context, &mixed.pool, mixed.ensemble, &options, &mixed.combined));
  must(tutti_combine_mixtures(world.context, &mixed.pool, mixed.ensemble, &mixed.mixtures));
  mixed.combined.mixtures = mixed.mixtures.all;
  assert_true(mixed.mixtures.parts);
  struct tutti_verdict verdict = judge_mixed(&mixed);
  assert_string_equal(verdict.refused, "");
  must(tutti_calibrated_make(world.context, world.calibrator, &mixed.pool, mixed.ensemble, &options, &calibrated));
  tutti_evaluation *evaluation;
  must(tutti_evaluate_calibrated(world.context, &calibrated, &options, &evaluation));
  /* That is of the fit to all rows, and the judge's of those to four fifths of them. */
  assert_near(verdict.after, tutti_evaluation_find(evaluation, "nll")->value, 0.02);
  tutti_evaluation_destroy(evaluation);
  tutti_calibrated_release(&calibrated);
  release_mixed(&mixed);
}

/* --- quantiles of mixtures --- */

static double cdf(const struct tutti_mixture *mixture, double x) {
  double sum = 0;
  for (size_t k = 0; k < mixture->members; k++)
    sum += mixture->weights[k] * tutti_normal_cdf((x - mixture->means[k]) / sqrt(mixture->variances[k]));
  return sum;
}

static void test_mixture_quantiles(void **state) {
  (void)state;
  const double one = 1, two = 2, four = 4;
  const struct tutti_mixture single = {1, &one, &two, &four, 0};
  assert_near(tutti_mixture_quantile(&single, 0.975), 2 + 2 * 1.959963984540054, 1e-12);
  for (size_t i = 0; i < 500; i++) {
    double weights[3], means[3], variances[3], sum = 0, p = i % 5 ? uniform() : pow(10, -6 * uniform());
    for (size_t k = 0; k < 3; k++) {
      sum += weights[k] = uniform() + 1e-3;
      means[k] = 10 * tutti_random_normal(&world.random);
      variances[k] = exp(4 * tutti_random_normal(&world.random)); /* modes far apart, with nothing between them */
    }
    for (size_t k = 0; k < 3; k++)
      weights[k] /= sum;
    const struct tutti_mixture mixture = {3, weights, means, variances, 0};
    double quantile = tutti_mixture_quantile(&mixture, p), near = 1e-9 * (1 + fabs(quantile));
    assert_true(cdf(&mixture, quantile - near) <= p && p <= cdf(&mixture, quantile + near));
  }
  const double nan = NAN;
  const struct tutti_mixture torn = {1, &one, &two, &nan, 0};
  assert_true(isnan(tutti_mixture_quantile(&torn, 0.5)));
}

/* By hand: [1, 3] at 80 %: its width, and 10 times the distance of a value outside it. */
static void test_interval_score(void **state) {
  static const double ends[] = {1, 3};
  (void)state;
  assert_near(tutti_interval_score(ends, 0.8, 2), 2, 1e-12);
  assert_near(tutti_interval_score(ends, 0.8, 0.5), 2 + 5, 1e-12);
  assert_near(tutti_interval_score(ends, 0.8, 4), 2 + 10, 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_verdicts),
      TEST(test_verdict_of_mixtures),
      TEST(test_variance_of_mixtures),
      TEST(test_variance_of_moments),
      TEST(test_verdict_of_targets),
      TEST(test_verdict_of_parts),
      TEST(test_folds_of_groups),
      TEST(test_gain_of_groups),
      TEST(test_promises_are_kept),
      TEST(test_mixture_quantiles),
      TEST(test_interval_score),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
