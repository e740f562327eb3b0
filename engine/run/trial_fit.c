/* trial_fit.c - the worker's side of a repeat of a fit: its data, the fit, and the files and numbers of it. */
#include "record_impl.h"
#include "trial_impl.h"

#include "core/base/json_impl.h"

#include <stdio.h>

static enum tutti_status train(tutti_context *context, const struct tutti_experiment *experiment,
                               struct tutti_training *training) {
  TUTTI_TRY(context, tutti_experiment_load(context, experiment, training->number, &training->dataset));
  const struct tutti_fit fit =
      tutti_experiment_fit(experiment, training->number, tutti_candidate_seed(training->candidate), training->dataset);
  return tutti_fit_run(context, &fit, &training->fit);
}

/* Names are those of the metrics of ensembles where these have them; the two means give the NLL for any c. */
static json_t *measures_of(const struct tutti_fit_config *config, const struct tutti_fit_result *result) {
  const struct tutti_bands *sums = &result->bands;
  double points = (double)sums->points;
  json_t *measures = json_object();
  const struct {
    const char *name;
    double value;
  } known[] = {{"nll", tutti_bands_nll(sums, result->c)},
               {"nll-min", tutti_bands_least_nll(sums)},
               {"width-coverage-area", tutti_bands_area(sums)},
               {"rmse", result->rmse},
               {"c", result->c},
               {"c-min", tutti_bands_scale(sums)},
               {"mean-log-deviation", sums->log_deviation / points},
               {"mean-square-ratio", sums->square_ratio / points}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    (void)json_object_set_new(measures, known[i].name, tutti_json_number(known[i].value));
  for (size_t l = 0; l < config->levels.count; l++) {
    char name[64];
    (void)snprintf(name, sizeof name, "coverage-%g", config->levels.values[l]);
    (void)json_object_set_new(measures, name, tutti_json_number(result->coverage[l]));
    (void)snprintf(name, sizeof name, "width-%g", config->levels.values[l]);
    (void)json_object_set_new(measures, name, tutti_json_number(result->width[l]));
  }
  return measures;
}

/* The loss is the NLL on the test rows. */
static enum tutti_status write_fit(tutti_context *context, const struct tutti_experiment *experiment,
                                   const char *folder, struct tutti_training *training, json_t *files, json_t *metrics,
                                   double *loss) {
  (void)metrics;
  const struct tutti_fit fit =
      tutti_experiment_fit(experiment, training->number, tutti_candidate_seed(training->candidate), training->dataset);
  const char *names[TUTTI_FIT_FILES];
  TUTTI_TRY(context, tutti_fit_write(context, &fit, &training->fit, folder, names));
  for (size_t f = 0; f < TUTTI_FIT_FILES; f++)
    if (names[f])
      TUTTI_TRY(context, tutti_record_add(context, files, folder, names[f]));
  training->measures = measures_of(fit.config, &training->fit);
  *loss = tutti_bands_nll(&training->fit.bands, training->fit.c);
  return TUTTI_OK;
}

const struct tutti_trial_kind tutti_trial_fit = {.train = train, .write = write_fit, .number = "NLL on the test rows"};
