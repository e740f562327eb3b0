/* command_run.c - tutti run, tutti validate. */
#include "progress.h"
#include "program_impl.h"

#include <stdlib.h>
#include <string.h>
#include <tutti/cpu.h>

struct run_arguments {
  const char *recipe, *out;
  struct texts set;
  long workers;
  bool resume, dry_run, json, quiet;
};

static error_t parse_run(int key, char *value, struct argp_state *state) {
  struct run_arguments *arguments = state->input;
  switch (key) {
  case 's':
    if (!texts_add(&arguments->set, value))
      argp_error(state, "too many --set");
    return 0;
  case 'o':
    arguments->out = value;
    return 0;
  case 'w':
    arguments->workers = parse_count(state, "--workers", value, 4096);
    return 0;
  case 'r':
    arguments->resume = true;
    return 0;
  case 'n':
    arguments->dry_run = true;
    return 0;
  case 'j':
    arguments->json = true;
    return 0;
  case 'q':
    arguments->quiet = true;
    return 0;
  case ARGP_KEY_ARG:
    if (arguments->recipe)
      argp_error(state, "expected one recipe, found '%s' and '%s'", arguments->recipe, value);
    arguments->recipe = value;
    return 0;
  case ARGP_KEY_NO_ARGS:
    argp_error(state, "expected a recipe, as in: %s ini/quickstart.ini", state->name);
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static int print_result(const char *summary, bool json, const char *directory) {
  if (json) {
    (void)fputs(summary, stdout);
    return finish_output();
  }
  json_t *root = json_loads(summary, 0, NULL);
  show_summary(root, stdout);
  json_decref(root);
  if (directory)
    (void)printf("\nEverything is in %s\n", directory);
  return finish_output();
}

static int check_only(tutti_context *context, tutti_recipe *recipe, bool json) {
  char *summary = NULL;
  enum tutti_status status = tutti_run_check(context, recipe, &summary);
  if (status != TUTTI_OK)
    return fail(context, status);
  if (!json)
    (void)printf("The recipe is valid: nothing was trained or written.\n\n");
  int code = print_result(summary, json, NULL);
  tutti_free(summary);
  return code;
}

static int train(tutti_context *context, tutti_recipe *recipe, const struct run_arguments *arguments,
                 const char *directory) {
  char program[4096], *summary = NULL;
  struct progress progress;
  struct tutti_run_options options = {.size = sizeof options,
                                      .directory = directory,
                                      .program = program_path(program, sizeof program),
                                      .resume = arguments->resume,
                                      .workers = arguments->workers,
                                      .progress = progress_show,
                                      .argument = &progress};
  progress_begin(&progress, arguments->quiet);
  catch_interrupts(context);
  enum tutti_status status = tutti_run(context, recipe, &options, &summary);
  progress_end(&progress);
  if (status != TUTTI_OK) {
    int code = fail(context, status);
    if (status == TUTTI_ERROR_CANCELLED || status == TUTTI_ERROR_FULL)
      (void)fprintf(
          stderr, "tutti: nothing that was recorded is lost; resume with: tutti run %s/recipe.ini --out %s --resume\n",
          directory, directory);
    return code;
  }
  int code = print_result(summary, arguments->json, directory);
  tutti_free(summary);
  return code;
}

static int load_and(tutti_context *context, const struct run_arguments *arguments) {
  tutti_recipe *recipe;
  char *directory;
  enum tutti_status status =
      tutti_recipe_load(context, arguments->recipe, arguments->set.count, arguments->set.items, &recipe);
  if (status != TUTTI_OK)
    return fail(context, status);
  if (arguments->dry_run)
    return check_only(context, recipe, arguments->json);
  status = arguments->out ? tutti_strdup(context, arguments->out, &directory)
                          : tutti_format(context, &directory, "runs/%s", tutti_recipe_run(recipe)->name);
  if (status != TUTTI_OK) {
    tutti_recipe_destroy(recipe);
    return fail(context, status);
  }
  int code = train(context, recipe, arguments, directory);
  tutti_free(directory);
  return code;
}

static const struct argp_option set_option = {
    "set", 's', "SECTION.KEY=VALUE", 0, "Override a key of the recipe; may be repeated.", 0};

/* Surrogates use BLAS in this process, and OpenBLAS reads this when a plugin loads it. It does not know every processor; and
   of its threads there is one, since the cores are the workers', and another number would give other bits. */
static void choose_blas(void) {
  const char *coretype = tutti_cpu_blas_coretype();
  (void)setenv("OPENBLAS_NUM_THREADS", "1", 0);
  if (coretype)
    (void)setenv("OPENBLAS_CORETYPE", coretype, 0);
}

int command_run(tutti_context *context, int argc, char **argv) {
  const struct argp_option options[] = {
      set_option,
      {"out", 'o', "DIR", 0, "Run directory (default: runs/NAME).", 0},
      {"workers", 'w', "N", 0, "Worker processes (default: one a core); never changes the result.", 0},
      {"resume", 'r', NULL, 0, "Go on with the run in the directory.", 0},
      {"dry-run", 'n', NULL, 0, "Check everything, train nothing.", 0},
      {"json", 'j', NULL, 0, "Print the result as JSON (that of summary.json).", 0},
      {"quiet", 'q', NULL, 0, "No progress on stderr.", 0},
      {0},
  };
  const struct argp argp = {options,
                            parse_run,
                            "RECIPE",
                            "Search, select and evaluate as RECIPE says. Progress goes to stderr, the result to "
                            "stdout.\vExit codes: 0 done, 1 "
                            "failed, 2 recipe or usage, 130 interrupted (go on with --resume).",
                            NULL,
                            NULL,
                            NULL};
  struct run_arguments arguments = {0};
  int code;
  if (!parse_arguments(&argp, argc, argv, &arguments, &code))
    return code;
  choose_blas();
  return load_and(context, &arguments);
}

int command_validate(tutti_context *context, int argc, char **argv) {
  const struct argp_option options[] = {
      set_option,
      {"json", 'j', NULL, 0, "Print what would be run as JSON.", 0},
      {0},
  };
  const struct argp argp = {
      options,
      parse_run,
      "RECIPE",
      "Check a recipe: every key, the plugins, the data, and that the backend can train what the space makes.",
      NULL,
      NULL,
      NULL};
  struct run_arguments arguments = {.dry_run = true};
  int code;
  return parse_arguments(&argp, argc, argv, &arguments, &code) ? load_and(context, &arguments) : code;
}
