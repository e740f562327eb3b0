/* npy_table.c - arrays as tables. */
#include "npy_impl.h"

static double element_at(const struct tutti_npy *array, size_t index) {
  switch (array->element) {
  case TUTTI_F32:
    return (double)((const float *)array->data)[index];
  case TUTTI_F64:
    return ((const double *)array->data)[index];
  case TUTTI_I32:
    return ((const int32_t *)array->data)[index];
  case TUTTI_I64:
    return (double)((const int64_t *)array->data)[index];
  default:
    return ((const uint8_t *)array->data)[index];
  }
}

/* Map a file that must hold [rows] or [rows][columns]. */
static enum tutti_status map_matrix(tutti_context *context, const char *path, struct tutti_npy *array,
                                    size_t *columns) {
  TUTTI_TRY(context, tutti_npy_read_users(context, path, array));
  if (array->rank < 1 || array->rank > 2 || array->count == 0) {
    size_t rank = array->rank, count = array->count;
    tutti_npy_unmap(array);
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: expected an array [rows] or [rows][columns] that is not empty, found %zu %s and %zu %s",
                      path, rank, tutti_plural(rank, "size", "sizes"), count,
                      tutti_plural(count, "element", "elements"));
  }
  *columns = array->rank == 2 ? array->shape[1] : 1;
  return TUTTI_OK;
}

/* Append the columns of a matrix. */
static enum tutti_status add_columns(tutti_context *context, const struct tutti_npy *array, size_t columns,
                                     tutti_rows *rows) {
  enum { BLOCK = 1024 };
  double numbers[BLOCK];
  size_t first = tutti_rows_columns(rows);
  for (size_t c = 0; c < columns; c++)
    TUTTI_TRY(context, tutti_rows_add_column(context, rows, NULL));
  for (size_t done = 0, count; done < array->shape[0]; done += count) {
    count = array->shape[0] - done < BLOCK ? array->shape[0] - done : BLOCK;
    for (size_t c = 0; c < columns; c++) {
      for (size_t r = 0; r < count; r++)
        numbers[r] = element_at(array, (done + r) * columns + c);
      TUTTI_TRY(context, tutti_rows_add_numbers(context, rows, first + c, count, numbers));
    }
  }
  return TUTTI_OK;
}

enum tutti_status npy_read_table(tutti_context *context, const char *path, const char *target_path, tutti_rows *rows) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_npy inputs = {0}, targets = {0};
  size_t columns = 0, behind = 0;
  TUTTI_TRY_OUT(context, map_matrix(context, path, &inputs, &columns));
  if (target_path) {
    TUTTI_TRY_OUT(context, map_matrix(context, target_path, &targets, &behind));
    if (targets.shape[0] != inputs.shape[0]) {
      status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s has %zu %s, but %s has %zu", target_path, targets.shape[0],
                          tutti_plural(targets.shape[0], "row", "rows"), path, inputs.shape[0]);
      goto out;
    }
  }
  TUTTI_TRY_OUT(context, add_columns(context, &inputs, columns, rows));
  if (target_path)
    TUTTI_TRY_OUT(context, add_columns(context, &targets, behind, rows));
  tutti_rows_set_targets(rows, behind);
out:
  tutti_npy_unmap(&inputs);
  tutti_npy_unmap(&targets);
  return status;
}
