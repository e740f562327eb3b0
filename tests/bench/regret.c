/* regret.c - builder bo beside random search on test functions: regret [SEEDS] [BUDGET]. Prints, for each function and
   builder, median and quartiles over the seeds of the distance of the best value to the least one, and the mean seconds
   of an ask. Plugins are found on TUTTI_PLUGIN_PATH. */
#include "tests/unit/toy.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "backends/function.c"

static const struct {
  enum function function;
  const char *name, *domain;
  size_t dimensions;
  double least;
} problems[] = {
    {FUNCTION_BRANIN, "branin", "x0 = uniform -5 10\nx1 = uniform 0 15", 2, 0.39788735772973816},
    {FUNCTION_HARTMANN6, "hartmann6",
     "x0 = uniform 0 1\nx1 = uniform 0 1\nx2 = uniform 0 1\nx3 = uniform 0 1\nx4 = uniform 0 1\nx5 = uniform 0 1", 6,
     -3.32236801141551},
};

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double minimise(size_t which, const char *plugin, uint64_t seed, uint64_t budget, double *asking) {
  struct toy toy;
  struct tutti_builder_setup setup = {.size = sizeof(setup)};
  struct function_config config = {.function = problems[which].function,
                                   .dimensions = (int64_t)problems[which].dimensions};
  tutti_builder *builder;
  double best = INFINITY;
  toy_create(&toy, seed, 1, 1, problems[which].domain);
  toy_put(&toy, "builder", TUTTI_KIND_BUILDER, plugin);
  setup.host = toy.host;
  TOY_OK(&toy, tutti_builder_create(toy.context, toy.host, "builder", &setup, &builder));
  for (uint64_t trial = 0; trial < budget; trial++) {
    struct tutti_proposal proposal = {.size = sizeof(proposal)};
    double start = seconds();
    TOY_OK(&toy, tutti_builder_ask(toy.context, builder, trial, &proposal));
    *asking += seconds() - start;
    memcpy(config.x, tutti_candidate_hyperparameters(proposal.candidate), problems[which].dimensions * sizeof(double));
    struct tutti_result result = {.size = sizeof(result),
                                  .trial = trial,
                                  .candidate = proposal.candidate,
                                  .state = TUTTI_STATE_FINISHED,
                                  .loss = value_function(&config),
                                  .failure = ""};
    best = fmin(best, result.loss);
    TOY_OK(&toy, tutti_builder_tell(toy.context, builder, &result));
    tutti_candidate_unref(proposal.candidate);
  }
  tutti_builder_destroy(builder);
  toy_destroy(&toy);
  return best - problems[which].least;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int count, char **arguments) {
  static const char *const builders[] = {"bo", "nes-rs"};
  size_t seeds = count > 1 ? strtoul(arguments[1], NULL, 10) : 20;
  uint64_t budget = count > 2 ? strtoul(arguments[2], NULL, 10) : 60;
  double *regrets = malloc(seeds * sizeof(double));
  for (size_t which = 0; which < sizeof(problems) / sizeof(problems[0]); which++)
    for (size_t b = 0; b < 2; b++) {
      double asking = 0;
      for (size_t seed = 0; seed < seeds; seed++)
        regrets[seed] = minimise(which, builders[b], seed + 1, budget, &asking);
      qsort(regrets, seeds, sizeof(double), ascending);
      printf("%-10s %-7s median regret %.3g (quartiles %.3g, %.3g), %.2f ms an ask\n", problems[which].name,
             builders[b], regrets[seeds / 2], regrets[seeds / 4], regrets[3 * seeds / 4],
             1e3 * asking / (double)(seeds * budget));
    }
  free(regrets);
  return 0;
}
