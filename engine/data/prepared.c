/* prepared.c - a data set whose inputs are mapped. */
#include "prepared_impl.h"

#include "core/plugin/split_impl.h"
#include "loading_impl.h"

static size_t features_of(const tutti_split *split) {
  return (size_t)split->input.height * (size_t)split->input.width * (size_t)split->input.channels;
}

size_t tutti_dataset_input_bytes(const tutti_dataset *dataset) {
  size_t bytes = 0;
  if (dataset->images || dataset->folds)
    return 0;
  for (size_t s = 0; s < dataset->split_count; s++) {
    const tutti_split *split = dataset->splits[s];
    if (split->rows > 0 && !split->inputs)
      return 0;
    bytes += split->rows * features_of(split) * sizeof *split->inputs;
  }
  return bytes;
}

enum tutti_status tutti_dataset_map_inputs(tutti_context *context, tutti_dataset *dataset, size_t index,
                                           struct tutti_npy *array) {
  tutti_split *split = dataset->splits[index];
  size_t features = features_of(split);
  if (array->element != TUTTI_F32 || array->rank != 2 || array->shape[0] != split->rows ||
      array->shape[1] != features) {
    tutti_npy_unmap(array);
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "split %s: expected the inputs of %zu rows, %zu float32 each",
                      split->name, split->rows, features);
  }
  if (split->inputs != split->map.data)
    tutti_free(split->inputs);
  tutti_npy_unmap(&split->map);
  split->map = *array;
  split->inputs = (float *)split->map.data; /* nobody writes inputs */
  *array = (struct tutti_npy){0};
  return TUTTI_OK;
}

enum tutti_status tutti_dataset_complete(tutti_context *context, tutti_dataset *dataset, uint64_t fingerprint,
                                         uint64_t rows_fingerprint) {
  for (size_t s = 0; s < dataset->split_count; s++)
    if (dataset->splits[s]->raw_targets)
      TUTTI_TRY(context, tutti_encoding_standardise(context, dataset->encoding, dataset->splits[s]));
  dataset->fingerprint = fingerprint;
  dataset->rows_fingerprint = rows_fingerprint;
  return TUTTI_OK;
}
