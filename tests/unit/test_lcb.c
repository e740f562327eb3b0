/* Acquisition lcb against golden bounds. */
#include "golden.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <cmocka.h>

#include "plugins/acquisition/lcb.c"

static void test_golden(void **state) {
  (void)state;
  tutti_context *context = NULL;
  struct lcb_config config = {.kappa = 2};
  json_t *gp = golden_load("gp_matern52"), *root = golden_load("ei_values");
  struct tutti_standing standing = {.size = sizeof(standing)};
  assert_int_equal(tutti_context_create(&context), TUTTI_OK);
  for (size_t which = 0; which < 2; which++) {
    const json_t *moments = golden_at(golden_get(gp, "problems"), which);
    size_t count;
    double *mean = golden_doubles(golden_get(moments, "post_mean"), &count);
    double *deviation = golden_doubles(golden_get(moments, "post_std_latent"), NULL);
    double *expected =
        golden_doubles(golden_get(golden_at(golden_get(root, "problems"), which), "lcb_minus_2sigma"), NULL);
    double worth[20], by_mean[20], by_deviation[20];
    assert_int_equal(lcb_ops.moments(&config, context, &standing, count, mean, deviation, worth, by_mean, by_deviation),
                     TUTTI_OK);
    for (size_t i = 0; i < count; i++) {
      assert_close(-worth[i], expected[i], 1e-15, 1e-16);
      assert_close(by_mean[i], -1, 0, 0);
      assert_close(by_deviation[i], 2, 0, 0);
    }
    assert_int_equal(lcb_ops.moments(&config, context, &standing, 1, mean, deviation, worth, NULL, NULL), TUTTI_OK);
    free(mean), free(deviation), free(expected);
  }
  tutti_context_destroy(context);
  json_decref(gp);
  json_decref(root);
}

int main(void) {
  static const struct CMUnitTest tests[] = {cmocka_unit_test(test_golden)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
