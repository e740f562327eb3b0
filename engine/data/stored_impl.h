/* stored_impl.h - a data set as a run directory keeps it: how rows become inputs, and the rows and targets of each
   split. There are no inputs, so it serves to look at trials, not to train. */
#ifndef TUTTI_STORED_IMPL_H
#define TUTTI_STORED_IMPL_H

#include <tutti/data.h>
#include <tutti/npy.h>

/* The arrays of a split: row numbers in the source, values of the targets, class numbers, with cross-validation the
   folds of validation rows, and with groups of rows the first row of each one's group. */
enum tutti_stored_array {
  TUTTI_STORED_ROWS,
  TUTTI_STORED_TARGETS,
  TUTTI_STORED_LABELS,
  TUTTI_STORED_FOLDS,
  TUTTI_STORED_GROUPS,
  TUTTI_STORED_ARRAYS
};

/* Where the arrays are. */
struct tutti_stored_splits {
  void *argument;
  /* Map an array of a split; *array stays zero if it is not there. */
  enum tutti_status (*map)(void *argument, tutti_context *context, const char *split, enum tutti_stored_array which,
                           struct tutti_npy *array);
  /* Let the message of a failure begin with where that array is; returns `status`. */
  enum tutti_status (*place)(void *argument, tutti_context *context, const char *split, enum tutti_stored_array which,
                             enum tutti_status status);
};

/* Make a data set from the JSON of tutti_dataset_describe, the parameters of [head], and the arrays of the splits; all
   of them are checked. The caller destroys *dataset. TUTTI_ERROR_CORRUPT: something is torn or does not fit. */
TUTTI_NODISCARD enum tutti_status tutti_dataset_restore(tutti_context *context, const char *json,
                                                        const tutti_config *head,
                                                        const struct tutti_stored_splits *splits,
                                                        tutti_dataset **dataset);
/* From the JSON of tutti_dataset_describe alone: origins[targets] of the targets of a regression.
   TUTTI_ERROR_CORRUPT. */
TUTTI_NODISCARD enum tutti_status tutti_stored_origins(tutti_context *context, const char *json, size_t targets,
                                                       double *origins);

#endif
