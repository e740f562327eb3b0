/* show_comparison.c - runs that were compared, for people: a table of means, then ranks, wins and tests of each
   metric. */
#include "program_impl.h"
#include "table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/compare.h>

enum { NAME_SIZE = 8, CELL_SIZE = 64, WIDEST_SETTING = 36, MOST_SHOWN = 128 };

/* Metrics that are shown: pointers into the comparison. */
struct shown {
  size_t count;
  const json_t *metrics[MOST_SHOWN];
};

/* A, B, ..., Z, AA, AB, ... */
static const char *letter(size_t index, char name[NAME_SIZE]) {
  char reversed[NAME_SIZE];
  size_t length = 0;
  for (size_t rest = index + 1; rest > 0 && length < NAME_SIZE - 1; rest = (rest - 1) / 26)
    reversed[length++] = (char)('A' + (rest - 1) % 26);
  for (size_t i = 0; i < length; i++)
    name[i] = reversed[length - 1 - i];
  name[length] = '\0';
  return name;
}

/* --- which metrics --- */

static bool unknown_metric(const json_t *comparison, const char *name) {
  const json_t *metrics = json_object_get(comparison, "metrics");
  const char *names[MOST_SHOWN];
  size_t count = 0;
  for (; count < json_array_size(metrics) && count < MOST_SHOWN; count++)
    names[count] = text_of(json_array_get(metrics, count), "name");
  const char *closest = tutti_closest_name(name, count, names);
  (void)fprintf(stderr, "tutti: --metric: there is no metric '%s'%s%s%s; these runs have:", name,
                closest ? "; did you mean '" : "", closest ? closest : "", closest ? "'?" : "");
  for (size_t i = 0; i < count; i++)
    (void)fprintf(stderr, "%s %s", i ? "," : "", names[i]);
  (void)fputc('\n', stderr);
  return false;
}

static void show_this(struct shown *shown, const json_t *metric) {
  if (metric && shown->count < MOST_SHOWN)
    shown->metrics[shown->count++] = metric;
}

static bool choose_metrics(const json_t *comparison, const struct texts *wanted, struct shown *shown) {
  const json_t *metrics = json_object_get(comparison, "metrics");
  shown->count = 0;
  for (size_t i = 0; i < wanted->count; i++) {
    const json_t *metric = metric_of(json_object_get(comparison, "metrics"), wanted->items[i]);
    if (!metric)
      return unknown_metric(comparison, wanted->items[i]);
    show_this(shown, metric);
  }
  for (size_t i = 0; wanted->count == 0 && i < json_array_size(metrics); i++)
    if (json_is_true(json_object_get(json_array_get(metrics, i), "brief")))
      show_this(shown, json_array_get(metrics, i));
  if (shown->count == 0)
    show_this(shown, metric_of(json_object_get(comparison, "metrics"), "best-trial"));
  return true;
}

/* Is there no pair? Then ranks, shares and tests would be dashes. */
static bool is_unpaired(const json_t *comparison) { return json_object_get(comparison, "unpaired") != NULL; }

/* --- means --- */

/* A value of a recipe, shortened; for a path, its last part. */
static const char *setting_text(const json_t *variant, const char *key, char *text) {
  const char *value = json_string_value(json_object_get(json_object_get(variant, "settings"), key));
  const char *slash = value && *value == '/' ? strrchr(value, '/') : NULL;
  if (!value)
    return "-";
  value = slash && slash[1] ? slash + 1 : value;
  (void)snprintf(text, CELL_SIZE, "%.*s%s", WIDEST_SETTING - 3, value, strlen(value) > WIDEST_SETTING ? "..." : "");
  return strlen(value) > WIDEST_SETTING ? text : value;
}

/* Where a metric stands among those of a data set. */
static const json_t *placing_at(const json_t *metric, size_t data_set, size_t variant) {
  return json_array_get(json_array_get(json_object_get(metric, "data_sets"), data_set), variant);
}

/* From how many seeds most of its means are: some metric may have no value in some runs, as nll without a variance. */
static long long most_of(const struct shown *shown, size_t data_set, size_t variant) {
  long long most = 0;
  for (size_t m = 0; m < shown->count; m++) {
    const long long count = count_of(placing_at(shown->metrics[m], data_set, variant), "count");
    most = count > most ? count : most;
  }
  return most;
}

/* A mean of other than n seeds says of how many. */
static void put_mean(const json_t *placing, long long n, struct table *table) {
  char mean[32], error[32] = "", seeds[32] = "";
  const long long count = count_of(placing, "count");
  if (isfinite(number_of(placing, "error")))
    (void)snprintf(error, sizeof error, " (%.2g)", number_of(placing, "error"));
  if (count > 0 && count < n)
    (void)snprintf(seeds, sizeof seeds, ", n %lld", count);
  table_cell(table, "%s%s%s", show_number(number_of(placing, "mean"), mean), error, seeds);
}

/* One line a variant, one column a metric: means on one data set. */
static void show_means(const json_t *comparison, const struct shown *shown, size_t data_set, FILE *out) {
  const json_t *keys = json_object_get(comparison, "keys");
  struct table table = table_begin(1);
  size_t index, k;
  json_t *variant, *key;
  table_column(&table, TABLE_TEXT, "");
  json_array_foreach(keys, k, key) table_column(&table, TABLE_TEXT, json_string_value(key));
  table_column(&table, TABLE_NUMBER, "n");
  for (size_t m = 0; m < shown->count; m++)
    table_column(&table, TABLE_TEXT, text_of(shown->metrics[m], "name"));
  json_array_foreach(json_object_get(comparison, "variants"), index, variant) {
    char name[NAME_SIZE], text[CELL_SIZE];
    table_cell(&table, "%s", letter(index, name));
    json_array_foreach(keys, k, key) table_cell(&table, "%s", setting_text(variant, json_string_value(key), text));
    const long long n = most_of(shown, data_set, index);
    table_cell(&table, "%lld", n);
    for (size_t m = 0; m < shown->count; m++)
      put_mean(placing_at(shown->metrics[m], data_set, index), n, &table);
  }
  table_end(&table, out);
}

static void show_all_means(const json_t *comparison, const struct shown *shown, FILE *out) {
  size_t index;
  json_t *data_set;
  (void)fprintf(out, "Means over seeds, with standard errors\n");
  json_array_foreach(json_object_get(comparison, "data_sets"), index, data_set) {
    (void)fprintf(out, "\n  %s\n", text_of(data_set, "name"));
    show_means(comparison, shown, index, out);
  }
}

/* --- ranks, wins, tests --- */

/* The duel of two variants in an array of duels; NULL for a variant and itself. */
static const json_t *find_duel(const json_t *duels, size_t one, size_t other) {
  size_t index;
  json_t *duel;
  json_array_foreach(duels, index, duel) {
    size_t a = (size_t)count_of(duel, "one"), b = (size_t)count_of(duel, "other");
    if ((a == one && b == other) || (a == other && b == one))
      return duel;
  }
  return NULL;
}

static bool is_turned(const json_t *duel, size_t one) { return duel && (size_t)count_of(duel, "one") != one; }

/* A share or probability of `one`, with its significance. */
static void put_share(double share, const char *mark, struct table *table) {
  if (isfinite(share))
    table_cell(table, "%.2f%s", share, mark);
  else
    table_cell(table, "-");
}

static void put_frequency(const json_t *duels, size_t one, size_t other, struct table *table) {
  const json_t *duel = find_duel(duels, one, other);
  double frequency = number_of(duel, "frequency");
  bool turned = is_turned(duel, one);
  uint64_t wins = (uint64_t)count_of(duel, turned ? "losses" : "wins"),
           losses = (uint64_t)count_of(duel, turned ? "wins" : "losses");
  double p = duel ? tutti_sign_test_one_sided(wins, losses) : 1;
  put_share(turned ? 1 - frequency : frequency, p <= 0.05 ? "**" : p <= 0.1 ? "*" : "", table);
}

/* A number, or a dash. */
static void put_number(double value, const char *format, struct table *table) {
  char text[CELL_SIZE] = "-";
  if (isfinite(value))
    (void)snprintf(text, sizeof text, format, value);
  table_cell(table, "%s", text);
}

/* A column for each variant, under the name of what is of them all. */
static void variant_columns(struct table *table, enum table_kind kind, const char *group, size_t variants) {
  char name[NAME_SIZE];
  table_group(table, group);
  for (size_t v = 0; v < variants; v++)
    table_column(table, kind, letter(v, name));
}

/* The columns of a variant and its ranks. */
static void rank_columns(struct table *table) {
  table_column(table, TABLE_TEXT, "");
  table_column(table, TABLE_NUMBER, "rank");
  table_column(table, TABLE_NUMBER, "expected");
}

static void put_ranks(const json_t *placing, size_t variant, struct table *table) {
  char name[NAME_SIZE];
  table_cell(table, "%s", letter(variant, name));
  put_number(number_of(placing, "rank"), "%.2f", table);
  put_number(number_of(placing, "expected_rank"), "%.2f", table);
}

static void show_metric_duels(const json_t *comparison, const json_t *metric, FILE *out) {
  const json_t *placings = json_object_get(metric, "placings"), *duels = json_object_get(metric, "duels");
  size_t variants = json_array_size(json_object_get(comparison, "variants"));
  long long ranked = count_of(json_array_get(placings, 0), "ranked");
  struct table table = table_begin(1);
  (void)fprintf(out, "\n%s (%s is better): mean rank over %lld %s\n\n", text_of(metric, "name"),
                text_of(metric, "better"), ranked, tutti_plural((size_t)ranked, "block", "blocks"));
  rank_columns(&table);
  variant_columns(&table, TABLE_TEXT, "won", variants);
  variant_columns(&table, TABLE_NUMBER, "p", variants);
  for (size_t v = 0; v < variants; v++) {
    put_ranks(json_array_get(placings, v), v, &table);
    for (size_t w = 0; w < variants; w++)
      put_frequency(duels, v, w, &table);
    for (size_t w = 0; w < variants; w++)
      put_number(number_of(find_duel(duels, v, w), "p"), "%.2g", &table);
  }
  table_end(&table, out);
}

/* Those of each metric, and once what the columns are. */
static void show_duels(const json_t *comparison, const struct shown *shown, FILE *out) {
  bool any = false;
  for (size_t m = 0; m < shown->count && json_array_size(json_object_get(comparison, "variants")) > 1; m++)
    if (json_array_size(json_object_get(shown->metrics[m], "duels")) > 0) {
      show_metric_duels(comparison, shown->metrics[m], out);
      any = true;
    }
  if (any)
    (void)fprintf(out, "\nexpected: the rank if ties take the worst of their places; won: share of blocks, with a "
                       "one-sided sign test (* p <= .1, ** p <= .05); p: of the two-sided sign test\n");
}

/* --- rows that only one gets wrong --- */

static void put_better(const json_t *duels, size_t one, size_t other, struct table *table) {
  const json_t *duel = find_duel(duels, one, other);
  double better = number_of(duel, "better");
  better = is_turned(duel, one) ? 1 - better : better;
  put_share(better, better > 0.9 ? "**" : better > 0.8 ? "*" : "", table);
}

static void show_rows(const json_t *comparison, FILE *out) {
  const json_t *duels = json_object_get(comparison, "rows");
  size_t variants = json_array_size(json_object_get(comparison, "variants"));
  struct table table = table_begin(1);
  char name[NAME_SIZE];
  if (json_array_size(duels) == 0)
    return;
  (void)fprintf(out, "\nRows that only one gets wrong (regression: worse): Poisson-binomial test, probability of being "
                     "better on most data sets (* > .8, ** > .9)\n\n");
  table_column(&table, TABLE_TEXT, "");
  variant_columns(&table, TABLE_TEXT, NULL, variants);
  for (size_t v = 0; v < variants; v++) {
    table_cell(&table, "%s", letter(v, name));
    for (size_t w = 0; w < variants; w++)
      put_better(duels, v, w, &table);
  }
  table_end(&table, out);
}

/* --- over time --- */

static bool is_shown(const struct shown *shown, const char *name) {
  bool wanted = strcmp(name, "best-trial") == 0;
  for (size_t m = 0; m < shown->count; m++)
    wanted = wanted || strcmp(text_of(shown->metrics[m], "name"), name) == 0;
  return wanted;
}

/* A column for each number of trials. */
static void trials_columns(struct table *table, enum table_kind kind, const json_t *trials) {
  size_t index;
  json_t *count;
  json_array_foreach(trials, index, count) {
    char text[32];
    (void)snprintf(text, sizeof text, "%lld", (long long)json_integer_value(count));
    table_column(table, kind, text);
  }
}

static void show_course(const json_t *comparison, const json_t *trials, const json_t *metric, FILE *out) {
  size_t index, variants = json_array_size(json_object_get(comparison, "variants"));
  struct table table = table_begin(1);
  json_t *placings;
  char name[NAME_SIZE];
  (void)fprintf(out, "\n%s (%s is better): expected rank after so many trials\n\n", text_of(metric, "name"),
                text_of(metric, "better"));
  table_column(&table, TABLE_TEXT, "");
  trials_columns(&table, TABLE_NUMBER, trials);
  for (size_t v = 0; v < variants; v++) {
    table_cell(&table, "%s", letter(v, name));
    json_array_foreach(json_object_get(metric, "placings"), index, placings)
        put_number(number_of(json_array_get(placings, v), "expected_rank"), "%.2f", &table);
  }
  table_end(&table, out);
}

/* The tests on rows, a line for each pair, a column for each number of trials. */
static void show_rows_course(const json_t *comparison, const json_t *time, FILE *out) {
  const json_t *steps = json_object_get(time, "rows");
  size_t index, variants = json_array_size(json_object_get(comparison, "variants"));
  struct table table = table_begin(1);
  json_t *duels;
  char one[NAME_SIZE], other[NAME_SIZE];
  if (json_array_size(json_array_get(steps, json_array_size(steps) - 1)) == 0)
    return;
  (void)fprintf(out, "\nPoisson-binomial test on rows: probability after so many trials (* > .8, ** > .9)\n\n");
  table_column(&table, TABLE_TEXT, "");
  trials_columns(&table, TABLE_TEXT, json_object_get(time, "trials"));
  for (size_t v = 0; v < variants; v++)
    for (size_t w = 0; w < variants; w++) {
      if (v == w)
        continue;
      table_cell(&table, "%s > %s", letter(v, one), letter(w, other));
      json_array_foreach(steps, index, duels) put_better(duels, v, w, &table);
    }
  table_end(&table, out);
}

static void show_courses(const json_t *comparison, const struct shown *shown, FILE *out) {
  const json_t *time = json_object_get(comparison, "over_time");
  size_t index;
  json_t *metric;
  json_array_foreach(json_object_get(time, "metrics"), index, metric) {
    if (is_shown(shown, text_of(metric, "name")) && strcmp(text_of(metric, "better"), "neither") != 0)
      show_course(comparison, json_object_get(time, "trials"), metric, out);
  }
  show_rows_course(comparison, time, out);
}

/* --- means over the last trials --- */

/* The mean p of a sign test for `one`. */
static double mean_p(const json_t *duel, size_t one) {
  return number_of(duel, is_turned(duel, one) ? "p_other" : "p_one");
}

static void show_last_heading(const json_t *metric, const json_t *trials, FILE *out) {
  const long long first = (long long)json_integer_value(json_array_get(trials, 0)),
                  last = (long long)json_integer_value(json_array_get(trials, json_array_size(trials) - 1));
  char from[32] = "";
  if (first < last)
    (void)snprintf(from, sizeof from, "%lld to ", first);
  (void)fprintf(out, "\n%s (%s is better), means after %s%lld %s\n\n", text_of(metric, "name"),
                text_of(metric, "better"), from, last, tutti_plural((size_t)last, "trial", "trials"));
}

static void show_last_metric(const json_t *comparison, const json_t *last, const json_t *metric, FILE *out) {
  const json_t *duels = json_object_get(metric, "duels");
  size_t variants = json_array_size(json_object_get(comparison, "variants"));
  struct table table = table_begin(1);
  show_last_heading(metric, json_object_get(last, "trials"), out);
  rank_columns(&table);
  variant_columns(&table, TABLE_TEXT, "won", variants);
  variant_columns(&table, TABLE_TEXT, "better", variants);
  for (size_t v = 0; v < variants; v++) {
    put_ranks(json_array_get(json_object_get(metric, "placings"), v), v, &table);
    for (size_t w = 0; w < variants; w++) {
      const json_t *duel = find_duel(duels, v, w);
      double frequency = number_of(duel, "frequency"), p = mean_p(duel, v);
      put_share(is_turned(duel, v) ? 1 - frequency : frequency, p <= 0.05 ? "**" : p <= 0.1 ? "*" : "", &table);
    }
    for (size_t w = 0; w < variants; w++)
      put_better(json_object_get(last, "rows"), v, w, &table);
  }
  table_end(&table, out);
}

static void show_last(const json_t *comparison, const struct shown *shown, FILE *out) {
  const json_t *last = json_object_get(comparison, "last");
  bool any = false;
  for (size_t m = 0; m < shown->count; m++) {
    const json_t *metric = metric_of(json_object_get(last, "metrics"), text_of(shown->metrics[m], "name"));
    if (json_array_size(json_object_get(metric, "duels")) > 0) {
      show_last_metric(comparison, last, metric, out);
      any = true;
    }
  }
  if (any)
    (void)fprintf(out, "\nexpected: the rank if ties take the worst of their places; won: share of blocks, with a "
                       "one-sided sign test (* p <= .1, ** p <= .05); better: probability by the Poisson-binomial test "
                       "on rows (* > .8, ** > .9)\n");
}

/* --- all of it --- */

static void show_counts(const json_t *comparison, FILE *out) {
  size_t runs = json_array_size(json_object_get(comparison, "runs")),
         variants = json_array_size(json_object_get(comparison, "variants")),
         data_sets = json_array_size(json_object_get(comparison, "data_sets")),
         blocks = json_array_size(json_object_get(comparison, "blocks"));
  (void)fprintf(out, "%zu %s: %zu %s, %zu data %s, %zu %s (a data set and a seed); %s rows\n\n", runs,
                tutti_plural(runs, "run", "runs"), variants, tutti_plural(variants, "variant", "variants"), data_sets,
                tutti_plural(data_sets, "set", "sets"), blocks, tutti_plural(blocks, "block", "blocks"),
                text_of(comparison, "split"));
  if (is_unpaired(comparison))
    (void)fprintf(out, "%s\n\n", text_of(comparison, "unpaired"));
}

static void show_left_out(const json_t *comparison, FILE *out) {
  size_t index;
  json_t *entry;
  if (json_array_size(json_object_get(comparison, "left_out")) > 0)
    (void)fprintf(out, "\nLeft out\n");
  json_array_foreach(json_object_get(comparison, "left_out"), index, entry)(void)
      fprintf(out, "  %s: %s\n", text_of(entry, "run"), text_of(entry, "reason"));
  json_array_foreach(json_object_get(comparison, "warnings"), index, entry)(void)
      fprintf(stderr, "tutti: warning: %s\n", json_string_value(entry));
}

bool show_comparison(const json_t *comparison, const struct texts *metrics, FILE *out) {
  struct shown shown = {0};
  if (!choose_metrics(comparison, metrics, &shown))
    return false;
  show_counts(comparison, out);
  show_all_means(comparison, &shown, out);
  if (!is_unpaired(comparison))
    show_duels(comparison, &shown, out);
  show_rows(comparison, out);
  show_courses(comparison, &shown, out);
  show_last(comparison, &shown, out);
  show_left_out(comparison, out);
  return true;
}
