/* backend.c - the contract of kind backend: backends that train networks, backends that take none, and backends that
   need no data either. */
#include "core/network/network_impl.h"
#include "networks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROWS = 24, EPOCHS = 3 };

/* A backend, and something that it trains. */
struct subject {
  struct example example;
  struct tutti_host_facts facts;
  tutti_host *host;
  tutti_backend *backend;
  tutti_config *config;
  tutti_split *train, *validation;
  struct world world; /* of backends that need no data: where the candidate comes from */
  tutti_candidate **candidates;
  struct tutti_job job;
};

/* --- what kind of backend --- */

static bool needs_data(const struct conform *conform) {
  const struct tutti_backend_ops *ops = conform->descriptor->ops;
  return ops->predict != NULL;
}

static bool has_gradient(const struct conform *conform) {
  const struct tutti_backend_ops *ops = conform->descriptor->ops;
  return offsetof(struct tutti_backend_ops, gradient) < ops->size && ops->gradient;
}

/* --- subjects --- */

/* Rows drawn from the stream `index`; targets depend on the inputs. */
static tutti_split *make_split(struct conform *conform, const struct tutti_task *task, const char *name, size_t rows,
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

static void create_backend(struct conform *conform, struct subject *subject) {
  subject->facts = (struct tutti_host_facts){
      .size = sizeof subject->facts, .seed = WORLD_SEED, .budget = 1, .window = 1, .task = &subject->example.task};
  subject->host = world_host(conform, &subject->facts);
  if (tutti_params_find(&conform->descriptor->params, "epochs")) {
    char epochs[16];
    (void)snprintf(epochs, sizeof epochs, "%d", EPOCHS);
    TRY(conform, tutti_host_set(conform->context, subject->host, "backend", "epochs", epochs));
  }
  struct tutti_backend_setup setup = {.size = sizeof setup, .task = &subject->example.task};
  TRY(conform, tutti_backend_create(conform->context, subject->host, "backend", &setup, &subject->backend));
  TRY(conform, tutti_backend_configure(conform->context, subject->backend, NULL, NULL, &subject->config));
}

static void close_subject(struct subject *subject) {
  tutti_split_destroy(subject->train);
  tutti_split_destroy(subject->validation);
  if (subject->candidates) {
    world_release(1, subject->candidates);
    world_end(&subject->world);
  }
  tutti_config_destroy(subject->config);
  tutti_backend_destroy(subject->backend);
  tutti_host_destroy(subject->host);
  example_end(&subject->example);
}

/* The index-th example; false if the backend does not support what the example needs. */
static bool open_example(struct conform *conform, struct subject *subject, size_t index) {
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

/* The first example that the backend trains. */
static void open_subject(struct conform *conform, struct subject *subject) {
  for (size_t i = 0; i < example_count(); i++)
    if (open_example(conform, subject, i))
      return;
  conform_fail(conform, "it trains none of %zu small networks; the last: %s", example_count(),
               tutti_error_message(conform->context));
}

static struct tutti_outcome train(struct conform *conform, const struct subject *subject) {
  struct tutti_outcome outcome = {.size = sizeof outcome};
  const struct tutti_job *job = conform_given(conform, "the job", &subject->job, sizeof subject->job);
  TRY(conform, tutti_backend_train(conform->context, subject->backend, job, &outcome));
  return outcome;
}

static struct tutti_outcome finish(struct conform *conform, const struct subject *subject) {
  struct tutti_outcome outcome = train(conform, subject);
  REQUIRE(conform, outcome.state == TUTTI_STATE_FINISHED, "%s: it did not finish: %s", subject->example.name,
          outcome.failure);
  return outcome;
}

static void require_same(struct conform *conform, const struct tutti_outcome *a, const struct tutti_outcome *b,
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

static float *predict(struct conform *conform, const struct subject *subject, const tutti_tensors *weights,
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

/* The rows of a split, in reverse order. */
static tutti_split *reversed(struct conform *conform, const struct tutti_task *task, const tutti_split *split) {
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

/* --- checks --- */

static void check_create(struct conform *conform) {
  struct subject subject;
  for (int i = 0; i < 3; i++) {
    open_subject(conform, &subject);
    close_subject(&subject);
  }
}

/* Does the backend look at anything but its config? Then one training is as good as all. */
static size_t trained_examples(const struct subject *subject) { return subject->job.network ? example_count() : 1; }

static void check_train(struct conform *conform) {
  struct subject subject;
  size_t trained = 0, count = 1;
  for (size_t i = 0; i < count; i++) {
    if (!open_example(conform, &subject, i)) {
      count = example_count();
      continue;
    }
    count = trained_examples(&subject);
    struct tutti_outcome outcome = finish(conform, &subject);
    if (needs_data(conform))
      tutti_free(predict(conform, &subject, outcome.weights, subject.train));
    else
      REQUIRE(conform, isfinite(outcome.value), "it finished with the value %g", outcome.value);
    tutti_tensors_destroy(outcome.weights);
    close_subject(&subject);
    trained++;
  }
  REQUIRE(conform, trained > 0, "it trains none of %zu small networks: %s", count,
          tutti_error_message(conform->context));
}

/* A function of the job alone: again, by another instance, and after another job. */
static void check_determinism(struct conform *conform) {
  struct subject a, b;
  open_subject(conform, &a);
  open_subject(conform, &b);
  struct tutti_outcome first = finish(conform, &a), twin, other, again;
  uint64_t seed = a.job.seed;
  a.job.seed = 12;
  other = finish(conform, &a);
  a.job.seed = seed;
  again = finish(conform, &a);
  twin = finish(conform, &b);
  require_same(conform, &first, &again, "trained again, after another job");
  require_same(conform, &first, &twin, "trained by another instance");
  tutti_tensors_destroy(first.weights), tutti_tensors_destroy(twin.weights);
  tutti_tensors_destroy(other.weights), tutti_tensors_destroy(again.weights);
  close_subject(&a);
  close_subject(&b);
}

static void check_rows(struct conform *conform) {
  struct subject subject;
  if (!needs_data(conform))
    conform_skip(conform, "it does not predict");
  open_subject(conform, &subject);
  const struct tutti_task *task = &subject.example.task;
  size_t width = tutti_predictions_width(task->kind, task->outputs), rows = tutti_split_rows(subject.validation);
  struct tutti_outcome outcome = finish(conform, &subject);
  tutti_split *turned = reversed(conform, task, subject.validation), *one = make_split(conform, task, "one", 1, 1);
  float *straight = predict(conform, &subject, outcome.weights, subject.validation);
  float *backward = predict(conform, &subject, outcome.weights, turned);
  float *alone = predict(conform, &subject, outcome.weights, one);
  for (size_t i = 0; i < rows; i++)
    for (size_t k = 0; k < width; k++) {
      double x = (double)straight[i * width + k], y = (double)backward[(rows - 1 - i) * width + k];
      REQUIRE(conform, conform_close(x, y, 1e-4, 1e-5) || (isnan(x) && isnan(y)),
              "row %zu is predicted as %g, in reverse order as %g", i, x, y);
      REQUIRE(conform, i > 0 || conform_close(x, (double)alone[k], 1e-4, 1e-5) || isnan(x),
              "row 0 is predicted as %g, alone as %g", x, (double)alone[k]);
    }
  tutti_free(straight), tutti_free(backward), tutti_free(alone);
  tutti_split_destroy(turned), tutti_split_destroy(one);
  tutti_tensors_destroy(outcome.weights);
  close_subject(&subject);
}

static void check_no_validation(struct conform *conform) {
  struct subject subject;
  if (!needs_data(conform))
    conform_skip(conform, "it takes no data");
  open_subject(conform, &subject);
  subject.job.validation = NULL;
  struct tutti_outcome outcome = finish(conform, &subject);
  tutti_free(predict(conform, &subject, outcome.weights, subject.validation));
  tutti_tensors_destroy(outcome.weights);
  close_subject(&subject);
}

/* NaN in the data leads to a failed trial or an error, never to a model. */
static void check_nan(struct conform *conform) {
  struct subject subject;
  struct tutti_outcome outcome = {.size = sizeof outcome};
  if (!needs_data(conform))
    conform_skip(conform, "it takes no data");
  open_subject(conform, &subject);
  const struct tutti_task *task = &subject.example.task;
  size_t features = (size_t)task->input.height * (size_t)task->input.width * (size_t)task->input.channels;
  float *inputs = conform_alloc(conform, ROWS * features, sizeof *inputs);
  float *targets = conform_alloc(conform, ROWS * task->outputs, sizeof *targets);
  int32_t *labels = conform_alloc(conform, ROWS, sizeof *labels);
  tutti_split *split = NULL;
  bool classes = task->kind == TUTTI_TASK_CLASSIFICATION;
  for (size_t i = 0; i < ROWS * features; i++)
    inputs[i] = NAN;
  TRY(conform, tutti_split_create(conform->context, "train", ROWS, task->input, task->outputs, inputs,
                                  classes ? NULL : targets, classes ? labels : NULL, &split));
  subject.job.train = split;
  if (tutti_backend_train(conform->context, subject.backend, &subject.job, &outcome) == TUTTI_OK) {
    REQUIRE(conform, outcome.state == TUTTI_STATE_FAILED, "trained on inputs that are no numbers it did not fail");
    REQUIRE(conform, outcome.failure[0], "it failed without saying why");
  }
  tutti_tensors_destroy(outcome.weights);
  tutti_split_destroy(split);
  tutti_free(inputs), tutti_free(targets), tutti_free(labels);
  close_subject(&subject);
}

/* --- progress, cancelling --- */

struct watch {
  tutti_context *cancel; /* cancelled at the first report, unless NULL */
  uint32_t reports, last_epoch;
  uint64_t last_steps;
  bool orderly, go_on;
};

static bool on_epoch(void *argument, const struct tutti_epoch *epoch) {
  struct watch *watch = argument;
  watch->orderly = watch->orderly && epoch->epoch == watch->last_epoch + 1 && epoch->steps >= watch->last_steps &&
                   epoch->seconds >= 0 && isfinite(epoch->train_loss);
  watch->last_epoch = epoch->epoch;
  watch->last_steps = epoch->steps;
  watch->reports++;
  if (watch->cancel)
    tutti_cancel(watch->cancel);
  return watch->go_on;
}

static void check_progress(struct conform *conform) {
  struct subject subject;
  struct watch watch = {.orderly = true, .go_on = true};
  open_subject(conform, &subject);
  struct tutti_outcome silent = finish(conform, &subject);
  subject.job.progress = on_epoch;
  subject.job.progress_argument = &watch;
  struct tutti_outcome watched = finish(conform, &subject);
  require_same(conform, &silent, &watched, "watched and not watched");
  REQUIRE(conform, watch.orderly, "epochs are not reported 1, 2, 3, ... with finite losses");
  REQUIRE(conform, watch.reports == 0 || watch.reports == watched.epochs, "%u epochs, %u reports", watched.epochs,
          watch.reports);
  tutti_tensors_destroy(silent.weights), tutti_tensors_destroy(watched.weights);
  close_subject(&subject);
  if (watch.reports == 0)
    conform_skip(conform, "it reports none");
}

static void check_prune(struct conform *conform) {
  struct subject subject;
  struct watch watch = {.orderly = true, .go_on = false};
  open_subject(conform, &subject);
  subject.job.progress = on_epoch;
  subject.job.progress_argument = &watch;
  struct tutti_outcome outcome = train(conform, &subject);
  REQUIRE(conform, watch.reports == 0 || (outcome.state == TUTTI_STATE_PRUNED && watch.reports == 1),
          "told to stop after an epoch, it went on for %u, and ended in state %d", watch.reports, (int)outcome.state);
  tutti_tensors_destroy(outcome.weights);
  close_subject(&subject);
  if (watch.reports == 0)
    conform_skip(conform, "it reports no epochs");
}

static void check_cancel(struct conform *conform) {
  struct subject subject;
  struct watch watch = {.cancel = conform->context, .go_on = true};
  struct tutti_outcome outcome = {.size = sizeof outcome};
  open_subject(conform, &subject);
  subject.job.progress = on_epoch;
  subject.job.progress_argument = &watch;
  enum tutti_status status = tutti_backend_train(conform->context, subject.backend, &subject.job, &outcome);
  REQUIRE(conform, watch.reports <= 1, "cancelled at the end of an epoch, it trained %u more", watch.reports - 1);
  REQUIRE(conform, watch.reports == 0 || status == TUTTI_ERROR_CANCELLED, "cancelled, it answered \"%s\"",
          tutti_status_name(status));
  tutti_tensors_destroy(outcome.weights);
  close_subject(&subject);
  if (watch.reports == 0)
    conform_skip(conform, "it reports no epochs");
}

/* --- many at once --- */

enum { MANY = 5 };

struct ends {
  unsigned count[MANY];
};

static void on_done(void *argument, size_t index) { ((struct ends *)argument)->count[index]++; }

static void check_many(struct conform *conform) {
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

/* --- ops --- */

static void check_ops(struct conform *conform) {
  struct subject subject;
  size_t refused = 0;
  open_subject(conform, &subject);
  bool networks = tutti_backend_takes_networks(subject.backend);
  if (!networks) {
    close_subject(&subject);
    conform_skip(conform, "it takes no networks");
  }
  REQUIRE(conform, tutti_backend_supports(subject.backend, TUTTI_OP_INPUT), "it takes networks, but no input");
  for (size_t i = 0; i < example_count(); i++) {
    struct example example;
    struct tutti_job job = subject.job;
    bool all = true;
    example_make(conform, i, &example);
    job.task = &example.task;
    job.network = example.network;
    for (size_t k = 0; k < tutti_network_layers(example.network); k++)
      all = all && tutti_backend_supports(subject.backend, tutti_network_layer(example.network, k)->op);
    enum tutti_status status = tutti_backend_check(conform->context, subject.backend, &job);
    REQUIRE(conform, all || (status != TUTTI_OK && strstr(tutti_error_message(conform->context), conform->name)),
            "%s has an op that it lacks, and is not refused by name: %s", example.name,
            tutti_error_message(conform->context));
    refused += !all;
    example_end(&example);
  }
  close_subject(&subject);
  snprintf(conform->why, sizeof conform->why, "%zu of %zu small networks are refused", refused, example_count());
}

/* --- what it cannot know --- */

static enum tutti_status infer_same(tutti_context *context, const tutti_network *network,
                                    const struct tutti_layer *layer, struct tutti_inferred *inferred) {
  (void)context, (void)network, (void)layer, (void)inferred;
  return TUTTI_OK;
}

/* Does the backend accept a network of a dense layer, a layer of this definition, and the head? */
static enum tutti_status try_definition(struct conform *conform, const struct subject *subject, enum tutti_op op,
                                        const struct tutti_op_definition *definition,
                                        const struct tutti_attribute *attributes) {
  tutti_context *context = conform->context;
  struct tutti_job job = subject->job;
  tutti_network *network;
  uint32_t layer;
  TRY(conform, tutti_network_create(context, subject->example.task.input, &network));
  TRY(conform, tutti_network_add_dense(context, network, NULL, 0, 4, TUTTI_ACTIVATION_LINEAR, &layer));
  TRY(conform, tutti_network_add_defined(context, network, op, definition, "later", 1, &layer, attributes, &layer));
  TRY(conform, tutti_network_add_head(context, network, layer, &subject->example.task));
  job.network = network;
  enum tutti_status status = tutti_backend_check(context, subject->backend, &job);
  tutti_network_destroy(network);
  return status;
}

static void require_refusal(struct conform *conform, enum tutti_status status, const char *what) {
  const char *message = tutti_error_message(conform->context);
  REQUIRE(conform, status != TUTTI_OK, "it takes %s, and would compute something else", what);
  REQUIRE(conform, strstr(message, conform->name) && strstr(message, "'later'"),
          "its refusal of %s does not name the backend and the layer: %s", what, message);
}

/* A host of a later version may offer activations and attributes, and any plugin ops, that the backend has never heard
   of. To compute a layer without them would be to train another network than was asked for. */
static void check_later(struct conform *conform) {
  const char *names[TUTTI_ACTIVATION_COUNT + 2] = {NULL};
  struct subject subject;
  open_subject(conform, &subject);
  for (size_t i = 0; i < TUTTI_ACTIVATION_COUNT; i++)
    names[i] = tutti_activation_names()[i];
  names[TUTTI_ACTIVATION_COUNT] = "conform-later";
  const struct tutti_attribute_definition attributes[] = {
      {.name = "activation",
       .type = TUTTI_ATTRIBUTE_CHOICE,
       .preset = TUTTI_ACTIVATION_RELU,
       .choices = names,
       .doc = "The function."},
      {.name = "conform_later", .type = TUTTI_ATTRIBUTE_REAL, .doc = "Changes the function, unless it is 0."}};
  const struct tutti_op_definition definition = {.size = sizeof definition,
                                                 .name = "activation",
                                                 .min_inputs = 1,
                                                 .max_inputs = 1,
                                                 .infer = infer_same,
                                                 .attributes = TUTTI_ATTRIBUTE_TABLE(attributes)};
  struct tutti_op_definition other = definition;
  other.name = "conform-later";
  bool tries = tutti_backend_takes_networks(subject.backend) && subject.example.task.head != TUTTI_OP_HEAD_NOMU &&
               try_definition(conform, &subject, TUTTI_OP_ACTIVATION, tutti_op_find(conform->context, "activation"),
                              NULL) == TUTTI_OK;
  if (tries) {
    require_refusal(conform,
                    try_definition(conform, &subject, TUTTI_OP_ACTIVATION, &definition,
                                   TUTTI_ATTRIBUTES({"activation", TUTTI_ACTIVATION_COUNT})),
                    "an activation of a later version");
    require_refusal(
        conform,
        try_definition(conform, &subject, TUTTI_OP_ACTIVATION, &definition, TUTTI_ATTRIBUTES({"conform_later", 1})),
        "an attribute of a later version");
    require_refusal(conform, try_definition(conform, &subject, TUTTI_OP_OTHER, &other, NULL), "an op of a stranger");
  }
  close_subject(&subject);
  if (!tries)
    conform_skip(conform, "it takes no networks with a dense layer and relu");
}

/* --- gradients --- */

static double loss_at(struct conform *conform, const struct subject *subject, const tutti_tensors *weights) {
  tutti_tensors *gradient = NULL;
  double loss = NAN;
  TRY(conform, tutti_backend_gradient(conform->context, subject->backend, &subject->job, weights, &loss, &gradient));
  tutti_tensors_destroy(gradient);
  REQUIRE(conform, isfinite(loss), "%s: the loss is %g", subject->example.name, loss);
  return loss;
}

/* The better of differences at several steps: rounding spoils the small ones, curvature and kinks the large. */
static bool slopes_agree(struct conform *conform, const struct subject *subject, const tutti_tensors *weights,
                         float *number, double slope, double *closest) {
  static const float steps[] = {3e-2f, 1e-2f, 3e-3f, 1e-3f};
  float at = *number;
  bool agree = false;
  *closest = NAN;
  for (size_t i = 0; i < 4 && !agree; i++) {
    volatile float high = at + steps[i], low = at - steps[i];
    *number = high;
    double above = loss_at(conform, subject, weights);
    *number = low;
    double below = loss_at(conform, subject, weights), difference = (above - below) / ((double)high - (double)low);
    agree = conform_close(difference, slope, 2e-2, 5e-4);
    if (!(fabs(difference - slope) >= fabs(*closest - slope)))
      *closest = difference;
  }
  *number = at;
  return agree;
}

/* Weights at which gradients are not small: normal draws for all that is trained, by whatever name. */
static void scatter(struct tutti_tensor *tensor, uint64_t index) {
  struct tutti_random random;
  tutti_random_init(&random, WORLD_SEED, "conform weights", index);
  tutti_random_fill_normal(&random, tensor->bytes / sizeof(float), 0, 0.5f, tensor->data);
}

static bool is_detached(const struct subject *subject, const char *name) {
  const char *label = subject->example.detached;
  return label && strncmp(name, label, strlen(label)) == 0 && name[strlen(label)] == '/';
}

static void check_tensor(struct conform *conform, const struct subject *subject, const tutti_tensors *weights,
                         const struct tutti_tensor *gradient) {
  enum { PROBED = 6 };
  const struct tutti_tensor *tensor = tutti_tensors_find(weights, gradient->name);
  size_t count = tensor->bytes / sizeof(float), step = count > PROBED ? count / PROBED : 1;
  const float *slopes = gradient->data;
  double difference;
  for (size_t i = 0; i < count; i += step) {
    if (is_detached(subject, gradient->name)) {
      REQUIRE(conform, slopes[i] == 0, "%s: %s gets a gradient of %g", subject->example.name, gradient->name,
              (double)slopes[i]);
      continue;
    }
    REQUIRE(conform, slopes_agree(conform, subject, weights, (float *)tensor->data + i, (double)slopes[i], &difference),
            "%s: the derivative by %s[%zu] is given as %g, by differences it is %g", subject->example.name,
            gradient->name, i, (double)slopes[i], difference);
  }
}

static void check_example_gradient(struct conform *conform, const struct subject *subject) {
  struct tutti_outcome outcome = finish(conform, subject);
  tutti_tensors *gradient = NULL;
  double loss;
  TRY(conform,
      tutti_backend_gradient(conform->context, subject->backend, &subject->job, outcome.weights, &loss, &gradient));
  REQUIRE(conform, tutti_tensors_count(gradient) > 0, "%s: no gradients", subject->example.name);
  for (size_t i = 0; i < tutti_tensors_count(gradient); i++) {
    const struct tutti_tensor *slopes = tutti_tensors_at(gradient, i);
    struct tutti_tensor *tensor = (struct tutti_tensor *)(uintptr_t)tutti_tensors_find(outcome.weights, slopes->name);
    REQUIRE(conform,
            tensor && tensor->element == TUTTI_F32 && slopes->element == TUTTI_F32 && tensor->bytes == slopes->bytes,
            "%s: gradient %s is not like the weights", subject->example.name, slopes->name);
    scatter(tensor, i);
  }
  tutti_tensors_destroy(gradient);
  TRY(conform,
      tutti_backend_gradient(conform->context, subject->backend, &subject->job, outcome.weights, &loss, &gradient));
  for (size_t i = 0; i < tutti_tensors_count(gradient); i++)
    check_tensor(conform, subject, outcome.weights, tutti_tensors_at(gradient, i));
  tutti_tensors_destroy(gradient);
  tutti_tensors_destroy(outcome.weights);
}

static void check_gradients(struct conform *conform) {
  struct subject subject;
  size_t checked = 0;
  if (!has_gradient(conform))
    conform_skip(conform, "it gives none");
  for (size_t i = 0; i < example_count(); i++)
    if (open_example(conform, &subject, i)) {
      check_example_gradient(conform, &subject);
      close_subject(&subject);
      checked++;
    }
  snprintf(conform->why, sizeof conform->why, "%zu small networks", checked);
}

/* Started from given weights: a function of them, not of the seed's own draw alone. */
static void check_initial(struct conform *conform) {
  struct subject subject;
  open_subject(conform, &subject);
  struct tutti_outcome given = finish(conform, &subject);
  if (!given.weights || !subject.job.network) {
    tutti_tensors_destroy(given.weights);
    close_subject(&subject);
    conform_skip(conform, "it trains no networks");
  }
  subject.job.initial = given.weights;
  struct tutti_outcome first = finish(conform, &subject), again = finish(conform, &subject);
  require_same(conform, &first, &again, "started twice from the same weights");
  const struct tutti_tensor *from = tutti_tensors_at(given.weights, 0),
                            *to = tutti_tensors_find(first.weights, from->name);
  REQUIRE(conform, to && to->bytes == from->bytes, "weights %s are gone", from->name);
  tutti_tensors_destroy(given.weights), tutti_tensors_destroy(first.weights), tutti_tensors_destroy(again.weights);
  close_subject(&subject);
}

/* --- open predictors --- */

static float *ask(struct conform *conform, const struct subject *subject, tutti_predictor *predictor,
                  const struct tutti_query *query) {
  const struct tutti_task *task = &subject->example.task;
  float *out = conform_alloc(conform, query->rows * tutti_predictions_width(task->kind, task->outputs), sizeof *out);
  TRY(conform, tutti_predictor_ask(conform->context, predictor, query, out));
  return out;
}

static bool same_numbers(size_t count, const float *a, const float *b) {
  for (size_t i = 0; i < count; i++)
    if (!conform_close((double)a[i], (double)b[i], 1e-5, 1e-6) && !(isnan(a[i]) && isnan(b[i])))
      return false;
  return true;
}

/* All rows at once, each alone, and as the backend predicts a split. */
static void check_answers(struct conform *conform, const struct subject *subject, tutti_predictor *predictor,
                          const tutti_tensors *weights, const float *inputs) {
  const struct tutti_task *task = &subject->example.task;
  size_t rows = tutti_split_rows(subject->validation), width = tutti_predictions_width(task->kind, task->outputs);
  size_t features = (size_t)task->input.height * (size_t)task->input.width * (size_t)task->input.channels;
  struct tutti_query all = {.size = sizeof all, .rows = rows, .inputs = inputs};
  float *split = predict(conform, subject, weights, subject->validation);
  float *together = ask(conform, subject, predictor, &all);
  REQUIRE(conform, same_numbers(rows * width, split, together), "%s: asked, it predicts other numbers than for a split",
          subject->example.name);
  for (size_t i = 0; i < rows; i++) {
    struct tutti_query one = {.size = sizeof one, .rows = 1, .inputs = inputs + i * features};
    float *alone = ask(conform, subject, predictor, &one);
    REQUIRE(conform, same_numbers(width, alone, together + i * width), "%s: row %zu alone is predicted differently",
            subject->example.name, i);
    tutti_free(alone);
  }
  tutti_free(split), tutti_free(together);
}

/* What it tells as a model's own part is a part of the whole, and is the same for a split and for questions. */
static void check_own_parts(struct conform *conform, const struct subject *subject, tutti_predictor *predictor,
                            const tutti_tensors *weights, const float *inputs) {
  const struct tutti_task *task = &subject->example.task;
  size_t rows = tutti_split_rows(subject->validation), width = tutti_predictions_width(task->kind, task->outputs);
  size_t parts = tutti_epistemic_width(task->kind, task->outputs);
  struct tutti_job job = subject->job;
  job.train = job.validation = NULL;
  if (!tutti_backend_tells_epistemic(subject->backend, &job))
    return;
  float *out = conform_alloc(conform, rows * width, sizeof *out),
        *own = conform_alloc(conform, rows * parts, sizeof *own);
  float *told = conform_alloc(conform, rows * parts, sizeof *told);
  float *plain = predict(conform, subject, weights, subject->validation);
  TRY(conform,
      tutti_backend_predict_parts(conform->context, subject->backend, &job, weights, subject->validation, out, own));
  REQUIRE(conform, same_numbers(rows * width, plain, out), "%s: with parts, it predicts other numbers",
          subject->example.name);
  struct tutti_query query = {.size = sizeof query, .rows = rows, .inputs = inputs, .epistemic = told};
  float *asked = ask(conform, subject, predictor, &query);
  REQUIRE(conform, same_numbers(rows * parts, own, told), "%s: asked, it tells other parts than for a split",
          subject->example.name);
  tutti_free(out), tutti_free(own), tutti_free(told), tutti_free(plain), tutti_free(asked);
}

static bool has_dropout(const tutti_network *network) {
  for (size_t i = 0; i < tutti_network_layers(network); i++) {
    enum tutti_op op = tutti_network_layer(network, i)->op;
    if (op == TUTTI_OP_DROPOUT || op == TUTTI_OP_DROP_PATH)
      return true;
  }
  return false;
}

/* A draw of dropout is one function: the same for rows alone and together, another for another draw or seed. */
static void check_draws(struct conform *conform, const struct subject *subject, tutti_predictor *predictor,
                        const float *inputs) {
  const struct tutti_task *task = &subject->example.task;
  size_t rows = tutti_split_rows(subject->validation), width = tutti_predictions_width(task->kind, task->outputs);
  size_t features = (size_t)task->input.height * (size_t)task->input.width * (size_t)task->input.channels;
  struct tutti_query query = {.size = sizeof query, .rows = rows, .inputs = inputs, .drop = true, .seed = 5};
  bool drops = has_dropout(subject->job.network), varies = false;
  float *first = ask(conform, subject, predictor, &query), *again = ask(conform, subject, predictor, &query);
  REQUIRE(conform, same_numbers(rows * width, first, again), "%s: the same draw gives other numbers",
          subject->example.name);
  for (size_t i = 0; i < rows; i++) {
    struct tutti_query one = query;
    one.rows = 1;
    one.inputs = inputs + i * features;
    float *alone = ask(conform, subject, predictor, &one);
    REQUIRE(conform, same_numbers(width, alone, first + i * width), "%s: a draw differs for row %zu alone",
            subject->example.name, i);
    tutti_free(alone);
  }
  for (query.draw = 1; query.draw < 20; query.draw++) {
    float *other = ask(conform, subject, predictor, &query);
    varies = varies || !same_numbers(rows * width, first, other);
    tutti_free(other);
  }
  REQUIRE(conform, varies == drops, "%s: its draws %s", subject->example.name, varies ? "differ" : "are all the same");
  tutti_free(first), tutti_free(again);
}

static void check_predictor(struct conform *conform) {
  struct subject subject;
  size_t checked = 0;
  bool draws = false;
  if (!needs_data(conform))
    conform_skip(conform, "it does not predict");
  for (size_t i = 0; i < example_count(); i++) {
    tutti_predictor *predictor;
    if (!open_example(conform, &subject, i))
      continue;
    const struct tutti_task *task = &subject.example.task;
    size_t rows = tutti_split_rows(subject.validation);
    size_t features = (size_t)task->input.height * (size_t)task->input.width * (size_t)task->input.channels;
    struct tutti_outcome outcome = finish(conform, &subject);
    float *inputs = conform_alloc(conform, rows * features, sizeof *inputs);
    for (uint32_t r = 0; r < rows; r++)
      tutti_split_gather(subject.validation, 1, &r, inputs + r * features);
    draws = subject.job.network && tutti_backend_has_predictor(subject.backend);
    TRY(conform, tutti_predictor_open(conform->context, subject.backend, &subject.job, outcome.weights, 5, &predictor));
    check_answers(conform, &subject, predictor, outcome.weights, inputs);
    check_own_parts(conform, &subject, predictor, outcome.weights, inputs);
    if (draws)
      check_draws(conform, &subject, predictor, inputs);
    tutti_predictor_close(predictor);
    tutti_tensors_destroy(outcome.weights);
    tutti_free(inputs);
    bool networks = subject.job.network;
    close_subject(&subject);
    checked++;
    if (!networks)
      break;
  }
  snprintf(conform->why, sizeof conform->why, "%zu models%s", checked, draws ? ", and their draws of dropout" : "");
}

/* --- gradients of predictions ------------------------------------------------------------------------------------- */

/* The numbers of a row that are weighed, and their weights. */
struct weighed {
  const struct subject *subject;
  tutti_predictor *predictor;
  struct tutti_query query; /* of one row */
  bool tells;
  size_t width, parts, features;
  float *inputs, *out, *own; /* [features], [width], [parts] */
  float *by_out, *by_own;    /* [width], [parts] */
};

static void weigh(struct conform *conform, struct weighed *w) {
  struct tutti_random random;
  tutti_random_init(&random, WORLD_SEED, "conform slopes", 0);
  w->out = conform_alloc(conform, w->width, sizeof(float)), w->own = conform_alloc(conform, w->parts, sizeof(float));
  w->by_out = conform_alloc(conform, w->width, sizeof(float));
  w->by_own = conform_alloc(conform, w->parts, sizeof(float));
  tutti_random_fill_normal(&random, w->width, 0, 1, w->by_out);
  tutti_random_fill_normal(&random, w->parts, 0, 1, w->by_own);
  w->query.inputs = w->inputs;
  w->query.epistemic = w->tells ? w->own : NULL;
  TRY(conform, tutti_predictor_ask(conform->context, w->predictor, &w->query, w->out));
  for (size_t i = 0; i < w->width; i++)
    if (isnan(w->out[i]))
      w->by_out[i] = 0;
}

static double weighed_sum(struct conform *conform, struct weighed *w) {
  double sum = 0;
  TRY(conform, tutti_predictor_ask(conform->context, w->predictor, &w->query, w->out));
  for (size_t i = 0; i < w->width; i++)
    sum += isnan(w->out[i]) ? 0 : (double)w->by_out[i] * (double)w->out[i];
  for (size_t i = 0; i < w->parts && w->tells; i++)
    sum += (double)w->by_own[i] * (double)w->own[i];
  return sum;
}

static bool input_slope_agrees(struct conform *conform, struct weighed *w, size_t feature, double slope,
                               double *closest) {
  static const float steps[] = {3e-2f, 1e-2f, 3e-3f, 1e-3f};
  float *number = w->inputs + feature, at = *number;
  bool agree = false;
  *closest = NAN;
  for (size_t i = 0; i < 4 && !agree; i++) {
    volatile float high = at + steps[i], low = at - steps[i];
    *number = high;
    double above = weighed_sum(conform, w);
    *number = low;
    double below = weighed_sum(conform, w), difference = (above - below) / ((double)high - (double)low);
    agree = conform_close(difference, slope, 2e-2, 1e-3);
    if (!(fabs(difference - slope) >= fabs(*closest - slope)))
      *closest = difference;
  }
  *number = at;
  return agree;
}

/* All rows at once are asked for their gradients; each is compared with differences of the row alone. */
static void check_slopes_of(struct conform *conform, struct weighed *w, size_t rows, float *inputs) {
  enum { PROBED = 6 };
  size_t step = w->features > PROBED ? w->features / PROBED : 1;
  float *gradient = conform_alloc(conform, rows * w->features, sizeof(float));
  float *out = conform_alloc(conform, rows * w->width, sizeof(float));
  float *by_out = conform_alloc(conform, rows * w->width, sizeof(float));
  float *by_own = conform_alloc(conform, rows * w->parts, sizeof(float));
  for (size_t r = 0; r < rows; r++) {
    memcpy(by_out + r * w->width, w->by_out, w->width * sizeof(float));
    memcpy(by_own + r * w->parts, w->by_own, w->parts * sizeof(float));
  }
  struct tutti_query query = w->query;
  struct tutti_slope slope = {
      .size = sizeof slope, .by_out = by_out, .by_epistemic = w->tells ? by_own : NULL, .gradient = gradient};
  query.rows = rows;
  query.inputs = inputs;
  query.epistemic = NULL;
  TRY(conform, tutti_predictor_slope(conform->context, w->predictor, &query, &slope, out));
  for (size_t r = 0; r < rows; r++) {
    double difference;
    w->query.inputs = w->inputs = inputs + r * w->features;
    (void)weighed_sum(conform, w);
    REQUIRE(conform, same_numbers(w->width, w->out, out + r * w->width),
            "%s: with its gradient, row %zu is predicted differently", w->subject->example.name, r);
    for (size_t k = 0; k < w->features; k += step)
      REQUIRE(conform, input_slope_agrees(conform, w, k, (double)gradient[r * w->features + k], &difference),
              "%s: row %zu: the derivative by input %zu is given as %g, by differences it is %g",
              w->subject->example.name, r, k, (double)gradient[r * w->features + k], difference);
  }
  tutti_free(gradient), tutti_free(out), tutti_free(by_out), tutti_free(by_own);
}

static void check_example_slopes(struct conform *conform, const struct subject *subject) {
  enum { SLOPES = 4 };
  const struct tutti_task *task = &subject->example.task;
  struct tutti_outcome outcome = finish(conform, subject);
  struct weighed w = {.subject = subject,
                      .query = {.size = sizeof w.query, .rows = 1, .seed = 5},
                      .tells = tutti_backend_tells_epistemic(subject->backend, &subject->job),
                      .width = tutti_predictions_width(task->kind, task->outputs),
                      .parts = tutti_epistemic_width(task->kind, task->outputs),
                      .features =
                          (size_t)task->input.height * (size_t)task->input.width * (size_t)task->input.channels};
  float *inputs = conform_alloc(conform, SLOPES * w.features, sizeof *inputs);
  for (uint32_t r = 0; r < SLOPES; r++)
    tutti_split_gather(subject->validation, 1, &r, inputs + r * w.features);
  w.inputs = inputs;
  TRY(conform,
      tutti_predictor_open(conform->context, subject->backend, &subject->job, outcome.weights, 3, &w.predictor));
  weigh(conform, &w);
  check_slopes_of(conform, &w, SLOPES, inputs);
  w.query.drop = true;
  check_slopes_of(conform, &w, SLOPES, inputs);
  tutti_predictor_close(w.predictor);
  tutti_tensors_destroy(outcome.weights);
  tutti_free(inputs), tutti_free(w.out), tutti_free(w.own), tutti_free(w.by_out), tutti_free(w.by_own);
}

static void check_slopes(struct conform *conform) {
  struct subject subject;
  size_t checked = 0;
  for (size_t i = 0; i < example_count() && needs_data(conform); i++) {
    if (!open_example(conform, &subject, i))
      continue;
    bool has = tutti_backend_has_slopes(subject.backend);
    if (has)
      check_example_slopes(conform, &subject);
    close_subject(&subject);
    if (!has)
      break;
    checked++;
  }
  if (checked == 0)
    conform_skip(conform, "it gives none");
  snprintf(conform->why, sizeof conform->why, "%zu small networks", checked);
}

/* --- what jobs may set, and backends honour or refuse --- */

static void require_refused_job(struct conform *conform, const struct subject *subject, const char *what,
                                const char *named) {
  struct tutti_outcome outcome = {.size = sizeof outcome};
  enum tutti_status status = tutti_backend_train(conform->context, subject->backend, &subject->job, &outcome);
  REQUIRE(conform, status == TUTTI_ERROR_USAGE && strstr(tutti_error_message(conform->context), named),
          "a job with %s is not refused by name: %s", what, tutti_error_message(conform->context));
}

static bool belongs(const char *tensor, const char *label) {
  size_t length = strlen(label);
  return strncmp(tensor, label, length) == 0 && tensor[length] == '/';
}

static const char *first_trained(const tutti_network *network) {
  for (size_t i = 0; i < tutti_network_layers(network); i++)
    if (tutti_network_layer(network, i)->parameters > 0)
      return tutti_network_layer(network, i)->label;
  return NULL;
}

/* The weights of the layer `label` are as they were, others are not. */
static void require_kept(struct conform *conform, const tutti_tensors *before, const tutti_tensors *after,
                         const char *label) {
  size_t moved = 0;
  for (size_t i = 0; i < tutti_tensors_count(before); i++) {
    const struct tutti_tensor *one = tutti_tensors_at(before, i), *two = tutti_tensors_find(after, one->name);
    bool same = two && two->bytes == one->bytes && memcmp(two->data, one->data, one->bytes) == 0;
    REQUIRE(conform, same || !belongs(one->name, label), "%s is frozen, and changed", one->name);
    moved += !same;
  }
  REQUIRE(conform, moved > 0, "with %s frozen, nothing was trained", label);
}

static void check_frozen(struct conform *conform) {
  struct subject subject;
  const char *labels[] = {"conform-none", NULL};
  open_subject(conform, &subject);
  struct tutti_job job = subject.job;
  bool honours = tutti_backend_honours(subject.backend, TUTTI_JOB_FROZEN);
  subject.job.frozen = labels;
  require_refused_job(conform, &subject, honours ? "a frozen layer that is not there" : "frozen layers",
                      honours ? labels[0] : conform->name);
  if (!honours) {
    close_subject(&subject);
    conform_skip(conform, "it freezes none, and says so");
  }
  subject.job = job;
  struct tutti_outcome given = finish(conform, &subject);
  labels[0] = first_trained(subject.job.network);
  subject.job.initial = given.weights;
  subject.job.frozen = labels;
  struct tutti_outcome outcome = finish(conform, &subject);
  require_kept(conform, given.weights, outcome.weights, labels[0]);
  tutti_tensors_destroy(given.weights), tutti_tensors_destroy(outcome.weights);
  close_subject(&subject);
}

/* Artificial points are drawn in the job's box: another box, other weights. */
static void check_box(struct conform *conform) {
  struct subject subject;
  bool found = false;
  for (size_t i = 0; i < example_count() && !found; i++) {
    if (!open_example(conform, &subject, i))
      continue;
    found = subject.job.network && subject.example.task.head == TUTTI_OP_HEAD_NOMU;
    if (!found)
      close_subject(&subject);
  }
  if (!found)
    conform_skip(conform, "it does not train NOMU");
  float small[2 * 64], large[2 * 64];
  size_t features = (size_t)subject.example.task.input.channels;
  for (size_t f = 0; f < features; f++) {
    small[f] = -10, small[features + f] = 10;
    large[f] = -20, large[features + f] = 20;
  }
  subject.job.box = small;
  bool honours = tutti_backend_honours(subject.backend, TUTTI_JOB_BOX);
  if (honours) {
    struct tutti_outcome one = finish(conform, &subject), again = finish(conform, &subject);
    require_same(conform, &one, &again, "trained twice in the same box");
    subject.job.box = large;
    struct tutti_outcome other = finish(conform, &subject);
    const struct tutti_tensor *here = tutti_tensors_at(one.weights, 0), *there = tutti_tensors_at(other.weights, 0);
    REQUIRE(conform, memcmp(here->data, there->data, here->bytes) != 0, "the box of artificial points changes nothing");
    tutti_tensors_destroy(one.weights), tutti_tensors_destroy(again.weights), tutti_tensors_destroy(other.weights);
  } else {
    require_refused_job(conform, &subject, "a box for artificial points", conform->name);
  }
  close_subject(&subject);
  if (!honours)
    conform_skip(conform, "it takes no box, and says so");
}

const struct conform_check conform_backend[] = {
    {"made and ended, again and again", check_create},
    {"trains every small network that it has the ops for", check_train},
    {"the same job gives the same bits", check_determinism},
    {"rows are predicted by their number", check_rows},
    {"trains without validation rows", check_no_validation},
    {"data that are no numbers are a failed trial", check_nan},
    {"reports epochs, and does not mind", check_progress},
    {"stops when progress says so", check_prune},
    {"cancelling ends a training", check_cancel},
    {"many jobs at once give what each gives alone", check_many},
    {"refuses ops that it lacks", check_ops},
    {"refuses what later versions and strangers add", check_later},
    {"starts from given weights", check_initial},
    {"gradients against finite differences", check_gradients},
    {"an open predictor gives what a split gives", check_predictor},
    {"gradients of predictions against finite differences", check_slopes},
    {"frozen layers stay as they are", check_frozen},
    {"artificial points are drawn in the job's box", check_box},
    {NULL, NULL},
};
