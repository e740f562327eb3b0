/* groups.c - rows that belong together, such as those of one patient, and the folds of cross-validation: whole groups,
   or single rows, class by class. */
#include <stdlib.h>
#include <string.h>
#include <tutti/deal.h>
#include <tutti/random.h>

#include "cells_impl.h"
#include "folds_impl.h"
#include "loading_impl.h"
#include "roles_impl.h"
#include "core/base/text_impl.h"
#include "core/plugin/split_impl.h"
#include "engine/data/split_names.h"

/* --- groups --- */

struct labelled {
  char *text;
  uint32_t row;
};

static int compare_labelled(const void *one, const void *other) {
  const struct labelled *a = one, *b = other;
  int order = strcmp(a->text, b->text);
  return order ? order : (a->row > b->row) - (a->row < b->row);
}

/* The column of data.groups, which is no input. */
static enum tutti_status find_column(const struct tutti_loading *loading, size_t *column) {
  enum tutti_status status = TUTTI_OK;
  tutti_context *context = loading->context;
  size_t columns = tutti_rows_columns(loading->rows);
  uint8_t *roles = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, columns, sizeof *roles, &roles));
  TUTTI_TRY_OUT(context, tutti_roles_find(context, loading->config, loading->rows, roles));
  *column = 0;
  while (*column < columns && roles[*column] != ROLE_GROUPS)
    ++*column;
  for (size_t c = *column + 1; c < columns; c++)
    if (roles[c] == ROLE_GROUPS)
      status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.groups: expected one column, found '%s'",
                          loading->config->groups);
out:
  tutti_free(roles);
  return status;
}

enum tutti_status tutti_groups_find(struct tutti_loading *loading) {
  enum tutti_status status = TUTTI_OK;
  tutti_context *context = loading->context;
  size_t rows = tutti_rows_count(loading->rows), count = 0, column, first = 0;
  struct labelled *labelled = NULL;
  char buffer[32];
  if (!loading->config->groups[0])
    return TUTTI_OK;
  if (loading->images)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.groups: images have no column of groups");
  TUTTI_TRY_OUT(context, find_column(loading, &column));
  TUTTI_TRY_OUT(context, tutti_alloc(context, rows, sizeof *loading->group, &loading->group));
  TUTTI_TRY_OUT(context, tutti_alloc(context, rows, sizeof *labelled, &labelled));
  for (size_t r = 0; r < rows; r++) {
    if (loading->split[r] == TUTTI_UNUSED)
      continue;
    if (tutti_rows_cell(loading->rows, r, column) == TUTTI_CELL_MISSING)
      TUTTI_TRY_OUT(context,
                    tutti_cell_fail(
                        context, loading->rows, r, column,
                        "expected the row's group, found none; write it, or a name of its own if the row belongs to no "
                        "other; data.missing = drop leaves out rows that lack anything"));
    labelled[count].row = (uint32_t)r;
    TUTTI_TRY_OUT(context,
                  tutti_strdup(context, tutti_category_of(loading->rows, r, column, buffer), &labelled[count++].text));
  }
  qsort(labelled, count, sizeof *labelled, compare_labelled);
  for (size_t i = 0; i < count; i++) {
    first = i > 0 && strcmp(labelled[i].text, labelled[i - 1].text) == 0 ? first : i;
    loading->group[labelled[i].row] = labelled[first].row;
  }
out:
  for (size_t i = 0; i < count; i++)
    tutti_free(labelled[i].text);
  tutti_free(labelled);
  return status;
}

/* Groups among rows[count], chosen from `all` rows with the groups of[all]. */
static enum tutti_status take_groups(tutti_context *context, size_t all, const uint32_t *of, size_t count,
                                     const uint32_t *rows, uint32_t **group) {
  enum tutti_status status = TUTTI_OK;
  uint32_t *first = NULL; /* of a group: the first of these rows + 1 */
  *group = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, all, sizeof *first, &first));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof **group, group));
  for (size_t i = 0; i < count; i++) {
    uint32_t *of_group = &first[of[rows[i]]];
    *of_group = *of_group ? *of_group : (uint32_t)i + 1;
    (*group)[i] = *of_group - 1;
  }
out:
  tutti_free(first);
  return status;
}

enum tutti_status tutti_groups_of_rows(const struct tutti_loading *loading, size_t count, const uint32_t *rows,
                                       uint32_t **group) {
  return take_groups(loading->context, tutti_rows_count(loading->rows), loading->group, count, rows, group);
}

/* --- folds --- */

/* Whole groups, the largest first, each to the fold that has the fewest rows. */
static enum tutti_status deal_groups(const struct tutti_loading *loading, size_t count, const uint32_t *rows,
                                     const uint32_t *order, size_t folds, uint32_t *fold) {
  enum tutti_status status = TUTTI_OK;
  tutti_context *context = loading->context;
  size_t groups = 0;
  uint32_t *group = NULL;
  TUTTI_TRY_OUT(context, tutti_groups_of_rows(loading, count, rows, &group));
  TUTTI_TRY_OUT(context, tutti_deal_groups(context, count, group, order, folds, fold, &groups));
  if (groups < folds)
    status =
        TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                   "data.folds: expected at most as many folds as groups, %zu in training and validation; found %zu",
                   groups, folds);
out:
  tutti_free(group);
  return status;
}

/* Rows one by one, class after class, so that each fold has its share of each. */
static void deal_rows(const struct tutti_loading *loading, bool stratified, size_t classes, size_t count,
                      const uint32_t *rows, const uint32_t *order, size_t folds, uint32_t *fold) {
  size_t dealt = 0;
  for (size_t c = 0; c < (stratified ? classes : 1); c++)
    for (size_t i = 0; i < count; i++)
      if (!stratified || (size_t)loading->labels[rows[order[i]]] == c)
        fold[order[i]] = (uint32_t)(dealt++ % folds);
}

enum tutti_status tutti_folds_deal(const struct tutti_loading *loading, bool stratified, size_t classes, size_t count,
                                   const uint32_t *rows, size_t folds, uint32_t *fold) {
  enum tutti_status status = TUTTI_OK;
  tutti_context *context = loading->context;
  struct tutti_random random;
  uint32_t *order = NULL;
  if (count < folds)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "data.folds: expected at most as many folds as rows of training and validation, %zu; found %zu",
                      count, folds);
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *order, &order));
  for (size_t i = 0; i < count; i++)
    order[i] = (uint32_t)i;
  if (loading->config->split_order != TUTTI_SPLIT_FILE) {
    tutti_random_init(&random, loading->seed, "folds", 0);
    tutti_random_shuffle(&random, count, order);
  }
  if (loading->group)
    TUTTI_TRY_OUT(context, deal_groups(loading, count, rows, order, folds, fold));
  else if (loading->config->split_order == TUTTI_SPLIT_FILE)
    for (size_t i = 0; i < count; i++) /* blocks: neighbours in time stay together */
      fold[i] = (uint32_t)(i * folds / count);
  else
    deal_rows(loading, stratified, classes, count, rows, order, folds, fold);
out:
  tutti_free(order);
  return status;
}

/* Groups of the training rows, or of those outside a fold. */
static size_t groups_without(const tutti_dataset *dataset, const tutti_split *train, size_t fold) {
  size_t groups = 0;
  for (size_t i = 0; i < train->rows; i++) /* the first row of each, which has the fold of all */
    groups += train->group[i] == i && (!dataset->folds || dataset->fold[i] != fold);
  return groups;
}

void tutti_groups_doubt(const struct tutti_loading *loading, const tutti_dataset *dataset) {
  const tutti_split *train = dataset->splits[TUTTI_TRAIN];
  size_t fewest = SIZE_MAX;
  for (size_t f = 0; train->group && f < (dataset->folds ? dataset->folds : 1); f++) {
    size_t groups = groups_without(dataset, train, f);
    fewest = groups < fewest ? groups : fewest;
  }
  if (fewest < 2)
    tutti_log(
        loading->context, TUTTI_LOG_WARNING,
        "data.groups: the rows of a training are of one group alone: how groups differ cannot be learnt from them, "
        "and learners that judge themselves by some of them, as boosted trees and svm do, are surer of rows of "
        "other groups than they should be");
}

/* --- the splits of a fold --- */

size_t tutti_dataset_folds(const tutti_dataset *dataset) { return dataset->folds; }

const uint32_t *tutti_dataset_fold_of_rows(const tutti_dataset *dataset) { return dataset->fold; }

enum tutti_status tutti_split_take(tutti_context *context, const tutti_split *from, const char *name, size_t count,
                                   const uint32_t *rows, tutti_split **split) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_shape shape = tutti_split_input(from);
  size_t features = (size_t)shape.height * (size_t)shape.width * (size_t)shape.channels;
  size_t outputs = tutti_split_outputs(from);
  const float *all_targets = tutti_split_targets(from);
  const int32_t *all_labels = tutti_split_labels(from);
  float *inputs = NULL, *targets = NULL;
  int32_t *labels = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, features * sizeof *inputs, &inputs));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, outputs * sizeof *targets, &targets));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *labels, &labels));
  tutti_split_gather(from, count, rows, inputs);
  for (size_t i = 0; i < count; i++) {
    if (all_targets)
      memcpy(targets + i * outputs, all_targets + rows[i] * outputs, outputs * sizeof *targets);
    if (all_labels)
      labels[i] = all_labels[rows[i]];
  }
  TUTTI_TRY_OUT(context, tutti_split_create(context, name, count, shape, outputs, inputs, all_targets ? targets : NULL,
                                            all_labels ? labels : NULL, split));
  (*split)->in_order = from->in_order;
  if (from->group)
    status = take_groups(context, from->rows, from->group, count, rows, &(*split)->group);
  if (status != TUTTI_OK) {
    tutti_split_destroy(*split);
    *split = NULL;
  }
out:
  tutti_free(inputs);
  tutti_free(targets);
  tutti_free(labels);
  return status;
}

void tutti_fold_release(struct tutti_fold *fold) {
  tutti_split_destroy(fold->train);
  tutti_split_destroy(fold->validation);
  tutti_free(fold->rows);
  *fold = (struct tutti_fold){0};
}

enum tutti_status tutti_dataset_fold(tutti_context *context, const tutti_dataset *dataset, size_t number,
                                     struct tutti_fold *fold) {
  enum tutti_status status = TUTTI_OK;
  const tutti_split *pool = dataset->splits[TUTTI_TRAIN];
  size_t count = tutti_split_rows(pool), others = 0;
  uint32_t *rest = NULL;
  *fold = (struct tutti_fold){0};
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *rest, &rest));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *fold->rows, &fold->rows));
  for (size_t i = 0; i < count; i++)
    if (dataset->fold[i] == number)
      fold->rows[fold->count++] = (uint32_t)i;
    else
      rest[others++] = (uint32_t)i;
  TUTTI_TRY_OUT(context, tutti_split_take(context, pool, TUTTI_SPLIT_TRAIN, others, rest, &fold->train));
  TUTTI_TRY_OUT(context,
                tutti_split_take(context, pool, TUTTI_SPLIT_VALIDATION, fold->count, fold->rows, &fold->validation));
out:
  tutti_free(rest);
  if (status != TUTTI_OK)
    tutti_fold_release(fold);
  return status;
}
