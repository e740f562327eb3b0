/* evaluate_fit.c - the metrics of a fit of a surrogate. Names are those of the metrics of ensembles where these have
   them. */
#include "evaluate_fit_impl.h"

#include <string.h>

#define MEASURES(of) ((const struct tutti_fit_measures *)(of))

static double fit_nll(const void *of, size_t which) {
  (void)which;
  return tutti_bands_nll(&MEASURES(of)->bands, MEASURES(of)->c);
}

static double fit_least_nll(const void *of, size_t which) {
  (void)which;
  return tutti_bands_least_nll(&MEASURES(of)->bands);
}

static double fit_area(const void *of, size_t which) {
  (void)which;
  return tutti_bands_area(&MEASURES(of)->bands);
}

static double fit_rmse(const void *of, size_t which) {
  (void)which;
  return MEASURES(of)->rmse;
}

static double fit_factor(const void *of, size_t which) {
  (void)which;
  return MEASURES(of)->c;
}

static double fit_best_factor(const void *of, size_t which) {
  (void)which;
  return tutti_bands_scale(&MEASURES(of)->bands);
}

static double fit_coverage(const void *of, size_t which) {
  (void)which;
  return MEASURES(of)->coverage;
}

static double fit_width(const void *of, size_t which) {
  (void)which;
  return MEASURES(of)->width;
}

static const struct metric_entry fit_metrics[] = {
    METRIC("nll", "nats", LOWER, "mean of log (c s) + z^2 / (2 c^2) + (1/2) log 2 pi", fit_nll, TUTTI_FIT_OF_REPEAT),
    METRIC("nll-min", "nats", LOWER, "nll at the best c of the repeat", fit_least_nll, TUTTI_FIT_OF_REPEAT),
    METRIC("nll-common", "nats", LOWER, "nll at the one c that is best for all repeats together", NULL,
           TUTTI_FIT_OF_ALL),
    METRIC("width-coverage-area", "target", LOWER,
           "area under mean width as a function of coverage, for c from 0 to full coverage: 2 mean(s) mean(abs(z))",
           fit_area, TUTTI_FIT_OF_REPEAT),
    METRIC("rmse", "target", LOWER, "root of the mean of (y - mean)^2", fit_rmse, TUTTI_FIT_OF_REPEAT),
    METRIC("c", "", NEITHER, "the factor: the one whose NLL is least on the validation rows, or `fit.c`", fit_factor,
           TUTTI_FIT_OF_REPEAT),
    METRIC("c-min", "", NEITHER, "the factor whose NLL is least on the test rows: c^2 = mean z^2", fit_best_factor,
           TUTTI_FIT_OF_REPEAT),
    METRIC("coverage-L", "fraction", NEITHER, "rows inside the central interval of level L of N(mean, (c s)^2)",
           fit_coverage, TUTTI_FIT_OF_LEVEL),
    METRIC("width-L", "target", LOWER, "mean width of these intervals", fit_width, TUTTI_FIT_OF_LEVEL),
};
const struct metric_table metrics_of_fit = METRIC_TABLE(fit_metrics);

const struct metric_entry *tutti_fit_metric(const char *name) {
  for (size_t i = 0; i < metrics_of_fit.count; i++) {
    const struct metric_entry *entry = &fit_metrics[i];
    size_t length = strlen(entry->said.name) - (entry->which == TUTTI_FIT_OF_LEVEL);
    if (entry->which == TUTTI_FIT_OF_LEVEL ? strncmp(name, entry->said.name, length) == 0
                                           : strcmp(name, entry->said.name) == 0)
      return entry;
  }
  return NULL;
}
