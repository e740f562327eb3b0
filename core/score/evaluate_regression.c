/* evaluate_regression.c - metrics of an ensemble of regressors and of its members. */
#include <math.h>

#include "evaluate_impl.h"
#include "metrics_impl.h"

/* Levels 0.05, 0.10, ..., 0.95 at which observed and expected frequencies are compared. */
enum { LEVELS = 19 };

/* Sums over the rows of one output. */
struct sums {
  double nll_moments, square, absolute, crps, crps_moments;
  double deviation, log_deviation, ratio, square_ratio; /* of the standard deviation s; of |y - mean| / s */
  double aleatoric, epistemic;                          /* variances */
  double inside;                                        /* rows inside the central interval */
  double below[LEVELS];                                 /* rows whose value is below that quantile */
  double target_mean, target_square;                    /* of the targets: running mean, squares about it */
};

static void add_target(struct sums *sums, size_t row, double value) {
  double distance = value - sums->target_mean;
  sums->target_mean += distance / (double)(row + 1);
  sums->target_square += distance * (value - sums->target_mean);
}

/* `half` is half the width of the central interval in standard deviations. */
static void add_row(struct sums *sums, const struct tutti_mixture *mixture, const struct tutti_moments *moments,
                    double half, double value) {
  double error = value - moments->mean, deviation = sqrt(moments->variance), z = error / deviation;
  sums->square += error * error;
  sums->absolute += fabs(error);
  sums->nll_moments += tutti_gaussian_nll(moments->mean, moments->variance, value);
  sums->crps += tutti_mixture_crps(mixture, value);
  sums->crps_moments += tutti_gaussian_crps(moments->mean, moments->variance, value);
  sums->deviation += deviation;
  sums->log_deviation += log(deviation);
  sums->ratio += fabs(z);
  sums->square_ratio += z * z;
  sums->aleatoric += moments->aleatoric;
  sums->epistemic += moments->epistemic;
  sums->inside += isnan(z) ? (double)NAN : fabs(z) <= half;
  double cdf = tutti_normal_cdf(z);
  for (int i = 0; i < LEVELS; i++)
    sums->below[i] += isnan(z) ? (double)NAN : cdf <= (i + 1) / (LEVELS + 1.0);
}

static double calibration_error(const struct sums *sums, double rows) {
  double sum = 0;
  for (int i = 0; i < LEVELS; i++)
    sum += fabs(sums->below[i] / rows - (i + 1) / (LEVELS + 1.0));
  return sum / LEVELS;
}

/* Members alone, and the mixture of their joint densities over all outputs of a row. */
struct joint {
  double mixture_nll, oracle_nll, average_nll, oracle_square;
  double *squares; /* [members]: summed over rows, averaged over outputs */
  double *nlls;    /* [members] of the row at hand */
};

static void add_joint(struct joint *joint, const struct tutti_combiner *combiner, size_t row) {
  size_t outputs = combiner->pool->outputs;
  const double *values = combiner->pool->values + row * outputs;
  double best_nll = INFINITY, best_square = INFINITY, density = 0;
  for (size_t k = 0; k < combiner->members; k++) {
    const float *predicted = tutti_combiner_member_row(combiner, k, row);
    double nll = 0, square = 0;
    for (size_t o = 0; o < outputs; o++) {
      double mean = (double)predicted[2 * o], error = values[o] - mean;
      nll += tutti_gaussian_nll(mean, (double)predicted[2 * o + 1], values[o]);
      square += error * error / (double)outputs;
    }
    joint->nlls[k] = nll;
    joint->average_nll += combiner->weights[k] * nll;
    joint->squares[k] += square;
    best_nll = fmin(best_nll, nll);
    best_square = fmin(best_square, square);
  }
  /* Densities relative to the best member's, so that they neither overflow nor all vanish. */
  for (size_t k = 0; k < combiner->members; k++)
    density += combiner->weights[k] * exp(best_nll - joint->nlls[k]);
  joint->mixture_nll += best_nll - log(density);
  joint->oracle_nll += isinf(best_nll) ? (double)NAN : best_nll;
  joint->oracle_square += best_square;
}

/* Means over outputs (likelihoods: sums) of each output's metrics. */
static void report(const struct tutti_combiner *combiner, const struct sums *sums, const struct joint *joint,
                   double half, struct tutti_evaluation *evaluation) {
  size_t outputs = combiner->pool->outputs;
  double rows = (double)combiner->pool->rows, d = (double)outputs;
  double nll_moments = 0, square = 0, absolute = 0, r2 = 0, crps = 0, crps_moments = 0, inside = 0, width = 0;
  double calibration = 0, area = 0, nll_least = 0, aleatoric = 0, epistemic = 0, average_rmse = 0;
  for (size_t o = 0; o < outputs; o++) {
    const struct sums *of = &sums[o];
    nll_moments += of->nll_moments / rows;
    square += of->square / rows / d;
    absolute += of->absolute / rows / d;
    r2 += (1 - of->square / of->target_square) / d;
    crps += of->crps / rows / d;
    crps_moments += of->crps_moments / rows / d;
    inside += of->inside / rows / d;
    width += 2 * half * of->deviation / rows / d;
    calibration += calibration_error(of, rows) / d;
    area += 2 * (of->deviation / rows) * (of->ratio / rows) / d;
    nll_least +=
        of->log_deviation / rows + tutti_gaussian_nll(0, of->square_ratio / rows, sqrt(of->square_ratio / rows));
    aleatoric += of->aleatoric / rows / d;
    epistemic += of->epistemic / rows / d;
  }
  for (size_t k = 0; k < combiner->members; k++)
    average_rmse += combiner->weights[k] * sqrt(joint->squares[k] / rows);
  tutti_evaluation_add(evaluation, "nll", "nats", TUTTI_BETTER_LOWER, joint->mixture_nll / rows);
  tutti_evaluation_add(evaluation, "nll-moments", "nats", TUTTI_BETTER_LOWER, nll_moments);
  tutti_evaluation_add(evaluation, "rmse", "target", TUTTI_BETTER_LOWER, sqrt(square));
  tutti_evaluation_add(evaluation, "mae", "target", TUTTI_BETTER_LOWER, absolute);
  tutti_evaluation_add(evaluation, "r2", "", TUTTI_BETTER_HIGHER, r2);
  tutti_evaluation_add(evaluation, "crps", "target", TUTTI_BETTER_LOWER, crps);
  tutti_evaluation_add(evaluation, "crps-moments", "target", TUTTI_BETTER_LOWER, crps_moments);
  tutti_evaluation_add(evaluation, "coverage", "fraction", TUTTI_BETTER_NEITHER, inside);
  tutti_evaluation_add(evaluation, "width", "target", TUTTI_BETTER_LOWER, width);
  tutti_evaluation_add(evaluation, "calibration-error", "fraction", TUTTI_BETTER_LOWER, calibration);
  tutti_evaluation_add(evaluation, "width-coverage-area", "target", TUTTI_BETTER_LOWER, area);
  tutti_evaluation_add(evaluation, "nll-min", "nats", TUTTI_BETTER_LOWER, nll_least);
  tutti_evaluation_add(evaluation, "aleatoric", "target", TUTTI_BETTER_NEITHER, sqrt(aleatoric));
  tutti_evaluation_add(evaluation, "epistemic", "target", TUTTI_BETTER_NEITHER, sqrt(epistemic));
  tutti_evaluation_add(evaluation, "oracle-nll", "nats", TUTTI_BETTER_LOWER, joint->oracle_nll / rows);
  tutti_evaluation_add(evaluation, "oracle-rmse", "target", TUTTI_BETTER_LOWER, sqrt(joint->oracle_square / rows));
  tutti_evaluation_add(evaluation, "average-nll", "nats", TUTTI_BETTER_LOWER, joint->average_nll / rows);
  tutti_evaluation_add(evaluation, "average-rmse", "target", TUTTI_BETTER_LOWER, average_rmse);
}

enum tutti_status tutti_evaluate_regression(tutti_context *context, struct tutti_combiner *combiner,
                                            const struct tutti_evaluation_options *options,
                                            struct tutti_evaluation *evaluation) {
  enum tutti_status status;
  size_t outputs = combiner->pool->outputs;
  double half = tutti_normal_quantile(0.5 + options->level / 2);
  struct sums *sums = NULL;
  struct joint joint = {0};
  TUTTI_TRY_OUT(context, tutti_alloc(context, outputs, sizeof *sums, &sums));
  TUTTI_TRY_OUT(context, tutti_alloc(context, combiner->members, sizeof(double), &joint.squares));
  TUTTI_TRY_OUT(context, tutti_alloc(context, combiner->members, sizeof(double), &joint.nlls));
  for (size_t n = 0; n < combiner->pool->rows; n++) {
    for (size_t o = 0; o < outputs; o++) {
      double value = combiner->pool->values[n * outputs + o];
      struct tutti_mixture mixture = tutti_combiner_mixture(combiner, n, o);
      struct tutti_moments moments = tutti_mixture_moments(&mixture, (enum tutti_epistemic)options->epistemic);
      add_target(&sums[o], n, value);
      add_row(&sums[o], &mixture, &moments, half, value);
    }
    add_joint(&joint, combiner, n);
  }
  report(combiner, sums, &joint, half, evaluation);
out:
  tutti_free(sums);
  tutti_free(joint.squares);
  tutti_free(joint.nlls);
  return status;
}
