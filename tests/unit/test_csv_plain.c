/* test_csv_plain.c - rows that are read as they stand have the cells, lines and errors that libcsv gives them: texts of
   all kinds are read both ways, strictly and as far as they can be. What is cancelled is not read to its end. */
#include "plugins/shared/reading/csv_file.h"
#include "plugins/shared/reading/csv_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/rows.h>
#include <unistd.h>

static tutti_context *context;
static char path[64];

static int set_up(void **state) {
  (void)state;
  (void)snprintf(path, sizeof path, "/tmp/tutti-csv-XXXXXX");
  int file = mkstemp(path);
  return file >= 0 && close(file) == 0 && tutti_context_create(&context) == TUTTI_OK ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  tutti_context_destroy(context);
  return unlink(path);
}

/* What was handed over, as text; two files may be told apart by it. */
struct trace {
  char *text;
  size_t length;
  FILE *out;
  size_t columns, plain;
};

static void print_cell(const struct trace *trace, const char *text) {
  double number;
  if (tutti_cell_read(text, &number) == TUTTI_CELL_NUMBER)
    (void)fprintf(trace->out, "[%a]", number);
  else
    (void)fprintf(trace->out, "[%s]", text);
}

static enum tutti_status take(void *argument, const struct csv_row *row, char why[CSV_FILE_WHY]) {
  struct trace *trace = argument;
  if (trace->columns > 0 && row->count != trace->columns) {
    (void)snprintf(why, CSV_FILE_WHY, "found %zu cells", row->count);
    return TUTTI_OK;
  }
  trace->columns = row->count;
  (void)fprintf(trace->out, "%zu:", row->line);
  for (size_t i = 0; i < row->count; i++)
    print_cell(trace, csv_row_cell(row, i));
  (void)fputc('\n', trace->out);
  return TUTTI_OK;
}

static enum tutti_status take_strictly(void *argument, const struct csv_row *row, char why[CSV_FILE_WHY]) {
  TUTTI_TRY(context, take(argument, row, why));
  return why[0] ? TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%zu: %s", row->line, why) : TUTTI_OK;
}

static enum tutti_status leave_out(void *argument, size_t line, const char *why) {
  const struct trace *trace = argument;
  (void)fprintf(trace->out, "%zu: %s\n", line, why);
  return TUTTI_OK;
}

static size_t columns_of(void *argument, bool *reads_numbers) {
  const struct trace *trace = argument;
  *reads_numbers = true;
  return trace->columns;
}

static enum tutti_status expect_rows(void *argument, size_t rows) {
  (void)argument, (void)rows;
  return TUTTI_OK;
}

static enum tutti_status take_plain(void *argument, const struct csv_plain *row) {
  struct trace *trace = argument;
  (void)fprintf(trace->out, "%zu:", row->line);
  for (size_t i = 0; i < row->columns; i++)
    if (row->texts[i] == CSV_PLAIN_NUMBER)
      (void)fprintf(trace->out, "[%a]", row->numbers[i]);
    else
      print_cell(trace, row->text + row->texts[i]);
  (void)fputc('\n', trace->out);
  trace->plain++;
  return TUTTI_OK;
}

static struct trace read_file(int delimiter, bool plain, bool tolerant) {
  struct trace trace = {.columns = 0};
  struct csv_taker taker = {
      .take = tolerant ? take : take_strictly, .leave_out = tolerant ? leave_out : NULL, .argument = &trace};
  const struct csv_layout layout = {delimiter, 0};
  if (plain) {
    taker.columns = columns_of;
    taker.expect = expect_rows;
    taker.take_plain = take_plain;
  }
  trace.out = open_memstream(&trace.text, &trace.length);
  assert_non_null(trace.out);
  enum tutti_status status = csv_file_read(context, path, &layout, &taker);
  (void)fprintf(trace.out, "%s %s\n", tutti_status_name(status),
                status == TUTTI_OK ? "" : tutti_error_message(context));
  tutti_error_clear(context);
  assert_int_equal(fclose(trace.out), 0);
  return trace;
}

static void write_file(const char *text, size_t length) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
}

/* The rows that were read as they stand. */
static size_t check(int delimiter, const char *text, size_t length) {
  size_t plain = 0;
  write_file(text, length);
  for (int tolerant = 0; tolerant < 2; tolerant++) {
    struct trace one = read_file(delimiter, false, tolerant), other = read_file(delimiter, true, tolerant);
    if (one.length != other.length || memcmp(one.text, other.text, one.length) != 0)
      fail_msg("of the text\n%.*s\nlibcsv makes\n%s\nand the other way\n%s", (int)(length < 2000 ? length : 2000), text,
               one.text, other.text);
    plain += other.plain;
    free(one.text);
    free(other.text);
  }
  return plain;
}

static size_t below(uint64_t *state, size_t count) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (size_t)(*state >> 33) % count;
}

/* A text of pieces that are drawn from a list. */
static size_t draw(uint64_t *state, size_t count, const char *const *pieces, size_t pieces_count, char *text) {
  size_t length = 0;
  for (size_t i = 0; i < pieces_count; i++) {
    const char *piece = pieces[below(state, count)];
    size_t bytes = *piece ? strlen(piece) : 1; /* the empty piece is a zero byte */
    for (size_t k = 0; k < bytes; k++)
      text[length++] = piece[k];
  }
  return length;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* All that delimits, with the character that is written for it. */
static const struct {
  int delimiter;
  char character;
} delimiters[] = {
    {READING_DELIMITER_COMMA, ','}, {READING_DELIMITER_SEMICOLON, ';'}, {READING_DELIMITER_TAB, '\t'},
    {READING_DELIMITER_SPACE, ' '}, {READING_DELIMITER_PIPE, '|'},      {READING_DELIMITER_BLANKS, ' '},
};

/* Let any of them be where the text has commas, and read it: the rows that were read as they stand. */
static size_t check_with_any(uint64_t *random, char *text, size_t length) {
  size_t d = below(random, COUNT(delimiters));
  for (size_t i = 0; i < length; i++)
    text[i] = text[i] == ',' ? delimiters[d].character : text[i];
  return check(delimiters[d].delimiter, text, length);
}

static void texts_of_all_kinds(void **state) {
  static const char *const wild[] = {"1",  "2",       "9",     ".",      "-",      "+",  "e",   "12345678", ",",   ",",
                                     ",",  ",",       "\n",    "\n",     "\r\n",   "\r", " ",   "\t",       "\"",  "a",
                                     "\"", "\"a b\"", "\"1\"", ",\"\",", "0.0001", "",   "nan", "x\ny",     "1e5", ";"};
  uint64_t random = 1;
  char text[4096];
  (void)state;
  for (int i = 0; i < 9000; i++) {
    size_t length = draw(&random, COUNT(wild), wild, below(&random, 60), text);
    (void)check_with_any(&random, text, length);
  }
}

/* Such as tables are: most rows are easy. */
static void texts_like_tables(void **state) {
  static const char *const cells[] = {"1",
                                      "-2.5",
                                      "0.333333333",
                                      "123456789012",
                                      "1234567890123456789",
                                      "red",
                                      "",
                                      " 7",
                                      "8 ",
                                      "\"blue\"",
                                      "\" a,b \"",
                                      "1e-7",
                                      "-",
                                      ".5",
                                      "5.",
                                      "-.25",
                                      "+3",
                                      "inf",
                                      "\"x\"\"y\"",
                                      "0",
                                      "00012.50",
                                      "2.5.1",
                                      "99999999",
                                      "99999999.99999999",
                                      "\"4\" ",
                                      "12345678.1234567",
                                      "-0.0",
                                      "1844674407370955.1617", /* 2^64 and 1, as digits */
                                      "9007199254740993"};
  uint64_t random = 2;
  size_t plain = 0;
  static char text[1 << 20];
  (void)state;
  for (int i = 0; i < 1500; i++) {
    size_t columns = 1 + below(&random, 5), rows = i % 300 == 0 ? 20000 : 1 + below(&random, 12), length = 0;
    const char *line_end = below(&random, 3) == 0 ? "\r\n" : "\n";
    for (size_t r = 0; r < rows && length < sizeof text - 1000; r++) {
      size_t count = below(&random, 40) == 0 ? 1 + below(&random, 6) : columns;
      for (size_t c = 0; c < count; c++)
        length += (size_t)sprintf(text + length, "%s%s", c > 0 ? "," : "", cells[below(&random, COUNT(cells))]);
      length += (size_t)sprintf(text + length, "%s", line_end);
    }
    length -= below(&random, 4) == 0 ? strlen(line_end) : 0;
    plain += check_with_any(&random, text, length);
  }
  assert_true(plain > 50000);
}

/* Runs of blanks and tabs between the cells and around the rows: one delimiter between cells, none around rows. */
static void texts_between_blanks(void **state) {
  static const char *const cells[] = {"1", "-2.5", "?", "1e-7", "red", "\"light blue\"", "\"\"", "12345678.25", "0012"};
  static const char *const gaps[] = {" ", "  ", "\t", " \t ", "      "}, *const ends[] = {"", " ", "\t", "   "};
  uint64_t random = 3;
  size_t plain = 0;
  static char text[1 << 20], commas[1 << 20];
  (void)state;
  for (int i = 0; i < 600; i++) {
    size_t columns = 1 + below(&random, 5), rows = i % 200 == 0 ? 20000 : 1 + below(&random, 12), length = 0, other = 0;
    for (size_t r = 0; r < rows && length < sizeof text - 1000; r++) {
      length += (size_t)sprintf(text + length, "%s", ends[below(&random, COUNT(ends))]);
      for (size_t c = 0; c < columns; c++) {
        const char *cell = cells[below(&random, COUNT(cells))];
        length += (size_t)sprintf(text + length, "%s%s", c > 0 ? gaps[below(&random, COUNT(gaps))] : "", cell);
        other += (size_t)sprintf(commas + other, "%s%s", c > 0 ? "," : "", cell);
      }
      length += (size_t)sprintf(text + length, "%s\n", ends[below(&random, COUNT(ends))]);
      other += (size_t)sprintf(commas + other, "\n");
    }
    plain += check(READING_DELIMITER_BLANKS, text, length);
    struct trace one = read_file(READING_DELIMITER_BLANKS, true, false);
    write_file(commas, other);
    struct trace two = read_file(READING_DELIMITER_COMMA, true, false);
    assert_string_equal(one.text, two.text);
    free(one.text);
    free(two.text);
  }
  assert_true(plain > 50000);
}

static enum tutti_status take_and_cancel(void *argument, const struct csv_row *row, char why[CSV_FILE_WHY]) {
  size_t *taken = argument;
  (void)row, (void)why;
  ++*taken;
  tutti_cancel(context);
  return TUTTI_OK;
}

/* Cancelled at its first row, a file of 4 MiB ends with what was in memory by then. */
static void cancelled_files_end_early(void **state) {
  enum { LINE = 4, LINES = 1 << 20 };
  static char text[LINE * LINES];
  const struct csv_layout layout = {READING_DELIMITER_COMMA, 0};
  size_t taken = 0;
  const struct csv_taker taker = {.take = take_and_cancel, .argument = &taken};
  (void)state;
  for (size_t i = 0; i < LINES; i++)
    memcpy(text + LINE * i, "1,2\n", LINE);
  write_file(text, sizeof text);
  assert_int_equal(csv_file_read(context, path, &layout, &taker), TUTTI_ERROR_CANCELLED);
  assert_in_range(taken, 1, LINES / 4);
  tutti_context_destroy(context);
  assert_int_equal(tutti_context_create(&context), TUTTI_OK); /* one that is not cancelled */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(texts_of_all_kinds),
      cmocka_unit_test(texts_like_tables),
      cmocka_unit_test(texts_between_blanks),
      cmocka_unit_test(cancelled_files_end_early),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
