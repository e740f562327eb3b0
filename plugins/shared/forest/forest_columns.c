/* forest_columns.c - the data by columns: which columns vary, which have only two values, and the sorted order of the
   others. */
#include <string.h>

#include "forest_grow_impl.h"

enum kind { CONSTANT, TWO_VALUED, NUMERIC };

/* The kind of a column and, if it has two values, these values, the rarer one first. */
static enum kind kind_of(const struct forest_data *data, size_t column, double values[2]) {
  const double *x = data->vectors + column;
  size_t first = 0, second = 0;
  double one = x[0], other = one;
  for (size_t i = 0; i < data->count; i++) {
    double value = x[i * data->dimension];
    if (value == one)
      first++;
    else if (second == 0 || value == other)
      other = value, second++;
    else
      return NUMERIC;
  }
  values[0] = second <= first ? other : one;
  values[1] = second <= first ? one : other;
  return second ? TWO_VALUED : CONSTANT;
}

/* Merge sort, because it is stable: equal values stay in the order of their rows. */
static void sort_rows(const double *x, size_t count, uint32_t *rows, uint32_t *spare) {
  uint32_t *from = rows, *to = spare;
  for (size_t i = 0; i < count; i++)
    rows[i] = (uint32_t)i;
  for (size_t width = 1; width < count; width *= 2) {
    for (size_t begin = 0; begin < count; begin += 2 * width) {
      size_t middle = begin + width < count ? begin + width : count;
      size_t end = begin + 2 * width < count ? begin + 2 * width : count;
      for (size_t a = begin, b = middle, k = begin; k < end; k++)
        to[k] = a < middle && (b == end || x[from[a]] <= x[from[b]]) ? from[a++] : from[b++];
    }
    uint32_t *merged = to;
    to = from;
    from = merged;
  }
  if (from != rows)
    memcpy(rows, from, count * sizeof *rows);
}

/* Number the columns that vary, numeric ones first. */
static enum tutti_status number_columns(tutti_context *context, const struct forest_data *data,
                                        struct forest_columns *columns) {
  double(*values)[2];
  size_t two_valued = 0;
  TUTTI_TRY(context, tutti_alloc(context, data->dimension, sizeof *values, &values));
  for (size_t j = 0; j < data->dimension; j++) {
    enum kind kind = kind_of(data, j, values[j]);
    columns->known[j] = kind == CONSTANT ? FOREST_CONSTANT : kind;
    columns->numeric += kind == NUMERIC;
    two_valued += kind == TWO_VALUED;
  }
  columns->varying = columns->numeric + two_valued;
  enum tutti_status status = tutti_alloc(context, columns->varying, sizeof *columns->columns, &columns->columns);
  size_t next[] = {[TWO_VALUED] = columns->numeric, [NUMERIC] = 0};
  for (size_t j = 0; j < data->dimension && status == TUTTI_OK; j++)
    if (columns->known[j] != FOREST_CONSTANT) {
      columns->known[j] = (uint32_t)next[columns->known[j]]++;
      columns->columns[columns->known[j]] =
          (struct forest_column){.source = (uint32_t)j, .rarer = values[j][0], .other = values[j][1]};
    }
  tutti_free(values);
  return status;
}

static enum tutti_status copy_columns(tutti_context *context, const struct forest_data *data,
                                      struct forest_columns *columns) {
  size_t count = data->count;
  TUTTI_TRY(context, tutti_alloc(context, columns->varying, count * sizeof(double), &columns->x));
  for (size_t c = 0; c < columns->varying; c++) {
    double *x = columns->x + c * count;
    columns->columns[c].x = x;
    for (size_t i = 0; i < count; i++)
      x[i] = data->vectors[i * data->dimension + columns->columns[c].source];
  }
  return TUTTI_OK;
}

static enum tutti_status mark_rows(tutti_context *context, const struct forest_data *data,
                                   struct forest_columns *columns) {
  const struct forest_column *two_valued = columns->columns + columns->numeric;
  size_t count = data->count, width = columns->varying - columns->numeric, total = 0;
  TUTTI_TRY(context, tutti_alloc(context, count + 1, sizeof(size_t), &columns->first));
  for (size_t i = 0; i < count; i++) {
    const double *row = data->vectors + i * data->dimension;
    for (size_t c = 0; c < width; c++)
      total += row[two_valued[c].source] == two_valued[c].rarer;
    columns->first[i + 1] = total;
  }
  TUTTI_TRY(context, tutti_alloc(context, total, sizeof(uint32_t), &columns->marks));
  for (size_t i = 0; i < count; i++) {
    const double *row = data->vectors + i * data->dimension;
    for (size_t c = 0, next = columns->first[i]; c < width; c++)
      if (row[two_valued[c].source] == two_valued[c].rarer)
        columns->marks[next++] = (uint32_t)c;
  }
  return TUTTI_OK;
}

static enum tutti_status sort_columns(tutti_context *context, struct forest_columns *columns) {
  uint32_t *spare;
  TUTTI_TRY(context, tutti_alloc(context, columns->numeric, columns->count * sizeof(uint32_t), &columns->order));
  TUTTI_TRY(context, tutti_alloc(context, columns->count, sizeof(uint32_t), &spare));
  for (size_t c = 0; c < columns->numeric; c++)
    sort_rows(columns->columns[c].x, columns->count, columns->order + c * columns->count, spare);
  tutti_free(spare);
  return TUTTI_OK;
}

enum tutti_status forest_columns_make(tutti_context *context, const struct forest_data *data, bool sorted,
                                      struct forest_columns *columns) {
  columns->count = data->count;
  columns->dimension = data->dimension;
  TUTTI_TRY(context, tutti_alloc(context, data->dimension, sizeof(uint32_t), &columns->known));
  TUTTI_TRY(context, number_columns(context, data, columns));
  TUTTI_TRY(context, copy_columns(context, data, columns));
  TUTTI_TRY(context, mark_rows(context, data, columns));
  if (sorted)
    TUTTI_TRY(context, sort_columns(context, columns));
  return TUTTI_OK;
}

void forest_columns_clear(struct forest_columns *columns) {
  tutti_free(columns->columns);
  tutti_free(columns->known);
  tutti_free(columns->x);
  tutti_free(columns->order);
  tutti_free(columns->first);
  tutti_free(columns->marks);
}
