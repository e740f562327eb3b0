/* show_metrics.c - metrics for people: a line each, splits side by side, as wide as the terminal. */
#include "program_impl.h"
#include "table.h"

#include <math.h>
#include <string.h>

const char *show_number(double value, char buffer[32]) {
  if (!isfinite(value))
    return "-";
  int length = snprintf(buffer, 32, "%#.5g", value); /* with its zeros at the end, so that columns line up */
  if (length > 0 && buffer[length - 1] == '.')
    buffer[length - 1] = '\0';
  return buffer;
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

static bool is_calibrated(const json_t *evaluation, size_t split) {
  return json_object_get(json_array_get(evaluation, split), "calibrated");
}

/* The end of the splits from `first` on that make one table: some, with metrics of the same names. What a calibrator
   makes of a split stands beside it. */
static size_t table_splits(const json_t *evaluation, size_t first) {
  enum { MOST = 4 };
  size_t end = first + 1;
  while (end < json_array_size(evaluation) && end < first + MOST &&
         fits_beside(json_array_get(evaluation, first), json_array_get(evaluation, end)))
    end++;
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
  const char *before = "\n  without a value: ";
  for (size_t row = 0; row < json_array_size(metrics_of(evaluation, first)); row++)
    if (!row_has_value(evaluation, first, end, row)) {
      (void)fprintf(out, "%s%s", before, text_of(json_array_get(metrics_of(evaluation, first), row), "name"));
      before = " ";
    }
  if (*before == ' ')
    (void)fprintf(out, "\n");
}

/* One line a metric, one column a split. */
static void show_metric_row(const json_t *evaluation, size_t first, size_t end, size_t row, struct table *table) {
  const json_t *named = json_array_get(metrics_of(evaluation, first), row);
  const char *name = text_of(named, "name");
  table_cell(table, "%s", name);
  for (size_t i = first; i < end; i++) {
    char buffer[32];
    table_cell(table, "%s", show_number(number_of(metric_of(metrics_of(evaluation, i), name), "value"), buffer));
  }
  table_cell(table, "%s", text_of(named, "unit"));
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
    struct table table = table_begin(1);
    end = table_splits(evaluation, first);
    table_column(&table, TABLE_TEXT, "metric");
    for (size_t i = first; i < end; i++) {
      table_column(&table, TABLE_NUMBER, text_of(json_array_get(evaluation, i), "split"));
      if (is_calibrated(evaluation, i))
        table_join(&table);
    }
    table_column(&table, TABLE_UNIT, "");
    for (size_t row = 0; row < json_array_size(metrics_of(evaluation, first)); row++)
      if (row_has_value(evaluation, first, end, row))
        show_metric_row(evaluation, first, end, row, &table);
    (void)fprintf(out, "\n");
    table_end(&table, out);
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
  struct table table = table_begin(1);
  json_object_foreach(json_array_get(rows, 0), column, value) { table_column(&table, TABLE_NUMBER, column); }
  json_array_foreach((json_t *)rows, index, row){json_object_foreach(row, column, value){char buffer[32];
  table_cell(&table, "%s",
             json_is_string(value) ? json_string_value(value) : show_number(number_of(row, column), buffer));
}
}
(void)fprintf(out, "\n  %s: %s\n", split, name);
table_end(&table, out);
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
