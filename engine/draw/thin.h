/* thin.h - more points than a picture can show: an even selection of them, with the first and the last. */
#ifndef TUTTI_THIN_H
#define TUTTI_THIN_H

#include <stddef.h>

enum { TUTTI_THIN_CURVE = 400, TUTTI_THIN_POINTS = 2000 };

/* How many of `count` are taken if `most` are allowed, and tutti_thin_at: which is number `index` of them. */
static inline size_t tutti_thin_count(size_t count, size_t most) { return count < most ? count : most; }
static inline size_t tutti_thin_at(size_t count, size_t most, size_t index) {
  return count <= most ? index : index * (count - 1) / (most - 1);
}

#endif
