/* backend_many.c - jobs that train at once, and those that come while others train. */
#include "backend_impl.h"

enum { MANY = 5 };

struct ends {
  unsigned count[MANY];
};

static void on_done(void *argument, size_t index) { ((struct ends *)argument)->count[index]++; }

void check_many(struct conform *conform) {
  struct subject subject;
  struct tutti_outcome together[MANY], alone;
  struct tutti_outcome *outcomes[MANY];
  struct tutti_job jobs[MANY];
  const struct tutti_job *pointers[MANY];
  struct ends ends = {{0}};
  open_subject(conform, &subject);
  REQUIRE(conform, tutti_backend_capacity(subject.backend) >= 1, "its capacity is 0");
  for (size_t i = 0; i < MANY; i++) {
    together[i] = (struct tutti_outcome){.size = sizeof together[i]};
    outcomes[i] = &together[i];
    jobs[i] = subject.job;
    jobs[i].seed = jobs[i].trial = 20 + i;
    pointers[i] = &jobs[i];
  }
  tutti_threads_set(conform->context, 3);
  TRY(conform, tutti_backend_train_many(conform->context, subject.backend, MANY, pointers, outcomes, on_done, &ends));
  tutti_threads_set(conform->context, 1);
  for (size_t i = 0; i < MANY; i++) {
    REQUIRE(conform, ends.count[i] == 1, "job %zu was reported as done %u times", i, ends.count[i]);
    subject.job = jobs[i];
    alone = train(conform, &subject);
    require_same(conform, &alone, &together[i], "trained alone and with others");
    tutti_tensors_destroy(alone.weights), tutti_tensors_destroy(together[i].weights);
  }
  close_subject(&subject);
}

/* --- a queue --- */

enum { AT_FIRST = 3 };

/* Three jobs at first, and one more for each that is done. */
struct coming {
  struct conform *conform;
  const struct subject *subject;
  struct tutti_job jobs[MANY];
  struct tutti_outcome outcomes[MANY];
  float *predictions[MANY];
  size_t given, ended;
  unsigned ends[MANY];
};

static bool next_coming(void *argument, const struct tutti_job **job, struct tutti_outcome **outcome, size_t *number) {
  struct coming *coming = argument;
  if (coming->given == MANY || coming->given == AT_FIRST + coming->ended)
    return false;
  *number = coming->given++;
  *job = &coming->jobs[*number];
  *outcome = &coming->outcomes[*number];
  return true;
}

/* What has just ended is asked for predictions while others train. */
static void coming_done(void *argument, size_t number) {
  struct coming *coming = argument;
  REQUIRE(coming->conform, number < coming->given, "job %zu is done before it was taken", number);
  coming->ends[number]++;
  coming->ended++;
  if (coming->outcomes[number].state == TUTTI_STATE_FINISHED && needs_data(coming->conform)) {
    struct subject subject = *coming->subject;
    subject.job = coming->jobs[number];
    coming->predictions[number] =
        predict(coming->conform, &subject, coming->outcomes[number].weights, subject.validation);
  }
}

static void require_alone(struct conform *conform, struct subject *subject, struct coming *coming, size_t i) {
  size_t width = tutti_predictions_width(subject->example.task.kind, subject->example.task.outputs);
  REQUIRE(conform, coming->ends[i] == 1, "job %zu was reported as done %u times", i, coming->ends[i]);
  subject->job = coming->jobs[i];
  struct tutti_outcome alone = train(conform, subject);
  require_same(conform, &alone, &coming->outcomes[i], "trained alone and from a queue");
  if (coming->predictions[i]) {
    float *again = predict(conform, subject, alone.weights, subject->validation);
    REQUIRE(conform,
            memcmp(again, coming->predictions[i], tutti_split_rows(subject->validation) * width * sizeof *again) == 0,
            "job %zu predicts otherwise while others train", i);
    tutti_free(again);
  }
  tutti_free(coming->predictions[i]);
  tutti_tensors_destroy(alone.weights), tutti_tensors_destroy(coming->outcomes[i].weights);
}

static void check_example(struct conform *conform, struct subject *subject) {
  struct coming coming = {.conform = conform, .subject = subject};
  const struct tutti_job_queue queue = {sizeof queue, &coming, next_coming, coming_done};
  for (size_t i = 0; i < MANY; i++) {
    coming.jobs[i] = subject->job;
    coming.jobs[i].seed = coming.jobs[i].trial = 20 + i;
    coming.outcomes[i].size = sizeof coming.outcomes[i];
  }
  TRY(conform, tutti_backend_train_queue(conform->context, subject->backend, &queue));
  REQUIRE(conform, coming.ended == MANY, "of %d jobs of a queue %zu were done", MANY, coming.ended);
  for (size_t i = 0; i < MANY; i++)
    require_alone(conform, subject, &coming, i);
}

static bool is_of_images(const struct subject *subject) { return subject->example.task.input.height > 1; }

/* The first example that it trains, and the first of images. */
void check_queue(struct conform *conform) {
  struct subject subject;
  open_subject(conform, &subject);
  bool images = is_of_images(&subject), data = subject.job.network != NULL;
  check_example(conform, &subject);
  close_subject(&subject);
  for (size_t i = 0; i < example_count() && data && !images; i++)
    if (open_example(conform, &subject, i)) {
      images = is_of_images(&subject);
      if (images)
        check_example(conform, &subject);
      close_subject(&subject);
    }
}
