/* ranking.c - areas under the curves that an order of rows gives. */
#include "ranking_impl.h"

#include <math.h>
#include <stdlib.h>

static int by_score(const void *a, const void *b) {
  double x = ((const struct tutti_ranked *)a)->score, y = ((const struct tutti_ranked *)b)->score;
  return x < y ? -1 : x > y;
}

/* Sort; false if a number is NaN. */
static bool sort(size_t count, struct tutti_ranked *rows) {
  for (size_t i = 0; i < count; i++)
    if (isnan(rows[i].score) || isnan(rows[i].loss))
      return false;
  qsort(rows, count, sizeof *rows, by_score);
  return true;
}

/* The end of the rows that tie with row `begin`. */
static size_t end_of_tie(size_t count, const struct tutti_ranked *rows, size_t begin) {
  size_t end = begin + 1;
  while (end < count && rows[end].score <= rows[begin].score)
    end++;
  return end;
}

double tutti_ranked_area(size_t count, struct tutti_ranked *rows) {
  double pairs = 0, negative = 0, positive = 0;
  if (!sort(count, rows))
    return NAN;
  for (size_t begin = 0, end; begin < count; begin = end) {
    double zeros = 0, ones = 0;
    end = end_of_tie(count, rows, begin);
    for (size_t i = begin; i < end; i++)
      *(rows[i].loss > 0 ? &ones : &zeros) += 1;
    pairs += ones * (negative + zeros / 2);
    negative += zeros;
    positive += ones;
  }
  return pairs / (negative * positive);
}

double tutti_ranked_risk(size_t count, struct tutti_ranked *rows) {
  double area = 0, losses = 0;
  if (!sort(count, rows))
    return NAN;
  for (size_t begin = 0, end; begin < count; begin = end) {
    double tied = 0;
    end = end_of_tie(count, rows, begin);
    for (size_t i = begin; i < end; i++)
      tied += rows[i].loss / (double)(end - begin);
    for (size_t i = begin; i < end; i++) {
      losses += tied;
      area += losses / (double)(i + 1);
    }
  }
  return area / (double)count;
}
