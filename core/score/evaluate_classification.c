/* evaluate_classification.c - metrics of an ensemble of classifiers and of its members. */
#include <math.h>

#include "evaluate_impl.h"
#include "metrics_impl.h"

/* A bin of confidence, (lower, upper]. */
struct bin {
  size_t right;
  double confidence;
};

struct sums {
  double nll, error, brier, entropy, expected_entropy; /* of the ensemble */
  double oracle_nll, oracle_error, average_nll, average_error;
  struct bin *bins; /* [bins] */
  size_t *labels;   /* [members] of the row at hand */
  size_t *wrong;    /* [members]: rows */
  size_t *differ;   /* [members][members], j < i: rows on which the labels of i and j differ */
};

/* b with b / bins < confidence <= (b + 1) / bins, whatever the product rounds to. */
static size_t bin_of(double confidence, size_t bins) {
  double scaled = ceil(confidence * (double)bins) - 1;
  size_t b = scaled > 0 ? (size_t)scaled : 0;
  b = b < bins ? b : bins - 1;
  while (b > 0 && confidence <= (double)b / (double)bins)
    b--;
  while (b + 1 < bins && confidence > (double)(b + 1) / (double)bins)
    b++;
  return b;
}

static double calibration_error(const struct bin *bins, size_t count, size_t rows) {
  double sum = 0;
  for (size_t b = 0; b < count; b++)
    sum += fabs((double)bins[b].right - bins[b].confidence);
  return sum / (double)rows;
}

/* 0 or 1; NaN where the predictions are. */
static double wrong(size_t label, size_t truth, size_t classes) {
  return label == classes ? (double)NAN : label != truth;
}

static void add_members(struct tutti_combiner *combiner, size_t row, size_t truth, struct sums *sums) {
  size_t classes = combiner->pool->outputs, members = combiner->members;
  double best_nll = INFINITY, all_wrong = 1;
  for (size_t k = 0; k < members; k++) {
    const float *predicted = tutti_combiner_member_row(combiner, k, row);
    double weight = combiner->weights[k], nll = tutti_probability_nll((double)predicted[truth]);
    size_t label = metrics_label_float(classes, predicted);
    best_nll = fmin(best_nll, nll);
    sums->average_nll += weight * nll;
    sums->average_error += weight * wrong(label, truth, classes);
    if (label == truth)
      all_wrong = 0;
    else
      sums->wrong[k]++;
    sums->labels[k] = label;
    for (size_t j = 0; j < k; j++)
      sums->differ[k * members + j] += sums->labels[j] != label;
  }
  sums->oracle_nll += best_nll;
  sums->oracle_error += all_wrong;
}

static void add_ensemble(struct tutti_combiner *combiner, size_t row, size_t truth, size_t bins, struct sums *sums) {
  size_t classes = combiner->pool->outputs;
  sums->expected_entropy += tutti_combiner_probabilities(combiner, row);
  const double *probabilities = combiner->probabilities;
  size_t label = tutti_label_of(classes, tutti_combiner_classes(combiner));
  sums->error += wrong(label, truth, classes);
  sums->nll += tutti_probability_nll(probabilities[truth]);
  sums->brier += metrics_brier_double(classes, probabilities, truth);
  sums->entropy += tutti_entropy(classes, probabilities);
  if (label == classes)
    return;
  struct bin *bin = &sums->bins[bin_of(probabilities[label], bins)];
  bin->right += label == truth;
  bin->confidence += probabilities[label];
}

/* Means over pairs of members: P(labels differ), and that divided by 1 - the pair's mean accuracy (0 where both are always
   right, for then they never differ). */
static void disagreement(const struct sums *sums, size_t members, size_t rows, double *plain, double *normalised) {
  double pairs = (double)members * (double)(members - 1) / 2;
  *plain = *normalised = 0;
  for (size_t i = 0; i < members; i++)
    for (size_t j = 0; j < i; j++) {
      double differ = (double)sums->differ[i * members + j] / (double)rows;
      double error = (double)(sums->wrong[i] + sums->wrong[j]) / (2 * (double)rows);
      *plain += differ / pairs;
      *normalised += error > 0 ? differ / error / pairs : 0;
    }
}

static void report(const struct tutti_combiner *combiner, const struct tutti_evaluation_options *options,
                   const struct sums *sums, struct tutti_evaluation *evaluation) {
  size_t members = combiner->members, rows = combiner->pool->rows;
  double n = (double)rows;
  bool votes = combiner->combination == TUTTI_COMBINATION_VOTE;
  if (!votes)
    tutti_evaluation_add(evaluation, "nll", "nats", TUTTI_BETTER_LOWER, sums->nll / n);
  tutti_evaluation_add(evaluation, "error", "fraction", TUTTI_BETTER_LOWER, sums->error / n);
  if (!votes) {
    tutti_evaluation_add(evaluation, "brier", "", TUTTI_BETTER_LOWER, sums->brier / n);
    tutti_evaluation_add(evaluation, "ece", "fraction", TUTTI_BETTER_LOWER,
                         isnan(sums->error) ? (double)NAN : calibration_error(sums->bins, (size_t)options->bins, rows));
    tutti_evaluation_add(evaluation, "entropy", "nats", TUTTI_BETTER_NEITHER, sums->entropy / n);
    tutti_evaluation_add(evaluation, "expected-entropy", "nats", TUTTI_BETTER_NEITHER, sums->expected_entropy / n);
    tutti_evaluation_add(evaluation, "mutual-information", "nats", TUTTI_BETTER_NEITHER,
                         metrics_positive((sums->entropy - sums->expected_entropy) / n));
  }
  tutti_evaluation_add(evaluation, "oracle-nll", "nats", TUTTI_BETTER_LOWER, sums->oracle_nll / n);
  tutti_evaluation_add(evaluation, "oracle-error", "fraction", TUTTI_BETTER_LOWER, sums->oracle_error / n);
  tutti_evaluation_add(evaluation, "average-nll", "nats", TUTTI_BETTER_LOWER, sums->average_nll / n);
  tutti_evaluation_add(evaluation, "average-error", "fraction", TUTTI_BETTER_LOWER, sums->average_error / n);
  if (members > 1) {
    double plain, normalised;
    disagreement(sums, members, rows, &plain, &normalised);
    tutti_evaluation_add(evaluation, "disagreement", "fraction", TUTTI_BETTER_NEITHER, plain);
    tutti_evaluation_add(evaluation, "normalised-disagreement", "", TUTTI_BETTER_NEITHER, normalised);
  }
}

enum tutti_status tutti_evaluate_classification(tutti_context *context, struct tutti_combiner *combiner,
                                                const struct tutti_evaluation_options *options,
                                                struct tutti_evaluation *evaluation) {
  enum tutti_status status;
  size_t members = combiner->members;
  struct sums sums = {0};
  TUTTI_TRY_OUT(context, tutti_alloc(context, (size_t)options->bins, sizeof *sums.bins, &sums.bins));
  TUTTI_TRY_OUT(context, tutti_alloc(context, members, sizeof *sums.labels, &sums.labels));
  TUTTI_TRY_OUT(context, tutti_alloc(context, members, sizeof *sums.wrong, &sums.wrong));
  TUTTI_TRY_OUT(context, tutti_alloc(context, members, members * sizeof *sums.differ, &sums.differ));
  for (size_t n = 0; n < combiner->pool->rows; n++) {
    size_t truth = (size_t)combiner->pool->labels[n];
    add_members(combiner, n, truth, &sums);
    add_ensemble(combiner, n, truth, (size_t)options->bins, &sums);
  }
  report(combiner, options, &sums, evaluation);
out:
  tutti_free(sums.bins);
  tutti_free(sums.labels);
  tutti_free(sums.wrong);
  tutti_free(sums.differ);
  return status;
}
