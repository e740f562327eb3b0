/* section_bands.c - of one input: the prediction as a function of it, with its bands. */
#include "report_impl.h"

#include "core/base/file_impl.h"
#include "core/base/json_impl.h"
#include "engine/run/record_impl.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tutti/model.h>

enum { POINTS = 201 };
static const double reach = 2.2; /* of the inputs' deviation, to each side of their mean */

/* --- an ensemble -------------------------------------------------------------------------------------------------- */

/* Where training inputs lie, by their scale or by the ends of their quantiles, as the run's data.json has them; false
   if there is no single column of numbers, or it was not scaled. */
static enum tutti_status find_range(const struct report_facts *facts, double *low, double *high, bool *found) {
  tutti_context *context = facts->context;
  enum tutti_status status = TUTTI_OK;
  char *path = NULL, *text = NULL;
  size_t bytes;
  json_t *root = NULL;
  *found = false;
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, tutti_view_source(facts->view), TUTTI_RUN_FILE_DATA, &path));
  TUTTI_TRY_OUT(context, tutti_file_read(context, path, &text, &bytes));
  root = json_loads(text, 0, NULL);
  const json_t *inputs = json_object_get(root, "inputs"), *scale = json_array_get(json_object_get(root, "scale"), 0);
  const json_t *shift = json_array_get(json_object_get(root, "shift"), 0);
  const json_t *column = json_array_get(inputs, 0), *categories = json_object_get(column, "categories");
  if (json_array_size(inputs) != 1 || json_array_size(categories) > 0 || json_object_get(column, "date") ||
      !json_is_number(scale) || !json_is_number(shift))
    goto out;
  const json_t *knots = json_object_get(column, "knots");
  if (json_array_size(knots) > 0) {
    *low = json_number_value(json_array_get(knots, 0));
    *high = json_number_value(json_array_get(knots, json_array_size(knots) - 1));
  } else {
    *low = json_number_value(shift) - reach * json_number_value(scale);
    *high = json_number_value(shift) + reach * json_number_value(scale);
  }
  *found = *high > *low;
out:
  json_decref(root);
  tutti_free(path);
  tutti_free(text);
  return status;
}

static enum tutti_status predict(const struct report_facts *facts, double low, double high, double *grid,
                                 struct tutti_forecast *forecast, char **name) {
  tutti_context *context = facts->context;
  enum tutti_status status;
  tutti_model *model = NULL;
  tutti_rows *rows = NULL;
  for (size_t i = 0; i < POINTS; i++)
    grid[i] = low + (high - low) * (double)i / (POINTS - 1);
  TUTTI_TRY_OUT(context, tutti_view_model(context, facts->view, NULL, &model));
  TUTTI_TRY_OUT(context, tutti_strdup(context, tutti_model_input(model, 0), name));
  TUTTI_TRY_OUT(context, tutti_rows_create(context, "the grid of the report", &rows));
  TUTTI_TRY_OUT(context, tutti_rows_add_column(context, rows, tutti_model_input(model, 0)));
  TUTTI_TRY_OUT(context, tutti_rows_add_numbers(context, rows, 0, POINTS, grid));
  status = tutti_model_predict(context, model, rows, forecast);
out:
  tutti_rows_destroy(rows);
  tutti_model_close(model);
  return status;
}

static enum tutti_status draw_ensemble(const struct report_facts *facts, struct report_figure *figure, double low,
                                       double high) {
  double grid[POINTS];
  char key[64];
  struct tutti_forecast forecast = {.size = sizeof forecast, .level = facts->rows.level};
  char *name = NULL;
  enum tutti_status status = predict(facts, low, high, grid, &forecast, &name);
  if (status == TUTTI_ERROR_USAGE || status == TUTTI_ERROR_UNSUPPORTED) { /* no weights, no backend */
    status = tutti_figure_missing(figure, "%s", tutti_error_message(facts->context));
    tutti_error_clear(facts->context);
  } else if (status == TUTTI_OK) {
    struct tutti_table *table =
        tutti_figure_table(figure, "input", "mean", "aleatoric", "epistemic", "lower", "upper", NULL);
    for (size_t i = 0; i < POINTS; i++) {
      const struct tutti_uncertainty *at = &forecast.predicted[i * forecast.outputs];
      const double *ends = forecast.intervals ? forecast.intervals + 2 * i * forecast.outputs : NULL;
      const double numbers[] = {
          grid[i], at->mean, at->aleatoric, at->epistemic, ends ? ends[0] : (double)NAN, ends ? ends[1] : (double)NAN};
      tutti_table_put_all(table, 6, numbers);
    }
    struct tutti_plot *plot = tutti_figure_plot(figure, 700, 400);
    tutti_plot_text(plot, "xlabel", name);
    tutti_plot_text(plot, "ylabel", tutti_view_output(facts->view, 0));
    (void)snprintf(key, sizeof key, "interval of %g %%", 100 * facts->rows.level);
    if (!tutti_report_endless(facts, facts->rows.level))
      tutti_plot_series(plot, 0, "1:5:6", "filledcurves fs solid 0.15", 0, key);
    tutti_plot_series(plot, 0, "1:($2-2*$4):($2+2*$4)", "filledcurves fs solid 0.35", 1, "+- 2 epistemic deviations");
    tutti_plot_series(plot, 0, "1:2", "lines lw 2", 0, "mean");
    status =
        tutti_figure_note(figure,
                          "Over the mean of the training inputs, and %g of their deviations to each side; the "
                          "run does not keep the inputs themselves. The interval ends at quantiles, of the members' "
                          "mixture or of the calibrator, and the epistemic deviation is estimated from the "
                          "members, for which it is a little larger than theirs: twice of it may reach beyond the "
                          "interval.",
                          reach);
    if (status == TUTTI_OK)
      status = tutti_report_note_endless(facts, figure, facts->rows.level);
  }
  tutti_free(name);
  tutti_forecast_release(&forecast);
  return status;
}

/* --- a fit -------------------------------------------------------------------------------------------------------- */

/* The points of a file of the repeat, [rows][columns]; false if it has no such file. Unmap it. */
static enum tutti_status map_points(const struct report_facts *facts, uint64_t trial, const char *name, size_t columns,
                                    struct tutti_npy *array, bool *found) {
  tutti_context *context = facts->context;
  enum tutti_status status = TUTTI_OK;
  const char *report = facts->history->records[trial].report;
  char *folder = NULL, *path = NULL;
  *found = false;
  if (!report || !tutti_record_has(report, name))
    return TUTTI_OK;
  TUTTI_TRY_OUT(context, tutti_trial_folder(context, facts->directory, trial, &folder));
  TUTTI_TRY_OUT(context, tutti_format(context, &path, "%s/%s", folder, name));
  TUTTI_TRY_OUT(context, tutti_record_check_trial(context, facts->directory, trial, report, path));
  TUTTI_TRY_OUT(context, tutti_npy_map(context, path, array));
  *found = array->element == TUTTI_F64 && array->rank == 2 && array->shape[1] == columns;
out:
  tutti_free(folder);
  tutti_free(path);
  return status;
}

/* The first `take` columns of the file's, as rows of the table. */
static enum tutti_status put_points(const struct report_facts *facts, uint64_t trial, const char *name, size_t columns,
                                    size_t take, struct tutti_table *table, bool *found) {
  struct tutti_npy array = {.data = NULL};
  enum tutti_status status = map_points(facts, trial, name, columns, &array, found);
  for (size_t i = 0; status == TUTTI_OK && *found && i < array.shape[0]; i++)
    tutti_table_put_all(table, take, (const double *)array.data + i * columns);
  tutti_npy_unmap(&array);
  return status;
}

static enum tutti_status draw_fit(const struct report_facts *facts, struct report_figure *figure) {
  bool grid = false, train = false, test = false;
  uint64_t trial = 0;
  char columns[96];
  if (!tutti_experiment_is_fit(facts->experiment))
    return tutti_figure_skip(figure);
  while (trial < facts->history->asked && !facts->reports[trial])
    trial++;
  if (trial == facts->history->asked)
    return tutti_figure_missing(figure, "No repeat has finished yet.");
  struct tutti_table *tables[3];
  tables[0] = tutti_figure_table(figure, "input", "mean", "deviation", NULL);
  tables[1] = tutti_figure_table(figure, "training input", "target", NULL);
  tables[2] = tutti_figure_table(figure, "test input", "target", NULL);
  TUTTI_TRY(facts->context, put_points(facts, trial, "grid-points.npy", 3, 3, tables[0], &grid));
  TUTTI_TRY(facts->context, put_points(facts, trial, "train-points.npy", 2, 2, tables[1], &train));
  TUTTI_TRY(facts->context, put_points(facts, trial, "test-points.npy", 4, 2, tables[2], &test));
  if (!grid || !train || !test)
    return tutti_figure_missing(figure, "The repeats have left no grid over one input.");
  double c = tutti_report_number(json_object_get(facts->reports[trial], "measures"), "c");
  c = isfinite(c) ? c : 1;
  struct tutti_plot *plot = tutti_figure_plot(figure, 700, 400);
  tutti_plot_text(plot, "xlabel", "input");
  (void)snprintf(columns, sizeof columns, "1:($2-%.9g*$3):($2+%.9g*$3)", c, c);
  tutti_plot_series(plot, 0, columns, "filledcurves fs solid 0.2", 0, "bounds");
  tutti_plot_series(plot, 0, "1:2", "lines lw 2", 0, "mean");
  tutti_plot_series(plot, 2, "1:2", "points pt 6 ps 0.3", TUTTI_INK_QUIET, "test");
  tutti_plot_series(plot, 1, "1:2", "points pt 7 ps 0.6", TUTTI_INK_TEXT, "training");
  return tutti_figure_note(figure, "Repeat %" PRIu64 ", with bounds of mean +- %.3g deviations.", trial, c);
}

static enum tutti_status draw_bands(const struct report_facts *facts, struct report_figure *figure) {
  double low, high;
  bool found = false;
  if (tutti_experiment_is_fit(facts->experiment) || facts->classes || !facts->evaluation)
    return tutti_figure_skip(figure);
  TUTTI_TRY(facts->context, find_range(facts, &low, &high, &found));
  return found ? draw_ensemble(facts, figure, low, high) : tutti_figure_skip(figure);
}

/* --- the metrics of a fit ---------------------------------------------------------------------------------------- */

static void put_pair(struct tutti_table *table, const json_t *pair) {
  for (size_t i = 0; i < 2; i++) {
    const json_t *end = json_array_get(pair, i);
    tutti_table_put(table, json_is_number(end) ? json_number_value(end) : (double)NAN);
  }
}

static enum tutti_status draw_repeats(const struct report_facts *facts, struct report_figure *figure) {
  const json_t *split = json_array_get(json_object_get(facts->status, "evaluation"), 0), *metric;
  size_t index;
  if (!tutti_experiment_is_fit(facts->experiment))
    return tutti_figure_skip(figure);
  if (json_array_size(json_object_get(split, "metrics")) == 0)
    return tutti_figure_missing(figure, "No repeat has finished yet.");
  struct tutti_table *table = tutti_figure_table(figure, "metric", "mean", "lower", "upper", "median",
                                                 "lower of median", "upper of median", NULL);
  json_array_foreach(json_object_get(split, "metrics"), index, metric) {
    const char *name = json_string_value(json_object_get(metric, "name"));
    tutti_table_put_text(table, name ? name : "");
    tutti_table_put(table, tutti_report_number(metric, "value"));
    put_pair(table, json_object_get(metric, "interval"));
    tutti_table_put(table, tutti_report_number(metric, "median"));
    put_pair(table, json_object_get(metric, "median_interval"));
  }
  return TUTTI_OK;
}

static const struct report_chart charts[] = {
    {.name = "repeats",
     .title = "The fit",
     .text = "Each metric on the test rows over all repeats: its mean and its median, with intervals of 95 %.",
     .brief = true,
     .draw = draw_repeats},
    {.name = "bands",
     .title = "Over its input",
     .text = "The prediction as a function of the only input. The epistemic band is wide where the members "
             "disagree, as they should where there were no data.",
     .draw = draw_bands},
    {.name = "surrogate",
     .title = "The surrogate over its input",
     .text =
         "Its mean as a function of the only input, of one repeat. The bounds are those of the surrogate: they should "
         "be wide where there are no training points.",
     .draw = draw_fit},
    {.name = NULL},
};
const struct report_section report_section_bands = {.title = "As a function", .charts = charts};
