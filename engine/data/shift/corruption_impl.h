/* corruption_impl.h - the corruptions of Hendrycks & Dietterich, "Benchmarking neural network robustness to common
   corruptions and perturbations" (ICLR 2019), at five severities, for images of bytes with 1 or 3 channels; for engine/
   alone. The constants are those published for images of 32 x 32 pixels, and are used for any size.

   General differences from the published sets: random numbers are our own; pixels beyond the edge repeat the edge;
   numbers become bytes by rounding, not by truncation. Differences of a single corruption are noted beside it. Grey
   images are corrupted as they are stored: colours that are added (water, mud, a tint) count with their brightness.
   Each corruption_*.c has a group of corruptions; the build lists all, from their entries. */
#ifndef TUTTI_CORRUPTION_IMPL_H
#define TUTTI_CORRUPTION_IMPL_H

#include <tutti/context.h>
#include <tutti/network.h>
#include <tutti/random.h>

enum { TUTTI_SEVERITIES = 5, TUTTI_CORRUPTION_CONSTANTS = 7, TUTTI_CORRUPTION_PLANES = 4 };

/* One image at a time, and memory for all that a corruption needs. */
struct tutti_corruptor {
  int height, width, channels;
  float *pixels;                         /* [height][width][channels], from 0 to 1 */
  float *plane[TUTTI_CORRUPTION_PLANES]; /* each [height][width][channels] or [map][map] */
  int map;                               /* side of a fractal map: the next power of 2 that covers the image */
  uint8_t *bytes;                        /* [height][width][channels] */
  struct tutti_random random;
  const char *failure; /* the error message of a failure; NULL */
};

/* A corruption is defined once: TUTTI_CORRUPTION(identifier) = {...}, beside its function. The entry lists it, too. */
struct tutti_corruption {
  char name[24];    /* in recipes */
  const char *file; /* name, without .npy, in a set with one file per corruption; NULL: the name with '_' for '-' */
  double constants[TUTTI_SEVERITIES][TUTTI_CORRUPTION_CONSTANTS];
  int least; /* pixels that the shorter side has to have */
  void (*apply)(struct tutti_corruptor *image, const double *constants);
};

#define TUTTI_CORRUPTION(identifier)                                                                                   \
  extern const struct tutti_corruption tutti_corruption_##identifier;                                                  \
  const struct tutti_corruption tutti_corruption_##identifier

/* Their names by number, NULL-terminated: the choices in a recipe. */
extern const char *const tutti_corruption_names[];
/* NULL past the last. */
const struct tutti_corruption *tutti_corruption_at(size_t number);

/* Make room for images of a shape; TUTTI_ERROR_USAGE unless they have 1 or 3 channels. */
TUTTI_NODISCARD enum tutti_status tutti_corruptor_create(tutti_context *context, struct tutti_shape shape,
                                                         struct tutti_corruptor **corruptor);
void tutti_corruptor_destroy(struct tutti_corruptor *corruptor);
/* Refuse a corruption that needs more pixels than these images have. */
TUTTI_NODISCARD enum tutti_status tutti_corruption_check(tutti_context *context, size_t corruption,
                                                         struct tutti_shape shape);
/* Corrupt an image at a severity from 0 (as it is) to 5; draws come from corruptor->random. */
TUTTI_NODISCARD enum tutti_status tutti_corrupt(tutti_context *context, struct tutti_corruptor *corruptor,
                                                size_t corruption, int severity, const uint8_t *in, uint8_t *out);

/* --- what they share --- */

/* A picture: rows of pixels with this many channels. */
struct tutti_picture {
  int height, width, channels;
  float *values;
};

static inline int tutti_inside(int i, int count) { return i < 0 ? 0 : i < count ? i : count - 1; }
static inline float tutti_clip(float x) { return x < 0 ? 0 : x > 1 ? 1 : x; }
/* The pixel at (y, x), or the nearest one. */
static inline float *tutti_pixel(const struct tutti_picture *picture, int y, int x) {
  y = tutti_inside(y, picture->height);
  x = tutti_inside(x, picture->width);
  return picture->values + ((size_t)y * (size_t)picture->width + (size_t)x) * (size_t)picture->channels;
}
static inline size_t tutti_picture_count(const struct tutti_picture *picture) {
  return (size_t)picture->height * (size_t)picture->width * (size_t)picture->channels;
}
/* The image itself; a scratch plane as a picture with this many channels. */
static inline struct tutti_picture tutti_image_of(const struct tutti_corruptor *image) {
  return (struct tutti_picture){image->height, image->width, image->channels, image->pixels};
}
static inline struct tutti_picture tutti_plane_of(const struct tutti_corruptor *image, int plane, int channels) {
  return (struct tutti_picture){image->height, image->width, channels, image->plane[plane]};
}
/* Brightness of a pixel (ITU-R BT.601). */
static inline float tutti_luma(const float *pixel, int channels) {
  return channels == 1 ? pixel[0] : 0.299f * pixel[0] + 0.587f * pixel[1] + 0.114f * pixel[2];
}

/* Blur in place with a Gaussian that is cut off at four deviations; `scratch` has the same size. */
void tutti_blur_gaussian(const struct tutti_picture *picture, double sigma, float *scratch);
/* Blur along a line at an angle (degrees): half a Gaussian, 2 radius + 1 long. */
void tutti_blur_motion(const struct tutti_picture *in, double radius, double sigma, double angle, float *out);
/* Enlarge about the centre, and cut off the parts that are then outside. */
void tutti_zoom(const struct tutti_picture *in, double factor, float *out);
/* The value at a point between pixels, by bilinear interpolation: [channels]. */
void tutti_interpolate(const struct tutti_picture *in, double y, double x, float *out);
/* A fractal map by the diamond-square algorithm, from 0 to 1; the plane gets the part that covers the image. From one
   scale to the next, random displacements shrink by `decay` squared. */
void tutti_plasma(struct tutti_corruptor *image, double decay, int plane);

#endif
