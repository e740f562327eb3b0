/* ei.c - expected improvement. Mockus, 1975; Lacoste, Larochelle, Laviolette, Marchand, "Sequential Model-Based
   Ensemble Optimization", UAI 2014, equation 3 (its σ² is a misprint for σ). With u = (best - xi - mean)/σ: EI = σ
   h(u), h(u) = u Φ(u) + φ(u). Deviation: the worth is log EI unless `log = no`. The maximum is at the same point. Far
   from the incumbent EI underflows to a plain of zeros, but its logarithm still says which way is up (Ament et al.,
   "Unexpected improvements to expected improvement for Bayesian optimization", NeurIPS 2023). */
#include <tutti/plugin.h>

#include "normal_tail.h"

struct ei_config {
  double xi;
  bool log;
};

static const struct tutti_param ei_params[] = {
    TUTTI_REAL(struct ei_config, xi, "0", 0, TUTTI_NO_LIMIT,
               "Improvement that does not count, in the units of the surrogate's values."),
    TUTTI_BOOL(struct ei_config, log, "yes",
               "Maximise the logarithm of the expected improvement, which has the same largest point and does not "
               "underflow."),
};

/* Worth and derivatives at one point. A deviation of 0 leaves max(best - mean, 0). */
static void worth_ei(bool in_logs, double improvement, double deviation, double *worth, double *by_mean,
                     double *by_deviation) {
  if (!(deviation > 0)) {
    bool better = improvement > 0;
    *worth = in_logs ? (better ? log(improvement) : -DBL_MAX) : (better ? improvement : 0);
    *by_mean = better ? (in_logs ? finite_worth(-1 / improvement) : -1) : 0;
    *by_deviation = 0;
    return;
  }
  struct normal_tail tail = normal_tail(normal_score(improvement, deviation));
  double logarithm = log(deviation) + tail.log_h, h = exp(tail.log_h);
  *worth = finite_worth(in_logs ? logarithm : exp(logarithm));
  *by_mean = finite_worth(in_logs ? -tail.distribution / deviation : -tail.distribution * h);
  *by_deviation = finite_worth(in_logs ? tail.density / deviation : tail.density * h);
}

/* Before there is a best value, every improvement is infinite: only the deviation counts. */
static enum tutti_status acquisition_moments_ei(void *instance, tutti_context *context,
                                                const struct tutti_standing *standing, size_t count, const double *mean,
                                                const double *deviation, double *worth, double *by_mean,
                                                double *by_deviation) {
  const struct ei_config *config = instance;
  (void)context;
  for (size_t i = 0; i < count; i++) {
    double improvement = isfinite(standing->best) ? standing->best - config->xi - mean[i] : 0, slopes[2];
    worth_ei(config->log, improvement, deviation[i], &worth[i], &slopes[0], &slopes[1]);
    if (by_mean)
      by_mean[i] = isfinite(standing->best) ? slopes[0] : 0;
    if (by_deviation)
      by_deviation[i] = slopes[1];
  }
  return TUTTI_OK;
}

static bool acquisition_in_logs_ei(void *instance) { return ((const struct ei_config *)instance)->log; }

/* d worth/dσ = φ(u), or φ/h > 0 of the logarithm. */
static bool acquisition_rises_ei(void *instance) {
  (void)instance;
  return true;
}

static const struct tutti_acquisition_ops ei_ops = {
    .size = sizeof(struct tutti_acquisition_ops),
    .moments = acquisition_moments_ei,
    .in_logs = acquisition_in_logs_ei,
    .rises = acquisition_rises_ei,
};

static const struct tutti_descriptor ei_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_ACQUISITION, "ei"),
    .version = "1.0",
    .summary = "expected improvement over the best value",
    .source =
        "Lacoste et al., Sequential Model-Based Ensemble Optimization, UAI 2014, equation 3; Ament et al., Unexpected "
        "improvements to expected improvement for Bayesian optimization, NeurIPS 2023",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(ei_params, struct ei_config),
    .ops = &ei_ops,
};

TUTTI_PLUGIN(ei_descriptor)
