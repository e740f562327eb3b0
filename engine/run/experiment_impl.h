/* experiment_impl.h - what a recipe defines: data, space, scope, backend. Managers, workers and readers of finished
   runs each make one. */
#ifndef TUTTI_EXPERIMENT_IMPL_H
#define TUTTI_EXPERIMENT_IMPL_H

#include "engine/data/head_impl.h"
#include "engine/fit/fit_impl.h"

#include <tutti/data.h>
#include <tutti/hosting.h>
#include <tutti/plugin.h>
#include <tutti/recipe.h>

struct tutti_experiment {
  tutti_recipe *recipe;
  tutti_dataset *dataset;         /* NULL for TUTTI_TASK_VALUE; that of the first repeat of a fit */
  struct tutti_fit_splits splits; /* of a fit with fit.test_rows; else empty */
  struct tutti_task task;         /* of candidates whose hyperparameters say nothing of the head */
  enum tutti_loss loss;           /* the loss that builders and selectors minimise */
  struct tutti_host_facts facts;
  tutti_host *host;
  tutti_space *space; /* NULL of a fit, whose candidates are seeds */
  tutti_scope *scope;
  tutti_backend *backend; /* NULL of a fit, and in a run that is looked at, until it is needed */
  char *plugins; /* of a manager and its workers: the files of those that train (run_plugins.h); NULL: not compared */
};

/* Is it a fit of a surrogate, of which each trial is a repeat, and not a search? */
bool tutti_experiment_is_fit(const struct tutti_experiment *experiment);
/* The seed of a trial's data: the run's, but of a fit each repeat has its own. */
uint64_t tutti_experiment_data_seed(const struct tutti_experiment *experiment, uint64_t trial);
/* Load a trial's data set; the caller destroys it. */
TUTTI_NODISCARD enum tutti_status tutti_experiment_load(tutti_context *context,
                                                        const struct tutti_experiment *experiment, uint64_t trial,
                                                        tutti_dataset **dataset);
/* What is fitted in a repeat, on its data set, which is borrowed like all else. */
struct tutti_fit tutti_experiment_fit(const struct tutti_experiment *experiment, uint64_t trial, uint64_t seed,
                                      const tutti_dataset *dataset);

/* What rows of each class count for in a training on these rows (tutti_job.class_weights): free *weights with
   tutti_free; NULL: all count the same. TUTTI_ERROR_USAGE: data.class_weights names a class that the data lack, or no
   weights. */
TUTTI_NODISCARD enum tutti_status tutti_experiment_class_weights(tutti_context *context,
                                                                 const struct tutti_experiment *experiment,
                                                                 const tutti_split *train, double **weights);
/* TUTTI_ERROR_USAGE: a data file is a pipe, which workers and a resumed run could not read again. */
TUTTI_NODISCARD enum tutti_status tutti_experiment_check_files(tutti_context *context, const tutti_recipe *recipe);
/* Make one; takes the recipe, also on failure. */
TUTTI_NODISCARD enum tutti_status tutti_experiment_create(tutti_context *context, tutti_recipe *recipe,
                                                          struct tutti_experiment **experiment);
/* The same for a run that is looked at: with the data set that its directory keeps (NULL: it has none), which is taken,
   too, and without a backend. */
TUTTI_NODISCARD enum tutti_status tutti_experiment_reopen(tutti_context *context, tutti_recipe *recipe,
                                                          tutti_dataset *dataset, struct tutti_experiment **experiment);
/* Make the backend, unless it is there. */
TUTTI_NODISCARD enum tutti_status tutti_experiment_need_backend(tutti_context *context,
                                                                struct tutti_experiment *experiment);
/* What trains a candidate: *learner, which lives as long as the experiment, and *config, its parameters, which the
   caller destroys. The experiment's backend is there. */
TUTTI_NODISCARD enum tutti_status tutti_experiment_learner(tutti_context *context,
                                                           const struct tutti_experiment *experiment,
                                                           const tutti_candidate *candidate,
                                                           const tutti_backend **learner, tutti_config **config);
/* The task of a candidate (experiment_task.c): *out, which points into itself and the experiment. */
TUTTI_NODISCARD enum tutti_status tutti_experiment_task(tutti_context *context,
                                                        const struct tutti_experiment *experiment,
                                                        const tutti_candidate *candidate,
                                                        struct tutti_headed_task *out);
/* Refuse heads in head.kind that do not fit the data, or whose predictions cannot be in one pool. */
TUTTI_NODISCARD enum tutti_status tutti_experiment_check_heads(tutti_context *context,
                                                               const struct tutti_experiment *experiment);
/* Does its backend train several jobs at once, and how many trials give it enough of them? With folds each is as many
   jobs. */
bool tutti_experiment_queues(const struct tutti_experiment *experiment);
size_t tutti_experiment_capacity(const struct tutti_experiment *experiment);
/* Predict a split with a model that `learner` trained, in the targets' units: *out, [rows][width], and *epistemic,
   [rows][tutti_epistemic_width], NULL for a model that does not tell its own part (predictions.h). Free both with
   tutti_free; on failure they are NULL. */
TUTTI_NODISCARD enum tutti_status tutti_experiment_predict(tutti_context *context,
                                                           const struct tutti_experiment *experiment,
                                                           const tutti_backend *learner, const struct tutti_job *job,
                                                           const tutti_tensors *weights, const tutti_split *split,
                                                           float **out, float **epistemic);
void tutti_experiment_destroy(struct tutti_experiment *experiment);
/* Refuse what would only fail later: networks that the backend cannot train, a loss that the head does not have. */
TUTTI_NODISCARD enum tutti_status tutti_experiment_check(tutti_context *context,
                                                         const struct tutti_experiment *experiment);
/* The data set's fingerprint, or 0 without data. */
uint64_t tutti_experiment_fingerprint(const struct tutti_experiment *experiment);
/* The same of training, validation and test rows alone. */
uint64_t tutti_experiment_rows_fingerprint(const struct tutti_experiment *experiment);

/* Implements tutti_host_other_run for the experiment that is the argument (other_run.c). */
TUTTI_NODISCARD enum tutti_status tutti_other_run(void *argument, tutti_context *context,
                                                  const struct tutti_other_trial *wanted, char **candidate);

#endif
