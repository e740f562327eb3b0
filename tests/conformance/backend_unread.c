/* backend_unread.c - inputs that a backend's networks leave out. */
#include "backend_impl.h"

/* The last features say again what others say, as those of data.bins do. */
enum { ENCODINGS = 2 };

/* The index-th example as a job on a table with encodings, of whose inputs the backend leaves some out. */
static bool open_leaving(struct conform *conform, struct subject *subject, size_t index, size_t *unread) {
  if (!open_example(conform, subject, index))
    return false;
  struct tutti_task *task = &subject->example.task;
  const bool table = task->input.height == 1 && task->input.width == 1;
  task->encodings = ENCODINGS;
  if (table && tutti_backend_check(conform->context, subject->backend, &subject->job) == TUTTI_OK) {
    *unread = tutti_backend_unread(subject->backend, &subject->job);
    if (*unread > 0)
      return true;
  }
  close_subject(subject);
  return false;
}

/* The same rows with other numbers in their last `unread` inputs. */
static tutti_split *changed(struct conform *conform, const struct tutti_task *task, const tutti_split *split,
                            size_t unread) {
  const size_t rows = tutti_split_rows(split), features = (size_t)task->input.channels;
  const bool classes = task->kind == TUTTI_TASK_CLASSIFICATION;
  float *inputs = conform_alloc(conform, rows * features, sizeof *inputs);
  tutti_split *other = NULL;
  memcpy(inputs, tutti_split_inputs(split), rows * features * sizeof *inputs);
  for (size_t i = 0; i < rows * features; i++)
    if (i % features >= features - unread)
      inputs[i] = 3 - 2 * inputs[i];
  TRY(conform, tutti_split_create(conform->context, tutti_split_name(split), rows, task->input, task->outputs, inputs,
                                  classes ? NULL : tutti_split_targets(split),
                                  classes ? tutti_split_labels(split) : NULL, &other));
  tutti_free(inputs);
  return other;
}

/* Training and predicting do not see them. */
static void require_unseen(struct conform *conform, const struct subject *subject, size_t unread,
                           const struct tutti_outcome *outcome) {
  const struct tutti_task *task = &subject->example.task;
  struct subject other = *subject;
  other.job.train = changed(conform, task, subject->train, unread);
  other.job.validation = changed(conform, task, subject->validation, unread);
  struct tutti_outcome trained = finish(conform, &other);
  require_same(conform, outcome, &trained, "trained on rows that differ in inputs that are left out");
  const size_t count = tutti_split_rows(subject->validation) * tutti_predictions_width(task->kind, task->outputs);
  float *one = predict(conform, subject, outcome->weights, subject->validation),
        *two = predict(conform, subject, outcome->weights, other.job.validation);
  REQUIRE(conform, memcmp(one, two, count * sizeof *one) == 0, "%s: inputs that are left out change what is predicted",
          subject->example.name);
  tutti_free(one), tutti_free(two);
  tutti_tensors_destroy(trained.weights);
  tutti_split_destroy((tutti_split *)(uintptr_t)other.job.train);
  tutti_split_destroy((tutti_split *)(uintptr_t)other.job.validation);
}

static size_t zeros_of(const tutti_tensors *weights) {
  size_t zeros = 0;
  for (size_t i = 0; i < tutti_tensors_count(weights); i++) {
    const struct tutti_tensor *tensor = tutti_tensors_at(weights, i);
    const float *values = tensor->data;
    for (size_t k = 0; tensor->element == TUTTI_F32 && k < tensor->bytes / sizeof *values; k++)
      zeros += values[k] == 0;
  }
  return zeros;
}

/* The weights for them are 0: as many as the network has more than one without them. */
static void require_zeros(struct conform *conform, const struct subject *subject, size_t unread,
                          const struct tutti_outcome *outcome) {
  tutti_network *narrow;
  TRY(conform, tutti_network_narrow(conform->context, subject->job.network, unread, &narrow));
  const size_t wanted = tutti_network_parameters(subject->job.network) - tutti_network_parameters(narrow),
               found = zeros_of(outcome->weights);
  tutti_network_destroy(narrow);
  REQUIRE(conform, found >= wanted, "%s: %zu weights are of inputs that are left out, and %zu weights are 0",
          subject->example.name, wanted, found);
}

void check_unread(struct conform *conform) {
  size_t leaving = 0;
  for (size_t i = 0; i < example_count() && needs_data(conform); i++) {
    struct subject subject;
    size_t unread;
    if (!open_leaving(conform, &subject, i, &unread))
      continue;
    const size_t features = (size_t)subject.example.task.input.channels;
    REQUIRE(conform, unread < features, "%s: it leaves out %zu of %zu inputs", subject.example.name, unread, features);
    struct tutti_outcome outcome = finish(conform, &subject);
    require_unseen(conform, &subject, unread, &outcome);
    require_zeros(conform, &subject, unread, &outcome);
    tutti_tensors_destroy(outcome.weights);
    close_subject(&subject);
    leaving++;
  }
  if (leaving == 0)
    conform_skip(conform, "it leaves none out");
}
