/* test_epistemic.c - what members tell of their own uncertainty: the parts of an ensemble's uncertainty against their
   definitions, that they add up, pools in which only some tell, votes, and pools of older callers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tutti/evaluate.h>

#include "golden.h"
#include "pools.h"

enum { ROWS = 20, OUTPUTS = 2, CLASSES = 3, MEMBERS = 3 };

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

/* A pool of which models tell a share of their variance, or of their entropy; model 1 does not. */
struct telling {
  struct pools_models models;
  float parts[MEMBERS][ROWS * CLASSES];
  const float *epistemic[MEMBERS];
  tutti_ensemble *ensemble;
  double weights[MEMBERS];
};

static void ensemble_of(struct telling *t, size_t members) {
  static const double picks[MEMBERS] = {3, 1, 2};
  double sum = 0;
  assert_int_equal(tutti_ensemble_create(context, &t->ensemble), TUTTI_OK);
  for (size_t k = 0; k < members; k++) {
    assert_int_equal(tutti_ensemble_add(context, t->ensemble, t->models.trials[k], picks[k]), TUTTI_OK);
    sum += picks[k];
  }
  for (size_t k = 0; k < members; k++)
    t->weights[k] = picks[k] / sum;
}

static void tell(struct telling *t, size_t members) {
  for (size_t k = 0; k < members; k++)
    t->epistemic[k] = k == 1 ? NULL : t->parts[k];
  t->models.pool.epistemic = t->epistemic;
  ensemble_of(t, members);
}

static void make_values(struct telling *t, size_t members) {
  struct tutti_random random;
  tutti_random_init(&random, 21, "parts", members);
  pools_random_values(&t->models, &random, members, ROWS, OUTPUTS);
  for (size_t k = 0; k < members; k++)
    for (size_t i = 0; i < ROWS * OUTPUTS; i++)
      t->parts[k][i] = (float)tutti_random_uniform(&random) * t->models.predictions[k][2 * i + 1];
  tell(t, members);
}

static double entropy_of(const float *p) {
  double sum = 0;
  for (size_t c = 0; c < CLASSES; c++)
    sum -= (double)p[c] * log((double)p[c]);
  return sum;
}

static void make_classes(struct telling *t, size_t members) {
  struct tutti_random random;
  tutti_random_init(&random, 22, "parts", members);
  pools_random_classes(&t->models, &random, members, ROWS, CLASSES, 1.5);
  for (size_t k = 0; k < members; k++)
    for (size_t n = 0; n < ROWS; n++)
      t->parts[k][n] = (float)(tutti_random_uniform(&random) * entropy_of(t->models.predictions[k] + n * CLASSES));
  tell(t, members);
}

static void release(struct telling *t) {
  tutti_ensemble_destroy(t->ensemble);
  pools_free(&t->models);
}

static double value_of(const tutti_evaluation *evaluation, const char *name) {
  const struct tutti_metric *metric = tutti_evaluation_find(evaluation, name);
  return metric ? metric->value : (double)NAN;
}

static double square(double x) { return x * x; }

/* aleatoric = sum w (v - e), within = sum w e, between = sum w (m - mean)^2 N / (N - 1); the metrics are their
   means. */
static void test_values(void **state) {
  (void)state;
  struct telling t;
  struct tutti_uncertainty whole[ROWS * OUTPUTS];
  struct tutti_epistemic_parts parts[ROWS * OUTPUTS];
  tutti_evaluation *got;
  double aleatoric = 0, between = 0, within = 0;
  bool told = false;
  make_values(&t, MEMBERS);
  assert_int_equal(tutti_ensemble_predict(context, &t.models.pool, t.ensemble, NULL, whole), TUTTI_OK);
  assert_int_equal(tutti_ensemble_epistemic_parts(context, &t.models.pool, t.ensemble, NULL, parts, &told), TUTTI_OK);
  assert_true(told);
  for (size_t i = 0; i < ROWS * OUTPUTS; i++) {
    double mean = 0, noise = 0, own = 0, spread = 0;
    for (size_t k = 0; k < MEMBERS; k++) {
      const float *moments = t.models.predictions[k] + 2 * i;
      double part = t.epistemic[k] ? (double)t.epistemic[k][i] : 0;
      mean += t.weights[k] * (double)moments[0];
      own += t.weights[k] * part;
      noise += t.weights[k] * ((double)moments[1] - part);
    }
    for (size_t k = 0; k < MEMBERS; k++)
      spread += t.weights[k] * square((double)t.models.predictions[k][2 * i] - mean) * 6 / 5;
    assert_close(square(whole[i].aleatoric), noise, 1e-12, 1e-12);
    assert_close(square(parts[i].within), own, 1e-12, 1e-12);
    assert_close(square(parts[i].between), spread, 1e-12, 1e-12);
    assert_close(square(whole[i].epistemic), own + spread, 1e-12, 0);
    assert_close(square(whole[i].total), noise + own + spread, 1e-12, 0);
    aleatoric += noise / (ROWS * OUTPUTS);
    within += own / (ROWS * OUTPUTS);
    between += spread / (ROWS * OUTPUTS);
  }
  assert_int_equal(tutti_evaluate(context, &t.models.pool, t.ensemble, NULL, &got), TUTTI_OK);
  assert_close(square(value_of(got, "aleatoric")), aleatoric, 1e-12, 0);
  assert_close(square(value_of(got, "epistemic-within")), within, 1e-12, 0);
  assert_close(square(value_of(got, "epistemic-between")), between, 1e-12, 0);
  assert_close(square(value_of(got, "epistemic")), within + between, 1e-12, 0);
  tutti_evaluation_destroy(got);
  release(&t);
}

/* The chain rule of information: of label with member and draw = of label with member + mean of label with draw. */
static void test_classes(void **state) {
  (void)state;
  struct telling t;
  struct tutti_uncertainty whole[ROWS * CLASSES];
  struct tutti_epistemic_parts parts[ROWS * CLASSES];
  tutti_evaluation *got;
  double aleatoric = 0, between = 0, within = 0;
  bool told = false;
  make_classes(&t, MEMBERS);
  assert_int_equal(tutti_ensemble_predict(context, &t.models.pool, t.ensemble, NULL, whole), TUTTI_OK);
  assert_int_equal(tutti_ensemble_epistemic_parts(context, &t.models.pool, t.ensemble, NULL, parts, &told), TUTTI_OK);
  assert_true(told);
  for (size_t n = 0; n < ROWS; n++) {
    double mean[CLASSES] = {0}, expected = 0, own = 0, total = 0;
    for (size_t k = 0; k < MEMBERS; k++) {
      const float *p = t.models.predictions[k] + n * CLASSES;
      for (size_t c = 0; c < CLASSES; c++)
        mean[c] += t.weights[k] * (double)p[c];
      expected += t.weights[k] * entropy_of(p);
      own += t.epistemic[k] ? t.weights[k] * (double)t.epistemic[k][n] : 0;
    }
    for (size_t c = 0; c < CLASSES; c++)
      total -= mean[c] * log(mean[c]);
    for (size_t c = 0; c < CLASSES; c++) {
      const struct tutti_uncertainty *row = &whole[n * CLASSES + c];
      const struct tutti_epistemic_parts *part = &parts[n * CLASSES + c];
      assert_close(row->total, total, 1e-12, 0);
      assert_close(row->aleatoric, expected - own, 1e-12, 1e-12);
      assert_close(part->within, own, 1e-12, 1e-12);
      assert_close(part->between, total - expected, 1e-12, 1e-12);
      assert_close(row->epistemic, part->between + part->within, 1e-12, 0);
      assert_close(row->total, row->aleatoric + row->epistemic, 1e-12, 0);
    }
    aleatoric += (expected - own) / ROWS;
    within += own / ROWS;
    between += (total - expected) / ROWS;
  }
  assert_int_equal(tutti_evaluate(context, &t.models.pool, t.ensemble, NULL, &got), TUTTI_OK);
  assert_close(value_of(got, "expected-entropy"), aleatoric, 1e-12, 0);
  assert_close(value_of(got, "mutual-information-within"), within, 1e-12, 0);
  assert_close(value_of(got, "mutual-information-between"), between, 1e-12, 0);
  assert_close(value_of(got, "mutual-information"), within + between, 1e-12, 0);
  tutti_evaluation_destroy(got);
  /* A vote is of labels: nothing of it is the members' own. */
  tutti_ensemble_combine(t.ensemble, TUTTI_COMBINATION_VOTE);
  assert_int_equal(tutti_ensemble_predict(context, &t.models.pool, t.ensemble, NULL, whole), TUTTI_OK);
  assert_int_equal(tutti_ensemble_epistemic_parts(context, &t.models.pool, t.ensemble, NULL, parts, &told), TUTTI_OK);
  for (size_t i = 0; i < ROWS * CLASSES; i++)
    assert_true(whole[i].aleatoric == 0 && parts[i].within == 0 && parts[i].between == whole[i].epistemic);
  assert_int_equal(tutti_evaluate(context, &t.models.pool, t.ensemble, NULL, &got), TUTTI_OK);
  assert_null(tutti_evaluation_find(got, "mutual-information-within"));
  tutti_evaluation_destroy(got);
  release(&t);
}

/* A pool of one member: nothing is between, and what is not its own is noise. */
static void test_a_single_member(void **state) {
  (void)state;
  struct telling t;
  struct tutti_uncertainty whole[ROWS * CLASSES];
  struct tutti_epistemic_parts parts[ROWS * CLASSES];
  bool told;
  make_values(&t, 1);
  assert_int_equal(tutti_ensemble_predict(context, &t.models.pool, t.ensemble, NULL, whole), TUTTI_OK);
  assert_int_equal(tutti_ensemble_epistemic_parts(context, &t.models.pool, t.ensemble, NULL, parts, &told), TUTTI_OK);
  for (size_t i = 0; i < ROWS * OUTPUTS; i++) {
    assert_true(parts[i].between == 0 && parts[i].within == whole[i].epistemic);
    assert_close(square(whole[i].epistemic), (double)t.parts[0][i], 1e-12, 0);
    assert_close(square(whole[i].total), (double)t.models.values[2 * i + 1], 1e-12, 0);
  }
  /* All of its variance is its own: no noise is left, to the last bit. */
  for (size_t i = 0; i < ROWS * OUTPUTS; i++)
    t.parts[0][i] = t.models.values[2 * i + 1];
  assert_int_equal(tutti_ensemble_predict(context, &t.models.pool, t.ensemble, NULL, whole), TUTTI_OK);
  for (size_t i = 0; i < ROWS * OUTPUTS; i++)
    assert_true(whole[i].aleatoric == 0 && whole[i].epistemic == whole[i].total);
  release(&t);
  make_classes(&t, 1);
  assert_int_equal(tutti_ensemble_epistemic_parts(context, &t.models.pool, t.ensemble, NULL, parts, &told), TUTTI_OK);
  for (size_t n = 0; n < ROWS; n++)
    assert_true(parts[n * CLASSES].between < 1e-15 && parts[n * CLASSES].within == (double)t.parts[0][n]);
  release(&t);
}

/* Nobody tells, or the caller's pool is of a version without parts: everything is between, and no metric is added. */
static void test_nobody_tells(void **state) {
  (void)state;
  for (int older = 0; older < 2; older++) {
    struct telling t;
    struct tutti_uncertainty whole[ROWS * OUTPUTS];
    struct tutti_epistemic_parts parts[ROWS * OUTPUTS];
    tutti_evaluation *got;
    bool told = true;
    make_values(&t, MEMBERS);
    if (older)
      t.models.pool.size = offsetof(struct tutti_pool, epistemic);
    else
      t.epistemic[0] = t.epistemic[2] = NULL;
    assert_int_equal(tutti_ensemble_predict(context, &t.models.pool, t.ensemble, NULL, whole), TUTTI_OK);
    assert_int_equal(tutti_ensemble_epistemic_parts(context, &t.models.pool, t.ensemble, NULL, parts, &told), TUTTI_OK);
    assert_false(told);
    for (size_t i = 0; i < ROWS * OUTPUTS; i++)
      assert_true(parts[i].within == 0 && parts[i].between == whole[i].epistemic);
    assert_int_equal(tutti_evaluate(context, &t.models.pool, t.ensemble, NULL, &got), TUTTI_OK);
    assert_null(tutti_evaluation_find(got, "epistemic-within"));
    assert_null(tutti_evaluation_find(got, "epistemic-between"));
    tutti_evaluation_destroy(got);
    release(&t);
  }
}

/* A member without a variance leaves the epistemic parts known. */
static void test_a_member_without_variance(void **state) {
  (void)state;
  struct telling t;
  struct tutti_uncertainty whole[ROWS * OUTPUTS];
  make_values(&t, MEMBERS);
  for (size_t i = 0; i < ROWS * OUTPUTS; i++)
    t.models.values[2 * (ROWS * OUTPUTS + i) + 1] = NAN;
  assert_int_equal(tutti_ensemble_predict(context, &t.models.pool, t.ensemble, NULL, whole), TUTTI_OK);
  for (size_t i = 0; i < ROWS * OUTPUTS; i++)
    assert_true(isfinite(whole[i].epistemic) && isnan(whole[i].aleatoric) && isnan(whole[i].total));
  release(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_values),
      cmocka_unit_test(test_classes),
      cmocka_unit_test(test_a_single_member),
      cmocka_unit_test(test_nobody_tells),
      cmocka_unit_test(test_a_member_without_variance),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
