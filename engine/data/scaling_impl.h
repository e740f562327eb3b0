/* scaling_impl.h - how numbers are scaled other than by mean and standard deviation, and their bins; for engine/data/
   alone. */
#ifndef TUTTI_SCALING_IMPL_H
#define TUTTI_SCALING_IMPL_H

#include "columns_impl.h"
#include "config_impl.h"

/* A linear scale: (number - shift) / scale. */
struct tutti_linear_scale {
  double shift, scale; /* scale > 0 */
};

/* Measure the scale that data.scaling names, and the bins of data.bins, of the values known[count] of a column in the
   training rows; count > 0, and they are sorted by this function. Sets what the column keeps of them, and *linear
   unless the scaling is the standard one. The caller destroys the column. */
TUTTI_NODISCARD enum tutti_status tutti_scaling_measure(tutti_context *context, const struct tutti_data_config *config,
                                                        size_t count, double *known, struct tutti_data_column *column,
                                                        struct tutti_linear_scale *linear);

/* The number as networks take it; infinite if it is too large for its scale. */
double tutti_scaling_apply(const struct tutti_data_column *column, const struct tutti_linear_scale *linear,
                           double number);
/* What a bin (< column->bins) holds of a number: 0 below it, 1 above it, the share of its width between. */
double tutti_scaling_bin(const struct tutti_data_column *column, size_t bin, double number);

#endif
