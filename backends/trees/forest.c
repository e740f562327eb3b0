/* forest.c - Tutti's own forests as a learner: rows in float64; leaves are shares of classes or moments of values. */
#include "plugins/shared/forest/forest_impl.h"
#include "grove.h"

#include <math.h>

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

/* The greatest float that is not above a threshold: inputs are floats, so they fall on the same sides of it. */
static float threshold_for_floats(double threshold) {
  float rounded = (float)threshold;
  return (double)rounded > threshold ? nextafterf(rounded, -INFINITY) : rounded;
}

static bool is_leaf(const struct forest_node *node) { return node->threshold == INFINITY; }

/* The nodes, without what leaves say. */
static enum tutti_status keep_nodes(tutti_context *context, const struct forest *forest, size_t output,
                                    tutti_tensors *tensors, float **thresholds, int32_t **columns, int32_t **children) {
  size_t nodes = forest->roots[forest->trees];
  int64_t *roots;
  TUTTI_TRY(context,
            learner_add(context, tensors, output, "roots", TUTTI_I64, 1, (size_t[]){forest->trees + 1}, &roots));
  TUTTI_TRY(context, learner_add(context, tensors, output, "thresholds", TUTTI_F32, 1, &nodes, thresholds));
  TUTTI_TRY(context, learner_add(context, tensors, output, "columns", TUTTI_I32, 1, &nodes, columns));
  TUTTI_TRY(context, learner_add(context, tensors, output, "children", TUTTI_I32, 1, &nodes, children));
  for (size_t t = 0; t <= forest->trees; t++)
    roots[t] = (int64_t)forest->roots[t];
  for (size_t n = 0; n < nodes; n++)
    if (!is_leaf(&forest->nodes[n])) {
      (*thresholds)[n] = threshold_for_floats(forest->nodes[n].threshold);
      (*columns)[n] = (int32_t)forest->nodes[n].column;
      (*children)[n] = (int32_t)forest->nodes[n].child;
    }
  return TUTTI_OK;
}

/* A leaf of values: column -1, the mean as its threshold, and as its child the number of its variance. Leaves whose
   rows are all alike share the first one, which is 0. */
static enum tutti_status keep_values(tutti_context *context, const struct forest *forest, size_t output,
                                     tutti_tensors *tensors) {
  size_t nodes = forest->roots[forest->trees], count = 1;
  float *thresholds, *variances;
  int32_t *columns, *children;
  TUTTI_TRY(context, keep_nodes(context, forest, output, tensors, &thresholds, &columns, &children));
  for (size_t n = 0; n < nodes; n++)
    if (is_leaf(&forest->nodes[n])) {
      thresholds[n] = (float)(forest->moments[n].mean * forest->scale);
      columns[n] = -1;
      children[n] = forest->moments[n].variance > 0 ? (int32_t)count++ : 0;
    }
  TUTTI_TRY(context, learner_add(context, tensors, output, "variances", TUTTI_F32, 1, &count, &variances));
  for (size_t n = 0; n < nodes; n++)
    if (columns[n] < 0)
      variances[children[n]] = (float)(forest->moments[n].variance * forest->scale * forest->scale);
  return TUTTI_OK;
}

/* A leaf of classes: as its column minus the number of its classes, as its child the first of their shares. */
static enum tutti_status keep_shares(tutti_context *context, const struct forest *forest, size_t output,
                                     tutti_tensors *tensors) {
  size_t nodes = forest->roots[forest->trees];
  float *thresholds, *shares;
  int32_t *columns, *children, *classes;
  TUTTI_TRY(context, keep_nodes(context, forest, output, tensors, &thresholds, &columns, &children));
  TUTTI_TRY(context, learner_add(context, tensors, output, "classes", TUTTI_I32, 1, &forest->share_count, &classes));
  TUTTI_TRY(context, learner_add(context, tensors, output, "shares", TUTTI_F32, 1, &forest->share_count, &shares));
  for (size_t n = 0; n < nodes; n++)
    if (is_leaf(&forest->nodes[n])) {
      thresholds[n] = 0;
      columns[n] = -(int32_t)forest->leaves[n].count;
      children[n] = (int32_t)forest->leaves[n].first;
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
  TUTTI_TRY_OUT(context, forest.class_count ? keep_shares(context, &forest, output, tensors)
                                            : keep_values(context, &forest, output, tensors));
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

/* The tensors of a forest, as they are in a file. */
struct kept_forest {
  size_t nodes, says; /* says: how many variances or shares there are */
  const float *thresholds, *variances, *shares;
  const int32_t *columns, *children, *classes;
};

static enum tutti_status find_nodes(tutti_context *context, const tutti_tensors *tensors, size_t output,
                                    struct kept_forest *kept, struct forest *forest) {
  const struct tutti_tensor *roots, *thresholds, *columns, *children;
  if (learner_has(tensors, output, "moments") || learner_has(tensors, output, "leaves"))
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                      "weights: an earlier version of Tutti wrote this forest, in a form that is no longer read; train "
                      "it again, or predict with that version");
  TUTTI_TRY(context, learner_find(context, tensors, output, "roots", TUTTI_I64, 1, (size_t[]){LEARNER_ANY}, &roots));
  TUTTI_TRY(context,
            learner_find(context, tensors, output, "thresholds", TUTTI_F32, 1, (size_t[]){LEARNER_ANY}, &thresholds));
  kept->nodes = thresholds->shape[0];
  TUTTI_TRY(context, learner_find(context, tensors, output, "columns", TUTTI_I32, 1, &kept->nodes, &columns));
  TUTTI_TRY(context, learner_find(context, tensors, output, "children", TUTTI_I32, 1, &kept->nodes, &children));
  if (roots->shape[0] == 0)
    return not_a_forest(context);
  kept->thresholds = thresholds->data;
  kept->columns = columns->data;
  kept->children = children->data;
  forest->trees = roots->shape[0] - 1;
  TUTTI_TRY(context, tutti_alloc(context, roots->shape[0], sizeof *forest->roots, &forest->roots));
  for (size_t t = 0; t <= forest->trees; t++)
    forest->roots[t] = (size_t)((const int64_t *)roots->data)[t];
  return TUTTI_OK;
}

static bool are_roots(const struct forest *forest, size_t nodes) {
  bool valid = forest->trees > 0 && forest->roots[0] == 0 && forest->roots[forest->trees] == nodes;
  for (size_t t = 0; valid && t < forest->trees; t++)
    valid = forest->roots[t] < forest->roots[t + 1] && forest->roots[t + 1] <= nodes;
  return valid;
}

/* A node of a tree leads only to later nodes, so that every row arrives at a leaf. False: it is no node. */
static bool open_node(const struct kept_forest *kept, size_t dimension, size_t root, size_t count, size_t n,
                      struct forest_node *node) {
  const int32_t column = kept->columns[root + n], child = kept->children[root + n];
  const float threshold = kept->thresholds[root + n];
  *node = column < 0 ? (struct forest_node){INFINITY, 0, (uint32_t)n}
                     : (struct forest_node){(double)threshold, (uint32_t)column, (uint32_t)child};
  return isfinite(threshold) && child >= 0 &&
         (column < 0 || ((size_t)column < dimension && (size_t)child > n && (size_t)child + 1 < count));
}

/* Of a tree whose every inner node has two children, half of the nodes and one more are leaves. */
static bool open_trees(const struct kept_forest *kept, struct forest *forest) {
  bool valid = true;
  for (size_t t = 0; t < forest->trees; t++) {
    const size_t root = forest->roots[t], count = forest->roots[t + 1] - root;
    size_t leaves = 0;
    for (size_t n = 0; n < count; n++) {
      valid = open_node(kept, forest->dimension, root, count, n, &forest->nodes[root + n]) && valid;
      leaves += kept->columns[root + n] < 0;
    }
    valid = valid && leaves == count / 2 + 1;
  }
  return valid;
}

static enum tutti_status open_nodes(tutti_context *context, const tutti_tensors *tensors, size_t output,
                                    struct kept_forest *kept, struct forest *forest) {
  TUTTI_TRY(context, find_nodes(context, tensors, output, kept, forest));
  TUTTI_TRY(context, tutti_alloc(context, kept->nodes, sizeof *forest->nodes, &forest->nodes));
  return are_roots(forest, kept->nodes) && open_trees(kept, forest) ? TUTTI_OK : not_a_forest(context);
}

static enum tutti_status open_moments(tutti_context *context, const tutti_tensors *tensors, size_t output,
                                      struct kept_forest *kept, struct forest *forest) {
  const struct tutti_tensor *variances;
  bool valid = true;
  TUTTI_TRY(context,
            learner_find(context, tensors, output, "variances", TUTTI_F32, 1, (size_t[]){LEARNER_ANY}, &variances));
  TUTTI_TRY(context, tutti_alloc(context, kept->nodes, sizeof *forest->moments, &forest->moments));
  kept->variances = variances->data;
  kept->says = variances->shape[0];
  forest->scale = 1;
  for (size_t n = 0; n < kept->nodes; n++) {
    const bool leaf = kept->columns[n] < 0, there = leaf && (size_t)kept->children[n] < kept->says;
    forest->moments[n] =
        there ? (struct forest_moments){(double)kept->thresholds[n], (double)kept->variances[kept->children[n]]}
              : (struct forest_moments){0, 0};
    valid = valid && there == leaf && forest->moments[n].variance >= 0;
  }
  return valid ? TUTTI_OK : not_a_forest(context);
}

static enum tutti_status open_shares(tutti_context *context, const tutti_tensors *tensors, size_t output,
                                     size_t class_count, struct kept_forest *kept, struct forest *forest) {
  const struct tutti_tensor *classes, *shares;
  bool valid = true;
  TUTTI_TRY(context,
            learner_find(context, tensors, output, "classes", TUTTI_I32, 1, (size_t[]){LEARNER_ANY}, &classes));
  TUTTI_TRY(context, learner_find(context, tensors, output, "shares", TUTTI_F32, 1, classes->shape, &shares));
  kept->classes = classes->data;
  kept->shares = shares->data;
  forest->class_count = class_count;
  forest->share_count = kept->says = classes->shape[0];
  TUTTI_TRY(context, tutti_alloc(context, kept->nodes, sizeof *forest->leaves, &forest->leaves));
  TUTTI_TRY(context, tutti_alloc(context, kept->says, sizeof *forest->shares, &forest->shares));
  for (size_t n = 0; n < kept->nodes; n++) {
    const bool leaf = kept->columns[n] < 0;
    const uint32_t first = leaf ? (uint32_t)kept->children[n] : 0, count = leaf ? -(uint32_t)kept->columns[n] : 0;
    forest->leaves[n] = (struct forest_leaf){first, count};
    valid = valid && (size_t)first + count <= kept->says;
  }
  for (size_t s = 0; s < kept->says; s++) {
    forest->shares[s] = (struct forest_share){(uint32_t)kept->classes[s], kept->shares[s]};
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
  struct kept_forest kept = {.nodes = 0};
  *variance = NAN;
  *prior = config->prior;
  TUTTI_TRY(context, open_nodes(context, tensors, output, &kept, forest));
  if (task->kind == TUTTI_TASK_CLASSIFICATION)
    return open_shares(context, tensors, output, task->outputs, &kept, forest);
  TUTTI_TRY(context, open_moments(context, tensors, output, &kept, forest));
  return learner_find_variance(context, tensors, task, output, variance);
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
      bool leaf = is_leaf(node);
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
