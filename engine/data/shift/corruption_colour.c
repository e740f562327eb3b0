/* corruption_colour.c - brightness, contrast, saturation. In HSV, the value of a pixel is its largest number v, and its
   saturation is 1 - least / v. Changing one of them moves the numbers along straight lines; this code does so
   directly. */
#include "corruption_impl.h"

#include <math.h>

static float largest(const float *pixel, int channels) {
  float most = pixel[0];
  for (int k = 1; k < channels; k++)
    most = fmaxf(most, pixel[k]);
  return most;
}

/* c: added to the value. */
static void corrupt_brightness(struct tutti_corruptor *image, const double *c) {
  struct tutti_picture picture = tutti_image_of(image);
  for (size_t i = 0; i < tutti_picture_count(&picture); i += (size_t)picture.channels) {
    float *pixel = picture.values + i, value = largest(pixel, picture.channels);
    float brighter = fminf(value + (float)c[0], 1);
    for (int k = 0; k < picture.channels; k++)
      pixel[k] = value > 0 ? pixel[k] * (brighter / value) : brighter;
  }
}

TUTTI_CORRUPTION(brightness) = {
    .name = "brightness", .constants = {{.05}, {.1}, {.15}, {.2}, {.3}}, .least = 1, .apply = corrupt_brightness};

/* c: the share that is left of each number's distance from its channel's mean. */
static void corrupt_contrast(struct tutti_corruptor *image, const double *c) {
  struct tutti_picture picture = tutti_image_of(image);
  size_t count = tutti_picture_count(&picture), channels = (size_t)picture.channels, pixels = count / channels;
  for (size_t k = 0; k < channels; k++) {
    double sum = 0;
    for (size_t i = k; i < count; i += channels)
      sum += (double)picture.values[i];
    float mean = (float)(sum / (double)pixels);
    for (size_t i = k; i < count; i += channels)
      picture.values[i] = (picture.values[i] - mean) * (float)c[0] + mean;
  }
}

TUTTI_CORRUPTION(contrast) = {
    .name = "contrast", .constants = {{.75}, {.5}, {.4}, {.3}, {.15}}, .least = 1, .apply = corrupt_contrast};

/* A pixel with another saturation. A grey pixel gets the hue red, as in HSV. */
static void saturate_pixel(float *pixel, double factor, double summand) {
  float value = largest(pixel, 3), least = fminf(pixel[0], fminf(pixel[1], pixel[2]));
  float before = value > 0 ? 1 - least / value : 0, after = tutti_clip((float)factor * before + (float)summand);
  if (before > 0) {
    for (int k = 0; k < 3; k++)
      pixel[k] = value - (value - pixel[k]) * (after / before);
    return;
  }
  pixel[1] = pixel[2] = value * (1 - after);
}

/* c: factor and summand of the saturation. Grey images have no saturation: with summand 0 they stay as they are,
   otherwise they darken like the brightness of their tint. */
static void corrupt_saturate(struct tutti_corruptor *image, const double *c) {
  struct tutti_picture picture = tutti_image_of(image);
  for (size_t i = 0; i < tutti_picture_count(&picture); i += (size_t)picture.channels) {
    float *pixel = picture.values + i, tinted[3] = {pixel[0], pixel[0], pixel[0]};
    saturate_pixel(picture.channels == 3 ? pixel : tinted, c[0], c[1]);
    if (picture.channels == 1)
      pixel[0] = tutti_luma(tinted, 3);
  }
}

TUTTI_CORRUPTION(saturate) = {.name = "saturate",
                              .constants = {{.3, 0}, {.1, 0}, {1.5, 0}, {2, .1}, {2.5, .2}},
                              .least = 1,
                              .apply = corrupt_saturate};
