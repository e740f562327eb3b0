/* augment.c - how images are varied for training. Resized crops: Szegedy et al., "Going deeper with convolutions", CVPR
   2015. Colour jitter: brightness, contrast, saturation and hue, in random order. Both as torchvision's
   RandomResizedCrop and ColorJitter define them, on numbers from 0 to 1 rather than bytes. */
#include "pixels_impl.h"

#include <math.h>

/* --- draws ------------------------------------------------------------------------------------------------------- */

static double draw_between(struct tutti_random *random, double low, double high) {
  return low + (high - low) * tutti_random_uniform(random);
}

/* The sides of a crop; false if it does not fit into the image. */
static bool draw_sides(struct tutti_random *random, double least, struct variation *variation, int height, int width) {
  double area = (double)height * width * draw_between(random, least, 1);
  double ratio = exp(draw_between(random, log(3.0 / 4), log(4.0 / 3)));
  variation->width = (int)lround(sqrt(area * ratio));
  variation->height = (int)lround(sqrt(area / ratio));
  return variation->width > 0 && variation->width <= width && variation->height > 0 && variation->height <= height;
}

/* If no crop fits, take the largest one in the middle whose sides have an allowed ratio. */
static void take_middle(struct variation *variation, int height, int width) {
  double ratio = (double)width / height;
  variation->height = ratio < 3.0 / 4 ? (int)lround(width * 4.0 / 3) : height;
  variation->width = ratio > 4.0 / 3 ? (int)lround(height * 4.0 / 3) : width;
  variation->top = (height - variation->height) / 2;
  variation->left = (width - variation->width) / 2;
}

static void draw_crop(struct tutti_random *random, double least, struct variation *variation, int height, int width) {
  enum { TRIES = 10 };
  bool fits = false;
  for (int i = 0; i < TRIES && !fits; i++)
    fits = draw_sides(random, least, variation, height, width);
  variation->cropped = true;
  if (!fits) {
    take_middle(variation, height, width);
    return;
  }
  variation->top = (int)tutti_random_below(random, (uint64_t)(height - variation->height) + 1);
  variation->left = (int)tutti_random_below(random, (uint64_t)(width - variation->width) + 1);
}

static void draw_colours(struct tutti_random *random, const struct tutti_augmentation *augmentation,
                         struct variation *variation) {
  const double spreads[] = {augmentation->brightness, augmentation->contrast, augmentation->saturation};
  variation->jitter = true;
  for (uint32_t i = 0; i < VARIATION_COLOURS; i++)
    variation->order[i] = i;
  tutti_random_shuffle(random, VARIATION_COLOURS, variation->order);
  for (int i = 0; i < VARIATION_HUE; i++)
    variation->amounts[i] = draw_between(random, fmax(0, 1 - spreads[i]), 1 + spreads[i]);
  variation->amounts[VARIATION_HUE] = draw_between(random, -augmentation->hue, augmentation->hue);
}

struct variation tutti_variation_draw(const struct tutti_augmentation *augmentation, uint32_t row, int height,
                                      int width) {
  struct variation variation = {0};
  struct tutti_random random;
  tutti_random_init(&random, augmentation->seed, "augmentation", augmentation->epoch << 32 | row);
  uint64_t places = 2 * (uint64_t)augmentation->padding + 1;
  variation.down = (int)tutti_random_below(&random, places) - (int)augmentation->padding;
  variation.right = (int)tutti_random_below(&random, places) - (int)augmentation->padding;
  variation.flip = augmentation->flip && tutti_random_below(&random, 2) == 1;
  if (augmentation->crop > 0 && augmentation->crop < 1)
    draw_crop(&random, augmentation->crop, &variation, height, width);
  if (augmentation->brightness > 0 || augmentation->contrast > 0 || augmentation->saturation > 0 ||
      augmentation->hue > 0)
    draw_colours(&random, augmentation, &variation);
  return variation;
}

/* --- colours ----------------------------------------------------------------------------------------------------- */

static float clip(double value) { return (float)(value < 0 ? 0 : value > 1 ? 1 : value); }

/* The brightness of a pixel as it is seen. */
static double grey_of(size_t channels, const float *pixel) {
  return channels == 3 ? 0.299 * (double)pixel[0] + 0.587 * (double)pixel[1] + 0.114 * (double)pixel[2]
                       : (double)pixel[0];
}

static double mean_grey(size_t pixels, size_t channels, const float *image) {
  double sum = 0;
  for (size_t i = 0; i < pixels; i++)
    sum += grey_of(channels, image + i * channels);
  return sum / (double)pixels;
}

/* Move the parts of a pixel away from a grey, or towards it, by a factor. */
static void blend(size_t channels, double grey, double factor, float *pixel) {
  for (size_t c = 0; c < channels; c++)
    pixel[c] = clip(grey + factor * ((double)pixel[c] - grey));
}

static void blend_with(size_t pixels, size_t channels, double grey, double factor, float *image) {
  for (size_t i = 0; i < pixels; i++)
    blend(channels, grey, factor, image + i * channels);
}

static void saturate(size_t pixels, double factor, float *image) {
  for (size_t i = 0; i < pixels; i++)
    blend(3, grey_of(3, image + 3 * i), factor, image + 3 * i);
}

/* The hue of a colour, from 0 to 6, counted from red by green to blue. `spread`: from its least to its largest part. */
static double hue_of(const float *colour, double largest, double spread) {
  double red = (double)colour[0], green = (double)colour[1], blue = (double)colour[2];
  if (spread <= 0)
    return 0;
  double hue = largest <= red     ? (green - blue) / spread
               : largest <= green ? 2 + (blue - red) / spread
                                  : 4 + (red - green) / spread;
  return hue < 0 ? hue + 6 : hue;
}

/* Turn the hue by a part of the wheel; the largest and the least of a colour's parts stay. Back from the hue, a part is
   largest - (largest - least) max(0, min(k, 4 - k, 1)), k = hue + 5, 3, 1 modulo 6 for red, green, blue. */
static void turn_hue(size_t pixels, double turn, float *image) {
  static const int places[] = {5, 3, 1};
  for (size_t i = 0; i < pixels; i++, image += 3) {
    double largest = fmax(fmax((double)image[0], (double)image[1]), (double)image[2]);
    double least = fmin(fmin((double)image[0], (double)image[1]), (double)image[2]);
    double hue = hue_of(image, largest, largest - least) + 6 * turn;
    for (int c = 0; c < 3; c++) {
      double place = fmod(hue + places[c] + 6, 6);
      double share = fmax(0, fmin(1, fmin(place, 4 - place)));
      image[c] = clip(largest - (largest - least) * share);
    }
  }
}

void tutti_variation_colour(const struct variation *variation, size_t pixels, size_t channels, float *image) {
  for (int i = 0; i < VARIATION_COLOURS; i++) {
    uint32_t what = variation->order[i];
    double amount = variation->amounts[what];
    if (amount == (what == VARIATION_HUE ? 0 : 1))
      continue; /* nothing changes, and nothing is rounded */
    if (what == VARIATION_BRIGHTNESS)
      blend_with(pixels, channels, 0, amount, image);
    else if (what == VARIATION_CONTRAST)
      blend_with(pixels, channels, mean_grey(pixels, channels, image), amount, image);
    else if (what == VARIATION_SATURATION && channels == 3)
      saturate(pixels, amount, image);
    else if (what == VARIATION_HUE && channels == 3)
      turn_hue(pixels, amount, image);
  }
}
