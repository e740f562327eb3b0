/* evaluate_regression.c - metrics of an ensemble of regressors and of its members. */
#include <math.h>

#include "calibrate_impl.h"
#include "evaluate_impl.h"
#include "ranking_impl.h"
#include "core/score/metrics_impl.h"
#include "bands_impl.h"

/* One output: sums over its rows, which finish_output turns into means. */
struct output {
  double nll_moments, square, absolute, crps, crps_moments;
  struct tutti_bands bounds;
  double aleatoric, epistemic, between, within;   /* variances */
  double inside;                                  /* rows inside the central interval */
  double below[TUTTI_QUANTILES];                  /* rows whose value is below that quantile */
  double target_mean, target_square;              /* of the targets: running mean, squares about it */
  double within_level[TUTTI_LEVELS];              /* rows inside the interval of that level */
  double score, interval_width;                   /* of the interval of the options' level */
  double r2, width, calibration, area, least_nll; /* derived from them */
  double risk;
  struct tutti_ranked *ranked; /* [rows]: variance, absolute error */
};

static void add_target(struct output *sums, size_t row, double value) {
  double distance = value - sums->target_mean;
  sums->target_mean += distance / (double)(row + 1);
  sums->target_square += distance * (value - sums->target_mean);
}

/* `half` is half the width of the central interval in standard deviations. */
static void add_row(struct output *sums, const struct tutti_mixture *mixture, const struct tutti_moments *moments,
                    double within, double half, double value) {
  double error = value - moments->mean, deviation = sqrt(moments->variance), z = error / deviation;
  sums->square += error * error;
  sums->absolute += fabs(error);
  sums->nll_moments += tutti_gaussian_nll(moments->mean, moments->variance, value);
  sums->crps += tutti_mixture_crps(mixture, value);
  sums->crps_moments += tutti_gaussian_crps(moments->mean, moments->variance, value);
  tutti_bands_add(&sums->bounds, moments->mean, deviation, value);
  sums->aleatoric += moments->aleatoric;
  sums->epistemic += moments->epistemic;
  sums->within += within;
  sums->between += moments->epistemic - within;
  sums->inside += isnan(z) ? (double)NAN : fabs(z) <= half;
}

/* Add the quantiles that a row's value is below: those of the calibrator if it gives some, else those of the
   moments. */
static void add_quantiles(struct output *sums, const struct tutti_combiner *combiner,
                          const struct tutti_moments *moments, size_t cell, double value) {
  const double *quantiles = combiner->calibrated ? combiner->calibrated->quantiles : NULL;
  const double z = (value - moments->mean) / sqrt(moments->variance), cdf = tutti_normal_cdf(z);
  for (size_t i = 0; i < TUTTI_QUANTILES; i++) {
    const double quantile = quantiles ? quantiles[cell * TUTTI_QUANTILES + i] : tutti_quantile_at(i);
    const double place = quantiles ? value : cdf;
    sums->below[i] += isnan(place) || isnan(quantile) ? (double)NAN : place <= quantile;
  }
}

/* Add a row's intervals: those of the calibrator if it gives some, else those of the mixture. */
static void add_intervals(struct output *sums, const struct tutti_combiner *combiner,
                          const struct tutti_evaluation_options *options, const struct tutti_mixture *mixture,
                          size_t cell, double value) {
  const double *intervals = combiner->calibrated ? combiner->calibrated->intervals : NULL;
  size_t cells = combiner->pool->rows * combiner->pool->outputs;
  for (size_t l = 0; l < TUTTI_LEVELS; l++) {
    double level = tutti_level_at(options, l), ends[2];
    for (size_t end = 0; end < 2; end++)
      ends[end] = intervals ? intervals[2 * (l * cells + cell) + end]
                            : tutti_mixture_quantile(mixture, end ? 0.5 + level / 2 : 0.5 - level / 2);
    sums->within_level[l] += isnan(ends[0]) ? (double)NAN : ends[0] <= value && value <= ends[1];
    if (l < TUTTI_FIXED_LEVELS)
      continue;
    sums->score += tutti_interval_score(ends, level, value);
    sums->interval_width += ends[1] - ends[0];
  }
}

/* The members alone, and the mixture of their joint densities over all outputs of a row. */
struct joint {
  double mixture_nll, oracle_nll, average_nll, oracle_square;
  double *squares; /* [members]: summed over rows, averaged over outputs */
  double *nlls;    /* [members] of the current row */
};

static void add_joint(struct joint *joint, const struct tutti_combiner *combiner, size_t row) {
  size_t first = combiner->first, targets = combiner->targets;
  const double *values = combiner->pool->values + row * combiner->pool->outputs + first;
  double best_nll = INFINITY, best_square = INFINITY;
  for (size_t k = 0; k < combiner->members; k++) {
    const float *predicted = tutti_combiner_member_row(combiner, k, row) + 2 * first;
    double nll = 0, square = 0;
    for (size_t o = 0; o < targets; o++) {
      double mean = (double)predicted[2 * o], error = values[o] - mean;
      nll += tutti_gaussian_nll(mean, (double)predicted[2 * o + 1], values[o]);
      square += error * error / (double)targets;
    }
    joint->nlls[k] = nll;
    joint->average_nll += combiner->weights[k] * nll;
    joint->squares[k] += square;
    best_nll = fmin(best_nll, nll);
    best_square = fmin(best_square, square);
  }
  joint->mixture_nll +=
      isinf(best_nll) ? (double)NAN : tutti_joint_nll(combiner->members, combiner->weights, joint->nlls);
  joint->oracle_nll += isinf(best_nll) ? (double)NAN : best_nll;
  joint->oracle_square += best_square;
}

static double quantile_error(const struct output *sums, double rows) {
  double sum = 0;
  for (size_t i = 0; i < TUTTI_QUANTILES; i++)
    sum += fabs(sums->below[i] / rows - tutti_quantile_at(i));
  return sum / TUTTI_QUANTILES;
}

static void finish_output(struct output *sums, double rows, double half) {
  double *const means[] = {&sums->nll_moments,  &sums->square, &sums->absolute,  &sums->crps,
                           &sums->crps_moments, &sums->inside, &sums->aleatoric, &sums->epistemic,
                           &sums->between,      &sums->within, &sums->score,     &sums->interval_width};
  sums->r2 = 1 - sums->square / sums->target_square;
  for (size_t i = 0; i < sizeof means / sizeof *means; i++)
    *means[i] /= rows;
  for (size_t l = 0; l < TUTTI_LEVELS; l++)
    sums->within_level[l] /= rows;
  sums->risk = tutti_ranked_risk((size_t)rows, sums->ranked);
  sums->width = tutti_bands_width(&sums->bounds, half);
  sums->calibration = quantile_error(sums, rows);
  sums->area = tutti_bands_area(&sums->bounds);
  sums->least_nll = tutti_bands_least_nll(&sums->bounds);
}

/* --- metrics --- */

struct regressed {
  const struct tutti_combiner *combiner;
  struct output *outputs; /* [combiner->targets] */
  struct joint joint;
};

/* Over outputs: log likelihoods add up, all else is averaged. */
static double over_outputs(const struct regressed *of, size_t figure, double divisor) {
  double sum = 0;
  for (size_t o = 0; o < of->combiner->targets; o++)
    sum += METRIC_FIELD(&of->outputs[o], figure) / divisor;
  return sum;
}

static double sum_of_outputs(const void *of, size_t figure) { return over_outputs(of, figure, 1); }

static double mean_of_outputs(const void *of, size_t figure) {
  return over_outputs(of, figure, (double)((const struct regressed *)of)->combiner->targets);
}

static double root_of_outputs(const void *of, size_t figure) { return sqrt(mean_of_outputs(of, figure)); }

static double mean_of_joint(const void *of_, size_t sum) {
  const struct regressed *of = of_;
  return METRIC_FIELD(&of->joint, sum) / (double)of->combiner->pool->rows;
}

static double root_of_joint(const void *of, size_t sum) { return sqrt(mean_of_joint(of, sum)); }

static double average_rmse(const void *of_, size_t which) {
  const struct regressed *of = of_;
  double mean = 0;
  (void)which;
  for (size_t k = 0; k < of->combiner->members; k++)
    mean += of->combiner->weights[k] * sqrt(of->joint.squares[k] / (double)of->combiner->pool->rows);
  return mean;
}

/* Metrics of members are of those that were trained. */
static bool of_members(const void *of, size_t which) {
  (void)which;
  return !((const struct regressed *)of)->combiner->calibrated;
}

/* Does a member tell its own part of its uncertainty? */
static bool of_parts(const void *of, size_t which) {
  (void)which;
  return ((const struct regressed *)of)->combiner->parts;
}

#define OUTPUT(name) offsetof(struct output, name)
#define LEVEL(index) (offsetof(struct output, within_level) + (index) * sizeof(double))
#define JOINT(name) offsetof(struct joint, name)
static const struct metric_entry regression_metrics[] = {
    METRIC_SHOWN(IN_BRIEF, "nll", "nats", LOWER,
                 "of the mixture: -log sum_k w_k prod_d N(y_d; m_kd, s_kd^2), with the constant (1/2) log 2 pi",
                 mean_of_joint, JOINT(mixture_nll)),
    METRIC("nll-moments", "nats", LOWER, "of one Gaussian per output with the mixture's mean and total variance",
           sum_of_outputs, OUTPUT(nll_moments)),
    METRIC_SHOWN(IN_BRIEF, "rmse", "target", LOWER, "root of the mean squared error of the mean", root_of_outputs,
                 OUTPUT(square)),
    METRIC("mae", "target", LOWER, "mean absolute error of the mean", mean_of_outputs, OUTPUT(absolute)),
    METRIC("r2", "", HIGHER,
           "1 - squared error of the mean / squares about the targets' mean; of several targets, the mean of theirs",
           mean_of_outputs, OUTPUT(r2)),
    METRIC_SHOWN(IN_CURVES, "crps", "target", LOWER, "continuous ranked probability score of the mixture, below",
                 mean_of_outputs, OUTPUT(crps)),
    METRIC("crps-moments", "target", LOWER, "of the Gaussian with the mixture's moments", mean_of_outputs,
           OUTPUT(crps_moments)),
    METRIC("coverage", "fraction", NEITHER,
           "rows inside mean +- z total; z = Phi^-1((1 + level) / 2), `level` 0.95, which is the goal", mean_of_outputs,
           OUTPUT(inside)),
    METRIC("width", "target", LOWER, "mean width of the intervals of `coverage`", mean_of_outputs, OUTPUT(width)),
    METRIC("calibration-error", "fraction", LOWER,
           "mean over q = 0.05, 0.10, ..., 0.95 of abs(share of rows with Phi((y - mean)/total) <= q, minus q), "
           "or of those below the quantile that a calibrator of intervals gives",
           mean_of_outputs, OUTPUT(calibration)),
    METRIC(
        "coverage-50", "fraction", NEITHER,
        "rows inside the central interval of 50 % that `predict` gives, of the mixture's quantiles or the calibrator's",
        mean_of_outputs, LEVEL(0)),
    METRIC("coverage-80", "fraction", NEITHER, "likewise of 80 %", mean_of_outputs, LEVEL(1)),
    METRIC("coverage-90", "fraction", NEITHER, "likewise of 90 %", mean_of_outputs, LEVEL(2)),
    METRIC("coverage-95", "fraction", NEITHER, "likewise of 95 %", mean_of_outputs, LEVEL(3)),
    METRIC("interval-score", "target", LOWER,
           "mean score of these intervals [l, u] at `level`: u - l + 2/(1 - level) times the distance of a y outside",
           mean_of_outputs, OUTPUT(score)),
    METRIC("interval-width", "target", LOWER, "their mean width", mean_of_outputs, OUTPUT(interval_width)),
    METRIC("aurc", "target", LOWER,
           "area under risk over coverage: mean over n of the mean absolute error of the n rows with the least total "
           "variance; ties share their errors",
           mean_of_outputs, OUTPUT(risk)),
    METRIC("width-coverage-area", "target", LOWER,
           "area under mean width as a function of coverage, both grown by scaling the deviations: "
           "2 mean(s) mean(abs(y - mean)/s)",
           mean_of_outputs, OUTPUT(area)),
    METRIC("nll-min", "nats", LOWER,
           "NLL of the moments after the best single scaling c of all deviations: c^2 = mean z^2, "
           "NLL = mean log s + log c + 1/2 + (1/2) log 2 pi",
           sum_of_outputs, OUTPUT(least_nll)),
    METRIC("aleatoric", "target", NEITHER, "root of the mean aleatoric variance", root_of_outputs, OUTPUT(aleatoric)),
    METRIC("epistemic", "target", NEITHER, "root of the mean epistemic variance", root_of_outputs, OUTPUT(epistemic)),
    METRIC("epistemic-between", "target", NEITHER, "root of its mean part between the members", root_of_outputs,
           OUTPUT(between), .defined = of_parts),
    METRIC("epistemic-within", "target", NEITHER, "root of its mean part within the members, which they tell",
           root_of_outputs, OUTPUT(within), .defined = of_parts),
    METRIC_SHOWN(IN_CURVES, "oracle-nll", "nats", LOWER, "mean over rows of the lowest NLL of a member", mean_of_joint,
                 JOINT(oracle_nll), .defined = of_members),
    METRIC_SHOWN(IN_CURVES, "oracle-rmse", "target", LOWER, "root of the mean over rows of the lowest squared error",
                 root_of_joint, JOINT(oracle_square), .defined = of_members),
    METRIC_SHOWN(IN_CURVES, "average-nll", "nats", LOWER, "members' own NLL, averaged with their weights",
                 mean_of_joint, JOINT(average_nll), .defined = of_members),
    METRIC_SHOWN(IN_CURVES, "average-rmse", "target", LOWER, "members' own RMSE, averaged with their weights",
                 average_rmse, 0, .defined = of_members),
};
const struct metric_table metrics_of_regression = METRIC_TABLE(regression_metrics);

/* How often the target is below each quantile, over all outputs. */
static enum tutti_status add_reliability(tutti_context *context, const struct regressed *of,
                                         tutti_evaluation *evaluation) {
  static const char *const columns[] = {"level", "below"};
  double values[TUTTI_QUANTILES][2], cells = (double)(of->combiner->pool->rows * of->combiner->targets);
  for (size_t i = 0; i < TUTTI_QUANTILES; i++) {
    values[i][0] = tutti_quantile_at(i);
    values[i][1] = 0;
    for (size_t o = 0; o < of->combiner->targets; o++)
      values[i][1] += of->outputs[o].below[i] / cells;
  }
  return tutti_evaluation_add_table(context, evaluation, "reliability", TUTTI_QUANTILES, 2, columns, &values[0][0]);
}

enum tutti_status tutti_evaluate_regression(tutti_context *context, struct tutti_combiner *combiner,
                                            const struct tutti_evaluation_options *options,
                                            tutti_evaluation **evaluation) {
  enum tutti_status status;
  size_t targets = combiner->targets;
  struct tutti_ranked *ranked = NULL;
  double half = tutti_normal_quantile(0.5 + options->level / 2);
  struct regressed of = {.combiner = combiner};
  TUTTI_TRY_OUT(context, tutti_alloc(context, targets, sizeof *of.outputs, &of.outputs));
  TUTTI_TRY_OUT(context, tutti_alloc(context, combiner->members, sizeof(double), &of.joint.squares));
  TUTTI_TRY_OUT(context, tutti_alloc(context, combiner->members, sizeof(double), &of.joint.nlls));
  TUTTI_TRY_OUT(context, tutti_alloc(context, combiner->pool->rows, targets * sizeof *ranked, &ranked));
  for (size_t o = 0; o < targets; o++)
    of.outputs[o].ranked = ranked + o * combiner->pool->rows;
  for (size_t n = 0; n < combiner->pool->rows; n++) {
    TUTTI_TRY_OUT(context, tutti_combiner_go_on(context, n));
    for (size_t o = 0; o < targets; o++) {
      size_t output = combiner->first + o, cell = n * combiner->pool->outputs + output;
      double value = combiner->pool->values[cell];
      struct tutti_mixture mixture = tutti_combiner_mixture(combiner, n, output);
      double within;
      struct tutti_moments moments =
          tutti_combiner_moments(combiner, &mixture, n, output, (enum tutti_epistemic)options->epistemic, &within);
      add_target(&of.outputs[o], n, value);
      add_row(&of.outputs[o], &mixture, &moments, within, half, value);
      add_quantiles(&of.outputs[o], combiner, &moments, cell, value);
      add_intervals(&of.outputs[o], combiner, options, &mixture, cell, value);
      of.outputs[o].ranked[n] = (struct tutti_ranked){moments.variance, fabs(value - moments.mean)};
    }
    add_joint(&of.joint, combiner, n);
  }
  for (size_t o = 0; o < targets; o++)
    finish_output(&of.outputs[o], (double)combiner->pool->rows, half);
  TUTTI_TRY_OUT(context, tutti_evaluation_create(context, &metrics_of_regression, &of, evaluation));
  TUTTI_TRY_OUT(context, add_reliability(context, &of, *evaluation));
out:
  tutti_free(ranked);
  tutti_free(of.outputs);
  tutti_free(of.joint.squares);
  tutti_free(of.joint.nlls);
  return status;
}
