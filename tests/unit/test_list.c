/* test_list.c - lists in a recipe: what separates their items, and quotes that keep one together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <tutti/names.h>

/* The items, each in brackets. */
static void expect(const char *list, const char *signs, const char *items) {
  char found[256] = "";
  const char *rest = list, *item;
  size_t length, used = 0;
  while (tutti_list_next(&rest, signs, &item, &length))
    used += (size_t)snprintf(found + used, sizeof found - used, "[%.*s]", (int)length, item);
  assert_string_equal(found, items);
}

static void items(void **state) {
  (void)state;
  expect("", " \t", "");
  expect(" \t ", " \t", "");
  expect("a", " \t", "[a]");
  expect(" - \t-999 ", " \t", "[-][-999]");
  expect("a, b c ,,d", ",", "[a][b c][d]");
  expect("a,b", " \t", "[a,b]");
}

static void quotes_keep_an_item_together(void **state) {
  (void)state;
  expect("\"Prefer not to say\" -99", " \t", "[Prefer not to say][-99]");
  expect("-99 \"a b\"", " \t", "[-99][a b]");
  expect("\"Zip, home\", y", ",", "[Zip, home][y]");
  expect("\"Zip, home\"", ",", "[Zip, home]");
  expect("y , \"a, b\" ,z", ",", "[y][a, b][z]");
  /* others are a part of the text */
  expect("5\" 7\"", " \t", "[5\"][7\"]");
  expect("\" a", " \t", "[\"][a]");
  expect("\"\" a", " \t", "[\"\"][a]");
  expect("\"a\"b c", " \t", "[\"a\"b][c]");
  expect("w \"q\", y", ",", "[w \"q\"][y]");
}

static void signs_outside_of_quotes(void **state) {
  (void)state;
  static const char list[] = "\"a, b\" c, d";
  assert_ptr_equal(tutti_list_find(list, ","), list + 8);
  assert_null(tutti_list_find("\"a, b\" c", ","));
  assert_null(tutti_list_find("", ","));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(items),
      cmocka_unit_test(quotes_keep_an_item_together),
      cmocka_unit_test(signs_outside_of_quotes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
