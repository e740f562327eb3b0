/* mw-ucb.c - upper confidence bound of a value that is minimised, worth = c σ - mean, with the two ways in which Heiss,
   Weissteiner, Wutte, Seuken and Teichmann choose c ("NOMU: Neural Optimization-based Model Uncertainty", ICML 2022,
   Appendix B.3.2):

   - mean-width scaling: once, after the first observations, c becomes what gives the bounds mean ± c σ a chosen mean
     width over uniform points (which points, the paper does not say);
   - dynamic c: while the best point lies closer than δ to one that is observed or pending, c is doubled and the search
     goes on. δ falls exponentially from step to step, and c is back at its value for the next one.

   The paper measures distances in [-1, 1]^d, and supposes values of about that range; so do the defaults. Pending
   points count as observed: the paper has none. */
#include <math.h>
#include <tutti/plugin.h>

struct mw_config {
  double mean_width, delta_first, delta_last;
  int64_t points, doublings;
};

static const struct tutti_param mw_params[] = {
    TUTTI_REAL(struct mw_config, mean_width, "0.5", 0, TUTTI_NO_LIMIT,
               "Mean width of the bounds after the first observations, in the units of the values; less exploits more.",
               .min_open = true),
    TUTTI_INTEGER(struct mw_config, points, "20000", 1, 10000000, "Uniform points over which the width is averaged."),
    TUTTI_INTEGER(struct mw_config, doublings, "15", 0, 900,
                  "How often c is doubled for one proposal at most; 0: c stays as it is."),
    TUTTI_REAL(struct mw_config, delta_first, "0.0625", 0, TUTTI_NO_LIMIT,
               "Closer proposals are refused at first, as a distance in [-1, 1]^d.", .min_open = true),
    TUTTI_REAL(struct mw_config, delta_last, "0.01", 0, TUTTI_NO_LIMIT, "The same at the end of the budget.",
               .min_open = true),
};

struct mw_ucb {
  const struct mw_config *config;
  uint64_t seed;
  const tutti_domain *domain;
  double base, c; /* base: from the mean width; c: in use */
  size_t first;   /* observations at calibration */
};

static enum tutti_status acquisition_create_mw_ucb(tutti_context *context, const void *config, const void *setup_,
                                                   void **instance) {
  const struct tutti_acquisition_setup *setup = setup_;
  const tutti_domain *domain = setup->scope ? tutti_scope_joint(setup->scope) : NULL;
  struct mw_ucb *self;
  if (!domain)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "acquisition mw-ucb needs vectors, and what is searched here has none; choose acquisition lcb");
  const struct mw_config *delta = config;
  if (delta->delta_last > delta->delta_first)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "acquisition.delta_last: expected at most acquisition.delta_first = %g, found %g",
                      delta->delta_first, delta->delta_last);
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *self, &self));
  self->config = config;
  self->seed = setup->seed;
  self->domain = domain;
  self->base = self->c = 1;
  *instance = self;
  return TUTTI_OK;
}

static void acquisition_destroy_mw_ucb(void *instance) { tutti_free(instance); }

/* --- mean-width scaling ------------------------------------------------------------------------------------------- */

enum { BLOCK = 1000 }; /* points that are predicted at once */

struct mw_block {
  double *point, *vectors, *mean, *deviation;
};

/* The sum of the deviations at `count` more points. */
static enum tutti_status add_block_mw_ucb(const struct mw_ucb *self, tutti_context *context, tutti_surrogate *surrogate,
                                          struct tutti_random *random, size_t count, const struct mw_block *block,
                                          double *sum) {
  size_t width = tutti_domain_width(self->domain);
  for (size_t i = 0; i < count; i++) {
    tutti_domain_sample(self->domain, random, block->point);
    tutti_domain_encode(self->domain, block->point, block->vectors + i * width);
  }
  struct tutti_points points = {.size = sizeof points, .count = count, .dimension = width, .vectors = block->vectors};
  TUTTI_TRY(context, tutti_surrogate_predict(context, surrogate, &points, block->mean, block->deviation));
  for (size_t i = 0; i < count; i++)
    *sum += block->deviation[i];
  return TUTTI_OK;
}

static enum tutti_status acquisition_calibrate_mw_ucb(void *instance, tutti_context *context,
                                                      const struct tutti_standing *standing,
                                                      tutti_surrogate *surrogate) {
  struct mw_ucb *self = instance;
  size_t total = (size_t)self->config->points, block = total < BLOCK ? total : BLOCK;
  struct mw_block b = {0};
  struct tutti_random random;
  enum tutti_status status;
  double sum = 0;
  tutti_random_init(&random, self->seed, "mean width", 0);
  TUTTI_TRY_OUT(context, tutti_alloc(context, tutti_domain_count(self->domain), sizeof(double), &b.point));
  TUTTI_TRY_OUT(context, tutti_alloc(context, block * tutti_domain_width(self->domain), sizeof(double), &b.vectors));
  TUTTI_TRY_OUT(context, tutti_alloc(context, block, sizeof(double), &b.mean));
  TUTTI_TRY_OUT(context, tutti_alloc(context, block, sizeof(double), &b.deviation));
  for (size_t done = 0; done < total; done += block) {
    if (tutti_cancelled(context)) {
      status = TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "cancelled while acquisition mw-ucb was calibrated");
      goto out;
    }
    TUTTI_TRY_OUT(context, add_block_mw_ucb(self, context, surrogate, &random,
                                            total - done < block ? total - done : block, &b, &sum));
  }
  double mean = sum / (double)total;
  self->base = mean > 0 ? fmin(self->config->mean_width / (2 * mean), 1e100) : 1;
  self->first = (size_t)standing->step;
out:
  tutti_free(b.point);
  tutti_free(b.vectors);
  tutti_free(b.mean);
  tutti_free(b.deviation);
  return status;
}

/* --- dynamic c ---------------------------------------------------------------------------------------------------- */

static enum tutti_status acquisition_prepare_mw_ucb(void *instance, tutti_context *context,
                                                    const struct tutti_standing *standing, tutti_surrogate *surrogate) {
  struct mw_ucb *self = instance;
  (void)context, (void)standing, (void)surrogate;
  self->c = self->base;
  return TUTTI_OK;
}

/* Eq. 56 for the proposal that comes after `step` others. */
static double delta_mw_ucb(const struct mw_ucb *self, const struct tutti_standing *standing) {
  double begin = (double)self->first, end = (double)standing->steps, at = (double)standing->step + 1;
  double done = end > begin ? fmin(fmax((at - begin) / (end - begin), 0), 1) : 1;
  return self->config->delta_first * pow(self->config->delta_last / self->config->delta_first, done);
}

/* Columns of vectors go from 0 to 1, and the paper's coordinates from -1 to 1. */
static double distance_mw_ucb(size_t dimension, const double *a, const double *b) {
  double sum = 0;
  for (size_t k = 0; k < dimension; k++)
    sum += 4 * (a[k] - b[k]) * (a[k] - b[k]);
  return sqrt(sum);
}

static enum tutti_status acquisition_judge_mw_ucb(void *instance, tutti_context *context,
                                                  const struct tutti_standing *standing,
                                                  const struct tutti_points *proposal, unsigned round, bool *accept) {
  struct mw_ucb *self = instance;
  const struct tutti_points *seen = standing->observed;
  double delta = delta_mw_ucb(self, standing);
  (void)context;
  *accept = true;
  if (round >= (unsigned)self->config->doublings)
    return TUTTI_OK;
  for (size_t i = 0; *accept && i < seen->count; i++)
    *accept = distance_mw_ucb(seen->dimension, proposal->vectors, seen->vectors + i * seen->dimension) > delta;
  if (!*accept)
    self->c *= 2;
  return TUTTI_OK;
}

/* --- the worth ---------------------------------------------------------------------------------------------------- */

static enum tutti_status acquisition_moments_mw_ucb(void *instance, tutti_context *context,
                                                    const struct tutti_standing *standing, size_t count,
                                                    const double *mean, const double *deviation, double *worth,
                                                    double *by_mean, double *by_deviation) {
  const struct mw_ucb *self = instance;
  (void)context, (void)standing;
  for (size_t i = 0; i < count; i++) {
    worth[i] = self->c * deviation[i] - mean[i];
    if (by_mean)
      by_mean[i] = -1;
    if (by_deviation)
      by_deviation[i] = self->c;
  }
  return TUTTI_OK;
}

/* c is positive. */
static bool acquisition_rises_mw_ucb(void *instance) {
  (void)instance;
  return true;
}

static const struct tutti_acquisition_ops mw_ops = {
    .size = sizeof(struct tutti_acquisition_ops),
    .moments = acquisition_moments_mw_ucb,
    .prepare = acquisition_prepare_mw_ucb,
    .judge = acquisition_judge_mw_ucb,
    .rises = acquisition_rises_mw_ucb,
    .calibrate = acquisition_calibrate_mw_ucb,
};

static const struct tutti_descriptor mw_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_ACQUISITION, "mw-ucb"),
    .version = "1.0",
    .summary = "confidence bound, scaled once by its mean width, and widened while proposals repeat themselves",
    .source = "Heiss, Weissteiner, Wutte, Seuken, Teichmann, NOMU: Neural Optimization-based Model Uncertainty, ICML "
              "2022, Appendix B.3.2",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(mw_params, struct mw_config),
    .create = acquisition_create_mw_ucb,
    .destroy = acquisition_destroy_mw_ucb,
    .ops = &mw_ops,
};

TUTTI_PLUGIN(mw_descriptor)
