/* ensemble_loss_regression.c - running losses of ensembles of regressors: NLL of the mixture, NLL of its moments,
   squared error. */
#include <math.h>

#include "ensemble_loss_impl.h"
#include "metrics_impl.h"

static const float *moments_of(const tutti_ensemble_loss *loss, size_t model, size_t row) {
  return loss->pool.predictions[model] + row * 2 * loss->pool.outputs;
}

/* Fill losses[count] by a function of one model. */
static void each(const tutti_ensemble_loss *loss, size_t count, const size_t *models, double *losses,
                 double (*of)(const tutti_ensemble_loss *, size_t)) {
  for (size_t j = 0; j < count; j++)
    losses[j] = of(loss, models[j]);
}

/* --- NLL of the mixture: per row the logarithm of the summed joint densities ----------------------------------- */

static double joint_log_density(const tutti_ensemble_loss *loss, size_t model, size_t row) {
  const float *moments = moments_of(loss, model, row);
  const double *values = loss->pool.values + row * loss->pool.outputs;
  double sum = 0;
  for (size_t o = 0; o < loss->pool.outputs; o++)
    sum -= tutti_gaussian_nll((double)moments[2 * o], (double)moments[2 * o + 1], values[o]);
  return sum;
}

/* log(exp(a) + exp(b)); beyond a distance of 37 the smaller term is less than half a unit in the last place of the
   larger. */
static double log_add(double a, double b) {
  double larger = a > b ? a : b, distance = fabs(a - b);
  return distance > 37 ? larger : larger + log1p(exp(-distance));
}

static enum tutti_status mixture_begin(tutti_context *context, tutti_ensemble_loss *loss) {
  size_t models = loss->pool.models, rows = loss->pool.rows;
  TUTTI_TRY(context, tutti_alloc(context, rows, sizeof *loss->sums, &loss->sums));
  TUTTI_TRY(context, tutti_alloc(context, models, rows * sizeof *loss->densities, &loss->densities));
  for (size_t n = 0; n < rows; n++)
    loss->sums[n] = -INFINITY;
  for (size_t k = 0; k < models; k++)
    for (size_t n = 0; n < rows; n++)
      loss->densities[k * rows + n] = joint_log_density(loss, k, n);
  return TUTTI_OK;
}

static double mixture_loss(const tutti_ensemble_loss *loss, size_t model) {
  const double *densities = loss->densities + model * loss->pool.rows;
  double sum = 0;
  for (size_t n = 0; n < loss->pool.rows; n++)
    sum += log_add(loss->sums[n], densities[n]);
  return log((double)(loss->picks + 1)) - sum / (double)loss->pool.rows;
}

static void mixture_with(const tutti_ensemble_loss *loss, size_t count, const size_t *models, double *losses) {
  each(loss, count, models, losses, mixture_loss);
}

static void mixture_add(tutti_ensemble_loss *loss, size_t model) {
  const double *densities = loss->densities + model * loss->pool.rows;
  for (size_t n = 0; n < loss->pool.rows; n++)
    loss->sums[n] = log_add(loss->sums[n], densities[n]);
}

const struct ensemble_loss_kind ensemble_loss_mixture = {mixture_begin, mixture_with, mixture_add, NULL};

/* --- NLL of one Gaussian with the mixture's moments ------------------------------------------------------------- */

static enum tutti_status moments_begin(tutti_context *context, tutti_ensemble_loss *loss) {
  size_t rows = loss->pool.rows, outputs = loss->pool.outputs;
  TUTTI_TRY(context, tutti_alloc(context, rows, outputs * sizeof(double), &loss->sums));
  TUTTI_TRY(context, tutti_alloc(context, rows, outputs * sizeof(double), &loss->spreads));
  TUTTI_TRY(context, tutti_alloc(context, rows, outputs * sizeof(double), &loss->variances));
  return TUTTI_OK;
}

/* The mean, the summed squares about it and the summed variances after one more member (Welford's update: nothing
   cancels where means are large and their spread is small). */
struct running {
  double mean, spread, variance;
};

static struct running next(const tutti_ensemble_loss *loss, size_t i, const float *moments) {
  double picks = (double)(loss->picks + 1), distance = (double)moments[0] - loss->sums[i];
  struct running running = {loss->sums[i] + distance / picks,
                            loss->spreads[i] + distance * distance * (picks - 1) / picks,
                            loss->variances[i] + metrics_floor((double)moments[1])};
  return running;
}

/* The divisor of the summed squares about the mean: see enum tutti_epistemic, with weights counts / picks. */
static double divisor(const tutti_ensemble_loss *loss, size_t model) {
  double picks = (double)(loss->picks + 1), squares = loss->count_squares + 2 * (double)loss->counts[model] + 1;
  bool single = squares == picks * picks;
  if (loss->options.epistemic == TUTTI_EPISTEMIC_POPULATION || single)
    return picks;
  return picks - (loss->options.epistemic == TUTTI_EPISTEMIC_PICKS ? 1 : squares / picks);
}

static double moments_loss(const tutti_ensemble_loss *loss, size_t model) {
  size_t outputs = loss->pool.outputs;
  double picks = (double)(loss->picks + 1), spread_divisor = divisor(loss, model), sum = 0;
  for (size_t n = 0; n < loss->pool.rows; n++) {
    const float *moments = moments_of(loss, model, n);
    for (size_t o = 0; o < outputs; o++) {
      struct running running = next(loss, n * outputs + o, moments + 2 * o);
      double variance = running.variance / picks + running.spread / spread_divisor;
      sum += tutti_gaussian_nll(running.mean, variance, loss->pool.values[n * outputs + o]);
    }
  }
  return sum / (double)loss->pool.rows;
}

static void moments_with(const tutti_ensemble_loss *loss, size_t count, const size_t *models, double *losses) {
  each(loss, count, models, losses, moments_loss);
}

static void moments_add(tutti_ensemble_loss *loss, size_t model) {
  size_t outputs = loss->pool.outputs;
  for (size_t i = 0; i < loss->pool.rows * outputs; i++) {
    struct running running = next(loss, i, moments_of(loss, model, i / outputs) + 2 * (i % outputs));
    loss->sums[i] = running.mean;
    loss->spreads[i] = running.spread;
    loss->variances[i] = running.variance;
  }
}

const struct ensemble_loss_kind ensemble_loss_moments = {moments_begin, moments_with, moments_add, NULL};

/* --- squared error of the mean ---------------------------------------------------------------------------------- */

static enum tutti_status squares_begin(tutti_context *context, tutti_ensemble_loss *loss) {
  return tutti_alloc(context, loss->pool.rows, loss->pool.outputs * sizeof *loss->sums, &loss->sums);
}

static double squares_loss(const tutti_ensemble_loss *loss, size_t model) {
  size_t values = loss->pool.rows * loss->pool.outputs;
  const float *moments = loss->pool.predictions[model];
  double scale = 1 / (double)(loss->picks + 1), sum = 0;
  for (size_t i = 0; i < values; i++) {
    double error = (loss->sums[i] + (double)moments[2 * i]) * scale - loss->pool.values[i];
    sum += error * error;
  }
  return loss_of_mean(loss->options.loss, sum / (double)values);
}

static void squares_with(const tutti_ensemble_loss *loss, size_t count, const size_t *models, double *losses) {
  each(loss, count, models, losses, squares_loss);
}

static void squares_add(tutti_ensemble_loss *loss, size_t model) {
  for (size_t i = 0; i < loss->pool.rows * loss->pool.outputs; i++)
    loss->sums[i] += (double)loss->pool.predictions[model][2 * i];
}

const struct ensemble_loss_kind ensemble_loss_squares = {squares_begin, squares_with, squares_add, NULL};
