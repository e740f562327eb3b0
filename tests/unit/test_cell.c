/* test_cell.c - words as numbers: each has the bits that strtod gives, and what strtod does not take to its end is a
   text. */
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/random.h>
#include <tutti/rows.h>

#include <cmocka.h>

static uint64_t bits_of(double number) {
  uint64_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits;
}

static void check(const char *text) {
  char *end;
  double wanted = strtod(text, &end), number = 1;
  bool is_number = end != text && *end == '\0';
  enum tutti_cell kind = tutti_cell_read(text, &number);
  enum tutti_cell right = !is_number ? TUTTI_CELL_TEXT : isinf(wanted) ? TUTTI_CELL_INFINITE : TUTTI_CELL_NUMBER;
  if (kind != right || (is_number ? bits_of(number) != bits_of(wanted) : !isnan(number)))
    fail_msg("'%s' is of kind %d, %a; strtod: kind %d, %a", text, (int)kind, number, (int)right, wanted);
}

/* Where the short way ends: 19 digits, 2^53, ten to the 22nd; halves that round to even; what only looks like a
   number. */
static void test_borders(void **state) {
  (void)state;
  static const char *const words[] = {"0",
                                      "-0",
                                      "+3",
                                      "5.",
                                      ".5",
                                      "-.5e1",
                                      ".",
                                      "-",
                                      "+-1",
                                      "1.2.3",
                                      "1e",
                                      "1e+",
                                      "1e5.",
                                      "e5",
                                      "E",
                                      "1E+5",
                                      "1e-5",
                                      "1e022",
                                      "1e0022",
                                      "1e-0000",
                                      "9007199254740992",
                                      "9007199254740993",
                                      "9007199254740995e0",
                                      "900719925474099.3",
                                      "18446744073709551615",
                                      "18446744073709551617",
                                      "36893488147419103233",
                                      "0000000000000000000001",
                                      "1234567890123456789",
                                      "0.000000000000000001",
                                      "0.0000000000000000001",
                                      "1e22",
                                      "1e23",
                                      "1e-22",
                                      "1e-23",
                                      "3e22",
                                      "9007199254740992e22",
                                      "9007199254740991e-22",
                                      "0.1",
                                      "0.3",
                                      "123.456e20",
                                      "123.456e-20",
                                      "1e308",
                                      "1e309",
                                      "-1e999",
                                      "1e9999",
                                      "1e-999",
                                      "4.9e-324",
                                      "2.2250738585072011e-308",
                                      "1-",
                                      "1+1",
                                      "--1"};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    check(words[i]);
}

/* Up to 22 digits, a point anywhere or nowhere, an exponent or none. */
static void test_random_numbers(void **state) {
  (void)state;
  struct tutti_random random;
  tutti_random_init(&random, 1, "numbers", 0);
  for (int round = 0; round < 300000; round++) {
    char text[64], *at = text;
    size_t digits = 1 + (size_t)tutti_random_below(&random, 22);
    size_t point = (size_t)tutti_random_below(&random, 2 * digits + 1);
    if (tutti_random_below(&random, 2))
      *at++ = '-';
    for (size_t i = 0; i < digits; i++) {
      if (i == point)
        *at++ = '.';
      *at++ = (char)('0' + tutti_random_below(&random, 10));
    }
    *at = '\0';
    if (tutti_random_below(&random, 2))
      (void)snprintf(at, 16, "e%d", (int)tutti_random_below(&random, 61) - 30);
    check(text);
  }
}

/* What programs write of doubles, in few digits and in all. */
static void test_printed_doubles(void **state) {
  (void)state;
  struct tutti_random random;
  tutti_random_init(&random, 2, "numbers", 0);
  for (int round = 0; round < 100000; round++) {
    char text[64];
    double number = tutti_random_normal(&random) * pow(10, (double)tutti_random_below(&random, 13) - 6);
    (void)snprintf(text, sizeof text, "%.*g", 1 + (int)tutti_random_below(&random, 17), number);
    check(text);
  }
}

static void test_words(void **state) {
  (void)state;
  static const struct {
    const char *text;
    enum tutti_cell kind;
  } words[] = {{"", TUTTI_CELL_MISSING},       {"NA", TUTTI_CELL_MISSING},   {"nan", TUTTI_CELL_MISSING},
               {"-nan", TUTTI_CELL_MISSING},   {"inf", TUTTI_CELL_INFINITE}, {"-Infinity", TUTTI_CELL_INFINITE},
               {"0x10", TUTTI_CELL_TEXT},      {" 1", TUTTI_CELL_TEXT},      {"1 ", TUTTI_CELL_TEXT},
               {"1e400", TUTTI_CELL_INFINITE}, {"1f", TUTTI_CELL_TEXT},      {"nan(1)", TUTTI_CELL_TEXT}};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    double number;
    if (tutti_cell_read(words[i].text, &number) != words[i].kind)
      fail_msg("'%s' is not of kind %d", words[i].text, (int)words[i].kind);
  }
}

static void test_words_in_threes(void **state) {
  (void)state;
  static const struct {
    const char *text;
    char sign;
    bool is;
  } words[] = {{"1.500", '.', true},    {"-12.345", '.', true},    {"+123.456", '.', true},   {"0.500", '.', true},
               {"1,500", ',', true},    {"1,500", '.', false},     {"1.500", ',', false},     {"1234.567", '.', false},
               {".500", '.', false},    {"1.50", '.', false},      {"1.5000", '.', false},    {"1.500e2", '.', false},
               {"--1.500", '.', false}, {"1.500.000", '.', false}, {"1,234.567", '.', false}, {"a.500", '.', false},
               {"1500", '.', false},    {"", '.', false},          {"-", '.', false}};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
    if (tutti_cell_in_threes(words[i].text, words[i].sign) != words[i].is)
      fail_msg("'%s' with '%c' is not %d", words[i].text, words[i].sign, words[i].is);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_borders), cmocka_unit_test(test_random_numbers),  cmocka_unit_test(test_printed_doubles),
      cmocka_unit_test(test_words),   cmocka_unit_test(test_words_in_threes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
