/* show_metrics.c - metrics for people: a line each, splits side by side, as wide as the terminal. */
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
