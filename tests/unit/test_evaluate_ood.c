/* test_evaluate_ood.c - how well the doubts of an ensemble tell rows of another distribution, against all pairs, one by
   one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tutti/evaluate.h>

#include "golden.h"
#include "pools.h"

static tutti_context *context;

static int setup(void **state) {
  (void)state;
  return tutti_context_create(&context) != TUTTI_OK;
}

static int teardown(void **state) {
  (void)state;
  tutti_context_destroy(context);
  return 0;
}

/* --- out of distribution --- */

static double entropy_of(const double *p, size_t classes) {
  double sum = 0;
  for (size_t c = 0; c < classes; c++)
    sum -= p[c] > 0 ? p[c] * log(p[c]) : 0;
  return sum;
}

/* Entropy, mutual information and 1 - max p of an equal mixture, written down anew. */
static void doubts_of(const struct pools_models *models, size_t row, double doubts[3]) {
  size_t classes = models->pool.outputs, members = models->pool.models;
  double mean[8] = {0}, expected = 0, most = 0, one[8];
  for (size_t k = 0; k < members; k++) {
    for (size_t c = 0; c < classes; c++) {
      one[c] = (double)models->predictions[k][row * classes + c];
      mean[c] += one[c] / (double)members;
    }
    expected += entropy_of(one, classes) / (double)members;
  }
  for (size_t c = 0; c < classes; c++)
    most = fmax(most, mean[c]);
  doubts[0] = entropy_of(mean, classes);
  doubts[1] = fmax(doubts[0] - expected, 0);
  doubts[2] = 1 - most;
}

/* All pairs, one by one. */
static double pairs_in_order(const struct pools_models *in, const struct pools_models *out, int doubt) {
  double sum = 0, a[3], b[3];
  for (size_t i = 0; i < in->pool.rows; i++)
    for (size_t o = 0; o < out->pool.rows; o++) {
      doubts_of(in, i, a);
      doubts_of(out, o, b);
      sum += b[doubt] > a[doubt] ? 1 : b[doubt] == a[doubt] ? 0.5 : 0;
    }
  return sum / (double)(in->pool.rows * out->pool.rows);
}

static void test_out_of_distribution(void **state) {
  (void)state;
  static const char *const names[] = {"auroc-entropy", "auroc-mutual-information", "auroc-confidence"};
  struct pools_models in = {0}, out = {0};
  struct tutti_random random;
  tutti_evaluation *got;
  double means[3] = {0}, doubts[3];
  tutti_random_init(&random, 8, "ood", 0);
  pools_random_classes(&in, &random, 3, 90, 4, 2.5);
  pools_random_classes(&out, &random, 3, 70, 4, 1);
  tutti_ensemble *ensemble = pools_equal_members(context, &in);
  assert_int_equal(tutti_evaluate_ood(context, &in.pool, &out.pool, ensemble, &got), TUTTI_OK);
  for (int d = 0; d < 3; d++)
    assert_close(pools_value(got, names[d]), pairs_in_order(&in, &out, d), 1e-12, 0);
  assert_true(pools_value(got, "auroc-entropy") > 0.6); /* they are less sharp */
  for (size_t r = 0; r < 70; r++) {
    doubts_of(&out, r, doubts);
    for (int d = 0; d < 3; d++)
      means[d] += doubts[d] / 70;
  }
  assert_close(pools_value(got, "entropy"), means[0], 1e-12, 0);
  assert_close(pools_value(got, "mutual-information"), means[1], 1e-12, 1e-14);
  assert_close(pools_value(got, "confidence"), 1 - means[2], 1e-12, 0);
  tutti_evaluation_destroy(got);
  /* the same rows on both sides cannot be told apart; what is not known gives nothing known */
  assert_int_equal(tutti_evaluate_ood(context, &in.pool, &in.pool, ensemble, &got), TUTTI_OK);
  assert_close(pools_value(got, "auroc-entropy"), 0.5, 1e-12, 0);
  tutti_evaluation_destroy(got);
  out.values[5] = NAN;
  assert_int_equal(tutti_evaluate_ood(context, &in.pool, &out.pool, ensemble, &got), TUTTI_OK);
  assert_true(isnan(pools_value(got, "auroc-entropy")));
  tutti_evaluation_destroy(got);
  out.pool.rows = 0;
  assert_int_equal(tutti_evaluate_ood(context, &in.pool, &out.pool, ensemble, &got), TUTTI_ERROR_USAGE);
  out.pool.rows = 70;
  tutti_ensemble_destroy(ensemble);
  pools_free(&in);
  pools_free(&out);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_out_of_distribution),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
