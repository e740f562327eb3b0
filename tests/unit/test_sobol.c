/* test_sobol.c - Sobol points against scipy's, and what the shift does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "golden.h"
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/domain.h>

static tutti_context *context;

static int begin(void **state) { return tutti_context_create(&context) != TUTTI_OK; }

static int end(void **state) {
  tutti_context_destroy(context);
  return 0;
}

static void unshifted_points_are_the_published_ones(void **state) {
  json_t *root = golden_load("sobol"), *cases = golden_get(root, "cases");
  for (size_t k = 0; k < json_array_size(cases); k++) {
    json_t *one = golden_at(cases, k);
    size_t dimension = (size_t)golden_number_of(one, "dimension"), count = (size_t)golden_number_of(one, "count");
    double *expected = golden_doubles(golden_get(one, "points"), NULL), point[128];
    tutti_sobol *sobol;
    assert_int_equal(tutti_sobol_create(context, dimension, NULL, &sobol), TUTTI_OK);
    for (size_t i = 0; i < count; i++) {
      tutti_sobol_next(sobol, point);
      for (size_t d = 0; d < dimension; d++)
        assert_true(point[d] == expected[i * dimension + d]);
    }
    tutti_sobol_destroy(sobol);
    free(expected);
  }
  json_decref(root);
}

/* Shifted or not, 2^k points have one in each of 2^k equal intervals, in every dimension. */
static void points_are_stratified(void **state) {
  enum { DIMENSION = 128, COUNT = 256 };
  static bool seen[DIMENSION][COUNT];
  for (int shifted = 0; shifted < 2; shifted++) {
    struct tutti_random random;
    tutti_sobol *sobol;
    double point[DIMENSION];
    memset(seen, 0, sizeof seen);
    tutti_random_init(&random, 5, "shift", 0);
    assert_int_equal(tutti_sobol_create(context, DIMENSION, shifted ? &random : NULL, &sobol), TUTTI_OK);
    for (int i = 0; i < COUNT; i++) {
      tutti_sobol_next(sobol, point);
      for (size_t d = 0; d < DIMENSION; d++) {
        assert_true(point[d] >= 0 && point[d] < 1);
        bool *cell = &seen[d][(size_t)(point[d] * COUNT)];
        assert_false(*cell);
        *cell = true;
      }
    }
    tutti_sobol_destroy(sobol);
  }
}

static void shifts_come_from_the_stream(void **state) {
  double first[3][2];
  for (uint64_t i = 0; i < 3; i++) {
    struct tutti_random random;
    tutti_sobol *sobol;
    tutti_random_init(&random, 5, "shift", i / 2);
    assert_int_equal(tutti_sobol_create(context, 2, &random, &sobol), TUTTI_OK);
    tutti_sobol_next(sobol, first[i]);
    tutti_sobol_destroy(sobol);
  }
  assert_true(first[0][0] == first[1][0] && first[0][1] == first[1][1]);
  assert_true(first[0][0] != first[2][0] && first[0][0] != first[0][1]);
}

static void too_many_dimensions_are_refused(void **state) {
  tutti_sobol *sobol;
  assert_int_equal(tutti_sobol_create(context, 129, NULL, &sobol), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(context), "128"));
  assert_non_null(strstr(tutti_error_message(context), "129"));
  assert_null(sobol);
  assert_int_equal(tutti_sobol_create(context, 0, NULL, &sobol), TUTTI_ERROR_USAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unshifted_points_are_the_published_ones),
      cmocka_unit_test(points_are_stratified),
      cmocka_unit_test(shifts_come_from_the_stream),
      cmocka_unit_test(too_many_dimensions_are_refused),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
