/* compute.c - curves, fronts and shares. */
#include "compute.h"

#include <math.h>
#include <stdlib.h>

struct item {
  double value;
  size_t place;
};

/* NaN comes last; ties stay in their order. */
static int by_value(const void *a_, const void *b_) {
  const struct item *a = a_, *b = b_;
  if (isnan(a->value) || isnan(b->value))
    return isnan(a->value) == isnan(b->value) ? (a->place > b->place) - (a->place < b->place)
           : isnan(a->value)                  ? 1
                                              : -1;
  if (a->value < b->value || a->value > b->value)
    return a->value < b->value ? -1 : 1;
  return (a->place > b->place) - (a->place < b->place);
}

static enum tutti_status sort(tutti_context *context, size_t count, const double *values, struct item **items) {
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof **items, items));
  for (size_t i = 0; i < count; i++)
    (*items)[i] = (struct item){values[i], i};
  if (count > 1)
    qsort(*items, count, sizeof **items, by_value);
  return TUTTI_OK;
}

/* The end of the items that tie with item `begin`. */
static size_t end_of_tie(size_t count, const struct item *items, size_t begin) {
  size_t end = begin + 1;
  while (end < count && items[end].value <= items[begin].value)
    end++;
  return end;
}

enum tutti_status tutti_report_risk(tutti_context *context, size_t count, const double *scores, const double *losses,
                                    double *risk) {
  struct item *items;
  double sum = 0;
  TUTTI_TRY(context, sort(context, count, scores, &items));
  for (size_t begin = 0, end; begin < count; begin = end) {
    double tied = 0;
    end = end_of_tie(count, items, begin);
    for (size_t i = begin; i < end; i++)
      tied += losses[items[i].place] / (double)(end - begin);
    for (size_t i = begin; i < end; i++) {
      sum += tied;
      risk[i] = sum / (double)(i + 1);
    }
  }
  tutti_free(items);
  return TUTTI_OK;
}

void tutti_report_front(size_t count, const double *costs, const double *losses, bool *front) {
  for (size_t i = 0; i < count; i++) {
    front[i] = !isnan(costs[i]) && !isnan(losses[i]);
    for (size_t k = 0; k < count && front[i]; k++)
      if (costs[k] <= costs[i] && losses[k] <= losses[i] && (costs[k] < costs[i] || losses[k] < losses[i]))
        front[i] = false;
  }
}

enum tutti_status tutti_report_ranks(tutti_context *context, size_t count, const double *values, double *ranks) {
  struct item *items;
  TUTTI_TRY(context, sort(context, count, values, &items));
  for (size_t begin = 0, end; begin < count; begin = end) {
    end = end_of_tie(count, items, begin);
    for (size_t i = begin; i < end; i++)
      ranks[items[i].place] = (double)(begin + 1 + end) / 2;
  }
  tutti_free(items);
  return TUTTI_OK;
}

double tutti_report_explained(size_t count, const double *values, const size_t *group, size_t groups) {
  double mean = count > 0 ? values[0] : 0, first = mean, all = 0, within = 0;
  size_t used = 0;
  for (size_t i = 0; i < count; i++) /* from the first one on: of equal values, the mean is exact */
    mean += (values[i] - first) / (double)count;
  for (size_t i = 0; i < count; i++)
    all += (values[i] - mean) * (values[i] - mean);
  for (size_t g = 0; g < groups; g++) {
    double sum = 0;
    size_t members = 0;
    for (size_t i = 0; i < count; i++)
      if (group[i] == g) {
        sum += values[i];
        members++;
      }
    used += members > 0;
    for (size_t i = 0; i < count; i++)
      if (group[i] == g)
        within += (values[i] - sum / (double)members) * (values[i] - sum / (double)members);
  }
  if (!(all > 0))
    return (double)NAN;
  if (used < 2 || count <= used)
    return 0;
  return fmax(0, 1 - within / (double)(count - used) / (all / (double)(count - 1)));
}

enum tutti_status tutti_report_group(tutti_context *context, size_t count, const double *values, size_t most,
                                     size_t *group, size_t *groups) {
  struct item *items;
  size_t known = 0, left = most;
  *groups = 0;
  TUTTI_TRY(context, sort(context, count, values, &items));
  while (known < count && !isnan(items[known].value))
    known++;
  for (size_t begin = 0, end; begin < known; begin = end, (*groups)++) {
    /* As many as an even share of what is left, and those that tie with the last of them. */
    size_t share = left > 0 ? (known - begin + left - 1) / left : known - begin;
    end = begin + share < known ? begin + share : known;
    end = end_of_tie(known, items, end - 1);
    for (size_t i = begin; i < end; i++)
      group[items[i].place] = *groups;
    left -= left > 0;
  }
  for (size_t i = known; i < count; i++)
    group[items[i].place] = *groups;
  *groups += known < count;
  tutti_free(items);
  return TUTTI_OK;
}

/* The highest of the losses that are numbers and at most `most`; -INFINITY: there is none. */
static double highest_loss(size_t count, const double *losses, double most) {
  double highest = -INFINITY;
  for (size_t i = 0; i < count; i++)
    if (isfinite(losses[i]) && losses[i] <= most)
      highest = fmax(highest, losses[i]);
  return highest;
}

/* The mean root of what losses of at most `most` are above the least one; NaN: there is none. */
static double mean_root(size_t count, const double *losses, double least, double most) {
  double roots = 0, known = 0;
  for (size_t i = 0; i < count; i++)
    if (isfinite(losses[i]) && losses[i] <= most) {
      roots += sqrt(losses[i] - least);
      known++;
    }
  return roots / known;
}

double tutti_report_frame(size_t count, const double *losses, double times) {
  const double all = highest_loss(count, losses, INFINITY);
  double least = INFINITY, highest = all, frame;
  for (size_t i = 0; i < count; i++)
    least = isfinite(losses[i]) ? fmin(least, losses[i]) : least;
  while (highest > (frame = least + times * pow(mean_root(count, losses, least, highest), 2)))
    highest = highest_loss(count, losses, frame);
  return highest < all ? highest + 0.05 * (highest - least) : INFINITY;
}
