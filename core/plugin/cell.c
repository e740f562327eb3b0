/* cell.c - reads a word of a text file. */
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/rows.h>

static bool is_one_of(const char *text, size_t count, const char *const *words) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(text, words[i]) == 0)
      return true;
  return false;
}

static bool is_missing(const char *text) {
  static const char *const marks[] = {"",    "?",    "NA",   "N/A",  "na",   "n/a",  "nan", "NaN",
                                      "NAN", "-nan", "-NaN", "null", "NULL", "<NA>", "#NA", "#N/A"};
  return is_one_of(text, sizeof marks / sizeof marks[0], marks);
}

static bool is_infinity(const char *text) {
  static const char *const words[] = {"inf", "Inf", "INF", "infinity", "Infinity", "INFINITY"};
  return is_one_of(text + (*text == '-' || *text == '+'), sizeof words / sizeof words[0], words);
}

/* strtod follows the process's locale, which may want a comma for the point. A comma never gets here, so if strtod
   stops at a point, the text is read again in the C locale. */
static double number_in_c_locale(const char *text, char **end) {
  double number = strtod(text, end);
  if (**end != '.')
    return number;
  locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
  if (!c)
    return number;
  locale_t before = uselocale(c);
  number = strtod(text, end);
  (void)uselocale(before);
  freelocale(c);
  return number;
}

enum tutti_cell tutti_cell_read(const char *text, double *number) {
  char *end;
  *number = NAN;
  if (is_missing(text))
    return TUTTI_CELL_MISSING;
  if (text[strspn(text, "+-.0123456789eE")] == '\0') {
    *number = number_in_c_locale(text, &end);
    if (end == text || *end != '\0')
      *number = NAN;
  } else if (is_infinity(text)) {
    *number = *text == '-' ? -HUGE_VAL : HUGE_VAL;
  }
  return isnan(*number) ? TUTTI_CELL_TEXT : isinf(*number) ? TUTTI_CELL_INFINITE : TUTTI_CELL_NUMBER;
}
