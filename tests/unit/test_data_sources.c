/* test_data_sources.c - arrays and generators as data, and new rows through the encoding of old ones. */
#include "loading.h"

#include <math.h>

#include "golden.h"
#include "plugins/source/nomu/functions.c"

static size_t function_count(void) { return sizeof functions / sizeof functions[0]; }

static void put_array(const char *name, enum tutti_element element, size_t rank, const size_t *shape,
                      const void *data) {
  char path[128];
  (void)snprintf(path, sizeof path, "%s/%s", folder, name);
  assert_int_equal(tutti_npy_write(context, path, element, rank, shape, data), TUTTI_OK);
}

/* --- arrays --- */

static void arrays(void **state) {
  (void)state;
  const float x[4][2] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
  const double y[4] = {1.5, 2.5, 3.5, 4.5};
  const int64_t labels[4] = {7, -1, 7, 10};
#define ARRAY "path=x.npy\nsplit=1 0 0\nstandardise=no\n"
  put_array("x.npy", TUTTI_F32, 2, (size_t[]){4, 2}, x);
  put_array("y.npy", TUTTI_F64, 1, (size_t[]){4}, y);
  put_array("labels.npy", TUTTI_I64, 2, (size_t[]){4, 1}, labels);
  loads(ARRAY "target_path=y.npy");
  assert_memory_equal(tutti_split_inputs(split_of("train")), x, sizeof x);
  assert_memory_equal(tutti_split_raw_targets(split_of("train")), y, sizeof y);
  loads(ARRAY); /* the last column */
  assert_true(tutti_split_raw_targets(split_of("train"))[3] == 8);
  loads(ARRAY "target=x0\nplugin=npy");
  assert_true(tutti_split_raw_targets(split_of("train"))[3] == 7);
  loads(ARRAY "target_path=labels.npy\ntask=classification");
  assert_int_equal(tutti_dataset_task(dataset)->outputs, 3);
  assert_string_equal(tutti_dataset_class(dataset, 0), "-1");
  assert_memory_equal(tutti_split_labels(split_of("train")), ((int32_t[]){1, 0, 1, 2}), 16);
  refuses("give one of the two", ARRAY "target_path=y.npy\ntarget=0");
  put_array("y.npy", TUTTI_U8, 1, (size_t[]){3}, y);
  refuses("y.npy has 3 rows, but", ARRAY "target_path=y.npy");
  put_array("y.npy", TUTTI_F32, 3, (size_t[]){2, 2, 2}, x);
  refuses("labels of", "path=y.npy"); /* images */
  put_array("y.npy", TUTTI_F32, 5, (size_t[]){1, 2, 2, 2, 1}, x);
  refuses("expected an array [rows] or [rows][columns]", "path=y.npy");
  put_array("y.npy", TUTTI_F32, 2, (size_t[]){0, 2}, x);
  refuses("0 elements", "path=y.npy");
  put("y.npy", "a,y\n1,2\n");
  refuses("other bytes", "path=y.npy");
  refuses("data.target_path: expected a file", "path=x.npy\ntarget_path=none.npy");
  const float bad[4] = {1, NAN, 3, INFINITY};
  put_array("y.npy", TUTTI_F32, 1, (size_t[]){4}, bad);
  refuses("row 1, column 'x2': the target is missing or NaN", ARRAY "target_path=y.npy");
  loads(ARRAY "target_path=labels.npy\ncategorical=0");
  assert_int_equal(tutti_dataset_task(dataset)->input.channels, 5);
}

/* --- generators --- */

static void functions_have_their_golden_values(void **state) {
  (void)state;
  static const char *const names[] = {"Abs",          "Step",        "Kink",         "Square", "Cubic",     "Sine1",
                                      "Sine2",        "Sine3",       "Forrester",    "Levy",   "Squared2D", "Levy2D",
                                      "Gfun2D",       "Goldstein2D", "Styblinski2D", "Perm2D", "Branin2D",  "Beale2D",
                                      "Rosenbrock2D", "Camel2D",     "Bukin2D"};
  json_t *golden = golden_load("nomu_functions");
  assert_int_equal(function_count(), sizeof names / sizeof names[0]);
  for (size_t f = 0; f < function_count(); f++) {
    size_t dimensions = nomu_dimensions(f), points, count;
    const json_t *group = golden_get(golden, dimensions == 1 ? "1D" : "2D");
    double *x = golden_doubles(golden_get(group, dimensions == 1 ? "x" : "X"), &points);
    double *values = golden_doubles(golden_get(golden_get(golden_get(group, "functions"), names[f]), "values"), &count);
    assert_int_equal(points, count * dimensions);
    for (size_t i = 0; i < count; i++)
      assert_close(nomu_value(f, x + i * dimensions), values[i], 1e-12, 1e-14);
    free(x);
    free(values);
  }
  json_decref(golden);
}

static void every_generator_loads(void **state) {
  (void)state;
  for (size_t f = 0; f < function_count(); f++) {
    char parameters[96];
    size_t dimensions = nomu_dimensions(f);
    (void)snprintf(parameters, sizeof parameters, "plugin=nomu\nfunction=%s\nstandardise=no\nsplit=3 1 0",
                   nomu_names[f]);
    loads(parameters);
    const tutti_split *train = split_of("train"), *test = split_of("test");
    assert_string_equal(tutti_dataset_target(dataset, 0), "y");
    assert_string_equal(tutti_dataset_feature(dataset, dimensions - 1), dimensions == 1 ? "x0" : "x1");
    assert_int_equal(tutti_split_rows(train), dimensions == 1 ? 6 : 12);
    assert_int_equal(tutti_split_rows(test), dimensions == 1 ? 200 : 196);
    for (size_t i = 0; i < tutti_split_rows(train); i++) {
      double at[2] = {tutti_split_inputs(train)[i * dimensions],
                      tutti_split_inputs(train)[i * dimensions + dimensions - 1]};
      assert_true(fabs(at[0]) <= 1 && fabs(at[1]) <= 1);
      assert_true(f == 1 || fabs(tutti_split_raw_targets(train)[i] - nomu_value(f, at)) < 1e-4);
    }
    const float *first = tutti_split_inputs(test), *last = first + (tutti_split_rows(test) - 1) * dimensions;
    for (size_t d = 0; d < dimensions; d++)
      assert_true(first[d] == -1 && last[d] == 1);
  }
  refuses("reads no file", "plugin=nomu\nfunction=abs\npath=a.csv");
  refuses("data.noise: toy-sine takes", "plugin=toy-sine\nnoise=1 2 3");
  refuses("data.box", "plugin=nomu\nfunction=abs\nbox=1 -1");
  refuses("data.box", "plugin=nomu\nfunction=abs\nbox=1");
  loads("plugin=nomu\nfunction=cubic\nbox=-2 0\nrows=50\ntest_points=3\nstandardise=no");
  assert_memory_equal(tutti_split_raw_targets(split_of("test")), ((double[]){-8, -1, 0}), 24);
  loads("plugin=nomu\nfunction=cubic\nbox=-3 1\ntest_points=1\nstandardise=no");
  assert_true(tutti_split_inputs(split_of("test"))[0] == -1);
}

/* Residuals of rows on one side of 0. */
static double variance_of_noise(const tutti_split *split, bool right) {
  double sum = 0, count = 0;
  for (size_t i = 0; i < tutti_split_rows(split); i++) {
    double x = tutti_split_inputs(split)[i];
    double noise = tutti_split_raw_targets(split)[i] - 2 * sin(x);
    if ((x > 0) == right) {
      assert_true(fabs(x) >= 20 && fabs(x) <= 30);
      sum += noise * noise;
      count++;
    }
  }
  assert_true(count > 1000);
  return sum / count;
}

static void toy_sine_is_autodeuqs(void **state) {
  (void)state;
  loads("plugin=toy-sine\nrows=30000\nsplit=2 1 0\nstandardise=no");
  assert_int_equal(tutti_split_rows(split_of("train")), 20000);
  assert_int_equal(tutti_split_rows(split_of("validation")), 10000);
  assert_int_equal(tutti_split_rows(split_of("test")), 200);
  /* the standard error of a variance over 10000 draws is 1.4 % */
  assert_true(fabs(variance_of_noise(split_of("train"), false) / 0.25 - 1) < 0.06);
  assert_true(fabs(variance_of_noise(split_of("train"), true) - 1) < 0.06);
  const tutti_split *test = split_of("test");
  assert_true(tutti_split_inputs(test)[0] == -40 && tutti_split_inputs(test)[199] == 40);
  for (size_t i = 0; i < 200; i++) {
    double x = -40 + 80 * (double)i / 199;
    assert_true(fabs(tutti_split_raw_targets(test)[i] - 2 * sin(x)) < 1e-12);
  }
  loads("plugin=toy-sine\nrows=30000\nsplit=2 1 0\nstandardise=no\nnoise=4");
  assert_true(fabs(variance_of_noise(split_of("train"), false) / 4 - 1) < 0.06);
  uint64_t fingerprint = tutti_dataset_fingerprint(dataset);
  loads("plugin=toy-sine\nrows=30000\nsplit=2 1 0\nstandardise=no\nnoise=4\nsplit_seed=5");
  assert_true(tutti_dataset_fingerprint(dataset) != fingerprint);
}

/* --- fingerprints --- */

/* Runs are on the same data if their fingerprints are equal: across versions, and however the source is named. */
static void fingerprints_last(void **state) {
  (void)state;
  const uint64_t of_version_0_1 = 0xe1fc752a658a1645;
  put("a.csv", "a,colour,y\n1,red,10\n3.5,blue,20\n2,red,5\n-1,green,7.25\n4,blue,1e3\n0.125,red,3\n");
  loads("path=a.csv\nsplit=4 2 0\nstandardise=no");
  assert_true(tutti_dataset_fingerprint(dataset) == of_version_0_1);
  loads("plugin=csv\ndelimiter=comma\npath=a.csv\nsplit=4 2 0\nstandardise=no");
  assert_true(tutti_dataset_fingerprint(dataset) == of_version_0_1);
  loads("path=a.csv\nsplit=4 2 0\nstandardise=no\nsplit_seed=2");
  assert_true(tutti_dataset_fingerprint(dataset) != of_version_0_1);
}

/* --- new rows --- */

static void assert_rows(const char *file, size_t rows, const float *inputs, bool targets) {
  tutti_split *split;
  if (apply(file, &split) != TUTTI_OK)
    fail_msg("%s: %s", file, tutti_error_message(context));
  assert_int_equal(tutti_split_rows(split), rows);
  size_t features = (size_t)tutti_split_input(split).channels;
  for (size_t i = 0; i < rows * features; i++)
    assert_true(fabsf(tutti_split_inputs(split)[i] - inputs[i]) < 1e-6f);
  bool labels = tutti_dataset_task(dataset)->kind == TUTTI_TASK_CLASSIFICATION;
  assert_int_equal(targets, (labels ? (const void *)tutti_split_labels(split) : tutti_split_targets(split)) != NULL);
  assert_int_equal(labels, tutti_split_target_scale(split) == NULL);
  tutti_split_destroy(split);
}

static void columns_are_matched_by_name(void **state) {
  (void)state;
  put("a.csv", "a,colour,y,id\n1,red,10,u\n3,blue,20,v\n");
  loads("path=a.csv\ntarget=y\nignore=id\nsplit=1 0 0");
  const float inputs[] = {-1, 0, 1, 1, 1, 0};
  assert_memory_equal(tutti_split_inputs(split_of("train")), inputs, sizeof inputs);
  assert_rows("a.csv", 2, inputs, true);
  put("b.csv", "extra,colour,a\n7,red,1\n8,blue,3\n");
  assert_rows("b.csv", 2, inputs, false);
  put("b.csv", "y,colour,a\n,red,1\n?,blue,3\n"); /* targets to be filled in */
  assert_rows("b.csv", 2, inputs, false);
  put("b.csv", "y,colour,a\n1,red,1\n?,blue,3\n"); /* some of them */
  assert_rows("b.csv", 2, inputs, false);
  put("b.csv", "y,colour,a\n1,red,1\ntwo,blue,3\n");
  apply_refuses("row 1, column 'y': expected a finite number as target", "b.csv");
  put("b.csv", "color,a\nred,1\n");
  apply_refuses("there is no 'colour'; is it 'color'?", "b.csv");
  put("b.csv", "colours,colour\nred,blue\n"); /* not what is an input itself */
  apply_refuses("training data; there is no 'a'", "b.csv");
  if (strstr(tutti_error_message(context), "is it"))
    fail_msg("found '%s'", tutti_error_message(context));
  put("b.csv", "COLOUR,A\nred,1\n");
  apply_refuses("there is no 'a'; is it 'A'?", "b.csv");
  put("b.csv", "1,red,2,z\n");
  apply_refuses("found numbers in the first line, and no other line", "b.csv");
  put("b.csv", "1,red,2,z\n1,red,2,z\n");
  apply_refuses("expected a header with the 2 input columns", "b.csv");
  put("b.csv", "colour,a\ngreen,1\n");
  apply_refuses("b.csv:2: row 0, column 'colour': expected one of: blue, red; found 'green'", "b.csv");
  put("b.csv", "colour,a\nred,x\n");
  apply_refuses("expected a number, found 'x'", "b.csv");
  put("b.csv", "colour,a\nred,inf\n");
  apply_refuses("expected a finite number", "b.csv");
  put("b.csv", "colour,a\nred,NA\n");
  apply_refuses("only data that were loaded with data.missing = mean or indicator may lack some", "b.csv");
  loads("path=a.csv\ntarget=y\nignore=id\nsplit=1 0 0\nmissing=mean");
  assert_rows("b.csv", 1, (float[]){0, 0, 1}, false);
  apply_refuses("cannot open", "c.csv");
}

static void columns_are_matched_by_position(void **state) {
  (void)state;
  put("a.csv", "1,10,2\n3,20,6\n");
  loads("path=a.csv\ntarget=1\nsplit=1 0 0");
  assert_rows("a.csv", 2, (float[]){-1, -1, 1, 1}, true);
  put("b.csv", "2,4\n1,6\n");
  assert_rows("b.csv", 2, (float[]){0, 0, -1, 1}, false);
  put_array("b.npy", TUTTI_F64, 2, (size_t[]){2, 2}, (double[]){2, 4, 1, 6});
  assert_rows("b.npy", 2, (float[]){0, 0, -1, 1}, false);
  put("b.csv", "u,v\n2,4\n1,6\n"); /* a header where there was none */
  assert_rows("b.csv", 2, (float[]){0, 0, -1, 1}, false);
  put("b.csv", "1\n2\n");
  apply_refuses("expected 3 columns as in the training data, 2 without the targets, or the 2 inputs alone; found 1",
                "b.csv");
}

static void classes_are_known(void **state) {
  (void)state;
  tutti_split *split;
  put("a.csv", "a,y\n1,cat\n3,dog\n");
  loads("path=a.csv\nsplit=1 0 0");
  put("b.csv", "y,a\ndog,1\ncat,2\n");
  assert_int_equal(apply("b.csv", &split), TUTTI_OK);
  assert_memory_equal(tutti_split_labels(split), ((int32_t[]){1, 0}), 8);
  assert_int_equal(tutti_split_outputs(split), 2);
  tutti_split_destroy(split);
  put("b.csv", "y,a\ncow,1\n");
  apply_refuses("expected one of: cat, dog; found 'cow'", "b.csv");
}

static void torn_descriptions_are_refused(void **state) {
  (void)state;
  char *json, path[128], bare[128];
  struct tutti_random random;
  tutti_split *split;
  put("a.csv", "a,colour,y\n1,red,10\n3,blue,20\n2,red,5\n");
  put("bare.csv", "1,red\n3,blue\n");
  (void)snprintf(path, sizeof path, "%s/a.csv", folder);
  (void)snprintf(bare, sizeof bare, "%s/bare.csv", folder);
  loads("path=a.csv\nsplit=1 0 0");
  assert_int_equal(tutti_dataset_describe(context, dataset, &json), TUTTI_OK);
  size_t length = strlen(json), torn = 0;
  tutti_random_init(&random, 3, "mutations", 0);
  for (int i = 0; i < 1000; i++) {
    char *bytes = strdup(json);
    for (uint64_t m = 1 + tutti_random_below(&random, 3); m > 0; m--)
      bytes[tutti_random_below(&random, length)] = "0123456789-{}[]\",:.e"[tutti_random_below(&random, 20)];
    enum tutti_status status = tutti_dataset_apply(context, bytes, path, &split);
    assert_true(status == TUTTI_OK || status == TUTTI_ERROR_CORRUPT || status == TUTTI_ERROR_USAGE);
    torn += status == TUTTI_ERROR_CORRUPT;
    tutti_split_destroy(split);
    /* Without the target's column, positions move up. */
    status = tutti_dataset_apply(context, bytes, bare, &split);
    assert_true(status == TUTTI_OK || status == TUTTI_ERROR_CORRUPT || status == TUTTI_ERROR_USAGE);
    tutti_split_destroy(split);
    free(bytes);
  }
  assert_true(torn > 300);
  static const char *const wrong[][2] = {{"\"position\": 2", "\"position\": 3"},
                                         {"[\"blue\", \"red\"]", "[\"red\", \"blue\"]"},
                                         {"[\"blue\", \"red\"]", "[\"blue\", \"blue\"]"},
                                         {"\"version\": 3", "\"version\": 2"},
                                         {"\"plugin\": \"csv\"", "\"plugin\": null"},
                                         {"\"header\": \"auto\"", "\"header\": 1"},
                                         {"\"position\": 0", "\"position\": 2"},
                                         {"\"position\": 1", "\"position\": 0"},
                                         {"\"columns\": 3", "\"columns\": 2"}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    char *bytes = calloc(1, length + 16), *at = strstr(json, wrong[i][0]);
    assert_non_null(at);
    (void)sprintf(bytes, "%.*s%s%s", (int)(at - json), json, wrong[i][1], at + strlen(wrong[i][0]));
    assert_int_equal(tutti_dataset_apply(context, bytes, path, &split), TUTTI_ERROR_CORRUPT);
    assert_int_equal(tutti_dataset_apply(context, bytes, bare, &split), TUTTI_ERROR_CORRUPT);
    free(bytes);
  }
  assert_int_equal(tutti_dataset_apply(context, "[]", path, &split), TUTTI_ERROR_CORRUPT);
  assert_int_equal(tutti_dataset_apply(context, "", path, &split), TUTTI_ERROR_CORRUPT);
  tutti_free(json);
}

static void the_tables_are_sound(void **state) {
  (void)state;
  assert_int_equal(tutti_params_check(context, tutti_data_params()), TUTTI_OK);
  assert_int_equal(tutti_params_check(context, tutti_head_params()), TUTTI_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      data_test(arrays),
      data_test(functions_have_their_golden_values),
      data_test(every_generator_loads),
      data_test(toy_sine_is_autodeuqs),
      data_test(fingerprints_last),
      data_test(columns_are_matched_by_name),
      data_test(columns_are_matched_by_position),
      data_test(classes_are_known),
      data_test(torn_descriptions_are_refused),
      data_test(the_tables_are_sound),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
