/* test_text.c - texts under construction, and numbers that read back to the same bits. */
#include "core/base/text.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
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

/* In a process where the point is a comma; skipped where no such locale is installed. */
static void numbers_have_a_point_in_every_locale(void **state) {
  (void)state;
  double number;
  if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8"))
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_are_short),
      cmocka_unit_test(numbers_read_back_to_the_same_bits),
      cmocka_unit_test(numbers_have_a_point_in_every_locale),
      cmocka_unit_test(only_whole_texts_are_numbers),
      cmocka_unit_test(pieces_become_a_text),
      cmocka_unit_test(a_failure_is_reported_at_the_end),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
