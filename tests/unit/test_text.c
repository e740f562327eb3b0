/* test_text.c - texts under construction, and numbers that read back to the same bits. */
#include "core/base/text.c"
#include "core/base/utf8_impl.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <tutti/random.h>

static tutti_context *context;

static int set_up(void **state) {
  (void)state;
  return tutti_context_create(&context) == TUTTI_OK ? 0 : -1;
}

static int tear_down(void **state) {
  (void)state;
  tutti_context_destroy(context);
  return 0;
}

static void expect_number(double number, const char *expected) {
  char text[TUTTI_NUMBER_SIZE];
  tutti_number_print(number, text);
  assert_string_equal(text, expected);
}

static void other_bytes_are_mended(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"", ""},
      {"a \u00fc \u20ac \U0001F600", "a \u00fc \u20ac \U0001F600"},
      {"Z\xfcrich", "Z?rich"},
      {"\u00fc\xc3", "\u00fc?"}, /* cut off */
      {"\xe2\x82 \xf0\x9f\x98", "?? ???"},
      {"\xc0\xaf\xe0\x80\xaf", "?????"}, /* longer than it has to be */
      {"\xed\xa0\x80", "???"},
      {"\xf4\x90\x80\x80\xff", "?????"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[32];
    (void)snprintf(text, sizeof text, "%s", cases[i][0]);
    tutti_text_mend(text);
    assert_string_equal(text, cases[i][1]);
  }
}

static void numbers_are_short(void **state) {
  (void)state;
  expect_number(0, "0");
  expect_number(-0.0, "-0");
  expect_number(0.1, "0.1");
  expect_number(1e-3, "0.001");
  expect_number(1e22, "1e+22");
  expect_number(1.0 / 3, "0.3333333333333333");
  expect_number(0.1 + 0.2, "0.30000000000000004");
  expect_number(INFINITY, "inf");
}

static void numbers_read_back_to_the_same_bits(void **state) {
  (void)state;
  struct tutti_random random;
  tutti_random_init(&random, 1, "numbers", 0);
  for (int i = 0; i < 20000; i++) {
    char text[TUTTI_NUMBER_SIZE];
    uint64_t bits = tutti_random_u64(&random);
    double number, back;
    memcpy(&number, &bits, sizeof number);
    if (isnan(number))
      continue;
    tutti_number_print(number, text);
    assert_true(tutti_number_parse(text, &back));
    assert_memory_equal(&number, &back, sizeof back);
  }
}

/* A locale that is made here, as none need be installed. */
static bool enter_locale_with_comma(void) {
  static const char definition[] = "LC_NUMERIC\ndecimal_point \",\"\nthousands_sep \".\"\ngrouping -1\nEND LC_NUMERIC\n"
                                   "LC_CTYPE\ncopy \"POSIX\"\nEND LC_CTYPE\n";
  char folder[] = "/tmp/tutti-locale-XXXXXX", path[64], command[256];
  if (!mkdtemp(folder) || setenv("LOCPATH", folder, 1) != 0)
    return false;
  (void)snprintf(path, sizeof path, "%s/definition", folder);
  FILE *file = fopen(path, "w");
  bool entered = file && fputs(definition, file) >= 0 && fclose(file) == 0;
  /* It warns of the categories that are not there, and ends with 1. */
  (void)snprintf(command, sizeof command, "localedef -c -i %s -f ANSI_X3.4-1968 %s/xx_YY >%s/log 2>&1 || true", path,
                 folder, folder);
  entered = entered && system(command) == 0 && setlocale(LC_NUMERIC, "xx_YY");
  (void)snprintf(command, sizeof command, "rm -r %s", folder);
  return system(command) == 0 && entered;
}

/* In a process where the point is a comma; skipped where there is no such locale, and none can be made. */
static void numbers_have_a_point_in_every_locale(void **state) {
  (void)state;
  double number;
  if (!enter_locale_with_comma())
    skip();
  expect_number(0.5, "0.5");
  assert_true(tutti_number_parse("0.5", &number));
  assert_true(number == 0.5);
  assert_string_equal(localeconv()->decimal_point, ",");
  (void)setlocale(LC_NUMERIC, "C");
}

static void only_whole_texts_are_numbers(void **state) {
  (void)state;
  static const char *const wrong[] = {"", " ", "x", "1x", "1 2", "--1", "1e"};
  double number;
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    if (tutti_number_parse(wrong[i], &number))
      fail_msg("\"%s\" is taken for %g", wrong[i], number);
  assert_true(tutti_number_parse("-2.5e3", &number));
  assert_true(number == -2500);
}

static void pieces_become_a_text(void **state) {
  (void)state;
  struct tutti_text text = tutti_text_begin(context);
  char *whole;
  for (int i = 0; i < 1000; i++)
    tutti_text_add(&text, "%d,", i % 10);
  tutti_text_add_number(&text, 0.5);
  tutti_text_add_json(&text, "a \"b\"\n");
  tutti_text_add_json(&text, "\xff");
  assert_int_equal(tutti_text_take(&text, &whole), TUTTI_OK);
  assert_int_equal(strncmp(whole, "0,1,2,3,4,5,6,7,8,9,0,", 22), 0);
  assert_string_equal(whole + 2000, "0.5\"a \\\"b\\\"\\n\"\"?\"");
  tutti_free(whole);
  assert_int_equal(tutti_text_take(&text, &whole), TUTTI_OK);
  assert_string_equal(whole, "");
  tutti_free(whole);
}

/* The first failure sticks: later pieces are dropped, and taking reports it. */
static void a_failure_is_reported_at_the_end(void **state) {
  (void)state;
  struct tutti_text text = tutti_text_begin(context);
  char *whole;
  tutti_text_add(&text, "kept");
  text.status = TUTTI_FAIL(context, TUTTI_ERROR_MEMORY, "no memory");
  tutti_text_add(&text, "dropped");
  assert_int_equal(tutti_text_take(&text, &whole), TUTTI_ERROR_MEMORY);
  assert_null(whole);
  assert_null(text.data);
}

static void blanks_at_the_ends_are_trimmed(void **state) {
  static const char *const pairs[][2] = {
      {"", ""}, {" \t\r\n\v\f", ""}, {"a b", "a b"}, {"\t a b\r\n ", "a b"}, {" \xa0", "\xa0"}};
  (void)state;
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    char text[16];
    (void)snprintf(text, sizeof text, "%s", pairs[i][0]);
    assert_string_equal(tutti_text_trim(text), pairs[i][1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_are_short),
      cmocka_unit_test(other_bytes_are_mended),
      cmocka_unit_test(numbers_read_back_to_the_same_bits),
      cmocka_unit_test(numbers_have_a_point_in_every_locale),
      cmocka_unit_test(only_whole_texts_are_numbers),
      cmocka_unit_test(pieces_become_a_text),
      cmocka_unit_test(blanks_at_the_ends_are_trimmed),
      cmocka_unit_test(a_failure_is_reported_at_the_end),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
