/* test_threads.c - the contract at the head of plugin.h: instances of the same plugins, each on a thread and with a
   context of its own, work at the same time as they do alone, to the same bits. */
#include "toy.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <string.h>
#include <cmocka.h>

enum { TRIALS = 14, THREADS = 4, SEARCHES = 4 };

/* A builder, and what it is to use. */
static const struct search {
  const char *builder, *surrogate;
} searches[SEARCHES] = {{"bo", "gp"}, {"agebo", "random-forest"}, {"ea", NULL}, {"bo", "random-forest"}};

/* One search for the minimum of a bowl, to the losses that it saw. */
struct job {
  const struct search *search;
  double losses[TRIALS];
};

static void *run(void *argument) {
  struct job *job = argument;
  struct toy toy;
  tutti_builder *builder;
  toy_create(&toy, 7, 1, 5, "x = uniform -1 1\nk = integer 1 9\nc = choice red green blue");
  toy_put(&toy, "builder", TUTTI_KIND_BUILDER, job->search->builder);
  if (job->search->surrogate)
    toy_set(&toy, "builder", "surrogate", job->search->surrogate);
  struct tutti_builder_setup setup = {.size = sizeof setup, .host = toy.host, .seed = 7};
  TOY_OK(&toy, tutti_builder_create(toy.context, toy.host, "builder", &setup, &builder));
  for (uint64_t trial = 0; trial < TRIALS; trial++) {
    struct tutti_proposal proposal = {.size = sizeof proposal};
    TOY_OK(&toy, tutti_builder_ask(toy.context, builder, trial, &proposal));
    const double *x = tutti_candidate_hyperparameters(proposal.candidate);
    double depth = tutti_genotype_point(tutti_candidate_genotype(proposal.candidate))[0];
    job->losses[trial] = x[0] * x[0] + fabs(x[1] - 4) + x[2] + fabs(depth - 2);
    struct tutti_result result = {.size = sizeof result,
                                  .trial = trial,
                                  .candidate = proposal.candidate,
                                  .state = TUTTI_STATE_FINISHED,
                                  .loss = job->losses[trial],
                                  .failure = ""};
    TOY_OK(&toy, tutti_builder_tell(toy.context, builder, &result));
    tutti_candidate_unref(proposal.candidate);
  }
  tutti_builder_destroy(builder);
  toy_destroy(&toy);
  return NULL;
}

static void test_at_the_same_time_as_alone(void **state) {
  struct job alone[SEARCHES], together[SEARCHES][THREADS];
  pthread_t threads[SEARCHES][THREADS];
  (void)state;
  for (int s = 0; s < SEARCHES; s++) {
    alone[s] = (struct job){.search = &searches[s]};
    (void)run(&alone[s]);
  }
  for (int s = 0; s < SEARCHES; s++)
    for (int t = 0; t < THREADS; t++) {
      together[s][t] = (struct job){.search = &searches[s]};
      assert_int_equal(pthread_create(&threads[s][t], NULL, run, &together[s][t]), 0);
    }
  for (int s = 0; s < SEARCHES; s++)
    for (int t = 0; t < THREADS; t++)
      assert_int_equal(pthread_join(threads[s][t], NULL), 0);
  for (int s = 0; s < SEARCHES; s++)
    for (int t = 0; t < THREADS; t++)
      if (memcmp(alone[s].losses, together[s][t].losses, sizeof alone[s].losses) != 0)
        fail_msg("builder %s with %s: thread %d saw other losses than the search alone", searches[s].builder,
                 searches[s].surrogate ? searches[s].surrogate : "no surrogate", t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_at_the_same_time_as_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
