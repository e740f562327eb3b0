/* section_ensemble.c - the ensemble: its members, and what other sizes would have given. */
#include "report_impl.h"

#include "engine/data/split_names.h"

#include <math.h>
#include <string.h>

/* What people call good and bad in each kind of task. */
static const char *main_metric(const struct report_facts *facts) { return facts->classes ? "error" : "rmse"; }

/* --- members ------------------------------------------------------------------------------------------------------ */

static void put_candidate(const struct report_facts *facts, struct tutti_table *table, uint64_t trial) {
  char *text = NULL;
  if (tutti_scope_print(facts->context, facts->experiment->scope, facts->history->records[trial].candidate, &text) !=
      TUTTI_OK)
    tutti_error_clear(facts->context);
  tutti_table_put_text(table, text ? text : "");
  tutti_free(text);
}

static enum tutti_status draw_members(const struct report_facts *facts, struct report_figure *figure) {
  const json_t *members = json_object_get(facts->ensemble, "members"), *member;
  size_t index;
  if (json_array_size(members) == 0)
    return tutti_figure_missing(figure, "There is no ensemble yet.");
  const char *loss = tutti_loss_names()[facts->experiment->loss], *metric = main_metric(facts);
  struct tutti_table *table = tutti_figure_table(figure, "trial", "weight", "validation loss", "test loss", NULL);
  tutti_table_column(table, facts->classes ? "test error" : "test rmse");
  tutti_table_columns(table, "parameters", "flops", "seconds", "origin", "candidate", NULL);
  json_array_foreach(members, index, member) {
    uint64_t trial = (uint64_t)json_integer_value(json_object_get(member, "trial"));
    if (trial >= facts->history->asked || !facts->reports[trial])
      continue;
    const double numbers[] = {(double)trial,
                              tutti_report_number(member, "weight"),
                              facts->history->records[trial].loss,
                              tutti_report_loss(facts, trial, TUTTI_SPLIT_TEST, loss),
                              tutti_report_loss(facts, trial, TUTTI_SPLIT_TEST, metric),
                              tutti_report_number(facts->reports[trial], "parameters"),
                              tutti_report_number(facts->reports[trial], "flops"),
                              facts->history->records[trial].seconds};
    tutti_table_put_all(table, sizeof numbers / sizeof *numbers, numbers);
    tutti_table_put_text(table, facts->history->records[trial].origin);
    put_candidate(facts, table, trial);
  }
  return TUTTI_OK;
}

/* --- sizes -------------------------------------------------------------------------------------------------------- */

/* The metrics of a point of a curve on a split; NULL if it has none. */
static const json_t *metrics_of(const json_t *point, const char *split) {
  const json_t *entry;
  size_t index;
  json_array_foreach(json_object_get(point, "evaluation"), index, entry) {
    const char *name = json_string_value(json_object_get(entry, "split"));
    if (name && strcmp(name, split) == 0)
      return json_object_get(entry, "metrics");
  }
  return NULL;
}

/* One chart of a metric over the size: what was chosen, on the rows that chose and on others, and the oracle. */
static void plot_sizes(const struct report_facts *facts, struct report_figure *figure, const char *metric,
                       size_t table) {
  const char *split = facts->rows.split;
  char key[64];
  struct tutti_plot *plot = tutti_figure_plot(figure, 520, 340);
  bool tested = split && strcmp(split, TUTTI_SPLIT_TEST) == 0;
  tutti_plot_text(plot, "xlabel", "members");
  tutti_plot_text(plot, "ylabel", metric);
  (void)snprintf(key, sizeof key, "oracle, %s", tested ? TUTTI_SPLIT_TEST : TUTTI_SPLIT_VALIDATION);
  tutti_plot_series(plot, table, "1:2", "linespoints pt 6 ps 0.4 lw 1.2 dt 2", 3, "validation");
  if (tested)
    tutti_plot_series(plot, table, "1:3", "linespoints pt 6 ps 0.5 lw 2", 0, "test");
  tutti_plot_series(plot, table, tested ? "1:4" : "1:5", "linespoints pt 6 ps 0.4 lw 1.2", 2, key);
}

static void put_sizes(const struct report_facts *facts, struct report_figure *figure, const char *metric) {
  char oracle[64];
  const json_t *point;
  size_t index;
  (void)snprintf(oracle, sizeof oracle, "oracle-%s", metric);
  struct tutti_table *table = tutti_figure_table(figure, "members", NULL);
  const char *const kinds[] = {"validation ", "test ", "test oracle-", "validation oracle-"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    char head[96];
    (void)snprintf(head, sizeof head, "%s%s", kinds[i], metric);
    tutti_table_column(table, head);
  }
  json_array_foreach(facts->sizes, index, point) {
    const json_t *validation = metrics_of(point, TUTTI_SPLIT_VALIDATION), *test = metrics_of(point, TUTTI_SPLIT_TEST);
    const double numbers[] = {tutti_report_number(point, "members"), tutti_report_metric(validation, metric),
                              tutti_report_metric(test, metric), tutti_report_metric(test, oracle),
                              tutti_report_metric(validation, oracle)};
    tutti_table_put_all(table, sizeof numbers / sizeof *numbers, numbers);
  }
}

static enum tutti_status draw_sizes(const struct report_facts *facts, struct report_figure *figure) {
  if (json_array_size(facts->sizes) == 0)
    return tutti_figure_missing(figure, "There is no ensemble, or its selector cannot be asked for other sizes.");
  const char *const metrics[] = {"nll", main_metric(facts)};
  for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
    put_sizes(facts, figure, metrics[i]);
    plot_sizes(facts, figure, metrics[i], figure->table_count - 1);
  }
  return tutti_figure_note(figure,
                           "The selector of the recipe chose again for each size, from all trials; the run's own "
                           "ensemble has %zu members.",
                           facts->members);
}

static const struct report_chart charts[] = {
    {.name = "members",
     .title = "Its members",
     .text = "One row for each model of the ensemble: how much it counts, how good it is alone, how large it is, and "
             "what was tried.",
     .brief = true,
     .draw = draw_members},
    {.name = "sizes",
     .title = "Ensembles of other sizes",
     .text = "How good the ensemble would be with fewer or more members. The oracle takes for each row the member that "
             "is best there: what would be possible if one knew which to believe.",
     .brief = true,
     .draw = draw_sizes},
    {.name = NULL},
};
const struct report_section report_section_ensemble = {.title = "The ensemble", .charts = charts};
