/* generator.h - tables that are computed. Training inputs are drawn uniformly and their targets are noisy; test rows
   lie on an even grid, without noise unless the generator says otherwise. */
#ifndef SOURCE_GENERATOR_H
#define SOURCE_GENERATOR_H

#include <tutti/plugin.h>

/* A region that inputs are drawn from (the same interval for each coordinate), and the standard deviation of the noise
   there. */
struct generator_region {
  double low, high, deviation;
};

struct generator {
  size_t dimensions;  /* 1 or 2 */
  size_t rows;        /* for training and validation */
  size_t second_from; /* rows from here on are of the second region */
  struct generator_region region, second;
  size_t test_points;    /* of the grid; in two dimensions rounded to the next smaller square */
  bool scattered;        /* instead of a grid, so many random points of `region` */
  double test_deviation; /* standard deviation of the test rows' noise */
  double low, high;      /* ends of the grid */
  double (*value)(size_t function, const double *x); /* of x[dimensions] */
  size_t function;                                   /* passed to the function */
};

/* Read the parameter `box`: a lower and an upper end. */
TUTTI_NODISCARD enum tutti_status generator_read_box(tutti_context *context, const struct tutti_reals *box, double *low,
                                                     double *high);
/* Add the columns x0, x1, ..., y with all rows. Each training row is drawn from its own stream, keyed by the seed. */
TUTTI_NODISCARD enum tutti_status generator_fill(tutti_context *context, const struct generator *generator,
                                                 uint64_t seed, tutti_rows *rows);

#endif
