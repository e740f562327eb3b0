/* test_data_split.c - every row is in one split, splits have their shares, and statistics are the training rows' alone.
 */
#include "loading.h"

#include <math.h>

/* `rows` rows: a counter, a draw, a class of `classes` with unequal sizes, a target. */
static void put_rows(const char *name, size_t rows, size_t classes) {
  struct tutti_random random;
  char *text = malloc(rows * 96 + 64);
  size_t length = (size_t)sprintf(text, "n,a,class,y\n");
  tutti_random_init(&random, 7, "rows", rows);
  for (size_t i = 0; i < rows; i++) {
    double u = tutti_random_uniform(&random);
    length += (size_t)sprintf(text + length, "%zu,%.17g,c%d,%.17g\n", i, 100 + 5 * tutti_random_normal(&random),
                              (int)(u * u * (double)classes), tutti_random_normal(&random));
  }
  put(name, text);
  free(text);
}

/* Each row of the source is in one split, in ascending order; *owner gets which, 3 for none. */
static void read_partition(size_t rows, unsigned char *owner) {
  memset(owner, 3, rows);
  for (size_t s = 0; s < 3; s++) {
    const tutti_split *split = tutti_dataset_split(dataset, s);
    const uint32_t *source = tutti_split_source_rows(split);
    for (size_t i = 0; i < tutti_split_rows(split); i++) {
      assert_true(source[i] < rows);
      assert_true(i == 0 || source[i] > source[i - 1]);
      assert_int_equal(owner[source[i]], 3);
      owner[source[i]] = (unsigned char)s;
    }
  }
}

static void partitions_are_exact(void **state) {
  (void)state;
  unsigned char owner[997], again[997], other[997];
  put_rows("a.csv", 997, 5);
  loads("path=a.csv\nignore=class");
  assert_string_equal(tutti_split_name(tutti_dataset_split(dataset, 0)), "train");
  assert_string_equal(tutti_split_name(tutti_dataset_split(dataset, 1)), "validation");
  assert_string_equal(tutti_split_name(tutti_dataset_split(dataset, 2)), "test");
  assert_null(tutti_dataset_find(dataset, "shifted"));
  assert_int_equal(tutti_split_rows(split_of("train")), 798); /* 797.6 */
  assert_int_equal(tutti_split_rows(split_of("validation")), 99);
  assert_int_equal(tutti_split_rows(split_of("test")), 100);
  read_partition(997, owner);
  assert_null(memchr(owner, 3, sizeof owner));
  loads("path=a.csv\nignore=class");
  read_partition(997, again);
  assert_memory_equal(owner, again, sizeof owner);
  loads("path=a.csv\nignore=class\nsplit_seed=2");
  read_partition(997, other);
  assert_memory_not_equal(owner, other, sizeof owner);
  loads("path=a.csv\nignore=class\nsplit=8 1 1");
  read_partition(997, again);
  assert_memory_equal(owner, again, sizeof owner);
  loads("path=a.csv\nignore=class\nsplit=0.5 0.5");
  assert_int_equal(tutti_split_rows(split_of("test")), 0);
  assert_int_equal(total_rows(), 997);
}

/* Of each class, every split has its share to within one row, or its share of all rows where that was not asked. */
static void classes_are_stratified(void **state) {
  (void)state;
  static const double shares[] = {0.6, 0.25, 0.15};
  size_t counts[3][8] = {{0}}, totals[8] = {0};
  put_rows("a.csv", 800, 8);
  loads("path=a.csv\ntarget=class\nsplit=0.6 0.25 0.15");
  assert_int_equal(total_rows(), 800);
  for (size_t s = 0; s < 3; s++)
    for (size_t i = 0; i < tutti_split_rows(tutti_dataset_split(dataset, s)); i++) {
      size_t class = (size_t)tutti_split_labels(tutti_dataset_split(dataset, s))[i];
      counts[s][class]++;
      totals[class]++;
    }
  for (size_t s = 0; s < 3; s++)
    for (size_t c = 0; c < 8; c++)
      assert_true(fabs((double)counts[s][c] - shares[s] * (double)totals[c]) <= 1);
  uint64_t fingerprint = tutti_dataset_fingerprint(dataset);
  loads("path=a.csv\ntarget=class\nsplit=0.6 0.25 0.15\nstratify=no");
  assert_true(tutti_dataset_fingerprint(dataset) != fingerprint);
  refuses("only classes can be stratified", "path=a.csv\nstratify=yes\nignore=class");
}

/* Classes of which each by itself would have no test row share them: the rows of all together are met, and every class
   still has a training row, also one of a single row. */
static void small_classes_share_their_test_rows(void **state) {
  (void)state;
  enum { CLASSES = 61, EACH = 5, ROWS = (CLASSES - 1) * EACH + 1 };
  char *text = malloc(ROWS * 16 + 64);
  size_t counts[3][CLASSES] = {{0}}, all[3];
  assert_non_null(text);
  size_t length = (size_t)sprintf(text, "a,class\n");
  for (int i = 0; i < ROWS; i++)
    length += (size_t)sprintf(text + length, "%d,k%02d\n", i % 97, i <= EACH ? i / EACH : 1 + (i - 1) / EACH);
  put("a.csv", text);
  free(text);
  loads("path=a.csv\ntarget=class\nsplit=0.72 0.18 0.1");
  assert_int_equal(total_rows(), ROWS);
  for (size_t s = 0; s < 3; s++) {
    const tutti_split *split = tutti_dataset_split(dataset, s);
    all[s] = tutti_split_rows(split);
    for (size_t i = 0; i < all[s]; i++)
      counts[s][tutti_split_labels(split)[i]]++;
  }
  assert_in_range(all[2], 29, 31); /* a tenth of 301, but for the row that its class trains on */
  assert_in_range(all[1], 53, 55);
  for (size_t c = 0; c < CLASSES; c++) {
    assert_true(counts[0][c] >= 1);
    assert_true(counts[2][c] <= 1);
  }
}

static void files_of_rows(void **state) {
  (void)state;
  unsigned char owner[20];
  put_rows("a.csv", 20, 2);
  put("test.txt", "3\r\n0\n\n 19 \n");
  put("val.txt", "1\n2");
  put("train.txt", "4\n5\n6\n");
#define FILES "path=a.csv\nignore=class\n"
  loads(FILES "test_rows=test.txt\nsplit=0.5 0.5 0");
  read_partition(20, owner);
  for (size_t i = 0; i < 20; i++)
    assert_int_equal(owner[i] == 2, i == 0 || i == 3 || i == 19);
  assert_int_equal(tutti_split_rows(split_of("validation")), 8); /* 17 rows in halves: 9 and 8 */
  loads(FILES "test_rows=test.txt\nvalidation_rows=val.txt");
  assert_int_equal(tutti_split_rows(split_of("train")), 15);
  loads(FILES "test_rows=test.txt\nvalidation_rows=val.txt\ntrain_rows=train.txt");
  read_partition(20, owner);
  assert_int_equal(total_rows(), 8);
  assert_int_equal(owner[7], 3);
  loads(FILES "train_rows=train.txt\nsplit=0 1 1");
  assert_int_equal(tutti_split_rows(split_of("train")), 3);
  assert_int_equal(tutti_split_rows(split_of("test")), 8);
  put("bad.txt", "1\n2\n1\n");
  refuses("bad.txt:3: row 1 stands here twice", FILES "test_rows=bad.txt");
  put("bad.txt", "1\n20\n");
  refuses("bad.txt:2: row 20 is out of range: the data have rows 0 to 19", FILES "test_rows=bad.txt");
  put("bad.txt", "1\n-2\n");
  refuses("expected a row number, found '-2'", FILES "test_rows=bad.txt");
  put("bad.txt", "99999999999999999999999\n");
  refuses("bad.txt:1: expected a row number", FILES "test_rows=bad.txt");
  put("bad.txt", "7\n3\n");
  refuses("test.txt:1: row 3 is a validation row already", FILES "test_rows=test.txt\nvalidation_rows=bad.txt");
  put("bad.txt", "\n\n");
  refuses("found none", FILES "test_rows=bad.txt");
  put_bytes("bad.txt", "1\0002", 3);
  refuses("a zero byte", FILES "test_rows=bad.txt");
  put("bad.txt", "20\n");
  refuses("the data have rows 0 to 19", "plugin=toy-sine\nrows=20\ntest_points=10\ntrain_rows=bad.txt");
  refuses("data.test_rows: cannot read", FILES "test_rows=.");
  refuses("data.test_rows: expected a file", FILES "test_rows=none.txt");
}

static void splits_without_rows(void **state) {
  (void)state;
  put("a.csv", "a,y\n1,2\n2,3\n3,4\n");
  refuses("leaves no test rows: 2 train, 1 validation, 0 test", "path=a.csv\nsplit=0.6 0.3 0.1");
  refuses("leaves no train rows: 0 train, 2 validation, 1 test", "path=a.csv\nsplit=0 0.6 0.4");
  refuses("leaves no train rows", "path=a.csv\nsplit=0 0 0");
  refuses("found 1 number", "path=a.csv\nsplit=1");
  refuses("found 4 numbers", "path=a.csv\nsplit=1 1 1 1");
  put("all.txt", "0\n1\n2\n");
  refuses("leaves no train rows: 0 train, 0 validation, 3 test", "path=a.csv\ntest_rows=all.txt");
  put("a.csv", "a,y\n1,u\n2,u\n3,v\n4,u\n");
  put("v.txt", "2\n");
  refuses("class 'v' of 'y' is absent from the 3 training rows", "path=a.csv\ntest_rows=v.txt\nsplit=1 0 0");
  put("a.csv", "a,y\n1,2\n,3\n3,4\n");
  put("v.txt", "1\n");
  refuses("leaves no test rows: 2 train, 0 validation, 0 test (1 unused)",
          "path=a.csv\ntest_rows=v.txt\nsplit=1 0 0\nmissing=drop");
}

/* --- statistics --- */

static void moments(const float *values, size_t rows, size_t stride, double *mean, double *deviation) {
  *mean = *deviation = 0;
  for (size_t i = 0; i < rows; i++)
    *mean += values[i * stride] / (double)rows;
  for (size_t i = 0; i < rows; i++)
    *deviation += (values[i * stride] - *mean) * (values[i * stride] - *mean) / (double)rows;
  *deviation = sqrt(*deviation);
}

static void training_rows_are_standardised(void **state) {
  (void)state;
  double mean, deviation;
  put_rows("a.csv", 500, 3);
  loads("path=a.csv\ntarget=y a");
  const tutti_split *train = split_of("train"), *test = split_of("test");
  size_t features = (size_t)tutti_split_input(train).channels;
  assert_int_equal(features, 4); /* n and three classes one-hot */
  moments(tutti_split_inputs(train), tutti_split_rows(train), features, &mean, &deviation);
  assert_true(fabs(mean) < 1e-6 && fabs(deviation - 1) < 1e-6);
  for (size_t i = 0; i < tutti_split_rows(train); i++) {
    const float *row = tutti_split_inputs(train) + i * features;
    assert_true(row[1] + row[2] + row[3] == 1 && fmaxf(row[1], fmaxf(row[2], row[3])) == 1);
  }
  for (size_t t = 0; t < 2; t++) {
    moments(tutti_split_targets(train) + t, tutti_split_rows(train), 2, &mean, &deviation);
    assert_true(fabs(mean) < 1e-6 && fabs(deviation - 1) < 1e-6);
    for (size_t i = t; i < 2 * tutti_split_rows(test); i += 2) {
      double back =
          tutti_split_targets(test)[i] * tutti_split_target_scale(test)[t] + tutti_split_target_shift(test)[t];
      assert_true(fabs(back - tutti_split_raw_targets(test)[i]) < 1e-6 * fmax(1, fabs(back)));
    }
  }
  assert_true(tutti_split_target_shift(train)[0] > 99); /* in the file's order: a before y */
}

static void other_rows_do_not_touch_the_statistics(void **state) {
  (void)state;
  put("train.txt", "0\n1\n2\n");
  put("a.csv", "a,y\n1,2\n2,30\n3,4\n4,5\n5,6\n");
  loads("path=a.csv\ntrain_rows=train.txt");
  double shift = tutti_split_target_shift(split_of("test"))[0], scale = tutti_split_target_scale(split_of("test"))[0];
  float inputs[3];
  memcpy(inputs, tutti_split_inputs(split_of("train")), sizeof inputs);
  uint64_t fingerprint = tutti_dataset_fingerprint(dataset);
  assert_true(fabs(shift - 12) < 1e-12);
  put("a.csv", "a,y\n1,2\n2,30\n3,4\n400,-5e3\n-500,6e7\n");
  loads("path=a.csv\ntrain_rows=train.txt");
  assert_true(tutti_split_target_shift(split_of("test"))[0] == shift);
  assert_true(tutti_split_target_scale(split_of("test"))[0] == scale);
  assert_memory_equal(inputs, tutti_split_inputs(split_of("train")), sizeof inputs);
  assert_true(tutti_dataset_fingerprint(dataset) != fingerprint);
  put("a.csv", "a,y\n1,2\n,30\n3,4\n,5\n5,6\n"); /* missing: the mean of rows 0 and 2 */
  loads("path=a.csv\ntrain_rows=train.txt\nmissing=mean");
  assert_true(tutti_split_inputs(split_of("train"))[1] == 0);
  assert_true(fabs(tutti_split_inputs(split_of("train"))[2] - sqrt(1.5)) < 1e-6); /* deviation sqrt(2 / 3) */
}

/* Whatever cell changes, the fingerprint does. */
static void fingerprints_cover_every_cell(void **state) {
  (void)state;
  char text[] = "a,b,y\n1,2,3\n4,5,6\n7,8,1\n2,2,2\n5,4,5\n9,9,9\n";
  put("a.csv", text);
  loads("path=a.csv\nsplit=1 1 1");
  uint64_t fingerprint = tutti_dataset_fingerprint(dataset);
  for (size_t i = 6; i < sizeof text - 1; i += 2) {
    char before = text[i];
    text[i] = before == '3' ? '4' : '3';
    put("a.csv", text);
    loads("path=a.csv\nsplit=1 1 1");
    assert_true(tutti_dataset_fingerprint(dataset) != fingerprint);
    text[i] = before;
  }
  put("a.csv", text);
  loads("path=a.csv\nsplit=1 1 1");
  assert_true(tutti_dataset_fingerprint(dataset) == fingerprint);
  loads("path=a.csv\nsplit=1 1 1\nsplit_seed=3");
  assert_true(tutti_dataset_fingerprint(dataset) != fingerprint);
}

static void constant_columns_are_harmless(void **state) {
  (void)state;
  put("train.txt", "0\n1\n2\n");
  put("a.csv", "a,b,y\n0.1,1,7\n0.1,2,7\n0.1,3,7\n0.1,4,7\n0.6,5,8\n");
  loads("path=a.csv\ntrain_rows=train.txt");
  for (size_t i = 0; i < 3; i++) {
    assert_true(tutti_split_inputs(split_of("train"))[2 * i] == 0);
    assert_true(tutti_split_targets(split_of("train"))[i] == 0);
  }
  assert_true(tutti_split_target_scale(split_of("train"))[0] == 1);
  put("a.csv", "a,b,y\n,1,7\n,2,8\n,3,7\n4,4,7\n5,5,8\n");
  refuses("no value in any training row", "path=a.csv\ntrain_rows=train.txt\nmissing=mean");
}

static void predictions_return_to_their_units(void **state) {
  (void)state;
  put("a.csv", "a,y,z\n1,10,1\n2,20,5\n3,30,9\n");
  loads("path=a.csv\ntarget=y z\nsplit=1 0 0");
  const tutti_split *train = split_of("train");
  const double *scale = tutti_split_target_scale(train);
  float predictions[3][2][2];
  for (size_t i = 0; i < 12; i++)
    (&predictions[0][0][0])[i] = (float)i / 4;
  tutti_split_unscale(train, TUTTI_TASK_REGRESSION, &predictions[0][0][0]);
  for (size_t r = 0; r < 3; r++)
    for (size_t t = 0; t < 2; t++) {
      double mean = (double)(4 * r + 2 * t) / 4, variance = (double)(4 * r + 2 * t + 1) / 4;
      assert_true(fabs(predictions[r][t][0] - (mean * scale[t] + (t ? 5 : 20))) < 1e-5);
      assert_true(fabs(predictions[r][t][1] - variance * scale[t] * scale[t]) < 1e-3);
    }
  float before = predictions[1][1][0];
  tutti_split_unscale(train, TUTTI_TASK_CLASSIFICATION, &predictions[0][0][0]);
  assert_true(predictions[1][1][0] == before);
  struct tutti_targets targets = {.size = sizeof targets};
  tutti_split_all_targets(train, &targets);
  assert_int_equal(targets.rows, 3);
  assert_int_equal(targets.kind, TUTTI_TASK_REGRESSION);
  assert_true(targets.values[5] == 9 && targets.labels == NULL);
}

static void splits_of_ones_own(void **state) {
  (void)state;
  tutti_split *split;
  const float inputs[] = {1, 2, 3, 4, 5, 6}, targets[] = {7, 8, 9};
  const int32_t labels[] = {0, 1, 2};
  float out[4];
  assert_int_equal(
      tutti_split_create(context, "mine", 3, (struct tutti_shape){1, 1, 2}, 1, inputs, targets, NULL, &split),
      TUTTI_OK);
  tutti_split_gather(split, 2, (uint32_t[]){2, 0}, out);
  assert_memory_equal(out, ((float[]){5, 6, 1, 2}), sizeof out);
  assert_true(tutti_split_raw_targets(split)[2] == 9 && tutti_split_target_scale(split)[0] == 1);
  assert_null(tutti_split_source_rows(split));
  tutti_split_destroy(split);
  assert_int_equal(
      tutti_split_create(context, "mine", 3, (struct tutti_shape){1, 1, 2}, 3, inputs, NULL, labels, &split), TUTTI_OK);
  struct tutti_targets classes = {.size = sizeof classes};
  tutti_split_all_targets(split, &classes);
  assert_int_equal(classes.kind, TUTTI_TASK_CLASSIFICATION);
  tutti_split_destroy(split);
  assert_int_equal(
      tutti_split_create(context, "mine", 3, (struct tutti_shape){1, 1, 2}, 2, inputs, NULL, labels, &split),
      TUTTI_ERROR_USAGE);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      data_test(partitions_are_exact),
      data_test(classes_are_stratified),
      data_test(small_classes_share_their_test_rows),
      data_test(files_of_rows),
      data_test(splits_without_rows),
      data_test(training_rows_are_standardised),
      data_test(other_rows_do_not_touch_the_statistics),
      data_test(fingerprints_cover_every_cell),
      data_test(constant_columns_are_harmless),
      data_test(predictions_return_to_their_units),
      data_test(splits_of_ones_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
