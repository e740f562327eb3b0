/* test_augment.c - resized crops and colours of training images, against their definitions. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tutti/dataset.h>
#include <tutti/random.h>

enum { SIDE = 16, PIXELS = SIDE * SIDE, CHANNELS = 3, FEATURES = PIXELS * CHANNELS };

static tutti_context *context;
static float ramps[FEATURES], noise[FEATURES], out[FEATURES];

/* Red grows to the right, green downwards; and an image of random colours. */
static int setup(void **state) {
  struct tutti_random random;
  (void)state;
  for (int i = 0; i < PIXELS; i++) {
    ramps[3 * i] = (float)(i % SIDE) / SIDE;
    ramps[3 * i + 1] = (float)(i / SIDE) / SIDE;
    ramps[3 * i + 2] = 0.5f;
  }
  tutti_random_init(&random, 1, "image", 0);
  tutti_random_fill_uniform(&random, FEATURES, 0, 1, noise);
  return tutti_context_create(&context) != TUTTI_OK;
}

static int teardown(void **state) {
  (void)state;
  tutti_context_destroy(context);
  return 0;
}

/* The image in row 0 of a split, varied. */
static void vary(const float *image, int channels, struct tutti_augmentation how, float *varied) {
  const int32_t label = 0;
  const uint32_t row = 0;
  tutti_split *split;
  struct tutti_shape input = {SIDE, SIDE, channels};
  assert_int_equal(tutti_split_create(context, "own", 1, input, 1, image, NULL, &label, &split), TUTTI_OK);
  tutti_split_gather_augmented(split, &how, 1, &row, varied);
  tutti_split_destroy(split);
}

static struct tutti_augmentation with(uint64_t epoch) {
  return (struct tutti_augmentation){.size = sizeof(struct tutti_augmentation), .seed = 3, .epoch = epoch};
}

/* --- crops ------------------------------------------------------------------------------------------------------- */

/* On a ramp, scaling is a smaller slope: a crop can be read off its middle. */
struct crop {
  double width, height, left, top;
  bool flip;
};

static struct crop read_crop(const float *image) {
  const float *left = image + 3 * (SIDE / 2 * SIDE + 6), *right = left + 3 * 3;
  const float *upper = image + 3 * (6 * SIDE + SIDE / 2), *lower = upper + 3 * SIDE * 3;
  double across = ((double)right[0] - (double)left[0]) / 3, down = ((double)lower[1] - (double)upper[1]) / 3;
  struct crop crop = {.width = fabs(across) * SIDE * SIDE, .height = down * SIDE * SIDE, .flip = across < 0};
  double middle_x = (double)(left[0] + right[0]) / 2 * SIDE, middle_y = (double)(upper[1] + lower[1]) / 2 * SIDE;
  /* pixel 7.5 of the image, counted from the other side if it is mirrored, is there */
  crop.left = middle_x - ((crop.flip ? SIDE - 1 - 7.5 : 7.5) + 0.5) * crop.width / SIDE + 0.5;
  crop.top = middle_y - (7.5 + 0.5) * crop.height / SIDE + 0.5;
  return crop;
}

static void assert_whole(double number, double low, double high) {
  assert_true(fabs(number - round(number)) < 2e-3);
  assert_true(round(number) >= low && round(number) <= high);
}

/* Areas are uniform from the least share to 1 (crops that do not fit are drawn again, which favours small ones a
   little), and so are the logarithms of the ratios; a crop lies inside, anywhere. Sides of whole pixels blur the
   limits. */
static void crops_are_scaled_back(void **state) {
  enum { DRAWS = 3000 };
  double least = 9, most = 0, flattest = 9, tallest = 0, area_sum = 0, left_sum = 0;
  int flips = 0, at_left = 0, at_right = 0;
  (void)state;
  for (uint64_t epoch = 0; epoch < DRAWS; epoch++) {
    struct tutti_augmentation how = with(epoch);
    how.crop = 0.25;
    how.flip = true;
    vary(ramps, 3, how, out);
    struct crop crop = read_crop(out);
    assert_whole(crop.width, 1, SIDE);
    assert_whole(crop.height, 1, SIDE);
    assert_whole(crop.left, 0, SIDE - round(crop.width));
    assert_whole(crop.top, 0, SIDE - round(crop.height));
    double area = crop.width * crop.height / PIXELS, ratio = crop.width / crop.height;
    least = fmin(least, area), most = fmax(most, area);
    flattest = fmin(flattest, ratio), tallest = fmax(tallest, ratio);
    area_sum += area, flips += crop.flip;
    left_sum += SIDE - round(crop.width) > 0 ? crop.left / (SIDE - round(crop.width)) : 0.5;
    at_left += round(crop.left) == 0;
    at_right += round(crop.left + crop.width) == SIDE;
    for (int i = 0; i < PIXELS; i++)
      assert_true(fabs((double)out[3 * i + 2] - 0.5) < 1e-6);
  }
  assert_true(least > 0.25 - 0.05 && least < 0.3 && most > 0.95 && most <= 1.001);
  assert_true(flattest > 0.75 - 0.12 && flattest < 0.8 && tallest < 4 / 3.0 + 0.2 && tallest > 1.25);
  assert_true(fabs(area_sum / DRAWS - 0.6) < 0.04);
  assert_true(fabs(left_sum / DRAWS - 0.5) < 0.04);
  assert_in_range(flips, DRAWS / 2 - 140, DRAWS / 2 + 140);
  assert_true(at_left > 100 && at_right > 100);
}

/* The edge: half a pixel beyond the outermost one nothing new comes in, not even what is beside the crop. */
static void crops_end_at_their_edge(void **state) {
  (void)state;
  for (uint64_t epoch = 0; epoch < 50; epoch++) {
    struct tutti_augmentation how = with(epoch);
    how.crop = 0.1;
    vary(ramps, 3, how, out);
    struct crop crop = read_crop(out);
    for (int x = 0; x < SIDE; x++) {
      double at = fmax(0, fmin(crop.width - 1, (x + 0.5) * crop.width / SIDE - 0.5)) + crop.left;
      assert_true(fabs((double)out[3 * x] - at / SIDE) < 1e-3);
    }
  }
}

/* --- colours ------------------------------------------------------------------------------------------------------ */

static double grey_of(const float *pixel) {
  return 0.299 * (double)pixel[0] + 0.587 * (double)pixel[1] + 0.114 * (double)pixel[2];
}

static double clipped(double value) { return fmax(0, fmin(1, value)); }

/* The factor that turned a pixel's part into another, from one that was not clipped. */
static double factor_from(const float *image, double (*origin)(const float *image, int pixel)) {
  for (int i = 0; i < PIXELS; i++)
    for (int c = 0; c < 3; c++) {
      double before = (double)image[3 * i + c] - origin(image, i), after = (double)out[3 * i + c];
      if (fabs(before) > 0.1 && after > 0.001 && after < 0.999)
        return (after - origin(image, i)) / before;
    }
  fail_msg("every pixel was clipped");
  return 0;
}

static double no_grey(const float *image, int pixel) {
  (void)image, (void)pixel;
  return 0;
}

static double mean_grey(const float *image, int pixel) {
  double sum = 0;
  (void)pixel;
  for (int i = 0; i < PIXELS; i++)
    sum += grey_of(image + 3 * i);
  return sum / PIXELS;
}

static double own_grey(const float *image, int pixel) { return grey_of(image + 3 * pixel); }

/* Brightness, contrast, saturation: towards black, towards the mean grey, towards each pixel's grey, and away. */
static void factors_blend_with_greys(void **state) {
  double (*const origins[])(const float *, int) = {no_grey, mean_grey, own_grey};
  (void)state;
  for (int kind = 0; kind < 3; kind++) {
    double least = 9, most = 0, sum = 0;
    for (uint64_t epoch = 0; epoch < 400; epoch++) {
      struct tutti_augmentation how = with(epoch);
      *(kind == 0 ? &how.brightness : kind == 1 ? &how.contrast : &how.saturation) = 0.4;
      vary(noise, 3, how, out);
      double factor = factor_from(noise, origins[kind]);
      least = fmin(least, factor), most = fmax(most, factor), sum += factor;
      double grey = kind == 1 ? mean_grey(noise, 0) : 0;
      for (int i = 0; i < PIXELS; i++)
        for (int c = 0; c < 3; c++) {
          double origin = kind == 2 ? own_grey(noise, i) : grey;
          assert_true(fabs((double)out[3 * i + c] - clipped(origin + factor * ((double)noise[3 * i + c] - origin))) <
                      1e-4);
        }
    }
    assert_true(least >= 0.6 - 1e-4 && least < 0.61 && most <= 1.4 + 1e-4 && most > 1.39);
    assert_true(fabs(sum / 400 - 1) < 5 * 0.8 / sqrt(12 * 400.0));
  }
}

/* A colour's hue as an angle, from its parts; independent of the code under test. */
static double angle_of(const float *pixel) {
  double x = (double)pixel[0] - ((double)pixel[1] + (double)pixel[2]) / 2;
  double y = sqrt(3) / 2 * ((double)pixel[1] - (double)pixel[2]);
  return atan2(y, x);
}

/* Pure colours at the corners and edges of the wheel turn to known ones; everywhere the largest and the least part
   stay. */
static void hues_turn(void **state) {
  (void)state;
  for (uint64_t epoch = 0; epoch < 200; epoch++) {
    struct tutti_augmentation how = with(epoch);
    how.hue = 0.5;
    memcpy(noise, (float[]){1, 0, 0}, 3 * sizeof(float)); /* red shows the turn: its new hue */
    vary(noise, 3, how, out);
    double red = out[0], green = out[1], blue = out[2], turn; /* in sixths of the wheel */
    turn = red >= fmax(green, blue) ? green - blue : green >= fmax(red, blue) ? 2 + blue - red : 4 + red - green;
    for (int i = 0; i < PIXELS; i++) {
      const float *before = noise + 3 * i, *after = out + 3 * i;
      double most = fmax(fmax((double)before[0], (double)before[1]), (double)before[2]);
      double least = fmin(fmin((double)before[0], (double)before[1]), (double)before[2]);
      assert_true(fabs(fmax(fmax((double)after[0], (double)after[1]), (double)after[2]) - most) < 1e-5);
      assert_true(fabs(fmin(fmin((double)after[0], (double)after[1]), (double)after[2]) - least) < 1e-5);
      if (most - least < 0.2)
        continue;
      /* the angle in the plane of colours is not the hue, but no more than 1.2 degrees off */
      double turned = angle_of(after) - angle_of(before) - turn * M_PI / 3;
      turned -= 2 * M_PI * round(turned / (2 * M_PI));
      assert_true(fabs(turned) < 2.5 * M_PI / 180);
    }
  }
}

/* Grey images: brightness and contrast act on their one channel, saturation and hue are nothing. */
static void grey_images(void **state) {
  float grey[PIXELS], varied[PIXELS];
  (void)state;
  for (int i = 0; i < PIXELS; i++)
    grey[i] = noise[3 * i + 1];
  struct tutti_augmentation how = with(7);
  how.saturation = how.hue = 0.5;
  vary(grey, 1, how, varied);
  assert_memory_equal(grey, varied, sizeof grey);
  how.brightness = 0.3;
  vary(grey, 1, how, varied);
  double factor = 0;
  for (int i = 0; i < PIXELS; i++)
    if (grey[i] > 0.2f && grey[i] < 0.7f)
      factor = (double)varied[i] / (double)grey[i];
  assert_true(fabs(factor - 1) > 1e-3);
  for (int i = 0; i < PIXELS; i++)
    assert_true(fabs((double)varied[i] - clipped(factor * (double)grey[i])) < 1e-5);
}

/* --- all together ------------------------------------------------------------------------------------------------- */

static struct tutti_augmentation all_of_it(uint64_t epoch) {
  struct tutti_augmentation how = with(epoch);
  how.crop = 0.08;
  how.flip = true;
  how.brightness = how.contrast = how.saturation = 0.4;
  how.hue = 0.2;
  return how;
}

/* The order of colours is drawn, too. Contrast keeps the mean grey of the image that it gets: with the hue turned
   before, that is another one than the image had. */
static void the_order_is_drawn(void **state) {
  int contrast_first = 0, hue_first = 0;
  float red[FEATURES]; /* reddish, and far enough from 0 and 1 not to be clipped */
  (void)state;
  for (int i = 0; i < FEATURES; i++)
    red[i] = 0.3f + 0.1f * noise[i] + (i % 3 == 0 ? 0.2f : 0);
  double mean = mean_grey(red, 0), most = fmax(fmax((double)red[0], (double)red[1]), (double)red[2]);
  double spread = most - fmin(fmin((double)red[0], (double)red[1]), (double)red[2]);
  for (uint64_t epoch = 0; epoch < 100; epoch++) {
    struct tutti_augmentation how = with(epoch);
    how.contrast = 0.4;
    how.hue = 0.5;
    vary(red, 3, how, out);
    double largest = fmax(fmax((double)out[0], (double)out[1]), (double)out[2]);
    double factor = (largest - fmin(fmin((double)out[0], (double)out[1]), (double)out[2])) / spread;
    if (fabs(1 - factor) < 0.1)
      continue;
    double kept = (largest - factor * most) / (1 - factor); /* largest = kept + factor (most - kept) */
    if (fabs(kept - mean) < 1e-4)
      contrast_first++;
    else
      hue_first++;
  }
  assert_true(contrast_first > 20 && hue_first > 20);
}

/* A function of (seed, epoch, row) alone: whatever rows are gathered with it, and in whatever order. */
static void draws_belong_to_the_row(void **state) {
  enum { ROWS = 5 };
  static float images[ROWS][FEATURES], together[ROWS][FEATURES], alone[FEATURES];
  const int32_t labels[ROWS] = {0};
  const uint32_t order[ROWS] = {3, 1, 4, 0, 2};
  struct tutti_shape input = {SIDE, SIDE, 3};
  struct tutti_augmentation how = all_of_it(9);
  tutti_split *split;
  (void)state;
  for (int r = 0; r < ROWS; r++)
    memcpy(images[r], noise, sizeof noise);
  assert_int_equal(tutti_split_create(context, "own", ROWS, input, 1, images[0], NULL, labels, &split), TUTTI_OK);
  tutti_split_gather_augmented(split, &how, ROWS, order, together[0]);
  for (int r = 0; r < ROWS; r++) {
    tutti_split_gather_augmented(split, &how, 1, &order[r], alone);
    assert_memory_equal(alone, together[r], sizeof alone);
    for (int other = 0; other < r; other++)
      assert_memory_not_equal(together[r], together[other], sizeof alone);
    for (int i = 0; i < FEATURES; i++)
      assert_true(alone[i] >= 0 && alone[i] <= 1);
  }
  how.epoch = 10;
  tutti_split_gather_augmented(split, &how, 1, &order[0], alone);
  assert_memory_not_equal(alone, together[0], sizeof alone);
  tutti_split_destroy(split);
}

/* Colours leave the crop and the mirroring as they are without them, and a caller of an older interface gets
   neither. */
static void what_is_not_asked_for_stays(void **state) {
  static float moved[FEATURES], older[FEATURES];
  (void)state;
  struct tutti_augmentation how = with(4);
  how.padding = 2;
  how.flip = true;
  vary(noise, 3, how, moved);
  struct tutti_augmentation longer = how;
  longer.crop = 1;
  vary(noise, 3, longer, out);
  assert_memory_equal(out, moved, sizeof out);
  longer = how;
  longer.brightness = 0.5;
  vary(noise, 3, longer, out);
  for (int i = 0; i < FEATURES; i++) /* black that came in stays black */
    assert_true((moved[i] == 0) == (out[i] == 0));
  longer.crop = longer.hue = 0.4;
  longer.size = offsetof(struct tutti_augmentation, crop);
  vary(noise, 3, longer, older);
  assert_memory_equal(older, moved, sizeof older);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(crops_are_scaled_back),
      cmocka_unit_test(crops_end_at_their_edge),
      cmocka_unit_test(factors_blend_with_greys),
      cmocka_unit_test(hues_turn),
      cmocka_unit_test(grey_images),
      cmocka_unit_test(the_order_is_drawn),
      cmocka_unit_test(draws_belong_to_the_row),
      cmocka_unit_test(what_is_not_asked_for_stays),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
