/* metric_tables.c - all metrics, by their tables. */
#include "evaluate_fit_impl.h"

#include <string.h>

const struct tutti_metric *tutti_metric_at(enum tutti_metric_table table, size_t index) {
  static const struct metric_table *const tables[TUTTI_METRICS_COUNT] = {
      [TUTTI_METRICS_CLASSIFICATION] = &metrics_of_classification,
      [TUTTI_METRICS_OOD] = &metrics_of_ood,
      [TUTTI_METRICS_REGRESSION] = &metrics_of_regression,
      [TUTTI_METRICS_DIVERSITY] = &metrics_of_diversity,
      [TUTTI_METRICS_FIT] = &metrics_of_fit,
  };
  return (size_t)table < TUTTI_METRICS_COUNT && index < tables[table]->count ? &tables[table]->entries[index].said
                                                                             : NULL;
}

enum tutti_metric_shown tutti_metric_shown_in(const char *name) {
  const struct tutti_metric *metric;
  for (int table = 0; table < TUTTI_METRICS_COUNT; table++)
    for (size_t i = 0; (metric = tutti_metric_at((enum tutti_metric_table)table, i)); i++)
      if (strcmp(metric->name, name) == 0)
        return metric->shown;
  return TUTTI_METRIC_IN_FULL;
}
