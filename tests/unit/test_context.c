/* test_context.c - errors and their trace, log, cancel flag, threads; checked memory and texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tutti/context.h>

static tutti_context *context;

static int setup(void **state) {
  (void)state;
  return tutti_context_create(&context) != TUTTI_OK;
}

static int teardown(void **state) {
  (void)state;
  tutti_context_destroy(context);
  return 0;
}

static enum tutti_status innermost(void) { return TUTTI_FAIL(context, TUTTI_ERROR_IO, "cannot read %s", "it"); }

static enum tutti_status middle(void) {
  TUTTI_TRY(context, innermost());
  return TUTTI_OK;
}

static enum tutti_status outermost(bool *cleaned) {
  enum tutti_status status;
  TUTTI_TRY_OUT(context, middle());
out:
  *cleaned = true;
  return status;
}

static void test_error_passes_through_with_its_trace(void **state) {
  (void)state;
  bool cleaned = false;
  assert_string_equal(tutti_error_message(context), "");
  assert_non_null(strstr(tutti_error_message(NULL), "no memory")); /* callers need not ask whether there is one */
  assert_int_equal(outermost(&cleaned), TUTTI_ERROR_IO);
  assert_true(cleaned);
  assert_int_equal(tutti_error_status(context), TUTTI_ERROR_IO);
  assert_string_equal(tutti_error_message(context), "cannot read it");
  const char *trace = tutti_error_trace_text(context), *inner = strstr(trace, "innermost\n");
  const char *between = strstr(trace, "middle\n"), *outer = strstr(trace, "outermost\n");
  assert_true(inner && between && outer && inner < between && between < outer);
  assert_true(strncmp(trace, "test_context.c:", 15) == 0);
  tutti_error_clear(context);
  assert_int_equal(tutti_error_status(context), TUTTI_OK);
  assert_string_equal(tutti_error_message(context), "");
  assert_string_equal(tutti_error_trace_text(context), "");
}

static void test_new_error_replaces_the_old(void **state) {
  (void)state;
  (void)middle();
  /* Arguments may be the old message itself. */
  assert_int_equal(TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "again: %s", tutti_error_message(context)),
                   TUTTI_ERROR_NUMERIC);
  assert_string_equal(tutti_error_message(context), "again: cannot read it");
  assert_int_equal(tutti_error_status(context), TUTTI_ERROR_NUMERIC);
  assert_null(strstr(tutti_error_trace_text(context), "innermost"));
}

static void test_prefix(void **state) {
  (void)state;
  (void)innermost();
  assert_int_equal(tutti_error_prefix(context, TUTTI_ERROR_IO, "trial %d: ", 12), TUTTI_ERROR_IO);
  assert_int_equal(tutti_error_prefix(context, TUTTI_ERROR_IO, "run: "), TUTTI_ERROR_IO);
  assert_string_equal(tutti_error_message(context), "run: trial 12: cannot read it");
}

/* Texts and traces without end are cut, not overrun. */
static void test_long_messages_are_cut(void **state) {
  (void)state;
  enum { LONG = 100000 };
  char *text = malloc(LONG + 1);
  assert_non_null(text);
  memset(text, 'x', LONG);
  text[LONG] = '\0';
  (void)TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "begins, %s", text);
  size_t length = strlen(tutti_error_message(context));
  assert_true(length > 1000 && length < LONG);
  (void)tutti_error_prefix(context, TUTTI_ERROR_USAGE, "and %s", text);
  assert_true(strncmp(tutti_error_message(context), "and xxx", 7) == 0);
  assert_int_equal(strlen(tutti_error_message(context)), length);
  for (int i = 0; i < 10000; i++)
    (void)tutti_error_trace(context, TUTTI_ERROR_USAGE, "/a/folder/file.c", i, "function");
  assert_true(strlen(tutti_error_trace_text(context)) < LONG);
  assert_non_null(strstr(tutti_error_trace_text(context), "\nfile.c:0: function\n"));
  free(text);
}

struct heard {
  int count;
  enum tutti_log_level level;
  char message[100];
};

static void hear(void *argument, enum tutti_log_level level, const char *message) {
  struct heard *heard = argument;
  heard->count++;
  heard->level = level;
  (void)snprintf(heard->message, sizeof heard->message, "%s", message);
}

static void test_log(void **state) {
  (void)state;
  struct heard heard = {0};
  tutti_log(context, TUTTI_LOG_ERROR, "nobody hears this");
  tutti_log_to(context, hear, &heard);
  tutti_log(context, TUTTI_LOG_WARNING, "%d of %d", 1, 2);
  assert_int_equal(heard.count, 1);
  assert_int_equal(heard.level, TUTTI_LOG_WARNING);
  assert_string_equal(heard.message, "1 of 2");
  tutti_log_to(context, NULL, NULL);
  tutti_log(context, TUTTI_LOG_ERROR, "nor this");
  assert_int_equal(heard.count, 1);
}

static void test_contexts_are_apart(void **state) {
  (void)state;
  tutti_context *other;
  assert_int_equal(tutti_context_create(&other), TUTTI_OK);
  assert_int_equal(tutti_threads(other), 1);
  tutti_cancel(other);
  tutti_threads_set(other, 7);
  (void)TUTTI_FAIL(other, TUTTI_ERROR_FULL, "full");
  assert_false(tutti_cancelled(context));
  assert_true(tutti_cancelled(other));
  assert_int_equal(tutti_threads(context), 1);
  assert_int_equal(tutti_threads(other), 7);
  assert_string_equal(tutti_error_message(context), "");
  tutti_threads_set(other, 0);
  assert_int_equal(tutti_threads(other), 1);
  tutti_context_destroy(other);
  tutti_context_destroy(NULL);
}

static void test_status_names(void **state) {
  (void)state;
  for (int a = TUTTI_OK; a <= TUTTI_ERROR_INTERNAL; a++)
    for (int b = TUTTI_OK; b < a; b++)
      assert_string_not_equal(tutti_status_name((enum tutti_status)a), tutti_status_name((enum tutti_status)b));
  assert_string_equal(tutti_status_name(TUTTI_ERROR_USAGE), "usage");
  assert_string_equal(tutti_status_name((enum tutti_status)99), "unknown");
}

static void test_memory_is_zeroed_and_aligned(void **state) {
  (void)state;
  for (size_t count = 1; count < 300; count += 7) {
    unsigned char *bytes;
    assert_int_equal(tutti_alloc(context, count, 3, &bytes), TUTTI_OK);
    assert_int_equal((uintptr_t)bytes % 64, 0);
    for (size_t i = 0; i < 3 * count; i++)
      assert_int_equal(bytes[i], 0);
    memset(bytes, 0xff, 3 * count);
    tutti_free(bytes);
  }
}

static void test_memory_refuses(void **state) {
  (void)state;
  void *memory = &memory;
  assert_int_equal(tutti_alloc(context, SIZE_MAX / 2, 3, &memory), TUTTI_ERROR_MEMORY);
  assert_null(memory);
  assert_non_null(strstr(tutti_error_message(context), "overflows"));
  memory = &memory;
  assert_int_equal(tutti_alloc(context, SIZE_MAX, 1, &memory), TUTTI_ERROR_MEMORY);
  assert_null(memory);
  memory = &memory;
  assert_int_equal(tutti_alloc(context, 0, 8, &memory), TUTTI_OK);
  assert_null(memory);
  tutti_free(memory);
}

static void test_memory_grows_and_shrinks(void **state) {
  (void)state;
  int *numbers = NULL;
  assert_int_equal(tutti_realloc(context, 0, 4, sizeof *numbers, &numbers), TUTTI_OK);
  for (int i = 0; i < 4; i++)
    numbers[i] = i + 1;
  assert_int_equal(tutti_realloc(context, 4, 1000, sizeof *numbers, &numbers), TUTTI_OK);
  for (int i = 0; i < 1000; i++)
    assert_int_equal(numbers[i], i < 4 ? i + 1 : 0);
  /* What does not fit leaves the old array as it was. */
  int *kept = numbers;
  assert_int_equal(tutti_realloc(context, 1000, SIZE_MAX / 2, sizeof *numbers, &numbers), TUTTI_ERROR_MEMORY);
  assert_ptr_equal(numbers, kept);
  assert_int_equal(numbers[3], 4);
  assert_int_equal(tutti_realloc(context, 1000, 2, sizeof *numbers, &numbers), TUTTI_OK);
  assert_int_equal(numbers[1], 2);
  tutti_free(numbers);
}

static void test_texts(void **state) {
  (void)state;
  char *copy, *text;
  assert_int_equal(tutti_strdup(context, "", &copy), TUTTI_OK);
  assert_string_equal(copy, "");
  tutti_free(copy);
  assert_int_equal(tutti_strdup(context, "copied", &copy), TUTTI_OK);
  assert_int_equal(tutti_format(context, &text, "%s %0200d", copy, 7), TUTTI_OK);
  assert_int_equal(strlen(text), 207);
  assert_int_equal(text[206], '7');
  tutti_free(text);
  tutti_free(copy);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_error_passes_through_with_its_trace, setup, teardown),
      cmocka_unit_test_setup_teardown(test_new_error_replaces_the_old, setup, teardown),
      cmocka_unit_test_setup_teardown(test_prefix, setup, teardown),
      cmocka_unit_test_setup_teardown(test_long_messages_are_cut, setup, teardown),
      cmocka_unit_test_setup_teardown(test_log, setup, teardown),
      cmocka_unit_test_setup_teardown(test_contexts_are_apart, setup, teardown),
      cmocka_unit_test(test_status_names),
      cmocka_unit_test_setup_teardown(test_memory_is_zeroed_and_aligned, setup, teardown),
      cmocka_unit_test_setup_teardown(test_memory_refuses, setup, teardown),
      cmocka_unit_test_setup_teardown(test_memory_grows_and_shrinks, setup, teardown),
      cmocka_unit_test_setup_teardown(test_texts, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
