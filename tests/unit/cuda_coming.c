/* cuda_coming.c - many jobs of backend cuda, handed over at once or one after the other, and what little memory does
   to them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "backends/cpu/cpu_impl.h"
#include "cuda_coming.h"

void coming_add(struct coming *coming, struct tutti_job job) {
  size_t i = coming->count++;
  struct cpu_config *own = malloc(sizeof *own);
  assert_in_range(i, 0, COMING_MOST - 1);
  memcpy(own, job.config, sizeof *own);
  coming->jobs[i] = job;
  coming->jobs[i].config = own;
  coming->jobs[i].progress_argument = &coming->sides[i];
  coming->outcomes[i].size = sizeof coming->outcomes[i];
}

static bool next_coming(void *argument, const struct tutti_job **job, struct tutti_outcome **outcome, size_t *number) {
  struct coming *coming = argument;
  if (coming->given == coming->count || coming->given == 3 + coming->done)
    return false;
  coming->refilled += coming->done > 0 && coming->training > 0;
  *number = coming->given++;
  *job = &coming->jobs[*number];
  *outcome = &coming->outcomes[*number];
  coming->training++;
  coming->most = coming->training > coming->most ? coming->training : coming->most;
  return true;
}

/* Others still train, and want answers. */
static void coming_done(void *argument, size_t number) {
  struct coming *coming = argument;
  if (coming->outcomes[number].state == TUTTI_STATE_FINISHED) {
    enum tutti_status status =
        tutti_backend_predict(context, cuda.backend, &coming->jobs[number], coming->outcomes[number].weights,
                              validation, coming->predictions[number]);
    if (coming->loses)
      tutti_error_clear(context);
    else
      OK(status);
  }
  coming->training--;
  coming->done++;
  if (coming->each)
    coming->each(coming, number);
}

enum tutti_status coming_train(struct coming *coming) {
  const struct tutti_job_queue queue = {sizeof queue, coming, next_coming, coming_done};
  coming->numbers = tutti_split_rows(validation) * tutti_predictions_width(task.kind, task.outputs);
  assert_in_range(coming->numbers, 1, COMING_NUMBERS);
  return tutti_backend_train_queue(context, cuda.backend, &queue);
}

static void count_end(void *ends, size_t index) { ((unsigned *)ends)[index]++; }

void coming_train_at_once(struct coming *coming) {
  struct tutti_outcome *outcomes[COMING_MOST];
  const struct tutti_job *jobs[COMING_MOST];
  unsigned ends[COMING_MOST] = {0};
  for (size_t i = 0; i < coming->count; i++) {
    outcomes[i] = &coming->outcomes[i];
    jobs[i] = &coming->jobs[i];
  }
  OK(tutti_backend_train_many(context, cuda.backend, coming->count, jobs, outcomes, count_end, ends));
  for (size_t i = 0; i < coming->count; i++)
    assert_int_equal(ends[i], 1);
}

void coming_require_finished(const struct coming *coming) {
  for (size_t i = 0; i < coming->count; i++)
    if (coming->outcomes[i].state != TUTTI_STATE_FINISHED)
      fail_msg("job %zu: %s", i, coming->outcomes[i].failure);
}

void coming_require_alone(struct coming *coming) {
  float alone[COMING_NUMBERS];
  coming_require_finished(coming);
  for (size_t i = 0; i < coming->count; i++) {
    struct tutti_outcome outcome = {.size = sizeof outcome};
    coming->sides[i].epochs = 0;
    OK(tutti_backend_train(context, cuda.backend, &coming->jobs[i], &outcome));
    assert_int_equal(outcome.best_epoch, coming->outcomes[i].best_epoch);
    if (!same_weights(outcome.weights, coming->outcomes[i].weights))
      fail_msg("network %zu has other weights alone than among %zu others", i, coming->count - 1);
    if (coming->numbers > 0) {
      OK(tutti_backend_predict(context, cuda.backend, &coming->jobs[i], outcome.weights, validation, alone));
      assert_memory_equal(alone, coming->predictions[i], coming->numbers * sizeof *alone);
    }
    tutti_tensors_destroy(outcome.weights);
  }
}

void coming_release(struct coming *coming) {
  for (size_t i = 0; i < coming->count; i++) {
    tutti_tensors_destroy(coming->outcomes[i].weights);
    tutti_network_destroy((tutti_network *)(uintptr_t)coming->jobs[i].network);
    free((void *)(uintptr_t)coming->jobs[i].config);
  }
  memset(coming, 0, sizeof *coming);
}

/* --- predictions that find little memory --- */

static struct {
  const tutti_split *many;
  float *in_parts;
  const tutti_tensors *weights;
  size_t first;                       /* that was done */
  size_t epochs_before, epochs_after; /* of the one that trains meanwhile */
} asked;

static void ask_many(struct coming *coming, size_t number) {
  if (coming->done > 1)
    return;
  asked.first = number;
  OK(tutti_backend_predict(context, cuda.backend, &coming->jobs[number], coming->outcomes[number].weights, asked.many,
                           asked.in_parts));
}

void coming_require_parts(struct coming *coming, const char *memory, const tutti_split *many) {
  const size_t size = tutti_split_rows(many) * tutti_predictions_width(task.kind, task.outputs) * sizeof(float);
  float *in_parts = calloc(1, size), *at_once = calloc(1, size);
  asked.many = many;
  asked.in_parts = in_parts;
  coming->each = ask_many;
  emulate("TUTTI_EMULATED_MEMORY", memory);
  OK(coming_train(coming));
  emulate("TUTTI_EMULATED_MEMORY", NULL);
  const struct tutti_job *job = &coming->jobs[asked.first];
  const tutti_tensors *weights = coming->outcomes[asked.first].weights;
  OK(tutti_backend_predict(context, cuda.backend, job, weights, many, at_once));
  assert_memory_equal(in_parts, at_once, size);
  memset(in_parts, 0, size);
  emulate("TUTTI_EMULATED_MEMORY", memory);
  OK(tutti_backend_predict(context, cuda.backend, job, weights, many, in_parts));
  emulate("TUTTI_EMULATED_MEMORY", NULL);
  assert_memory_equal(in_parts, at_once, size);
  free(in_parts);
  free(at_once);
}

static void ask_large(struct coming *coming, size_t number) {
  float out[COMING_NUMBERS];
  if (number != 0)
    return;
  asked.epochs_before = coming->sides[1].epochs;
  OK(tutti_backend_predict(context, cuda.backend, &coming->jobs[1], asked.weights, validation, out));
  asked.epochs_after = coming->sides[1].epochs;
  assert_int_equal(coming->done, 1);
}

void coming_require_wait(struct coming *coming, const char *memory, const tutti_tensors *weights) {
  size_t epochs = (size_t)((const struct cpu_config *)coming->jobs[1].config)->epochs;
  asked.weights = weights;
  coming->each = ask_large;
  emulate("TUTTI_EMULATED_MEMORY", memory);
  OK(coming_train(coming));
  emulate("TUTTI_EMULATED_MEMORY", NULL);
  assert_in_range(asked.epochs_before, 0, epochs - 2);
  assert_in_range(asked.epochs_after, epochs - 1, epochs); /* the last is told with the end */
  coming_require_finished(coming);
}

void require_no_memory_to_predict(const struct tutti_job *job, const tutti_tensors *weights) {
  float out[COMING_NUMBERS];
  char text[128];
  emulate("TUTTI_EMULATED_MEMORY", "1");
  enum tutti_status status = tutti_backend_predict(context, cuda.backend, job, weights, validation, out);
  emulate("TUTTI_EMULATED_MEMORY", NULL);
  assert_int_equal(status, TUTTI_ERROR_MEMORY);
  (void)snprintf(text, sizeof text, "out of memory on the device: predictions of %zu rows at once need ",
                 tutti_split_rows(validation));
  must_fail(status, text);
  must_fail(status, " MiB, and 1 of 1 MiB are free; take backend cpu");
}
