/* toy-sine.c - source toy-sine: y = 2 sin x plus normal noise, half of the rows from [-30, -20] and half from [20, 30];
   test rows between the ends of `box`, without noise (Egele et al., "AutoDEUQ", ICPR 2022, section III-B). */
#include <math.h>

#include "plugins/source/generator.h"

struct toy_sine_config {
  int64_t rows, test_points;
  struct tutti_reals noise, box;
};

static double value_at(size_t function, const double *x) {
  (void)function;
  return 2 * sin(x[0]);
}

static enum tutti_status source_read_toy_sine(void *self, tutti_context *context,
                                              const struct tutti_source_request *request, tutti_rows *rows) {
  const struct toy_sine_config *config = self;
  struct generator generator = {.dimensions = 1,
                                .rows = (size_t)config->rows,
                                .second_from = (size_t)config->rows / 2,
                                .region = {-30, -20, 0},
                                .second = {20, 30, 0},
                                .test_points = (size_t)config->test_points,
                                .value = value_at};
  if (config->noise.count < 1 || config->noise.count > 2)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "data.noise: toy-sine takes a variance, or one for each of its two regions, found %zu",
                      config->noise.count);
  generator.region.deviation = sqrt(config->noise.values[0]);
  generator.second.deviation = sqrt(config->noise.values[config->noise.count - 1]);
  TUTTI_TRY(context, generator_read_box(context, &config->box, &generator.low, &generator.high));
  return generator_fill(context, &generator, request->seed, rows);
}

static const struct tutti_param toy_sine_params[] = {
    TUTTI_INTEGER(struct toy_sine_config, rows, "400", 1, 1e8, "Rows for training and validation."),
    TUTTI_INTEGER(struct toy_sine_config, test_points, "200", 0, 1e8,
                  "Test rows, evenly spaced over box, without noise."),
    TUTTI_REALS(struct toy_sine_config, noise, "0.25 1", 0, TUTTI_NO_LIMIT,
                "Variance of the noise: one number, or one for the left and one for the right region."),
    TUTTI_REALS(struct toy_sine_config, box, "-40 40", -TUTTI_NO_LIMIT, TUTTI_NO_LIMIT,
                "Lower and upper end of the test rows."),
};

static const struct tutti_source_ops toy_sine_ops = {
    .size = sizeof(struct tutti_source_ops),
    .read = source_read_toy_sine,
};

static const struct tutti_descriptor toy_sine_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SOURCE, "toy-sine"),
    .version = "1.0",
    .summary = "AutoDEUQ's toy: two regions of training rows, each with noise of its own, and a gap between them",
    .source = "Egele et al., AutoDEUQ: automated deep ensemble with uncertainty quantification, ICPR 2022",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(toy_sine_params, struct toy_sine_config),
    .ops = &toy_sine_ops,
};

TUTTI_PLUGIN(toy_sine_descriptor)
