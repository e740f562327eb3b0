/* run_deadline.h - a run that has a time (run.time): may another training begin, and is it time to stop? By the clock
   that is never set back, and by the durations of the trainings so far. */
#ifndef TUTTI_RUN_DEADLINE_H
#define TUTTI_RUN_DEADLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So many durations are remembered, the latest: an odd number, so that one is in the middle. */
enum { TUTTI_DEADLINE_RECENT = 255 };

struct tutti_deadline {
  double time;      /* seconds that the run may take; infinity: it has no deadline */
  double finishing; /* of these, what selection and evaluation at the end will probably take */
  bool stops;       /* what is under way at the end stops, and counts: half of a training is worth beginning */
  double least;     /* seconds after the time that trainings have at least to stop; 0: they are not told to */
  size_t slots;     /* trainings side by side */
  uint64_t count;   /* trainings that ended, with the mean of their seconds */
  double mean;
  double recent[TUTTI_DEADLINE_RECENT], sorted[TUTTI_DEADLINE_RECENT]; /* the latest: as they came, and ascending */
};

/* A training ended after so many seconds. */
void tutti_deadline_note(struct tutti_deadline *deadline, double seconds);
/* Will another training probably end in time, when the run has worked for so long and `outstanding` are to be done
   before it? As long as no duration is known, one for each slot may begin. */
bool tutti_deadline_allows(const struct tutti_deadline *deadline, double worked, uint64_t outstanding);
/* Is the time over, less what the end takes? */
bool tutti_deadline_is_over(const struct tutti_deadline *deadline, double worked);
/* The seconds until it is; infinity without a deadline. */
double tutti_deadline_until_over(const struct tutti_deadline *deadline, double worked);
/* The seconds until trainings that have not ended are given up: a twentieth of the time after it is over, or
   `least`, less what the end takes. May be negative; infinity without a deadline. */
double tutti_deadline_left(const struct tutti_deadline *deadline, double worked);

#endif
