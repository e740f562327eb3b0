/* combined.c - what an ensemble says of rows, in doubles, before anything corrects it. */
#include "calibrate_impl.h"
#include "evaluate_impl.h"

#include <string.h>

/* One row of moments, [outputs][TUTTI_COMBINED_PARTS]. */
static void combine_values(struct tutti_combiner *combiner, size_t row, enum tutti_epistemic epistemic, double *out) {
  for (size_t o = 0; o < combiner->pool->outputs; o++, out += TUTTI_COMBINED_PARTS) {
    struct tutti_mixture mixture = tutti_combiner_mixture(combiner, row, o);
    struct tutti_moments moments = tutti_combiner_moments(combiner, &mixture, row, o, epistemic, NULL);
    out[TUTTI_COMBINED_MEAN] = moments.mean;
    out[TUTTI_COMBINED_ALEATORIC] = moments.aleatoric;
    out[TUTTI_COMBINED_EPISTEMIC] = moments.epistemic;
  }
}

enum tutti_status tutti_combine(tutti_context *context, const struct tutti_pool *pool, const tutti_ensemble *ensemble,
                                const struct tutti_evaluation_options *options, struct tutti_combined *combined) {
  enum tutti_status status;
  struct tutti_combiner combiner = {0};
  size_t width = tutti_combined_width(pool->kind, pool->outputs);
  double *values = NULL;
  *combined = (struct tutti_combined){
      .size = sizeof *combined, .kind = pool->kind, .rows = pool->rows, .outputs = pool->outputs};
  TUTTI_TRY_OUT(context, tutti_combiner_init(context, pool, ensemble, &combiner));
  if (pool->kind == TUTTI_TASK_CLASSIFICATION && combiner.combination == TUTTI_COMBINATION_VOTE)
    TUTTI_TRY_OUT(context, TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                                      "the ensemble votes: it has shares of votes, and no probabilities to calibrate"));
  TUTTI_TRY_OUT(context, tutti_alloc(context, pool->rows, width * sizeof *values, &values));
  for (size_t r = 0; r < pool->rows; r++) {
    TUTTI_TRY_OUT(context, tutti_combiner_go_on(context, r));
    double *row = values + r * width;
    if (pool->kind == TUTTI_TASK_REGRESSION) {
      combine_values(&combiner, r, (enum tutti_epistemic)options->epistemic, row);
      continue;
    }
    (void)tutti_combiner_probabilities(&combiner, r);
    for (size_t c = 0; c < width; c++) /* sums of rounded probabilities may exceed 1 by a rounding */
      row[c] = combiner.probabilities[c] > 1 ? 1 : combiner.probabilities[c];
  }
  combined->values = values;
  values = NULL;
out:
  tutti_combiner_release(&combiner);
  tutti_free(values);
  return status;
}

/* The numbers of one mixture: means, variances and, of members that tell it, their own epistemic variances. */
static void copy_mixture(struct tutti_combiner *combiner, size_t row, size_t output, double *numbers,
                         struct tutti_mixture *out) {
  const struct tutti_mixture mixture = tutti_combiner_mixture(combiner, row, output);
  const size_t members = mixture.members, cell = row * combiner->pool->outputs + output;
  memcpy(numbers, mixture.means, members * sizeof *numbers);
  memcpy(numbers + members, mixture.variances, members * sizeof *numbers);
  for (size_t k = 0; combiner->parts && k < members; k++)
    numbers[2 * members + k] = combiner->epistemic[k] ? (double)combiner->epistemic[k][cell] : 0;
  *out = (struct tutti_mixture){members, out->weights, numbers, numbers + members, mixture.picks};
}

enum tutti_status tutti_combine_mixtures(tutti_context *context, const struct tutti_pool *pool,
                                         const tutti_ensemble *ensemble, struct tutti_mixtures *mixtures) {
  enum tutti_status status;
  struct tutti_combiner combiner = {0};
  size_t cells = pool->rows * pool->outputs;
  *mixtures = (struct tutti_mixtures){.all = NULL};
  TUTTI_TRY_OUT(context, tutti_combiner_init(context, pool, ensemble, &combiner));
  const size_t members = combiner.members, numbers = (combiner.parts ? 3 : 2) * members;
  mixtures->parts = combiner.parts;
  TUTTI_TRY_OUT(context, tutti_alloc(context, cells, sizeof *mixtures->all, &mixtures->all));
  TUTTI_TRY_OUT(context, tutti_alloc(context, cells * numbers + members, sizeof(double), &mixtures->numbers));
  double *weights = mixtures->numbers + cells * numbers;
  memcpy(weights, combiner.weights, members * sizeof *weights);
  for (size_t i = 0; i < cells; i++) {
    mixtures->all[i].weights = weights;
    copy_mixture(&combiner, i / pool->outputs, i % pool->outputs, mixtures->numbers + i * numbers, &mixtures->all[i]);
  }
out:
  tutti_combiner_release(&combiner);
  return status;
}

void tutti_mixtures_release(struct tutti_mixtures *mixtures) {
  tutti_free(mixtures->all);
  tutti_free(mixtures->numbers);
  *mixtures = (struct tutti_mixtures){.all = NULL};
}

enum tutti_status tutti_combined_quantiles(tutti_context *context, const struct tutti_pool *pool,
                                           const tutti_ensemble *ensemble, size_t count, const double *p, double *out) {
  struct tutti_combiner combiner = {0};
  enum tutti_status status = tutti_combiner_init(context, pool, ensemble, &combiner);
  for (size_t i = 0; status == TUTTI_OK && i < pool->rows * pool->outputs; i++) {
    status = tutti_combiner_go_on(context, i);
    struct tutti_mixture mixture = tutti_combiner_mixture(&combiner, i / pool->outputs, i % pool->outputs);
    for (size_t k = 0; k < count; k++)
      out[i * count + k] = tutti_mixture_quantile(&mixture, p[k]);
  }
  tutti_combiner_release(&combiner);
  return status;
}
