/* prepared_impl.h - the inputs of a data set of tables, as other processes map them that train on the same rows. */
#ifndef TUTTI_PREPARED_IMPL_H
#define TUTTI_PREPARED_IMPL_H

#include <tutti/data.h>
#include <tutti/npy.h>

/* Bytes of the inputs of all splits; 0: there are none to be mapped. Images stay as they are stored, and folds are for
   few rows. */
size_t tutti_dataset_input_bytes(const tutti_dataset *dataset);
/* Let a split have its inputs in an array float32 [rows][features], which the data set takes over, also on failure; it
   had none, or these. TUTTI_ERROR_CORRUPT: the array is another one. */
TUTTI_NODISCARD enum tutti_status tutti_dataset_map_inputs(tutti_context *context, tutti_dataset *dataset, size_t split,
                                                           struct tutti_npy *array);
/* A data set that was restored (stored_impl.h) and has its inputs can be trained on: make the targets that backends
   see, and let it have the fingerprints of the data set that it stands for. */
TUTTI_NODISCARD enum tutti_status tutti_dataset_complete(tutti_context *context, tutti_dataset *dataset,
                                                         uint64_t fingerprint, uint64_t rows_fingerprint);

#endif
