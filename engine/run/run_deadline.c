/* run_deadline.c - the estimates that end a run in time. */
#include "run_deadline.h"

#include <math.h>

/* How much later than asked for a run may end, of its time, so that trainings near their end are not lost. */
static const double grace = 0.05;

void tutti_deadline_note(struct tutti_deadline *deadline, double seconds) {
  double from = seconds - deadline->mean;
  deadline->count++;
  deadline->mean += from / (double)deadline->count;
  deadline->squares += from * (seconds - deadline->mean);
}

/* The seconds that a training should have: most are done after their mean and a standard deviation. */
static double wanted(const struct tutti_deadline *deadline) {
  static const double half = 0.5;
  if (deadline->stops)
    return half * deadline->mean;
  double more = deadline->count > 1 ? sqrt(deadline->squares / (double)(deadline->count - 1)) : 0;
  return deadline->mean + more;
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
