/* pixels.c - rows of images made on demand: bytes to standardised floats, grey repeated, and, for training, shifted and
   flipped. Nothing is allocated. */
#include <tutti/dataset.h>
#include <tutti/random.h>

#include "split_impl.h"

/* Where the pixels of a row come from: moved by so many pixels, and maybe mirrored. */
struct view {
  int down, right;
  bool flip;
};

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
static void write_image(const struct tutti_pixels *pixels, size_t channels, size_t image, struct view view,
                        float *out) {
  int height = pixels->stored.height, width = pixels->stored.width;
  size_t stored = (size_t)pixels->stored.channels, first = image * (size_t)height * (size_t)width;
  for (int y = 0; y < height; y++) {
    int from_y = y + view.down;
    for (int x = 0; x < width; x++, out += channels) {
      int from_x = (view.flip ? width - 1 - x : x) + view.right;
      if (from_y < 0 || from_y >= height || from_x < 0 || from_x >= width)
        write_black(pixels, channels, out);
      else
        write_pixel(pixels, channels, (first + (size_t)from_y * (size_t)width + (size_t)from_x) * stored, out);
    }
  }
}

void tutti_pixels_gather(const struct tutti_pixels *pixels, size_t channels, size_t count, const uint32_t *rows,
                         const struct tutti_augmentation *augmentation, float *out) {
  size_t features = (size_t)pixels->stored.height * (size_t)pixels->stored.width * channels;
  for (size_t i = 0; i < count; i++) {
    struct view view = {0, 0, false};
    size_t image = pixels->image ? pixels->image[rows[i]] : rows[i];
    if (augmentation) {
      struct tutti_random random;
      tutti_random_init(&random, augmentation->seed, "augmentation", augmentation->epoch << 32 | rows[i]);
      uint64_t places = 2 * (uint64_t)augmentation->padding + 1;
      view.down = (int)tutti_random_below(&random, places) - (int)augmentation->padding;
      view.right = (int)tutti_random_below(&random, places) - (int)augmentation->padding;
      view.flip = augmentation->flip && tutti_random_below(&random, 2) == 1;
    }
    write_image(pixels, channels, image, view, out + i * features);
  }
}
