/* evaluate_classification.c - metrics of an ensemble of classifiers and of its members. */
#include <math.h>
#include <string.h>

#include "evaluate_impl.h"
#include "ranking_impl.h"
#include "core/score/metrics_impl.h"

/* A bin of confidence, (lower, upper]. */
struct bin {
  size_t rows, right;
  double confidence;
};

/* The bins of one predictor. */
struct calibration {
  struct bin *bins; /* [bins] */
  bool unknown;     /* a row's label is not known */
};

struct sums {
  double nll, error, brier, entropy, expected_entropy, within; /* of the ensemble */
  double oracle_nll, oracle_error, average_nll, average_error, all_wrong;
  struct calibration ensemble, oracle, *members; /* [members] */
  size_t *labels;                                /* [members] of the row at hand */
  size_t *wrong;                                 /* [members]: rows */
  size_t *differ;              /* [members][members], j < i: rows on which the labels of i and j differ */
  double *classes;             /* [rows][outputs]: the ensemble's probabilities, or shares of votes */
  size_t *chosen;              /* [rows]: its labels */
  struct tutti_ranked *ranked; /* [rows], room */
};

/* The bin b with b / bins < confidence <= (b + 1) / bins, even if the product is rounded. */
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

/* 0 or 1; NaN if the predictions are. */
static double wrong(size_t label, size_t truth, size_t classes) {
  return label == classes ? (double)NAN : label != truth;
}

static void add_to_bins(struct calibration *calibration, size_t bins, size_t label, size_t truth, size_t classes,
                        double confidence) {
  if (label == classes) {
    calibration->unknown = true;
    return;
  }
  struct bin *bin = &calibration->bins[bin_of(confidence, bins)];
  bin->rows++;
  bin->right += label == truth;
  bin->confidence += confidence;
}

/* The confidence in a label; 0 if the predictions are NaN. */
static double confidence_of(const float *predicted, size_t label, size_t classes) {
  return label < classes ? (double)predicted[label] : 0;
}

/* The oracle predicts what the member with the least loss predicts; the first one of several. */
static void add_oracle(struct tutti_combiner *combiner, size_t row, size_t truth, size_t bins, size_t best,
                       double best_nll, struct sums *sums) {
  size_t classes = combiner->pool->outputs, label = sums->labels[best];
  const float *predicted = tutti_combiner_member_row(combiner, best, row);
  sums->oracle_nll += best_nll;
  sums->oracle_error += wrong(label, truth, classes);
  add_to_bins(&sums->oracle, bins, label, truth, classes, confidence_of(predicted, label, classes));
}

static void add_members(struct tutti_combiner *combiner, size_t row, size_t truth, size_t bins, struct sums *sums) {
  size_t classes = combiner->pool->outputs, members = combiner->members, best = 0;
  double best_nll = INFINITY, all_wrong = 1;
  for (size_t k = 0; k < members; k++) {
    const float *predicted = tutti_combiner_member_row(combiner, k, row);
    double weight = combiner->weights[k], nll = tutti_probability_nll((double)predicted[truth]);
    size_t label = metrics_label_float(classes, predicted);
    if (nll < best_nll) {
      best_nll = nll;
      best = k;
    }
    sums->average_nll += weight * nll;
    sums->average_error += weight * wrong(label, truth, classes);
    add_to_bins(&sums->members[k], bins, label, truth, classes, confidence_of(predicted, label, classes));
    if (label == truth)
      all_wrong = 0;
    else
      sums->wrong[k]++;
    sums->labels[k] = label;
    for (size_t j = 0; j < k; j++)
      sums->differ[k * members + j] += sums->labels[j] != label;
  }
  sums->all_wrong += all_wrong;
  add_oracle(combiner, row, truth, bins, best, best_nll, sums);
}

static void add_ensemble(struct tutti_combiner *combiner, size_t row, size_t truth, size_t bins, struct sums *sums) {
  size_t classes = combiner->pool->outputs;
  double expected = tutti_combiner_probabilities(combiner, row), within = tutti_combiner_within(combiner, row);
  sums->expected_entropy += metrics_positive(expected - within);
  sums->within += within;
  const double *probabilities = combiner->probabilities;
  size_t label = tutti_label_of(classes, tutti_combiner_classes(combiner));
  memcpy(sums->classes + row * classes, tutti_combiner_classes(combiner), classes * sizeof *sums->classes);
  sums->chosen[row] = label;
  sums->error += wrong(label, truth, classes);
  sums->nll += tutti_probability_nll(probabilities[truth]);
  sums->brier += metrics_brier_double(classes, probabilities, truth);
  sums->entropy += tutti_entropy(classes, probabilities);
  add_to_bins(&sums->ensemble, bins, label, truth, classes, label < classes ? probabilities[label] : 0);
}

/* --- metrics --- */

struct classified {
  const struct tutti_combiner *combiner;
  size_t bins;
  struct sums sums;
};

/* For a vote: shares of votes are not probabilities. */
static bool of_probabilities(const void *of, size_t which) {
  (void)which;
  return ((const struct classified *)of)->combiner->combination != TUTTI_COMBINATION_VOTE;
}

/* Metrics of members are of those that were trained. */
static bool of_members(const void *of, size_t which) {
  (void)which;
  return !((const struct classified *)of)->combiner->calibrated;
}

static bool of_own_probabilities(const void *of, size_t which) {
  return of_probabilities(of, which) && of_members(of, which);
}

static bool of_pairs(const void *of, size_t which) {
  (void)which;
  return ((const struct classified *)of)->combiner->members > 1;
}

/* The mean of the sum at that offset. */
static double mean_of_rows(const void *of, size_t sum) {
  const struct classified *classified = of;
  return METRIC_FIELD(&classified->sums, sum) / (double)classified->combiner->pool->rows;
}

static double calibration_error(const struct classified *classified, const struct calibration *calibration) {
  double sum = calibration->unknown ? (double)NAN : 0;
  for (size_t b = 0; b < classified->bins; b++)
    sum += fabs((double)calibration->bins[b].right - calibration->bins[b].confidence);
  return sum / (double)classified->combiner->pool->rows;
}

static double ensemble_calibration_error(const void *of, size_t which) {
  const struct classified *classified = of;
  (void)which;
  return calibration_error(classified, &classified->sums.ensemble);
}

static double oracle_calibration_error(const void *of, size_t which) {
  const struct classified *classified = of;
  (void)which;
  return calibration_error(classified, &classified->sums.oracle);
}

static double average_calibration_error(const void *of, size_t which) {
  const struct classified *classified = of;
  double mean = 0;
  (void)which;
  for (size_t k = 0; k < classified->combiner->members; k++)
    mean += classified->combiner->weights[k] * calibration_error(classified, &classified->sums.members[k]);
  return mean;
}

static double mutual_information(const void *of, size_t between) {
  const struct classified *classified = of;
  double within = between ? classified->sums.within : 0;
  return metrics_positive((classified->sums.entropy - classified->sums.expected_entropy - within) /
                          (double)classified->combiner->pool->rows);
}

/* Does a member tell its own part of its uncertainty? */
static bool of_parts(const void *of, size_t which) {
  return of_probabilities(of, which) && ((const struct classified *)of)->combiner->parts;
}

/* Mean over pairs of members of P(labels differ). Normalised: divided by 1 - the pair's mean accuracy (0 if both are
   always right, since they then never differ). */
static double disagreement(const void *of, size_t normalised) {
  const struct classified *classified = of;
  const struct sums *sums = &classified->sums;
  size_t members = classified->combiner->members;
  double rows = (double)classified->combiner->pool->rows, pairs = (double)members * (double)(members - 1) / 2, mean = 0;
  for (size_t i = 0; i < members; i++)
    for (size_t j = 0; j < i; j++) {
      double differ = (double)sums->differ[i * members + j] / rows;
      double error = (double)(sums->wrong[i] + sums->wrong[j]) / (2 * rows);
      if (!normalised)
        mean += differ / pairs;
      else
        mean += error > 0 ? differ / error / pairs : 0;
    }
  return mean;
}

/* --- of the order of the rows, and of single classes --- */

static size_t rows_of(const struct classified *of) { return of->combiner->pool->rows; }
static size_t classes_of(const struct classified *of) { return of->combiner->pool->outputs; }
static size_t truth_of(const struct classified *of, size_t row) { return (size_t)of->combiner->pool->labels[row]; }

/* How unsure the ensemble is of each row, and whether it is wrong there. */
static void rank_by_doubt(const struct classified *of) {
  for (size_t r = 0; r < rows_of(of); r++) {
    size_t label = of->sums.chosen[r];
    double most = label < classes_of(of) ? of->sums.classes[r * classes_of(of) + label] : (double)NAN;
    of->sums.ranked[r] = (struct tutti_ranked){1 - most, label != truth_of(of, r)};
  }
}

static double risk(const void *of, size_t which) {
  const struct classified *classified = of;
  (void)which;
  rank_by_doubt(classified);
  return tutti_ranked_risk(rows_of(classified), classified->sums.ranked);
}

static double area_of_errors(const void *of, size_t which) {
  const struct classified *classified = of;
  (void)which;
  rank_by_doubt(classified);
  return tutti_ranked_area(rows_of(classified), classified->sums.ranked);
}

static double area_of_class(const struct classified *of, size_t class) {
  for (size_t r = 0; r < rows_of(of); r++)
    of->sums.ranked[r] = (struct tutti_ranked){of->sums.classes[r * classes_of(of) + class], truth_of(of, r) == class};
  return tutti_ranked_area(rows_of(of), of->sums.ranked);
}

/* Of two classes that of the second; of more, the mean over the classes that have an area. */
static double area_of_classes(const void *of, size_t which) {
  const struct classified *classified = of;
  double sum = 0, count = 0;
  (void)which;
  for (size_t c = classes_of(classified) == 2; c < classes_of(classified); c++) {
    double area = area_of_class(classified, c);
    sum += isnan(area) ? 0 : area;
    count += !isnan(area);
  }
  return sum / count;
}

/* How many rows are of a class, are given it, and both. */
struct counts {
  double of, given, both;
};

static struct counts count_class(const struct classified *of, size_t class) {
  struct counts counts = {0, 0, 0};
  for (size_t r = 0; r < rows_of(of); r++) {
    counts.of += truth_of(of, r) == class;
    counts.given += of->sums.chosen[r] == class;
    counts.both += truth_of(of, r) == class && of->sums.chosen[r] == class;
  }
  return counts;
}

/* NaN for a class that no row has and none is given. */
static double f1_of(struct counts counts) { return 2 * counts.both / (counts.of + counts.given); }

static double macro_f1(const void *of, size_t which) {
  double sum = 0, count = 0;
  (void)which;
  for (size_t c = 0; c < classes_of(of); c++) {
    double f1 = f1_of(count_class(of, c));
    sum += isnan(f1) ? 0 : f1;
    count += !isnan(f1);
  }
  return sum / count;
}

static enum tutti_status add_tables(tutti_context *context, const struct classified *of, tutti_evaluation *evaluation) {
  static const char *const of_bins[] = {"lower", "upper", "rows", "confidence", "accuracy"};
  static const char *const of_classes[] = {"class", "precision", "recall", "f1", "support"};
  enum { COLUMNS = 5 };
  enum tutti_status status;
  size_t classes = classes_of(of), most = classes > of->bins ? classes : of->bins;
  double(*values)[COLUMNS] = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, most, sizeof *values, &values));
  for (size_t b = 0; b < of->bins; b++) {
    const struct bin *bin = &of->sums.ensemble.bins[b];
    double rows = (double)bin->rows, bins = (double)of->bins;
    const double row[COLUMNS] = {(double)b / bins, (double)(b + 1) / bins, rows, bin->confidence / rows,
                                 (double)bin->right / rows};
    memcpy(values[b], row, sizeof row);
  }
  if (of_probabilities(of, 0))
    TUTTI_TRY_OUT(context, tutti_evaluation_add_table(context, evaluation, "reliability", of->bins, COLUMNS, of_bins,
                                                      &values[0][0]));
  for (size_t c = 0; c < classes; c++) {
    struct counts counts = count_class(of, c);
    const double row[COLUMNS] = {(double)c, counts.both / counts.given, counts.both / counts.of, f1_of(counts),
                                 counts.of};
    memcpy(values[c], row, sizeof row);
  }
  TUTTI_TRY_OUT(
      context, tutti_evaluation_add_table(context, evaluation, "classes", classes, COLUMNS, of_classes, &values[0][0]));
out:
  tutti_free(values);
  return status;
}

#define SUM(name) offsetof(struct sums, name)
static const struct metric_entry classification_metrics[] = {
    METRIC_SHOWN(IN_BRIEF, "nll", "nats", LOWER, "mean of -log p(y)", mean_of_rows, SUM(nll),
                 .defined = of_probabilities),
    METRIC_SHOWN(IN_BRIEF, "error", "fraction", LOWER, "rows whose label is not y", mean_of_rows, SUM(error)),
    METRIC("brier", "", LOWER, "mean of sum_c (p(c) - [c = y])^2, from 0 to 2", mean_of_rows, SUM(brier),
           .defined = of_probabilities),
    METRIC_SHOWN(
        IN_CURVES, "ece", "fraction", LOWER,
        "sum over bins of (n_b / N) abs(accuracy_b - confidence_b), confidence = max p, B bins ((b - 1)/B, b/B]",
        ensemble_calibration_error, 0, .defined = of_probabilities),
    METRIC("auc", "", HIGHER,
           "probability that a row of the second of two classes has a higher p of it than one of the first, ties "
           "counting half; of more classes the mean over each against the rest",
           area_of_classes, 0),
    METRIC("macro-f1", "", HIGHER,
           "mean over classes of 2 hits / (rows of the class + rows given it), without those that have neither",
           macro_f1, 0),
    METRIC("aurc", "fraction", LOWER,
           "area under risk over coverage: mean over n of the error of the n rows with the highest max p; ties share "
           "their errors",
           risk, 0),
    METRIC(
        "auroc-error", "", HIGHER,
        "probability that a row with a wrong label has a lower max p than one with the right label, ties counting half",
        area_of_errors, 0),
    METRIC("entropy", "nats", NEITHER, "mean of H(p), the total uncertainty of `predict`", mean_of_rows, SUM(entropy),
           .defined = of_probabilities),
    METRIC("expected-entropy", "nats", NEITHER,
           "mean of sum_k w_k (H(p_k) - I_k), the aleatoric part of it; I_k: what a member tells of itself, or 0",
           mean_of_rows, SUM(expected_entropy), .defined = of_own_probabilities),
    METRIC("mutual-information", "nats", NEITHER, "entropy - expected-entropy, the epistemic part of it",
           mutual_information, false, .defined = of_own_probabilities),
    METRIC("mutual-information-between", "nats", NEITHER, "its part between the members", mutual_information, true,
           .defined = of_parts),
    METRIC("mutual-information-within", "nats", NEITHER,
           "its part within the members, which they tell: sum_k w_k I_k, of label and draw", mean_of_rows, SUM(within),
           .defined = of_parts),
    METRIC_SHOWN(IN_CURVES, "oracle-nll", "nats", LOWER, "mean over rows of the lowest NLL of a member", mean_of_rows,
                 SUM(oracle_nll), .defined = of_members),
    METRIC_SHOWN(IN_CURVES, "oracle-error", "fraction", LOWER, "rows on which the member with the lowest NLL is wrong",
                 mean_of_rows, SUM(oracle_error), .defined = of_members),
    METRIC("oracle-ece", "fraction", LOWER, "the calibration error of predicting each row as that member does",
           oracle_calibration_error, 0, .defined = of_members),
    METRIC("all-wrong", "fraction", LOWER, "rows on which every member is wrong", mean_of_rows, SUM(all_wrong),
           .defined = of_members),
    METRIC_SHOWN(IN_CURVES, "average-nll", "nats", LOWER,
                 "members' own NLL, averaged with their weights: the average base learner", mean_of_rows,
                 SUM(average_nll), .defined = of_members),
    METRIC_SHOWN(IN_CURVES, "average-error", "fraction", LOWER, "members' own error, averaged with their weights",
                 mean_of_rows, SUM(average_error), .defined = of_members),
    METRIC("average-ece", "fraction", LOWER, "members' own calibration errors, averaged with their weights",
           average_calibration_error, 0, .defined = of_members),
    METRIC("disagreement", "fraction", NEITHER, "mean over pairs of members of the rows on which their labels differ",
           disagreement, false, .defined = of_pairs),
    METRIC("normalised-disagreement", "", NEITHER,
           "each pair's disagreement divided by 1 - the pair's mean accuracy (0 where that is 0), then averaged",
           disagreement, true, .defined = of_pairs),
};
const struct metric_table metrics_of_classification = METRIC_TABLE(classification_metrics);

/* --- sums --- */

/* Bins of the ensemble, the oracle and each member lie in one array, which the ensemble's begin. */
static enum tutti_status create_sums(tutti_context *context, const struct tutti_combiner *combiner, size_t bins,
                                     struct sums *sums) {
  size_t members = combiner->members, rows = combiner->pool->rows, classes = combiner->pool->outputs;
  TUTTI_TRY(context, tutti_alloc(context, rows, classes * sizeof *sums->classes, &sums->classes));
  TUTTI_TRY(context, tutti_alloc(context, rows, sizeof *sums->chosen, &sums->chosen));
  TUTTI_TRY(context, tutti_alloc(context, rows, sizeof *sums->ranked, &sums->ranked));
  TUTTI_TRY(context, tutti_alloc(context, members + 2, bins * sizeof *sums->ensemble.bins, &sums->ensemble.bins));
  TUTTI_TRY(context, tutti_alloc(context, members, sizeof *sums->members, &sums->members));
  TUTTI_TRY(context, tutti_alloc(context, members, sizeof *sums->labels, &sums->labels));
  TUTTI_TRY(context, tutti_alloc(context, members, sizeof *sums->wrong, &sums->wrong));
  TUTTI_TRY(context, tutti_alloc(context, members, members * sizeof *sums->differ, &sums->differ));
  sums->oracle.bins = sums->ensemble.bins + bins;
  for (size_t k = 0; k < members; k++)
    sums->members[k].bins = sums->ensemble.bins + (k + 2) * bins;
  return TUTTI_OK;
}

static void free_sums(struct sums *sums) {
  tutti_free(sums->ensemble.bins);
  tutti_free(sums->members);
  tutti_free(sums->labels);
  tutti_free(sums->wrong);
  tutti_free(sums->differ);
  tutti_free(sums->classes);
  tutti_free(sums->chosen);
  tutti_free(sums->ranked);
}

enum tutti_status tutti_evaluate_classification(tutti_context *context, struct tutti_combiner *combiner,
                                                const struct tutti_evaluation_options *options,
                                                tutti_evaluation **evaluation) {
  enum tutti_status status;
  struct classified classified = {.combiner = combiner, .bins = (size_t)options->bins};
  struct sums *sums = &classified.sums;
  TUTTI_TRY_OUT(context, create_sums(context, combiner, classified.bins, sums));
  for (size_t n = 0; n < combiner->pool->rows; n++) {
    TUTTI_TRY_OUT(context, tutti_combiner_go_on(context, n));
    size_t truth = (size_t)combiner->pool->labels[n];
    add_members(combiner, n, truth, classified.bins, sums);
    add_ensemble(combiner, n, truth, classified.bins, sums);
  }
  TUTTI_TRY_OUT(context, tutti_evaluation_create(context, &metrics_of_classification, &classified, evaluation));
  TUTTI_TRY_OUT(context, add_tables(context, &classified, *evaluation));
out:
  free_sums(sums);
  return status;
}
