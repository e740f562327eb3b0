/* generator.c - rows of a generator: first random ones, then a grid. */
#include "generator.h"

#include <math.h>
#include <stdio.h>

enum { MOST_DIMENSIONS = 2 };

static void draw_row(const struct generator *generator, size_t row, uint64_t seed, double *out) {
  struct tutti_random random;
  const struct generator_region *region = row < generator->second_from ? &generator->region : &generator->second;
  tutti_random_init(&random, seed, "generator", row);
  for (size_t i = 0; i < generator->dimensions; i++)
    out[i] = region->low + (region->high - region->low) * tutti_random_uniform(&random);
  out[generator->dimensions] =
      generator->value(generator->function, out) + region->deviation * tutti_random_normal(&random);
}

/* A test point that is drawn like the first region's, in a stream of its own. */
static void scatter_row(const struct generator *generator, size_t row, uint64_t seed, double *out) {
  struct tutti_random random;
  const struct generator_region *region = &generator->region;
  tutti_random_init(&random, seed, "generator test", row);
  for (size_t i = 0; i < generator->dimensions; i++)
    out[i] = region->low + (region->high - region->low) * tutti_random_uniform(&random);
}

/* `side` points along each axis. */
static void grid_row(const struct generator *generator, size_t row, size_t side, double *out) {
  for (size_t i = generator->dimensions; i-- > 0;) {
    double share = 0.5;
    if (side > 1) {
      share = (double)(row % side) / (double)(side - 1);
      row /= side;
    }
    out[i] = generator->low + (generator->high - generator->low) * share;
  }
}

/* The target of a test point. */
static void value_row(const struct generator *generator, size_t row, uint64_t seed, double *out) {
  struct tutti_random random;
  tutti_random_init(&random, seed, "generator test noise", row);
  out[generator->dimensions] =
      generator->value(generator->function, out) + generator->test_deviation * tutti_random_normal(&random);
}

static enum tutti_status add_row(tutti_context *context, size_t columns, const double *row, tutti_rows *rows) {
  for (size_t c = 0; c < columns; c++)
    TUTTI_TRY(context, tutti_rows_add_numbers(context, rows, c, 1, &row[c]));
  return TUTTI_OK;
}

enum tutti_status generator_read_box(tutti_context *context, const struct tutti_reals *box, double *low, double *high) {
  if (box->count != 2 || !(box->values[0] < box->values[1]))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.box: expected a lower and an upper end, as in: box = -1 1");
  *low = box->values[0];
  *high = box->values[1];
  return TUTTI_OK;
}

enum tutti_status generator_fill(tutti_context *context, const struct generator *generator, uint64_t seed,
                                 tutti_rows *rows) {
  size_t dimensions = generator->dimensions, side = generator->test_points, count = side;
  double row[MOST_DIMENSIONS + 1];
  char name[32];
  if (dimensions == 2 && !generator->scattered) {
    side = (size_t)sqrt((double)generator->test_points);
    count = side * side;
  }
  for (size_t c = 0; c < dimensions; c++) {
    (void)snprintf(name, sizeof name, "x%zu", c);
    TUTTI_TRY(context, tutti_rows_add_column(context, rows, name));
  }
  TUTTI_TRY(context, tutti_rows_add_column(context, rows, "y"));
  for (size_t r = 0; r < generator->rows; r++) {
    draw_row(generator, r, seed, row);
    TUTTI_TRY(context, add_row(context, dimensions + 1, row, rows));
  }
  for (size_t r = 0; r < count; r++) {
    if (generator->scattered)
      scatter_row(generator, r, seed, row);
    else
      grid_row(generator, r, side, row);
    value_row(generator, r, seed, row);
    TUTTI_TRY(context, add_row(context, dimensions + 1, row, rows));
  }
  tutti_rows_set_test_rows(rows, count);
  return TUTTI_OK;
}
