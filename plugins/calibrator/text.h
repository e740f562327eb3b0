/* text.h - what calibrators have fitted, as JSON: named lists of numbers, which a file may have torn. */
#ifndef TUTTI_CALIBRATOR_TEXT_H
#define TUTTI_CALIBRATOR_TEXT_H

#include "plugins/shared/json.h"

static inline json_t *text_of_numbers(size_t count, const double *values) {
  json_t *array = json_array();
  for (size_t i = 0; i < count; i++)
    json_array_append_new(array, json_real(values[i]));
  return array;
}

/* The text of a fit; takes the tree. Numbers have all their digits. */
static inline enum tutti_status text_print(tutti_context *context, json_t *root, char **json) {
  return shared_json_print(context, root, JSON_COMPACT | JSON_REAL_PRECISION(17), "the fit", json);
}

static inline enum tutti_status text_parse(tutti_context *context, const char *json, json_t **root) {
  return shared_json_parse(context, json, JSON_REJECT_DUPLICATES, "a fit", "a JSON object", root);
}

/* The numbers under `key`, each in [low, high]; *count of them, or any number if *count is 0, which is then set. Free
   *values with tutti_free; NULL on failure. */
static inline enum tutti_status text_numbers(tutti_context *context, const json_t *root, const char *key, double low,
                                             double high, size_t *count, double **values) {
  const json_t *array = json_object_get(root, key);
  size_t found = json_array_size(array);
  *values = NULL;
  if (found == 0 || (*count && found != *count))
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "the fit's \"%s\": expected a list of %s%zu numbers, found %zu",
                      key, *count ? "" : "more than ", *count, found);
  TUTTI_TRY(context, tutti_alloc(context, found, sizeof **values, values));
  for (size_t i = 0; i < found; i++) {
    const json_t *item = json_array_get(array, i);
    double value = json_number_value(item);
    if (!json_is_number(item) || !(value >= low && value <= high)) {
      tutti_free(*values);
      *values = NULL;
      return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                        "the fit's \"%s\": expected numbers from %g to %g; number %zu is not", key, low, high, i);
    }
    (*values)[i] = value;
  }
  *count = found;
  return TUTTI_OK;
}

#endif
