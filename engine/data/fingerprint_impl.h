/* fingerprint_impl.h - on which rows a run trains, chooses and tests. */
#ifndef TUTTI_FINGERPRINT_IMPL_H
#define TUTTI_FINGERPRINT_IMPL_H

#include <tutti/data.h>

/* Like tutti_dataset_fingerprint, without shifted and out-of-distribution rows. */
uint64_t tutti_dataset_rows_fingerprint(const tutti_dataset *dataset);
/* Is this a file of numbers of test rows of such data, each once? TUTTI_ERROR_USAGE: it is not. */
TUTTI_NODISCARD enum tutti_status tutti_dataset_check_test_rows(tutti_context *context, const tutti_dataset *dataset,
                                                                const char *path);

#endif
