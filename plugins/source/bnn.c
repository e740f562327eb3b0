/* bnn.c - source bnn: a function drawn from a Bayesian network's prior, another for each seed, at random points (Heiss
   et al., NOMU, ICML 2022, Appendix B.2.5). */
#include <math.h>
#include <stdio.h>

#include "plugins/shared/bnn/bnn.h"

enum { BNN_UNIFORM, BNN_GAUSSIAN };
static const char *const bnn_inputs[] = {[BNN_UNIFORM] = "uniform", [BNN_GAUSSIAN] = "gaussian", NULL};

struct bnn_config {
  int inputs;
  int64_t dimensions, rows, test_points;
  double deviation;
};

/* The Gaussian inputs lie near a flat manifold of at most so many dimensions. */
enum { BNN_FLAT = 5 };

static void draw_point(const struct bnn_config *config, uint64_t seed, size_t row, double *x) {
  struct tutti_random random;
  tutti_random_init(&random, seed, "bnn inputs", row);
  for (int64_t k = 0; k < config->dimensions; k++)
    x[k] = config->inputs == BNN_UNIFORM ? 2 * tutti_random_uniform(&random) - 1
                                         : sqrt(k < BNN_FLAT ? 0.15 : 0.001) * tutti_random_normal(&random);
}

static enum tutti_status add_columns(tutti_context *context, size_t dimensions, size_t count, const double *x,
                                     const double *values, tutti_rows *rows) {
  char name[32];
  for (size_t c = 0; c < dimensions; c++) {
    (void)snprintf(name, sizeof name, "x%zu", c);
    TUTTI_TRY(context, tutti_rows_add_column(context, rows, name));
  }
  TUTTI_TRY(context, tutti_rows_add_column(context, rows, "y"));
  for (size_t r = 0; r < count; r++)
    for (size_t c = 0; c <= dimensions; c++)
      TUTTI_TRY(context,
                tutti_rows_add_numbers(context, rows, c, 1, c < dimensions ? &x[r * dimensions + c] : &values[r]));
  return TUTTI_OK;
}

static enum tutti_status source_read_bnn(void *self, tutti_context *context, const struct tutti_source_request *request,
                                         tutti_rows *rows) {
  const struct bnn_config *config = self;
  size_t dimensions = (size_t)config->dimensions;
  size_t train = config->rows ? (size_t)config->rows : 8 * dimensions;
  size_t test = config->test_points ? (size_t)config->test_points : 100 * dimensions;
  double deviation = config->deviation > 0 ? config->deviation : bnn_deviation(dimensions), *x = NULL, *values = NULL;
  struct bnn *bnn = NULL;
  enum tutti_status status;
  if (deviation <= 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "data.deviation: needs a value in %zu dimensions; known are those of 1, 2, 5, 10 and 20",
                      dimensions);
  TUTTI_TRY_OUT(context, tutti_alloc(context, train + test, dimensions * sizeof *x, &x));
  TUTTI_TRY_OUT(context, tutti_alloc(context, train + test, sizeof *values, &values));
  for (size_t r = 0; r < train + test; r++)
    draw_point(config, request->seed, r, x + r * dimensions);
  TUTTI_TRY_OUT(context, bnn_create(context, dimensions, deviation, request->seed, &bnn));
  TUTTI_TRY_OUT(context, bnn_values(context, bnn, train + test, x, values));
  TUTTI_TRY_OUT(context, add_columns(context, dimensions, train + test, x, values, rows));
  tutti_rows_set_test_rows(rows, test);
out:
  bnn_destroy(bnn);
  tutti_free(x);
  tutti_free(values);
  return status;
}

static const struct tutti_param bnn_params[] = {
    TUTTI_INTEGER(struct bnn_config, dimensions, "1", 1, 1000, "Inputs of the function."),
    TUTTI_REAL(struct bnn_config, deviation, "0", 0, TUTTI_NO_LIMIT,
               "Standard deviation of weights and biases; 0: the paper's for 1, 2, 5, 10 or 20 dimensions."),
    TUTTI_INTEGER(struct bnn_config, rows, "0", 0, 1e8, "Rows for training and validation; 0: 8 for each dimension."),
    TUTTI_INTEGER(struct bnn_config, test_points, "0", 0, 1e8, "Test rows; 0: 100 for each dimension."),
    TUTTI_CHOICE(
        struct bnn_config, inputs, "uniform", bnn_inputs,
        "All inputs are uniform in [-1, 1], or normal, with variance 0.15 in the first five dimensions and 0.001 "
        "in the others."),
};

static const struct tutti_source_ops bnn_ops = {
    .size = sizeof(struct tutti_source_ops),
    .read = source_read_bnn,
};

static const struct tutti_descriptor bnn_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SOURCE, "bnn"),
    .version = "1.0",
    .summary = "functions from the prior of a Bayesian network, another for each seed",
    .source = "Heiss et al., NOMU: neural optimization-based model uncertainty, ICML 2022, Appendix B.2.5",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(bnn_params, struct bnn_config),
    .ops = &bnn_ops,
};

TUTTI_PLUGIN(bnn_descriptor)
