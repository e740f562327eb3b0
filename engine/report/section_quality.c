/* section_quality.c - how good the ensemble is, and whether it knows how good: metrics, reliability, coverage, risk. */
#include "compute.h"
#include "levels.h"

#include "engine/data/split_names.h"
#include "engine/draw/thin.h"
#include "engine/evaluation/calibrate_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char no_ensemble[] = "There is no ensemble yet, or there are no predictions.";

/* --- metrics ------------------------------------------------------------------------------------------------------ */

/* The definition of a metric; some names mean other things for classes. */
static const char *definition(bool classes, const char *name) {
  const struct tutti_metric *metric;
  const enum tutti_metric_table tables[] = {classes ? TUTTI_METRICS_CLASSIFICATION : TUTTI_METRICS_REGRESSION,
                                            TUTTI_METRICS_OOD, TUTTI_METRICS_DIVERSITY};
  for (size_t table = 0; table < sizeof tables / sizeof *tables; table++)
    for (size_t i = 0; (metric = tutti_metric_at(tables[table], i)); i++)
      if (strcmp(metric->name, name) == 0)
        return metric->text;
  return "";
}

static const char *text_at(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

/* Has a metric a value on any split, before the calibrator or after it? */
static bool has_value(const struct report_facts *facts, const char *name) {
  const json_t *split;
  size_t index;
  json_array_foreach(facts->evaluation, index,
                     split) if (isfinite(tutti_report_metric(json_object_get(split, "metrics"), name)) ||
                                isfinite(tutti_report_metric(json_object_get(split, "calibrated"), name))) return true;
  return false;
}

/* Is one split the rows of another, shifted? */
static bool is_shift_of(const char *one, const char *other) {
  const size_t length = strlen(other);
  return strncmp(one, other, length) == 0 && one[length] == '-';
}

/* The splits of an evaluation, each with its shifted ones behind it: a metric over the severities is read in one go.
   NULL without memory. */
static json_t *splits_by_severity(const json_t *evaluation) {
  json_t *ordered = json_array(), *split, *other;
  size_t i, j;
  json_array_foreach(evaluation, i, split) {
    bool shifted = false;
    json_array_foreach(evaluation, j, other) shifted =
        shifted || is_shift_of(text_at(split, "split"), text_at(other, "split"));
    if (shifted)
      continue;
    json_array_append(ordered, split);
    json_array_foreach(evaluation, j, other) if (is_shift_of(text_at(other, "split"), text_at(split, "split")))
        json_array_append(ordered, other);
  }
  return ordered;
}

static void put_metric(const struct report_facts *facts, const json_t *splits, struct tutti_table *table,
                       const json_t *metric) {
  const char *name = text_at(metric, "name");
  const json_t *split;
  size_t index;
  if (!has_value(facts, name))
    return;
  tutti_table_put_text(table, name);
  json_array_foreach(splits, index, split) {
    tutti_table_put(table, tutti_report_metric(json_object_get(split, "metrics"), name));
    if (json_object_get(split, "calibrated"))
      tutti_table_put(table, tutti_report_metric(json_object_get(split, "calibrated"), name));
  }
  json_array_foreach(splits, index, split) {
    const json_t *anew = tutti_report_anew(facts, text_at(split, "split"), NULL);
    if (anew)
      tutti_table_put(table, tutti_report_metric(anew, name));
  }
  tutti_table_put_text(table, text_at(metric, "unit"));
  tutti_table_put_text(table, text_at(metric, "better"));
  tutti_table_put_text(table, definition(facts->classes, name));
}

/* The last columns of a table of metrics. Beyond some splits or targets, their numbers stand below each other: so the
   table is as narrow as a telephone, and how a metric goes with the severity is read downwards. */
enum { MOST_BESIDE = 4 };
static void end_columns(struct tutti_table *table) {
  table->stacked = table->columns > 1 + MOST_BESIDE;
  tutti_table_columns(table, "unit", "better", NULL);
}

/* Of several targets a table of the metrics of each alone, on the rows of a split, before and after the calibrator. */
static enum tutti_status put_targets(const struct report_facts *facts, struct report_figure *figure,
                                     const json_t *split) {
  const json_t *targets = json_object_get(split, "targets"), *target, *metric;
  size_t index, k;
  if (!targets)
    return TUTTI_OK;
  struct tutti_table *table = tutti_figure_table(figure, "metric", NULL);
  json_array_foreach(targets, index, target) {
    char head[128];
    tutti_table_column(table, text_at(target, "target"));
    (void)snprintf(head, sizeof head, "%s, calibrated", text_at(target, "target"));
    if (json_object_get(target, "calibrated"))
      tutti_table_column(table, head);
  }
  end_columns(table);
  json_array_foreach(json_object_get(json_array_get(targets, 0), "metrics"), k, metric) {
    const char *name = text_at(metric, "name");
    if (!has_value(facts, name))
      continue;
    tutti_table_put_text(table, name);
    json_array_foreach(targets, index, target) {
      tutti_table_put(table, tutti_report_metric(json_object_get(target, "metrics"), name));
      if (json_object_get(target, "calibrated"))
        tutti_table_put(table, tutti_report_metric(json_object_get(target, "calibrated"), name));
    }
    tutti_table_put_text(table, text_at(metric, "unit"));
    tutti_table_put_text(table, text_at(metric, "better"));
  }
  return tutti_figure_note(figure,
                           "The first table is of all targets together, the second of each alone, on the %s rows.",
                           text_at(split, "split"));
}

static enum tutti_status draw_metrics(const struct report_facts *facts, struct report_figure *figure) {
  const json_t *split, *metric, *shown;
  size_t index;
  if (!facts->evaluation)
    return tutti_figure_missing(figure, no_ensemble);
  struct tutti_table *table = tutti_figure_table(figure, "metric", NULL);
  json_t *splits = splits_by_severity(facts->evaluation);
  json_array_foreach(splits, index, split) {
    char head[96];
    tutti_table_column(table, text_at(split, "split"));
    (void)snprintf(head, sizeof head, "%s, calibrated", text_at(split, "split"));
    if (json_object_get(split, "calibrated"))
      tutti_table_column(table, head);
  }
  json_array_foreach(splits, index, split) { /* behind them all, so that each goes over its severities in one go */
    char head[96];
    (void)snprintf(head, sizeof head, "%s, chosen anew", text_at(split, "split"));
    if (tutti_report_anew(facts, text_at(split, "split"), NULL))
      tutti_table_column(table, head);
  }
  end_columns(table);
  tutti_table_column(table, "what it is");
  shown = tutti_report_split(facts, facts->rows.split ? facts->rows.split : TUTTI_SPLIT_VALIDATION);
  json_array_foreach(json_object_get(shown, "metrics"), index, metric) put_metric(facts, splits, table, metric);
  json_decref(splits);
  if (json_array_size(json_object_get(facts->summary, "shifts")) > 0)
    TUTTI_TRY(facts->context,
              tutti_figure_note(figure, "Chosen anew: of the ensemble that was chosen on the validation rows of that "
                                        "shift, and not of the run's ensemble."));
  return put_targets(facts, figure, shown);
}

/* --- reliability -------------------------------------------------------------------------------------------------- */

static double below_quantile(const json_t *part, bool calibrated, size_t index) {
  const json_t *rows =
      json_object_get(json_object_get(part, calibrated ? "calibrated_tables" : "tables"), "reliability");
  return tutti_report_number(json_array_get(rows, index), "below");
}

static const struct report_levels quantiles = {.level_name = "level",
                                               .share_name = "below",
                                               .error_name = "standard error of what is said",
                                               .x = "quantile of the prediction",
                                               .y = "share of rows below it",
                                               .diagonal = "as it should be",
                                               .ranges = "set xrange [0:1]\nset yrange [0:1]",
                                               .count = TUTTI_QUANTILES,
                                               .level = tutti_quantile_at,
                                               .share = below_quantile};

/* Add a table of the evaluation, with the standard error that a point on the diagonal has; false if the split has it
   not. */
static bool put_reliability(struct report_figure *figure, const json_t *tables) {
  static const char *const columns[] = {"confidence", "accuracy", "rows", "lower", "upper"};
  const json_t *rows = json_object_get(tables, "reliability"), *row;
  size_t index;
  if (json_array_size(rows) == 0)
    return false;
  struct tutti_table *table = tutti_figure_table(figure, NULL);
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    tutti_table_column(table, columns[i]);
  tutti_table_column(table, "standard error of what is said");
  json_array_foreach(rows, index, row) {
    double said = tutti_report_number(row, "confidence");
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
      tutti_table_put(table, tutti_report_number(row, columns[i]));
    tutti_table_put(table, sqrt(said * (1 - said) / tutti_report_number(row, "rows")));
  }
  return true;
}

static enum tutti_status draw_reliability(const struct report_facts *facts, struct report_figure *figure) {
  const json_t *split = facts->rows.split ? tutti_report_split(facts, facts->rows.split) : NULL;
  if (!facts->classes)
    return tutti_report_draw_levels(facts, figure, &quantiles);
  if (!split || !put_reliability(figure, json_object_get(split, "tables")))
    return tutti_figure_missing(figure, no_ensemble);
  bool calibrated = put_reliability(figure, json_object_get(split, "calibrated_tables"));
  struct tutti_plot *plot = tutti_figure_plot(figure, 460, 460);
  tutti_plot_set(plot, "set size square\nset xrange [0:1]\nset yrange [0:1]");
  tutti_plot_text(plot, "xlabel", "how sure it is");
  tutti_plot_text(plot, "ylabel", "how often it is right");
  /* The band of what predicts: bins before the calibrator have other rows. */
  tutti_plot_series(plot, calibrated ? 1 : 0, "1:($1-2*$6):($1+2*$6)", "filledcurves", TUTTI_INK_FAINT,
                    calibrated ? "chance, calibrated" : "what chance would do");
  tutti_plot_function(plot, "x", "lines dt 2 lw 1", TUTTI_INK_TEXT, "as it should be");
  tutti_plot_series(plot, 0, "1:2", "linespoints pt 6 ps 0.5 lw 1.6", calibrated ? 1 : 0,
                    calibrated ? "before" : "found");
  if (calibrated)
    tutti_plot_series(plot, 1, "1:2", "linespoints pt 6 ps 0.5 lw 2", 0, "calibrated");
  return calibrated ? tutti_figure_note(figure, "The band is of the calibrated ensemble, by the rows of its bins. "
                                                "Before, bins had other rows, for which it says nothing.")
                    : TUTTI_OK;
}

/* --- coverage ----------------------------------------------------------------------------------------------------- */

static const int coverage_percent[] = {50, 80, 90, 95};
static double coverage_level(size_t index) { return coverage_percent[index] / 100.0; }

static double inside_interval(const json_t *part, bool calibrated, size_t index) {
  char name[32];
  (void)snprintf(name, sizeof name, "coverage-%d", coverage_percent[index]);
  return tutti_report_metric(json_object_get(part, calibrated ? "calibrated" : "metrics"), name);
}

static const struct report_levels intervals = {.level_name = "promised",
                                               .share_name = "found",
                                               .error_name = "standard error of what is promised",
                                               .x = "promised",
                                               .y = "share of rows inside",
                                               .diagonal = "as promised",
                                               .ranges = "set xrange [0.4:1]\nset yrange [*<0.4:1.02]",
                                               .count = sizeof coverage_percent / sizeof *coverage_percent,
                                               .level = coverage_level,
                                               .share = inside_interval};

static enum tutti_status draw_coverage(const struct report_facts *facts, struct report_figure *figure) {
  if (facts->classes)
    return tutti_figure_skip(figure);
  TUTTI_TRY(facts->context, tutti_report_draw_levels(facts, figure, &intervals));
  return tutti_report_note_endless(facts, figure, coverage_level(intervals.count - 1));
}

/* --- risk over coverage ------------------------------------------------------------------------------------------- */

/* In how many orders rows are answered: of classes in one, of values in one for each target. */
static size_t orders_of(const struct report_facts *facts) { return facts->classes ? 1 : facts->rows.outputs; }

/* How unsure the ensemble is of a row, and how wrong: of the target `order`. */
static void score_row(const struct report_facts *facts, const struct report_said *said, size_t order, size_t row,
                      double *score, double *loss) {
  const struct report_rows *rows = &facts->rows;
  const struct tutti_uncertainty *at = said->predicted + row * rows->outputs;
  size_t best = 0;
  if (rows->values) {
    *score = at[order].total;
    *loss = fabs(rows->values[row * rows->outputs + order] - at[order].mean);
    return;
  }
  for (size_t c = 1; c < rows->outputs; c++)
    best = at[c].mean > at[best].mean ? c : best;
  *score = -at[best].mean;
  *loss = rows->labels[row] != (int32_t)best;
}

/* Is the ensemble surer of one row than of another? A single member that gives no variance is not. */
static bool tells_rows_apart(const struct report_facts *facts, const struct report_said *said) {
  for (size_t order = 0; order < orders_of(facts); order++) {
    double first, score, loss;
    score_row(facts, said, order, 0, &first, &loss);
    for (size_t i = 1; i < facts->rows.rows; i++) {
      score_row(facts, said, order, i, &score, &loss);
      if (fabs(score - first) > 0)
        return true;
    }
  }
  return false;
}

/* risk[rows] by the ensemble's own doubts, and by the losses themselves, which nobody knows. Of several targets, the
   means of their curves, as aurc is of their areas. */
static enum tutti_status risks(const struct report_facts *facts, const struct report_said *said, double *risk,
                               double *ideal) {
  tutti_context *context = facts->context;
  enum tutti_status status = TUTTI_OK;
  const size_t count = facts->rows.rows, orders = orders_of(facts);
  double *scores;
  TUTTI_TRY(context, tutti_alloc(context, count, 4 * sizeof *scores, &scores));
  double *losses = scores + count, *curve = losses + count, *best = curve + count;
  for (size_t order = 0; order < orders; order++) {
    for (size_t i = 0; i < count; i++)
      score_row(facts, said, order, i, &scores[i], &losses[i]);
    TUTTI_TRY_OUT(context, tutti_report_risk(context, count, scores, losses, curve));
    TUTTI_TRY_OUT(context, tutti_report_risk(context, count, losses, losses, best));
    for (size_t i = 0; i < count; i++) {
      risk[i] += curve[i] / (double)orders;
      ideal[i] += best[i] / (double)orders;
    }
  }
out:
  tutti_free(scores);
  return status;
}

static enum tutti_status draw_risk(const struct report_facts *facts, struct report_figure *figure) {
  const struct report_rows *rows = &facts->rows;
  const struct report_said *said = rows->after.predicted ? &rows->after : &rows->before;
  double *risk;
  if (!rows->split || !(rows->values || rows->labels))
    return tutti_figure_missing(figure, no_ensemble);
  if (!tells_rows_apart(facts, said))
    return tutti_figure_missing(figure, "The ensemble is as sure of one row as of any other.");
  TUTTI_TRY(facts->context, tutti_alloc(facts->context, rows->rows, 2 * sizeof *risk, &risk));
  enum tutti_status status = risks(facts, said, risk, risk + rows->rows);
  struct tutti_table *table =
      tutti_figure_table(figure, "share of rows", facts->classes ? "error" : "mean absolute error", "ideal", NULL);
  for (size_t i = 0; i < tutti_thin_count(rows->rows, TUTTI_THIN_CURVE) && status == TUTTI_OK; i++) {
    size_t at = tutti_thin_at(rows->rows, TUTTI_THIN_CURVE, i);
    const double numbers[] = {(double)(at + 1) / (double)rows->rows, risk[at], risk[rows->rows + at]};
    tutti_table_put_all(table, 3, numbers);
  }
  tutti_free(risk);
  struct tutti_plot *plot = tutti_figure_plot(figure, 560, 340);
  tutti_plot_set(plot, "set xrange [0:1]\nset yrange [0:*]");
  tutti_plot_text(plot, "xlabel", "share of the rows that it may answer");
  tutti_plot_text(plot, "ylabel", facts->classes ? "error" : "mean absolute error");
  tutti_plot_series(plot, 0, "1:3", "lines lw 1.2 dt 2", 2, "if it knew its errors");
  tutti_plot_series(plot, 0, "1:2", "lines lw 2", 0, "surest rows first");
  TUTTI_TRY(facts->context, status);
  TUTTI_TRY(facts->context, tutti_report_note_calibrated(facts, figure));
  TUTTI_TRY(facts->context, tutti_report_note_targets(facts, figure, "mean absolute error"));
  return orders_of(facts) > 1
             ? tutti_figure_note(figure, "Each target has its own surest rows; the mean of the curve is aurc.")
             : TUTTI_OK;
}

/* --- classes ------------------------------------------------------------------------------------------------------ */

static void put_class(struct tutti_table *table, const json_t *row) {
  tutti_table_put(table, tutti_report_number(row, "precision"));
  tutti_table_put(table, tutti_report_number(row, "recall"));
  tutti_table_put(table, tutti_report_number(row, "f1"));
}

static enum tutti_status draw_classes(const struct report_facts *facts, struct report_figure *figure) {
  const json_t *split = facts->rows.split ? tutti_report_split(facts, facts->rows.split) : NULL, *row;
  const json_t *before = json_object_get(json_object_get(split, "tables"), "classes");
  const json_t *after = json_object_get(json_object_get(split, "calibrated_tables"), "classes");
  size_t index;
  if (!facts->classes)
    return tutti_figure_skip(figure);
  struct tutti_table *table = tutti_figure_table(figure, "class", "rows", "precision", "recall", "f1", NULL);
  if (after)
    tutti_table_columns(table, "precision, calibrated", "recall, calibrated", "f1, calibrated", NULL);
  json_array_foreach(before, index, row) {
    tutti_table_put_text(table, text_at(row, "class"));
    tutti_table_put(table, tutti_report_number(row, "support"));
    put_class(table, row);
    if (after)
      put_class(table, json_array_get(after, index));
  }
  return TUTTI_OK;
}

static const struct report_chart charts[] = {
    {.name = "metrics",
     .title = "All metrics",
     .text = "How good the ensemble is on each part of the rows. Those of validation chose it, so that it may "
             "look better on them than it is; those of test took part in nothing.",
     .brief = true,
     .draw = draw_metrics},
    {.name = "reliability",
     .title = "Does it mean what it says?",
     .text = "On the diagonal, what is said to happen in 80 % of the rows did happen in 80 % of these. Of "
             "classes, below the diagonal it was too sure of itself. The grey band is two standard errors of so "
             "many independent rows: inside it, a difference may be chance.",
     .brief = true,
     .draw = draw_reliability},
    {.name = "coverage",
     .title = "Do its intervals hold what they promise?",
     .text = "Above the diagonal, intervals held more of these rows than they promise; below it, fewer. The grey "
             "band is two standard errors of so many independent rows: inside it, a difference may be chance.",
     .draw = draw_coverage},
    {.name = "risk",
     .title = "Error of the rows that it is surest of",
     .text = "If the ensemble had answered only the rows that it was surest of, and left the rest to people, "
             "this would have been its error. The nearer the curve is to that of one that knew its errors, the better "
             "it knew which rows it would get wrong.",
     .draw = draw_risk},
    {.name = "classes",
     .title = "Class by class",
     .text =
         "Precision: of the rows that it gives this class, how many are of it. Recall: of the rows of the class, how "
         "many it finds.",
     .draw = draw_classes},
    {.name = NULL},
};
const struct report_section report_section_quality = {
    .title = "How good, and how sure", .charts = charts, .of_predictions = true};
