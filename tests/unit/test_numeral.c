/* test_numeral.c - numbers as people write them: what each convention reads, and what stays a text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "plugins/shared/reading/numeral.h"

/* What a text is under a decimal point, under a comma, and where both may be; NULL: as it stands; "TEXT". */
static const struct {
  const char *text, *point, *comma, *either;
} cases[] = {
    {"3,5", NULL, "3.5", "3.5"},
    {"-0,125", NULL, "-0.125", "-0.125"},
    {"0,125", NULL, "0.125", "0.125"},
    {"1,234", "1234", "1.234", "1.234"},
    {"1,234,567", "1234567", NULL, "1234567"},
    {"1,234.5", "1234.5", NULL, "1234.5"},
    {"1.234,5", NULL, "1234.5", "1234.5"},
    {"1.234.567,25", NULL, "1234567.25", "1234567.25"},
    {"1.234", NULL, "1234", NULL},
    {"12.345.678", NULL, "12345678", NULL},
    {"3.5", NULL, "TEXT", NULL},
    {"1 234,5", NULL, "1234.5", "1234.5"},
    {"1 234.5", "1234.5", NULL, "1234.5"},
    {"1'234'567", "1234567", "1234567", "1234567"},
    {"1\u00a0234,5", NULL, "1234.5", "1234.5"},
    {"1\u202f234", "1234", "1234", "1234"},
    {"+3,5e-3", NULL, "+3.5e-3", "+3.5e-3"},
    {"12,34", NULL, "12.34", "12.34"},
    {"1234,567", NULL, "1234.567", "1234.567"},
    /* no numbers, whatever the convention */
    {"1,23,456", NULL, NULL, NULL},
    {"1,2345,678", NULL, NULL, NULL},
    {"1 23", NULL, NULL, NULL},
    {"1 234'567", NULL, NULL, NULL},
    {"01,234,567", NULL, NULL, NULL},
    {"3,5 m", NULL, NULL, NULL},
    {"2024-01-05 12:30", NULL, NULL, NULL},
    {"a,b", NULL, NULL, NULL},
    {",5", NULL, ".5", ".5"},
    {"-,25", NULL, "-.25", "-.25"},
    {",", NULL, NULL, NULL},
    {",5,5", NULL, NULL, NULL},
    {"", NULL, NULL, NULL},
    {"-", NULL, NULL, NULL},
    {"1.2.3.4", NULL, "TEXT", NULL},
    /* plain ones stay as they are */
    {"12", NULL, NULL, NULL},
    {"1e5", NULL, NULL, NULL},
};

static void reads(const char *text, enum reading_decimal decimal, const char *expected) {
  char out[READING_NUMERAL_ROOM] = "";
  enum reading_numeral is = reading_numeral(text, decimal, out), wanted = READING_PLAIN;
  if (expected)
    wanted = strcmp(expected, "TEXT") == 0 ? READING_TEXT : READING_NUMBER;
  if (is != wanted || (is == READING_NUMBER && strcmp(out, expected) != 0))
    fail_msg("'%s' under convention %d: found %d '%s', expected %d '%s'", text, decimal, is, out, wanted,
             expected ? expected : "");
}

static void each_convention_reads_its_own(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    reads(cases[i].text, READING_DECIMAL_POINT, cases[i].point);
    reads(cases[i].text, READING_DECIMAL_COMMA, cases[i].comma);
    reads(cases[i].text, READING_DECIMAL_EITHER, cases[i].either);
  }
}

/* Numbers without end are texts, and nothing is written beyond the room. */
static void long_texts_are_left_alone(void **state) {
  (void)state;
  char text[300], out[READING_NUMERAL_ROOM + 1];
  for (size_t length = 2; length < sizeof text; length++) {
    memset(text, '1', length);
    text[1] = ',';
    text[length] = '\0';
    out[READING_NUMERAL_ROOM] = '!';
    enum reading_numeral is = reading_numeral(text, READING_DECIMAL_COMMA, out);
    assert_int_equal(is, length > 2 && length < READING_NUMERAL_ROOM ? READING_NUMBER : READING_PLAIN);
    assert_int_equal(out[READING_NUMERAL_ROOM], '!');
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_convention_reads_its_own),
                                     cmocka_unit_test(long_texts_are_left_alone)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
