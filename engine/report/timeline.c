/* timeline.c - when the trainings of workers were. A worker reports how long each took; when its result came, the
   manager notes, which may have had other things to do. So a training ended when its result came or before, and before
   the next one of its place began: the latest times that agree with all of that are those drawn. Those of one place
   never overlap, none ends after its result came, and with one place for each worker none is before its true time.
   That can push bars back before the run began. Catalogues may know too little: older ones have no number of places,
   and of a trial that was trained again they name the worker of the second training beside the time of the first. And
   where a worker has several places, a training may be laid on another than its own. A worker whose bars are pushed so
   far gets more places, one by one, until none is: a place of a bar is no more than a line to draw it on. */
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

/* The latest times of the trainings of one worker, sorted[count], the last result first, in so many places. Returns
   whether they go back too far: before 0, though the result of none came so early. */
static bool lay_out(size_t count, struct report_bar *const *sorted, size_t places, double *free) {
  static const double close = 1e-3; /* seconds by which rounding and two clocks may differ */
  bool early = false;
  for (size_t p = 0; p < places; p++)
    free[p] = INFINITY;
  for (size_t i = 0; i < count; i++) {
    struct report_bar *bar = sorted[i];
    bar->place = choose_place(places, free, bar->at);
    bar->end = fmin(bar->at, free[bar->place]);
    bar->begin = free[bar->place] = bar->end - bar->seconds;
    early = early || bar->begin < fmin(0, bar->at - bar->seconds) - close;
  }
  return early;
}

enum tutti_status tutti_report_timeline(tutti_context *context, size_t count, struct report_bar *bars, size_t *places) {
  enum tutti_status status = TUTTI_OK;
  struct report_bar **sorted = NULL;
  double *free = NULL;
  const size_t known = *places;
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *sorted, &sorted));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count > known ? count : known, sizeof *free, &free));
  for (size_t i = 0; i < count; i++)
    sorted[i] = &bars[i];
  if (count > 1)
    qsort(sorted, count, sizeof *sorted, by_worker);
  for (size_t first = 0, end; first < count; first = end) {
    size_t own = known;
    for (end = first + 1; end < count && sorted[end]->worker == sorted[first]->worker;)
      end++;
    while (lay_out(end - first, sorted + first, own, free) && own < end - first)
      own++;
    *places = own > *places ? own : *places;
  }
out:
  tutti_free(sorted);
  tutti_free(free);
  return status;
}
