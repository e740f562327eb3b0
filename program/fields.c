/* fields.c - fields of the JSON objects that commands print for people. */
#include "program_impl.h"

#include <math.h>
#include <string.h>

const char *text_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "-";
}

double number_of(const json_t *object, const char *key) {
  const json_t *value = json_object_get(object, key);
  return json_is_number(value) ? json_number_value(value) : NAN;
}

long long count_of(const json_t *object, const char *key) {
  return (long long)json_integer_value(json_object_get(object, key));
}

const json_t *metric_of(const json_t *metrics, const char *name) {
  for (size_t i = 0; i < json_array_size(metrics); i++)
    if (strcmp(text_of(json_array_get(metrics, i), "name"), name) == 0)
      return json_array_get(metrics, i);
  return NULL;
}
