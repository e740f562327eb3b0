/* run_live.h - what a run's workers are at: for people who look on while it works (live.json). Nothing depends on it.
   */
#ifndef TUTTI_RUN_LIVE_H
#define TUTTI_RUN_LIVE_H

#include <tutti/executor.h>
#include <tutti/run.h>

/* A training under way. */
struct tutti_live_place {
  bool busy;
  uint64_t trial;
  double since; /* the clock when it began */
  uint32_t epoch, epochs;
  double loss; /* on the validation rows after that epoch; NaN */
};
struct tutti_live {
  size_t workers, capacity;
  struct tutti_live_place *places; /* [workers][capacity] */
  double worked;                   /* seconds of the trainings that ended */
  double due;                      /* the real clock when the file is to be written again */
  bool there;                      /* the file is */
};

TUTTI_NODISCARD enum tutti_status tutti_live_begin(tutti_context *context, struct tutti_live *live, size_t workers,
                                                   size_t capacity);
/* Remove the file, and free what is held. */
void tutti_live_end(tutti_context *context, struct tutti_live *live, const char *directory);
/* A reply came from a worker: of progress, or of a trial's end. Here and below, `now` is of the clock by which
   trainings take time. */
void tutti_live_note(struct tutti_live *live, double now, const struct tutti_reply *reply);
/* The seconds that the longest of the trainings under way has taken; 0: there is none. */
double tutti_live_longest(const struct tutti_live *live, double now);
/* Write the file, if the last time was a second ago, or longer with so many workers that writing takes its time.
   `left`: the seconds that the run will still take; NaN: not known. */
void tutti_live_write(tutti_context *context, struct tutti_live *live, double now, const char *directory,
                      const struct tutti_run_progress *progress, double left);

#endif
