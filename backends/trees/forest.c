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
    const struct forest_labels all = {task->outputs, labels};
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

enum tutti_status grove_predict_forest(tutti_context *context, const struct grove_config *config,
                                       const struct tutti_task *task, const tutti_tensors *tensors,
                                       const struct learner_rows *rows, size_t output, float *out) {
  enum tutti_status status = TUTTI_OK;
  double variance = NAN, prior = config->prior;
  bool classes = task->kind == TUTTI_TASK_CLASSIFICATION;
  struct forest forest = {.dimension = rows->features};
  double *vectors = NULL;
  TUTTI_TRY_OUT(context, open_nodes(context, tensors, output, &forest));
  TUTTI_TRY_OUT(context, classes ? open_shares(context, tensors, output, task->outputs, &forest)
                                 : open_moments(context, tensors, output, &forest));
  TUTTI_TRY_OUT(context, copy_inputs(context, rows, &vectors));
  if (!classes && task->head == TUTTI_OP_HEAD_GAUSSIAN && !learner_has(tensors, output, "variance"))
    variance = prior = 0; /* of a run that was made before there was a prior */
  else if (!classes)
    TUTTI_TRY_OUT(context, learner_find_variance(context, tensors, task, output, &variance));
  TUTTI_TRY_OUT(context,
                classes ? predict_classes(context, &forest, prior, rows->count, vectors, out)
                        : predict_values(context, &forest, prior, variance, task, rows->count, vectors, output, out));
out:
  forest_clear(&forest);
  tutti_free(vectors);
  return status;
}
