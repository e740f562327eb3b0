/* show.c - results for people: the JSON texts of the library as tables. */
#include "program_impl.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

const char *show_number(double value, char buffer[32]) {
  if (!isfinite(value))
    return "-";
  int length = snprintf(buffer, 32, "%#.5g", value); /* with its zeros at the end, so that columns line up */
  if (length > 0 && buffer[length - 1] == '.')
    buffer[length - 1] = '\0';
  return buffer;
}

void show_data(const json_t *data, FILE *out) {
  const char *name;
  json_t *rows;
  bool first = true;
  if (!json_is_object(data))
    return;
  (void)fprintf(out, "data        ");
  long long folds = json_integer_value(json_object_get(data, "folds"));
  json_object_foreach(json_object_get(data, "rows"), name, rows) {
    if (folds > 0 && strcmp(name, "train") == 0) /* the same rows as for validation */
      continue;
    if (strchr(name, '-')) /* a shifted split has the rows of the clean one */
      (void)fprintf(out, ", %s", name);
    else
      (void)fprintf(out, "%s%lld %s", first ? "" : ", ", (long long)json_integer_value(rows), name);
    if (folds > 0 && strcmp(name, "validation") == 0)
      (void)fprintf(out, " and training, by %lld folds", folds);
    first = false;
  }
  (void)fprintf(out, "\n");
}

/* Numbers beside the loss: "            c10_test_e200 93.760, ..." */
static void show_measures(const json_t *measures, FILE *out) {
  const char *name, *between = "            ";
  json_t *value;
  char buffer[32];
  json_object_foreach((json_t *)measures, name, value) {
    (void)fprintf(out, "%s%s %s", between, name, show_number(json_number_value(value), buffer));
    between = ", ";
  }
  if (json_object_size(measures) > 0)
    (void)fprintf(out, "\n");
}

static void show_best(const json_t *best, const char *loss, FILE *out) {
  char buffer[32];
  if (!json_is_object(best))
    return;
  (void)fprintf(out, "best        trial %lld, %s %s\n", (long long)json_integer_value(json_object_get(best, "trial")),
                loss, show_number(number_of(best, "loss"), buffer));
  char *candidate = json_dumps(json_object_get(best, "candidate"), JSON_REAL_PRECISION(6));
  if (candidate)
    (void)fprintf(out, "            %s\n", candidate);
  free(candidate);
  show_measures(json_object_get(best, "measures"), out);
}

/* "calibrator  temperature, on 120 calibration rows: nll 0.43 without it, 0.40 with it (5 folds)" */
static void show_calibration(const json_t *calibration, FILE *out) {
  const char *refused = json_string_value(json_object_get(calibration, "refused")), *key;
  const char *note = json_string_value(json_object_get(calibration, "note"));
  char before[32], after[32];
  json_t *value;
  if (!json_is_object(calibration))
    return;
  const long long rows = (long long)json_integer_value(json_object_get(calibration, "rows"));
  (void)fprintf(out, "\ncalibrator  %s, on %lld %s %s", text_of(calibration, "calibrator"), rows,
                text_of(calibration, "split"), tutti_plural((size_t)rows, "row", "rows"));
  if (refused)
    (void)fprintf(out, ": the ensemble stays as it is\n            %s", refused);
  else if (json_object_get(calibration, "measure"))
    (void)fprintf(out, ": %s %s without it, %s with it (%lld folds)", text_of(calibration, "measure"),
                  show_number(number_of(calibration, "before"), before),
                  show_number(number_of(calibration, "after"), after),
                  (long long)json_integer_value(json_object_get(calibration, "folds")));
  json_object_foreach(json_object_get(calibration, "fit"), key, value) {
    if (json_is_number(value))
      (void)fprintf(out, "\n            %s %s", key, show_number(json_number_value(value), before));
  }
  if (note)
    (void)fprintf(out, "\n            %s", note);
  (void)fprintf(out, "\n");
}

void show_ensemble(const json_t *ensemble, FILE *out) {
  size_t index;
  json_t *member, *trace = json_object_get(ensemble, "trace");
  char buffer[32];
  if (!json_is_object(ensemble))
    return;
  (void)fprintf(out, "\nEnsemble of %zu, chosen by %s (%s)\n\n  %8s  %8s  %s\n",
                json_array_size(json_object_get(ensemble, "members")), text_of(ensemble, "selector"),
                text_of(ensemble, "loss"), "trial", "weight", "why");
  json_array_foreach(json_object_get(ensemble, "members"), index, member) {
    const char *why = "";
    json_int_t trial = json_integer_value(json_object_get(member, "trial"));
    for (size_t i = json_array_size(trace); i-- > 0;)
      if (json_integer_value(json_object_get(json_array_get(trace, i), "trial")) == trial)
        why = text_of(json_array_get(trace, i), "note");
    (void)fprintf(out, "  %8lld  %8s  ", (long long)trial, show_number(number_of(member, "weight"), buffer));
    if (json_object_get(member, "pool"))
      (void)fprintf(out,
                    "trial %lld of run %lld: ", (long long)json_integer_value(json_object_get(member, "pool_trial")),
                    (long long)json_integer_value(json_object_get(member, "pool")));
    (void)fprintf(out, "%s\n", why);
  }
  show_calibration(json_object_get(ensemble, "calibration"), out);
}

void show_pools(const json_t *pools, FILE *out) {
  size_t index;
  const json_t *pool;
  if (!pools)
    return;
  (void)fprintf(out, "\n  %4s  %8s  %8s  %-14s %-16s %-10s %s\n", "run", "trials", "members", "builder", "space",
                "backend", "directory");
  json_array_foreach(pools, index, pool) {
    (void)fprintf(out, "  %4zu  %8lld  %8lld  %-14s %-16s %-10s %s\n", index + 1,
                  (long long)json_integer_value(json_object_get(pool, "trials")),
                  (long long)json_integer_value(json_object_get(pool, "members")), text_of(pool, "builder"),
                  text_of(pool, "space"), text_of(pool, "backend"), text_of(pool, "run"));
  }
}

static const json_t *metrics_of(const json_t *evaluation, size_t split) {
  return json_object_get(json_array_get(evaluation, split), "metrics");
}

static bool has_names_of(const json_t *a, const json_t *b) {
  for (size_t i = 0; i < json_array_size(b); i++)
    if (!metric_of(a, text_of(json_array_get(b, i), "name")))
      return false;
  return true;
}

/* Has the second the same metrics as the first or, after a calibrator, some of them? */
static bool fits_beside(const json_t *first, const json_t *second) {
  const json_t *a = json_object_get(first, "metrics"), *b = json_object_get(second, "metrics");
  bool calibrated = json_object_get(second, "calibrated");
  return has_names_of(a, b) && (calibrated || json_array_size(a) == json_array_size(b));
}

enum { COLUMNS = 4, COLUMN_WIDTH = 12, NAME_WIDTH = 28 };

/* How much goes into a line of a table. */
struct layout {
  size_t name; /* characters of the column of names */
  size_t room; /* for all columns of numbers, each with a blank before it; SIZE_MAX: it goes to no terminal */
};

static size_t bytes_of(const char *text, size_t characters) {
  size_t i = 0;
  for (; text[i]; i++)
    if (((unsigned char)text[i] & 0xC0) != 0x80 && characters-- == 0)
      break;
  return i;
}

static size_t characters_of(const char *text) {
  size_t count = 0;
  for (; *text; text++)
    count += ((unsigned char)*text & 0xC0) != 0x80;
  return count;
}

/* Of the table of a split. */
static struct layout layout_of(const json_t *metrics, FILE *out) {
  size_t index, name = strlen("metric"), unit = 0, width = table_width(out);
  const json_t *metric;
  if (width == SIZE_MAX)
    return (struct layout){.name = NAME_WIDTH, .room = SIZE_MAX};
  json_array_foreach(metrics, index, metric) {
    size_t here = characters_of(text_of(metric, "name")), of_unit = characters_of(text_of(metric, "unit"));
    name = here > name ? here : name;
    unit = of_unit > unit ? of_unit : unit;
  }
  const size_t taken = 2 + name + 2 + unit, least = 1 + COLUMN_WIDTH;
  return (struct layout){.name = name, .room = width > taken + least ? width - taken : least};
}

static bool is_calibrated(const json_t *evaluation, size_t split) {
  return json_object_get(json_array_get(evaluation, split), "calibrated");
}

/* Of the column of a split: its name may be long, but leaves room for what its calibrator makes of it. */
static size_t width_of(const json_t *evaluation, size_t split, struct layout layout) {
  size_t length = characters_of(text_of(json_array_get(evaluation, split), "split")), most = layout.room - 1;
  if (is_calibrated(evaluation, split + 1) && most > 1 + COLUMN_WIDTH)
    most -= 1 + COLUMN_WIDTH;
  length = length < most ? length : most;
  return length > COLUMN_WIDTH ? length : COLUMN_WIDTH;
}

/* A name at the right of its column; of one that is too long, its begin and its end, in which names often differ. */
static void show_name(const char *name, size_t width, FILE *out) {
  static const char cut[] = "...";
  const size_t length = characters_of(name), kept = width - strlen(cut), head = kept / 2;
  if (length <= width)
    (void)fprintf(out, " %*s%s", (int)(width - length), "", name);
  else
    (void)fprintf(out, " %.*s%s%s", (int)bytes_of(name, head), name, cut,
                  name + bytes_of(name, length - (kept - head)));
}

/* The splits from `first` on that fit side by side: at most COLUMNS, with metrics of the same names. What a calibrator
   makes of a split stands beside it. */
static size_t block_end(const json_t *evaluation, size_t first, struct layout layout) {
  size_t end = first + 1, taken = 1 + width_of(evaluation, first, layout);
  while (end < json_array_size(evaluation) && end < first + COLUMNS &&
         fits_beside(json_array_get(evaluation, first), json_array_get(evaluation, end))) {
    taken += 1 + width_of(evaluation, end, layout);
    if (taken > layout.room)
      break;
    end++;
  }
  return end > first + 1 && is_calibrated(evaluation, end) ? end - 1 : end;
}

/* Has the metric of a row a value in any of the columns? A likelihood has none where no member gives a variance. */
static bool row_has_value(const json_t *evaluation, size_t first, size_t end, size_t row) {
  const char *name = text_of(json_array_get(metrics_of(evaluation, first), row), "name");
  for (size_t i = first; i < end; i++)
    if (isfinite(number_of(metric_of(metrics_of(evaluation, i), name), "value")))
      return true;
  return false;
}

/* The names of the metrics that have no value in these columns. */
static void show_without_value(const json_t *evaluation, size_t first, size_t end, FILE *out) {
  enum { WIDTH = 78 };
  static const char head[] = "without a value:";
  size_t at = 0;
  for (size_t row = 0; row < json_array_size(metrics_of(evaluation, first)); row++) {
    const char *name = text_of(json_array_get(metrics_of(evaluation, first), row), "name");
    if (row_has_value(evaluation, first, end, row))
      continue;
    if (at == 0)
      at = (size_t)fprintf(out, "\n  %s", head);
    if (at + 1 + strlen(name) > WIDTH)
      at = (size_t)fprintf(out, "\n   ");
    at += (size_t)fprintf(out, " %s", name);
  }
  if (at > 0)
    (void)fprintf(out, "\n");
}

/* One line a metric, one column a split. */
static void show_metric_row(const json_t *evaluation, size_t first, size_t end, size_t row, struct layout layout,
                            FILE *out) {
  const json_t *named = json_array_get(metrics_of(evaluation, first), row);
  const char *name = text_of(named, "name");
  (void)fprintf(out, "  %-*s", (int)layout.name, name);
  for (size_t i = first; i < end; i++) {
    char buffer[32];
    double value = number_of(metric_of(metrics_of(evaluation, i), name), "value");
    (void)fprintf(out, " %*s", (int)width_of(evaluation, i, layout), show_number(value, buffer));
  }
  (void)fprintf(out, "  %s\n", text_of(named, "unit"));
}

/* After each split that a calibrator changes, a split "calibrated" with its metrics. */
static json_t *with_calibrated(const json_t *evaluation) {
  json_t *all = json_array(), *split;
  size_t index;
  json_array_foreach(evaluation, index, split) {
    json_t *calibrated = json_object_get(split, "calibrated");
    json_array_append_new(all, json_pack("{s:O, s:O}", "split", json_object_get(split, "split"), "metrics",
                                         json_object_get(split, "metrics")));
    if (calibrated)
      json_array_append_new(
          all, json_pack("{s:s, s:O, s:b}", "split", "calibrated", "metrics", calibrated, "calibrated", true));
  }
  return all;
}

static void show_splits(const json_t *given, FILE *out) {
  json_t *evaluation = with_calibrated(given);
  for (size_t first = 0, end; first < json_array_size(evaluation); first = end) {
    const struct layout layout = layout_of(metrics_of(evaluation, first), out);
    end = block_end(evaluation, first, layout);
    (void)fprintf(out, "\n  %-*s", (int)layout.name, "metric");
    for (size_t i = first; i < end; i++)
      show_name(text_of(json_array_get(evaluation, i), "split"), width_of(evaluation, i, layout), out);
    (void)fprintf(out, "\n");
    for (size_t row = 0; row < json_array_size(metrics_of(evaluation, first)); row++)
      if (row_has_value(evaluation, first, end, row))
        show_metric_row(evaluation, first, end, row, layout, out);
    show_without_value(evaluation, first, end, out);
  }
  json_decref(evaluation);
}

/* The split whose targets are shown one by one: test or, where there is none, the first that has several; else NULL. */
static const json_t *split_of_targets(const json_t *evaluation) {
  const json_t *split, *found = NULL;
  size_t index;
  json_array_foreach(evaluation, index, split) {
    bool test = strcmp(text_of(split, "split"), "test") == 0;
    if (json_object_get(split, "targets") && (test || !found))
      found = split;
  }
  return found;
}

/* Of several targets, the metrics of each alone, side by side as splits are. */
static void show_targets(const json_t *evaluation, FILE *out) {
  const json_t *split = split_of_targets(evaluation), *target;
  json_t *columns = json_array();
  size_t index;
  json_array_foreach(json_object_get(split, "targets"), index, target) json_array_append_new(
      columns, json_pack("{s:O, s:O, s:O*}", "split", json_object_get(target, "target"), "metrics",
                         json_object_get(target, "metrics"), "calibrated", json_object_get(target, "calibrated")));
  if (split)
    (void)fprintf(out, "\nEach target alone, on the %s rows\n", text_of(split, "split"));
  show_splits(columns, out);
  json_decref(columns);
}

void show_evaluation(const json_t *evaluation, FILE *out) {
  show_splits(evaluation, out);
  show_targets(evaluation, out);
}

static void show_table(const char *split, const char *name, const json_t *rows, FILE *out) {
  const char *column;
  json_t *row, *value;
  size_t index;
  (void)fprintf(out, "\n  %s: %s\n ", split, name);
  json_object_foreach(json_array_get(rows, 0), column, value) { (void)fprintf(out, " %12s", column); }
  (void)fprintf(out, "\n");
  json_array_foreach((json_t *)rows, index, row) {
    (void)fprintf(out, " ");
    json_object_foreach(row, column, value) {
      char buffer[32];
      (void)fprintf(out, " %12s",
                    json_is_string(value) ? json_string_value(value) : show_number(number_of(row, column), buffer));
    }
    (void)fprintf(out, "\n");
  }
}

void show_tables(const json_t *evaluation, FILE *out) {
  size_t index;
  json_t *split, *rows;
  const char *name;
  json_array_foreach((json_t *)evaluation, index, split) {
    json_object_foreach(json_object_get(split, "tables"), name, rows) {
      show_table(text_of(split, "split"), name, rows, out);
    }
    json_object_foreach(json_object_get(split, "calibrated_tables"), name, rows) {
      show_table("calibrated", name, rows, out);
    }
  }
}

/* The columns of a member's row, or of the row of means: its loss, then the measures that `named` has. */
static void show_value_row(const json_t *row, const json_t *named, FILE *out) {
  char buffer[32];
  const char *name;
  json_t *value;
  (void)fprintf(out, " %12s", show_number(number_of(row, "loss"), buffer));
  json_object_foreach((json_t *)named, name, value) {
    int width = (int)strlen(name) > 12 ? (int)strlen(name) : 12;
    (void)fprintf(out, " %*s", width, show_number(number_of(json_object_get(row, "measures"), name), buffer));
  }
}

/* Members without predictions: what is known of each, their means, and what that leaves open. */
void show_values(const json_t *values, const char *loss, FILE *out) {
  const json_t *members = json_object_get(values, "members"), *mean = json_object_get(values, "mean"), *member;
  const json_t *named = json_object_get(json_array_get(members, 0), "measures");
  const char *name;
  json_t *value;
  size_t index;
  if (!json_is_object(values))
    return;
  (void)fprintf(out, "\n  %8s %12s", "trial", loss);
  json_object_foreach((json_t *)named, name, value) { (void)fprintf(out, " %12s", name); }
  (void)fprintf(out, "\n");
  json_array_foreach((json_t *)members, index, member) {
    (void)fprintf(out, "  %8lld", (long long)json_integer_value(json_object_get(member, "trial")));
    show_value_row(member, named, out);
    (void)fprintf(out, "  %s\n", text_of(member, "architecture"));
  }
  (void)fprintf(out, "  %8s", "mean");
  show_value_row(mean, named, out);
  (void)fprintf(out, "\n\n%s\n", text_of(values, "note"));
}

void show_trials(const json_t *trials, FILE *out) {
  const json_t *failure = json_object_get(trials, "failure");
  long long done = (long long)json_integer_value(json_object_get(trials, "done")),
            budget = (long long)json_integer_value(json_object_get(trials, "budget")),
            failed = (long long)json_integer_value(json_object_get(trials, "failed"));
  char of[32] = "", cut[48] = "";
  if (budget > 0)
    (void)snprintf(of, sizeof of, " of %lld", budget);
  if (json_object_get(trials, "pruned"))
    (void)snprintf(cut, sizeof cut, ", %lld pruned", (long long)json_integer_value(json_object_get(trials, "pruned")));
  double time = number_of(trials, "time");
  if (done == 0 && budget > 0)
    (void)fprintf(out, "trials      %lld to train\n", budget);
  else if (done == 0 && failed == 0 && time > 0)
    (void)fprintf(out, "trials      as many as %g s allow\n", time);
  else
    (void)fprintf(out, "trials      %lld%s done, %lld failed%s\n", done, of, failed, cut);
  if (json_is_object(failure))
    (void)fprintf(out, "            trial %lld: %s\n", (long long)json_integer_value(json_object_get(failure, "trial")),
                  text_of(failure, "text"));
}

/* The ensembles chosen for each shift: a line with the members, then the metrics of all side by side. */
static void show_shifts(const json_t *shifts, FILE *out) {
  size_t index, i;
  json_t *shift, *member, *all = json_array();
  if (json_array_size(shifts) > 0)
    (void)fprintf(out, "\nChosen anew for each shift\n\n");
  json_array_foreach(shifts, index, shift) {
    (void)fprintf(out, "  on %-14s trials", text_of(shift, "split"));
    json_array_foreach(json_object_get(json_object_get(shift, "ensemble"), "members"), i, member) {
      (void)fprintf(out, " %lld", (long long)json_integer_value(json_object_get(member, "trial")));
    }
    (void)fprintf(out, "\n");
    json_array_extend(all, json_object_get(shift, "evaluation"));
  }
  show_evaluation(all, out);
  json_decref(all);
}

void show_summary(const json_t *summary, FILE *out) {
  const json_t *plugins = json_object_get(summary, "plugins"), *trials = json_object_get(summary, "trials");
  (void)fprintf(out, "run         %s (%s), seed %lld\n", text_of(summary, "run"), text_of(summary, "task"),
                (long long)json_integer_value(json_object_get(summary, "seed")));
  if (json_object_get(summary, "fit")) {
    show_fit(summary, out);
    return;
  }
  (void)fprintf(out, "plugins     builder %s, space %s, backend %s, selector %s", text_of(plugins, "builder"),
                text_of(plugins, "space"), text_of(plugins, "backend"), text_of(plugins, "selector"));
  const char *calibrator = json_string_value(json_object_get(plugins, "calibrator"));
  if (calibrator && strcmp(calibrator, "none") != 0)
    (void)fprintf(out, ", calibrator %s", calibrator);
  (void)fprintf(out, "\n");
  show_data(json_object_get(summary, "data"), out);
  show_trials(trials, out);
  show_best(json_object_get(summary, "best"), text_of(summary, "loss"), out);
  show_pools(json_object_get(summary, "pools"), out);
  if (json_object_get(summary, "no_ensemble"))
    (void)fprintf(out, "ensemble    none: %s;\n            selectors such as top-m go by losses\n",
                  text_of(summary, "no_ensemble"));
  show_ensemble(json_object_get(summary, "ensemble"), out);
  show_values(json_object_get(summary, "values"), text_of(summary, "loss"), out);
  show_evaluation(json_object_get(summary, "evaluation"), out);
  show_shifts(json_object_get(summary, "shifts"), out);
}

static void show_trial(const json_t *trial, FILE *out) {
  char loss[32];
  (void)fprintf(out, "  %8lld  %-9s %12s %10.3f  %s%s%s\n",
                (long long)json_integer_value(json_object_get(trial, "trial")), text_of(trial, "state"),
                show_number(number_of(trial, "loss"), loss), number_of(trial, "seconds"), text_of(trial, "origin"),
                *text_of(trial, "failure") ? ": " : "", text_of(trial, "failure"));
}

static void show_scalar(const json_t *value, FILE *out) {
  if (json_is_string(value))
    (void)fprintf(out, "%s", json_string_value(value));
  else if (json_is_integer(value))
    (void)fprintf(out, "%lld", (long long)json_integer_value(value));
  else if (json_is_real(value))
    (void)fprintf(out, "%.4g", json_real_value(value));
  else
    (void)fprintf(out, json_is_true(value) ? "yes" : json_is_false(value) ? "no" : "-");
}

/* A builder's description of itself, on one line; nested objects, such as its surrogate's fitted hyperparameters, on
   lines of their own. */
static void show_facts(const char *label, const json_t *facts, FILE *out) {
  enum { LONGEST = 8 }; /* of an array */
  const char *key, *between = "";
  json_t *value;
  (void)fprintf(out, "%-11s ", label);
  json_object_foreach((json_t *)facts, key, value) {
    if (json_is_object(value))
      continue;
    (void)fprintf(out, "%s%s ", between, key);
    between = ", ";
    size_t count = json_array_size(value);
    for (size_t i = 0; i < count && i < LONGEST; i++) {
      (void)fprintf(out, i ? " " : "");
      show_scalar(json_array_get(value, i), out);
    }
    if (count > LONGEST)
      (void)fprintf(out, " ...");
    if (!json_is_array(value))
      show_scalar(value, out);
  }
  (void)fprintf(out, "\n");
  json_object_foreach((json_t *)facts, key, value) {
    if (json_is_object(value))
      show_facts(key, value, out);
  }
}

/* What the calibrator changes on the test rows. */
static void show_changes(const json_t *splits, FILE *out) {
  json_t *changed = json_array(), *split, *metric;
  size_t index, i;
  json_array_foreach(splits, index, split) {
    json_t *before = json_array(), *after = json_array();
    json_array_foreach(json_object_get(split, "calibrated"), i, metric) {
      const json_t *old = metric_of(json_object_get(split, "metrics"), text_of(metric, "name"));
      if (old && !json_equal(json_object_get(old, "value"), json_object_get(metric, "value"))) {
        json_array_append(before, (json_t *)old);
        json_array_append(after, metric);
      }
    }
    json_array_append_new(changed, json_pack("{s:O, s:o, s:o}", "split", json_object_get(split, "split"), "metrics",
                                             before, "calibrated", after));
  }
  show_evaluation(changed, out);
  json_decref(changed);
}

/* "  worker 0   trial     12   epoch   40 of 100   loss 0.31234   2.1 s" */
static void show_training(const json_t *one, const char *units, FILE *out) {
  long long epoch = (long long)json_integer_value(json_object_get(one, "epoch")),
            epochs = (long long)json_integer_value(json_object_get(one, "epochs"));
  const json_t *loss = json_object_get(one, "loss");
  char buffer[32];
  (void)fprintf(out, "  worker %-4lld trial %6lld", (long long)json_integer_value(json_object_get(one, "worker")),
                (long long)json_integer_value(json_object_get(one, "trial")));
  if (epochs > 0)
    (void)fprintf(out, "   epoch %4lld of %lld", epoch, epochs);
  if (json_is_number(loss))
    (void)fprintf(out, "   validation loss %s%s", show_number(json_number_value(loss), buffer), units);
  (void)fprintf(out, "   %.1f s\n", number_of(one, "seconds"));
}

/* What the workers of a run at work are at. */
static void show_live(const json_t *status, FILE *out) {
  const char *units = strcmp(text_of(status, "task"), "regression") == 0 ? " (standardised)" : "";
  const json_t *live = json_object_get(status, "live"), *training = json_object_get(live, "training"),
               *time = json_object_get(live, "time"), *left = json_object_get(live, "left"),
               *share = json_object_get(live, "utilisation");
  size_t index;
  json_t *one;
  if (!json_is_object(live))
    return;
  (void)fprintf(out, "workers     %zu of %lld at work", json_array_size(training),
                (long long)json_integer_value(json_object_get(live, "workers")));
  if (json_is_number(share))
    (void)fprintf(out, ", %.0f %% of their time used", 100 * json_number_value(share));
  (void)fprintf(out, "; %.3g trials/s", number_of(live, "rate"));
  if (json_is_number(time))
    (void)fprintf(out, "; %.0f of %.0f s worked", number_of(live, "worked"), json_number_value(time));
  if (json_is_number(left))
    (void)fprintf(out, "; about %.0f s left", json_number_value(left));
  (void)fprintf(out, "\n");
  json_array_foreach(training, index, one) show_training(one, units, out);
}

static void show_failures(const json_t *failures, FILE *out) {
  enum { SHOWN = 5 };
  size_t index;
  json_t *failure;
  json_array_foreach(failures, index, failure) {
    if (index == SHOWN) {
      (void)fprintf(out, "            and %zu other %s\n", json_array_size(failures) - SHOWN,
                    tutti_plural(json_array_size(failures) - SHOWN, "reason", "reasons"));
      return;
    }
    long long others = (long long)json_integer_value(json_object_get(failure, "others"));
    (void)fprintf(out, "%s%lld failed: %s", index ? "            " : "failures    ",
                  (long long)json_integer_value(json_object_get(failure, "count")), text_of(failure, "text"));
    if (others > 0)
      (void)fprintf(out, " (%lld of them with other numbers)", others);
    (void)fprintf(out, "\n");
  }
}

/* A search that proposes what it has tried says that it has run dry; deep ensembles do nothing else. */
static void show_repeats(const json_t *status, FILE *out) {
  long long repeats = json_integer_value(json_object_get(status, "repeats"));
  long long asked = json_integer_value(json_object_get(status, "asked"));
  if (repeats > 0)
    (void)fprintf(out, "repeats     %lld of %lld %s had been made before, but for %s\n", repeats, asked,
                  tutti_plural((size_t)asked, "proposal", "proposals"),
                  tutti_plural((size_t)repeats, "its seed", "their seeds"));
}

void show_watched(const json_t *status, FILE *out) {
  const json_t *root = json_object_get(status, "trials");
  show_trials(root, out);
  show_best(json_object_get(status, "best"), text_of(status, "loss"), out);
  show_failures(json_object_get(status, "failures"), out);
  show_repeats(status, out);
  show_live(status, out);
}

/* Is it at work, and if it was cut off, how does it go on? */
static void show_state(const json_t *status, FILE *out) {
  const bool running = json_is_true(json_object_get(status, "running"));
  const long long asked = (long long)json_integer_value(json_object_get(status, "asked")),
                  done = (long long)json_integer_value(json_object_get(json_object_get(status, "trials"), "done"));
  const char *directory = text_of(status, "directory");
  (void)fprintf(out, "\nstate       %s; %lld asked for, %.1f s of training in all\n",
                running ? "running" : "not running", asked, number_of(status, "training_seconds"));
  if (!running && done < asked && !json_is_object(json_object_get(status, "ensemble")))
    (void)fprintf(out, "            %lld of them %s no result; to go on: tutti run %s/recipe.ini --out %s --resume\n",
                  asked - done, tutti_plural((size_t)(asked - done), "has", "have"), directory, directory);
}

/* The last trials that have a result: what the others are at is told of workers. */
static void show_last_trials(const json_t *trials, const char *loss, size_t shown, FILE *out) {
  size_t first = json_array_size(trials), found = 0;
  while (first > 0 && found < shown)
    found += strcmp(text_of(json_array_get(trials, --first), "state"), "asked") != 0;
  if (found == 0)
    return;
  (void)fprintf(out, "\n  %8s  %-9s %12s %10s  %s\n", "trial", "state", loss, "seconds", "origin");
  for (; first < json_array_size(trials); first++)
    if (strcmp(text_of(json_array_get(trials, first), "state"), "asked") != 0)
      show_trial(json_array_get(trials, first), out);
}

void show_status(const json_t *status, size_t shown, FILE *out) {
  show_summary(status, out);
  show_changes(json_object_get(status, "calibrated"), out);
  show_state(status, out);
  show_failures(json_object_get(status, "failures"), out);
  show_repeats(status, out);
  show_live(status, out);
  if (json_is_object(json_object_get(status, "builder_state")))
    show_facts("builder", json_object_get(status, "builder_state"), out);
  show_last_trials(json_object_get(status, "all_trials"), text_of(status, "loss"), shown, out);
}
