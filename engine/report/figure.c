/* figure.c - figures: their making, and the drawing of all of them in one go. */
#include "report_impl.h"

#include "engine/data/folds_impl.h"
#include "engine/draw/graph.h"

#include <stdarg.h>
#include <stdio.h>

/* Where a figure has no more room; what is put there is lost, and its status says so. */
static struct tutti_table *table_room(struct report_figure *figure) {
  return figure->table_count < REPORT_MOST_TABLES ? &figure->tables[figure->table_count++]
                                                  : &figure->tables[REPORT_MOST_TABLES - 1];
}

struct tutti_table *tutti_figure_add_table(struct report_figure *figure, const char *const *columns) {
  struct tutti_table *table = table_room(figure);
  *table = tutti_table_begin(figure->context, figure->chart->name);
  tutti_table_add_columns(table, columns);
  return table;
}

struct tutti_plot *tutti_figure_plot(struct report_figure *figure, int width, int height) {
  struct tutti_plot *plot = figure->plot_count < REPORT_MOST_PLOTS ? &figure->plots[figure->plot_count++]
                                                                   : &figure->plots[REPORT_MOST_PLOTS - 1];
  *plot = tutti_plot_begin(figure->context, figure->chart->title, width, height);
  return plot;
}

enum tutti_status tutti_figure_graph(struct report_figure *figure, const char *caption, struct tutti_text *text) {
  struct report_graph *graph = &figure->graphs[figure->graph_count];
  if (figure->graph_count == REPORT_MOST_GRAPHS) {
    tutti_text_discard(text);
    return TUTTI_OK;
  }
  figure->graph_count++;
  TUTTI_TRY(figure->context, tutti_text_take(text, &graph->text));
  return tutti_strdup(figure->context, caption, &graph->caption);
}

/* Behind what is there. */
static enum tutti_status add_text(tutti_context *context, char **to, const char *format, va_list values) {
  char text[1024], *before = *to;
  (void)vsnprintf(text, sizeof text, format, values);
  enum tutti_status status = tutti_format(context, to, "%s%s%s", before ? before : "", before ? " " : "", text);
  tutti_free(before);
  return status;
}

enum tutti_status tutti_figure_missing(struct report_figure *figure, const char *format, ...) {
  va_list values;
  va_start(values, format);
  enum tutti_status status = add_text(figure->context, &figure->missing, format, values);
  va_end(values);
  return status;
}

enum tutti_status tutti_figure_skip(struct report_figure *figure) {
  figure->skipped = true;
  return tutti_figure_missing(figure, "It says nothing about a run of this kind.");
}

enum tutti_status tutti_figure_note(struct report_figure *figure, const char *format, ...) {
  va_list values;
  va_start(values, format);
  enum tutti_status status = add_text(figure->context, &figure->note, format, values);
  va_end(values);
  return status;
}

enum tutti_status tutti_report_note_targets(const struct report_facts *facts, struct report_figure *figure,
                                            const char *error) {
  const size_t targets = facts->experiment->task.outputs;
  return facts->classes || targets < 2
             ? TUTTI_OK
             : tutti_figure_note(figure, "The %s is of all %zu targets together, as if they had one unit.", error,
                                 targets);
}

size_t tutti_report_models(const struct report_facts *facts) {
  const tutti_dataset *dataset = facts->experiment->dataset;
  const size_t folds = dataset ? tutti_dataset_folds(dataset) : 0;
  return folds ? folds : 1;
}

enum tutti_status tutti_report_note_folds(const struct report_facts *facts, struct report_figure *figure,
                                          const char *counted) {
  const size_t models = tutti_report_models(facts);
  return models > 1
             ? tutti_figure_note(figure, "A trial has %zu models, one for each fold; parameters and flops are of %s.",
                                 models, counted)
             : TUTTI_OK;
}

enum tutti_status tutti_report_note_calibrated(const struct report_facts *facts, struct report_figure *figure) {
  return facts->rows.after.predicted ? tutti_figure_note(figure, "This is the ensemble with its calibrator.")
                                     : TUTTI_OK;
}

enum tutti_status tutti_report_note_endless(const struct report_facts *facts, struct report_figure *figure,
                                            double level) {
  const char *endless = tutti_report_endless(facts, level);
  return endless ? tutti_figure_note(figure, "Of the calibrator: %s.", endless) : TUTTI_OK;
}

void tutti_figure_end(struct report_figure *figure) {
  for (size_t i = 0; i < figure->table_count; i++)
    tutti_table_end(&figure->tables[i]);
  for (size_t i = 0; i < figure->plot_count; i++) {
    tutti_plot_end(&figure->plots[i]);
    tutti_free(figure->svg[i]);
  }
  for (size_t i = 0; i < figure->graph_count; i++) {
    tutti_free(figure->graphs[i].caption);
    tutti_free(figure->graphs[i].text);
    tutti_free(figure->graphs[i].svg);
  }
  tutti_free(figure->missing);
  tutti_free(figure->note);
  *figure = (struct report_figure){.context = NULL};
}

/* --- drawing ------------------------------------------------------------------------------------------------------ */

/* Without the program, or where it fails, a report has its tables. */
static enum tutti_status without(tutti_context *context, enum tutti_status status, const char *program,
                                 const char **lacking) {
  if (status == TUTTI_ERROR_IO)
    tutti_log(context, TUTTI_LOG_WARNING, "the report has tables without pictures: %s", tutti_error_message(context));
  else if (status != TUTTI_ERROR_UNSUPPORTED)
    return status;
  tutti_error_clear(context);
  if (status == TUTTI_ERROR_UNSUPPORTED)
    *lacking = *lacking ? "gnuplot, dot" : program;
  return TUTTI_OK;
}

static enum tutti_status draw_plots(tutti_context *context, size_t count, struct report_figure *figures,
                                    const char **lacking) {
  struct tutti_plot_job *jobs;
  size_t used = 0;
  TUTTI_TRY(context, tutti_alloc(context, count * REPORT_MOST_PLOTS, sizeof *jobs, &jobs));
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < figures[i].plot_count && !figures[i].missing; k++)
      jobs[used++] = (struct tutti_plot_job){&figures[i].plots[k], figures[i].table_count, figures[i].tables, NULL};
  enum tutti_status status = tutti_plots_draw(context, used, jobs);
  used = 0;
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < figures[i].plot_count && !figures[i].missing; k++)
      figures[i].svg[k] = jobs[used++].svg;
  tutti_free(jobs);
  return without(context, status, "gnuplot", lacking);
}

static enum tutti_status draw_graphs(tutti_context *context, size_t count, struct report_figure *figures,
                                     const char **lacking) {
  enum tutti_status status = TUTTI_OK;
  const char **texts = NULL;
  char **svg = NULL;
  size_t used = 0;
  TUTTI_TRY_OUT(context, tutti_alloc(context, count * REPORT_MOST_GRAPHS, sizeof *texts, &texts));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count * REPORT_MOST_GRAPHS, sizeof *svg, &svg));
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < figures[i].graph_count; k++)
      texts[used++] = figures[i].graphs[k].text;
  status = tutti_graphs_draw(context, used, texts, svg);
  used = 0;
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < figures[i].graph_count; k++)
      figures[i].graphs[k].svg = svg[used++];
out:
  tutti_free(texts);
  tutti_free(svg);
  return without(context, status, "dot", lacking);
}

enum tutti_status tutti_figures_draw(tutti_context *context, size_t count, struct report_figure *figures,
                                     const char **lacking) {
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < figures[i].table_count; k++)
      TUTTI_TRY(context, figures[i].tables[k].status);
  TUTTI_TRY(context, draw_plots(context, count, figures, lacking));
  return draw_graphs(context, count, figures, lacking);
}
