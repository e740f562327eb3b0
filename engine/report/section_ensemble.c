/* section_ensemble.c - the ensemble: its members, and what other sizes would have given. */
#include "compute.h"
#include "report_impl.h"

#include "engine/data/split_names.h"

#include <math.h>
#include <string.h>
#include <tutti/names.h>

/* What people call good and bad in each kind of task. */
static const char *main_metric(const struct report_facts *facts) { return facts->classes ? "error" : "rmse"; }

/* --- members ------------------------------------------------------------------------------------------------------ */

static void put_candidate(const struct report_facts *facts, struct tutti_table *table, uint64_t trial) {
  char *text = NULL;
  if (tutti_history_say_candidate(facts->context, facts->history, trial, facts->experiment->scope, &text) != TUTTI_OK)
    tutti_error_clear(facts->context);
  tutti_table_put_text(table, text ? text : "");
  tutti_free(text);
}

/* What is told of how a run searched. */
static const char *const methods[] = {"builder", "space", "backend"};

/* Of several runs that are one pool: which gave the trial, and how it searched. */
static void put_run(const struct report_facts *facts, struct tutti_table *table, uint64_t trial) {
  const json_t *pools = json_object_get(facts->status, "pools");
  for (size_t i = json_array_size(pools); i-- > 0;) {
    const json_t *pool = json_array_get(pools, i);
    uint64_t first = (uint64_t)json_integer_value(json_object_get(pool, "first"));
    if (trial < first)
      continue;
    tutti_table_put_text(table, json_string_value(json_object_get(pool, "run")));
    tutti_table_put(table, (double)(trial - first));
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++)
      tutti_table_put_text(table, json_string_value(json_object_get(pool, methods[k])));
    return;
  }
}

static enum tutti_status draw_members(const struct report_facts *facts, struct report_figure *figure) {
  const json_t *members = json_object_get(facts->ensemble, "members"), *member;
  size_t index;
  if (json_array_size(members) == 0)
    return tutti_figure_missing(figure, "There is no ensemble yet.");
  const char *loss = tutti_loss_names()[facts->experiment->loss], *metric = main_metric(facts);
  struct tutti_table *table = tutti_figure_table(figure, "trial", "weight", "validation loss", "test loss", NULL);
  tutti_table_column(table, facts->classes ? "test error" : "test rmse");
  tutti_table_columns(table, "parameters", "flops", "seconds", NULL);
  if (json_object_get(facts->status, "pools"))
    tutti_table_columns(table, "run", "trial of the run", "builder", "space", "backend", NULL);
  tutti_table_columns(table, "origin", "candidate", NULL);
  json_array_foreach(members, index, member) {
    uint64_t trial = (uint64_t)json_integer_value(json_object_get(member, "trial"));
    if (trial >= facts->history->asked || !facts->reports[trial])
      continue;
    const double parameters = /* recorded are those of one model */
        (double)tutti_report_models(facts) * tutti_report_number(facts->reports[trial], "parameters");
    const double numbers[] = {(double)trial,
                              tutti_report_number(member, "weight"),
                              facts->history->records[trial].loss,
                              tutti_report_loss(facts, trial, TUTTI_SPLIT_TEST, loss),
                              tutti_report_loss(facts, trial, TUTTI_SPLIT_TEST, metric),
                              parameters > 0 ? parameters : (double)NAN, /* which trees, say, have none of */
                              tutti_report_number(facts->reports[trial], "flops"),
                              facts->history->records[trial].seconds};
    tutti_table_put_all(table, sizeof numbers / sizeof *numbers, numbers);
    put_run(facts, table, trial);
    tutti_table_put_text(table, facts->history->records[trial].origin);
    put_candidate(facts, table, trial);
  }
  TUTTI_TRY(facts->context, tutti_report_note_folds(facts, figure, "all of them together"));
  return tutti_report_note_targets(facts, figure, metric);
}

/* --- runs of which the pool is made ------------------------------------------------------------------------------- */

static enum tutti_status draw_pools(const struct report_facts *facts, struct report_figure *figure) {
  const json_t *pools = json_object_get(facts->status, "pools"), *pool;
  size_t index;
  if (!pools)
    return tutti_figure_skip(figure);
  struct tutti_table *table = tutti_figure_table(figure, "trials", "repeated", "members", NULL);
  tutti_table_columns(table, "builder", "space", "backend", "run", NULL);
  json_array_foreach(pools, index, pool) {
    const double repeated = tutti_report_number(pool, "repeated"); /* which earlier versions did not say */
    const double numbers[] = {tutti_report_number(pool, "trials"), repeated > 0 ? repeated : 0,
                              tutti_report_number(pool, "members")};
    tutti_table_put_all(table, sizeof numbers / sizeof *numbers, numbers);
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
      tutti_table_put_text(table, json_string_value(json_object_get(pool, methods[i])));
    tutti_table_put_text(table, json_string_value(json_object_get(pool, "run")));
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
  if (tutti_table_rows(&figure->tables[table]) < 2) /* that is no curve */
    return;
  struct tutti_plot *plot = tutti_figure_plot(figure, 520, 340);
  plot->ticks = TUTTI_TICKS_WHOLE;
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
  /* Of sizes that gave as many members, since a model was taken again, the last one is shown. */
  json_array_foreach(facts->sizes, index, point) {
    const json_t *next = json_array_get(facts->sizes, index + 1);
    if (next && json_equal(json_object_get(next, "members"), json_object_get(point, "members")))
      continue;
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
    if (!isfinite(tutti_report_metric(metrics_of(json_array_get(facts->sizes, 0), TUTTI_SPLIT_VALIDATION), metrics[i])))
      continue;
    put_sizes(facts, figure, metrics[i]);
    plot_sizes(facts, figure, metrics[i], figure->table_count - 1);
  }
  TUTTI_TRY(facts->context, tutti_report_note_targets(facts, figure, main_metric(facts)));
  return tutti_figure_note(figure,
                           "The selector of the recipe chose again for each size, from all trials; the run's own "
                           "ensemble has %zu %s.",
                           facts->members, tutti_plural(facts->members, "member", "members"));
}

/* --- loss and cost ------------------------------------------------------------------------------------------------ */

/* Where nothing better is known, the time of its training. */
static double cost_of(const struct report_facts *facts, const char *name, uint64_t trial) {
  double cost = name ? tutti_report_number(facts->reports[trial], name) : facts->history->records[trial].seconds;
  return cost > 0 ? cost : (double)NAN;
}

/* A model or an ensemble, with what it costs and its loss on the validation rows. */
struct priced {
  double trial; /* NaN: an ensemble */
  double cost, loss;
  enum { A_TRIAL, A_MEMBER, THE_ENSEMBLE, CHEAPER } kind;
};

/* All trials, the ensemble of all members together, and those that cost less, each by the selector of the recipe. Room
   for all of them is in priced; returns how many have a cost and a loss. */
static size_t find_priced(const struct report_facts *facts, const char *cost, struct priced *priced) {
  const char *loss = tutti_loss_names()[facts->experiment->loss];
  const json_t *split = tutti_report_split(facts, TUTTI_SPLIT_VALIDATION), *point;
  size_t index, all = 0, count = 0;
  struct priced ensemble = {(double)NAN, 0, tutti_report_metric(json_object_get(split, "metrics"), loss), THE_ENSEMBLE};
  for (uint64_t i = 0; i < facts->history->asked; i++) {
    const struct tutti_record *record = &facts->history->records[i];
    if (record->done && record->state == TUTTI_STATE_FINISHED)
      priced[all++] = (struct priced){(double)i, cost_of(facts, cost, i), record->loss,
                                      tutti_report_is_member(facts, i) ? A_MEMBER : A_TRIAL};
  }
  for (size_t i = 0; i < facts->members; i++)
    ensemble.cost += cost_of(facts, cost, facts->trials[i]);
  if (facts->members > 0)
    priced[all++] = ensemble;
  json_array_foreach(facts->costs, index, point) priced[all++] =
      (struct priced){(double)NAN, tutti_report_number(point, "cost"),
                      tutti_report_metric(metrics_of(point, TUTTI_SPLIT_VALIDATION), loss), CHEAPER};
  for (size_t i = 0; i < all; i++)
    if (!isnan(priced[i].cost) && !isnan(priced[i].loss))
      priced[count++] = priced[i];
  return count;
}

/* Which of them no other beats is seen over all kinds together. */
static enum tutti_status put_priced(const struct report_facts *facts, size_t count, const struct priced *priced,
                                    struct tutti_table *table) {
  static const char *const kinds[] = {"model", "member", "the ensemble", "cheaper ensemble"};
  tutti_context *context = facts->context;
  enum tutti_status status = TUTTI_OK;
  double *costs = NULL;
  bool *front = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, 2 * sizeof *costs, &costs));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *front, &front));
  for (size_t i = 0; i < count; i++) {
    costs[i] = priced[i].cost;
    costs[count + i] = priced[i].loss;
  }
  tutti_report_front(count, costs, costs + count, front);
  for (size_t i = 0; i < count; i++) {
    const double row[] = {priced[i].trial, priced[i].cost, priced[i].loss, front[i], priced[i].kind};
    tutti_table_put_all(table, sizeof row / sizeof *row, row);
    tutti_table_put_text(table, kinds[priced[i].kind]);
  }
out:
  tutti_free(costs);
  tutti_free(front);
  return status;
}

/* Rings around the front come last, where nothing covers them. */
static void plot_priced(const struct report_facts *facts, const char *label, struct tutti_plot *plot) {
  char loss[64];
  if (isfinite(tutti_report_shown_most(facts)))
    tutti_plot_set(plot, "set yrange [*:%.9g]", tutti_report_shown_most(facts));
  tutti_plot_text(plot, "xlabel", label);
  (void)snprintf(loss, sizeof loss, "%s%s", tutti_loss_names()[facts->experiment->loss],
                 facts->members > 0 ? ", validation" : "");
  tutti_plot_text(plot, "ylabel", loss);
  tutti_plot_series(plot, 0, "($5<2?$2:NaN):3", "points pt 6 ps 0.4", TUTTI_INK_QUIET, "a trial");
  if (facts->members > 0) {
    tutti_plot_series(plot, 0, "($5==1?$2:NaN):3", "points pt 7 ps 0.6", 1, "a member");
    tutti_plot_series(plot, 0, "($5==2?$2:NaN):3", "points pt 1 ps 1.2 lw 2", 2, "the ensemble");
    if (json_array_size(facts->costs) > 0)
      tutti_plot_series(plot, 0, "($5==3?$2:NaN):3", "points pt 1 ps 0.9 lw 1.4", 3, "cheaper ensembles");
  }
  tutti_plot_series(plot, 0, "($4>0?$2:NaN):3", "points pt 6 ps 1.3 lw 1.4", 0, "not beaten in both");
}

static enum tutti_status draw_pareto(const struct report_facts *facts, struct report_figure *figure) {
  tutti_context *context = facts->context;
  enum tutti_status status;
  const char *cost = tutti_report_cost(facts), *label = cost ? cost : "seconds of training";
  struct priced *priced = NULL;
  if (tutti_experiment_is_fit(facts->experiment))
    return tutti_figure_skip(figure);
  TUTTI_TRY_OUT(context, tutti_alloc(context, facts->history->asked + 1 + json_array_size(facts->costs), sizeof *priced,
                                     &priced));
  size_t count = find_priced(facts, cost, priced);
  if (count == 0) {
    status = tutti_figure_missing(figure, "No trial has finished yet.");
    goto out;
  }
  struct tutti_table *table = tutti_figure_table(figure, "trial", NULL);
  tutti_table_columns(table, label, facts->experiment->dataset ? "validation loss" : "loss", "in front", "kind", "what",
                      NULL);
  TUTTI_TRY_OUT(context, put_priced(facts, count, priced, table));
  struct tutti_plot *plot = tutti_figure_plot(figure, 640, 400);
  plot->ticks = TUTTI_TICKS_OWN;
  tutti_plot_set(plot, "set logscale x");
  if (cost)
    tutti_plot_set(plot, "set format x '%%.0s%%c'"); /* 10k, 1M */
  plot_priced(facts, label, plot);
out:
  tutti_free(priced);
  return status;
}

/* --- shifts ------------------------------------------------------------------------------------------------------- */

/* The severity in the name of a test split: 0 for "test", 5 for "test-5"; -1 for other splits. */
static int severity_of(const char *split) {
  static const char test[] = TUTTI_SPLIT_TEST;
  if (strncmp(split, test, sizeof test - 1) != 0)
    return -1;
  split += sizeof test - 1;
  return *split == '\0' ? 0 : *split == '-' && split[1] >= '1' && split[1] <= '9' && !split[2] ? split[1] - '0' : -1;
}

/* One row for each severity, of the ensemble, its members and, where others were chosen anew for each shift, of those.
   Returns how many are shifted. */
static size_t put_severities(const struct report_facts *facts, const char *metric, bool anew,
                             struct tutti_table *table) {
  size_t index, found = 0;
  const json_t *entry;
  for (int severity = 0; severity <= 9; severity++)
    json_array_foreach(facts->evaluation, index, entry) {
      static const char *const kinds[] = {"", "average-", "oracle-"};
      const char *split = json_string_value(json_object_get(entry, "split"));
      if (!split || severity_of(split) != severity)
        continue;
      tutti_table_put(table, severity);
      for (size_t k = 0; k < 3; k++) {
        char name[64];
        (void)snprintf(name, sizeof name, "%s%s", kinds[k], metric);
        tutti_table_put(table, tutti_report_metric(json_object_get(entry, "metrics"), name));
      }
      tutti_table_put(table, tutti_report_metric(json_object_get(entry, "calibrated"), metric));
      if (anew)
        tutti_table_put(table, tutti_report_metric(tutti_report_anew(facts, split, NULL), metric));
      found += severity > 0;
    }
  return found;
}

/* Of each shift: the rows that an ensemble was chosen on anew, and its members. */
static enum tutti_status put_chosen_anew(const struct report_facts *facts, struct report_figure *figure) {
  const json_t *shifts = json_object_get(facts->summary, "shifts"), *shift, *member;
  size_t index, i;
  struct tutti_table *table = tutti_figure_table(figure, "chosen on", "trials", NULL);
  json_array_foreach(shifts, index, shift) {
    const char *split = json_string_value(json_object_get(shift, "split"));
    struct tutti_text trials = tutti_text_begin(facts->context);
    char *text;
    json_array_foreach(json_object_get(json_object_get(shift, "ensemble"), "members"), i, member) tutti_text_add(
        &trials, "%s%lld", i ? " " : "", (long long)json_integer_value(json_object_get(member, "trial")));
    TUTTI_TRY(facts->context, tutti_text_take(&trials, &text));
    tutti_table_put_text(table, split ? split : "");
    tutti_table_put_text(table, text);
    tutti_free(text);
  }
  return tutti_figure_note(figure,
                           "The ensemble is one for all severities. Chosen anew for each shift: from the same trials, "
                           "by the same selector, on the validation rows of that severity; these have no calibrator.");
}

static enum tutti_status draw_severity(const struct report_facts *facts, struct report_figure *figure) {
  const char *const metrics[] = {"nll", main_metric(facts)};
  const bool anew = json_array_size(json_object_get(facts->summary, "shifts")) > 0;
  for (size_t i = 0; i < 2; i++) {
    struct tutti_table *table = tutti_figure_table(figure, "severity", NULL);
    tutti_table_columns(table, metrics[i], "mean of the members", "oracle", "calibrated", NULL);
    if (anew)
      tutti_table_column(table, "chosen anew");
    if (put_severities(facts, metrics[i], anew, table) == 0)
      return tutti_figure_skip(figure);
    struct tutti_plot *plot = tutti_figure_plot(figure, 520, 340);
    plot->ticks = TUTTI_TICKS_WHOLE;
    tutti_plot_set(plot, "set xrange [-0.2:*]");
    tutti_plot_text(plot, "xlabel", "severity of the shift");
    tutti_plot_text(plot, "ylabel", metrics[i]);
    tutti_plot_series(plot, i, "1:3", "linespoints pt 6 ps 0.6 lw 1.4 dt 2", 3, "mean of the members");
    tutti_plot_series(plot, i, "1:2", "linespoints pt 6 ps 0.6 lw 2", 0, "ensemble");
    tutti_plot_series(plot, i, "1:4", "linespoints pt 6 ps 0.6 lw 1.4", 2, "oracle");
    if (isfinite(tutti_table_cell(table, 0, 4)->number))
      tutti_plot_series(plot, i, "1:5", "linespoints pt 6 ps 0.6 lw 2", 1, "ensemble, calibrated");
    if (anew)
      tutti_plot_series(plot, i, "1:6", "linespoints pt 7 ps 0.7 lw 2", 4, "chosen anew for each shift");
  }
  return anew ? put_chosen_anew(facts, figure) : TUTTI_OK;
}

static const struct report_chart charts[] = {
    {.name = "members",
     .title = "Its members",
     .text = "One row for each model of the ensemble: how much it counts, how good it is alone, how large it is, and "
             "what was tried.",
     .brief = true,
     .draw = draw_members},
    {.name = "pools",
     .title = "The runs that it is chosen from",
     .text = "One row for each run: how many models it trained, how many of them runs before it have, too (these count "
             "once), how many are members, and how it searched.",
     .brief = true,
     .draw = draw_pools},
    {.name = "sizes",
     .title = "Ensembles of other sizes",
     .text = "How good ensembles with fewer or more members were on each split. The oracle takes for each row "
             "the member that is best there: what would be possible if one knew which to believe.",
     .brief = true,
     .draw = draw_sizes},
    {.name = "pareto",
     .title = "What accuracy costs",
     .text =
         "Each point is a model: how much it computes for one row, or how long that took if that was measured, and its "
         "loss. Those with a ring are beaten in both by no other, neither a model nor an ensemble; the ensemble costs "
         "what its members cost together, and others were chosen at half the cost, and half "
         "of that, down to one model.",
     .draw = draw_pareto},
    {.name = "severity",
     .title = "Under a shift of the data",
     .text =
         "The loss on test rows that are shifted further and further from those of the training, of the "
         "ensemble, of its members on their mean and, where a run has them, of ensembles chosen anew for each shift.",
     .brief = true,
     .draw = draw_severity},
    {.name = NULL},
};
const struct report_section report_section_ensemble = {.title = "The ensemble", .charts = charts, .of_ensembles = true};
