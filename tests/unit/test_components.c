/* Acquisitions over a mixture of models, fantasies and drawn functions: what core makes of surrogate gp, and of a
   surrogate without any of it. */
#include "golden.h"
#include "toy.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>
#include <tutti/acquisition.h>

enum { SEEN = 9, PROBES = 6, DIMENSION = 2, MOST = 40 };

struct subject {
  struct toy toy;
  tutti_surrogate *surrogate;
  double x[(SEEN + PROBES) * DIMENSION], y[SEEN];
  struct tutti_points seen, probes;
};

static void open_subject(struct subject *subject, const char *surrogate) {
  struct tutti_random random;
  struct tutti_surrogate_setup setup = {.size = sizeof(setup), .seed = 1, .dimension = DIMENSION};
  toy_create(&subject->toy, 1, 1, 1, NULL);
  toy_put(&subject->toy, "surrogate", TUTTI_KIND_SURROGATE, surrogate);
  if (strcmp(surrogate, "gp") == 0) {
    toy_set(&subject->toy, "surrogate", "inference", "sampling");
    toy_set(&subject->toy, "surrogate", "samples", "4");
    toy_set(&subject->toy, "surrogate", "burn_in", "10");
  }
  setup.host = subject->toy.host;
  TOY_OK(&subject->toy,
         tutti_surrogate_create(subject->toy.context, setup.host, "surrogate", &setup, &subject->surrogate));
  tutti_random_init(&random, 1, "points", 0);
  for (size_t i = 0; i < (SEEN + PROBES) * DIMENSION; i++)
    subject->x[i] = tutti_random_uniform(&random);
  for (size_t i = 0; i < SEEN; i++)
    subject->y[i] = sin(6 * subject->x[2 * i]) + subject->x[2 * i + 1];
  subject->seen = (struct tutti_points){sizeof(subject->seen), SEEN, DIMENSION, subject->x, NULL};
  subject->probes =
      (struct tutti_points){sizeof(subject->probes), PROBES, DIMENSION, subject->x + SEEN * DIMENSION, NULL};
  TOY_OK(&subject->toy,
         tutti_surrogate_fit(subject->toy.context, subject->surrogate, &subject->seen, subject->y, NULL));
}

static tutti_acquisition *seeded_acquisition_of(struct subject *subject, const char *plugin, bool logs, uint64_t seed) {
  struct tutti_acquisition_setup setup = {.size = sizeof(setup), .host = subject->toy.host, .seed = seed};
  tutti_acquisition *acquisition;
  toy_put(&subject->toy, "acquisition", TUTTI_KIND_ACQUISITION, plugin);
  if (strcmp(plugin, "ei") == 0)
    toy_set(&subject->toy, "acquisition", "log", logs ? "yes" : "no");
  TOY_OK(&subject->toy,
         tutti_acquisition_create(subject->toy.context, setup.host, "acquisition", &setup, &acquisition));
  return acquisition;
}

static tutti_acquisition *acquisition_of(struct subject *subject, const char *plugin, bool logs) {
  return seeded_acquisition_of(subject, plugin, logs, 1);
}

static void close_subject(struct subject *subject) {
  tutti_surrogate_destroy(subject->surrogate);
  toy_destroy(&subject->toy);
}

/* EI averaged by hand over the components, in logarithms or not; its gradient against differences. */
static void check_average(struct subject *subject, bool logs) {
  tutti_context *context = subject->toy.context;
  struct tutti_standing standing = {.size = sizeof(standing), .best = -0.2};
  tutti_acquisition *plain = acquisition_of(subject, "ei", false), *acquisition = acquisition_of(subject, "ei", logs);
  size_t components = tutti_surrogate_components(subject->surrogate);
  double mean[MOST * PROBES], deviation[MOST * PROBES], least[MOST], worth[PROBES], at[PROBES], expected[PROBES] = {0};
  assert_true(components > 1 && components <= MOST);
  TOY_OK(&subject->toy,
         tutti_surrogate_predict_components(context, subject->surrogate, &subject->probes, mean, deviation));
  tutti_surrogate_least(subject->surrogate, least);
  for (size_t c = 0; c < components; c++) {
    struct tutti_standing its = {.size = sizeof(its), .best = fmin(standing.best, least[c])};
    TOY_OK(&subject->toy, tutti_acquisition_moments(context, plain, &its, PROBES, mean + c * PROBES,
                                                    deviation + c * PROBES, at, NULL, NULL));
    for (size_t i = 0; i < PROBES; i++)
      expected[i] += at[i] / (double)components;
  }
  TOY_OK(&subject->toy,
         tutti_acquisition_evaluate(context, acquisition, &standing, subject->surrogate, &subject->probes, worth));
  for (size_t i = 0; i < PROBES; i++)
    assert_close(worth[i], logs ? log(expected[i]) : expected[i], 1e-10, 1e-12);
  assert_true(tutti_acquisition_has_gradient(acquisition, subject->surrogate));
  for (size_t i = 0; i < PROBES; i++) {
    double gradient[DIMENSION], value, sides[2 * DIMENSION], both[2], h = 1e-5;
    const double *point = subject->probes.vectors + i * DIMENSION;
    TOY_OK(&subject->toy, tutti_acquisition_gradient(context, acquisition, &standing, subject->surrogate, DIMENSION,
                                                     point, &value, gradient));
    assert_close(value, worth[i], 1e-9, 1e-12);
    for (size_t k = 0; k < DIMENSION; k++) {
      struct tutti_points pair = {sizeof(pair), 2, DIMENSION, sides, NULL};
      memcpy(sides, point, DIMENSION * sizeof(double));
      memcpy(sides + DIMENSION, point, DIMENSION * sizeof(double));
      sides[k] += h, sides[DIMENSION + k] -= h;
      TOY_OK(&subject->toy,
             tutti_acquisition_evaluate(context, acquisition, &standing, subject->surrogate, &pair, both));
      assert_close(gradient[k], (both[0] - both[1]) / (2 * h), 1e-4, 1e-6);
    }
  }
  tutti_acquisition_destroy(plain);
  tutti_acquisition_destroy(acquisition);
}

static void test_averages(void **state) {
  (void)state;
  for (int logs = 0; logs < 2; logs++) {
    struct subject subject;
    struct tutti_random random;
    open_subject(&subject, "gp");
    assert_int_equal(tutti_surrogate_components(subject.surrogate), 4);
    check_average(&subject, logs);
    struct tutti_points pending = subject.probes;
    pending.count = 2;
    tutti_random_init(&random, 1, "fantasies", 0);
    assert_true(tutti_surrogate_has_fantasies(subject.surrogate));
    TOY_OK(&subject.toy, tutti_surrogate_fantasise(subject.toy.context, subject.surrogate, &pending, &random, 7));
    assert_int_equal(tutti_surrogate_components(subject.surrogate), 28);
    check_average(&subject, logs);
    tutti_surrogate_release(subject.surrogate);
    assert_int_equal(tutti_surrogate_components(subject.surrogate), 4);
    close_subject(&subject);
  }
}

/* A proposal has one draw, which neither the next one nor another run's has; batches do not matter; with gp there are
   gradients, without op realise there are none. */
static void test_thompson(void **state) {
  static const char *const surrogates[] = {"gp", "random-forest"};
  (void)state;
  for (int which = 0; which < 2; which++) {
    struct subject subject;
    open_subject(&subject, surrogates[which]);
    tutti_context *context = subject.toy.context;
    tutti_acquisition *thompson = acquisition_of(&subject, "thompson", false);
    struct tutti_standing standing = {.size = sizeof(standing), .best = 0, .step = 3};
    double first[PROBES], one, next[PROBES], mean[PROBES], deviation[PROBES], sum = 0;
    TOY_OK(&subject.toy, tutti_surrogate_predict(context, subject.surrogate, &subject.probes, mean, deviation));
    TOY_OK(&subject.toy, tutti_acquisition_prepare(context, thompson, &standing, subject.surrogate));
    TOY_OK(&subject.toy,
           tutti_acquisition_evaluate(context, thompson, &standing, subject.surrogate, &subject.probes, first));
    for (size_t i = 0; i < PROBES; i++) {
      struct tutti_points alone = {sizeof(alone), 1, DIMENSION, subject.probes.vectors + i * DIMENSION, NULL};
      TOY_OK(&subject.toy, tutti_acquisition_evaluate(context, thompson, &standing, subject.surrogate, &alone, &one));
      assert_true(one == first[i]);
      sum += (-first[i] - mean[i]) * (-first[i] - mean[i]) / (deviation[i] * deviation[i] + 1e-6);
    }
    assert_true(sum > 0 && sum < 40 * PROBES);
    assert_true(tutti_acquisition_has_gradient(thompson, subject.surrogate) == (which == 0));
    tutti_surrogate_release(subject.surrogate);
    standing.step = 4;
    TOY_OK(&subject.toy, tutti_acquisition_prepare(context, thompson, &standing, subject.surrogate));
    TOY_OK(&subject.toy,
           tutti_acquisition_evaluate(context, thompson, &standing, subject.surrogate, &subject.probes, next));
    assert_true(next[0] != first[0]);
    tutti_surrogate_release(subject.surrogate);
    tutti_acquisition *other = seeded_acquisition_of(&subject, "thompson", false, 2); /* the same step of another run */
    TOY_OK(&subject.toy, tutti_acquisition_prepare(context, other, &standing, subject.surrogate));
    TOY_OK(&subject.toy,
           tutti_acquisition_evaluate(context, other, &standing, subject.surrogate, &subject.probes, first));
    assert_true(next[0] != first[0]);
    tutti_surrogate_release(subject.surrogate);
    tutti_acquisition_destroy(other);
    double again[PROBES], unsure[PROBES];
    TOY_OK(&subject.toy, tutti_surrogate_predict(context, subject.surrogate, &subject.probes, again, unsure));
    assert_memory_equal(again, mean, sizeof(mean));
    assert_memory_equal(unsure, deviation, sizeof(deviation));
    tutti_acquisition_destroy(thompson);
    close_subject(&subject);
  }
}

/* Uniform numbers: a point's own within a proposal, with a model or without, and others in the next. */
static void test_random(void **state) {
  enum { MANY = 2000 };
  struct subject subject;
  struct tutti_standing standing = {.size = sizeof(standing), .best = 0, .step = 3};
  double x[MANY], worth[MANY], other[MANY], one, sum = 0, squares = 0, product = 0;
  (void)state;
  open_subject(&subject, "random-forest");
  tutti_context *context = subject.toy.context;
  tutti_acquisition *chance = acquisition_of(&subject, "random", false);
  for (size_t i = 0; i < MANY; i++)
    x[i] = (double)i;
  struct tutti_points points = {sizeof(points), MANY, 1, x, NULL}, last = {sizeof(last), 1, 1, x + MANY - 1, NULL};
  assert_true(tutti_acquisition_is_blind(chance));
  TOY_OK(&subject.toy, tutti_acquisition_evaluate(context, chance, &standing, NULL, &points, worth));
  TOY_OK(&subject.toy, tutti_acquisition_evaluate(context, chance, &standing, NULL, &last, &one));
  assert_true(one == worth[MANY - 1]);
  standing.step = 4;
  TOY_OK(&subject.toy, tutti_acquisition_evaluate(context, chance, &standing, NULL, &points, other));
  for (size_t i = 0; i < MANY; i++) {
    assert_true(worth[i] >= 0 && worth[i] < 1);
    sum += worth[i] / MANY;
    squares += worth[i] * worth[i] / MANY;
    product += (worth[i] - 0.5) * (other[i] - 0.5) / MANY;
  }
  assert_true(fabs(sum - 0.5) < 0.03 && fabs(squares - 1 / 3.) < 0.03 && fabs(product) < 0.01);
  tutti_acquisition_destroy(chance);
  tutti_acquisition *ei = acquisition_of(&subject, "ei", false);
  assert_false(tutti_acquisition_is_blind(ei));
  tutti_acquisition_destroy(ei);
  close_subject(&subject);
}

static void test_refuses_fantasies(void **state) {
  struct subject subject;
  struct tutti_random random;
  (void)state;
  open_subject(&subject, "random-forest");
  tutti_random_init(&random, 1, "fantasies", 0);
  assert_false(tutti_surrogate_has_fantasies(subject.surrogate));
  assert_int_equal(tutti_surrogate_fantasise(subject.toy.context, subject.surrogate, &subject.probes, &random, 3),
                   TUTTI_ERROR_UNSUPPORTED);
  assert_non_null(strstr(tutti_error_message(subject.toy.context), "random-forest has no fantasies"));
  assert_int_equal(tutti_surrogate_components(subject.surrogate), 1);
  close_subject(&subject);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_averages),
      cmocka_unit_test(test_thompson),
      cmocka_unit_test(test_random),
      cmocka_unit_test(test_refuses_fantasies),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
