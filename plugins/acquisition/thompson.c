/* thompson.c - Thompson sampling (Thompson, "On the likelihood that one unknown probability exceeds another in view of
   the evidence of two samples", Biometrika 25, 1933). For each proposal, the unknown function is drawn once from the
   surrogate's posterior; the worth of a point is minus the value of this draw. Outstanding trials need no stand-in,
   since each proposal has a draw of its own. The surrogate makes the draw (op realise): one function over all points,
   however they are split into batches. If a surrogate has no such op, values are drawn independently at each
   candidate. */
#include <tutti/plugin.h>

struct thompson {
  uint64_t seed;
};

static enum tutti_status acquisition_create_thompson(tutti_context *context, const void *config, const void *setup,
                                                     void **instance) {
  struct thompson *self = NULL;
  (void)config;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof(*self), &self));
  self->seed = ((const struct tutti_acquisition_setup *)setup)->seed;
  *instance = self;
  return TUTTI_OK;
}

static void acquisition_destroy_thompson(void *instance) { tutti_free(instance); }

static enum tutti_status acquisition_prepare_thompson(void *instance, tutti_context *context,
                                                      const struct tutti_standing *standing,
                                                      tutti_surrogate *surrogate) {
  const struct thompson *self = instance;
  struct tutti_random random;
  tutti_random_init(&random, self->seed, "thompson", standing->step);
  return tutti_surrogate_realise(context, surrogate, &random);
}

static enum tutti_status acquisition_moments_thompson(void *instance, tutti_context *context,
                                                      const struct tutti_standing *standing, size_t count,
                                                      const double *mean, const double *deviation, double *worth,
                                                      double *by_mean, double *by_deviation) {
  (void)instance, (void)context, (void)standing, (void)deviation;
  for (size_t i = 0; i < count; i++) {
    worth[i] = -mean[i];
    if (by_mean)
      by_mean[i] = -1;
    if (by_deviation)
      by_deviation[i] = 0;
  }
  return TUTTI_OK;
}

static const struct tutti_acquisition_ops thompson_ops = {
    .size = sizeof(struct tutti_acquisition_ops),
    .moments = acquisition_moments_thompson,
    .prepare = acquisition_prepare_thompson,
};

static const struct tutti_descriptor thompson_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_ACQUISITION, "thompson"),
    .version = "1.0",
    .summary = "a function drawn from the surrogate for each proposal",
    .source = "Thompson, On the likelihood that one unknown probability exceeds another in view of the evidence of two "
              "samples, Biometrika 25, 1933",
    .licence = "Apache-2.0",
    .params = TUTTI_NO_PARAMS,
    .create = acquisition_create_thompson,
    .destroy = acquisition_destroy_thompson,
    .ops = &thompson_ops,
};

TUTTI_PLUGIN(thompson_descriptor)
