/* corruption_weather.c - snow, frost, fog, and liquids spattered on the lens. */
#include "corruption_impl.h"

#include <math.h>
#include <string.h>

/* c: mean and deviation of the layer of flakes, its zoom, threshold, radius and deviation of its motion, the share of
   the image's own colours. The layer falls from above at -135 to -45 degrees, and is added a second time, rotated by
   180 degrees. */
static void corrupt_snow(struct tutti_corruptor *image, const double *c) {
  struct tutti_picture picture = tutti_image_of(image), layer = tutti_plane_of(image, 0, 1);
  size_t pixels = tutti_picture_count(&layer);
  float *flakes = image->plane[1], share = (float)c[6];
  for (size_t i = 0; i < pixels; i++)
    layer.values[i] = (float)(c[0] + c[1] * tutti_random_normal(&image->random));
  tutti_zoom(&layer, c[2], flakes);
  for (size_t i = 0; i < pixels; i++)
    layer.values[i] = flakes[i] < (float)c[3] ? 0 : tutti_clip(flakes[i]);
  tutti_blur_motion(&layer, c[4], c[5], -135 + 90 * tutti_random_uniform(&image->random), flakes);
  for (size_t i = 0; i < pixels; i++) {
    float *pixel = picture.values + i * (size_t)picture.channels;
    float bright = 1.5f * tutti_luma(pixel, picture.channels) + 0.5f, snow = flakes[i] + flakes[pixels - 1 - i];
    for (int k = 0; k < picture.channels; k++)
      pixel[k] = share * pixel[k] + (1 - share) * fmaxf(pixel[k], bright) + snow;
  }
}

TUTTI_CORRUPTION(snow) = {.name = "snow",
                          .constants = {{.1, .2, 1, .6, 8, 3, .95},
                                        {.1, .2, 1, .5, 10, 4, .9},
                                        {.15, .3, 1.75, .55, 10, 4, .9},
                                        {.25, .3, 2.25, .6, 12, 6, .85},
                                        {.3, .3, 1.25, .65, 14, 12, .8}},
                          .least = 16,
                          .apply = corrupt_snow};

/* c: share of the image, share of the frost. The published sets lay photographs of frosted windows over the image. Here
   the frost is computed: bright creases of one fractal (crystals) on another (the film of ice). */
static void corrupt_frost(struct tutti_corruptor *image, const double *c) {
  struct tutti_picture picture = tutti_image_of(image);
  const float *film = image->plane[0], *creases = image->plane[1];
  tutti_plasma(image, 2, 0);
  tutti_plasma(image, 1.5, 1);
  for (size_t i = 0; i < tutti_picture_count(&picture); i++) {
    size_t pixel = i / (size_t)picture.channels;
    float crease = 1 - fabsf(2 * creases[pixel] - 1), frost = 0.5f * film[pixel] + 0.5f * crease * crease;
    picture.values[i] = (float)c[0] * picture.values[i] + (float)c[1] * frost;
  }
}

TUTTI_CORRUPTION(frost) = {.name = "frost",
                           .constants = {{1, .2}, {1, .3}, {.9, .4}, {.85, .4}, {.75, .45}},
                           .least = 8,
                           .apply = corrupt_frost};

/* c: thickness, decay of the fractal. */
static void corrupt_fog(struct tutti_corruptor *image, const double *c) {
  struct tutti_picture picture = tutti_image_of(image);
  size_t count = tutti_picture_count(&picture);
  float brightest = 0, thickness = (float)c[0];
  for (size_t i = 0; i < count; i++)
    brightest = fmaxf(brightest, picture.values[i]);
  tutti_plasma(image, c[1], 0);
  for (size_t i = 0; i < count; i++)
    picture.values[i] = (picture.values[i] + thickness * image->plane[0][i / (size_t)picture.channels]) * brightest /
                        (brightest + thickness);
}

TUTTI_CORRUPTION(fog) = {
    .name = "fog", .constants = {{.2, 3}, {.5, 3}, {.75, 2.5}, {1, 2}, {1.5, 1.75}}, .least = 8, .apply = corrupt_fog};

/* --- spatter --- */

/* Lay a colour over the image: pixel * (1 - cover) + colour * strength. */
static void lay_over(struct tutti_corruptor *image, const float *strength, const float colour[3], bool covers) {
  struct tutti_picture picture = tutti_image_of(image);
  float grey = tutti_luma(colour, 3);
  for (size_t i = 0; i < tutti_picture_count(&picture); i++) {
    size_t pixel = i / (size_t)picture.channels;
    float added = strength[pixel] * (picture.channels == 1 ? grey : colour[i % (size_t)picture.channels]);
    picture.values[i] = picture.values[i] * (covers ? 1 - strength[pixel] : 1) + added;
  }
}

static void spatter_mud(struct tutti_corruptor *image, const double *c) {
  static const float brown[3] = {63 / 255.0f, 42 / 255.0f, 20 / 255.0f};
  struct tutti_picture mud = tutti_plane_of(image, 0, 1);
  size_t pixels = tutti_picture_count(&mud);
  for (size_t i = 0; i < pixels; i++)
    mud.values[i] = mud.values[i] > (float)c[3];
  tutti_blur_gaussian(&mud, c[4], image->plane[1]);
  for (size_t i = 0; i < pixels; i++)
    mud.values[i] = mud.values[i] < 0.8f ? 0 : mud.values[i];
  lay_over(image, mud.values, brown, true);
}

/* Is the pixel at the rim of a drop, that is liquid with a dry neighbour? */
static bool at_rim(const struct tutti_picture *liquid, int y, int x) {
  bool wet = *tutti_pixel(liquid, y, x) > 0;
  return wet != (*tutti_pixel(liquid, y - 1, x) > 0) || wet != (*tutti_pixel(liquid, y + 1, x) > 0) ||
         wet != (*tutti_pixel(liquid, y, x - 1) > 0) || wet != (*tutti_pixel(liquid, y, x + 1) > 0);
}

enum { FARTHEST = 20, LEVELS = FARTHEST + 1 };

/* Distances to the rims of drops, at most FARTHEST, in two sweeps of steps of 1 and sqrt(2). */
static void measure_distances(const struct tutti_picture *liquid, const struct tutti_picture *distance) {
  for (int y = 0; y < liquid->height; y++)
    for (int x = 0; x < liquid->width; x++)
      *tutti_pixel(distance, y, x) = at_rim(liquid, y, x) ? 0 : FARTHEST;
  for (int sweep = 0, sign = 1; sweep < 2; sweep++, sign = -1)
    for (int i = 0; i < liquid->height; i++)
      for (int j = 0; j < liquid->width; j++) {
        int y = sweep ? liquid->height - 1 - i : i, x = sweep ? liquid->width - 1 - j : j;
        float *here = tutti_pixel(distance, y, x), slant = (float)M_SQRT2;
        *here = fminf(*here, *tutti_pixel(distance, y, x - sign) + 1);
        for (int side = -1; side <= 1; side++)
          *here = fminf(*here, *tutti_pixel(distance, y - sign, x + side) + (side ? slant : 1));
      }
}

static void blur_box(const struct tutti_picture *picture, float *scratch) {
  for (int y = 0; y < picture->height; y++)
    for (int x = 0; x < picture->width; x++) {
      float sum = 0;
      for (int k = 0; k < 9; k++)
        sum += *tutti_pixel(picture, y + k / 3 - 1, x + k % 3 - 1);
      scratch[y * picture->width + x] = sum / 9;
    }
  memcpy(picture->values, scratch, tutti_picture_count(picture) * sizeof *scratch);
}

/* Spread whole distances evenly over 0 to 1, by their rank. */
static void equalise(const struct tutti_picture *picture) {
  size_t counts[LEVELS] = {0}, below[LEVELS], count = tutti_picture_count(picture), seen = 0, first = 0;
  for (size_t i = 0; i < count; i++)
    counts[(int)picture->values[i]]++;
  for (int level = 0; level < LEVELS; level++) {
    first = first ? first : counts[level];
    below[level] = seen += counts[level];
  }
  for (size_t i = 0; i < count; i++)
    picture->values[i] = count == first ? 0 : (float)(below[(int)picture->values[i]] - first) / (float)(count - first);
}

static void emboss(const struct tutti_picture *picture, float *scratch) {
  static const float kernel[9] = {-2, -1, 0, -1, 1, 1, 0, 1, 2};
  for (int y = 0; y < picture->height; y++)
    for (int x = 0; x < picture->width; x++) {
      float sum = 0;
      for (int k = 0; k < 9; k++)
        sum += kernel[k] * *tutti_pixel(picture, y + k / 3 - 1, x + k % 3 - 1);
      scratch[y * picture->width + x] = tutti_clip(sum);
    }
  memcpy(picture->values, scratch, tutti_picture_count(picture) * sizeof *scratch);
}

/* Drops shine where their depth embosses them. */
static void spatter_water(struct tutti_corruptor *image, const double *c) {
  static const float turquoise[3] = {175 / 255.0f, 238 / 255.0f, 238 / 255.0f};
  struct tutti_picture liquid = tutti_plane_of(image, 0, 1), depth = tutti_plane_of(image, 2, 1);
  float *scratch = image->plane[1], most = 0;
  size_t pixels = tutti_picture_count(&liquid);
  measure_distances(&liquid, &depth);
  blur_box(&depth, scratch);
  equalise(&depth);
  emboss(&depth, scratch);
  blur_box(&depth, scratch);
  for (size_t i = 0; i < pixels; i++)
    most = fmaxf(most, liquid.values[i] *= depth.values[i]);
  for (size_t i = 0; i < pixels; i++)
    liquid.values[i] *= most > 0 ? (float)c[4] / most : 0;
  lay_over(image, liquid.values, turquoise, false);
}

/* c: mean and deviation of the layer of liquid, its blur, threshold, the water's intensity or the mud's blur, whether
   it is mud. Rims are where liquid begins; the published sets find them with Canny's edge detector. */
static void corrupt_spatter(struct tutti_corruptor *image, const double *c) {
  struct tutti_picture liquid = tutti_plane_of(image, 0, 1);
  for (size_t i = 0; i < tutti_picture_count(&liquid); i++)
    liquid.values[i] = (float)(c[0] + c[1] * tutti_random_normal(&image->random));
  tutti_blur_gaussian(&liquid, c[2], image->plane[1]);
  for (size_t i = 0; i < tutti_picture_count(&liquid); i++)
    liquid.values[i] = liquid.values[i] < (float)c[3] ? 0 : liquid.values[i];
  if (c[5] > 0)
    spatter_mud(image, c);
  else
    spatter_water(image, c);
}

TUTTI_CORRUPTION(spatter) = {.name = "spatter",
                             .constants = {{.62, .1, .7, .7, .5, 0},
                                           {.65, .1, .8, .7, .5, 0},
                                           {.65, .3, 1, .69, .5, 0},
                                           {.65, .1, .7, .69, .6, 1},
                                           {.65, .1, .5, .68, .6, 1}},
                             .least = 8,
                             .apply = corrupt_spatter};
