/* backend trees: Tutti's own random forests and extremely randomised trees (Breiman, 2001; Geurts, Ernst & Wehenkel,
   2006), and boosted trees by XGBoost (Chen & Guestrin, 2016). It takes no networks: the space may be `fixed`, and the
   search is over the parameters here (Lacoste et al., 2014: see ini/smbo).

   Forests: classes are split by the Gini impurity. A probability is the leaves' share of the class, averaged over
   the trees and one extra tree that gives all classes the same share. So no class has a probability of 0, even if
   no leaf has met it, and the most probable class stays the same. Values are the trees' mean. The variance of a
   Gaussian head is the variance between the trees' means plus the mean of the variances in their leaves; the extra
   tree counts in both with the variance of all training rows. So no value is certain, even where all rows of the
   leaves are alike, as the zeros of counts are. `prior` is the number of extra trees.

   Boosting: XGBoost's own defaults regularise leaves (l2 = 1) and splits (min_child = 1, its min_child_weight), and are
   the defaults here; with both at 0 it is plain gradient boosting with Newton steps, as the recipes of ini/smbo have
   it. The loss of values is (1 - a) times half the squared error plus a times the absolute error of standardised
   targets, with `absolute` = a; the leaves use the squared error's curvature for both. The variance of a Gaussian head
   is the mean squared error on rows left out of the training, the same for all rows. Each of several targets has its
   own model. */
#include "trees/grove.h"

static const char *const trees_methods[] = {
    [GROVE_RANDOM_FOREST] = "random-forest", [GROVE_EXTRA_TREES] = "extra-trees", [GROVE_BOOSTING] = "boosting", NULL};

static const struct tutti_param trees_params[] = {
    TUTTI_CHOICE(struct grove_config, method, "random-forest", trees_methods,
                 "Splits at the best of all thresholds, splits at drawn thresholds of which the best column counts, or "
                 "trees that "
                 "each mend what those before got wrong (needs XGBoost).",
                 .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_INTEGER(struct grove_config, trees, "100", 1, 1000000,
                  "Trees of the forest; rounds of boosting, which grow a tree for each of more than two classes.",
                  .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct grove_config, features, "1", 0, 1,
               "Share of the inputs that are tried at a split, drawn anew for each; at least one.",
               .flags = TUTTI_PARAM_SEARCHABLE, .min_open = true),
    TUTTI_BOOL(struct grove_config, bootstrap, "yes",
               "Forests: grow each tree on as many rows drawn with replacement; no: on all.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_INTEGER(struct grove_config, min_leaf, "1", 1, 1e9, "Forests: fewest rows on each side of a split.",
                  .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_INTEGER(struct grove_config, max_depth, "0", 0, 1000,
                  "Splits between the root and a leaf at most; 0: no limit, or 6 for boosting.",
                  .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct grove_config, learning_rate, "0.1", 0, 1, "Boosting: what each tree's values are multiplied by.",
               .flags = TUTTI_PARAM_SEARCHABLE, .min_open = true),
    TUTTI_REAL(struct grove_config, absolute, "0", 0, 1,
               "Boosting of values: share of the absolute error in the loss; the rest is squared error.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct grove_config, l2, "1", 0, TUTTI_NO_LIMIT, "Boosting: L2 penalty of the leaves' values.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct grove_config, min_child, "1", 0, TUTTI_NO_LIMIT,
               "Boosting: least sum of the loss's second derivatives on each side of a split (XGBoost's "
               "min_child_weight); of values it is a number of rows.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_REAL(struct grove_config, prior, "1", 0, TUTTI_NO_LIMIT,
               "Forests: extra trees that know nothing. They give all classes the same share, and values the variance "
               "that all training rows have; 0: none: classes that no leaf has are impossible, and values certain "
               "whose leaves have one value.",
               .flags = TUTTI_PARAM_SEARCHABLE),
    TUTTI_INTEGER(struct grove_config, folds, "5", 2, 100,
                  "Boosting with a Gaussian head: folds of the training rows for the variance; each costs a training."),
};

static bool backend_supports_trees(void *instance, enum tutti_op op) {
  (void)instance, (void)op;
  return false;
}

static bool boosts_trees(const struct tutti_job *job) {
  return ((const struct grove_config *)job->config)->method == GROVE_BOOSTING;
}

static enum tutti_status backend_check_trees(void *instance, tutti_context *context, const struct tutti_job *job) {
  (void)instance;
  TUTTI_TRY(context, learner_check(context, job));
  return boosts_trees(job) ? grove_check_boosting(context) : TUTTI_OK;
}

static enum tutti_status backend_train_trees(void *instance, tutti_context *context, const struct tutti_job *job,
                                             struct tutti_outcome *outcome) {
  enum tutti_status status = TUTTI_OK;
  struct learner_rows rows = {0};
  tutti_tensors *weights = NULL;
  TUTTI_TRY_OUT(context, backend_check_trees(instance, context, job));
  TUTTI_TRY_OUT(context, learner_begin(context, job, &rows, outcome));
  if (outcome->state == TUTTI_STATE_FAILED)
    goto out;
  TUTTI_TRY_OUT(context, tutti_tensors_create(context, &weights));
  for (size_t output = 0; output < learner_models(job->task); output++)
    TUTTI_TRY_OUT(context, (boosts_trees(job) ? grove_fit_boosting : grove_fit_forest)(
                               context, job->config, job->task, job->seed, &rows, output, weights));
  learner_finish(outcome, weights);
  weights = NULL;
out:
  tutti_tensors_destroy(weights);
  learner_rows_close(&rows);
  return status;
}

static enum tutti_status backend_predict_trees(void *instance, tutti_context *context, const struct tutti_job *job,
                                               const tutti_tensors *weights, const tutti_split *split, float *out) {
  enum tutti_status status = TUTTI_OK;
  struct learner_rows rows = {0};
  (void)instance;
  TUTTI_TRY_OUT(context, learner_rows_open(context, job->task, split, &rows));
  for (size_t output = 0; output < learner_models(job->task); output++)
    TUTTI_TRY_OUT(context, (boosts_trees(job) ? grove_predict_boosting : grove_predict_forest)(
                               context, job->config, job->task, weights, &rows, output, out));
out:
  learner_rows_close(&rows);
  return status;
}

static enum tutti_status formula_of_trees(tutti_context *context, const struct tutti_job *job,
                                          const tutti_tensors *tensors, size_t output, tutti_formula *formula,
                                          struct tutti_predicted_terms *terms) {
  return (boosts_trees(job) ? grove_formula_boosting : grove_formula_forest)(context, job->config, job->task, tensors,
                                                                             output, formula, terms);
}

static enum tutti_status backend_formula_trees(void *instance, tutti_context *context, const struct tutti_job *job,
                                               const tutti_tensors *weights, tutti_formula *formula,
                                               struct tutti_predicted_terms *terms) {
  (void)instance;
  return learner_formulas(context, job, weights, formula_of_trees, formula, terms);
}

static const struct tutti_backend_ops trees_ops = {
    .size = sizeof(struct tutti_backend_ops),
    .supports = backend_supports_trees,
    .train = backend_train_trees,
    .predict = backend_predict_trees,
    .honours = TUTTI_JOB_CLASS_WEIGHTS,
    .check = backend_check_trees,
    .formula = backend_formula_trees,
};

static const struct tutti_descriptor trees_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_BACKEND, "trees"),
    .version = "1.0",
    .summary = "random forests, extremely randomised trees, boosted trees (XGBoost)",
    .source =
        "Breiman, Random forests, 2001; Geurts, Ernst & Wehenkel, Extremely randomized trees, 2006; Chen & Guestrin, "
        "XGBoost: a scalable tree boosting system, 2016",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(trees_params, struct grove_config),
    .ops = &trees_ops,
};

TUTTI_PLUGIN(trees_descriptor)
