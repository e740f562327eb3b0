/* together.c - several runs in one figure. */
#include "together.h"

#include "engine/study/compare_impl.h"
#include "engine/study/path_labels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tutti/compare.h>
#include <tutti/names.h>

/* --- which runs --------------------------------------------------------------------------------------------------- */

/* Cells of an ablation that have not begun have nothing to show. What was given by its own name stays. */
static void leave_out_waiting(struct report_runs *runs) {
  size_t kept = 0;
  for (size_t i = 0; i < runs->count; i++) {
    bool begun = tutti_run_directory_has_run(runs->paths[i]) || tutti_run_directory_has_pools(runs->paths[i]);
    for (size_t k = 0; k < runs->given && !begun; k++)
      begun = strcmp(runs->paths[i], runs->directories[k]) == 0;
    if (begun)
      runs->paths[kept++] = runs->paths[i];
    else
      tutti_free(runs->paths[i]);
  }
  runs->waiting = runs->count - kept;
  runs->count = kept;
}

enum tutti_status tutti_report_find(tutti_context *context, size_t count, const char *const *directories,
                                    struct report_runs *runs) {
  *runs = (struct report_runs){.given = count, .directories = directories};
  if (count == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "expected a run directory, found none");
  TUTTI_TRY(context, tutti_compare_find(context, count, directories, &runs->count, &runs->paths));
  leave_out_waiting(runs);
  if (runs->count == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: none of its %zu runs has begun", directories[0], runs->waiting);
  TUTTI_TRY(context, tutti_alloc(context, runs->count, sizeof *runs->labels, &runs->labels));
  return tutti_path_labels(context, runs->count, (const char *const *)runs->paths, runs->labels);
}

void tutti_report_forget(struct report_runs *runs) {
  for (size_t i = 0; i < runs->count; i++) {
    tutti_free(runs->paths[i]);
    if (runs->labels)
      tutti_free(runs->labels[i]);
  }
  tutti_free(runs->paths);
  tutti_free(runs->labels);
  *runs = (struct report_runs){.count = 0};
}

/* --- figures ------------------------------------------------------------------------------------------------------ */

enum { MOST_METRICS = 4, FIGURES = 3, LABEL_ROOM = 40 };

static const struct report_chart searches = {
    .name = "searches",
    .title = "The searches",
    .text = "The best loss on the validation rows after so many trials of each run. The lower, and the earlier, the "
            "better."};
static const struct report_chart results = {
    .name = "results",
    .title = "The results",
    .text = "What the ensemble of each run does on the test rows, and on the validation rows where there are none."};
static const struct report_chart standings = {
    .name = "standings",
    .title = "Who is ahead",
    .text =
        "Runs that differ in their seeds alone count as one variant: its mean, with one standard error, or on several "
        "data sets its mean rank. Where bars reach over each other, the difference may be chance; tutti compare has "
        "the tests."};

static bool has_loss(const struct report_page *page, enum tutti_loss loss) {
  for (size_t run = 0; run < page->runs; run++)
    if (page->facts[run].experiment->loss == loss)
      return true;
  return false;
}

/* The highest best loss of a run that a chart of searches shows: the first one, unless it is far from all others. */
static double highest_best(const struct report_facts *facts) {
  const double most = tutti_report_shown_most(facts);
  if (isfinite(most))
    return most;
  for (uint64_t i = 0; i < facts->history->asked; i++)
    if (isfinite(facts->losses[i]))
      return facts->losses[i];
  return -INFINITY;
}

/* Has it searched by this loss? Fits search nothing. */
static bool is_of(const struct report_facts *facts, enum tutti_loss loss, bool classes) {
  return facts->experiment->loss == loss && facts->classes == classes && !tutti_experiment_is_fit(facts->experiment);
}

/* Have two runs the same search? Cells of an ablation that differ in what is chosen from a search share one. */
static bool same_search(const struct report_facts *one, const struct report_facts *other) {
  if (one->history->asked != other->history->asked || !is_of(one, other->experiment->loss, other->classes) ||
      tutti_experiment_is_fit(other->experiment))
    return false;
  for (uint64_t i = 0; i < one->history->asked; i++)
    if (isnan(one->losses[i]) != isnan(other->losses[i]) || fabs(one->losses[i] - other->losses[i]) > 0)
      return false;
  return true;
}

/* The first run on the page that has the search of this one. */
static size_t searcher_of(const struct report_page *page, size_t run) {
  size_t first = 0;
  while (first < run && !same_search(&page->facts[first], &page->facts[run]))
    first++;
  return first;
}

/* The names of the runs that have a search, after the first one, and how many they are. */
static size_t add_sharers(const struct report_page *page, size_t searcher, struct tutti_text *out) {
  size_t sharers = 0;
  for (size_t run = searcher + 1; run < page->runs; run++)
    if (searcher_of(page, run) == searcher) {
      tutti_text_add(out, ", %s", page->facts[run].name);
      sharers++;
    }
  return sharers;
}

/* How the line of a search is called: by all runs that have it, where there is room. */
static enum tutti_status name_search(const struct report_page *page, size_t searcher, char **key) {
  enum { ROOM = 60 };
  tutti_context *context = page->facts[searcher].context;
  struct tutti_text names = tutti_text_begin(context);
  tutti_text_add(&names, "%s", page->facts[searcher].name);
  const size_t sharers = add_sharers(page, searcher, &names);
  TUTTI_TRY(context, tutti_text_take(&names, key));
  if (sharers == 0 || strlen(*key) <= ROOM)
    return TUTTI_OK;
  tutti_free(*key);
  return tutti_format(context, key, "%s and %zu more", page->facts[searcher].name, sharers);
}

static enum tutti_status plot_search(const struct report_page *page, size_t searcher, size_t line, size_t table,
                                     struct tutti_plot *plot) {
  char columns[64], with[64], *key;
  TUTTI_TRY(page->facts[searcher].context, name_search(page, searcher, &key));
  (void)snprintf(columns, sizeof columns, "($1==%zu?$2:NaN):3", searcher);
  (void)snprintf(with, sizeof with, "steps lw 1.8 dt %zu", line / 8 % 4 + 1);
  tutti_plot_series(plot, table, columns, with, (enum tutti_ink)(line % 8), key);
  tutti_free(key);
  return TUTTI_OK;
}

/* The numbers of a run; returns its best loss, NaN without one. */
static double put_search(const struct report_facts *facts, size_t run, struct tutti_table *table) {
  double best = NAN;
  for (uint64_t i = 0; i < facts->history->asked; i++) {
    const struct tutti_record *record = &facts->history->records[i];
    if (record->done && record->state == TUTTI_STATE_FINISHED && !(best <= record->loss))
      best = record->loss;
    const double numbers[] = {(double)run, (double)i, best};
    tutti_table_put_all(table, 3, numbers);
    tutti_table_put_text(table, facts->name);
  }
  return best;
}

/* Does a part of a search lie above the frame? Its first best loss is its worst. */
static bool is_above(const struct report_facts *facts, double frame) {
  for (uint64_t i = 0; i < facts->history->asked; i++)
    if (isfinite(facts->losses[i]))
      return facts->losses[i] > frame;
  return false;
}

/* Lines of the best loss so far, of those runs that minimise this one. *above: a part of a search is above the frame,
   which is that of the run that needs the highest. */
static enum tutti_status draw_searches_of(const struct report_page *page, struct report_figure *figure,
                                          enum tutti_loss loss, bool classes, bool *above) {
  const size_t number = figure->table_count;
  struct tutti_table *table = tutti_figure_table(figure, "run", "trial", "best so far", "name", NULL);
  struct tutti_plot *plot = tutti_figure_plot(figure, 900, 360 + 16 * (int)(page->runs / 3));
  double frame = -INFINITY;
  bool beyond = false;
  size_t lines = 0;
  table->parted = true;
  plot->ticks = TUTTI_TICKS_WHOLE;
  tutti_plot_text(plot, "xlabel", "trial");
  tutti_plot_text(plot, "ylabel", tutti_loss_names()[loss]);
  for (size_t run = 0; run < page->runs; run++)
    if (is_of(&page->facts[run], loss, classes))
      frame = fmax(frame, highest_best(&page->facts[run]));
  for (size_t run = 0; run < page->runs; run++) {
    if (!is_of(&page->facts[run], loss, classes))
      continue;
    const double best = put_search(&page->facts[run], run, table);
    beyond = beyond || is_above(&page->facts[run], frame);
    if (isfinite(best) && searcher_of(page, run) == run)
      TUTTI_TRY(figure->context, plot_search(page, run, lines++, number, plot));
  }
  plot->height = 360 + 16 * (int)(lines / 3);
  if (beyond)
    tutti_plot_set(plot, "set yrange [*:%.9g]", frame);
  *above = *above || beyond;
  return TUTTI_OK;
}

/* Which runs share a search: said, and below the charts a table with all names. */
static enum tutti_status put_shared(const struct report_page *page, struct report_figure *figure) {
  struct tutti_table *table = NULL;
  for (size_t run = 0; run < page->runs; run++) {
    struct tutti_text names = tutti_text_begin(figure->context);
    char *text;
    tutti_text_add(&names, "%s", page->facts[run].name);
    const bool shared = searcher_of(page, run) == run && add_sharers(page, run, &names) > 0;
    TUTTI_TRY(figure->context, tutti_text_take(&names, &text));
    if (shared && !table && figure->table_count < REPORT_MOST_TABLES)
      table = tutti_figure_table(figure, "search of", "runs that share it", NULL);
    if (shared && table) {
      tutti_table_put_text(table, page->facts[run].name);
      tutti_table_put_text(table, text);
    }
    tutti_free(text);
  }
  return table ? tutti_figure_note(figure, "Runs that share a search have one line; the last table has their names.")
               : TUTTI_OK;
}

/* Has the run minimised this loss, and has a trial of it finished? */
static bool has_searched(const struct report_facts *facts, enum tutti_loss loss, bool classes) {
  for (uint64_t i = 0; i < facts->history->asked && is_of(facts, loss, classes); i++)
    if (facts->history->records[i].done && facts->history->records[i].state == TUTTI_STATE_FINISHED)
      return true;
  return false;
}

/* Fits have neither searches nor ensembles. */
static bool all_fits(const struct report_page *page) {
  for (size_t run = 0; run < page->runs; run++)
    if (!tutti_experiment_is_fit(page->facts[run].experiment))
      return false;
  return true;
}

/* Losses of different kinds are not comparable, nor are those of classes and of values: each has its chart. */
static enum tutti_status draw_searches(const struct report_page *page, struct report_figure *figure) {
  bool above = false;
  if (all_fits(page))
    return tutti_figure_skip(figure);
  for (int kind = 0; kind < 2 * TUTTI_LOSS_COUNT; kind++) {
    enum tutti_loss loss = (enum tutti_loss)(kind / 2);
    bool classes = kind % 2, any = false;
    for (size_t run = 0; run < page->runs; run++)
      any = any || has_searched(&page->facts[run], loss, classes);
    if (any && figure->plot_count < REPORT_MOST_PLOTS)
      TUTTI_TRY(figure->context, draw_searches_of(page, figure, loss, classes, &above));
  }
  if (figure->plot_count == 0)
    return tutti_figure_missing(figure, "No trial has finished yet.");
  TUTTI_TRY(figure->context, put_shared(page, figure));
  if (above)
    TUTTI_TRY(figure->context,
              tutti_figure_note(figure,
                                "Where a search begins far from where it ends, its first steps are above the frame."));
  return figure->plot_count == 1 ? TUTTI_OK
                                 : tutti_figure_note(figure, "Runs that minimise another loss, or one of classes "
                                                             "beside one of values, have a chart of their own.");
}

static double result_of(const struct report_facts *facts, const char *metric, bool calibrated) {
  const json_t *split = facts->rows.split ? tutti_report_split(facts, facts->rows.split) : NULL;
  return tutti_report_metric(json_object_get(split, calibrated ? "calibrated" : "metrics"), metric);
}

/* Has any run the metric? Runs of classes have others than those of values, and a page may have both. */
static bool is_known(const struct report_page *page, const char *metric) {
  for (size_t run = 0; run < page->runs; run++)
    if (isfinite(result_of(&page->facts[run], metric, false)))
      return true;
  return false;
}

/* Does the calibrator of any run change the metric? */
static bool is_calibrated(const struct report_page *page, const char *metric) {
  for (size_t run = 0; run < page->runs; run++) {
    const double before = result_of(&page->facts[run], metric, false),
                 after = result_of(&page->facts[run], metric, true);
    if (isfinite(after) && !tutti_compare_is_rounding(before, after))
      return true;
  }
  return false;
}

static void head_of(struct tutti_table *table, const char *name, const char *of) {
  char head[64];
  (void)snprintf(head, sizeof head, "%s, %s", name, of);
  tutti_table_column(table, head);
}

/* Ensembles that were chosen before all trials of their search were done. */
static enum tutti_status note_behind(const struct report_page *page, struct report_figure *figure) {
  long long trials;
  for (size_t run = 0; run < page->runs; run++)
    if (tutti_report_is_behind(&page->facts[run], &trials))
      TUTTI_TRY(page->facts[run].context,
                tutti_figure_note(figure, "The ensemble of %s was chosen when %lld of its trials were done.",
                                  page->facts[run].name, trials));
  return TUTTI_OK;
}

static enum tutti_status draw_results(const struct report_page *page, struct report_figure *figure) {
  static const char *const metrics[] = {"nll",         "rmse", "error",     "calibration-error", "ece",
                                        "coverage-95", "auc",  "epistemic", "disagreement"};
  enum { METRICS = sizeof metrics / sizeof *metrics };
  bool before[METRICS], after[METRICS];
  if (all_fits(page))
    return tutti_figure_skip(figure);
  struct tutti_table *table = tutti_figure_table(figure, "run", "rows", "trials", "members", NULL);
  for (int loss = 0; loss < TUTTI_LOSS_COUNT; loss++)
    if (has_loss(page, (enum tutti_loss)loss))
      head_of(table, "best trial", tutti_loss_names()[loss]);
  for (size_t k = 0; k < METRICS; k++) {
    before[k] = is_known(page, metrics[k]);
    after[k] = is_calibrated(page, metrics[k]);
    if (before[k])
      tutti_table_column(table, metrics[k]);
    if (after[k])
      head_of(table, metrics[k], "calibrated");
  }
  tutti_table_column(table, "training (s)");
  for (size_t run = 0; run < page->runs; run++) {
    const struct report_facts *facts = &page->facts[run];
    tutti_table_put_text(table, facts->name);
    tutti_table_put_text(table, facts->rows.split ? facts->rows.split : "none");
    tutti_table_put(table, (double)facts->history->done);
    tutti_table_put(table, (double)facts->members);
    const double best = tutti_report_number(json_object_get(facts->status, "best"), "loss");
    for (int loss = 0; loss < TUTTI_LOSS_COUNT; loss++)
      if (has_loss(page, (enum tutti_loss)loss))
        tutti_table_put(table, facts->experiment->loss == (enum tutti_loss)loss ? best : NAN);
    for (size_t k = 0; k < METRICS; k++) {
      if (before[k])
        tutti_table_put(table, result_of(facts, metrics[k], false));
      if (after[k])
        tutti_table_put(table, result_of(facts, metrics[k], true));
    }
    tutti_table_put(table, tutti_report_number(facts->status, "training_seconds"));
  }
  return note_behind(page, figure);
}

/* "forward, 5": the values of the keys in which variants differ; - for a key that this one does not have. */
static enum tutti_status name_variant(tutti_context *context, const json_t *keys, const json_t *variant, char **name) {
  struct tutti_text out = tutti_text_begin(context);
  size_t index;
  json_t *key;
  json_array_foreach(keys, index, key) {
    const char *value =
        json_string_value(json_object_get(json_object_get(variant, "settings"), json_string_value(key)));
    tutti_text_add(&out, "%s%s", index ? ", " : "", value ? value : "-");
  }
  if (json_array_size(keys) == 0)
    tutti_text_add(&out, "all runs");
  return tutti_text_take(&out, name);
}

/* A label beside an axis, which leaves room for the picture. A longer name is cut and has its number, since others may
   begin as it does; the table has all of it, in the same order. */
static void shorten(size_t number, const char *name, char label[LABEL_ROOM]) {
  enum { KEPT = LABEL_ROOM - 10 };
  size_t kept = KEPT;
  if (strlen(name) <= KEPT) {
    (void)strcpy(label, name);
    return;
  }
  while (((unsigned char)name[kept] & 0xC0) == 0x80) /* between two characters, not in one */
    kept--;
  (void)snprintf(label, LABEL_ROOM, "%zu. %.*s...", number % 1000, (int)kept, name);
}

/* On several data sets, whose figures have nothing to do with each other, variants are ranked, and each set has a
   column. */
static enum tutti_status put_standing(tutti_context *context, const json_t *comparison, const json_t *metric,
                                      struct report_figure *figure) {
  const json_t *variants = json_object_get(comparison, "variants"), *variant,
               *sets = json_object_get(comparison, "data_sets"), *of_set;
  size_t index, set, count = json_array_size(variants), number = figure->table_count;
  bool several = json_array_size(sets) > 1;
  const char *name = json_string_value(json_object_get(metric, "name"));
  struct tutti_table *table =
      tutti_figure_table(figure, "variant", "place", "runs", "mean rank", several ? NULL : name, NULL);
  struct tutti_plot *plot = tutti_figure_plot(figure, 560, 90 + 24 * (int)(count < 40 ? count : 40));
  if (several)
    json_array_foreach(sets, set, of_set) tutti_table_column(table, json_string_value(json_object_get(of_set, "name")));
  else
    tutti_table_column(table, "standard error");
  tutti_plot_set(plot, "unset key\nset ytics scale 0 ()\nset yrange [%g:-0.6]", (double)count - 0.4);
  char label[LABEL_ROOM];
  (void)snprintf(label, sizeof label, "%s%s", several ? "mean rank in " : "", name);
  tutti_plot_text(plot, "xlabel", label);
  json_array_foreach(variants, index, variant) {
    const json_t *placing = json_array_get(json_object_get(metric, "placings"), index);
    char *settings;
    TUTTI_TRY(context, name_variant(context, json_object_get(comparison, "keys"), variant, &settings));
    tutti_table_put_text(table, settings);
    shorten(index + 1, settings, label);
    tutti_plot_tick(plot, 'y', (double)index, label);
    tutti_free(settings);
    double error = tutti_report_number(placing, "error");
    const double numbers[] = {(double)index, tutti_report_number(placing, "count"),
                              tutti_report_number(placing, "rank")};
    tutti_table_put_all(table, 3, numbers);
    if (several) {
      json_array_foreach(json_object_get(metric, "data_sets"), set, of_set)
          tutti_table_put(table, tutti_report_number(json_array_get(of_set, index), "mean"));
    } else {
      tutti_table_put(table, tutti_report_number(placing, "mean"));
      tutti_table_put(table, isfinite(error) ? error : 0);
    }
  }
  if (several)
    tutti_plot_series(plot, number, "4:2", "points pt 7 ps 0.7", 0, NULL);
  else
    tutti_plot_series(plot, number, "5:2:6", "xerrorbars pt 7 ps 0.7 lw 1.5", 0, NULL);
  return TUTTI_OK;
}

/* The label of a run that a comparison names. */
static const char *label_of(const struct report_runs *runs, const char *directory) {
  for (size_t i = 0; i < runs->count; i++)
    if (strcmp(runs->paths[i], directory) == 0)
      return runs->labels[i];
  return directory;
}

static enum tutti_status note_left_out(const json_t *comparison, const struct report_runs *runs,
                                       struct report_figure *figure) {
  enum { NAMED = 3 };
  const json_t *left_out = json_object_get(comparison, "left_out"), *run;
  size_t index, count = json_array_size(left_out);
  json_array_foreach(left_out, index, run) if (index < NAMED)
      TUTTI_TRY(figure->context, tutti_figure_note(figure, "%s is left out: %s.",
                                                   label_of(runs, json_string_value(json_object_get(run, "run"))),
                                                   json_string_value(json_object_get(run, "reason"))));
  return count <= NAMED
             ? TUTTI_OK
             : tutti_figure_note(figure, "%zu more are left out; tutti compare has the reasons.", count - NAMED);
}

static enum tutti_status draw_standings(tutti_context *context, const struct report_runs *runs,
                                        const struct report_page *page, struct report_figure *figure) {
  const struct tutti_compare_options options = {.size = sizeof options};
  char *text = NULL;
  json_t *comparison, *metric;
  size_t index;
  enum tutti_status status = tutti_compare(context, runs->given, runs->directories, &options, &text);
  if (status == TUTTI_ERROR_USAGE) {
    status = tutti_figure_missing(figure, "%s", tutti_error_message(context));
    tutti_error_clear(context);
    return status;
  }
  TUTTI_TRY(context, status);
  comparison = json_loads(text, 0, NULL);
  tutti_free(text);
  size_t sets = json_array_size(json_object_get(comparison, "data_sets"));
  if (sets > 1 && json_array_size(json_object_get(comparison, "variants")) == 1) {
    json_decref(comparison);
    return tutti_figure_missing(figure, "The runs differ in their data alone, %zu sets: none can be ahead.", sets);
  }
  json_array_foreach(json_object_get(comparison, "metrics"), index, metric) {
    if (status == TUTTI_OK && figure->plot_count < MOST_METRICS && json_is_true(json_object_get(metric, "brief")))
      status = put_standing(context, comparison, metric, figure);
  }
  if (status == TUTTI_OK)
    status = note_left_out(comparison, runs, figure);
  json_decref(comparison);
  return status;
}

enum tutti_status tutti_report_together(tutti_context *context, const struct report_runs *runs,
                                        struct report_page *page) {
  static const struct report_chart *const charts[FIGURES] = {&results, &standings, &searches};
  if (page->runs < 2)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_alloc(context, FIGURES, sizeof *page->together, &page->together));
  for (size_t i = 0; i < FIGURES; i++)
    page->together[i] = (struct report_figure){.context = context, .chart = charts[i]};
  page->together_count = FIGURES;
  TUTTI_TRY(context, draw_results(page, &page->together[0]));
  TUTTI_TRY(context, draw_standings(context, runs, page, &page->together[1]));
  return draw_searches(page, &page->together[2]);
}
