/* training.c - what `run` and `fit` share. */
#include "training.h"

#include "progress.h"
#include "program_impl.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void show_end(const json_t *summary, const void *directory, FILE *out) {
  show_summary(summary, out);
  (void)fprintf(out, "\nEverything is in %s\n", (const char *)directory);
}

/* A line that says how to go on with an unfinished run, launched by others or not; NULL if memory runs out. Free with
   tutti_free. */
static char *how_to_resume(tutti_context *context, const char *command, const char *directory, bool launched) {
  char *recipe, *text = NULL;
  if (tutti_run_file_path(context, directory, TUTTI_RUN_FILE_RECIPE, &recipe) != TUTTI_OK)
    return NULL;
  if (tutti_format(context, &text,
                   "tutti: nothing that was recorded is lost; resume with%s: tutti %s %s --out %s --resume\n",
                   launched ? " the same launcher (mpirun, srun)" : "", command, recipe, directory) != TUTTI_OK)
    text = NULL;
  tutti_free(recipe);
  return text;
}

/* Was the recipe written? */
static bool can_resume(tutti_context *context, const char *directory) {
  char *recipe;
  if (tutti_run_file_path(context, directory, TUTTI_RUN_FILE_RECIPE, &recipe) != TUTTI_OK)
    return false;
  bool there = access(recipe, F_OK) == 0;
  tutti_free(recipe);
  return there;
}

/* Does the same command get further when what stood in the way is mended: an interruption, a full disk, a bad one? */
static bool is_passing(enum tutti_status status) {
  return status == TUTTI_ERROR_CANCELLED || status == TUTTI_ERROR_FULL || status == TUTTI_ERROR_IO;
}

static int train(tutti_context *context, const char *command, tutti_recipe *recipe,
                 const struct training_options *options, const char *directory) {
  char program[4096], *summary = NULL, *hint = how_to_resume(context, command, directory, false);
  struct progress progress;
  const struct tutti_run_options how = {.size = sizeof how,
                                        .directory = directory,
                                        .program = program_path(program, sizeof program),
                                        .resume = options->resume,
                                        .workers = options->workers,
                                        .progress = progress_show,
                                        .argument = &progress};
  progress_begin(&progress, options->quiet);
  guard_hint(hint ? hint : "");
  enum tutti_status status = tutti_run(context, recipe, &how, &summary);
  progress_end(&progress);
  if (status != TUTTI_OK) {
    int code = fail(context, status);
    tutti_free(hint);
    hint = how_to_resume(context, command, directory, progress.launched);
    if (hint && is_passing(status) && can_resume(context, directory))
      put_plain(hint, strlen(hint), stderr);
    tutti_free(hint);
    return code;
  }
  tutti_free(hint);
  if (!summary) /* an agent: the manager has the result */
    return 0;
  int code = print_result(summary, options->json, show_end, directory);
  tutti_free(summary);
  return code;
}

/* Train in the given directory, or in the one named after the run. */
static int train_somewhere(tutti_context *context, const char *command, tutti_recipe *recipe,
                           const struct training_options *options) {
  char *directory;
  enum tutti_status status = options->out
                                 ? tutti_strdup(context, options->out, &directory)
                                 : tutti_format(context, &directory, "runs/%s", tutti_recipe_run(recipe)->name);
  if (status != TUTTI_OK) {
    tutti_recipe_destroy(recipe);
    return fail(context, status);
  }
  int code = train(context, command, recipe, options, directory);
  tutti_free(directory);
  return code;
}

/* Each command has recipes of its own. */
static enum tutti_status check_kind(tutti_context *context, const char *command, const tutti_recipe *recipe) {
  bool fit = tutti_recipe_fit(recipe) != NULL;
  if (fit == (strcmp(command, "fit") == 0))
    return TUTTI_OK;
  return TUTTI_FAIL(
      context, TUTTI_ERROR_USAGE,
      fit ? "%s: expected a recipe of a search; this one has a section [fit], so it fits a surrogate: use "
            "tutti fit"
          : "%s: expected a recipe with a section [fit], which fits a surrogate; this one searches "
            "networks: use tutti run",
      tutti_recipe_path(recipe));
}

int train_recipe(tutti_context *context, const char *command, const char *name,
                 const struct training_options *options) {
  tutti_recipe *recipe;
  enum tutti_status status = tutti_recipe_load(context, name, options->set.count, options->set.items, &recipe);
  if (status != TUTTI_OK)
    return fail(context, status);
  status = check_kind(context, command, recipe);
  if (status != TUTTI_OK) {
    tutti_recipe_destroy(recipe);
    return fail(context, status);
  }
  return options->dry_run ? check_recipe(context, recipe, options->json)
                          : train_somewhere(context, command, recipe, options);
}
