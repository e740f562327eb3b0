/* cell.c - reads a word of a text file. */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
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

/* Digits of a number, and how many there were. */
static const char *take_digits(const char *text, uint64_t *value, int *count) {
  for (; *text >= '0' && *text <= '9'; text++, ++*count)
    *value = 10 * *value + (uint64_t)(*text - '0');
  return text;
}

/* Behind the digits: the power of ten; anything else stays where it is. */
static const char *take_exponent(const char *text, int *power) {
  uint64_t value = 0;
  int count = 0;
  if (*text != 'e' && *text != 'E')
    return text;
  bool negative = text[1] == '-';
  const char *end = take_digits(text + 1 + (text[1] == '-' || text[1] == '+'), &value, &count);
  if (count == 0 || count > 3)
    return text;
  *power += negative ? -(int)value : (int)value;
  return end;
}

/* Most numbers are short: their digits are an integer of at most 2^53, and the power of ten behind it is at most 22.
   Both are doubles without rounding, so their product or quotient is rounded once, as strtod rounds (Clinger, How to
   read floating point numbers accurately, PLDI 1990, Section 3). False: it is not such a number. */
static bool read_short_number(const char *text, double *number) {
  static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  enum { MOST_DIGITS = 19, MOST_POWER = sizeof tens / sizeof tens[0] - 1 };
  uint64_t value = 0;
  int digits = 0, fraction = 0, power = 0;
  bool negative = *text == '-';
  const char *end = take_digits(text + (*text == '-' || *text == '+'), &value, &digits);
  if (*end == '.')
    end = take_digits(end + 1, &value, &fraction);
  digits += fraction;
  end = take_exponent(end, &power);
  power -= fraction;
  if (*end != '\0' || digits == 0 || digits > MOST_DIGITS || value > UINT64_C(1) << 53 || power < -MOST_POWER ||
      power > MOST_POWER || FLT_EVAL_METHOD != 0)
    return false;
  double size = power < 0 ? (double)value / tens[-power] : (double)value * tens[power];
  *number = negative ? -size : size;
  return true;
}

enum tutti_cell tutti_cell_read(const char *text, double *number) {
  char *end;
  if (read_short_number(text, number))
    return TUTTI_CELL_NUMBER;
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

bool tutti_cell_in_threes(const char *text, char sign) {
  static const char digits[] = "0123456789";
  text += *text == '-' || *text == '+';
  size_t whole = strspn(text, digits);
  return whole >= 1 && whole <= 3 && text[whole] == sign && strspn(text + whole + 1, digits) == 3 &&
         text[whole + 4] == '\0';
}
