/* evaluation.c - the metrics of one ensemble. */
#include <string.h>

#include "evaluate_impl.h"

static const char *const betters[] = {
    [TUTTI_BETTER_LOWER] = "lower", [TUTTI_BETTER_HIGHER] = "higher", [TUTTI_BETTER_NEITHER] = "neither"};

const char *tutti_better_name(enum tutti_better better) { return betters[better]; }

enum tutti_better tutti_better_parse(const char *name) {
  enum tutti_better better = TUTTI_BETTER_LOWER;
  while (better < TUTTI_BETTER_NEITHER && (!name || strcmp(name, betters[better]) != 0))
    better++;
  return better;
}

struct tutti_evaluation {
  size_t count;
  struct tutti_metric *metrics;
};

enum tutti_status tutti_evaluation_create(tutti_context *context, const struct metric_table *table, const void *of,
                                          tutti_evaluation **out) {
  enum tutti_status status;
  tutti_evaluation *evaluation;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *evaluation, &evaluation));
  TUTTI_TRY_OUT(context, tutti_alloc(context, table->count, sizeof *evaluation->metrics, &evaluation->metrics));
  for (size_t i = 0; i < table->count; i++) {
    const struct metric_entry *entry = &table->entries[i];
    if (entry->defined && !entry->defined(of, entry->which))
      continue;
    evaluation->metrics[evaluation->count] = entry->said;
    evaluation->metrics[evaluation->count++].value = entry->value(of, entry->which);
  }
  *out = evaluation;
  evaluation = NULL;
out:
  tutti_evaluation_destroy(evaluation);
  return status;
}

void tutti_evaluation_destroy(tutti_evaluation *evaluation) {
  if (evaluation)
    tutti_free(evaluation->metrics);
  tutti_free(evaluation);
}

size_t tutti_evaluation_count(const tutti_evaluation *evaluation) { return evaluation->count; }

const struct tutti_metric *tutti_evaluation_metric(const tutti_evaluation *evaluation, size_t index) {
  return index < evaluation->count ? &evaluation->metrics[index] : NULL;
}

const struct tutti_metric *tutti_evaluation_find(const tutti_evaluation *evaluation, const char *name) {
  for (size_t i = 0; i < evaluation->count; i++)
    if (strcmp(evaluation->metrics[i].name, name) == 0)
      return &evaluation->metrics[i];
  return NULL;
}
