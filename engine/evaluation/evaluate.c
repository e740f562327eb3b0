/* evaluate.c - an ensemble's metrics on a split, and its predictions with their uncertainty. */
#include <math.h>
#include <string.h>

#include "calibrate_impl.h"
#include "evaluate_impl.h"
#include "core/score/metrics_impl.h"

static const char *const epistemic_names[] = {TUTTI_EPISTEMIC_CHOICES};

static const struct tutti_param table[] = {
    TUTTI_CHOICE(
        struct tutti_evaluation_options, epistemic, "picks", epistemic_names,
        "The variance of the members' means, summed squares over all N picks, is divided by N - 1 (picks), by N "
        "(population), or by what makes it unbiased for members of unequal weights (unbiased).",
        .flags = TUTTI_PARAM_AFTER_SIZE),
    TUTTI_INTEGER(struct tutti_evaluation_options, bins, "15", 1, 100000,
                  "Bins of equal width of the expected calibration error."),
    TUTTI_REAL(struct tutti_evaluation_options, level, "0.95", 0, 1,
               "Probability of the central intervals whose coverage and width are told.", .min_open = true,
               .max_open = true),
    TUTTI_INTEGER(
        struct tutti_evaluation_options, folds, "5", 0, 1000,
        "Folds over the rows that a calibrator is fitted to, by which it is refused where it does not help; 0 or 1: "
        "it is taken as it is."),
};
static const struct tutti_params params = TUTTI_PARAMS(table, struct tutti_evaluation_options);

const struct tutti_params *tutti_evaluation_params(void) { return &params; }

const char *tutti_evaluation_needs(const char *key, enum tutti_task_kind kind, bool calibrates) {
  bool values = kind == TUTTI_TASK_REGRESSION;
  if (strcmp(key, "bins") == 0)
    return values ? "a classification" : NULL;
  if (strcmp(key, "epistemic") == 0 || strcmp(key, "level") == 0)
    return values ? NULL : "a regression";
  return strcmp(key, "folds") != 0 || calibrates ? NULL : "a calibrator that is fitted";
}

static enum tutti_status checked(tutti_context *context, const struct tutti_evaluation_options *given,
                                 struct tutti_evaluation_options *options) {
  *options = (struct tutti_evaluation_options)TUTTI_EVALUATION_DEFAULTS;
  if (given)
    memcpy(options, given, given->size < sizeof *options ? given->size : sizeof *options);
  if (options->bins < 1)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "the calibration error needs at least 1 bin, found %lld",
                      (long long)options->bins);
  if (!(options->level > 0 && options->level < 1))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "the level of intervals is to be inside (0, 1), found %g",
                      options->level);
  return TUTTI_OK;
}

static enum tutti_status check_targets(tutti_context *context, const struct tutti_pool *pool) {
  bool classes = pool->kind == TUTTI_TASK_CLASSIFICATION;
  if (pool->rows == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "an ensemble cannot be evaluated on a split without rows");
  if (!(classes ? (const void *)pool->labels : (const void *)pool->values))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "an ensemble cannot be evaluated on rows without targets");
  for (size_t n = 0; classes && n < pool->rows; n++)
    if (pool->labels[n] < 0 || (size_t)pool->labels[n] >= pool->outputs)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "row %zu: expected a class from 0 to %zu, found %d", n,
                        pool->outputs - 1, (int)pool->labels[n]);
  return TUTTI_OK;
}

enum { ALL_TARGETS = -1 };

/* Of an ensemble that is calibrated: without the metrics of members. */
static enum tutti_status evaluate(tutti_context *context, const struct tutti_pool *pool, const tutti_ensemble *ensemble,
                                  const struct tutti_evaluation_options *given,
                                  const struct tutti_calibrated *calibrated, ptrdiff_t target,
                                  tutti_evaluation **evaluation) {
  enum tutti_status status;
  struct tutti_combiner combiner = {0};
  struct tutti_evaluation_options options;
  *evaluation = NULL;
  TUTTI_TRY_OUT(context, checked(context, given, &options));
  TUTTI_TRY_OUT(context, tutti_combiner_init(context, pool, ensemble, &combiner));
  combiner.calibrated = calibrated;
  if (target != ALL_TARGETS) {
    combiner.first = (size_t)target;
    combiner.targets = 1;
  }
  TUTTI_TRY_OUT(context, check_targets(context, pool));
  if (pool->kind == TUTTI_TASK_CLASSIFICATION)
    TUTTI_TRY_OUT(context, tutti_evaluate_classification(context, &combiner, &options, evaluation));
  else
    TUTTI_TRY_OUT(context, tutti_evaluate_regression(context, &combiner, &options, evaluation));
out:
  tutti_combiner_release(&combiner);
  return status;
}

enum tutti_status tutti_evaluate(tutti_context *context, const struct tutti_pool *pool, const tutti_ensemble *ensemble,
                                 const struct tutti_evaluation_options *options, tutti_evaluation **evaluation) {
  return evaluate(context, pool, ensemble, options, NULL, ALL_TARGETS, evaluation);
}

enum tutti_status tutti_evaluate_target(tutti_context *context, const struct tutti_pool *pool,
                                        const tutti_ensemble *ensemble, const struct tutti_evaluation_options *options,
                                        size_t target, tutti_evaluation **evaluation) {
  return evaluate(context, pool, ensemble, options, NULL, (ptrdiff_t)target, evaluation);
}

enum tutti_status tutti_evaluate_calibrated(tutti_context *context, const struct tutti_calibrated *calibrated,
                                            const struct tutti_evaluation_options *options,
                                            tutti_evaluation **evaluation) {
  return evaluate(context, &calibrated->pool, calibrated->ensemble, options, calibrated, ALL_TARGETS, evaluation);
}

enum tutti_status tutti_evaluate_calibrated_target(tutti_context *context, const struct tutti_calibrated *calibrated,
                                                   const struct tutti_evaluation_options *options, size_t target,
                                                   tutti_evaluation **evaluation) {
  return evaluate(context, &calibrated->pool, calibrated->ensemble, options, calibrated, (ptrdiff_t)target, evaluation);
}

/* A vote is of labels, of which each member is certain: all the entropy of its shares is disagreement. */
static void predict_classes(struct tutti_combiner *combiner, size_t row, void *out_) {
  struct tutti_uncertainty *out = out_;
  size_t classes = combiner->pool->outputs;
  bool vote = combiner->combination == TUTTI_COMBINATION_VOTE;
  double expected = tutti_combiner_probabilities(combiner, row) - tutti_combiner_within(combiner, row);
  double aleatoric = vote ? 0 : metrics_positive(expected);
  const double *means = tutti_combiner_classes(combiner);
  double total = tutti_entropy(classes, means);
  for (size_t c = 0; c < classes; c++)
    out[c] = (struct tutti_uncertainty){means[c], aleatoric, metrics_positive(total - aleatoric), total};
}

static void predict_values(struct tutti_combiner *combiner, size_t row, enum tutti_epistemic epistemic, void *out_) {
  struct tutti_uncertainty *out = out_;
  for (size_t o = 0; o < combiner->pool->outputs; o++) {
    struct tutti_mixture mixture = tutti_combiner_mixture(combiner, row, o);
    struct tutti_moments moments = tutti_combiner_moments(combiner, &mixture, row, o, epistemic, NULL);
    out[o] = (struct tutti_uncertainty){moments.mean, sqrt(moments.aleatoric), sqrt(moments.epistemic),
                                        sqrt(moments.variance)};
  }
}

static void part_classes(struct tutti_combiner *combiner, size_t row, void *out_) {
  struct tutti_epistemic_parts *out = out_;
  double expected = tutti_combiner_probabilities(combiner, row), within = tutti_combiner_within(combiner, row);
  const double *means = tutti_combiner_classes(combiner);
  bool vote = combiner->combination == TUTTI_COMBINATION_VOTE;
  double between = tutti_entropy(combiner->pool->outputs, means) - (vote ? 0 : expected);
  for (size_t c = 0; c < combiner->pool->outputs; c++)
    out[c] = (struct tutti_epistemic_parts){metrics_positive(between), within};
}

static void part_values(struct tutti_combiner *combiner, size_t row, enum tutti_epistemic epistemic, void *out_) {
  struct tutti_epistemic_parts *out = out_;
  for (size_t o = 0; o < combiner->pool->outputs; o++) {
    struct tutti_mixture mixture = tutti_combiner_mixture(combiner, row, o);
    double within, between = tutti_mixture_moments(&mixture, epistemic).epistemic;
    (void)tutti_combiner_moments(combiner, &mixture, row, o, epistemic, &within);
    out[o] = (struct tutti_epistemic_parts){sqrt(between), sqrt(within)};
  }
}

/* Fill out[rows][outputs], entries of `size` bytes, row by row; *told: do all members tell their own part? */
static enum tutti_status visit_rows(tutti_context *context, const struct tutti_pool *pool,
                                    const tutti_ensemble *ensemble, const struct tutti_evaluation_options *given,
                                    void (*classes)(struct tutti_combiner *combiner, size_t row, void *out),
                                    void (*values)(struct tutti_combiner *combiner, size_t row,
                                                   enum tutti_epistemic epistemic, void *out),
                                    size_t size, void *out, bool *told) {
  enum tutti_status status;
  struct tutti_combiner combiner = {0};
  struct tutti_evaluation_options options;
  TUTTI_TRY_OUT(context, checked(context, given, &options));
  TUTTI_TRY_OUT(context, tutti_combiner_init(context, pool, ensemble, &combiner));
  for (size_t n = 0; n < pool->rows; n++) {
    TUTTI_TRY_OUT(context, tutti_combiner_go_on(context, n));
    void *row = (char *)out + n * pool->outputs * size;
    if (pool->kind == TUTTI_TASK_CLASSIFICATION)
      classes(&combiner, n, row);
    else
      values(&combiner, n, (enum tutti_epistemic)options.epistemic, row);
  }
  *told = combiner.parts;
out:
  tutti_combiner_release(&combiner);
  return status;
}

enum tutti_status tutti_ensemble_predict(tutti_context *context, const struct tutti_pool *pool,
                                         const tutti_ensemble *ensemble, const struct tutti_evaluation_options *options,
                                         struct tutti_uncertainty *predicted) {
  bool told;
  return visit_rows(context, pool, ensemble, options, predict_classes, predict_values, sizeof *predicted, predicted,
                    &told);
}

enum tutti_status tutti_ensemble_epistemic_parts(tutti_context *context, const struct tutti_pool *pool,
                                                 const tutti_ensemble *ensemble,
                                                 const struct tutti_evaluation_options *options,
                                                 struct tutti_epistemic_parts *parts, bool *told) {
  return visit_rows(context, pool, ensemble, options, part_classes, part_values, sizeof *parts, parts, told);
}
