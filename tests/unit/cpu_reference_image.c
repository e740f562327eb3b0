/* cpu_reference_image.c - the ops on images, one number at a time, for cpu_reference.c. */
#include "cpu_reference.h"
#include "tests/attributes.h"

#include <math.h>

struct image {
  int height, width, channels;
  const double *values;
};

static bool inside(const struct image *image, int y, int x) {
  return y >= 0 && y < image->height && x >= 0 && x < image->width;
}

static double pixel(const struct image *image, int y, int x, int c) {
  return inside(image, y, x) ? image->values[(y * image->width + x) * image->channels + c] : 0;
}

/* First pixel of the window of output 0 along one side, <= 0. */
static int window_begin(const struct attributes *a, int in, int out, int kernel, int dilation) {
  int total = (out - 1) * a->stride + dilation * (kernel - 1) + 1 - in;
  return a->padding == TUTTI_PADDING_SAME && total > 0 ? -(total / 2) : 0;
}

static double convolve(const struct tutti_layer *layer, const struct attributes *a, const struct image *image,
                       const double *weight, const double *bias, int oy, int ox, int unit) {
  int group_in = image->channels / a->groups, first = unit / (a->units / a->groups) * group_in;
  int top = oy * a->stride + window_begin(a, image->height, layer->shape.height, a->kernel_height, a->dilation);
  int left = ox * a->stride + window_begin(a, image->width, layer->shape.width, a->kernel_width, a->dilation);
  double sum = bias ? bias[unit] : 0;
  for (int ky = 0; ky < a->kernel_height; ky++)
    for (int kx = 0; kx < a->kernel_width; kx++)
      for (int c = 0; c < group_in; c++)
        sum += pixel(image, top + ky * a->dilation, left + kx * a->dilation, first + c) *
               weight[((ky * a->kernel_width + kx) * group_in + c) * a->units + unit];
  return sum;
}

static double reduce(const struct attributes *a, const struct image *image, const double *weight, int oy, int ox,
                     int unit) {
  int units = a->units, shift = unit >= units / 2;
  double sum = 0;
  for (int c = 0; c < image->channels; c++)
    sum += pixel(image, 2 * oy + shift, 2 * ox + shift, c) * weight[c * units + unit];
  return sum;
}

static double pool(const struct tutti_layer *layer, const struct attributes *a, const struct image *image, int oy,
                   int ox, int c) {
  int top = oy * a->stride + window_begin(a, image->height, layer->shape.height, a->kernel_height, 1), count = 0;
  int left = ox * a->stride + window_begin(a, image->width, layer->shape.width, a->kernel_width, 1);
  double sum = 0, most = -INFINITY;
  for (int y = top; y < top + a->kernel_height; y++)
    for (int x = left; x < left + a->kernel_width; x++)
      if (inside(image, y, x)) {
        sum += pixel(image, y, x, c);
        most = fmax(most, pixel(image, y, x, c));
        count++;
      }
  return layer->op == TUTTI_OP_MAX_POOL ? most : sum / count;
}

static double global(const struct image *image, int c) {
  double sum = 0;
  for (int p = 0; p < image->height * image->width; p++)
    sum += image->values[p * image->channels + c];
  return sum / (image->height * image->width);
}

bool reference_image(const struct tutti_layer *layer, const struct tutti_layer *source, size_t rows, const double *x,
                     const double *weight, const double *bias, double *y) {
  const struct tutti_shape out = layer->shape;
  if (layer->op != TUTTI_OP_CONV2D && layer->op != TUTTI_OP_FACTORISED_REDUCE && layer->op != TUTTI_OP_MAX_POOL &&
      layer->op != TUTTI_OP_AVERAGE_POOL && layer->op != TUTTI_OP_GLOBAL_POOL)
    return false;
  const struct attributes a = attributes_of(layer);
  struct image image = {source->shape.height, source->shape.width, source->shape.channels, x};
  for (size_t r = 0; r < rows; r++, image.values += image.height * image.width * image.channels)
    for (int oy = 0; oy < out.height; oy++)
      for (int ox = 0; ox < out.width; ox++)
        for (int c = 0; c < out.channels; c++, y++)
          switch (layer->op) {
          case TUTTI_OP_CONV2D:
            *y = convolve(layer, &a, &image, weight, bias, oy, ox, c);
            break;
          case TUTTI_OP_FACTORISED_REDUCE:
            *y = reduce(&a, &image, weight, oy, ox, c);
            break;
          case TUTTI_OP_GLOBAL_POOL:
            *y = global(&image, c);
            break;
          default:
            *y = pool(layer, &a, &image, oy, ox, c);
          }
  return true;
}
