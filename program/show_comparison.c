/* show_comparison.c - runs that were compared, for people: a table of means, then ranks, wins and tests of each
   metric. */
#include "program_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/compare.h>

enum { NAME_SIZE = 8, CELL_SIZE = 64, MEAN_WIDTH = 20, WIDEST_SETTING = 36, MOST_SHOWN = 64 };

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
    if (tutti_metric_shown_in(text_of(json_array_get(metrics, i), "name")) == TUTTI_METRIC_IN_BRIEF)
      show_this(shown, json_array_get(metrics, i));
  if (shown->count == 0)
    show_this(shown, metric_of(json_object_get(comparison, "metrics"), "best-trial"));
  return true;
}

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

static int setting_width(const json_t *comparison, const char *key) {
  size_t index, width = strlen(key);
  json_t *variant;
  json_array_foreach(json_object_get(comparison, "variants"), index, variant) {
    char text[CELL_SIZE];
    size_t length = strlen(setting_text(variant, key, text));
    width = length > width ? length : width;
  }
  return (int)width;
}

/* The columns that describe a variant; their headings if the variant is NULL. */
static void show_settings(const json_t *comparison, size_t index, const json_t *variant, FILE *out) {
  size_t k;
  json_t *key;
  char name[NAME_SIZE], text[CELL_SIZE];
  (void)fprintf(out, "  %-3s", variant ? letter(index, name) : "");
  json_array_foreach(json_object_get(comparison, "keys"), k, key) {
    const char *of = json_string_value(key);
    (void)fprintf(out, " %-*s ", setting_width(comparison, of), variant ? setting_text(variant, of, text) : of);
  }
}

static void show_mean(const json_t *placing, bool last, FILE *out) {
  char mean[32], cell[CELL_SIZE];
  double error = number_of(placing, "error");
  if (isfinite(error))
    (void)snprintf(cell, sizeof cell, "%s (%.2g)", show_number(number_of(placing, "mean"), mean), error);
  else
    (void)snprintf(cell, sizeof cell, "%s", show_number(number_of(placing, "mean"), mean));
  (void)fprintf(out, "  %-*s", last ? 0 : MEAN_WIDTH, cell);
}

/* One line a variant, one column a metric: means on one data set. */
static void show_means(const json_t *comparison, const struct shown *shown, size_t data_set, FILE *out) {
  size_t index;
  json_t *variant;
  show_settings(comparison, 0, NULL, out);
  (void)fprintf(out, " %4s", "n");
  for (size_t m = 0; m < shown->count; m++)
    (void)fprintf(out, "  %-*s", m + 1 < shown->count ? MEAN_WIDTH : 0, text_of(shown->metrics[m], "name"));
  (void)fputc('\n', out);
  json_array_foreach(json_object_get(comparison, "variants"), index, variant) {
    const json_t *first = json_array_get(json_object_get(shown->metrics[0], "data_sets"), data_set);
    show_settings(comparison, index, variant, out);
    (void)fprintf(out, " %4lld", count_of(json_array_get(first, index), "count"));
    for (size_t m = 0; m < shown->count; m++)
      show_mean(json_array_get(json_array_get(json_object_get(shown->metrics[m], "data_sets"), data_set), index),
                m + 1 == shown->count, out);
    (void)fputc('\n', out);
  }
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
static void show_share(double share, const char *mark, FILE *out) {
  if (isfinite(share))
    (void)fprintf(out, " %6.2f%-2s", share, mark);
  else
    (void)fprintf(out, " %6s  ", "-");
}

static void show_frequency(const json_t *duels, size_t one, size_t other, FILE *out) {
  const json_t *duel = find_duel(duels, one, other);
  double frequency = number_of(duel, "frequency");
  bool turned = is_turned(duel, one);
  uint64_t wins = (uint64_t)count_of(duel, turned ? "losses" : "wins"),
           losses = (uint64_t)count_of(duel, turned ? "wins" : "losses");
  double p = duel ? tutti_sign_test_one_sided(wins, losses) : 1;
  show_share(turned ? 1 - frequency : frequency, p <= 0.05 ? "**" : p <= 0.1 ? "*" : "", out);
}

static void show_p(const json_t *duels, size_t one, size_t other, FILE *out) {
  double p = number_of(find_duel(duels, one, other), "p");
  if (isfinite(p))
    (void)fprintf(out, " %7.2g", p);
  else
    (void)fprintf(out, " %7s", "-");
}

/* A column of ranks or a dash. */
static void show_rank(const json_t *placing, const char *figure, FILE *out) {
  double rank = number_of(placing, figure);
  if (isfinite(rank))
    (void)fprintf(out, " %8.2f", rank);
  else
    (void)fprintf(out, " %8s", "-");
}

static void show_duels(const json_t *comparison, const json_t *metric, FILE *out) {
  const json_t *placings = json_object_get(metric, "placings"), *duels = json_object_get(metric, "duels");
  size_t variants = json_array_size(json_object_get(comparison, "variants"));
  char name[NAME_SIZE];
  long long ranked = count_of(json_array_get(placings, 0), "ranked");
  (void)fprintf(
      out,
      "\n%s (%s is better): mean rank over %lld %s, expected rank (ties take the worst of their places); share "
      "of blocks won (one-sided sign test: * p <= .1, ** p <= .05); p of the two-sided sign test\n\n",
      text_of(metric, "name"), text_of(metric, "better"), ranked, tutti_plural((size_t)ranked, "block", "blocks"));
  (void)fprintf(out, "  %-3s %8s %8s  |", "", "rank", "expected");
  for (size_t v = 0; v < variants; v++)
    (void)fprintf(out, " %6s  ", letter(v, name));
  (void)fprintf(out, "  |");
  for (size_t v = 0; v < variants; v++)
    (void)fprintf(out, " %7s", letter(v, name));
  (void)fputc('\n', out);
  for (size_t v = 0; v < variants; v++) {
    const json_t *placing = json_array_get(placings, v);
    (void)fprintf(out, "  %-3s", letter(v, name));
    show_rank(placing, "rank", out);
    show_rank(placing, "expected_rank", out);
    (void)fprintf(out, "  |");
    for (size_t w = 0; w < variants; w++)
      show_frequency(duels, v, w, out);
    (void)fprintf(out, "  |");
    for (size_t w = 0; w < variants; w++)
      show_p(duels, v, w, out);
    (void)fputc('\n', out);
  }
}

/* --- rows that only one gets wrong --- */

static void show_better(const json_t *duels, size_t one, size_t other, FILE *out) {
  const json_t *duel = find_duel(duels, one, other);
  double better = number_of(duel, "better");
  better = is_turned(duel, one) ? 1 - better : better;
  show_share(better, better > 0.9 ? "**" : better > 0.8 ? "*" : "", out);
}

static void show_rows(const json_t *comparison, FILE *out) {
  const json_t *duels = json_object_get(comparison, "rows");
  size_t variants = json_array_size(json_object_get(comparison, "variants"));
  char name[NAME_SIZE];
  if (json_array_size(duels) == 0)
    return;
  (void)fprintf(
      out,
      "\nRows that only one gets wrong (regression: worse): Poisson-binomial test, probability of being better "
      "on most data sets (* > .8, ** > .9)\n\n  %-3s",
      "");
  for (size_t v = 0; v < variants; v++)
    (void)fprintf(out, " %6s  ", letter(v, name));
  (void)fputc('\n', out);
  for (size_t v = 0; v < variants; v++) {
    (void)fprintf(out, "  %-3s", letter(v, name));
    for (size_t w = 0; w < variants; w++)
      show_better(duels, v, w, out);
    (void)fputc('\n', out);
  }
}

/* --- over time --- */

static bool is_shown(const struct shown *shown, const char *name) {
  bool wanted = strcmp(name, "best-trial") == 0;
  for (size_t m = 0; m < shown->count; m++)
    wanted = wanted || strcmp(text_of(shown->metrics[m], "name"), name) == 0;
  return wanted;
}

static void show_course(const json_t *comparison, const json_t *trials, const json_t *metric, FILE *out) {
  size_t index, variants = json_array_size(json_object_get(comparison, "variants"));
  json_t *count, *placings;
  char name[NAME_SIZE];
  (void)fprintf(out, "\n%s (%s is better): expected rank after so many trials\n\n  %-3s", text_of(metric, "name"),
                text_of(metric, "better"), "");
  json_array_foreach(trials, index, count)(void) fprintf(out, " %8lld", (long long)json_integer_value(count));
  (void)fputc('\n', out);
  for (size_t v = 0; v < variants; v++) {
    (void)fprintf(out, "  %-3s", letter(v, name));
    json_array_foreach(json_object_get(metric, "placings"), index, placings) {
      show_rank(json_array_get(placings, v), "expected_rank", out);
    }
    (void)fputc('\n', out);
  }
}

/* The tests on rows, a line for each pair, a column for each number of trials. */
static void show_rows_course(const json_t *comparison, const json_t *time, FILE *out) {
  const json_t *steps = json_object_get(time, "rows");
  size_t index, variants = json_array_size(json_object_get(comparison, "variants"));
  json_t *count, *duels;
  char one[NAME_SIZE], other[NAME_SIZE];
  if (json_array_size(json_array_get(steps, json_array_size(steps) - 1)) == 0)
    return;
  (void)fprintf(out, "\nPoisson-binomial test on rows: probability after so many trials (* > .8, ** > .9)\n\n  %-7s",
                "");
  json_array_foreach(json_object_get(time, "trials"), index, count)(void)
      fprintf(out, " %6lld  ", (long long)json_integer_value(count));
  (void)fputc('\n', out);
  for (size_t v = 0; v < variants; v++)
    for (size_t w = 0; w < variants; w++) {
      if (v == w)
        continue;
      (void)fprintf(out, "  %-2s > %-2s", letter(v, one), letter(w, other));
      json_array_foreach(steps, index, duels) { show_better(duels, v, w, out); }
      (void)fputc('\n', out);
    }
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

static void show_last_heading(const json_t *metric, const json_t *trials, size_t variants, FILE *out) {
  const long long first = (long long)json_integer_value(json_array_get(trials, 0)),
                  last = (long long)json_integer_value(json_array_get(trials, json_array_size(trials) - 1));
  char name[NAME_SIZE], from[32] = "";
  if (first < last)
    (void)snprintf(from, sizeof from, "%lld to ", first);
  (void)fprintf(out,
                "\n%s (%s is better), means after %s%lld %s: rank, expected rank; share of blocks won (one-sided sign "
                "test: * p <= .1, ** p <= .05); Poisson-binomial test on rows (* > .8, ** > .9)\n\n  %-3s %8s %8s  |",
                text_of(metric, "name"), text_of(metric, "better"), from, last,
                tutti_plural((size_t)last, "trial", "trials"), "", "rank", "expected");
  for (size_t v = 0; v < 2 * variants; v++)
    (void)fprintf(out, "%s %6s  ", v == variants ? "  |" : "", letter(v % variants, name));
  (void)fputc('\n', out);
}

static void show_last_metric(const json_t *comparison, const json_t *last, const json_t *metric, FILE *out) {
  const json_t *duels = json_object_get(metric, "duels");
  size_t variants = json_array_size(json_object_get(comparison, "variants"));
  char name[NAME_SIZE];
  show_last_heading(metric, json_object_get(last, "trials"), variants, out);
  for (size_t v = 0; v < variants; v++) {
    const json_t *placing = json_array_get(json_object_get(metric, "placings"), v);
    (void)fprintf(out, "  %-3s", letter(v, name));
    show_rank(placing, "rank", out);
    show_rank(placing, "expected_rank", out);
    (void)fprintf(out, "  |");
    for (size_t w = 0; w < variants; w++) {
      const json_t *duel = find_duel(duels, v, w);
      double frequency = number_of(duel, "frequency"), p = mean_p(duel, v);
      show_share(is_turned(duel, v) ? 1 - frequency : frequency, p <= 0.05 ? "**" : p <= 0.1 ? "*" : "", out);
    }
    (void)fprintf(out, "  |");
    for (size_t w = 0; w < variants; w++)
      show_better(json_object_get(last, "rows"), v, w, out);
    (void)fputc('\n', out);
  }
}

static void show_last(const json_t *comparison, const struct shown *shown, FILE *out) {
  const json_t *last = json_object_get(comparison, "last");
  for (size_t m = 0; m < shown->count; m++) {
    const json_t *metric = metric_of(json_object_get(last, "metrics"), text_of(shown->metrics[m], "name"));
    if (json_array_size(json_object_get(metric, "duels")) > 0)
      show_last_metric(comparison, last, metric, out);
  }
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
  for (size_t m = 0; m < shown.count && json_array_size(json_object_get(comparison, "variants")) > 1; m++)
    if (json_array_size(json_object_get(shown.metrics[m], "duels")) > 0)
      show_duels(comparison, shown.metrics[m], out);
  show_rows(comparison, out);
  show_courses(comparison, &shown, out);
  show_last(comparison, &shown, out);
  show_left_out(comparison, out);
  return true;
}
