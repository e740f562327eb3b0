/* nomu.c - source nomu: the functions of the NOMU paper (Heiss et al., ICML 2022), with inputs drawn uniformly from
   `box` and test rows on a grid over it, or drawn likewise. */
#include <math.h>

#include "plugins/source/generator.h"
#include "plugins/source/nomu/functions.h"

enum { NOMU_GRID, NOMU_UNIFORM };
static const char *const nomu_test_inputs[] = {[NOMU_GRID] = "grid", [NOMU_UNIFORM] = "uniform", NULL};

struct nomu_config {
  int function, test_inputs;
  int64_t rows, test_points;
  double noise, test_noise;
  struct tutti_reals box;
};

static enum tutti_status source_read_nomu(void *self, tutti_context *context,
                                          const struct tutti_source_request *request, tutti_rows *rows) {
  const struct nomu_config *config = self;
  struct generator generator = {.function = (size_t)config->function,
                                .dimensions = nomu_dimensions((size_t)config->function),
                                .test_points = (size_t)config->test_points,
                                .scattered = config->test_inputs == NOMU_UNIFORM,
                                .region.deviation = sqrt(config->noise),
                                .test_deviation = sqrt(config->test_noise),
                                .value = nomu_value};
  TUTTI_TRY(context, generator_read_box(context, &config->box, &generator.low, &generator.high));
  generator.region.low = generator.low;
  generator.region.high = generator.high;
  generator.rows = config->rows ? (size_t)config->rows : 8 * generator.dimensions;
  generator.second_from = generator.rows;
  return generator_fill(context, &generator, request->seed, rows);
}

static const struct tutti_param nomu_params[] = {
    TUTTI_CHOICE(struct nomu_config, function, NULL, nomu_names,
                 "Which of the functions; those of two variables end in 2d.", .flags = TUTTI_PARAM_REQUIRED),
    TUTTI_INTEGER(struct nomu_config, rows, "0", 0, 1e8,
                  "Rows for training and validation; 0: 8 for a function of one variable, 16 for one of two."),
    TUTTI_INTEGER(struct nomu_config, test_points, "200", 0, 1e8,
                  "Test rows; for two variables on a grid, the next smaller square."),
    TUTTI_CHOICE(struct nomu_config, test_inputs, "grid", nomu_test_inputs,
                 "Where they lie: on an even grid over box, or drawn there like the others, as in the paper's tables."),
    TUTTI_REAL(struct nomu_config, noise, "0", 0, TUTTI_NO_LIMIT,
               "Variance of the noise of rows for training and validation."),
    TUTTI_REAL(struct nomu_config, test_noise, "0", 0, TUTTI_NO_LIMIT,
               "Variance of the test rows' noise. Without it, as in the paper, intervals that hold noisy targets as "
               "often as they say hold these more often."),
    TUTTI_REALS(struct nomu_config, box, "-1 1", -TUTTI_NO_LIMIT, TUTTI_NO_LIMIT, "Lower and upper end of the inputs."),
};

static const struct tutti_source_ops nomu_ops = {
    .size = sizeof(struct tutti_source_ops),
    .read = source_read_nomu,
};

static const struct tutti_descriptor nomu_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SOURCE, "nomu"),
    .version = "1.0",
    .summary = "the functions of one or two variables on which the NOMU paper compares regressions",
    .source = "Heiss et al., NOMU: neural optimization-based model uncertainty, ICML 2022",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(nomu_params, struct nomu_config),
    .ops = &nomu_ops,
};

TUTTI_PLUGIN(nomu_descriptor)
