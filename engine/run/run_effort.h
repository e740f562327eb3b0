/* run_effort.h - what a manager's work costs: the time that asking, telling, recording, taking replies and saying how
   things stand take, for whoever wants to know how many workers one manager can keep busy. */
#ifndef TUTTI_RUN_EFFORT_H
#define TUTTI_RUN_EFFORT_H

#include <stdint.h>
#include <tutti/clock.h>

enum tutti_effort_part {
  TUTTI_EFFORT_ASK,    /* the builder's answers, pruners' rules, requests */
  TUTTI_EFFORT_TELL,   /* results told to builder and pruner */
  TUTTI_EFFORT_RECORD, /* changes made durable */
  TUTTI_EFFORT_REPLY,  /* replies read and noted */
  TUTTI_EFFORT_STATUS, /* what `tutti status` reads, once a second */
  TUTTI_EFFORT_WAIT,   /* for replies */
  TUTTI_EFFORT_PARTS
};

/* A step is what the manager does between two waits. */
struct tutti_effort {
  double seconds[TUTTI_EFFORT_PARTS];
  uint64_t times[TUTTI_EFFORT_PARTS];
  double longest, longest_parts[TUTTI_EFFORT_PARTS]; /* the longest step, and what its parts took */
  double busiest;                                    /* the most that a step took of the processor's time */
  double began, began_processor, began_parts[TUTTI_EFFORT_PARTS]; /* the readings when this step began; 0: none has */
};

/* `part` has taken the time since `begin`, a reading of tutti_clock. */
static inline void tutti_effort_add(struct tutti_effort *effort, enum tutti_effort_part part, double begin) {
  effort->seconds[part] += tutti_clock() - begin;
  effort->times[part]++;
}

/* A wait has ended. */
void tutti_effort_begin_step(struct tutti_effort *effort);
/* A wait begins. */
void tutti_effort_end_step(struct tutti_effort *effort);

struct tutti_manager;
/* Tell the log, as information: each part, memory, and what the executor says of its workers. */
void tutti_effort_log(const struct tutti_manager *manager);

#endif
