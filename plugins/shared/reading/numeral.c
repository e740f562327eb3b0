/* numeral.c - rewrites numbers with a decimal comma or marks between digits. */
#include "numeral.h"

#include <stdbool.h>
#include <string.h>

/* Marks that may stand between groups of three digits: the one given, blanks (also the ones that do not break: U+00A0
   and U+202F), an apostrophe (also U+2019). Returns its length; 0: there is none. */
static size_t mark_length(const char *text, char mark) {
  static const char *const marks[] = {" ", "'", "\u2019", "\u00a0", "\u202f"};
  if (*text == mark && mark)
    return 1;
  for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
    if (strncmp(text, marks[i], strlen(marks[i])) == 0)
      return strlen(marks[i]);
  return 0;
}

static size_t digits_at(const char *text) { return strspn(text, "0123456789"); }

/* The digits before the fraction (none: ,5), in groups of three behind the first if they are marked; the rest of the
   text. NULL: groups are wrong. */
static const char *take_whole(const char *text, char sign, char mark, char **out, bool *marked) {
  size_t digits = digits_at(text), length = mark_length(text + digits, mark);
  memcpy(*out, text, digits);
  *out += digits;
  *marked = length > 0;
  if ((digits == 0 && *text != sign) || (*marked && (digits > 3 || *text == '0')))
    return NULL;
  text += digits;
  const char *first = text;
  while (*marked && strncmp(text, first, length) == 0) {
    text += length;
    if (digits_at(text) != 3)
      return NULL;
    memcpy(*out, text, 3);
    *out += 3;
    text += 3;
  }
  return text;
}

/* The number with this decimal sign; `mark` may group its digits. */
static bool rewrite(const char *text, char sign, char mark, char *out) {
  char *end = out;
  bool marked;
  if (*text == '-' || *text == '+')
    *end++ = *text++;
  text = take_whole(text, sign, mark, &end, &marked);
  if (!text)
    return false;
  bool fraction = *text == sign;
  if (fraction) {
    size_t digits = digits_at(text + 1);
    if (digits == 0)
      return false;
    *end++ = '.';
    memcpy(end, text + 1, digits);
    end += digits;
    text += 1 + digits;
  }
  if ((*text == 'e' || *text == 'E') && fraction) { /* 1.500e3 is hardly 1500e3 */
    size_t length = strlen(text);
    memcpy(end, text, length);
    end += length;
    text += length;
  }
  *end = '\0';
  return *text == '\0' && (marked || (fraction && sign == ','));
}

/* Is a comma of the text a mark between groups beyond doubt: is there a point, or another comma? */
static bool marks_groups(const char *text) {
  const char *comma = strchr(text, ',');
  return !comma || strchr(text, '.') || strchr(comma + 1, ',');
}

/* A number that says itself what its signs are, or, if it does not, has a decimal comma. */
static bool rewrite_either(const char *text, char *out) {
  return (marks_groups(text) && rewrite(text, '.', ',', out)) || (strchr(text, ',') && rewrite(text, ',', '.', out));
}

enum reading_numeral reading_numeral(const char *text, enum reading_decimal decimal, char *out) {
  /* Most cells are plain numbers, or have no digit where a number has one. A point alone says something only where
     commas are decimal signs. */
  const bool commas = decimal == READING_DECIMAL_COMMA || decimal == READING_DECIMAL_COMMA_FIRST,
             points = decimal == READING_DECIMAL_POINT || decimal == READING_DECIMAL_POINT_FIRST;
  const char *signs = commas ? ", .'\xc2\xe2" : ", '\xc2\xe2";
  if (text[strcspn(text, signs)] == '\0' || strlen(text) >= READING_NUMERAL_ROOM || strcspn(text, "0123456789") > 2)
    return READING_PLAIN;
  if (decimal > READING_DECIMAL_EITHER && strpbrk(text, "eE"))
    return rewrite_either(text, out) ? READING_NUMBER
                                     : READING_PLAIN; /* digits before an exponent are hardly grouped */
  if ((commas && rewrite(text, ',', '.', out)) || (points && rewrite(text, '.', ',', out)))
    return READING_NUMBER;
  if (decimal == READING_DECIMAL_COMMA)
    return strchr(text, '.') && text[strspn(text, "+-.0123456789eE")] == '\0' ? READING_TEXT : READING_PLAIN;
  return decimal != READING_DECIMAL_POINT && rewrite_either(text, out) ? READING_NUMBER : READING_PLAIN;
}
