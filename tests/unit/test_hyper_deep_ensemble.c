/* test_hyper_deep_ensemble.c - how the hyper deep ensemble chooses from its pool: by which score; the first choice is
   the best network alone, every choice lowers the score, and the choosing ends, although with replacement the score may
   fall for ever. */
#include <tutti/kit.h>

/* The choice asks for nothing but the observations. */
static size_t observed_here(const tutti_members *members);
static const float *targets_here(const tutti_members *members);
#define tutti_members_observed observed_here
#define tutti_members_targets targets_here
#include "plugins/surrogate/hyper-deep-ensemble.c"
#undef tutti_members_observed
#undef tutti_members_targets

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

enum { ROWS = 2, POOL = 10, MEMBERS = 5 };

static size_t observed_here(const tutti_members *members) {
  (void)members;
  return ROWS;
}

static const float *targets_here(const tutti_members *members) {
  static const float targets[ROWS] = {0};
  (void)members;
  return targets;
}

static void test_choice(void **state) {
  (void)state;
  size_t limited = 0, most = TIMES_A_MEMBER * MEMBERS;
  for (uint64_t draw = 0; draw < 300; draw++) {
    struct hde_config config = {.members = MEMBERS, .floor = 0.001};
    uint32_t rows[ROWS];
    double predictions[POOL * ROWS];
    size_t times[POOL] = {0}, picks[POOL] = {0}, total = 0;
    struct hyper_deep_ensemble self = {.config = &config, .rows = rows, .trained_on = 0};
    struct hde_pool pool = {.count = POOL, .predictions = predictions, .times = times, .picks = picks};
    struct tutti_random random;
    tutti_random_init(&random, draw, "a pool", 0);
    for (uint32_t r = 0; r < ROWS; r++)
      rows[r] = r;
    for (size_t i = 0; i < POOL * ROWS; i++)
      predictions[i] = 0.01 * tutti_random_normal(&random);
    size_t best = 0;
    for (size_t i = 1; i < POOL; i++)
      if (score_hyper_deep_ensemble(&self, &pool, i) < score_hyper_deep_ensemble(&self, &pool, best))
        best = i;
    choose_hyper_deep_ensemble(&self, &pool);
    assert_int_equal(picks[0], best);
    for (size_t i = 0; i < POOL; i++)
      total += times[i];
    assert_true(pool.picked >= 1 && pool.picked <= MEMBERS && total >= pool.picked && total <= most);
    limited += total == most;
  }
  assert_true(limited > 0); /* some would have gone on */
}

/* Row 1 was trained on. At row 0, held out, where the target is 0, the ensemble of 1, 1 and 4 has mean 2 and variance
   2, that of 1 and 4 mean 2.5 and variance 2.25: with 1 / count, as it is used. */
static void test_score(void **state) {
  (void)state;
  struct hde_config config = {.members = MEMBERS, .floor = 0.5};
  uint32_t rows[ROWS] = {1, 0};
  double predictions[2 * ROWS] = {1, 100, 4, -100};
  size_t times[2] = {2, 0};
  struct hyper_deep_ensemble self = {.config = &config, .rows = rows, .trained_on = 1};
  struct hde_pool pool = {.count = 2, .predictions = predictions, .times = times};
  assert_true(fabs(score_hyper_deep_ensemble(&self, &pool, 1) - 0.5 * (log(2.25) + 4 / 2.25)) < 1e-12);
  times[0] = 1;
  assert_true(fabs(score_hyper_deep_ensemble(&self, &pool, 1) - 0.5 * (log(2.5) + 6.25 / 2.5)) < 1e-12);
  times[0] = 0;
  assert_true(fabs(score_hyper_deep_ensemble(&self, &pool, 1) - 0.5 * (log(0.25) + 16 / 0.25)) < 1e-12);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_choice), cmocka_unit_test(test_score)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
