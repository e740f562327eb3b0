/* fit.c - fits a surrogate to the training rows of a data set, finds the factor c of its deviations on the validation
   rows, and measures the bounds mean +- c deviation on the test rows. */
#include "fit_impl.h"

#include "core/score/metrics_impl.h"
#include "engine/data/split_names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A single observation says nothing of how values vary. */
enum { LEAST_ROWS = 2, SIDE_OF_ONE = 201, SIDE_OF_TWO = 41 };

/* --- data --------------------------------------------------------------------------------------------------------- */

static size_t rows_of(const tutti_dataset *dataset, const char *split) {
  const tutti_split *found = tutti_dataset_find(dataset, split);
  return found ? tutti_split_rows(found) : 0;
}

static enum tutti_status check_data(tutti_context *context, const tutti_dataset *dataset) {
  const struct tutti_task *task = tutti_dataset_task(dataset);
  size_t train = rows_of(dataset, TUTTI_SPLIT_TRAIN), test = rows_of(dataset, TUTTI_SPLIT_TEST);
  if (task->kind != TUTTI_TASK_REGRESSION)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "data.task: tutti fit is for regression, and these data have classes; tutti run takes both");
  if (!tutti_split_inputs(tutti_dataset_find(dataset, TUTTI_SPLIT_TRAIN)))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "data.path: expected a table of numbers for surrogates, found images");
  if (task->outputs != 1)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.target: a surrogate has one target, and here are %zu",
                      task->outputs);
  if (train < LEAST_ROWS)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.split: expected at least %d training rows, found %zu",
                      LEAST_ROWS, train);
  if (test == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "data.split: a fit is measured on test rows, and there are none; give a third share, as in 0.7 "
                      "0.2 0.1");
  return TUTTI_OK;
}

/* Copy a split's rows behind those that are there. */
static enum tutti_status add_rows(tutti_context *context, const tutti_split *split, size_t inputs,
                                  struct tutti_fit_points *points) {
  size_t rows = split ? tutti_split_rows(split) : 0, all = points->rows + rows;
  if (rows == 0)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_realloc(context, points->rows * inputs, all * inputs, sizeof(double), &points->inputs));
  TUTTI_TRY(context, tutti_realloc(context, points->rows, all, sizeof(double), &points->targets));
  const float *from = tutti_split_inputs(split);
  for (size_t i = 0; i < rows * inputs; i++)
    points->inputs[points->rows * inputs + i] = (double)from[i];
  memcpy(points->targets + points->rows, tutti_split_raw_targets(split), rows * sizeof(double));
  points->rows = all;
  return TUTTI_OK;
}

static void release_points(struct tutti_fit_points *points) {
  tutti_free(points->inputs);
  tutti_free(points->targets);
  tutti_free(points->mean);
  tutti_free(points->deviation);
}

/* --- the box ------------------------------------------------------------------------------------------------------ */

static void span(const struct tutti_fit_points *points, size_t inputs, size_t k, double *low, double *high) {
  *low = INFINITY;
  *high = -INFINITY;
  for (size_t i = 0; i < points->rows; i++) {
    *low = fmin(*low, points->inputs[i * inputs + k]);
    *high = fmax(*high, points->inputs[i * inputs + k]);
  }
}

/* As the recipe has it, or around the rows that are fitted. Inputs are float32: an end of the box counts as rounded to
   that. */
static enum tutti_status find_box(tutti_context *context, const struct tutti_fit *fit,
                                  const struct tutti_fit_points *fitted, struct tutti_fit_result *result) {
  const struct tutti_reals *box = &fit->config->box;
  size_t inputs = result->inputs;
  TUTTI_TRY(context, tutti_alloc(context, inputs, sizeof(double), &result->low));
  TUTTI_TRY(context, tutti_alloc(context, inputs, sizeof(double), &result->high));
  if (box->count != 0 && box->count != 2 && box->count != 2 * inputs)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "fit.box: expected two ends for all inputs, or two for each of %zu, found %zu numbers", inputs,
                      box->count);
  for (size_t k = 0; k < inputs; k++) {
    double least, most;
    span(fitted, inputs, k, &least, &most);
    result->low[k] = least;
    result->high[k] = most > least ? most : least + 1;
    if (box->count == 0)
      continue;
    const double *ends = box->values + (box->count == 2 ? 0 : 2 * k);
    if (!(ends[0] < ends[1]))
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "fit.box: expected a lower and an upper end, found %g and %g",
                        ends[0], ends[1]);
    bool cut = least < (double)(float)ends[0] || most > (double)(float)ends[1];
    if (cut && fit->config->outside == TUTTI_FIT_REFUSE)
      return TUTTI_FAIL(
          context, TUTTI_ERROR_USAGE,
          "fit.box: narrower than the data: it goes from %g to %g, and input %s of the training rows from "
          "%g to %g%s; fit.outside = keep fits rows outside it, too",
          ends[0], ends[1], tutti_dataset_feature(fit->dataset, k), least, most, " (as data.standardise leaves it)");
    result->low[k] = ends[0];
    result->high[k] = ends[1];
  }
  return TUTTI_OK;
}

/* --- the surrogate ------------------------------------------------------------------------------------------------ */

/* The surrogate sees the box as [0, 1], and targets as the data set has them for training. */
struct fitting {
  const struct tutti_fit *fit;
  const struct tutti_fit_result *result;
  tutti_domain *domain;
  tutti_surrogate *surrogate;
  double scale, shift; /* target = scale * value + shift */
};

static void end_fitting(struct fitting *fitting) {
  tutti_surrogate_destroy(fitting->surrogate);
  tutti_domain_destroy(fitting->domain);
}

static enum tutti_status begin_fitting(tutti_context *context, struct fitting *fitting) {
  const struct tutti_fit *fit = fitting->fit;
  const tutti_split *train = tutti_dataset_find(fit->dataset, TUTTI_SPLIT_TRAIN);
  size_t inputs = fitting->result->inputs;
  TUTTI_TRY(context, tutti_domain_create(context, &fitting->domain));
  for (size_t k = 0; k < inputs; k++) {
    char name[32];
    (void)snprintf(name, sizeof name, "x%zu", k);
    const struct tutti_dimension dimension = {.size = sizeof dimension,
                                              .name = name,
                                              .type = TUTTI_DIMENSION_REAL,
                                              .low = fitting->result->low[k],
                                              .high = fitting->result->high[k]};
    TUTTI_TRY(context, tutti_domain_add(context, fitting->domain, &dimension));
  }
  const struct tutti_surrogate_setup setup = {.size = sizeof setup,
                                              .host = fit->host,
                                              .task = tutti_dataset_task(fit->dataset),
                                              .seed = fit->seed,
                                              .dimension = inputs,
                                              .domain = fitting->domain};
  fitting->scale = tutti_split_target_scale(train)[0];
  fitting->shift = tutti_split_target_shift(train)[0];
  return tutti_surrogate_create(context, fit->host, "surrogate", &setup, &fitting->surrogate);
}

/* Where the box has its points in [0, 1]; free with tutti_free. */
static enum tutti_status place(tutti_context *context, const struct fitting *fitting,
                               const struct tutti_fit_points *points, double **vectors) {
  const struct tutti_fit_result *result = fitting->result;
  size_t inputs = result->inputs;
  TUTTI_TRY(context, tutti_alloc(context, points->rows * inputs, sizeof(double), vectors));
  for (size_t i = 0; i < points->rows * inputs; i++) {
    size_t k = i % inputs;
    (*vectors)[i] = (points->inputs[i] - result->low[k]) / (result->high[k] - result->low[k]);
  }
  return TUTTI_OK;
}

static enum tutti_status observe(tutti_context *context, const struct fitting *fitting,
                                 const struct tutti_fit_points *points) {
  enum tutti_status status;
  double *vectors = NULL, *values = NULL;
  TUTTI_TRY_OUT(context, place(context, fitting, points, &vectors));
  TUTTI_TRY_OUT(context, tutti_alloc(context, points->rows, sizeof *values, &values));
  for (size_t i = 0; i < points->rows; i++)
    values[i] = (points->targets[i] - fitting->shift) / fitting->scale;
  const struct tutti_points given = {
      .size = sizeof given, .count = points->rows, .dimension = fitting->result->inputs, .vectors = vectors};
  TUTTI_TRY_OUT(context, tutti_surrogate_fit(context, fitting->surrogate, &given, values, NULL));
out:
  tutti_free(vectors);
  tutti_free(values);
  return status;
}

static enum tutti_status predict(tutti_context *context, const struct fitting *fitting,
                                 struct tutti_fit_points *points) {
  enum tutti_status status;
  double *vectors = NULL;
  TUTTI_TRY_OUT(context, place(context, fitting, points, &vectors));
  TUTTI_TRY_OUT(context, tutti_alloc(context, points->rows, sizeof(double), &points->mean));
  TUTTI_TRY_OUT(context, tutti_alloc(context, points->rows, sizeof(double), &points->deviation));
  const struct tutti_points wanted = {
      .size = sizeof wanted, .count = points->rows, .dimension = fitting->result->inputs, .vectors = vectors};
  TUTTI_TRY_OUT(context,
                tutti_surrogate_predict(context, fitting->surrogate, &wanted, points->mean, points->deviation));
  for (size_t i = 0; i < points->rows; i++) {
    points->mean[i] = fitting->scale * points->mean[i] + fitting->shift;
    points->deviation[i] *= fitting->scale;
  }
out:
  tutti_free(vectors);
  return status;
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

static struct tutti_bands bands_of(const struct tutti_fit_points *points) {
  struct tutti_bands sums = {0};
  for (size_t i = 0; i < points->rows; i++)
    tutti_bands_add(&sums, points->mean[i], points->deviation[i], points->targets[i]);
  return sums;
}

/* Find c on the validation rows; then, if the recipe says so, fit to them, too. */
static enum tutti_status calibrate(tutti_context *context, const struct fitting *fitting,
                                   struct tutti_fit_result *result) {
  const struct tutti_fit_config *config = fitting->fit->config;
  const tutti_split *split = tutti_dataset_find(fitting->fit->dataset, TUTTI_SPLIT_VALIDATION);
  struct tutti_fit_points points = {0};
  enum tutti_status status;
  result->c = config->c > 0 ? config->c : 1;
  TUTTI_TRY_OUT(context, add_rows(context, split, result->inputs, &points));
  if (points.rows == 0)
    goto out;
  if (config->c <= 0) {
    TUTTI_TRY_OUT(context, predict(context, fitting, &points));
    struct tutti_bands sums = bands_of(&points);
    result->c = tutti_bands_scale(&sums);
  }
  if (config->refit) {
    TUTTI_TRY_OUT(context, add_rows(context, split, result->inputs, &result->train));
    TUTTI_TRY_OUT(context, observe(context, fitting, &result->train));
  }
out:
  release_points(&points);
  return status;
}

static enum tutti_status lay_grid(tutti_context *context, const struct tutti_fit *fit,
                                  struct tutti_fit_result *result) {
  size_t inputs = result->inputs, side = (size_t)fit->config->grid, rows = 1;
  if (!fit->picture || inputs > 2)
    return TUTTI_OK;
  if (side == 0)
    side = inputs == 1 ? SIDE_OF_ONE : SIDE_OF_TWO;
  for (size_t k = 0; k < inputs; k++)
    rows *= side;
  TUTTI_TRY(context, tutti_alloc(context, rows * inputs, sizeof(double), &result->grid.inputs));
  for (size_t i = 0; i < rows; i++)
    for (size_t k = inputs, rest = i; k-- > 0; rest /= side) {
      double share = side > 1 ? (double)(rest % side) / (double)(side - 1) : 0.5;
      result->grid.inputs[i * inputs + k] = result->low[k] + (result->high[k] - result->low[k]) * share;
    }
  result->side = side;
  result->grid.rows = rows;
  return TUTTI_OK;
}

static enum tutti_status measure_test_rows(tutti_context *context, const struct tutti_fit *fit,
                                           struct tutti_fit_result *result) {
  const struct tutti_reals *levels = &fit->config->levels;
  const struct tutti_fit_points *test = &result->test;
  double square = 0;
  TUTTI_TRY(context, tutti_alloc(context, levels->count, sizeof(double), &result->coverage));
  TUTTI_TRY(context, tutti_alloc(context, levels->count, sizeof(double), &result->width));
  result->bands = bands_of(test);
  for (size_t i = 0; i < test->rows; i++) {
    double error = test->targets[i] - test->mean[i];
    square += error * error;
  }
  result->rmse = sqrt(square / (double)test->rows);
  for (size_t l = 0; l < levels->count; l++) {
    double half = result->c * tutti_normal_quantile(0.5 + levels->values[l] / 2);
    size_t inside = 0;
    for (size_t i = 0; i < test->rows; i++)
      inside += fabs(test->targets[i] - test->mean[i]) <= half * test->deviation[i];
    result->coverage[l] = (double)inside / (double)test->rows;
    result->width[l] = tutti_bands_width(&result->bands, half);
  }
  return TUTTI_OK;
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

/* Training rows and their box, which holds the validation rows, too, if these are fitted later. */
static enum tutti_status begin_result(tutti_context *context, const struct tutti_fit *fit,
                                      struct tutti_fit_result *result) {
  const tutti_split *train = tutti_dataset_find(fit->dataset, TUTTI_SPLIT_TRAIN);
  *result = (struct tutti_fit_result){0};
  TUTTI_TRY(context, check_data(context, fit->dataset));
  struct tutti_shape shape = tutti_split_input(train);
  result->inputs = (size_t)shape.height * (size_t)shape.width * (size_t)shape.channels;
  for (size_t k = 0; k < 2 && k < result->inputs; k++)
    result->input_names[k] = tutti_dataset_feature(fit->dataset, k);
  result->target_name = tutti_dataset_target(fit->dataset, 0);
  TUTTI_TRY(context, add_rows(context, train, result->inputs, &result->train));
  struct tutti_fit_points fitted = {0};
  enum tutti_status status = add_rows(context, train, result->inputs, &fitted);
  if (status == TUTTI_OK && fit->config->refit)
    status = add_rows(context, tutti_dataset_find(fit->dataset, TUTTI_SPLIT_VALIDATION), result->inputs, &fitted);
  if (status == TUTTI_OK)
    status = find_box(context, fit, &fitted, result);
  release_points(&fitted);
  return status;
}

enum tutti_status tutti_fit_check(tutti_context *context, const struct tutti_fit *fit) {
  struct tutti_fit_result result;
  struct fitting fitting = {.fit = fit, .result = &result};
  enum tutti_status status = begin_result(context, fit, &result);
  if (status == TUTTI_OK)
    status = begin_fitting(context, &fitting);
  end_fitting(&fitting);
  tutti_fit_release(&result);
  return status;
}

enum tutti_status tutti_fit_run(tutti_context *context, const struct tutti_fit *fit, struct tutti_fit_result *result) {
  struct fitting fitting = {.fit = fit, .result = result};
  enum tutti_status status;
  TUTTI_TRY_OUT(context, begin_result(context, fit, result));
  TUTTI_TRY_OUT(context, begin_fitting(context, &fitting));
  TUTTI_TRY_OUT(context, observe(context, &fitting, &result->train));
  TUTTI_TRY_OUT(context, calibrate(context, &fitting, result));
  TUTTI_TRY_OUT(context,
                add_rows(context, tutti_dataset_find(fit->dataset, TUTTI_SPLIT_TEST), result->inputs, &result->test));
  TUTTI_TRY_OUT(context, lay_grid(context, fit, result));
  TUTTI_TRY_OUT(context, predict(context, &fitting, &result->test));
  if (result->grid.rows > 0)
    TUTTI_TRY_OUT(context, predict(context, &fitting, &result->grid));
  TUTTI_TRY_OUT(context, measure_test_rows(context, fit, result));
  TUTTI_TRY_OUT(context, tutti_surrogate_describe(context, fitting.surrogate, &result->fitted));
out:
  end_fitting(&fitting);
  return status;
}

void tutti_fit_release(struct tutti_fit_result *result) {
  release_points(&result->train);
  release_points(&result->test);
  release_points(&result->grid);
  tutti_free(result->low);
  tutti_free(result->high);
  tutti_free(result->coverage);
  tutti_free(result->width);
  tutti_free(result->fitted);
}
