/* command_fit.c - tutti fit: a surrogate fitted to data, again and again. */
#include "training.h"

#include <stdio.h>

struct fit_options {
  struct training_options training;
  long repeats;
};

static int run_fit(tutti_context *context, const struct texts *operands, const void *given) {
  struct fit_options options = *(const struct fit_options *)given;
  struct texts *set = &options.training.set;
  char budget[48];
  (void)snprintf(budget, sizeof budget, "run.budget=%ld", options.repeats);
  if (options.repeats > 0 && set->count < MOST_TEXTS)
    set->items[set->count++] = budget;
  return train_recipe(context, "fit", operands->items[0], &options.training);
}

static const struct command_option fit_options[] = {
    TRAINING_OPTIONS(struct fit_options),
    {"repeats", 'N', OPTION_NUMBER, "N", "Repeats, each with a seed of its own (run.budget).",
     .offset = offsetof(struct fit_options, repeats), .least = 1, .most = 100000000},
    {0}};

const struct command command_fit = {
    .name = "fit",
    .summary = "fit a surrogate to data, as a recipe says",
    .about =
        "Fit the surrogate of RECIPE to its data, and measure its uncertainty on test rows. Repeats differ in their "
        "seed, and so in what a generator draws and in how rows are split. Progress goes to stderr, the result to "
        "stdout.",
    .notes = TRAINING_NOTES,
    .operands = ONE_RECIPE,
    .options = fit_options,
    .size = sizeof(struct fit_options),
    .run = run_fit,
};
