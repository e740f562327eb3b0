/* odd.c - a backend that trains three at once, and breaks its contract in the way that its parameter `how` says.
   Without that, it predicts mean 0 and variance 1, or the first class. */
#include <tutti/plugin.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

enum how { FINE, NOT_A_NUMBER, INFINITE, NEGATIVE, SUM, WEIGHTLESS, TWICE, NEVER, OUTSIDE, ERROR, PRUNED, TEXT };
static const char *const names[] = {"fine",  "nan",     "infinite", "negative", "sum",  "weightless", "twice",
                                    "never", "outside", "error",    "pruned",   "text", NULL};

struct odd_config {
  int how;
};

static const struct tutti_param params[] = {
    TUTTI_CHOICE(struct odd_config, how, "fine", names, "What is odd about it."),
};

static bool supports(void *self, enum tutti_op op) {
  (void)self;
  return op == TUTTI_OP_INPUT || op == TUTTI_OP_DENSE || op == TUTTI_OP_ACTIVATION || op == TUTTI_OP_HEAD_GAUSSIAN ||
         op == TUTTI_OP_HEAD_SOFTMAX;
}

static bool supports_layer(void *self, const struct tutti_layer *layer) {
  (void)self, (void)layer;
  return true;
}

static enum tutti_status train(void *self, tutti_context *context, const struct tutti_job *job,
                               struct tutti_outcome *outcome) {
  const struct odd_config *config = self;
  size_t one = 1;
  float *data;
  outcome->state = config->how == PRUNED ? TUTTI_STATE_PRUNED : TUTTI_STATE_FINISHED;
  if (config->how == PRUNED || (config->how == WEIGHTLESS && job->trial % 2 == 1))
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_tensors_create(context, &outcome->weights));
  TUTTI_TRY(context, tutti_tensors_add(context, outcome->weights, "nothing", TUTTI_F32, 1, &one, &data));
  if (config->how != TEXT)
    return TUTTI_OK;
  outcome->state = TUTTI_STATE_FAILED;
  memset(outcome->failure, '\xc3', sizeof outcome->failure); /* no UTF-8, and without an end */
  return TUTTI_OK;
}

static size_t capacity(void *self) {
  (void)self;
  return 3;
}

static enum tutti_status train_many(void *self, tutti_context *context, size_t count,
                                    const struct tutti_job *const *jobs, struct tutti_outcome *const *outcomes,
                                    void (*done)(void *argument, size_t index), void *argument) {
  const struct odd_config *config = self;
  for (size_t i = 0; i < count; i++) {
    if (config->how == ERROR && i == 1)
      return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "the odd device went away");
    TUTTI_TRY(context, train(self, context, jobs[i], outcomes[i]));
    if (config->how == NEVER && i == 1)
      continue;
    done(argument, i);
    if (config->how == TWICE)
      done(argument, i);
    if (config->how == OUTSIDE)
      done(argument, count);
  }
  return TUTTI_OK;
}

static enum tutti_status predict(void *self, tutti_context *context, const struct tutti_job *job,
                                 const tutti_tensors *weights, const tutti_split *split, float *out) {
  const struct odd_config *config = self;
  bool classes = job->task->kind == TUTTI_TASK_CLASSIFICATION;
  size_t rows = tutti_split_rows(split), width = tutti_predictions_width(job->task->kind, job->task->outputs);
  (void)context, (void)weights;
  for (size_t r = 0; r < rows; r++) {
    memset(out + r * width, 0, width * sizeof *out);
    out[r * width + !classes] = 1;
  }
  /* Odd in the last row, of every second trial. */
  float *last = out + (rows - 1) * width;
  if (rows == 0 || job->trial % 2 == 0)
    return TUTTI_OK;
  if (config->how == NOT_A_NUMBER)
    last[0] = NAN;
  if (config->how == INFINITE)
    last[1] = INFINITY;
  if (config->how == NEGATIVE)
    last[1] = -1;
  if (config->how == SUM)
    last[0] = 0.5f;
  return TUTTI_OK;
}

static const struct tutti_backend_ops ops = {.size = sizeof ops,
                                             .supports = supports,
                                             .train = train,
                                             .predict = predict,
                                             .capacity = capacity,
                                             .train_many = train_many,
                                             .supports_layer = supports_layer};

static const struct tutti_descriptor descriptor = {TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BACKEND, "odd"),
                                                   .version = "1",
                                                   .summary = "A test's.",
                                                   .source = "",
                                                   .licence = "Apache-2.0",
                                                   .params = TUTTI_PARAMS(params, struct odd_config),
                                                   .ops = &ops};
TUTTI_PLUGIN(descriptor)
