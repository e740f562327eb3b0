/* shift_impl.h - shifted splits: the validation and test images, corrupted; for engine/ alone. */
#ifndef TUTTI_SHIFT_IMPL_H
#define TUTTI_SHIFT_IMPL_H

#include <tutti/npy.h>
#include <tutti/random.h>

#include "engine/data/encoding_impl.h"

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

/* Check severities and corruptions for images like these, before any is made. `ready` as in tutti_shift. */
TUTTI_NODISCARD enum tutti_status tutti_shift_check(tutti_context *context, const struct tutti_data_config *config,
                                                    const struct tutti_encoding *encoding, const char *ready);
/* The split "NAME-SEVERITY": read from a ready-made set or from the cache, or made, and then kept there. Each image gets one
   corruption, drawn uniformly; its draws are keyed by (severity, name of the clean split, number of the row), so that the
   set is the same in every run. */
TUTTI_NODISCARD enum tutti_status tutti_shift_split(tutti_context *context, const struct tutti_shift *shift,
                                                    tutti_split **split);
/* The corruption of an image (its row of the source); what the corruption draws goes on from *random. */
size_t tutti_shift_draw(const struct tutti_shift *shift, size_t image, struct tutti_random *random);
/* Is an array so many of these images? */
bool tutti_shift_fits(const struct tutti_shift *shift, const struct tutti_npy *array, size_t rows);
/* Has a folder of ready-made sets any that is a file a corruption (shift_published.c)? */
TUTTI_NODISCARD enum tutti_status tutti_shift_find_published(tutti_context *context, const char *folder, bool *found);
/* Gather a split of the test file from such files, each image with the corruption that tutti_shift_draw draws for it:
   pixels [rows of the split][values of an image], for tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_shift_gather_published(tutti_context *context, const struct tutti_shift *shift,
                                                               uint8_t **pixels);
/* The folder for caches, as [data] or the environment says; *folder is NULL where there is none. */
TUTTI_NODISCARD enum tutti_status tutti_cache_folder(tutti_context *context, const char *wanted, char **folder);

#endif
