/* known.c - a backend whose predictions are known: of output k by trial t mean 10 (k + 1) + 4 t and variance (k + 1)
   (9 - 8 t), or of two classes 0.9 - 0.6 t for the first. */
#include <tutti/plugin.h>

struct known_config {
  double place;
};

static const struct tutti_param params[] = {
    TUTTI_REAL(struct known_config, place, "0", 0, 1, "Is not looked at.", .flags = TUTTI_PARAM_SEARCHABLE),
};

static bool supports(void *self, enum tutti_op op) {
  (void)self, (void)op;
  return false;
}

static enum tutti_status train(void *self, tutti_context *context, const struct tutti_job *job,
                               struct tutti_outcome *outcome) {
  size_t one = 1;
  float *data;
  (void)self;
  TUTTI_TRY(context, tutti_tensors_create(context, &outcome->weights));
  TUTTI_TRY(context, tutti_tensors_add(context, outcome->weights, "trial", TUTTI_F32, 1, &one, &data));
  data[0] = (float)job->trial;
  outcome->state = TUTTI_STATE_FINISHED;
  return TUTTI_OK;
}

static enum tutti_status predict(void *self, tutti_context *context, const struct tutti_job *job,
                                 const tutti_tensors *weights, const tutti_split *split, float *out) {
  float trial = ((const float *)tutti_tensors_find(weights, "trial")->data)[0];
  bool classes = job->task->kind == TUTTI_TASK_CLASSIFICATION;
  (void)self, (void)context;
  for (size_t i = 0; i < tutti_split_rows(split); i++)
    for (size_t k = 0; k < job->task->outputs; k++)
      if (classes) {
        *out++ = k == 0 ? 0.9f - 0.6f * trial : 0.1f + 0.6f * trial;
      } else {
        *out++ = 10 * (float)(k + 1) + 4 * trial;
        *out++ = (float)(k + 1) * (9 - 8 * trial);
      }
  return TUTTI_OK;
}

static const struct tutti_backend_ops ops = {
    .size = sizeof ops, .supports = supports, .train = train, .predict = predict};

static const struct tutti_descriptor descriptor = {TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BACKEND, "known"),
                                                   .version = "1",
                                                   .summary = "A test's.",
                                                   .source = "",
                                                   .licence = "Apache-2.0",
                                                   .params = TUTTI_PARAMS(params, struct known_config),
                                                   .ops = &ops};
TUTTI_PLUGIN(descriptor)
