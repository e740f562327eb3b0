/* test_data_application.c - new rows, of files and of applications, are read as the training data are written. */
#include "loading.h"

#include <math.h>
#include <tutti/hosting.h>

/* What the source csv with these parameters, as in "decimal=comma strip=$,%", says of a word; NULL: nothing. */
static const char *reworded(const char *parameters, const char *word) {
  static char meaning[TUTTI_SOURCE_WORD_ROOM];
  struct tutti_host_facts facts = {.size = sizeof facts};
  char copy[128], *rest;
  tutti_host *host;
  tutti_source *source;
  bool other;
  (void)snprintf(copy, sizeof copy, "%s", parameters);
  assert_int_equal(tutti_host_create(context, &facts, &host), TUTTI_OK);
  assert_int_equal(tutti_host_put(context, host, "data", TUTTI_KIND_SOURCE, "csv"), TUTTI_OK);
  for (char *key = strtok_r(copy, "\n", &rest); key; key = strtok_r(NULL, "\n", &rest)) {
    char *value = strchr(key, '=');
    *value = '\0';
    assert_int_equal(tutti_host_set(context, host, "data", key, value + 1), TUTTI_OK);
  }
  struct tutti_source_setup setup = {.size = sizeof setup, .host = host};
  assert_int_equal(tutti_source_create(context, host, "data", &setup, &source), TUTTI_OK);
  assert_int_equal(tutti_source_reword(context, source, word, meaning, &other), TUTTI_OK);
  tutti_source_destroy(source);
  tutti_host_destroy(host);
  return other ? meaning : NULL;
}

static void words_of_an_application(void **state) {
  (void)state;
  static const char signs[] = "delimiter=comma\nstrip=$ %\nmissing_marks=- -999";
  static const struct {
    const char *parameters, *word, *meaning;
  } cases[] = {
      {"delimiter=comma", "1,234", "1234"},
      {"delimiter=comma", "1,234.5", "1234.5"},
      {"delimiter=comma", "3,5", NULL},
      {"delimiter=comma", "$5", NULL},
      {"delimiter=comma", "", NULL},
      {"delimiter=comma", "a text", NULL},
      {"delimiter=semicolon", "1,234", "1.234"},
      {"delimiter=semicolon", "3,5", "3.5"},
      {"delimiter=semicolon", "1.234,5", "1234.5"},
      {"delimiter=semicolon\ndecimal=point", "1,234", "1234"},
      {"delimiter=semicolon\ndecimal=point", "3,5", "3.5"}, /* nothing else can be meant */
      {"delimiter=semicolon\ndecimal=comma", "1.234", "1234"},
      {"delimiter=semicolon\ndecimal=comma", "1,234.5", "1234.5"},
      {"delimiter=semicolon\ndecimal=comma", "1.056.789", "1056789"},
      /* It is not known what separates the cells. */
      {"", "1,234", NULL},
      {"strip=$", "$1,234", NULL},
      {"strip=$", "$1,234.5", "1234.5"},
      {"", "1,234,567", "1234567"},
      {"", "1'234", "1234"},
      {"", "3,5", "3.5"},
      {"decimal=point", "1,234", "1234"},
      {"decimal=comma", "1,234", "1.234"},
      {"decimal=comma\nstrip=$", "$1.234", "1234"},
      {"decimal=comma", "1.500e3", NULL}, /* hardly 1500e3 */
      {"decimal=comma", "1.500,5e3", "1500.5e3"},
      {"decimal=comma\nstrip=$\ndelimiter=comma", "$1.234", NULL}, /* the file would be another */
      {signs, "$2,451.18", "2451.18"},
      {signs, "-5 %", "-5"},
      {signs, "$", NULL},
      {signs, "-", ""},
      {signs, "-999", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *meaning = reworded(cases[i].parameters, cases[i].word);
    if (!meaning != !cases[i].meaning || (meaning && strcmp(meaning, cases[i].meaning) != 0))
      fail_msg("'%s' with %s: expected '%s', found '%s'", cases[i].word, cases[i].parameters,
               cases[i].meaning ? cases[i].meaning : "nothing", meaning ? meaning : "nothing");
  }
}

/* Rows in memory, with two inputs and a target, are read as the file was; a copy of them is, so that they stay. */
static void rows_of_an_application(void **state) {
  (void)state;
  static const char *const words[2][3] = {{"$1,234", "true", "7 %"}, {"-", "True", "8"}};
  const bool truths[2] = {false, true};
  tutti_rows *rows;
  tutti_split *split;
  put("a.csv", "a,b,y\n\"$1,000\",true,1 %\n-,false,2 %\n$500,true,3 %\n");
  loads(PLAIN "strip=$ %\nmissing_marks=-\nmissing=mean");
  for (int by_name = 0; by_name < 2; by_name++) {
    assert_int_equal(tutti_rows_create(context, "here", &rows), TUTTI_OK);
    for (size_t c = 0; c < 3; c++)
      assert_int_equal(tutti_rows_add_column(context, rows, by_name ? (const char *[]){"a", "b", "y"}[c] : NULL),
                       TUTTI_OK);
    assert_int_equal(tutti_rows_add_truths(context, rows, 1, 2, truths), TUTTI_OK);
    for (size_t r = 0; r < 2; r++)
      for (size_t c = 0; c < 3; c += 2)
        assert_int_equal(tutti_rows_add_cell(context, rows, c, words[r][c]), TUTTI_OK);
    assert_int_equal(tutti_dataset_encode(context, dataset, rows, &split), TUTTI_OK);
    assert_memory_equal(tutti_split_inputs(split), ((float[]){1234, 1, 0, 750, 0, 1}), 6 * sizeof(float));
    assert_true(tutti_split_raw_targets(split)[0] == 7 && tutti_split_raw_targets(split)[1] == 8);
    assert_string_equal(tutti_rows_text(rows, 0, 0), "$1,234");
    tutti_split_destroy(split);
    tutti_rows_destroy(rows);
  }
}

/* A file of one row with these cells and the header of a.csv, read as new: its first input; NAN: it is refused. */
static double first_of(const char *cells) {
  char text[128];
  tutti_split *split;
  (void)snprintf(text, sizeof text, "%s%s\n",
                 strchr(cells, '\t')  ? "a\tb\n"
                 : strchr(cells, ';') ? "a;b\n"
                                      : "a,b\n",
                 cells);
  put("b.csv", text);
  if (apply("b.csv", &split) != TUTTI_OK)
    return NAN;
  double first = tutti_split_inputs(split)[0];
  tutti_split_destroy(split);
  return first;
}

/* A number that may be read in two ways is what it would be in the training file; others are what they are. */
static void new_files_are_written_as_the_data(void **state) {
  (void)state;
  static const struct {
    const char *data, *settled, *cells;
    double first;
  } cases[] = {
      {"a;b;y\n1.234,5;2;3\n4,5;5;6\n", "\"decimal\": \"comma\"", "12.345;2", 12345},
      {NULL, NULL, "12.345,00;2", 12345},
      {NULL, NULL, "1.056.789;2", 1056789},
      {NULL, NULL, "-12.345;2", -12345},
      {NULL, NULL, "12.345\t2", 12345},
      {NULL, NULL, "12,345;2", 12.345F},
      {NULL, NULL, "12345.5;2", 12345.5}, /* with a warning */
      {NULL, NULL, "0.125;2", .125},
      {NULL, NULL, "1,234.5;2", 1234.5},
      {NULL, NULL, "1.234e3;2", 1234},
      {NULL, NULL, "12.345;2.5", NAN}, /* which one is it? */
      {NULL, NULL, "12.345,2", NAN},   /* another layout */
      {NULL, NULL, "12.5,2", 12.5},
      {"a\tb\ty\n1,234.5\t2\t3\n4\t5\t6\n", "\"decimal\": \"point\"", "12,345\t2", 12345},
      {NULL, NULL, "12,345.00;2", 12345},
      {NULL, NULL, "12.345;2", 12.345F},
      {NULL, NULL, "3,5;2", 3.5},
      {NULL, NULL, "12,345;2,5", NAN},
      {NULL, NULL, "\"12,345\",2", 12345},
      {"a;b;y\n1.5;2;3\n4;5;6\n", "\"decimal\": \"point\"", "12,345;2", 12345},
      {"a,b,y\n\"1,234\",2,3\n4.5,5,6\n", "\"decimal\": \"point\"", "12,345;2", 12345},
      {"a,b,y\n1,2,3\n4.5,5,6\n", NULL, "12,345;2", 12.345F},
      /* Nothing is settled where the file has both signs, or would have been read otherwise. */
      {"a;b;y\n1,5;2;3\n4;5.5;6\n", NULL, "12.345;2", 12.345F},
      {"a;b;y\n1,5;2;3\n4;5.125;6\n", NULL, "12.345;2", 12.345F},
      {"a;b;y\n1,5;10.100.200.128;3\n4;10.100.200.129;6\n", NULL, "12.345;10.100.200.128", 12.345F},
      {"a;b;y\n1.5;2;3\n4;5,125;6\n", NULL, "12,345;2", 12.345F},
      {"a;b;y\n1;2;3\n4;5;6\n", NULL, "12,345;2", 12.345F},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char *json;
    if (cases[i].data) {
      put("a.csv", cases[i].data);
      loads(PLAIN);
      assert_int_equal(tutti_dataset_describe(context, dataset, &json), TUTTI_OK);
      if (cases[i].settled ? !strstr(json, cases[i].settled) : strstr(strstr(json, "settled"), "decimal") != NULL)
        fail_msg("'%s': found %.400s", cases[i].data, json);
      tutti_free(json);
    }
    double first = first_of(cases[i].cells);
    if (isnan(cases[i].first) ? !isnan(first) : first != cases[i].first)
      fail_msg("case %zu, '%s': expected %g, found %g (%s)", i, cases[i].cells, cases[i].first, first,
               tutti_error_message(context));
  }
}

/* A column of these words beside one of numbers that are all 1.5, read as a.csv is; NULL: they are refused. */
static tutti_split *of_words(size_t count, const char *const *words) {
  const double number = 1.5;
  tutti_rows *rows;
  tutti_split *split;
  assert_int_equal(tutti_rows_create(context, "here", &rows), TUTTI_OK);
  for (size_t c = 0; c < 2; c++)
    assert_int_equal(tutti_rows_add_column(context, rows, c ? "b" : "a"), TUTTI_OK);
  for (size_t r = 0; r < count; r++) {
    assert_int_equal(tutti_rows_add_cell(context, rows, 0, words[r]), TUTTI_OK);
    assert_int_equal(tutti_rows_add_numbers(context, rows, 1, 1, &number), TUTTI_OK);
  }
  if (tutti_dataset_encode(context, dataset, rows, &split) != TUTTI_OK)
    split = NULL;
  tutti_rows_destroy(rows);
  for (size_t r = 0; split && r < count; r++)
    assert_true(tutti_split_inputs(split)[2 * r + 1] == 1.5F);
  return split;
}

/* Words such as 1.500, in rows of an application, are what they would be in a file; numbers are what they are, and so
   are words of which the training data do not tell. */
static void words_in_threes_of_an_application(void **state) {
  (void)state;
  static const struct {
    const char *data;
    float of_words[5];
  } cases[] = {{"a;b;y\n1.234,5;2;3\n4,5;5;6\n", {1500, -1500, .5F, 1.5F, 12.25F}},
               {"a;b;y\n1.5;2;3\n4;5;6\n", {1.5F, -1.5F, .5F, 1500, 12.25F}},
               {"a;b;y\n1;2;3\n4;5;6\n", {1.5F, -1.5F, .5F, 1.5F, 12.25F}}};
  static const char *const words[] = {"1.500", "-1.500", "0.500", "1,500", "12.25"};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    put("a.csv", cases[i].data);
    loads(PLAIN);
    for (size_t w = 0; w < 5; w++) {
      tutti_split *split = of_words(1, words + w);
      assert_non_null(split);
      if (tutti_split_inputs(split)[0] != cases[i].of_words[w])
        fail_msg("'%s' after '%s': expected %g, found %g", words[w], cases[i].data, cases[i].of_words[w],
                 tutti_split_inputs(split)[0]);
      tutti_split_destroy(split);
    }
  }
}

/* Words that do not tell together what a sign means are refused, as in files. */
static void words_of_two_ways_to_write(void **state) {
  (void)state;
  static const char commas[] = "a;b;y\n1.234,5;2;3\n4,5;5;6\n", points[] = "a;b;y\n1.5;2;3\n4;5;6\n";
  static const struct {
    const char *data, *words[2];
    bool refused;
  } cases[] = {
      {commas, {"1.500", "2.25"}, true},    {commas, {"0.750", "1.500"}, true},    {commas, {"1.500", "1,234.5"}, true},
      {commas, {"1.500", "2.125"}, false},  {commas, {"1.500", "1.234,5"}, false}, {commas, {"1.500", "3,5"}, false},
      {commas, {"2.25", "0.750"}, false},   {commas, {"1.500", "7"}, false},       {points, {"1,500", "3,5"}, true},
      {points, {"1,500", "1.234,5"}, true}, {points, {"1,500", "1,234.5"}, false}, {points, {"1,500", "3.5"}, false},
      {points, {"3,5", "0,75"}, false}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    put("a.csv", cases[i].data);
    loads(PLAIN);
    tutti_split *split = of_words(2, cases[i].words);
    if (!split != cases[i].refused)
      fail_msg("'%s' and '%s' after '%s': %s", cases[i].words[0], cases[i].words[1], cases[i].data,
               split ? "read" : tutti_error_message(context));
    if (!split)
      assert_non_null(strstr(tutti_error_message(context), "write all as there"));
    tutti_split_destroy(split);
  }
}

/* So are categories that are numbers. */
static void categories_in_threes_of_an_application(void **state) {
  (void)state;
  static const char *const words[] = {"2.500", "1500"};
  tutti_rows *rows;
  tutti_split *split;
  put("a.csv", "k;b;y\n1500;1,5;3\n2500;2,5;4\n1500;3,5;5\n2500;4,5;5\n");
  loads(PLAIN "categorical=k\nignore=b");
  assert_int_equal(tutti_rows_create(context, "here", &rows), TUTTI_OK);
  assert_int_equal(tutti_rows_add_column(context, rows, "k"), TUTTI_OK);
  for (size_t r = 0; r < 2; r++)
    assert_int_equal(tutti_rows_add_cell(context, rows, 0, words[r]), TUTTI_OK);
  assert_int_equal(tutti_dataset_encode(context, dataset, rows, &split), TUTTI_OK);
  assert_memory_equal(tutti_split_inputs(split), ((float[]){0, 1, 1, 0}), 4 * sizeof(float));
  tutti_split_destroy(split);
  tutti_rows_destroy(rows);
}

/* What the recipe says of decimal signs holds for the training file and for new ones. */
static void new_files_are_read_as_the_recipe_says(void **state) {
  (void)state;
  static const struct {
    const char *decimal, *cells;
    double first;
  } cases[] = {{"comma", "9.340,5e2;2", 934050}, {"comma", "9,340e2;2", 934},   {"comma", "1.234;2", 1234},
               {"point", "1,234.5e1;2", 12345},  {"point", "1.234e1;2", 12.34}, {"point", "1,234;2", 1234}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[128];
    (void)snprintf(text, sizeof text, "a;b;y\n%s;3\n5;4;1\n", cases[i].cells);
    put("a.csv", text);
    (void)snprintf(text, sizeof text, PLAIN "decimal=%s", cases[i].decimal);
    loads(text);
    assert_true((double)tutti_split_inputs(split_of("train"))[0] == (double)(float)cases[i].first);
    assert_true(first_of(cases[i].cells) == (double)(float)cases[i].first);
  }
}

/* Numbers that stand for missing cells: as floats, and endless ones, too. */
static void marks_among_numbers_of_an_application(void **state) {
  (void)state;
  const double numbers[] = {-99.9, (double)-99.9F, HUGE_VAL, -99.89, 3};
  tutti_rows *rows;
  tutti_split *split;
  put("a.csv", "a,y\n-99.9,1\n3,2\ninf,2\n5,3\n");
  loads(PLAIN "missing_marks=-99.9 inf\nmissing=mean");
  assert_int_equal(tutti_rows_create(context, "here", &rows), TUTTI_OK);
  assert_int_equal(tutti_rows_add_column(context, rows, "a"), TUTTI_OK);
  assert_int_equal(tutti_rows_add_numbers(context, rows, 0, 5, numbers), TUTTI_OK);
  assert_int_equal(tutti_dataset_encode(context, dataset, rows, &split), TUTTI_OK);
  assert_memory_equal(tutti_split_inputs(split), ((float[]){4, 4, 4, -99.89F, 3}), 5 * sizeof(float));
  tutti_split_destroy(split);
  tutti_rows_destroy(rows);
}

/* What marks missing cells in the file does so in rows of an application, as words and as numbers. */
static void marks_are_those_of_the_file(void **state) {
  (void)state;
  static const struct {
    const char *data, *parameters, *word; /* NULL: the number is handed over as such */
    double number;
    float first; /* 3: the mean stands there */
  } cases[] = {
      {"a;y\n-9.999;1\n2,5;2\n3,5;2\n", "decimal=comma\nmissing_marks=-9999", "-9999", 0, 3},
      {NULL, NULL, "-9.999", 0, 3},
      {NULL, NULL, "-9999,0", 0, 3},
      {NULL, NULL, NULL, -9999, 3},
      {NULL, NULL, NULL, -9.999, -9.999F},
      {NULL, NULL, "-9,999", 0, -9.999F},
      /* It is a number with a point, as recipes write them, wherever the file has commas. */
      {"a;y\n-99,999;1\n2,5;2\n3,5;2\n", "missing_marks=-99.999", "-99,999", 0, 3},
      {NULL, NULL, NULL, -99.999, 3},
      {NULL, NULL, NULL, (double)-99.999F, 3},
      {NULL, NULL, "-99999", 0, -99999},
      {NULL, NULL, NULL, -99999, -99999},
      {"a,y\n9999,1\n2,2\n4,2\n", "missing_marks=9999", "9,999", 0, 3},
      {NULL, NULL, "9999.0", 0, 3},
      {"a,y\n7,1\n2,2\n4,2\n", "missing_marks=7", "7.0", 0, 3},
      {NULL, NULL, "007", 0, 7},
      {NULL, NULL, "-07", 0, -7},
      {"a,y\n-07,1\n2,2\n4,2\n", "missing_marks=-07 -00", "-07", 0, 3},
      {NULL, NULL, "-7", 0, -7},
      {NULL, NULL, "0", 0, 0},
      {"a,y\n007,1\n2,2\n4,2\n", "missing_marks=007", "007", 0, 3},
      {NULL, NULL, "7", 0, 7},
      {NULL, NULL, NULL, 7, 7},
      {"a,y\n99991231,1\n2,2\n4,2\n", "missing_marks=99991231", NULL, 99991231, 3},
      {NULL, NULL, NULL, 99991232, 99991232},
      /* What a point means says first which number a word is. */
      {"a;y\n-999;1\n2,5;2\n3,5;2\n", "missing_marks=-999", "-999.000", 0, -999000},
      {NULL, NULL, "-999", 0, 3},
      {NULL, NULL, "-999.0", 0, 3},
      {"a;y\n-99,9;1\n2,5;2\n3,5;2\n", "missing_marks=-99,9", "-99,90", 0, 3},
      {NULL, NULL, NULL, -99.9, 3},
      {"a,y\n1,1\n2,2\n6,2\n", "missing_marks=1,234", NULL, 1234, 1234},
      {NULL, NULL, NULL, 1.234, 1.234F},
      {"a,y\n1e20,1\n2,2\n4,2\n", "missing_marks=1e20", NULL, (double)1e20F, 3},
      {NULL, NULL, NULL, 1e20, 3},
      {"a,y\n1e300,1\n2,2\n4,2\n", "missing_marks=1e300", NULL, 1e300, 3},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char parameters[256];
    tutti_rows *rows;
    tutti_split *split;
    if (cases[i].data) {
      put("a.csv", cases[i].data);
      (void)snprintf(parameters, sizeof parameters, PLAIN "missing=mean\n%s", cases[i].parameters);
      loads(parameters);
    }
    assert_int_equal(tutti_rows_create(context, "here", &rows), TUTTI_OK);
    assert_int_equal(tutti_rows_add_column(context, rows, "a"), TUTTI_OK);
    if (cases[i].word)
      assert_int_equal(tutti_rows_add_cell(context, rows, 0, cases[i].word), TUTTI_OK);
    else
      assert_int_equal(tutti_rows_add_numbers(context, rows, 0, 1, &cases[i].number), TUTTI_OK);
    assert_int_equal(tutti_dataset_encode(context, dataset, rows, &split), TUTTI_OK);
    if (tutti_split_inputs(split)[0] != cases[i].first)
      fail_msg("case %zu: expected %g, found %g", i, cases[i].first, tutti_split_inputs(split)[0]);
    tutti_split_destroy(split);
    tutti_rows_destroy(rows);
  }
}

/* Points in categories say nothing of numbers. */
static void categories_with_points(void **state) {
  (void)state;
  static const char *const words[2][2] = {{"1,125", "1.25"}, {"0,5", "1.100"}};
  tutti_rows *rows;
  tutti_split *split;
  put("a.csv", "a;c;y\n1,125;1.25;3\n0,5;1.100;4\n2,5;v2;5\n");
  loads(PLAIN "categorical=c\ndecimal=comma");
  assert_int_equal(tutti_rows_create(context, "here", &rows), TUTTI_OK);
  for (size_t c = 0; c < 2; c++) {
    assert_int_equal(tutti_rows_add_column(context, rows, c ? "c" : "a"), TUTTI_OK);
    for (size_t r = 0; r < 2; r++)
      assert_int_equal(tutti_rows_add_cell(context, rows, c, words[r][c]), TUTTI_OK);
  }
  assert_int_equal(tutti_dataset_encode(context, dataset, rows, &split), TUTTI_OK);
  for (size_t r = 0; r < 2; r++)
    assert_memory_equal(tutti_split_inputs(split) + 4 * r, tutti_split_inputs(split_of("train")) + 4 * r,
                        4 * sizeof(float));
  tutti_split_destroy(split);
  tutti_rows_destroy(rows);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      data_test(words_of_an_application),
      data_test(rows_of_an_application),
      data_test(new_files_are_written_as_the_data),
      data_test(words_in_threes_of_an_application),
      data_test(words_of_two_ways_to_write),
      data_test(categories_in_threes_of_an_application),
      data_test(new_files_are_read_as_the_recipe_says),
      data_test(marks_among_numbers_of_an_application),
      data_test(marks_are_those_of_the_file),
      data_test(categories_with_points),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
