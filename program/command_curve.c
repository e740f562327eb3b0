/* command_curve.c - tutti curve: how good ensembles of fewer trials and of other sizes would have been. */
#include "program_impl.h"
#include "table.h"

#include <string.h>

struct curve_options {
  const char *split;
  struct texts set;
  struct numbers budgets, members;
  const char *costs;
  bool json, trust;
};

/* --- the table --- */

/* The metrics of a point on its last split: test rows, if there are any. */
static const json_t *metrics_of(const json_t *point) {
  const json_t *evaluation = json_object_get(point, "evaluation");
  return json_object_get(json_array_get(evaluation, json_array_size(evaluation) - 1), "metrics");
}

static const char *name_of(const json_t *metric) { return json_string_value(json_object_get(metric, "name")); }

static bool is_shown(const json_t *metric) { return tutti_metric_shown_in(name_of(metric)) >= TUTTI_METRIC_IN_CURVES; }

/* What a point is of: so many trials, or such a cost. */
static void put_place(const json_t *point, struct table *table) {
  const json_t *cost = json_object_get(point, "cost");
  if (cost)
    table_cell(table, "%.6g%s", json_number_value(cost), json_is_true(json_object_get(point, "front")) ? " *" : "  ");
  else
    table_cell(table, "%lld", count_of(point, "budget"));
  table_cell(table, "%lld", count_of(point, "members"));
}

/* The points' metrics, which the first point names. */
static void show_points(const json_t *points, const char *cost, FILE *out) {
  const json_t *named = metrics_of(json_array_get(points, 0)), *point, *metric;
  struct table table = table_begin(2);
  size_t index, i;
  table_column(&table, TABLE_NUMBER, cost ? cost : "budget");
  table_column(&table, TABLE_NUMBER, "members");
  json_array_foreach(named, i, metric) {
    if (is_shown(metric))
      table_column(&table, TABLE_NUMBER, name_of(metric));
  }
  json_array_foreach(points, index, point) {
    put_place(point, &table);
    json_array_foreach(named, i, metric) {
      char buffer[32];
      const json_t *here = metric_of(metrics_of(point), name_of(metric));
      if (is_shown(metric))
        table_cell(&table, "%s", show_number(number_of(here, "value"), buffer));
    }
  }
  table_end(&table, out);
}

static void show_curve(const json_t *points, const void *given, FILE *out) {
  const struct curve_options *options = given;
  const json_t *first = json_array_get(points, 0), *evaluation = json_object_get(first, "evaluation");
  if (!first) {
    (void)fprintf(out, "No ensemble: none of these budgets has enough trials that may be members.\n");
    return;
  }
  const json_t *split = json_array_get(evaluation, json_array_size(evaluation) - 1);
  (void)fprintf(out, "On %s\n\n", json_string_value(json_object_get(split, "split")));
  show_points(points, options->costs, out);
  if (options->costs)
    (void)fprintf(out, "\n* on the rows that chose, none is as cheap and as good, and better in one of the two\n");
}

/* --- the command --- */

static enum tutti_status work_curve(tutti_context *context, tutti_view *view, const void *given, char **text) {
  const struct curve_options *options = given;
  const struct tutti_curve_options points = {.size = sizeof points,
                                             .budgets_count = options->budgets.count,
                                             .budgets = options->budgets.items,
                                             .members_count = options->members.count,
                                             .members = options->members.items,
                                             .costs = options->costs};
  return tutti_view_curve(context, view, options->split, options->set.count, options->set.items, &points, text);
}

static int run_curve(tutti_context *context, const struct texts *operands, const void *given) {
  const struct curve_options *options = given;
  tutti_trust_runs(context, options->trust);
  return print_view(context, operands->items[0], options->json, work_curve, show_curve, options);
}

static const struct command_option curve_options[] = {
    {"budgets", 'b', OPTION_NUMBERS, "N,...", "Choose from the first N trials (default: 8 even steps to all of them).",
     .offset = offsetof(struct curve_options, budgets)},
    {"members", 'm', OPTION_NUMBERS, "N,...", "Choose so many members (default: as the selector's parameters say).",
     .offset = offsetof(struct curve_options, members)},
    {"costs", 'c', OPTION_TEXT, "UNIT",
     "Ensembles of all trials that cost less and less to predict with, in flops, bytes or microseconds.",
     .offset = offsetof(struct curve_options, costs)},
    {"split", 'p', OPTION_TEXT, "SPLIT", "Choose on the rows of this split, as in validation-5 (default: validation).",
     .offset = offsetof(struct curve_options, split)},
    {"set", 's', OPTION_TEXTS, "SECTION.KEY=VALUE",
     "Another selector or other parameters, as in selector.plugin=top-m, or other choices of metrics, as in "
     "evaluation.bins=10; may be repeated.",
     .offset = offsetof(struct curve_options, set), .completes = COMPLETE_SETTING},
    {"json", 'j', OPTION_FLAG, NULL, "As JSON, with all metrics and the members.",
     .offset = offsetof(struct curve_options, json)},
    TRUST_OPTION(struct curve_options),
    {0}};

const struct command command_curve = {
    .name = "curve",
    .summary = "ensembles of fewer trials and other sizes",
    .about = "How good the ensemble would have been of fewer trials, and of other sizes; nothing is trained.",
    .operands = ONE_RUN,
    .options = curve_options,
    .size = sizeof(struct curve_options),
    .run = run_curve,
};
