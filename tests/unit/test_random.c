/* test_random.c - Philox against published values, and what is drawn from it against its distribution. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>
#include <tutti/random.h>

/* Known answers of philox4x32-10 for counter and key all ones and for the digits of pi, as published with Random123. */
static void philox_known_answers(void **state) {
  static const struct {
    uint32_t counter[4], key[2], expected[4];
  } cases[] = {
      {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
      {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
       {0xffffffff, 0xffffffff},
       {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
      {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
       {0xa4093822, 0x299f31d0},
       {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct tutti_random random;
    memset(&random, 0, sizeof random);
    memcpy(random.counter, cases[i].counter, sizeof random.counter);
    memcpy(random.key, cases[i].key, sizeof random.key);
    random.used = 4;
    for (int k = 0; k < 4; k++)
      assert_int_equal(tutti_random_u32(&random), cases[i].expected[k]);
  }
}

static void streams_differ_by_each_part_of_their_name(void **state) {
  struct tutti_random a, b, c, d, again;
  tutti_random_init(&a, 1, "weights", 7);
  tutti_random_init(&b, 2, "weights", 7);
  tutti_random_init(&c, 1, "batches", 7);
  tutti_random_init(&d, 1, "weights", 8);
  tutti_random_init(&again, 1, "weights", 7);
  uint64_t first = tutti_random_u64(&a);
  assert_true(first != tutti_random_u64(&b));
  assert_true(first != tutti_random_u64(&c));
  assert_true(first != tutti_random_u64(&d));
  assert_true(first == tutti_random_u64(&again));
}

static void below_is_uniform(void **state) {
  enum { BOUND = 7, DRAWS = 70000 };
  struct tutti_random random;
  size_t counts[BOUND] = {0};
  double chi = 0;
  tutti_random_init(&random, 3, "below", 0);
  for (int i = 0; i < DRAWS; i++) {
    uint64_t drawn = tutti_random_below(&random, BOUND);
    assert_true(drawn < BOUND);
    counts[drawn]++;
  }
  for (int k = 0; k < BOUND; k++)
    chi += pow((double)counts[k] - (double)DRAWS / BOUND, 2) / ((double)DRAWS / BOUND);
  assert_true(chi < 27.86); /* chi-square, 6 degrees of freedom, 1 - 1e-4 */
}

static void normals_have_their_moments(void **state) {
  enum { DRAWS = 100000 };
  struct tutti_random random;
  double sum = 0, squares = 0, fourth = 0;
  tutti_random_init(&random, 4, "normal", 0);
  for (int i = 0; i < DRAWS; i++) {
    double x = tutti_random_normal(&random);
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  /* Five standard errors: 1, sqrt 2 and sqrt 96 over the square root of the draws. */
  assert_true(fabs(sum / DRAWS) < 5 / sqrt(DRAWS));
  assert_true(fabs(squares / DRAWS - 1) < 5 * sqrt(2) / sqrt(DRAWS));
  assert_true(fabs(fourth / DRAWS - 3) < 5 * sqrt(96) / sqrt(DRAWS));
}

static void chosen_numbers_are_distinct_and_all_likely(void **state) {
  enum { COUNT = 6, TAKEN = 3, DRAWS = 60000 };
  struct tutti_random random;
  size_t first[COUNT] = {0}, any[COUNT] = {0};
  tutti_random_init(&random, 5, "choose", 0);
  for (int i = 0; i < DRAWS; i++) {
    uint32_t out[TAKEN];
    tutti_random_choose(&random, COUNT, TAKEN, out);
    assert_true(out[0] != out[1] && out[0] != out[2] && out[1] != out[2]);
    first[out[0]]++;
    for (int k = 0; k < TAKEN; k++)
      any[out[k]]++;
  }
  for (int k = 0; k < COUNT; k++) { /* five standard deviations of the binomial */
    assert_true(fabs((double)first[k] - DRAWS / 6.0) < 5 * sqrt(DRAWS / 6.0 * 5 / 6));
    assert_true(fabs((double)any[k] - DRAWS / 2.0) < 5 * sqrt(DRAWS / 4.0));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(philox_known_answers),
      cmocka_unit_test(streams_differ_by_each_part_of_their_name),
      cmocka_unit_test(below_is_uniform),
      cmocka_unit_test(normals_have_their_moments),
      cmocka_unit_test(chosen_numbers_are_distinct_and_all_likely),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
