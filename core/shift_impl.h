/* shift_impl.h - shifted splits: the validation and test images, corrupted; for core/ alone. */
#ifndef TUTTI_SHIFT_IMPL_H
#define TUTTI_SHIFT_IMPL_H

#include "data_impl.h"

/* What a shifted split is made of. */
struct tutti_shift {
  const struct tutti_encoding *encoding;
  const tutti_split *clean; /* its images, of bytes */
  const char *ready;        /* folder of ready-made sets; NULL: they are made */
  const char *cache;        /* folder in which sets that were made are kept; NULL: nowhere */
  const int *corruptions;   /* [count], of which each image gets one */
  size_t count;
  size_t test_rows; /* the last so many rows of the source, where ready-made sets may have them all */
  size_t all;       /* rows of the source */
  int severity;
};

/* Check severities and corruptions for images like these, before any is made. */
TUTTI_NODISCARD enum tutti_status tutti_shift_check(tutti_context *context, const struct tutti_data_config *config,
                                                    const struct tutti_encoding *encoding);
/* The split "NAME-SEVERITY": read from a ready-made set or from the cache, or made, and then kept there. Each image gets one
   corruption, drawn uniformly; its draws are keyed by (severity, name of the clean split, number of the row), so that the
   set is the same in every run. */
TUTTI_NODISCARD enum tutti_status tutti_shift_split(tutti_context *context, const struct tutti_shift *shift,
                                                    tutti_split **split);
/* The folder for caches, as [data] or the environment says; *folder is NULL where there is none. */
TUTTI_NODISCARD enum tutti_status tutti_cache_folder(tutti_context *context, const char *wanted, char **folder);

#endif
