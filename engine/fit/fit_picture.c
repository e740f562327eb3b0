/* fit_picture.c - what a fit looks like: over one input its mean and bounds with the points, over two its mean and its
   deviation as fields. */
#include "fit_impl.h"
#include "svg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tutti/names.h>

static void widen(struct tutti_svg_axis *axis, size_t count, const double *values) {
  for (size_t i = 0; i < count; i++) {
    axis->low = fmin(axis->low, values[i]);
    axis->high = fmax(axis->high, values[i]);
  }
}

static void pad(struct tutti_svg_axis *axis, double share) {
  double margin = axis->high > axis->low ? share * (axis->high - axis->low) : 0.5;
  axis->low -= margin;
  axis->high += margin;
}

/* --- one input ---------------------------------------------------------------------------------------------------- */

static int compare_inputs(const void *one, const void *other) {
  const double *a = one, *b = other;
  return (a[0] > b[0]) - (a[0] < b[0]);
}

/* The test rows as a line, from left to right. */
static enum tutti_status draw_truth(tutti_context *context, struct tutti_text *out, const struct tutti_svg_frame *frame,
                                    const struct tutti_fit_points *test) {
  enum tutti_status status;
  double(*pairs)[2] = NULL, *x = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, test->rows, sizeof *pairs, &pairs));
  TUTTI_TRY_OUT(context, tutti_alloc(context, 2 * test->rows, sizeof *x, &x));
  for (size_t i = 0; i < test->rows; i++) {
    pairs[i][0] = test->inputs[i];
    pairs[i][1] = test->targets[i];
  }
  qsort(pairs, test->rows, sizeof *pairs, compare_inputs);
  for (size_t i = 0; i < test->rows; i++) {
    x[i] = pairs[i][0];
    x[test->rows + i] = pairs[i][1];
  }
  tutti_svg_line(out, frame, TUTTI_SVG_TRUTH, test->rows, x, x + test->rows);
out:
  tutti_free(pairs);
  tutti_free(x);
  return status;
}

/* All of the points and of the mean is in the frame; of wide bounds a part. */
static struct tutti_svg_axis height_of(const struct tutti_fit_result *result, const double *half) {
  struct tutti_svg_axis axis = {.low = INFINITY, .high = -INFINITY, .label = result->target_name};
  widen(&axis, result->train.rows, result->train.targets);
  widen(&axis, result->test.rows, result->test.targets);
  widen(&axis, result->grid.rows, result->grid.mean);
  double span = axis.high - axis.low, low = axis.low, high = axis.high;
  for (size_t i = 0; i < result->grid.rows; i++) {
    low = fmin(low, result->grid.mean[i] - half[i]);
    high = fmax(high, result->grid.mean[i] + half[i]);
  }
  axis.low = fmax(low, axis.low - span / 2);
  axis.high = fmin(high, axis.high + span / 2);
  pad(&axis, 0.05);
  return axis;
}

static enum tutti_status draw_bands(tutti_context *context, const struct tutti_fit *fit,
                                    const struct tutti_fit_result *result, const char *title, struct tutti_text *out) {
  const struct tutti_fit_points *grid = &result->grid, *test = &result->test;
  bool line = fit->config->drawn == TUTTI_FIT_LINE;
  enum tutti_status status = TUTTI_OK;
  double *half = NULL;
  char bounds[64];
  TUTTI_TRY_OUT(context, tutti_alloc(context, grid->rows, sizeof *half, &half));
  for (size_t i = 0; i < grid->rows; i++)
    half[i] = result->c * grid->deviation[i];
  const struct tutti_svg_frame frame = {.left = 70,
                                        .top = 56,
                                        .width = 600,
                                        .height = 330,
                                        .x = {result->low[0], result->high[0], result->input_names[0]},
                                        .y = height_of(result, half)};
  tutti_svg_begin(out, 700, 440, title);
  tutti_svg_text(out, frame.left, 22, "start", title);
  (void)snprintf(bounds, sizeof bounds, "mean \xc2\xb1 %.3g deviations", result->c);
  tutti_svg_key(out, TUTTI_SVG_MEAN, 70, 44, "mean");
  tutti_svg_key(out, TUTTI_SVG_BAND, 150, 44, bounds);
  tutti_svg_key(out, TUTTI_SVG_TRAIN, 380, 44, "training");
  tutti_svg_key(out, line ? TUTTI_SVG_TRUTH : TUTTI_SVG_TEST, 480, 44, line ? "true function" : "test");
  tutti_svg_frame_begin(out, &frame, 0);
  tutti_svg_band(out, &frame, grid->rows, grid->inputs, grid->mean, half);
  if (line)
    TUTTI_TRY_OUT(context, draw_truth(context, out, &frame, test));
  tutti_svg_line(out, &frame, TUTTI_SVG_MEAN, grid->rows, grid->inputs, grid->mean);
  for (size_t i = 0; i < test->rows && !line; i++)
    tutti_svg_mark(out, &frame, TUTTI_SVG_TEST, test->inputs[i], test->targets[i]);
  for (size_t i = 0; i < result->train.rows; i++)
    tutti_svg_mark(out, &frame, TUTTI_SVG_TRAIN, result->train.inputs[i], result->train.targets[i]);
  tutti_svg_frame_end(out, &frame);
  tutti_svg_end(out);
out:
  tutti_free(half);
  return status;
}

/* --- two inputs --------------------------------------------------------------------------------------------------- */

enum { PANEL = 330, BAR = 14, BAR_STEPS = 64 };

/* A bar of the field's colours beside it, with its axis. */
static void draw_scale(struct tutti_text *out, const struct tutti_svg_frame *beside,
                       const struct tutti_svg_axis *values, int number) {
  const struct tutti_svg_frame bar = {.left = beside->left + beside->width + 58,
                                      .top = beside->top,
                                      .width = BAR,
                                      .height = beside->height,
                                      .x = {0, 1, ""},
                                      .y = *values};
  double step = (values->high - values->low) / BAR_STEPS;
  tutti_svg_frame_begin(out, &bar, number);
  for (int i = 0; i < BAR_STEPS; i++)
    tutti_svg_cell(out, &bar, 0, values->low + i * step, 1, values->low + (i + 1) * step, (i + 0.5) / BAR_STEPS);
  tutti_svg_frame_end(out, &bar);
}

static void draw_field(struct tutti_text *out, const struct tutti_fit_result *result, const double *field,
                       const char *name, double left, int number) {
  size_t side = result->side;
  struct tutti_svg_axis values = {.low = INFINITY, .high = -INFINITY, .label = name};
  const struct tutti_svg_frame frame = {.left = left,
                                        .top = 46,
                                        .width = PANEL,
                                        .height = PANEL,
                                        .x = {result->low[0], result->high[0], result->input_names[0]},
                                        .y = {result->low[1], result->high[1], result->input_names[1]}};
  double half[2];
  for (int k = 0; k < 2; k++)
    half[k] = (result->high[k] - result->low[k]) / (side > 1 ? 2.0 * (double)(side - 1) : 2);
  widen(&values, side * side, field);
  if (!(values.high > values.low))
    pad(&values, 0);
  tutti_svg_frame_begin(out, &frame, number);
  for (size_t i = 0; i < side * side; i++) {
    const double *at = result->grid.inputs + 2 * i;
    tutti_svg_cell(out, &frame, at[0] - half[0], at[1] - half[1], at[0] + half[0], at[1] + half[1],
                   (field[i] - values.low) / (values.high - values.low));
  }
  for (size_t i = 0; i < result->train.rows; i++)
    tutti_svg_mark(out, &frame, TUTTI_SVG_TRAIN, result->train.inputs[2 * i], result->train.inputs[2 * i + 1]);
  tutti_svg_frame_end(out, &frame);
  draw_scale(out, &frame, &values, number + 1);
}

static void draw_fields(const struct tutti_fit_result *result, const char *title, struct tutti_text *out) {
  tutti_svg_begin(out, 980, 430, title);
  tutti_svg_text(out, 70, 22, "start", title);
  tutti_svg_key(out, TUTTI_SVG_TRAIN, 560, 22, "training");
  draw_field(out, result, result->grid.mean, "mean", 70, 0);
  draw_field(out, result, result->grid.deviation, "deviation", 560, 2);
  tutti_svg_end(out);
}

/* --- either ------------------------------------------------------------------------------------------------------- */

enum tutti_status tutti_fit_draw(tutti_context *context, const struct tutti_fit *fit,
                                 const struct tutti_fit_result *result, char **svg) {
  enum tutti_status status;
  struct tutti_text out = tutti_text_begin(context);
  char *title = NULL;
  *svg = NULL;
  TUTTI_TRY_OUT(context, tutti_format(context, &title, "%s, %zu training %s: NLL %.3g, RMSE %.3g on test rows",
                                      tutti_host_plugin(fit->host, "surrogate"), result->train.rows,
                                      tutti_plural(result->train.rows, "row", "rows"),
                                      tutti_bands_nll(&result->bands, result->c), result->rmse));
  if (result->inputs == 1)
    TUTTI_TRY_OUT(context, draw_bands(context, fit, result, title, &out));
  else
    draw_fields(result, title, &out);
  tutti_free(title);
  return tutti_text_take(&out, svg);
out:
  tutti_free(title);
  tutti_text_discard(&out);
  return status;
}
