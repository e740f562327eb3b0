/* backend_subject.c - a backend, made with rows and a small network to train. */
#include "backend_impl.h"

/* --- what kind of backend --- */

bool needs_data(const struct conform *conform) {
  const struct tutti_backend_ops *ops = conform->descriptor->ops;
  return ops->predict != NULL || (ops->size > offsetof(struct tutti_backend_ops, delegate) && ops->delegate);
}

/* --- subjects --- */

tutti_split *make_split(struct conform *conform, const struct tutti_task *task, const char *name, size_t rows,
                        uint64_t index) {
  size_t features = (size_t)task->input.height * (size_t)task->input.width * (size_t)task->input.channels;
  float *inputs = conform_alloc(conform, rows * features, sizeof *inputs);
  float *targets = conform_alloc(conform, rows * task->outputs, sizeof *targets);
  int32_t *labels = conform_alloc(conform, rows, sizeof *labels);
  struct tutti_random random;
  tutti_split *split = NULL;
  tutti_random_init(&random, WORLD_SEED, "conform rows", index);
  tutti_random_fill_normal(&random, rows * features, 0, 1, inputs);
  for (size_t i = 0; i < rows; i++) {
    for (size_t k = 0; k < task->outputs; k++)
      targets[i * task->outputs + k] = sinf(inputs[i * features + k]) + 0.1f * (float)tutti_random_normal(&random);
    labels[i] = (int32_t)i % 3;
  }
  bool classes = task->kind == TUTTI_TASK_CLASSIFICATION;
  TRY(conform, tutti_split_create(conform->context, name, rows, task->input, task->outputs, inputs,
                                  classes ? NULL : targets, classes ? labels : NULL, &split));
  tutti_free(inputs), tutti_free(targets), tutti_free(labels);
  return split;
}

/* Few epochs, also of a backend that it delegates to. */
static void limit_epochs(struct conform *conform, tutti_host *host) {
  char epochs[16];
  (void)snprintf(epochs, sizeof epochs, "%d", EPOCHS);
  for (size_t i = 0; i < tutti_host_sections(host); i++) {
    const struct tutti_descriptor *descriptor;
    const tutti_config *config;
    const char *section = tutti_host_section(host, i, &descriptor, &config);
    if (descriptor->kind == TUTTI_KIND_BACKEND && tutti_params_find(&descriptor->params, "epochs"))
      TRY(conform, tutti_host_set(conform->context, host, section, "epochs", epochs));
  }
}

static void create_backend(struct conform *conform, struct subject *subject) {
  subject->facts = (struct tutti_host_facts){
      .size = sizeof subject->facts, .seed = WORLD_SEED, .budget = 1, .window = 1, .task = &subject->example.task};
  subject->host = world_host(conform, &subject->facts);
  limit_epochs(conform, subject->host);
  struct tutti_backend_setup setup = {.size = sizeof setup, .task = &subject->example.task};
  TRY(conform, tutti_backend_create(conform->context, subject->host, "backend", &setup, &subject->made));
  TRY(conform, tutti_backend_choose(conform->context, subject->made, NULL, NULL, &subject->backend, &subject->config));
  REQUIRE(conform, subject->backend == subject->made || tutti_backend_delegates(subject->made),
          "another backend trains, though it does not delegate");
}

void close_subject(struct subject *subject) {
  tutti_split_destroy(subject->train);
  tutti_split_destroy(subject->validation);
  if (subject->candidates) {
    world_release(1, subject->candidates);
    world_end(&subject->world);
  }
  tutti_config_destroy(subject->config);
  tutti_backend_destroy(subject->made);
  tutti_host_destroy(subject->host);
  example_end(&subject->example);
}

bool open_example(struct conform *conform, struct subject *subject, size_t index) {
  memset(subject, 0, sizeof *subject);
  example_make(conform, index, &subject->example);
  if (!needs_data(conform))
    subject->example.task = world_task(TUTTI_TASK_VALUE);
  create_backend(conform, subject);
  bool networks = tutti_backend_takes_networks(subject->backend);
  if (needs_data(conform)) {
    subject->train = make_split(conform, &subject->example.task, "train", ROWS, 0);
    subject->validation = make_split(conform, &subject->example.task, "validation", ROWS / 2, 1);
  } else {
    world_make(conform, WORLD_FEW, 1, &subject->world);
    subject->candidates = world_candidates(conform, &subject->world, 0, 1);
  }
  subject->job = (struct tutti_job){.size = sizeof subject->job,
                                    .trial = 3,
                                    .run_seed = WORLD_SEED,
                                    .seed = 11,
                                    .task = &subject->example.task,
                                    .network = networks ? subject->example.network : NULL,
                                    .candidate = subject->candidates ? subject->candidates[0] : NULL,
                                    .config = tutti_config_values(subject->config),
                                    .train = subject->train,
                                    .validation = subject->validation};
  if (tutti_backend_check(conform->context, subject->backend, &subject->job) == TUTTI_OK)
    return true;
  REQUIRE(conform, tutti_error_message(conform->context)[0], "%s was refused without a message", subject->example.name);
  close_subject(subject);
  return false;
}

void open_subject(struct conform *conform, struct subject *subject) {
  for (size_t i = 0; i < example_count(); i++)
    if (open_example(conform, subject, i))
      return;
  conform_fail(conform, "it trains none of %zu small networks; the last: %s", example_count(),
               tutti_error_message(conform->context));
}

struct tutti_outcome train(struct conform *conform, const struct subject *subject) {
  struct tutti_outcome outcome = {.size = sizeof outcome};
  const struct tutti_job *job = conform_given(conform, "the job", &subject->job, sizeof subject->job);
  TRY(conform, tutti_backend_train(conform->context, subject->backend, job, &outcome));
  return outcome;
}

struct tutti_outcome finish(struct conform *conform, const struct subject *subject) {
  struct tutti_outcome outcome = train(conform, subject);
  REQUIRE(conform, outcome.state == TUTTI_STATE_FINISHED, "%s: it did not finish: %s", subject->example.name,
          outcome.failure);
  return outcome;
}

void require_same(struct conform *conform, const struct tutti_outcome *a, const struct tutti_outcome *b,
                  const char *what) {
  REQUIRE(conform,
          a->state == b->state && memcmp(&a->value, &b->value, sizeof a->value) == 0 && a->epochs == b->epochs &&
              a->best_epoch == b->best_epoch && a->steps == b->steps,
          "%s: state, value, epochs or steps differ", what);
  REQUIRE(conform, !a->weights == !b->weights, "%s: weights there and not there", what);
  for (size_t i = 0; a->weights && i < tutti_tensors_count(a->weights); i++) {
    const struct tutti_tensor *one = tutti_tensors_at(a->weights, i), *two = tutti_tensors_find(b->weights, one->name);
    REQUIRE(conform, two && one->bytes == two->bytes && memcmp(one->data, two->data, one->bytes) == 0,
            "%s: weights %s differ", what, one->name);
  }
}

/* --- predictions --- */

static void require_layout(struct conform *conform, const struct subject *subject, size_t rows, const float *values) {
  const struct tutti_task *task = &subject->example.task;
  size_t width = tutti_predictions_width(task->kind, task->outputs);
  for (size_t i = 0; i < rows; i++) {
    double sum = 0;
    for (size_t k = 0; k < width; k++) {
      double value = (double)values[i * width + k];
      bool variance = task->kind == TUTTI_TASK_REGRESSION && k % 2 == 1,
           probability = task->kind != TUTTI_TASK_REGRESSION;
      REQUIRE(conform, isfinite(value) || (variance && isnan(value)), "%s: row %zu, number %zu is %g",
              subject->example.name, i, k, value);
      REQUIRE(conform, !(variance && value < 0), "%s: row %zu has variance %g", subject->example.name, i, value);
      REQUIRE(conform, !probability || (value >= 0 && value <= 1), "%s: row %zu has probability %g",
              subject->example.name, i, value);
      sum += value;
    }
    REQUIRE(conform, task->kind == TUTTI_TASK_REGRESSION || fabs(sum - 1) < 1e-4,
            "%s: probabilities of row %zu sum to %g", subject->example.name, i, sum);
  }
  bool known = !isnan(values[1]);
  REQUIRE(conform, subject->example.task.head != TUTTI_OP_HEAD_GAUSSIAN || !subject->job.network || known,
          "%s: a Gaussian head without a variance", subject->example.name);
}

float *predict(struct conform *conform, const struct subject *subject, const tutti_tensors *weights,
               const tutti_split *split) {
  const struct tutti_task *task = &subject->example.task;
  size_t rows = tutti_split_rows(split), width = tutti_predictions_width(task->kind, task->outputs);
  float *out = conform_alloc(conform, rows * width, sizeof *out);
  struct tutti_job job = subject->job;
  job.train = job.validation = NULL;
  TRY(conform, tutti_backend_predict(conform->context, subject->backend, &job, weights, split, out));
  require_layout(conform, subject, rows, out);
  return out;
}

tutti_split *reversed(struct conform *conform, const struct tutti_task *task, const tutti_split *split) {
  size_t rows = tutti_split_rows(split);
  size_t features = (size_t)task->input.height * (size_t)task->input.width * (size_t)task->input.channels;
  float *inputs = conform_alloc(conform, rows * features, sizeof *inputs);
  uint32_t *order = conform_alloc(conform, rows, sizeof *order);
  tutti_split *turned = NULL;
  for (size_t i = 0; i < rows; i++)
    order[i] = (uint32_t)(rows - 1 - i);
  tutti_split_gather(split, rows, order, inputs);
  TRY(conform,
      tutti_split_create(conform->context, "reversed", rows, task->input, task->outputs, inputs, NULL, NULL, &turned));
  tutti_free(inputs), tutti_free(order);
  return turned;
}
