/* forest.c - Tutti's own forests as a learner: rows in float64; leaves are shares of classes or moments of values. */
#include "plugins/shared/forest/forest_impl.h"
#include "grove.h"

#include <math.h>
#include <string.h>

/* --- fitting ----------------------------------------------------------------------------------------------------- */

static enum tutti_status copy_inputs(tutti_context *context, const struct learner_rows *rows, double **vectors) {
  TUTTI_TRY(context, tutti_alloc(context, rows->count, rows->features * sizeof **vectors, vectors));
  for (size_t i = 0; i < rows->count * rows->features; i++)
    (*vectors)[i] = (double)rows->inputs[i];
  return TUTTI_OK;
}

/* One forest a seed: several outputs have several forests. */
static struct forest_settings settings_of(const struct grove_config *config, uint64_t seed, size_t output) {
  struct tutti_random random;
  tutti_random_init(&random, seed, "forest of output", output);
  return (struct forest_settings){.trees = (size_t)config->trees,
                                  .splitter = config->method == GROVE_EXTRA_TREES ? FOREST_RANDOM : FOREST_BEST,
                                  .features = config->features,
                                  .min_leaf = (size_t)config->min_leaf,
                                  .min_split = 2,
                                  .max_depth = (size_t)config->max_depth,
                                  .bootstrap = config->bootstrap,
                                  .seed = tutti_random_u64(&random)};
}

static enum tutti_status keep(tutti_context *context, const struct forest *forest, size_t output,
                              tutti_tensors *tensors) {
  size_t nodes = forest->roots[forest->trees];
  double *thresholds, *moments;
  float *shares;
  int32_t *columns, *children, *leaves, *classes;
  int64_t *roots;
  TUTTI_TRY(context,
            learner_add(context, tensors, output, "roots", TUTTI_I64, 1, (size_t[]){forest->trees + 1}, &roots));
  TUTTI_TRY(context, learner_add(context, tensors, output, "thresholds", TUTTI_F64, 1, &nodes, &thresholds));
  TUTTI_TRY(context, learner_add(context, tensors, output, "columns", TUTTI_I32, 1, &nodes, &columns));
  TUTTI_TRY(context, learner_add(context, tensors, output, "children", TUTTI_I32, 1, &nodes, &children));
  for (size_t t = 0; t <= forest->trees; t++)
    roots[t] = (int64_t)forest->roots[t];
  for (size_t n = 0; n < nodes; n++) {
    thresholds[n] = forest->nodes[n].threshold;
    columns[n] = (int32_t)forest->nodes[n].column;
    children[n] = (int32_t)forest->nodes[n].child;
  }
  if (forest->class_count == 0) {
    TUTTI_TRY(context, learner_add(context, tensors, output, "moments", TUTTI_F64, 2, (size_t[]){nodes, 2}, &moments));
    for (size_t n = 0; n < nodes; n++) {
      moments[2 * n] = forest->moments[n].mean * forest->scale;
      moments[2 * n + 1] = forest->moments[n].variance * forest->scale * forest->scale;
    }
    return TUTTI_OK;
  }
  TUTTI_TRY(context, learner_add(context, tensors, output, "leaves", TUTTI_I32, 2, (size_t[]){nodes, 2}, &leaves));
  TUTTI_TRY(context, learner_add(context, tensors, output, "classes", TUTTI_I32, 1, &forest->share_count, &classes));
  TUTTI_TRY(context, learner_add(context, tensors, output, "shares", TUTTI_F32, 1, &forest->share_count, &shares));
  for (size_t n = 0; n < nodes; n++) {
    bool leaf = forest->nodes[n].threshold == INFINITY;
    leaves[2 * n] = leaf ? (int32_t)forest->leaves[n].first : 0;
    leaves[2 * n + 1] = leaf ? (int32_t)forest->leaves[n].count : 0;
  }
  for (size_t s = 0; s < forest->share_count; s++) {
    classes[s] = (int32_t)forest->shares[s].class;
    shares[s] = forest->shares[s].share;
  }
  return TUTTI_OK;
}

static double variance_of(size_t count, const double *values) {
  double mean = 0, squares = 0;
  for (size_t i = 0; i < count; i++)
    mean += values[i] / (double)count;
  for (size_t i = 0; i < count; i++)
    squares += (values[i] - mean) * (values[i] - mean);
  return squares / (double)count;
}

enum tutti_status grove_fit_forest(tutti_context *context, const struct grove_config *config,
                                   const struct tutti_task *task, uint64_t seed, const struct learner_rows *rows,
                                   size_t output, tutti_tensors *tensors) {
  enum tutti_status status = TUTTI_OK;
  const struct forest_settings settings = settings_of(config, seed, output);
  struct forest forest = {.trees = 0};
  double *vectors = NULL, *values = NULL;
  uint32_t *labels = NULL;
  TUTTI_TRY_OUT(context, copy_inputs(context, rows, &vectors));
  if (task->kind == TUTTI_TASK_CLASSIFICATION) {
    const struct forest_data data = {rows->count, rows->features, vectors, NULL};
    TUTTI_TRY_OUT(context, tutti_alloc(context, rows->count, sizeof *labels, &labels));
    for (size_t i = 0; i < rows->count; i++)
      labels[i] = (uint32_t)rows->labels[i];
    const struct forest_labels all = {task->outputs, labels, rows->class_weights};
    TUTTI_TRY_OUT(context, forest_grow_classes(context, &settings, &data, &all, &forest));
  } else {
    TUTTI_TRY_OUT(context, tutti_alloc(context, rows->count, sizeof *values, &values));
    for (size_t i = 0; i < rows->count; i++)
      values[i] = (double)rows->targets[i * task->outputs + output];
    const struct forest_data data = {rows->count, rows->features, vectors, values};
    TUTTI_TRY_OUT(context, forest_grow(context, &settings, &data, &forest));
    if (task->head == TUTTI_OP_HEAD_GAUSSIAN)
      TUTTI_TRY_OUT(context, learner_keep_variance(context, tensors, output, variance_of(rows->count, values)));
  }
  TUTTI_TRY_OUT(context, keep(context, &forest, output, tensors));
out:
  forest_clear(&forest);
  tutti_free(vectors);
  tutti_free(values);
  tutti_free(labels);
  return status;
}

/* --- the forest again -------------------------------------------------------------------------------------------- */

static enum tutti_status not_a_forest(tutti_context *context) {
  return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "weights: the trees are no trees of this task's inputs");
}

/* A node of a tree leads only to later nodes, so that every row arrives at a leaf. */
static bool are_trees(const struct forest *forest) {
  for (size_t t = 0; t < forest->trees; t++) {
    const struct forest_node *nodes = forest->nodes + forest->roots[t];
    size_t count = forest->roots[t + 1] - forest->roots[t];
    for (size_t n = 0; n < count; n++) {
      bool leaf = nodes[n].child == n && nodes[n].threshold == INFINITY && nodes[n].column < forest->dimension;
      bool inner = nodes[n].child > n && nodes[n].child + (size_t)1 < count && nodes[n].column < forest->dimension &&
                   isfinite(nodes[n].threshold);
      if (!leaf && !inner)
        return false;
    }
  }
  return true;
}

static bool are_roots(const struct forest *forest, size_t nodes) {
  bool valid = forest->trees > 0 && forest->roots[0] == 0 && forest->roots[forest->trees] == nodes;
  for (size_t t = 0; valid && t < forest->trees; t++)
    valid = forest->roots[t] < forest->roots[t + 1] && forest->roots[t + 1] <= nodes;
  return valid;
}

static enum tutti_status open_nodes(tutti_context *context, const tutti_tensors *tensors, size_t output,
                                    struct forest *forest) {
  const struct tutti_tensor *roots, *thresholds, *columns, *children;
  TUTTI_TRY(context, learner_find(context, tensors, output, "roots", TUTTI_I64, 1, (size_t[]){LEARNER_ANY}, &roots));
  TUTTI_TRY(context,
            learner_find(context, tensors, output, "thresholds", TUTTI_F64, 1, (size_t[]){LEARNER_ANY}, &thresholds));
  size_t nodes = thresholds->shape[0];
  TUTTI_TRY(context, learner_find(context, tensors, output, "columns", TUTTI_I32, 1, &nodes, &columns));
  TUTTI_TRY(context, learner_find(context, tensors, output, "children", TUTTI_I32, 1, &nodes, &children));
  if (roots->shape[0] == 0)
    return not_a_forest(context);
  forest->trees = roots->shape[0] - 1;
  TUTTI_TRY(context, tutti_alloc(context, roots->shape[0], sizeof *forest->roots, &forest->roots));
  TUTTI_TRY(context, tutti_alloc(context, nodes, sizeof *forest->nodes, &forest->nodes));
  for (size_t t = 0; t <= forest->trees; t++)
    forest->roots[t] = (size_t)((const int64_t *)roots->data)[t];
  for (size_t n = 0; n < nodes; n++)
    forest->nodes[n] =
        (struct forest_node){((const double *)thresholds->data)[n], (uint32_t)((const int32_t *)columns->data)[n],
                             (uint32_t)((const int32_t *)children->data)[n]};
  return are_roots(forest, nodes) && are_trees(forest) ? TUTTI_OK : not_a_forest(context);
}

static enum tutti_status open_moments(tutti_context *context, const tutti_tensors *tensors, size_t output,
                                      struct forest *forest) {
  const struct tutti_tensor *moments;
  size_t nodes = forest->roots[forest->trees];
  TUTTI_TRY(context, learner_find(context, tensors, output, "moments", TUTTI_F64, 2, (size_t[]){nodes, 2}, &moments));
  TUTTI_TRY(context, tutti_alloc(context, nodes, sizeof *forest->moments, &forest->moments));
  memcpy(forest->moments, moments->data, moments->bytes);
  forest->scale = 1;
  return TUTTI_OK;
}

static enum tutti_status open_shares(tutti_context *context, const tutti_tensors *tensors, size_t output,
                                     size_t class_count, struct forest *forest) {
  const struct tutti_tensor *leaves, *classes, *shares;
  size_t nodes = forest->roots[forest->trees];
  bool valid = true;
  TUTTI_TRY(context, learner_find(context, tensors, output, "leaves", TUTTI_I32, 2, (size_t[]){nodes, 2}, &leaves));
  TUTTI_TRY(context,
            learner_find(context, tensors, output, "classes", TUTTI_I32, 1, (size_t[]){LEARNER_ANY}, &classes));
  TUTTI_TRY(context, learner_find(context, tensors, output, "shares", TUTTI_F32, 1, classes->shape, &shares));
  forest->class_count = class_count;
  forest->share_count = classes->shape[0];
  TUTTI_TRY(context, tutti_alloc(context, nodes, sizeof *forest->leaves, &forest->leaves));
  TUTTI_TRY(context, tutti_alloc(context, forest->share_count, sizeof *forest->shares, &forest->shares));
  if (leaves->bytes > 0)
    memcpy(forest->leaves, leaves->data, leaves->bytes);
  for (size_t n = 0; n < nodes; n++)
    valid = valid && (size_t)forest->leaves[n].first + forest->leaves[n].count <= forest->share_count;
  for (size_t s = 0; s < forest->share_count; s++) {
    forest->shares[s] =
        (struct forest_share){(uint32_t)((const int32_t *)classes->data)[s], ((const float *)shares->data)[s]};
    valid = valid && forest->shares[s].class < class_count;
  }
  return valid ? TUTTI_OK : not_a_forest(context);
}

/* --- predicting -------------------------------------------------------------------------------------------------- */

/* Average with one extra tree that gives all classes the same share: no class then has a probability of 0. */
static enum tutti_status predict_classes(tutti_context *context, const struct forest *forest, double prior,
                                         size_t count, const double *vectors, float *out) {
  double *shares, trees = (double)forest->trees;
  size_t classes = forest->class_count;
  TUTTI_TRY(context, tutti_alloc(context, count, classes * sizeof *shares, &shares));
  forest_predict_classes(forest, count, vectors, shares);
  for (size_t i = 0; i < count * classes; i++)
    out[i] = (float)((trees * shares[i] + prior / (double)classes) / (trees + prior));
  tutti_free(shares);
  return TUTTI_OK;
}

/* `variance`: of all training rows' values; NaN without a Gaussian head. */
static enum tutti_status predict_values(tutti_context *context, const struct forest *forest, double prior,
                                        double variance, const struct tutti_task *task, size_t count,
                                        const double *vectors, size_t output, float *out) {
  double *mean, trees = (double)forest->trees;
  TUTTI_TRY(context, tutti_alloc(context, count, 2 * sizeof *mean, &mean));
  double *deviation = mean + count;
  forest_predict(forest, FOREST_TOTAL, count, vectors, mean, deviation);
  for (size_t i = 0; i < count; i++)
    learner_put_value(task, i, output, mean[i],
                      (trees * deviation[i] * deviation[i] + prior * variance) / (trees + prior), out);
  tutti_free(mean);
  return TUTTI_OK;
}

/* The forest of one output, and its extra trees: how many, and the variance that they have (NaN: none). */
static enum tutti_status open_forest(tutti_context *context, const struct grove_config *config,
                                     const struct tutti_task *task, const tutti_tensors *tensors, size_t output,
                                     struct forest *forest, double *prior, double *variance) {
  *variance = NAN;
  *prior = config->prior;
  TUTTI_TRY(context, open_nodes(context, tensors, output, forest));
  if (task->kind == TUTTI_TASK_CLASSIFICATION)
    return open_shares(context, tensors, output, task->outputs, forest);
  TUTTI_TRY(context, open_moments(context, tensors, output, forest));
  if (task->head != TUTTI_OP_HEAD_GAUSSIAN || learner_has(tensors, output, "variance"))
    return learner_find_variance(context, tensors, task, output, variance);
  *variance = *prior = 0; /* of a run that was made before there was a prior */
  return TUTTI_OK;
}

enum tutti_status grove_predict_forest(tutti_context *context, const struct grove_config *config,
                                       const struct tutti_task *task, const tutti_tensors *tensors,
                                       const struct learner_rows *rows, size_t output, float *out) {
  enum tutti_status status = TUTTI_OK;
  double variance, prior;
  bool classes = task->kind == TUTTI_TASK_CLASSIFICATION;
  struct forest forest = {.dimension = rows->features};
  double *vectors = NULL;
  TUTTI_TRY_OUT(context, open_forest(context, config, task, tensors, output, &forest, &prior, &variance));
  TUTTI_TRY_OUT(context, copy_inputs(context, rows, &vectors));
  TUTTI_TRY_OUT(context,
                classes ? predict_classes(context, &forest, prior, rows->count, vectors, out)
                        : predict_values(context, &forest, prior, variance, task, rows->count, vectors, output, out));
out:
  forest_clear(&forest);
  tutti_free(vectors);
  return status;
}

/* --- as a formula ------------------------------------------------------------------------------------------------ */

/* Room for the nodes, and for what `says` entries of leaves say. */
struct questions {
  uint32_t *column, *low, *high, *of;
  double *threshold, *value;
  bool *missing_low;
  size_t *leaf, says;
};

static void release_questions(struct questions *questions) {
  tutti_free(questions->column);
  tutti_free(questions->threshold);
  tutti_free(questions->missing_low);
  tutti_free(questions->of);
  tutti_free(questions->value);
  tutti_free(questions->leaf);
}

static enum tutti_status create_questions(tutti_context *context, size_t nodes, size_t says,
                                          struct questions *questions) {
  TUTTI_TRY(context, tutti_alloc(context, nodes, 3 * sizeof *questions->column, &questions->column));
  TUTTI_TRY(context, tutti_alloc(context, nodes, sizeof *questions->threshold, &questions->threshold));
  TUTTI_TRY(context, tutti_alloc(context, nodes, sizeof *questions->missing_low, &questions->missing_low));
  TUTTI_TRY(context, tutti_alloc(context, says, sizeof *questions->of, &questions->of));
  TUTTI_TRY(context, tutti_alloc(context, says, sizeof *questions->value, &questions->value));
  TUTTI_TRY(context, tutti_alloc(context, says, sizeof *questions->leaf, &questions->leaf));
  questions->low = questions->column + nodes;
  questions->high = questions->low + nodes;
  return TUTTI_OK;
}

static void say(struct questions *questions, size_t leaf, size_t column, double value) {
  questions->leaf[questions->says] = leaf;
  questions->of[questions->says] = (uint32_t)column;
  questions->value[questions->says++] = value;
}

/* A leaf's part of all shares of classes; or the mean of its rows, in a column of its tree, and after all of these its
   part of the mean variance. */
static void say_leaf(const struct forest *forest, size_t tree, size_t node, struct questions *questions) {
  double trees = (double)forest->trees;
  if (forest->class_count == 0) {
    say(questions, node, tree, forest->moments[node].mean);
    say(questions, node, forest->trees, forest->moments[node].variance / trees);
    return;
  }
  const struct forest_leaf *leaf = &forest->leaves[node];
  for (size_t s = leaf->first; s < (size_t)leaf->first + leaf->count; s++)
    say(questions, node, forest->shares[s].class, (double)forest->shares[s].share / trees);
}

static tutti_term ask_trees(tutti_context *context, const struct forest *forest, tutti_formula *formula,
                            tutti_term inputs, enum tutti_status *failed) {
  enum tutti_status status;
  struct questions questions = {.says = 0};
  tutti_term made = TUTTI_NO_TERM;
  size_t nodes = forest->roots[forest->trees], classes = forest->class_count;
  TUTTI_TRY_OUT(context, create_questions(context, nodes, classes ? forest->share_count : 2 * nodes, &questions));
  for (size_t t = 0; t < forest->trees; t++)
    for (size_t n = forest->roots[t]; n < forest->roots[t + 1]; n++) {
      const struct forest_node *node = &forest->nodes[n];
      bool leaf = node->threshold == INFINITY;
      questions.column[n] = node->column;
      questions.threshold[n] = leaf ? 0 : node->threshold;
      questions.low[n] = node->child;
      questions.high[n] = node->child + !leaf;
      questions.missing_low[n] = true; /* NaN is not above a threshold */
      if (leaf)
        say_leaf(forest, t, n, &questions);
    }
  const struct tutti_formula_trees trees = {.size = sizeof trees,
                                            .trees = forest->trees,
                                            .columns = classes ? classes : forest->trees + 1,
                                            .says = questions.says,
                                            .roots = forest->roots,
                                            .column = questions.column,
                                            .threshold = questions.threshold,
                                            .low = questions.low,
                                            .high = questions.high,
                                            .missing_low = questions.missing_low,
                                            .leaf = questions.leaf,
                                            .of = questions.of,
                                            .value = questions.value};
  made = tutti_formula_grow(formula, inputs, &trees);
out:
  release_questions(&questions);
  *failed = status;
  return made;
}

/* (trees x + prior y) / (trees + prior) */
static tutti_term with_prior(tutti_formula *formula, double trees, tutti_term x, double prior, double y) {
  tutti_term all = TUTTI_FORMULA(formula, TUTTI_FORMULA_MULTIPLY, x, tutti_formula_number(formula, trees));
  all = TUTTI_FORMULA(formula, TUTTI_FORMULA_ADD, all, tutti_formula_number(formula, prior * y));
  return TUTTI_FORMULA(formula, TUTTI_FORMULA_DIVIDE, all, tutti_formula_number(formula, trees + prior));
}

/* The columns [begin, end) of a term. */
static tutti_term columns(tutti_formula *formula, tutti_term x, const uint32_t *numbers, size_t begin, size_t end) {
  return tutti_formula_columns(formula, x, end - begin, numbers + begin);
}

/* The mean over the trees, and the mean of the leaves' variances plus the variance of the trees' means. */
static enum tutti_status tell_values(tutti_context *context, size_t trees, tutti_term said, double prior,
                                     double variance, tutti_formula *formula, struct tutti_predicted_terms *terms) {
  uint32_t *numbers;
  tutti_term count = tutti_formula_number(formula, (double)trees);
  TUTTI_TRY(context, tutti_alloc(context, trees + 1, sizeof *numbers, &numbers));
  for (size_t i = 0; i <= trees; i++)
    numbers[i] = (uint32_t)i;
  tutti_term means = columns(formula, said, numbers, 0, trees),
             noise = columns(formula, said, numbers, trees, trees + 1);
  tutti_free(numbers);
  tutti_term sum = TUTTI_FORMULA(formula, TUTTI_FORMULA_SUM, means);
  terms->mean = TUTTI_FORMULA(formula, TUTTI_FORMULA_DIVIDE, sum, count);
  if (isnan(variance))
    return TUTTI_OK;
  tutti_term off = TUTTI_FORMULA(formula, TUTTI_FORMULA_SUBTRACT, means, terms->mean);
  tutti_term squares = TUTTI_FORMULA(formula, TUTTI_FORMULA_MULTIPLY, off, off);
  tutti_term between = TUTTI_FORMULA(formula, TUTTI_FORMULA_SUM, squares);
  between = TUTTI_FORMULA(formula, TUTTI_FORMULA_DIVIDE, between, count);
  tutti_term total = TUTTI_FORMULA(formula, TUTTI_FORMULA_ADD, noise, between);
  terms->variance = with_prior(formula, (double)trees, total, prior, variance);
  return TUTTI_OK;
}

enum tutti_status grove_formula_forest(tutti_context *context, const struct grove_config *config,
                                       const struct tutti_task *task, const tutti_tensors *tensors, size_t output,
                                       tutti_formula *formula, struct tutti_predicted_terms *terms) {
  enum tutti_status status;
  double variance, prior;
  struct forest forest = {.dimension = tutti_formula_at(formula, terms->inputs)->columns};
  TUTTI_TRY_OUT(context, open_forest(context, config, task, tensors, output, &forest, &prior, &variance));
  tutti_term said = ask_trees(context, &forest, formula, terms->inputs, &status);
  TUTTI_TRY_OUT(context, status);
  if (task->kind == TUTTI_TASK_CLASSIFICATION)
    terms->mean = with_prior(formula, (double)forest.trees, said, prior, 1 / (double)task->outputs);
  else
    TUTTI_TRY_OUT(context, tell_values(context, forest.trees, said, prior, variance, formula, terms));
out:
  forest_clear(&forest);
  return status;
}
