/* fit_files.c - the arrays of a fit as .npy: a row a point, with its inputs, then its target, its mean and its
   deviation as far as they are known; and the picture. */
#include "fit_impl.h"

#include "core/base/file_impl.h"

#include <string.h>
#include <tutti/npy.h>

static enum tutti_status write_points(tutti_context *context, const struct tutti_fit_points *points, size_t inputs,
                                      const char *folder, const char *name) {
  const double *const columns[] = {points->targets, points->mean, points->deviation};
  size_t width = inputs;
  double *table = NULL;
  char *path = NULL;
  enum tutti_status status;
  for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++)
    width += columns[c] != NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, points->rows * width, sizeof *table, &table));
  for (size_t i = 0; i < points->rows; i++) {
    double *row = table + i * width;
    memcpy(row, points->inputs + i * inputs, inputs * sizeof *row);
    row += inputs;
    for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++)
      if (columns[c])
        *row++ = columns[c][i];
  }
  const size_t shape[2] = {points->rows, width};
  TUTTI_TRY_OUT(context, tutti_format(context, &path, "%s/%s", folder, name));
  TUTTI_TRY_OUT(context, tutti_npy_write(context, path, TUTTI_F64, 2, shape, table));
out:
  tutti_free(table);
  tutti_free(path);
  return status;
}

static enum tutti_status write_picture(tutti_context *context, const struct tutti_fit *fit,
                                       const struct tutti_fit_result *result, const char *folder, const char *name) {
  enum tutti_status status;
  char *path = NULL, *svg = NULL;
  TUTTI_TRY_OUT(context, tutti_fit_draw(context, fit, result, &svg));
  TUTTI_TRY_OUT(context, tutti_format(context, &path, "%s/%s", folder, name));
  TUTTI_TRY_OUT(context, tutti_file_write_text(context, path, svg));
out:
  tutti_free(svg);
  tutti_free(path);
  return status;
}

enum tutti_status tutti_fit_write(tutti_context *context, const struct tutti_fit *fit,
                                  const struct tutti_fit_result *result, const char *folder,
                                  const char *names[TUTTI_FIT_FILES]) {
  static const char *const files[TUTTI_FIT_FILES] = {"train-points.npy", "test-points.npy", "grid-points.npy",
                                                     "picture.svg"};
  const struct tutti_fit_points *const points[] = {&result->train, &result->test, &result->grid};
  for (size_t f = 0; f < TUTTI_FIT_FILES; f++)
    names[f] = NULL;
  for (size_t p = 0; p < sizeof points / sizeof points[0]; p++)
    if (points[p]->rows > 0) {
      TUTTI_TRY(context, write_points(context, points[p], result->inputs, folder, files[p]));
      names[p] = files[p];
    }
  if (result->grid.rows > 0) {
    TUTTI_TRY(context, write_picture(context, fit, result, folder, files[TUTTI_FIT_FILES - 1]));
    names[TUTTI_FIT_FILES - 1] = files[TUTTI_FIT_FILES - 1];
  }
  return TUTTI_OK;
}
