/* learner.c - what backends without networks share. */
#include "learner.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- rows -------------------------------------------------------------------------------------------------------- */

/* Keep the first `features` numbers of each row. */
static void narrow(struct learner_rows *rows, size_t features) {
  for (size_t i = 1; features < rows->features && i < rows->count; i++)
    memmove(rows->inputs + i * features, rows->inputs + i * rows->features, features * sizeof *rows->inputs);
  rows->features = features;
}

enum tutti_status learner_rows_open(tutti_context *context, const struct tutti_task *task, const tutti_split *split,
                                    struct learner_rows *rows) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_shape shape = tutti_split_input(split);
  uint32_t *order = NULL;
  *rows = (struct learner_rows){.count = tutti_split_rows(split),
                                .features = (size_t)shape.height * (size_t)shape.width * (size_t)shape.channels,
                                .labels = tutti_split_labels(split),
                                .targets = tutti_split_targets(split),
                                .group = tutti_split_groups(split),
                                .in_order = tutti_split_in_order(split)};
  TUTTI_TRY_OUT(context, tutti_alloc(context, rows->count, rows->features * sizeof *rows->inputs, &rows->inputs));
  TUTTI_TRY_OUT(context, tutti_alloc(context, rows->count, sizeof *order, &order));
  for (size_t i = 0; i < rows->count; i++)
    order[i] = (uint32_t)i;
  tutti_split_gather(split, rows->count, order, rows->inputs);
  narrow(rows, tutti_task_plain_features(task));
out:
  tutti_free(order);
  if (status != TUTTI_OK)
    learner_rows_close(rows);
  return status;
}

void learner_rows_close(struct learner_rows *rows) {
  tutti_free(rows->inputs);
  tutti_free(rows->own_labels);
  tutti_free(rows->own_targets);
  tutti_free(rows->own_group);
  rows->inputs = NULL;
  rows->own_labels = NULL;
  rows->own_targets = NULL;
  rows->own_group = NULL;
}

/* The first row with a number that is not finite, or the number of rows. */
static size_t first_odd_row(const struct learner_rows *rows, size_t outputs) {
  for (size_t i = 0; i < rows->count; i++) {
    for (size_t j = 0; j < rows->features; j++)
      if (!isfinite(rows->inputs[i * rows->features + j]))
        return i;
    for (size_t o = 0; rows->targets && o < outputs; o++)
      if (!isfinite(rows->targets[i * outputs + o]))
        return i;
  }
  return rows->count;
}

enum tutti_status learner_begin(tutti_context *context, const struct tutti_job *job, struct learner_rows *rows,
                                struct tutti_outcome *outcome) {
  TUTTI_TRY(context, learner_rows_open(context, job->task, job->train, rows));
  rows->class_weights = job->class_weights;
  size_t odd = first_odd_row(rows, job->task->outputs);
  if (odd == rows->count)
    return TUTTI_OK;
  learner_rows_close(rows);
  outcome->state = TUTTI_STATE_FAILED;
  (void)snprintf(outcome->failure, sizeof outcome->failure, "training row %zu has a number that is not finite", odd);
  return TUTTI_OK;
}

void learner_finish(struct tutti_outcome *outcome, tutti_tensors *weights) {
  outcome->state = TUTTI_STATE_FINISHED;
  outcome->weights = weights;
  outcome->epochs = outcome->best_epoch = 1;
  outcome->steps = 1;
}

/* --- checks ------------------------------------------------------------------------------------------------------ */

enum tutti_status learner_check(tutti_context *context, const struct tutti_job *job) {
  const struct tutti_task *task = job->task;
  if (task->kind == TUTTI_TASK_VALUE)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "it learns from data, but the recipe has no section [data]");
  if (task->head != TUTTI_OP_HEAD_SOFTMAX && task->head != TUTTI_OP_HEAD_GAUSSIAN && task->head != TUTTI_OP_HEAD_LINEAR)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "head.kind: it gives probabilities, or values with or without a variance; expected softmax, "
                      "gaussian or linear, found %s",
                      tutti_op_name(task->head));
  if (job->train && tutti_split_rows(job->train) == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "there are no training rows to learn from");
  return TUTTI_OK;
}

/* --- folds ------------------------------------------------------------------------------------------------------- */

/* order[count]: the rows in an order that is drawn. */
static enum tutti_status draw_order(tutti_context *context, uint64_t seed, size_t count, uint32_t **order) {
  struct tutti_random random;
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof **order, order));
  for (size_t i = 0; i < count; i++)
    (*order)[i] = (uint32_t)i;
  tutti_random_init(&random, seed, "learner folds", 0);
  tutti_random_shuffle(&random, count, *order);
  return TUTTI_OK;
}

/* Rows one by one, class after class. */
static void deal_rows(const struct learner_rows *rows, const uint32_t *order, size_t folds, uint32_t *fold) {
  uint32_t next = 0;
  int32_t classes = 1;
  for (size_t i = 0; i < rows->count; i++)
    classes = rows->labels && rows->labels[i] >= classes ? rows->labels[i] + 1 : classes;
  for (int32_t c = 0; c < classes; c++)
    for (size_t i = 0; i < rows->count; i++)
      if (!rows->labels || rows->labels[order[i]] == c) {
        fold[order[i]] = next;
        next = next + 1 < folds ? next + 1 : 0;
      }
}

enum tutti_status learner_folds(tutti_context *context, uint64_t seed, const struct learner_rows *rows, size_t folds,
                                uint32_t *fold) {
  enum tutti_status status = TUTTI_OK;
  uint32_t *order = NULL;
  size_t groups = 0;
  TUTTI_TRY_OUT(context, draw_order(context, seed, rows->count, &order));
  if (rows->group)
    TUTTI_TRY_OUT(context, tutti_deal_groups(context, rows->count, rows->group, order, folds, fold, &groups));
  if (groups > 1 && groups < folds) /* a fold each */
    TUTTI_TRY_OUT(context, tutti_deal_groups(context, rows->count, rows->group, order, groups, fold, &groups));
  if (groups < 2 && rows->in_order)
    for (size_t i = 0; i < rows->count; i++)
      fold[i] = (uint32_t)(i * folds / rows->count);
  else if (groups < 2)
    deal_rows(rows, order, folds, fold);
out:
  tutti_free(order);
  return status;
}

/* A row with number `from` is now number `to`. first[]: of each group, by its old first row, its first row kept + 1. */
static void keep_group(struct learner_rows *rows, size_t from, size_t to, uint32_t *first) {
  if (!rows->group)
    return;
  uint32_t *of_group = &first[rows->group[from]];
  *of_group = *of_group ? *of_group : (uint32_t)to + 1;
  rows->own_group[to] = *of_group - 1;
}

/* Rows are put in a drawn order, class after class, and taken from it at even distances. */
enum tutti_status learner_rows_thin(tutti_context *context, uint64_t seed, size_t most, size_t outputs,
                                    struct learner_rows *rows) {
  enum tutti_status status = TUTTI_OK;
  uint32_t *order = NULL, *place = NULL, *first = NULL;
  size_t count = 0, all = rows->count;
  if (most == 0 || all <= most)
    return TUTTI_OK;
  TUTTI_TRY_OUT(context, tutti_alloc(context, rows->count, sizeof *place, &place));
  TUTTI_TRY_OUT(context, tutti_alloc(context, rows->count, sizeof *rows->own_labels, &rows->own_labels));
  TUTTI_TRY_OUT(context, tutti_alloc(context, rows->count, outputs * sizeof *rows->own_targets, &rows->own_targets));
  TUTTI_TRY_OUT(context, tutti_alloc(context, all, sizeof *rows->own_group, &rows->own_group));
  TUTTI_TRY_OUT(context, tutti_alloc(context, all, sizeof *first, &first));
  TUTTI_TRY_OUT(context, draw_order(context, seed, all, &order));
  deal_rows(rows, order, all, place);
  for (size_t i = 0; i < all; i++) {
    if (((uint64_t)place[i] + 1) * most / all == (uint64_t)place[i] * most / all)
      continue;
    memmove(rows->inputs + count * rows->features, rows->inputs + i * rows->features,
            rows->features * sizeof *rows->inputs);
    if (rows->labels)
      rows->own_labels[count] = rows->labels[i];
    if (rows->targets)
      memcpy(rows->own_targets + count * outputs, rows->targets + i * outputs, outputs * sizeof *rows->own_targets);
    keep_group(rows, i, count, first);
    count++;
  }
  rows->count = count;
  rows->labels = rows->labels ? rows->own_labels : NULL;
  rows->targets = rows->targets ? rows->own_targets : NULL;
  rows->group = rows->group ? rows->own_group : NULL;
out:
  tutti_free(order);
  tutti_free(place);
  tutti_free(first);
  return status;
}

/* --- predictions and tensors ------------------------------------------------------------------------------------- */

size_t learner_models(const struct tutti_task *task) {
  return task->kind == TUTTI_TASK_CLASSIFICATION ? 1 : task->outputs;
}

static const double least = 1e-7; /* no class is impossible: a single likelihood of 0 would outweigh all */

void learner_put_classes(const struct tutti_task *task, size_t row, const double *shares, float *out) {
  float *place = out + row * task->outputs;
  double sum = 0;
  for (size_t c = 0; c < task->outputs; c++)
    sum += fmax(shares[c], least);
  for (size_t c = 0; c < task->outputs; c++)
    place[c] = (float)(fmax(shares[c], least) / sum);
}

void learner_put_value(const struct tutti_task *task, size_t row, size_t output, double mean, double variance,
                       float *out) {
  float *place = out + 2 * (row * task->outputs + output);
  place[0] = (float)mean;
  place[1] = (float)variance;
}

tutti_term learner_classes_term(tutti_formula *formula, tutti_term shares) {
  tutti_term raised = TUTTI_FORMULA(formula, TUTTI_FORMULA_MOST, shares, tutti_formula_number(formula, least));
  tutti_term sum = TUTTI_FORMULA(formula, TUTTI_FORMULA_SUM, raised);
  return TUTTI_FORMULA(formula, TUTTI_FORMULA_DIVIDE, raised, sum);
}

/* The plain features of a row. */
static enum tutti_status plain_term(tutti_context *context, const struct tutti_task *task, tutti_formula *formula,
                                    tutti_term all, tutti_term *plain) {
  uint32_t *picked;
  size_t features = tutti_task_plain_features(task);
  const struct tutti_formula_term *term = tutti_formula_at(formula, all);
  *plain = all;
  if (!term || term->columns <= features)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_alloc(context, features, sizeof *picked, &picked));
  for (size_t f = 0; f < features; f++)
    picked[f] = (uint32_t)f;
  *plain = tutti_formula_columns(formula, all, features, picked);
  tutti_free(picked);
  return TUTTI_OK;
}

enum tutti_status learner_formulas(tutti_context *context, const struct tutti_job *job, const tutti_tensors *tensors,
                                   learner_formula *one, tutti_formula *formula, struct tutti_predicted_terms *terms) {
  enum tutti_status status;
  size_t models = learner_models(job->task);
  tutti_term *means = NULL, *variances = NULL, *epistemics = NULL, plain;
  TUTTI_TRY_OUT(context, plain_term(context, job->task, formula, terms->inputs, &plain));
  TUTTI_TRY_OUT(context, tutti_alloc(context, models, sizeof *means, &means));
  TUTTI_TRY_OUT(context, tutti_alloc(context, models, sizeof *variances, &variances));
  TUTTI_TRY_OUT(context, tutti_alloc(context, models, sizeof *epistemics, &epistemics));
  for (size_t output = 0; output < models; output++) {
    struct tutti_predicted_terms of = {sizeof of, plain, TUTTI_NO_TERM, TUTTI_NO_TERM, TUTTI_NO_TERM};
    TUTTI_TRY_OUT(context, one(context, job, tensors, output, formula, &of));
    means[output] = of.mean;
    variances[output] = of.variance;
    epistemics[output] = of.epistemic;
  }
  terms->mean = tutti_formula_add(formula, TUTTI_FORMULA_BESIDE, models, means);
  if (variances[0] != TUTTI_NO_TERM)
    terms->variance = tutti_formula_add(formula, TUTTI_FORMULA_BESIDE, models, variances);
  if (epistemics[0] != TUTTI_NO_TERM)
    terms->epistemic = tutti_formula_add(formula, TUTTI_FORMULA_BESIDE, models, epistemics);
out:
  tutti_free(epistemics);
  tutti_free(means);
  tutti_free(variances);
  return status;
}

enum { NAME = 64 };

static const char *name_of(size_t output, const char *part, char name[NAME]) {
  (void)snprintf(name, NAME, "%zu.%s", output, part);
  return name;
}

enum tutti_status learner_add(tutti_context *context, tutti_tensors *tensors, size_t output, const char *part,
                              enum tutti_element element, size_t rank, const size_t *shape, void *data_pointer) {
  char name[NAME];
  return tutti_tensors_add(context, tensors, name_of(output, part, name), element, rank, shape, data_pointer);
}

bool learner_has(const tutti_tensors *tensors, size_t output, const char *part) {
  char name[NAME];
  return tutti_tensors_find(tensors, name_of(output, part, name)) != NULL;
}

enum tutti_status learner_find(tutti_context *context, const tutti_tensors *tensors, size_t output, const char *part,
                               enum tutti_element element, size_t rank, const size_t *shape,
                               const struct tutti_tensor **out) {
  char name[NAME];
  const struct tutti_tensor *tensor = tutti_tensors_find(tensors, name_of(output, part, name));
  bool fits = tensor && tensor->element == element && tensor->rank == rank;
  for (size_t i = 0; fits && i < rank; i++)
    fits = shape[i] == LEARNER_ANY || tensor->shape[i] == shape[i];
  *out = tensor;
  return fits ? TUTTI_OK
              : TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "weights: tensor '%s' is %s", name,
                           tensor ? "not of the shape that this model has" : "not there");
}

enum tutti_status learner_keep_variance(tutti_context *context, tutti_tensors *tensors, size_t output,
                                        double variance) {
  double *place;
  TUTTI_TRY(context, learner_add(context, tensors, output, "variance", TUTTI_F64, 0, NULL, &place));
  *place = variance;
  return TUTTI_OK;
}

enum tutti_status learner_find_variance(tutti_context *context, const tutti_tensors *tensors,
                                        const struct tutti_task *task, size_t output, double *variance) {
  const struct tutti_tensor *tensor;
  *variance = NAN;
  if (task->head != TUTTI_OP_HEAD_GAUSSIAN)
    return TUTTI_OK;
  TUTTI_TRY(context, learner_find(context, tensors, output, "variance", TUTTI_F64, 0, NULL, &tensor));
  *variance = *(const double *)tensor->data;
  return TUTTI_OK;
}
