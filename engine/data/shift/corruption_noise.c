/* corruption_noise.c - noise: Gaussian, shot, impulse, speckle. */
#include "corruption_impl.h"

#include <math.h>

static size_t count_of(const struct tutti_corruptor *image) {
  return (size_t)image->height * (size_t)image->width * (size_t)image->channels;
}

/* c: standard deviation. */
static void corrupt_gaussian_noise(struct tutti_corruptor *image, const double *c) {
  for (size_t i = 0; i < count_of(image); i++)
    image->pixels[i] += (float)(c[0] * tutti_random_normal(&image->random));
}

TUTTI_CORRUPTION(gaussian_noise) = {.name = "gaussian-noise",
                                    .constants = {{.04}, {.06}, {.08}, {.09}, {.1}},
                                    .least = 1,
                                    .apply = corrupt_gaussian_noise};

/* A draw from a Poisson distribution: for means below 10 by multiplying uniforms, above by transformed rejection with
   squeeze (Hoermann, "The transformed rejection method for generating Poisson random variables", 1993). */
static double draw_poisson(struct tutti_random *random, double mean) {
  if (mean < 10) {
    double floor_ = exp(-mean), product = tutti_random_uniform(random), count = 0;
    while (product > floor_) {
      product *= tutti_random_uniform(random);
      count++;
    }
    return count;
  }
  double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b;
  double scale = 1.1239 + 1.1328 / (b - 3.4), squeeze = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    int sign;
    double u = tutti_random_uniform(random) - 0.5, v = tutti_random_uniform(random), from_edge = 0.5 - fabs(u);
    double count = floor((2 * a / from_edge + b) * u + mean + 0.43);
    if (from_edge >= 0.07 && v <= squeeze)
      return count;
    if (count < 0 || (from_edge < 0.013 && v > from_edge))
      continue;
    if (log(v * scale / (a / (from_edge * from_edge) + b)) <= count * log(mean) - mean - lgamma_r(count + 1, &sign))
      return count;
  }
}

/* c: photons at full brightness. */
static void corrupt_shot_noise(struct tutti_corruptor *image, const double *c) {
  for (size_t i = 0; i < count_of(image); i++)
    image->pixels[i] = (float)(draw_poisson(&image->random, (double)image->pixels[i] * c[0]) / c[0]);
}

TUTTI_CORRUPTION(shot_noise) = {
    .name = "shot-noise", .constants = {{500}, {250}, {100}, {75}, {50}}, .least = 1, .apply = corrupt_shot_noise};

/* c: the share of the numbers that become 0 or 1. */
static void corrupt_impulse_noise(struct tutti_corruptor *image, const double *c) {
  for (size_t i = 0; i < count_of(image); i++) {
    double draw = tutti_random_uniform(&image->random);
    if (draw < c[0])
      image->pixels[i] = draw < c[0] / 2 ? 0 : 1;
  }
}

TUTTI_CORRUPTION(impulse_noise) = {.name = "impulse-noise",
                                   .constants = {{.01}, {.02}, {.03}, {.05}, {.07}},
                                   .least = 1,
                                   .apply = corrupt_impulse_noise};

/* c: standard deviation, as a share of the number. */
static void corrupt_speckle_noise(struct tutti_corruptor *image, const double *c) {
  for (size_t i = 0; i < count_of(image); i++)
    image->pixels[i] += image->pixels[i] * (float)(c[0] * tutti_random_normal(&image->random));
}

TUTTI_CORRUPTION(speckle_noise) = {.name = "speckle-noise",
                                   .constants = {{.06}, {.1}, {.12}, {.16}, {.2}},
                                   .least = 1,
                                   .apply = corrupt_speckle_noise};
