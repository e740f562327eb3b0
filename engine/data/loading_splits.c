/* loading_splits.c - divides the rows into the splits of training, validation and test. */
#include <string.h>
#include <tutti/names.h>

#include "loading_impl.h"
#include "core/plugin/split_impl.h"

static enum tutti_status label_rows(struct tutti_loading *loading, const struct tutti_encoding *encoding) {
  if (encoding->task != TUTTI_TASK_CLASSIFICATION)
    return TUTTI_OK;
  TUTTI_TRY(loading->context,
            tutti_alloc(loading->context, tutti_rows_count(loading->rows), sizeof(int32_t), &loading->labels));
  for (size_t r = 0; r < tutti_rows_count(loading->rows); r++)
    if (loading->split[r] != TUTTI_UNUSED)
      TUTTI_TRY(loading->context,
                tutti_encoding_label(loading->context, encoding, loading->rows, r, &loading->labels[r]));
  return TUTTI_OK;
}

/* Find the roles of the columns, and the class of each row. */
static enum tutti_status encode(struct tutti_loading *loading, tutti_dataset *dataset) {
  tutti_context *context = loading->context;
  TUTTI_TRY(context, tutti_alloc(context, tutti_rows_count(loading->rows), 1, &loading->split));
  if (loading->images) {
    TUTTI_TRY(context, tutti_alloc(context, tutti_rows_count(loading->rows), sizeof(int32_t), &loading->labels));
    return tutti_images_encode(context, loading->config, loading->rows, loading->labels, &dataset->encoding);
  }
  TUTTI_TRY(context,
            tutti_encoding_create(context, loading->config, loading->rows, loading->split, &dataset->encoding));
  return label_rows(loading, dataset->encoding);
}

/* Shall each split have its share of each class? */
static bool stratified(const struct tutti_data_config *config) {
  return config->stratify == TUTTI_STRATIFY_YES ||
         (config->stratify == TUTTI_STRATIFY_AUTO && config->split_order != TUTTI_SPLIT_FILE);
}

/* The values of the input in which there is to be a gap; NULL without one. Free with tutti_free. */
static enum tutti_status order_rows(const struct tutti_loading *loading, const struct tutti_encoding *encoding,
                                    double **values) {
  size_t numeric = 0, rows = tutti_rows_count(loading->rows);
  const struct tutti_data_column *column = encoding->input;
  *values = NULL;
  if (loading->config->gap < 0)
    return TUTTI_OK;
  for (size_t i = 0; !loading->images && i < encoding->inputs; i++)
    numeric += encoding->input[i].categories == 0;
  if (numeric == 0)
    return TUTTI_FAIL(loading->context, TUTTI_ERROR_USAGE, "data.gap: no input is a column of numbers");
  for (size_t left = (size_t)loading->config->gap % numeric;; column++)
    if (column->categories == 0 && left-- == 0)
      break;
  TUTTI_TRY(loading->context, tutti_alloc(loading->context, rows, sizeof **values, values));
  for (size_t r = 0; r < rows; r++)
    (*values)[r] = tutti_column_number(column, loading->rows, r, NULL);
  return TUTTI_OK;
}

static enum tutti_status partition(struct tutti_loading *loading, const struct tutti_encoding *encoding) {
  const struct tutti_data_config *config = loading->config;
  tutti_context *context = loading->context;
  enum tutti_status status = TUTTI_OK;
  double shares[TUTTI_SPLITS] = {0};
  char *files[TUTTI_SPLITS] = {NULL};
  double *gap = NULL;
  if (config->split.count < 2 || config->split.count > 3)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "data.split: expected shares of train, validation and test, as in 0.8 0.1 "
                      "0.1; found %zu %s",
                      config->split.count, tutti_plural(config->split.count, "number", "numbers"));
  if (config->stratify == TUTTI_STRATIFY_YES && !loading->labels)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "data.stratify: only classes can be stratified, and the task is regression");
  if (config->stratify == TUTTI_STRATIFY_YES && loading->group)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "data.stratify: groups are shared out whole, and so cannot be stratified; leave it at auto");
  if (config->limit.count > TUTTI_SPLITS)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "data.limit: expected at most 3 numbers, of training, validation and test rows; found %zu",
                      config->limit.count);
  memcpy(shares, config->split.values, config->split.count * sizeof *shares);
  TUTTI_TRY_OUT(context, tutti_loading_file(loading, "train_rows", config->train_rows, &files[TUTTI_TRAIN]));
  TUTTI_TRY_OUT(context,
                tutti_loading_file(loading, "validation_rows", config->validation_rows, &files[TUTTI_VALIDATION]));
  TUTTI_TRY_OUT(context, tutti_loading_file(loading, "test_rows", config->test_rows, &files[TUTTI_TEST]));
  TUTTI_TRY_OUT(context, order_rows(loading, encoding, &gap));
  struct tutti_partition request = {.rows = tutti_rows_count(loading->rows),
                                    .test_rows = tutti_rows_test_rows(loading->rows),
                                    .split = loading->split,
                                    .labels = stratified(config) && !loading->group ? loading->labels : NULL,
                                    .group = loading->group,
                                    .in_order = config->split_order == TUTTI_SPLIT_FILE,
                                    .classes = tutti_encoding_outputs(encoding),
                                    .shares = shares,
                                    .files = {files[0], files[1], files[2]},
                                    .calibration = config->calibration,
                                    .gap = gap,
                                    .seed = loading->seed};
  for (size_t s = 0; s < config->limit.count; s++)
    request.limits[s] = (size_t)config->limit.values[s];
  TUTTI_TRY_OUT(context, tutti_partition_rows(context, &request));
out:
  tutti_free(gap);
  for (size_t s = 0; s < TUTTI_SPLITS; s++)
    tutti_free(files[s]);
  return status;
}

static enum tutti_status list_rows(struct tutti_loading *loading) {
  for (size_t s = 0; s < TUTTI_SHARED_OUT; s++) {
    size_t count = 0;
    for (size_t r = 0; r < tutti_rows_count(loading->rows); r++)
      count += loading->split[r] == s;
    TUTTI_TRY(loading->context, tutti_alloc(loading->context, count, sizeof(uint32_t), &loading->of_split[s]));
    for (size_t r = 0; r < tutti_rows_count(loading->rows); r++)
      if (loading->split[r] == s)
        loading->of_split[s][loading->counts[s]++] = (uint32_t)r;
  }
  return TUTTI_OK;
}

/* Join training and validation rows to a pool, which both splits then have, and deal it to folds. */
static enum tutti_status make_folds(struct tutti_loading *loading, tutti_dataset *dataset) {
  const struct tutti_data_config *config = loading->config;
  tutti_context *context = loading->context;
  size_t pool = 0, rows = tutti_rows_count(loading->rows);
  for (size_t r = 0; r < rows; r++)
    pool += loading->split[r] == TUTTI_TRAIN || loading->split[r] == TUTTI_VALIDATION;
  if (config->folds == 0 || pool >= (size_t)config->folds_below)
    return TUTTI_OK;
  if (config->folds == 1 || loading->images)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.folds: expected 0, or 2 and more and a table; found %lld%s",
                      (long long)config->folds, loading->images ? " and images" : "");
  tutti_free(loading->of_split[TUTTI_VALIDATION]);
  tutti_free(loading->of_split[TUTTI_TRAIN]);
  loading->of_split[TUTTI_TRAIN] = loading->of_split[TUTTI_VALIDATION] = NULL;
  loading->counts[TUTTI_TRAIN] = loading->counts[TUTTI_VALIDATION] = 0;
  for (size_t s = TUTTI_TRAIN; s <= TUTTI_VALIDATION; s++) {
    TUTTI_TRY(context, tutti_alloc(context, pool, sizeof(uint32_t), &loading->of_split[s]));
    for (size_t r = 0; r < rows; r++)
      if (loading->split[r] == TUTTI_TRAIN || loading->split[r] == TUTTI_VALIDATION)
        loading->of_split[s][loading->counts[s]++] = (uint32_t)r;
  }
  dataset->folds = (size_t)config->folds;
  TUTTI_TRY(context, tutti_alloc(context, pool, sizeof *dataset->fold, &dataset->fold));
  return tutti_folds_deal(loading, loading->labels && stratified(config), tutti_encoding_outputs(dataset->encoding),
                          pool, loading->of_split[TUTTI_TRAIN], dataset->folds, dataset->fold);
}

static enum tutti_status check_classes(struct tutti_loading *loading, const struct tutti_encoding *encoding) {
  enum tutti_status status = TUTTI_OK;
  tutti_context *context = loading->context;
  size_t classes = tutti_encoding_outputs(encoding);
  bool *seen = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, classes, sizeof *seen, &seen));
  for (size_t i = 0; i < loading->counts[TUTTI_TRAIN]; i++)
    seen[loading->labels[loading->of_split[TUTTI_TRAIN][i]]] = true;
  for (size_t c = 0; c < classes && status == TUTTI_OK; c++)
    if (!seen[c])
      status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                          "%s: class '%s' of '%s' is absent from the %zu training %s, so that it cannot be learned; "
                          "change the split, or leave its rows out",
                          tutti_rows_origin(loading->rows), encoding->target[0].category[c], encoding->target[0].name,
                          loading->counts[TUTTI_TRAIN], tutti_plural(loading->counts[TUTTI_TRAIN], "row", "rows"));
out:
  tutti_free(seen);
  return status;
}

static enum tutti_status measure(struct tutti_loading *loading, struct tutti_encoding *encoding) {
  size_t count = loading->counts[TUTTI_TRAIN];
  const uint32_t *rows = loading->of_split[TUTTI_TRAIN];
  if (loading->images)
    return tutti_images_measure(loading->context, loading->config, loading->rows, count, rows, encoding);
  return tutti_encoding_measure(loading->context, loading->config, loading->rows, count, rows, encoding);
}

static enum tutti_status make_split(struct tutti_loading *loading, size_t s, tutti_dataset *dataset) {
  const char *name = tutti_partition_name(s);
  if (loading->images)
    return tutti_images_split(loading->context, dataset->encoding, loading->rows, name, loading->counts[s],
                              loading->of_split[s], loading->labels, &dataset->splits[s]);
  TUTTI_TRY(loading->context,
            tutti_encoding_split(loading->context, dataset->encoding, loading->rows, name, loading->counts[s],
                                 loading->of_split[s], true, &dataset->splits[s]));
  dataset->splits[s]->in_order = loading->config->split_order == TUTTI_SPLIT_FILE;
  return loading->group
             ? tutti_groups_of_rows(loading, loading->counts[s], loading->of_split[s], &dataset->splits[s]->group)
             : TUTTI_OK;
}

enum tutti_status tutti_loading_share_out(struct tutti_loading *loading, tutti_dataset *dataset) {
  tutti_context *context = loading->context;
  TUTTI_TRY(context, encode(loading, dataset));
  TUTTI_TRY(context, tutti_origin_take(context, loading->source, loading->rows, &dataset->encoding->origin));
  TUTTI_TRY(context, tutti_groups_find(loading));
  TUTTI_TRY(context, partition(loading, dataset->encoding));
  TUTTI_TRY(context, list_rows(loading));
  TUTTI_TRY(context, make_folds(loading, dataset));
  if (loading->labels)
    TUTTI_TRY(context, check_classes(loading, dataset->encoding));
  TUTTI_TRY(context, measure(loading, dataset->encoding));
  /* Only data sets that ask for calibration rows have that split. */
  for (size_t splits = loading->config->calibration > 0 ? TUTTI_SHARED_OUT : TUTTI_SPLITS;
       dataset->split_count < splits; dataset->split_count++)
    TUTTI_TRY(context, make_split(loading, dataset->split_count, dataset));
  return TUTTI_OK;
}
