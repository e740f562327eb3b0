/* corruption_blur.c - blurs: defocus, frosted glass, motion, zoom, Gaussian. */
#include "corruption_impl.h"

#include <math.h>
#include <string.h>

/* A kernel of SIDE x SIDE taps. */
enum { SIDE = 5, HALF = SIDE / 2 };

/* A disk of the given radius, with its rim softened by a Gaussian of 3 x 3 taps. */
static void make_disk(double radius, double rim, float kernel[SIDE][SIDE]) {
  double disk[SIDE][SIDE], gaussian[3], inside = 0, total = 0;
  for (int y = 0; y < SIDE; y++)
    for (int x = 0; x < SIDE; x++) {
      disk[y][x] = (y - HALF) * (y - HALF) + (x - HALF) * (x - HALF) <= radius * radius;
      inside += disk[y][x];
    }
  for (int k = 0; k < 3; k++)
    total += gaussian[k] = exp(-0.5 * (k - 1) * (k - 1) / (rim * rim));
  for (int y = 0; y < SIDE; y++)
    for (int x = 0; x < SIDE; x++) {
      double sum = 0;
      for (int v = y > 0 ? -1 : 0; v <= (y < SIDE - 1 ? 1 : 0); v++)
        for (int u = x > 0 ? -1 : 0; u <= (x < SIDE - 1 ? 1 : 0); u++)
          sum += disk[y + v][x + u] * gaussian[v + 1] * gaussian[u + 1];
      kernel[y][x] = (float)(sum / (inside * total * total));
    }
}

/* c: radius, deviation of the rim. */
static void corrupt_defocus_blur(struct tutti_corruptor *image, const double *c) {
  float kernel[SIDE][SIDE];
  struct tutti_picture in = tutti_plane_of(image, 0, image->channels);
  float *out = image->pixels;
  make_disk(c[0], c[1], kernel);
  memcpy(in.values, image->pixels, tutti_picture_count(&in) * sizeof *out);
  for (int y = 0; y < in.height; y++)
    for (int x = 0; x < in.width; x++, out += in.channels)
      for (int channel = 0; channel < in.channels; channel++) {
        out[channel] = 0;
        for (int k = 0; k < SIDE * SIDE; k++)
          out[channel] +=
              kernel[k / SIDE][k % SIDE] * tutti_pixel(&in, y + k / SIDE - HALF, x + k % SIDE - HALF)[channel];
      }
}

TUTTI_CORRUPTION(defocus_blur) = {.name = "defocus-blur",
                                  .constants = {{.3, .4}, {.4, .5}, {.5, .6}, {1, .2}, {1.5, .1}},
                                  .least = 5,
                                  .apply = corrupt_defocus_blur};

/* c: deviation, longest displacement d, rounds. Each pixel takes the value of one that is -d to d - 1 pixels away, down
   and across. This is what the published sets contain: their program means to exchange the two pixels, but only copies
   one. */
static void corrupt_glass_blur(struct tutti_corruptor *image, const double *c) {
  struct tutti_picture picture = tutti_image_of(image), before = tutti_plane_of(image, 0, image->channels);
  size_t bytes = tutti_picture_count(&picture) * sizeof(float), pixel = (size_t)picture.channels * sizeof(float);
  int reach = (int)c[1];
  tutti_blur_gaussian(&picture, c[0], image->plane[1]);
  for (int round = 0; round < (int)c[2]; round++) {
    memcpy(before.values, picture.values, bytes);
    for (int y = 0; y < picture.height; y++)
      for (int x = 0; x < picture.width; x++) {
        int down = (int)tutti_random_below(&image->random, 2 * (uint64_t)reach) - reach;
        int right = (int)tutti_random_below(&image->random, 2 * (uint64_t)reach) - reach;
        memcpy(tutti_pixel(&picture, y, x), tutti_pixel(&before, y + down, x + right), pixel);
      }
  }
  tutti_blur_gaussian(&picture, c[0], image->plane[1]);
}

TUTTI_CORRUPTION(glass_blur) = {.name = "glass-blur",
                                .constants = {{.05, 1, 1}, {.25, 1, 1}, {.4, 1, 1}, {.25, 1, 2}, {.4, 1, 2}},
                                .least = 4,
                                .apply = corrupt_glass_blur};

/* c: radius, deviation; the angle is drawn from -45 to 45 degrees. */
static void corrupt_motion_blur(struct tutti_corruptor *image, const double *c) {
  struct tutti_picture picture = tutti_image_of(image);
  double angle = 90 * tutti_random_uniform(&image->random) - 45;
  tutti_blur_motion(&picture, c[0], c[1], angle, image->plane[0]);
  memcpy(image->pixels, image->plane[0], tutti_picture_count(&picture) * sizeof *image->pixels);
}

TUTTI_CORRUPTION(motion_blur) = {.name = "motion-blur",
                                 .constants = {{6, 1}, {6, 1.5}, {6, 2}, {8, 2}, {9, 2.5}},
                                 .least = 19,
                                 .apply = corrupt_motion_blur};

/* c: the largest zoom; the mean of the image and of its zooms by 1.00, 1.01, ... */
static void corrupt_zoom_blur(struct tutti_corruptor *image, const double *c) {
  struct tutti_picture in = tutti_plane_of(image, 0, image->channels);
  size_t count = tutti_picture_count(&in);
  int zooms = (int)lround((c[0] - 1) * 100) + 1;
  memcpy(in.values, image->pixels, count * sizeof(float));
  for (int z = 0; z < zooms; z++) {
    tutti_zoom(&in, 1 + 0.01 * z, image->plane[1]);
    for (size_t i = 0; i < count; i++)
      image->pixels[i] += image->plane[1][i];
  }
  for (size_t i = 0; i < count; i++)
    image->pixels[i] /= (float)(zooms + 1);
}

TUTTI_CORRUPTION(zoom_blur) = {
    .name = "zoom-blur", .constants = {{1.05}, {1.1}, {1.15}, {1.2}, {1.25}}, .least = 8, .apply = corrupt_zoom_blur};

/* c: deviation. */
static void corrupt_gaussian_blur(struct tutti_corruptor *image, const double *c) {
  struct tutti_picture picture = tutti_image_of(image);
  tutti_blur_gaussian(&picture, c[0], image->plane[0]);
}

TUTTI_CORRUPTION(gaussian_blur) = {
    .name = "gaussian-blur", .constants = {{.4}, {.6}, {.7}, {.8}, {1}}, .least = 5, .apply = corrupt_gaussian_blur};
