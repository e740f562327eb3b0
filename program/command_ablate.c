/* command_ablate.c - tutti ablate: a matrix of runs. */
#include "program_impl.h"

#include <stdlib.h>
#include <string.h>
#include <tutti/ablation.h>

struct ablate_options {
  struct texts swap, set;
  const char *out;
  long seeds, workers;
  bool resume, dry_run, json, quiet;
};

/* --- progress --- */

/* A line for each cell that starts or ends. */
static void show_progress(void *argument, const struct tutti_ablation_progress *progress) {
  (void)argument;
  print_harmless(stderr, "tutti: %zu of %zu done", progress->finished + progress->failed, progress->cells);
  if (progress->failed)
    print_harmless(stderr, " (%zu failed)", progress->failed);
  switch (progress->event) {
  case TUTTI_ABLATION_KEPT:
    print_harmless(stderr, "  %s was finished before\n", progress->cell);
    break;
  case TUTTI_ABLATION_STARTED:
    print_harmless(stderr, "  %s begins, with %lld %s\n", progress->cell, (long long)progress->workers,
                   tutti_plural((size_t)progress->workers, "worker", "workers"));
    break;
  case TUTTI_ABLATION_FINISHED:
    print_harmless(stderr, "  %s is finished after %.1f s\n", progress->cell, progress->seconds);
    break;
  case TUTTI_ABLATION_FAILED:
    print_harmless(stderr, "  %s failed: %s\n", progress->cell, progress->reason);
    break;
  }
}

/* --- results --- */

static void show_cells(const json_t *ablation, const char *state, const char *heading, FILE *out) {
  size_t index;
  json_t *cell;
  bool first = true;
  json_array_foreach(json_object_get(ablation, "cells"), index, cell) {
    if (strcmp(text_of(cell, "state"), state) != 0)
      continue;
    (void)fprintf(out, "%s", first ? heading : "");
    (void)fprintf(out, "  %s", text_of(cell, "name"));
    if (json_object_get(cell, "reason") && *text_of(cell, "reason"))
      (void)fprintf(out, ": %s", text_of(cell, "reason"));
    else if (strcmp(text_of(cell, "search"), text_of(cell, "name")) != 0)
      (void)fprintf(out, "  (selects from the pool of %s)", text_of(cell, "search"));
    (void)fputc('\n', out);
    first = false;
  }
}

static void show_waiting(const json_t *root, const void *options, FILE *out) {
  const size_t cells = json_array_size(json_object_get(root, "cells"));
  (void)options;
  (void)fprintf(out, "%s %zu %s valid: nothing was trained or written.\n\n", tutti_plural(cells, "The", "All"), cells,
                tutti_plural(cells, "cell is", "cells are"));
  show_cells(root, "waiting", "", out);
}

static int show_plan(tutti_context *context, const tutti_ablation *ablation, bool json) {
  char *text;
  enum tutti_status status = tutti_ablation_describe(context, ablation, &text);
  if (status != TUTTI_OK)
    return fail(context, status);
  int code = print_result(text, json, show_waiting, NULL);
  tutti_free(text);
  return code;
}

static void show_done(const json_t *root, const void *given, FILE *out) {
  const struct ablate_options *options = given;
  const struct texts usual = {0};
  const json_t *comparison = json_object_get(root, "comparison");
  if (json_is_object(comparison))
    (void)show_comparison(comparison, &usual, out);
  show_cells(root, "failed", "\nFailed\n", out);
  (void)fprintf(out, "\nEverything is in %s; see also: tutti compare %s --help\n", options->out, options->out);
}

/* --- the command --- */

static int run_cells(tutti_context *context, tutti_ablation *ablation, const struct ablate_options *options) {
  char program[4096], *text = NULL;
  size_t failed = 0;
  const struct tutti_ablation_run_options how = {.size = sizeof how,
                                                 .directory = options->out,
                                                 .program = program_path(program, sizeof program),
                                                 .resume = options->resume,
                                                 .workers = options->workers,
                                                 .progress = options->quiet ? NULL : show_progress};
  enum tutti_status status = tutti_ablation_run(context, ablation, &how, &failed, &text);
  if (status != TUTTI_OK) {
    int code = fail(context, status);
    if (status == TUTTI_ERROR_CANCELLED)
      print_harmless(stderr, "tutti: nothing that was recorded is lost; go on with the same command and --resume\n");
    return code;
  }
  int code = print_result(text, options->json, show_done, options);
  tutti_free(text);
  return code == EXIT_DONE && failed > 0 ? EXIT_FAILED : code;
}

static int run_ablate(tutti_context *context, const struct texts *operands, const void *given) {
  const struct ablate_options *options = given;
  tutti_ablation *ablation;
  const struct tutti_ablation_options matrix = {.size = sizeof matrix,
                                                .recipes = operands->count,
                                                .recipe = operands->items,
                                                .swaps = options->swap.count,
                                                .swap = options->swap.items,
                                                .overrides = options->set.count,
                                                .override = options->set.items,
                                                .seeds = options->seeds};
  enum tutti_status status = tutti_ablation_create(context, &matrix, &ablation);
  if (status != TUTTI_OK)
    return fail(context, status);
  int code = options->dry_run ? show_plan(context, ablation, options->json) : run_cells(context, ablation, options);
  tutti_ablation_destroy(ablation);
  return code;
}

static const char *check_ablate(const struct texts *operands, const void *given) {
  const struct ablate_options *options = given;
  (void)operands;
  return options->out || options->dry_run ? NULL : "expected --out DIR, where the runs go";
}

static const struct command_option ablate_options[] = {
    {"swap", 'p', OPTION_TEXTS, "SECTION.KEY=A,B,C",
     "Try each of these values; repeated: each combination. With ' where SECTION.KEY=A,B' behind them: only in cells "
     "in which that key has one of those.",
     .offset = offsetof(struct ablate_options, swap), .completes = COMPLETE_SETTING},
    {"seeds", 'N', OPTION_NUMBER, "N", "Repeat with N seeds, from the recipe's on (default 1).",
     .offset = offsetof(struct ablate_options, seeds), .least = 1, .most = 100000, .preset = 1},
    {"set", 's', OPTION_TEXTS, "SECTION.KEY=VALUE", "Override a key in every cell; may be repeated.",
     .offset = offsetof(struct ablate_options, set), .completes = COMPLETE_SETTING},
    {"out", 'o', OPTION_TEXT, "DIR", "Directory of the ablation: runs/, ablation.json.",
     .offset = offsetof(struct ablate_options, out), .completes = COMPLETE_FOLDER},
    {"workers", 'w', OPTION_NUMBER, "N", "Worker processes of all cells together (default: one a core).",
     .offset = offsetof(struct ablate_options, workers), .least = 1, .most = 4096},
    {"resume", 'r', OPTION_FLAG, NULL, "Go on with what is in the directory, or add cells to it.",
     .offset = offsetof(struct ablate_options, resume)},
    {"dry-run", 'n', OPTION_FLAG, NULL, "Check and list all cells, train nothing.",
     .offset = offsetof(struct ablate_options, dry_run)},
    {"json", 'j', OPTION_FLAG, NULL, "Print the result as JSON (that of ablation.json).",
     .offset = offsetof(struct ablate_options, json)},
    {"quiet", 'q', OPTION_FLAG, NULL, "No progress on stderr.", .offset = offsetof(struct ablate_options, quiet)},
    {0}};

const struct command command_ablate = {
    .name = "ablate",
    .summary = "a whole matrix of runs: plugins or values swapped, seeds",
    .about = "Run a matrix: every RECIPE with every combination of swapped values and every seed. Cells are ordinary "
             "runs in DIR/runs; those that differ in [selector] and [evaluation] alone share one search.",
    .notes = "Exit codes: 0 done, 1 some cells failed, 2 recipe or usage, 130 interrupted (go on with --resume).",
    .operands = {.synopsis = "RECIPE... --out DIR",
                 .wanted = "a recipe",
                 .example = "quickstart --swap selector.size=1,5 --out ablation",
                 .hint = "make several ablations of them",
                 .least = 1,
                 .most = MOST_TEXTS,
                 .completes = {COMPLETE_RECIPE, COMPLETE_RECIPE}},
    .options = ablate_options,
    .size = sizeof(struct ablate_options),
    .check = check_ablate,
    .run = run_ablate,
};
