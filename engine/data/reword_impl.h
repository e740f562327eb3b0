/* reword_impl.h - rows of an application, read as the files that a data set came from; for engine/data/ alone. */
#ifndef TUTTI_REWORD_IMPL_H
#define TUTTI_REWORD_IMPL_H

#include "encoding_impl.h"

/* Read the cells of a table that are used, at the positions of the encoding's columns, as the training data have them:
   words as the source reads them, numbers that mark missing cells there, and True and False as the column writes them.
   *made is a copy, which the caller destroys, or NULL if nothing changes. `targets`: the table has them. */
TUTTI_NODISCARD enum tutti_status tutti_reword(tutti_context *context, const struct tutti_encoding *encoding,
                                               const tutti_rows *table, bool targets, tutti_rows **made);

#endif
