/* ablation_status.c - where an ablation stands: read from its plan and from the run directories of its cells, while it
   is at work or not. */
#include "ablation_impl.h"

#include "core/base/json_impl.h"

#include <string.h>

/* The recipe that a cell is to be run by; NULL where it cannot be read. */
static tutti_recipe *recipe_of(tutti_context *context, const char *directory, const char *cell) {
  char *path = NULL;
  tutti_recipe *recipe = NULL;
  if (tutti_ablation_cell_path(context, directory, cell, ABLATION_FILE_RECIPES, &path) != TUTTI_OK ||
      tutti_recipe_load_recorded(context, path, 0, NULL, &recipe) != TUTTI_OK)
    tutti_error_clear(context);
  tutti_free(path);
  return recipe;
}

/* What a cell is at: the plan knows of failures, its run directory of the rest. */
static enum ablation_state state_of(tutti_context *context, const json_t *cell, const char *run,
                                    const tutti_recipe *recipe) {
  const char *planned = json_string_value(json_object_get(cell, "state"));
  bool finished = false;
  if (tutti_run_is_locked(run))
    return ABLATION_RUNNING;
  if (tutti_run_is_at_end(context, run, recipe, &finished) != TUTTI_OK)
    tutti_error_clear(context);
  if (finished)
    return ABLATION_FINISHED;
  return planned && strcmp(planned, tutti_ablation_states[ABLATION_FAILED]) == 0 ? ABLATION_FAILED : ABLATION_WAITING;
}

/* What the workers of a cell are at, its best trial, its failures: the status of its run without what does not change
   or is long; NULL where that cannot be read. */
static json_t *run_of(tutti_context *context, const char *run) {
  static const char *const left_out[] = {"all_trials", "builder_state", "ensemble", "evaluation", NULL};
  tutti_view *view = NULL;
  char *text = NULL;
  json_t *root = NULL;
  if (tutti_view_open(context, run, &view) != TUTTI_OK || tutti_view_status(context, view, &text) != TUTTI_OK)
    tutti_error_clear(context); /* it has hardly begun, or just ends */
  else
    root = json_loads(text, 0, NULL);
  for (size_t i = 0; left_out[i]; i++)
    (void)json_object_del(root, left_out[i]);
  tutti_view_close(view);
  tutti_free(text);
  return root;
}

/* A cell as status shows it; *state is what it is at. */
static enum tutti_status describe(tutti_context *context, const char *directory, const json_t *cell, json_t **made,
                                  enum ablation_state *state) {
  const char *name = json_string_value(json_object_get(cell, "name"));
  const char *reason = json_string_value(json_object_get(cell, "reason"));
  char *run;
  if (!name || strchr(name, '/') || *name == '.')
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "%s: ablation.json: expected a cell's name", directory);
  TUTTI_TRY(context, tutti_ablation_cell_path(context, directory, name, ABLATION_FILE_RUNS, &run));
  tutti_recipe *recipe = recipe_of(context, directory, name);
  *state = state_of(context, cell, run, recipe);
  bool begun = *state != ABLATION_FINISHED && tutti_run_directory_has_run(run) && !tutti_run_is_shared(run);
  *made = json_pack("{s:s, s:s, s:s, s:I, s:I}", "name", name, "state", tutti_ablation_states[*state], "reason",
                    *state == ABLATION_FAILED && reason ? reason : "", "trials",
                    begun ? (json_int_t)tutti_run_trials_done(context, run) : 0, "budget",
                    begun && recipe ? (json_int_t)tutti_recipe_run(recipe)->budget : 0);
  json_t *status = *state == ABLATION_RUNNING && begun ? run_of(context, run) : NULL;
  if (status)
    json_object_set_new(*made, "status", status);
  tutti_recipe_destroy(recipe);
  tutti_free(run);
  return TUTTI_OK;
}

bool tutti_ablation_is_there(const char *directory) { return tutti_ablation_has(directory, ABLATION_FILE_REPORT); }

enum tutti_status tutti_ablation_status(tutti_context *context, const char *directory, char **json) {
  enum tutti_status status = TUTTI_OK;
  json_t *plan = NULL, *cells = json_array(), *counts = json_object(), *cell;
  json_int_t count[ABLATION_FAILED + 1] = {0};
  size_t index;
  TUTTI_TRY_OUT(context, tutti_ablation_read(context, directory, &plan));
  json_array_foreach(json_object_get(plan, "cells"), index, cell) {
    json_t *made;
    enum ablation_state state;
    TUTTI_TRY_OUT(context, describe(context, directory, cell, &made, &state));
    json_array_append_new(cells, made);
    count[state]++;
  }
  for (size_t i = 0; i <= ABLATION_FAILED; i++)
    json_object_set_new(counts, tutti_ablation_states[i], json_integer(count[i]));
  status = tutti_json_document(context,
                               json_pack("{s:s, s:b, s:O, s:O}", "directory", directory, "running",
                                         tutti_run_is_locked(directory), "counts", counts, "cells", cells),
                               json);
out:
  json_decref(plan);
  json_decref(cells);
  json_decref(counts);
  return status;
}
