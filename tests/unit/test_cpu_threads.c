/* test_cpu_threads.c - backend cpu on several threads: neither the threads that share a step nor those that train a job
   each change a bit, and many jobs have the outcomes, errors and callbacks of training them in order. */
#include "backends/cpu/cpu.c"

#include <pthread.h>

#include "cpu_training.h"

/* --- threads that share a step --- */

/* Two hidden layers whose products are large enough to be shared, and as many rows. */
static struct setting *begin_large(void) {
  struct setting *s = begin(TUTTI_OP_HEAD_LINEAR);
  train_on(s, make_split(s, "train", 500));
  s->task.train_rows = 500;
  plain_network(s, 3, 400, TUTTI_ACTIVATION_RELU);
  s->values->epochs = 3;
  s->values->batch_size = 0;
  s->values->l2 = 1e-4;
  return s;
}

static void test_a_shared_step_has_the_same_bits(void **state) {
  struct setting *s = begin_large();
  (void)state;
  assert_true(backend_cpu_is_large(500, 400, 400));
  train(s);
  for (unsigned threads = 2; threads <= 5; threads++) {
    tutti_threads_set(s->context, threads);
    assert_true(trains_the_same(s));
  }
  end(s);
}

static void test_shared_steps_allocate_nothing(void **state) {
  struct setting *s = begin_large();
  (void)state;
  s->values->epochs = 20;
  tutti_threads_set(s->context, 3);
  check_no_allocation(s);
  end(s);
}

/* --- a thread a job --- */

enum { JOBS = 6 };

struct many_jobs {
  struct setting *s;
  struct tutti_job jobs[JOBS];
  const struct tutti_job *pointers[JOBS];
  struct tutti_outcome outcomes[JOBS], *places[JOBS];
  struct job_watch {
    struct many_jobs *many;
    unsigned epochs, stop_after;
  } watches[JOBS];
  unsigned done[JOBS], calls;
  pthread_t caller;
};

static bool watch_job(void *argument, const struct tutti_epoch *epoch) {
  struct job_watch *watched = argument;
  assert_true(pthread_equal(pthread_self(), watched->many->caller));
  assert_int_equal(epoch->epoch, ++watched->epochs);
  return epoch->epoch != watched->stop_after;
}

static void note_done(void *argument, size_t index) {
  struct many_jobs *many = argument;
  assert_true(pthread_equal(pthread_self(), many->caller));
  many->done[index]++;
  many->calls++;
}

static struct many_jobs *begin_jobs(unsigned threads) {
  struct many_jobs *many = calloc(1, sizeof *many);
  many->s = begin(TUTTI_OP_HEAD_LINEAR);
  many->caller = pthread_self();
  many->s->values->epochs = 5;
  tutti_threads_set(many->s->context, threads);
  for (size_t i = 0; i < JOBS; i++) {
    many->watches[i] = (struct job_watch){.many = many};
    many->jobs[i] = many->s->job;
    many->jobs[i].seed = 100 + i;
    many->jobs[i].progress = watch_job;
    many->jobs[i].progress_argument = &many->watches[i];
    many->pointers[i] = &many->jobs[i];
    many->outcomes[i].size = sizeof many->outcomes[i];
    many->places[i] = &many->outcomes[i];
  }
  return many;
}

static enum tutti_status run_jobs(struct many_jobs *many) {
  return cpu_ops.train_many(many->s->backend, many->s->context, JOBS, many->pointers, many->places, note_done, many);
}

static void end_jobs(struct many_jobs *many) {
  for (size_t i = 0; i < JOBS; i++)
    tutti_tensors_destroy(many->outcomes[i].weights);
  end(many->s);
  free(many);
}

static void test_many_jobs_are_what_each_is_alone(void **state) {
  (void)state;
  for (unsigned threads = 1; threads <= 8; threads += 3) {
    struct many_jobs *many = begin_jobs(threads);
    struct setting *s = many->s;
    many->watches[2].stop_after = 2;
    OK(run_jobs(many));
    for (size_t i = 0; i < JOBS; i++) {
      assert_int_equal(many->done[i], 1);
      assert_int_equal(many->outcomes[i].state, i == 2 ? TUTTI_STATE_PRUNED : TUTTI_STATE_FINISHED);
      assert_int_equal(many->watches[i].epochs, i == 2 ? 2 : 5);
      s->job = many->jobs[i];
      s->job.progress = watch;
      s->job.progress_argument = s;
      s->stop_after = i == 2 ? 2 : 0;
      train(s);
      assert_true(same_weights(s->outcome.weights, many->outcomes[i].weights));
    }
    end_jobs(many);
  }
}

/* Jobs 3 and 4 cannot be trained: the error is that of job 3, in its words, however the threads went. */
static void test_the_first_error_counts(void **state) {
  (void)state;
  for (unsigned threads = 1; threads <= 4; threads++) {
    struct many_jobs *many = begin_jobs(threads);
    struct setting *s = many->s;
    many->jobs[3].box = (const float[]){0, 0, 0, 1, 0, 1}; /* empty in feature 1 */
    many->jobs[4].train = NULL;
    expect(s, run_jobs(many), TUTTI_ERROR_USAGE, "feature 1 goes from 0 to 0");
    for (size_t i = 0; i < JOBS; i++)
      assert_int_equal(many->done[i], many->outcomes[i].weights != NULL);
    assert_int_equal(many->done[3] + many->done[4], 0);
    assert_true(many->done[0] && many->done[1] && many->done[2]);
    end_jobs(many);
  }
}

static bool cancel_job(void *argument, const struct tutti_epoch *epoch) {
  struct many_jobs *many = argument;
  if (epoch->epoch == 2)
    tutti_cancel(many->s->context);
  return true;
}

static void test_cancelling_ends_them_all(void **state) {
  struct many_jobs *many = begin_jobs(3);
  (void)state;
  many->s->values->epochs = 1000000;
  many->jobs[1].progress = cancel_job;
  many->jobs[1].progress_argument = many;
  expect(many->s, run_jobs(many), TUTTI_ERROR_CANCELLED, "training was cancelled in epoch");
  assert_int_equal(many->calls, 0);
  end_jobs(many);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_shared_step_has_the_same_bits),  cmocka_unit_test(test_shared_steps_allocate_nothing),
      cmocka_unit_test(test_many_jobs_are_what_each_is_alone), cmocka_unit_test(test_the_first_error_counts),
      cmocka_unit_test(test_cancelling_ends_them_all),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
