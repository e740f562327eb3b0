/* other_run.c - takes a candidate from another run's catalogue. */
#include "experiment_impl.h"
#include "run_files.h"

#include <inttypes.h>
#include <math.h>
#include <tutti/catalogue.h>

/* The trial to find, while a catalogue is visited. */
struct finding {
  tutti_context *context;
  uint64_t wanted; /* or TUTTI_BEST_TRIAL */
  double loss;
  char *candidate;
};

static enum tutti_status look(void *argument, const struct tutti_trial *trial) {
  struct finding *finding = argument;
  bool finished = trial->done && trial->state == TUTTI_STATE_FINISHED && isfinite(trial->loss);
  bool taken = finding->wanted == TUTTI_BEST_TRIAL ? finished && !(trial->loss >= finding->loss)
                                                   : trial->number == finding->wanted;
  if (!taken)
    return TUTTI_OK;
  tutti_free(finding->candidate);
  finding->candidate = NULL;
  finding->loss = trial->loss;
  return tutti_strdup(finding->context, trial->candidate, &finding->candidate);
}

enum tutti_status tutti_other_run(tutti_context *context, const char *run, uint64_t trial, char **candidate) {
  struct finding finding = {.context = context, .wanted = trial, .loss = NAN};
  tutti_catalogue *catalogue = NULL;
  char *path = NULL;
  enum tutti_status status;
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, run, TUTTI_RUN_FILE_CATALOGUE, &path));
  TUTTI_TRY_OUT(context, tutti_catalogue_open(context, path, false, &catalogue));
  TUTTI_TRY_OUT(context, tutti_catalogue_visit(context, catalogue, look, &finding));
  if (!finding.candidate && trial == TUTTI_BEST_TRIAL)
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "no trial of %s has finished with a loss yet", run);
  else if (!finding.candidate)
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s has no trial %" PRIu64, run, trial);
  *candidate = finding.candidate;
  finding.candidate = NULL;
out:
  tutti_free(finding.candidate);
  tutti_catalogue_close(catalogue);
  tutti_free(path);
  return status;
}
