/* command_ablate.c - tutti ablate: a whole matrix of runs. */
#include "program_impl.h"

#include <stdlib.h>
#include <string.h>
#include <tutti/ablation.h>

struct ablate_arguments {
  struct texts recipes, swap, set;
  const char *out;
  long seeds, workers;
  bool resume, dry_run, json, quiet;
};

static error_t parse_ablate(int key, char *value, struct argp_state *state) {
  struct ablate_arguments *arguments = state->input;
  switch (key) {
  case 'p':
    if (!texts_add(&arguments->swap, value))
      argp_error(state, "too many --swap");
    return 0;
  case 's':
    if (!texts_add(&arguments->set, value))
      argp_error(state, "too many --set");
    return 0;
  case 'N':
    arguments->seeds = parse_count(state, "--seeds", value, 100000);
    return 0;
  case 'w':
    arguments->workers = parse_count(state, "--workers", value, 4096);
    return 0;
  case 'o':
    arguments->out = value;
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
    if (!texts_add(&arguments->recipes, value))
      argp_error(state, "too many recipes");
    return 0;
  case ARGP_KEY_NO_ARGS:
    argp_error(state, "expected a recipe, as in: %s ini/quickstart.ini --swap selector.size=1,5 --out ablation",
               state->name);
    return 0;
  case ARGP_KEY_SUCCESS:
    if (!arguments->out && !arguments->dry_run)
      argp_error(state, "expected --out DIR, where the runs go");
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

/* --- progress --- */

/* A line for each cell that starts or ends. */
static void show_progress(void *argument, const struct tutti_ablation_progress *progress) {
  const struct ablate_arguments *arguments = argument;
  if (arguments->quiet)
    return;
  (void)fprintf(stderr, "tutti: %zu of %zu done", progress->finished + progress->failed, progress->cells);
  if (progress->failed)
    (void)fprintf(stderr, " (%zu failed)", progress->failed);
  switch (progress->event) {
  case TUTTI_ABLATION_KEPT:
    (void)fprintf(stderr, "  %s was finished before\n", progress->cell);
    break;
  case TUTTI_ABLATION_STARTED:
    (void)fprintf(stderr, "  %s begins, with %lld worker%s\n", progress->cell, (long long)progress->workers,
                  progress->workers == 1 ? "" : "s");
    break;
  case TUTTI_ABLATION_FINISHED:
    (void)fprintf(stderr, "  %s is finished after %.1f s\n", progress->cell, progress->seconds);
    break;
  case TUTTI_ABLATION_FAILED:
    (void)fprintf(stderr, "  %s failed: %s\n", progress->cell, progress->reason);
    break;
  }
}

/* --- results --- */

static const char *text_of(const json_t *object, const char *key) {
  const char *text = json_string_value(json_object_get(object, key));
  return text ? text : "";
}

static void show_cells(const json_t *ablation, const char *state, const char *heading, FILE *out) {
  size_t index;
  json_t *cell;
  bool first = true;
  json_array_foreach(json_object_get(ablation, "cells"), index, cell) {
    if (strcmp(text_of(cell, "state"), state) != 0)
      continue;
    (void)fprintf(out, "%s", first ? heading : "");
    (void)fprintf(out, "  %s", text_of(cell, "name"));
    if (*text_of(cell, "reason"))
      (void)fprintf(out, ": %s", text_of(cell, "reason"));
    else if (strcmp(text_of(cell, "search"), text_of(cell, "name")) != 0)
      (void)fprintf(out, "  (selects from the pool of %s)", text_of(cell, "search"));
    (void)fputc('\n', out);
    first = false;
  }
}

static int show_plan(tutti_context *context, const tutti_ablation *ablation, bool json) {
  char *text;
  enum tutti_status status = tutti_ablation_describe(context, ablation, &text);
  if (status != TUTTI_OK)
    return fail(context, status);
  if (json) {
    (void)fputs(text, stdout);
  } else {
    json_t *root = json_loads(text, 0, NULL);
    (void)printf("All %zu cells are valid: nothing was trained or written.\n\n", tutti_ablation_cells(ablation));
    show_cells(root, "waiting", "", stdout);
    json_decref(root);
  }
  tutti_free(text);
  return finish_output();
}

static int show_result(const char *text, const struct ablate_arguments *arguments) {
  if (arguments->json) {
    (void)fputs(text, stdout);
    return finish_output();
  }
  const struct texts usual = {0};
  json_t *root = json_loads(text, 0, NULL);
  const json_t *comparison = json_object_get(root, "comparison");
  if (json_is_object(comparison))
    (void)show_comparison(comparison, &usual, stdout);
  show_cells(root, "failed", "\nFailed\n", stdout);
  json_decref(root);
  (void)printf("\nEverything is in %s; see also: tutti compare %s --help\n", arguments->out, arguments->out);
  return finish_output();
}

/* --- the command --- */

static int run(tutti_context *context, tutti_ablation *ablation, struct ablate_arguments *arguments) {
  char program[4096], *text = NULL;
  size_t failed = 0;
  const struct tutti_ablation_run_options options = {.size = sizeof options,
                                                     .directory = arguments->out,
                                                     .program = program_path(program, sizeof program),
                                                     .resume = arguments->resume,
                                                     .workers = arguments->workers,
                                                     .progress = show_progress,
                                                     .argument = arguments};
  enum tutti_status status = tutti_ablation_run(context, ablation, &options, &failed, &text);
  if (status != TUTTI_OK) {
    int code = fail(context, status);
    if (status == TUTTI_ERROR_CANCELLED)
      (void)fprintf(stderr, "tutti: nothing that was recorded is lost; go on with the same command and --resume\n");
    return code;
  }
  int code = show_result(text, arguments);
  tutti_free(text);
  return code == EXIT_DONE && failed > 0 ? EXIT_FAILED : code;
}

int command_ablate(tutti_context *context, int argc, char **argv) {
  const struct argp_option options[] = {
      {"swap", 'p', "SECTION.KEY=A,B,C", 0, "Try each of these values; repeated: each combination.", 0},
      {"seeds", 'N', "N", 0, "Repeat with N seeds, from the recipe's on (default 1).", 0},
      {"set", 's', "SECTION.KEY=VALUE", 0, "Override a key in every cell; may be repeated.", 0},
      {"out", 'o', "DIR", 0, "Directory of the ablation: runs/, ablation.json.", 0},
      {"workers", 'w', "N", 0, "Worker processes of all cells together (default: one a core).", 0},
      {"resume", 'r', NULL, 0, "Go on with what is in the directory, or add cells to it.", 0},
      {"dry-run", 'n', NULL, 0, "Check and list all cells, train nothing.", 0},
      {"json", 'j', NULL, 0, "Print the result as JSON (that of ablation.json).", 0},
      {"quiet", 'q', NULL, 0, "No progress on stderr.", 0},
      {0}};
  const struct argp argp = {options,
                            parse_ablate,
                            "RECIPE... --out DIR",
                            "Run a matrix: every RECIPE with every combination of swapped values and every seed. Cells "
                            "are ordinary runs in DIR/runs; those that differ in [selector] and [evaluation] alone "
                            "share one search.\vExit codes: 0 done, 1 some cells failed, 2 recipe or usage, 130 "
                            "interrupted (go on with --resume).",
                            NULL,
                            NULL,
                            NULL};
  struct ablate_arguments arguments = {.seeds = 1};
  tutti_ablation *ablation;
  int code;
  if (!parse_arguments(&argp, argc, argv, &arguments, &code))
    return code;
  const struct tutti_ablation_options matrix = {.size = sizeof matrix,
                                                .recipes = arguments.recipes.count,
                                                .recipe = arguments.recipes.items,
                                                .swaps = arguments.swap.count,
                                                .swap = arguments.swap.items,
                                                .overrides = arguments.set.count,
                                                .override = arguments.set.items,
                                                .seeds = arguments.seeds};
  catch_interrupts(context);
  enum tutti_status status = tutti_ablation_create(context, &matrix, &ablation);
  if (status != TUTTI_OK)
    return fail(context, status);
  code = arguments.dry_run ? show_plan(context, ablation, arguments.json) : run(context, ablation, &arguments);
  tutti_ablation_destroy(ablation);
  return code;
}
