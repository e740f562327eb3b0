/* stored.c - a data set as a run directory keeps it. */
#include <math.h>
#include <string.h>

#include "core/base/json_impl.h"
#include "core/plugin/split_impl.h"
#include "loading_impl.h"
#include "stored_impl.h"

/* What the description says of a split. */
struct described {
  const char *name;
  size_t rows;
  bool targets; /* or labels */
};

static enum tutti_status torn(tutti_context *context, const char *what) {
  return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "the description of the data is torn at 'splits': %s", what);
}

/* Names become names of files. */
static bool is_name(const char *name) {
  enum { LONGEST = 64 };
  size_t length = strlen(name);
  return length > 0 && length <= LONGEST && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == length;
}

static enum tutti_status read_described(tutti_context *context, const tutti_dataset *dataset, json_t *object,
                                        struct described *described) {
  json_int_t rows;
  int targets;
  if (json_unpack(object, "{s:s, s:I, s:b}", "name", &described->name, "rows", &rows, "targets", &targets) != 0)
    return torn(context, "expected name, rows and targets");
  if (!is_name(described->name) || tutti_dataset_find(dataset, described->name))
    return torn(context, "expected names of splits, each once");
  if (dataset->split_count < TUTTI_SPLITS &&
      (strcmp(described->name, tutti_partition_name(dataset->split_count)) != 0 || (rows > 0 && !targets)))
    return torn(context, "expected train, validation and test first, with targets");
  if (rows < 0 || rows > INT32_MAX)
    return torn(context, "expected a number of rows");
  described->rows = (size_t)rows;
  described->targets = targets;
  return TUTTI_OK;
}

/* --- arrays --- */

/* Map an array that must be there. */
static enum tutti_status map_array(tutti_context *context, const struct tutti_stored_splits *splits,
                                   const tutti_split *split, enum tutti_stored_array which, struct tutti_npy *array) {
  static const char *const names[] = {"row numbers", "targets", "class numbers"};
  enum tutti_element element = which == TUTTI_STORED_TARGETS ? TUTTI_F64 : TUTTI_I32;
  size_t columns = which == TUTTI_STORED_TARGETS ? split->outputs : 1; /* numbers a row */
  TUTTI_TRY(context, splits->map(splits->argument, context, split->name, which, array));
  if (array->data && array->element == element && array->rank >= 1 && array->shape[0] == split->rows &&
      array->count == split->rows * columns)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "split %s: expected the %s of %zu rows, %zu numbers each; found %s",
                    split->name, names[which], split->rows, columns,
                    array->data ? "an array of another type or shape" : "no file");
}

static enum tutti_status take_rows(tutti_context *context, const struct tutti_npy *array, tutti_split *split) {
  const int32_t *rows = array->data;
  TUTTI_TRY(context, tutti_alloc(context, split->rows, sizeof *split->source_rows, &split->source_rows));
  for (size_t r = 0; r < split->rows; r++) {
    if (rows[r] < 0)
      return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "split %s: row %zu has the number %d", split->name, r, rows[r]);
    split->source_rows[r] = (uint32_t)rows[r];
  }
  return TUTTI_OK;
}

static enum tutti_status take_targets(tutti_context *context, const struct tutti_encoding *encoding,
                                      const struct tutti_npy *array, tutti_split *split) {
  const double *values = array->data;
  size_t count = split->rows * split->outputs;
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof *split->raw_targets, &split->raw_targets));
  for (size_t i = 0; i < count; i++) {
    if (!isfinite(values[i]))
      return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "split %s: expected finite targets; row %zu has %g", split->name,
                        i / split->outputs, values[i]);
    split->raw_targets[i] = values[i];
  }
  return tutti_encoding_centre(context, encoding, split);
}

static enum tutti_status take_labels(tutti_context *context, const struct tutti_npy *array, tutti_split *split) {
  const int32_t *labels = array->data;
  TUTTI_TRY(context, tutti_alloc(context, split->rows, sizeof *split->labels, &split->labels));
  for (size_t r = 0; r < split->rows; r++) {
    if (labels[r] < 0 || (size_t)labels[r] >= split->outputs)
      return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "split %s: expected classes from 0 to %zu; row %zu has %d",
                        split->name, split->outputs - 1, r, labels[r]);
    split->labels[r] = labels[r];
  }
  return TUTTI_OK;
}

/* Without groups there is no such array. */
static enum tutti_status take_groups(tutti_context *context, const struct tutti_npy *array, tutti_split *split) {
  const int32_t *groups = array->data;
  if (!groups)
    return TUTTI_OK;
  if (array->element != TUTTI_I32 || array->count != split->rows)
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "split %s: expected the groups of %zu rows, found another array",
                      split->name, split->rows);
  TUTTI_TRY(context, tutti_alloc(context, split->rows, sizeof *split->group, &split->group));
  for (size_t r = 0; r < split->rows; r++) {
    if (groups[r] < 0 || (size_t)groups[r] > r || groups[groups[r]] != groups[r])
      return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "split %s: expected the first row of each group; row %zu has %d",
                        split->name, r, groups[r]);
    split->group[r] = (uint32_t)groups[r];
  }
  return TUTTI_OK;
}

/* Without cross-validation there is no such array. */
static enum tutti_status take_folds(tutti_context *context, const struct tutti_npy *array, tutti_dataset *dataset) {
  const size_t rows = dataset->splits[TUTTI_VALIDATION]->rows;
  const int32_t *folds = array->data;
  if (!folds)
    return TUTTI_OK;
  if (array->element != TUTTI_I32 || array->count != rows)
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "split %s: expected the folds of %zu rows, found another array",
                      dataset->splits[TUTTI_VALIDATION]->name, rows);
  TUTTI_TRY(context, tutti_alloc(context, rows, sizeof *dataset->fold, &dataset->fold));
  for (size_t r = 0; r < rows; r++) {
    if (folds[r] < 0 || (size_t)folds[r] >= rows)
      return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "split %s: row %zu is in fold %d",
                        dataset->splits[TUTTI_VALIDATION]->name, r, folds[r]);
    dataset->fold[r] = (uint32_t)folds[r];
    dataset->folds = (size_t)folds[r] >= dataset->folds ? (size_t)folds[r] + 1 : dataset->folds;
  }
  return TUTTI_OK;
}

static enum tutti_status restore_folds(tutti_context *context, const struct tutti_stored_splits *splits,
                                       tutti_dataset *dataset) {
  struct tutti_npy array = {0};
  const char *split = dataset->splits[TUTTI_VALIDATION]->name;
  enum tutti_status status = splits->map(splits->argument, context, split, TUTTI_STORED_FOLDS, &array);
  if (status == TUTTI_OK)
    status = take_folds(context, &array, dataset);
  tutti_npy_unmap(&array);
  return status == TUTTI_ERROR_CORRUPT ? splits->place(splits->argument, context, split, TUTTI_STORED_FOLDS, status)
                                       : status;
}

static enum tutti_status take_array(tutti_context *context, const struct tutti_encoding *encoding,
                                    const struct tutti_stored_splits *splits, enum tutti_stored_array which,
                                    tutti_split *split) {
  struct tutti_npy array = {0};
  enum tutti_status status = which == TUTTI_STORED_GROUPS
                                 ? splits->map(splits->argument, context, split->name, which, &array)
                                 : map_array(context, splits, split, which, &array);
  if (status == TUTTI_OK)
    status = which == TUTTI_STORED_ROWS     ? take_rows(context, &array, split)
             : which == TUTTI_STORED_LABELS ? take_labels(context, &array, split)
             : which == TUTTI_STORED_GROUPS ? take_groups(context, &array, split)
                                            : take_targets(context, encoding, &array, split);
  tutti_npy_unmap(&array);
  return status == TUTTI_ERROR_CORRUPT ? splits->place(splits->argument, context, split->name, which, status) : status;
}

static enum tutti_status take_arrays(tutti_context *context, const struct tutti_encoding *encoding,
                                     const struct tutti_stored_splits *splits, bool targets, tutti_split *split) {
  bool classes = encoding->task == TUTTI_TASK_CLASSIFICATION;
  TUTTI_TRY(context, take_array(context, encoding, splits, TUTTI_STORED_ROWS, split));
  TUTTI_TRY(context, take_array(context, encoding, splits, TUTTI_STORED_GROUPS, split));
  return targets ? take_array(context, encoding, splits, classes ? TUTTI_STORED_LABELS : TUTTI_STORED_TARGETS, split)
                 : TUTTI_OK;
}

/* --- splits --- */

static struct tutti_shape shape_of(const struct tutti_encoding *encoding) {
  struct tutti_shape shape = {1, 1, (int32_t)encoding->features};
  if (encoding->image.height) {
    shape.height = encoding->image.height;
    shape.width = encoding->image.width;
  }
  return shape;
}

static enum tutti_status restore_split(tutti_context *context, const struct tutti_encoding *encoding,
                                       const struct tutti_stored_splits *splits, const struct described *described,
                                       tutti_split **out) {
  enum tutti_status status = TUTTI_OK;
  tutti_split *split = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *split, &split));
  split->rows = described->rows;
  split->outputs = tutti_encoding_outputs(encoding);
  split->input = shape_of(encoding);
  TUTTI_TRY_OUT(context, tutti_strdup(context, described->name, &split->name));
  if (encoding->target_scale)
    TUTTI_TRY_OUT(context, tutti_encoding_copy_scaling(context, encoding, split));
  if (split->rows > 0)
    TUTTI_TRY_OUT(context, take_arrays(context, encoding, splits, described->targets, split));
  *out = split;
  split = NULL;
out:
  tutti_split_destroy(split);
  return status;
}

static enum tutti_status restore_splits(tutti_context *context, json_t *array, const struct tutti_stored_splits *splits,
                                        tutti_dataset *dataset) {
  if (json_array_size(array) < TUTTI_SPLITS || json_array_size(array) > TUTTI_MOST_SPLITS)
    return torn(context, "expected train, validation and test, and at most so many more as there are shifts");
  for (size_t i = 0; i < json_array_size(array); i++) {
    struct described described;
    TUTTI_TRY(context, read_described(context, dataset, json_array_get(array, i), &described));
    TUTTI_TRY(context, restore_split(context, dataset->encoding, splits, &described, &dataset->splits[i]));
    dataset->split_count++;
  }
  return restore_folds(context, splits, dataset);
}

enum tutti_status tutti_dataset_restore(tutti_context *context, const char *json, const tutti_config *head,
                                        const struct tutti_stored_splits *splits, tutti_dataset **out) {
  enum tutti_status status = TUTTI_OK;
  tutti_dataset *dataset = NULL;
  json_t *root = NULL;
  *out = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *dataset, &dataset));
  TUTTI_TRY_OUT(context, tutti_encoding_parse(context, json, &dataset->encoding));
  root = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
  TUTTI_TRY_OUT(context, restore_splits(context, json_object_get(root, "splits"), splits, dataset));
  TUTTI_TRY_OUT(context, tutti_dataset_set_task(context, tutti_config_values(head), dataset));
  *out = dataset;
  dataset = NULL;
out:
  json_decref(root);
  tutti_dataset_destroy(dataset);
  return status;
}

enum tutti_status tutti_stored_origins(tutti_context *context, const char *json, size_t targets, double *origins) {
  struct tutti_encoding *encoding;
  enum tutti_status status = TUTTI_OK;
  TUTTI_TRY(context, tutti_encoding_parse(context, json, &encoding));
  if (encoding->task != TUTTI_TASK_REGRESSION || encoding->targets != targets)
    status = TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "expected a regression with %zu targets", targets);
  for (size_t t = 0; status == TUTTI_OK && t < targets; t++)
    origins[t] = encoding->target_origin[t];
  tutti_encoding_destroy(encoding);
  return status;
}
