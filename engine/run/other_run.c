/* other_run.c - takes a candidate from another run. That run must have the same training, validation and test rows:
   else its choices rest on rows that this run tests on. */
#include "run_impl.h"
#include "engine/data/split_names.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <tutti/catalogue.h>

/* What is found while the catalogue is visited. */
struct finding {
  tutti_context *context;
  uint64_t trial; /* TUTTI_BEST_TRIAL: none yet */
  double loss;    /* its loss */
  size_t count, room;
  uint64_t *finished; /* [room], of which [count] are filled, ascending */
  char *candidate;
};

/* List the finished trials, and find the best by the loss on the validation rows as they are. */
static enum tutti_status list_finished(void *argument, const struct tutti_trial *trial) {
  struct finding *finding = argument;
  if (!trial->done || trial->state != TUTTI_STATE_FINISHED || !isfinite(trial->loss))
    return TUTTI_OK;
  if (!(trial->loss >= finding->loss)) {
    finding->loss = trial->loss;
    finding->trial = trial->number;
  }
  if (finding->count == finding->room) {
    size_t room = finding->room ? 2 * finding->room : 64;
    TUTTI_TRY(finding->context,
              tutti_realloc(finding->context, finding->count, room, sizeof *finding->finished, &finding->finished));
    finding->room = room;
  }
  finding->finished[finding->count++] = trial->number;
  return TUTTI_OK;
}

static enum tutti_status take_candidate(void *argument, const struct tutti_trial *trial) {
  struct finding *finding = argument;
  return trial->number == finding->trial ? tutti_strdup(finding->context, trial->candidate, &finding->candidate)
                                         : TUTTI_OK;
}

/* A run without data, as in a table of results, has trained on no rows of this one. */
static const char without_data[] = "0000000000000000";

/* Neither run trains on shifted and out-of-distribution rows; so these may differ, unless the choice is made on
   them. */
static enum tutti_status check_same_data(tutti_context *context, const struct tutti_experiment *experiment,
                                         tutti_catalogue *catalogue, const struct tutti_other_trial *wanted) {
  char *recorded, found[17];
  enum tutti_status status = TUTTI_OK;
  (void)snprintf(found, sizeof found, "%016" PRIx64,
                 wanted->split ? tutti_experiment_fingerprint(experiment)
                               : tutti_experiment_rows_fingerprint(experiment));
  TUTTI_TRY(context, tutti_catalogue_get(context, catalogue, wanted->split ? "fingerprint" : "rows", &recorded));
  if (!recorded || (strcmp(recorded, found) != 0 && strcmp(recorded, without_data) != 0))
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "%s has other data or splits: their fingerprint is %s, and this run's is %s, so it may "
                        "have trained on rows that are tested on here; give both runs the same [data], with the same "
                        "data.split_seed (if that is not set, it is run.seed)",
                        wanted->run, recorded ? recorded : "unknown", found);
  tutti_free(recorded);
  return status;
}

/* The best on other rows than the validation rows as they are, by the predictions of the finished trials. */
static enum tutti_status find_best_on(tutti_context *context, const struct tutti_experiment *experiment,
                                      const struct tutti_other_trial *wanted, tutti_catalogue *catalogue,
                                      struct finding *finding) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_reports reports = {0};
  struct tutti_run_pool source = {wanted->run, experiment, NULL, &reports};
  struct tutti_pool pool = {.size = sizeof pool};
  TUTTI_TRY_OUT(context, tutti_reports_load(context, catalogue, &reports));
  TUTTI_TRY_OUT(context,
                tutti_run_pool_open(&source, context, wanted->split, finding->count, finding->finished, &pool));
  finding->loss = NAN;
  finding->trial = TUTTI_BEST_TRIAL;
  for (size_t i = 0; i < pool.models; i++)
    if (isfinite(pool.losses[i]) && !(pool.losses[i] >= finding->loss)) {
      finding->loss = pool.losses[i];
      finding->trial = pool.trials[i];
    }
out:
  tutti_run_pool_release(&source, &pool);
  tutti_reports_release(&reports);
  return status;
}

static enum tutti_status find_best(tutti_context *context, const struct tutti_experiment *experiment,
                                   const struct tutti_other_trial *wanted, tutti_catalogue *catalogue,
                                   struct finding *finding) {
  TUTTI_TRY(context, tutti_catalogue_visit(context, catalogue, list_finished, finding));
  if (wanted->split && strcmp(wanted->split, TUTTI_SPLIT_VALIDATION) != 0)
    TUTTI_TRY(context, find_best_on(context, experiment, wanted, catalogue, finding));
  if (finding->trial == TUTTI_BEST_TRIAL)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "no trial of %s has finished with a loss yet", wanted->run);
  return TUTTI_OK;
}

enum tutti_status tutti_other_run(void *argument, tutti_context *context, const struct tutti_other_trial *wanted,
                                  char **candidate) {
  const struct tutti_experiment *experiment = argument;
  struct finding finding = {.context = context, .trial = wanted->trial, .loss = NAN};
  tutti_catalogue *catalogue = NULL;
  char *path = NULL;
  enum tutti_status status;
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, wanted->run, TUTTI_RUN_FILE_CATALOGUE, &path));
  TUTTI_TRY_OUT(context, tutti_catalogue_open(context, path, false, &catalogue));
  TUTTI_TRY_OUT(context, check_same_data(context, experiment, catalogue, wanted));
  if (wanted->trial == TUTTI_BEST_TRIAL)
    TUTTI_TRY_OUT(context, find_best(context, experiment, wanted, catalogue, &finding));
  TUTTI_TRY_OUT(context, tutti_catalogue_visit(context, catalogue, take_candidate, &finding));
  if (!finding.candidate)
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s has no trial %" PRIu64, wanted->run, wanted->trial);
  *candidate = finding.candidate;
out:
  tutti_free(finding.finished);
  tutti_catalogue_close(catalogue);
  tutti_free(path);
  return status;
}
