/* run_impl.h - the run directory and the manager's state. */
#ifndef TUTTI_RUN_IMPL_H
#define TUTTI_RUN_IMPL_H

#include "experiment_impl.h"
#include "run_files.h"

#include <jansson.h>
#include <tutti/calibrator.h>
#include <tutti/run.h>

/* --- run directory (run_directory.c) --- */

/* Before anything is written: is the path short enough for every file of a run, and if trials are there, is their
   catalogue? TUTTI_ERROR_USAGE, TUTTI_ERROR_CORRUPT. */
TUTTI_NODISCARD enum tutti_status tutti_run_check_directory(tutti_context *context, const char *directory);
/* Take the manager's lock, or fail with TUTTI_ERROR_BUSY. The lock dies with the process; closing *lock releases it. */
TUTTI_NODISCARD enum tutti_status tutti_run_lock(tutti_context *context, const char *directory, int *lock);
bool tutti_run_is_locked(const char *directory);
/* TUTTI_ERROR_USAGE: a new run here would write over a file of the user's, such as the recipe itself. */
TUTTI_NODISCARD enum tutti_status tutti_run_directory_check_free(tutti_context *context, const char *directory);
/* Make the directory of a new run: folders, recipe.ini, data.json, splits/. */
TUTTI_NODISCARD enum tutti_status tutti_run_directory_make(tutti_context *context, const char *directory,
                                                           const struct tutti_experiment *experiment);
/* The record of these files, for the catalogue's fact "files"; free *json with tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_run_record_files(tutti_context *context, const char *directory,
                                                         const struct tutti_experiment *experiment, char **json);
/* Write the recipe of a run that shares the catalogue of another, with a checksum of its own. */
TUTTI_NODISCARD enum tutti_status tutti_run_write_own_recipe(tutti_context *context, const char *directory,
                                                             const char *recipe);
/* Record such a recipe in the directory's catalogue, of a copy that has one of its own. */
TUTTI_NODISCARD enum tutti_status tutti_run_record_own_recipe(tutti_context *context, const char *directory);
/* Are they as they were recorded? *why (free with tutti_free) says what is not, and is NULL if all is well. */
TUTTI_NODISCARD enum tutti_status tutti_run_check_files(tutti_context *context, const char *directory,
                                                        tutti_catalogue *catalogue, char **why);
/* The data set as the directory keeps it, with rows and targets but without inputs; NULL if the recipe has no data.
   Destroy *dataset. */
TUTTI_NODISCARD enum tutti_status tutti_run_dataset(tutti_context *context, const char *directory,
                                                    const tutti_recipe *recipe, tutti_dataset **dataset);

/* What the predictions of each target are counted from: origins[targets], all 0 if the run's data.json names none. */
TUTTI_NODISCARD enum tutti_status tutti_run_origins(tutti_context *context, const char *directory, size_t targets,
                                                    double *origins);

/* --- the end of a run (run_end.c) --- */

/* How many of its trials are done; 0 while there is no catalogue that can be read. */
uint64_t tutti_run_trials_done(tutti_context *context, const char *directory);
/* Has it a summary of all trials of its search, and does the recipe (NULL: not known) ask for no more? A run that was
   killed while it went on has the summary of before. */
TUTTI_NODISCARD enum tutti_status tutti_run_is_at_end(tutti_context *context, const char *directory,
                                                      const tutti_recipe *wanted, bool *at_end);

/* --- the manager (run.c) --- */

/* As tutti_run_check; *timed: the run would measure what predictions take. */
TUTTI_NODISCARD enum tutti_status tutti_run_check_timed(tutti_context *context, tutti_recipe *recipe, bool *timed,
                                                        char **summary);

/* --- pool (run_pool.c) --- */

/* Predictions of trials, mapped from the run directory; a tutti_host_facts.pool. */
struct tutti_run_pool {
  const char *directory;
  const struct tutti_experiment *experiment;
  /* The reports of the trials, which say how their files were: from one of these. */
  const struct tutti_history *history;
  const struct tutti_reports *reports;
};
TUTTI_NODISCARD enum tutti_status tutti_run_pool_open(void *argument, tutti_context *context, const char *split,
                                                      size_t count, const uint64_t *trials, struct tutti_pool *pool);
void tutti_run_pool_release(void *argument, struct tutti_pool *pool);
/* The same with given targets, without the run's data; they are borrowed. Of `source`, the experiment is not used.
   Release it in the same way, without an argument. */
TUTTI_NODISCARD enum tutti_status tutti_run_pool_map(tutti_context *context, const struct tutti_run_pool *source,
                                                     const char *split, const struct tutti_targets *targets,
                                                     enum tutti_loss loss, size_t count, const uint64_t *trials,
                                                     struct tutti_pool *pool);
/* The run of which a trial is: `source` itself or, of several runs, one of them, and *trial becomes its number
   there. */
const struct tutti_run_pool *tutti_run_pool_of(const struct tutti_run_pool *source, uint64_t *trial);
/* The report of a trial, borrowed. TUTTI_ERROR_USAGE: it is not a trial of the run, or has no result. */
TUTTI_NODISCARD enum tutti_status tutti_run_report(tutti_context *context, const struct tutti_run_pool *source,
                                                   uint64_t trial, const char **report);

/* --- networks (run_network.c) --- */

/* The network of a trial as it was trained. If the space makes another one of the candidate now, there is a warning. */
TUTTI_NODISCARD enum tutti_status tutti_run_read_network(tutti_context *context, const struct tutti_run_pool *source,
                                                         uint64_t trial, tutti_network **network);
/* The same as it computes: without inputs that it leaves out, as its report says. */
TUTTI_NODISCARD enum tutti_status tutti_run_computed_network(tutti_context *context,
                                                             const struct tutti_run_pool *source, uint64_t trial,
                                                             tutti_network **network);
/* Warn of the first finished trial of which that is so. */
TUTTI_NODISCARD enum tutti_status tutti_run_compare_networks(tutti_context *context,
                                                             const struct tutti_run_pool *source);

/* --- ensembles (run_ensemble.c) --- */

/* How to choose an ensemble, and from which trials. */
struct tutti_choice {
  struct tutti_run_pool *source;
  const tutti_host *host; /* its section "selector" has the parameters */
  uint64_t seed;
  const char *split; /* the split whose rows are used */
  size_t members;    /* 0: as many as the selector's parameters say */
  size_t count;
  const uint64_t *trials; /* [count], ascending */
  const struct tutti_evaluation_options *evaluation;
};
TUTTI_NODISCARD enum tutti_status tutti_run_choose(tutti_context *context, const struct tutti_choice *choice,
                                                   tutti_ensemble *ensemble);
/* Text of ensemble.json, with what is said of its calibration (NULL: it has none), and back. */
TUTTI_NODISCARD enum tutti_status tutti_ensemble_print(tutti_context *context, const tutti_ensemble *ensemble,
                                                       const char *selector, enum tutti_loss loss,
                                                       const json_t *calibration, char **json);
TUTTI_NODISCARD enum tutti_status tutti_ensemble_parse(tutti_context *context, const char *json,
                                                       tutti_ensemble **ensemble);
/* Trials of the members, ascending, as pools want them; free with tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_run_members(tutti_context *context, const tutti_ensemble *ensemble,
                                                    uint64_t **trials);
/* Metrics on every split except the training rows, as JSON text of an array; with a calibrator (NULL: none), on test
   rows also "calibrated". If `shift` is not NULL, only on the two splits named "validation" and "test" with `shift`
   appended ("" for the clean ones, or "-5"). */
struct tutti_history; /* below */
TUTTI_NODISCARD enum tutti_status tutti_run_evaluate(tutti_context *context, struct tutti_run_pool *source,
                                                     const struct tutti_history *history,
                                                     const tutti_ensemble *ensemble, tutti_calibrator *calibrator,
                                                     const struct tutti_evaluation_options *options, const char *shift,
                                                     char **json);
/* The same on one pool that has targets and only the members, under the name of a split; the array has one item. */
TUTTI_NODISCARD enum tutti_status tutti_run_evaluate_pool(tutti_context *context,
                                                          const struct tutti_experiment *experiment,
                                                          const struct tutti_history *history, const char *name,
                                                          const struct tutti_pool *pool, const tutti_ensemble *ensemble,
                                                          tutti_calibrator *calibrator, char **json);
/* The part of a split's name after "validation" ("" or "-5"); TUTTI_ERROR_USAGE for any other split. */
TUTTI_NODISCARD enum tutti_status tutti_run_shift_of(tutti_context *context, const struct tutti_experiment *experiment,
                                                     const char *split, const char **shift);
/* For each shifted validation split, choose an ensemble and evaluate it there and on the test split of that shift. JSON
   text of an array, or NULL if the data are not shifted. `choice` has everything except the split (run_shifts.c). */
TUTTI_NODISCARD enum tutti_status tutti_run_shifts(tutti_context *context, const struct tutti_choice *choice,
                                                   const struct tutti_history *history, char **json);
/* Ensembles of several sizes, chosen from growing numbers of the run's first trials (run_shifts.c). */
TUTTI_NODISCARD enum tutti_status tutti_run_curve(tutti_context *context, const struct tutti_choice *choice,
                                                  const struct tutti_history *history,
                                                  const struct tutti_curve_options *options, char **json);

/* The kind of cost of that name. TUTTI_ERROR_USAGE: there is none. */
TUTTI_NODISCARD enum tutti_status tutti_run_cost_parse(tutti_context *context, const char *name, enum tutti_cost *cost);
/* Append to `points` ensembles that cost less and less, as those of a curve, with "cost" and "front" (run_costs.c). */
TUTTI_NODISCARD enum tutti_status tutti_run_costs(tutti_context *context, const struct tutti_choice *choice,
                                                  const struct tutti_history *history, enum tutti_cost cost,
                                                  json_t *points);

/* --- calibration (run_calibration.c) --- */

/* An ensemble's calibration: what ensemble.json says of it (NULL: the recipe has none), and the fitted calibrator
   (NULL: it was refused, and the ensemble stays as it is). */
struct tutti_run_calibration {
  json_t *said;
  tutti_calibrator *calibrator;
  tutti_host *host; /* that a restored calibrator was made with */
};
/* Fit the calibrator of the choice's host to the chosen ensemble. Release it, also after a failure. */
TUTTI_NODISCARD enum tutti_status tutti_run_calibrate(tutti_context *context, const struct tutti_choice *choice,
                                                      const tutti_ensemble *ensemble,
                                                      struct tutti_run_calibration *calibration);
/* Read it back from the text of an ensemble.json. Nothing is left after a failure. TUTTI_ERROR_CORRUPT: it is torn. */
TUTTI_NODISCARD enum tutti_status tutti_run_restore_calibration(tutti_context *context,
                                                                const struct tutti_experiment *experiment,
                                                                const char *ensemble,
                                                                struct tutti_run_calibration *calibration);
void tutti_run_calibration_release(struct tutti_run_calibration *calibration);

/* --- the result (run_result.c) --- */

/* Write the chosen ensemble (NULL: there is none) and the summary: at the end of a run, and whenever another ensemble
   is kept. *summary gets a checksum of itself first. */
TUTTI_NODISCARD enum tutti_status tutti_run_write_result(tutti_context *context, const char *directory,
                                                         const char *ensemble, char **summary);
/* The text of ensemble.json; NULL if there is none. TUTTI_ERROR_CORRUPT: it is not the one of summary.json. */
TUTTI_NODISCARD enum tutti_status tutti_run_read_ensemble(tutti_context *context, const char *directory, char **text);
/* summary.json, parsed; NULL if there is none. TUTTI_ERROR_CORRUPT: it is not as it was written. */
TUTTI_NODISCARD enum tutti_status tutti_run_read_summary(tutti_context *context, const char *directory,
                                                         json_t **summary);

/* A fact of the catalogue: how many trainings a worker had at once, if it was more than one. */
#define TUTTI_FACT_CAPACITY "capacity"

/* --- history (run_history.c) --- */

/* The manager's record of a trial. */
struct tutti_record {
  tutti_candidate *candidate;
  uint64_t parent, asked_after, told; /* told: TUTTI_NO_TRIAL until it is told */
  char origin[96];
  bool done;
  enum tutti_state state;
  double loss, seconds;
  double at;       /* of the run's work when the result came; NaN: not recorded */
  uint32_t worker; /* where it was trained */
  int64_t lost;    /* how many workers were lost on it */
  char *failure;   /* NULL unless failed */
  char *report;
  bool stopping;     /* its worker was told to stop */
  double stop_since; /* ... at this time of the real clock, if it is cancelled */
  bool cancelled;    /* a user wants no result of it */
  bool repeated;     /* of several runs that are one pool: a run before its own has the same model */
  bool torn;         /* its files are not as they were recorded, and it is trained again */
  char *rule;        /* what its pruner asks of it, as JSON, while it has no result; NULL: nothing is pruned */
};
struct tutti_history {
  struct tutti_record *records; /* [asked] */
  uint64_t asked, told, done, failed, pruned, room;
  uint64_t members_from; /* trials with lower numbers only inform the search */
  /* Of several runs that are one pool (joined.c), whose records are borrowed: theirs. NULL: it is one run. */
  size_t part_count;
  const struct tutti_part *parts; /* [part_count] */
};
/* One of these runs. Its trial t is trial first + t of them all. */
struct tutti_part {
  uint64_t first;
  tutti_view *view;
  char *name;      /* the directory that it came from */
  size_t repeated; /* so many of its models runs before it have, too */
};
TUTTI_NODISCARD enum tutti_status tutti_history_load(tutti_context *context, tutti_catalogue *catalogue,
                                                     const tutti_scope *scope, struct tutti_history *history);
/* The reports alone, for a run whose candidates are not needed: texts [count] by trial; NULL where there is no
   result. */
struct tutti_reports {
  char **texts;
  uint64_t count, room;
};
TUTTI_NODISCARD enum tutti_status tutti_reports_load(tutti_context *context, tutti_catalogue *catalogue,
                                                     struct tutti_reports *reports);
void tutti_reports_release(struct tutti_reports *reports);
/* Make room for so many trials in all, so that no later step has to move those that are there; for a very large number
   for part of them. */
TUTTI_NODISCARD enum tutti_status tutti_history_reserve(tutti_context *context, struct tutti_history *history,
                                                        uint64_t trials);
TUTTI_NODISCARD enum tutti_status tutti_history_add(tutti_context *context, struct tutti_history *history,
                                                    const struct tutti_proposal *proposal);
void tutti_history_release(struct tutti_history *history);
/* Numbers of the trials that may be members, ascending: finished ones, and pruned ones that were kept with their
   predictions. A model of several runs is that of the first alone. Free with tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_history_finished(tutti_context *context, const struct tutti_history *history,
                                                         uint64_t **trials, size_t *count);
/* How many trials have the architecture and the hyperparameters of an earlier one. */
TUTTI_NODISCARD enum tutti_status tutti_history_repeats(tutti_context *context, const struct tutti_history *history,
                                                        uint64_t *repeats);
/* How often trials failed, and why: [{"count", "others", "text"}], most frequent first, where texts that differ by
   numbers alone count as one, and `others` of them have other numbers than this one. The caller ends it with
   json_decref. */
TUTTI_NODISCARD enum tutti_status tutti_history_failures(tutti_context *context, const struct tutti_history *history,
                                                         struct json_t **failures);
/* TUTTI_ERROR_NUMERIC: none of these trials finished, so there is nothing to choose an ensemble from; the message says
   why they failed. */
TUTTI_NODISCARD enum tutti_status tutti_history_nothing(tutti_context *context, const struct tutti_history *history);
/* Of several runs, the one that a trial is of. */
const struct tutti_part *tutti_history_part(const struct tutti_history *history, uint64_t trial);
/* The scope of a trial's candidate: `own` or, of several runs, that of its run. */
const tutti_scope *tutti_history_scope(const struct tutti_history *history, uint64_t trial, const tutti_scope *own);
/* Was a trial trained by a learner that takes no networks? Then its candidate has an architecture that nobody looked
   at. */
bool tutti_history_without_network(const struct tutti_history *history, uint64_t trial);
/* The candidate of a trial for people, as JSON; without such an architecture. `scope` is that of the run itself; free
   *text with tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_history_say_candidate(tutti_context *context,
                                                              const struct tutti_history *history, uint64_t trial,
                                                              const tutti_scope *scope, char **text);
/* Number of the finished trial with the least loss, or TUTTI_NO_TRIAL. */
uint64_t tutti_history_best(const struct tutti_history *history);

/* --- trials without predictions (run_values.c) --- */

struct json_t;
/* The measures in a trial's report, a new reference; NULL if it has none. */
struct json_t *tutti_run_measures(const struct tutti_record *record);
/* Choose from the finished trials by their losses alone, where no trial has predictions. Trials with the same
   candidate, loss and measures as an earlier one are left out: they are the same thing, looked up again. *json is the
   text of ensemble.json, or NULL if the selector of the host's section "selector" needs predictions. */
TUTTI_NODISCARD enum tutti_status tutti_run_choose_by_loss(tutti_context *context,
                                                           const struct tutti_experiment *experiment,
                                                           const tutti_host *host, const struct tutti_history *history,
                                                           char **json);
/* What the summary says of such an ensemble: "members" (each one's loss, measures and architecture), "mean" (over
   them), "note". The caller ends *described with json_decref. */
TUTTI_NODISCARD enum tutti_status tutti_run_describe_values(tutti_context *context,
                                                            const struct tutti_experiment *experiment,
                                                            const struct tutti_history *history, const char *ensemble,
                                                            struct json_t **described);

/* --- fits (run_fit.c) --- */

/* Add to a summary what the repeats of a fit say together, as far as they are done: "fit" and "evaluation". */
TUTTI_NODISCARD enum tutti_status tutti_run_describe_fit(tutti_context *context,
                                                         const struct tutti_experiment *experiment,
                                                         const struct tutti_history *history, struct json_t *summary);

/* --- summary (run_summary.c) --- */

/* Text of summary.json. `ensemble`, `evaluation` and `shifts` are JSON texts or NULL. */
TUTTI_NODISCARD enum tutti_status tutti_run_summary(tutti_context *context, const struct tutti_experiment *experiment,
                                                    const struct tutti_history *history, const char *ensemble,
                                                    const char *evaluation, const char *shifts, char **json);
/* What is made of a pool: the texts of ensemble.json and of its evaluations, each maybe NULL. */
struct tutti_run_ending {
  char *chosen, *evaluation, *shifts;
};
/* Choose and evaluate; nothing is written. The caller zeroes *ending and releases it, also on failure. */
TUTTI_NODISCARD enum tutti_status tutti_run_end(tutti_context *context, struct tutti_run_pool *source,
                                                const tutti_host *host, const struct tutti_history *history,
                                                struct tutti_run_ending *ending);
void tutti_run_ending_release(struct tutti_run_ending *ending);
/* The same, of which nothing is kept or logged. */
TUTTI_NODISCARD enum tutti_status tutti_run_rehearse(tutti_context *context, struct tutti_run_pool *source,
                                                     const tutti_host *host, const struct tutti_history *history);
/* Write ensemble.json and summary.json; *summary is the text of the latter. */
TUTTI_NODISCARD enum tutti_status tutti_run_finish(tutti_context *context, const struct tutti_run_pool *source,
                                                   const struct tutti_history *history,
                                                   const struct tutti_run_ending *ending, char **summary);

#endif
