/* trial_fit.c - the worker's side of a repeat of a fit: its data, the fit, and the files and numbers of it. */
#include "record_impl.h"
#include "trial_impl.h"

#include "core/base/json_impl.h"
#include "engine/evaluation/evaluate_fit_impl.h"

#include <stdio.h>
#include <string.h>

static enum tutti_status train(tutti_context *context, const struct tutti_experiment *experiment,
                               struct tutti_training *training) {
  TUTTI_TRY(context, tutti_experiment_load(context, experiment, training->number, &training->dataset));
  const struct tutti_fit fit =
      tutti_experiment_fit(experiment, training->number, tutti_candidate_seed(training->candidate), training->dataset);
  return tutti_fit_run(context, &fit, &training->fit);
}

static void add_measure(json_t *measures, const struct metric_entry *metric, const char *name,
                        const struct tutti_fit_measures *of) {
  (void)json_object_set_new(measures, name, tutti_json_number(metric->value(of, metric->which)));
}

/* The metrics of a repeat; then two means that give the NLL for any c, and so nll-common; then the metrics of each
   level. */
static json_t *measures_of(const struct tutti_fit_config *config, const struct tutti_fit_result *result) {
  struct tutti_fit_measures of = {.bands = result->bands, .c = result->c, .rmse = result->rmse};
  double points = (double)of.bands.points;
  json_t *measures = json_object();
  const struct metric_entry *metrics = metrics_of_fit.entries;
  for (size_t i = 0; i < metrics_of_fit.count; i++)
    if (metrics[i].which == TUTTI_FIT_OF_REPEAT)
      add_measure(measures, &metrics[i], metrics[i].said.name, &of);
  (void)json_object_set_new(measures, "mean-log-deviation", tutti_json_number(of.bands.log_deviation / points));
  (void)json_object_set_new(measures, "mean-square-ratio", tutti_json_number(of.bands.square_ratio / points));
  for (size_t l = 0; l < config->levels.count; l++) {
    of.coverage = result->coverage[l];
    of.width = result->width[l];
    for (size_t i = 0; i < metrics_of_fit.count; i++) {
      char name[64];
      if (metrics[i].which != TUTTI_FIT_OF_LEVEL)
        continue;
      (void)snprintf(name, sizeof name, "%.*s%g", (int)strlen(metrics[i].said.name) - 1, metrics[i].said.name,
                     config->levels.values[l]);
      add_measure(measures, &metrics[i], name, &of);
    }
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
