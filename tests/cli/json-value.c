/* json-value.c - json-value FILE [KEY...]: checks that a file is one JSON text, and prints the value that the keys
   (names and, in arrays, numbers) lead to; a length for arrays and objects. Exit code 1 if it is no JSON, 2 if nothing
   is there. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

static const json_t *step(const json_t *value, const char *key) {
  return json_is_array(value) ? json_array_get(value, strtoul(key, NULL, 10)) : json_object_get(value, key);
}

static void print(const json_t *value) {
  if (json_is_array(value) || json_is_object(value)) {
    (void)printf("%zu\n", json_is_array(value) ? json_array_size(value) : json_object_size(value));
  } else if (json_is_string(value)) {
    (void)printf("%s\n", json_string_value(value));
  } else {
    (void)json_dumpf(value, stdout, JSON_ENCODE_ANY | JSON_REAL_PRECISION(15));
    (void)putchar('\n');
  }
}

int main(int argc, char **argv) {
  json_error_t error;
  json_t *root = argc > 1 ? json_load_file(argv[1], JSON_REJECT_DUPLICATES, &error) : NULL;
  const json_t *value = root;
  if (!root) {
    (void)fprintf(stderr, "json-value: %s\n", argc > 1 ? error.text : "expected a file");
    return 1;
  }
  for (int i = 2; i < argc && value; i++)
    value = step(value, argv[i]);
  if (value)
    print(value);
  json_decref(root);
  return value ? 0 : 2;
}
