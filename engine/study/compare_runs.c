/* compare_runs.c - reads the runs to compare: recipe, results, and their rows. */
#include "ablation_impl.h"
#include "compare_impl.h"

#include "core/base/file_impl.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- runs -------------------------------------------------------------------------------------------------------- */

static void release_run(struct compare_run *run) {
  for (size_t i = 0; i < run->count; i++) {
    tutti_free(run->items[i].key);
    tutti_free(run->items[i].value);
  }
  tutti_free(run->items);
  tutti_free(run->directory);
  tutti_free(run->real);
  tutti_free(run->recipe);
  tutti_free(run->rows);
  tutti_free(run->reason);
  tutti_free(run->no_rows);
  json_decref(run->summary);
  json_decref(run->metrics);
  json_decref(run->splits);
}

void tutti_compare_release(struct compare *compare) {
  for (size_t i = 0; i < compare->count; i++)
    release_run(&compare->runs[i]);
  for (size_t i = 0; compare->data_set_names && i < compare->data_sets; i++)
    tutti_free(compare->data_set_names[i]);
  tutti_free(compare->runs);
  tutti_free(compare->keys);
  tutti_free(compare->blocks);
  tutti_free(compare->data_keys);
  tutti_free(compare->data_set_runs);
  tutti_free(compare->variant_runs);
  tutti_free(compare->data_set_names);
  tutti_compare_evidence_release(&compare->evidence);
}

const char *tutti_compare_value(const struct compare_run *run, const char *key) {
  for (size_t i = 0; i < run->count; i++)
    if (strcmp(run->items[i].key, key) == 0)
      return run->items[i].value;
  return NULL;
}

/* --- recipes ----------------------------------------------------------------------------------------------------- */

static enum tutti_status add_item(tutti_context *context, struct compare_run *run, const char *section, const char *key,
                                  const char *value) {
  if (run->count == run->room) {
    size_t room = 2 * run->room + 64;
    TUTTI_TRY(context, tutti_realloc(context, run->count, room, sizeof *run->items, &run->items));
    run->room = room;
  }
  struct compare_item *item = &run->items[run->count++];
  TUTTI_TRY(context, tutti_format(context, &item->key, *section ? "%s.%s" : "%s%s", section, key));
  return tutti_strdup(context, value, &item->value);
}

/* The seed forms pairs, and circumstances change nothing. */
static enum tutti_status take_item(void *argument, tutti_context *context, const struct tutti_recipe_item *item) {
  struct compare_run *run = argument;
  bool seed = strcmp(item->section, "run") == 0 && strcmp(item->key, "seed") == 0;
  if (item->part == TUTTI_RECIPE_CIRCUMSTANCES || seed || !*item->key)
    return TUTTI_OK;
  return add_item(context, run, item->section, item->key, item->value);
}

/* *finished: is it at the end of what its recipe asks for? *fits: is it one of fits, not of a search? */
static enum tutti_status read_recipe(tutti_context *context, struct compare_run *run, bool *finished, bool *fits) {
  enum tutti_status status = TUTTI_OK;
  tutti_recipe *recipe = NULL;
  char *path = NULL;
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, run->directory, TUTTI_RUN_FILE_RECIPE, &path));
  TUTTI_TRY_OUT(context, tutti_recipe_load_recorded(context, path, 0, NULL, &recipe));
  run->seed = tutti_recipe_run(recipe)->seed;
  *fits = tutti_recipe_fit(recipe) != NULL;
  if (run->recipe)
    TUTTI_TRY_OUT(context, add_item(context, run, "", COMPARE_RECIPE_KEY, run->recipe));
  TUTTI_TRY_OUT(context, tutti_recipe_visit(context, recipe, take_item, run));
  TUTTI_TRY_OUT(context, tutti_run_is_at_end(context, run->directory, recipe, finished));
out:
  tutti_recipe_destroy(recipe);
  tutti_free(path);
  return status;
}

/* --- results ----------------------------------------------------------------------------------------------------- */

/* Take the metrics of the compared split; false if they are not in order. */
static bool take_metrics(struct compare_run *run, const json_t *metrics) {
  size_t index;
  json_t *metric;
  json_array_foreach(metrics, index, metric) {
    const char *name, *unit, *better;
    if (json_unpack(metric, "{s:s, s:s, s:s}", "name", &name, "unit", &unit, "better", &better) != 0)
      return false;
    json_array_append(run->metrics, metric);
  }
  return true;
}

/* Metrics of the split that is compared, and the best trial's loss behind them, which every run has. */
static enum tutti_status read_metrics(tutti_context *context, const char *wanted, struct compare_run *run) {
  const json_t *evaluation = json_object_get(run->summary, "evaluation"), *loss = json_object_get(run->summary, "loss");
  json_t *best = json_object_get(json_object_get(run->summary, "best"), "loss"), *split;
  size_t index;
  run->metrics = json_array();
  run->splits = json_array();
  json_array_foreach(evaluation, index, split) {
    json_t *name = json_object_get(split, "split");
    if (!json_is_string(name))
      return tutti_format(context, &run->reason, "%s: expected splits with names",
                          tutti_run_file_name(TUTTI_RUN_FILE_SUMMARY));
    json_array_append(run->splits, name);
    if (strcmp(json_string_value(name), wanted) != 0)
      continue;
    if (!take_metrics(run, json_object_get(split, "metrics")))
      return tutti_format(context, &run->reason, "%s: expected metrics with a name, unit and better",
                          tutti_run_file_name(TUTTI_RUN_FILE_SUMMARY));
    TUTTI_TRY(context, tutti_compare_take_calibrated(context, run, json_object_get(split, "calibrated")));
  }
  if (json_array_size(run->splits) > 0 && json_array_size(run->metrics) == 0)
    return tutti_format(context, &run->reason, "it has no rows of split '%s'", wanted);
  json_array_append_new(
      run->metrics, json_pack("{s:s, s:O, s:s, s:s}", "name", COMPARE_BEST_TRIAL, "value", best ? best : json_null(),
                              "unit", json_is_string(loss) ? json_string_value(loss) : "", "better", "lower"));
  return TUTTI_OK;
}

/* Checksums of the split's row numbers and targets. */
static enum tutti_status read_rows(tutti_context *context, const char *split, struct compare_run *run) {
  uint64_t bytes[TUTTI_SPLIT_FILES] = {0};
  uint32_t sums[TUTTI_SPLIT_FILES] = {0};
  for (size_t i = 0; i < TUTTI_SPLIT_FILES; i++) {
    char *path;
    struct stat facts;
    TUTTI_TRY(context, tutti_run_split_path(context, run->directory, split, (enum tutti_split_file)i, &path));
    enum tutti_status status = tutti_run_check_file(context, path);
    if (status == TUTTI_OK)
      status = stat(path, &facts) == 0 ? tutti_file_checksum(context, path, &bytes[i], &sums[i]) : TUTTI_OK;
    tutti_free(path);
    TUTTI_TRY(context, status);
  }
  return tutti_format(context, &run->rows, "%" PRIu64 "-%08x %" PRIu64 "-%08x %" PRIu64 "-%08x", bytes[0],
                      (unsigned)sums[0], bytes[1], (unsigned)sums[1], bytes[2], (unsigned)sums[2]);
}

/* A damaged file is the reason why the run is left out; other failures are that of the comparison. */
static enum tutti_status take_damage(tutti_context *context, struct compare_run *run, enum tutti_status status) {
  if (status != TUTTI_ERROR_CORRUPT)
    return status;
  status = tutti_strdup(context, tutti_error_message(context), &run->reason);
  tutti_error_clear(context);
  return status;
}

static enum tutti_status read_summary(tutti_context *context, struct compare_run *run) {
  return take_damage(context, run, tutti_run_read_summary(context, run->directory, &run->summary));
}

/* A run whose files are not as they were recorded is left out. */
static enum tutti_status check_files(tutti_context *context, struct compare_run *run) {
  enum tutti_status status;
  tutti_catalogue *catalogue = NULL;
  char *path = NULL;
  TUTTI_TRY_OUT(context, tutti_run_check_layout(context, run->directory));
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, run->directory, TUTTI_RUN_FILE_CATALOGUE, &path));
  TUTTI_TRY_OUT(context, tutti_catalogue_open(context, path, false, &catalogue));
  TUTTI_TRY_OUT(context, tutti_run_check_files(context, run->directory, catalogue, &run->reason));
out:
  tutti_catalogue_close(catalogue);
  tutti_free(path);
  return take_damage(context, run, status);
}

/* It has no result, or one that is not of what its recipe asks for. */
static enum tutti_status say_unfinished(tutti_context *context, struct compare_run *run, bool fits) {
  const bool shared = tutti_run_is_shared(run->directory);
  const char *command = run->recipe || shared ? "ablate" : fits ? "fit" : "run";
  const char *state = shared ? "the search that it shares goes on, or has since its ensemble was chosen"
                             : "its search goes on, or has since its ensemble was chosen";
  if (fits)
    state = run->summary ? "its fits go on, or are more than its results are of" : "its fits have not ended";
  else if (!run->summary)
    state = "its search has not ended";
  return tutti_format(context, &run->reason, "not finished: %s; tutti %s --resume ends %s", state, command,
                      fits ? "them" : "it");
}

/* A search that another cell has made larger has more trials than this cell's recipe asks for; then they are its
   budget. */
static enum tutti_status take_trials(tutti_context *context, struct compare_run *run) {
  const json_t *trials = json_object_get(run->summary, "trials");
  const json_int_t done = json_integer_value(json_object_get(trials, "done")),
                   budget = json_integer_value(json_object_get(trials, "budget"));
  for (size_t i = 0; budget > 0 && done > budget && i < run->count; i++) {
    if (strcmp(run->items[i].key, "run.budget") != 0)
      continue;
    tutti_free(run->items[i].value);
    TUTTI_TRY(context, tutti_format(context, &run->items[i].value, "%lld", (long long)done));
  }
  return TUTTI_OK;
}

static enum tutti_status read_run(tutti_context *context, const char *split, struct compare_run *run) {
  bool finished, fits;
  if (tutti_run_directory_has_pools(run->directory))
    return tutti_strdup(context, "made of several runs, which have no recipe together", &run->reason);
  if (!tutti_run_directory_has_run(run->directory))
    return tutti_strdup(context, "not begun", &run->reason);
  TUTTI_TRY(context, check_files(context, run));
  if (run->reason)
    return TUTTI_OK;
  TUTTI_TRY(context, read_recipe(context, run, &finished, &fits));
  TUTTI_TRY(context, read_summary(context, run));
  if (run->reason)
    return TUTTI_OK;
  if (!run->summary || !finished)
    return say_unfinished(context, run, fits);
  TUTTI_TRY(context, take_trials(context, run));
  TUTTI_TRY(context, read_metrics(context, split, run));
  return read_rows(context, split, run);
}

/* --- directories ------------------------------------------------------------------------------------------------- */

/* Add a run, unless it was already added under this or another name. */
static enum tutti_status add_run(tutti_context *context, struct compare *compare, const char *directory,
                                 const char *recipe) {
  char *real = realpath(directory, NULL);
  enum tutti_status status = TUTTI_OK;
  const char *name = real ? real : directory;
  for (size_t i = 0; i < compare->count; i++)
    if (strcmp(compare->runs[i].real, name) == 0)
      goto out;
  if (compare->count == compare->room) {
    size_t room = 2 * compare->room + 16;
    TUTTI_TRY_OUT(context, tutti_realloc(context, compare->count, room, sizeof *compare->runs, &compare->runs));
    compare->room = room;
  }
  struct compare_run *run = &compare->runs[compare->count];
  TUTTI_TRY_OUT(context, tutti_strdup(context, name, &run->real));
  compare->count++;
  TUTTI_TRY_OUT(context, tutti_strdup(context, directory, &run->directory));
  if (recipe)
    TUTTI_TRY_OUT(context, tutti_strdup(context, recipe, &run->recipe));
out:
  free(real);
  return status;
}

/* The runs of an ablation, as its ablation.json lists them. */
static enum tutti_status add_cells(tutti_context *context, struct compare *compare, const char *directory,
                                   const json_t *ablation) {
  size_t index;
  json_t *cell;
  json_array_foreach(json_object_get(ablation, "cells"), index, cell) {
    const char *name, *recipe;
    char *run;
    if (json_unpack(cell, "{s:s, s:s}", "name", &name, "recipe", &recipe) != 0 || strchr(name, '/') || *name == '.')
      return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "%s/ablation.json: cell %zu: expected a name and a recipe",
                        directory, index);
    TUTTI_TRY(context, tutti_ablation_cell_path(context, directory, name, ABLATION_FILE_RUNS, &run));
    enum tutti_status status = tutti_run_check_folder(context, run);
    if (status == TUTTI_OK)
      status = add_run(context, compare, run, recipe);
    tutti_free(run);
    TUTTI_TRY(context, status);
  }
  return TUTTI_OK;
}

static int has_name(const struct dirent *entry) { return entry->d_name[0] != '.'; }

/* Every run directory in a folder. */
static enum tutti_status add_folder(tutti_context *context, struct compare *compare, const char *folder) {
  enum tutti_status status = TUTTI_OK;
  struct dirent **entries = NULL;
  int count = scandir(folder, &entries, has_name, versionsort);
  for (int i = 0; i < count; i++) {
    char *path = NULL;
    if (status == TUTTI_OK)
      status = tutti_format(context, &path, "%s/%s", folder, entries[i]->d_name);
    if (status == TUTTI_OK && tutti_run_directory_has_run(path))
      status = add_run(context, compare, path, NULL);
    tutti_free(path);
    free(entries[i]);
  }
  free(entries);
  return status;
}

/* An ablation's directory, or a folder with runs in it. */
static enum tutti_status add_several(tutti_context *context, struct compare *compare, const char *directory) {
  json_t *ablation;
  if (!tutti_ablation_has(directory, ABLATION_FILE_REPORT))
    return add_folder(context, compare, directory);
  TUTTI_TRY(context, tutti_ablation_read(context, directory, &ablation));
  enum tutti_status status = add_cells(context, compare, directory, ablation);
  json_decref(ablation);
  return status;
}

static enum tutti_status add_directory(tutti_context *context, struct compare *compare, const char *directory) {
  size_t before = compare->count;
  if (tutti_run_directory_has_run(directory) || tutti_run_directory_has_pools(directory))
    return add_run(context, compare, directory, NULL);
  TUTTI_TRY(context, tutti_run_check_catalogue(context, directory));
  TUTTI_TRY(context, add_several(context, compare, directory));
  if (compare->count == before)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: expected a run directory, a folder of them, or the directory of an ablation", directory);
  return TUTTI_OK;
}

enum tutti_status tutti_compare_find(tutti_context *context, size_t count, const char *const *directories,
                                     size_t *found, char ***runs) {
  enum tutti_status status = TUTTI_OK;
  struct compare compare = {.split = ""};
  *found = 0;
  *runs = NULL;
  for (size_t i = 0; i < count; i++)
    TUTTI_TRY_OUT(context, add_directory(context, &compare, directories[i]));
  TUTTI_TRY_OUT(context, tutti_alloc(context, compare.count, sizeof **runs, runs));
  for (; *found < compare.count; (*found)++) {
    (*runs)[*found] = compare.runs[*found].directory;
    compare.runs[*found].directory = NULL;
  }
out:
  tutti_compare_release(&compare);
  return status;
}

/* Move the runs that are left out behind the others. */
static enum tutti_status sort_out(tutti_context *context, struct compare *compare) {
  struct compare_run *sorted;
  size_t kept = 0, left = 0;
  TUTTI_TRY(context, tutti_alloc(context, compare->count, sizeof *sorted, &sorted));
  for (size_t i = 0; i < compare->count; i++)
    compare->compared += !compare->runs[i].reason;
  for (size_t i = 0; i < compare->count; i++)
    sorted[compare->runs[i].reason ? compare->compared + left++ : kept++] = compare->runs[i];
  tutti_free(compare->runs);
  compare->runs = sorted;
  return TUTTI_OK;
}

enum tutti_status tutti_compare_read(tutti_context *context, struct compare *compare, size_t count,
                                     const char *const *directories) {
  for (size_t i = 0; i < count; i++)
    TUTTI_TRY(context, add_directory(context, compare, directories[i]));
  for (size_t i = 0; i < compare->count; i++)
    TUTTI_TRY(context, read_run(context, compare->split, &compare->runs[i]));
  TUTTI_TRY(context, sort_out(context, compare));
  return tutti_compare_fill_calibrated(context, compare);
}
