/* images_ood.c - out-of-distribution inputs: images of another set, and noise. */
#include <math.h>
#include <tutti/random.h>

#include "engine/data/images_impl.h"

/* Noise with the mean and standard deviation that pixels are standardised by, clipped to the range of bytes. It writes
   one image, into whichever of the two is not NULL. */
static void draw_image(const struct tutti_encoding *encoding, size_t row, uint8_t *bytes, float *floats) {
  struct tutti_random random;
  size_t values = tutti_encoding_image_values(encoding), channels = (size_t)encoding->image.channels;
  tutti_random_init(&random, 0, "noise images", row);
  for (size_t v = 0; v < values; v++) {
    size_t channel = v % channels;
    double value = encoding->shift[channel] + encoding->scale[channel] * tutti_random_normal(&random);
    if (floats)
      floats[v] = (float)value;
    else if (bytes)
      bytes[v] = (uint8_t)(fmin(fmax(value, 0), 255) + 0.5);
  }
}

enum tutti_status tutti_noise_split(tutti_context *context, const struct tutti_encoding *encoding, const char *name,
                                    size_t rows, tutti_split **split) {
  enum tutti_status status = TUTTI_OK;
  enum tutti_element element = encoding->floats ? TUTTI_F32 : TUTTI_U8;
  size_t bytes = tutti_encoding_image_values(encoding) * (encoding->floats ? sizeof(float) : 1);
  tutti_rows *images = NULL;
  void *image = NULL;
  *split = NULL;
  TUTTI_TRY_OUT(context, tutti_rows_create(context, name, &images));
  TUTTI_TRY_OUT(context, tutti_rows_expect_images(context, images, name, encoding->image, element));
  TUTTI_TRY_OUT(context, tutti_alloc(context, bytes, 1, &image));
  for (size_t r = 0; r < rows; r++) {
    draw_image(encoding, r, encoding->floats ? NULL : image, encoding->floats ? image : NULL);
    TUTTI_TRY_OUT(context, tutti_rows_add_images(context, images, 1, image, bytes));
  }
  TUTTI_TRY_OUT(context, tutti_images_take(context, encoding, images, name, false, split));
  images = NULL;
out:
  tutti_free(image);
  tutti_rows_destroy(images);
  return status;
}
