/* process.c - Gaussian processes: fitted by their likelihood, stored as tensors, conditioned again on their rows. */
#include "process.h"

#include <math.h>
#include <string.h>

enum tutti_status process_bounds(tutti_context *context, const struct process_config *config,
                                 struct gp_bounds *bounds) {
  return gp_bounds_read(context, "backend.", &config->amplitude, &config->length_scale, &config->noise, bounds);
}

/* --- fitting ----------------------------------------------------------------------------------------------------- */

/* Rows that the hyperparameters are fitted to. */
struct sample {
  size_t count;
  double *points; /* [count][features], owned, with the values behind them */
  double *values; /* [count] */
};

/* Draw `most` of the rows. Inputs are divided by the root of their number: whatever it is, most rows are then about as
   far from each other, and one range of length scales fits all tables. */
static enum tutti_status draw_sample(tutti_context *context, uint64_t seed, const struct learner_rows *rows,
                                     size_t outputs, size_t output, size_t most, struct sample *sample) {
  size_t d = rows->features;
  double unit = sqrt((double)d);
  struct tutti_random random;
  uint32_t *order;
  sample->count = rows->count < most ? rows->count : most;
  TUTTI_TRY(context, tutti_alloc(context, sample->count, (d + 1) * sizeof(double), &sample->points));
  sample->values = sample->points + sample->count * d;
  TUTTI_TRY(context, tutti_alloc(context, rows->count, sizeof *order, &order));
  for (size_t i = 0; i < rows->count; i++)
    order[i] = (uint32_t)i;
  tutti_random_init(&random, seed, "process rows", 0);
  if (sample->count < rows->count)
    tutti_random_shuffle(&random, rows->count, order);
  for (size_t i = 0; i < sample->count; i++) {
    for (size_t k = 0; k < d; k++)
      sample->points[i * d + k] = (double)rows->inputs[order[i] * d + k] / unit;
    sample->values[i] = (double)rows->targets[order[i] * outputs + output];
  }
  tutti_free(order);
  return TUTTI_OK;
}

/* The most likely hyperparameters; length scales in the units of the inputs. */
static enum tutti_status search(tutti_context *context, const struct process_config *config, uint64_t seed,
                                const struct sample *sample, size_t features, struct gp_hyper *hyper) {
  struct tutti_random random;
  struct gp_problem problem = {.kernel = (enum gp_kernel)config->kernel,
                               .mean = GP_MEAN_FITTED,
                               .ard = config->ard,
                               .column = gp_column_choose(),
                               .count = sample->count,
                               .dimension = features,
                               .points = sample->points,
                               .values = sample->values};
  struct gp_search how = {.usual = true,
                          .looks = (size_t)config->looks,
                          .starts = (size_t)config->starts,
                          .evaluations = (size_t)config->evaluations,
                          .random = &random};
  tutti_random_init(&random, seed, "process starts", 0);
  TUTTI_TRY(context, process_bounds(context, config, &how.bounds));
  TUTTI_TRY(context, gp_fit(context, &problem, &how, hyper));
  for (size_t k = 0; k < features; k++)
    hyper->lengths[k] *= sqrt((double)features);
  return TUTTI_OK;
}

static enum tutti_status keep_number(tutti_context *context, tutti_tensors *tensors, size_t output, const char *part,
                                     double value) {
  double *place;
  TUTTI_TRY(context, learner_add(context, tensors, output, part, TUTTI_F64, 0, NULL, &place));
  *place = value;
  return TUTTI_OK;
}

static enum tutti_status keep(tutti_context *context, const struct process_config *config,
                              const struct learner_rows *rows, size_t outputs, size_t output,
                              const struct gp_hyper *hyper, tutti_tensors *tensors) {
  float *points, *values;
  double *lengths;
  int32_t *kernel;
  size_t d = rows->features;
  TUTTI_TRY(context,
            learner_add(context, tensors, output, "points", TUTTI_F32, 2, (size_t[]){rows->count, d}, &points));
  memcpy(points, rows->inputs, rows->count * d * sizeof *points);
  TUTTI_TRY(context, learner_add(context, tensors, output, "values", TUTTI_F32, 1, &rows->count, &values));
  for (size_t i = 0; i < rows->count; i++)
    values[i] = rows->targets[i * outputs + output];
  TUTTI_TRY(context, learner_add(context, tensors, output, "lengths", TUTTI_F64, 1, &d, &lengths));
  memcpy(lengths, hyper->lengths, d * sizeof *lengths);
  TUTTI_TRY(context, learner_add(context, tensors, output, "kernel", TUTTI_I32, 0, NULL, &kernel));
  *kernel = config->kernel;
  TUTTI_TRY(context, keep_number(context, tensors, output, "amplitude", hyper->amplitude));
  TUTTI_TRY(context, keep_number(context, tensors, output, "noise", hyper->noise));
  return keep_number(context, tensors, output, "mean", hyper->mean);
}

enum tutti_status process_fit(tutti_context *context, const struct process_config *config,
                              const struct tutti_task *task, uint64_t seed, const struct learner_rows *rows,
                              size_t output, tutti_tensors *tensors) {
  enum tutti_status status = TUTTI_OK;
  struct sample sample = {0};
  struct gp_hyper hyper = {0};
  TUTTI_TRY_OUT(context, tutti_alloc(context, rows->features, sizeof(double), &hyper.lengths));
  TUTTI_TRY_OUT(context, draw_sample(context, seed, rows, task->outputs, output, (size_t)config->fit_rows, &sample));
  TUTTI_TRY_OUT(context, search(context, config, seed, &sample, rows->features, &hyper));
  TUTTI_TRY_OUT(context, keep(context, config, rows, task->outputs, output, &hyper, tensors));
out:
  tutti_free(sample.points);
  tutti_free(hyper.lengths);
  return status;
}

/* --- the process again ------------------------------------------------------------------------------------------- */

static enum tutti_status find_number(tutti_context *context, const tutti_tensors *tensors, size_t output,
                                     const char *part, double *value) {
  const struct tutti_tensor *tensor;
  TUTTI_TRY(context, learner_find(context, tensors, output, part, TUTTI_F64, 0, NULL, &tensor));
  *value = *(const double *)tensor->data;
  return TUTTI_OK;
}

/* What a broken file could hold: others than numbers above 0 would divide by 0 or never end. */
static bool is_sound(const struct gp_posterior *posterior) {
  const struct gp_hyper *hyper = &posterior->hyper;
  bool sound = hyper->amplitude > 0 && isfinite(hyper->amplitude) && hyper->noise >= 0 && isfinite(hyper->noise) &&
               isfinite(hyper->mean);
  for (size_t k = 0; k < posterior->dimension; k++)
    sound = sound && hyper->lengths[k] > 0 && isfinite(hyper->lengths[k]);
  return sound;
}

static enum tutti_status find_hyper(tutti_context *context, const tutti_tensors *tensors, size_t features,
                                    size_t output, struct gp_posterior *posterior) {
  const struct tutti_tensor *kernel, *lengths;
  struct gp_hyper *hyper = &posterior->hyper;
  TUTTI_TRY(context, learner_find(context, tensors, output, "kernel", TUTTI_I32, 0, NULL, &kernel));
  TUTTI_TRY(context, learner_find(context, tensors, output, "lengths", TUTTI_F64, 1, &features, &lengths));
  int32_t number = *(const int32_t *)kernel->data;
  TUTTI_TRY(context, gp_posterior_init(context, number == GP_RBF ? GP_RBF : GP_MATERN52, features, posterior));
  memcpy(hyper->lengths, lengths->data, features * sizeof(double));
  TUTTI_TRY(context, find_number(context, tensors, output, "amplitude", &hyper->amplitude));
  TUTTI_TRY(context, find_number(context, tensors, output, "noise", &hyper->noise));
  TUTTI_TRY(context, find_number(context, tensors, output, "mean", &hyper->mean));
  if ((number != GP_RBF && number != GP_MATERN52) || !is_sound(posterior))
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                      "weights: kernel, amplitude, noise, mean or length scales of target %zu are not numbers above 0",
                      output);
  return TUTTI_OK;
}

/* Copies of float32 numbers; the caller frees them. */
static enum tutti_status widen(tutti_context *context, size_t count, const float *numbers, double **wide) {
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof(double), wide));
  for (size_t i = 0; i < count; i++)
    (*wide)[i] = (double)numbers[i];
  return TUTTI_OK;
}

enum tutti_status process_glance(tutti_context *context, const tutti_tensors *tensors, size_t features, size_t output,
                                 struct gp_posterior *posterior) {
  const struct tutti_tensor *points;
  *posterior = (struct gp_posterior){0};
  TUTTI_TRY(context,
            learner_find(context, tensors, output, "points", TUTTI_F32, 2, (size_t[]){LEARNER_ANY, features}, &points));
  TUTTI_TRY(context, find_hyper(context, tensors, features, output, posterior));
  posterior->count = points->shape[0];
  return TUTTI_OK;
}

enum tutti_status process_open(tutti_context *context, const tutti_tensors *tensors, size_t features, size_t output,
                               struct gp_posterior *posterior) {
  enum tutti_status status = TUTTI_OK;
  const struct tutti_tensor *points, *values;
  double *wide_points = NULL, *wide_values = NULL;
  *posterior = (struct gp_posterior){0};
  TUTTI_TRY_OUT(context, learner_find(context, tensors, output, "points", TUTTI_F32, 2,
                                      (size_t[]){LEARNER_ANY, features}, &points));
  TUTTI_TRY_OUT(context, learner_find(context, tensors, output, "values", TUTTI_F32, 1, points->shape, &values));
  size_t count = points->shape[0];
  TUTTI_TRY_OUT(context, find_hyper(context, tensors, features, output, posterior));
  TUTTI_TRY_OUT(context, widen(context, count * features, points->data, &wide_points));
  TUTTI_TRY_OUT(context, widen(context, count, values->data, &wide_values));
  TUTTI_TRY_OUT(context, gp_posterior_add(context, posterior, count, wide_points, wide_values, NULL));
  gp_posterior_refitted(posterior, count);
  TUTTI_TRY_OUT(context, gp_posterior_settle(context, posterior));
out:
  tutti_free(wide_points);
  tutti_free(wide_values);
  return status;
}

/* --- predicting -------------------------------------------------------------------------------------------------- */

enum tutti_status process_predict(tutti_context *context, const struct tutti_task *task, const tutti_tensors *tensors,
                                  const struct learner_rows *rows, size_t output, float *out, float *epistemic) {
  enum tutti_status status = TUTTI_OK;
  bool gaussian = task->head == TUTTI_OP_HEAD_GAUSSIAN;
  struct gp_posterior posterior = {0};
  double *points = NULL, *moments = NULL; /* means, then deviations */
  TUTTI_TRY_OUT(context, process_open(context, tensors, rows->features, output, &posterior));
  TUTTI_TRY_OUT(context, widen(context, rows->count * rows->features, rows->inputs, &points));
  TUTTI_TRY_OUT(context, tutti_alloc(context, rows->count, 2 * sizeof *moments, &moments));
  gp_posterior_predict(&posterior, rows->count, points, moments, moments + rows->count);
  for (size_t i = 0; i < rows->count; i++) {
    double own = moments[rows->count + i] * moments[rows->count + i];
    learner_put_value(task, i, output, moments[i], gaussian ? own + posterior.hyper.noise : NAN, out);
    if (epistemic)
      epistemic[i * task->outputs + output] = (float)own;
  }
out:
  gp_posterior_clear(&posterior);
  tutti_free(points);
  tutti_free(moments);
  return status;
}
