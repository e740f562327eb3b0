/* pi.c - probability of improvement (Kushner, "A new method of locating the maximum point of an arbitrary multipeak
   curve in the presence of noise", Journal of Basic Engineering 86, 1964): Φ(u), u = (best - xi - mean)/σ.

   Deviation: the worth is its logarithm unless `log = no`, as in acquisition ei and for the same reason. */
#include <tutti/plugin.h>

#include "normal_tail.h"

struct pi_config {
  double xi;
  bool log;
};

static const struct tutti_param pi_params[] = {
    TUTTI_REAL(
        struct pi_config, xi, "0", 0, TUTTI_NO_LIMIT,
        "Improvement that does not count, in the units of the surrogate's values: with 0 the surest improvement wins, "
        "however small."),
    TUTTI_BOOL(struct pi_config, log, "yes",
               "Maximise the logarithm of the probability, which has the same largest point and does not underflow."),
};

/* Worth and derivatives at one point. A deviation of 0 leaves certainty: 1 or 0. */
static void worth_pi(bool in_logs, double improvement, double deviation, double *worth, double *by_mean,
                     double *by_deviation) {
  if (!(deviation > 0)) {
    bool better = improvement > 0;
    *worth = in_logs ? (better ? 0 : -DBL_MAX) : better;
    *by_mean = *by_deviation = 0;
    return;
  }
  double u = normal_score(improvement, deviation);
  struct normal_tail tail = normal_tail(u);
  double logarithm = u > 0 ? log1p(-0.5 * erfc(u * M_SQRT1_2)) : tail.log_h + log(tail.distribution);
  double steepness = in_logs ? tail.density / tail.distribution : exp(-0.5 * u * u - NORMAL_LOG_ROOT);
  double slope = finite_worth(steepness / deviation); /* by the improvement */
  *worth = finite_worth(in_logs ? logarithm : exp(logarithm));
  *by_mean = -slope;
  *by_deviation = finite_worth(-u * slope);
}

/* Before there is a best value, everything improves on it. */
static enum tutti_status acquisition_moments_pi(void *instance, tutti_context *context,
                                                const struct tutti_standing *standing, size_t count, const double *mean,
                                                const double *deviation, double *worth, double *by_mean,
                                                double *by_deviation) {
  const struct pi_config *config = instance;
  (void)context;
  for (size_t i = 0; i < count; i++) {
    double slopes[2] = {0, 0};
    if (isfinite(standing->best))
      worth_pi(config->log, standing->best - config->xi - mean[i], deviation[i], &worth[i], &slopes[0], &slopes[1]);
    else
      worth[i] = config->log ? 0 : 1;
    if (by_mean)
      by_mean[i] = slopes[0];
    if (by_deviation)
      by_deviation[i] = slopes[1];
  }
  return TUTTI_OK;
}

static bool acquisition_in_logs_pi(void *instance) { return ((const struct pi_config *)instance)->log; }

static const struct tutti_acquisition_ops pi_ops = {
    .size = sizeof(struct tutti_acquisition_ops),
    .moments = acquisition_moments_pi,
    .in_logs = acquisition_in_logs_pi,
};

static const struct tutti_descriptor pi_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_ACQUISITION, "pi"),
    .version = "1.0",
    .summary = "probability of improvement over the best value",
    .source = "Kushner, A new method of locating the maximum point of an arbitrary multipeak curve in the presence of "
              "noise, Journal of Basic Engineering 86, 1964",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(pi_params, struct pi_config),
    .ops = &pi_ops,
};

TUTTI_PLUGIN(pi_descriptor)
