/* run_profile.c - what the data of a recipe hold, whether or not the recipe can be run; and what of it a run says
   before it begins. */
#include "core/base/context_impl.h"
#include "core/plugin/split_impl.h"
#include "engine/data/profile_impl.h"
#include "experiment_impl.h"
#include "engine/recipe/recipe_impl.h"
#include "manager_impl.h"

#include <tutti/names.h>
#include <tutti/run.h>

static enum tutti_status read_profile(tutti_context *context, const tutti_recipe *recipe, char **json) {
  enum tutti_status status = TUTTI_OK;
  tutti_host *host = NULL;
  tutti_source *source = NULL;
  *json = NULL;
  if (!tutti_recipe_data(recipe))
    return TUTTI_OK;
  TUTTI_TRY_OUT(context, tutti_experiment_check_files(context, recipe));
  TUTTI_TRY_OUT(context, tutti_recipe_assemble(context, recipe, &host));
  struct tutti_source_setup setup = {.size = sizeof setup, .host = host};
  TUTTI_TRY_OUT(context, tutti_source_create(context, host, "data", &setup, &source));
  status = tutti_profile_print(context, tutti_recipe_data(recipe), source, tutti_recipe_folder(recipe),
                               (uint64_t)tutti_recipe_run(recipe)->seed, json);
  if (status != TUTTI_OK)
    status = tutti_recipe_place(context, recipe, status);
out:
  tutti_source_destroy(source);
  tutti_host_destroy(host);
  return status;
}

/* Without a log: what there is to say as data are read is said when they are read for the run. */
enum tutti_status tutti_run_profile(tutti_context *context, const tutti_recipe *recipe, char **json) {
  const tutti_log_function log = context->log;
  void *argument = context->log_argument;
  tutti_log_to(context, NULL, NULL);
  enum tutti_status status = read_profile(context, recipe, json);
  tutti_log_to(context, log, argument);
  return status;
}

/* Log the notes of a profile, a few of them. */
static void log_notes(tutti_context *context, const char *profile) {
  enum { TOLD = 10 };
  json_t *root = json_loads(profile, 0, NULL), *notes = json_object_get(root, "warnings"), *note;
  size_t i, count = json_array_size(notes);
  json_array_foreach(notes, i, note) {
    const char *column = json_string_value(json_object_get(note, "column"));
    const char *text = json_string_value(json_object_get(note, "text"));
    if (i < TOLD && text)
      tutti_log(context, TUTTI_LOG_WARNING, "%s%s%s%s", column ? "column '" : "the data: ", column ? column : "",
                column ? "': " : "", text);
  }
  if (count > TOLD)
    tutti_log(context, TUTTI_LOG_WARNING, "... and %zu %s more; tutti validate has them all", count - TOLD,
              tutti_plural(count - TOLD, "note", "notes"));
  json_decref(root);
}

void tutti_run_say_notes(struct tutti_manager *manager) {
  static const size_t most_cells = 4000000; /* the data are read once more, which takes a second or so */
  tutti_context *context = manager->context;
  const tutti_dataset *dataset = manager->experiment->dataset;
  size_t cells = 0;
  char *profile = NULL;
  for (size_t i = 0; dataset && i < tutti_dataset_splits(dataset); i++) {
    const tutti_split *split = tutti_dataset_split(dataset, i);
    cells += split->rows * (size_t)split->input.channels * (size_t)split->input.height * (size_t)split->input.width;
  }
  if (!dataset || manager->history.asked > 0 || cells > most_cells)
    return;
  if (tutti_run_profile(context, manager->experiment->recipe, &profile) != TUTTI_OK)
    tutti_error_clear(context); /* what is wrong with the data, whoever reads them has said */
  else if (profile)
    log_notes(context, profile);
  tutti_free(profile);
}
