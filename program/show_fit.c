/* show_fit.c - the repeats of a fit as a table: each metric's mean and median with their intervals, and its unit. */
#include "program_impl.h"

#include <math.h>

static double number_in(const json_t *value) { return json_is_number(value) ? json_number_value(value) : (double)NAN; }

/* "-1.2345 [-1.3, -1.2]" */
static void show_with_interval(const json_t *value, const json_t *interval, FILE *out) {
  char middle[32], low[32], high[32], text[104];
  (void)snprintf(text, sizeof text, "[%s, %s]", show_number(number_in(json_array_get(interval, 0)), low),
                 show_number(number_in(json_array_get(interval, 1)), high));
  (void)fprintf(out, " %10s %-22s", show_number(number_in(value), middle), text);
}

static void show_metrics(const json_t *metrics, FILE *out) {
  size_t index;
  json_t *metric;
  json_array_foreach(metrics, index, metric) {
    const char *unit = json_string_value(json_object_get(metric, "unit"));
    (void)fprintf(out, "  %-20s", json_string_value(json_object_get(metric, "name")));
    show_with_interval(json_object_get(metric, "value"), json_object_get(metric, "interval"), out);
    show_with_interval(json_object_get(metric, "median"), json_object_get(metric, "median_interval"), out);
    (void)fprintf(out, "%s%s\n", unit && *unit ? "  " : "", unit ? unit : "");
  }
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
  (void)fprintf(out, "\n  %-20s %10s %-22s %10s %-22s\n", "test rows", "mean", "95 % interval", "median",
                "95 % interval");
  show_metrics(json_object_get(split, "metrics"), out);
  (void)fprintf(out, "\nOver %lld %s. nll-common has one c for all of them, %.4g. NLLs count the constant 0.919.\n",
                finished, tutti_plural((size_t)finished, "repeat", "repeats"),
                number_in(json_object_get(fit, "c_common")));
}
