/* experiment.c - from a recipe to data, space, scope and backend, and the checks before anything is trained. */
#include "trial_folds_impl.h"
#include "engine/data/folds_impl.h"
#include "core/network/task_impl.h"
#include "core/plugin/split_impl.h"
#include "engine/data/fingerprint_impl.h"
#include "engine/recipe/recipe_impl.h"
#include "engine/data/split_names.h"

#include <inttypes.h>
#include <sys/stat.h>

/* Number of genotypes that are decoded to see whether the backend can train the networks of the space. */
enum { PROBES = 16 };

bool tutti_experiment_is_fit(const struct tutti_experiment *experiment) {
  return tutti_recipe_fit(experiment->recipe) != NULL;
}

uint64_t tutti_experiment_data_seed(const struct tutti_experiment *experiment, uint64_t trial) {
  uint64_t seed = experiment->facts.seed;
  return tutti_experiment_is_fit(experiment) ? tutti_trial_seed(seed, trial) : seed;
}

static enum tutti_status too_few_splits(tutti_context *context, const struct tutti_experiment *experiment,
                                        uint64_t repeats) {
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "fit.test_rows: %" PRIu64
                    " repeats need as many files of test rows, and %zu are called %s; ask for "
                    "fewer repeats",
                    repeats, experiment->splits.files.count, tutti_recipe_fit(experiment->recipe)->test_rows);
}

enum tutti_status tutti_experiment_load(tutti_context *context, const struct tutti_experiment *experiment,
                                        uint64_t trial, tutti_dataset **dataset) {
  const tutti_recipe *recipe = experiment->recipe;
  struct tutti_source_setup setup = {.size = sizeof setup, .host = experiment->host};
  const struct tutti_fit_config *fit = tutti_recipe_fit(recipe);
  tutti_source *source = NULL;
  tutti_config *data = NULL;
  enum tutti_status status;
  *dataset = NULL;
  TUTTI_TRY_OUT(context, tutti_config_copy(context, tutti_recipe_data(recipe), &data));
  if (fit && fit->gaps)
    TUTTI_TRY_OUT(context, tutti_config_set_number(context, data, "gap", (double)trial));
  if (experiment->splits.files.count > 0) {
    if (trial >= experiment->splits.files.count) {
      status = too_few_splits(context, experiment, trial + 1);
      goto out;
    }
    TUTTI_TRY_OUT(context, tutti_config_set(context, data, "test_rows", experiment->splits.files.paths[trial]));
  }
  TUTTI_TRY_OUT(context, tutti_source_create(context, experiment->host, "data", &setup, &source));
  status = tutti_dataset_load(context, data, tutti_recipe_head(recipe), source, tutti_recipe_folder(recipe),
                              tutti_experiment_data_seed(experiment, trial), dataset);
  if (status != TUTTI_OK)
    status = tutti_recipe_place(context, recipe, status);
out:
  tutti_source_destroy(source);
  tutti_config_destroy(data);
  return status;
}

struct tutti_fit tutti_experiment_fit(const struct tutti_experiment *experiment, uint64_t trial, uint64_t seed,
                                      const tutti_dataset *dataset) {
  const struct tutti_fit_config *config = tutti_recipe_fit(experiment->recipe);
  return (struct tutti_fit){.config = config,
                            .host = experiment->host,
                            .dataset = dataset,
                            .seed = seed,
                            .picture = trial < (uint64_t)config->pictures};
}

static void set_task(struct tutti_experiment *experiment) {
  if (experiment->dataset)
    experiment->task = *tutti_dataset_task(experiment->dataset);
  else
    experiment->task = (struct tutti_task){.size = sizeof experiment->task, .kind = TUTTI_TASK_VALUE};
}

static enum tutti_status choose_loss(tutti_context *context, struct tutti_experiment *experiment) {
  int wanted = tutti_recipe_run(experiment->recipe)->loss;
  experiment->loss = wanted ? (enum tutti_loss)(wanted - 1) : tutti_loss_natural(&experiment->task);
  if (tutti_loss_fits(experiment->loss, &experiment->task))
    return TUTTI_OK;
  enum tutti_status status = TUTTI_FAIL(
      context, TUTTI_ERROR_USAGE, "run.loss: '%s' is not defined for %s%s; leave it at 'auto', which is '%s' here",
      tutti_loss_names()[experiment->loss], tutti_task_in_words(experiment->task.kind),
      experiment->task.head == TUTTI_OP_HEAD_LINEAR ? " with a linear head (no variance)" : "",
      tutti_loss_names()[tutti_loss_natural(&experiment->task)]);
  return tutti_recipe_place(context, experiment->recipe, status);
}

/* The beginning: recipe, host and facts. Takes the recipe, also on failure. */
static enum tutti_status begin(tutti_context *context, tutti_recipe *recipe, struct tutti_experiment **out) {
  struct tutti_experiment *experiment;
  *out = NULL;
  enum tutti_status status = tutti_alloc(context, 1, sizeof *experiment, &experiment);
  if (status != TUTTI_OK) {
    tutti_recipe_destroy(recipe);
    return status;
  }
  *out = experiment;
  experiment->recipe = recipe;
  const struct tutti_run_config *run = tutti_recipe_run(recipe);
  if (run->batch > run->window)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "[run] batch: expected at most as many as window = %lld trials outstanding at once, found %lld",
                      (long long)run->window, (long long)run->batch);
  experiment->facts = (struct tutti_host_facts){.size = sizeof experiment->facts,
                                                .seed = (uint64_t)run->seed,
                                                .budget = (uint64_t)run->budget,
                                                .window = (size_t)run->window,
                                                .task = &experiment->task,
                                                .other_run = tutti_other_run,
                                                .other_run_argument = experiment};
  TUTTI_TRY(context, tutti_recipe_assemble(context, recipe, &experiment->host));
  tutti_host_set_facts(experiment->host, &experiment->facts);
  return TUTTI_OK;
}

/* What follows from the data: task, loss, space and scope. */
static enum tutti_status set_up(tutti_context *context, struct tutti_experiment *experiment) {
  set_task(experiment);
  TUTTI_TRY(context, choose_loss(context, experiment));
  struct tutti_space_setup space = {
      .size = sizeof space, .host = experiment->host, .task = &experiment->task, .seed = experiment->facts.seed};
  if (!tutti_experiment_is_fit(experiment))
    TUTTI_TRY(context, tutti_space_create(context, experiment->host, "space", &space, &experiment->space));
  TUTTI_TRY(context, tutti_scope_create(context, experiment->space, tutti_recipe_hyperparameters(experiment->recipe),
                                        &experiment->scope));
  experiment->facts.scope = experiment->scope;
  tutti_host_set_facts(experiment->host, &experiment->facts);
  return TUTTI_OK;
}

enum tutti_status tutti_experiment_need_backend(tutti_context *context, struct tutti_experiment *experiment) {
  struct tutti_backend_setup setup = {
      .size = sizeof setup, .host = experiment->host, .task = &experiment->task, .seed = experiment->facts.seed};
  const char *why = tutti_recipe_absent(experiment->recipe);
  if (experiment->backend)
    return TUTTI_OK;
  if (why)
    return TUTTI_FAIL(
        context, TUTTI_ERROR_UNSUPPORTED,
        "this needs the run's backend, which is not available here: %s; what is recorded can be looked at "
        "without it (status, select, evaluate, curve, compare)",
        why);
  return tutti_backend_create(context, experiment->host, "backend", &setup, &experiment->backend);
}

static enum tutti_status check_file(tutti_context *context, const tutti_recipe *recipe, const char *name,
                                    const char *given) {
  const char *folder = tutti_recipe_folder(recipe);
  bool relative = *given != '/' && folder && *folder;
  struct stat facts;
  char *path;
  if (!*given)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_format(context, &path, "%s%s%s", relative ? folder : "", relative ? "/" : "", given));
  enum tutti_status status = TUTTI_OK;
  if (stat(path, &facts) == 0 && S_ISFIFO(facts.st_mode))
    status =
        TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                   "data.%s: %s is a pipe, and a run reads its data more than once; put them into a file", name, path);
  tutti_free(path);
  return status;
}

enum tutti_status tutti_experiment_check_files(tutti_context *context, const tutti_recipe *recipe) {
  const tutti_config *data = tutti_recipe_data(recipe);
  const struct tutti_params *params = data ? tutti_config_params(data) : NULL;
  for (size_t i = 0; params && i < params->count; i++) {
    const struct tutti_param *param = tutti_params_at(params, i);
    char *text;
    if (param->type != TUTTI_PARAM_PATH)
      continue;
    TUTTI_TRY(context, tutti_config_get(context, data, param->name, &text));
    enum tutti_status status = check_file(context, recipe, param->name, text);
    tutti_free(text);
    if (status != TUTTI_OK)
      return tutti_recipe_place(context, recipe, status);
  }
  return TUTTI_OK;
}

/* The test rows of a repeat have one source. */
static enum tutti_status check_sources_of_tests(tutti_context *context, const tutti_recipe *recipe) {
  const struct tutti_fit_config *fit = tutti_recipe_fit(recipe);
  const struct tutti_data_config *data = tutti_config_values(tutti_recipe_data(recipe));
  const char *other = fit->gaps ? "fit.gaps" : *data->test_rows ? "data.test_rows" : data->gap >= 0 ? "data.gap" : NULL;
  if (*fit->test_rows == '\0' || !other)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "fit.test_rows says which rows each repeat tests on, and so does %s; leave one of the two out",
                    other);
}

static enum tutti_status find_splits(tutti_context *context, struct tutti_experiment *experiment) {
  const tutti_recipe *recipe = experiment->recipe;
  const struct tutti_fit_config *fit = tutti_recipe_fit(recipe);
  if (!fit || *fit->test_rows == '\0')
    return TUTTI_OK;
  enum tutti_status status = check_sources_of_tests(context, recipe);
  if (status == TUTTI_OK)
    status = tutti_fit_splits_find(context, fit, tutti_recipe_folder(recipe), &experiment->splits);
  return status == TUTTI_OK ? TUTTI_OK : tutti_recipe_place(context, recipe, status);
}

enum tutti_status tutti_experiment_create(tutti_context *context, tutti_recipe *recipe, struct tutti_experiment **out) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_experiment *experiment;
  *out = NULL;
  TUTTI_TRY_OUT(context, begin(context, recipe, &experiment));
  TUTTI_TRY_OUT(context, find_splits(context, experiment));
  if (tutti_recipe_data(recipe))
    TUTTI_TRY_OUT(context, tutti_experiment_load(context, experiment, 0, &experiment->dataset));
  TUTTI_TRY_OUT(context, set_up(context, experiment));
  if (!tutti_experiment_is_fit(experiment))
    TUTTI_TRY_OUT(context, tutti_experiment_need_backend(context, experiment));
  *out = experiment;
  experiment = NULL;
out:
  tutti_experiment_destroy(experiment);
  return status;
}

enum tutti_status tutti_experiment_reopen(tutti_context *context, tutti_recipe *recipe, tutti_dataset *dataset,
                                          struct tutti_experiment **out) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_experiment *experiment;
  *out = NULL;
  TUTTI_TRY_OUT(context, begin(context, recipe, &experiment));
  experiment->dataset = dataset;
  dataset = NULL;
  TUTTI_TRY_OUT(context, set_up(context, experiment));
  *out = experiment;
  experiment = NULL;
out:
  tutti_dataset_destroy(dataset);
  tutti_experiment_destroy(experiment);
  return status;
}

void tutti_experiment_destroy(struct tutti_experiment *experiment) {
  if (!experiment)
    return;
  tutti_fit_splits_release(&experiment->splits);
  tutti_backend_destroy(experiment->backend);
  tutti_scope_destroy(experiment->scope);
  tutti_space_destroy(experiment->space);
  tutti_host_destroy(experiment->host);
  tutti_dataset_destroy(experiment->dataset);
  tutti_recipe_destroy(experiment->recipe);
  tutti_free(experiment->plugins);
  tutti_free(experiment);
}

/* With head nomu, members' own uncertainty would count as noise if the backend did not tell it. */
static enum tutti_status check_parts(tutti_context *context, const struct tutti_experiment *experiment,
                                     const tutti_backend *learner, const struct tutti_job *job) {
  if (job->task->head != TUTTI_OP_HEAD_NOMU || tutti_backend_tells_epistemic(learner, job))
    return TUTTI_OK;
  enum tutti_status status =
      TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                 "head.kind: nomu needs a backend that tells which part of a model's uncertainty is its own, and "
                 "backend %s does not; choose another backend, or another head",
                 tutti_backend_descriptor(learner)->name);
  return tutti_recipe_place(context, experiment->recipe, status);
}

static enum tutti_status check_data(tutti_context *context, const struct tutti_experiment *experiment,
                                    const tutti_backend *learner) {
  if (experiment->dataset || !tutti_backend_takes_networks(learner))
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "backend %s trains on data, but the recipe has no section [data]",
                    tutti_backend_descriptor(learner)->name);
}

/* Decode a sampled genotype and ask the backend whether it can train the network. If the backend takes no networks, ask
   whether it can train at all. */
static enum tutti_status probe(tutti_context *context, const struct tutti_experiment *experiment, uint64_t index) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_random random;
  tutti_candidate *candidate = NULL;
  tutti_network *network = NULL;
  const tutti_backend *learner;
  tutti_config *config = NULL;
  struct tutti_headed_task task = {0};
  double *weights = NULL;
  tutti_random_init(&random, experiment->facts.seed, "probe", index);
  TUTTI_TRY_OUT(context, tutti_scope_sample(context, experiment->scope, &random, index, &candidate));
  TUTTI_TRY_OUT(context, tutti_experiment_learner(context, experiment, candidate, &learner, &config));
  TUTTI_TRY_OUT(context, check_data(context, experiment, learner));
  TUTTI_TRY_OUT(context, tutti_experiment_task(context, experiment, candidate, &task));
  if (tutti_backend_takes_networks(learner))
    TUTTI_TRY_OUT(context, tutti_space_decode(context, tutti_candidate_genotype(candidate), &task.task, &network));
  const tutti_dataset *dataset = experiment->dataset;
  struct tutti_job job = {.size = sizeof job,
                          .task = &task.task,
                          .network = network,
                          .candidate = candidate,
                          .config = tutti_config_values(config),
                          .train = dataset ? tutti_dataset_find(dataset, TUTTI_SPLIT_TRAIN) : NULL,
                          .validation = dataset ? tutti_dataset_find(dataset, TUTTI_SPLIT_VALIDATION) : NULL};
  TUTTI_TRY_OUT(context, tutti_experiment_class_weights(context, experiment, job.train, &weights));
  job.class_weights = weights;
  status = tutti_backend_check(context, learner, &job);
  if (status != TUTTI_OK)
    status = tutti_recipe_place(context, experiment->recipe, status);
  TUTTI_TRY_OUT(context, status);
  TUTTI_TRY_OUT(context, check_parts(context, experiment, learner, &job));
out:
  tutti_free(weights);
  tutti_config_destroy(config);
  tutti_network_destroy(network);
  tutti_candidate_unref(candidate);
  return status;
}

/* Losses are computed on the validation rows: without any, every trial would fail. */
static enum tutti_status check_validation(tutti_context *context, const struct tutti_experiment *experiment) {
  const tutti_split *validation =
      experiment->dataset ? tutti_dataset_find(experiment->dataset, TUTTI_SPLIT_VALIDATION) : NULL;
  if (!experiment->dataset || (validation && tutti_split_rows(validation) > 0))
    return TUTTI_OK;
  enum tutti_status status =
      TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                 "data.split: trials are compared, and ensembles selected, on the validation rows, and there are none; "
                 "give a second share, as in 0.8 0.1 0.1");
  return tutti_recipe_place(context, experiment->recipe, status);
}

/* Is there a file of test rows for each repeat, and does each fit the data? */
static enum tutti_status check_splits(tutti_context *context, const struct tutti_experiment *experiment) {
  for (uint64_t repeat = 1; repeat < experiment->facts.budget; repeat++) {
    if (repeat >= experiment->splits.files.count)
      return too_few_splits(context, experiment, experiment->facts.budget);
    TUTTI_TRY(context,
              tutti_dataset_check_test_rows(context, experiment->dataset, experiment->splits.files.paths[repeat]));
  }
  return TUTTI_OK;
}

static enum tutti_status check_fit(tutti_context *context, const struct tutti_experiment *experiment) {
  const struct tutti_fit fit = tutti_experiment_fit(experiment, 0, experiment->facts.seed, experiment->dataset);
  enum tutti_status status =
      tutti_dataset_folds(experiment->dataset)
          ? TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.folds: a fit trains on the training rows alone; leave it out")
          : tutti_fit_check(context, &fit);
  if (status == TUTTI_OK)
    status = experiment->splits.files.count > 0 ? check_splits(context, experiment) : TUTTI_OK;
  return status == TUTTI_OK ? TUTTI_OK : tutti_recipe_place(context, experiment->recipe, status);
}

/* The calibrator is made to see whether it serves the task. */
static enum tutti_status check_calibrator(tutti_context *context, const struct tutti_experiment *experiment) {
  struct tutti_calibrator_setup setup = {
      .size = sizeof setup, .host = experiment->host, .seed = experiment->facts.seed};
  tutti_calibrator *calibrator = NULL;
  if (!experiment->dataset)
    return TUTTI_OK;
  enum tutti_status status = tutti_calibrator_create(context, experiment->host, "calibrator", &setup, &calibrator);
  tutti_calibrator_destroy(calibrator);
  return status == TUTTI_OK ? TUTTI_OK : tutti_recipe_place(context, experiment->recipe, status);
}

/* A training with folds has no model that predicts all rows of the pool before its last fold has one. */
static enum tutti_status check_unfinished(tutti_context *context, const struct tutti_experiment *experiment) {
  const struct tutti_run_config *run = tutti_recipe_run(experiment->recipe);
  enum tutti_status status = TUTTI_OK;
  if (!experiment->dataset || !tutti_dataset_folds(experiment->dataset))
    return TUTTI_OK;
  if (run->unfinished == TUTTI_UNFINISHED_STOP)
    status = TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "run.unfinished: a training that stops before its last fold (data.folds) has nothing that could be a "
        "member; expected leave, with which a longer time goes on with it");
  else if (run->keep_pruned)
    status =
        TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                   "run.keep_pruned: a trial that is pruned has a model of its first fold alone (data.folds), which "
                   "could be no member; expected no");
  return status == TUTTI_OK ? TUTTI_OK : tutti_recipe_place(context, experiment->recipe, status);
}

enum tutti_status tutti_experiment_check(tutti_context *context, const struct tutti_experiment *experiment) {
  if (tutti_experiment_is_fit(experiment))
    return check_fit(context, experiment);
  TUTTI_TRY(context, check_unfinished(context, experiment));
  TUTTI_TRY(context, check_validation(context, experiment));
  TUTTI_TRY(context, check_calibrator(context, experiment));
  TUTTI_TRY(context, tutti_experiment_check_heads(context, experiment));
  for (uint64_t i = 0; i < PROBES; i++)
    TUTTI_TRY(context, probe(context, experiment, i));
  return TUTTI_OK;
}

enum tutti_status tutti_experiment_learner(tutti_context *context, const struct tutti_experiment *experiment,
                                           const tutti_candidate *candidate, const tutti_backend **learner,
                                           tutti_config **config) {
  return tutti_backend_choose(context, experiment->backend, tutti_scope_hyperparameters(experiment->scope),
                              tutti_candidate_hyperparameters(candidate), learner, config);
}

bool tutti_experiment_queues(const struct tutti_experiment *experiment) {
  return experiment->backend && !tutti_experiment_is_fit(experiment) && tutti_backend_capacity(experiment->backend) > 1;
}

size_t tutti_experiment_capacity(const struct tutti_experiment *experiment) {
  size_t jobs = experiment->dataset && tutti_dataset_folds(experiment->dataset)
                    ? tutti_dataset_folds(experiment->dataset)
                    : 1; /* of a trial */
  return tutti_experiment_queues(experiment) ? (tutti_backend_capacity(experiment->backend) + jobs - 1) / jobs : 1;
}

/* Parts of variances have the square of the targets' unit; those of entropies have none. */
static void unscale_parts(const tutti_split *split, const struct tutti_task *task, float *epistemic) {
  const double *scale = tutti_split_target_scale(split);
  size_t count = tutti_split_rows(split) * task->outputs;
  for (size_t i = 0; task->kind == TUTTI_TASK_REGRESSION && scale && i < count; i++)
    epistemic[i] = (float)(epistemic[i] * scale[i % task->outputs] * scale[i % task->outputs]);
}

enum tutti_status tutti_experiment_predict(tutti_context *context, const struct tutti_experiment *experiment,
                                           const tutti_backend *learner, const struct tutti_job *job,
                                           const tutti_tensors *weights, const tutti_split *split, float **out,
                                           float **epistemic) {
  enum tutti_status status;
  const struct tutti_task *task = &experiment->task;
  size_t rows = tutti_split_rows(split), width = tutti_predictions_width(task->kind, task->outputs);
  size_t parts = tutti_epistemic_width(task->kind, task->outputs);
  bool folds = tutti_folds_count(weights) > 0;
  *out = *epistemic = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, rows, width * sizeof **out, out));
  if (folds) {
    TUTTI_TRY_OUT(context, tutti_alloc(context, rows, parts * sizeof **epistemic, epistemic));
    TUTTI_TRY_OUT(context,
                  tutti_folds_predict(context, experiment->dataset, learner, job, weights, split, *out, *epistemic));
    unscale_parts(split, task, *epistemic);
  } else if (tutti_backend_tells_epistemic(learner, job)) {
    TUTTI_TRY_OUT(context, tutti_alloc(context, rows, parts * sizeof **epistemic, epistemic));
    TUTTI_TRY_OUT(context, tutti_backend_predict_parts(context, learner, job, weights, split, *out, *epistemic));
    unscale_parts(split, task, *epistemic);
  } else {
    TUTTI_TRY_OUT(context, tutti_backend_predict(context, learner, job, weights, split, *out));
  }
  tutti_split_unscale(split, task->kind, *out);
  return TUTTI_OK;
out:
  tutti_free(*out);
  tutti_free(*epistemic);
  *out = *epistemic = NULL;
  return status;
}

uint64_t tutti_experiment_fingerprint(const struct tutti_experiment *experiment) {
  uint64_t data = experiment->dataset ? tutti_dataset_fingerprint(experiment->dataset) : 0;
  const uint64_t *contents = &experiment->splits.contents;
  return experiment->splits.files.count > 0 ? tutti_hash(data, contents, sizeof *contents) : data;
}

uint64_t tutti_experiment_rows_fingerprint(const struct tutti_experiment *experiment) {
  return experiment->dataset ? tutti_dataset_rows_fingerprint(experiment->dataset) : 0;
}
