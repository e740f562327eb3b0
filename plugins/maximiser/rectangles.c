/* rectangles.c - dividing rectangles, a round at a time. Only the longest sides are divided, in three, so the sides of
   a rectangle have at most two lengths. The number of divisions of all sides together gives its size. */
#include "rectangles.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 32 /* divisions of a side: 3^-32 is close to the last bit of a coordinate */ };
static const double least_gain = 1e-4; /* Jones et al., section 3: a share of the least value */

struct rectangles {
  const struct rectangles_task *task;
  size_t count;
  double *centres;  /* [evaluations][dimensions] */
  uint8_t *levels;  /* [evaluations][dimensions]: how often each side was divided */
  double *values;   /* [evaluations] */
  size_t *keys;     /* [evaluations]: the size's number; larger is smaller */
  size_t key_count; /* numbers of sizes that there can be */
  double *sizes;    /* [key_count] */
  size_t *best;     /* [key_count]: the rectangle of this size with the least value; SIZE_MAX: none */
  size_t *chosen;   /* [evaluations]: those divided in this round */
  size_t chosen_count;
  struct side {
    double least;
    size_t dimension, first; /* first: the point at its lower end; the next is at its upper end */
  } * sides;                 /* [dimensions] */
};

static uint8_t lowest_level(const struct rectangles *r, size_t index) {
  const uint8_t *levels = r->levels + index * r->task->dimensions;
  uint8_t lowest = levels[0];
  for (size_t k = 1; k < r->task->dimensions; k++)
    lowest = levels[k] < lowest ? levels[k] : lowest;
  return lowest;
}

/* The number of a rectangle's size: the sum of its levels, or, in the local form, the level of its longest side. */
static size_t key_of(const struct rectangles *r, size_t index) {
  const uint8_t *levels = r->levels + index * r->task->dimensions;
  size_t sum = 0;
  if (r->task->local)
    return lowest_level(r, index);
  for (size_t k = 0; k < r->task->dimensions; k++)
    sum += levels[k];
  return sum;
}

/* Half the diagonal of a rectangle of that size, or half its longest side. */
static double size_of(const struct rectangles *r, size_t key) {
  size_t dimensions = r->task->dimensions;
  if (r->task->local)
    return 0.5 * pow(3, -(double)key);
  size_t level = key / dimensions, shorter = key % dimensions;
  double longest = pow(3, -(double)level);
  return 0.5 * longest * sqrt((double)(dimensions - shorter) + (double)shorter / 9);
}

static enum tutti_status create(tutti_context *context, const struct rectangles_task *task, struct rectangles *r) {
  size_t most = task->evaluations, d = task->dimensions;
  *r = (struct rectangles){.task = task, .key_count = task->local ? DEEPEST + 1 : (DEEPEST + 1) * d};
  TUTTI_TRY(context, tutti_alloc(context, most, d * sizeof *r->centres, &r->centres));
  TUTTI_TRY(context, tutti_alloc(context, most, d * sizeof *r->levels, &r->levels));
  TUTTI_TRY(context, tutti_alloc(context, most, sizeof *r->values, &r->values));
  TUTTI_TRY(context, tutti_alloc(context, most, sizeof *r->keys, &r->keys));
  TUTTI_TRY(context, tutti_alloc(context, most, sizeof *r->chosen, &r->chosen));
  TUTTI_TRY(context, tutti_alloc(context, r->key_count, sizeof *r->sizes, &r->sizes));
  TUTTI_TRY(context, tutti_alloc(context, r->key_count, sizeof *r->best, &r->best));
  TUTTI_TRY(context, tutti_alloc(context, d, sizeof *r->sides, &r->sides));
  for (size_t key = 0; key < r->key_count; key++)
    r->sizes[key] = size_of(r, key);
  return TUTTI_OK;
}

static void destroy(struct rectangles *r) {
  tutti_free(r->centres);
  tutti_free(r->levels);
  tutti_free(r->values);
  tutti_free(r->keys);
  tutti_free(r->chosen);
  tutti_free(r->sizes);
  tutti_free(r->best);
  tutti_free(r->sides);
}

/* --- which are divided -------------------------------------------------------------------------------------------- */

/* The best of each size that can still be divided, and the least value of all. */
static double find_best(struct rectangles *r) {
  double least = r->values[0];
  for (size_t key = 0; key < r->key_count; key++)
    r->best[key] = SIZE_MAX;
  for (size_t i = 0; i < r->count; i++) {
    size_t *best = &r->best[r->keys[i]];
    least = fmin(least, r->values[i]);
    if (lowest_level(r, i) < DEEPEST && (*best == SIZE_MAX || r->values[i] < r->values[*best]))
      *best = i;
  }
  return least;
}

/* Is there a rate of change for which no rectangle promises less than the best of this size, and for which it promises
   enough (Jones et al., Definition 4.1)? */
static bool is_promising(const struct rectangles *r, size_t key, double least) {
  double value = r->values[r->best[key]], size = r->sizes[key], lowest = 0, highest = INFINITY;
  for (size_t other = 0; other < r->key_count; other++) {
    if (r->best[other] == SIZE_MAX || other == key)
      continue;
    double rate = (r->values[r->best[other]] - value) / (r->sizes[other] - size);
    if (r->sizes[other] < size)
      lowest = fmax(lowest, rate);
    else
      highest = fmin(highest, rate);
  }
  if (!(highest >= lowest) || !(highest > 0))
    return false;
  return isinf(highest) || value - highest * size <= least - least_gain * fabs(least);
}

/* Choose what this round divides: the best of each promising size; in the original form also those that equal it. */
static void choose(struct rectangles *r) {
  double least = find_best(r);
  r->chosen_count = 0;
  for (size_t key = 0; key < r->key_count; key++) {
    if (r->best[key] == SIZE_MAX || !is_promising(r, key, least))
      continue;
    r->chosen[r->chosen_count++] = r->best[key];
    for (size_t i = r->best[key] + 1; !r->task->local && i < r->count; i++)
      if (r->keys[i] == key && r->values[i] <= r->values[r->best[key]])
        r->chosen[r->chosen_count++] = i;
  }
}

/* --- how they are divided ----------------------------------------------------------------------------------------- */

/* Place the points of a chosen rectangle behind those that there are: two for each of its longest sides. False if there
   is no room for them. */
static bool place(struct rectangles *r, size_t index, size_t *placed) {
  size_t d = r->task->dimensions, longest = 0;
  uint8_t level = lowest_level(r, index);
  double third = pow(3, -(double)(level + 1));
  for (size_t k = 0; k < d; k++)
    longest += r->levels[index * d + k] == level;
  if (r->count + *placed + 2 * longest > r->task->evaluations)
    return false;
  for (size_t k = 0; k < d; k++)
    for (int side = -1; side <= 1 && r->levels[index * d + k] == level; side += 2) {
      double *to = r->centres + (r->count + (*placed)++) * d;
      memcpy(to, r->centres + index * d, d * sizeof *to);
      to[k] += side * third;
    }
  return true;
}

static int by_least(const void *left, const void *right) {
  const struct side *a = left, *b = right;
  if (a->least != b->least)
    return a->least < b->least ? -1 : 1;
  return (a->dimension > b->dimension) - (a->dimension < b->dimension);
}

/* Divide a rectangle whose points begin at `first`: along the side with the best point first, so that this point gets
   the largest part. Gives back where the next one's points begin. */
static size_t divide(struct rectangles *r, size_t index, size_t first) {
  size_t d = r->task->dimensions, count = 0;
  uint8_t level = lowest_level(r, index), *levels = r->levels + index * d;
  for (size_t k = 0; k < d; k++)
    if (levels[k] == level) {
      size_t at = first + 2 * count;
      r->sides[count++] = (struct side){fmin(r->values[at], r->values[at + 1]), k, at};
    }
  qsort(r->sides, count, sizeof *r->sides, by_least);
  for (size_t s = 0; s < count; s++) {
    levels[r->sides[s].dimension]++;
    for (size_t end = 0; end < 2; end++) {
      size_t child = r->sides[s].first + end;
      memcpy(r->levels + child * d, levels, d * sizeof *levels);
      r->keys[child] = key_of(r, child);
    }
  }
  r->keys[index] = key_of(r, index);
  return first + 2 * count;
}

/* One round; *more: whether anything was divided. */
static enum tutti_status divide_round(tutti_context *context, struct rectangles *r, bool *more) {
  size_t placed = 0, divided = 0, d = r->task->dimensions;
  choose(r);
  while (divided < r->chosen_count && place(r, r->chosen[divided], &placed))
    divided++;
  *more = placed > 0;
  if (placed == 0)
    return TUTTI_OK;
  if (tutti_cancelled(context))
    return TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "cancelled while rectangles were divided");
  TUTTI_TRY(context,
            r->task->evaluate(r->task->argument, context, placed, r->centres + r->count * d, r->values + r->count));
  for (size_t i = 0, first = r->count; i < divided; i++)
    first = divide(r, r->chosen[i], first);
  r->count += placed;
  return TUTTI_OK;
}

enum tutti_status rectangles_divide(tutti_context *context, const struct rectangles_task *task) {
  struct rectangles r;
  enum tutti_status status;
  bool more = true;
  TUTTI_TRY_OUT(context, create(context, task, &r));
  for (size_t k = 0; k < task->dimensions; k++)
    r.centres[k] = 0.5;
  TUTTI_TRY_OUT(context, task->evaluate(task->argument, context, 1, r.centres, r.values));
  r.count = 1;
  while (more)
    TUTTI_TRY_OUT(context, divide_round(context, &r, &more));
out:
  destroy(&r);
  return status;
}
