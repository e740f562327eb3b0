/* apply.c - new rows through the encoding of a data set: columns by name where both have names, else by position. */
#include <math.h>
#include <string.h>

#include "images_impl.h"

static bool ends_in_npy(const char *path) {
  size_t length = strlen(path);
  return length >= 4 && strcmp(path + length - 4, ".npy") == 0;
}

static enum tutti_status read_rows(tutti_context *context, const struct tutti_encoding *encoding, const char *path,
                                   struct tutti_table **table) {
  if (ends_in_npy(path))
    return tutti_npy_table(context, path, NULL, table);
  return tutti_csv_read(context, path, encoding->header ? TUTTI_HEADER_YES : TUTTI_HEADER_AUTO,
                        (enum tutti_delimiter)encoding->delimiter, table);
}

static size_t position_of(const struct tutti_table *table, const char *name) {
  size_t i = 0;
  while (i < table->columns && strcmp(table->names[i], name) != 0)
    i++;
  return i;
}

/* Find the columns by name; *targets says whether all targets are there. */
static enum tutti_status match_names(tutti_context *context, struct tutti_encoding *encoding,
                                     const struct tutti_table *table, bool *targets) {
  for (size_t i = 0; i < encoding->inputs; i++) {
    const char *name = encoding->input[i].name;
    encoding->input[i].position = position_of(table, name);
    if (encoding->input[i].position < table->columns)
      continue;
    const char *closest = tutti_closest_name(name, table->columns, (const char *const *)table->names);
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: expected a header with the %zu input columns of the training data; there is no '%s'%s%s%s",
                      table->source, encoding->inputs, name, closest ? "; is it '" : "", closest ? closest : "",
                      closest ? "'?" : "");
  }
  *targets = true;
  for (size_t t = 0; t < encoding->targets; t++) {
    encoding->target[t].position = position_of(table, encoding->target[t].name);
    *targets = *targets && encoding->target[t].position < table->columns;
  }
  return TUTTI_OK;
}

/* Targets that stood before an input, whose places are gone where the targets are left out. */
static size_t targets_before(const struct tutti_encoding *encoding, size_t position) {
  size_t count = 0;
  for (size_t t = 0; t < encoding->targets; t++)
    count += encoding->target[t].position < position;
  return count;
}

static enum tutti_status match_positions(tutti_context *context, struct tutti_encoding *encoding,
                                         const struct tutti_table *table, bool *targets) {
  size_t all = encoding->source_columns, bare = all - encoding->targets;
  *targets = table->columns == all;
  if (*targets)
    return TUTTI_OK;
  if (table->columns != bare)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: expected %zu columns as in the training data, or %zu without the targets; found %zu",
                      table->source, all, bare, table->columns);
  for (size_t i = 0; i < encoding->inputs; i++)
    encoding->input[i].position -= targets_before(encoding, encoding->input[i].position);
  return TUTTI_OK;
}

/* Targets that are to be predicted may stand there as empty cells. */
static bool any_target(const struct tutti_encoding *encoding, const struct tutti_table *table) {
  for (size_t r = 0; r < table->rows; r++)
    for (size_t t = 0; t < encoding->targets; t++)
      if (tutti_table_cell(table, r, encoding->target[t].position) != TUTTI_CELL_MISSING)
        return true;
  return false;
}

enum tutti_status tutti_dataset_apply(tutti_context *context, const char *json, const char *path, tutti_split **split) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_encoding *encoding = NULL;
  struct tutti_table *table = NULL;
  uint32_t *rows = NULL;
  bool targets = false;
  *split = NULL;
  TUTTI_TRY_OUT(context, tutti_encoding_parse(context, json, &encoding));
  if (encoding->image.height) {
    status = tutti_images_apply(context, encoding, path, "new", true, split);
    goto out;
  }
  TUTTI_TRY_OUT(context, read_rows(context, encoding, path, &table));
  TUTTI_TRY_OUT(context, encoding->header && table->header ? match_names(context, encoding, table, &targets)
                                                           : match_positions(context, encoding, table, &targets));
  TUTTI_TRY_OUT(context, tutti_alloc(context, table->rows, sizeof *rows, &rows));
  for (size_t r = 0; r < table->rows; r++)
    rows[r] = (uint32_t)r;
  targets = targets && any_target(encoding, table);
  TUTTI_TRY_OUT(context, tutti_encoding_split(context, encoding, table, "new", table->rows, rows, targets, split));
out:
  tutti_free(rows);
  tutti_table_destroy(table);
  tutti_encoding_destroy(encoding);
  return status;
}
