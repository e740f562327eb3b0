/* fingerprint_impl.h - on which rows a run trains, chooses and tests. */
#ifndef TUTTI_FINGERPRINT_IMPL_H
#define TUTTI_FINGERPRINT_IMPL_H

#include <tutti/data.h>

/* Like tutti_dataset_fingerprint, without shifted and out-of-distribution rows. */
uint64_t tutti_dataset_rows_fingerprint(const tutti_dataset *dataset);

#endif
