/* test_show_metrics.c - results for people: the table of metrics joins splits by the names of their metrics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "program/show_metrics.c"

#include <cmocka.h> /* after what has a function fail */

static size_t terminal; /* its columns; 0: there is none */
size_t table_width(FILE *out) {
  (void)out;
  return terminal ? terminal : SIZE_MAX;
}

/* The text shown for an evaluation in JSON; free it. */
static char *shown(const char *json) {
  char *text = NULL;
  size_t size;
  json_t *evaluation = json_loads(json, 0, NULL);
  assert_non_null(evaluation);
  FILE *out = open_memstream(&text, &size);
  assert_non_null(out);
  show_evaluation(evaluation, out);
  assert_int_equal(fclose(out), 0);
  json_decref(evaluation);
  return text;
}

#define METRIC(name, value) "{\"name\": \"" name "\", \"value\": " value ", \"unit\": \"u\"}"
#define SPLIT(name, first, second) "{\"split\": \"" name "\", \"metrics\": [" first ", " second "]}"

static void other_names_get_a_table_of_their_own(void **state) {
  (void)state;
  char *text = shown("[" SPLIT("test", METRIC("nll", "1.5"), METRIC("error", "0.25")) ", " SPLIT(
      "ood", METRIC("entropy", "2"), METRIC("confidence", "0.75")) "]");
  assert_string_equal(text, "\n  metric     test\n"
                            "  nll      1.5000  u\n"
                            "  error   0.25000  u\n"
                            "\n  metric          ood\n"
                            "  entropy      2.0000  u\n"
                            "  confidence  0.75000  u\n");
  free(text);
}

static void values_stand_beside_their_names(void **state) {
  (void)state;
  char *text = shown("[" SPLIT("test", METRIC("nll", "1.5"), METRIC("error", "0.25")) ", " SPLIT(
      "test-1", METRIC("error", "0.5"), METRIC("nll", "3")) "]");
  assert_string_equal(text, "\n  metric     test   test-1\n"
                            "  nll      1.5000   3.0000  u\n"
                            "  error   0.25000  0.50000  u\n");
  free(text);
}

#define CALIBRATED(name, value)                                                                                        \
  "{\"split\": \"" name "\", \"metrics\": [" METRIC("nll", value) "], \"calibrated\": [" METRIC("nll", "2") "]}"

/* The columns of what is calibrated stay beside their own; a long name keeps both ends, and its letters whole. */
static void a_table_is_as_wide_as_the_terminal(void **state) {
  static const char json[] = "[" CALIBRATED("test", "1.5") ", " CALIBRATED("\u00e4bcdefghijklmnopqrstuvwxyz1", "3") "]";
  (void)state;
  terminal = 53;
  char *text = shown(json);
  terminal = 0;
  assert_string_equal(text, "\n  metric    test  calibrated\n"
                            "  nll     1.5000      2.0000  u\n"
                            "\n  metric  äbcdefghijklmnopqrstuvwxyz1  calibrated\n"
                            "  nll                          3.0000      2.0000  u\n");
  free(text);
  terminal = 40;
  text = shown(json);
  terminal = 0;
  assert_non_null(strstr(text, "\n  metric  äbcdef...vwxyz1  calibrated\n  nll              3.0000      2.0000  u\n"));
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(other_names_get_a_table_of_their_own),
      cmocka_unit_test(values_stand_beside_their_names),
      cmocka_unit_test(a_table_is_as_wide_as_the_terminal),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
