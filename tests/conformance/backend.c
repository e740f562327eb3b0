/* backend.c - the contract of kind backend: backends that train networks, backends that take none, and backends that
   need no data either. */
#include "backend_impl.h"
#include "core/network/network_impl.h"

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

/* Does the backend accept a network of a dense layer, a layer of this definition, and the head? Of images, the dense
   layer reads the means. */
static enum tutti_status try_definition(struct conform *conform, const struct subject *subject, enum tutti_op op,
                                        const struct tutti_op_definition *definition,
                                        const struct tutti_attribute *attributes) {
  tutti_context *context = conform->context;
  struct tutti_job job = subject->job;
  tutti_network *network;
  uint32_t layer = 0;
  struct tutti_shape input = subject->example.task.input;
  TRY(conform, tutti_network_create(context, input, &network));
  if (input.height > 1 || input.width > 1)
    TRY(conform, tutti_network_add(context, network, TUTTI_OP_GLOBAL_POOL, NULL, 1, &layer, NULL, &layer));
  TRY(conform, tutti_network_add_dense(context, network, NULL, layer, 4, TUTTI_ACTIVATION_LINEAR, &layer));
  TRY(conform, tutti_network_add_defined(context, network, op, definition, "later", 1, &layer, attributes, &layer));
  TRY(conform, tutti_network_add_head(context, network, layer, &subject->example.task));
  job.network = network;
  enum tutti_status status = tutti_backend_check(context, subject->backend, &job);
  tutti_network_destroy(network);
  return status;
}

static void require_refusal(struct conform *conform, const struct subject *subject, enum tutti_status status,
                            const char *what) {
  const char *message = tutti_error_message(conform->context);
  REQUIRE(conform, status != TUTTI_OK, "it takes %s, and would compute something else", what);
  REQUIRE(conform, strstr(message, tutti_backend_descriptor(subject->backend)->name) && strstr(message, "'later'"),
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
    require_refusal(conform, &subject,
                    try_definition(conform, &subject, TUTTI_OP_ACTIVATION, &definition,
                                   TUTTI_ATTRIBUTES({"activation", TUTTI_ACTIVATION_COUNT})),
                    "an activation of a later version");
    require_refusal(
        conform, &subject,
        try_definition(conform, &subject, TUTTI_OP_ACTIVATION, &definition, TUTTI_ATTRIBUTES({"conform_later", 1})),
        "an attribute of a later version");
    require_refusal(conform, &subject, try_definition(conform, &subject, TUTTI_OP_OTHER, &other, NULL),
                    "an op of a stranger");
  }
  close_subject(&subject);
  if (!tries)
    conform_skip(conform, "it takes no networks with a dense layer and relu");
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

/* A warm start from all weights of the network is like a start from these, and one from none of them like none. */
static void check_warm(struct conform *conform) {
  struct subject subject;
  tutti_tensors *none;
  open_subject(conform, &subject);
  REQUIRE(conform, tutti_tensors_create(conform->context, &none) == TUTTI_OK, "out of memory");
  subject.job.warm = true;
  bool honours = tutti_backend_honours(subject.backend, TUTTI_JOB_WARM);
  if (!honours) {
    subject.job.initial = none;
    require_refused_job(conform, &subject, "a warm start", conform->name);
    tutti_tensors_destroy(none);
    close_subject(&subject);
    conform_skip(conform, "it has no warm starts, and says so");
  }
  struct tutti_outcome cold = finish(conform, &subject);
  subject.job.initial = none;
  struct tutti_outcome first = finish(conform, &subject);
  require_same(conform, &cold, &first, "started from weights that do not agree, and without any");
  subject.job.initial = cold.weights;
  struct tutti_outcome warm = finish(conform, &subject);
  subject.job.warm = false;
  struct tutti_outcome given = finish(conform, &subject);
  require_same(conform, &warm, &given, "started from all of its weights");
  tutti_tensors_destroy(cold.weights), tutti_tensors_destroy(first.weights);
  tutti_tensors_destroy(warm.weights), tutti_tensors_destroy(given.weights);
  tutti_tensors_destroy(none);
  close_subject(&subject);
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
    {"jobs that come while others train give what each gives alone", check_queue},
    {"refuses ops that it lacks", check_ops},
    {"refuses what later versions and strangers add", check_later},
    {"starts from given weights", check_initial},
    {"gradients against finite differences", check_gradients},
    {"an open predictor gives what a split gives", check_predictor},
    {"gradients of predictions against finite differences", check_slopes},
    {"frozen layers stay as they are", check_frozen},
    {"artificial points are drawn in the job's box", check_box},
    {"warm starts take the layers that agree", check_warm},
    {"inputs that are left out are not seen", check_unread},
    {NULL, NULL},
};
