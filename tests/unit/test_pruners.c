/* The rules of pruners asha and median against brute force: what they say of every trial, by the definition, over all
   curves that were told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>
#include <cmocka.h>

#include "plugins/pruner/ladder.c"
#include "plugins/pruner/asha.c"
#undef TUTTI_PLUGIN
#define TUTTI_PLUGIN(descriptor)                                                                                       \
  static inline const void *second(void) { return &(descriptor); }
#include "plugins/pruner/median.c"

enum { TRIALS = 60, EPOCHS = 40 };

struct trial {
  enum tutti_state state;
  size_t epochs;
  double losses[EPOCHS];
};

static tutti_context *context;
static struct trial trials[TRIALS];

static void must(enum tutti_status status) {
  if (status != TUTTI_OK)
    fail_msg("%s", tutti_error_message(context));
}

/* Trials of every kind: most finish, some of them before the last epoch; equal losses occur, and some are not
   evaluated. */
static int setup(void **state) {
  (void)state;
  for (uint64_t t = 0; t < TRIALS; t++) {
    struct tutti_random random;
    tutti_random_init(&random, 7, "curves", t);
    struct trial *trial = &trials[t];
    trial->state = t % 9 == 4 ? TUTTI_STATE_FAILED : t % 5 == 3 ? TUTTI_STATE_PRUNED : TUTTI_STATE_FINISHED;
    trial->epochs = trial->state == TUTTI_STATE_PRUNED   ? 1 + (size_t)tutti_random_below(&random, EPOCHS - 1)
                    : trial->state == TUTTI_STATE_FAILED ? (size_t)tutti_random_below(&random, EPOCHS)
                    : t % 4 == 1 || t < 6                ? EPOCHS / 2 /* longer ones come after them */
                                                         : EPOCHS;
    double level = floor(8 * tutti_random_uniform(&random)) / 8;
    for (size_t e = 0; e < trial->epochs; e++)
      trial->losses[e] = t % 7 == 2 && e % 3 == t % 2 ? NAN : level + tutti_random_uniform(&random) / (double)(e + 1);
  }
  return tutti_context_create(&context) == TUTTI_OK ? 0 : -1;
}

static int teardown(void **state) {
  (void)state;
  tutti_context_destroy(context);
  return 0;
}

/* The curve of a trial. If training losses are compared, its losses are these, and those on the validation rows say the
   opposite. */
static struct tutti_curve curve_of(size_t t, size_t epochs, int losses) {
  static double opposite[EPOCHS];
  for (size_t e = 0; e < EPOCHS; e++)
    opposite[e] = -trials[t].losses[e];
  bool training = losses == LADDER_TRAINING;
  return (struct tutti_curve){.size = sizeof(struct tutti_curve),
                              .trial = t,
                              .state = trials[t].state,
                              .epochs = epochs,
                              .losses = training ? opposite : trials[t].losses,
                              .training = training ? trials[t].losses : opposite};
}

static void tell(const struct tutti_pruner_ops *ops, void *self, size_t t, int losses) {
  const struct tutti_curve curve = curve_of(t, trials[t].epochs, losses);
  must(ops->tell(self, context, &curve));
}

static bool allows(const tutti_rule *rule, size_t t, size_t epochs, int losses) {
  const struct tutti_curve curve = curve_of(t, epochs, losses);
  return tutti_rule_allows_curve(rule, &curve);
}

static tutti_rule *rule_of(const struct tutti_pruner_ops *ops, void *self, uint64_t trial) {
  tutti_rule *rule;
  must(tutti_rule_create(context, &rule));
  must(ops->rule(self, context, trial, rule));
  return rule;
}

static double best_of(const double *losses, size_t epochs) {
  double best = INFINITY;
  for (size_t e = 0; e < epochs; e++)
    best = losses[e] < best ? losses[e] : best;
  return best;
}

/* --- asha --- */

/* By the definition: of those at the rung and this one, are fewer better than there are places? */
static bool goes_on_asha(size_t told, size_t epoch, const double *losses, size_t reduction, size_t warmup) {
  size_t others = 0, better = 0;
  double own = best_of(losses, epoch);
  for (size_t t = 0; t < told; t++) {
    double other = trials[t].epochs >= epoch ? best_of(trials[t].losses, epoch) : INFINITY;
    others += isfinite(other);
    better += isfinite(other) && other < own;
  }
  size_t places = (others + 1) / reduction;
  return !isfinite(own) || others == 0 || others < warmup || better < (places > 0 ? places : 1);
}

static void check_asha(struct pruner_asha_config config, const size_t *rungs, size_t count) {
  const struct tutti_pruner_setup own = {.size = sizeof own, .epochs = EPOCHS};
  void *self;
  must(pruner_create_asha(context, &config, &own, &self));
  for (size_t told = 0; told < TRIALS; told++) {
    tutti_rule *rule = rule_of(&asha_ops, self, told);
    for (size_t t = 0; t < TRIALS; t++)
      for (size_t e = 1; e <= trials[t].epochs; e++) {
        bool is_rung = false;
        for (size_t r = 0; r < count; r++)
          is_rung = is_rung || rungs[r] == e;
        bool expected =
            !is_rung || goes_on_asha(told, e, trials[t].losses, (size_t)config.reduction, (size_t)config.warmup);
        if (allows(rule, t, e, config.losses) != expected)
          fail_msg("after %zu trials, epoch %zu of the curve of trial %zu: expected %d", told, e, t, expected);
      }
    tutti_rule_destroy(rule);
    tell(&asha_ops, self, told, config.losses);
  }
  pruner_destroy_asha(self);
}

static void test_asha(void **state) {
  const struct pruner_asha_config plain = {.reduction = 3, .min_epochs = 2, .measure = TUTTI_MEASURE_BEST};
  struct pruner_asha_config other = plain;
  (void)state;
  check_asha(plain, (const size_t[]){2, 6}, 2); /* 18 is more than a third of 40 */
  other.early_stopping_rate = 1;
  other.warmup = 7;
  check_asha(other, (const size_t[]){6}, 1);
  other = plain;
  other.rungs = (struct tutti_integers){2, (const int64_t[]){5, 30}};
  check_asha(other, (const size_t[]){5, 30}, 2);
  other = plain;
  other.min_epochs = 0; /* 40 / 9 */
  check_asha(other, (const size_t[]){4, 12}, 2);
  other.losses = LADDER_TRAINING;
  check_asha(other, (const size_t[]){4, 12}, 2);
}

static void test_asha_measures(void **state) {
  const struct tutti_pruner_setup own = {.size = sizeof own, .epochs = 9};
  const double told[] = {5, 1, 3};
  const struct {
    enum tutti_measure measure;
    double threshold;
  } cases[] = {{TUTTI_MEASURE_LAST, 3}, {TUTTI_MEASURE_BEST, 1}, {TUTTI_MEASURE_MEAN, 3}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct pruner_asha_config config = {.reduction = 3, .min_epochs = 3, .measure = (int)cases[i].measure};
    struct tutti_curve curve = {.size = sizeof curve, .epochs = 3, .losses = told};
    void *self;
    must(pruner_create_asha(context, &config, &own, &self));
    must(asha_ops.tell(self, context, &curve));
    tutti_rule *rule = rule_of(&asha_ops, self, 1);
    struct tutti_rung rung = {.size = sizeof rung};
    assert_int_equal(tutti_rule_rungs(rule), 1);
    tutti_rule_rung(rule, 0, &rung);
    assert_int_equal(rung.epoch, 3);
    assert_int_equal(rung.measure, cases[i].measure);
    assert_true(rung.threshold == cases[i].threshold);
    tutti_rule_destroy(rule);
    pruner_destroy_asha(self);
  }
}

static void refuse_asha_config(struct pruner_asha_config config, const char *text) {
  const struct tutti_pruner_setup own = {.size = sizeof own, .epochs = 20};
  void *self;
  assert_int_equal(pruner_create_asha(context, &config, &own, &self), TUTTI_ERROR_USAGE);
  if (!strstr(tutti_error_message(context), text))
    fail_msg("expected \"%s\" in: %s", text, tutti_error_message(context));
}

static void test_asha_refuses(void **state) {
  struct pruner_asha_config config = {.reduction = 4, .min_epochs = 20};
  (void)state;
  refuse_asha_config(config, "pruner.min_epochs: the rung at epoch 20 is never looked at: trials have at most 20");
  config.min_epochs = 3;
  config.early_stopping_rate = 2;
  refuse_asha_config(config, "pruner.early_stopping_rate: the rung at epoch 48");
  config.early_stopping_rate = 0;
  config.rungs = (struct tutti_integers){2, (const int64_t[]){5, 20}};
  refuse_asha_config(config, "pruner.rungs: the rung at epoch 20");
  config.rungs.values = (const int64_t[]){5, 5};
  refuse_asha_config(config, "pruner.rungs: expected ascending epochs, found 5 after 5");
}

/* --- median --- */

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* The mean of what a trial had reported up to an epoch; NaN if it does not count there. */
static double running_mean(const struct trial *trial, size_t epoch, bool count_pruned) {
  size_t end = trial->epochs < epoch ? trial->epochs : epoch, counted = 0;
  bool pruned = trial->state == TUTTI_STATE_PRUNED && count_pruned && trial->epochs >= epoch;
  double sum = 0;
  for (size_t e = 0; e < end; e++)
    if (!isnan(trial->losses[e])) {
      sum += trial->losses[e];
      counted++;
    }
  return (trial->state == TUTTI_STATE_FINISHED || pruned) && counted ? sum / (double)counted : NAN;
}

static bool goes_on_median(const struct pruner_median_config *config, size_t told, size_t epoch, const double *losses) {
  double means[TRIALS];
  size_t count = 0;
  for (size_t t = 0; t < told; t++) {
    double mean = running_mean(&trials[t], epoch, config->count_pruned);
    if (!isnan(mean))
      means[count++] = mean;
  }
  if (count < (size_t)config->warmup)
    return true;
  qsort(means, count, sizeof *means, ascending);
  double median = count % 2 ? means[count / 2] : (means[count / 2 - 1] + means[count / 2]) / 2;
  double own = best_of(losses, epoch);
  return !isfinite(own) || own <= median;
}

static void check_median(struct pruner_median_config config, uint32_t epochs) {
  const struct tutti_pruner_setup own = {.size = sizeof own, .epochs = epochs};
  void *self;
  size_t longest = 0;
  must(pruner_create_median(context, &config, &own, &self));
  for (size_t told = 0; told < TRIALS; told++) {
    tutti_rule *rule = rule_of(&median_ops, self, told);
    for (size_t t = 0; t < TRIALS; t++)
      for (size_t e = 1; e <= trials[t].epochs; e++) {
        bool looked_at = e >= (size_t)config.min_epochs &&
                         (e - (size_t)config.min_epochs) % (size_t)config.every == 0 && e <= longest &&
                         (epochs == 0 || e < epochs);
        bool expected = !looked_at || goes_on_median(&config, told, e, trials[t].losses);
        if (allows(rule, t, e, config.losses) != expected)
          fail_msg("after %zu trials, epoch %zu of the curve of trial %zu: expected %d", told, e, t, expected);
      }
    tutti_rule_destroy(rule);
    tell(&median_ops, self, told, config.losses);
    bool counts =
        trials[told].state == TUTTI_STATE_FINISHED || (trials[told].state == TUTTI_STATE_PRUNED && config.count_pruned);
    if (counts && trials[told].epochs > longest)
      longest = trials[told].epochs;
  }
  pruner_destroy_median(self);
}

static void test_median(void **state) {
  (void)state;
  check_median((struct pruner_median_config){.min_epochs = 1, .every = 1, .warmup = 5}, EPOCHS);
  check_median((struct pruner_median_config){.min_epochs = 4, .every = 7, .warmup = 1}, EPOCHS);
  check_median((struct pruner_median_config){.min_epochs = 1, .every = 1, .warmup = 3, .count_pruned = true}, EPOCHS);
  check_median((struct pruner_median_config){.min_epochs = 2, .every = 3, .warmup = 2}, 0);
  check_median((struct pruner_median_config){.min_epochs = 4, .every = 7, .warmup = 1, .losses = LADDER_TRAINING},
               EPOCHS);
}

static void test_median_refuses(void **state) {
  const struct pruner_median_config config = {.min_epochs = 12, .every = 1, .warmup = 1};
  const struct tutti_pruner_setup own = {.size = sizeof own, .epochs = 12};
  void *self;
  (void)state;
  assert_int_equal(pruner_create_median(context, &config, &own, &self), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(context), "pruner.min_epochs: trials have at most 12 epochs"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_asha), TEST(test_asha_measures), TEST(test_asha_refuses), TEST(test_median), TEST(test_median_refuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
