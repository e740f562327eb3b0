/* show_fit.c - the repeats of a fit as a table: each metric's mean and median with their intervals, and its unit. */
#include "program_impl.h"
#include "table.h"

#include <math.h>

static double number_in(const json_t *value) { return json_is_number(value) ? json_number_value(value) : (double)NAN; }

/* "-1.2345" and "[-1.3, -1.2]" */
static void put_with_interval(const json_t *value, const json_t *interval, struct table *table) {
  char middle[32], low[32], high[32];
  table_cell(table, "%s", show_number(number_in(value), middle));
  table_cell(table, "[%s, %s]", show_number(number_in(json_array_get(interval, 0)), low),
             show_number(number_in(json_array_get(interval, 1)), high));
}

static void show_metrics(const json_t *metrics, FILE *out) {
  static const char *const figures[] = {"mean", "median"};
  struct table table = table_begin(1);
  size_t index;
  json_t *metric;
  table_column(&table, TABLE_TEXT, "test rows");
  for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
    table_column(&table, TABLE_NUMBER, figures[i]);
    table_column(&table, TABLE_TEXT, "95 % interval");
    table_join(&table);
  }
  table_column(&table, TABLE_UNIT, "");
  json_array_foreach(metrics, index, metric) {
    table_cell(&table, "%s", text_of(metric, "name"));
    put_with_interval(json_object_get(metric, "value"), json_object_get(metric, "interval"), &table);
    put_with_interval(json_object_get(metric, "median"), json_object_get(metric, "median_interval"), &table);
    table_cell(&table, "%s", text_of(metric, "unit"));
  }
  table_end(&table, out);
}

void show_fit(const json_t *summary, FILE *out) {
  const json_t *fit = json_object_get(summary, "fit"),
               *split = json_array_get(json_object_get(summary, "evaluation"), 0);
  const char *surrogate = json_string_value(json_object_get(fit, "surrogate"));
  long long finished = (long long)json_integer_value(json_object_get(fit, "finished"));
  (void)fprintf(out, "plugins     surrogate %s\n", surrogate ? surrogate : "-");
  show_data(json_object_get(summary, "data"), out);
  show_trials(json_object_get(summary, "trials"), out);
  if (!split)
    return;
  (void)fputc('\n', out);
  show_metrics(json_object_get(split, "metrics"), out);
  (void)fprintf(out, "\nOver %lld %s. nll-common has one c for all of them, %.4g. NLLs count the constant 0.919.\n",
                finished, tutti_plural((size_t)finished, "repeat", "repeats"),
                number_in(json_object_get(fit, "c_common")));
}
