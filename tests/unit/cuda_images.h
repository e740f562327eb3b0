/* cuda_images.h - the images, networks and trainings of tests of backend cuda's stream engine. */
#ifndef TESTS_UNIT_CUDA_IMAGES_H
#define TESTS_UNIT_CUDA_IMAGES_H

#include "cuda_sides.h"

/* Images whose side is even at first, so that strides pad one end more, and odd later.
   Rows leave several over in the last mini-batch: of two, batch norm would keep but the signs, which the last bit may
   turn. */
enum { IMAGES_SIDE = 10, IMAGES_CHANNELS = 3, IMAGES_ROWS = 31, IMAGES_HELD = 17, IMAGES_CLASSES = 4 };

/* Images of noise, with a stripe whose place is their class. */
tutti_split *images_split(const char *name, size_t rows, uint64_t index);
/* The task of a head, and its splits. */
void images_task(enum tutti_op head);
/* Before and after each test: backends for a softmax head. */
int images_begin(void **state);
int images_end(void **state);

/* A convolution of `units` channels with batch norm, a depthwise one before one of one pixel, a pool, a dense layer
   that drops numbers: every kind of sum and draw is there. */
tutti_network *images_network(int32_t units);
/* Convolutions in groups of several channels, with batch norm and a ReLU before them. */
tutti_network *images_groups(void);
/* A network of a table among those of images. */
tutti_network *images_flat(void);

enum { IMAGES_TRAININGS = 4, IMAGES_SPACES = 4 };

/* Some twenty steps each, the last of an epoch with fewer rows than the others, or with as many reports as steps.
   Batch norm leaves many gradients at 0 but for rounding: a larger epsilon keeps adam and rmsprop from making whole
   steps of them. */
extern const char *const images_trainings[IMAGES_TRAININGS];
extern const struct sides_space images_spaces[IMAGES_SPACES];

#endif
