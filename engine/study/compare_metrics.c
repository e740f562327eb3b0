/* compare_metrics.c - metrics of a run by their names. */
#include "compare_impl.h"

#include <string.h>

size_t tutti_compare_metric_place(const json_t *metrics, const char *name) {
  size_t index;
  json_t *metric;
  json_array_foreach(metrics, index,
                     metric) if (strcmp(json_string_value(json_object_get(metric, "name")), name) == 0) return index;
  return json_array_size(metrics);
}

const json_t *tutti_compare_metric(const json_t *metrics, const char *name) {
  return json_array_get(metrics, tutti_compare_metric_place(metrics, name));
}

enum tutti_better tutti_compare_better(const json_t *metric) {
  return tutti_better_parse(json_string_value(json_object_get(metric, "better")));
}
