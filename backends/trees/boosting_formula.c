/* boosting_formula.c - boosted trees by XGBoost as a formula, from the JSON form of the model that is kept of them. */
#include "grove.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <xgboost/c_api.h>

static enum tutti_status not_trees(tutti_context *context) {
  return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "weights: the model of boosted trees is none of this task's");
}

/* The model as JSON; the caller releases *root. */
static enum tutti_status read_model(tutti_context *context, const tutti_tensors *tensors, size_t output,
                                    size_t features, json_t **root) {
  const struct tutti_tensor *model;
  BoosterHandle booster = NULL;
  bst_ulong known, bytes;
  const char *text;
  TUTTI_TRY(context, learner_find(context, tensors, output, "model", TUTTI_U8, 1, (size_t[]){LEARNER_ANY}, &model));
  *root = NULL;
  if (XGBoosterCreate(NULL, 0, &booster) == 0 && XGBoosterSetParam(booster, "verbosity", "0") == 0 &&
      XGBoosterLoadModelFromBuffer(booster, model->data, (bst_ulong)model->bytes) == 0 &&
      XGBoosterGetNumFeature(booster, &known) == 0 && known == features &&
      XGBoosterSaveModelToBuffer(booster, "{\"format\": \"json\"}", &bytes, &text) == 0)
    *root = json_loadb(text, (size_t)bytes, 0, NULL);
  if (booster)
    (void)XGBoosterFree(booster);
  return *root ? TUTTI_OK : not_trees(context);
}

/* All trees in the order in which a row may meet their nodes; nodes that were cut off are left out. */
struct grove {
  size_t trees, nodes, says, room;
  size_t *roots, *leaf;
  uint32_t *column, *low, *high, *of;
  double *threshold, *value;
  bool *missing_low;
};

static void release_grove(struct grove *grove) {
  tutti_free(grove->roots);
  tutti_free(grove->leaf);
  tutti_free(grove->column);
  tutti_free(grove->low);
  tutti_free(grove->high);
  tutti_free(grove->of);
  tutti_free(grove->threshold);
  tutti_free(grove->value);
  tutti_free(grove->missing_low);
}

static enum tutti_status create_grove(tutti_context *context, size_t trees, size_t room, struct grove *grove) {
  grove->room = room;
  TUTTI_TRY(context, tutti_alloc(context, trees + 1, sizeof *grove->roots, &grove->roots));
  TUTTI_TRY(context, tutti_alloc(context, room, sizeof *grove->leaf, &grove->leaf));
  TUTTI_TRY(context, tutti_alloc(context, room, sizeof *grove->column, &grove->column));
  TUTTI_TRY(context, tutti_alloc(context, room, sizeof *grove->low, &grove->low));
  TUTTI_TRY(context, tutti_alloc(context, room, sizeof *grove->high, &grove->high));
  TUTTI_TRY(context, tutti_alloc(context, room, sizeof *grove->of, &grove->of));
  TUTTI_TRY(context, tutti_alloc(context, room, sizeof *grove->threshold, &grove->threshold));
  TUTTI_TRY(context, tutti_alloc(context, room, sizeof *grove->value, &grove->value));
  return tutti_alloc(context, room, sizeof *grove->missing_low, &grove->missing_low);
}

/* XGBoost writes switches as numbers or as true and false. */
static bool is_on(const json_t *value) { return json_is_true(value) || json_integer_value(value) != 0; }

static double number_at(const json_t *tree, const char *key, size_t index) {
  return json_number_value(json_array_get(json_object_get(tree, key), index));
}

/* Add a tree's nodes, breadth first: low[] of those that wait is their number in XGBoost's tree. False: it is none. */
static bool add_tree(const json_t *tree, uint32_t column, struct grove *grove) {
  size_t root = grove->nodes, count = json_array_size(json_object_get(tree, "left_children"));
  grove->roots[grove->trees++] = root;
  if (count == 0 || root == grove->room)
    return false;
  grove->low[grove->nodes++] = 0;
  for (size_t n = root; n < grove->nodes; n++) {
    uint32_t from = grove->low[n];
    double left = number_at(tree, "left_children", from), right = number_at(tree, "right_children", from);
    grove->threshold[n] = (double)(float)number_at(tree, "split_conditions", from);
    if (left < 0) {
      grove->low[n] = grove->high[n] = (uint32_t)(n - root);
      grove->leaf[grove->says] = n;
      grove->of[grove->says] = column;
      grove->value[grove->says++] = grove->threshold[n];
      continue;
    }
    if (!(left < (double)count && right >= 0 && right < (double)count) || grove->nodes + 2 > grove->room)
      return false;
    grove->column[n] = (uint32_t)number_at(tree, "split_indices", from);
    grove->missing_low[n] = is_on(json_array_get(json_object_get(tree, "default_left"), from));
    grove->low[n] = (uint32_t)(grove->nodes - root);
    grove->high[n] = grove->low[n] + 1;
    grove->low[grove->nodes++] = (uint32_t)left;
    grove->low[grove->nodes++] = (uint32_t)right;
  }
  grove->roots[grove->trees] = grove->nodes;
  return true;
}

static enum tutti_status add_trees(tutti_context *context, const json_t *model, size_t columns, struct grove *grove) {
  const json_t *trees = json_object_get(model, "trees"), *info = json_object_get(model, "tree_info");
  const json_t *tree;
  size_t index, nodes = 0;
  json_array_foreach((json_t *)trees, index, tree) nodes += json_array_size(json_object_get(tree, "left_children"));
  if (json_array_size(trees) == 0 || json_array_size(info) != json_array_size(trees))
    return not_trees(context);
  TUTTI_TRY(context, create_grove(context, json_array_size(trees), nodes, grove));
  json_array_foreach((json_t *)trees, index, tree) {
    json_int_t of = json_integer_value(json_array_get(info, index));
    if (of < 0 || (size_t)of >= columns || !add_tree(tree, (uint32_t)of, grove))
      return not_trees(context);
  }
  return TUTTI_OK;
}

/* What all sums begin with; XGBoost keeps it as a text, in the unit of predictions. */
static enum tutti_status find_start(tutti_context *context, const json_t *learner, double *start) {
  const char *text = json_string_value(json_object_get(json_object_get(learner, "learner_model_param"), "base_score"));
  char *end = NULL;
  if (text && *text == '[') /* from XGBoost 3 on, a list */
    text++;
  *start = text ? (double)strtof(text, &end) : NAN;
  return text && end != text && isfinite(*start) ? TUTTI_OK : not_trees(context);
}

/* Sums of the trees, one column for each class of several, or one. */
static tutti_term sums_of(tutti_formula *formula, tutti_term inputs, size_t columns, const struct grove *grove,
                          double start) {
  const struct tutti_formula_trees trees = {.size = sizeof trees,
                                            .trees = grove->trees,
                                            .columns = columns,
                                            .says = grove->says,
                                            .roots = grove->roots,
                                            .column = grove->column,
                                            .threshold = grove->threshold,
                                            .low = grove->low,
                                            .high = grove->high,
                                            .missing_low = grove->missing_low,
                                            .below = true,
                                            .leaf = grove->leaf,
                                            .of = grove->of,
                                            .value = grove->value};
  tutti_term sum = tutti_formula_grow(formula, inputs, &trees);
  return TUTTI_FORMULA(formula, TUTTI_FORMULA_ADD, sum, tutti_formula_number(formula, start));
}

static tutti_term logistic(tutti_formula *formula, tutti_term x) {
  tutti_term one = tutti_formula_number(formula, 1), zero = tutti_formula_number(formula, 0);
  tutti_term negative = TUTTI_FORMULA(formula, TUTTI_FORMULA_SUBTRACT, zero, x);
  tutti_term power = TUTTI_FORMULA(formula, TUTTI_FORMULA_EXP, negative);
  return TUTTI_FORMULA(formula, TUTTI_FORMULA_DIVIDE, one, TUTTI_FORMULA(formula, TUTTI_FORMULA_ADD, one, power));
}

static tutti_term softmax(tutti_formula *formula, tutti_term x) {
  tutti_term most = TUTTI_FORMULA(formula, TUTTI_FORMULA_LARGEST, x);
  tutti_term power = TUTTI_FORMULA(formula, TUTTI_FORMULA_EXP, TUTTI_FORMULA(formula, TUTTI_FORMULA_SUBTRACT, x, most));
  tutti_term sum = TUTTI_FORMULA(formula, TUTTI_FORMULA_SUM, power);
  return TUTTI_FORMULA(formula, TUTTI_FORMULA_DIVIDE, power, sum);
}

enum tutti_status grove_formula_boosting(tutti_context *context, const struct grove_config *config,
                                         const struct tutti_task *task, const tutti_tensors *tensors, size_t output,
                                         tutti_formula *formula, struct tutti_predicted_terms *terms) {
  enum tutti_status status;
  bool classes = task->kind == TUTTI_TASK_CLASSIFICATION;
  size_t columns = classes && task->outputs > 2 ? task->outputs : 1;
  json_t *root = NULL;
  struct grove grove = {0};
  double start, variance;
  (void)config; /* nothing of it acts on a model that is trained */
  TUTTI_TRY_OUT(context,
                read_model(context, tensors, output, tutti_formula_at(formula, terms->inputs)->columns, &root));
  const json_t *learner = json_object_get(root, "learner");
  const json_t *model = json_object_get(json_object_get(learner, "gradient_booster"), "model");
  TUTTI_TRY_OUT(context, find_start(context, learner, &start));
  TUTTI_TRY_OUT(context, add_trees(context, model, columns, &grove));
  if (classes && columns == 1)
    start = log(start / (1 - start));
  terms->mean = sums_of(formula, terms->inputs, columns, &grove, start);
  if (classes) {
    tutti_term second = columns == 1 ? logistic(formula, terms->mean) : TUTTI_NO_TERM;
    tutti_term shares = softmax(formula, terms->mean);
    if (columns == 1)
      shares = TUTTI_FORMULA(formula, TUTTI_FORMULA_BESIDE,
                             TUTTI_FORMULA(formula, TUTTI_FORMULA_SUBTRACT, tutti_formula_number(formula, 1), second),
                             second);
    terms->mean = learner_classes_term(formula, shares);
    goto out;
  }
  TUTTI_TRY_OUT(context, learner_find_variance(context, tensors, task, output, &variance));
  if (!isnan(variance))
    terms->variance = tutti_formula_number(formula, variance);
out:
  release_grove(&grove);
  json_decref(root);
  return status;
}
