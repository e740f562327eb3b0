/* npy_table.c - arrays as tables. */
#include <string.h>

#include "engine/data/data_impl.h"

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

enum tutti_status tutti_npy_map_users(tutti_context *context, const char *path, struct tutti_npy *array) {
  enum tutti_status status = tutti_npy_map(context, path, array);
  if (status == TUTTI_ERROR_CORRUPT || status == TUTTI_ERROR_IO) {
    char message[1024];
    (void)strncpy(message, tutti_error_message(context), sizeof message - 1);
    message[sizeof message - 1] = '\0';
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s", message);
  }
  return status;
}

/* Map a file that shall be [rows] or [rows][columns]. */
static enum tutti_status map_matrix(tutti_context *context, const char *path, struct tutti_npy *array,
                                    size_t *columns) {
  TUTTI_TRY(context, tutti_npy_map_users(context, path, array));
  if (array->rank < 1 || array->rank > 2 || array->count == 0) {
    size_t rank = array->rank, count = array->count;
    tutti_npy_unmap(array);
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "%s: expected an array [rows] or [rows][columns] that is not empty, found %zu sizes and %zu elements", path,
        rank, count);
  }
  *columns = array->rank == 2 ? array->shape[1] : 1;
  return TUTTI_OK;
}

enum tutti_status tutti_npy_table(tutti_context *context, const char *path, const char *target_path,
                                  struct tutti_table **table) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_npy inputs = {0}, targets = {0};
  size_t columns = 0, behind = 0;
  *table = NULL;
  TUTTI_TRY_OUT(context, map_matrix(context, path, &inputs, &columns));
  if (target_path) {
    TUTTI_TRY_OUT(context, map_matrix(context, target_path, &targets, &behind));
    if (targets.shape[0] != inputs.shape[0]) {
      status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s has %zu rows, but %s has %zu", target_path, targets.shape[0],
                          path, inputs.shape[0]);
      goto out;
    }
  }
  TUTTI_TRY_OUT(context, tutti_table_create(context, path, inputs.shape[0], columns + behind, table));
  (*table)->target_columns = behind;
  for (size_t r = 0; r < (*table)->rows; r++) {
    double *row = (*table)->numbers + r * (columns + behind);
    for (size_t c = 0; c < columns; c++)
      row[c] = element_at(&inputs, r * columns + c);
    for (size_t c = 0; c < behind; c++)
      row[columns + c] = element_at(&targets, r * behind + c);
  }
out:
  tutti_npy_unmap(&inputs);
  tutti_npy_unmap(&targets);
  return status;
}
