/* Builder nes-re: which trials become parents, and what their children are. */
#include "toy.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { ROWS = 30, CLASSES = 3, TRIALS = 80, SPLITS = 2, POPULATION = 12, PARENTS = 4 };

/* Predictions of trials on clean and shifted rows, from which the host's pools are made. */
static struct world {
  struct toy toy;
  float values[SPLITS][TRIALS][ROWS * CLASSES];
  int32_t labels[ROWS];
  bool without;      /* no predictions */
  bool looked_up;    /* no trial has any */
  int asked[SPLITS]; /* pools */
  double losses[TRIALS];
  const float *predictions[TRIALS];
  uint64_t trials[TRIALS];
} world;

/* The NLL of the mean prediction of some trials. */
static double ensemble_nll(int split, size_t count, const uint64_t *trials) {
  double sum = 0;
  for (int r = 0; r < ROWS; r++) {
    double p = 0;
    for (size_t i = 0; i < count; i++)
      p += (double)world.values[split][trials[i]][r * CLASSES + world.labels[r]];
    sum -= log(p / (double)count);
  }
  return sum / ROWS;
}

static enum tutti_status give_pool(void *argument, tutti_context *context, const char *split, size_t count,
                                   const uint64_t *trials, struct tutti_pool *pool) {
  (void)argument;
  if (world.looked_up)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "trials of backend table have no predictions");
  int which = strcmp(split, "validation") == 0 ? 0 : strcmp(split, "validation-5") == 0 ? 1 : -1;
  if (world.without || which < 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "the data have no rows in a split '%s'", split);
  world.asked[which] += count > 0;
  for (size_t i = 0; i < count; i++) {
    assert_true(i == 0 || trials[i] > trials[i - 1]);
    world.trials[i] = trials[i];
    world.predictions[i] = world.values[which][trials[i]];
    world.losses[i] = ensemble_nll(which, 1, &trials[i]);
  }
  *pool = (struct tutti_pool){.size = sizeof *pool,
                              .kind = TUTTI_TASK_CLASSIFICATION,
                              .models = count,
                              .rows = ROWS,
                              .outputs = CLASSES,
                              .predictions = world.predictions,
                              .labels = world.labels,
                              .trials = world.trials,
                              .losses = world.losses};
  return TUTTI_OK;
}

static void release_pool(void *argument, struct tutti_pool *pool) {
  (void)argument;
  pool->size = 0;
}

static int begin(void **state) {
  struct tutti_random random;
  (void)state;
  memset(&world, 0, sizeof world);
  toy_create(&world.toy, 11, 4, 1000, "rate = log-uniform 1e-4 1e-1\nsteps = integer 1 1000\nkind = choice a b c");
  tutti_random_init(&random, 3, "predictions", 0);
  for (int i = 0; i < ROWS; i++)
    world.labels[i] = (int32_t)tutti_random_below(&random, CLASSES);
  for (int s = 0; s < SPLITS; s++)
    for (int t = 0; t < TRIALS; t++)
      for (int r = 0; r < ROWS; r++) {
        float *row = &world.values[s][t][r * CLASSES], sum = 0;
        for (int k = 0; k < CLASSES; k++)
          sum += row[k] = 0.02f + (float)tutti_random_uniform(&random);
        for (int k = 0; k < CLASSES; k++)
          row[k] /= sum;
      }
  world.toy.facts.pool = give_pool;
  world.toy.facts.pool_release = release_pool;
  tutti_host_set_facts(world.toy.host, &world.toy.facts);
  toy_put(&world.toy, "builder", TUTTI_KIND_BUILDER, "nes-re");
  toy_set(&world.toy, "builder", "population", "12");
  toy_set(&world.toy, "builder", "parents", "4");
  return 0;
}

static int end(void **state) {
  (void)state;
  toy_destroy(&world.toy);
  return 0;
}

static tutti_builder *make(void) {
  struct tutti_builder_setup setup = {.size = sizeof setup, .host = world.toy.host};
  tutti_builder *builder;
  TOY_OK(&world.toy, tutti_builder_create(world.toy.context, world.toy.host, "builder", &setup, &builder));
  return builder;
}

static void make_fails(const char *message) {
  struct tutti_builder_setup setup = {.size = sizeof setup, .host = world.toy.host};
  tutti_builder *builder;
  assert_int_equal(tutti_builder_create(world.toy.context, world.toy.host, "builder", &setup, &builder),
                   TUTTI_ERROR_USAGE);
  if (!strstr(tutti_error_message(world.toy.context), message))
    fail_msg("\"%s\" lacks \"%s\"", tutti_error_message(world.toy.context), message);
}

static struct tutti_proposal ask(tutti_builder *builder, uint64_t trial) {
  struct tutti_proposal proposal = {.size = sizeof proposal};
  TOY_OK(&world.toy, tutti_builder_ask(world.toy.context, builder, trial, &proposal));
  assert_non_null(proposal.candidate);
  assert_true(tutti_candidate_seed(proposal.candidate) == tutti_trial_seed(11, trial));
  return proposal;
}

static void tell(tutti_builder *builder, uint64_t trial, const tutti_candidate *candidate, enum tutti_state end_state,
                 double loss) {
  struct tutti_result result = {.size = sizeof result,
                                .trial = trial,
                                .candidate = candidate,
                                .state = end_state,
                                .loss = loss,
                                .seconds = 1,
                                .failure = end_state == TUTTI_STATE_FAILED ? "out of luck" : ""};
  TOY_OK(&world.toy, tutti_builder_tell(world.toy.context, builder, &result));
}

/* Ask for `count` trials and tell that they have finished; their candidates, to be released, into candidates[]. */
static void train(tutti_builder *builder, uint64_t count, tutti_candidate **candidates) {
  for (uint64_t i = 0; i < count; i++) {
    candidates[i] = ask(builder, i).candidate;
    tell(builder, i, candidates[i], TUTTI_STATE_FINISHED, 1.0 + (double)i);
  }
}

static void release(uint64_t count, tutti_candidate **candidates) {
  for (uint64_t i = 0; i < count; i++)
    tutti_candidate_unref(candidates[i]);
}

static double depth_of(const tutti_candidate *candidate) {
  return tutti_genotype_point(tutti_candidate_genotype(candidate))[0];
}

/* --- who becomes a parent ----------------------------------------------------------------------------------------- */

/* ForwardSelect, written down again: the best PARENTS of trials first .. last, one by one. */
static void forward_select(int split, uint64_t first, uint64_t last, bool chosen[TRIALS]) {
  uint64_t members[PARENTS];
  memset(chosen, 0, TRIALS * sizeof *chosen);
  for (size_t size = 0; size < PARENTS; size++) {
    double least = INFINITY;
    uint64_t best = first;
    for (uint64_t t = first; t <= last; t++) {
      members[size] = t;
      double loss = chosen[t] ? INFINITY : ensemble_nll(split, size + 1, members);
      if (loss < least) {
        least = loss;
        best = t;
      }
    }
    members[size] = best;
    chosen[best] = true;
  }
}

/* Children of a population of trials 8 .. 19, after 20 were told: the oldest have left. In a thousand draws, each of
   the four parents has 250, within five standard deviations of 14. */
static void test_parents_are_a_forward_selection(void **state) {
  tutti_candidate *candidates[20];
  int counts[TRIALS] = {0};
  bool chosen[TRIALS];
  (void)state;
  tutti_builder *builder = make();
  train(builder, 20, candidates);
  world.asked[0] = 0;
  forward_select(0, 8, 19, chosen);
  for (uint64_t i = 0; i < 1000; i++) {
    struct tutti_proposal proposal = ask(builder, 20 + i);
    assert_true(proposal.parent < 20);
    counts[proposal.parent]++;
    tutti_candidate_unref(proposal.candidate);
  }
  for (int t = 0; t < 20; t++)
    assert_in_range(counts[t], chosen[t] ? 180 : 0, chosen[t] ? 320 : 0);
  assert_int_equal(world.asked[0], 1000);
  assert_int_equal(world.asked[1], 0);
  release(20, candidates);
  tutti_builder_destroy(builder);
}

/* A severity is drawn for each selection, and its parents are those of its rows. */
static void test_severities_are_drawn(void **state) {
  tutti_candidate *candidates[POPULATION];
  bool chosen[SPLITS][TRIALS];
  int counts[SPLITS] = {0}, differ = 0;
  (void)state;
  toy_set(&world.toy, "builder", "severities", "0 5");
  tutti_builder *builder = make();
  train(builder, POPULATION, candidates);
  for (int s = 0; s < SPLITS; s++)
    forward_select(s, 0, POPULATION - 1, chosen[s]);
  for (int t = 0; t < POPULATION; t++)
    differ += chosen[0][t] != chosen[1][t];
  assert_true(differ >= 4); /* else the test would show nothing */
  for (uint64_t i = 0; i < 400; i++) {
    struct tutti_proposal proposal = ask(builder, POPULATION + i);
    bool shifted = strstr(proposal.origin, ", severity 5") != NULL;
    assert_true(shifted || strstr(proposal.origin, ", severity 0"));
    assert_true(chosen[shifted][proposal.parent]);
    counts[shifted]++;
    tutti_candidate_unref(proposal.candidate);
  }
  assert_in_range(counts[1], 150, 250);
  assert_int_equal(world.asked[0], counts[0]);
  assert_int_equal(world.asked[1], counts[1]);
  release(POPULATION, candidates);
  tutti_builder_destroy(builder);
}

/* Told in any order: the pool is asked for ascending trials (give_pool sees to that), the first one told leaves
   first. */
static void test_age_is_the_order_of_telling(void **state) {
  tutti_candidate *candidates[POPULATION + 1];
  bool parents[TRIALS] = {false};
  (void)state;
  toy_set(&world.toy, "builder", "population", "5");
  tutti_builder *builder = make();
  static const uint64_t order[] = {4, 0, 3, 1, 5, 2};
  for (uint64_t i = 0; i < 6; i++)
    candidates[i] = ask(builder, i).candidate;
  for (int i = 0; i < 6; i++)
    tell(builder, order[i], candidates[order[i]], TUTTI_STATE_FINISHED, 1);
  for (uint64_t i = 0; i < 200; i++) {
    struct tutti_proposal proposal = ask(builder, 6 + i);
    parents[proposal.parent] = true;
    tutti_candidate_unref(proposal.candidate);
  }
  assert_false(parents[4]);
  assert_int_equal(parents[0] + parents[1] + parents[2] + parents[3] + parents[5], PARENTS);
  release(6, candidates);
  tutti_builder_destroy(builder);
}

/* With no more members than parents, all are, and nobody looks at predictions. */
static void test_few_members_are_all_parents(void **state) {
  tutti_candidate *candidates[POPULATION];
  int counts[TRIALS] = {0};
  (void)state;
  tutti_builder *builder = make();
  for (uint64_t i = 0; i < POPULATION; i++) {
    candidates[i] = ask(builder, i).candidate;
    if (i < PARENTS)
      tell(builder, i, candidates[i], TUTTI_STATE_FINISHED, 1);
  }
  for (uint64_t i = 0; i < 400; i++) {
    struct tutti_proposal proposal = ask(builder, POPULATION + i);
    counts[proposal.parent]++;
    tutti_candidate_unref(proposal.candidate);
  }
  for (int t = 0; t < PARENTS; t++)
    assert_in_range(counts[t], 100 - 44, 100 + 44);
  assert_int_equal(world.asked[0], 0);
  release(POPULATION, candidates);
  tutti_builder_destroy(builder);
}

static void test_failed_trials_are_no_parents(void **state) {
  tutti_candidate *candidates[POPULATION];
  (void)state;
  tutti_builder *builder = make();
  for (uint64_t i = 0; i < POPULATION; i++)
    candidates[i] = ask(builder, i).candidate;
  for (uint64_t i = 0; i < POPULATION; i++) {
    struct tutti_proposal proposal = ask(builder, POPULATION);
    assert_true(proposal.parent == TUTTI_NO_TRIAL); /* nobody has finished */
    assert_string_equal(proposal.origin, "random");
    tutti_candidate_unref(proposal.candidate);
    tell(builder, i, candidates[i], i % 3 == 0 ? TUTTI_STATE_FAILED : TUTTI_STATE_PRUNED, i % 2 ? NAN : 0.1);
  }
  tell(builder, 5, candidates[5], TUTTI_STATE_FINISHED, INFINITY);
  tell(builder, 7, candidates[7], TUTTI_STATE_FINISHED, 9);
  for (uint64_t i = 0; i < 30; i++) {
    struct tutti_proposal proposal = ask(builder, POPULATION + i);
    assert_int_equal(proposal.parent, 7);
    tutti_candidate_unref(proposal.candidate);
  }
  release(POPULATION, candidates);
  tutti_builder_destroy(builder);
}

/* Shifted rows on which no prediction is a number: the search goes on, with all members. */
static void test_selections_may_fail(void **state) {
  tutti_candidate *candidates[POPULATION];
  bool parents[TRIALS] = {false};
  int count = 0;
  (void)state;
  for (int t = 0; t < TRIALS; t++)
    for (int i = 0; i < ROWS * CLASSES; i++)
      world.values[1][t][i] = NAN;
  toy_set(&world.toy, "builder", "severities", "5");
  tutti_builder *builder = make();
  train(builder, POPULATION, candidates);
  for (uint64_t i = 0; i < 300; i++) {
    struct tutti_proposal proposal = ask(builder, POPULATION + i);
    parents[proposal.parent] = true;
    tutti_candidate_unref(proposal.candidate);
  }
  for (int t = 0; t < POPULATION; t++)
    count += parents[t];
  assert_int_equal(count, POPULATION);
  release(POPULATION, candidates);
  tutti_builder_destroy(builder);
}

/* Predictions that cannot be had any more are an error, not a fallback. */
static void test_lost_predictions_are_an_error(void **state) {
  tutti_candidate *candidates[POPULATION];
  struct tutti_proposal proposal = {.size = sizeof proposal};
  (void)state;
  tutti_builder *builder = make();
  train(builder, POPULATION, candidates);
  world.without = true;
  assert_int_equal(tutti_builder_ask(world.toy.context, builder, POPULATION, &proposal), TUTTI_ERROR_USAGE);
  assert_null(proposal.candidate);
  release(POPULATION, candidates);
  tutti_builder_destroy(builder);
}

/* Where results are looked up there are losses alone: a selector that goes by them chooses the parents. */
static void test_losses_alone(void **state) {
  tutti_candidate *candidates[20];
  bool parents[TRIALS] = {false};
  (void)state;
  world.looked_up = true;
  make_fails("[builder] parent_selector: selector forward chooses by predictions");
  toy_set(&world.toy, "builder", "parent_selector", "top-m");
  tutti_builder *builder = make();
  for (uint64_t i = 0; i < 20; i++) {
    candidates[i] = ask(builder, i).candidate;
    tell(builder, i, candidates[i], TUTTI_STATE_FINISHED, i == 10 || i > 16 ? 0.5 : 1.0);
  }
  for (uint64_t i = 0; i < 300; i++) {
    struct tutti_proposal proposal = ask(builder, 20 + i);
    parents[proposal.parent] = true;
    tutti_candidate_unref(proposal.candidate);
  }
  for (int t = 0; t < TRIALS; t++)
    assert_int_equal(parents[t], t == 10 || (t > 16 && t < 20));
  release(20, candidates);
  tutti_builder_destroy(builder);
  toy_set(&world.toy, "builder", "severities", "0 5");
  struct tutti_builder_setup setup = {.size = sizeof setup, .host = world.toy.host};
  assert_int_not_equal(tutti_builder_create(world.toy.context, world.toy.host, "builder", &setup, &builder), TUTTI_OK);
  assert_non_null(strstr(tutti_error_message(world.toy.context), "severities: 5"));
}

/* Another selector, with parameters of its own, in its own section. */
static void test_selectors_may_be_swapped(void **state) {
  tutti_candidate *candidates[POPULATION];
  bool parents[TRIALS] = {false};
  (void)state;
  toy_set(&world.toy, "builder", "parent_selector", "top-m");
  toy_set(&world.toy, "parent_selector", "size", "1"); /* `parents` counts */
  tutti_builder *builder = make();
  train(builder, POPULATION, candidates);
  for (uint64_t i = 0; i < 200; i++) {
    struct tutti_proposal proposal = ask(builder, POPULATION + i);
    parents[proposal.parent] = true;
    tutti_candidate_unref(proposal.candidate);
  }
  for (uint64_t t = 0; t < POPULATION; t++) {
    int better = 0;
    for (uint64_t other = 0; other < POPULATION; other++)
      better += ensemble_nll(0, 1, &other) < ensemble_nll(0, 1, &t);
    assert_int_equal(parents[t], better < PARENTS);
  }
  release(POPULATION, candidates);
  tutti_builder_destroy(builder);
}

/* --- what becomes of its child ------------------------------------------------------------------------------------ */

/* The first trials are random, whatever was told. */
static void test_the_beginning_is_random(void **state) {
  tutti_candidate *candidates[POPULATION];
  (void)state;
  tutti_builder *builder = make(), *other = make();
  train(builder, POPULATION, candidates);
  for (uint64_t i = 0; i < POPULATION; i++) {
    struct tutti_proposal proposal = ask(other, i);
    assert_true(tutti_candidate_equal(proposal.candidate, candidates[i]));
    assert_true(proposal.parent == TUTTI_NO_TRIAL);
    assert_string_equal(proposal.origin, "random");
    assert_true(i == 0 || depth_of(candidates[i]) != depth_of(candidates[i - 1]));
    tutti_candidate_unref(proposal.candidate);
  }
  release(POPULATION, candidates);
  tutti_builder_destroy(builder);
  tutti_builder_destroy(other);
}

/* Children with their parent's architecture among 600, at a probability; what they are called. */
static int identities(const char *probability) {
  tutti_candidate *candidates[POPULATION];
  int count = 0;
  toy_set(&world.toy, "builder", "identity", probability);
  tutti_builder *builder = make();
  train(builder, POPULATION, candidates);
  for (uint64_t i = 0; i < 600; i++) {
    struct tutti_proposal proposal = ask(builder, POPULATION + i);
    bool same = depth_of(proposal.candidate) == depth_of(candidates[proposal.parent]);
    assert_string_equal(proposal.origin, same ? "identity, severity 0" : "mutation, severity 0");
    count += same;
    tutti_candidate_unref(proposal.candidate);
  }
  release(POPULATION, candidates);
  tutti_builder_destroy(builder);
  return count;
}

static void test_some_children_keep_the_architecture(void **state) {
  (void)state;
  assert_int_equal(identities("0"), 0);
  assert_int_equal(identities("1"), 600);
  assert_in_range(identities("0.3333333333333333"), 200 - 58, 200 + 58); /* five standard deviations */
}

/* Children of 90 by how many of three hyperparameters differ from their parent's. */
static void differences(const char *rule, int counts[4]) {
  tutti_candidate *candidates[POPULATION];
  memset(counts, 0, 4 * sizeof *counts);
  toy_set(&world.toy, "builder", "hyperparameters", rule);
  tutti_builder *builder = make();
  train(builder, POPULATION, candidates);
  for (uint64_t i = 0; i < 90; i++) {
    struct tutti_proposal proposal = ask(builder, POPULATION + i);
    const double *a = tutti_candidate_hyperparameters(proposal.candidate),
                 *b = tutti_candidate_hyperparameters(candidates[proposal.parent]);
    counts[(a[0] != b[0]) + (a[1] != b[1]) + (a[2] != b[2])]++;
    tutti_candidate_unref(proposal.candidate);
  }
  release(POPULATION, candidates);
  tutti_builder_destroy(builder);
}

static void test_hyperparameters_are_changed_kept_or_drawn(void **state) {
  int counts[4];
  (void)state;
  differences("mutate", counts);
  assert_int_equal(counts[1], 90);
  differences("inherit", counts);
  assert_int_equal(counts[0], 90);
  differences("draw", counts);
  assert_true(counts[0] + counts[1] == 0 && counts[3] > 30);
}

/* --- resume ------------------------------------------------------------------------------------------------------- */

/* Adopted and told, another builder goes on as the first does. */
static void test_resume(void **state) {
  enum { ALL = 60 };
  struct tutti_proposal proposals[ALL];
  (void)state;
  toy_set(&world.toy, "builder", "severities", "0 5");
  tutti_builder *first = make(), *second = make();
  for (uint64_t i = 0; i < ALL; i++) {
    proposals[i] = ask(first, i);
    tell(first, i, proposals[i].candidate, i % 7 == 3 ? TUTTI_STATE_FAILED : TUTTI_STATE_FINISHED, 1);
  }
  for (uint64_t i = 0; i < ALL; i++) {
    struct tutti_proposal again = {.size = sizeof again};
    if (i < ALL / 2) {
      TOY_OK(&world.toy, tutti_builder_adopt(world.toy.context, second, i, &proposals[i]));
    } else {
      again = ask(second, i);
      assert_true(tutti_candidate_equal(again.candidate, proposals[i].candidate));
      assert_true(again.parent == proposals[i].parent);
      assert_string_equal(again.origin, proposals[i].origin);
    }
    tell(second, i, proposals[i].candidate, i % 7 == 3 ? TUTTI_STATE_FAILED : TUTTI_STATE_FINISHED, 1);
    tutti_candidate_unref(again.candidate);
    tutti_candidate_unref(proposals[i].candidate);
  }
  char *a, *b;
  TOY_OK(&world.toy, tutti_builder_describe(world.toy.context, first, &a));
  TOY_OK(&world.toy, tutti_builder_describe(world.toy.context, second, &b));
  assert_string_equal(a, b);
  assert_string_equal(a, "{\"population\": 12, \"oldest\": 46}");
  tutti_free(a);
  tutti_free(b);
  tutti_builder_destroy(first);
  tutti_builder_destroy(second);
}

/* --- bad recipes -------------------------------------------------------------------------------------------------- */

static void note(void *argument, enum tutti_log_level level, const char *message) {
  if (level == TUTTI_LOG_WARNING)
    (void)snprintf(argument, 256, "%s", message);
}

static void test_bad_settings(void **state) {
  char warning[256] = "";
  (void)state;
  toy_set(&world.toy, "builder", "parents", "13");
  make_fails("parents: 13 is more than population, 12");
  toy_set(&world.toy, "builder", "parents", "12");
  toy_set(&world.toy, "builder", "severities", "0 3");
  make_fails(
      "[builder] severities: 3 (data.shift makes shifted rows): the data have no rows in a split 'validation-3'");
  toy_set(&world.toy, "builder", "severities", "0");
  world.without = true;
  make_fails("[builder] severities: 0");
  world.without = false;
  tutti_log_to(world.toy.context, note, warning);
  tutti_builder_destroy(make());
  assert_string_equal(warning, "");
  toy_set(&world.toy, "builder", "population", "1000");
  tutti_builder_destroy(make());
  assert_non_null(strstr(warning, "population = 1000 random trials spend the budget that"));
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_parents_are_a_forward_selection, begin, end),
      cmocka_unit_test_setup_teardown(test_severities_are_drawn, begin, end),
      cmocka_unit_test_setup_teardown(test_age_is_the_order_of_telling, begin, end),
      cmocka_unit_test_setup_teardown(test_few_members_are_all_parents, begin, end),
      cmocka_unit_test_setup_teardown(test_failed_trials_are_no_parents, begin, end),
      cmocka_unit_test_setup_teardown(test_selections_may_fail, begin, end),
      cmocka_unit_test_setup_teardown(test_lost_predictions_are_an_error, begin, end),
      cmocka_unit_test_setup_teardown(test_losses_alone, begin, end),
      cmocka_unit_test_setup_teardown(test_selectors_may_be_swapped, begin, end),
      cmocka_unit_test_setup_teardown(test_the_beginning_is_random, begin, end),
      cmocka_unit_test_setup_teardown(test_some_children_keep_the_architecture, begin, end),
      cmocka_unit_test_setup_teardown(test_hyperparameters_are_changed_kept_or_drawn, begin, end),
      cmocka_unit_test_setup_teardown(test_resume, begin, end),
      cmocka_unit_test_setup_teardown(test_bad_settings, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
