/* pixels_impl.h - how an image is varied for training: the draws (augment.c), and what is done to its colours. */
#ifndef TUTTI_PIXELS_IMPL_H
#define TUTTI_PIXELS_IMPL_H

#include <tutti/dataset.h>
#include <tutti/random.h>

enum { VARIATION_BRIGHTNESS, VARIATION_CONTRAST, VARIATION_SATURATION, VARIATION_HUE, VARIATION_COLOURS };

/* What happens to one image. */
struct variation {
  int down, right; /* moved by so many pixels */
  bool flip;
  bool cropped; /* the part [height][width] from (top, left) is scaled to the whole */
  int top, left, height, width;
  bool jitter;                       /* colours change: */
  uint32_t order[VARIATION_COLOURS]; /* one after another, as these numbers say, */
  double amounts[VARIATION_COLOURS]; /* by these factors; the hue by this part of the colour wheel */
};

/* Draw it for a row of the epoch: a function of (seed, epoch, row) and the settings. */
struct variation tutti_variation_draw(const struct tutti_augmentation *augmentation, uint32_t row, int height,
                                      int width);
/* Change the colours of an image [pixels][channels] of numbers from 0 to 1, which stay in this range. Three channels
   are red, green and blue; with any other number saturation and hue stay as they are. */
void tutti_variation_colour(const struct variation *variation, size_t pixels, size_t channels, float *image);

#endif
