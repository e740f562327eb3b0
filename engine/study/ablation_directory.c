/* ablation_directory.c - what is where in the directory of an ablation, and what of it is there already. */
#include "ablation_impl.h"

#include "core/base/file_impl.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool is_there(const char *directory, const char *name) {
  char path[4096];
  return snprintf(path, sizeof path, "%s/%s", directory, name) < (int)sizeof path && access(path, F_OK) == 0;
}

bool tutti_ablation_is_finished(const struct ablation_cell *cell) { return is_there(cell->directory, "summary.json"); }

static enum tutti_status make_folders(tutti_context *context, const char *directory) {
  static const char *const names[] = {"runs", "recipes", "logs"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char *path;
    TUTTI_TRY(context, tutti_run_path(context, directory, names[i], &path));
    enum tutti_status status = tutti_file_make_folder(context, path);
    tutti_free(path);
    TUTTI_TRY(context, status);
  }
  return TUTTI_OK;
}

/* --- cells that are there already -------------------------------------------------------------------------------- */

static enum tutti_status check_same(tutti_context *context, const struct ablation_cell *cell) {
  enum tutti_status status = TUTTI_OK;
  tutti_recipe *recorded = NULL, *wanted = NULL;
  char *path = NULL;
  TUTTI_TRY_OUT(context, tutti_run_path(context, cell->directory, "recipe.ini", &path));
  TUTTI_TRY_OUT(context, tutti_recipe_load(context, path, 0, NULL, &recorded));
  TUTTI_TRY_OUT(context, tutti_recipe_load(context, cell->recipe, cell->override_count,
                                           (const char *const *)cell->overrides, &wanted));
  status = tutti_recipe_same_run(context, recorded, wanted);
  if (status != TUTTI_OK)
    status = tutti_error_prefix(context, status,
                                "%s holds another run; choose another directory with --out: ", cell->directory);
out:
  tutti_recipe_destroy(recorded);
  tutti_recipe_destroy(wanted);
  tutti_free(path);
  return status;
}

/* The cells of an ablation that was killed die with it, but not in the same instant. */
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

static bool is_link(const char *directory, const char *name) {
  char path[4096];
  struct stat facts;
  return snprintf(path, sizeof path, "%s/%s", directory, name) < (int)sizeof path && lstat(path, &facts) == 0 &&
         S_ISLNK(facts.st_mode);
}

/* Has a cell begun a search of its own? */
static bool has_searched(const struct ablation_cell *cell) {
  return tutti_run_directory_has_run(cell->directory) && !is_link(cell->directory, "catalogue.sqlite");
}

/* Who has begun the search that some cells share goes on with it; who has one of its own keeps it. */
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
  TUTTI_TRY(context, check_same(context, cell));
  TUTTI_TRY(context, wait_for_end(context, cell));
  if (tutti_ablation_is_finished(cell))
    cell->state = ABLATION_FINISHED;
  if (has_searched(cell))
    assign_search(ablation, index);
  return TUTTI_OK;
}

enum tutti_status tutti_ablation_open(tutti_context *context, tutti_ablation *ablation, const char *directory,
                                      bool resume, int *lock) {
  if (!resume && (is_there(directory, "ablation.json") || is_there(directory, "runs")))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s already holds an ablation; add --resume to go on with it, or choose another directory with "
                      "--out",
                      directory);
  TUTTI_TRY(context, tutti_file_make_folder(context, directory));
  TUTTI_TRY(context, tutti_run_lock(context, directory, lock));
  for (size_t i = 0; i < ablation->count; i++) {
    tutti_free(ablation->cells[i].directory);
    TUTTI_TRY(context,
              tutti_format(context, &ablation->cells[i].directory, "%s/runs/%s", directory, ablation->cells[i].name));
  }
  for (size_t i = 0; i < ablation->count; i++)
    TUTTI_TRY(context, look_at(context, ablation, i));
  return make_folders(context, directory);
}

/* --- recipes, links ---------------------------------------------------------------------------------------------- */

enum tutti_status tutti_ablation_write_recipe(tutti_context *context, const struct ablation_cell *cell,
                                              const char *path) {
  return tutti_file_write_text(context, path, cell->text);
}

static enum tutti_status link_one(tutti_context *context, const char *target, const char *path) {
  if (symlink(target, path) == 0 || errno == EEXIST)
    return TUTTI_OK;
  return tutti_file_error(context, path, "make a link", errno);
}

enum tutti_status tutti_ablation_link(tutti_context *context, const struct ablation_cell *cell,
                                      const struct ablation_cell *searcher) {
  /* The catalogue makes it a run directory, so it comes last. */
  static const char *const names[] = {"trials", "splits", "data.json", "catalogue.sqlite"};
  enum tutti_status status = TUTTI_OK;
  char *path = NULL, *target = NULL;
  TUTTI_TRY_OUT(context, tutti_file_make_folder(context, cell->directory));
  TUTTI_TRY_OUT(context, tutti_run_path(context, cell->directory, "recipe.ini", &path));
  TUTTI_TRY_OUT(context, tutti_ablation_write_recipe(context, cell, path));
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    tutti_free(path);
    tutti_free(target);
    path = target = NULL;
    TUTTI_TRY_OUT(context, tutti_run_path(context, cell->directory, names[i], &path));
    TUTTI_TRY_OUT(context, tutti_format(context, &target, "../%s/%s", searcher->name, names[i]));
    TUTTI_TRY_OUT(context, link_one(context, target, path));
  }
out:
  tutti_free(path);
  tutti_free(target);
  return status;
}
