/* functions.h - the functions of the NOMU paper, on [-1, 1]^d and scaled to [-1, 1]. */
#ifndef SOURCE_NOMU_FUNCTIONS_H
#define SOURCE_NOMU_FUNCTIONS_H

#include <stddef.h>

/* Names, NULL-terminated; a function is known by its number among them. */
extern const char *const nomu_names[];
/* Variables: 1 or 2. */
size_t nomu_dimensions(size_t function);
/* The value at x[dimensions]. */
double nomu_value(size_t function, const double *x);

#endif
