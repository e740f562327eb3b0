/* shift_impl.h - shifted splits: the validation and test images, corrupted; for engine/ alone. */
#ifndef TUTTI_SHIFT_IMPL_H
#define TUTTI_SHIFT_IMPL_H

#include <tutti/npy.h>
#include <tutti/random.h>

#include "engine/data/encoding_impl.h"

/* The ingredients of a shifted split. */
struct tutti_shift {
  const struct tutti_encoding *encoding;
  const tutti_split *clean; /* its images, of bytes */
  const char *ready;        /* folder of ready-made sets; NULL: make them */
  const char *cache;        /* folder where sets are stored; NULL: nowhere */
  const int *corruptions;   /* [count]; each image gets one of them */
  size_t count;
  size_t test_rows; /* number of test rows at the end of the source, which ready-made sets may cover completely */
  size_t all;       /* rows of the source */
  int severity;
};

/* Check severities and corruptions for images like these, before any is made. `ready` as in tutti_shift. */
TUTTI_NODISCARD enum tutti_status tutti_shift_check(tutti_context *context, const struct tutti_data_config *config,
                                                    const struct tutti_encoding *encoding, const char *ready);
/* Make the split "NAME-SEVERITY": read it from a ready-made set or the cache, or compute it and store it there. Each
   image gets one corruption, drawn uniformly. Draws are keyed by (severity, name of the clean split, row number), so
   the set is the same in every run. */
TUTTI_NODISCARD enum tutti_status tutti_shift_split(tutti_context *context, const struct tutti_shift *shift,
                                                    tutti_split **split);
/* Draw the corruption of an image (by its row in the source); the corruption's own draws then continue from *random. */
size_t tutti_shift_draw(const struct tutti_shift *shift, size_t image, struct tutti_random *random);
/* Does an array hold this many of these images? */
bool tutti_shift_fits(const struct tutti_shift *shift, const struct tutti_npy *array, size_t rows);
/* Does a folder of ready-made sets have any with one file per corruption (shift_published.c)? */
TUTTI_NODISCARD enum tutti_status tutti_shift_find_published(tutti_context *context, const char *folder, bool *found);
/* Gather a split of the test file from such files. Each image comes from the file of the corruption that
   tutti_shift_draw draws: pixels [rows of the split][values of an image]; free with tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_shift_gather_published(tutti_context *context, const struct tutti_shift *shift,
                                                               uint8_t **pixels);
/* The folder for caches, from [data] or the environment; *folder is NULL if there is none. */
TUTTI_NODISCARD enum tutti_status tutti_cache_folder(tutti_context *context, const char *wanted, char **folder);

#endif
