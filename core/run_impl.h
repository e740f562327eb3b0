/* run_impl.h - the run directory and the manager's state. */
#ifndef TUTTI_RUN_IMPL_H
#define TUTTI_RUN_IMPL_H

#include "experiment_impl.h"

#include <tutti/run.h>

/* --- run directory (run_directory.c) --- */

/* DIRECTORY/NAME; free with tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_run_path(tutti_context *context, const char *directory, const char *name,
                                                 char **path);
/* Take the manager's lock, or TUTTI_ERROR_BUSY. It dies with the process; closing *lock gives it back. */
TUTTI_NODISCARD enum tutti_status tutti_run_lock(tutti_context *context, const char *directory, int *lock);
bool tutti_run_is_locked(const char *directory);
/* Make the directory of a new run: folders, recipe.ini, data.json, splits/. */
TUTTI_NODISCARD enum tutti_status tutti_run_directory_make(tutti_context *context, const char *directory,
                                                           const struct tutti_experiment *experiment);
/* Is there a run in it? */
bool tutti_run_directory_has_run(const char *directory);

/* --- pool (run_pool.c) --- */

/* Predictions of trials, mapped from the run directory; a tutti_host_facts.pool. */
struct tutti_run_pool {
  const char *directory;
  const struct tutti_experiment *experiment;
};
TUTTI_NODISCARD enum tutti_status tutti_run_pool_open(void *argument, tutti_context *context, const char *split,
                                                      size_t count, const uint64_t *trials, struct tutti_pool *pool);
void tutti_run_pool_release(void *argument, struct tutti_pool *pool);

/* --- ensembles (run_ensemble.c) --- */

/* Choose from these trials with the selector of a host's section "selector". */
TUTTI_NODISCARD enum tutti_status tutti_run_choose(tutti_context *context, const tutti_host *host, uint64_t seed,
                                                   struct tutti_run_pool *source, size_t count, const uint64_t *trials,
                                                   tutti_ensemble *ensemble);
/* Text of ensemble.json, and back. */
TUTTI_NODISCARD enum tutti_status tutti_ensemble_print(tutti_context *context, const tutti_ensemble *ensemble,
                                                       const char *selector, enum tutti_loss loss, char **json);
TUTTI_NODISCARD enum tutti_status tutti_ensemble_parse(tutti_context *context, const char *json,
                                                       tutti_ensemble **ensemble);
/* Trials of the members, ascending, as pools want them; free with tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_run_members(tutti_context *context, const tutti_ensemble *ensemble,
                                                    uint64_t **trials);
/* Metrics on every split with targets, as a JSON array text. */
struct tutti_history; /* below */
TUTTI_NODISCARD enum tutti_status tutti_run_evaluate(tutti_context *context, struct tutti_run_pool *source,
                                                     const struct tutti_history *history,
                                                     const tutti_ensemble *ensemble, char **json);

/* --- history (run_history.c) --- */

/* What the manager remembers of a trial. */
struct tutti_record {
  tutti_candidate *candidate;
  uint64_t parent, asked_after, told; /* told: TUTTI_NO_TRIAL until it is */
  char origin[96];
  bool done;
  enum tutti_state state;
  double loss, seconds;
  int64_t lost;  /* how many workers were lost over it */
  char *failure; /* NULL unless failed */
  char *report;
};
struct tutti_history {
  struct tutti_record *records; /* [asked] */
  uint64_t asked, told, done, failed, room;
};
TUTTI_NODISCARD enum tutti_status tutti_history_load(tutti_context *context, tutti_catalogue *catalogue,
                                                     const tutti_scope *scope, struct tutti_history *history);
TUTTI_NODISCARD enum tutti_status tutti_history_add(tutti_context *context, struct tutti_history *history,
                                                    const struct tutti_proposal *proposal);
void tutti_history_release(struct tutti_history *history);
/* Numbers of the finished trials, ascending; free with tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_history_finished(tutti_context *context, const struct tutti_history *history,
                                                         uint64_t **trials, size_t *count);
/* Number of the finished trial with the least loss, or TUTTI_NO_TRIAL. */
uint64_t tutti_history_best(const struct tutti_history *history);
/* "3 trials: took longer ...; 1 trial: diverged ...", most frequent first; free with tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_history_failures(tutti_context *context, const struct tutti_history *history,
                                                         char **text);

/* --- summary (run_summary.c) --- */

/* Text of summary.json. `ensemble` and `evaluation` are JSON texts or NULL. */
TUTTI_NODISCARD enum tutti_status tutti_run_summary(tutti_context *context, const struct tutti_experiment *experiment,
                                                    const struct tutti_history *history, const char *ensemble,
                                                    const char *evaluation, char **json);
/* Choose, evaluate, write ensemble.json and summary.json; *summary is the latter's text. */
TUTTI_NODISCARD enum tutti_status tutti_run_finish(tutti_context *context, struct tutti_run_pool *source,
                                                   const tutti_host *host, const struct tutti_history *history,
                                                   char **summary);

#endif
