/* measure.c - means and standard deviations of the training rows, in float64, in two passes. */
#include <math.h>

#include "encoding_impl.h"

/* Of one column. */
struct statistics {
  double mean, deviation; /* 1 if all values are equal, so that the division does no harm */
};

/* Missing cells count as the mean. */
static struct statistics measure_column(const tutti_rows *table, size_t column, size_t count, const uint32_t *rows) {
  double sum = 0, squares = 0, low = INFINITY, high = -INFINITY;
  size_t known = 0;
  for (size_t i = 0; i < count; i++) {
    double value = tutti_rows_number(table, rows[i], column);
    if (isnan(value))
      continue;
    sum += value;
    low = fmin(low, value);
    high = fmax(high, value);
    known++;
  }
  struct statistics statistics = {known ? sum / (double)known : NAN, 1};
  if (known == 0 || low == high) {
    statistics.mean = known ? low : NAN;
    return statistics;
  }
  for (size_t i = 0; i < count; i++) {
    double value = tutti_rows_number(table, rows[i], column);
    double offset = isnan(value) ? 0 : value - statistics.mean;
    squares += offset * offset;
  }
  statistics.deviation = sqrt(squares / (double)count);
  return statistics;
}

static enum tutti_status check(tutti_context *context, const tutti_rows *table, const struct tutti_data_column *column,
                               bool standardise, struct statistics statistics) {
  if (isnan(statistics.mean))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: column '%s' has no value in any training row, so that its mean is unknown; name it in "
                      "data.ignore",
                      tutti_rows_origin(table), column->name);
  if (standardise && (!isfinite(statistics.mean) || !isfinite(statistics.deviation) || statistics.deviation <= 0))
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "%s: column '%s' has values too large or too close to be standardised (mean %g, standard deviation "
        "%g); rescale it",
        tutti_rows_origin(table), column->name, statistics.mean, statistics.deviation);
  return TUTTI_OK;
}

enum tutti_status tutti_encoding_measure(tutti_context *context, struct tutti_encoding *encoding,
                                         const tutti_rows *table, size_t count, const uint32_t *rows,
                                         bool standardise) {
  for (size_t f = 0; f < encoding->features; f++)
    encoding->scale[f] = 1;
  for (size_t i = 0, feature = 0; i < encoding->inputs; i++) {
    struct tutti_data_column *column = &encoding->input[i];
    if (column->categories) {
      feature += column->categories;
      continue;
    }
    struct statistics statistics = measure_column(table, column->position, count, rows);
    TUTTI_TRY(context, check(context, table, column, standardise, statistics));
    column->mean = statistics.mean;
    encoding->shift[feature] = standardise ? statistics.mean : 0;
    encoding->scale[feature++] = standardise ? statistics.deviation : 1;
  }
  for (size_t t = 0; encoding->target_scale && t < encoding->targets; t++) {
    struct statistics statistics = measure_column(table, encoding->target[t].position, count, rows);
    TUTTI_TRY(context, check(context, table, &encoding->target[t], standardise, statistics));
    encoding->target_shift[t] = standardise ? statistics.mean : 0;
    encoding->target_scale[t] = standardise ? statistics.deviation : 1;
  }
  return TUTTI_OK;
}
