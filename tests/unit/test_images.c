/* test_images.c - images as data: IDX, CIFAR and npy files written here, whole and torn; scales, splits, gathering. */
#include "loading.h"
#include <tutti/npy.h>

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* --- files --- */

static void put_zipped(const char *name, const void *bytes, size_t count) {
  char path[256];
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  gzFile file = gzopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(gzwrite(file, bytes, (unsigned)count), count);
  assert_int_equal(gzclose(file), Z_OK);
}

/* Leave out the last bytes of a file. */
static void tear(const char *name, off_t bytes) {
  char path[256];
  struct stat facts;
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  assert_int_equal(stat(path, &facts), 0);
  assert_int_equal(truncate(path, facts.st_size - bytes), 0);
}

/* An IDX file: pixel or label i is start + step * i. */
static size_t make_idx(unsigned char *file, size_t rank, const size_t *sizes, unsigned start, unsigned step) {
  size_t at = 4, count = 1;
  memcpy(file, (unsigned char[]){0, 0, 8, (unsigned char)rank}, 4);
  for (size_t i = 0; i < rank; i++) {
    memcpy(file + at, (unsigned char[]){0, 0, (unsigned char)(sizes[i] >> 8), (unsigned char)sizes[i]}, 4);
    at += 4;
    count *= sizes[i];
  }
  for (size_t i = 0; i < count; i++)
    file[at + i] = (unsigned char)(start + step * i);
  return at + count;
}

static void put_idx(const char *name, size_t rank, const size_t *sizes, unsigned start, unsigned step, bool zipped) {
  unsigned char file[1 << 16];
  size_t bytes = make_idx(file, rank, sizes, start, step);
  if (zipped)
    put_zipped(name, file, bytes);
  else
    put_bytes(name, file, bytes);
}

static const size_t shape[] = {12, 4, 5}, twelve[] = {12};
static const char labels_of_twelve[] = {5, 0, 1, 5, 0, 1, 5, 0, 1, 5, 0, 1};

static void put_labels(const char *name) {
  unsigned char file[64];
  size_t bytes = make_idx(file, 1, twelve, 0, 0);
  memcpy(file + bytes - 12, labels_of_twelve, 12);
  put_bytes(name, file, bytes);
}

#define IDX "plugin=idx\npath=x.idx\ntarget_path=y.idx\nsplit=2 1 0\nsplit_order=file\n"
static void put_both(bool zipped) {
  put_idx("x.idx", 3, shape, 1, 3, zipped);
  put_labels("y.idx");
}

static float gathered(const char *split, uint32_t row, size_t index) {
  float out[4096];
  struct tutti_shape input = tutti_split_input(split_of(split));
  assert_true((size_t)input.height * (size_t)input.width * (size_t)input.channels <= 4096);
  tutti_split_gather(split_of(split), 1, &row, out);
  return out[index];
}

/* --- formats --- */

static void idx_files(void **state) {
  (void)state;
  for (int zipped = 0; zipped < 2; zipped++) {
    put_both(zipped);
    loads(IDX "standardise=no");
    const tutti_split *train = split_of("train"), *validation = split_of("validation");
    struct tutti_shape input = tutti_dataset_task(dataset)->input;
    assert_true(input.height == 4 && input.width == 5 && input.channels == 1);
    assert_int_equal(tutti_dataset_task(dataset)->outputs, 3);
    assert_string_equal(tutti_dataset_class(dataset, 2), "5");
    assert_string_equal(tutti_dataset_feature(dataset, 0), "channel0");
    assert_null(tutti_split_inputs(train));
    assert_int_equal(tutti_split_rows(train), 8);
    assert_int_equal(tutti_split_rows(validation), 4);
    assert_memory_equal(tutti_split_labels(train), ((int32_t[]){2, 0, 1, 2, 0, 1, 2, 0}), 32);
    assert_memory_equal(tutti_split_labels(validation), ((int32_t[]){1, 2, 0, 1}), 16);
    assert_int_equal(tutti_split_source_rows(validation)[0], 8);
    for (size_t i = 0; i < 20; i++) {
      assert_true(gathered("train", 7, i) == (float)((1 + 3 * (140 + i)) % 256 / 255.0));
      assert_true(gathered("validation", 3, i) == (float)((1 + 3 * (220 + i)) % 256 / 255.0));
    }
  }
}

static void torn_and_mistaken_idx_files(void **state) {
  (void)state;
  put_both(false);
  refuses("expected the IDX file with the labels", "plugin=idx\npath=x.idx");
  put_idx("y11.idx", 1, (size_t[]){11}, 0, 1, false);
  refuses("is this the file of labels?", "plugin=idx\npath=y.idx\ntarget_path=y11.idx\n");
  put_idx("x11.idx", 3, (size_t[]){11, 4, 5}, 0, 1, false);
  refuses("is this the file of images?", "plugin=idx\npath=x.idx\ntarget_path=x11.idx");
  refuses("y11.idx has 11 labels, but", "plugin=idx\npath=x.idx\ntarget_path=y11.idx");
  put("text", "not an idx file");
  refuses("expected an IDX file", "plugin=idx\npath=text\ntarget_path=y.idx");
  put_bytes("int", "\0\0\x0c\x03", 4);
  refuses("elements of type 0x0c", "plugin=idx\npath=int\ntarget_path=y.idx");
  put_bytes("short", "\0\0\x08\x03\0\0", 6);
  refuses("breaks off in the header", "plugin=idx\npath=short\ntarget_path=y.idx");
  put_bytes("huge", "\0\0\x08\x03\xff\xff\xff\xff\0\0\0\x1c\0\0\0\x1c", 16);
  refuses("torn: the header promises 4294967295 images, and it breaks off after 0",
          "plugin=idx\npath=huge\ntarget_path=y.idx");
  put_bytes("wide", "\0\0\x08\x03\0\0\0\1\xff\xff\xff\xff\0\0\0\x1c", 16);
  refuses("expected images of at most", "plugin=idx\npath=wide\ntarget_path=y.idx");
  tear("x.idx", 1);
  refuses("promises 12 images, and it breaks off after 11", IDX);
  put_both(false);
  tear("y.idx", 3);
  refuses("promises 12 labels, and it breaks off after 9", IDX);
  put_idx("x.idx", 3, (size_t[]){11, 4, 5}, 0, 1, false);
  put_labels("y.idx");
  refuses("y.idx has 12 labels, but", IDX);
  unsigned char file[512] = {0};
  size_t bytes = make_idx(file, 3, shape, 0, 1);
  put_bytes("x.idx", file, bytes + 1);
  refuses("bytes follow the 12 images", IDX);
  put_both(true);
  tear("x.idx", 12); /* the checksum, and some of what it is of */
  refuses("x.idx", IDX);
  put_both(true);
  tear("x.idx", 4); /* the length behind the checksum */
  refuses("x.idx", IDX);
}

static void test_files_and_folders(void **state) {
  (void)state;
  put_both(false);
  put_idx("tx.idx", 3, (size_t[]){6, 4, 5}, 7, 1, false);
  put_idx("ty.idx", 1, (size_t[]){6}, 1, 0, false);
  loads(IDX "limit=0 0 2\ntest_path=tx.idx\ntest_target_path=ty.idx\nstandardise=no");
  assert_int_equal(tutti_split_rows(split_of("train")), 8);
  assert_int_equal(tutti_split_rows(split_of("test")), 2);
  assert_int_equal(tutti_split_source_rows(split_of("test"))[0], 12);
  assert_true(gathered("test", 0, 1) == (float)(8 / 255.0));
  put_idx("tx.idx", 3, (size_t[]){6, 5, 4}, 7, 1, false);
  refuses("tx.idx has images of 5 x 4 x 1, but", IDX "test_path=tx.idx\ntest_target_path=ty.idx");
  refuses("data.test_path: expected a file", IDX "test_path=none");
  put("a.csv", "x,y\n1,2\n3,4\n");
  refuses("source csv has no second file", "path=a.csv\ntest_path=tx.idx");
  char path[128];
  (void)snprintf(path, sizeof path, "%s/set", folder);
  assert_int_equal(mkdir(path, 0755), 0);
  refuses("or a folder with train-images-idx3-ubyte or", "plugin=idx\npath=set");
  put_idx("set/train-images-idx3-ubyte", 3, shape, 1, 3, false);
  put_labels("set/train-labels-idx1-ubyte");
  put_idx("set/t10k-images-idx3-ubyte.gz", 3, shape, 1, 3, true);
  put_labels("set/t10k-labels-idx1-ubyte");
  loads("plugin=idx\npath=set\nsplit=1 1 0");
  assert_int_equal(tutti_split_rows(split_of("test")), 12);
}

/* Records of CIFAR: pixel p of plane c of record i is i + 64 c + p % 64. */
static size_t make_cifar(unsigned char *file, size_t records, size_t label_bytes) {
  unsigned char *at = file;
  for (size_t i = 0; i < records; i++) {
    for (size_t l = 0; l < label_bytes; l++)
      *at++ = (unsigned char)(i % (l == 0 ? 10 : 7));
    for (size_t c = 0; c < 3; c++)
      for (size_t p = 0; p < 1024; p++)
        *at++ = (unsigned char)(i + 64 * c + p % 64);
  }
  return (size_t)(at - file);
}

static void cifar_files(void **state) {
  (void)state;
  unsigned char *file = malloc(1100 * 3074);
  assert_non_null(file);
  put_zipped("c.bin", file, make_cifar(file, 1100, 1));
  loads("plugin=cifar\npath=c.bin\nsplit=9 1 1\nstandardise=no\nsplit_order=file");
  assert_int_equal(tutti_split_rows(split_of("train")), 900);
  assert_int_equal(tutti_dataset_task(dataset)->outputs, 10);
  assert_int_equal(tutti_dataset_task(dataset)->input.channels, 3);
  for (size_t p = 0; p < 1024; p++)
    for (size_t c = 0; c < 3; c++)
      assert_true(gathered("train", 21, 3 * p + c) == (float)((21 + 64 * c + p % 64) / 255.0));
  assert_int_equal(tutti_split_labels(split_of("test"))[3], 3);
  refuses("expected a label from 0 to 99, found", "plugin=cifar100\npath=c.bin");
  put_bytes("c.bin", file, make_cifar(file, 20, 2));
  put_bytes("torn.bin", file, 3074 * 20 - 1);
  loads("plugin=cifar100\npath=c.bin\nsplit=2 1 0");
  assert_int_equal(tutti_dataset_task(dataset)->outputs, 7);
  loads("plugin=cifar100-coarse\npath=c.bin\nsplit=2 1 0");
  assert_int_equal(tutti_dataset_task(dataset)->outputs, 10);
  refuses("19 of them; it is torn", "plugin=cifar100\npath=torn.bin");
  file[3074 * 5 + 1] = 100;
  put_bytes("c.bin", file, 3074 * 20);
  refuses("record 5: expected a label from 0 to 99, found 100", "plugin=cifar100\npath=c.bin");
  put_bytes("c.bin", file, 0);
  refuses("empty file", "plugin=cifar\npath=c.bin");
  refuses("stand before the pixels", "plugin=cifar\npath=c.bin\ntarget_path=c.bin");
  char path[128];
  (void)snprintf(path, sizeof path, "%s/batches", folder);
  assert_int_equal(mkdir(path, 0755), 0);
  size_t bytes = make_cifar(file, 30, 1);
  for (int i = 1; i <= 5; i++) {
    (void)snprintf(path, sizeof path, "batches/data_batch_%d.bin", i);
    put_bytes(path, file, bytes);
  }
  refuses("test_batch.bin", "plugin=cifar\npath=batches");
  put_zipped("batches/test_batch.bin.gz", file, bytes);
  loads("plugin=cifar\npath=batches\nsplit=4 1");
  assert_int_equal(tutti_split_rows(split_of("train")), 120);
  assert_int_equal(tutti_split_rows(split_of("test")), 30);
  free(file);
}

static void put_array(const char *name, enum tutti_element element, size_t rank, const size_t *sizes,
                      const void *data) {
  char path[128];
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  assert_int_equal(tutti_npy_write(context, path, element, rank, sizes, data), TUTTI_OK);
}

static void arrays_of_images(void **state) {
  (void)state;
  uint8_t bytes[4 * 2 * 3 * 3];
  double doubles[4 * 2 * 3];
  const int64_t labels[4] = {3, 1, 3, 1};
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = (uint8_t)(3 * i);
  for (size_t i = 0; i < 24; i++)
    doubles[i] = 0.5 * (double)i - 1;
#define NPY "path=x.npy\ntarget_path=y.npy\nsplit=1 1 0\nsplit_order=file\n"
  put_array("x.npy", TUTTI_U8, 4, (size_t[]){4, 2, 3, 3}, bytes);
  put_array("y.npy", TUTTI_I64, 1, (size_t[]){4}, labels);
  loads(NPY "standardise=no");
  uint64_t fingerprint = tutti_dataset_fingerprint(dataset);
  loads(NPY "standardise=no\nplugin=npy"); /* named or found: the same data */
  assert_true(tutti_dataset_fingerprint(dataset) == fingerprint);
  assert_true(gathered("validation", 1, 17) == (float)(213 / 255.0));
  assert_memory_equal(tutti_split_labels(split_of("validation")), ((int32_t[]){1, 0}), 8);
  refuses("only grey images can be repeated", NPY "channels=1");
  put_array("x.npy", TUTTI_F64, 3, (size_t[]){4, 2, 3}, doubles);
  loads(NPY "standardise=no\nchannels=3");
  assert_int_equal(tutti_dataset_task(dataset)->input.channels, 3);
  for (size_t c = 0; c < 3; c++)
    assert_true(gathered("validation", 1, 3 * 5 + c) == 10.5f);
  loads(NPY "pixel_mean=1\npixel_deviation=0.25");
  assert_true(gathered("validation", 1, 5) == 38);
  refuses("data.target: images have no columns", NPY "target=0");
  refuses("data.task", NPY "task=regression");
  refuses("data.scaling: of the columns of tables alone", NPY "scaling=robust");
  refuses("data.bins: of the columns of tables alone", NPY "bins=4");
  refuses("data.pixel_mean: expected 1 number or one for each of 1", NPY "pixel_mean=1 2 3");
  refuses("data.target_path: expected the npy file with the labels", "path=x.npy");
  doubles[13] = NAN;
  put_array("x.npy", TUTTI_F64, 3, (size_t[]){4, 2, 3}, doubles);
  refuses("image 2: expected finite numbers", NPY);
  put_array("x.npy", TUTTI_I32, 3, (size_t[]){4, 2, 3}, doubles);
  refuses("integers wider than a byte", NPY);
  put_array("x.npy", TUTTI_U8, 3, (size_t[]){4, 2, 3}, bytes);
  put_array("y.npy", TUTTI_I64, 1, (size_t[]){3}, labels);
  refuses("y.npy has 3 labels", NPY);
  put_array("y.npy", TUTTI_F32, 1, (size_t[]){4}, doubles);
  refuses("expected integer labels [rows], found 1 size of floats", NPY);
  put_array("y.npy", TUTTI_U8, 1, (size_t[]){4}, "\1\1\1\1");
  refuses("expected labels of 2 to", NPY);
  put_array("y.npy", TUTTI_U8, 1, (size_t[]){4}, "\1\1\1\2");
  refuses("class '2' of 'label' is absent from the 2 training rows", NPY);
}

/* --- scales --- */

static void channels_are_standardised_by_training_rows(void **state) {
  (void)state;
  uint8_t bytes[6 * 2 * 2 * 2];
  const uint8_t labels[6] = {0, 1, 0, 1, 0, 1};
  double sums[2] = {0}, squares[2] = {0};
  for (size_t i = 0; i < sizeof bytes; i++)
    bytes[i] = (uint8_t)(37 * i + (i % 2) * 11);
  put_array("x.npy", TUTTI_U8, 4, (size_t[]){6, 2, 2, 2}, bytes);
  put_array("y.npy", TUTTI_U8, 1, (size_t[]){6}, labels);
  loads("path=x.npy\ntarget_path=y.npy\nsplit=2 1 0\nsplit_order=file");
  for (size_t i = 0; i < 32; i++)
    sums[i % 2] += bytes[i] / 16.0;
  for (size_t i = 0; i < 32; i++)
    squares[i % 2] += (bytes[i] - sums[i % 2]) * (bytes[i] - sums[i % 2]) / 16.0;
  for (uint32_t row = 0; row < 2; row++)
    for (size_t i = 0; i < 8; i++) {
      double expected = (bytes[(4 + row) * 8 + i] - sums[i % 2]) / sqrt(squares[i % 2]);
      assert_true(fabs((double)gathered("validation", row, i) - expected) < 1e-6);
    }

  /* Training rows that are not the first of the file. */
  bytes[8] = 255, bytes[9] = 0; /* no two rows are alike */
  put_array("x.npy", TUTTI_U8, 4, (size_t[]){6, 2, 2, 2}, bytes);
  static const char *const draws[] = {"path=x.npy\ntarget_path=y.npy\nsplit=2 1 0\nsplit_seed=1",
                                      "path=x.npy\ntarget_path=y.npy\nsplit=2 1 0\nsplit_seed=2"};
  for (size_t d = 0; d < 2; d++) {
    loads(draws[d]);
    const uint32_t *rows = tutti_split_source_rows(split_of("train"));
    memset(sums, 0, sizeof sums), memset(squares, 0, sizeof squares);
    for (size_t i = 0; i < 32; i++)
      sums[i % 2] += bytes[rows[i / 8] * 8 + i % 8] / 16.0;
    for (size_t i = 0; i < 32; i++)
      squares[i % 2] += pow(bytes[rows[i / 8] * 8 + i % 8] - sums[i % 2], 2) / 16.0;
    for (uint32_t row = 0; row < 4; row++)
      for (size_t i = 0; i < 8; i++) {
        double expected = (bytes[rows[row] * 8 + i] - sums[i % 2]) / sqrt(squares[i % 2]);
        assert_true(fabs((double)gathered("train", row, i) - expected) < 1e-6);
      }
  }
  loads("path=x.npy\ntarget_path=y.npy\nsplit=2 1 0\npixel_mean=0.5 0.25\npixel_deviation=0.5");
  uint32_t row = tutti_split_source_rows(split_of("train"))[0];
  assert_true(fabs((double)gathered("train", 0, 3) - (bytes[row * 8 + 3] / 255.0 - 0.25) / 0.5) < 1e-6);
  memset(bytes, 7, sizeof bytes);
  put_array("x.npy", TUTTI_U8, 4, (size_t[]){6, 2, 2, 2}, bytes);
  loads("path=x.npy\ntarget_path=y.npy\nsplit=2 1 0"); /* a constant channel is 0, not NaN */
  assert_true(gathered("train", 0, 0) == 0);
}

/* --- splits --- */

static void shares_and_limits(void **state) {
  (void)state;
  put_both(false);
  loads("plugin=idx\npath=x.idx\ntarget_path=y.idx\nsplit=1 1 0\nlimit=3 4");
  assert_int_equal(tutti_split_rows(split_of("train")), 3);
  assert_int_equal(tutti_split_rows(split_of("validation")), 4);
  int of_class[3] = {0};
  for (size_t r = 0; r < 3; r++)
    of_class[tutti_split_labels(split_of("train"))[r]]++;
  assert_true(of_class[0] == 1 && of_class[1] == 1 && of_class[2] == 1);
  uint64_t fingerprint = tutti_dataset_fingerprint(dataset);
  loads("plugin=idx\npath=x.idx\ntarget_path=y.idx\nsplit=1 1 0\nlimit=3 4");
  assert_true(tutti_dataset_fingerprint(dataset) == fingerprint);
  loads("plugin=idx\npath=x.idx\ntarget_path=y.idx\nsplit=1 1 0\nlimit=3 4\nsplit_seed=9");
  assert_true(tutti_dataset_fingerprint(dataset) != fingerprint);
  refuses("data.limit: expected at most 3", IDX "limit=1 2 3 4");
  loads(IDX "limit=4 4");
  fingerprint = tutti_dataset_fingerprint(dataset);
  assert_int_equal(tutti_split_source_rows(split_of("train"))[3], 3);
  put_idx("x.idx", 3, shape, 2, 3, false);
  loads(IDX "limit=4 4"); /* other pixels */
  assert_true(tutti_dataset_fingerprint(dataset) != fingerprint);
}

/* --- augmentation --- */

/* The image as a person sees it: the pixel at (y, x) of the crop moved by (down, right), mirrored or not. */
static float expected_at(const float *plain, struct tutti_shape s, int down, int right, bool flip, int y, int x, int c,
                         float black) {
  int from_y = y + down, from_x = (flip ? s.width - 1 - x : x) + right;
  if (from_y < 0 || from_x < 0 || from_y >= s.height || from_x >= s.width)
    return black;
  return plain[(from_y * s.width + from_x) * s.channels + c];
}

/* Which of all crops and flips an augmented image is; -1 where it is none. */
static int find_view(const float *plain, const float *out, struct tutti_shape s, int padding, float black) {
  for (int view = 0; view < 2 * (2 * padding + 1) * (2 * padding + 1); view++) {
    int flip = view % 2, down = view / 2 / (2 * padding + 1) - padding, right = view / 2 % (2 * padding + 1) - padding;
    bool same = true;
    for (int i = 0; i < s.height * s.width * s.channels && same; i++)
      same = out[i] == expected_at(plain, s, down, right, flip, i / s.channels / s.width, i / s.channels % s.width,
                                   i % s.channels, black);
    if (same)
      return view;
  }
  return -1;
}

static void augmented_images_are_crops_and_flips(void **state) {
  (void)state;
  enum { ROWS = 8, EPOCHS = 60 };
  int seen[50] = {0}, views = 0;
  float plain[ROWS][60], out[ROWS][60], again[60];
  const uint32_t rows[ROWS] = {7, 6, 5, 4, 3, 2, 1, 0};
  put_both(false);
  loads(IDX "channels=3\npixel_mean=.5\npixel_deviation=.5");
  const tutti_split *train = split_of("train");
  struct tutti_augmentation how = {.size = sizeof how, .padding = 2, .flip = true, .seed = 4};
  tutti_split_gather(train, ROWS, rows, plain[0]);
  for (how.epoch = 0; how.epoch < EPOCHS; how.epoch++) {
    tutti_split_gather_augmented(train, &how, ROWS, rows, out[0]);
    for (size_t r = 0; r < ROWS; r++) {
      int view = find_view(plain[r], out[r], tutti_split_input(train), 2, -1);
      assert_true(view >= 0);
      seen[view]++;
    }
  }
  for (int v = 0; v < 50; v++)
    views += seen[v] > 0;
  assert_int_equal(views, 50); /* 480 draws of 50: one in 2e4 seeds misses one */
  /* the same row, alone and in another place, in the last epoch */
  how.epoch = EPOCHS - 1;
  tutti_split_gather_augmented(train, &how, 1, &rows[3], again);
  assert_memory_equal(again, out[3], sizeof again);
  how.seed = 5;
  tutti_split_gather_augmented(train, &how, ROWS, rows, plain[0]);
  assert_memory_not_equal(plain, out, sizeof out);
  how = (struct tutti_augmentation){.size = sizeof how, .seed = 4};
  tutti_split_gather(train, 1, rows, again);
  tutti_split_gather_augmented(train, &how, 1, rows, out[0]);
  assert_memory_equal(again, out[0], sizeof again);
}

static void inputs_of_ones_own_are_augmented_too(void **state) {
  (void)state;
  float inputs[2 * 3 * 3 * 2], out[18], black = 0;
  const int32_t labels[2] = {0, 1};
  const uint32_t row = 1;
  tutti_split *split;
  for (size_t i = 0; i < 36; i++)
    inputs[i] = (float)i + 1;
  struct tutti_shape input = {3, 3, 2};
  assert_int_equal(tutti_split_create(context, "own", 2, input, 2, inputs, NULL, labels, &split), TUTTI_OK);
  struct tutti_augmentation how = {.size = sizeof how, .padding = 1, .flip = true, .seed = 1};
  for (how.epoch = 0; how.epoch < 50; how.epoch++) {
    tutti_split_gather_augmented(split, &how, 1, &row, out);
    assert_true(find_view(inputs + 18, out, input, 1, black) >= 0);
  }
  tutti_split_destroy(split);
}

/* --- new images --- */

static void new_images(void **state) {
  (void)state;
  tutti_split *split;
  float out[20], want[20];
  const uint32_t last = 11;
  uint8_t bytes[2 * 4 * 5];
  put_both(true);
  loads(IDX);
  assert_int_equal(apply("x.idx", &split), TUTTI_OK);
  assert_int_equal(tutti_split_rows(split), 12);
  assert_null(tutti_split_labels(split));
  tutti_split_gather(split, 1, &last, out);
  tutti_split_gather(split_of("validation"), 1, &(uint32_t){3}, want);
  assert_memory_equal(out, want, sizeof out);
  tutti_split_destroy(split);
  memset(bytes, 9, sizeof bytes);
  put_array("new.npy", TUTTI_U8, 3, (size_t[]){2, 4, 5}, bytes);
  assert_int_equal(apply("new.npy", &split), TUTTI_OK);
  assert_int_equal(tutti_split_rows(split), 2);
  tutti_split_destroy(split);
  put_array("new.npy", TUTTI_U8, 3, (size_t[]){2, 5, 4}, bytes);
  apply_refuses("expected images of 4 x 5 x 1 as in the training data", "new.npy");
  put("new.txt", "no images");
  apply_refuses("expected an IDX file", "new.txt");
}

static void new_records_have_labels(void **state) {
  (void)state;
  tutti_split *split;
  unsigned char *file = malloc(40 * 3073);
  assert_non_null(file);
  put_bytes("c.bin", file, make_cifar(file, 40, 1));
  loads("plugin=cifar\npath=c.bin\nsplit=1 1 0");
  assert_int_equal(apply("c.bin", &split), TUTTI_OK);
  assert_int_equal(tutti_split_labels(split)[13], 3);
  tutti_split_destroy(split);
  put_bytes("c.bin", file, make_cifar(file, 8, 1));
  loads("plugin=cifar\npath=c.bin\nsplit=1 0 0");
  put_bytes("c.bin", file, make_cifar(file, 9, 1));
  apply_refuses("label 8 is none of the 8 known classes", "c.bin");
  free(file);
}

static void torn_descriptions(void **state) {
  (void)state;
  static const struct {
    const char *from, *to;
  } torn[] = {{"\"channels\": 1", "\"channels\": 0"},
              {"\"images\": [4, 5, 1]", "\"images\": [4, 5]"},
              {"\"images\": [4, 5, 1]", "\"images\": [4, 0, 1]"},
              {"\"plugin\": \"idx\"", "\"plugin\": 3"},
              {"classification", "regression"}};
  char *json, text[2048];
  tutti_split *split;
  put_both(false);
  loads(IDX);
  assert_int_equal(tutti_dataset_describe(context, dataset, &json), TUTTI_OK);
  for (size_t i = 0; i < sizeof torn / sizeof torn[0]; i++) {
    char *at = strstr(json, torn[i].from);
    assert_non_null(at);
    (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(at - json), json, torn[i].to, at + strlen(torn[i].from));
    assert_int_equal(tutti_dataset_apply(context, text, "x.idx", &split), TUTTI_ERROR_CORRUPT);
    assert_null(split);
  }
  tutti_free(json);
}

int main(void) {
  const struct CMUnitTest tests[] = {data_test(idx_files),
                                     data_test(torn_and_mistaken_idx_files),
                                     data_test(test_files_and_folders),
                                     data_test(cifar_files),
                                     data_test(arrays_of_images),
                                     data_test(channels_are_standardised_by_training_rows),
                                     data_test(shares_and_limits),
                                     data_test(augmented_images_are_crops_and_flips),
                                     data_test(inputs_of_ones_own_are_augmented_too),
                                     data_test(new_images),
                                     data_test(new_records_have_labels),
                                     data_test(torn_descriptions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
