/* run_fit.c - what the repeats of a fit say together: each metric's mean with a normal interval, and its median with a
   bootstrap interval, as the NOMU paper has them (Heiss et al., ICML 2022: Tables 2, 3 and 13; Tables 5 to 8). */
#include "run_impl.h"

#include "core/base/json_impl.h"
#include "engine/evaluation/evaluate_fit_impl.h"
#include "engine/data/split_names.h"

#include <math.h>
#include <string.h>

enum { DRAWS = 1000 };
static const double LEVEL = 0.95;

/* The measures of the repeats that finished. */
struct repeats {
  size_t count;
  json_t **measures; /* [count] */
  double *values;    /* [count]: of one metric */
  double *sorted;    /* [count], scratch */
  double *medians;   /* [DRAWS] */
};

static void release_repeats(struct repeats *repeats) {
  for (size_t i = 0; i < repeats->count; i++)
    json_decref(repeats->measures[i]);
  tutti_free(repeats->measures);
  tutti_free(repeats->values);
  tutti_free(repeats->sorted);
  tutti_free(repeats->medians);
}

static enum tutti_status gather(tutti_context *context, const struct tutti_history *history, struct repeats *repeats) {
  TUTTI_TRY(context, tutti_alloc(context, history->asked, sizeof *repeats->measures, &repeats->measures));
  for (uint64_t i = 0; i < history->asked; i++) {
    const struct tutti_record *record = &history->records[i];
    json_t *measures = record->done && record->state == TUTTI_STATE_FINISHED ? tutti_run_measures(record) : NULL;
    if (measures)
      repeats->measures[repeats->count++] = measures;
  }
  TUTTI_TRY(context, tutti_alloc(context, repeats->count, sizeof(double), &repeats->values));
  TUTTI_TRY(context, tutti_alloc(context, repeats->count, sizeof(double), &repeats->sorted));
  return tutti_alloc(context, DRAWS, sizeof(double), &repeats->medians);
}

static double number_of(const json_t *measures, const char *name) {
  const json_t *value = json_object_get(measures, name);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

/* --- statistics --------------------------------------------------------------------------------------------------- */

/* Sorts the values. */
static double median_of(size_t count, double *values) {
  tutti_sort_numbers(count, values);
  return count % 2 ? values[count / 2] : values[count / 2 - 1] / 2 + values[count / 2] / 2;
}

static json_t *interval(double low, double high) {
  return json_pack("[o, o]", tutti_json_number(low), tutti_json_number(high));
}

/* Percentiles of the medians of DRAWS bootstraps. */
static json_t *median_interval(struct repeats *repeats) {
  size_t tail = (size_t)(DRAWS * (1 - LEVEL) / 2);
  for (size_t d = 0; d < DRAWS; d++) {
    struct tutti_random random;
    tutti_random_init(&random, 0, "median of repeats", d);
    for (size_t i = 0; i < repeats->count; i++)
      repeats->sorted[i] = repeats->values[tutti_random_below(&random, repeats->count)];
    repeats->medians[d] = median_of(repeats->count, repeats->sorted);
  }
  tutti_sort_numbers(DRAWS, repeats->medians);
  return interval(repeats->medians[tail], repeats->medians[DRAWS - 1 - tail]);
}

/* Both statistics of repeats->values; NaN where one of them is not a number. */
static void add_statistics(struct repeats *repeats, json_t *metric) {
  size_t count = repeats->count;
  double mean = 0, square = 0;
  for (size_t i = 0; i < count; i++)
    mean += repeats->values[i] / (double)count;
  for (size_t i = 0; i < count; i++)
    square += (repeats->values[i] - mean) * (repeats->values[i] - mean);
  double half = count > 1 ? tutti_normal_quantile(0.5 + LEVEL / 2) * sqrt(square / (double)(count - 1) / (double)count)
                          : (double)NAN;
  memcpy(repeats->sorted, repeats->values, count * sizeof(double));
  (void)json_object_set_new(metric, "value", tutti_json_number(mean));
  (void)json_object_set_new(metric, "interval", interval(mean - half, mean + half));
  (void)json_object_set_new(metric, "median",
                            tutti_json_number(isnan(mean) ? (double)NAN : median_of(count, repeats->sorted)));
  (void)json_object_set_new(metric, "median_interval",
                            count > 1 && !isnan(mean) ? median_interval(repeats) : interval(NAN, NAN));
}

/* --- metrics ------------------------------------------------------------------------------------------------------ */

static json_t *new_metric(const char *name, const struct tutti_metric *said) {
  return json_pack("{s:s, s:s, s:s}", "name", name, "unit", said->unit, "better", tutti_better_name(said->better));
}

static void add_metric(struct repeats *repeats, const char *name, const struct tutti_metric *said, json_t *metrics) {
  json_t *metric = new_metric(name, said);
  for (size_t i = 0; i < repeats->count; i++)
    repeats->values[i] = number_of(repeats->measures[i], name);
  add_statistics(repeats, metric);
  (void)json_array_append_new(metrics, metric);
}

/* One c for all repeats, the one with the least mean NLL: c^2 is the mean of their mean z^2 (paper, Appendix B.2.5).
   Returns it. */
static double add_common(struct repeats *repeats, json_t *metrics) {
  json_t *metric = new_metric("nll-common", &tutti_fit_metric("nll-common")->said);
  double square = 0;
  for (size_t i = 0; i < repeats->count; i++)
    square += number_of(repeats->measures[i], "mean-square-ratio") / (double)repeats->count;
  for (size_t i = 0; i < repeats->count; i++)
    repeats->values[i] = number_of(repeats->measures[i], "mean-log-deviation") +
                         tutti_gaussian_nll(0, square, sqrt(number_of(repeats->measures[i], "mean-square-ratio")));
  add_statistics(repeats, metric);
  (void)json_array_append_new(metrics, metric);
  return sqrt(square);
}

/* The measures in the order of the first repeat, without those that are no metrics and only serve the common c. */
static double add_metrics(struct repeats *repeats, json_t *metrics) {
  double c = NAN;
  const char *name;
  json_t *value;
  json_object_foreach(repeats->measures[0], name, value) {
    const struct metric_entry *known = tutti_fit_metric(name);
    if (!known)
      continue;
    add_metric(repeats, name, &known->said, metrics);
    if (strcmp(name, "nll-min") == 0)
      c = add_common(repeats, metrics);
  }
  return c;
}

static json_t *repeats_of(const struct tutti_history *history) {
  json_t *list = json_array();
  for (uint64_t i = 0; i < history->asked; i++) {
    const struct tutti_record *record = &history->records[i];
    json_t *measures = record->done ? tutti_run_measures(record) : NULL;
    if (measures)
      (void)json_array_append_new(list, json_pack("{s:I, s:o}", "trial", (json_int_t)i, "metrics", measures));
  }
  return list;
}

enum tutti_status tutti_run_describe_fit(tutti_context *context, const struct tutti_experiment *experiment,
                                         const struct tutti_history *history, json_t *summary) {
  struct repeats repeats = {0};
  enum tutti_status status = gather(context, history, &repeats);
  json_t *metrics = json_array(), *evaluation = json_null();
  double c = NAN;
  if (status == TUTTI_OK && repeats.count > 0) {
    c = add_metrics(&repeats, metrics);
    evaluation = json_pack("[{s:s, s:O}]", "split", TUTTI_SPLIT_TEST, "metrics", metrics);
  }
  (void)json_object_set_new(summary, "evaluation", evaluation);
  (void)json_object_set_new(summary, "fit",
                            json_pack("{s:s, s:I, s:f, s:o, s:o}", "surrogate",
                                      tutti_host_plugin(experiment->host, "surrogate"), "finished",
                                      (json_int_t)repeats.count, "level", LEVEL, "c_common", tutti_json_number(c),
                                      "repeats", repeats_of(history)));
  json_decref(metrics);
  release_repeats(&repeats);
  return status;
}
