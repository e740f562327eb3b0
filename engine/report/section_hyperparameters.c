/* section_hyperparameters.c - which choices mattered: of hyperparameters, and of architectures where they have named
   dimensions. */
#include "compute.h"
#include "report_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/names.h>

enum { MOST_TRIALS = 400, MOST_BARS = 25, MOST_AXES = 12, GROUPS = 8, FEWEST_TRIALS = 10, ORDERS = 200 };

/* The finished trials as points of a domain. */
struct points {
  const tutti_domain
      *domain; /* the joint one; of graphs, that of the hyperparameters alone; NULL: nothing is searched */
  size_t count, dimensions;
  double *values;     /* [count][dimensions] */
  double *losses;     /* [count] */
  uint64_t *trials;   /* [count] */
  double *importance; /* [dimensions] */
  double chance;      /* what the largest of them would reach in one of twenty cases if none mattered */
  size_t shown;       /* dimensions that some trial has */
  size_t *order;      /* [shown]: by importance, the largest first */
};

static void release(struct points *points) {
  tutti_free(points->values);
  tutti_free(points->losses);
  tutti_free(points->trials);
  tutti_free(points->importance);
  tutti_free(points->order);
}

/* Of a trial whose learner takes no networks. */
static void leave_architecture(const struct report_facts *facts, uint64_t trial, size_t dimensions, double *point) {
  const tutti_domain *hyperparameters = tutti_scope_hyperparameters(facts->experiment->scope);
  size_t architecture = dimensions - (hyperparameters ? tutti_domain_count(hyperparameters) : 0);
  if (tutti_history_without_network(facts->history, trial))
    for (size_t d = 0; d < architecture; d++)
      point[d] = (double)NAN;
}

static enum tutti_status gather(const struct report_facts *facts, struct points *points) {
  tutti_context *context = facts->context;
  const tutti_scope *scope = facts->experiment->scope;
  size_t finished;
  bool joint = tutti_scope_joint(scope) != NULL;
  points->domain = joint ? tutti_scope_joint(scope) : tutti_scope_hyperparameters(scope);
  points->dimensions = points->domain ? tutti_domain_count(points->domain) : 0;
  if (points->dimensions == 0 || tutti_experiment_is_fit(facts->experiment) || facts->history->parts)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_history_finished(context, facts->history, &points->trials, &finished));
  TUTTI_TRY(context, tutti_alloc(context, finished, points->dimensions * sizeof(double), &points->values));
  TUTTI_TRY(context, tutti_alloc(context, finished, sizeof(double), &points->losses));
  for (size_t i = 0; i < finished; i++) {
    const struct tutti_record *record = &facts->history->records[points->trials[i]];
    double *point = points->values + points->count * points->dimensions;
    if (!isfinite(record->loss))
      continue;
    if (joint) {
      tutti_scope_to_point(scope, record->candidate, point);
      leave_architecture(facts, points->trials[i], points->dimensions, point);
    } else {
      memcpy(point, tutti_candidate_hyperparameters(record->candidate), points->dimensions * sizeof *point);
    }
    points->trials[points->count] = points->trials[i];
    points->losses[points->count++] = record->loss;
  }
  return TUTTI_OK;
}

/* The groups of a dimension's values, group[count]: choices each by themselves, numbers in up to eight groups, inactive
   ones apart. */
static enum tutti_status group_values(tutti_context *context, const struct points *points, size_t dimension,
                                      size_t *group, size_t *groups) {
  const struct tutti_dimension *facts = tutti_domain_at(points->domain, dimension);
  size_t most = facts->type == TUTTI_DIMENSION_CATEGORICAL ? points->count : GROUPS;
  double *values;
  TUTTI_TRY(context, tutti_alloc(context, points->count, sizeof *values, &values));
  for (size_t i = 0; i < points->count; i++)
    values[i] = points->values[i * points->dimensions + dimension];
  enum tutti_status status = tutti_report_group(context, points->count, values, most, group, groups);
  tutti_free(values);
  return status;
}

/* Has any trial a value of a dimension? None has an architecture where no learner took networks. */
static bool has_values(const struct points *points, size_t dimension) {
  for (size_t i = 0; i < points->count; i++)
    if (!isnan(points->values[i * points->dimensions + dimension]))
      return true;
  return false;
}

static double explained(const struct points *points, const double *ranks, const size_t *groups_of, size_t dimension,
                        size_t groups) {
  double share = tutti_report_explained(points->count, ranks, groups_of + dimension * points->count, groups);
  return isnan(share) ? 0 : share;
}

/* The largest importance that losses in any order have, in one of twenty cases. The ranks are left in another order. */
static double level_of_chance(const struct points *points, double *ranks, const size_t *groups_of,
                              const size_t *groups) {
  double largest[ORDERS];
  struct tutti_random random;
  tutti_random_init(&random, 1, "importance", 0);
  for (size_t k = 0; k < ORDERS; k++) {
    largest[k] = 0;
    for (size_t i = points->count; i > 1; i--) {
      size_t other = (size_t)tutti_random_below(&random, i);
      double kept = ranks[i - 1];
      ranks[i - 1] = ranks[other];
      ranks[other] = kept;
    }
    for (size_t d = 0; d < points->dimensions; d++)
      largest[k] = fmax(largest[k], explained(points, ranks, groups_of, d, groups[d]));
  }
  tutti_sort_numbers(ORDERS, largest);
  return largest[ORDERS - ORDERS / 20 - 1];
}

static enum tutti_status measure_importance(tutti_context *context, struct points *points) {
  enum tutti_status status;
  double *ranks = NULL;
  size_t *groups_of = NULL, *groups = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, points->count, sizeof *ranks, &ranks));
  TUTTI_TRY_OUT(context, tutti_alloc(context, points->dimensions, points->count * sizeof *groups_of, &groups_of));
  TUTTI_TRY_OUT(context, tutti_alloc(context, points->dimensions, sizeof *groups, &groups));
  TUTTI_TRY_OUT(context, tutti_alloc(context, points->dimensions, sizeof(double), &points->importance));
  TUTTI_TRY_OUT(context, tutti_alloc(context, points->dimensions, sizeof(size_t), &points->order));
  TUTTI_TRY_OUT(context, tutti_report_ranks(context, points->count, points->losses, ranks));
  for (size_t d = 0; d < points->dimensions; d++) {
    TUTTI_TRY_OUT(context, group_values(context, points, d, groups_of + d * points->count, &groups[d]));
    points->importance[d] = explained(points, ranks, groups_of, d, groups[d]);
    if (!has_values(points, d))
      continue;
    size_t at = points->shown++; /* into its place, after those that are as important */
    for (; at > 0 && points->importance[points->order[at - 1]] < points->importance[d]; at--)
      points->order[at] = points->order[at - 1];
    points->order[at] = d;
  }
  points->chance = level_of_chance(points, ranks, groups_of, groups);
out:
  tutti_free(ranks);
  tutti_free(groups_of);
  tutti_free(groups);
  return status;
}

/* Gather and measure; false, with the reason in the figure, if there is too little. */
static enum tutti_status begin(const struct report_facts *facts, struct report_figure *figure, struct points *points,
                               bool *enough) {
  *points = (struct points){.domain = NULL};
  *enough = false;
  TUTTI_TRY(facts->context, gather(facts, points));
  if (tutti_experiment_is_fit(facts->experiment))
    return tutti_figure_skip(figure);
  if (facts->history->parts)
    return tutti_figure_missing(figure, "The models are of several runs, which search different things.");
  if (points->dimensions == 0)
    return tutti_figure_missing(figure, "No hyperparameter is searched, and architectures are graphs.");
  if (points->count < FEWEST_TRIALS)
    return tutti_figure_missing(figure, "%zu %s finished; with fewer than %d, nothing can be told.", points->count,
                                tutti_plural(points->count, "trial has", "trials have"), (int)FEWEST_TRIALS);
  TUTTI_TRY(facts->context, measure_importance(facts->context, points));
  *enough = points->shown > 0;
  return *enough ? TUTTI_OK
                 : tutti_figure_missing(figure, "No hyperparameter is searched, and no trial has a network.");
}

/* --- importance --------------------------------------------------------------------------------------------------- */

static enum tutti_status draw_importance(const struct report_facts *facts, struct report_figure *figure) {
  struct points points;
  bool enough;
  enum tutti_status status = begin(facts, figure, &points, &enough);
  if (status != TUTTI_OK || !enough)
    goto out;
  size_t bars = points.shown < MOST_BARS ? points.shown : MOST_BARS;
  struct tutti_table *table = tutti_figure_table(figure, "dimension", "place", "share explained", NULL);
  struct tutti_plot *plot = tutti_figure_plot(figure, 640, 90 + 24 * (int)bars);
  const double longest = fmax(points.importance[points.order[0]], points.chance);
  tutti_plot_set(plot, "unset key\nset ytics scale 0 ()\nset yrange [%g:-0.6]\nset xrange [0:%g]", (double)bars - 0.4,
                 fmin(1, 1.05 * longest));
  for (size_t i = 0; i < points.shown; i++) {
    const char *name = tutti_domain_at(points.domain, points.order[i])->name;
    tutti_table_put_text(table, name);
    tutti_table_put(table, (double)i);
    tutti_table_put(table, points.importance[points.order[i]]);
    if (i < bars)
      tutti_plot_tick(plot, 'y', (double)i, name);
  }
  tutti_plot_set(plot, "set style fill solid 0.7 noborder");
  tutti_plot_text(plot, "xlabel", "share of the differences between trials that it explains alone");
  tutti_plot_set(plot, "set arrow 1 from %g, graph 0 to %g, graph 1 nohead dt 2 lc rgb '#888888'", points.chance,
                 points.chance);
  tutti_plot_series(plot, 0, "($3/2):2:(0):3:($2-0.35):($2+0.35)", "boxxyerror", 0, NULL);
  status =
      tutti_figure_note(figure,
                        "Of %zu trials, by the ranks of their losses. The dashed line is chance: if no choice "
                        "mattered, the longest bar would pass %.2f in one of twenty searches. A search that "
                        "follows what works tries some values more than others, so that a bar only hints at causes.",
                        points.count, points.chance);
out:
  release(&points);
  return status;
}

/* --- parallel coordinates ----------------------------------------------------------------------------------------- */

/* Where a value stands on its axis, from 0 to 1. */
static double position(const struct tutti_dimension *dimension, double value) {
  double low = dimension->low, high = dimension->high;
  if (dimension->type == TUTTI_DIMENSION_CATEGORICAL) {
    low = 0;
    high = (double)dimension->choice_count - 1;
  } else if (dimension->log) {
    low = log(low), high = log(high), value = log(value);
  }
  return high > low ? (value - low) / (high - low) : 0.5;
}

static void put_value(struct tutti_table *table, const struct tutti_dimension *dimension, double value) {
  if (isnan(value))
    tutti_table_put_text(table, "");
  else if (dimension->type == TUTTI_DIMENSION_CATEGORICAL)
    tutti_table_put_text(table, dimension->choices[(size_t)value]);
  else
    tutti_table_put(table, value);
}

/* The ends of an axis, or its choices if they are few. */
static void name_axis(struct tutti_plot *plot, size_t axis, const struct tutti_dimension *dimension) {
  char text[64];
  if (dimension->type == TUTTI_DIMENSION_CATEGORICAL) {
    for (size_t c = 0; c < dimension->choice_count; c++)
      if (dimension->choice_count <= 8 || c == 0 || c == dimension->choice_count - 1)
        tutti_plot_note(plot, (double)axis, position(dimension, (double)c), dimension->choices[c],
                        "left offset 0.4,0 font ',9' front");
    return;
  }
  (void)snprintf(text, sizeof text, "%.3g", dimension->low);
  tutti_plot_note(plot, (double)axis, 0, text, "left offset 0.4,0 font ',9' front");
  (void)snprintf(text, sizeof text, "%.3g", dimension->high);
  tutti_plot_note(plot, (double)axis, 1, text, "left offset 0.4,0 font ',9' front");
}

/* Do the same trials have values of both? */
static bool go_together(const struct points *points, size_t one, size_t other) {
  for (size_t i = 0; i < points->count; i++) {
    const double *point = points->values + i * points->dimensions;
    if (isnan(point[one]) != isnan(point[other]))
      return false;
  }
  return true;
}

static bool all_have(const struct points *points, size_t dimension) {
  for (size_t i = 0; i < points->count; i++)
    if (isnan(points->values[i * points->dimensions + dimension]))
      return false;
  return true;
}

/* Put the i-th of the order before the one at `to`. */
static void move_axis(const struct points *points, size_t i, size_t to) {
  const size_t d = points->order[i];
  memmove(points->order + to + 1, points->order + to, (i - to) * sizeof *points->order);
  points->order[to] = d;
}

/* Of the first `axes` in the order, those that all trials have stand first, then those that the same trials have side
   by side, where the most important of them is: a line breaks at axes that its trial has no value of. */
static void group_axes(const struct points *points, size_t axes) {
  size_t common = 0;
  for (size_t i = 0; i < axes; i++)
    if (all_have(points, points->order[i]))
      move_axis(points, i, common++);
  for (size_t first = common, end; first < axes; first = end) {
    end = first + 1;
    for (size_t i = end; i < axes; i++)
      if (go_together(points, points->order[first], points->order[i]))
        move_axis(points, i, end++);
  }
}

/* 2: a member; 1: among the best tenth; 0: neither. */
static double kind_of(const struct report_facts *facts, uint64_t trial, double rank, size_t count) {
  return tutti_report_is_member(facts, trial) ? 2 : rank <= 0.1 * (double)count ? 1 : 0;
}

static enum tutti_status draw_parallel(const struct report_facts *facts, struct report_figure *figure) {
  struct points points;
  double *ranks = NULL;
  bool enough;
  enum tutti_status status = begin(facts, figure, &points, &enough);
  if (status != TUTTI_OK || !enough)
    goto out;
  size_t axes = points.shown < MOST_AXES ? points.shown : MOST_AXES;
  group_axes(&points, axes);
  TUTTI_TRY_OUT(facts->context, tutti_alloc(facts->context, points.count, sizeof *ranks, &ranks));
  TUTTI_TRY_OUT(facts->context, tutti_report_ranks(facts->context, points.count, points.losses, ranks));
  struct tutti_table *lines = tutti_figure_table(figure, "line", "trial", "axis", "position", "kind", NULL);
  struct tutti_table *table = tutti_figure_table(figure, "trial", "loss", NULL);
  struct tutti_plot *plot = tutti_figure_plot(figure, 1000, 420);
  lines->parted = true;
  plot->crossed = true;
  size_t line = 0;
  for (size_t d = 0; d < points.dimensions; d++)
    if (has_values(&points, d))
      tutti_table_column(table, tutti_domain_at(points.domain, d)->name);
  for (size_t i = 0; i < points.count; i++) {
    const double *point = points.values + i * points.dimensions;
    double kind = kind_of(facts, points.trials[i], ranks[i], points.count);
    tutti_table_put(table, (double)points.trials[i]);
    tutti_table_put(table, points.losses[i]);
    for (size_t d = 0; d < points.dimensions; d++)
      if (has_values(&points, d))
        put_value(table, tutti_domain_at(points.domain, d), point[d]);
    line++;
    for (size_t axis = 0; axis < axes && (kind > 0 || i < MOST_TRIALS); axis++) {
      size_t d = points.order[axis];
      const double numbers[] = {(double)line, (double)points.trials[i], (double)axis,
                                position(tutti_domain_at(points.domain, d), point[d]), kind};
      if (isnan(point[d]))
        line++; /* a choice that this trial does not have */
      else
        tutti_table_put_all(lines, 5, numbers);
    }
  }
  tutti_plot_set(plot, "unset ytics\nset border 0\nset grid xtics lt 1 lw 1 lc rgb '#aa0008'\nset xtics scale 0 ()");
  tutti_plot_set(plot, "set yrange [-0.06:1.06]\nset xrange [-0.1:%g]", (double)axes - 0.4);
  if (axes > 6)
    tutti_plot_set(plot, "set xtics rotate by -25");
  for (size_t axis = 0; axis < axes; axis++) {
    const struct tutti_dimension *dimension = tutti_domain_at(points.domain, points.order[axis]);
    tutti_plot_tick(plot, 'x', (double)axis, dimension->name);
    name_axis(plot, axis, dimension);
  }
  tutti_plot_series(plot, 0, "($5==0?$3:NaN):4", "linespoints pt 6 ps 0.1 lw 0.4", TUTTI_INK_FAINT, "a trial");
  tutti_plot_series(plot, 0, "($5==1?$3:NaN):4", "linespoints pt 6 ps 0.2 lw 1", 0, "among the best tenth");
  tutti_plot_series(plot, 0, "($5==2?$3:NaN):4", "linespoints pt 6 ps 0.3 lw 1.6", 1, "a member");
  if (axes < points.shown)
    status =
        tutti_figure_note(figure, "The %zu most important of %zu dimensions; the table has all.", axes, points.shown);
out:
  tutti_free(ranks);
  release(&points);
  return status;
}

static const struct report_chart charts[] = {
    {.name = "importance",
     .title = "Which choices mattered",
     .text = "The longer the bar, the more the losses of these trials go with this choice alone (epsilon squared "
             "of the ranks). Near 0, they do not; short of the dashed line, it may be chance.",
     .brief = true,
     .draw = draw_importance},
    {.name = "parallel",
     .title = "What was tried",
     .text = "Each line is a trial; where it crosses an axis is its value there. Where the coloured lines come "
             "together, the best trials have about the same value; a line breaks where a choice does not exist.",
     .draw = draw_parallel},
    {.name = NULL},
};
const struct report_section report_section_hyperparameters = {.title = "What mattered", .charts = charts};
