/* scaling.c - scales of numbers other than mean and standard deviation, and bins.

   robust: Holzmueller, Grinsztajn and Steinwart, "Better by default: strong pre-tuned MLPs and boosted trees on tabular
   data", NeurIPS 2024 (RealMLP): the median and the quartiles' distance, then a smooth clip to (-3, 3).
   quantile-normal, quantile-uniform: the share of training rows below a value, as a normal or a uniform number. The
   scale goes straight from knot to knot, so that it is a list of points for whoever reads it. Equal values share the
   middle of their ranks.
   bins: Gorishniy, Rubachev and Babenko, "On embeddings for numerical features in tabular deep learning", NeurIPS 2022,
   section 3.2: piecewise-linear encoding with bins between quantiles. Deviations: the scaled number stays beside its
   bins, since trees and machines see that alone, and so that values beyond the training rows still differ; the first
   and the last bin are therefore clipped like the others. Edges that coincide are one; a single bin would be the number
   again, and there is none then. */
#include <math.h>
#include <tutti/metrics.h>

#include "scaling_impl.h"

/* RealMLP's bound of scaled numbers, and a scaled number that is at the bound for floats. */
static const double robust_clip = 3, robust_far = 1e9;

/* The quantile at p of sorted values, straight between them. */
static double quantile_at(size_t count, const double *sorted, double p) {
  double place = p * (double)(count - 1);
  size_t below = (size_t)place;
  if (below + 1 >= count)
    return sorted[count - 1];
  return sorted[below] + (sorted[below + 1] - sorted[below]) * (place - (double)below);
}

/* --- robust --- */

static struct tutti_linear_scale measure_robust(size_t count, const double *sorted) {
  double quartiles = quantile_at(count, sorted, 0.75) - quantile_at(count, sorted, 0.25);
  double half_range = (sorted[count - 1] - sorted[0]) / 2;
  double scale = quartiles > 0 ? quartiles : half_range > 0 ? half_range : 1;
  return (struct tutti_linear_scale){quantile_at(count, sorted, 0.5), scale};
}

/* --- quantiles --- */

static size_t count_distinct(size_t count, const double *sorted) {
  size_t distinct = 1;
  for (size_t i = 1; i < count; i++)
    distinct += sorted[i] != sorted[i - 1];
  return distinct;
}

/* A uniform or normal number of mean 0 and deviation 1 for a rank in (0, 1). */
static double level_of(int scaling, double rank) {
  return scaling == TUTTI_SCALING_QUANTILE_NORMAL ? tutti_normal_quantile(rank) : sqrt(12) * (rank - 0.5);
}

/* The row at which knot number `knot` is wanted, where there are more distinct values than knots. */
static size_t row_of_knot(size_t knot, size_t most, size_t count) {
  return most > 1 ? knot * (count - 1) / (most - 1) : 0;
}

/* At all distinct values, or at those of evenly spaced rows if there are more than `most`. */
static void place_knots(int scaling, size_t most, size_t count, const double *sorted,
                        struct tutti_data_column *column) {
  bool all = count_distinct(count, sorted) <= most;
  size_t next = 0;
  for (size_t first = 0, last; first < count; first = last + 1) {
    for (last = first; last + 1 < count && sorted[last + 1] == sorted[first];)
      last++;
    bool wanted = all;
    for (; next < most && row_of_knot(next, most, count) <= last; next++)
      wanted = true;
    if (!wanted)
      continue;
    column->knot[column->knots] = sorted[first];
    column->level[column->knots++] = level_of(scaling, (double)(first + last + 1) / 2 / (double)count);
  }
}

static enum tutti_status measure_quantiles(tutti_context *context, const struct tutti_data_config *config, size_t count,
                                           const double *sorted, struct tutti_data_column *column) {
  size_t most = (size_t)config->quantiles, distinct = count_distinct(count, sorted);
  size_t room = distinct < most ? distinct : most;
  TUTTI_TRY(context, tutti_alloc(context, room, sizeof *column->knot, &column->knot));
  TUTTI_TRY(context, tutti_alloc(context, room, sizeof *column->level, &column->level));
  place_knots(config->scaling, most, count, sorted, column);
  return TUTTI_OK;
}

/* Straight from knot to knot, constant beyond. */
static double between_knots(const struct tutti_data_column *column, double number) {
  size_t low = 0, high = column->knots - 1;
  if (number <= column->knot[0])
    return column->level[0];
  if (number >= column->knot[high])
    return column->level[high];
  while (high - low > 1) {
    size_t middle = (low + high) / 2;
    if (number < column->knot[middle])
      high = middle;
    else
      low = middle;
  }
  double share = (number - column->knot[low]) / (column->knot[high] - column->knot[low]);
  return column->level[low] + share * (column->level[high] - column->level[low]);
}

/* --- bins --- */

static enum tutti_status measure_bins(tutti_context *context, size_t bins, size_t count, const double *sorted,
                                      struct tutti_data_column *column) {
  size_t edges = 0;
  TUTTI_TRY(context, tutti_alloc(context, bins + 1, sizeof *column->edge, &column->edge));
  for (size_t b = 0; b <= bins; b++) {
    double edge = quantile_at(count, sorted, (double)b / (double)bins);
    if (edges == 0 || edge > column->edge[edges - 1])
      column->edge[edges++] = edge;
  }
  column->bins = edges > 2 ? edges - 1 : 0;
  return TUTTI_OK;
}

double tutti_scaling_bin(const struct tutti_data_column *column, size_t bin, double number) {
  double low = column->edge[bin], width = column->edge[bin + 1] - low;
  return fmin(1, fmax(0, (number - low) / width));
}

/* --- both --- */

enum tutti_status tutti_scaling_measure(tutti_context *context, const struct tutti_data_config *config, size_t count,
                                        double *known, struct tutti_data_column *column,
                                        struct tutti_linear_scale *linear) {
  tutti_sort_numbers(count, known);
  if (config->bins > 0)
    TUTTI_TRY(context, measure_bins(context, (size_t)config->bins, count, known, column));
  if (config->scaling == TUTTI_SCALING_ROBUST) {
    *linear = measure_robust(count, known);
    column->clip = robust_clip;
  } else if (config->scaling != TUTTI_SCALING_STANDARD) {
    *linear = (struct tutti_linear_scale){0, 1};
    return measure_quantiles(context, config, count, known, column);
  }
  return TUTTI_OK;
}

double tutti_scaling_apply(const struct tutti_data_column *column, const struct tutti_linear_scale *linear,
                           double number) {
  double scaled = ((column->knots ? between_knots(column, number) : number) - linear->shift) / linear->scale;
  if (column->clip == 0)
    return scaled;
  scaled = fmin(robust_far, fmax(-robust_far, scaled));
  return scaled / sqrt(1 + scaled / column->clip * (scaled / column->clip));
}
