/* ei.c - expected improvement (Mockus 1975; Lacoste, Larochelle, Laviolette, Marchand, "Sequential Model-Based Ensemble
   Optimization", UAI 2014, equation 3, whose σ² is a misprint for σ): with u = (best - xi - mean)/σ,
   EI = σ h(u), h(u) = u Φ(u) + φ(u).

   Deviation: the worth is log EI unless `log = no`. Its largest point is the same, and far from the incumbent, where EI
   underflows to a plain of zeros, it still says which way is up (Ament et al., "Unexpected improvements to expected
   improvement for Bayesian optimization", NeurIPS 2023). */
#include <float.h>
#include <tutti/plugin.h>

struct ei_config {
  double xi;
  bool log;
};

static const struct tutti_param ei_params[] = {
    {.name = "xi",
     .type = TUTTI_PARAM_REAL,
     .offset = offsetof(struct ei_config, xi),
     .preset = "0",
     .min = 0,
     .max = TUTTI_NO_LIMIT,
     .doc = "Improvement that does not count, in the units of the surrogate's values."},
    {.name = "log",
     .type = TUTTI_PARAM_BOOL,
     .offset = offsetof(struct ei_config, log),
     .preset = "yes",
     .doc = "Maximise the logarithm of the expected improvement, which has the same largest point and does not "
            "underflow."},
};

struct ei {
  const struct ei_config *config;
};

static enum tutti_status acquisition_create_ei(tutti_context *context, const void *config, const void *setup,
                                               void **instance) {
  struct ei *self = NULL;
  (void)setup;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof(*self), &self));
  self->config = config;
  *instance = self;
  return TUTTI_OK;
}

static void acquisition_destroy_ei(void *instance) { tutti_free(instance); }

/* log h(u), Φ(u)/h(u) and φ(u)/h(u). */
struct tail {
  double log_h, distribution, density;
};

/* Below -2 by Laplace's continued fraction: with z = -u and t = 1/(z + 2/(z + 3/(z + ...))), Φ/φ = 1/(z + t) and
   h = φ t/(z + t), in which nothing cancels. So many terms leave an error below 1e-16 from z = 2 on. */
static struct tail tail_ei(double u) {
  static const double log_root = 0.91893853320467274178; /* log √(2π) */
  if (u > -2) {
    double density = exp(-0.5 * u * u - log_root), distribution = 0.5 * erfc(-u * M_SQRT1_2);
    double h = density + u * distribution;
    return (struct tail){.log_h = log(h), .distribution = distribution / h, .density = density / h};
  }
  double z = -u, rest = 0, t;
  for (int k = 10 + (int)(700 / (z * z)); k >= 2; k--)
    rest = k / (z + rest);
  t = 1 / (z + rest);
  return (struct tail){
      .log_h = log(t / (z + t)) - 0.5 * z * z - log_root, .distribution = 1 / t, .density = (z + t) / t};
}

static double finite_ei(double value) { return value < -DBL_MAX ? -DBL_MAX : value > DBL_MAX ? DBL_MAX : value; }

/* Worth and derivatives at one point. A deviation of 0 leaves max(best - mean, 0). */
static void worth_ei(bool in_logs, double improvement, double deviation, double *worth, double *by_mean,
                     double *by_deviation) {
  if (!(deviation > 0)) {
    bool better = improvement > 0;
    *worth = in_logs ? (better ? log(improvement) : -DBL_MAX) : (better ? improvement : 0);
    *by_mean = better ? (in_logs ? finite_ei(-1 / improvement) : -1) : 0;
    *by_deviation = 0;
    return;
  }
  static const double widest = 1e150; /* its square is finite */
  struct tail tail = tail_ei(fmax(-widest, fmin(improvement / deviation, widest)));
  double logarithm = log(deviation) + tail.log_h, h = exp(tail.log_h);
  *worth = finite_ei(in_logs ? logarithm : exp(logarithm));
  *by_mean = finite_ei(in_logs ? -tail.distribution / deviation : -tail.distribution * h);
  *by_deviation = finite_ei(in_logs ? tail.density / deviation : tail.density * h);
}

/* Before there is a best value, every improvement is infinite: the deviation alone counts. */
static enum tutti_status acquisition_moments_ei(void *instance, tutti_context *context,
                                                const struct tutti_standing *standing, size_t count, const double *mean,
                                                const double *deviation, double *worth, double *by_mean,
                                                double *by_deviation) {
  const struct ei *self = instance;
  (void)context;
  for (size_t i = 0; i < count; i++) {
    double improvement = isfinite(standing->best) ? standing->best - self->config->xi - mean[i] : 0, slopes[2];
    worth_ei(self->config->log, improvement, deviation[i], &worth[i], &slopes[0], &slopes[1]);
    if (by_mean)
      by_mean[i] = isfinite(standing->best) ? slopes[0] : 0;
    if (by_deviation)
      by_deviation[i] = slopes[1];
  }
  return TUTTI_OK;
}

static const struct tutti_acquisition_ops ei_ops = {
    .size = sizeof(struct tutti_acquisition_ops),
    .moments = acquisition_moments_ei,
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
    .create = acquisition_create_ei,
    .destroy = acquisition_destroy_ei,
    .ops = &ei_ops,
};

TUTTI_PLUGIN(ei_descriptor)
