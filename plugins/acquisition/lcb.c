/* lcb.c - lower confidence bound of a value that is minimised: worth = -(mean - kappa σ) (Srinivas et al., "Gaussian
   process optimization in the bandit setting", ICML 2010; Egele et al., "AutoDEUQ", ICPR 2022, whose code has kappa =
   0.001). */
#include <tutti/plugin.h>

struct lcb_config {
  double kappa;
};

static const struct tutti_param lcb_params[] = {
    TUTTI_REAL(struct lcb_config, kappa, "1.96", 0, TUTTI_NO_LIMIT,
               "Standard deviations below the mean: 0 exploits alone, more explores more."),
};

static enum tutti_status acquisition_moments_lcb(void *instance, tutti_context *context,
                                                 const struct tutti_standing *standing, size_t count,
                                                 const double *mean, const double *deviation, double *worth,
                                                 double *by_mean, double *by_deviation) {
  double kappa = ((const struct lcb_config *)instance)->kappa;
  (void)context, (void)standing;
  for (size_t i = 0; i < count; i++) {
    worth[i] = kappa * deviation[i] - mean[i];
    if (by_mean)
      by_mean[i] = -1;
    if (by_deviation)
      by_deviation[i] = kappa;
  }
  return TUTTI_OK;
}

/* kappa is not negative. */
static bool acquisition_rises_lcb(void *instance) {
  (void)instance;
  return true;
}

static const struct tutti_acquisition_ops lcb_ops = {
    .size = sizeof(struct tutti_acquisition_ops),
    .moments = acquisition_moments_lcb,
    .rises = acquisition_rises_lcb,
};

static const struct tutti_descriptor lcb_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_ACQUISITION, "lcb"),
    .version = "1.0",
    .summary = "lower confidence bound",
    .source =
        "Srinivas et al., Gaussian process optimization in the bandit setting, ICML 2010; Egele et al., AutoDEUQ, ICPR "
        "2022",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(lcb_params, struct lcb_config),
    .ops = &lcb_ops,
};

TUTTI_PLUGIN(lcb_descriptor)
