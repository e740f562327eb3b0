/* corruption_digital.c - elastic distortion, pixelation, JPEG. */
#include "corruption_impl.h"

#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

/* --- elastic --- */

/* x' = a x + b y + c, y' = d x + e y + f. */
struct affine {
  double a, b, c, d, e, f;
};

/* The affine map that takes the three points `from` to the points `to`. */
static struct affine affine_between(double from[3][2], double to[3][2]) {
  double x1 = from[1][0] - from[0][0], y1 = from[1][1] - from[0][1];
  double x2 = from[2][0] - from[0][0], y2 = from[2][1] - from[0][1];
  double determinant = x1 * y2 - x2 * y1, row[2][3];
  for (int k = 0; k < 2; k++) {
    double u1 = to[1][k] - to[0][k], u2 = to[2][k] - to[0][k];
    row[k][0] = (u1 * y2 - u2 * y1) / determinant;
    row[k][1] = (x1 * u2 - x2 * u1) / determinant;
    row[k][2] = to[0][k] - row[k][0] * from[0][0] - row[k][1] * from[0][1];
  }
  return (struct affine){row[0][0], row[0][1], row[0][2], row[1][0], row[1][1], row[1][2]};
}

/* Move three corners of a square about the centre by up to `reach` pixels each, and the image with them. */
static void warp(struct tutti_corruptor *image, double reach) {
  struct tutti_picture in = tutti_plane_of(image, 0, image->channels);
  float *out = image->pixels;
  int third = (image->height < image->width ? image->height : image->width) / 3; /* whole pixels */
  int middle_x = image->width / 2, middle_y = image->height / 2;
  double half = third, x = middle_x, y = middle_y;
  double corners[3][2] = {{x + half, y + half}, {x + half, y - half}, {x - half, y - half}}, moved[3][2];
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 2; k++)
      moved[i][k] = corners[i][k] + reach * (2 * tutti_random_uniform(&image->random) - 1);
  struct affine back = affine_between(moved, corners);
  memcpy(in.values, out, tutti_picture_count(&in) * sizeof *out);
  for (int row = 0; row < in.height; row++)
    for (int column = 0; column < in.width; column++, out += in.channels)
      tutti_interpolate(&in, back.d * column + back.e * row + back.f, back.a * column + back.b * row + back.c, out);
}

/* A smooth field of displacements of the given size. */
static void draw_field(struct tutti_corruptor *image, double size, double sigma, int plane) {
  struct tutti_picture field = tutti_plane_of(image, plane, 1);
  for (size_t i = 0; i < tutti_picture_count(&field); i++)
    field.values[i] = (float)(size * (2 * tutti_random_uniform(&image->random) - 1));
  tutti_blur_gaussian(&field, sigma, image->plane[0]);
}

/* c: displacement, the deviation of its blur, affine displacement; all as shares of the shorter side. */
static void corrupt_elastic(struct tutti_corruptor *image, const double *c) {
  double side = image->height < image->width ? image->height : image->width;
  struct tutti_picture in = tutti_plane_of(image, 0, image->channels);
  float *out = image->pixels;
  warp(image, c[2] * side);
  draw_field(image, c[0] * side, c[1] * side, 1);
  draw_field(image, c[0] * side, c[1] * side, 2);
  memcpy(in.values, out, tutti_picture_count(&in) * sizeof *out);
  for (int y = 0; y < in.height; y++)
    for (int x = 0; x < in.width; x++, out += in.channels) {
      size_t pixel = (size_t)y * (size_t)in.width + (size_t)x;
      tutti_interpolate(&in, y + (double)image->plane[2][pixel], x + (double)image->plane[1][pixel], out);
    }
}

TUTTI_CORRUPTION(elastic) = {
    .name = "elastic",
    .file = "elastic_transform",
    .constants = {{0, 0, .08}, {.05, .2, .07}, {.08, .06, .06}, {.1, .04, .05}, {.1, .03, .03}},
    .least = 8,
    .apply = corrupt_elastic};

/* --- pixelate --- */

/* The part of [low, high] that lies in the pixel beginning at i. */
static double overlap(double low, double high, int i) { return fmin(high, i + 1) - fmax(low, i); }

/* The mean of the area [top, bottom] x [left, right]: [channels]. */
static void mean_of_area(const struct tutti_picture *in, double top, double bottom, double left, double right,
                         float *out) {
  double area = (bottom - top) * (right - left);
  memset(out, 0, (size_t)in->channels * sizeof *out);
  for (int y = (int)top; y < bottom && y < in->height; y++)
    for (int x = (int)left; x < right && x < in->width; x++)
      for (int k = 0; k < in->channels; k++)
        out[k] += (float)(overlap(top, bottom, y) * overlap(left, right, x) / area) * tutti_pixel(in, y, x)[k];
}

/* c: the share of the side. The image is reduced to it, with each pixel the mean of the area that it covers, and
   enlarged again. */
static void corrupt_pixelate(struct tutti_corruptor *image, const double *c) {
  struct tutti_picture picture = tutti_image_of(image);
  struct tutti_picture small = {(int)(image->height * c[0]), (int)(image->width * c[0]), image->channels,
                                image->plane[0]};
  double down = (double)picture.height / small.height, right = (double)picture.width / small.width;
  for (int y = 0; y < small.height; y++)
    for (int x = 0; x < small.width; x++)
      mean_of_area(&picture, y * down, (y + 1) * down, x * right, (x + 1) * right, tutti_pixel(&small, y, x));
  for (int y = 0; y < picture.height; y++)
    for (int x = 0; x < picture.width; x++)
      memcpy(tutti_pixel(&picture, y, x), tutti_pixel(&small, (int)((y + 0.5) / down), (int)((x + 0.5) / right)),
             (size_t)picture.channels * sizeof(float));
}

TUTTI_CORRUPTION(pixelate) = {
    .name = "pixelate", .constants = {{.95}, {.9}, {.85}, {.75}, {.65}}, .least = 8, .apply = corrupt_pixelate};

/* --- JPEG --- */

/* The library calls back on errors, and must not return. */
struct failure {
  struct jpeg_error_mgr manager;
  jmp_buf back;
};

static void on_error(j_common_ptr codec) { longjmp(((struct failure *)codec->err)->back, 1); }
static void on_message(j_common_ptr codec) { (void)codec; }

static struct jpeg_error_mgr *watch(struct failure *failure) {
  struct jpeg_error_mgr *manager = jpeg_std_error(&failure->manager);
  manager->error_exit = on_error;
  manager->output_message = on_message;
  return manager;
}

static bool compress(const struct tutti_corruptor *image, int quality, unsigned char **file, unsigned long *bytes) {
  struct jpeg_compress_struct codec;
  struct failure failure;
  codec.err = watch(&failure);
  if (setjmp(failure.back)) {
    jpeg_destroy_compress(&codec);
    return false;
  }
  jpeg_create_compress(&codec);
  jpeg_mem_dest(&codec, file, bytes);
  codec.image_width = (JDIMENSION)image->width;
  codec.image_height = (JDIMENSION)image->height;
  codec.input_components = image->channels;
  codec.in_color_space = image->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&codec);
  jpeg_set_quality(&codec, quality, TRUE);
  jpeg_start_compress(&codec, TRUE);
  while (codec.next_scanline < codec.image_height) {
    JSAMPROW row = image->bytes + (size_t)codec.next_scanline * (size_t)image->width * (size_t)image->channels;
    (void)jpeg_write_scanlines(&codec, &row, 1);
  }
  jpeg_finish_compress(&codec);
  jpeg_destroy_compress(&codec);
  return true;
}

static bool decompress(struct tutti_corruptor *image, const unsigned char *file, unsigned long bytes) {
  struct jpeg_decompress_struct codec;
  struct failure failure;
  codec.err = watch(&failure);
  if (setjmp(failure.back)) {
    jpeg_destroy_decompress(&codec);
    return false;
  }
  jpeg_create_decompress(&codec);
  jpeg_mem_src(&codec, file, bytes);
  (void)jpeg_read_header(&codec, TRUE);
  (void)jpeg_start_decompress(&codec);
  while (codec.output_scanline < codec.output_height) {
    JSAMPROW row = image->bytes + (size_t)codec.output_scanline * (size_t)image->width * (size_t)image->channels;
    (void)jpeg_read_scanlines(&codec, &row, 1);
  }
  (void)jpeg_finish_decompress(&codec);
  jpeg_destroy_decompress(&codec);
  return true;
}

/* c: quality. Colours are stored at half the resolution, as is usual. */
static void corrupt_jpeg(struct tutti_corruptor *image, const double *c) {
  struct tutti_picture picture = tutti_image_of(image);
  size_t count = tutti_picture_count(&picture);
  unsigned char *file = NULL;
  unsigned long bytes = 0;
  for (size_t i = 0; i < count; i++)
    image->bytes[i] = (uint8_t)(255 * picture.values[i] + 0.5f);
  if (!compress(image, (int)c[0], &file, &bytes) || !decompress(image, file, bytes))
    image->failure = "the JPEG library failed";
  free(file);
  for (size_t i = 0; i < count; i++)
    picture.values[i] = (float)image->bytes[i] / 255;
}

TUTTI_CORRUPTION(jpeg) = {.name = "jpeg",
                          .file = "jpeg_compression",
                          .constants = {{80}, {65}, {58}, {50}, {40}},
                          .least = 8,
                          .apply = corrupt_jpeg};
