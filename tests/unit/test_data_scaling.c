/* test_data_scaling.c - data.scaling and data.bins: what numbers become, against NumPy's quantile, unique and interp
   and Python's NormalDist; ties, constant columns, missing cells, values beyond the training rows; what is refused. */
#include "loading.h"

#include <math.h>

/* Ties, and one value that is far from the others. */
#define TABLE "x,y\n1,1\n2,2\n2,3\n4,4\n7,5\n7,6\n7,7\n40,8\n"
#define ALL "split=1 0 0\npath=a.csv\n"

static void assert_inputs(const tutti_split *split, size_t count, const double *expected) {
  size_t features = (size_t)tutti_split_input(split).channels;
  const float *inputs = tutti_split_inputs(split);
  assert_int_equal(tutti_split_rows(split) * features, count);
  for (size_t i = 0; i < count; i++)
    if (!(fabs((double)inputs[i] - expected[i]) <= 1e-6 * fmax(1, fabs(expected[i]))))
      fail_msg("row %zu, feature %zu: found %.9g, expected %.9g", i / features, i % features, (double)inputs[i],
               expected[i]);
}

static void assert_applied(const char *text, size_t count, const double *expected) {
  tutti_split *split;
  put("new.csv", text);
  if (apply("new.csv", &split) != TUTTI_OK)
    fail_msg("%s", tutti_error_message(context));
  assert_inputs(split, count, expected);
  tutti_split_destroy(split);
}

static void robust_scales_by_quartiles(void **state) {
  (void)state;
  put("a.csv", TABLE);
  loads(ALL "scaling=robust");
  assert_inputs(split_of("train"), 8,
                (double[]){-0.862043657, -0.681688847, -0.681688847, -0.298511157, 0.298511157, 0.298511157,
                           0.298511157, 2.75121017});
  /* new values saturate at 3, however far they are */
  assert_applied("x\n-5\n1.5\n3\n1e300\n-1e300\n", 5, (double[]){-1.72038703, -0.772987952, -0.493196962, 3, -3});
  /* targets are standardised */
  assert_true(fabs(tutti_split_target_shift(split_of("train"))[0] - 4.5) < 1e-12);
  /* quartiles that are equal: half of the range; a constant: 1 */
  put("a.csv", "x,c,y\n0,5,1\n3,5,2\n3,5,3\n3,5,4\n3,5,5\n7,5,6\n");
  loads(ALL "scaling=robust");
  double low = -3 / 3.5, high = 4 / 3.5;
  low /= sqrt(1 + low * low / 9);
  high /= sqrt(1 + high * high / 9);
  assert_inputs(split_of("train"), 12, (double[]){low, 0, 0, 0, 0, 0, 0, 0, 0, 0, high, 0});
  assert_applied("x,c\n3,6\n", 2, (double[]){0, 1 / sqrt(1 + 1.0 / 9)});
}

static void quantiles_become_normal(void **state) {
  (void)state;
  put("a.csv", TABLE);
  loads(ALL "scaling=quantile-normal");
  assert_inputs(split_of("train"), 8,
                (double[]){-1.53412054, -0.67448975, -0.67448975, -0.157310685, 0.488776411, 0.488776411, 0.488776411,
                           1.53412054});
  assert_applied("x\n-5\n1.5\n3\n1e300\n", 4, (double[]){-1.53412054, -1.10430515, -0.415900217, 1.53412054});
}

static void quantiles_become_uniform(void **state) {
  (void)state;
  put("a.csv", TABLE);
  loads(ALL "scaling=quantile-uniform");
  assert_inputs(split_of("train"), 8,
                (double[]){-1.51554446, -0.866025404, -0.866025404, -0.216506351, 0.649519053, 0.649519053, 0.649519053,
                           1.51554446});
  assert_applied("x\n-5\n1.5\n3\n1e300\n", 4, (double[]){-1.51554446, -1.19078493, -0.541265877, 1.51554446});
}

static void fewer_points_are_straight_lines(void **state) {
  (void)state;
  put("a.csv", "x,y\n0,1\n1,2\n4,3\n9,4\n16,5\n25,6\n36,7\n49,8\n64,9\n81,10\n100,11\n");
  loads(ALL "scaling=quantile-normal\nquantiles=4");
  assert_inputs(split_of("train"), 11,
                (double[]){-1.69062163, -1.55530691, -1.14936274, -0.472789121, -0.290614578, -0.0563901648,
                           0.229884118, 0.526596425, 0.868956779, 1.25696518, 1.69062163});
}

static void constants_and_missing_cells(void **state) {
  (void)state;
  /* the mean of 1, 2 and 9 stands for the missing cell, and is scaled like any number */
  put("a.csv", "x,c,y\n1,5,1\n2,5,2\n,5,3\n9,5,4\n");
  loads(ALL "scaling=quantile-uniform\nmissing=indicator");
  double third = sqrt(12) / 3, filled = third * (4 - 2) / 7;
  assert_inputs(split_of("train"), 12, (double[]){-third, 0, 0, 0, 0, 0, filled, 1, 0, third, 0, 0});
  assert_applied("x,c\n,6\n", 3, (double[]){filled, 1, 0}); /* whatever a constant column becomes later */
  loads(ALL "scaling=robust\nmissing=mean");
  double z[] = {-1, 0, 2, 7}; /* less the median; quartiles of 1, 2, 9: 1.5 and 5.5 */
  double expected[8] = {0};
  for (size_t i = 0; i < 4; i++)
    expected[2 * i] = z[i] / 4 / sqrt(1 + z[i] * z[i] / 16 / 9);
  assert_inputs(split_of("train"), 8, expected);
}

static void numbers_get_bins(void **state) {
  (void)state;
  put("a.csv", TABLE);
  loads(ALL "bins=4\nstandardise=no");
  assert_int_equal(tutti_split_input(split_of("train")).channels, 5);
  assert_string_equal(tutti_dataset_feature(dataset, 0), "x");
  assert_string_equal(tutti_dataset_feature(dataset, 1), "x:bin0");
  assert_string_equal(tutti_dataset_feature(dataset, 4), "x:bin3");
  assert_inputs(split_of("train"), 40, (double[]){1, 0, 0, 0, 0, 2, 1, 0, 0, 0, 2, 1, 0, 0, 0, 4,  1, 4 / 7.0, 0, 0,
                                                  7, 1, 1, 1, 0, 7, 1, 1, 1, 0, 7, 1, 1, 1, 0, 40, 1, 1,       1, 1});
  assert_applied("x\n-5\n1000\n1.5\n", 15, (double[]){-5, 0, 0, 0, 0, 1000, 1, 1, 1, 1, 1.5, 0.5, 0, 0, 0});
  /* beside whatever the number becomes; equal edges are one, and no bins are left of two values or one */
  put("a.csv", "x,two,c,t,y\n1,0,5,u,1\n1,1,5,v,2\n1,0,5,u,3\n2,1,5,v,4\n3,0,5,u,5\n");
  loads(ALL "bins=4\nscaling=robust");
  const char *const names[] = {"x", "two", "c", "t=u", "t=v", "x:bin0", "x:bin1"};
  assert_int_equal(tutti_split_input(split_of("train")).channels, 7);
  for (size_t i = 0; i < 7; i++)
    assert_string_equal(tutti_dataset_feature(dataset, i), names[i]);
  assert_int_equal(tutti_task_plain_features(tutti_dataset_task(dataset)), 5);
  /* bins come behind all other features */
  put("a.csv", "when,y\n2024-01-01,1\n2024-01-02,2\n,3\n2024-01-09,4\n");
  loads(ALL "bins=2\nmissing=indicator");
  assert_string_equal(tutti_dataset_feature(dataset, 4), "when:week-cos");
  assert_string_equal(tutti_dataset_feature(dataset, 5), "when:missing");
  assert_string_equal(tutti_dataset_feature(dataset, 6), "when:bin0");
  const float *third = tutti_split_inputs(split_of("train")) + (size_t)2 * 8; /* the mean, 4 January */
  assert_true(third[5] == 1 && third[6] == 1 && fabs((double)third[7] - 2 / 7.0) < 1e-6);
}

/* Validation and test rows say nothing of the scale; with folds, all rows of the pool do. */
static void training_rows_alone_count(void **state) {
  (void)state;
  char text[4096] = "x,y\n";
  for (int i = 0; i < 40; i++)
    (void)snprintf(text + strlen(text), 32, "%d,%d\n", i < 20 ? i : 1000 + i, i);
  put("a.csv", text);
  static const char *const scalings[] = {"robust", "quantile-normal", "quantile-uniform"};
  static const double half[] = {0, -1.95996398, -1.64544827}; /* of row 0 among 20, where ranks are asked for */
  for (size_t s = 0; s < 3; s++) {
    char parameters[256];
    (void)snprintf(parameters, sizeof parameters, "split=1 1 0\nsplit_order=file\npath=a.csv\nscaling=%s", scalings[s]);
    loads(parameters);
    const float *test = tutti_split_inputs(split_of("validation")), *train = tutti_split_inputs(split_of("train"));
    assert_true(test[19] == test[0] || s == 0); /* beyond the last quantile */
    assert_true(s == 0 ? test[19] > 2.99F : fabs((double)train[0] - half[s]) < 1e-6);
    (void)snprintf(parameters, sizeof parameters, "split=1 1 0\nsplit_order=file\npath=a.csv\nscaling=%s\nfolds=2",
                   scalings[s]);
    loads(parameters);
    assert_int_equal(tutti_split_rows(split_of("train")), 40);
    test = tutti_split_inputs(split_of("validation"));
    assert_true(test[39] > test[20] && test[39] < 2.9F);
  }
}

static void what_cannot_be(void **state) {
  (void)state;
  put("a.csv", TABLE);
  refuses("data.scaling says how inputs are scaled, and data.standardise = no that they are not",
          ALL "scaling=robust\nstandardise=no");
  put("a.csv", "x,y\n1e200,1\n-1e200,2\n0,3\n");
  refuses("too large or too close to be standardised", ALL "scaling=quantile-normal");
  put("a.csv", TABLE);
  loads(ALL "scaling=quantile-normal");
  put("new.csv", "x\nmany\n");
  apply_refuses("expected a number, found 'many'", "new.csv");
  put("new.csv", "x\ninf\n");
  apply_refuses("expected a finite number, found infinity", "new.csv");
}

/* Descriptions that are torn where scales are. */
static void torn_descriptions(void **state) {
  (void)state;
  static const char *const torn[][3] = {{"scaling=quantile-normal", "\"knots\": [1, 2,", "\"knots\": [2, 2,"},
                                        {"scaling=quantile-normal", "\"knots\": [1, 2,", "\"knots\": [1,"},
                                        {"scaling=quantile-normal", "\"knots\": [1, 2,", "\"knots\": [1, \"2\","},
                                        {"scaling=quantile-normal", "\"levels\": [-1", "\"levels\": [-0"},
                                        {"scaling=quantile-normal", "\"levels\"", "\"labels\""},
                                        {"scaling=quantile-normal", "\"knots\"", "\"knits\""},
                                        {"scaling=robust", "\"clip\": 3", "\"clip\": 0"},
                                        {"scaling=robust", "\"clip\": 3", "\"clip\": \"3\""},
                                        {"bins=4", "\"edges\": [1,", "\"edges\": [2,"},
                                        {"bins=4", "\"edges\": [1,", "\"edges\": ["}, /* shift has more numbers */
                                        {"bins=4", "\"edges\"", "\"hedges\""},
                                        {"bins=4", "\"version\": 4", "\"version\": 5"}};
  put("a.csv", TABLE);
  for (size_t i = 0; i < sizeof torn / sizeof torn[0]; i++) {
    char text[4096], path[256], *json;
    tutti_split *split;
    (void)snprintf(text, sizeof text, ALL "%s", torn[i][0]);
    loads(text);
    assert_int_equal(tutti_dataset_describe(context, dataset, &json), TUTTI_OK);
    const char *at = strstr(json, torn[i][1]);
    if (!at)
      fail_msg("%s: no %s in %s", torn[i][0], torn[i][1], json);
    (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(at - json), json, torn[i][2], at + strlen(torn[i][1]));
    (void)snprintf(path, sizeof path, "%s/a.csv", folder);
    if (tutti_dataset_apply(context, text, path, &split) != TUTTI_ERROR_CORRUPT)
      fail_msg("%s, with %s: expected a refusal", torn[i][0], torn[i][2]);
    tutti_free(json);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {data_test(robust_scales_by_quartiles),
                                     data_test(quantiles_become_normal),
                                     data_test(quantiles_become_uniform),
                                     data_test(fewer_points_are_straight_lines),
                                     data_test(constants_and_missing_cells),
                                     data_test(numbers_get_bins),
                                     data_test(training_rows_alone_count),
                                     data_test(what_cannot_be),
                                     data_test(torn_descriptions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
