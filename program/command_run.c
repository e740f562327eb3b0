/* command_run.c - tutti run: a search from its recipe to its summary. */
#include "progress.h"
#include "program_impl.h"

#include <stdlib.h>
#include <tutti/cpu.h>

struct run_options {
  const char *out;
  struct texts set;
  long workers;
  bool resume, dry_run, json, quiet;
};

static void show_end(const json_t *summary, const void *directory, FILE *out) {
  show_summary(summary, out);
  (void)fprintf(out, "\nEverything is in %s\n", (const char *)directory);
}

/* A line that says how to go on with an unfinished run; NULL if memory runs out. Free with tutti_free. */
static char *how_to_resume(tutti_context *context, const char *directory) {
  char *recipe, *text = NULL;
  if (tutti_run_file_path(context, directory, TUTTI_RUN_FILE_RECIPE, &recipe) != TUTTI_OK)
    return NULL;
  if (tutti_format(context, &text,
                   "tutti: nothing that was recorded is lost; resume with: tutti run %s --out %s --resume\n", recipe,
                   directory) != TUTTI_OK)
    text = NULL;
  tutti_free(recipe);
  return text;
}

static int train(tutti_context *context, tutti_recipe *recipe, const struct run_options *options,
                 const char *directory) {
  char program[4096], *summary = NULL, *hint = how_to_resume(context, directory);
  struct progress progress;
  const struct tutti_run_options how = {.size = sizeof how,
                                        .directory = directory,
                                        .program = program_path(program, sizeof program),
                                        .resume = options->resume,
                                        .workers = options->workers,
                                        .progress = progress_show,
                                        .argument = &progress};
  progress_begin(&progress, options->quiet);
  guard_with(tutti_recipe_run(recipe)->plugin_timeout, hint ? hint : "");
  enum tutti_status status = tutti_run(context, recipe, &how, &summary);
  progress_end(&progress);
  if (status != TUTTI_OK) {
    int code = fail(context, status);
    if (hint && (status == TUTTI_ERROR_CANCELLED || status == TUTTI_ERROR_FULL))
      (void)fputs(hint, stderr);
    tutti_free(hint);
    return code;
  }
  tutti_free(hint);
  int code = print_result(summary, options->json, show_end, directory);
  tutti_free(summary);
  return code;
}

/* Surrogates use BLAS in this process, and OpenBLAS reads these settings when a plugin loads it. It does not recognise
   every processor, so the kernels are set. It gets one thread: the cores belong to the workers, and another number
   would give other bits. */
static void choose_blas(void) {
  const char *coretype = tutti_cpu_blas_coretype();
  (void)setenv("OPENBLAS_NUM_THREADS", "1", 0);
  if (coretype)
    (void)setenv("OPENBLAS_CORETYPE", coretype, 0);
}

/* Train in the given directory, or in the one named after the run. */
static int train_somewhere(tutti_context *context, tutti_recipe *recipe, const struct run_options *options) {
  char *directory;
  enum tutti_status status = options->out
                                 ? tutti_strdup(context, options->out, &directory)
                                 : tutti_format(context, &directory, "runs/%s", tutti_recipe_run(recipe)->name);
  if (status != TUTTI_OK) {
    tutti_recipe_destroy(recipe);
    return fail(context, status);
  }
  int code = train(context, recipe, options, directory);
  tutti_free(directory);
  return code;
}

static int run_run(tutti_context *context, const struct texts *operands, const void *given) {
  const struct run_options *options = given;
  tutti_recipe *recipe;
  choose_blas();
  enum tutti_status status =
      tutti_recipe_load(context, operands->items[0], options->set.count, options->set.items, &recipe);
  if (status != TUTTI_OK)
    return fail(context, status);
  return options->dry_run ? check_recipe(context, recipe, options->json) : train_somewhere(context, recipe, options);
}

static const struct command_option run_options[] = {
    {"set", 's', OPTION_TEXTS, "SECTION.KEY=VALUE", "Override a key of the recipe; may be repeated.",
     .offset = offsetof(struct run_options, set)},
    {"out", 'o', OPTION_TEXT, "DIR", "Run directory (default: runs/NAME).", .offset = offsetof(struct run_options, out),
     .completes = COMPLETE_FOLDER},
    {"workers", 'w', OPTION_NUMBER, "N", "Worker processes (default: one a core); never changes the result.",
     .offset = offsetof(struct run_options, workers), .least = 1, .most = 4096},
    {"resume", 'r', OPTION_FLAG, NULL, "Go on with the run in the directory.",
     .offset = offsetof(struct run_options, resume)},
    {"dry-run", 'n', OPTION_FLAG, NULL, "Check everything, train nothing.",
     .offset = offsetof(struct run_options, dry_run)},
    {"json", 'j', OPTION_FLAG, NULL, "Print the result as JSON (that of summary.json).",
     .offset = offsetof(struct run_options, json)},
    {"quiet", 'q', OPTION_FLAG, NULL, "No progress on stderr.", .offset = offsetof(struct run_options, quiet)},
    {0}};

const struct command command_run = {
    .name = "run",
    .summary = "search, select and evaluate, as a recipe says",
    .about = "Search, select and evaluate as RECIPE says. Progress goes to stderr, the result to stdout.",
    .notes = "Exit codes: 0 done, 1 failed, 2 recipe or usage, 130 interrupted (go on with --resume).",
    .operands = ONE_RECIPE,
    .options = run_options,
    .size = sizeof(struct run_options),
    .run = run_run,
};
