/* combiner.c - finds an ensemble's members in a pool and combines them row by row. */
#include <inttypes.h>

#include "evaluate_impl.h"
#include "core/score/metrics_impl.h"

/* A pool of an older version, which is shorter, has none. */
static const float *epistemic_of(const struct tutti_pool *pool, size_t model) {
  size_t end = offsetof(struct tutti_pool, epistemic) + sizeof pool->epistemic;
  return pool->size >= end && pool->epistemic ? pool->epistemic[model] : NULL;
}

enum tutti_status tutti_combiner_init(tutti_context *context, const struct tutti_pool *pool,
                                      const tutti_ensemble *ensemble, struct tutti_combiner *combiner) {
  *combiner = (struct tutti_combiner){.pool = pool, .targets = pool->outputs, .members = tutti_ensemble_size(ensemble)};
  combiner->combination = tutti_ensemble_combination(ensemble);
  combiner->picks = tutti_ensemble_picks(ensemble);
  if (pool->kind == TUTTI_TASK_VALUE)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "models without data have no predictions to combine");
  if (combiner->members == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "expected an ensemble with members, found an empty one");
  TUTTI_TRY(context, tutti_alloc(context, combiner->members, sizeof *combiner->predictions, &combiner->predictions));
  TUTTI_TRY(context, tutti_alloc(context, combiner->members, sizeof *combiner->epistemic, &combiner->epistemic));
  TUTTI_TRY(context, tutti_alloc(context, combiner->members, sizeof(double), &combiner->weights));
  TUTTI_TRY(context, tutti_alloc(context, combiner->members, sizeof(double), &combiner->means));
  TUTTI_TRY(context, tutti_alloc(context, combiner->members, sizeof(double), &combiner->variances));
  TUTTI_TRY(context, tutti_alloc(context, pool->outputs, sizeof(double), &combiner->probabilities));
  TUTTI_TRY(context, tutti_alloc(context, pool->outputs, sizeof(double), &combiner->shares));
  TUTTI_TRY(context, tutti_alloc(context, pool->outputs, sizeof(double), &combiner->row));
  for (size_t k = 0; k < combiner->members; k++) {
    uint64_t trial = tutti_ensemble_trial(ensemble, k);
    double weight = tutti_ensemble_weight(ensemble, k);
    size_t model = tutti_pool_find(pool, trial);
    if (model == pool->models)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "the ensemble has trial %" PRIu64 ", which is not among the %zu models with predictions", trial,
                        pool->models);
    combiner->predictions[k] = pool->predictions[model];
    combiner->epistemic[k] = epistemic_of(pool, model);
    combiner->parts |= combiner->epistemic[k] != NULL;
    combiner->weights[k] = weight;
  }
  return TUTTI_OK;
}

void tutti_combiner_release(struct tutti_combiner *combiner) {
  tutti_free(combiner->predictions);
  tutti_free(combiner->epistemic);
  tutti_free(combiner->weights);
  tutti_free(combiner->means);
  tutti_free(combiner->variances);
  tutti_free(combiner->probabilities);
  tutti_free(combiner->shares);
  tutti_free(combiner->row);
}

const float *tutti_combiner_member_row(const struct tutti_combiner *combiner, size_t member, size_t row) {
  const struct tutti_pool *pool = combiner->pool;
  return combiner->predictions[member] + row * tutti_predictions_width(pool->kind, pool->outputs);
}

struct tutti_mixture tutti_combiner_mixture(struct tutti_combiner *combiner, size_t row, size_t output) {
  for (size_t k = 0; k < combiner->members; k++) {
    const float *moments = tutti_combiner_member_row(combiner, k, row) + 2 * output;
    combiner->means[k] = (double)moments[0];
    combiner->variances[k] = (double)moments[1];
  }
  return (struct tutti_mixture){combiner->members, combiner->weights, combiner->means, combiner->variances,
                                combiner->picks};
}

struct tutti_moments tutti_combiner_moments(const struct tutti_combiner *combiner, const struct tutti_mixture *mixture,
                                            size_t row, size_t output, enum tutti_epistemic epistemic,
                                            double *within_) {
  struct tutti_moments moments = tutti_mixture_moments(mixture, epistemic);
  double within = 0, noise = 0;
  for (size_t k = 0; combiner->parts && k < combiner->members; k++) {
    double variance = metrics_floor(mixture->variances[k]);
    double own = combiner->epistemic[k] ? (double)combiner->epistemic[k][row * combiner->pool->outputs + output] : 0;
    own = own > variance ? variance : own;
    within += mixture->weights[k] * own;
    noise += mixture->weights[k] * (variance - own);
  }
  if (combiner->parts) {
    moments.aleatoric = noise;
    moments.epistemic += within;
  }
  if (within_)
    *within_ = within;
  return moments;
}

double tutti_combiner_within(const struct tutti_combiner *combiner, size_t row) {
  double within = 0;
  bool vote = combiner->combination == TUTTI_COMBINATION_VOTE;
  for (size_t k = 0; !vote && combiner->parts && k < combiner->members; k++)
    within += combiner->epistemic[k] ? combiner->weights[k] * (double)combiner->epistemic[k][row] : 0;
  return within;
}

double tutti_combiner_probabilities(struct tutti_combiner *combiner, size_t row) {
  size_t classes = combiner->pool->outputs;
  double entropy = 0;
  for (size_t c = 0; c < classes; c++)
    combiner->probabilities[c] = combiner->shares[c] = 0;
  for (size_t k = 0; k < combiner->members; k++) {
    const float *predicted = tutti_combiner_member_row(combiner, k, row);
    double weight = combiner->weights[k];
    for (size_t c = 0; c < classes; c++) {
      combiner->row[c] = (double)predicted[c];
      combiner->probabilities[c] += weight * combiner->row[c];
    }
    entropy += weight * tutti_entropy(classes, combiner->row);
    size_t label = metrics_label_float(classes, predicted);
    if (label < classes)
      combiner->shares[label] += weight;
  }
  return entropy;
}

const double *tutti_combiner_classes(const struct tutti_combiner *combiner) {
  return combiner->combination == TUTTI_COMBINATION_VOTE ? combiner->shares : combiner->probabilities;
}
