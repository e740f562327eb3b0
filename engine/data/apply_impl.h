/* apply_impl.h - new rows from a file that may hold wrong ones; for engine/ alone. */
#ifndef TUTTI_APPLY_IMPL_H
#define TUTTI_APPLY_IMPL_H

#include <tutti/data.h>

/* As tutti_dataset_apply. `tolerant`: rows of a table that cannot be read are zeros, marked in split->unread, and the
   log says why; with them, those without a target are marked in split->unjudged. */
TUTTI_NODISCARD enum tutti_status tutti_dataset_apply_to(tutti_context *context, const char *json, const char *path,
                                                         bool tolerant, tutti_split **split);

/* As tutti_dataset_encode, and tolerant likewise. */
TUTTI_NODISCARD enum tutti_status tutti_dataset_encode_to(tutti_context *context, const tutti_dataset *dataset,
                                                          const tutti_rows *rows, bool tolerant, tutti_split **split);

#endif
