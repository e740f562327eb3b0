/* check.c - checks of jobs, and what is said of those that diverge. */
#include "plan_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum tutti_status backend_cpu_check_head(tutti_context *context, const struct tutti_job *job) {
  size_t layers = tutti_network_layers(job->network);
  const struct tutti_layer *head = tutti_network_layer(job->network, layers - 1);
  if (head->op != job->task->head)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "the network ends in %s, but the task asks for %s", head->op_name,
                      tutti_op_name(job->task->head));
  size_t have = (size_t)tutti_network_layer(job->network, head->inputs[0])->shape.channels;
  size_t want = tutti_task_head_width(job->task);
  if (have != want)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "the network's head takes %zu numbers, but for its %zu outputs the task asks "
                      "for %zu",
                      have, job->task->outputs, want);
  return TUTTI_OK;
}

enum tutti_status backend_cpu_check_split(tutti_context *context, const struct tutti_job *job,
                                          const tutti_split *split) {
  struct tutti_shape want = tutti_network_layer(job->network, 0)->shape, have = tutti_split_input(split);
  if (want.height != have.height || want.width != have.width || want.channels != have.channels)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "split %s has inputs %d x %d x %d, but the network takes %d x %d x %d", tutti_split_name(split),
                      have.height, have.width, have.channels, want.height, want.width, want.channels);
  return TUTTI_OK;
}

enum tutti_status backend_cpu_check_targets(tutti_context *context, const struct tutti_job *job,
                                            const tutti_split *split) {
  TUTTI_TRY(context, backend_cpu_check_split(context, job, split));
  bool classes = job->task->kind == TUTTI_TASK_CLASSIFICATION;
  bool has = classes ? tutti_split_labels(split) != NULL : tutti_split_targets(split) != NULL;
  if (tutti_split_rows(split) > 0 && (!has || tutti_split_outputs(split) != job->task->outputs))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "split %s has no %s for the task's %zu outputs",
                      tutti_split_name(split), classes ? "labels" : "targets", job->task->outputs);
  return TUTTI_OK;
}

size_t backend_cpu_unread(const struct tutti_job *job) {
  const struct cpu_config *config = job->config;
  struct tutti_shape input = job->task->input;
  size_t features = (size_t)input.height * (size_t)input.width * (size_t)input.channels;
  return config->encodings ? 0 : features - tutti_task_plain_features(job->task);
}

enum tutti_status backend_cpu_check_encodings(tutti_context *context, const struct tutti_job *job) {
  for (size_t i = 1; backend_cpu_unread(job) > 0 && i < tutti_network_layers(job->network); i++) {
    const struct tutti_layer *layer = tutti_network_layer(job->network, i);
    for (size_t e = 0; e < layer->input_count; e++)
      if (layer->inputs[e] == 0 && layer->op != TUTTI_OP_DENSE)
        return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED,
                          "backend.encodings = no: layer %s (%s) reads the inputs, and only dense layers can leave out "
                          "what data.bins adds to them; take encodings = yes, or data.bins = 0",
                          layer->label, layer->op_name);
  }
  return TUTTI_OK;
}

/* --- what a job trains on --- */

/* A batch norm that stays as it is would still normalise by its batch. */
static enum tutti_status check_frozen(tutti_context *context, const struct tutti_job *job) {
  for (size_t i = 0; i < tutti_network_layers(job->network); i++) {
    const struct tutti_layer *layer = tutti_network_layer(job->network, i);
    for (size_t k = 0; layer->op == TUTTI_OP_BATCH_NORM && job->frozen[k]; k++)
      if (strcmp(job->frozen[k], layer->label) == 0)
        return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "layer %s: a batch norm cannot be frozen here",
                          layer->label);
  }
  return TUTTI_OK;
}

static enum tutti_status check_box(tutti_context *context, const struct tutti_job *job) {
  struct tutti_shape shape = tutti_split_input(job->train);
  size_t features = (size_t)shape.height * (size_t)shape.width * (size_t)shape.channels;
  for (size_t f = 0; f < features; f++)
    if (!isfinite(job->box[f]) || !isfinite(job->box[features + f]) || !(job->box[f] < job->box[features + f]))
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "the box for artificial points must have low < high in each feature: feature %zu goes from %g "
                        "to %g",
                        f, (double)job->box[f], (double)job->box[features + f]);
  return TUTTI_OK;
}

enum tutti_status backend_cpu_check_data(tutti_context *context, const struct tutti_job *job) {
  if (!job->train || tutti_split_rows(job->train) == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "there are no rows to train on");
  TUTTI_TRY(context, backend_cpu_check_targets(context, job, job->train));
  if (job->frozen)
    TUTTI_TRY(context, check_frozen(context, job));
  if (job->box)
    TUTTI_TRY(context, check_box(context, job));
  return job->validation ? backend_cpu_check_targets(context, job, job->validation) : TUTTI_OK;
}

/* --- draws of dropout: which networks can be drawn, and which tell what is their own --- */

uint64_t backend_cpu_draw_key(uint64_t seed, uint64_t draw) {
  struct tutti_random random;
  tutti_random_init(&random, seed, "dropout draws", draw);
  return tutti_random_u64(&random);
}

static bool drops(const tutti_network *network) {
  for (size_t i = 0; i < tutti_network_layers(network); i++) {
    const struct tutti_layer *layer = tutti_network_layer(network, i);
    if ((layer->op == TUTTI_OP_DROPOUT || layer->op == TUTTI_OP_DROP_PATH) && tutti_layer_real(layer, "rate", 0) > 0)
      return true;
  }
  return false;
}

enum tutti_status backend_cpu_draws_check(tutti_context *context, const struct tutti_job *job) {
  const struct cpu_config *config = job->config;
  if (config->prediction_draws == 0 || drops(job->network))
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "backend.prediction_draws: predictions are to be %lld draws of dropout, and this network has none; "
                    "let the space give every network dropout, as in [space] dropout = 0.1, or leave the draws out",
                    (long long)config->prediction_draws);
}

bool backend_cpu_tells_epistemic(const struct tutti_job *job) {
  const struct cpu_config *config = job->config;
  const struct tutti_layer *head = tutti_network_layer(job->network, tutti_network_layers(job->network) - 1);
  return config->prediction_draws > 0 || head->op == TUTTI_OP_HEAD_NOMU;
}

/* --- divergence --- */

void backend_cpu_say_diverged(const struct cpu_config *config, const struct tutti_epoch *epoch, const char *what,
                              double value, struct tutti_outcome *outcome) {
  char advice[80] = "are inputs, targets or initial weights very large?";
  bool half = config->storage == CPU_STORAGE_HALF;
  if (isnan(value))
    value = (double)NAN; /* without a sign */
  if (config->optimiser != CPU_LBFGS && epoch->steps > 0)
    (void)snprintf(advice, sizeof advice, "lower the learning rate %g, or clip gradients", epoch->learning_rate);
  (void)snprintf(outcome->failure, sizeof outcome->failure, "diverged: %s is %g in epoch %u, after %llu steps; %s%s",
                 what, value, epoch->epoch, (unsigned long long)epoch->steps, advice,
                 half ? "; or take storage = float: half has no numbers beyond 65504" : "");
}
