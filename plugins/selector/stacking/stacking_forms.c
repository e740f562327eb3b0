/* stacking_forms.c - the losses that can be minimised over convex weights: which features of the models are mixed, the
   loss of the mixture, and its derivatives. docs/metrics.md has the definitions. */
#include "stacking_impl.h"

#include <float.h>
#include <string.h>

static double floored(double value) { return value < (double)FLT_MIN ? (double)FLT_MIN : value; }

/* --- nll: the probability of the true class, or the density ------------------------------------------------------- */

/* Each density is divided by the largest of its row. It is at least this number, so that its reciprocals can be summed:
   a row then costs at most 645 nats more than with the model that is best there. */
static const double LEAST_DENSITY = 1e-280;

static void probability_column(const struct stacking_mixture *mixture, size_t model, double *column) {
  const struct tutti_pool *pool = mixture->pool;
  for (size_t n = 0; n < pool->rows; n++)
    column[n] = floored((double)pool->predictions[model][n * pool->outputs + (size_t)pool->labels[n]]);
}

static void density_column(const struct stacking_mixture *mixture, size_t model, double *column) {
  memcpy(column, mixture->densities + model * mixture->values, mixture->values * sizeof *column);
}

static struct stacking_point log_at(const struct stacking_mixture *mixture, double t) {
  struct stacking_point point = {0};
  for (size_t n = 0; n < mixture->values; n++) {
    double mean = mixture->mean[n] + t * mixture->direction[n], ratio = mixture->direction[n] / mean;
    point.value -= log(mean) + (mixture->shift ? mixture->shift[n] : 0);
    point.slope -= ratio;
    point.curvature += ratio * ratio;
  }
  return point;
}

static void log_slopes(const struct stacking_mixture *mixture, double *slopes) {
  for (size_t n = 0; n < mixture->values; n++)
    slopes[n] = -1 / mixture->mean[n];
}

static double joint_log_density(const struct tutti_pool *pool, size_t model, size_t row) {
  const float *moments = pool->predictions[model] + row * 2 * pool->outputs;
  double sum = 0;
  for (size_t o = 0; o < pool->outputs; o++)
    sum -=
        tutti_gaussian_nll((double)moments[2 * o], (double)moments[2 * o + 1], pool->values[row * pool->outputs + o]);
  return sum;
}

/* Densities of all models, each divided by the largest of its row. */
static enum tutti_status measure_densities(tutti_context *context, const double *own,
                                           struct stacking_mixture *mixture) {
  size_t models = mixture->pool->models, rows = mixture->values;
  TUTTI_TRY(context, tutti_alloc(context, models, rows * sizeof(double), &mixture->densities));
  TUTTI_TRY(context, tutti_alloc(context, rows, sizeof(double), &mixture->shift));
  for (size_t n = 0; n < rows; n++)
    mixture->shift[n] = -INFINITY;
  for (size_t k = 0; k < models; k++)
    for (size_t n = 0; n < rows && !isnan(own[k]); n++) {
      double density = joint_log_density(mixture->pool, k, n);
      mixture->densities[k * rows + n] = density;
      mixture->shift[n] = fmax(mixture->shift[n], density);
    }
  for (size_t k = 0; k < models; k++)
    for (size_t n = 0; n < rows && !isnan(own[k]); n++) {
      double *density = &mixture->densities[k * rows + n];
      *density = fmax(exp(*density - mixture->shift[n]), LEAST_DENSITY);
    }
  return TUTTI_OK;
}

static const struct stacking_form probabilities = {probability_column, log_at, log_slopes};
static const struct stacking_form densities = {density_column, log_at, log_slopes};

/* --- brier, mse: squares of the mixture's errors ------------------------------------------------------------------ */

/* Errors of class probabilities or of means: a mixture's error is the weighted sum of its members' errors. */
static void class_error_column(const struct stacking_mixture *mixture, size_t model, double *column) {
  const struct tutti_pool *pool = mixture->pool;
  for (size_t i = 0; i < mixture->values; i++)
    column[i] = (double)pool->predictions[model][i];
  for (size_t n = 0; n < pool->rows; n++)
    column[n * pool->outputs + (size_t)pool->labels[n]] -= 1;
}

static void mean_error_column(const struct stacking_mixture *mixture, size_t model, double *column) {
  for (size_t i = 0; i < mixture->values; i++)
    column[i] = (double)mixture->pool->predictions[model][2 * i] - mixture->pool->values[i];
}

static struct stacking_point squares_at(const struct stacking_mixture *mixture, double t) {
  struct stacking_point point = {0};
  for (size_t i = 0; i < mixture->values; i++) {
    double direction = mixture->direction[i], error = mixture->mean[i] + t * direction;
    point.value += error * error;
    point.slope += 2 * error * direction;
    point.curvature += 2 * direction * direction;
  }
  return point;
}

static void squares_slopes(const struct stacking_mixture *mixture, double *slopes) {
  for (size_t i = 0; i < mixture->values; i++)
    slopes[i] = 2 * mixture->mean[i];
}

static const struct stacking_form class_squares = {class_error_column, squares_at, squares_slopes};
static const struct stacking_form squares = {mean_error_column, squares_at, squares_slopes};

/* --- nll of one Gaussian with the mixture's moments --------------------------------------------------------------- */

/* Two features per value: the error a = m - y, and s^2 + a^2. A mixture's error is sum w a; its variance is sum w (s^2
   + a^2) - (sum w a)^2. */
static void moments_column(const struct stacking_mixture *mixture, size_t model, double *column) {
  for (size_t i = 0; i < mixture->values / 2; i++) {
    const float *moments = mixture->pool->predictions[model] + 2 * i;
    double error = (double)moments[0] - mixture->pool->values[i];
    column[2 * i] = error;
    column[2 * i + 1] = floored((double)moments[1]) + error * error;
  }
}

static double variance_of(double error, double square) { return floored(square - error * error); }

static struct stacking_point moments_at(const struct stacking_mixture *mixture, double t) {
  struct stacking_point point = {0};
  for (size_t i = 0; i < mixture->values; i += 2) {
    const double *mean = mixture->mean + i, *direction = mixture->direction + i;
    double error = mean[0] + t * direction[0], error1 = direction[0];
    double v = variance_of(error, mean[1] + t * direction[1]);
    double v1 = direction[1] - 2 * error * error1, v2 = -2 * error1 * error1, z2 = error * error / v;
    point.value += tutti_gaussian_nll(error, v, 0);
    point.slope += (v1 * (1 - z2) / 2 + error * error1) / v;
    point.curvature +=
        (v2 * (1 - z2) / 2 + error1 * error1) / v + v1 * (v1 * (z2 - 0.5) - 2 * error * error1) / (v * v);
  }
  return point;
}

static void moments_slopes(const struct stacking_mixture *mixture, double *slopes) {
  for (size_t i = 0; i < mixture->values; i += 2) {
    double error = mixture->mean[i], v = variance_of(error, mixture->mean[i + 1]);
    double by_v = (1 - error * error / v) / (2 * v);
    slopes[i] = error / v - 2 * error * by_v;
    slopes[i + 1] = by_v;
  }
}

static const struct stacking_form one_gaussian = {moments_column, moments_at, moments_slopes};

/* --- the mixture -------------------------------------------------------------------------------------------------- */

static const struct stacking_form *form_of(const struct tutti_pool *pool, enum tutti_loss loss, bool moments) {
  if (pool->kind == TUTTI_TASK_CLASSIFICATION)
    return loss == TUTTI_LOSS_NLL ? &probabilities : &class_squares;
  if (loss != TUTTI_LOSS_NLL)
    return &squares;
  return moments ? &one_gaussian : &densities;
}

enum tutti_status stacking_mixture_init(tutti_context *context, const struct tutti_pool *pool, enum tutti_loss loss,
                                        bool moments, const double *own, struct stacking_mixture *mixture) {
  const struct stacking_form *form = form_of(pool, loss, moments);
  *mixture = (struct stacking_mixture){.form = form, .pool = pool, .values = pool->rows, .count = pool->rows};
  if (form == &class_squares || form == &squares || form == &one_gaussian)
    mixture->values *= pool->outputs;
  if (form == &squares)
    mixture->count = mixture->values;
  if (form == &one_gaussian)
    mixture->values *= 2;
  TUTTI_TRY(context, tutti_alloc(context, mixture->values, sizeof(double), &mixture->mean));
  TUTTI_TRY(context, tutti_alloc(context, mixture->values, sizeof(double), &mixture->direction));
  if (form == &densities)
    TUTTI_TRY(context, measure_densities(context, own, mixture));
  return TUTTI_OK;
}

void stacking_mixture_clear(struct stacking_mixture *mixture) {
  tutti_free(mixture->mean);
  tutti_free(mixture->direction);
  tutti_free(mixture->densities);
  tutti_free(mixture->shift);
}

struct stacking_point stacking_mixture_at(const struct stacking_mixture *mixture, double t) {
  struct stacking_point point = mixture->form->at(mixture, t);
  double scale = 1 / (double)mixture->count;
  return (struct stacking_point){point.value * scale, point.slope * scale, point.curvature * scale};
}

void stacking_mixture_slopes(const struct stacking_mixture *mixture, double *slopes) {
  mixture->form->slopes(mixture, slopes);
  for (size_t i = 0; i < mixture->values; i++)
    slopes[i] /= (double)mixture->count;
}
