/* split_impl.h - the inside of a split; for core/ only. */
#ifndef TUTTI_SPLIT_IMPL_H
#define TUTTI_SPLIT_IMPL_H

#include "core/base/private.h"

#include <tutti/dataset.h>
#include <tutti/npy.h>

/* Images of which rows are made on demand. The tables belong to the split; the rest is borrowed. */
struct tutti_pixels {
  struct tutti_shape stored; /* channels may be 1 where the input has more: grey is repeated */
  const uint8_t *bytes;      /* [images][height][width][stored channels]; or */
  const float *floats;       /* likewise: x * factor + black */
  const uint32_t *image;     /* [rows]: the image of each row; NULL: its own number */
  float *table;              /* [channels][256]: what bytes become */
  float *black, *factor;     /* [channels]: what 0 becomes, and what 1 adds to it. NULL: floats are taken as they are */
};

/* Write rows[count] to out[count][height][width][channels]; `augmentation` may be NULL (pixels.c). */
void tutti_pixels_gather(const struct tutti_pixels *pixels, size_t channels, size_t count, const uint32_t *rows,
                         const struct tutti_augmentation *augmentation, float *out);

/* All arrays are the split's own and go with it. */
struct tutti_split {
  char *name;
  size_t rows, outputs;
  struct tutti_shape input;
  float *inputs; /* [rows][features]; NULL where there are pixels; in the map below, if that is of inputs */
  struct tutti_pixels pixels;
  void *owned; /* what the pixels borrow from, if only this split uses it, and the function that ends it; or */
  void (*owned_destroy)(void *owned);
  struct tutti_npy map;  /* an array of them */
  uint32_t *own_image;   /* that of pixels.image, likewise */
  float *targets;        /* [rows][outputs], standardised; NULL without */
  double *raw_targets;   /* [rows][outputs], in their own units; NULL without */
  double *values;        /* [rows][outputs]: raw_targets less the origin; NULL where that is 0 */
  int32_t *labels;       /* [rows]; NULL without */
  double *scale, *shift; /* [outputs]: raw = standardised * scale + shift + origin; NULL for classification */
  double *origin;        /* [outputs]; NULL: 0 */
  uint32_t *source_rows; /* [rows]; NULL for splits that a caller made */
  uint32_t *group;       /* [rows]: the first row here of those that belong together; NULL: each stands alone */
  bool in_order;         /* neighbours belong together */
  char **unread;         /* [rows]: why a new row could not be read, whose inputs are 0, or NULL; NULL: all were */
  uint8_t *unjudged;     /* [rows]: of new rows, those without a target, or unread; their targets are 0; NULL: none */
};

/* FNV-1a, 64 bits; NULL adds nothing. */
#define TUTTI_HASH_BEGIN 0xcbf29ce484222325u
TUTTI_PRIVATE uint64_t tutti_hash(uint64_t hash, const void *data, size_t bytes);
/* Rows, inputs (pixels as they are stored), targets, labels. */
TUTTI_PRIVATE uint64_t tutti_split_hash(uint64_t hash, const tutti_split *split);

#endif
