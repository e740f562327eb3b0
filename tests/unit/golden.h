/* golden.h - reads the reference numbers of tests/golden/ (JSON) for cmocka tests. Whatever is missing or malformed
   fails the running test with a message, so that callers need no checks. */
#ifndef GOLDEN_H
#define GOLDEN_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* The file tests/golden/NAME.json; release with json_decref. */
json_t *golden_load(const char *name);
/* A member of an object; an element of an array. Borrowed. */
json_t *golden_get(const json_t *object, const char *key);
json_t *golden_at(const json_t *array, size_t index);
/* A number; the strings "inf", "-inf" and null (infinity in matrices of costs) are numbers too. */
double golden_number(const json_t *value);
/* Shorthand for golden_number(golden_get(object, key)). */
double golden_number_of(const json_t *object, const char *key);
const char *golden_text_of(const json_t *object, const char *key);

/* The numbers of an array of arrays ... of numbers, row-major whatever its depth; `count` (NULL is allowed) gets how
   many. Free with free(). */
double *golden_doubles(const json_t *array, size_t *count);
float *golden_floats(const json_t *array, size_t *count);
int32_t *golden_integers(const json_t *array, size_t *count);

/* Fail unless |actual - expected| <= absolute + relative * |expected|; equal infinities are close, NaN never is. */
void golden_close(double actual, double expected, double relative, double absolute, const char *what, const char *file,
                  int line);
#define assert_close(actual, expected, relative, absolute)                                                             \
  golden_close((actual), (expected), (relative), (absolute), #actual, __FILE__, __LINE__)

#endif
