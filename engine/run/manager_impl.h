/* manager_impl.h - the manager of a run at work: what it holds, and what its parts do for each other (manager.c,
   run_resume.c, run.c). */
#ifndef TUTTI_MANAGER_IMPL_H
#define TUTTI_MANAGER_IMPL_H

#include "run_deadline.h"
#include "run_effort.h"
#include "run_impl.h"
#include "run_live.h"
#include "run_staging.h"

#include <tutti/hosting.h>

/* Facts of a catalogue. */
#define TUTTI_FACT_PLAN "plan"     /* the budget of the run's first session, that builders plan with */
#define TUTTI_FACT_WORKED "worked" /* of a run that has a time: the seconds that it has worked */

struct tutti_manager {
  tutti_context *context;
  const struct tutti_run_options *options;
  const struct tutti_run_config *run;
  struct tutti_experiment *experiment;
  struct tutti_run_pool pool;
  tutti_catalogue *catalogue;
  tutti_builder *builder;
  tutti_pruner *pruner; /* NULL: nothing is pruned */
  tutti_executor *executor;
  tutti_host *station;             /* of `ranks`: the recipe's plugins without data */
  tutti_executor *ranks;           /* holds processes together that others have started; NULL: there are none */
  const char *command[5];          /* that starts a worker; ends with NULL */
  struct tutti_run_staging staged; /* for workers that do not see the directory */
  struct tutti_staging staging;
  struct tutti_history history;
  int lock;
  bool changed;     /* something waits for a commit */
  bool regrown;     /* it goes on with another budget or time than was recorded */
  bool stopping;    /* the time is over, and trainings under way were told to stop */
  bool warm;        /* trials start from the weights of their parents */
  bool timed;       /* what predictions take is measured */
  bool idle;        /* the builder answered "nothing" since the last result was told */
  uint64_t *queue;  /* results to tell in order of completion: [asked] */
  uint64_t arrived; /* ... how many came */
  uint64_t queue_room;
  struct tutti_run_progress progress;
  struct tutti_live live;
  struct tutti_deadline deadline;
  struct tutti_effort effort;
  uint64_t *cancelled; /* [cancelled_count]: trials that are to be cancelled, and have no result yet */
  size_t cancelled_count, cancelled_room;
  double looked;        /* the real clock when somebody looked for such trials last */
  bool rehearsed;       /* the end was tried, to see how long it takes */
  double ahead;         /* of the executor's clock, when that was destroyed, before the real one */
  double began, before; /* the clock at the start; seconds of work of the run's earlier sessions */
  double unrecorded;    /* the real clock when `changed` was set */
  double noted;         /* the seconds of work that were recorded last */
  uint64_t plan;        /* the budget with which the run began; 0: it had none */
};

/* --- manager.c --- */

/* The clock by which trainings take time: the executor's. */
double tutti_manager_clock(const struct tutti_manager *manager);
size_t tutti_manager_workers(const struct tutti_manager *manager);
/* Seconds of work of this run, over all its sessions up to the last recorded moment of each. */
double tutti_manager_worked(const struct tutti_manager *manager);
/* Record these seconds, if the run has a deadline. */
TUTTI_NODISCARD enum tutti_status tutti_manager_record_worked(struct tutti_manager *manager);
void tutti_manager_report(struct tutti_manager *manager, enum tutti_phase phase);
/* Hand a trial to the executor, with its rule if there is a pruner. */
TUTTI_NODISCARD enum tutti_status tutti_manager_submit(struct tutti_manager *manager, uint64_t trial);
/* Ask the pruner what a trial must reach, now. */
TUTTI_NODISCARD enum tutti_status tutti_manager_set_rule(struct tutti_manager *manager, uint64_t trial);
/* Ask the builder for as many trials as there is room, budget and time for. */
TUTTI_NODISCARD enum tutti_status tutti_manager_ask(struct tutti_manager *manager);
/* Tell builder and pruner of a trial's end. */
TUTTI_NODISCARD enum tutti_status tutti_manager_tell(struct tutti_manager *manager, uint64_t trial);
/* A result is there that is not told yet. */
TUTTI_NODISCARD enum tutti_status tutti_manager_arrive(struct tutti_manager *manager, uint64_t trial);
/* Record the result of a trial, anew if it was recorded already. */
TUTTI_NODISCARD enum tutti_status tutti_manager_record(struct tutti_manager *manager, uint64_t trial);
void tutti_manager_note_best(struct tutti_manager *manager, uint64_t trial);
/* Take the replies that come within a second. */
TUTTI_NODISCARD enum tutti_status tutti_manager_collect(struct tutti_manager *manager);
/* Ask, collect and tell until all is trained, or the time is over. */
TUTTI_NODISCARD enum tutti_status tutti_manager_search(struct tutti_manager *manager);

/* A trial is cancelled, and no worker has it: record that. */
TUTTI_NODISCARD enum tutti_status tutti_manager_fail_cancelled(struct tutti_manager *manager, uint64_t trial);

/* --- run_profile.c --- */

/* Say what tutti validate would of the data, once, where a run begins and its table is not too large to be read
   again. */
void tutti_run_say_notes(struct tutti_manager *manager);

/* --- run_cancel.c --- */

#define TUTTI_CANCELLED "cancelled (tutti cancel)" /* why such a trial failed */
/* Look, now and then, which trials a user has cancelled, and end their trainings. */
TUTTI_NODISCARD enum tutti_status tutti_cancel_step(struct tutti_manager *manager);
/* Look now, before anything is trained; nothing is ended. */
TUTTI_NODISCARD enum tutti_status tutti_cancel_recall(struct tutti_manager *manager);
/* Remove what is left of cancellations whose trials have recorded results. */
void tutti_cancel_forget(struct tutti_manager *manager);

/* --- run.c --- */

/* Make the executor. */
TUTTI_NODISCARD enum tutti_status tutti_manager_make_executor(struct tutti_manager *manager);

/* --- run_resume.c --- */

/* The recipe and data in the directory must be those of this run. */
TUTTI_NODISCARD enum tutti_status tutti_manager_check_same_run(struct tutti_manager *manager);
/* A run may go on with a larger budget or time than it began with, but it keeps what it has. The builder is told of the
   budget with which the run began, for whatever it has planned with it. */
TUTTI_NODISCARD enum tutti_status tutti_manager_check_extent(struct tutti_manager *manager);
/* Train `count` trials again, those that are marked as torn. */
TUTTI_NODISCARD enum tutti_status tutti_manager_train_again(struct tutti_manager *manager, uint64_t count);
/* Train trials again whose files are missing or torn. */
TUTTI_NODISCARD enum tutti_status tutti_manager_repair(struct tutti_manager *manager);
/* Bring fresh builder and pruner to the state of the recorded ones: the same asks and tells, in the same order. What a
   larger budget would have asked for in between is asked for there. */
TUTTI_NODISCARD enum tutti_status tutti_manager_replay(struct tutti_manager *manager);

#endif
