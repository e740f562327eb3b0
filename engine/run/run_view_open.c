/* run_view_open.c - opens a run directory for reading, after the run or during it, and says what can be done with it.
   */
#include "run_view_impl.h"

/* The catalogue, and the run's files, which are compared with it before they are used. */
static enum tutti_status open_record(tutti_context *context, tutti_view *view) {
  enum tutti_status status;
  char *path = NULL, *why = NULL;
  TUTTI_TRY_OUT(context, tutti_run_file_path(context, view->directory, TUTTI_RUN_FILE_CATALOGUE, &path));
  TUTTI_TRY_OUT(context, tutti_catalogue_open(context, path, false, &view->catalogue));
  TUTTI_TRY_OUT(context, tutti_run_check_files(context, view->directory, view->catalogue, &why));
  if (why)
    status = TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                        "%s; go on with the run to mend it (--resume), or take the file from a copy", why);
out:
  tutti_free(path);
  tutti_free(why);
  return status;
}

static enum tutti_status open_experiment(tutti_context *context, tutti_view *view) {
  tutti_recipe *recipe;
  tutti_dataset *dataset;
  char *path;
  TUTTI_TRY(context, tutti_run_file_path(context, view->directory, TUTTI_RUN_FILE_RECIPE, &path));
  enum tutti_status status = tutti_recipe_load_recorded(context, path, 0, NULL, &recipe);
  tutti_free(path);
  TUTTI_TRY(context, status);
  status = tutti_run_dataset(context, view->directory, recipe, &dataset);
  if (status != TUTTI_OK) {
    tutti_recipe_destroy(recipe);
    return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
  }
  TUTTI_TRY(context, tutti_experiment_reopen(context, recipe, dataset, &view->experiment));
  view->pool = (struct tutti_run_pool){view->directory, view->experiment, &view->history, NULL};
  return TUTTI_OK;
}

enum tutti_status tutti_view_open(tutti_context *context, const char *directory, tutti_view **out) {
  enum tutti_status status = TUTTI_OK;
  tutti_view *view = NULL;
  *out = NULL;
  if (tutti_run_directory_has_pools(directory))
    return tutti_joined_open(context, directory, out);
  TUTTI_TRY(context, tutti_run_check_catalogue(context, directory));
  if (!tutti_run_directory_has_run(directory))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected a run directory (with %s in it)", directory,
                      tutti_run_file_name(TUTTI_RUN_FILE_CATALOGUE));
  TUTTI_TRY(context, tutti_run_check_layout(context, directory));
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *view, &view));
  TUTTI_TRY_OUT(context, tutti_strdup(context, directory, &view->directory));
  TUTTI_TRY_OUT(context, open_record(context, view));
  TUTTI_TRY_OUT(context, open_experiment(context, view));
  TUTTI_TRY_OUT(context, tutti_history_load(context, view->catalogue, view->experiment->scope, &view->history));
  *out = view;
  view = NULL;
out:
  tutti_view_close(view);
  return status;
}

void tutti_view_close(tutti_view *view) {
  if (!view)
    return;
  if (view->parts) {
    tutti_joined_close(view->part_count, view->parts);
    tutti_free(view->history.records);
  } else {
    tutti_history_release(&view->history);
    tutti_catalogue_close(view->catalogue);
    tutti_experiment_destroy(view->experiment);
  }
  tutti_free(view->directory);
  tutti_free(view);
}

enum tutti_status tutti_view_check_search(tutti_context *context, const tutti_view *view) {
  if (!tutti_experiment_is_fit(view->experiment))
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "%s: its trials are repeats of one fit, so there is no ensemble; tutti status shows their metrics",
                    view->directory);
}

enum tutti_status tutti_view_check_data(tutti_context *context, const tutti_view *view) {
  TUTTI_TRY(context, tutti_view_check_search(context, view));
  if (view->experiment->dataset)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "%s: its backend %s works without data, so there are no predictions and nothing to evaluate; tutti "
                    "status shows its best trial",
                    view->directory, tutti_host_plugin(view->experiment->host, "backend"));
}
