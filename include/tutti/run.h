/* run.h - a whole run: search, selection and evaluation, in a run directory that can be resumed, looked at and used.
   Results are JSON texts (free with tutti_free); docs/run-directory.md describes them. */
#ifndef TUTTI_RUN_H
#define TUTTI_RUN_H

#include <tutti/catalogue.h>
#include <tutti/evaluate.h>
#include <tutti/recipe.h>
#include <tutti/selector.h>

TUTTI_BEGIN_DECLS

/* --- the run directory --- */

/* A file or folder of a run directory; docs/run-directory.md says what is in it. */
enum tutti_run_file {
  TUTTI_RUN_FILE_RECIPE,    /* the effective recipe, as INI */
  TUTTI_RUN_FILE_CATALOGUE, /* the trials, as SQLite */
  TUTTI_RUN_FILE_DATA,      /* how raw rows become inputs, as JSON */
  TUTTI_RUN_FILE_SPLITS,    /* folder: rows and targets of each split */
  TUTTI_RUN_FILE_TRIALS,    /* folder: networks, weights and predictions of each trial */
  TUTTI_RUN_FILE_ENSEMBLE,  /* the chosen members, as JSON */
  TUTTI_RUN_FILE_SUMMARY,   /* the result, as JSON */
  TUTTI_RUN_FILE_LOCK,      /* held by the manager while it runs */
  TUTTI_RUN_FILE_LOG,       /* what plugins and libraries print in workers */
  TUTTI_RUN_FILE_NEXT,      /* the ensemble while it is replaced */
  TUTTI_RUN_FILE_LIVE,      /* what the workers are at, as JSON; it is there while the run is at work */
  TUTTI_RUN_FILE_POOLS,     /* of several runs that are one pool: which they are, as JSON */
  TUTTI_RUN_FILE_RUNS,      /* folder: these runs, numbered from 1 */
  TUTTI_RUN_FILE_CANCEL,    /* folder: an empty file for each trial that is to be cancelled, until it is */
  TUTTI_RUN_FILE_INPUTS     /* folder: the inputs that workers map; it is there while the run is at work */
};
/* The path that a file has, or would have, in a run directory; free *path with tutti_free. TUTTI_ERROR_USAGE: `file` is
   none of the above. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_run_file_path(tutti_context *context, const char *directory,
                                                                enum tutti_run_file file, char **path);

/* --- run --- */

enum tutti_phase { TUTTI_PHASE_REPAIR, TUTTI_PHASE_SEARCH, TUTTI_PHASE_SELECT, TUTTI_PHASE_DONE };

/* How far a run has come; told after every durable change. */
struct tutti_run_progress {
  size_t size;
  enum tutti_phase phase;
  uint64_t budget, asked, done, failed; /* budget 0: the time alone says how many; done includes failed and pruned */
  uint64_t restored;                    /* of `done`, from before a resume */
  uint64_t repaired;                    /* trials trained again because their files were torn */
  double best_loss;                     /* NaN while there is none */
  uint64_t best_trial;
  const char *loss; /* name of the loss */
  double seconds;   /* since this manager began */
  uint64_t pruned;  /* of `done` */
  double time;      /* what the run may take, and has taken, over all its sessions; infinity: it has no limit */
  double worked;
  bool launched; /* others have started this process, and agents beside it, as mpirun does */
};

struct tutti_run_options {
  size_t size;
  const char *directory; /* the run directory; made if absent */
  const char *program;   /* the tutti program, for workers */
  bool resume;           /* go on with what is in the directory; false: refuse a directory that has a run */
  int64_t workers;       /* 0: as the recipe says */
  void (*progress)(void *argument, const struct tutti_run_progress *progress); /* may be NULL */
  void *argument;
};

/* Do what the recipe says, to the end. Takes the recipe, also on failure. *summary is the text of summary.json; NULL if
   this process was one of several that were started together, and has served the manager (executor.h). After
   TUTTI_ERROR_CANCELLED and TUTTI_ERROR_FULL the directory is in order and the run can be resumed. TUTTI_ERROR_USAGE:
   the recipe asks for what its plugins or data cannot do; the directory has a run and `resume` is false; or it has a
   run of another recipe or of other data. TUTTI_ERROR_BUSY: another manager is at work in it. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_run(tutti_context *context, tutti_recipe *recipe,
                                                      const struct tutti_run_options *options, char **summary);
/* Read the data of a recipe and say what they hold, as JSON: rows, columns with their roles, contents, missing cells
   and values, and warnings with what to do; of images, their number and shape. This also works where the data are no
   good for a run. *json is NULL if the recipe has no data; free it with tutti_free. TUTTI_ERROR_USAGE: they cannot be
   read, or a key of [data] names a column that is not there. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_run_profile(tutti_context *context, const tutti_recipe *recipe,
                                                              char **json);
/* Check everything that can be checked without training: plugins, capabilities, data, probes of the space. Nothing is
   written. Takes the recipe, also on failure. *summary says what would be done. TUTTI_ERROR_USAGE as for tutti_run. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_run_check(tutti_context *context, tutti_recipe *recipe,
                                                            char **summary);
/* Have a run's trials trials[count] cancelled, which have no result yet: the manager at work in `directory` ends their
   trainings and records them as failed, within a second or two; if none is at work (*running is false), the next one
   does so before it trains anything. Returns at once. TUTTI_ERROR_USAGE: it is no run, or one of them is not a trial of
   it that is still to be trained; then none is cancelled. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_run_cancel(tutti_context *context, const char *directory,
                                                             size_t count, const uint64_t *trials, bool *running);
/* Be a worker, as `tutti worker` is: answer the requests of a run in `directory` on a descriptor until it ends. Returns
   an exit code. */
TUTTI_API int tutti_worker_main(tutti_context *context, const char *directory, int descriptor);

/* --- finished (or stopped, or running) runs --- */

typedef struct tutti_view tutti_view;

/* Open a run directory for reading, also while its run is at work; the caller closes *view. Nothing outside the
   directory is read, except plugins. TUTTI_ERROR_USAGE: it is not a run directory, or the recipe's plugins are gone.
   TUTTI_ERROR_CORRUPT: a file in it is torn. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_view_open(tutti_context *context, const char *directory,
                                                            tutti_view **view);
/* Open `count` runs over the same rows as one pool, whose trials are those of the first run, then those of the second,
   and so on; nothing is written. The recipe is the first run's. TUTTI_ERROR_USAGE, too: they have other rows, losses or
   tasks, or there is no run, or one of them is such a pool itself. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_view_open_all(tutti_context *context, size_t count,
                                                                const char *const *directories, tutti_view **view);
/* Close it; NULL is allowed. */
TUTTI_API void tutti_view_close(tutti_view *view);
/* The counts, best trials, builder's state and ensemble; "running" says whether a manager holds the lock. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_view_status(tutti_context *context, tutti_view *view, char **json);
/* Choose an ensemble from the finished trials with the recipe's selector and overrides[count], "selector.key=value"
   (selector.plugin=NAME for another selector) or "evaluation.key=value", on the rows of `split` ("validation-5"; NULL:
   "validation"). *ensemble is the text of an ensemble.json with its "evaluation"; nothing is written.
   TUTTI_ERROR_USAGE: an override is wrong or is of another section, the split is wrong, or the run has no data.
   TUTTI_ERROR_NUMERIC: no trial has finished. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_view_select(tutti_context *context, tutti_view *view,
                                                              const char *split, size_t count,
                                                              const char *const *overrides, char **ensemble);
/* The same, kept as the run's: ensemble.json and summary.json are written anew, with the ensembles that this selector
   chooses on each shift; *summary is the text of the latter. Metrics are as the recipe says: overrides are of the
   selector, of the calibrator and of evaluation.folds, which judges it, alone. TUTTI_ERROR_BUSY: a manager is at work
   in the directory. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_view_keep(tutti_context *context, tutti_view *view, const char *split,
                                                            size_t count, const char *const *overrides, char **summary);
/* The same for the pool of tutti_view_open_all, kept in a new directory: the runs are copied there (files are linked
   where the file system can), so that it needs no other; tutti_view_open opens it. TUTTI_ERROR_USAGE, too: the
   directory is there and not empty, or the view is of one run. TUTTI_ERROR_BUSY: a manager is at work in one of the
   runs. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_view_keep_to(tutti_context *context, tutti_view *view,
                                                               const char *directory, const char *split, size_t count,
                                                               const char *const *overrides, char **summary);
/* The points of a curve. An empty array stands for its default. */
struct tutti_curve_options {
  size_t size; /* sizeof(struct tutti_curve_options) */
  size_t budgets_count;
  const uint64_t
      *budgets; /* [budgets_count]: numbers of first trials of the run; default: up to 8 even steps to all of them */
  size_t members_count;
  const uint64_t *members; /* [members_count]: sizes of the ensemble; default: the selector's own */
  /* "flops" or "bytes": in place of budgets and members, of which there are then none, ensembles of all trials that
     cost less and less; NULL: no */
  const char *costs;
};
/* The ensembles that would have been chosen from fewer trials, and of other sizes, without training anything; each with
   its metrics on the validation and the test split of the same shift. *json is the text of an array of {"budget",
   "members", "ensemble", "combination", "evaluation"}; a budget in which fewer trials than members finished is left
   out. With options->costs there are "cost", and "front": no other is as cheap and as good, and better in one of the
   two. All else is as for tutti_view_select. TUTTI_ERROR_USAGE, too: a budget is larger than the run, or a size than
   its finished trials, or costs stand beside either. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_view_curve(tutti_context *context, tutti_view *view,
                                                             const char *split, size_t count,
                                                             const char *const *overrides,
                                                             const struct tutti_curve_options *options, char **json);
/* The metrics of an ensemble (the text of an ensemble.json; NULL: the run's own) on all splits, as the recipe and
   overrides[count], "evaluation.key=value", say. TUTTI_ERROR_USAGE: an override is wrong or is of another section, the
   run has no data or no ensemble yet, or a member is not one of its trials. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_view_evaluate(tutti_context *context, tutti_view *view,
                                                                const char *ensemble, size_t count,
                                                                const char *const *overrides, char **json);

/* Predictions for the rows of a new file. */
struct tutti_forecast {
  size_t size;
  enum tutti_task_kind kind;
  size_t rows, outputs;
  struct tutti_uncertainty *predicted; /* [rows][outputs], see evaluate.h */
  char *evaluation; /* if the file has targets: their metrics, as tutti_view_evaluate's text, for a split "new" */
  /* [rows][outputs]: of what the epistemic parts are made; NULL unless a member tells its own part (predictions.h) */
  struct tutti_epistemic_parts *parts;
  int digits; /* of the means that are worth printing: 9, or 17 of values that are large beside their spread */
  /* What the caller asks for, set beforehand: for regression, the level of the intervals, in (0, 1) (0: no intervals),
     and the probabilities of quantiles, each in (0, 1), borrowed; and whether to leave the ensemble's calibrator
     out. */
  double level;
  size_t quantile_count;
  const double *quantiles_at; /* [quantile_count] */
  bool uncalibrated;
  /* Regression, if asked for, else NULL: the central interval of that level, of the mixture or of the calibrator, whose
     ends may be infinite; and quantiles, likewise. NaN if the members give no variance. */
  double *intervals; /* [rows][outputs][2] */
  double *quantiles; /* [rows][outputs][quantile_count] */
  /* What the caller asks for: whether a table may hold rows that cannot be read. Their predictions are NaN, and
     the log says why. Without it, the first is an error. */
  bool tolerant;
  uint8_t *unread; /* [rows]: those; NULL: none */
  char **reasons;  /* [rows]: why they could not be read, in UTF-8, else NULL; NULL: none */
};
/* Predict the rows of the file `path`, read as the run's data were, with an ensemble (NULL: the run's own) and, unless
   the caller does without, its calibrator. *forecast is overwritten but for what the caller asks; the caller releases
   it. TUTTI_ERROR_USAGE: the file does not fit the run's data, the run has none, a member or its weights are missing,
   or a level or quantile is not in (0, 1). TUTTI_ERROR_CORRUPT: the ensemble's calibration is torn. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_view_predict(tutti_context *context, tutti_view *view,
                                                               const char *ensemble, const char *path,
                                                               struct tutti_forecast *forecast);
/* Free what was predicted, and the metrics. */
TUTTI_API void tutti_forecast_release(struct tutti_forecast *forecast);
/* What the run's ensemble predicts: numbers or classes. */
TUTTI_API enum tutti_task_kind tutti_view_kind(const tutti_view *view);
/* The name of target or class number `index`, for headings; borrowed. */
TUTTI_API const char *tutti_view_output(const tutti_view *view, size_t index);

TUTTI_END_DECLS
#endif
