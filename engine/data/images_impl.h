/* images_impl.h - images as the inputs of networks: classes, the scale of each channel, splits; for engine/ alone.
   Pixels stay as they were read. pixels.c converts rows on demand, so that bytes stay bytes in memory. */
#ifndef TUTTI_IMAGES_IMPL_H
#define TUTTI_IMAGES_IMPL_H

#include "engine/data/encoding_impl.h"

/* Find the classes, which are the labels that occur, sorted: they go into encoding->target, and as class numbers into
   labels[rows]. */
TUTTI_NODISCARD enum tutti_status tutti_images_encode(tutti_context *context, const struct tutti_data_config *config,
                                                      const tutti_rows *images, int32_t *labels,
                                                      struct tutti_encoding **encoding);
/* Set shift and scale of each channel: the given ones, or those of the training rows. */
TUTTI_NODISCARD enum tutti_status tutti_images_measure(tutti_context *context, const struct tutti_data_config *config,
                                                       const tutti_rows *images, size_t count, const uint32_t *rows,
                                                       struct tutti_encoding *encoding);
/* Make a split of these rows, whose pixels are borrowed from the images. `labels` [rows of the images], or NULL. */
TUTTI_NODISCARD enum tutti_status tutti_images_split(tutti_context *context, const struct tutti_encoding *encoding,
                                                     const tutti_rows *images, const char *name, size_t count,
                                                     const uint32_t *rows, const int32_t *labels, tutti_split **split);
/* The same rows and labels under another name, without pixels. */
TUTTI_NODISCARD enum tutti_status tutti_images_resplit(tutti_context *context, const struct tutti_encoding *encoding,
                                                       const tutti_split *clean, const char *name, tutti_split **split);
/* Make a split of new images, with their labels if they have some and they are wanted; the images are borrowed.
   TUTTI_ERROR_USAGE: they have another shape or type than those of the encoding, or an unknown label. */
TUTTI_NODISCARD enum tutti_status tutti_images_encode_new(tutti_context *context, const struct tutti_encoding *encoding,
                                                          const tutti_rows *images, const char *name, bool labels,
                                                          tutti_split **split);
/* The same, and the split owns the images. On failure the caller keeps them. */
TUTTI_NODISCARD enum tutti_status tutti_images_take(tutti_context *context, const struct tutti_encoding *encoding,
                                                    tutti_rows *images, const char *name, bool labels,
                                                    tutti_split **split);
/* Encode the images of a file with a stored encoding, with their labels if the file has them and they are wanted. */
TUTTI_NODISCARD enum tutti_status tutti_images_apply(tutti_context *context, const struct tutti_encoding *encoding,
                                                     const char *path, const char *name, bool labels,
                                                     tutti_split **split);
/* Make a split of noise images, without labels (images_ood.c). */
TUTTI_NODISCARD enum tutti_status tutti_noise_split(tutti_context *context, const struct tutti_encoding *encoding,
                                                    const char *name, size_t rows, tutti_split **split);

#endif
