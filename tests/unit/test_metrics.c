/* test_metrics.c - losses, moments and scores against golden numbers, closed forms and quadrature. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tutti/mixture.h>

#include "golden.h"

/* Predictions are stored in float32, golden numbers in float64: rounding an input by 2^-24 moves a mean loss by about
   as much, relatively, times the loss's condition (below 10 for these). */
static const double FLOAT32 = 1e-6;

static void test_classification_golden(void **state) {
  (void)state;
  json_t *root = golden_load("metrics"), *golden = golden_get(root, "classification");
  size_t rows;
  int32_t *labels = golden_integers(golden_get(golden, "y"), &rows);
  json_t *models = golden_get(golden, "probs[model][sample][class]");
  for (size_t k = 0; k < json_array_size(models); k++) {
    size_t count;
    float *values = golden_floats(golden_at(models, k), &count);
    size_t classes = count / rows;
    struct tutti_predictions predictions = {sizeof predictions, TUTTI_TASK_CLASSIFICATION, rows, classes, values};
    struct tutti_targets targets = {sizeof targets, TUTTI_TASK_CLASSIFICATION, rows, classes, NULL, labels};
    json_t *expected = golden_at(golden_get(golden, "per_model"), k);
    assert_close(tutti_loss_of(TUTTI_LOSS_NLL, &predictions, &targets), golden_number_of(expected, "nll"), FLOAT32, 0);
    assert_close(tutti_loss_of(TUTTI_LOSS_ERROR, &predictions, &targets), golden_number_of(expected, "error"), 1e-15,
                 0);
    assert_close(tutti_loss_of(TUTTI_LOSS_BRIER, &predictions, &targets), golden_number_of(expected, "brier_sum"),
                 FLOAT32, 0);
    free(values);
  }
  free(labels);
  json_decref(root);
}

static void test_regression_golden(void **state) {
  (void)state;
  json_t *root = golden_load("metrics"), *golden = golden_get(root, "regression");
  size_t rows, count;
  double *y = golden_doubles(golden_get(golden, "y"), &rows);
  double *mu = golden_doubles(golden_get(golden, "mu[model][sample]"), &count);
  double *var = golden_doubles(golden_get(golden, "var[model][sample]"), NULL);
  double *mean = golden_doubles(golden_get(golden, "mixture_mean"), NULL);
  double *aleatoric = golden_doubles(golden_get(golden, "aleatoric=mean var"), NULL);
  double *unbiased = golden_doubles(golden_get(golden, "epistemic_ddof1(1/(K-1))"), NULL);
  double *population = golden_doubles(golden_get(golden, "epistemic_ddof0(1/K)"), NULL);
  double *total = golden_doubles(golden_get(golden, "total_var_ddof1"), NULL);
  double *crps = golden_doubles(golden_get(golden, "crps_gaussian_per_sample_ddof1"), NULL);
  size_t members = count / rows;
  assert_int_equal(members, 5);
  double mixture_nll = 0, moments_nll = 0, mixture_crps = 0, base_nll = 0;
  for (size_t n = 0; n < rows; n++) {
    double weights[5], means[5], variances[5];
    for (size_t k = 0; k < members; k++) {
      weights[k] = 0.2;
      means[k] = mu[k * rows + n];
      variances[k] = var[k * rows + n];
      base_nll += tutti_gaussian_nll(means[k], variances[k], y[n]) / (double)(members * rows);
    }
    struct tutti_mixture mixture = {members, weights, means, variances, members};
    struct tutti_moments one = tutti_mixture_moments(&mixture, TUTTI_EPISTEMIC_UNBIASED);
    struct tutti_moments zero = tutti_mixture_moments(&mixture, TUTTI_EPISTEMIC_POPULATION);
    assert_close(one.mean, mean[n], 1e-12, 1e-14);
    assert_close(one.aleatoric, aleatoric[n], 1e-12, 0);
    assert_close(one.epistemic, unbiased[n], 1e-12, 0);
    assert_close(one.variance, total[n], 1e-12, 0);
    assert_close(zero.epistemic, population[n], 1e-12, 0);
    assert_close(tutti_gaussian_crps(one.mean, one.variance, y[n]), crps[n], 1e-11, 0);
    mixture_nll += tutti_mixture_nll(&mixture, y[n]) / (double)rows;
    moments_nll += tutti_gaussian_nll(one.mean, one.variance, y[n]) / (double)rows;
    mixture_crps += tutti_mixture_crps(&mixture, y[n]) / (double)rows;
  }
  assert_close(mixture_nll, golden_number_of(golden, "nll_mean_exact_mixture"), 1e-12, 0);
  assert_close(moments_nll, golden_number_of(golden, "nll_mean_moment_matched_ddof1"), 1e-12, 0);
  assert_close(mixture_crps, golden_number_of(golden, "crps_exact_mixture_mean"), 1e-12, 0);
  assert_close(base_nll, golden_number_of(golden, "average_base_learner_nll"), 1e-12, 0);
  free(y), free(mu), free(var), free(mean), free(aleatoric), free(unbiased), free(population), free(total), free(crps);
  json_decref(root);
}

static void test_gaussian_nll_golden(void **state) {
  (void)state;
  json_t *root = golden_load("gaussian_nll"), *heads = golden_get(root, "heads");
  size_t rows;
  double *mu = golden_doubles(golden_get(heads, "mu"), &rows);
  double *y = golden_doubles(golden_get(heads, "y"), NULL);
  double *variance = golden_doubles(golden_get(heads, "var=softplus(s)+1e-6"), NULL);
  double *nll = golden_doubles(golden_get(heads, "nll_per_sample"), NULL);
  double sum = 0;
  for (size_t n = 0; n < rows; n++) {
    assert_close(tutti_gaussian_nll(mu[n], variance[n], y[n]), nll[n], 1e-12, 0);
    sum += tutti_gaussian_nll(mu[n], variance[n], y[n]);
  }
  assert_close(sum / (double)rows, golden_number_of(heads, "mean_nll"), 1e-12, 0);
  free(mu), free(y), free(variance), free(nll);
  json_decref(root);
}

/* Two outputs: NLLs add up (the joint likelihood of a row), squared errors are averaged. */
static void test_several_outputs(void **state) {
  (void)state;
  const float values[] = {1, 4, 2, 1, /* row 1 */ 0, 1, 5, 0.25f};
  const double y[] = {2, 2, 1, 4};
  struct tutti_predictions predictions = {sizeof predictions, TUTTI_TASK_REGRESSION, 2, 2, values};
  struct tutti_targets targets = {sizeof targets, TUTTI_TASK_REGRESSION, 2, 2, y, NULL};
  double expected = 0;
  for (int i = 0; i < 4; i++)
    expected += tutti_gaussian_nll((double)values[2 * i], (double)values[2 * i + 1], y[i]) / 2;
  assert_close(tutti_loss_of(TUTTI_LOSS_NLL, &predictions, &targets), expected, 1e-14, 0);
  assert_close(tutti_loss_of(TUTTI_LOSS_MSE, &predictions, &targets), 3.0 / 4, 1e-15, 0);
  assert_close(tutti_loss_of(TUTTI_LOSS_RMSE, &predictions, &targets), sqrt(0.75), 1e-15, 0);
}

static void test_undefined_is_nan(void **state) {
  (void)state;
  const float values[] = {0.5f, 0.5f};
  const double y = 1;
  const int32_t label = 1;
  struct tutti_predictions classes = {sizeof classes, TUTTI_TASK_CLASSIFICATION, 1, 2, values};
  struct tutti_predictions regression = {sizeof regression, TUTTI_TASK_REGRESSION, 1, 1, values};
  struct tutti_targets labels = {sizeof labels, TUTTI_TASK_CLASSIFICATION, 1, 2, NULL, &label};
  struct tutti_targets numbers = {sizeof numbers, TUTTI_TASK_REGRESSION, 1, 1, &y, NULL};
  assert_true(isnan(tutti_loss_of(TUTTI_LOSS_MSE, &classes, &labels)));
  assert_true(isnan(tutti_loss_of(TUTTI_LOSS_VALUE, &classes, &labels)));
  assert_true(isnan(tutti_loss_of(TUTTI_LOSS_ERROR, &regression, &numbers)));
  assert_true(isnan(tutti_loss_of(TUTTI_LOSS_NLL, &classes, &numbers)));
  struct tutti_targets none = {sizeof none, TUTTI_TASK_CLASSIFICATION, 1, 2, NULL, NULL};
  assert_true(isnan(tutti_loss_of(TUTTI_LOSS_NLL, &classes, &none)));
  struct tutti_targets longer = labels;
  longer.rows = 2;
  assert_true(isnan(tutti_loss_of(TUTTI_LOSS_NLL, &classes, &longer)));
  struct tutti_targets wider = labels;
  wider.outputs = 3;
  assert_true(isnan(tutti_loss_of(TUTTI_LOSS_NLL, &classes, &wider)));
  classes.rows = labels.rows = 0;
  assert_true(isnan(tutti_loss_of(TUTTI_LOSS_NLL, &classes, &labels)));
}

/* NaN predictions never look like a loss. */
static void test_nan_predictions(void **state) {
  (void)state;
  const int32_t label = 0;
  const double y = 1;
  struct tutti_targets labels = {sizeof labels, TUTTI_TASK_CLASSIFICATION, 1, 2, NULL, &label};
  struct tutti_targets numbers = {sizeof numbers, TUTTI_TASK_REGRESSION, 1, 1, &y, NULL};
  const float broken[] = {NAN, NAN}, no_variance[] = {1.5f, NAN};
  struct tutti_predictions classes = {sizeof classes, TUTTI_TASK_CLASSIFICATION, 1, 2, broken};
  assert_true(isnan(tutti_loss_of(TUTTI_LOSS_NLL, &classes, &labels)));
  assert_true(isnan(tutti_loss_of(TUTTI_LOSS_ERROR, &classes, &labels)));
  assert_true(isnan(tutti_loss_of(TUTTI_LOSS_BRIER, &classes, &labels)));
  struct tutti_predictions values = {sizeof values, TUTTI_TASK_REGRESSION, 1, 1, no_variance};
  assert_true(isnan(tutti_loss_of(TUTTI_LOSS_NLL, &values, &numbers)));
  assert_close(tutti_loss_of(TUTTI_LOSS_MSE, &values, &numbers), 0.25, 1e-15, 0);
}

static void test_clipping(void **state) {
  (void)state;
  assert_close(tutti_probability_nll(0), -log((double)FLT_MIN), 1e-15, 0);
  assert_close(tutti_probability_nll(1e-30), 30 * log(10.0), 1e-15, 0);
  assert_true(tutti_probability_nll(1) == 0);
  assert_true(isnan(tutti_probability_nll(NAN)));
  assert_true(isfinite(tutti_gaussian_nll(0, 0, 1)));
  assert_close(tutti_gaussian_nll(0, 0, 0), tutti_gaussian_nll(0, (double)FLT_MIN, 0), 1e-15, 0);
}

static void test_labels(void **state) {
  (void)state;
  const double tie[] = {0.2, 0.4, 0.4}, unknown[] = {0.9, NAN, 0.1};
  assert_int_equal(tutti_label_of(3, tie), 1);
  assert_int_equal(tutti_label_of(3, unknown), 3);
  const float equal[] = {0.5f, 0.5f};
  const int32_t zero = 0, one = 1;
  struct tutti_predictions predictions = {sizeof predictions, TUTTI_TASK_CLASSIFICATION, 1, 2, equal};
  struct tutti_targets right = {sizeof right, TUTTI_TASK_CLASSIFICATION, 1, 2, NULL, &zero};
  struct tutti_targets wrong = {sizeof wrong, TUTTI_TASK_CLASSIFICATION, 1, 2, NULL, &one};
  assert_true(tutti_loss_of(TUTTI_LOSS_ERROR, &predictions, &right) == 0);
  assert_true(tutti_loss_of(TUTTI_LOSS_ERROR, &predictions, &wrong) == 1);
}

static void test_entropy(void **state) {
  (void)state;
  const double uniform[] = {0.25, 0.25, 0.25, 0.25}, certain[] = {0, 1, 0};
  assert_close(tutti_entropy(4, uniform), log(4.0), 1e-15, 0);
  assert_true(tutti_entropy(3, certain) == 0);
}

static void test_normal(void **state) {
  (void)state;
  /* Textbook quantiles, and the inverse over 600 decades of tail. */
  assert_close(tutti_normal_quantile(0.975), 1.9599639845400545, 1e-14, 0);
  assert_close(tutti_normal_quantile(0.0013498980316300933), -3, 1e-13, 0);
  assert_true(tutti_normal_quantile(0.5) == 0);
  assert_true(tutti_normal_quantile(0) == -INFINITY && tutti_normal_quantile(1) == INFINITY);
  assert_true(isnan(tutti_normal_quantile(-0.1)) && isnan(tutti_normal_quantile(NAN)));
  for (double z = -36; z < 6; z += 0.37)
    assert_close(tutti_normal_quantile(tutti_normal_cdf(z)), z, 1e-8, 0);
}

/* Weighted moments: a member of weight 2/4 is one counted twice, and with equal weights the unbiased variance is the
   sample's. */
static void test_weights(void **state) {
  (void)state;
  const double twice[] = {0.25, 0.25, 0.25, 0.25}, m4[] = {1, 1, 3, 7}, v4[] = {1, 1, 2, 4};
  const double once[] = {0.5, 0.25, 0.25}, m3[] = {1, 3, 7}, v3[] = {1, 2, 4};
  struct tutti_mixture four = {4, twice, m4, v4, 4}, three = {3, once, m3, v3, 4};
  struct tutti_moments a = tutti_mixture_moments(&four, TUTTI_EPISTEMIC_POPULATION);
  struct tutti_moments b = tutti_mixture_moments(&three, TUTTI_EPISTEMIC_POPULATION);
  assert_close(b.mean, a.mean, 1e-15, 0);
  assert_close(b.aleatoric, a.aleatoric, 1e-15, 0);
  assert_close(b.epistemic, a.epistemic, 1e-15, 0);
  assert_close(tutti_mixture_nll(&three, 2), tutti_mixture_nll(&four, 2), 1e-14, 0);
  assert_close(tutti_mixture_crps(&three, 2), tutti_mixture_crps(&four, 2), 1e-14, 0);
  /* Sum of squares 0.375: 6 / 0.625. */
  assert_close(tutti_mixture_moments(&three, TUTTI_EPISTEMIC_UNBIASED).epistemic, b.epistemic / 0.625, 1e-15, 0);
  /* The sample variance of 1, 1, 3, 7 is 24 / 3. Weights that count nothing have no such sample. */
  assert_close(tutti_mixture_moments(&four, TUTTI_EPISTEMIC_PICKS).epistemic, 8, 1e-15, 0);
  assert_close(tutti_mixture_moments(&three, TUTTI_EPISTEMIC_PICKS).epistemic, 8, 1e-15, 0);
  three.picks = 0;
  assert_close(tutti_mixture_moments(&three, TUTTI_EPISTEMIC_PICKS).epistemic, b.epistemic / 0.625, 1e-15, 0);
  three.picks = 4;
  const double one = 1;
  struct tutti_mixture single = {1, &one, m3 + 1, v3 + 1, 1};
  assert_true(tutti_mixture_moments(&single, TUTTI_EPISTEMIC_UNBIASED).epistemic == 0);
  assert_close(tutti_mixture_nll(&single, 2), tutti_gaussian_nll(3, 2, 2), 1e-15, 0);
}

/* Far from every member each density underflows; the mixture's logarithm does not. */
static void test_far_value(void **state) {
  (void)state;
  const double weights[] = {0.3, 0.7}, means[] = {0, 1}, variances[] = {1, 1}, unknown[] = {1, NAN};
  struct tutti_mixture mixture = {2, weights, means, variances, 0};
  assert_close(tutti_mixture_nll(&mixture, 100), tutti_gaussian_nll(1, 1, 100) - log(0.7), 1e-12, 0);
  assert_true(tutti_mixture_nll(&mixture, INFINITY) == INFINITY);
  mixture.variances = unknown;
  assert_true(isnan(tutti_mixture_nll(&mixture, 0)));
  assert_true(isnan(tutti_mixture_crps(&mixture, 0)));
  assert_true(isnan(tutti_mixture_moments(&mixture, TUTTI_EPISTEMIC_UNBIASED).aleatoric));
  assert_true(isfinite(tutti_mixture_moments(&mixture, TUTTI_EPISTEMIC_UNBIASED).epistemic));
}

/* CRPS by its definition: the integral of (F(x) - [x >= y])^2, midpoint rule. */
static void test_crps_by_quadrature(void **state) {
  (void)state;
  const double weights[] = {0.5, 0.3, 0.2}, means[] = {-1, 0.5, 2}, variances[] = {0.25, 1, 0.04}, y = 0.8;
  struct tutti_mixture mixture = {3, weights, means, variances, 0};
  double sum = 0, width = 1e-3;
  for (int i = -12000; i < 12000; i++) {
    double x = y + (i + 0.5) * width, cdf = 0;
    for (int k = 0; k < 3; k++)
      cdf += weights[k] * tutti_normal_cdf((x - means[k]) / sqrt(variances[k]));
    double difference = cdf - (x >= y);
    sum += difference * difference * width;
  }
  assert_close(tutti_mixture_crps(&mixture, y), sum, 1e-6, 0);
}

static void test_names(void **state) {
  (void)state;
  const char *const *names = tutti_loss_names();
  const char *expected[] = {"nll", "error", "brier", "mse", "rmse", "value"};
  for (int i = 0; i < TUTTI_LOSS_COUNT; i++)
    assert_string_equal(names[i], expected[i]);
  assert_null(names[TUTTI_LOSS_COUNT]);
  const char *const choices[] = {TUTTI_LOSS_CHOICES};
  enum tutti_loss loss = TUTTI_LOSS_COUNT;
  assert_string_equal(choices[0], "auto");
  assert_false(tutti_loss_parse("auto", &loss));
  assert_int_equal(loss, TUTTI_LOSS_COUNT);
  for (size_t i = 1; choices[i]; i++) {
    assert_true(tutti_loss_parse(choices[i], &loss));
    assert_string_equal(names[loss], choices[i]);
  }
  assert_int_equal(tutti_predictions_width(TUTTI_TASK_REGRESSION, 3), 6);
  assert_int_equal(tutti_predictions_width(TUTTI_TASK_CLASSIFICATION, 3), 3);
}

/* Whose entry in the table was forgotten is defined nowhere. */
static void test_where_losses_are_defined(void **state) {
  (void)state;
  const struct tutti_task value = {.size = sizeof value, .kind = TUTTI_TASK_VALUE};
  const struct tutti_task classes = {.size = sizeof classes, .kind = TUTTI_TASK_CLASSIFICATION};
  const struct tutti_task gaussian = {.size = sizeof gaussian, .head = TUTTI_OP_HEAD_GAUSSIAN};
  const struct tutti_task linear = {.size = sizeof linear, .head = TUTTI_OP_HEAD_LINEAR};
  static const char *const where[] = {"cg", "c", "c", "gl", "gl", "v"};
  assert_int_equal(sizeof where / sizeof where[0], TUTTI_LOSS_COUNT);
  for (int i = 0; i < TUTTI_LOSS_COUNT; i++) {
    enum tutti_loss loss = (enum tutti_loss)i;
    assert_int_equal(tutti_loss_fits(loss, &value), strchr(where[i], 'v') != NULL);
    assert_int_equal(tutti_loss_fits(loss, &classes), strchr(where[i], 'c') != NULL);
    assert_int_equal(tutti_loss_fits(loss, &gaussian), strchr(where[i], 'g') != NULL);
    assert_int_equal(tutti_loss_fits(loss, &linear), strchr(where[i], 'l') != NULL);
    assert_int_equal(tutti_loss_applies(loss, TUTTI_TASK_REGRESSION), strchr(where[i], 'g') != NULL);
  }
  assert_false(tutti_loss_applies(TUTTI_LOSS_COUNT, TUTTI_TASK_REGRESSION));
  assert_int_equal(tutti_loss_natural(&value), TUTTI_LOSS_VALUE);
  assert_int_equal(tutti_loss_natural(&classes), TUTTI_LOSS_NLL);
  assert_int_equal(tutti_loss_natural(&gaussian), TUTTI_LOSS_NLL);
  assert_int_equal(tutti_loss_natural(&linear), TUTTI_LOSS_MSE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_classification_golden),
      cmocka_unit_test(test_where_losses_are_defined),
      cmocka_unit_test(test_regression_golden),
      cmocka_unit_test(test_gaussian_nll_golden),
      cmocka_unit_test(test_several_outputs),
      cmocka_unit_test(test_undefined_is_nan),
      cmocka_unit_test(test_nan_predictions),
      cmocka_unit_test(test_clipping),
      cmocka_unit_test(test_labels),
      cmocka_unit_test(test_entropy),
      cmocka_unit_test(test_normal),
      cmocka_unit_test(test_weights),
      cmocka_unit_test(test_far_value),
      cmocka_unit_test(test_crps_by_quadrature),
      cmocka_unit_test(test_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
