/* ablation_directory.c - the layout of an ablation's directory, and which parts of it exist already. */
#include "ablation_impl.h"

#include "core/base/file_impl.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

static const char *const file_names[] = {[ABLATION_FILE_REPORT] = "ablation.json",
                                         [ABLATION_FILE_RUNS] = "runs",
                                         [ABLATION_FILE_RECIPES] = "recipes",
                                         [ABLATION_FILE_LOGS] = "logs"};

enum tutti_status tutti_ablation_path(tutti_context *context, const char *directory, enum ablation_file file,
                                      char **path) {
  return tutti_format(context, path, "%s/%s", directory, file_names[file]);
}

enum tutti_status tutti_ablation_cell_path(tutti_context *context, const char *directory, const char *cell,
                                           enum ablation_file file, char **path) {
  static const char *const endings[] = {[ABLATION_FILE_REPORT] = "",
                                        [ABLATION_FILE_RUNS] = "",
                                        [ABLATION_FILE_RECIPES] = ".ini",
                                        [ABLATION_FILE_LOGS] = ".log"};
  return tutti_format(context, path, "%s/%s/%s%s", directory, file_names[file], cell, endings[file]);
}

bool tutti_ablation_has(const char *directory, enum ablation_file file) {
  int folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bool there = folder >= 0 && faccessat(folder, file_names[file], F_OK, 0) == 0;
  if (folder >= 0)
    (void)close(folder);
  return there;
}

static enum tutti_status make_folders(tutti_context *context, const char *directory) {
  static const enum ablation_file folders[] = {ABLATION_FILE_RUNS, ABLATION_FILE_RECIPES, ABLATION_FILE_LOGS};
  for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
    char *path;
    TUTTI_TRY(context, tutti_ablation_path(context, directory, folders[i], &path));
    enum tutti_status status = tutti_file_make_folder(context, path);
    tutti_free(path);
    TUTTI_TRY(context, status);
  }
  return TUTTI_OK;
}

/* --- ablation.json ---------------------------------------------------------------------------------------------- */

const char *const tutti_ablation_states[] = {"waiting", "running", "finished", "failed"};

enum tutti_status tutti_ablation_read(tutti_context *context, const char *directory, json_t **plan) {
  enum tutti_status status;
  char *path, *text = NULL;
  size_t bytes;
  json_error_t error;
  *plan = NULL;
  TUTTI_TRY(context, tutti_ablation_path(context, directory, ABLATION_FILE_REPORT, &path));
  TUTTI_TRY_OUT(context, tutti_file_read(context, path, &text, &bytes));
  *plan = json_loads(text, 0, &error);
  if (!*plan || !json_is_array(json_object_get(*plan, "cells"))) {
    json_decref(*plan);
    *plan = NULL;
    status = TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "%s: expected the cells of an ablation: %s", path,
                        *error.text ? error.text : "there are none");
  }
out:
  tutti_free(text);
  tutti_free(path);
  return status;
}

/* --- cells that are there already -------------------------------------------------------------------------------- */

/* Is what a cell's directory has the cell's run? */
static enum tutti_status check_same(tutti_context *context, const struct ablation_cell *cell, bool *finished) {
  enum tutti_status status = TUTTI_OK;
  tutti_recipe *recorded = NULL, *wanted = NULL;
  char *path = NULL;
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, cell->directory, TUTTI_RUN_FILE_RECIPE, &path));
  TUTTI_TRY_OUT(context, tutti_recipe_load(context, cell->recipe, cell->override_count,
                                           (const char *const *)cell->overrides, &wanted));
  TUTTI_TRY_OUT(context, tutti_recipe_load_recorded(context, path, 0, NULL, &recorded));
  status = tutti_recipe_same_run(context, recorded, wanted);
  if (status != TUTTI_OK)
    status = tutti_error_prefix(context, status,
                                "%s holds another run; choose another directory with --out: ", cell->directory);
  else
    status = tutti_run_is_at_end(context, cell->directory, wanted, finished);
out:
  tutti_recipe_destroy(recorded);
  tutti_recipe_destroy(wanted);
  tutti_free(path);
  return status;
}

/* The cells of a killed ablation die with it, but not at the same instant. */
static enum tutti_status wait_for_end(tutti_context *context, const struct ablation_cell *cell) {
  enum { TENTHS = 100 };
  const struct timespec tenth = {.tv_nsec = 100000000};
  for (int i = 0; i < TENTHS && tutti_run_is_locked(cell->directory); i++) {
    if (tutti_cancelled(context))
      return TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "interrupted");
    (void)nanosleep(&tenth, NULL);
  }
  if (tutti_run_is_locked(cell->directory))
    return TUTTI_FAIL(context, TUTTI_ERROR_BUSY, "%s is in use by another tutti run; wait for it", cell->directory);
  return TUTTI_OK;
}

/* Has a cell begun a search of its own? */
static bool has_searched(const struct ablation_cell *cell) {
  return tutti_run_directory_has_run(cell->directory) && !tutti_run_is_shared(cell->directory);
}

/* If a cell has begun a search that several share, that cell goes on with it; a cell that has its own search keeps
   it. */
static void assign_search(tutti_ablation *ablation, size_t index) {
  size_t old = ablation->cells[index].searcher;
  if (has_searched(&ablation->cells[old])) {
    ablation->cells[index].searcher = index;
    return;
  }
  for (size_t i = 0; i < ablation->count; i++)
    if (ablation->cells[i].searcher == old)
      ablation->cells[i].searcher = index;
}

static enum tutti_status look_at(tutti_context *context, tutti_ablation *ablation, size_t index) {
  struct ablation_cell *cell = &ablation->cells[index];
  if (!tutti_run_directory_has_run(cell->directory))
    return TUTTI_OK;
  bool finished = false;
  TUTTI_TRY(context, wait_for_end(context, cell));
  TUTTI_TRY(context, check_same(context, cell, &finished));
  if (finished)
    cell->state = ABLATION_FINISHED;
  if (has_searched(cell))
    assign_search(ablation, index);
  return TUTTI_OK;
}

/* A finished search without times that another cell needs is resumed, which measures them and trains nothing. */
static void reopen_untimed(tutti_ablation *ablation) {
  for (size_t i = 0; i < ablation->count; i++)
    if (ablation->cells[i].state == ABLATION_FINISHED && tutti_ablation_measures(ablation, i))
      ablation->cells[i].state = ABLATION_WAITING;
}

enum tutti_status tutti_ablation_open(tutti_context *context, tutti_ablation *ablation, const char *directory,
                                      bool resume, int *lock) {
  if (!resume &&
      (tutti_ablation_has(directory, ABLATION_FILE_REPORT) || tutti_ablation_has(directory, ABLATION_FILE_RUNS)))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s already holds an ablation; add --resume to go on with it, or choose another directory with "
                      "--out",
                      directory);
  TUTTI_TRY(context, tutti_run_check_directory(context, directory));
  TUTTI_TRY(context, tutti_file_make_folder(context, directory));
  TUTTI_TRY(context, tutti_run_lock(context, directory, lock));
  for (size_t i = 0; i < ablation->count; i++) {
    tutti_free(ablation->cells[i].directory);
    TUTTI_TRY(context, tutti_ablation_cell_path(context, directory, ablation->cells[i].name, ABLATION_FILE_RUNS,
                                                &ablation->cells[i].directory));
  }
  for (size_t i = 0; i < ablation->count; i++)
    TUTTI_TRY(context, look_at(context, ablation, i));
  reopen_untimed(ablation);
  return make_folders(context, directory);
}

/* --- links ------------------------------------------------------------------------------------------------------- */

enum tutti_status tutti_ablation_link(tutti_context *context, const struct ablation_cell *cell,
                                      const struct ablation_cell *searcher) {
  TUTTI_TRY(context, tutti_file_make_folder(context, cell->directory));
  TUTTI_TRY(context, tutti_run_write_own_recipe(context, cell->directory, cell->text));
  return tutti_run_share(context, cell->directory, searcher->name);
}
