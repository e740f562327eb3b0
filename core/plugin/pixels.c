/* pixels.c - rows of images made on demand: bytes to standardised floats, grey repeated, and, for training, varied.
   Nothing is allocated. */
#include "pixels_impl.h"
#include "split_impl.h"

#include <math.h>

static void write_pixel(const struct tutti_pixels *pixels, size_t channels, size_t at, float *out) {
  size_t step = pixels->stored.channels == 1 ? 0 : 1;
  for (size_t c = 0; c < channels; c++, at += step)
    if (pixels->bytes)
      out[c] = pixels->table[c * 256 + pixels->bytes[at]];
    else
      out[c] = pixels->factor ? pixels->floats[at] * pixels->factor[c] + pixels->black[c] : pixels->floats[at];
}

static void write_black(const struct tutti_pixels *pixels, size_t channels, float *out) {
  for (size_t c = 0; c < channels; c++)
    out[c] = pixels->black ? pixels->black[c] : 0;
}

/* Write one image; what comes in from outside is black. */
static void write_image(const struct tutti_pixels *pixels, size_t channels, size_t image, const struct variation *view,
                        float *out) {
  int height = pixels->stored.height, width = pixels->stored.width;
  size_t stored = (size_t)pixels->stored.channels, first = image * (size_t)height * (size_t)width;
  for (int y = 0; y < height; y++) {
    int from_y = y + view->down;
    for (int x = 0; x < width; x++, out += channels) {
      int from_x = (view->flip ? width - 1 - x : x) + view->right;
      if (from_y < 0 || from_y >= height || from_x < 0 || from_x >= width)
        write_black(pixels, channels, out);
      else
        write_pixel(pixels, channels, (first + (size_t)from_y * (size_t)width + (size_t)from_x) * stored, out);
    }
  }
}

/* --- crops and colours ------------------------------------------------------------------------------------------- */

/* A number as it is stored; bytes count from 0 to 1. */
static double raw(const struct tutti_pixels *pixels, size_t at) {
  return pixels->bytes ? pixels->bytes[at] / 255.0 : (double)pixels->floats[at];
}

/* Two neighbours of a place along a side, and the second one's share. */
struct between {
  int first, second;
  double share;
};

/* Pixel number `to` of `size` that a part [length] from `start` is scaled to; the part's edge pixels go on beyond
   it. */
static struct between place_of(int to, int size, int start, int length) {
  double at = (to + 0.5) * length / size - 0.5;
  int first = (int)floor(at);
  return (struct between){.first = start + (first < 0 ? 0 : first),
                          .second = start + (first + 1 < length ? first + 1 : length - 1),
                          .share = at - first};
}

/* Scale the variation's part of an image to the whole, bilinearly; numbers as they are stored. */
static void write_part(const struct tutti_pixels *pixels, size_t channels, size_t image, const struct variation *part,
                       float *out) {
  int height = pixels->stored.height, width = pixels->stored.width;
  size_t stored = (size_t)pixels->stored.channels, row = (size_t)width * stored;
  size_t first = image * (size_t)height * row;
  for (int y = 0; y < height; y++) {
    struct between v = place_of(y, height, part->top, part->height);
    for (int x = 0; x < width; x++) {
      struct between h = place_of(part->flip ? width - 1 - x : x, width, part->left, part->width);
      for (size_t c = 0; c < channels; c++, out++) {
        size_t at = first + (stored == 1 ? 0 : c);
        size_t upper = at + (size_t)v.first * row, lower = at + (size_t)v.second * row;
        double above = raw(pixels, upper + (size_t)h.first * stored) * (1 - h.share) +
                       raw(pixels, upper + (size_t)h.second * stored) * h.share;
        double below = raw(pixels, lower + (size_t)h.first * stored) * (1 - h.share) +
                       raw(pixels, lower + (size_t)h.second * stored) * h.share;
        *out = (float)(above * (1 - v.share) + below * v.share);
      }
    }
  }
}

/* Move and mirror an image; numbers as they are stored. */
static void write_moved(const struct tutti_pixels *pixels, size_t channels, size_t image, const struct variation *view,
                        float *out) {
  int height = pixels->stored.height, width = pixels->stored.width;
  size_t stored = (size_t)pixels->stored.channels, first = image * (size_t)height * (size_t)width;
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      int from_y = y + view->down, from_x = (view->flip ? width - 1 - x : x) + view->right;
      bool outside = from_y < 0 || from_y >= height || from_x < 0 || from_x >= width;
      size_t at = outside ? 0 : (first + (size_t)from_y * (size_t)width + (size_t)from_x) * stored;
      for (size_t c = 0; c < channels; c++)
        *out++ = outside ? 0 : (float)raw(pixels, at + (stored == 1 ? 0 : c));
    }
}

/* Standardise a whole image of numbers as they are stored. */
static void standardise(const struct tutti_pixels *pixels, size_t channels, float *image) {
  size_t count = (size_t)pixels->stored.height * (size_t)pixels->stored.width;
  for (size_t c = 0; c < channels; c++) {
    float black = pixels->bytes ? pixels->table[c * 256] : pixels->black ? pixels->black[c] : 0;
    float factor = pixels->bytes ? pixels->table[c * 256 + 255] - black : pixels->factor ? pixels->factor[c] : 1;
    for (size_t i = c; i < count * channels; i += channels)
      image[i] = image[i] * factor + black;
  }
}

static void write_varied(const struct tutti_pixels *pixels, size_t channels, size_t image,
                         const struct variation *variation, float *out) {
  if (variation->cropped)
    write_part(pixels, channels, image, variation, out);
  else
    write_moved(pixels, channels, image, variation, out);
  if (variation->jitter)
    tutti_variation_colour(variation, (size_t)pixels->stored.height * (size_t)pixels->stored.width, channels, out);
  standardise(pixels, channels, out);
}

void tutti_pixels_gather(const struct tutti_pixels *pixels, size_t channels, size_t count, const uint32_t *rows,
                         const struct tutti_augmentation *augmentation, float *out) {
  size_t features = (size_t)pixels->stored.height * (size_t)pixels->stored.width * channels;
  for (size_t i = 0; i < count; i++) {
    struct variation variation = {0};
    size_t image = pixels->image ? pixels->image[rows[i]] : rows[i];
    if (augmentation)
      variation = tutti_variation_draw(augmentation, rows[i], pixels->stored.height, pixels->stored.width);
    if (variation.cropped || variation.jitter)
      write_varied(pixels, channels, image, &variation, out + i * features);
    else
      write_image(pixels, channels, image, &variation, out + i * features);
  }
}
