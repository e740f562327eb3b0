/* run_deadline.c - the estimates that end a run in time. */
#include "run_deadline.h"

#include <math.h>

/* How much later than asked for a run may end, of its time, so that trainings near their end are not lost. */
static const double grace = 0.05;

static size_t remembered(const struct tutti_deadline *deadline) {
  return deadline->count < TUTTI_DEADLINE_RECENT ? (size_t)deadline->count : TUTTI_DEADLINE_RECENT;
}

/* Put a duration among the sorted ones, in the place of the oldest if there are as many as are remembered. */
static void sort_in(struct tutti_deadline *deadline, double seconds) {
  size_t known = remembered(deadline), place = known;
  double *sorted = deadline->sorted;
  if (known == TUTTI_DEADLINE_RECENT)
    for (place = 0; sorted[place] < deadline->recent[deadline->count % known];)
      place++;
  for (; place > 0 && sorted[place - 1] > seconds; place--)
    sorted[place] = sorted[place - 1];
  for (; place + 1 < known && sorted[place + 1] < seconds; place++)
    sorted[place] = sorted[place + 1];
  sorted[place] = seconds;
}

void tutti_deadline_note(struct tutti_deadline *deadline, double seconds) {
  if (!isfinite(seconds))
    return;
  sort_in(deadline, seconds);
  deadline->recent[deadline->count % TUTTI_DEADLINE_RECENT] = seconds;
  deadline->count++;
  deadline->mean += (seconds - deadline->mean) / (double)deadline->count;
}

/* The seconds that a training should have: half of the latest were done in them. A few that take much longer do not
   count: one of these that begins in the end is lost, and that costs less than leaving all workers idle for so long. So
   nothing is wanted before some are known: the first may be one of these. */
static double wanted(const struct tutti_deadline *deadline) {
  static const double half = 0.5;
  enum { SOME = 3 };
  if (deadline->count < SOME)
    return 0;
  return deadline->stops ? half * deadline->mean : deadline->sorted[remembered(deadline) / 2];
}

bool tutti_deadline_allows(const struct tutti_deadline *deadline, double worked, uint64_t outstanding) {
  if (isinf(deadline->time))
    return true;
  double left = deadline->time - deadline->finishing - worked;
  if (deadline->count == 0)
    return left > 0 && outstanding < deadline->slots;
  /* It begins when a slot is free: of those that are busy, one becomes free every mean / slots. */
  double slots = (double)deadline->slots, before = (double)outstanding + 1 - slots;
  return left > 0 && fmax(before, 0) * deadline->mean / slots + wanted(deadline) <= left;
}

bool tutti_deadline_is_over(const struct tutti_deadline *deadline, double worked) {
  return worked >= deadline->time - deadline->finishing;
}

double tutti_deadline_until_over(const struct tutti_deadline *deadline, double worked) {
  return fmax(deadline->time - deadline->finishing - worked, 0);
}

double tutti_deadline_left(const struct tutti_deadline *deadline, double worked) {
  return deadline->time + fmax(grace * deadline->time, deadline->least) - deadline->finishing - worked;
}
