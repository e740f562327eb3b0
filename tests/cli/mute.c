/* mute.c - a backend without networks, and with -DCALIBRATOR a calibrator, that cannot write down what they compute;
   with -DWRONG they write down what is none. The backend predicts the mean of the training rows. */
#include <tutti/plugin.h>

#ifndef CALIBRATOR

static bool supports(void *self, enum tutti_op op) {
  (void)self, (void)op;
  return false;
}

static enum tutti_status train(void *self, tutti_context *context, const struct tutti_job *job,
                               struct tutti_outcome *outcome) {
  float *mean;
  size_t rows = tutti_split_rows(job->train);
  (void)self;
  TUTTI_TRY(context, tutti_tensors_create(context, &outcome->weights));
  TUTTI_TRY(context, tutti_tensors_add(context, outcome->weights, "mean", TUTTI_F32, 0, NULL, &mean));
  for (size_t i = 0; i < rows; i++)
    *mean += tutti_split_targets(job->train)[i] / (float)rows;
  outcome->state = TUTTI_STATE_FINISHED;
  outcome->epochs = outcome->best_epoch = 1;
  return TUTTI_OK;
}

static enum tutti_status predict(void *self, tutti_context *context, const struct tutti_job *job,
                                 const tutti_tensors *weights, const tutti_split *split, float *out) {
  (void)self, (void)context, (void)job;
  for (size_t i = 0; i < tutti_split_rows(split); i++) {
    out[2 * i] = *(const float *)tutti_tensors_find(weights, "mean")->data;
    out[2 * i + 1] = 1;
  }
  return TUTTI_OK;
}

#ifdef WRONG
static enum tutti_status formula(void *self, tutti_context *context, const struct tutti_job *job,
                                 const tutti_tensors *weights, tutti_formula *formula,
                                 struct tutti_predicted_terms *terms) {
  (void)self, (void)context, (void)job, (void)weights;
  terms->mean = tutti_formula_constant(formula, 1, 3, (const double[]){1, 2, 3});
  return TUTTI_OK;
}
#endif

static const struct tutti_backend_ops ops = {.size = sizeof ops,
                                             .supports = supports,
                                             .train = train,
#ifdef WRONG
                                             .formula = formula,
#endif
                                             .predict = predict};
#define KIND TUTTI_KIND_BACKEND

#else

static enum tutti_status fit(void *self, tutti_context *context, const struct tutti_combined *combined,
                             const struct tutti_targets *targets) {
  (void)self, (void)context, (void)combined, (void)targets;
  return TUTTI_OK;
}

static enum tutti_status print(void *self, tutti_context *context, char **json) {
  (void)self;
  return tutti_format(context, json, "{}");
}

static enum tutti_status parse(void *self, tutti_context *context, const char *json) {
  (void)self, (void)context, (void)json;
  return TUTTI_OK;
}

static enum tutti_status apply(void *self, tutti_context *context, const struct tutti_combined *combined, double *out) {
  (void)self, (void)context;
  for (size_t i = 0; i < combined->rows * tutti_combined_width(combined->kind, combined->outputs); i++)
    out[i] = combined->values[i] * (i % TUTTI_COMBINED_PARTS == TUTTI_COMBINED_MEAN ? 1 : 2);
  return TUTTI_OK;
}

#ifdef WRONG
static enum tutti_status formula(void *self, tutti_context *context, tutti_formula *formula,
                                 struct tutti_combined_terms *terms) {
  (void)self, (void)context;
  terms->mean = tutti_formula_columns(formula, terms->mean, 1, &(uint32_t){7});
  return TUTTI_OK;
}
#endif

static const struct tutti_calibrator_ops ops = {.size = sizeof ops,
                                                .gives = TUTTI_GIVES_MOMENTS,
                                                .fit = fit,
                                                .print = print,
                                                .parse = parse,
#ifdef WRONG
                                                .formula = formula,
#endif
                                                .apply = apply};
#define KIND TUTTI_KIND_CALIBRATOR

#endif

static const struct tutti_descriptor descriptor = {
    TUTTI_DESCRIPTOR_HEAD(KIND, "mute"), .version = "1.0",        .summary = "for a test",
    .source = "Tutti's tests",           .licence = "Apache-2.0", .ops = &ops};

TUTTI_PLUGIN(descriptor)
