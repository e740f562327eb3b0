/* test_source.c - rows as sources fill them, sources that break their contract, and which source reads a file. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tutti/tutti.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/plugin/rows_impl.h"

static tutti_context *context;

static int begin(void **state) {
  (void)state;
  return tutti_context_create(&context) == TUTTI_OK ? 0 : -1;
}

static int end(void **state) {
  (void)state;
  tutti_context_destroy(context);
  return 0;
}

static void ok(enum tutti_status status) {
  if (status != TUTTI_OK)
    fail_msg("%s", tutti_error_message(context));
}

static void fails(enum tutti_status expected, const char *part, enum tutti_status status) {
  if (status != expected || !strstr(tutti_error_message(context), part))
    fail_msg("expected status %d and '%s', found %d and '%s'", (int)expected, part, (int)status,
             tutti_error_message(context));
}

/* --- rows --- */

static void cells_of_a_table(void **state) {
  (void)state;
  tutti_rows *rows;
  const double numbers[] = {1.5, NAN, INFINITY, -0.0};
  static const char *const words[] = {"1.5", "NA", "-inf", "007"}, *const texts[] = {"007", NULL, "", "NA"};
  static const enum tutti_cell kinds[3][4] = {
      {TUTTI_CELL_NUMBER, TUTTI_CELL_MISSING, TUTTI_CELL_INFINITE, TUTTI_CELL_NUMBER},
      {TUTTI_CELL_NUMBER, TUTTI_CELL_MISSING, TUTTI_CELL_INFINITE, TUTTI_CELL_NUMBER},
      {TUTTI_CELL_TEXT, TUTTI_CELL_MISSING, TUTTI_CELL_TEXT, TUTTI_CELL_TEXT}};
  ok(tutti_rows_create(context, "here", &rows));
  ok(tutti_rows_add_column(context, rows, NULL));
  ok(tutti_rows_add_column(context, rows, "words"));
  ok(tutti_rows_add_column(context, rows, NULL));
  ok(tutti_rows_add_numbers(context, rows, 0, 4, numbers));
  for (size_t i = 0; i < 4; i++) {
    ok(tutti_rows_add_cell(context, rows, 1, words[i]));
    ok(tutti_rows_add_text(context, rows, 2, texts[i]));
  }
  assert_int_equal(tutti_rows_count(rows), 4);
  assert_true(tutti_rows_named(rows));
  assert_string_equal(tutti_rows_names(rows)[2], "x2");
  for (size_t c = 0; c < 3; c++)
    for (size_t r = 0; r < 4; r++)
      assert_int_equal(tutti_rows_cell(rows, r, c), kinds[c][r]);
  assert_true(tutti_rows_number(rows, 0, 1) == 1.5 && tutti_rows_number(rows, 3, 1) == 7);
  assert_true(isnan(tutti_rows_number(rows, 0, 2)) && tutti_rows_number(rows, 2, 1) == -INFINITY);
  assert_string_equal(tutti_rows_text(rows, 0, 2), "007");
  assert_string_equal(tutti_rows_text(rows, 1, 1), "NA");
  assert_string_equal(tutti_rows_text(rows, 0, 0), "");
  const char *value;
  assert_null(tutti_rows_settled(rows, 0, &value));
  ok(tutti_rows_settle(context, rows, "delimiter", "tab"));
  ok(tutti_rows_settle(context, rows, "decimal", "point"));
  ok(tutti_rows_settle(context, rows, "decimal", "comma")); /* the last one counts */
  assert_string_equal(tutti_rows_settled(rows, 0, &value), "delimiter");
  assert_string_equal(value, "tab");
  assert_string_equal(tutti_rows_settled(rows, 1, &value), "decimal");
  assert_string_equal(value, "comma");
  assert_null(tutti_rows_settled(rows, 2, &value));
  assert_null(value);
  fails(TUTTI_ERROR_USAGE, "here: columns 1 and 3 are both named 'words'",
        tutti_rows_add_column(context, rows, "words"));
  fails(TUTTI_ERROR_PLUGIN, "there is no column 3", tutti_rows_add_cell(context, rows, 3, ""));
  fails(TUTTI_ERROR_PLUGIN, "are no images",
        tutti_rows_expect_images(context, rows, "there", (struct tutti_shape){2, 2, 1}, TUTTI_U8));
  tutti_rows_destroy(rows);
}

/* Texts that come late, many of them, in columns that grow. */
static void many_cells(void **state) {
  (void)state;
  enum { MANY = 5000 };
  tutti_rows *rows;
  char text[32];
  ok(tutti_rows_create(context, "here", &rows));
  ok(tutti_rows_add_column(context, rows, "a"));
  for (int i = 0; i < MANY; i++) {
    (void)snprintf(text, sizeof text, i > 1000 && i % 3 == 0 ? "text %d" : "%d", i);
    ok(tutti_rows_add_cell(context, rows, 0, text));
    ok(tutti_rows_add_lines(context, rows, 1, &(uint32_t){(uint32_t)i + 2}));
  }
  for (size_t i = 0; i < MANY; i++) {
    bool is_text = i > 1000 && i % 3 == 0;
    (void)snprintf(text, sizeof text, "text %zu", i);
    assert_int_equal(tutti_rows_cell(rows, i, 0), is_text ? TUTTI_CELL_TEXT : TUTTI_CELL_NUMBER);
    assert_string_equal(tutti_rows_text(rows, i, 0), is_text ? text : "");
    assert_true(is_text || tutti_rows_number(rows, i, 0) == (double)i);
    assert_int_equal(tutti_rows_line(rows, i), i + 2);
  }
  tutti_rows_destroy(rows);
}

/* Columns without a name are called by their number; of two of one name the first is found. */
static void columns_are_found_by_name(void **state) {
  (void)state;
  enum { COLUMNS = 500 };
  tutti_rows *rows;
  char name[16];
  ok(tutti_rows_create(context, "here", &rows));
  assert_true(tutti_rows_find(rows, "n0") == SIZE_MAX);
  for (size_t i = 0; i < COLUMNS; i++) {
    (void)snprintf(name, sizeof name, "n%zu", i * 7919 % COLUMNS);
    ok(tutti_rows_add_column(context, rows, name));
  }
  ok(tutti_rows_add_column(context, rows, "x502"));
  ok(tutti_rows_add_column(context, rows, NULL)); /* x501 */
  /* A name that is made up is no other's, or one would be taken for the other. */
  fails(TUTTI_ERROR_USAGE, "here: columns 500 and 502 are both named 'x502'",
        tutti_rows_add_column(context, rows, NULL));
  ok(tutti_rows_add_column(context, rows, "last"));
  for (size_t i = 0; i < COLUMNS; i++) {
    (void)snprintf(name, sizeof name, "n%zu", i * 7919 % COLUMNS);
    assert_int_equal(tutti_rows_find(rows, name), i);
  }
  assert_int_equal(tutti_rows_find(rows, "x501"), 501);
  assert_int_equal(tutti_rows_find(rows, "x502"), 500);
  assert_int_equal(tutti_rows_find(rows, "last"), 502);
  assert_true(tutti_rows_find(rows, "n500") == SIZE_MAX && tutti_rows_find(rows, "") == SIZE_MAX);
  fails(TUTTI_ERROR_USAGE, "here: columns 1 and 503 are both named 'n419'",
        tutti_rows_add_column(context, rows, "n419"));
  tutti_rows_destroy(rows);
}

/* Room is there at once, and not for what would take too much of the limit; what is there stays. */
static void rows_that_are_expected(void **state) {
  (void)state;
  enum { EXPECTED = 1000 };
  static double numbers[EXPECTED];
  tutti_rows *rows;
  numbers[0] = 2.5;
  ok(tutti_rows_create(context, "here", &rows));
  ok(tutti_rows_add_column(context, rows, NULL));
  ok(tutti_rows_add_column(context, rows, NULL));
  ok(tutti_rows_add_numbers(context, rows, 0, 1, numbers));
  ok(tutti_rows_expect(context, rows, EXPECTED));
  const double *first = rows->cells[0].numbers, *second = rows->cells[1].numbers;
  size_t held = rows->held;
  ok(tutti_rows_expect(context, rows, SIZE_MAX));
  ok(tutti_rows_expect(context, rows, 1));
  rows->limit = rows->held + 2 * EXPECTED * (sizeof(double) + 1);
  ok(tutti_rows_expect(context, rows, 2 * EXPECTED));
  assert_int_equal(rows->held, held);
  ok(tutti_rows_add_numbers(context, rows, 0, EXPECTED - 1, numbers));
  ok(tutti_rows_add_numbers(context, rows, 1, EXPECTED, numbers));
  assert_ptr_equal(rows->cells[0].numbers, first);
  assert_ptr_equal(rows->cells[1].numbers, second);
  assert_int_equal(rows->held, held);
  assert_true(tutti_rows_count(rows) == EXPECTED && tutti_rows_number(rows, 0, 0) == 2.5);
  tutti_rows_destroy(rows);
}

/* Each array counts: numbers, kinds, texts, where they start, line numbers, names, pixels and labels. What does not fit
   is refused before it is taken from the system, and what was there stays. */
static void rows_have_a_limit(void **state) {
  (void)state;
  enum { CELLS = 1000, SIDE = 32 };
  static double numbers[CELLS];
  static uint32_t lines[CELLS];
  static int64_t labels[CELLS];
  static const unsigned char pixels[SIDE * SIDE];
  tutti_rows *rows;
  ok(tutti_rows_create(context, "here", &rows));
  assert_true(rows->limit >= 1 << 26); /* a machine that runs this has more than 128 MiB */
  ok(tutti_rows_add_column(context, rows, NULL));
  size_t held = rows->held;
  ok(tutti_rows_add_numbers(context, rows, 0, CELLS, numbers));
  assert_true(rows->held >= held + CELLS * (sizeof(double) + 1));
  held = rows->held;
  ok(tutti_rows_add_lines(context, rows, CELLS, lines));
  assert_true(rows->held >= held + sizeof lines);
  held = rows->held;
  ok(tutti_rows_add_text(context, rows, 0, "a text"));
  assert_true(rows->held >= held + CELLS * sizeof(size_t));
  rows->limit = rows->held;
  rows->limit_of = "a nutshell";
  char refused[160];
  (void)snprintf(refused, sizeof refused, "here: expected rows that fit into %zu MiB, half of a nutshell, and these %s",
                 rows->limit >> 20, "need 1 MiB or more");
  fails(TUTTI_ERROR_USAGE, refused, tutti_rows_add_lines(context, rows, CELLS, lines));
  fails(TUTTI_ERROR_USAGE, refused, tutti_rows_add_numbers(context, rows, 0, CELLS, numbers));
  assert_int_equal(tutti_rows_count(rows), CELLS + 1);
  assert_string_equal(tutti_rows_text(rows, CELLS, 0), "a text");
  tutti_rows_destroy(rows);

  ok(tutti_rows_create(context, "here", &rows));
  ok(tutti_rows_expect_images(context, rows, "here", (struct tutti_shape){SIDE, SIDE, 1}, TUTTI_U8));
  rows->limit = sizeof pixels + sizeof labels[0];
  rows->limit_of = "a nutshell";
  ok(tutti_rows_add_images(context, rows, 1, pixels, sizeof pixels));
  ok(tutti_rows_add_labels(context, rows, 1, labels));
  fails(TUTTI_ERROR_USAGE, refused, tutti_rows_add_images(context, rows, 1, pixels, sizeof pixels));
  fails(TUTTI_ERROR_USAGE, refused, tutti_rows_add_labels(context, rows, CELLS, labels));
  tutti_rows_destroy(rows);
}

static void images_of_one_shape(void **state) {
  (void)state;
  tutti_rows *rows;
  float pixels[2][4] = {{1, 2, 3, 4}, {5, 6, 7, NAN}};
  const struct tutti_shape shape = {2, 2, 1};
  ok(tutti_rows_create(context, "a.npy", &rows));
  fails(TUTTI_ERROR_PLUGIN, "the shape", tutti_rows_add_images(context, rows, 1, pixels, sizeof pixels[0]));
  fails(TUTTI_ERROR_PLUGIN, "no other", tutti_rows_expect_images(context, rows, "a.npy", shape, TUTTI_F64));
  fails(TUTTI_ERROR_USAGE, "at most 16384 x 16384 pixels",
        tutti_rows_expect_images(context, rows, "a.npy", (struct tutti_shape){2, 2, 17}, TUTTI_F32));
  ok(tutti_rows_expect_images(context, rows, "a.npy", shape, TUTTI_F32));
  ok(tutti_rows_add_images(context, rows, 1, pixels, sizeof pixels[0]));
  fails(TUTTI_ERROR_PLUGIN, "16 bytes each, found 8 in all", tutti_rows_add_images(context, rows, 1, pixels, 8));
  fails(TUTTI_ERROR_PLUGIN, "bytes each", tutti_rows_add_images(context, rows, SIZE_MAX, pixels, 8));
  fails(TUTTI_ERROR_USAGE, "a.npy: image 2: expected finite", tutti_rows_add_images(context, rows, 2, pixels, 32));
  fails(TUTTI_ERROR_USAGE, "b.npy has images of 2 x 3 x 1, but a.npy",
        tutti_rows_expect_images(context, rows, "b.npy", (struct tutti_shape){2, 3, 1}, TUTTI_F32));
  fails(TUTTI_ERROR_USAGE, "b.npy has pixels of type uint8, but a.npy",
        tutti_rows_expect_images(context, rows, "b.npy", shape, TUTTI_U8));
  fails(TUTTI_ERROR_PLUGIN, "have no columns", tutti_rows_add_column(context, rows, NULL));
  assert_int_equal(tutti_rows_count(rows), 1);
  assert_memory_equal(tutti_rows_pixels(rows), pixels, sizeof pixels[0]);
  tutti_rows_destroy(rows);
}

/* --- sources that break their contract --- */

enum fault {
  SOUND,
  NOTHING,
  NO_ROWS,
  RAGGED,
  MORE_TEST_ROWS,
  LINES_OF_OTHERS,
  TARGETS_ALONE,
  TASK_OF_NONE,
  LABELS_OF_A_TABLE,
  FEW_LABELS,
  NO_LABELS,
  IMAGES_WITH_TARGETS,
  WRONG_BYTES,
  NO_SUCH_COLUMN,
  SILENT,
  SAYS_WHERE
};

static const char *const faults[] = {"sound",
                                     "nothing",
                                     "no-rows",
                                     "ragged",
                                     "more-test-rows",
                                     "lines-of-others",
                                     "targets-alone",
                                     "task-of-none",
                                     "labels-of-a-table",
                                     "few-labels",
                                     "no-labels",
                                     "images-with-targets",
                                     "wrong-bytes",
                                     "no-such-column",
                                     "silent",
                                     "says-where",
                                     NULL};

struct faulty_config {
  int fault;
};

/* A table of two columns and three rows, or fewer. */
static enum tutti_status fill_table(tutti_context *its, size_t first, size_t second, tutti_rows *rows) {
  const double numbers[] = {1, 2, 3};
  TUTTI_TRY(its, tutti_rows_add_column(its, rows, "a"));
  TUTTI_TRY(its, tutti_rows_add_column(its, rows, "b"));
  TUTTI_TRY(its, tutti_rows_add_numbers(its, rows, 0, first, numbers));
  return tutti_rows_add_numbers(its, rows, 1, second, numbers);
}

static enum tutti_status fill_images(tutti_context *its, size_t count, size_t labels, tutti_rows *rows) {
  const uint8_t pixels[12] = {0};
  const int64_t numbers[] = {0, 1, 0};
  TUTTI_TRY(its, tutti_rows_expect_images(its, rows, "images", (struct tutti_shape){2, 2, 1}, TUTTI_U8));
  TUTTI_TRY(its, tutti_rows_add_images(its, rows, count, pixels, 4 * count));
  return tutti_rows_add_labels(its, rows, labels, numbers);
}

static enum tutti_status source_read_faulty(void *self, tutti_context *its, const struct tutti_source_request *request,
                                            tutti_rows *rows) {
  enum fault fault = (enum fault)((const struct faulty_config *)self)->fault;
  (void)request;
  switch (fault) {
  case NOTHING:
    return TUTTI_OK;
  case NO_ROWS:
    return fill_table(its, 0, 0, rows);
  case RAGGED:
    return fill_table(its, 3, 2, rows);
  case LABELS_OF_A_TABLE:
    TUTTI_TRY(its, tutti_rows_add_labels(its, rows, 1, &(int64_t){1}));
    break;
  case FEW_LABELS:
    return fill_images(its, 3, 2, rows);
  case NO_LABELS:
    return fill_images(its, 3, 0, rows);
  case IMAGES_WITH_TARGETS:
    tutti_rows_set_targets(rows, 1);
    return fill_images(its, 3, 3, rows);
  case WRONG_BYTES:
    TUTTI_TRY(its, fill_images(its, 1, 1, rows));
    return tutti_rows_add_images(its, rows, 2, "12345", 5);
  case NO_SUCH_COLUMN:
    return tutti_rows_add_numbers(its, rows, 9, 1, &(double){1});
  case SILENT:
    return TUTTI_ERROR_NUMERIC;
  case SAYS_WHERE:
    return TUTTI_FAIL(its, TUTTI_ERROR_USAGE, "data.fault: found nothing there");
  default:
    break;
  }
  if (fault == MORE_TEST_ROWS)
    tutti_rows_set_test_rows(rows, 4);
  if (fault == LINES_OF_OTHERS)
    TUTTI_TRY(its, tutti_rows_add_lines(its, rows, 2, (uint32_t[]){1, 2}));
  if (fault == TARGETS_ALONE)
    tutti_rows_set_targets(rows, 2);
  if (fault == TASK_OF_NONE)
    tutti_rows_set_task(rows, TUTTI_TASK_VALUE);
  return fill_table(its, 3, 3, rows);
}

static const struct tutti_param faulty_params[] = {
    TUTTI_CHOICE(struct faulty_config, fault, "sound", faults, "What is wrong."),
};
static const struct tutti_source_ops faulty_ops = {.size = sizeof(struct tutti_source_ops), .read = source_read_faulty};

static struct tutti_descriptor descriptor_of(const char *name, struct tutti_params params,
                                             const struct tutti_source_ops *ops) {
  return (struct tutti_descriptor){TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_SOURCE, name),
                                   .version = "1",
                                   .summary = "for tests",
                                   .source = "",
                                   .licence = "Apache-2.0",
                                   .params = params,
                                   .ops = ops};
}

static enum tutti_status read_faulty(enum fault fault, const struct tutti_source_request *request, tutti_rows **rows) {
  struct tutti_host_facts facts = {.size = sizeof facts};
  struct tutti_source_setup setup = {.size = sizeof setup};
  tutti_host *host;
  tutti_source *source;
  ok(tutti_host_create(context, &facts, &host));
  ok(tutti_host_put(context, host, "data", TUTTI_KIND_SOURCE, "faulty"));
  ok(tutti_host_set(context, host, "data", "fault", faults[fault]));
  ok(tutti_source_create(context, host, "data", &setup, &source));
  enum tutti_status status = tutti_source_read(context, source, request, rows);
  tutti_source_destroy(source);
  tutti_host_destroy(host);
  return status;
}

static void breaches_are_named(void **state) {
  (void)state;
  static const struct {
    enum fault fault;
    enum tutti_status status;
    const char *message;
  } cases[] = {
      {NOTHING, TUTTI_ERROR_PLUGIN, "source faulty broke its contract: it gave neither columns nor images"},
      {NO_ROWS, TUTTI_ERROR_USAGE, "faulty: expected rows, found none"},
      {RAGGED, TUTTI_ERROR_PLUGIN, "faulty broke its contract: column 'a' has 3 cells, and column 'b' has 2"},
      {MORE_TEST_ROWS, TUTTI_ERROR_PLUGIN, "faulty broke its contract: 4 of its 3 rows are test rows"},
      {LINES_OF_OTHERS, TUTTI_ERROR_PLUGIN, "faulty broke its contract: it gave the lines of 2 rows, and 3 rows"},
      {TARGETS_ALONE, TUTTI_ERROR_PLUGIN, "faulty broke its contract: 2 of its 2 columns are targets"},
      {TASK_OF_NONE, TUTTI_ERROR_PLUGIN, "faulty broke its contract: it gave its rows a task of kind 2"},
      {LABELS_OF_A_TABLE, TUTTI_ERROR_PLUGIN, "faulty broke its contract: it gave labels of images, and a table"},
      {FEW_LABELS, TUTTI_ERROR_PLUGIN, "faulty broke its contract: it gave 2 labels for 3 images"},
      {NO_LABELS, TUTTI_ERROR_PLUGIN, "faulty broke its contract: it gave 0 labels for 3 images"},
      {IMAGES_WITH_TARGETS, TUTTI_ERROR_PLUGIN, "faulty broke its contract: it gave lines or targets of a table"},
      {WRONG_BYTES, TUTTI_ERROR_PLUGIN, "source faulty: 2 images of 2 x 2 x 1 have 4 bytes each, found 5 in all"},
      {NO_SUCH_COLUMN, TUTTI_ERROR_PLUGIN, "source faulty: there is no column 9"},
      {SILENT, TUTTI_ERROR_NUMERIC, "source faulty failed"},
      {SAYS_WHERE, TUTTI_ERROR_USAGE, "data.fault: found nothing there"},
  };
  struct tutti_descriptor faulty =
      descriptor_of("faulty", (struct tutti_params)TUTTI_PARAMS(faulty_params, struct faulty_config), &faulty_ops);
  struct tutti_source_request request = {.size = sizeof request};
  tutti_rows *rows;
  ok(tutti_plugin_register(context, &faulty));
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    fails(cases[i].status, cases[i].message, read_faulty(cases[i].fault, &request, &rows));
    assert_null(rows);
  }
  assert_true(strncmp(tutti_error_message(context), "data.", 5) == 0); /* not the plugin's fault, and not its name */
  ok(read_faulty(SOUND, &request, &rows));
  assert_int_equal(tutti_rows_count(rows), 3);
  tutti_rows_destroy(rows);
  /* Of new rows labels may be absent. */
  request.new_rows = true;
  ok(read_faulty(NO_LABELS, &request, &rows));
  assert_null(tutti_rows_labels(rows));
  tutti_rows_destroy(rows);
  fails(TUTTI_ERROR_PLUGIN, "2 labels for 3 images", read_faulty(FEW_LABELS, &request, &rows));
  /* A caller that knows the size alone asks for nothing in particular. */
  ok(read_faulty(SOUND, &(struct tutti_source_request){.size = sizeof(size_t), .path = "a.csv"}, &rows));
  tutti_rows_destroy(rows);
}

static bool source_reword_faulty(const void *self, const char *word, char *meaning) {
  (void)self;
  if (strcmp(word, "endless") == 0)
    memset(meaning, '1', TUTTI_SOURCE_WORD_ROOM);
  else
    memcpy(meaning, word, strlen(word) + 1);
  return strcmp(word, "none") != 0;
}

static bool source_mark_faulty(const void *self, size_t index, double *number) {
  (void)self;
  *number = index == 1 ? NAN : -999;
  return true;
}

static void words_that_are_reworded_to_texts(void **state) {
  (void)state;
  static const struct tutti_source_ops ops = {
      .size = sizeof ops, .read = source_read_faulty, .reword = source_reword_faulty, .mark = source_mark_faulty};
  struct tutti_descriptor faulty =
      descriptor_of("faulty", (struct tutti_params)TUTTI_PARAMS(faulty_params, struct faulty_config), &ops);
  struct tutti_host_facts facts = {.size = sizeof facts};
  struct tutti_source_setup setup = {.size = sizeof setup};
  char meaning[TUTTI_SOURCE_WORD_ROOM];
  tutti_host *host;
  tutti_source *source;
  bool other;
  ok(tutti_plugin_register(context, &faulty));
  ok(tutti_host_create(context, &facts, &host));
  ok(tutti_host_put(context, host, "data", TUTTI_KIND_SOURCE, "faulty"));
  ok(tutti_source_create(context, host, "data", &setup, &source));
  ok(tutti_source_reword(context, source, "5", meaning, &other));
  assert_true(other);
  ok(tutti_source_reword(context, source, "none", meaning, &other));
  assert_false(other);
  fails(TUTTI_ERROR_PLUGIN, "broke its contract: it says that 'five' is a number or missing",
        tutti_source_reword(context, source, "five", meaning, &other));
  fails(TUTTI_ERROR_PLUGIN, "'endless' is a number or missing",
        tutti_source_reword(context, source, "endless", meaning, &other));
  double mark;
  ok(tutti_source_mark(context, source, 0, &mark, &other));
  assert_true(other && mark == -999);
  fails(TUTTI_ERROR_PLUGIN, "mark 1 of missing cells, is a number",
        tutti_source_mark(context, source, 1, &mark, &other));
  fails(TUTTI_ERROR_PLUGIN, "mark 99999 of missing cells", tutti_source_mark(context, source, 99999, &mark, &other));
  tutti_source_destroy(source);
  tutti_host_destroy(host);
}

static void paths_that_are_not_read(void **state) {
  (void)state;
  struct tutti_descriptor faulty =
      descriptor_of("faulty", (struct tutti_params)TUTTI_PARAMS(faulty_params, struct faulty_config), &faulty_ops);
  tutti_rows *rows;
  ok(tutti_plugin_register(context, &faulty));
  struct tutti_source_request request = {.size = sizeof request, .path = "a.csv"};
  fails(TUTTI_ERROR_USAGE, "data.path: source faulty reads no file", read_faulty(SOUND, &request, &rows));
  request = (struct tutti_source_request){.size = sizeof request, .target_path = "a.csv"};
  fails(TUTTI_ERROR_USAGE, "data.target_path: source faulty has no", read_faulty(SOUND, &request, &rows));
  request = (struct tutti_source_request){.size = sizeof request, .test_path = "a.csv"};
  fails(TUTTI_ERROR_USAGE, "data.test_path: source faulty has no", read_faulty(SOUND, &request, &rows));
  request = (struct tutti_source_request){.size = sizeof request, .test_target_path = "a.csv"};
  fails(TUTTI_ERROR_USAGE, "data.test_target_path: source faulty has no", read_faulty(SOUND, &request, &rows));
}

/* --- which source reads a file --- */

static const char *const one_endings[] = {".one", ".tar.one", NULL}, *const other_endings[] = {".one", NULL},
                         *const any_endings[] = {"", NULL};
static const struct tutti_source_ops one_ops = {.size = sizeof(struct tutti_source_ops),
                                                .reads = TUTTI_SOURCE_PATH,
                                                .endings = one_endings,
                                                .read = source_read_faulty};
static const struct tutti_source_ops other_ops = {.size = sizeof(struct tutti_source_ops),
                                                  .reads = TUTTI_SOURCE_PATH,
                                                  .endings = other_endings,
                                                  .read = source_read_faulty};
static const struct tutti_source_ops any_ops = {.size = sizeof(struct tutti_source_ops),
                                                .reads = TUTTI_SOURCE_PATH,
                                                .endings = any_endings,
                                                .read = source_read_faulty};

static void finds(const char *path, const char *own, const char *expected) {
  const char *name;
  ok(tutti_source_find(context, path, own, &name));
  assert_string_equal(name, expected);
}

static void files_are_read_by_the_longest_ending(void **state) {
  (void)state;
  const struct tutti_params params = TUTTI_PARAMS(faulty_params, struct faulty_config);
  struct tutti_descriptor one = descriptor_of("one", params, &one_ops),
                          other = descriptor_of("other", params, &other_ops),
                          any = descriptor_of("any", params, &any_ops),
                          none = descriptor_of("none-at-all", params, &faulty_ops);
  char folder[] = "/tmp/tutti-source-XXXXXX", file[64];
  const char *name;
  setenv("TUTTI_PLUGIN_PATH", "", 1);
  setenv("TUTTI_PLUGIN_FOLDER", "", 1);
  fails(TUTTI_ERROR_USAGE, "a.one: no source reads files with this ending",
        tutti_source_find(context, "a.one", NULL, &name));
  /* One that cannot be loaded is passed over. */
  assert_non_null(mkdtemp(folder));
  (void)snprintf(file, sizeof file, "%s/source-broken.so", folder);
  FILE *broken = fopen(file, "w");
  assert_true(broken && fputs("no shared object", broken) >= 0 && fclose(broken) == 0);
  ok(tutti_plugin_path_add(context, folder));
  ok(tutti_plugin_register(context, &one));
  ok(tutti_plugin_register(context, &none));
  finds("a.one", NULL, "one");
  fails(TUTTI_ERROR_USAGE, "a.two: no source", tutti_source_find(context, "a.two", NULL, &name));
  fails(TUTTI_ERROR_USAGE, "a.two: no source", tutti_source_find(context, "a.two", "none-at-all", &name));
  fails(TUTTI_ERROR_USAGE, "a.two: no source", tutti_source_find(context, "a.two", "gone", &name));
  finds("a.two", "one", "one");
  ok(tutti_plugin_register(context, &any));
  finds("a.two", NULL, "any");
  finds("a.two", "one", "one"); /* the data set's own goes before one that takes all */
  finds("a.one", "any", "one");
  ok(tutti_plugin_register(context, &other));
  finds("a.tar.one", "other", "one");
  finds("a.one", "one", "one");
  finds("a.one", "other", "other");
  fails(TUTTI_ERROR_USAGE, "a.one: sources one and other both read files that end in '.one'; name one in data.plugin",
        tutti_source_find(context, "a.one", "any", &name));
  assert_int_equal(unlink(file), 0);
  assert_int_equal(rmdir(folder), 0);
}

/* --- in a recipe --- */

struct clashing_config {
  const char *target;
};
static const struct tutti_param clashing_params[] = {TUTTI_STRING(struct clashing_config, target, "", "Theirs.")};
struct format_config {
  const char *format;
};
static const struct tutti_param format_params[] = {TUTTI_STRING(struct format_config, format, "", "Theirs, too.")};

static void parameters_beside_those_of_the_data_set(void **state) {
  (void)state;
  struct tutti_descriptor clashing = descriptor_of(
                              "clashing", (struct tutti_params)TUTTI_PARAMS(clashing_params, struct clashing_config),
                              &faulty_ops),
                          format = descriptor_of("formatted",
                                                 (struct tutti_params)TUTTI_PARAMS(format_params, struct format_config),
                                                 &faulty_ops);
  char file[] = "/tmp/tutti-source-XXXXXX";
  tutti_recipe *recipe;
  int descriptor = mkstemp(file);
  assert_true(descriptor >= 0 && write(descriptor, "[data]\n", 7) == 7 && close(descriptor) == 0);
  ok(tutti_plugin_register(context, &clashing));
  ok(tutti_plugin_register(context, &format));
  fails(TUTTI_ERROR_PLUGIN,
        "source clashing broke its contract: its parameter 'target' has the name of a key of [data]",
        tutti_recipe_load(context, file, 1, (const char *[]){"data.plugin=clashing"}, &recipe));
  fails(TUTTI_ERROR_USAGE, "expected a source, or a path whose ending says which; found neither",
        tutti_recipe_load(context, file, 0, NULL, &recipe));
  fails(TUTTI_ERROR_USAGE, "--set data.plugin: expected the name of a source, found 'none'",
        tutti_recipe_load(context, file, 1, (const char *[]){"data.plugin=none"}, &recipe));
  /* A source may have a key of the old name. */
  ok(tutti_recipe_load(context, file, 2, (const char *[]){"data.plugin=formatted", "data.format=csv"}, &recipe));
  tutti_recipe_destroy(recipe);
  assert_int_equal(unlink(file), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(cells_of_a_table, begin, end),
      cmocka_unit_test_setup_teardown(many_cells, begin, end),
      cmocka_unit_test_setup_teardown(columns_are_found_by_name, begin, end),
      cmocka_unit_test_setup_teardown(rows_that_are_expected, begin, end),
      cmocka_unit_test_setup_teardown(rows_have_a_limit, begin, end),
      cmocka_unit_test_setup_teardown(images_of_one_shape, begin, end),
      cmocka_unit_test_setup_teardown(breaches_are_named, begin, end),
      cmocka_unit_test_setup_teardown(words_that_are_reworded_to_texts, begin, end),
      cmocka_unit_test_setup_teardown(paths_that_are_not_read, begin, end),
      cmocka_unit_test_setup_teardown(parameters_beside_those_of_the_data_set, begin, end),
      cmocka_unit_test_setup_teardown(files_are_read_by_the_longest_ending, begin, end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
