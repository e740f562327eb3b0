/* source.c - the contract of kind source. A generator reads by itself; a source of files gets files that are nothing,
   and a sound one where the command line names it: --set source/NAME.path=FILE, target_path=FILE. */
#include "conform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct subject {
  struct tutti_host_facts facts;
  tutti_host *host;
  tutti_source *source;
  const char *path, *target_path; /* of a sound file; NULL */
};

/* The value of a setting that is no parameter. */
static const char *setting_of(const struct conform *conform, const char *key) {
  char prefix[128];
  const char *value = NULL;
  (void)snprintf(prefix, sizeof prefix, "source/%s.%s=", conform->name, key);
  for (size_t i = 0; i < conform->setting_count; i++)
    if (strncmp(conform->settings[i], prefix, strlen(prefix)) == 0)
      value = conform->settings[i] + strlen(prefix);
  return value;
}

static void open_subject(struct conform *conform, struct subject *subject) {
  *subject = (struct subject){.facts = {.size = sizeof subject->facts, .seed = WORLD_SEED},
                              .path = setting_of(conform, "path"),
                              .target_path = setting_of(conform, "target_path")};
  subject->host = world_host(conform, &subject->facts);
  struct tutti_source_setup setup = {.size = sizeof setup, .host = subject->host};
  TRY(conform, tutti_source_create(conform->context, subject->host, "source", &setup, &subject->source));
}

static void close_subject(struct subject *subject) {
  tutti_source_destroy(subject->source);
  tutti_host_destroy(subject->host);
}

static bool reads_files(const struct subject *subject) {
  return tutti_source_reads(subject->source) & TUTTI_SOURCE_PATH;
}

/* Skip the check of a source of files for which there is no sound one. */
static void need_rows(struct conform *conform, const struct subject *subject) {
  if (reads_files(subject) && !subject->path)
    conform_skip(conform, "a file is needed (give it by --set source/%s.path=FILE)", conform->name);
}

static struct tutti_source_request request_of(const struct subject *subject) {
  return (struct tutti_source_request){.size = sizeof(struct tutti_source_request),
                                       .path = subject->path,
                                       .target_path = subject->target_path,
                                       .seed = WORLD_SEED};
}

static tutti_rows *read_rows(struct conform *conform, const struct subject *subject) {
  struct tutti_source_request request = request_of(subject);
  tutti_rows *rows;
  const void *given = conform_given(conform, "the request", &request, sizeof request);
  TRY(conform, tutti_source_read(conform->context, subject->source, given, &rows));
  return rows;
}

/* --- checks --- */

static void check_names(struct conform *conform) {
  const struct tutti_params *params = &conform->descriptor->params;
  for (size_t i = 0; i < params->count; i++) {
    const char *name = tutti_params_at(params, i)->name;
    REQUIRE(conform, strcmp(name, "plugin") != 0 && !tutti_params_find(tutti_data_params(), name),
            "the parameter '%s' has the name of a key of [data]", name);
  }
}

static void check_endings(struct conform *conform) {
  struct tutti_source_ops ops = {0};
  size_t has = *(const size_t *)conform->descriptor->ops;
  memcpy(&ops, conform->descriptor->ops, has < sizeof ops ? has : sizeof ops);
  REQUIRE(conform, !ops.endings || !ops.endings[0] || (ops.reads & TUTTI_SOURCE_PATH),
          "it has endings of files, and reads none");
  REQUIRE(conform,
          (ops.reads & TUTTI_SOURCE_PATH) || !(ops.reads & (TUTTI_SOURCE_TARGET_PATH | TUTTI_SOURCE_TEST_PATH)),
          "it reads a second file, and no first");
  for (size_t i = 0; ops.endings && ops.endings[i]; i++) {
    REQUIRE(conform, !ops.endings[i][0] || ops.endings[i][0] == '.', "the ending '%s' does not start with a point",
            ops.endings[i]);
    for (size_t j = 0; j < i; j++)
      REQUIRE(conform, strcmp(ops.endings[i], ops.endings[j]) != 0, "the ending '%s' is there twice", ops.endings[i]);
  }
}

static void require_same_cell(struct conform *conform, const tutti_rows *a, const tutti_rows *b, size_t row,
                              size_t column) {
  double x = tutti_rows_number(a, row, column), y = tutti_rows_number(b, row, column);
  REQUIRE(conform,
          tutti_rows_cell(a, row, column) == tutti_rows_cell(b, row, column) &&
              (tutti_rows_cell(a, row, column) > TUTTI_CELL_INFINITE || memcmp(&x, &y, sizeof x) == 0) &&
              strcmp(tutti_rows_text(a, row, column), tutti_rows_text(b, row, column)) == 0,
          "row %zu, column '%s' differs: %g '%s', then %g '%s'", row, tutti_rows_names(a)[column], x,
          tutti_rows_text(a, row, column), y, tutti_rows_text(b, row, column));
}

static void require_same_images(struct conform *conform, const tutti_rows *a, const tutti_rows *b) {
  struct tutti_shape x = tutti_rows_shape(a), y = tutti_rows_shape(b);
  size_t size = tutti_rows_element(a) == TUTTI_F32 ? sizeof(float) : 1, rows = tutti_rows_count(a);
  REQUIRE(conform,
          x.height == y.height && x.width == y.width && x.channels == y.channels &&
              tutti_rows_element(a) == tutti_rows_element(b),
          "the images have another shape the second time");
  REQUIRE(conform,
          memcmp(tutti_rows_pixels(a), tutti_rows_pixels(b),
                 rows * (size_t)x.height * (size_t)x.width * (size_t)x.channels * size) == 0 &&
              memcmp(tutti_rows_labels(a), tutti_rows_labels(b), rows * sizeof(int64_t)) == 0,
          "the images or their labels differ the second time");
}

static void require_same(struct conform *conform, const tutti_rows *a, const tutti_rows *b) {
  size_t rows = tutti_rows_count(a), columns = tutti_rows_columns(a);
  REQUIRE(conform,
          rows == tutti_rows_count(b) && columns == tutti_rows_columns(b) &&
              tutti_rows_test_rows(a) == tutti_rows_test_rows(b) && tutti_rows_targets(a) == tutti_rows_targets(b),
          "%zu rows of %zu columns, then %zu of %zu", rows, columns, tutti_rows_count(b), tutti_rows_columns(b));
  for (size_t c = 0; c < columns; c++) {
    REQUIRE(conform, strcmp(tutti_rows_names(a)[c], tutti_rows_names(b)[c]) == 0, "column %zu is '%s', then '%s'", c,
            tutti_rows_names(a)[c], tutti_rows_names(b)[c]);
    for (size_t r = 0; r < rows; r++)
      require_same_cell(conform, a, b, r, c);
  }
  if (tutti_rows_are_images(a))
    require_same_images(conform, a, b);
}

static void check_determinism(struct conform *conform) {
  struct subject one, other;
  open_subject(conform, &one);
  open_subject(conform, &other);
  need_rows(conform, &one);
  tutti_rows *first = read_rows(conform, &one), *again = read_rows(conform, &one), *twin = read_rows(conform, &other);
  require_same(conform, first, again);
  require_same(conform, first, twin);
  tutti_rows_destroy(first), tutti_rows_destroy(again), tutti_rows_destroy(twin);
  close_subject(&one);
  close_subject(&other);
}

/* The same file as new rows: the targets may be missing, but not the rows or their inputs. */
static void check_new_rows(struct conform *conform) {
  struct subject subject;
  tutti_rows *fresh;
  open_subject(conform, &subject);
  if (!reads_files(&subject))
    conform_skip(conform, "it reads no files");
  need_rows(conform, &subject);
  tutti_rows *rows = read_rows(conform, &subject);
  bool images = tutti_rows_are_images(rows);
  struct tutti_source_request request = {.size = sizeof request,
                                         .path = subject.path,
                                         .new_rows = true,
                                         .named = tutti_rows_named(rows),
                                         .wanted = images ? TUTTI_ROWS_IMAGES : TUTTI_ROWS_TABLE};
  TRY(conform, tutti_source_read(conform->context, subject.source, &request, &fresh));
  REQUIRE(conform, tutti_rows_are_images(fresh) == images, "new rows are %s, and those of the data set are not",
          images ? "a table" : "images");
  REQUIRE(conform, tutti_rows_count(fresh) == tutti_rows_count(rows) - tutti_rows_test_rows(rows),
          "the file has %zu new rows, and %zu rows", tutti_rows_count(fresh), tutti_rows_count(rows));
  REQUIRE(conform, images || tutti_rows_columns(fresh) >= tutti_rows_columns(rows) - tutti_rows_targets(rows),
          "new rows have %zu columns, and those of the data set %zu", tutti_rows_columns(fresh),
          tutti_rows_columns(rows));
  tutti_rows_destroy(rows), tutti_rows_destroy(fresh);
  close_subject(&subject);
}

/* Files of bytes that mean nothing are refused with a message, or read; they break nothing. */
static void check_nonsense(struct conform *conform) {
  struct subject subject;
  struct tutti_random random;
  char path[] = "/tmp/tutti-conform-XXXXXX";
  open_subject(conform, &subject);
  if (!reads_files(&subject))
    conform_skip(conform, "it reads no files");
  int file = mkstemp(path);
  REQUIRE(conform, file >= 0, "cannot make a temporary file");
  (void)close(file);
  tutti_random_init(&random, WORLD_SEED, "nonsense", 0);
  for (size_t bytes = 0; bytes < 20000; bytes = 3 * bytes + 1) {
    FILE *stream = fopen(path, "wb");
    for (size_t i = 0; stream && i < bytes; i++)
      (void)fputc((int)tutti_random_below(&random, 256), stream);
    REQUIRE(conform, stream && fclose(stream) == 0, "cannot write a temporary file");
    struct tutti_source_request request = {.size = sizeof request, .path = path, .new_rows = bytes % 2 == 0};
    tutti_rows *rows;
    enum tutti_status status = tutti_source_read(conform->context, subject.source, &request, &rows);
    if (status != TUTTI_OK && status != TUTTI_ERROR_USAGE)
      (void)unlink(path);
    REQUIRE(conform, status == TUTTI_OK || status == TUTTI_ERROR_USAGE,
            "%zu random bytes: expected rows, or a usage error, found: %s", bytes,
            tutti_error_message(conform->context));
    tutti_rows_destroy(rows);
  }
  (void)unlink(path);
  close_subject(&subject);
}

/* What it says of the words of an application is a number or nothing, and it says the same again. */
static void check_words(struct conform *conform) {
  static const char *const words[] = {"",      "5",     "-",  "-999",   "1,234", "1,234.5", "1.234,5", "3,5",
                                      "$ 5",   "5 %",   "1'", "a text", "True",  "inf",     "NA",      "2022-03-04",
                                      "1e999", "1 234", "?",  "0x10",   "--5",   "+",       "5,",      ",5"};
  char meaning[TUTTI_SOURCE_WORD_ROOM], again[TUTTI_SOURCE_WORD_ROOM];
  struct subject subject;
  bool other, same;
  open_subject(conform, &subject);
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    TRY(conform, tutti_source_reword(conform->context, subject.source, words[i], meaning, &other));
    TRY(conform, tutti_source_reword(conform->context, subject.source, words[i], again, &same));
    REQUIRE(conform, other == same && (!other || strcmp(meaning, again) == 0),
            "the word '%s' has two meanings, one after the other", words[i]);
  }
  close_subject(&subject);
}

/* Numbers that mark missing cells have an end, and are no cells of what it read: those are missing. */
static void check_marks(struct conform *conform) {
  struct subject subject;
  char word[32], meaning[TUTTI_SOURCE_WORD_ROOM];
  double mark, again;
  bool any, same, missing = false;
  open_subject(conform, &subject);
  TRY(conform, tutti_source_mark(conform->context, subject.source, 0, &mark, &any));
  if (!any)
    conform_skip(conform, "it has none (give it some by --set source/%s.KEY=VALUE)", conform->name);
  need_rows(conform, &subject);
  tutti_rows *rows = read_rows(conform, &subject);
  for (size_t c = 0; c < tutti_rows_columns(rows); c++)
    for (size_t r = 0; r < tutti_rows_count(rows); r++)
      missing = missing || tutti_rows_cell(rows, r, c) == TUTTI_CELL_MISSING;
  for (size_t i = 0; any; i++) {
    TRY(conform, tutti_source_mark(conform->context, subject.source, i, &again, &same));
    REQUIRE(conform, same && again == mark, "mark %zu is %g, and then another number or none", i, mark);
    (void)snprintf(word, sizeof word, "%.17g", mark);
    TRY(conform, tutti_source_reword(conform->context, subject.source, word, meaning, &same));
    REQUIRE(conform, same && !*meaning, "%s marks a missing cell, and as a word it is none", word);
    for (size_t c = 0; c < tutti_rows_columns(rows); c++)
      for (size_t r = 0; r < tutti_rows_count(rows); r++)
        REQUIRE(conform,
                tutti_rows_cell(rows, r, c) > TUTTI_CELL_INFINITE || *tutti_rows_text(rows, r, c) ||
                    tutti_rows_number(rows, r, c) != mark,
                "row %zu, column '%s' is %g, which marks a missing cell", r, tutti_rows_names(rows)[c], mark);
    TRY(conform, tutti_source_mark(conform->context, subject.source, i + 1, &mark, &any));
  }
  tutti_rows_destroy(rows);
  close_subject(&subject);
  if (!missing)
    conform_skip(conform, "no cell is missing (give a file with marked ones by --set source/%s.path=FILE)",
                 conform->name);
}

const struct conform_check conform_source[] = {
    {"its parameters are not keys of the data set", check_names},
    {"its endings are endings", check_endings},
    {"the same request gives the same rows", check_determinism},
    {"a file's rows are read as new ones, too", check_new_rows},
    {"bytes that mean nothing are refused in peace", check_nonsense},
    {"words of an application are numbers, missing or left alone", check_words},
    {"numbers that mark missing cells have an end, and are in no cell", check_marks},
    {NULL, NULL},
};
