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

enum { MOST_TABLES = 2 };
struct tutti_evaluation {
  size_t count, tables;
  struct tutti_metric *metrics;
  struct tutti_evaluation_table table[MOST_TABLES];
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
  if (!evaluation)
    return;
  for (size_t i = 0; i < evaluation->tables; i++)
    tutti_free((double *)(uintptr_t)evaluation->table[i].values);
  tutti_free(evaluation->metrics);
  tutti_free(evaluation);
}

enum tutti_status tutti_evaluation_add_table(tutti_context *context, tutti_evaluation *evaluation, const char *name,
                                             size_t rows, size_t columns, const char *const *column,
                                             const double *values) {
  double *copy;
  if (evaluation->tables == MOST_TABLES)
    return TUTTI_FAIL(context, TUTTI_ERROR_INTERNAL, "an evaluation has at most %d tables", (int)MOST_TABLES);
  TUTTI_TRY(context, tutti_alloc(context, rows, columns * sizeof *copy, &copy));
  memcpy(copy, values, rows * columns * sizeof *copy);
  evaluation->table[evaluation->tables++] =
      (struct tutti_evaluation_table){sizeof(struct tutti_evaluation_table), name, rows, columns, column, copy};
  return TUTTI_OK;
}

size_t tutti_evaluation_tables(const tutti_evaluation *evaluation) { return evaluation->tables; }

const struct tutti_evaluation_table *tutti_evaluation_table(const tutti_evaluation *evaluation, size_t index) {
  return index < evaluation->tables ? &evaluation->table[index] : NULL;
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
