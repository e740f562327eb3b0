/* test_random.c - Philox against published values, and draws against their distributions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>
#include <tutti/random.h>

#include "core/base/philox_blocks_impl.h"

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
  struct tutti_random a, b, c, d, far, again;
  tutti_random_init(&a, 1, "weights", 7);
  tutti_random_init(&b, 2, "weights", 7);
  tutti_random_init(&c, 1, "batches", 7);
  tutti_random_init(&d, 1, "weights", 8);
  tutti_random_init(&far, 1, "weights", 7 + (UINT64_C(1) << 32)); /* an index has 64 bits */
  tutti_random_init(&again, 1, "weights", 7);
  uint64_t first = tutti_random_u64(&a);
  assert_true(first != tutti_random_u64(&b));
  assert_true(first != tutti_random_u64(&c));
  assert_true(first != tutti_random_u64(&d));
  assert_true(first != tutti_random_u64(&far));
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

/* Two normal numbers are the coordinates of one point of Box and Muller, and take four words of the stream. */
static void normals_come_in_pairs(void **state) {
  struct tutti_random random, copy;
  tutti_random_init(&random, 4, "pairs", 0);
  copy = random;
  for (int i = 0; i < 10; i++) {
    double radius = sqrt(-2 * log(1 - tutti_random_uniform(&copy))), angle = 2 * M_PI * tutti_random_uniform(&copy);
    assert_true(fabs(tutti_random_normal(&random) - radius * cos(angle)) < 1e-12);
    assert_true(fabs(tutti_random_normal(&random) - radius * sin(angle)) < 1e-12);
  }
  assert_true(tutti_random_u64(&random) == tutti_random_u64(&copy));
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

/* Blocks of one stream differ, also where the low word of the counter wraps; a copy goes on by itself. */
static void a_stream_goes_on(void **state) {
  struct tutti_random random, copy, wrapping;
  tutti_random_init(&random, 6, "stream", 0);
  uint32_t first = tutti_random_u32(&random);
  for (int i = 0; i < 100; i++)
    assert_true(tutti_random_u32(&random) != first);
  copy = random;
  uint64_t next = tutti_random_u64(&random);
  assert_true(tutti_random_u64(&copy) == next);
  assert_true(tutti_random_u64(&copy) == tutti_random_u64(&random));
  tutti_random_init(&wrapping, 6, "stream", 0);
  wrapping.counter[0] = UINT32_MAX;
  for (int i = 0; i < 4; i++)
    (void)tutti_random_u32(&wrapping);
  assert_int_equal(wrapping.counter[0], 0);
  assert_int_equal(wrapping.counter[1], 1);
  tutti_random_init(&copy, 6, "stream", 0);
  assert_true(tutti_random_u32(&wrapping) != tutti_random_u32(&copy));
}

/* The draws of a shuffle are those of tutti_random_below, and the stream goes on behind them; wherever in a block it
   begins, where the low word of the counter wraps, and for any number of indices. */
static void a_shuffle_draws_one_number_an_index(void **state) {
  static const size_t counts[] = {0, 1, 2, 15, 16, 17, 18, 31, 32, 33, 63, 64, 65, 66, 1000, 1001};
  for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++)
    for (int before = 0; before < 6; before++)
      for (uint32_t wraps = 0; wraps < 2; wraps++) {
        uint32_t indices[1001], expected[1001];
        struct tutti_random random, copy;
        tutti_random_init(&random, 8, "shuffle", c);
        random.counter[0] = wraps ? UINT32_MAX - 2 : 0;
        for (int i = 0; i < before; i++)
          (void)tutti_random_u32(&random);
        copy = random;
        for (uint32_t i = 0; i < counts[c]; i++)
          indices[i] = expected[i] = i;
        tutti_random_shuffle(&random, counts[c], indices);
        for (size_t i = counts[c]; i > 1; i--) {
          size_t j = (size_t)tutti_random_below(&copy, i);
          uint32_t kept = expected[i - 1];
          expected[i - 1] = expected[j];
          expected[j] = kept;
        }
        assert_memory_equal(indices, expected, counts[c] * sizeof indices[0]);
        for (int i = 0; i < 9; i++)
          assert_int_equal(tutti_random_u32(&random), tutti_random_u32(&copy));
      }
}

/* At each width that this processor has: several blocks at once are those that follow each other one by one, also where
   the counter's low word, or all of it, wraps. */
static void blocks_at_once_are_those_one_by_one(void **state) {
  static const uint64_t starts[] = {0, 1, UINT32_MAX - 5, UINT64_MAX - 5};
  const uint32_t key[2] = {0xa4093822, 0x299f31d0};
  const uint64_t stream = UINT64_C(0x0370734413198a2e);
  for (int cpu = TUTTI_CPU_BASELINE; cpu <= (int)tutti_cpu_detect(); cpu++)
    for (size_t s = 0; s < sizeof starts / sizeof starts[0]; s++) {
      size_t count;
      uint64_t numbers[64];
      make_blocks_function *make = philox_blocks((enum tutti_cpu)cpu, &count);
      assert_true(count <= 64);
      make(starts[s], stream, key, numbers);
      for (size_t n = 0; n < count; n += 2) {
        uint64_t block[2];
        make_block(starts[s] + n / 2, stream, key, block);
        assert_memory_equal(numbers + n, block, sizeof block);
      }
    }
}

static void uniforms_fill_their_interval(void **state) {
  enum { DRAWS = 100000, CELLS = 20 };
  struct tutti_random random;
  size_t counts[CELLS] = {0};
  tutti_random_init(&random, 7, "uniform", 0);
  for (int i = 0; i < DRAWS; i++) {
    double u = tutti_random_uniform(&random);
    assert_true(u >= 0 && u < 1);
    counts[(int)(u * CELLS)]++;
  }
  for (int k = 0; k < CELLS; k++)
    assert_true(fabs((double)counts[k] - (double)DRAWS / CELLS) < 5 * sqrt((double)DRAWS / CELLS));
}

/* A bound above 2^63 rejects nearly half of the draws; 3 2^62 splits into thirds. */
static void below_large_bounds(void **state) {
  enum { DRAWS = 30000 };
  const uint64_t third = UINT64_C(1) << 62, bound = 3 * third;
  struct tutti_random random;
  size_t counts[3] = {0};
  tutti_random_init(&random, 8, "below", 0);
  for (int i = 0; i < DRAWS; i++) {
    uint64_t drawn = tutti_random_below(&random, bound);
    assert_true(drawn < bound);
    counts[drawn / third]++;
  }
  for (int k = 0; k < 3; k++)
    assert_true(fabs((double)counts[k] - DRAWS / 3.0) < 5 * sqrt(DRAWS * 2 / 9.0));
  for (int i = 0; i < 100; i++)
    assert_int_equal(tutti_random_below(&random, 1), 0);
}

/* Half-open, even where the interval is narrow beside its place and sums round up to its end. */
static void filled_floats(void **state) {
  enum { DRAWS = 50000 };
  static float out[DRAWS];
  struct tutti_random random;
  double sum = 0, squares = 0;
  tutti_random_init(&random, 9, "fill", 0);
  tutti_random_fill_uniform(&random, DRAWS, -0.5f, 2.5f, out);
  for (int i = 0; i < DRAWS; i++) {
    assert_true(out[i] >= -0.5f && out[i] < 2.5f);
    sum += (double)out[i];
  }
  assert_true(fabs(sum / DRAWS - 1) < 5 * sqrt(9.0 / 12 / DRAWS));
  tutti_random_fill_uniform(&random, DRAWS, 1e6f, 1e6f + 1, out);
  for (int i = 0; i < DRAWS; i++)
    assert_true(out[i] >= 1e6f && out[i] < 1e6f + 1);
  sum = 0;
  tutti_random_fill_normal(&random, DRAWS, 3, 0.5f, out);
  for (int i = 0; i < DRAWS; i++) {
    sum += (double)out[i];
    squares += pow((double)out[i] - 3, 2);
  }
  assert_true(fabs(sum / DRAWS - 3) < 5 * 0.5 / sqrt(DRAWS));
  assert_true(fabs(squares / DRAWS - 0.25) < 5 * 0.25 * sqrt(2) / sqrt(DRAWS));
}

/* All 24 orders of four are equally likely. */
static void shuffles_are_uniform(void **state) {
  enum { DRAWS = 48000, ORDERS = 24 };
  struct tutti_random random;
  size_t counts[256] = {0}, seen = 0;
  double chi = 0;
  tutti_random_init(&random, 10, "shuffle", 0);
  for (int i = 0; i < DRAWS; i++) {
    uint32_t order[4] = {0, 1, 2, 3};
    tutti_random_shuffle(&random, 4, order);
    counts[order[0] << 6 | order[1] << 4 | order[2] << 2 | order[3]]++;
  }
  for (int k = 0; k < 256; k++)
    if (counts[k]) {
      seen++;
      chi += pow((double)counts[k] - (double)DRAWS / ORDERS, 2) / ((double)DRAWS / ORDERS);
    }
  assert_int_equal(seen, ORDERS);
  assert_true(chi < 58.6); /* chi-square, 23 degrees of freedom, 1 - 6e-5 */
}

static void choosing_all_or_none(void **state) {
  struct tutti_random random;
  uint32_t out[5];
  unsigned seen = 0;
  tutti_random_init(&random, 11, "choose", 0);
  tutti_random_choose(&random, 5, 0, out);
  tutti_random_choose(&random, 5, 5, out);
  for (int k = 0; k < 5; k++)
    seen |= 1u << out[k];
  assert_int_equal(seen, 31);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(philox_known_answers),
      cmocka_unit_test(streams_differ_by_each_part_of_their_name),
      cmocka_unit_test(below_is_uniform),
      cmocka_unit_test(normals_have_their_moments),
      cmocka_unit_test(normals_come_in_pairs),
      cmocka_unit_test(chosen_numbers_are_distinct_and_all_likely),
      cmocka_unit_test(a_stream_goes_on),
      cmocka_unit_test(uniforms_fill_their_interval),
      cmocka_unit_test(below_large_bounds),
      cmocka_unit_test(filled_floats),
      cmocka_unit_test(shuffles_are_uniform),
      cmocka_unit_test(choosing_all_or_none),
      cmocka_unit_test(a_shuffle_draws_one_number_an_index),
      cmocka_unit_test(blocks_at_once_are_those_one_by_one),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
