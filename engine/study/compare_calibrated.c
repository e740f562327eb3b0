/* compare_calibrated.c - metrics of the ensembles as they predict, after their calibrators, beside those without. */
#include "compare_impl.h"

#include <string.h>

/* Put "calibrated-NAME" behind NAME, with this value. */
static enum tutti_status put(tutti_context *context, json_t *metrics, size_t place, json_t *value) {
  char *name;
  json_t *metric = json_copy(json_array_get(metrics, place));
  const char *of = json_string_value(json_object_get(metric, "name"));
  enum tutti_status status = tutti_format(context, &name, COMPARE_CALIBRATED "%s", of);
  if (status == TUTTI_OK) {
    json_object_set(metric, COMPARE_CALIBRATED_OF, json_object_get(metric, "name"));
    json_object_set_new(metric, "name", json_string(name));
    json_object_set(metric, "value", value);
    json_array_insert(metrics, place + 1, metric);
    tutti_free(name);
  }
  json_decref(metric);
  return status;
}

static bool is_calibrated(const json_t *metric) { return json_object_get(metric, COMPARE_CALIBRATED_OF) != NULL; }

static bool is_rounding(const json_t *before, const json_t *after) {
  return json_is_number(before) && json_is_number(after) &&
         tutti_compare_is_rounding(json_number_value(before), json_number_value(after));
}

enum tutti_status tutti_compare_take_calibrated(tutti_context *context, struct compare_run *run,
                                                const json_t *calibrated) {
  size_t index;
  json_t *metric;
  json_array_foreach(calibrated, index, metric) {
    const char *name = json_string_value(json_object_get(metric, "name"));
    size_t place = name ? tutti_compare_metric_place(run->metrics, name) : json_array_size(run->metrics);
    if (place == json_array_size(run->metrics))
      continue;
    json_t *before = json_object_get(json_array_get(run->metrics, place), "value");
    json_t *after = json_object_get(metric, "value");
    TUTTI_TRY(context, put(context, run->metrics, place, is_rounding(before, after) ? before : after));
  }
  return TUTTI_OK;
}

/* A run whose ensemble has no calibrator predicts as it is: the metrics after are those before. */
static enum tutti_status fill_run(tutti_context *context, const json_t *wanted, struct compare_run *run) {
  const char *name;
  json_t *calibrated;
  json_object_foreach((json_t *)wanted, name, calibrated) {
    size_t place = tutti_compare_metric_place(run->metrics, json_string_value(calibrated));
    if (place == json_array_size(run->metrics) || tutti_compare_metric(run->metrics, name))
      continue;
    json_t *value = json_object_get(json_array_get(run->metrics, place), "value");
    TUTTI_TRY(context, put(context, run->metrics, place, value));
  }
  return TUTTI_OK;
}

enum tutti_status tutti_compare_fill_calibrated(tutti_context *context, struct compare *compare) {
  enum tutti_status status = TUTTI_OK;
  json_t *wanted = json_object(), *metric; /* calibrated name: plain name */
  size_t index;
  for (size_t i = 0; i < compare->compared; i++)
    json_array_foreach(compare->runs[i].metrics, index, metric) if (is_calibrated(metric)) json_object_set(
        wanted, json_string_value(json_object_get(metric, "name")), json_object_get(metric, COMPARE_CALIBRATED_OF));
  for (size_t i = 0; i < compare->compared; i++)
    TUTTI_TRY_OUT(context, fill_run(context, wanted, &compare->runs[i]));
out:
  json_decref(wanted);
  return status;
}

bool tutti_compare_is_changed(const struct compare *compare, const char *name, const char *of) {
  for (size_t i = 0; i < compare->compared; i++) {
    const json_t *metrics = compare->runs[i].metrics;
    const json_t *after = tutti_compare_metric(metrics, name);
    const json_t *before = tutti_compare_metric(metrics, of);
    if (after && !json_equal(json_object_get(after, "value"), json_object_get(before, "value")))
      return true;
  }
  return false;
}
