/* timeline.c - when the trainings of workers were. A worker reports how long each took; when its result came, the
   manager notes, which may have had other things to do. So a training ended when its result came or before, and before
   the next one of its place began: the latest times that agree with all of that are those drawn. They are never before
   the true ones, and those of one place never overlap. */
#include "compute.h"

#include <math.h>
#include <stdlib.h>

/* Those of one worker stand together, the last result first. */
static int by_worker(const void *a_, const void *b_) {
  const struct report_bar *a = *(const struct report_bar *const *)a_, *b = *(const struct report_bar *const *)b_;
  if (a->worker != b->worker)
    return a->worker < b->worker ? -1 : 1;
  if (a->at < b->at || a->at > b->at)
    return a->at < b->at ? 1 : -1;
  return (a < b) - (a > b);
}

/* The place where a training that has its result at `at` can end last; of those where it is the same, the one where
   least is lost. free[places]: until when nothing is known of each. */
static size_t choose_place(size_t places, const double *free, double at) {
  size_t best = 0;
  for (size_t p = 1; p < places; p++) {
    double one = fmin(at, free[p]), other = fmin(at, free[best]);
    if (one > other || (one >= other && free[p] < free[best]))
      best = p;
  }
  return best;
}

enum tutti_status tutti_report_timeline(tutti_context *context, size_t count, struct report_bar *bars, size_t places) {
  enum tutti_status status = TUTTI_OK;
  struct report_bar **sorted = NULL;
  double *free = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *sorted, &sorted));
  TUTTI_TRY_OUT(context, tutti_alloc(context, places, sizeof *free, &free));
  for (size_t i = 0; i < count; i++)
    sorted[i] = &bars[i];
  if (count > 1)
    qsort(sorted, count, sizeof *sorted, by_worker);
  for (size_t i = 0; i < count; i++) {
    struct report_bar *bar = sorted[i];
    for (size_t p = 0; p < places && (i == 0 || bar->worker != sorted[i - 1]->worker); p++)
      free[p] = INFINITY;
    bar->place = choose_place(places, free, bar->at);
    bar->end = fmin(bar->at, free[bar->place]);
    bar->begin = free[bar->place] = bar->end - bar->seconds;
  }
out:
  tutti_free(sorted);
  tutti_free(free);
  return status;
}
