/* test_members.c - networks inside a surrogate, with a trainer that does not train: member number k of a seed
   predicts that seed, and its variance is given, so that every moment is known. */
#include "still.h"

#include <setjmp.h>
#include <math.h>
#include <cmocka.h>
#include <tutti/members.h>

enum { SEEN = 3 };
static const double vectors[SEEN] = {0.25, 1, 0.5}, values[SEEN] = {10, 30, 14};

struct subject {
  struct toy toy;
  struct still *still;
  tutti_members *members;
  tutti_network *network;
  tutti_backend *backend;
  tutti_config *config;
};

static struct tutti_points points_of(size_t count, const double *at) {
  return (struct tutti_points){.size = sizeof(struct tutti_points), .count = count, .dimension = 1, .vectors = at};
}

static void open_subject(struct subject *subject, enum tutti_member_values scaled) {
  struct toy *toy = &subject->toy;
  uint32_t layer = 0;
  toy_create(toy, 1, 4, 1, "x = uniform 0 1");
  subject->still = still_put(toy);
  struct tutti_surrogate_setup surrogate = {
      .size = sizeof surrogate, .host = toy->host, .seed = 1, .dimension = 1, .domain = toy->hyperparameters};
  struct tutti_members_setup setup = {.size = sizeof setup,
                                      .surrogate = &surrogate,
                                      .name = "test",
                                      .head = TUTTI_OP_HEAD_GAUSSIAN,
                                      .predictor = true,
                                      .values = scaled,
                                      .retries = 2};
  TOY_OK(toy, tutti_members_create(toy->context, &setup, &subject->members));
  const struct tutti_task *task = tutti_members_task(subject->members);
  TOY_OK(toy, tutti_network_create(toy->context, task->input, &subject->network));
  TOY_OK(toy, tutti_network_add_head(toy->context, subject->network, layer, task));
  TOY_OK(toy,
         tutti_backend_configure(toy->context, tutti_members_trainer(subject->members), NULL, NULL, &subject->config));
  struct tutti_points seen = points_of(SEEN, vectors);
  TOY_OK(toy, tutti_members_observe(toy->context, subject->members, &seen, values));
}

static void close_subject(struct subject *subject) {
  tutti_members_destroy(subject->members);
  tutti_config_destroy(subject->config);
  tutti_network_destroy(subject->network);
  toy_destroy(&subject->toy);
}

static struct tutti_member member_of(const struct subject *subject, uint64_t seed) {
  return (struct tutti_member){
      .size = sizeof(struct tutti_member), .network = subject->network, .config = subject->config, .seed = seed};
}

/* Train and take members of these seeds. */
static void take(struct subject *subject, size_t count, const uint64_t *seeds) {
  struct tutti_member specs[4];
  tutti_tensors *weights[4];
  for (size_t i = 0; i < count; i++)
    specs[i] = member_of(subject, seeds[i]);
  TOY_OK(&subject->toy, tutti_members_train(subject->toy.context, subject->members, count, specs, weights));
  TOY_OK(&subject->toy, tutti_members_take(subject->toy.context, subject->members, count, specs, weights));
}

static void moments(struct subject *subject, enum tutti_member_moments which, size_t draws, double *mean,
                    double *deviation) {
  const double at[2] = {0.5, 0.75};
  struct tutti_points points = points_of(2, at);
  double means[2], deviations[2];
  TOY_OK(&subject->toy,
         tutti_members_predict(subject->toy.context, subject->members, &points, which, draws, 7, means, deviations));
  assert_true(means[0] == means[1] && deviations[0] == deviations[1]);
  *mean = means[0];
  *deviation = deviations[0];
}

static void assert_near(double found, double expected) { assert_true(fabs(found - expected) < 1e-6); }

/* Members 2, 4 and 9: mean 5, squares about it 9 + 1 + 16 = 26, over 3. */
static void members_scatter_about_their_mean(void **state) {
  const uint64_t seeds[] = {2, 4, 9};
  struct subject subject;
  double mean, deviation;
  (void)state;
  open_subject(&subject, TUTTI_MEMBER_VALUES_NONE);
  take(&subject, 3, seeds);
  moments(&subject, TUTTI_MEMBER_BETWEEN, 0, &mean, &deviation);
  assert_near(mean, 5);
  assert_near(deviation, sqrt(26 / 3.));
  /* The first alone. */
  moments(&subject, TUTTI_MEMBER_OWN, 0, &mean, &deviation);
  assert_near(mean, 2);
  assert_near(deviation, 0.5);
  /* Draws of the first: 2, 12, 22, 32. */
  moments(&subject, TUTTI_MEMBER_DRAWS, 4, &mean, &deviation);
  assert_near(mean, 17);
  assert_near(deviation, sqrt((225 + 25 + 25 + 225) / 4.));
  close_subject(&subject);
}

/* Values of 10 to 30 are trained as those of -1 to 1: a network's 2 is 20 + 10 * 2. */
static void moments_are_in_the_units_of_the_values(void **state) {
  const uint64_t seeds[] = {2, 4, 9};
  struct subject subject;
  double mean, deviation;
  (void)state;
  open_subject(&subject, TUTTI_MEMBER_VALUES_RANGE);
  take(&subject, 3, seeds);
  assert_near((double)tutti_members_targets(subject.members)[2], -0.6);
  moments(&subject, TUTTI_MEMBER_BETWEEN, 0, &mean, &deviation);
  assert_near(mean, 70);
  assert_near(deviation, 10 * sqrt(26 / 3.));
  moments(&subject, TUTTI_MEMBER_OWN, 0, &mean, &deviation);
  assert_near(mean, 40);
  assert_near(deviation, 5);
  assert_near((double)subject.still->asked, 0); /* 0.5 of [0, 1] is 0 of [-1, 1] */
  close_subject(&subject);
}

static void a_training_that_diverges_is_repeated_from_other_seeds(void **state) {
  const uint64_t seeds[] = {2, 5};
  struct subject subject;
  (void)state;
  open_subject(&subject, TUTTI_MEMBER_VALUES_NONE);
  subject.still->refused = 5;
  take(&subject, 2, seeds);
  assert_int_equal(subject.still->count, 3); /* only the one that diverged */
  assert_int_equal(subject.still->jobs[0].seed, 2);
  assert_int_equal(subject.still->jobs[1].seed, 5);
  assert_true(subject.still->jobs[2].seed != 5 && subject.still->jobs[2].seed != 2);
  close_subject(&subject);
}

static void members_train_on_their_own_rows(void **state) {
  const uint32_t indices[] = {2, 1};
  struct subject subject;
  tutti_tensors *weights;
  (void)state;
  open_subject(&subject, TUTTI_MEMBER_VALUES_NONE);
  struct tutti_member spec = member_of(&subject, 3);
  TOY_OK(&subject.toy, tutti_members_train(subject.toy.context, subject.members, 1, &spec, &weights));
  tutti_tensors_destroy(weights);
  assert_int_equal(subject.still->jobs[0].rows, SEEN);
  assert_near((double)subject.still->jobs[0].inputs[0], -0.5);
  assert_near((double)subject.still->jobs[0].targets[0], 10);
  spec.rows = 2;
  spec.indices = indices;
  TOY_OK(&subject.toy, tutti_members_train(subject.toy.context, subject.members, 1, &spec, &weights));
  tutti_tensors_destroy(weights);
  assert_int_equal(subject.still->jobs[1].rows, 2);
  assert_near((double)subject.still->jobs[1].inputs[0], 0);
  assert_near((double)subject.still->jobs[1].targets[0], 14);
  close_subject(&subject);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(members_scatter_about_their_mean),
      cmocka_unit_test(moments_are_in_the_units_of_the_values),
      cmocka_unit_test(a_training_that_diverges_is_repeated_from_other_seeds),
      cmocka_unit_test(members_train_on_their_own_rows),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
