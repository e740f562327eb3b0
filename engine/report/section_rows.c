/* section_rows.c - row by row: what was predicted, what was observed, and which kind of doubt there is. */
#include "report_impl.h"

#include "core/base/file_impl.h"
#include "engine/draw/thin.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tutti/model.h>

static const char no_rows[] = "There is no ensemble yet, or there are no predictions.";
enum { MOST_OUTPUTS = 3, MOST_CLASSES = 20, GRID = 201 };

static const struct report_said *said_of(const struct report_rows *rows) {
  return rows->after.predicted ? &rows->after : &rows->before;
}

/* The number of a row in its source, or in the split. */
static double row_number(const struct report_rows *rows, size_t row) {
  return rows->source_rows ? rows->source_rows[row] : (double)row;
}

/* Which rows are shown, and what of them. */
static enum tutti_status note_rows(const struct report_facts *facts, struct report_figure *figure) {
  TUTTI_TRY(facts->context, tutti_report_note_calibrated(facts, figure));
  return facts->rows.rows > TUTTI_THIN_POINTS
             ? tutti_figure_note(figure, "%d of %zu rows are shown, evenly taken; tutti predict gives all.",
                                 (int)TUTTI_THIN_POINTS, facts->rows.rows)
             : TUTTI_OK;
}

/* --- predicted against observed ----------------------------------------------------------------------------------- */

static void put_predictions(const struct report_rows *rows, size_t output, struct tutti_table *table) {
  const struct report_said *said = said_of(rows);
  for (size_t i = 0; i < tutti_thin_count(rows->rows, TUTTI_THIN_POINTS); i++) {
    size_t row = tutti_thin_at(rows->rows, TUTTI_THIN_POINTS, i), at = row * rows->outputs + output;
    const struct tutti_uncertainty *one = &said->predicted[at];
    const double numbers[] = {row_number(rows, row),       rows->values[at], one->mean,     said->intervals[2 * at],
                              said->intervals[2 * at + 1], one->aleatoric,   one->epistemic};
    tutti_table_put_all(table, sizeof numbers / sizeof *numbers, numbers);
  }
}

static enum tutti_status draw_observed(const struct report_facts *facts, struct report_figure *figure) {
  const struct report_rows *rows = &facts->rows;
  char key[64];
  if (facts->classes)
    return tutti_figure_skip(figure);
  if (!rows->split || !rows->values)
    return tutti_figure_missing(figure, no_rows);
  bool endless = tutti_report_endless(facts, rows->level), intervals = !isnan(said_of(rows)->intervals[0]) && !endless;
  (void)snprintf(key, sizeof key, "interval of %g %%", 100 * rows->level);
  for (size_t o = 0; o < rows->outputs && o < MOST_OUTPUTS; o++) {
    struct tutti_table *table =
        tutti_figure_table(figure, "row", "observed", "predicted", "lower", "upper", "aleatoric", "epistemic", NULL);
    put_predictions(rows, o, table);
    struct tutti_plot *plot = tutti_figure_plot(figure, 560, 460);
    tutti_plot_text(plot, "title", tutti_view_output(facts->view, o));
    tutti_plot_text(plot, "xlabel", "observed");
    tutti_plot_text(plot, "ylabel", "predicted");
    if (intervals)
      tutti_plot_series(plot, o, "2:3:4:5", "yerrorbars pt 6 ps 0 lw 0.6", TUTTI_INK_FAINT, key);
    tutti_plot_function(plot, "x", "lines dt 2 lw 1", TUTTI_INK_TEXT, "as it should be");
    tutti_plot_series(plot, o, "(($2<$4||$2>$5)?NaN:$2):3", "points pt 6 ps 0.4", 0, intervals ? "inside" : "a row");
    if (intervals)
      tutti_plot_series(plot, o, "(($2<$4||$2>$5)?$2:NaN):3", "points pt 6 ps 0.5", 1, "outside");
  }
  TUTTI_TRY(facts->context, note_rows(facts, figure));
  if (!intervals && !endless)
    return tutti_figure_note(figure, "The members give no variance, so there are no intervals.");
  return tutti_report_note_endless(facts, figure, rows->level);
}

/* --- confusion ---------------------------------------------------------------------------------------------------- */

static size_t label_of(const struct report_rows *rows, size_t row) {
  const struct tutti_uncertainty *at = said_of(rows)->predicted + row * rows->outputs;
  size_t best = 0;
  for (size_t c = 1; c < rows->outputs; c++)
    best = at[c].mean > at[best].mean ? c : best;
  return best;
}

static enum tutti_status draw_confusion(const struct report_facts *facts, struct report_figure *figure) {
  const struct report_rows *rows = &facts->rows;
  size_t classes = rows->outputs;
  double *counts, most = 1;
  if (!facts->classes)
    return tutti_figure_skip(figure);
  if (!rows->split || !rows->labels)
    return tutti_figure_missing(figure, no_rows);
  TUTTI_TRY(facts->context, tutti_alloc(facts->context, classes * classes, 2 * sizeof *counts, &counts));
  for (size_t i = 0; i < rows->rows; i++)
    counts[(size_t)rows->labels[i] * classes + label_of(rows, i)]++;
  struct tutti_table *table =
      tutti_figure_table(figure, "observed", "predicted", "observed number", "predicted number", "rows", NULL);
  bool pictured = classes <= MOST_CLASSES;
  int side = 30 * (int)(classes < 5 ? 5 : classes);
  struct tutti_plot *plot = pictured ? tutti_figure_plot(figure, 200 + side, 160 + side) : NULL;
  for (size_t i = 0; i < classes * classes; i++) {
    size_t observed = i / classes, predicted = i % classes;
    if (!pictured && counts[i] <= 0)
      continue; /* most of many */
    char number[32];
    tutti_table_put_text(table, tutti_view_output(facts->view, observed));
    tutti_table_put_text(table, tutti_view_output(facts->view, predicted));
    const double numbers[] = {(double)observed, (double)predicted, counts[i]};
    tutti_table_put_all(table, 3, numbers);
    most = observed != predicted ? fmax(most, counts[i]) : most;
    (void)snprintf(number, sizeof number, "%.0f", counts[i]);
    if (counts[i] > 0 && pictured)
      tutti_plot_note(plot, numbers[1], numbers[0], number, "center front font ',10'");
  }
  tutti_free(counts);
  TUTTI_TRY(facts->context, tutti_report_note_calibrated(facts, figure));
  if (!pictured)
    return tutti_figure_note(figure, "With %zu classes there is no picture; the table has the counts.", classes);
  tutti_plot_set(plot, "unset key\nunset grid\nset border 0\nset xrange [-0.5:%g]\nset yrange [%g:-0.5]",
                 (double)classes - 0.5, (double)classes - 0.5);
  tutti_plot_set(plot, "set xtics scale 0 rotate by -40 ()\nset ytics scale 0 ()");
  for (size_t c = 0; c < classes; c++) {
    tutti_plot_tick(plot, 'x', (double)c, tutti_view_output(facts->view, c));
    tutti_plot_tick(plot, 'y', (double)c, tutti_view_output(facts->view, c));
  }
  tutti_plot_text(plot, "xlabel", "predicted");
  tutti_plot_text(plot, "ylabel", "observed");
  tutti_plot_set(plot, "set style fill transparent solid 0.75 noborder");
  char right[128], wrong[128];
  (void)snprintf(right, sizeof right, "4:(($3==$4&&$5>0)?$3:NaN):($4-0.48):($4+0.48):($3-0.48):($3+0.48)");
  (void)snprintf(wrong, sizeof wrong, "4:(($3!=$4&&$5>0)?$3:NaN):($4-0.48):($4+0.48):($3-0.48):($3+0.48)");
  tutti_plot_series(plot, 0, right, "boxxyerror fs solid 0.25", 0, NULL);
  tutti_plot_series(plot, 0, wrong, "boxxyerror fs solid 0.35", 1, NULL);
  return TUTTI_OK;
}

/* --- kinds of doubt ----------------------------------------------------------------------------------------------- */

/* Of a row: its error in an output, or whether its class is wrong. */
static double error_of(const struct report_facts *facts, size_t row, size_t output) {
  const struct report_rows *rows = &facts->rows;
  const size_t at = row * rows->outputs + output;
  return facts->classes ? (double)(rows->labels[row] != (int32_t)label_of(rows, row))
                        : fabs(rows->values[at] - said_of(rows)->predicted[at].mean);
}

static void put_doubts(const struct report_facts *facts, size_t output, struct tutti_table *table) {
  const struct report_rows *rows = &facts->rows;
  for (size_t i = 0; i < tutti_thin_count(rows->rows, TUTTI_THIN_POINTS); i++) {
    size_t row = tutti_thin_at(rows->rows, TUTTI_THIN_POINTS, i);
    const struct tutti_uncertainty *one = &said_of(rows)->predicted[row * rows->outputs + output];
    const double numbers[] = {row_number(rows, row), one->aleatoric, one->epistemic, error_of(facts, row, output)};
    tutti_table_put_all(table, 4, numbers);
  }
}

/* Is any epistemic part more than rounding beside the aleatoric one? */
static bool has_epistemic(const struct report_rows *rows) {
  for (size_t i = 0; i < rows->rows * rows->outputs; i++) {
    const struct tutti_uncertainty *one = &said_of(rows)->predicted[i];
    if (one->epistemic > 1e-7 * one->aleatoric)
      return true;
  }
  return false;
}

/* Of a row of classes, the doubts are of the row. */
static enum tutti_status draw_doubts(const struct report_facts *facts, struct report_figure *figure) {
  const struct report_rows *rows = &facts->rows;
  const char *unit = facts->classes ? " (nats)" : "";
  const size_t outputs = facts->classes ? 1 : rows->outputs;
  if (!rows->split || !(facts->classes ? (void *)rows->labels : (void *)rows->values))
    return tutti_figure_missing(figure, no_rows);
  if (isnan(said_of(rows)->predicted[0].aleatoric))
    return tutti_figure_missing(
        figure, "The members give no variance, so that only what models disagree on is known, and no aleatoric part.");
  if (!has_epistemic(rows))
    return tutti_figure_missing(figure, "The epistemic part is 0 in every row, since %s.",
                                facts->members == 1 ? "a single member has none to disagree with"
                                                    : "the members predict alike");
  for (size_t o = 0; o < outputs && o < MOST_OUTPUTS; o++) {
    char label[64];
    put_doubts(
        facts, o,
        tutti_figure_table(figure, "row", "aleatoric", "epistemic", facts->classes ? "wrong" : "absolute error", NULL));
    struct tutti_plot *plot = tutti_figure_plot(figure, 600, 400);
    if (outputs > 1)
      tutti_plot_text(plot, "title", tutti_view_output(facts->view, o));
    (void)snprintf(label, sizeof label, "aleatoric%s", unit);
    tutti_plot_text(plot, "xlabel", label);
    (void)snprintf(label, sizeof label, "epistemic%s", unit);
    tutti_plot_text(plot, "ylabel", label);
    if (facts->classes) {
      tutti_plot_series(plot, o, "($4>0?NaN:$2):3", "points pt 6 ps 0.4", 0, "right");
      tutti_plot_series(plot, o, "($4>0?$2:NaN):3", "points pt 6 ps 0.6", 1, "wrong");
    } else {
      tutti_plot_set(plot, "set style fill solid 1");
      tutti_plot_text(plot, "cblabel", "absolute error");
      tutti_plot_set(plot, "set cblabel offset 1.5\nset rmargin 14"); /* clear of the numbers beside the bar */
      tutti_plot_series(plot, o, "2:3:4", "points pt 7 ps 0.5", TUTTI_INK_SCALE, NULL);
    }
  }
  return note_rows(facts, figure);
}

static const struct report_chart charts[] = {
    {.name = "observed",
     .title = "Predicted against observed",
     .text = "Each point is a row that was not trained on. On the diagonal the prediction is right; the bar is "
             "its interval, which is meant to hold the observed value in as many rows as the key says.",
     .draw = draw_observed},
    {.name = "confusion",
     .title = "Which classes are taken for which",
     .text = "Rows of a class stand in a line, by the class that the ensemble gives them. What is off the diagonal is "
             "wrong.",
     .draw = draw_confusion},
    {.name = "doubts",
     .title = "Two kinds of doubt",
     .text = "Aleatoric: the noise that the members expect in a row. Epistemic: how far their predictions lie "
             "apart, and what a member itself counts as its own ignorance. At the top are the rows on which the "
             "members disagree: often because few training rows were like them, but not always, and members can "
             "agree and be wrong.",
     .draw = draw_doubts},
    {.name = NULL},
};
const struct report_section report_section_rows = {.title = "Row by row", .charts = charts, .of_predictions = true};
