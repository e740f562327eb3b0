/* leaves_out.c - a backend that leaves out the inputs that say again what others say, and breaks that contract in the
   way that its parameter `how` says. It predicts a sum of inputs, which it does not learn. */
#include <tutti/plugin.h>

#include <math.h>
#include <stdio.h>

enum how { FINE, ALL, TRAINS, PREDICTS, COUNTS };
static const char *const names[] = {"fine", "all", "trains", "predicts", "counts", NULL};

struct config {
  int how;
};

static const struct tutti_param params[] = {
    TUTTI_CHOICE(struct config, how, "fine", names, "What is wrong with it."),
};

static int how_of(const struct tutti_job *job) { return ((const struct config *)job->config)->how; }

static size_t features_of(const struct tutti_job *job) { return (size_t)job->task->input.channels; }

static bool supports(void *self, enum tutti_op op) {
  (void)self;
  return op == TUTTI_OP_INPUT || op == TUTTI_OP_DENSE || op == TUTTI_OP_ACTIVATION || op == TUTTI_OP_HEAD_LINEAR;
}

static size_t unread(void *self, const struct tutti_job *job) {
  (void)self;
  return features_of(job) - (how_of(job) == ALL ? 0 : tutti_task_plain_features(job->task));
}

/* The sum is "trained" by the first row. */
static enum tutti_status train(void *self, tutti_context *context, const struct tutti_job *job,
                               struct tutti_outcome *outcome) {
  const size_t one = 1, plain = tutti_task_plain_features(job->task);
  const float *row = tutti_split_inputs(job->train);
  tutti_network *narrow;
  float *sum, *left;
  (void)self;
  TUTTI_TRY(context, tutti_network_narrow(context, job->network, features_of(job) - plain, &narrow));
  const size_t count = tutti_network_parameters(job->network) - tutti_network_parameters(narrow);
  tutti_network_destroy(narrow);
  TUTTI_TRY(context, tutti_tensors_create(context, &outcome->weights));
  TUTTI_TRY(context, tutti_tensors_add(context, outcome->weights, "sum", TUTTI_F32, 1, &one, &sum));
  sum[0] = row[how_of(job) == TRAINS ? features_of(job) - 1 : 0];
  if (count > 0) {
    TUTTI_TRY(context, tutti_tensors_add(context, outcome->weights, "left-out", TUTTI_F32, 1, &count, &left));
    left[count - 1] = how_of(job) == COUNTS;
  }
  outcome->state = isfinite(sum[0]) ? TUTTI_STATE_FINISHED : TUTTI_STATE_FAILED;
  (void)snprintf(outcome->failure, sizeof outcome->failure, "%s", isfinite(sum[0]) ? "" : "it is no number");
  outcome->epochs = outcome->best_epoch = 1;
  return TUTTI_OK;
}

static enum tutti_status predict(void *self, tutti_context *context, const struct tutti_job *job,
                                 const tutti_tensors *weights, const tutti_split *split, float *out) {
  const size_t features = features_of(job), read = features - (how_of(job) == PREDICTS ? 0 : unread(self, job)),
               outputs = job->task->outputs;
  const float *sum = tutti_tensors_find(weights, "sum")->data;
  (void)context;
  for (size_t i = 0; i < tutti_split_rows(split) * outputs; i++) {
    out[2 * i] = 0;
    out[2 * i + 1] = 1;
    for (size_t f = 0; f < read; f++)
      out[2 * i] += sum[0] * tutti_split_inputs(split)[i / outputs * features + f];
  }
  return TUTTI_OK;
}

static const struct tutti_backend_ops ops = {
    .size = sizeof ops, .supports = supports, .train = train, .predict = predict, .unread = unread};

static const struct tutti_descriptor descriptor = {TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BACKEND, "leaves-out"),
                                                   .version = "1.0",
                                                   .summary = "for a test",
                                                   .source = "Tutti's tests",
                                                   .licence = "Apache-2.0",
                                                   .params = TUTTI_PARAMS(params, struct config),
                                                   .ops = &ops};

TUTTI_PLUGIN(descriptor)
