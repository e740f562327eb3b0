/* run_warm.h - warm starts: the weights of a trial's parent get to whoever trains it. What is taken of them is the
   backend's matter (struct tutti_job, member warm). */
#ifndef TUTTI_RUN_WARM_H
#define TUTTI_RUN_WARM_H

#include "run_impl.h"

#include <tutti/hosting.h>

/* Before anything is trained: if the builder wants warm starts, can they be had? TUTTI_ERROR_USAGE: no backend of the
   recipe takes weights of another network, or the run keeps none. */
TUTTI_NODISCARD enum tutti_status
tutti_run_check_warm(tutti_context *context, const struct tutti_experiment *experiment, const tutti_builder *builder);
/* The parent whose weights a trial starts from, with the record of the file that has them, as JSON for its request:
   {"trial", "bytes", "crc32"}; free *text with tutti_free. NULL: it has no parent, or that kept no weights. */
TUTTI_NODISCARD enum tutti_status tutti_run_parent_print(tutti_context *context, const struct tutti_history *history,
                                                         uint64_t trial, char **text);
/* Read the weights for a trial from a run's directory, or from one in place of it, where they lie in the trial's own
   folder and are removed. The caller destroys *weights. TUTTI_ERROR_USAGE: they are gone, or are not those
   that were recorded. */
TUTTI_NODISCARD enum tutti_status tutti_run_parent_read(tutti_context *context, const char *directory, uint64_t trial,
                                                        const json_t *parent, tutti_tensors **weights);
/* Where a request's weights are in the run's directory, and the name under which a worker looks for them in one that is
   in place of it; free both with tutti_free. NULL: the request names no parent. */
TUTTI_NODISCARD enum tutti_status tutti_run_parent_file(tutti_context *context, const char *directory, uint64_t trial,
                                                        const char *request, char **path, char **name);

#endif
