/* run_end.c - is a run at its end? Told by what its directory has, whether anybody is at work in it or not. */
#include "run_impl.h"

#include <tutti/catalogue.h>

static enum tutti_status count_done(void *argument, const struct tutti_trial *trial) {
  *(uint64_t *)argument += trial->done;
  return TUTTI_OK;
}

uint64_t tutti_run_trials_done(tutti_context *context, const char *directory) {
  uint64_t done = 0;
  char *path = NULL;
  tutti_catalogue *catalogue = NULL;
  if (!tutti_run_directory_has_run(directory) ||
      tutti_run_file_path(context, directory, TUTTI_RUN_FILE_CATALOGUE, &path) != TUTTI_OK ||
      tutti_catalogue_open(context, path, false, &catalogue) != TUTTI_OK ||
      tutti_catalogue_visit(context, catalogue, count_done, &done) != TUTTI_OK) {
    tutti_error_clear(context);
    done = 0;
  }
  tutti_catalogue_close(catalogue);
  tutti_free(path);
  return done;
}

/* Does a recipe let a run go on whose summary has these trials? A budget of 0 is one that the time alone bounds. A cell
   that shares a search may have more trials than its budget: with that of the search, its recipe says so, too. */
static bool asks_for_more(const json_t *trials, const struct tutti_run_config *wanted) {
  const json_t *time = json_object_get(trials, "time");
  const json_int_t budget = json_integer_value(json_object_get(trials, "budget")),
                   done = json_integer_value(json_object_get(trials, "done"));
  bool room = wanted->budget == 0 || wanted->budget > done;
  bool more = budget > 0 && (wanted->budget == 0 || wanted->budget > budget);
  bool longer = time && wanted->time > json_number_value(time);
  return more || (longer && room);
}

enum tutti_status tutti_run_is_at_end(tutti_context *context, const char *directory, const tutti_recipe *wanted,
                                      bool *at_end) {
  char *text = NULL;
  *at_end = tutti_run_directory_is_finished(directory);
  if (*at_end)
    TUTTI_TRY(context, tutti_run_file_read(context, directory, TUTTI_RUN_FILE_SUMMARY, &text));
  json_t *summary = text ? json_loads(text, 0, NULL) : NULL, *trials = json_object_get(summary, "trials");
  const uint64_t done = (uint64_t)json_integer_value(json_object_get(trials, "done"));
  *at_end = *at_end && !(wanted && asks_for_more(trials, tutti_recipe_run(wanted))) &&
            done >= tutti_run_trials_done(context, directory);
  json_decref(summary);
  tutti_free(text);
  return TUTTI_OK;
}
