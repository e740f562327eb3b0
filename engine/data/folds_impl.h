/* folds_impl.h - cross-validation: the rows of training and validation are one pool, whose rows are each predicted by a
   model that was trained on the other folds; for engine/ alone. Splits train and validation then both have all rows of
   the pool. */
#ifndef TUTTI_FOLDS_IMPL_H
#define TUTTI_FOLDS_IMPL_H

#include <tutti/data.h>

/* The number of folds, and the fold of each row of the split validation; 0 and NULL without cross-validation. */
size_t tutti_dataset_folds(const tutti_dataset *dataset);
const uint32_t *tutti_dataset_fold_of_rows(const tutti_dataset *dataset);

/* What the model of a fold is trained on, and the rows that it predicts. */
struct tutti_fold {
  tutti_split *train, *validation;
  size_t count;
  uint32_t *rows; /* [count]: those of `validation`, in the data set's split of that name */
};
/* Copy the rows of fold `number`; release them after use. */
TUTTI_NODISCARD enum tutti_status tutti_dataset_fold(tutti_context *context, const tutti_dataset *dataset,
                                                     size_t number, struct tutti_fold *fold);
void tutti_fold_release(struct tutti_fold *fold);

/* Copy rows[count] of a split as one of that name, which need not know its source any more; the caller destroys
   *split. */
TUTTI_NODISCARD enum tutti_status tutti_split_take(tutti_context *context, const tutti_split *from, const char *name,
                                                   size_t count, const uint32_t *rows, tutti_split **split);

#endif
