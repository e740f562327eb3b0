/* corruption_filters.c - building blocks of several corruptions: blurs, zoom, interpolation, a fractal map. */
#include "corruption_impl.h"

#include <math.h>
#include <string.h>

enum { MOST_TAPS = 129 };

/* One pass: out(y, x) = sum of weights[k] in(y, x + k); with `down`, over rows below. */
static void pass(const struct tutti_picture *in, int taps, const float *weights, bool down, float *out) {
  for (int y = 0; y < in->height; y++)
    for (int x = 0; x < in->width; x++, out += in->channels)
      for (int c = 0; c < in->channels; c++) {
        float sum = 0;
        for (int k = 0; k < taps; k++) {
          int offset = k - taps / 2;
          sum += weights[k] * tutti_pixel(in, y + (down ? offset : 0), x + (down ? 0 : offset))[c];
        }
        out[c] = sum;
      }
}

void tutti_blur_gaussian(const struct tutti_picture *picture, double sigma, float *scratch) {
  int radius = (int)(4 * sigma + 0.5);
  float weights[MOST_TAPS] = {0};
  double sum = 0;
  radius = radius < MOST_TAPS / 2 ? radius : MOST_TAPS / 2;
  if (radius == 0)
    return;
  for (int k = -radius; k <= radius; k++)
    sum += exp(-0.5 * k * k / (sigma * sigma));
  for (int k = -radius; k <= radius; k++)
    weights[k + radius] = (float)(exp(-0.5 * k * k / (sigma * sigma)) / sum);
  struct tutti_picture half = *picture;
  half.values = scratch;
  pass(picture, 2 * radius + 1, weights, false, scratch);
  pass(&half, 2 * radius + 1, weights, true, picture->values);
}

void tutti_blur_motion(const struct tutti_picture *in, double radius, double sigma, double angle, float *out) {
  int taps = 2 * (int)radius + 1;
  double radians = angle * M_PI / 180, sum = 0;
  for (int k = 0; k < taps; k++)
    sum += exp(-0.5 * k * k / (sigma * sigma));
  memset(out, 0, tutti_picture_count(in) * sizeof *out);
  for (int k = 0; k < taps; k++) {
    float weight = (float)(exp(-0.5 * k * k / (sigma * sigma)) / sum), *to = out;
    int down = (int)lround(k * sin(radians)), right = (int)lround(k * cos(radians));
    for (int y = 0; y < in->height; y++)
      for (int x = 0; x < in->width; x++, to += in->channels)
        for (int c = 0; c < in->channels; c++)
          to[c] += weight * tutti_pixel(in, y + down, x + right)[c];
  }
}

void tutti_interpolate(const struct tutti_picture *in, double y, double x, float *out) {
  y = fmin(fmax(y, 0), in->height - 1);
  x = fmin(fmax(x, 0), in->width - 1);
  int top = (int)y, left = (int)x;
  float down = (float)(y - top), right = (float)(x - left);
  const float *a = tutti_pixel(in, top, left), *b = tutti_pixel(in, top, left + 1);
  const float *c = tutti_pixel(in, top + 1, left), *d = tutti_pixel(in, top + 1, left + 1);
  for (int i = 0; i < in->channels; i++)
    out[i] = (1 - down) * ((1 - right) * a[i] + right * b[i]) + down * ((1 - right) * c[i] + right * d[i]);
}

void tutti_zoom(const struct tutti_picture *in, double factor, float *out) {
  double middle_y = (in->height - 1) / 2.0, middle_x = (in->width - 1) / 2.0;
  for (int y = 0; y < in->height; y++)
    for (int x = 0; x < in->width; x++, out += in->channels)
      tutti_interpolate(in, middle_y + (y - middle_y) / factor, middle_x + (x - middle_x) / factor, out);
}

/* --- diamond-square, on a map whose edges meet --- */

struct map {
  float *values;
  int side;
  struct tutti_random *random;
};

static float *at(const struct map *map, int y, int x) {
  int mask = map->side - 1;
  return map->values + (size_t)(y & mask) * (size_t)map->side + (size_t)(x & mask);
}

static float drawn(const struct map *map, float sum, double height) {
  return sum / 4 + (float)(height * (2 * tutti_random_uniform(map->random) - 1));
}

static void refine(const struct map *map, int step, double height) {
  int half = step / 2;
  for (int y = half; y < map->side; y += step)
    for (int x = half; x < map->side; x += step)
      *at(map, y, x) = drawn(map,
                             *at(map, y - half, x - half) + *at(map, y - half, x + half) +
                                 *at(map, y + half, x - half) + *at(map, y + half, x + half),
                             height);
  for (int y = 0; y < map->side; y += half)
    for (int x = y / half % 2 ? 0 : half; x < map->side; x += step)
      *at(map, y, x) = drawn(
          map, *at(map, y - half, x) + *at(map, y + half, x) + *at(map, y, x - half) + *at(map, y, x + half), height);
}

void tutti_plasma(struct tutti_corruptor *image, double decay, int plane) {
  struct map map = {image->plane[plane], image->map, &image->random};
  size_t count = (size_t)map.side * (size_t)map.side;
  float low = INFINITY, high = -INFINITY;
  double height = 1;
  map.values[0] = 0;
  for (int step = map.side; step >= 2; step /= 2, height /= decay * decay)
    refine(&map, step, height);
  for (size_t i = 0; i < count; i++) {
    low = fminf(low, map.values[i]);
    high = fmaxf(high, map.values[i]);
  }
  float range = high > low ? high - low : 1;
  for (int y = 0; y < image->height; y++) /* rows move up, so none is overwritten before it is read */
    for (int x = 0; x < image->width; x++)
      map.values[y * image->width + x] = (map.values[y * map.side + x] - low) / range;
}
