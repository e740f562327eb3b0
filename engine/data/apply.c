/* apply.c - encodes new rows like those of a data set: columns are matched by name if both have names, otherwise by
   position. */
#include <string.h>

#include "apply_impl.h"
#include "cells_impl.h"
#include "loading_impl.h"
#include "reword_impl.h"

#include <tutti/data.h>
#include <tutti/names.h>

/* Is what should name the columns a row of numbers? Empty cells have names of their own. */
static bool has_number_names(const tutti_rows *table) {
  double number;
  size_t numbers = 0, columns = tutti_rows_columns(table);
  for (size_t c = 0; c < columns; c++)
    numbers += tutti_cell_read(tutti_rows_names(table)[c], &number) == TUTTI_CELL_NUMBER;
  return numbers > 0 && 2 * numbers >= columns;
}

/* An input is missing: were the names written in another encoding? */
static enum tutti_status check_names(tutti_context *context, const tutti_rows *table) {
  for (size_t c = 0; c < tutti_rows_columns(table); c++)
    TUTTI_TRY(context, tutti_name_check_utf8(context, table, c));
  return TUTTI_OK;
}

/* The column of the table that was probably meant by an input's name: one that is nothing else. */
static enum tutti_status find_meant(tutti_context *context, const struct tutti_encoding *encoding,
                                    const tutti_rows *table, const char *name, const char **meant) {
  size_t columns = tutti_rows_columns(table);
  const char **names;
  TUTTI_TRY(context, tutti_alloc(context, columns, sizeof *names, (void *)&names));
  memcpy(names, tutti_rows_names(table), columns * sizeof *names);
  for (size_t i = 0; i < encoding->inputs + encoding->targets; i++) {
    const struct tutti_data_column *column =
        i < encoding->inputs ? &encoding->input[i] : &encoding->target[i - encoding->inputs];
    size_t other = tutti_rows_find(table, column->name);
    if (other != SIZE_MAX)
      names[other] = NULL;
  }
  *meant = tutti_closest_name(name, columns, names);
  tutti_free(names);
  return TUTTI_OK;
}

/* Find the columns by name; *targets says whether all targets are there. */
static enum tutti_status match_names(tutti_context *context, struct tutti_encoding *encoding, const tutti_rows *table,
                                     bool *targets) {
  for (size_t i = 0; i < encoding->inputs; i++) {
    double number;
    const char *name = encoding->input[i].name;
    encoding->input[i].position = tutti_rows_find(table, name);
    if (encoding->input[i].position != SIZE_MAX)
      continue;
    if (has_number_names(table) && tutti_cell_read(name, &number) != TUTTI_CELL_NUMBER)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "%s: expected a header with the %zu input %s of the training data, as '%s'; found numbers "
                        "in place of names: put the header above the first line, or name the columns",
                        tutti_rows_origin(table), encoding->inputs, tutti_plural(encoding->inputs, "column", "columns"),
                        name);
    TUTTI_TRY(context, check_names(context, table));
    const char *closest;
    TUTTI_TRY(context, find_meant(context, encoding, table, name, &closest));
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: expected a header with the %zu input %s of the training data; there is no '%s'%s%s%s",
                      tutti_rows_origin(table), encoding->inputs, tutti_plural(encoding->inputs, "column", "columns"),
                      name, closest ? "; is it '" : "", closest ? closest : "", closest ? "'?" : "");
  }
  *targets = true;
  for (size_t t = 0; t < encoding->targets; t++) {
    encoding->target[t].position = tutti_rows_find(table, encoding->target[t].name);
    *targets = *targets && encoding->target[t].position != SIZE_MAX;
  }
  return TUTTI_OK;
}

/* Targets that stood before an input; their positions do not exist if the targets are left out. */
static size_t targets_before(const struct tutti_encoding *encoding, size_t position) {
  size_t count = 0;
  for (size_t t = 0; t < encoding->targets; t++)
    count += encoding->target[t].position < position;
  return count;
}

static enum tutti_status match_positions(tutti_context *context, struct tutti_encoding *encoding,
                                         const tutti_rows *table, bool *targets) {
  size_t all = encoding->source_columns, bare = all - encoding->targets, found = tutti_rows_columns(table);
  *targets = found == all;
  if (found != all && found != bare && found != encoding->inputs)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: expected %zu columns as in the training data, %zu without the targets, or the %zu %s "
                      "alone; found %zu",
                      tutti_rows_origin(table), all, bare, encoding->inputs,
                      tutti_plural(encoding->inputs, "input", "inputs"), found);
  for (size_t i = 0; i < encoding->inputs && !*targets; i++)
    encoding->input[i].position =
        found == bare ? encoding->input[i].position - targets_before(encoding, encoding->input[i].position) : i;
  return TUTTI_OK;
}

/* Targets that are to be predicted may be present as empty cells. Metrics would then be of other rows than predictions:
   they are left out, and that is said. */
static bool all_have_targets(tutti_context *context, const struct tutti_encoding *encoding, const tutti_rows *table) {
  size_t rows = tutti_rows_count(table), without = 0, first = 0;
  for (size_t r = rows; r-- > 0;)
    if (!tutti_rows_unread(table, r) && !tutti_encoding_has_target(encoding, table, r)) {
      without++;
      first = r;
    }
  if (without > 0)
    tutti_log(context, TUTTI_LOG_WARNING,
              "%s: %zu of %zu %s, the first of them row %zu, %s no target; %s predicted, and there are no "
              "metrics",
              tutti_rows_origin(table), without, rows, tutti_plural(rows, "row", "rows"), first,
              tutti_plural(without, "has", "have"), tutti_plural(without, "it is", "they are"));
  return without == 0;
}

static enum tutti_status match(tutti_context *context, struct tutti_encoding *encoding, const tutti_rows *table,
                               bool *targets) {
  *targets = false;
  return encoding->named && tutti_rows_named(table) ? match_names(context, encoding, table, targets)
                                                    : match_positions(context, encoding, table, targets);
}

/* Encode the rows of a table whose columns are matched; `tolerant`: those that can be read. */
static enum tutti_status apply_table(tutti_context *context, const struct tutti_encoding *encoding,
                                     const tutti_rows *table, bool targets, bool tolerant, tutti_split **split) {
  enum tutti_status status;
  uint32_t *rows = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, tutti_rows_count(table), sizeof *rows, &rows));
  for (size_t r = 0; r < tutti_rows_count(table); r++)
    rows[r] = (uint32_t)r;
  targets = targets && (tolerant || all_have_targets(context, encoding, table));
  TUTTI_TRY_OUT(context, (tolerant ? tutti_encoding_split_new : tutti_encoding_split)(
                             context, encoding, table, "new", tutti_rows_count(table), rows, targets, split));
  tutti_encoding_warn(context, encoding, table, *split);
out:
  tutti_free(rows);
  return status;
}

/* The names of the columns that are used, as a request has them; NULL where columns have none. */
static enum tutti_status list_columns(tutti_context *context, const struct tutti_encoding *encoding,
                                      const char ***columns) {
  if (!encoding->named)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_alloc(context, encoding->inputs + encoding->targets + 1, sizeof **columns, columns));
  for (size_t i = 0; i < encoding->inputs; i++)
    (*columns)[i] = encoding->input[i].name;
  for (size_t t = 0; t < encoding->targets; t++)
    (*columns)[encoding->inputs + t] = encoding->target[t].name;
  return TUTTI_OK;
}

enum tutti_status tutti_dataset_apply(tutti_context *context, const char *json, const char *path, tutti_split **split) {
  return tutti_dataset_apply_to(context, json, path, false, split);
}

enum tutti_status tutti_dataset_apply_to(tutti_context *context, const char *json, const char *path, bool tolerant,
                                         tutti_split **split) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_encoding *encoding = NULL;
  tutti_rows *table = NULL;
  const char **columns = NULL;
  bool targets;
  *split = NULL;
  TUTTI_TRY_OUT(context, tutti_encoding_parse(context, json, &encoding));
  if (encoding->image.height) {
    status = tutti_images_apply(context, encoding, path, "new", true, split);
    goto out;
  }
  TUTTI_TRY_OUT(context, list_columns(context, encoding, &columns));
  TUTTI_TRY_OUT(context,
                tutti_read_new(context, &encoding->origin, path, encoding->named, columns, TUTTI_ROWS_TABLE, &table));
  TUTTI_TRY_OUT(context, match(context, encoding, table, &targets));
  TUTTI_TRY_OUT(context, apply_table(context, encoding, table, targets, tolerant, split));
out:
  tutti_free(columns);
  tutti_rows_destroy(table);
  tutti_encoding_destroy(encoding);
  return status;
}

/* Encode rows of an application, with a copy of the columns, whose positions are found anew. */
static enum tutti_status encode_table(tutti_context *context, const struct tutti_encoding *encoding,
                                      const tutti_rows *table, bool tolerant, tutti_split **split) {
  enum tutti_status status;
  struct tutti_encoding own = *encoding;
  tutti_rows *reworded = NULL;
  bool targets;
  own.input = own.target = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, own.inputs, sizeof *own.input, &own.input));
  TUTTI_TRY_OUT(context, tutti_alloc(context, own.targets, sizeof *own.target, &own.target));
  memcpy(own.input, encoding->input, own.inputs * sizeof *own.input);
  memcpy(own.target, encoding->target, own.targets * sizeof *own.target);
  TUTTI_TRY_OUT(context, match(context, &own, table, &targets));
  TUTTI_TRY_OUT(context, tutti_reword(context, &own, table, targets, &reworded));
  TUTTI_TRY_OUT(context, apply_table(context, &own, reworded ? reworded : table, targets, tolerant, split));
out:
  tutti_rows_destroy(reworded);
  tutti_free(own.input);
  tutti_free(own.target);
  return status;
}

enum tutti_status tutti_dataset_encode(tutti_context *context, const tutti_dataset *dataset, const tutti_rows *rows,
                                       tutti_split **split) {
  return tutti_dataset_encode_to(context, dataset, rows, false, split);
}

enum tutti_status tutti_dataset_encode_to(tutti_context *context, const tutti_dataset *dataset, const tutti_rows *rows,
                                          bool tolerant, tutti_split **split) {
  const struct tutti_encoding *encoding = dataset->encoding;
  bool images = encoding->image.height != 0;
  *split = NULL;
  TUTTI_TRY(context, tutti_check_rows_wanted(context, tutti_rows_origin(rows),
                                             images ? TUTTI_ROWS_IMAGES : TUTTI_ROWS_TABLE, rows));
  return images ? tutti_images_encode_new(context, encoding, rows, "new", true, split)
                : encode_table(context, encoding, rows, tolerant, split);
}

size_t tutti_dataset_inputs(const tutti_dataset *dataset) {
  return dataset->encoding->image.height ? 0 : dataset->encoding->inputs;
}

const char *tutti_dataset_input(const tutti_dataset *dataset, size_t index) {
  return dataset->encoding->input[index].name;
}
