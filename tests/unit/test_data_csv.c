/* test_data_csv.c - tables as people write them, tables that are wrong, and bytes that are no table at all. */
#include "loading.h"

#include <locale.h>
#include <zlib.h>

/* The training inputs are these numbers, row by row. */
static void assert_inputs(size_t rows, size_t features, const double *expected) {
  const tutti_split *train = split_of("train");
  assert_int_equal(tutti_split_rows(train), rows);
  assert_int_equal(tutti_split_input(train).channels, features);
  for (size_t i = 0; i < rows * features; i++)
    assert_true(tutti_split_inputs(train)[i] == (float)expected[i]);
}

static void assert_targets(size_t rows, const double *expected) {
  for (size_t i = 0; i < rows; i++)
    assert_true(tutti_split_raw_targets(split_of("train"))[i] == expected[i] &&
                tutti_split_targets(split_of("train"))[i] == (float)expected[i]);
}

static void ways_to_write_one_table(void **state) {
  (void)state;
  static const char *const texts[] = {
      "a,b,y\n1,2,3\n4,5.5,6\n",
      "a,b,y\r\n1,2,3\r\n4,5.5,6\r\n", /* CRLF */
      "a,b,y\r1,2,3\r4,5.5,6",         /* CR alone, no end of line at the end */
      ("\xef\xbb\xbf"
       "a,b,y\n1,2,3\n4,5.5,6"),                         /* byte order mark */
      "\"a\",\"b\",\"y\"\n\"1\",2,\"3\"\n4,\"5.5\",6\n", /* quotes */
      "a;b;y\n1;2;3\n4;5.5;6\n",                         /* semicolons */
      "a\tb\ty\n1\t2\t3\n4\t5.5\t6\n",                   /* tabs */
      "a|b|y\n1|2|3\n4|5.5|6\n",
      "sep=;\na;b;y\n1;2;3\n4;5.5;6\n", /* as spreadsheets write it */
      "SEP=|\r\na|b|y\r\n1|2|3\r\n4|5.5|6\r\n",
      ("\xef\xbb\xbf"
       "sep=\t\na\tb\ty\n1\t2\t3\n4\t5.5\t6\n"),
      "a, b ,y\n 1 ,2,3 \n\n\n4,  5.5,6\n\n", /* blanks and blank lines */
      "a,b,y\n+1,2e0,.3e1\n4.,55E-1,6\n",
      "a b y\n1 2 3\n4 5.5 6\n", /* blanks, by the words of all lines */
      "a   b  y\n  1   2 3\n4  5.5   6  \n",
      "a b  y\n1  2\t3\n4  5.5\t6\n",
  };
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    put("a.csv", texts[i]);
    loads(PLAIN);
    assert_inputs(2, 2, (double[]){1, 2, 4, 5.5});
    assert_targets(2, (double[]){3, 6});
    assert_string_equal(tutti_dataset_feature(dataset, 1), "b");
    assert_string_equal(tutti_dataset_target(dataset, 0), "y");
  }
  put("a.csv", "a;y\n1;3\n");
  loads(PLAIN);
  assert_inputs(1, 1, (double[]){1});
  put("a.csv", "a b y\n1 2 3\n4 5.5 6\n");
  loads(PLAIN "delimiter=space");
  assert_inputs(2, 2, (double[]){1, 2, 4, 5.5});
  put("a.csv", " a   b\ty \n1 2  3\n\n  4\t5.5 6\t\n"); /* runs of blanks and tabs */
  loads(PLAIN "delimiter=blanks");
  assert_inputs(2, 2, (double[]){1, 2, 4, 5.5});
  assert_string_equal(tutti_dataset_feature(dataset, 0), "a");
  put("a.csv", "a \"b \t c\" y\n1 2 3\n"); /* names with blanks in quotes, a tab among them */
  loads(PLAIN "delimiter=blanks");
  assert_string_equal(tutti_dataset_feature(dataset, 1), "b   c");
  put("a.csv", "a b y\n1 2 3\n1 2\n");
  refuses("a.csv:3: expected 3 cells, as in the first line, found 2: there is none for column 'y'; where a value is "
          "missing, write ? for it",
          PLAIN "delimiter=blanks");
  put("a.csv", "a|b;1|y\n1|2|3\n");
  loads(PLAIN "delimiter=pipe");
  assert_string_equal(tutti_dataset_feature(dataset, 1), "b;1");
  put("a.csv", "sep=;\na|b|y\n1|2|3\n"); /* the recipe knows better */
  loads(PLAIN "delimiter=pipe");
  assert_inputs(1, 2, (double[]){1, 2});
  put("a.csv", "sep=;\na;y\n1;2\n3\n"); /* it counts as a line */
  refuses("a.csv:4: expected 2 cells", PLAIN);
  put("a.csv", "sep=;\ra;b;y\r1;2;3\r");
  loads(PLAIN);
  assert_inputs(1, 2, (double[]){1, 2});
  put("a.csv", "sep=\n1\n2\n"); /* a column of this name, also here */
  refuses("no column is left", PLAIN);
  put("a.csv", "sep=,y\n1,2\n");
  loads(PLAIN);
  assert_string_equal(tutti_dataset_feature(dataset, 0), "sep=");
}

static void signs_and_marks_of_ones_own(void **state) {
  (void)state;
  put("a.csv", "a,b,y\n-$1,2 %,3\n$ 4.5,-,6\n-7,8%,10\n");
  refuses("found '-$1'", PLAIN "categorical=");
  loads(PLAIN "strip=$ %\nmissing_marks=x -\nmissing=mean");
  assert_inputs(3, 2, (double[]){-1, 2, 4.5, 5, -7, 8});
  refuses("a.csv:3: row 1, column 'b': the value is missing", PLAIN "strip=$ %\nmissing_marks=x -");
  put("a.csv", "a,y\n\"$1,234.5\",-999\n\"1,234 $\",2\n2,3\n"); /* groups of digits inside a sign */
  loads(PLAIN "strip=$\nmissing_marks=-999\nmissing=drop");
  assert_inputs(2, 1, (double[]){1234, 2});
  /* A mark that is a number is one however it is written; the code 007 is there. */
  put("a.csv", "a,k,y\n-999.0,007,1\n-9.99e2,012,2\n\"$-999\",008,3\n-99,008,4\n");
  loads(PLAIN "strip=$\nmissing_marks=-999 7\ncategorical=k\nignore=a");
  assert_string_equal(tutti_dataset_feature(dataset, 0), "k=7");
  loads(PLAIN "strip=$\nmissing_marks=-999\nmissing=mean\nignore=k");
  assert_inputs(4, 1, (double[]){-99, -99, -99, -99});
  /* A mark with zeros before it is a text; numbers that are equal to it are there. */
  put("a.csv", "a,k,y\n0,00000,1\n7,10115,2\n0,00007,3\n");
  loads(PLAIN "missing_marks=00000 007\nmissing=mean\nignore=k");
  assert_inputs(3, 1, (double[]){0, 7, 0});
  put("a.csv", "a,y\n-07,1\n3,2\n-7,3\n-07,4"); /* however the row is read, at the end of the file, too */
  loads(PLAIN "missing_marks=-07\nmissing=mean");
  assert_inputs(4, 1, (double[]){-2, 3, -7, -2});
  loads(PLAIN "missing_marks=-7\nmissing=mean");
  assert_inputs(4, 1, (double[]){-7, 3, (float)(-11 / 3.), -7});
  put("a.csv", "a,k,y\n0,00000,1\n7,10115,2\n0,00007,3\n");
  loads(PLAIN "missing_marks=00000 007\nmissing=mean\nignore=k");
  assert_inputs(3, 1, (double[]){0, 7, 0});
  put("a.csv", "x,-999.0,-99\nz,4,5\n"); /* a first row of numbers that are marks is no header */
  loads(PLAIN "missing_marks=-999 -99\nmissing=mean\ntarget=0");
  assert_inputs(2, 2, (double[]){4, 5, 4, 5});
  put("a.csv", "a;y\n-9.999;1\n1,5;2\n");
  loads(PLAIN "decimal=comma\nmissing_marks=-9999\nmissing=drop");
  assert_inputs(1, 1, (double[]){1.5});
  put("a.csv", "a,y\nx$,1\n$,2\nz$,3\n"); /* what is no number stays as it is */
  loads(PLAIN "strip=$");
  assert_string_equal(tutti_dataset_feature(dataset, 0), "a=$");
  assert_string_equal(tutti_dataset_feature(dataset, 1), "a=x$");
  put("a.csv", "a,y\n3\u00a0EUR,1\nEUR\u202f4,2\n"); /* blanks that do not break */
  loads(PLAIN "strip=EUR");
  assert_inputs(2, 1, (double[]){3, 4});
  put("a.csv", "a,y\n.05,25\n2,3\n"); /* what is a number stays as it is */
  loads(PLAIN "strip=. 2");
  assert_inputs(2, 1, (double[]){.05, 2});
  assert_targets(2, (double[]){25, 3});
  put("a.csv", "$1,$2\n$3,$4\n"); /* a first row of numbers is no header */
  loads(PLAIN "strip=$");
  assert_inputs(2, 1, (double[]){1, 3});
}

static void headers(void **state) {
  (void)state;
  put("a.csv", "1,2,3\n4,5,6\n");
  loads(PLAIN);
  assert_inputs(2, 2, (double[]){1, 2, 4, 5});
  assert_string_equal(tutti_dataset_feature(dataset, 0), "x0");
  loads(PLAIN "header=yes\ntarget=1");
  assert_inputs(1, 2, (double[]){5, 6}); /* a name goes before a number */
  assert_string_equal(tutti_dataset_feature(dataset, 0), "2");
  put("a.csv", ",b,y\n0,2,3\n1,5,6\n"); /* row numbers without a name */
  loads(PLAIN "ignore=x0");
  assert_inputs(2, 1, (double[]){2, 5});
  assert_string_equal(tutti_dataset_feature(dataset, 0), "b");
  put("a.csv", ",,y\n0,2,3\n");
  loads(PLAIN "ignore=x1");
  put("a.csv", ",,\n0,2,3\n");
  refuses("row 0, column 'x2': the target is missing", PLAIN);
  put("a.csv", "red,blue,no\nblue,red,yes\nred,red,no\n");
  loads(PLAIN "header=no");
  assert_int_equal(tutti_split_rows(split_of("train")), 3);
  assert_string_equal(tutti_dataset_feature(dataset, 0), "x0=blue");
  refuses("a.csv:1: columns 0 and 2 are both named 'a'", (put("a.csv", "a,b,a\n1,2,3\n"), PLAIN));
}

static void targets_by_name_and_number(void **state) {
  (void)state;
  put("a.csv", "first one,b,c,d\n1,2,3,4\n5,6,7,9\n");
  loads(PLAIN "target=first one");
  assert_inputs(2, 3, (double[]){2, 3, 4, 6, 7, 9});
  loads(PLAIN "target=first one , 2");
  assert_inputs(2, 2, (double[]){2, 4, 6, 9});
  assert_int_equal(tutti_dataset_task(dataset)->outputs, 2);
  assert_targets(4, (double[]){1, 3, 5, 7});
  loads(PLAIN "target=b -1\nignore=0");
  assert_inputs(2, 1, (double[]){3, 7});
  assert_targets(4, (double[]){2, 4, 6, 9});
  refuses("did you mean 'first one'", PLAIN "target=first_one");
  refuses("no column 'FIRST ONE'; did you mean 'first one'", PLAIN "target=FIRST ONE");
  refuses("no column 'e'; its columns are", PLAIN "target=b e");
  refuses("give a name or a number from 0 to 3", PLAIN "target=4");
  refuses("no column '-5'", PLAIN "target=-5");
  refuses("named twice", PLAIN "target=b b");
  refuses("named twice", PLAIN "target=b\nignore=b");
  refuses("no column is left", PLAIN "target=0,1,2,3");
}

static void names_among_the_rows(void **state) {
  (void)state;
  put("a.csv", "a b,1,y\n1,2,3\n4,5,6\n");
  refuses("a.csv has no column 'y'; its columns have no names, but the first row has that text: if it holds the names, "
          "set data.header = yes",
          PLAIN "target=y");
  refuses("has no column 'z'; its columns have no names; give a number from 0 to 2", PLAIN "target=z");
  loads(PLAIN "target=y\nheader=yes");
  assert_inputs(2, 2, (double[]){1, 2, 4, 5});
}

static void rows_without_a_group(void **state) {
  (void)state;
  put("a.csv", "g,a,y\n,1,2\nb,3,4\nc,5,6\n");
  refuses("row 0, column 'g': expected the row's group, found none; write it, or a name of its own if the row belongs "
          "to no other; data.missing = drop leaves out rows that lack anything",
          "path=a.csv\nsplit=1 1 0\ngroups=g");
  loads("path=a.csv\nsplit=1 1 0\ngroups=g\nmissing=drop");
  assert_int_equal(total_rows(), 2);
}

/* Names with commas, and marks with blanks, stand in quotes. */
static void items_in_quotes(void **state) {
  (void)state;
  put("a.csv", "\"Zip, home\",b c,\"d, e\",y\n1,2,not known,4\n5,6,7,9\n1,- ,8,9\n");
  refuses("data.target: ", PLAIN "target=Zip, home");
  refuses("a.csv has no column 'Zip'; a name with commas stands in quotes: \"Zip, home\"", PLAIN "target=Zip, home");
  refuses("has no column 'e'; a name with commas stands in quotes: \"d, e\"", PLAIN "ignore=b c, e");
  refuses("column 'd, e': expected a number as in 2 other rows, found 'not known'", PLAIN "ignore=b c");
  refuses("if it says that the value is missing, set data.missing_marks = \"not known\"", PLAIN "ignore=b c");
  loads(PLAIN "ignore=b c, \"d, e\"\ncategorical=\"Zip, home\"");
  assert_string_equal(tutti_dataset_feature(dataset, 0), "Zip, home=1");
  loads(PLAIN "target=\"Zip, home\"\nignore=\"b c\" \"d, e\"");
  assert_string_equal(tutti_dataset_target(dataset, 0), "Zip, home");
  loads(PLAIN "groups=\"Zip, home\"\nignore=\"d, e\"\nmissing_marks=-\nmissing=mean\nsplit=1 1 0");
  loads(PLAIN "missing_marks=\"not known\" -\nmissing=mean\nignore=\"Zip, home\"");
  assert_inputs(3, 2, (double[]){2, 7.5, 6, 7, 4, 8});
  put("a.csv", "\"Date, of = visit\",b,y\n01.02.2024,02/01/2024,1\n03.02.2024,02/03/2024,2\n");
  loads(PLAIN "dates=numbers\ndate_formats=b = %m/%d/%Y, \"Date, of = visit\" = %d.%m.%Y");
  assert_inputs(2, 2, (double[]){19754, 19754, 19756, 19756});
  loads(PLAIN "dates=numbers\ndate_formats=\"Date, of = visit\" = %d.%m.%Y, b = %m/%d/%Y");
  assert_inputs(2, 2, (double[]){19754, 19754, 19756, 19756});
  put("a.csv", "a,y\n3 per month,1\n4,2\n");
  loads(PLAIN "strip=\"per month\"");
  assert_inputs(2, 1, (double[]){3, 4});
}

static void gzipped(void **state) {
  (void)state;
  char path[128];
  unsigned char bytes[256];
  (void)snprintf(path, sizeof path, "%s/a.csv", folder);
  gzFile file = gzopen(path, "wb");
  assert_true(gzputs(file, "a,y\n1,2\n3,4\n5,6\n") > 0);
  assert_int_equal(gzclose(file), Z_OK);
  loads(PLAIN);
  assert_inputs(3, 1, (double[]){1, 3, 5});
  FILE *whole = fopen(path, "rb");
  size_t count = fread(bytes, 1, sizeof bytes, whole);
  assert_int_equal(fclose(whole), 0);
  put_bytes("a.csv", bytes, count - 6);
  refuses("a.csv:5: torn: the compressed file breaks off here", PLAIN);
  bytes[count - 6] ^= 1; /* of the checksum */
  put_bytes("a.csv", bytes, count);
  refuses("a.csv: ", PLAIN);
}

static void categories(void **state) {
  (void)state;
  put("a.csv", "colour,n,y\nred,1,1\n\"blue, dark\",2,2\nred,10,3\n\"say \"\"x\"\"\",2,4\n");
  loads(PLAIN);
  assert_inputs(4, 4, (double[]){0, 1, 0, 1, 1, 0, 0, 2, 0, 1, 0, 10, 0, 0, 1, 2});
  assert_string_equal(tutti_dataset_feature(dataset, 0), "colour=blue, dark");
  assert_string_equal(tutti_dataset_feature(dataset, 2), "colour=say \"x\"");
  loads(PLAIN "categorical=n\nignore=colour");
  assert_inputs(4, 3, (double[]){1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0});
  assert_string_equal(tutti_dataset_feature(dataset, 2), "n=10"); /* numbers by value: 1, 2, 10 */
  put("a.csv", "a,y\n1,1\n2,2\noops,3\n4,4\n");
  refuses("a.csv:4: row 2, column 'a': expected a number as in 3 other rows, found 'oops'", PLAIN);
  loads(PLAIN "categorical=a");
  assert_int_equal(tutti_dataset_task(dataset)->input.channels, 4);
}

static void classes(void **state) {
  (void)state;
  put("a.csv", "a,label\n1,cat\n2,dog\n3,cat\n4,ant\n");
  loads(PLAIN);
  const struct tutti_task *task = tutti_dataset_task(dataset);
  assert_int_equal(task->kind, TUTTI_TASK_CLASSIFICATION);
  assert_int_equal(task->outputs, 3);
  assert_int_equal(task->head, TUTTI_OP_HEAD_SOFTMAX);
  assert_string_equal(tutti_dataset_class(dataset, 0), "ant");
  const int32_t expected[] = {1, 2, 1, 0};
  assert_memory_equal(tutti_split_labels(split_of("train")), expected, sizeof expected);
  assert_null(tutti_split_targets(split_of("train")));
  assert_null(tutti_split_target_scale(split_of("train")));
  refuses("expected a number as target, found 'cat'", PLAIN "task=regression");
  refuses("a gaussian, linear or nomu head takes numbers", PLAIN "head.kind=gaussian");
  put("a.csv", "a,label\n1,z\n2,y\n3,y\n"); /* the first row alone has its class */
  loads(PLAIN);
  put("a.csv", "a,label\n1,2\n2,10\n3,2\n4,0\n");
  loads(PLAIN);
  assert_int_equal(tutti_dataset_task(dataset)->kind, TUTTI_TASK_REGRESSION);
  refuses("softmax takes classes", PLAIN "head.kind=softmax");
  loads(PLAIN "task=classification");
  assert_string_equal(tutti_dataset_class(dataset, 2), "10");
  put("a.csv", "a,b,label\n1,2,3\n2,5,8\n");
  refuses("takes one column", PLAIN "task=classification\ntarget=a label");
  put("a.csv", "a,label\n1,x\n2,x\n");
  refuses("has 1 class", PLAIN);
  put("a.csv", "a,label\n1,x\n2,3\n");
  refuses("set data.task = classification", PLAIN);
}

static void assert_head(const struct tutti_task *task, double scale, double floor, bool variance) {
  static const char *const names[] = {"scale", "floor", "variance"};
  const double values[] = {scale, floor, variance};
  for (size_t i = 0; i < 3; i++) {
    assert_string_equal(task->head_attributes[i].name, names[i]);
    assert_true(task->head_attributes[i].value == values[i]);
  }
  assert_null(task->head_attributes[3].name);
}

static void heads(void **state) {
  (void)state;
  put("a.csv", "a,y\n1,2\n2,10\n");
  loads(PLAIN);
  const struct tutti_task *task = tutti_dataset_task(dataset);
  assert_int_equal(task->input.height, 1);
  assert_int_equal(task->input.width, 1);
  assert_int_equal(task->input.channels, 1);
  assert_int_equal(task->head, TUTTI_OP_HEAD_GAUSSIAN);
  assert_head(task, 1, 1e-3, false);
  assert_int_equal(task->train_rows, 2);
  loads(PLAIN "head.parametrisation=variance\nhead.scale=0.05\nhead.floor=1e-6");
  assert_head(tutti_dataset_task(dataset), 0.05, 1e-6, true);
  loads(PLAIN "head.kind=linear");
  assert_int_equal(tutti_dataset_task(dataset)->head, TUTTI_OP_HEAD_LINEAR);
  assert_null(tutti_dataset_task(dataset)->head_attributes[0].name);
}

static void missing_cells(void **state) {
  (void)state;
  static const char *const marks[] = {"", "NA", "nan", "?", "NaN", "null", "\"\"", "-nan", "<NA>", "#N/A"};
  for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
    char text[128];
    (void)snprintf(text, sizeof text, "a,b,y\n1,2,3\n\n4,%s,6\n7,8,10\n", marks[i]);
    put("a.csv", text);
    refuses("a.csv:4: row 1, column 'b': the value is missing", PLAIN);
    loads(PLAIN "missing=mean");
    assert_inputs(3, 2, (double[]){1, 2, 4, 5, 7, 8});
    loads(PLAIN "missing=drop");
    assert_inputs(2, 2, (double[]){1, 2, 7, 8});
    assert_int_equal(tutti_split_source_rows(split_of("train"))[1], 2);
    loads(PLAIN "ignore=b");
    (void)snprintf(text, sizeof text, "a,b,y\n1,2,3\n4,5,%s\n7,8,9\n", marks[i]);
    put("a.csv", text);
    refuses("row 1, column 'y': the target is missing or NaN", PLAIN);
    refuses("row 1, column 'y': the target is missing or NaN", PLAIN "missing=mean");
    loads(PLAIN "missing=drop");
    assert_targets(2, (double[]){3, 9});
  }
  put("a.csv", "a,b,y\nu,2,3\n,5,6\nv,8,9\n");
  refuses("categories have no mean", PLAIN "missing=mean");
  put("a.csv", "a,y\n,3\n5,\n");
  refuses("leaves none", PLAIN "missing=drop");
  put("a.csv", "a,b,y\n1,,3\n5,,6\n");
  refuses("column 'b' has no value in any of the 2 rows", PLAIN "missing=mean");
}

static void wrong_numbers(void **state) {
  (void)state;
  put("a.csv", "a,y\n1,2\n3,inf\n");
  refuses("a.csv:3: row 1, column 'y': expected a finite target", PLAIN);
  put("a.csv", "a,y\n1,2\n-Infinity,3\n");
  refuses("row 1, column 'a': expected a finite number", PLAIN);
  put("a.csv", "a,y\n1,2\n1e999,3\n");
  refuses("expected a finite number", PLAIN);
  put("a.csv", "a,y\n1,2\n1e300,3\n2,5\n");
  refuses("1e+300 is too large", PLAIN);
  refuses("too large or too close", "split=1 0 0\npath=a.csv");
  put("a.csv", "a,y\n1,2\n-3.4e38,3\n2,5\n");
  refuses("a.csv:3: row 1, column 'a': -3.4e+38 is too large to compute with (scaled, it is -3.4e+38); if it stands",
          PLAIN);
  put("a.csv", "a,y\n1,2\n1700000000000000000,3\n2,5\n"); /* nanoseconds */
  loads(PLAIN);
  static const char *const words[] = {"0x10", "1,5", "1_000", "--1", "1e", "1.2.3", "e5", "-", "1 2"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    char text[64], part[64];
    (void)snprintf(text, sizeof text, "a,y\n1,2\n\"%s\",3\n2,5\n", words[i]);
    (void)snprintf(part, sizeof part, "found '%s'", words[i]);
    put("a.csv", text);
    refuses(part, PLAIN);
  }
}

static void wrong_tables(void **state) {
  (void)state;
  put("a.csv", "");
  refuses("empty file", PLAIN);
  put("a.csv", "\n\n\r\n");
  refuses("empty file", PLAIN);
  put("a.csv", "a,b,y\n");
  refuses("a header alone", PLAIN);
  put("a.csv", "a,b,y\n1,2,3\n4,5\n");
  refuses("a.csv:3: expected 3 cells, as in the first line, found 2", PLAIN);
  put("a.csv", "a,b,y\n1,\"2\n2\",3\n\n4,5,6,7\n");
  refuses("a.csv:5: expected 3 cells, as in the first line, found 4: ", PLAIN);
  put("a.csv", "a,y\r\n1,2\r\n3,4\r\n5\r\n");
  refuses("a.csv:4: expected 2", PLAIN);
  put("a.csv", "a,y\n1,2\n3,\"4\n");
  refuses("ends inside a quoted cell", PLAIN);
  put("a.csv", "a,y\n1,2\n3,4\"5\n");
  refuses("a.csv:3: a quote inside", PLAIN);
  put_bytes("a.csv", "a,y\n1,2\n3,\0004\n", 13);
  refuses("a.csv:3: expected text, found a zero byte", PLAIN);
  put("a.csv", "\xe9,y\n1,2\n");
  refuses("expected UTF-8, found the byte 0xE9", PLAIN);
  put("a.csv", "a,y\n\xe9,2\nb,3\n");
  refuses("a.csv:2: row 0, column 'a': expected UTF-8, found the byte 0xE9", PLAIN);
  refuses("b.csv: No such file", "path=b.csv");
  refuses("data.path: expected a file", "path=b.csv");
  refuses("data.path", "plugin=csv");
  refuses("source csv has no second file", PLAIN "target_path=b.npy");
  char path[80];
  (void)snprintf(path, sizeof path, "path=%s", folder);
  refuses("expected a file, found a folder", path);
}

static void too_many_categories(void **state) {
  (void)state;
  char *text = malloc(1 << 18);
  size_t length = (size_t)sprintf(text, "id,y\n");
  for (int i = 0; i < 5000; i++)
    length += (size_t)sprintf(text + length, "row%d,%d\n", i, i);
  put("a.csv", text);
  free(text);
  refuses("data.ignore", PLAIN);
}

/* A process whose point is a comma reads the same numbers. */
static void other_locales(void **state) {
  (void)state;
  if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8"))
    skip();
  put("a.csv", "a,y\n1.5,2.25\n-0.5,1e-1\n");
  loads(PLAIN);
  tutti_split *split;
  enum tutti_status status = apply("a.csv", &split);
  (void)setlocale(LC_NUMERIC, "C");
  assert_int_equal(status, TUTTI_OK);
  tutti_split_destroy(split);
  assert_inputs(2, 1, (double[]){1.5, -0.5});
  assert_targets(2, (double[]){2.25, 0.1});
}

static void mutated_bytes_do_no_harm(void **state) {
  (void)state;
  static const char text[] = "a,b,colour,y\n1,2,red,3\n4,5,\"light, blue\",6\n7,8.5,red,9\n1,NA,blue,2\n-1e3,0,red,2\n";
  static const char alphabet[] = ",;\"\n\r\t .-+e0NA\\\xef\xbb\xbf\x80";
  struct tutti_random random;
  size_t count = sizeof text - 1, loaded = 0;
  tutti_random_init(&random, 1, "mutations", 0);
  for (int i = 0; i < 2000; i++) {
    char bytes[sizeof text];
    memcpy(bytes, text, sizeof text);
    for (uint64_t m = 1 + tutti_random_below(&random, 4); m > 0; m--)
      bytes[tutti_random_below(&random, count)] = tutti_random_below(&random, 2)
                                                      ? alphabet[tutti_random_below(&random, sizeof alphabet)]
                                                      : (char)tutti_random_u32(&random);
    put_bytes("a.csv", bytes, tutti_random_below(&random, 4) ? count : tutti_random_below(&random, count + 1));
    enum tutti_status status = load("path=a.csv\nmissing=mean\nsplit=0.5 0.5 0");
    assert_true(status == TUTTI_OK || status == TUTTI_ERROR_USAGE);
    loaded += status == TUTTI_OK;
  }
  assert_true(loaded > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      data_test(ways_to_write_one_table),
      data_test(headers),
      data_test(signs_and_marks_of_ones_own),
      data_test(targets_by_name_and_number),
      data_test(names_among_the_rows),
      data_test(rows_without_a_group),
      data_test(items_in_quotes),
      data_test(gzipped),
      data_test(categories),
      data_test(classes),
      data_test(heads),
      data_test(missing_cells),
      data_test(wrong_numbers),
      data_test(wrong_tables),
      data_test(too_many_categories),
      data_test(other_locales),
      data_test(mutated_bytes_do_no_harm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
