/* table.c - looks results up instead of training: tabular benchmarks of architectures, such as NAS-Bench-201. The table
   is a csv file, maybe gzipped, with a row for each architecture. One column has the architecture's name as its space
   gives it (tutti_space_name), another the number that is searched for; further columns are shown beside it.

   TUTTI_TASK_VALUE: a table has numbers, no predictions, so nothing that looks at predictions works here. A trial whose
   architecture or number is not in the table fails, and the failure names both. */
#include "plugins/shared/reading/csv_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GOAL_MINIMISE, GOAL_MAXIMISE };
static const char *const table_goals[] = {"minimise", "maximise", NULL};

struct table_config {
  const char *path, *key, *objective, *metrics;
  int goal;
  double ceiling;
};

static const struct tutti_param table_params[] = {
    TUTTI_PATH(struct table_config, path, NULL,
               "The table: csv, maybe gzipped, whose first line names the columns; a row for each architecture.",
               .flags = TUTTI_PARAM_REQUIRED),
    TUTTI_STRING(struct table_config, key, "arch", "Column with the architectures' names, as their space gives them."),
    TUTTI_STRING(struct table_config, objective, NULL, "Column with the numbers that are searched for.",
                 .flags = TUTTI_PARAM_REQUIRED),
    TUTTI_CHOICE(struct table_config, goal, "minimise", table_goals,
                 "Whether the objective is a loss, or something that is better if it is higher."),
    TUTTI_REAL(struct table_config, ceiling, "0", -TUTTI_NO_LIMIT, TUTTI_NO_LIMIT,
               "With goal = maximise, ceiling - objective is minimised; 100 makes errors of accuracies in per cent."),
    TUTTI_STRING(struct table_config, metrics, "",
                 "Further columns to show beside the objective, separated by blanks: test accuracies, for example. "
                 "Nothing is chosen by them."),
};

/* A row of the table under its name. */
struct entry {
  const char *name;
  size_t row;
};

struct table {
  const struct table_config *config;
  tutti_rows *rows;
  struct entry *entries;                    /* [rows], by name */
  size_t objective, metric_count, *metrics; /* columns */
};

/* --- columns ----------------------------------------------------------------------------------------------------- */

static enum tutti_status no_column(tutti_context *context, const struct table *table, const char *key,
                                   const char *name) {
  const char *const *names = tutti_rows_names(table->rows);
  size_t count = tutti_rows_columns(table->rows), used = 0;
  const char *closest = tutti_closest_name(name, count, names);
  char list[512] = "";
  for (size_t i = 0; i < count && used < sizeof list; i++)
    used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", names[i]);
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "%s:1: expected a column '%s', which [backend] %s names; the columns are: %s%s%s%s",
                    table->config->path, name, key, list, closest ? "; did you mean '" : "", closest ? closest : "",
                    closest ? "'?" : "");
}

static enum tutti_status find_column(tutti_context *context, const struct table *table, const char *key,
                                     const char *name, size_t *column) {
  const char *const *names = tutti_rows_names(table->rows);
  size_t count = tutti_rows_columns(table->rows);
  for (*column = 0; *column < count; ++*column)
    if (strcmp(names[*column], name) == 0)
      return TUTTI_OK;
  return no_column(context, table, key, name);
}

/* Cells of a column of numbers may be empty, but must not be texts. */
static enum tutti_status check_numbers(tutti_context *context, const struct table *table, size_t column) {
  for (size_t row = 0; row < tutti_rows_count(table->rows); row++) {
    enum tutti_cell cell = tutti_rows_cell(table->rows, row, column);
    if (cell != TUTTI_CELL_NUMBER && cell != TUTTI_CELL_MISSING)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s:%u: column '%s': expected a number, found '%s'",
                        table->config->path, tutti_rows_line(table->rows, row), tutti_rows_names(table->rows)[column],
                        tutti_rows_text(table->rows, row, column));
  }
  return TUTTI_OK;
}

static enum tutti_status find_numbers(tutti_context *context, const struct table *table, const char *key,
                                      const char *name, size_t *column) {
  TUTTI_TRY(context, find_column(context, table, key, name, column));
  return check_numbers(context, table, *column);
}

/* The columns that `metrics` names. */
static enum tutti_status find_metrics(tutti_context *context, struct table *table) {
  static const char blanks[] = " \t";
  enum tutti_status status = TUTTI_OK;
  char *names = NULL, *rest;
  TUTTI_TRY_OUT(context, tutti_strdup(context, table->config->metrics, &names));
  TUTTI_TRY_OUT(context, tutti_alloc(context, strlen(names) / 2 + 1, sizeof *table->metrics, &table->metrics));
  for (char *name = strtok_r(names, blanks, &rest); name; name = strtok_r(NULL, blanks, &rest))
    TUTTI_TRY_OUT(context, find_numbers(context, table, "metrics", name, &table->metrics[table->metric_count++]));
out:
  tutti_free(names);
  return status;
}

/* --- entries ----------------------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b) {
  const struct entry *x = a, *y = b;
  int order = strcmp(x->name, y->name);
  return order ? order : (x->row > y->row) - (x->row < y->row);
}

static enum tutti_status check_twice(tutti_context *context, const struct table *table) {
  const struct entry *entries = table->entries;
  for (size_t i = 1; i < tutti_rows_count(table->rows); i++)
    if (strcmp(entries[i].name, entries[i - 1].name) == 0)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s:%u: column '%s' has '%s' again, which is also in line %u",
                        table->config->path, tutti_rows_line(table->rows, entries[i].row), table->config->key,
                        entries[i].name, tutti_rows_line(table->rows, entries[i - 1].row));
  return TUTTI_OK;
}

static enum tutti_status make_entries(tutti_context *context, struct table *table) {
  size_t count = tutti_rows_count(table->rows), column;
  TUTTI_TRY(context, find_column(context, table, "key", table->config->key, &column));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof *table->entries, &table->entries));
  for (size_t row = 0; row < count; row++) {
    if (tutti_rows_cell(table->rows, row, column) != TUTTI_CELL_TEXT)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "%s:%u: column '%s': expected the name of an architecture, found %s", table->config->path,
                        tutti_rows_line(table->rows, row), table->config->key,
                        tutti_rows_cell(table->rows, row, column) == TUTTI_CELL_MISSING ? "nothing" : "a number");
    table->entries[row] = (struct entry){tutti_rows_text(table->rows, row, column), row};
  }
  qsort(table->entries, count, sizeof *table->entries, by_name);
  return check_twice(context, table);
}

static const struct entry *find_entry(const struct table *table, const char *name) {
  size_t low = 0, high = tutti_rows_count(table->rows);
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    int order = strcmp(table->entries[middle].name, name);
    if (order == 0)
      return &table->entries[middle];
    if (order < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return NULL;
}

/* --- life -------------------------------------------------------------------------------------------------------- */

static void backend_destroy_table(void *instance) {
  struct table *table = instance;
  tutti_rows_destroy(table->rows);
  tutti_free(table->entries);
  tutti_free(table->metrics);
  tutti_free(table);
}

static enum tutti_status backend_create_table(tutti_context *context, const void *config, const void *setup,
                                              void **instance) {
  static const struct reading_csv_options options = {
      .header = READING_HEADER_YES, .delimiter = READING_DELIMITER_AUTO, .decimal = READING_DECIMAL_POINT};
  enum tutti_status status = TUTTI_OK;
  struct table *table = NULL;
  (void)setup;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *table, &table));
  table->config = config;
  TUTTI_TRY_OUT(context, tutti_rows_create(context, table->config->path, &table->rows));
  TUTTI_TRY_OUT(context, reading_csv(context, table->config->path, &options, table->rows));
  TUTTI_TRY_OUT(context, make_entries(context, table));
  TUTTI_TRY_OUT(context, find_numbers(context, table, "objective", table->config->objective, &table->objective));
  TUTTI_TRY_OUT(context, find_metrics(context, table));
  *instance = table;
  return TUTTI_OK;
out:
  backend_destroy_table(table);
  return status;
}

/* --- looking up -------------------------------------------------------------------------------------------------- */

static bool backend_supports_table(void *instance, enum tutti_op op) {
  (void)instance, (void)op;
  return false;
}

static enum tutti_status backend_check_table(void *instance, tutti_context *context, const struct tutti_job *job) {
  (void)instance;
  if (job->candidate && tutti_candidate_genotype(job->candidate))
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "results are looked up by architecture, and this candidate has none");
}

static void note_number(const struct table *table, const struct tutti_job *job, size_t row, size_t column) {
  double number = tutti_rows_number(table->rows, row, column);
  if (job->measure && isfinite(number))
    job->measure(job->measure_argument, tutti_rows_names(table->rows)[column], number);
}

/* Fill the outcome of the architecture of that name. The name is cut, so that the file is seen behind it. */
static void look_up(const struct table *table, const struct tutti_job *job, const char *name,
                    struct tutti_outcome *outcome) {
  const struct table_config *config = table->config;
  const struct entry *entry = find_entry(table, name);
  double number = entry ? tutti_rows_number(table->rows, entry->row, table->objective) : NAN;
  outcome->state = TUTTI_STATE_FAILED;
  if (!entry) {
    (void)snprintf(outcome->failure, sizeof outcome->failure, "no entry for %.140s in column '%s' of %s", name,
                   config->key, config->path);
  } else if (!isfinite(number)) {
    (void)snprintf(outcome->failure, sizeof outcome->failure, "the entry of %.140s has no '%s': %s:%u", name,
                   config->objective, config->path, tutti_rows_line(table->rows, entry->row));
  } else {
    outcome->state = TUTTI_STATE_FINISHED;
    outcome->value = config->goal == GOAL_MAXIMISE ? config->ceiling - number : number;
    note_number(table, job, entry->row, table->objective);
    for (size_t i = 0; i < table->metric_count; i++)
      note_number(table, job, entry->row, table->metrics[i]);
  }
}

static enum tutti_status backend_train_table(void *instance, tutti_context *context, const struct tutti_job *job,
                                             struct tutti_outcome *outcome) {
  char *name;
  TUTTI_TRY(context, backend_check_table(instance, context, job));
  TUTTI_TRY(context, tutti_space_name(context, tutti_candidate_genotype(job->candidate), &name));
  look_up(instance, job, name, outcome);
  tutti_free(name);
  return TUTTI_OK;
}

static const struct tutti_backend_ops table_ops = {
    .size = sizeof(struct tutti_backend_ops),
    .supports = backend_supports_table,
    .train = backend_train_table,
    .check = backend_check_table,
};

static const struct tutti_descriptor table_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BACKEND, "table"),
    .version = "1.0",
    .summary = "results looked up in a table instead of trained: tabular benchmarks",
    .source = "Dong, Yang, NAS-Bench-201: Extending the scope of reproducible neural architecture search, ICLR 2020",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(table_params, struct table_config),
    .create = backend_create_table,
    .destroy = backend_destroy_table,
    .ops = &table_ops,
};

TUTTI_PLUGIN(table_descriptor)
