/* images_impl.h - images with labels as they were read, and how they become the inputs of networks; for engine/ alone.

   images.c grows a set file by file; images_idx.c, images_cifar.c and images_npy.c read the formats; images_encoding.c
   measures channels and makes splits; pixels.c gives rows on demand, so that bytes stay bytes in memory. */
#ifndef TUTTI_IMAGES_IMPL_H
#define TUTTI_IMAGES_IMPL_H

#include "data_impl.h"

/* All images have one shape; pixels are bytes, or float32 of any scale. */
struct tutti_images {
  char *source; /* for messages: the first file */
  size_t rows;
  size_t test_rows; /* the last so many come from files of test images */
  struct tutti_shape shape;
  bool floats;
  void *pixels;    /* [rows][height][width][channels]: uint8_t or float */
  int64_t *labels; /* [rows], as in the files; NULL without */
  size_t room;     /* rows for which there is memory */
};

TUTTI_NODISCARD enum tutti_status tutti_images_create(tutti_context *context, const char *source,
                                                      struct tutti_images **images);
void tutti_images_destroy(struct tutti_images *images);
/* Numbers of an image, and bytes of one. */
size_t tutti_images_values(const struct tutti_images *images);
size_t tutti_images_bytes(const struct tutti_images *images);
/* The first call gives the shape and the kind of pixels, later ones check that the images of `path` have them. */
TUTTI_NODISCARD enum tutti_status tutti_images_expect(tutti_context *context, struct tutti_images *images,
                                                      const char *path, struct tutti_shape shape, bool floats);
/* Room for `count` more images behind those that are there; `rows` stays. */
TUTTI_NODISCARD enum tutti_status tutti_images_reserve(tutti_context *context, struct tutti_images *images,
                                                       size_t count);

/* Is there a folder of this name? */
bool tutti_images_folder(const char *path);
/* The file at `path`; where that is a folder, the file `name` in it, or `name`.gz; an error where there is none. Free with
   tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_images_find(tutti_context *context, const char *path, const char *name,
                                                    char **found);

/* Append the images of a file and, with `labels`, their labels. A path may be a folder with files of the usual names; then
   `test` says which of them. */
TUTTI_NODISCARD enum tutti_status tutti_idx_read(tutti_context *context, const char *path, const char *labels,
                                                 bool test, struct tutti_images *images);
TUTTI_NODISCARD enum tutti_status tutti_idx_images(tutti_context *context, const char *path,
                                                   struct tutti_images *images); /* without labels */
TUTTI_NODISCARD enum tutti_status tutti_cifar_read(tutti_context *context, const char *path, enum tutti_format format,
                                                   bool test, struct tutti_images *images);
TUTTI_NODISCARD enum tutti_status tutti_npy_images(tutti_context *context, const char *path, const char *labels,
                                                   struct tutti_images *images);
/* Is this an array of three or four sizes? False, too, where it cannot be read. */
bool tutti_npy_has_images(tutti_context *context, const char *path);

/* Classes are the labels that occur, sorted: into encoding->target, and as class numbers into labels[rows]. */
TUTTI_NODISCARD enum tutti_status tutti_images_encode(tutti_context *context, const struct tutti_data_config *config,
                                                      const struct tutti_images *images, int32_t *labels,
                                                      struct tutti_encoding **encoding);
/* Shift and scale of each channel: given ones, or those of the training rows. */
TUTTI_NODISCARD enum tutti_status tutti_images_measure(tutti_context *context, const struct tutti_data_config *config,
                                                       const struct tutti_images *images, size_t count,
                                                       const uint32_t *rows, struct tutti_encoding *encoding);
/* A split of these rows, whose pixels are borrowed from the images. `labels` [rows of the images], or NULL. */
TUTTI_NODISCARD enum tutti_status tutti_images_split(tutti_context *context, const struct tutti_encoding *encoding,
                                                     const struct tutti_images *images, const char *name, size_t count,
                                                     const uint32_t *rows, const int32_t *labels, tutti_split **split);
/* The same rows and labels under another name; pixels are as if there were none. */
TUTTI_NODISCARD enum tutti_status tutti_images_resplit(tutti_context *context, const struct tutti_encoding *encoding,
                                                       const tutti_split *clean, const char *name, tutti_split **split);
/* All of these images as a split that owns them, with their labels if wanted; on failure they stay the caller's. */
TUTTI_NODISCARD enum tutti_status tutti_images_take(tutti_context *context, const struct tutti_encoding *encoding,
                                                    struct tutti_images *images, const char *name, bool labels,
                                                    tutti_split **split);
/* Images of a file through a kept encoding, with their labels where the file has them and they are wanted. */
TUTTI_NODISCARD enum tutti_status tutti_images_apply(tutti_context *context, const struct tutti_encoding *encoding,
                                                     const char *path, const char *name, bool labels,
                                                     tutti_split **split);
/* A split of images of noise, without labels (images_ood.c). */
TUTTI_NODISCARD enum tutti_status tutti_noise_split(tutti_context *context, const struct tutti_encoding *encoding,
                                                    const char *name, size_t rows, tutti_split **split);

#endif
