/* images_ood.c - inputs out of distribution: images of another set, and noise. */
#include <math.h>
#include <tutti/random.h>

#include "engine/data/images_impl.h"
#include "core/plugin/split_impl.h"

/* Noise with the mean and standard deviation that pixels are standardised by, cut off where bytes end. */
static void draw_image(const struct tutti_encoding *encoding, size_t row, struct tutti_images *images) {
  struct tutti_random random;
  size_t values = tutti_images_values(images), channels = (size_t)images->shape.channels;
  tutti_random_init(&random, 0, "noise images", row);
  for (size_t v = 0; v < values; v++) {
    size_t channel = v % channels, at = row * values + v;
    double value = encoding->shift[channel] + encoding->scale[channel] * tutti_random_normal(&random);
    if (images->floats)
      ((float *)images->pixels)[at] = (float)value;
    else
      ((uint8_t *)images->pixels)[at] = (uint8_t)(fmin(fmax(value, 0), 255) + 0.5);
  }
}

enum tutti_status tutti_noise_split(tutti_context *context, const struct tutti_encoding *encoding, const char *name,
                                    size_t rows, tutti_split **split) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_images *images = NULL;
  *split = NULL;
  TUTTI_TRY_OUT(context, tutti_images_create(context, name, &images));
  TUTTI_TRY_OUT(context, tutti_images_expect(context, images, name, encoding->image, encoding->floats));
  TUTTI_TRY_OUT(context, tutti_images_reserve(context, images, rows));
  for (; images->rows < rows; images->rows++)
    draw_image(encoding, images->rows, images);
  TUTTI_TRY_OUT(context, tutti_images_take(context, encoding, images, name, false, split));
  images = NULL;
out:
  tutti_images_destroy(images);
  return status;
}
