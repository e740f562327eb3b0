/* command_run.c - tutti run: a search from its recipe to its summary. */
#include "training.h"

struct run_options {
  struct training_options training;
};

static int run_run(tutti_context *context, const struct texts *operands, const void *given) {
  const struct run_options *options = given;
  return train_recipe(context, "run", operands->items[0], &options->training);
}

static const struct command_option run_options[] = {TRAINING_OPTIONS(struct run_options), {0}};

const struct command command_run = {
    .name = "run",
    .summary = "search, select and evaluate, as a recipe says",
    .about = "Search, select and evaluate as RECIPE says. Progress goes to stderr, the result to stdout.",
    .notes = TRAINING_NOTES,
    .operands = ONE_RECIPE,
    .options = run_options,
    .size = sizeof(struct run_options),
    .run = run_run,
};
