/* corruption.c - the table of corruptions, and one image sent through one of them. */
#include "corruption_impl.h"

#include <string.h>

const char *const tutti_corruption_names[] = {
    "gaussian-noise", "shot-noise",    "impulse-noise", "defocus-blur", "glass-blur", "motion-blur", "zoom-blur",
    "snow",           "frost",         "fog",           "brightness",   "contrast",   "elastic",     "pixelate",
    "jpeg",           "speckle-noise", "gaussian-blur", "spatter",      "saturate",   NULL};

static const struct tutti_corruption table[TUTTI_CORRUPTIONS] = {
    {.name = "gaussian-noise", /* standard deviation */
     .constants = {{.04}, {.06}, {.08}, {.09}, {.1}},
     .least = 1,
     .apply = tutti_corrupt_gaussian_noise},
    {.name = "shot-noise", /* photons at full brightness */
     .constants = {{500}, {250}, {100}, {75}, {50}},
     .least = 1,
     .apply = tutti_corrupt_shot_noise},
    {.name = "impulse-noise", /* share of the numbers */
     .constants = {{.01}, {.02}, {.03}, {.05}, {.07}},
     .least = 1,
     .apply = tutti_corrupt_impulse_noise},
    {.name = "defocus-blur", /* radius of the disk, deviation of its rim */
     .constants = {{.3, .4}, {.4, .5}, {.5, .6}, {1, .2}, {1.5, .1}},
     .least = 5,
     .apply = tutti_corrupt_defocus_blur},
    {.name = "glass-blur", /* deviation of the blur, longest displacement, rounds */
     .constants = {{.05, 1, 1}, {.25, 1, 1}, {.4, 1, 1}, {.25, 1, 2}, {.4, 1, 2}},
     .least = 4,
     .apply = tutti_corrupt_glass_blur},
    {.name = "motion-blur", /* radius, deviation */
     .constants = {{6, 1}, {6, 1.5}, {6, 2}, {8, 2}, {9, 2.5}},
     .least = 19,
     .apply = tutti_corrupt_motion_blur},
    {.name = "zoom-blur", /* largest zoom */
     .constants = {{1.05}, {1.1}, {1.15}, {1.2}, {1.25}},
     .least = 8,
     .apply = tutti_corrupt_zoom_blur},
    {.name = "snow", /* mean, deviation, zoom and threshold of the flakes; radius, deviation of motion; share left */
     .constants = {{.1, .2, 1, .6, 8, 3, .95},
                   {.1, .2, 1, .5, 10, 4, .9},
                   {.15, .3, 1.75, .55, 10, 4, .9},
                   {.25, .3, 2.25, .6, 12, 6, .85},
                   {.3, .3, 1.25, .65, 14, 12, .8}},
     .least = 16,
     .apply = tutti_corrupt_snow},
    {.name = "frost", /* share of the image, share of the frost */
     .constants = {{1, .2}, {1, .3}, {.9, .4}, {.85, .4}, {.75, .45}},
     .least = 8,
     .apply = tutti_corrupt_frost},
    {.name = "fog", /* thickness, decay of the fractal */
     .constants = {{.2, 3}, {.5, 3}, {.75, 2.5}, {1, 2}, {1.5, 1.75}},
     .least = 8,
     .apply = tutti_corrupt_fog},
    {.name = "brightness", /* added to the value of HSV */
     .constants = {{.05}, {.1}, {.15}, {.2}, {.3}},
     .least = 1,
     .apply = tutti_corrupt_brightness},
    {.name = "contrast", /* share of the contrast that is left */
     .constants = {{.75}, {.5}, {.4}, {.3}, {.15}},
     .least = 1,
     .apply = tutti_corrupt_contrast},
    {.name = "elastic", /* displacement, its deviation, affine displacement: shares of the side */
     .constants = {{0, 0, .08}, {.05, .2, .07}, {.08, .06, .06}, {.1, .04, .05}, {.1, .03, .03}},
     .least = 8,
     .apply = tutti_corrupt_elastic},
    {.name = "pixelate", /* share of the side */
     .constants = {{.95}, {.9}, {.85}, {.75}, {.65}},
     .least = 8,
     .apply = tutti_corrupt_pixelate},
    {.name = "jpeg", /* quality */
     .constants = {{80}, {65}, {58}, {50}, {40}},
     .least = 8,
     .apply = tutti_corrupt_jpeg},
    {.name = "speckle-noise", /* standard deviation, as a share of each number */
     .constants = {{.06}, {.1}, {.12}, {.16}, {.2}},
     .least = 1,
     .apply = tutti_corrupt_speckle_noise},
    {.name = "gaussian-blur", /* deviation */
     .constants = {{.4}, {.6}, {.7}, {.8}, {1}},
     .least = 5,
     .apply = tutti_corrupt_gaussian_blur},
    {.name = "spatter", /* mean and deviation of the liquid, blur, threshold, intensity or blur of the mud, mud */
     .constants = {{.62, .1, .7, .7, .5, 0},
                   {.65, .1, .8, .7, .5, 0},
                   {.65, .3, 1, .69, .5, 0},
                   {.65, .1, .7, .69, .6, 1},
                   {.65, .1, .5, .68, .6, 1}},
     .least = 8,
     .apply = tutti_corrupt_spatter},
    {.name = "saturate", /* factor and summand of HSV's saturation */
     .constants = {{.3, 0}, {.1, 0}, {1.5, 0}, {2, .1}, {2.5, .2}},
     .least = 1,
     .apply = tutti_corrupt_saturate},
};

enum tutti_status tutti_corruptor_create(tutti_context *context, struct tutti_shape shape,
                                         struct tutti_corruptor **out) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_corruptor *corruptor = NULL;
  *out = NULL;
  if (shape.channels != 1 && shape.channels != 3)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "only images of 1 or 3 channels can be corrupted, and these have %d",
                      shape.channels);
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *corruptor, &corruptor));
  corruptor->height = shape.height;
  corruptor->width = shape.width;
  corruptor->channels = shape.channels;
  corruptor->map = 1;
  while (corruptor->map < shape.height || corruptor->map < shape.width)
    corruptor->map *= 2;
  size_t count = (size_t)shape.height * (size_t)shape.width * (size_t)shape.channels;
  size_t room = (size_t)corruptor->map * (size_t)corruptor->map;
  room = room > count ? room : count;
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(float), &corruptor->pixels));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, 1, &corruptor->bytes));
  for (size_t i = 0; i < TUTTI_CORRUPTION_PLANES; i++)
    TUTTI_TRY_OUT(context, tutti_alloc(context, room, sizeof(float), &corruptor->plane[i]));
  *out = corruptor;
  corruptor = NULL;
out:
  tutti_corruptor_destroy(corruptor);
  return status;
}

void tutti_corruptor_destroy(struct tutti_corruptor *corruptor) {
  if (!corruptor)
    return;
  tutti_free(corruptor->pixels);
  tutti_free(corruptor->bytes);
  for (size_t i = 0; i < TUTTI_CORRUPTION_PLANES; i++)
    tutti_free(corruptor->plane[i]);
  tutti_free(corruptor);
}

enum tutti_status tutti_corruption_check(tutti_context *context, size_t corruption, struct tutti_shape shape) {
  const struct tutti_corruption *entry = &table[corruption];
  if (shape.height >= entry->least && shape.width >= entry->least)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "corruption %s needs images of at least %d x %d pixels, and these have %d x %d", entry->name,
                    entry->least, entry->least, shape.height, shape.width);
}

enum tutti_status tutti_corrupt(tutti_context *context, struct tutti_corruptor *image, size_t corruption, int severity,
                                const uint8_t *in, uint8_t *out) {
  size_t count = (size_t)image->height * (size_t)image->width * (size_t)image->channels;
  if (severity == 0) {
    memcpy(out, in, count);
    return TUTTI_OK;
  }
  for (size_t i = 0; i < count; i++)
    image->pixels[i] = (float)in[i] / 255;
  image->failure = NULL;
  table[corruption].apply(image, table[corruption].constants[severity - 1]);
  if (image->failure)
    return TUTTI_FAIL(context, TUTTI_ERROR_INTERNAL, "corruption %s: %s", table[corruption].name, image->failure);
  for (size_t i = 0; i < count; i++)
    out[i] = (uint8_t)(255 * tutti_clip(image->pixels[i]) + 0.5f);
  return TUTTI_OK;
}
