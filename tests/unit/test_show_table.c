/* test_show_table.c - tables for people: what fits beside what, and that no width loses a cell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "program/program_impl.h"
#include "program/table.h"

#include <cmocka.h> /* after what has a function fail */
#include <stdlib.h>
#include <string.h>

static size_t terminal; /* its columns; SIZE_MAX: there is none */
size_t table_width(FILE *out) {
  (void)out;
  return terminal;
}

/* The text of a table on a terminal of so many columns; free it. */
static char *shown(struct table *table, size_t columns) {
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  assert_non_null(out);
  terminal = columns;
  table_end(table, out);
  assert_int_equal(fclose(out), 0);
  return text;
}

static void assert_shown(struct table table, size_t columns, const char *expected) {
  char *text = shown(&table, columns);
  assert_string_equal(text, expected);
  free(text);
}

static struct table metrics(void) {
  static const char *const names[] = {"nll", "rmse", "nll-moments"}, *const units[] = {"nats", "francs", "nats"};
  struct table table = table_begin(1);
  table_column(&table, TABLE_TEXT, "metric");
  table_column(&table, TABLE_NUMBER, "validation");
  table_column(&table, TABLE_NUMBER, "test");
  table_column(&table, TABLE_UNIT, "");
  for (int i = 0; i < 3; i++) {
    table_cell(&table, "%s", names[i]);
    table_cell(&table, "%.3f", 10.5 * i);
    table_cell(&table, "%.3f", -1.25 * i);
    table_cell(&table, "%s", units[i]);
  }
  return table;
}

/* Units go below only where no column has room beside them. */
static void columns_without_room_stand_below(void **state) {
  (void)state;
  assert_shown(metrics(), SIZE_MAX,
               "  metric       validation    test\n"
               "  nll               0.000  -0.000  nats\n"
               "  rmse             10.500  -1.250  francs\n"
               "  nll-moments      21.000  -2.500  nats\n");
  assert_shown(metrics(), 33,
               "  metric       validation\n"
               "  nll               0.000  nats\n"
               "  rmse             10.500  francs\n"
               "  nll-moments      21.000  nats\n"
               "\n"
               "  metric         test\n"
               "  nll          -0.000  nats\n"
               "  rmse         -1.250  francs\n"
               "  nll-moments  -2.500  nats\n");
  assert_shown(metrics(), 26,
               "  metric       validation\n"
               "  nll               0.000\n"
               "  rmse             10.500\n"
               "  nll-moments      21.000\n"
               "\n"
               "  metric         test\n"
               "  nll          -0.000\n"
               "  rmse         -1.250\n"
               "  nll-moments  -2.500\n"
               "\n"
               "  nats: nll, nll-moments\n"
               "  francs: rmse\n");
}

static struct table trials(void) {
  struct table table = table_begin(2);
  table_column(&table, TABLE_NUMBER, "trial");
  table_column(&table, TABLE_TEXT, "state");
  table_column(&table, TABLE_PROSE, "origin");
  table_cell(&table, "%d", 7);
  table_cell(&table, "finished");
  table_cell(&table, "child of trial 3, with another\nlearning rate");
  return table;
}

static void sentences_go_on_below_their_begin(void **state) {
  (void)state;
  assert_shown(trials(), 40,
               "  trial  state     origin\n"
               "      7  finished  child of trial 3,\n"
               "                   with another learning\n"
               "                   rate\n");
  assert_shown(trials(), 30,
               "  trial  state\n"
               "      7  finished\n"
               "      child of trial 3, with\n"
               "      another learning rate\n");
}

static struct table duels(void) {
  struct table table = table_begin(1);
  table_column(&table, TABLE_TEXT, "");
  table_column(&table, TABLE_NUMBER, "rank");
  table_group(&table, "won");
  table_column(&table, TABLE_TEXT, "A");
  table_column(&table, TABLE_TEXT, "B");
  table_group(&table, "p");
  table_column(&table, TABLE_NUMBER, "A");
  table_column(&table, TABLE_NUMBER, "B");
  for (int i = 0; i < 2; i++) {
    table_cell(&table, "%c", 'A' + i);
    table_cell(&table, "%d", i + 1);
    for (int k = 0; k < 4; k++)
      table_cell(&table, "%.2f", 0.25 * k);
  }
  return table;
}

/* A group that has no room behind others begins a block, and has its name there. */
static void groups_stay_together(void **state) {
  (void)state;
  assert_shown(duels(), SIZE_MAX,
               "           won         p\n"
               "     rank  A     B        A     B\n"
               "  A     1  0.00  0.25  0.50  0.75\n"
               "  B     2  0.00  0.25  0.50  0.75\n");
  assert_shown(duels(), 30,
               "           won\n"
               "     rank  A     B\n"
               "  A     1  0.00  0.25\n"
               "  B     2  0.00  0.25\n"
               "\n"
               "     p\n"
               "        A     B\n"
               "  A  0.50  0.75\n"
               "  B  0.50  0.75\n");
}

enum { COLUMNS = 7, ROWS = 3 };

/* Names of many lengths, which end in their number; numbers; two columns that stay together. */
static struct table many(void) {
  static const char name[] = "a-name-that-is-quite-long";
  struct table table = table_begin(1);
  table_column(&table, TABLE_TEXT, "key");
  for (int i = 1; i < COLUMNS; i++) {
    char heading[64];
    (void)snprintf(heading, sizeof heading, "%.*s%d", i * 5 % 26, name, i);
    table_column(&table, i % 2 ? TABLE_NUMBER : TABLE_TEXT, heading);
    if (i == 4)
      table_join(&table);
  }
  for (int row = 0; row < ROWS; row++) {
    table_cell(&table, "row%d", row);
    for (int i = 1; i < COLUMNS; i++)
      table_cell(&table, "%s%d.%d5", i % 2 ? "123456" : "", 100 + i, row); /* numbers are wider than a text has to be */
  }
  return table;
}

/* Whatever the width, from the 30 that the longest row needs: no line is longer, each cell is there once, and columns
   that stand together share a line. */
static void no_width_loses_a_cell(void **state) {
  (void)state;
  for (size_t width = 30; width < 140; width++) {
    struct table table = many();
    char *text = shown(&table, width), *rest = text, *line;
    size_t found = 0, together = 0;
    while ((line = strsep(&rest, "\n"))) {
      assert_in_range(strlen(line), 0, width);
      if (*line)
        assert_true(line[strlen(line) - 1] != ' ');
      for (const char *dot = line; (dot = strstr(dot, "5")) != NULL; dot++)
        found += dot >= line + 2 && dot[-2] == '.' && (dot[1] == ' ' || dot[1] == '\0');
      together += strstr(line, "103.") && strstr(line, "104.");
    }
    assert_int_equal(found, ROWS * (COLUMNS - 1));
    assert_int_equal(together, ROWS);
    free(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(columns_without_room_stand_below),
      cmocka_unit_test(sentences_go_on_below_their_begin),
      cmocka_unit_test(groups_stay_together),
      cmocka_unit_test(no_width_loses_a_cell),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
