/* encoding.c - turns rows of a table into the numbers that networks take: scaled columns, one-hot categories. */
#include <math.h>
#include <string.h>
#include <tutti/names.h>

#include "cells_impl.h"
#include "encoding_impl.h"
#include "scaling_impl.h"
#include "core/plugin/split_impl.h"

static void destroy_columns(size_t count, struct tutti_data_column *columns) {
  for (size_t i = 0; columns && i < count; i++) {
    tutti_free(columns[i].name);
    for (size_t c = 0; c < columns[i].categories; c++)
      tutti_free(columns[i].category[c]);
    tutti_free(columns[i].category);
    tutti_free(columns[i].date_format);
    tutti_free(columns[i].knot);
    tutti_free(columns[i].level);
    tutti_free(columns[i].edge);
  }
  tutti_free(columns);
}

void tutti_encoding_destroy(struct tutti_encoding *encoding) {
  if (!encoding)
    return;
  tutti_origin_release(&encoding->origin);
  destroy_columns(encoding->inputs, encoding->input);
  destroy_columns(encoding->targets, encoding->target);
  for (size_t i = 0; encoding->feature && i < encoding->features; i++)
    tutti_free(encoding->feature[i]);
  tutti_free(encoding->feature);
  tutti_free(encoding->shift);
  tutti_free(encoding->scale);
  tutti_free(encoding->target_shift);
  tutti_free(encoding->target_scale);
  tutti_free(encoding->target_origin);
  tutti_free(encoding);
}

size_t tutti_encoding_outputs(const struct tutti_encoding *encoding) {
  return encoding->task == TUTTI_TASK_CLASSIFICATION ? encoding->target[0].categories : encoding->targets;
}

size_t tutti_encoding_bins(const struct tutti_encoding *encoding) {
  size_t bins = 0;
  for (size_t i = 0; i < encoding->inputs; i++)
    bins += encoding->input[i].bins;
  return bins;
}

/* Make room for the features. */
static enum tutti_status make_room(tutti_context *context, struct tutti_encoding *encoding) {
  size_t features = encoding->features;
  TUTTI_TRY(context, tutti_alloc(context, features, sizeof *encoding->feature, &encoding->feature));
  TUTTI_TRY(context, tutti_alloc(context, features, sizeof(double), &encoding->shift));
  return tutti_alloc(context, features, sizeof(double), &encoding->scale);
}

enum tutti_status tutti_encoding_name_channels(tutti_context *context, struct tutti_encoding *encoding) {
  TUTTI_TRY(context, make_room(context, encoding));
  for (size_t c = 0; c < encoding->features; c++)
    TUTTI_TRY(context, tutti_format(context, &encoding->feature[c], "channel%zu", c));
  return TUTTI_OK;
}

/* The names of a column's features; there is room for them. */
static enum tutti_status name_features(tutti_context *context, const struct tutti_data_column *column, char **names) {
  static const char *const parts[] = {"sin", "cos"};
  size_t count = 0;
  for (size_t c = 0; c < column->categories; c++)
    TUTTI_TRY(context, tutti_format(context, &names[count++], "%s=%s", column->name, column->category[c]));
  if (column->categories)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_strdup(context, column->name, &names[count++]));
  for (size_t i = 0; i < 2 * column->cycles; i++)
    TUTTI_TRY(context,
              tutti_format(context, &names[count++], "%s:%s-%s", column->name, tutti_cycle_names[i / 2], parts[i % 2]));
  if (column->marks_missing)
    TUTTI_TRY(context, tutti_format(context, &names[count++], "%s:missing", column->name));
  return TUTTI_OK;
}

static enum tutti_status name_bins(tutti_context *context, const struct tutti_data_column *column, char **names) {
  for (size_t b = 0; b < column->bins; b++)
    TUTTI_TRY(context, tutti_format(context, &names[b], "%s:bin%zu", column->name, b));
  return TUTTI_OK;
}

enum tutti_status tutti_encoding_lay_out(tutti_context *context, struct tutti_encoding *encoding) {
  size_t features = tutti_encoding_bins(encoding), feature = 0;
  for (size_t i = 0; i < encoding->inputs; i++)
    features += tutti_column_features(&encoding->input[i]);
  if (features > INT32_MAX)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%zu features are more than a network can take", features);
  encoding->features = features;
  TUTTI_TRY(context, make_room(context, encoding));
  if (encoding->task == TUTTI_TASK_REGRESSION) {
    TUTTI_TRY(context, tutti_alloc(context, encoding->targets, sizeof(double), &encoding->target_shift));
    TUTTI_TRY(context, tutti_alloc(context, encoding->targets, sizeof(double), &encoding->target_scale));
    TUTTI_TRY(context, tutti_alloc(context, encoding->targets, sizeof(double), &encoding->target_origin));
  }
  for (size_t i = 0; i < encoding->inputs; i++) {
    TUTTI_TRY(context, name_features(context, &encoding->input[i], encoding->feature + feature));
    feature += tutti_column_features(&encoding->input[i]);
  }
  for (size_t i = 0; i < encoding->inputs; i++) {
    TUTTI_TRY(context, name_bins(context, &encoding->input[i], encoding->feature + feature));
    feature += encoding->input[i].bins;
  }
  return TUTTI_OK;
}

/* --- rows --- */

/* The number in a cell, or the column's mean if the cell is missing and that is allowed. */
static enum tutti_status read_number(tutti_context *context, const struct tutti_encoding *encoding,
                                     const struct tutti_data_column *column, const tutti_rows *table, size_t row,
                                     double *number, bool *missing) {
  enum tutti_cell cell;
  char buffer[32];
  *number = tutti_column_number(column, table, row, &cell);
  *missing = cell == TUTTI_CELL_MISSING;
  if (cell == TUTTI_CELL_NUMBER)
    return TUTTI_OK;
  if (cell == TUTTI_CELL_TEXT) {
    TUTTI_TRY(context, tutti_cell_check_utf8(context, table, row, column->position));
    return tutti_cell_fail(context, table, row, column->position, "expected a %s, found '%.60s'",
                           column->date_format ? "date, written as in the training data" : "number",
                           tutti_category_of(table, row, column->position, buffer));
  }
  if (cell == TUTTI_CELL_INFINITE)
    return tutti_cell_fail(context, table, row, column->position, "expected a finite number, found infinity");
  if (encoding->missing != TUTTI_MISSING_MEAN && encoding->missing != TUTTI_MISSING_INDICATOR)
    return tutti_cell_fail(context, table, row, column->position,
                           "the value is missing; only data that were loaded with data.missing = mean or indicator may "
                           "lack some");
  *number = column->mean;
  return TUTTI_OK;
}

/* The square root of what float32 holds. Of scaled numbers that are larger, such as the -3.4e38 of maps, arithmetic
   soon makes infinities, and a model could then not be asked for any row. */
static const float farthest = 1.8e19F;

/* The features of a number or date, and its bins; out[] is zeroed. */
static enum tutti_status encode_number(tutti_context *context, const struct tutti_encoding *encoding,
                                       const struct tutti_data_column *column, const tutti_rows *table, size_t row,
                                       size_t feature, float *out, float *bins) {
  double number;
  bool missing;
  TUTTI_TRY(context, read_number(context, encoding, column, table, row, &number, &missing));
  struct tutti_linear_scale linear = {encoding->shift[feature], encoding->scale[feature]};
  *out = (float)tutti_scaling_apply(column, &linear, number);
  if (!(fabsf(*out) <= farthest))
    return tutti_cell_fail(
        context, table, row, column->position,
        "%g is too large to compute with (scaled, it is %g); if it stands for a missing value, leave "
        "the cell empty, or name it before training (data.missing_marks)",
        number, (double)*out);
  out++;
  for (size_t c = 0; c < column->cycles; c++, out += 2) {
    double turns = number / tutti_cycle_days[c], angle = 2 * M_PI * (turns - floor(turns));
    out[0] = missing ? 0 : (float)sin(angle);
    out[1] = missing ? 0 : (float)cos(angle);
  }
  for (size_t b = 0; b < column->bins; b++)
    bins[b] = (float)tutti_scaling_bin(column, b, number);
  if (column->marks_missing)
    *out = missing;
  return TUTTI_OK;
}

/* The category of a cell; SIZE_MAX: it is none of them, and may be. */
static enum tutti_status find_category(tutti_context *context, const struct tutti_encoding *encoding,
                                       const struct tutti_data_column *column, const tutti_rows *table, size_t row,
                                       size_t *category) {
  char buffer[32];
  bool missing = tutti_rows_cell(table, row, column->position) == TUTTI_CELL_MISSING;
  *category = tutti_category_find(column, missing ? TUTTI_CATEGORY_MISSING
                                                  : tutti_category_of(table, row, column->position, buffer));
  if (*category != SIZE_MAX)
    return TUTTI_OK;
  /* Of a file in another encoding every category with an umlaut would be unknown. */
  TUTTI_TRY(context, tutti_cell_check_utf8(context, table, row, column->position));
  *category = tutti_category_find(column, TUTTI_CATEGORY_OTHER);
  if (*category != SIZE_MAX || encoding->unseen == TUTTI_UNSEEN_OTHER)
    return TUTTI_OK;
  return tutti_category_fail(context, column, table, row, column->position);
}

static enum tutti_status encode_row(tutti_context *context, const struct tutti_encoding *encoding,
                                    const tutti_rows *table, size_t row, float *out) {
  if (tutti_rows_unread(table, row))
    return tutti_row_fail(context, table, row, tutti_rows_unread(table, row));
  float *bins = out + encoding->features - tutti_encoding_bins(encoding);
  for (size_t i = 0, feature = 0; i < encoding->inputs; i++) {
    const struct tutti_data_column *column = &encoding->input[i];
    size_t category;
    if (!column->categories) {
      TUTTI_TRY(context, encode_number(context, encoding, column, table, row, feature, out + feature, bins));
      bins += column->bins;
    } else {
      TUTTI_TRY(context, find_category(context, encoding, column, table, row, &category));
      if (category != SIZE_MAX) /* `out` is zeroed */
        out[feature + category] = 1;
    }
    feature += tutti_column_features(column);
  }
  return TUTTI_OK;
}

enum tutti_status tutti_encoding_label(tutti_context *context, const struct tutti_encoding *encoding,
                                       const tutti_rows *table, size_t row, int32_t *label) {
  char buffer[32];
  const struct tutti_data_column *column = &encoding->target[0];
  size_t class = tutti_category_find(column, tutti_category_of(table, row, column->position, buffer));
  if (class == SIZE_MAX)
    TUTTI_TRY(context, tutti_cell_check_utf8(context, table, row, column->position));
  if (class == SIZE_MAX)
    return tutti_category_fail(context, column, table, row, column->position);
  *label = (int32_t) class;
  return TUTTI_OK;
}

static float standardised(const struct tutti_encoding *encoding, size_t target, double raw) {
  double value = raw - encoding->target_origin[target];
  return (float)((value - encoding->target_shift[target]) / encoding->target_scale[target]);
}

enum tutti_status tutti_encoding_standardise(tutti_context *context, const struct tutti_encoding *encoding,
                                             tutti_split *split) {
  size_t targets = encoding->targets;
  TUTTI_TRY(context, tutti_alloc(context, split->rows * targets, sizeof *split->targets, &split->targets));
  for (size_t i = 0; i < split->rows * targets; i++)
    split->targets[i] = standardised(encoding, i % targets, split->raw_targets[i]);
  return TUTTI_OK;
}

/* Room for the targets of all rows, zeros; encode_target: those of one. */
static enum tutti_status begin_targets(tutti_context *context, const struct tutti_encoding *encoding,
                                       tutti_split *split) {
  size_t count = split->rows * encoding->targets;
  if (!encoding->target_scale)
    return tutti_alloc(context, split->rows, sizeof *split->labels, &split->labels);
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof *split->targets, &split->targets));
  return tutti_alloc(context, count, sizeof *split->raw_targets, &split->raw_targets);
}

static enum tutti_status encode_target(tutti_context *context, const struct tutti_encoding *encoding,
                                       const tutti_rows *table, tutti_split *split, size_t r) {
  size_t targets = encoding->targets, row = split->source_rows[r];
  if (!encoding->target_scale)
    return tutti_encoding_label(context, encoding, table, row, &split->labels[r]);
  for (size_t t = 0; t < targets; t++) {
    size_t position = encoding->target[t].position;
    double raw = tutti_rows_number(table, row, position);
    float scaled = standardised(encoding, t, raw);
    if (tutti_rows_cell(table, row, position) != TUTTI_CELL_NUMBER || !isfinite(scaled))
      return tutti_cell_fail(context, table, row, position, "expected a finite number as target");
    split->raw_targets[r * targets + t] = raw;
    split->targets[r * targets + t] = scaled;
  }
  return TUTTI_OK;
}

enum tutti_status tutti_encoding_copy_scaling(tutti_context *context, const struct tutti_encoding *encoding,
                                              tutti_split *split) {
  size_t bytes = encoding->targets * sizeof(double);
  TUTTI_TRY(context, tutti_alloc(context, bytes, 1, &split->scale));
  TUTTI_TRY(context, tutti_alloc(context, bytes, 1, &split->shift));
  TUTTI_TRY(context, tutti_alloc(context, bytes, 1, &split->origin));
  memcpy(split->scale, encoding->target_scale, bytes);
  memcpy(split->shift, encoding->target_shift, bytes);
  memcpy(split->origin, encoding->target_origin, bytes);
  return TUTTI_OK;
}

bool tutti_encoding_has_origin(const struct tutti_encoding *encoding) {
  for (size_t t = 0; encoding->target_origin && t < encoding->targets; t++)
    if (encoding->target_origin[t] != 0)
      return true;
  return false;
}

enum tutti_status tutti_encoding_centre(tutti_context *context, const struct tutti_encoding *encoding,
                                        tutti_split *split) {
  size_t targets = encoding->targets;
  if (!tutti_encoding_has_origin(encoding))
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_alloc(context, split->rows * targets, sizeof *split->values, &split->values));
  for (size_t row = 0; row < split->rows; row++)
    for (size_t t = 0; t < targets; t++)
      split->values[row * targets + t] = split->raw_targets[row * targets + t] - encoding->target_origin[t];
  return TUTTI_OK;
}

/* A split of these rows, with room for their inputs, and with the scaling of their targets. */
static enum tutti_status begin_split(tutti_context *context, const struct tutti_encoding *encoding, const char *name,
                                     size_t count, const uint32_t *rows, tutti_split **split) {
  tutti_split *begun;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *begun, split));
  begun = *split;
  begun->rows = count;
  begun->outputs = tutti_encoding_outputs(encoding);
  begun->input = (struct tutti_shape){1, 1, (int32_t)encoding->features};
  TUTTI_TRY(context, tutti_strdup(context, name, &begun->name));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof *rows, &begun->source_rows));
  if (count)
    memcpy(begun->source_rows, rows, count * sizeof *rows);
  TUTTI_TRY(context, tutti_alloc(context, count, encoding->features * sizeof(float), &begun->inputs));
  return encoding->target_scale ? tutti_encoding_copy_scaling(context, encoding, begun) : TUTTI_OK;
}

enum tutti_status tutti_encoding_split(tutti_context *context, const struct tutti_encoding *encoding,
                                       const tutti_rows *table, const char *name, size_t count, const uint32_t *rows,
                                       bool targets, tutti_split **out) {
  enum tutti_status status = TUTTI_OK;
  tutti_split *split = NULL;
  *out = NULL;
  TUTTI_TRY_OUT(context, begin_split(context, encoding, name, count, rows, &split));
  if (targets)
    TUTTI_TRY_OUT(context, begin_targets(context, encoding, split));
  for (size_t r = 0; r < count; r++) { /* all of a row, so that the first that is wrong is named */
    TUTTI_TRY_OUT(context, encode_row(context, encoding, table, rows[r], split->inputs + r * encoding->features));
    if (targets)
      TUTTI_TRY_OUT(context, encode_target(context, encoding, table, split, r));
  }
  if (targets && encoding->target_scale)
    TUTTI_TRY_OUT(context, tutti_encoding_centre(context, encoding, split));
  *out = split;
  split = NULL;
out:
  tutti_split_destroy(split);
  return status;
}

/* --- what models have not learnt --- */

/* What a category counts as that is not listed. */
static const char *stand_in(const struct tutti_data_column *column) {
  return tutti_category_find(column, TUTTI_CATEGORY_OTHER) != SIZE_MAX ? "as " TUTTI_CATEGORY_OTHER
                                                                       : "as none of the known ones";
}

/* Was the column whole in training, and nothing marks a cell that is missing now? */
static bool hides_missing(const struct tutti_encoding *encoding, const struct tutti_data_column *column) {
  if (column->categories)
    return tutti_category_find(column, TUTTI_CATEGORY_MISSING) == SIZE_MAX;
  return column->whole || (!column->marks_missing && encoding->missing == TUTTI_MISSING_INDICATOR);
}

/* A column that was whole in training has the mean where a cell is missing now, or is of another category or of none:
   models have never seen that, and their intervals do not know of it. */
static void warn_of_missing(tutti_context *context, const struct tutti_encoding *encoding, const tutti_rows *table,
                            const tutti_split *split) {
  for (size_t i = 0; i < encoding->inputs; i++) {
    const struct tutti_data_column *column = &encoding->input[i];
    size_t missing = 0;
    if (!hides_missing(encoding, column))
      continue;
    for (size_t r = 0; r < split->rows; r++)
      missing += !(split->unread && split->unread[r]) &&
                 tutti_rows_cell(table, split->source_rows[r], column->position) == TUTTI_CELL_MISSING;
    if (missing > 0)
      tutti_log(context, TUTTI_LOG_WARNING,
                "%s: column '%s' has no value in %zu of %zu %s, and each training row had one: %s%s, and predictions "
                "are less certain than they say",
                tutti_rows_origin(table), column->name, missing, split->rows, tutti_plural(split->rows, "row", "rows"),
                column->categories ? "it counts " : "the mean stands for it",
                column->categories ? stand_in(column) : "");
  }
}

/* How many rows have a category in this column that training did not list; *first: one of them. */
static size_t count_unlisted(const struct tutti_data_column *column, const tutti_rows *table, const tutti_split *split,
                             uint32_t *first) {
  size_t count = 0;
  for (size_t r = split->rows; r-- > 0;) {
    char buffer[32];
    const uint32_t row = split->source_rows[r];
    if ((split->unread && split->unread[r]) || tutti_rows_cell(table, row, column->position) == TUTTI_CELL_MISSING ||
        tutti_category_find(column, tutti_category_of(table, row, column->position, buffer)) != SIZE_MAX)
      continue;
    count++;
    *first = row;
  }
  return count;
}

/* Categories that are not listed: rare ones of training, or new ones, of which models know nothing. */
static void warn_of_unlisted(tutti_context *context, const struct tutti_encoding *encoding, const tutti_rows *table,
                             const tutti_split *split) {
  for (size_t i = 0; i < encoding->inputs; i++) {
    const struct tutti_data_column *column = &encoding->input[i];
    char buffer[32];
    uint32_t first = 0;
    size_t count = column->categories ? count_unlisted(column, table, split, &first) : 0;
    if (count > 0)
      tutti_log(context, TUTTI_LOG_WARNING,
                "%s: column '%s' has a value in %zu of %zu %s that was rare or absent in training, as '%.60s': it "
                "counts %s, and predictions may be less certain than they say",
                tutti_rows_origin(table), column->name, count, split->rows, tutti_plural(split->rows, "row", "rows"),
                tutti_category_of(table, first, column->position, buffer), stand_in(column));
  }
}

void tutti_encoding_warn(tutti_context *context, const struct tutti_encoding *encoding, const tutti_rows *table,
                         const tutti_split *split) {
  warn_of_missing(context, encoding, table, split);
  warn_of_unlisted(context, encoding, table, split);
}

/* --- new rows, which may be wrong --- */

enum { TOLD = 10 }; /* warnings of single rows */

/* Encode what can be encoded; *unread counts the rest. */
static enum tutti_status encode_readable(tutti_context *context, const struct tutti_encoding *encoding,
                                         const tutti_rows *table, tutti_split *split, size_t *unread) {
  *unread = 0;
  for (size_t r = 0; r < split->rows; r++) {
    float *inputs = split->inputs + r * encoding->features;
    enum tutti_status status = encode_row(context, encoding, table, split->source_rows[r], inputs);
    if (status != TUTTI_OK && status != TUTTI_ERROR_USAGE)
      return status;
    if (status == TUTTI_OK)
      continue;
    if (!split->unread)
      TUTTI_TRY(context, tutti_alloc(context, split->rows, sizeof *split->unread, &split->unread));
    TUTTI_TRY(context, tutti_strdup(context, tutti_error_message(context), &split->unread[r]));
    if (++*unread == split->rows) /* none is left to be predicted */
      return tutti_error_prefix(context, status, "none of %zu %s can be read; the last: ", split->rows,
                                tutti_plural(split->rows, "row", "rows"));
    memset(inputs, 0, encoding->features * sizeof *inputs);
    if (*unread <= TOLD)
      tutti_log(context, TUTTI_LOG_WARNING, "%s", tutti_error_message(context));
    tutti_error_clear(context);
  }
  return TUTTI_OK;
}

bool tutti_encoding_has_target(const struct tutti_encoding *encoding, const tutti_rows *table, size_t row) {
  for (size_t t = 0; t < encoding->targets; t++)
    if (tutti_rows_cell(table, row, encoding->target[t].position) == TUTTI_CELL_MISSING)
      return false;
  return true;
}

static void remove_targets(tutti_split *split) {
  tutti_free(split->targets), tutti_free(split->raw_targets), tutti_free(split->values), tutti_free(split->labels);
  tutti_free(split->unjudged);
  split->targets = NULL, split->raw_targets = NULL, split->values = NULL, split->labels = NULL, split->unjudged = NULL;
}

/* Can the prediction for this row be judged? If its target is wrong, a warning may say so. */
static enum tutti_status judge_row(tutti_context *context, const struct tutti_encoding *encoding,
                                   const tutti_rows *table, tutti_split *split, size_t row, bool tell, bool *judged) {
  *judged =
      !(split->unread && split->unread[row]) && tutti_encoding_has_target(encoding, table, split->source_rows[row]);
  enum tutti_status status = *judged ? encode_target(context, encoding, table, split, row) : TUTTI_OK;
  if (status != TUTTI_ERROR_USAGE)
    return status;
  if (tell)
    tutti_log(context, TUTTI_LOG_WARNING, "%s", tutti_error_message(context));
  tutti_error_clear(context);
  *judged = false;
  return TUTTI_OK;
}

/* The targets of those rows that have one and could be read. */
static enum tutti_status add_readable_targets(tutti_context *context, const struct tutti_encoding *encoding,
                                              const tutti_rows *table, tutti_split *split) {
  size_t without = 0;
  TUTTI_TRY(context, begin_targets(context, encoding, split));
  TUTTI_TRY(context, tutti_alloc(context, split->rows, 1, &split->unjudged));
  for (size_t r = 0; r < split->rows; r++) {
    bool judged;
    TUTTI_TRY(context, judge_row(context, encoding, table, split, r, without < TOLD, &judged));
    split->unjudged[r] = !judged;
    without += !judged;
  }
  if (without > 0 && without < split->rows)
    tutti_log(context, TUTTI_LOG_WARNING, "%s: metrics are of the %zu of %zu rows with a target and a prediction",
              tutti_rows_origin(table), split->rows - without, split->rows);
  if (without == split->rows) {
    tutti_log(context, TUTTI_LOG_WARNING, "%s: none of %zu %s has a target and a prediction: there are no metrics",
              tutti_rows_origin(table), split->rows, tutti_plural(split->rows, "row", "rows"));
    remove_targets(split);
    return TUTTI_OK;
  }
  if (without == 0) {
    tutti_free(split->unjudged);
    split->unjudged = NULL;
  }
  return encoding->target_scale ? tutti_encoding_centre(context, encoding, split) : TUTTI_OK;
}

enum tutti_status tutti_encoding_split_new(tutti_context *context, const struct tutti_encoding *encoding,
                                           const tutti_rows *table, const char *name, size_t count,
                                           const uint32_t *rows, bool targets, tutti_split **out) {
  enum tutti_status status = TUTTI_OK;
  tutti_split *split = NULL;
  size_t unread = 0;
  *out = NULL;
  TUTTI_TRY_OUT(context, begin_split(context, encoding, name, count, rows, &split));
  TUTTI_TRY_OUT(context, encode_readable(context, encoding, table, split, &unread));
  if (unread > 0)
    tutti_log(context, TUTTI_LOG_WARNING, "%s: %zu of %zu %s cannot be read; %s left empty", tutti_rows_origin(table),
              unread, count, tutti_plural(count, "row", "rows"),
              tutti_plural(unread, "its prediction is", "their predictions are"));
  if (targets)
    TUTTI_TRY_OUT(context, add_readable_targets(context, encoding, table, split));
  *out = split;
  split = NULL;
out:
  tutti_split_destroy(split);
  return status;
}
