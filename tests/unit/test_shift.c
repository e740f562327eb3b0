/* test_shift.c - shifted splits of a data set: which there are, what they hold, how they are kept and found again. */
#include "loading.h"
#include <tutti/npy.h>

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

enum { IMAGES = 60, SIDE = 20, PIXELS = SIDE * SIDE };

static void put_array(const char *name, enum tutti_element element, size_t rank, const size_t *sizes,
                      const void *data) {
  char path[128];
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  assert_int_equal(tutti_npy_write(context, path, element, rank, sizes, data), TUTTI_OK);
}

static void put_images(void) {
  static uint8_t pixels[IMAGES][PIXELS];
  uint8_t labels[IMAGES];
  for (size_t i = 0; i < IMAGES; i++) {
    labels[i] = i % 3;
    for (size_t p = 0; p < PIXELS; p++)
      pixels[i][p] = (uint8_t)(40 + 6 * (p % SIDE) + 20 * labels[i] + (p / SIDE > 8 ? 60 : 0));
  }
  put_array("x.npy", TUTTI_U8, 3, (size_t[]){IMAGES, SIDE, SIDE}, pixels);
  put_array("y.npy", TUTTI_U8, 1, (size_t[]){IMAGES}, labels);
}

#define IMAGES_OF(cache) "path=x.npy\ntarget_path=y.npy\nsplit=2 1 1\ncache=" cache "\n"
/* The loader's paths are as they are given: the cache is a folder of this test's. */
static char parameters[1024];
static const char *with(const char *more) {
  (void)snprintf(parameters, sizeof parameters, "path=x.npy\ntarget_path=y.npy\nsplit=2 1 1\ncache=%s/cache\n%s",
                 folder, more);
  return parameters;
}

static size_t kept(void) {
  char path[128];
  size_t count = 0;
  (void)snprintf(path, sizeof path, "%s/cache", folder);
  DIR *cache = opendir(path);
  if (!cache)
    return 0;
  for (struct dirent *entry; (entry = readdir(cache));)
    count += entry->d_name[0] != '.';
  (void)closedir(cache);
  return count;
}

static void pixels_of(const char *split, float out[15][PIXELS]) {
  for (uint32_t r = 0; r < 15; r++)
    tutti_split_gather(split_of(split), 1, &r, out[r]);
}

static void there_is_a_split_for_each_severity(void **state) {
  (void)state;
  static float clean[15][PIXELS], shifted[15][PIXELS], other[15][PIXELS];
  put_images();
  loads(with("shift=5 0 2"));
  assert_int_equal(tutti_dataset_splits(dataset), 7);
  static const char *const names[] = {"train",  "validation",   "test",  "validation-5",
                                      "test-5", "validation-2", "test-2"};
  for (size_t s = 0; s < 7; s++)
    assert_string_equal(tutti_split_name(tutti_dataset_split(dataset, s)), names[s]);
  for (size_t s = 3; s < 7; s++) {
    const tutti_split *split = tutti_dataset_split(dataset, s), *of = split_of(s % 2 ? "validation" : "test");
    assert_int_equal(tutti_split_rows(split), 15);
    assert_memory_equal(tutti_split_labels(split), tutti_split_labels(of), 15 * sizeof(int32_t));
    assert_memory_equal(tutti_split_source_rows(split), tutti_split_source_rows(of), 15 * sizeof(uint32_t));
    pixels_of(tutti_split_name(of), clean);
    pixels_of(names[s], shifted);
    for (size_t r = 0; r < 15; r++)
      if (s != 5) /* a saturated grey image at severity 2 is the image */
        assert_memory_not_equal(clean[r], shifted[r], sizeof clean[r]);
    assert_memory_not_equal(clean, shifted, sizeof clean);
  }
  pixels_of("validation-5", shifted);
  pixels_of("validation-2", other);
  assert_memory_not_equal(other, shifted, sizeof other);
}

static void one_corruption_an_image(void **state) {
  (void)state;
  static float clean[15][PIXELS], shifted[15][PIXELS];
  put_images();
  loads(with("shift=5\nshift_test=contrast impulse-noise\nstandardise=no"));
  pixels_of("test", clean);
  pixels_of("test-5", shifted);
  size_t flat = 0;
  for (size_t r = 0; r < 15; r++) {
    size_t same = 0;
    for (size_t p = 0; p < PIXELS; p++)
      same += clean[r][p] == shifted[r][p];
    assert_true(same < PIXELS / 10 || same > PIXELS * 8 / 10); /* all or few of the pixels, never both */
    flat += same < PIXELS / 10;
  }
  assert_true(flat > 2 && flat < 13);
}

/* Made anew, found in the cache, without a cache, under another seed of the run's splits: the same bits for the same
   rows. */
static void made_once_and_found_again(void **state) {
  (void)state;
  static float made[15][PIXELS], found[15][PIXELS];
  char path[160];
  put_images();
  loads(with("shift=3"));
  assert_int_equal(kept(), 2);
  uint64_t fingerprint = tutti_dataset_fingerprint(dataset);
  pixels_of("test-3", made);
  loads(with("shift=3"));
  assert_int_equal(kept(), 2);
  pixels_of("test-3", found);
  assert_memory_equal(made, found, sizeof made);
  assert_true(tutti_dataset_fingerprint(dataset) == fingerprint);
  loads(with("shift=3 4"));
  assert_int_equal(kept(), 4);
  assert_true(tutti_dataset_fingerprint(dataset) != fingerprint);
  loads(with("shift=3\nshift_test=fog"));
  assert_int_equal(kept(), 5);
  /* torn: made again, and whole afterwards */
  (void)snprintf(path, sizeof path, "%s/cache", folder);
  DIR *cache = opendir(path);
  assert_non_null(cache);
  for (struct dirent *entry; (entry = readdir(cache));)
    if (entry->d_name[0] != '.') {
      (void)snprintf(path, sizeof path, "%s/cache/%.60s", folder, entry->d_name);
      assert_int_equal(truncate(path, 1000), 0);
    }
  (void)closedir(cache);
  loads(with("shift=3"));
  assert_true(tutti_dataset_fingerprint(dataset) == fingerprint);
  pixels_of("test-3", found);
  assert_memory_equal(made, found, sizeof made);
  assert_int_equal(kept(), 5);
  /* nowhere to keep it: made each time */
  put("file", "no folder");
  (void)snprintf(parameters, sizeof parameters, IMAGES_OF("%s/file/cache") "shift=3", folder);
  char copy[1024];
  (void)snprintf(copy, sizeof copy, "%s", parameters);
  loads(copy);
  assert_true(tutti_dataset_fingerprint(dataset) == fingerprint);
}

/* The result of a row depends only on its own number, not on its neighbours. */
static void rows_are_corrupted_by_their_number(void **state) {
  (void)state;
  static float all[15][PIXELS], few[PIXELS];
  put_images();
  loads(with("shift=5\nstandardise=no"));
  pixels_of("test-5", all);
  uint32_t rows[15];
  memcpy(rows, tutti_split_source_rows(split_of("test")), sizeof rows);
  loads(with("shift=5\nstandardise=no\nlimit=0 0 6"));
  for (uint32_t r = 0; r < 6; r++) {
    size_t same = 0;
    while (rows[same] != tutti_split_source_rows(split_of("test"))[r])
      same++;
    tutti_split_gather(split_of("test-5"), 1, &r, few);
    assert_memory_equal(few, all[same], sizeof few);
  }
}

static void ready_made_sets(void **state) {
  (void)state;
  static uint8_t pixels[20][PIXELS];
  float out[PIXELS];
  char path[128];
  put_images();
  for (size_t i = 0; i < 20; i++)
    memset(pixels[i], (int)i + 1, PIXELS);
  (void)snprintf(path, sizeof path, "%s/ready", folder);
  assert_int_equal(mkdir(path, 0755), 0);
  refuses("data.shift_path: expected a file", with("shift=1\nshift_path=none"));
  refuses("ready/validation-1.npy", with("shift=1\nshift_path=ready"));
  put_array("ready/validation-1.npy", TUTTI_U8, 4, (size_t[]){15, SIDE, SIDE, 1}, pixels);
  put_array("ready/test-1.npy", TUTTI_U8, 3, (size_t[]){15, SIDE, SIDE}, pixels[5]);
  loads(with("shift=1\nshift_path=ready\nstandardise=no"));
  assert_int_equal(kept(), 0);
  tutti_split_gather(split_of("test-1"), 1, &(uint32_t){14}, out);
  assert_true(out[7] == (float)(20 / 255.0));
  uint64_t fingerprint = tutti_dataset_fingerprint(dataset);
  pixels[9][3] = 200;
  put_array("ready/test-1.npy", TUTTI_U8, 3, (size_t[]){15, SIDE, SIDE}, pixels[5]);
  loads(with("shift=1\nshift_path=ready\nstandardise=no"));
  assert_true(tutti_dataset_fingerprint(dataset) != fingerprint);
  put_array("ready/test-1.npy", TUTTI_U8, 3, (size_t[]){14, SIDE, SIDE}, pixels);
  refuses("expected 15 images of 20 x 20 x 1 of uint8, one for each test row", with("shift=1\nshift_path=ready"));
  put_array("ready/test-1.npy", TUTTI_F32, 3, (size_t[]){1, SIDE, SIDE}, (float[PIXELS]){0});
  refuses("expected 15 images", with("shift=1\nshift_path=ready"));
}

/* Files as CIFAR-10-C has them: all images of the test file at severity 1, then at severity 2, ... Image i has the
   value i + 1 at severity 1 in the first file, and other values in each other severity and file. */
static void put_published(const char *name, uint8_t base, size_t images) {
  static uint8_t pixels[5 * IMAGES][PIXELS];
  for (size_t s = 0; s < 5; s++)
    for (size_t i = 0; i < images; i++)
      memset(pixels[s * images + i], (int)(base + 60 * (s == 3) + i), PIXELS);
  put_array(name, TUTTI_U8, 3, (size_t[]){5 * images, SIDE, SIDE}, pixels);
}

static void published_sets_of_a_file_a_corruption(void **state) {
  (void)state;
  static const char parameters_of_both[] =
      "path=x.npy\ntarget_path=y.npy\ntest_path=x.npy\ntest_target_path=y.npy\nsplit=1 1\nlimit=0 0 40\n"
      "shift=4 1\nshift_path=published\nshift_test=jpeg "
      "fog\nshift_validation=contrast\nstandardise=no\ncache=%s/cache\n";
  char path[128], both[1024];
  static float clean[PIXELS], out[PIXELS];
  size_t fogs = 0;
  put_images();
  (void)snprintf(path, sizeof path, "%s/published", folder);
  (void)snprintf(both, sizeof both, parameters_of_both, folder);
  assert_int_equal(mkdir(path, 0755), 0);
  put_published("published/fog.npy", 1, IMAGES);
  refuses("published/jpeg_compression.npy", both);
  put_published("published/jpeg_compression.npy", 128, IMAGES);
  refuses("no test file was given", with("shift=1\nshift_path=published"));
  loads(both);
  const tutti_split *test = split_of("test-4"), *mild = split_of("test-1");
  assert_int_equal(tutti_split_rows(test), 40);
  for (uint32_t r = 0; r < 40; r++) {
    size_t image = tutti_split_source_rows(test)[r] - IMAGES;
    tutti_split_gather(test, 1, &r, out);
    bool fog = out[0] == (float)((61 + image) / 255.0);
    assert_true(fog || out[0] == (float)((188 + image) / 255.0));
    fogs += fog;
    tutti_split_gather(mild, 1, &r, out);
    assert_true(out[0] == (float)((1 + image) / 255.0) || out[0] == (float)((128 + image) / 255.0));
  }
  assert_true(fogs > 8 && fogs < 32); /* 40 fair draws */
  assert_int_equal(kept(), 2);        /* of validation at either severity, which is made */
  tutti_split_gather(split_of("validation"), 1, &(uint32_t){0}, clean);
  tutti_split_gather(split_of("validation-4"), 1, &(uint32_t){0}, out);
  assert_memory_not_equal(clean, out, sizeof out);
  put_published("published/fog.npy", 1, IMAGES - 1);
  refuses("published/fog.npy: expected 300 images of 20 x 20 x 1 of uint8", both);
}

/* A set of the whole test file serves a split that has only some of its rows. */
static void ready_made_sets_of_the_whole_test_file(void **state) {
  (void)state;
  static uint8_t pixels[IMAGES][PIXELS];
  float out[PIXELS];
  char path[128];
  put_images();
  (void)snprintf(path, sizeof path, "%s/ready", folder);
  assert_int_equal(mkdir(path, 0755), 0);
  for (size_t i = 0; i < IMAGES; i++)
    memset(pixels[i], (int)i + 1, PIXELS);
  put_array("ready/validation-2.npy", TUTTI_U8, 3, (size_t[]){30, SIDE, SIDE}, pixels);
  put_array("ready/test-2.npy", TUTTI_U8, 3, (size_t[]){IMAGES, SIDE, SIDE}, pixels);
  loads("path=x.npy\ntarget_path=y.npy\ntest_path=x.npy\ntest_target_path=y.npy\nsplit=1 1\nlimit=0 0 6\n"
        "shift=2\nshift_path=ready\nstandardise=no");
  const tutti_split *test = split_of("test-2");
  assert_int_equal(tutti_split_rows(test), 6);
  for (uint32_t r = 0; r < 6; r++) {
    tutti_split_gather(test, 1, &r, out);
    assert_true(out[0] == (float)((tutti_split_source_rows(test)[r] - IMAGES + 1) / 255.0));
  }
}

static void wrong_shifts(void **state) {
  (void)state;
  static const float floats[6 * 4] = {0};
  put_images();
  refuses("severity 3 stands there twice", with("shift=3 3"));
  put("a.csv", "a,b,y\n1,2,u\n3,4,v\n5,6,u\n7,8,v\n");
  refuses("data.shift: only images can be shifted", "path=a.csv\nshift=1\nsplit=1 1 0");
  put_array("x.npy", TUTTI_F32, 3, (size_t[]){6, 2, 2}, floats);
  put_array("y.npy", TUTTI_U8, 1, (size_t[]){6}, "\0\1\0\1\0\1");
  refuses("these are floats; give ready-made sets", with("shift=1\nsplit=2 1"));
  put_array("x.npy", TUTTI_U8, 3, (size_t[]){6, 2, 2}, floats);
  refuses("data.shift_validation: corruption gaussian-blur needs images of at least 5 x 5 pixels, and these have 2 x 2",
          with("shift=1\nsplit=2 1"));
  refuses("data.shift_test: corruption snow",
          with("split=2 1\nshift=1\nshift_validation=saturate\nshift_test=contrast snow"));
  put_array("x.npy", TUTTI_U8, 4, (size_t[]){6, 1, 2, 2}, floats);
  refuses("only images of 1 or 3 channels", with("shift=1\nshift_validation=contrast\nshift_test=contrast\nsplit=2 1"));
}

/* --- out of distribution --- */

static void images_out_of_distribution(void **state) {
  (void)state;
  static uint8_t other[7][PIXELS];
  static float noise[400][PIXELS];
  float out[PIXELS];
  double mean = 0, square = 0;
  put_images();
  for (size_t i = 0; i < 7; i++)
    memset(other[i], 10 * (int)i, PIXELS);
  put_array("other.npy", TUTTI_U8, 3, (size_t[]){7, SIDE, SIDE}, other);
  loads("path=x.npy\ntarget_path=y.npy\nsplit=2 1 1\nood_path=other.npy\nood_noise=400");
  assert_int_equal(tutti_dataset_splits(dataset), 5);
  const tutti_split *ood = tutti_dataset_split(dataset, 3);
  assert_string_equal(tutti_split_name(ood), "ood");
  assert_int_equal(tutti_split_rows(ood), 7);
  assert_null(tutti_split_labels(ood));
  uint64_t fingerprint = tutti_dataset_fingerprint(dataset);
  for (uint32_t r = 0; r < 400;
       r++) { /* byte noise of the training rows' moments: cut off beyond some 1.9 deviations */
    tutti_split_gather(split_of("ood-noise"), 1, &r, noise[r]);
    for (size_t p = 0; p < PIXELS; p++)
      mean += (double)noise[r][p] / (400 * PIXELS);
  }
  for (size_t r = 0; r < 400; r++)
    for (size_t p = 0; p < PIXELS; p++)
      square += ((double)noise[r][p] - mean) * ((double)noise[r][p] - mean) / (400 * PIXELS);
  assert_true(mean > -0.05 && mean < 0.05 && square > 0.9 && square < 1.02);
  loads("path=x.npy\ntarget_path=y.npy\nsplit=2 1 1\nood_path=other.npy\nood_noise=400");
  tutti_split_gather(split_of("ood-noise"), 1, &(uint32_t){9}, out);
  assert_memory_equal(out, noise[9], sizeof out);
  assert_true(tutti_dataset_fingerprint(dataset) == fingerprint);
  other[3][3] = 99;
  put_array("other.npy", TUTTI_U8, 3, (size_t[]){7, SIDE, SIDE}, other);
  loads("path=x.npy\ntarget_path=y.npy\nsplit=2 1 1\nood_path=other.npy\nood_noise=400");
  assert_true(tutti_dataset_fingerprint(dataset) != fingerprint);
  put_array("other.npy", TUTTI_U8, 3, (size_t[]){14, SIDE, SIDE / 2}, other);
  refuses("expected images of 20 x 20 x 1 as in the training data",
          "path=x.npy\ntarget_path=y.npy\nood_path=other.npy");
  put("a.csv", "a,b,y\n1,2,u\n3,4,v\n5,6,u\n7,8,v\n");
  refuses("data.ood_noise: inputs out of distribution are images", "path=a.csv\nood_noise=3\nsplit=1 1 0");
}

int main(void) {
  const struct CMUnitTest tests[] = {data_test(there_is_a_split_for_each_severity),
                                     data_test(one_corruption_an_image),
                                     data_test(made_once_and_found_again),
                                     data_test(rows_are_corrupted_by_their_number),
                                     data_test(ready_made_sets),
                                     data_test(ready_made_sets_of_the_whole_test_file),
                                     data_test(published_sets_of_a_file_a_corruption),
                                     data_test(wrong_shifts),
                                     data_test(images_out_of_distribution)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
