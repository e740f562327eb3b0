/* levels.c - what quantiles and intervals of values hold, level by level: a diagram for each of a few targets, else one
   of all together. */
#include "levels.h"

#include <math.h>
#include <stdio.h>

enum { MOST_TARGETS = REPORT_MOST_PLOTS };

/* What is drawn: each target of a split, or the split itself. */
struct parts {
  const json_t *split, *targets; /* NULL: the split */
  size_t count;
  bool plain,
      calibrated; /* what there is: shares before calibration, which members without a variance lack, and after */
};

/* How many columns of shares a part has. */
static size_t shares_of(const struct parts *parts) { return (size_t)parts->plain + (size_t)parts->calibrated; }

static const json_t *part_at(const struct parts *parts, size_t index) {
  return parts->targets ? json_array_get(parts->targets, index) : parts->split;
}

static const char *name_of(const struct parts *parts, size_t index, const char *otherwise) {
  const char *name = parts->targets ? json_string_value(json_object_get(part_at(parts, index), "target")) : NULL;
  return name ? name : otherwise;
}

/* Runs of an earlier Tutti have no tables of their targets. */
static struct parts parts_of(const struct report_levels *of, const json_t *split) {
  const json_t *targets = json_object_get(split, "targets");
  const size_t count = json_array_size(targets);
  const bool each = count > 1 && count <= MOST_TARGETS && json_object_get(json_array_get(targets, 0), "tables");
  return (struct parts){.split = split,
                        .targets = each ? targets : NULL,
                        .count = each ? count : 1,
                        .plain = isfinite(of->share(split, false, 0)),
                        .calibrated = json_object_get(split, "calibrated") && isfinite(of->share(split, true, 0))};
}

/* The level; of each part the share that was found, and after calibration; the standard error that chance gives. */
static void put_levels(const struct report_levels *of, const struct parts *parts, double cells,
                       struct tutti_table *table) {
  tutti_table_column(table, of->level_name);
  for (size_t i = 0; i < parts->count; i++) {
    char head[160];
    if (parts->plain)
      tutti_table_column(table, name_of(parts, i, of->share_name));
    (void)snprintf(head, sizeof head, "%.120s, calibrated", name_of(parts, i, of->share_name));
    if (parts->calibrated)
      tutti_table_column(table, head);
  }
  tutti_table_column(table, of->error_name);
  for (size_t l = 0; l < of->count; l++) {
    const double level = of->level(l);
    tutti_table_put(table, level);
    for (size_t i = 0; i < parts->count; i++)
      for (int calibrated = !parts->plain; calibrated <= parts->calibrated; calibrated++)
        tutti_table_put(table, of->share(part_at(parts, i), calibrated, l));
    tutti_table_put(table, sqrt(level * (1 - level) / cells));
  }
}

static void plot_part(const struct report_levels *of, const struct parts *parts, size_t index,
                      struct report_figure *figure) {
  const size_t found = 2 + index * shares_of(parts), error = 2 + parts->count * shares_of(parts);
  char columns[64];
  const bool several = parts->count > 1; /* three have room beside each other */
  struct tutti_plot *plot = tutti_figure_plot(figure, several ? 360 : 460, several ? 400 : 460);
  tutti_plot_set(plot, "set size square\n%s", of->ranges);
  if (several)
    tutti_plot_text(plot, "title", name_of(parts, index, ""));
  tutti_plot_text(plot, "xlabel", of->x);
  tutti_plot_text(plot, "ylabel", of->y);
  (void)snprintf(columns, sizeof columns, "1:($1-2*$%zu):($1+2*$%zu)", error, error);
  tutti_plot_series(plot, 0, columns, "filledcurves", TUTTI_INK_FAINT, "what chance would do");
  tutti_plot_function(plot, "x", "lines dt 2 lw 1", TUTTI_INK_TEXT, of->diagonal);
  (void)snprintf(columns, sizeof columns, "1:%zu", found);
  if (parts->plain)
    tutti_plot_series(plot, 0, columns, "linespoints pt 6 ps 0.5 lw 1.6", parts->calibrated ? 1 : 0,
                      parts->calibrated ? "before" : "found");
  (void)snprintf(columns, sizeof columns, "1:%zu", found + parts->plain);
  if (parts->calibrated)
    tutti_plot_series(plot, 0, columns, "linespoints pt 6 ps 0.5 lw 2", 0, "calibrated");
}

enum tutti_status tutti_report_draw_levels(const struct report_facts *facts, struct report_figure *figure,
                                           const struct report_levels *of) {
  const json_t *split = facts->rows.split ? tutti_report_split(facts, facts->rows.split) : NULL;
  const size_t targets = facts->rows.outputs;
  if (!split)
    return tutti_figure_missing(figure, "There is no ensemble yet, or there are no predictions.");
  const struct parts parts = parts_of(of, split);
  if (shares_of(&parts) == 0)
    return tutti_figure_missing(figure, "The members give no variance, so there are no intervals.");
  put_levels(of, &parts, (double)(facts->rows.rows * (parts.targets ? 1 : targets)), tutti_figure_table(figure, NULL));
  for (size_t i = 0; i < parts.count; i++)
    plot_part(of, &parts, i, figure);
  return parts.targets || targets < 2
             ? TUTTI_OK
             : tutti_figure_note(figure,
                                 "Of all %zu targets together, as if they were independent; up to %d are shown "
                                 "each alone.",
                                 targets, (int)MOST_TARGETS);
}
