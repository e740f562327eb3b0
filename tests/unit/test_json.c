/* test_json.c - JSON to and from text: the same digits everywhere, and what cannot be written or read. */
#include "core/base/json_impl.h"
#include "plugins/shared/json.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>

static int setup(void **state) { return tutti_context_create((tutti_context **)state) == TUTTI_OK ? 0 : -1; }

static int teardown(void **state) {
  tutti_context_destroy(*state);
  return 0;
}

static void expect_text(char *text, const char *expected) {
  assert_string_equal(text, expected);
  tutti_free(text);
}

static void numbers_keep_their_bits(void **state) {
  char *text;
  json_t *back;
  assert_int_equal(tutti_json_line(*state, json_pack("{s:f, s:i}", "a", 0.1, "b", 2), &text), TUTTI_OK);
  assert_int_equal(tutti_json_parse(*state, text, 0, TUTTI_ERROR_USAGE, "it", &back), TUTTI_OK);
  assert_true(json_number_value(json_object_get(back, "a")) == 0.1);
  json_decref(back);
  expect_text(text, "{\"a\":0.10000000000000001,\"b\":2}");
}

static void lines_and_documents_end_as_they_should(void **state) {
  char *text;
  assert_int_equal(tutti_json_line(*state, json_string("x"), &text), TUTTI_OK);
  expect_text(text, "\"x\"");
  assert_int_equal(tutti_json_document(*state, json_pack("[i]", 1), &text), TUTTI_OK);
  expect_text(text, "[\n  1\n]\n");
}

static void what_could_not_be_made_is_an_error(void **state) {
  char *text = NULL;
  assert_int_equal(tutti_json_line(*state, json_pack("s", "\xff"), &text), TUTTI_ERROR_MEMORY);
  assert_non_null(strstr(tutti_error_message(*state), "UTF-8"));
  assert_int_equal(shared_json_print(*state, json_pack("{s:f}", "a", NAN), 0, "the state of x", &text),
                   TUTTI_ERROR_NUMERIC);
  assert_non_null(strstr(tutti_error_message(*state), "the state of x"));
  assert_null(text);
}

static void what_is_no_json_is_said_with_its_place(void **state) {
  json_t *root;
  assert_int_equal(tutti_json_parse(*state, "{\n \"a\": 1,", 0, TUTTI_ERROR_CORRUPT, "a thing", &root),
                   TUTTI_ERROR_CORRUPT);
  assert_non_null(strstr(tutti_error_message(*state), "expected a thing, line 2, column"));
  assert_null(root);
  assert_int_equal(
      tutti_json_parse(*state, "{\"a\": 1, \"a\": 2}", JSON_REJECT_DUPLICATES, TUTTI_ERROR_USAGE, "it", &root),
      TUTTI_ERROR_USAGE);
  assert_int_equal(shared_json_parse(*state, "", 0, "a cell", NULL, &root), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(*state), "expected a cell; line"));
  assert_int_equal(shared_json_parse(*state, "", 0, "a cell", "[1]", &root), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(*state), "expected a cell as [1]; line"));
}

static void plugins_choose_their_form(void **state) {
  char *text;
  json_t *back;
  assert_int_equal(shared_json_print(*state, json_pack("[i, i]", 1, 2), 0, "it", &text), TUTTI_OK);
  assert_int_equal(shared_json_parse(*state, text, 0, "it", NULL, &back), TUTTI_OK);
  assert_int_equal(json_array_size(back), 2);
  json_decref(back);
  expect_text(text, "[1, 2]");
}

static void no_number_is_null(void **state) {
  char *text;
  assert_int_equal(tutti_json_line(*state,
                                   json_pack("[o, o, o]", tutti_json_number(1), tutti_json_number(NAN),
                                             tutti_json_number(-INFINITY)),
                                   &text),
                   TUTTI_OK);
  expect_text(text, "[1.0,null,null]");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(numbers_keep_their_bits, setup, teardown),
      cmocka_unit_test_setup_teardown(lines_and_documents_end_as_they_should, setup, teardown),
      cmocka_unit_test_setup_teardown(what_could_not_be_made_is_an_error, setup, teardown),
      cmocka_unit_test_setup_teardown(what_is_no_json_is_said_with_its_place, setup, teardown),
      cmocka_unit_test_setup_teardown(plugins_choose_their_form, setup, teardown),
      cmocka_unit_test_setup_teardown(no_number_is_null, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
