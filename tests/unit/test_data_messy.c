/* test_data_messy.c - tables as people have them: decimal commas, dates, cells without a value, categories that are
   rare or new, columns that say nothing. */
#include "loading.h"

#include <math.h>

static void assert_features(size_t count, const char *const *names) {
  assert_int_equal(tutti_split_input(split_of("train")).channels, count);
  for (size_t i = 0; i < count; i++)
    assert_string_equal(tutti_dataset_feature(dataset, i), names[i]);
}

static void assert_row(const tutti_split *split, size_t row, const double *expected) {
  size_t features = (size_t)tutti_split_input(split).channels;
  const float *inputs = tutti_split_inputs(split) + row * features;
  for (size_t i = 0; i < features; i++)
    if (fabs((double)inputs[i] - expected[i]) > 2e-6 * fmax(1, fabs(expected[i])))
      fail_msg("row %zu, feature %zu: found %.9g, expected %.9g", row, i, (double)inputs[i], expected[i]);
}

static void decimal_commas(void **state) {
  (void)state;
  put("a.csv", "a;b;y\n3,5;1.234,5;1,25\n4,5;2 000;2\n");
  loads(PLAIN);
  assert_row(split_of("train"), 0, (double[]){3.5, 1234.5});
  assert_row(split_of("train"), 1, (double[]){4.5, 2000});
  assert_true(tutti_split_raw_targets(split_of("train"))[0] == 1.25);
  /* a comma that parts cells is no decimal sign unless the recipe says so */
  put("a.csv", "a,b,y\n\"3,5\",\"1,234.5\",1\n\"4,5\",\"2,000\",2\n");
  loads(PLAIN);
  const char *const texts[] = {"a=3,5", "a=4,5", "b"};
  assert_features(3, texts);
  assert_row(split_of("train"), 1, (double[]){0, 1, 2000});
  loads(PLAIN "decimal=comma\nignore=b");
  assert_row(split_of("train"), 0, (double[]){3.5});
  put("a.csv", "a;y\n3.5;1\n4,5;2\n");
  refuses("expected a number as in 1 other row, found '3.5'", PLAIN "decimal=comma");
}

/* The days and turns were computed with Python's datetime. */
static void dates_become_days_and_cycles(void **state) {
  (void)state;
  static const double turn = 2 * 3.14159265358979323846;
  put("a.csv", "when,y\n2024-02-29,1\n1969-12-31,2\n2000-01-01,3\n");
  loads(PLAIN);
  const char *const names[] = {"when", "when:year-sin", "when:year-cos", "when:week-sin", "when:week-cos"};
  assert_features(5, names);
  const double days[] = {19782, -1, 10957};
  for (size_t r = 0; r < 3; r++) {
    double year = turn * (days[r] / 365.2425), week = turn * (days[r] / 7);
    assert_row(split_of("train"), r, (double[]){days[r], sin(year), cos(year), sin(week), cos(week)});
  }
  loads(PLAIN "dates=numbers");
  assert_features(1, names);
  loads(PLAIN "dates=texts");
  assert_int_equal(tutti_split_input(split_of("train")).channels, 3);
  put("a.csv", "when,y\n2024-02-29T12:00,1\n2024-03-05 18:00:00Z,2\n2024-03-11T18:30:30.5+01:30,3\n");
  loads(PLAIN);
  assert_int_equal(tutti_split_input(split_of("train")).channels, 7);
  const double times[] = {19782.5, 19787.75, 19793 + (17 * 3600 + 30.5) / 86400};
  for (size_t r = 0; r < 3; r++) {
    double year = turn * (times[r] / 365.2425), week = turn * (times[r] / 7), day = turn * times[r];
    assert_row(split_of("train"), r,
               (double[]){times[r], sin(year), cos(year), sin(week), cos(week), sin(day), cos(day)});
  }
  put("a.csv", "when,y\n31.12.1999,1\n01.01.2000,2\n");
  loads(PLAIN "dates=numbers\ndate_format=%d.%m.%Y");
  assert_row(split_of("train"), 0, (double[]){10956});
}

static void what_is_no_date_is_a_text(void **state) {
  (void)state;
  static const char *const wrong[] = {"2024-02-30", "2024-13-01",  "2024-01-01T25:00",  "2024-01-01x",
                                      "24-01-01",   "2024-01-01T", "2024-01-01T12:00+", "2024-01-01 12:61"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    char text[128];
    (void)snprintf(text, sizeof text, "when,y\n2024-01-01,1\n%s,2\n", wrong[i]);
    put("a.csv", text);
    loads(PLAIN);
    assert_string_equal(tutti_dataset_feature(dataset, 0), "when=2024-01-01");
    /* one among many is a mistake, which would turn the dates into nothing */
    (void)snprintf(text, sizeof text, "when,y\n2024-01-01,1\n2024-01-02,1\n%s,2\n", wrong[i]);
    put("a.csv", text);
    refuses("row 2, column 'when': expected a date as in 2 other rows", PLAIN);
    loads(PLAIN "dates=texts");
  }
  put("a.csv", "when,y\n2024-01-01,1\n2024-01-02,2\n");
  loads(PLAIN);
  put("b.csv", "when\n2024-01-03\ntomorrow\n");
  apply_refuses("row 1, column 'when': expected a date, written as in the training data, found 'tomorrow'", "b.csv");
}

static void dates_in_other_formats(void **state) {
  (void)state;
  char text[4096] = "when,y\n";
  put("a.csv", "when,y\n31.12.1999 12:00 +0000,1\n31.12.1989 12:00 +0600,2\n");
  loads(PLAIN "dates=numbers\ndate_format=%d.%m.%Y %H:%M %z");
  assert_row(split_of("train"), 0, (double[]){10956.5});
  assert_row(split_of("train"), 1, (double[]){7304.25});
  put("a.csv", "when,y\n31.12.1999,1\n2000-01-01T12:00:00,2\n"); /* as programs write them */
  loads(PLAIN "dates=numbers\ndate_format=%d.%m.%Y");
  assert_row(split_of("train"), 1, (double[]){10957.5});
  for (int day = 1; day <= 28; day++) /* all differ, and are of use */
    (void)snprintf(text + strlen(text), 64, "%02d.02.2001,%d\n", day, day);
  put("a.csv", text);
  loads(PLAIN "dates=numbers\ndate_format=%d.%m.%Y\nuseless=ignore");
  assert_int_equal(tutti_split_input(split_of("train")).channels, 1);
}

/* Numbers that would be read a thousand times too large or too small. */
static void numbers_of_two_conventions(void **state) {
  (void)state;
  static const char *const pairs[][2] = {
      {"1.234", "1.234,5"}, {"1,234", "1,234.5"}, {"3,5", "1,234.5"}, {"999,123", "1,234,567"}};
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    char text[128];
    (void)snprintf(text, sizeof text, "a;y\n%s;1\n%s;2\n", pairs[i][0], pairs[i][1]);
    put("a.csv", text);
    refuses("set data.decimal = comma or point", PLAIN);
  }
  put("a.csv", "a;y\n1.234;1\n1.234,5;2\n");
  loads(PLAIN "decimal=comma");
  assert_row(split_of("train"), 0, (double[]){1234});
  put("a.csv", "a;y\n1.234;1\n3,5;2\n,5;3\n"); /* 3,5 says nothing of points */
  loads(PLAIN);
  assert_row(split_of("train"), 2, (double[]){0.5});
  put("a.csv", "a;b;y\n1,2,3;3,5;1\n1,2;4,5;2\n3,4,5;5,5;3\n"); /* lists are no numbers */
  loads(PLAIN "categorical=a");
  assert_row(split_of("train"), 0, (double[]){0, 1, 0, 3.5});
  /* new rows that are written otherwise than the data */
  put("a.csv", "a;y\n1.234;1\n3,5;2\n");
  loads(PLAIN "decimal=comma");
  put("b.csv", "a,b\n84.125,1\n");
  apply_refuses("found '84.125'", "b.csv");
}

static void missing_cells_are_marked(void **state) {
  (void)state;
  put("a.csv", "a,b,c,y\n1,u,5,1\n,v,5,2\n3,,6,3\n");
  refuses("data.missing = mean fills in the training rows' mean, indicator", PLAIN);
  loads(PLAIN "missing=indicator");
  const char *const names[] = {"a", "a:missing", "b=(missing)", "b=u", "b=v", "c"};
  assert_features(6, names);
  assert_row(split_of("train"), 0, (double[]){1, 0, 0, 1, 0, 5});
  assert_row(split_of("train"), 1, (double[]){2, 1, 0, 0, 1, 5});
  assert_row(split_of("train"), 2, (double[]){3, 0, 1, 0, 0, 6});
  /* a column that had none missing is filled with the mean */
  tutti_split *split;
  put("b.csv", "a,b,c\n,,\n");
  assert_int_equal(apply("b.csv", &split), TUTTI_OK);
  assert_row(split, 0, (double[]){2, 1, 1, 0, 0, 16.0 / 3});
  tutti_split_destroy(split);
  put("a.csv", "when,y\n2024-01-01,1\n,2\n2024-01-03,3\n");
  loads(PLAIN "missing=indicator");
  assert_row(split_of("train"), 1, (double[]){19724, 0, 0, 0, 0, 1});
}

static void rows_without_a_target_may_go(void **state) {
  (void)state;
  put("a.csv", "a,y\n1,1\n2,\n,3\n");
  refuses("row 1, column 'y': the target is missing or NaN; data.missing_target = drop", PLAIN "missing=mean");
  loads(PLAIN "missing=mean\nmissing_target=drop");
  assert_int_equal(total_rows(), 2);
  assert_row(split_of("train"), 1, (double[]){1});
  /* whatever else such a row lacks */
  put("a.csv", "a,y\n1,1\n,\ninf,\n");
  loads(PLAIN "missing_target=drop");
  assert_int_equal(total_rows(), 1);
}

static void rare_categories_are_one(void **state) {
  (void)state;
  put("a.csv", "a,y\nu,1\nu,2\nv,3\nw,4\nu,5\nx,6\nx,7\n");
  loads(PLAIN "rare=2");
  const char *const names[] = {"a=(other)", "a=u", "a=x"};
  assert_features(3, names);
  assert_row(split_of("train"), 2, (double[]){1, 0, 0});
  assert_row(split_of("train"), 3, (double[]){1, 0, 0});
  assert_row(split_of("train"), 5, (double[]){0, 0, 1});
  /* and so is one that nobody has seen */
  tutti_split *split;
  put("b.csv", "a\nnew\nu\n");
  assert_int_equal(apply("b.csv", &split), TUTTI_OK);
  assert_row(split, 0, (double[]){1, 0, 0});
  assert_row(split, 1, (double[]){0, 1, 0});
  tutti_split_destroy(split);
}

/* More texts than a column may have categories, most of them rare. */
static void rare_ones_do_not_count_as_categories(void **state) {
  (void)state;
  enum { ROWS = 5000 };
  char *text = malloc(ROWS * 24 + 64);
  assert_non_null(text);
  size_t length = (size_t)sprintf(text, "a,y\nmany,1\nmany,2\nmany,3\n");
  for (int i = 0; i < ROWS; i++)
    length += (size_t)sprintf(text + length, "text%d,%d\n", i, i);
  put("a.csv", text);
  free(text);
  refuses("more than 4096 different values", PLAIN);
  loads(PLAIN "rare=2");
  const char *const names[] = {"a=(other)", "a=many"};
  assert_features(2, names);
}

/* The most frequent ones are kept; of those as frequent, the first by their texts. */
static void the_most_frequent_categories_are_kept(void **state) {
  (void)state;
  put("a.csv", "a,y\nz,1\nz,2\nz,3\nb,4\nb,5\nc,6\nc,7\nd,8\n");
  loads(PLAIN "most_categories=2");
  const char *const two[] = {"a=(other)", "a=b", "a=z"};
  assert_features(3, two);
  assert_row(split_of("train"), 5, (double[]){1, 0, 0});
  loads(PLAIN "most_categories=4");
  const char *const all[] = {"a=b", "a=c", "a=d", "a=z"};
  assert_features(4, all);
  loads(PLAIN "most_categories=3\nrare=3");
  const char *const frequent[] = {"a=(other)", "a=z"};
  assert_features(2, frequent);
}

/* A limit is a way out for columns that have too many. */
static void a_limit_serves_columns_with_too_many_categories(void **state) {
  (void)state;
  enum { ROWS = 5000 };
  char *text = malloc(ROWS * 48 + 64);
  assert_non_null(text);
  size_t length = (size_t)sprintf(text, "a,y\n");
  for (int i = 0; i < ROWS; i++)
    length += (size_t)sprintf(text + length, "text%d,%d\ntext%d,%d\n", i, i, i, i + 1);
  put("a.csv", text);
  free(text);
  refuses("data.most_categories = 100", PLAIN "rare=2");
  loads(PLAIN "rare=2\nmost_categories=2");
  const char *const names[] = {"a=(other)", "a=text0", "a=text1"};
  assert_features(3, names);
}

static void unseen_categories(void **state) {
  (void)state;
  put("a.csv", "a,y\nu,1\nv,2\n");
  put("b.csv", "a\nnew\n");
  loads(PLAIN);
  apply_refuses("expected one of: u, v; found 'new'", "b.csv");
  loads(PLAIN "unseen=other");
  tutti_split *split;
  assert_int_equal(apply("b.csv", &split), TUTTI_OK);
  assert_row(split, 0, (double[]){0, 0});
  tutti_split_destroy(split);
}

/* Of 24 rows: a constant, row numbers, texts that all differ; and columns that look alike and are of use. */
static void useless_columns_may_go(void **state) {
  (void)state;
  char text[4096] = "id,unit,key,x,back,letter,y\n";
  for (int i = 0; i < 24; i++)
    (void)snprintf(text + strlen(text), 64, "%d,m,k%d,%d,%d,%c,%d\n", 100 + i, i * 7, i * i, 24 - i, 'a' + i / 2, i);
  put("a.csv", text);
  loads(PLAIN);
  assert_string_equal(tutti_dataset_feature(dataset, 0), "id");
  loads(PLAIN "useless=ignore");
  assert_int_equal(tutti_split_input(split_of("train")).channels, 2 + 12);
  assert_string_equal(tutti_dataset_feature(dataset, 0), "x");
  assert_string_equal(tutti_dataset_feature(dataset, 1), "back");
  put("a.csv", "id,key,y\n1,a,1\n2,b,2\n"); /* two rows say too little */
  loads(PLAIN "useless=ignore");
  assert_int_equal(tutti_split_input(split_of("train")).channels, 3);
}

/* What some rows lack says whether it is there, if missing cells are an input of their own. Of 48 rows, each second has
   values: one text, one number, and texts that all differ. */
static void one_value_or_none_is_two(void **state) {
  (void)state;
  static const char *const there[] = {"flag=(missing)", "flag=X",       "one", "one:missing",
                                      "text=(missing)", "text=(other)", "x"};
  char text[4096] = "flag,one,text,unit,x,y\n";
  for (int i = 0; i < 48; i++)
    if (i % 2)
      (void)snprintf(text + strlen(text), 64, "X,1,t%d,m,%d,%d\n", i, i * i, i);
    else
      (void)snprintf(text + strlen(text), 64, ",,,m,%d,%d\n", i * i, i);
  put("a.csv", text);
  loads(PLAIN "useless=ignore\nmissing=indicator\nrare=2");
  assert_features(7, there);
  assert_row(split_of("train"), 0, (double[]){1, 0, 1, 1, 1, 0, 0});
  assert_row(split_of("train"), 1, (double[]){0, 1, 1, 0, 0, 1, 1});
  loads(PLAIN "useless=ignore\nmissing=indicator"); /* each text would be a category */
  assert_int_equal(tutti_split_input(split_of("train")).channels, 5);
  loads(PLAIN "useless=ignore\nmissing=mean");
  assert_int_equal(tutti_split_input(split_of("train")).channels, 1);
  loads(PLAIN "useless=ignore\nmissing=drop");
  assert_int_equal(tutti_split_input(split_of("train")).channels, 1);
}

/* Rows without a target teach nothing: that they lack a value, too, makes a constant no input. */
static void what_rows_without_a_target_lack_does_not_count(void **state) {
  (void)state;
  char text[4096] = "flag,id,x,y\n";
  for (int i = 0; i < 48; i++)
    if (i % 12)
      (void)snprintf(text + strlen(text), 64, "same,id%d,%d,%d\n", i, i * i % 7, i);
    else
      (void)snprintf(text + strlen(text), 64, ",,%d,\n", i);
  put("a.csv", text);
  loads(PLAIN "useless=ignore\nmissing=indicator\nrare=2\nmissing_target=drop");
  assert_int_equal(tutti_split_input(split_of("train")).channels, 1);
  assert_string_equal(tutti_dataset_feature(dataset, 0), "x");
  /* Nor does a last row of empty cells, as spreadsheets write it, make an input of the rows' numbers; a number that is
     lacking among rows with targets does. */
  for (int lacking = 0; lacking < 2; lacking++) {
    (void)snprintf(text, sizeof text, "id,x,y\n");
    for (int i = 0; i < 48; i++)
      if (lacking && i == 47)
        (void)snprintf(text + strlen(text), 64, ",%d,%d\n", i * i % 7, i);
      else
        (void)snprintf(text + strlen(text), 64, "%d,%d,%d\n", i + 1, i * i % 7, i);
    (void)snprintf(text + strlen(text), 64, ",,\n");
    put("a.csv", text);
    loads(PLAIN "useless=ignore\nmissing=mean\nmissing_target=drop");
    assert_int_equal(tutti_split_input(split_of("train")).channels, lacking ? 2 : 1);
  }
}

/* A single input that goes up by one is what the targets are a function of: years, and the middles of years. */
static void time_is_no_number_of_rows(void **state) {
  (void)state;
  for (int half = 0; half < 2; half++) {
    char text[4096] = "x,unit,y\n";
    for (int i = 0; i < 24; i++)
      (void)snprintf(text + strlen(text), 64, "%d%s,m,%d\n", 1900 + i, half ? ".5" : "", i * i);
    put("a.csv", text);
    loads(PLAIN "useless=ignore");
    assert_int_equal(tutti_split_input(split_of("train")).channels, 1);
    assert_string_equal(tutti_dataset_feature(dataset, 0), "x");
  }
  char text[4096] = "x,other,y\n"; /* beside another input, too, where it does not count in whole numbers */
  for (int i = 0; i < 24; i++)
    (void)snprintf(text + strlen(text), 64, "%d.5,%d,%d\n", 1900 + i, i % 5, i * i);
  put("a.csv", text);
  loads(PLAIN "useless=ignore");
  assert_int_equal(tutti_split_input(split_of("train")).channels, 2);
  static const struct {
    const char *name;
    int first;
    size_t inputs;
  } counts[] = {{"n", 1900, 2}, {"n", 2176, 2},    {"n", 2177, 1},      {"n", 1500, 2},  {"n", 1499, 1}, {"n", 1, 1},
                {"Year", 1, 2}, {"t (day)", 0, 2}, {"unit_time", 7, 2}, {"today", 0, 1}, {"days", 0, 1}};
  for (size_t c = 0; c < sizeof counts / sizeof counts[0]; c++) { /* years, and what is called time */
    (void)snprintf(text, sizeof text, "%s,other,y\n", counts[c].name);
    for (int i = 0; i < 25; i++)
      (void)snprintf(text + strlen(text), 64, "%d,%d,%d\n", counts[c].first + i, i % 5, i * i);
    put("a.csv", text);
    loads(PLAIN "useless=ignore");
    assert_int_equal(tutti_split_input(split_of("train")).channels, counts[c].inputs);
  }
  put("a.csv", "unit,y\nm,1\nm,2\nm,3\nm,4\nm,5\n");
  refuses("no column is left as an input: of 2, 1 is the target, and the others were left out", PLAIN "useless=ignore");
}

/* The description of the data is read back to the same encoding, and a torn one is refused. */
static void descriptions_hold_it_all(void **state) {
  (void)state;
  tutti_split *split;
  char *json;
  put("a.csv", "when,a,b,y\n2024-01-01,1,u,1\n2024-01-05,,v,2\n2024-01-09,4,v,3\n");
  loads(PLAIN "missing=indicator\nunseen=other\nrare=2");
  assert_int_equal(apply("a.csv", &split), TUTTI_OK);
  size_t features = (size_t)tutti_split_input(split).channels;
  assert_memory_equal(tutti_split_inputs(split), tutti_split_inputs(split_of("train")), 3 * features * sizeof(float));
  tutti_split_destroy(split);
  assert_int_equal(tutti_dataset_describe(context, dataset, &json), TUTTI_OK);
  static const char *const torn[][2] = {{"\"cycles\": 2", "\"cycles\": 9"},
                                        {"\"cycles\": 2", "\"circles\": 2"},
                                        {"\"date\": \"\"", "\"date\": 3"},
                                        {"\"unseen\": 1", "\"unseen\": 7"},
                                        {"\"marks_missing\": true", "\"marks_missing\": false"}};
  for (size_t i = 0; i < sizeof torn / sizeof torn[0]; i++) {
    char text[4096], path[256];
    const char *at = strstr(json, torn[i][0]);
    assert_non_null(at);
    (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(at - json), json, torn[i][1], at + strlen(torn[i][0]));
    (void)snprintf(path, sizeof path, "%s/a.csv", folder);
    assert_int_equal(tutti_dataset_apply(context, text, path, &split), TUTTI_ERROR_CORRUPT);
  }
  tutti_free(json);
}

/* A run is resumed by the fingerprint of its data, also by later versions, whose description says more. */
static void fingerprints_stay(void **state) {
  (void)state;
  char *json;
  put("a.csv", "a,b,y\n1,2,1\n2,,2\n4,5,3\n");
  loads(PLAIN "missing=mean");
  assert_int_equal(tutti_dataset_describe(context, dataset, &json), TUTTI_OK);
  assert_non_null(strstr(json, "\"whole\": true"));
  tutti_free(json);
  assert_int_equal(tutti_dataset_fingerprint(dataset), 0xc7ef411996e5ceb1);
}

int main(void) {
  const struct CMUnitTest tests[] = {data_test(decimal_commas),
                                     data_test(dates_become_days_and_cycles),
                                     data_test(what_is_no_date_is_a_text),
                                     data_test(dates_in_other_formats),
                                     data_test(numbers_of_two_conventions),
                                     data_test(missing_cells_are_marked),
                                     data_test(fingerprints_stay),
                                     data_test(rows_without_a_target_may_go),
                                     data_test(rare_categories_are_one),
                                     data_test(rare_ones_do_not_count_as_categories),
                                     data_test(the_most_frequent_categories_are_kept),
                                     data_test(a_limit_serves_columns_with_too_many_categories),
                                     data_test(unseen_categories),
                                     data_test(useless_columns_may_go),
                                     data_test(one_value_or_none_is_two),
                                     data_test(what_rows_without_a_target_lack_does_not_count),
                                     data_test(time_is_no_number_of_rows),
                                     data_test(descriptions_hold_it_all)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
