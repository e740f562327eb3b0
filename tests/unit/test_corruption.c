/* test_corruption.c - the corruptions: what each does to an image against formulas and brute force, and that it grows
   with severity. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/data/shift/corruption.c"
#include "engine/data/shift/corruption_blur.c"
#include "engine/data/shift/corruption_colour.c"
#include "engine/data/shift/corruption_digital.c"
#include "engine/data/shift/corruption_filters.c"
#include "engine/data/shift/corruption_noise.c"
#include "engine/data/shift/corruption_weather.c"

enum { LARGEST = 96 * 96 * 3 };

struct setting {
  tutti_context *context;
  struct tutti_corruptor *corruptor;
  struct tutti_shape shape;
  size_t count;
  uint8_t in[LARGEST], out[LARGEST];
};

/* Something like a picture: a slope of light, a disk and a bar of other colours, texture. */
static void draw_scene(struct setting *s) {
  int h = s->shape.height, w = s->shape.width, channels = s->shape.channels;
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      for (int c = 0; c < channels; c++) {
        double dy = (double)y / h - 0.5, dx = (double)x / w - 0.4, value = 60 + 80.0 * x / w + 15 * sin(y * 1.3 + x);
        if (dy * dy + dx * dx < 0.08)
          value = c == 0 ? 200 : c == 1 ? 90 : 50;
        if (x > w * 3 / 4 && x < w * 7 / 8)
          value = c == 2 ? 190 : 40;
        s->in[(y * w + x) * channels + c] = (uint8_t)value;
      }
}

static struct setting *begin(int height, int width, int channels) {
  struct setting *s = calloc(1, sizeof *s);
  assert_non_null(s);
  assert_int_equal(tutti_context_create(&s->context), TUTTI_OK);
  s->shape = (struct tutti_shape){height, width, channels};
  s->count = (size_t)(height * width * channels);
  assert_true(s->count <= LARGEST);
  assert_int_equal(tutti_corruptor_create(s->context, s->shape, &s->corruptor), TUTTI_OK);
  draw_scene(s);
  return s;
}

static void end(struct setting *s) {
  tutti_corruptor_destroy(s->corruptor);
  tutti_context_destroy(s->context);
  free(s);
}

static size_t number_of(const char *name) {
  size_t i = 0;
  while (tutti_corruption_names[i] && strcmp(tutti_corruption_names[i], name) != 0)
    i++;
  assert_non_null(tutti_corruption_names[i]);
  return i;
}

static void corrupt_by(struct setting *s, size_t corruption, int severity, uint64_t seed) {
  tutti_random_init(&s->corruptor->random, seed, "test", corruption);
  if (tutti_corrupt(s->context, s->corruptor, corruption, severity, s->in, s->out) != TUTTI_OK)
    fail_msg("%s", tutti_error_message(s->context));
}

static void corrupt(struct setting *s, const char *name, int severity, uint64_t seed) {
  corrupt_by(s, number_of(name), severity, seed);
}

static double distance(const struct setting *s) {
  double sum = 0;
  for (size_t i = 0; i < s->count; i++)
    sum += ((double)s->out[i] - s->in[i]) * ((double)s->out[i] - s->in[i]);
  return sum / (double)s->count;
}

/* --- all of them --- */

static void every_corruption_is_whole(void **state) {
  (void)state;
  for (size_t i = 0; tutti_corruption_at(i); i++) {
    const struct tutti_corruption *entry = tutti_corruption_at(i);
    assert_ptr_equal(tutti_corruption_names[i], entry->name);
    assert_true(entry->name[0] && !entry->name[sizeof entry->name - 1]);
    assert_int_equal(number_of(entry->name), i);
    assert_true(entry->apply && entry->least >= 1);
    for (int severity = 1; severity < TUTTI_SEVERITIES; severity++)
      if (memcmp(entry->constants[severity], entry->constants[severity - 1], sizeof entry->constants[0]) == 0)
        fail_msg("%s is the same at severities %d and %d", entry->name, severity, severity + 1);
  }
}

static void severity_0_is_the_image_and_draws_are_keyed(void **state) {
  (void)state;
  static const int shapes[][3] = {{28, 28, 1}, {32, 32, 3}, {20, 36, 3}, {33, 19, 1}, {96, 96, 3}};
  for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
    struct setting *s = begin(shapes[k][0], shapes[k][1], shapes[k][2]);
    uint8_t first[LARGEST];
    for (size_t i = 0; tutti_corruption_at(i); i++) {
      corrupt_by(s, i, 0, 1);
      assert_memory_equal(s->out, s->in, s->count);
      for (int severity = 1; severity <= TUTTI_SEVERITIES; severity++) {
        corrupt_by(s, i, severity, 1);
        memcpy(first, s->out, s->count);
        bool grey = shapes[k][2] == 1 && i == number_of("saturate") && severity < 4;
        if (grey != (memcmp(first, s->in, s->count) == 0))
          fail_msg("%s at %d: changed or not", tutti_corruption_names[i], severity);
        corrupt_by(s, i, severity, 1);
        assert_memory_equal(first, s->out, s->count);
      }
      corrupt_by(s, i, 5, 2);
      static const char *const fixed[] = {"defocus-blur", "zoom-blur", "brightness", "contrast",
                                          "pixelate",     "jpeg",      "saturate",   "gaussian-blur"};
      bool random = true;
      for (size_t f = 0; f < sizeof fixed / sizeof fixed[0]; f++)
        random = random && i != number_of(fixed[f]);
      if (random != (memcmp(first, s->out, s->count) != 0))
        fail_msg("%s gives %s bytes with another seed; `fixed` here lists those that draw nothing",
                 tutti_corruption_names[i], random ? "the same" : "other");
    }
    end(s);
  }
}

static void distortion_grows_with_severity(void **state) {
  (void)state;
  /* The published constants of the others do not grow with each step. */
  static const char *const growing[] = {"gaussian-noise", "shot-noise", "impulse-noise", "defocus-blur",
                                        "zoom-blur",      "brightness", "contrast",      "jpeg",
                                        "speckle-noise",  "fog",        "gaussian-blur"};
  enum { SEEDS = 24 };
  for (int channels = 1; channels <= 3; channels += 2) {
    struct setting *s = begin(32, 32, channels);
    for (size_t i = 0; tutti_corruption_at(i); i++) {
      double mean[TUTTI_SEVERITIES + 1] = {0};
      for (int severity = 1; severity <= TUTTI_SEVERITIES; severity++)
        for (uint64_t seed = 0; seed < SEEDS; seed++) {
          corrupt_by(s, i, severity, seed);
          mean[severity] += distance(s) / SEEDS;
        }
      bool grows = false;
      for (size_t g = 0; g < sizeof growing / sizeof growing[0]; g++)
        grows = grows || i == number_of(growing[g]);
      for (int severity = 2; grows && severity <= TUTTI_SEVERITIES; severity++)
        if (mean[severity] <= mean[severity - 1])
          fail_msg("%s: %g at %d, %g before", tutti_corruption_names[i], mean[severity], severity, mean[severity - 1]);
      if (i != number_of("elastic") && i != number_of("saturate") && mean[5] <= mean[1])
        fail_msg("%s: %g at 5, %g at 1", tutti_corruption_names[i], mean[5], mean[1]);
    }
    end(s);
  }
}

static void small_images_and_odd_channels_are_refused(void **state) {
  (void)state;
  struct setting *s = begin(28, 28, 1);
  struct tutti_corruptor *corruptor;
  assert_int_equal(tutti_corruptor_create(s->context, (struct tutti_shape){28, 28, 2}, &corruptor), TUTTI_ERROR_USAGE);
  assert_null(corruptor);
  assert_int_equal(tutti_corruption_check(s->context, number_of("motion-blur"), (struct tutti_shape){40, 18, 3}),
                   TUTTI_ERROR_USAGE);
  assert_string_equal(tutti_error_message(s->context),
                      "corruption motion-blur needs images of at least 19 x 19 pixels, and these have 40 x 18");
  for (size_t i = 0; tutti_corruption_at(i); i++)
    assert_int_equal(tutti_corruption_check(s->context, i, (struct tutti_shape){28, 28, 1}), TUTTI_OK);
  end(s);
}

/* --- noise --- */

static void fill(struct setting *s, int value) { memset(s->in, value, s->count); }

/* Of the numbers as they are before they become bytes. 27648 of them: a mean is off by less than 4 deviations / 166, a
   variance by less than 4 sqrt(2.3) / 166 = 3.6 %. */
static void check_moments(const struct setting *s, double want_mean, double want_variance) {
  const float *values = s->corruptor->pixels;
  double mean = 0, variance = 0, n = (double)s->count;
  for (size_t i = 0; i < s->count; i++)
    mean += (double)values[i] / n;
  for (size_t i = 0; i < s->count; i++)
    variance += ((double)values[i] - mean) * ((double)values[i] - mean) / n;
  assert_true(fabs(mean - want_mean) < 4 * sqrt(want_variance / n));
  assert_true(fabs(variance - want_variance) < 0.036 * want_variance);
}

static void noise_has_its_moments(void **state) {
  (void)state;
  static const double gaussian[] = {.04, .06, .08, .09, .1}, photons[] = {500, 250, 100, 75, 50};
  static const double speckle[] = {.06, .1, .12, .16, .2};
  struct setting *s = begin(96, 96, 3);
  const double grey = 128 / 255.0, dark = 20 / 255.0;
  for (int severity = 1; severity <= TUTTI_SEVERITIES; severity++) {
    fill(s, 128);
    corrupt(s, "gaussian-noise", severity, 1);
    check_moments(s, grey, gaussian[severity - 1] * gaussian[severity - 1]);
    corrupt(s, "speckle-noise", severity, 2);
    check_moments(s, grey, pow(speckle[severity - 1] * grey, 2));
    corrupt(s, "shot-noise", severity, 3);
    check_moments(s, grey, grey / photons[severity - 1]);
    fill(s, 20); /* 4 to 39 photons: both ways of drawing them */
    corrupt(s, "shot-noise", severity, 4);
    check_moments(s, dark, dark / photons[severity - 1]);
  }
  end(s);
}

/* Counts of a Poisson distribution against its probabilities, by chi-square. */
static void photons_are_poisson(void **state) {
  (void)state;
  static const double means[] = {0.7, 6, 10, 17, 300};
  enum { DRAWS = 20000, MOST = 400 };
  struct tutti_random random;
  tutti_random_init(&random, 1, "poisson", 0);
  for (size_t m = 0; m < sizeof means / sizeof means[0]; m++) {
    double counts[MOST] = {0}, chi = 0, cells = 0, rest = DRAWS, expected_rest = DRAWS;
    for (int i = 0; i < DRAWS; i++) {
      double draw = draw_poisson(&random, means[m]);
      assert_true(draw >= 0 && draw < MOST && draw == floor(draw));
      counts[(int)draw]++;
    }
    for (int k = 0; k < MOST; k++) {
      double expected = DRAWS * exp(k * log(means[m]) - means[m] - lgamma(k + 1.0));
      if (expected < 10)
        continue;
      chi += (counts[k] - expected) * (counts[k] - expected) / expected;
      cells++;
      rest -= counts[k];
      expected_rest -= expected;
    }
    assert_true(fabs(rest - expected_rest) < 5 * sqrt(expected_rest + 10));
    assert_true(chi < cells + 4 * sqrt(2 * cells)); /* one in some 10^4 seeds fails */
  }
}

static void impulses_are_black_or_white(void **state) {
  (void)state;
  static const double share[] = {.01, .02, .03, .05, .07};
  struct setting *s = begin(96, 96, 3);
  fill(s, 100);
  for (int severity = 1; severity <= TUTTI_SEVERITIES; severity++) {
    double black = 0, white = 0, n = (double)s->count, half = share[severity - 1] / 2;
    corrupt(s, "impulse-noise", severity, 1);
    for (size_t i = 0; i < s->count; i++) {
      assert_true(s->out[i] == 100 || s->out[i] == 0 || s->out[i] == 255);
      black += s->out[i] == 0;
      white += s->out[i] == 255;
    }
    assert_true(fabs(black / n - half) < 4 * sqrt(half / n) && fabs(white / n - half) < 4 * sqrt(half / n));
  }
  end(s);
}

/* --- blurs --- */

static double at_in(const struct setting *s, int y, int x, int c) {
  y = y < 0 ? 0 : y >= s->shape.height ? s->shape.height - 1 : y;
  x = x < 0 ? 0 : x >= s->shape.width ? s->shape.width - 1 : x;
  return s->in[(y * s->shape.width + x) * s->shape.channels + c];
}

/* Every number within `most` of what `expected` says of its place. */
static void check_places(const struct setting *s, double (*expected)(const struct setting *, double, int, int, int),
                         double argument, double most) {
  for (int i = 0; i < (int)s->count; i++) {
    int c = i % s->shape.channels, x = i / s->shape.channels % s->shape.width,
        y = i / s->shape.channels / s->shape.width;
    double want = expected(s, argument, y, x, c);
    if (fabs(want - s->out[i]) > most)
      fail_msg("(%d, %d, %d): expected %g, found %d", y, x, c, want, s->out[i]);
  }
}

static double gaussian_at(const struct setting *s, double sigma, int y, int x, int c) {
  double sum = 0, total = 0;
  int radius = (int)(4 * sigma + 0.5);
  for (int v = -radius; v <= radius; v++)
    for (int u = -radius; u <= radius; u++) {
      double weight = exp(-(u * u + v * v) / (2 * sigma * sigma));
      sum += weight * at_in(s, y + v, x + u, c);
      total += weight;
    }
  return sum / total;
}

/* At severity 5 the disk of radius 1.5 is 3 x 3 pixels, and its rim, of deviation 0.1, is sharp. */
static double square_at(const struct setting *s, double unused, int y, int x, int c) {
  double sum = 0;
  for (int k = 0; k < 9; k++)
    sum += at_in(s, y + k / 3 - 1, x + k % 3 - 1, c);
  return sum / 9 + 0 * unused;
}

/* At severity 1 the disk is one pixel, and only its rim blurs. */
static double rim_at(const struct setting *s, double sigma, int y, int x, int c) {
  double sum = 0, total = 0;
  for (int k = 0; k < 9; k++) {
    double weight = exp(-(pow(k / 3 - 1, 2) + pow(k % 3 - 1, 2)) / (2 * sigma * sigma));
    sum += weight * at_in(s, y + k / 3 - 1, x + k % 3 - 1, c);
    total += weight;
  }
  return sum / total;
}

static double between(const struct setting *s, double y, double x, int c) {
  int top = (int)floor(y), left = (int)floor(x);
  double v = y - top, u = x - left;
  return (1 - v) * ((1 - u) * at_in(s, top, left, c) + u * at_in(s, top, left + 1, c)) +
         v * ((1 - u) * at_in(s, top + 1, left, c) + u * at_in(s, top + 1, left + 1, c));
}

static double zoomed_at(const struct setting *s, double zooms, int y, int x, int c) {
  double sum = at_in(s, y, x, c), cy = (s->shape.height - 1) / 2.0, cx = (s->shape.width - 1) / 2.0;
  for (int z = 0; z < zooms; z++)
    sum += between(s, cy + (y - cy) / (1 + z / 100.0), cx + (x - cx) / (1 + z / 100.0), c);
  return sum / (zooms + 1);
}

static void blurs_are_what_brute_force_gives(void **state) {
  (void)state;
  static const double sigma[] = {.4, .6, .7, .8, 1};
  for (int channels = 1; channels <= 3; channels += 2) {
    struct setting *s = begin(28, 31, channels);
    for (int severity = 1; severity <= TUTTI_SEVERITIES; severity++) {
      corrupt(s, "gaussian-blur", severity, 1);
      check_places(s, gaussian_at, sigma[severity - 1], 0.51);
      corrupt(s, "zoom-blur", severity, 1);
      check_places(s, zoomed_at, 5 * severity + 1, 0.51);
    }
    corrupt(s, "defocus-blur", 5, 1);
    check_places(s, square_at, 0, 0.51);
    corrupt(s, "defocus-blur", 1, 1);
    check_places(s, rim_at, 0.4, 0.51);
    end(s);
  }
}

/* Motion at angle a of half a Gaussian: a white pixel leaves a trail that starts there, and all light is kept. */
static void motion_leaves_trails(void **state) {
  (void)state;
  struct setting *s = begin(32, 32, 1);
  struct tutti_picture in = tutti_image_of(s->corruptor);
  float *out = s->corruptor->plane[0];
  memset(in.values, 0, 32 * 32 * sizeof *out);
  in.values[16 * 32 + 20] = 1;
  tutti_blur_motion(&in, 6, 2, 0, out);
  double total = 0, norm = 0;
  for (int k = 0; k < 13; k++)
    norm += exp(-k * k / 8.0);
  for (int i = 0; i < 32 * 32; i++)
    total += (double)out[i];
  assert_true(fabs(total - 1) < 1e-5);
  for (int k = 0; k < 13; k++)
    assert_true(fabs((double)out[16 * 32 + 20 - k] - exp(-k * k / 8.0) / norm) < 1e-6);
  assert_true(out[16 * 32 + 21] == 0 && out[15 * 32 + 20] == 0);
  tutti_blur_motion(&in, 6, 2, 90, out);
  assert_true(out[10 * 32 + 20] > 0 && out[17 * 32 + 20] == 0 && out[16 * 32 + 19] == 0);
  end(s);
}

/* Every colour of frosted glass without its blur comes from the pixel above, to the left, both or neither. */
static void glass_displaces_by_a_pixel(void **state) {
  (void)state;
  struct setting *s = begin(28, 28, 1);
  int moved = 0;
  for (size_t i = 0; i < s->count; i++)
    s->in[i] = (uint8_t)(i * 37 + i / 28 * 11);
  corrupt(s, "glass-blur", 1, 3); /* deviation 0.05: no blur at all */
  for (int y = 1; y < 28; y++)
    for (int x = 1; x < 28; x++) {
      int is = s->out[y * 28 + x];
      assert_true(is == at_in(s, y, x, 0) || is == at_in(s, y - 1, x, 0) || is == at_in(s, y, x - 1, 0) ||
                  is == at_in(s, y - 1, x - 1, 0));
      moved += is != at_in(s, y, x, 0);
    }
  assert_true(moved > 27 * 27 * 2 / 3 && moved < 27 * 27 * 5 / 6); /* three of four */
  end(s);
}

/* --- colours --- */

/* Textbook HSV. */
static void to_hsv(const double rgb[3], double hsv[3]) {
  double most = fmax(rgb[0], fmax(rgb[1], rgb[2])), least = fmin(rgb[0], fmin(rgb[1], rgb[2])), range = most - least;
  hsv[0] = range <= 0       ? 0
           : most == rgb[0] ? fmod((rgb[1] - rgb[2]) / range + 6, 6)
           : most == rgb[1] ? (rgb[2] - rgb[0]) / range + 2
                            : (rgb[0] - rgb[1]) / range + 4;
  hsv[1] = most > 0 ? range / most : 0;
  hsv[2] = most;
}

static void to_rgb(const double hsv[3], double rgb[3]) {
  for (int k = 0; k < 3; k++) {
    double n = fmod((k == 0 ? 5 : k == 1 ? 3 : 1) + hsv[0], 6);
    rgb[k] = hsv[2] * (1 - hsv[1] * fmax(0, fmin(fmin(n, 4 - n), 1)));
  }
}

static double hsv_at(const struct setting *s, const double change[3], int y, int x, int c) {
  double rgb[3], hsv[3];
  for (int k = 0; k < 3; k++)
    rgb[k] = at_in(s, y, x, k) / 255;
  to_hsv(rgb, hsv);
  hsv[1] = fmin(fmax(hsv[1] * change[0] + change[1], 0), 1);
  hsv[2] = fmin(hsv[2] + change[2], 1);
  to_rgb(hsv, rgb);
  return 255 * rgb[c];
}

static double brighter_at(const struct setting *s, double added, int y, int x, int c) {
  return hsv_at(s, (double[]){1, 0, added}, y, x, c);
}

static double saturated_at(const struct setting *s, double severity, int y, int x, int c) {
  static const double changes[][3] = {{.3, 0, 0}, {.1, 0, 0}, {1.5, 0, 0}, {2, .1, 0}, {2.5, .2, 0}};
  return hsv_at(s, changes[(int)severity - 1], y, x, c);
}

static double flatter_at(const struct setting *s, double left, int y, int x, int c) {
  double mean = 0, pixels = s->shape.height * s->shape.width;
  for (int i = c; i < (int)s->count; i += s->shape.channels)
    mean += s->in[i] / pixels;
  return left * (at_in(s, y, x, c) - mean) + mean;
}

static void colours_are_those_of_hsv(void **state) {
  (void)state;
  static const double brightness[] = {.05, .1, .15, .2, .3}, contrast[] = {.75, .5, .4, .3, .15};
  struct setting *s = begin(28, 28, 3);
  s->in[0] = s->in[1] = s->in[2] = 0;  /* black */
  s->in[3] = s->in[4] = s->in[5] = 77; /* grey: red, where it is tinted */
  s->in[6] = 0, s->in[7] = 255, s->in[8] = 3;
  for (int severity = 1; severity <= TUTTI_SEVERITIES; severity++) {
    corrupt(s, "brightness", severity, 1);
    check_places(s, brighter_at, brightness[severity - 1], 0.51);
    corrupt(s, "saturate", severity, 1);
    check_places(s, saturated_at, severity, 0.51);
    corrupt(s, "contrast", severity, 1);
    check_places(s, flatter_at, contrast[severity - 1], 0.51);
  }
  end(s);
  s = begin(28, 28, 1);
  corrupt(s, "contrast", 3, 1);
  check_places(s, flatter_at, 0.4, 0.51);
  corrupt(s, "brightness", 5, 1);
  for (size_t i = 0; i < s->count; i++)
    assert_true(fabs(fmin(s->in[i] + 0.3 * 255, 255) - s->out[i]) < 0.51);
  corrupt(s, "saturate", 5, 1); /* grey of saturation 0.2 is red: (v, 0.8 v, 0.8 v) */
  for (size_t i = 0; i < s->count; i++)
    assert_true(fabs(s->in[i] * (0.299 + 0.8 * 0.701) - s->out[i]) < 0.51);
  end(s);
}

/* --- geometry --- */

/* 32 pixels become 24: a small pixel covers 4/3, which is 4 thirds. */
static double pixelated_at(const struct setting *s, double unused, int y, int x, int c) {
  double sum = 0 * unused;
  int small_y = (int)((y + 0.5) * 24 / 32), small_x = (int)((x + 0.5) * 24 / 32);
  for (int v = 0; v < 4; v++)
    for (int u = 0; u < 4; u++)
      sum += at_in(s, (4 * small_y + v) / 3, (4 * small_x + u) / 3, c);
  return sum / 16;
}

static void pixelate_is_what_brute_force_gives(void **state) {
  (void)state;
  struct setting *s = begin(32, 32, 3);
  corrupt(s, "pixelate", 4, 1);
  check_places(s, pixelated_at, 0, 0.51);
  end(s);
}

/* A linear slope stays one under an affine map, up to the edge; and colours stay within what was there. */
static void elastic_moves_what_is_there(void **state) {
  (void)state;
  struct setting *s = begin(32, 32, 1);
  for (int i = 0; i < 32 * 32; i++)
    s->in[i] = (uint8_t)(60 + 2 * (i % 32) + 3 * (i / 32));
  corrupt(s, "elastic", 1, 7);
  for (int y = 10; y < 20; y++)
    for (int x = 10; x < 20; x++) {
      int here = s->out[y * 32 + x], before = s->out[y * 32 + x - 1], after = s->out[y * 32 + x + 1];
      assert_true(abs(before + after - 2 * here) <= 2);
    }
  for (int severity = 1; severity <= 5; severity++) {
    corrupt(s, "elastic", severity, 1);
    for (int i = 0; i < 32 * 32; i++)
      assert_true(s->out[i] >= 60 && s->out[i] <= 60 + 5 * 31);
  }
  double from[3][2] = {{0, 0}, {2, 1}, {-1, 3}}, to[3][2] = {{5, 6}, {1, 1}, {0, 9}};
  struct affine map = affine_between(from, to);
  for (int i = 0; i < 3; i++) {
    assert_true(fabs(map.a * from[i][0] + map.b * from[i][1] + map.c - to[i][0]) < 1e-12);
    assert_true(fabs(map.d * from[i][0] + map.e * from[i][1] + map.f - to[i][1]) < 1e-12);
  }
  end(s);
}

static void jpeg_keeps_what_is_flat(void **state) {
  (void)state;
  for (int channels = 1; channels <= 3; channels += 2) {
    struct setting *s = begin(28, 28, channels);
    fill(s, 137);
    for (int severity = 1; severity <= 5; severity++) {
      corrupt(s, "jpeg", severity, 1);
      for (size_t i = 0; i < s->count; i++)
        assert_true(abs(s->out[i] - 137) <= 2);
    }
    end(s);
  }
}

/* --- weather --- */

static void fractal_maps_go_from_0_to_1(void **state) {
  (void)state;
  static const int shapes[][2] = {{28, 28}, {32, 32}, {40, 17}, {64, 64}};
  for (size_t k = 0; k < sizeof shapes / sizeof shapes[0]; k++) {
    struct setting *s = begin(shapes[k][0], shapes[k][1], 1);
    double rough = 0, smooth = 0;
    for (int pass_ = 0; pass_ < 2; pass_++) {
      float low = 1, high = 0;
      tutti_random_init(&s->corruptor->random, 5, "plasma", 0);
      tutti_plasma(s->corruptor, pass_ ? 3 : 1.2, 0);
      const float *map = s->corruptor->plane[0];
      for (size_t i = 0; i < s->count; i++) {
        low = fminf(low, map[i]);
        high = fmaxf(high, map[i]);
        if (i % (size_t)shapes[k][1])
          *(pass_ ? &smooth : &rough) += fabs((double)map[i] - (double)map[i - 1]);
      }
      assert_true(low >= 0 && high <= 1 && high - low > 0.3f);
      if (shapes[k][0] == shapes[k][1] && (shapes[k][0] & (shapes[k][0] - 1)) == 0)
        assert_true(low == 0 && high == 1);
    }
    assert_true(smooth < rough / 2);
    end(s);
  }
}

/* Fog's formula on what is uniform: (v + t f) v / (v + t), and never brighter than the image. */
static void fog_never_outshines(void **state) {
  (void)state;
  struct setting *s = begin(32, 32, 3);
  fill(s, 100);
  for (int severity = 1; severity <= 5; severity++) {
    double t = table[number_of("fog")]->constants[severity - 1][0], v = 100 / 255.0, low = 255, high = 0;
    corrupt(s, "fog", severity, 1);
    for (size_t i = 0; i < s->count; i++) {
      low = fmin(low, s->out[i]);
      high = fmax(high, s->out[i]);
    }
    assert_true(fabs(low - 255 * v * v / (v + t)) < 0.51 && fabs(high - 100) < 0.51);
  }
  fill(s, 0);
  corrupt(s, "fog", 5, 1); /* nothing shines in the dark, and nothing is divided by 0 */
  assert_memory_equal(s->in, s->out, s->count);
  end(s);
}

/* Snow and frost only add light where the image's own share is 1 or the image is black. */
static void snow_and_frost_are_bright(void **state) {
  (void)state;
  struct setting *s = begin(32, 32, 3);
  for (int severity = 1; severity <= 2; severity++) {
    corrupt(s, "frost", severity, 1);
    for (size_t i = 0; i < s->count; i++)
      assert_true(s->out[i] >= s->in[i]);
  }
  for (int severity = 1; severity <= 5; severity++) {
    corrupt(s, "snow", severity, 1);
    for (size_t i = 0; i < s->count; i++)
      assert_true(s->out[i] + 1 >= s->in[i]);
  }
  end(s);
}

/* Mud hides, water shines; most of the image stays as it was. */
static void spatter_is_here_and_there(void **state) {
  (void)state;
  struct setting *s = begin(32, 32, 3);
  for (int severity = 1; severity <= 5; severity++) {
    size_t same = 0, changed = 0;
    for (uint64_t seed = 0; seed < 4; seed++) {
      corrupt(s, "spatter", severity, seed);
      for (size_t i = 0; i < s->count; i++) {
        same += s->out[i] == s->in[i];
        changed += s->out[i] != s->in[i];
        assert_true(severity > 3 || s->out[i] >= s->in[i]);
      }
    }
    assert_true(same > 2 * s->count && changed > s->count / 20);
  }
  end(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_corruption_is_whole),      cmocka_unit_test(severity_0_is_the_image_and_draws_are_keyed),
      cmocka_unit_test(distortion_grows_with_severity), cmocka_unit_test(small_images_and_odd_channels_are_refused),
      cmocka_unit_test(noise_has_its_moments),          cmocka_unit_test(photons_are_poisson),
      cmocka_unit_test(impulses_are_black_or_white),    cmocka_unit_test(blurs_are_what_brute_force_gives),
      cmocka_unit_test(motion_leaves_trails),           cmocka_unit_test(glass_displaces_by_a_pixel),
      cmocka_unit_test(colours_are_those_of_hsv),       cmocka_unit_test(pixelate_is_what_brute_force_gives),
      cmocka_unit_test(elastic_moves_what_is_there),    cmocka_unit_test(jpeg_keeps_what_is_flat),
      cmocka_unit_test(fractal_maps_go_from_0_to_1),    cmocka_unit_test(fog_never_outshines),
      cmocka_unit_test(snow_and_frost_are_bright),      cmocka_unit_test(spatter_is_here_and_there)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
