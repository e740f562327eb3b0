/* measure.c - means and standard deviations of the training rows, in float64; other scales are in scaling.c. */
#include <math.h>

#include "encoding_impl.h"
#include "scaling_impl.h"

enum {
  /* Up to so many deviations from 0, float32 numbers in the column's own unit cost less than 2^-16 deviations, and the
     origin is 0. */
  NEAR_BITS = 8,
  FLOAT_BITS = 16, /* as far, and float32 numbers that are not standardised lose what varies */
  DOUBLE_BITS = 46 /* as far, and even those of float64 have steps of 2^-7 deviations */
};

/* Of one column. */
struct statistics {
  double origin, shift; /* the mean is their sum; the origin is exact, and so are differences from it */
  double deviation;     /* 1 if all values are equal, so that the division does no harm */
  bool constant, whole; /* no value is missing */
};

/* Mean and standard deviation of the values less `origin`. Missing cells count as the mean. */
static struct statistics measure_from(double origin, const tutti_rows *table, const struct tutti_data_column *column,
                                      size_t count, const uint32_t *rows) {
  double sum = 0, squares = 0, low = INFINITY, high = -INFINITY;
  size_t known = 0;
  for (size_t i = 0; i < count; i++) {
    double value = tutti_column_number(column, table, rows[i], NULL) - origin;
    if (isnan(value))
      continue;
    sum += value;
    low = fmin(low, value);
    high = fmax(high, value);
    known++;
  }
  if (known == 0 || low == high)
    return (struct statistics){origin, known ? low : NAN, 1, true, known == count};
  double mean = sum / (double)known;
  for (size_t i = 0; i < count; i++) {
    double value = tutti_column_number(column, table, rows[i], NULL) - origin;
    double offset = isnan(value) ? 0 : value - mean;
    squares += offset * offset;
  }
  return (struct statistics){origin, mean, sqrt(squares / (double)count), false, known == count};
}

static bool is_far(const struct statistics *statistics, int bits) {
  return fabs(statistics->origin + statistics->shift) > ldexp(statistics->deviation, bits);
}

static struct statistics measure_column(const tutti_rows *table, const struct tutti_data_column *column, size_t count,
                                        const uint32_t *rows) {
  struct statistics statistics = measure_from(0, table, column, count, rows);
  if (!is_far(&statistics, NEAR_BITS) || is_far(&statistics, DOUBLE_BITS) || !isfinite(statistics.shift))
    return statistics;
  /* A number of few bits near the mean: values less it have no rounding error, unless they are far from it. */
  double unit = ldexp(1, ilogb(statistics.deviation) + 1);
  return measure_from(unit * round(statistics.shift / unit), table, column, count, rows);
}

/* Does the column hold what varies in it? */
static enum tutti_status check_distance(tutti_context *context, const tutti_rows *table,
                                        const struct tutti_data_column *column, bool standardise,
                                        const struct statistics *statistics) {
  double mean = statistics->origin + statistics->shift;
  if (!statistics->constant && is_far(statistics, DOUBLE_BITS))
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "%s: column '%s' has a mean of %g and a standard deviation of %g, and numbers that large are read "
        "in steps of %g, so that what varies is lost; subtract a constant from the column where it is made",
        tutti_rows_origin(table), column->name, mean, statistics->deviation,
        nextafter(fabs(mean), INFINITY) - fabs(mean));
  if (!statistics->constant && !standardise && is_far(statistics, FLOAT_BITS))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: column '%s' has a mean of %g and a standard deviation of %g, and networks take float32 "
                      "numbers, which lose that; set data.standardise = yes, or subtract a constant from the column",
                      tutti_rows_origin(table), column->name, mean, statistics->deviation);
  return TUTTI_OK;
}

static enum tutti_status check(tutti_context *context, const tutti_rows *table, const struct tutti_data_column *column,
                               bool standardise, const struct statistics *statistics) {
  double mean = statistics->origin + statistics->shift;
  if (isnan(mean))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: column '%s' has no value in any training row, so that its mean is unknown; name it in "
                      "data.ignore",
                      tutti_rows_origin(table), column->name);
  if (standardise && (!isfinite(mean) || !isfinite(statistics->deviation) || statistics->deviation <= 0))
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "%s: column '%s' has values too large or too close to be standardised (mean %g, standard deviation "
        "%g); rescale it",
        tutti_rows_origin(table), column->name, mean, statistics->deviation);
  return check_distance(context, table, column, standardise, statistics);
}

/* Predicted variances are float32 numbers in the target's unit squared, and that of a good network is far below the
   target's own. */
static enum tutti_status check_target(tutti_context *context, const tutti_rows *table,
                                      const struct tutti_data_column *column, bool standardise,
                                      const struct statistics *statistics) {
  const double least = 1e-12, most = 1e15, exact = 0x1p53;
  double mean = statistics->origin + statistics->shift;
  TUTTI_TRY(context, check(context, table, column, standardise, statistics));
  if (statistics->constant && fabs(mean) > exact)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: target '%s' is %.17g in every training row, and numbers that large are read in steps of %g, "
                      "so that what varies may be lost; subtract a constant from the column where it is made",
                      tutti_rows_origin(table), column->name, mean, nextafter(fabs(mean), INFINITY) - fabs(mean));
  if (!statistics->constant && !(statistics->deviation >= least && statistics->deviation <= most))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: target '%s' has a standard deviation of %g (and a mean of %g); expected one from %g to %g, "
                      "since predicted variances are float32 numbers; choose another unit for the column",
                      tutti_rows_origin(table), column->name, statistics->deviation, mean, least, most);
  return TUTTI_OK;
}

/* --- all columns --- */

static enum tutti_status check_scaling(tutti_context *context, const struct tutti_data_config *config) {
  if (config->scaling != TUTTI_SCALING_STANDARD && !config->standardise)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "data.scaling says how inputs are scaled, and data.standardise = no that they are not; leave one "
                      "of them out");
  return TUTTI_OK;
}

/* Scales that rest on more than mean and deviation. */
static enum tutti_status measure_order(tutti_context *context, const struct tutti_data_config *config,
                                       const tutti_rows *table, size_t count, const uint32_t *rows,
                                       struct tutti_data_column *column, struct tutti_linear_scale *linear) {
  double *known;
  size_t found = 0;
  if (config->scaling == TUTTI_SCALING_STANDARD && config->bins == 0)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof *known, &known));
  for (size_t i = 0; i < count; i++) {
    double value = tutti_column_number(column, table, rows[i], NULL);
    if (!isnan(value))
      known[found++] = value;
  }
  enum tutti_status status = tutti_scaling_measure(context, config, found, known, column, linear);
  tutti_free(known);
  return status;
}

static enum tutti_status measure_input(tutti_context *context, const struct tutti_data_config *config,
                                       const tutti_rows *table, size_t count, const uint32_t *rows,
                                       struct tutti_data_column *column, struct tutti_linear_scale *linear) {
  *linear = (struct tutti_linear_scale){0, 1};
  if (column->categories)
    return TUTTI_OK;
  struct statistics statistics = measure_column(table, column, count, rows);
  TUTTI_TRY(context, check(context, table, column, config->standardise, &statistics));
  column->mean = statistics.origin + statistics.shift;
  column->whole = statistics.whole && config->missing == TUTTI_MISSING_MEAN;
  if (config->standardise)
    *linear = (struct tutti_linear_scale){column->mean, statistics.deviation};
  return measure_order(context, config, table, count, rows, column, linear);
}

static enum tutti_status measure_inputs(tutti_context *context, const struct tutti_data_config *config,
                                        const tutti_rows *table, size_t count, const uint32_t *rows,
                                        struct tutti_encoding *encoding) {
  enum tutti_status status;
  struct tutti_linear_scale *linear = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, encoding->inputs, sizeof *linear, &linear));
  for (size_t i = 0; i < encoding->inputs; i++)
    TUTTI_TRY_OUT(context, measure_input(context, config, table, count, rows, &encoding->input[i], &linear[i]));
  TUTTI_TRY_OUT(context, tutti_encoding_lay_out(context, encoding));
  for (size_t f = 0; f < encoding->features; f++)
    encoding->scale[f] = 1;
  for (size_t i = 0, feature = 0; i < encoding->inputs; i++) {
    encoding->shift[feature] = linear[i].shift;
    encoding->scale[feature] = linear[i].scale;
    feature += tutti_column_features(&encoding->input[i]);
  }
out:
  tutti_free(linear);
  return status;
}

enum tutti_status tutti_encoding_measure(tutti_context *context, const struct tutti_data_config *config,
                                         const tutti_rows *table, size_t count, const uint32_t *rows,
                                         struct tutti_encoding *encoding) {
  bool standardise = config->standardise;
  TUTTI_TRY(context, check_scaling(context, config));
  TUTTI_TRY(context, measure_inputs(context, config, table, count, rows, encoding));
  for (size_t t = 0; encoding->target_scale && t < encoding->targets; t++) {
    struct statistics statistics = measure_column(table, &encoding->target[t], count, rows);
    TUTTI_TRY(context, check_target(context, table, &encoding->target[t], standardise, &statistics));
    encoding->target_origin[t] = standardise ? statistics.origin : 0;
    encoding->target_shift[t] = standardise ? statistics.shift : 0;
    encoding->target_scale[t] = standardise ? statistics.deviation : 1;
  }
  return TUTTI_OK;
}
