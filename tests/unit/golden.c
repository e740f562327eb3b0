/* golden.c - reads the reference numbers of tests/golden/. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "golden.h"

/* The makefile names the source folder; by hand tests run there or in a build folder below it. */
json_t *golden_load(const char *name) {
  const char *folders[] = {getenv("TUTTI_TEST_SRCDIR"), ".", ".."};
  json_error_t error;
  for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
    char path[4096];
    if (!folders[i])
      continue;
    (void)snprintf(path, sizeof path, "%s/tests/golden/%s.json", folders[i], name);
    json_t *root = json_load_file(path, JSON_DECODE_ANY, &error);
    if (root)
      return root;
    if (json_error_code(&error) != json_error_cannot_open_file)
      fail_msg("%s:%d: %s", path, error.line, error.text);
  }
  fail_msg("tests/golden/%s.json is in none of $TUTTI_TEST_SRCDIR, . and ..", name);
  return NULL;
}

json_t *golden_get(const json_t *object, const char *key) {
  json_t *value = json_object_get(object, key);
  if (!value)
    fail_msg("no key \"%s\"", key);
  return value;
}

json_t *golden_at(const json_t *array, size_t index) {
  json_t *value = json_array_get(array, index);
  if (!value)
    fail_msg("no element %zu", index);
  return value;
}

double golden_number(const json_t *value) {
  if (json_is_null(value))
    return INFINITY;
  if (json_is_string(value)) {
    const char *text = json_string_value(value);
    if (strcmp(text, "inf") == 0)
      return INFINITY;
    if (strcmp(text, "-inf") == 0)
      return -INFINITY;
  }
  if (!json_is_number(value))
    fail_msg("expected a number, found JSON of type %d", value ? (int)json_typeof(value) : -1);
  return json_number_value(value);
}

double golden_number_of(const json_t *object, const char *key) { return golden_number(golden_get(object, key)); }

const char *golden_text_of(const json_t *object, const char *key) {
  const char *text = json_string_value(golden_get(object, key));
  if (!text)
    fail_msg("\"%s\" is not a text", key);
  return text;
}

static size_t leaves(const json_t *value) {
  if (!json_is_array(value))
    return 1;
  size_t count = 0;
  for (size_t i = 0; i < json_array_size(value); i++)
    count += leaves(json_array_get(value, i));
  return count;
}

static double *flatten(const json_t *value, double *out) {
  if (!json_is_array(value)) {
    *out = golden_number(value);
    return out + 1;
  }
  for (size_t i = 0; i < json_array_size(value); i++)
    out = flatten(json_array_get(value, i), out);
  return out;
}

static void *allocate(size_t count, size_t size) {
  void *memory = calloc(count ? count : 1, size);
  if (!memory)
    fail_msg("out of memory");
  return memory;
}

double *golden_doubles(const json_t *array, size_t *count) {
  size_t total = leaves(array);
  double *values = allocate(total, sizeof *values);
  (void)flatten(array, values);
  if (count)
    *count = total;
  return values;
}

float *golden_floats(const json_t *array, size_t *count) {
  size_t total;
  double *values = golden_doubles(array, &total);
  float *out = allocate(total, sizeof *out);
  for (size_t i = 0; i < total; i++)
    out[i] = (float)values[i];
  free(values);
  if (count)
    *count = total;
  return out;
}

int32_t *golden_integers(const json_t *array, size_t *count) {
  size_t total;
  double *values = golden_doubles(array, &total);
  int32_t *out = allocate(total, sizeof *out);
  for (size_t i = 0; i < total; i++)
    out[i] = (int32_t)values[i];
  free(values);
  if (count)
    *count = total;
  return out;
}

void golden_close(double actual, double expected, double relative, double absolute, const char *what, const char *file,
                  int line) {
  if (actual == expected || fabs(actual - expected) <= absolute + relative * fabs(expected))
    return;
  print_error("%s: %.17g, expected %.17g (off by %.3g)\n", what, actual, expected, actual - expected);
  _fail(file, line);
}
