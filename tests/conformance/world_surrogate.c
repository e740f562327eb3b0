/* world_surrogate.c - a surrogate for testing acquisitions: a ramp in the first coordinate, certain near 0. It fits
   nothing, so its results are known. */
#include "conform.h"

static enum tutti_status create_ramp(tutti_context *context, const void *config, const void *setup, void **self) {
  (void)config, (void)setup;
  return tutti_alloc(context, 1, 1, self);
}

static enum tutti_status fit_ramp(void *self, tutti_context *context, const struct tutti_points *points,
                                  const double *values, const double *noise) {
  (void)self, (void)context, (void)points, (void)values, (void)noise;
  return TUTTI_OK;
}

static enum tutti_status predict_ramp(void *self, tutti_context *context, const struct tutti_points *points,
                                      double *mean, double *deviation) {
  (void)self, (void)context;
  for (size_t i = 0; i < points->count; i++) {
    mean[i] = points->vectors[i * points->dimension];
    deviation[i] = 0.1 + 0.5 * mean[i];
  }
  return TUTTI_OK;
}

static const struct tutti_surrogate_ops ramp_ops = {
    .size = sizeof ramp_ops, .needs = TUTTI_NEEDS_VECTORS, .fit = fit_ramp, .predict = predict_ramp};

const struct tutti_descriptor world_surrogate_ramp = {TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SURROGATE, "conform-ramp"),
                                                      .version = "1",
                                                      .summary = "a known surrogate to try acquisitions with",
                                                      .source = "",
                                                      .licence = "Apache-2.0",
                                                      .params = TUTTI_NO_PARAMS,
                                                      .create = create_ramp,
                                                      .destroy = tutti_free,
                                                      .ops = &ramp_ops};
