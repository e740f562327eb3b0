/* marks.c - marks of missing cells, and signs around numbers. */
#include "marks.h"

#include <stdio.h>
#include <string.h>
#include <tutti/names.h>
#include <tutti/rows.h>

#include "csv_plain.h"
#include "numeral.h"

static const char blanks[] = " \t";

/* Blanks between a sign and a number, also those that do not break: U+00A0 and U+202F. Their length. */
static size_t blank_at(const char *text, size_t length) {
  static const char *const all[] = {" ", "\t", "\u00a0", "\u202f"};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
    if (strlen(all[i]) <= length && memcmp(text, all[i], strlen(all[i])) == 0)
      return strlen(all[i]);
  return 0;
}

static size_t blank_before(const char *text, size_t length) {
  for (size_t width = 1; width <= 3 && width <= length; width++)
    if (blank_at(text + length - width, width) == width)
      return width;
  return 0;
}

bool reading_marks_have(const char *words, const char *text) {
  const char *word;
  size_t length, whole = strlen(text);
  while (tutti_list_next(&words, blanks, &word, &length))
    if (length == whole && memcmp(word, text, length) == 0)
      return true;
  return false;
}

static bool is_number(const char *word, size_t length, double *number) {
  char mark[READING_MARKS_ROOM], plain[READING_NUMERAL_ROOM];
  (void)snprintf(mark, sizeof mark, "%.*s", (int)(length < sizeof mark ? length : 0), word);
  bool rewritten =
      !tutti_cell_in_threes(mark, ',') && reading_numeral(mark, READING_DECIMAL_EITHER, plain) == READING_NUMBER;
  enum tutti_cell kind = tutti_cell_read(rewritten ? plain : mark, number);
  return !csv_has_zeros(mark) && (kind == TUTTI_CELL_NUMBER || kind == TUTTI_CELL_INFINITE);
}

bool reading_marks_next_number(const char **words, double *number) {
  const char *word;
  size_t length;
  while (tutti_list_next(words, blanks, &word, &length))
    if (is_number(word, length, number))
      return true;
  return false;
}

/* Is a part of a word a number, where commas and semicolons part it? */
static bool has_number_part(const char *whole) {
  const char *part;
  size_t length;
  double number;
  while (tutti_list_next(&whole, ",;", &part, &length))
    if (is_number(part, length, &number))
      return true;
  return false;
}

bool reading_marks_are_listed(const char *words, char *first, char *sign) {
  const char *word;
  size_t length;
  double number;
  while (tutti_list_next(&words, blanks, &word, &length)) {
    char whole[READING_MARKS_ROOM];
    (void)snprintf(whole, sizeof whole, "%.*s", (int)(length < sizeof whole ? length : 0), word);
    size_t at = strcspn(whole, ",;");
    bool one = is_number(word, length, &number) || tutti_cell_in_threes(whole, ',');
    if (whole[at] == '\0' || strpbrk(whole, blanks) || one || !has_number_part(whole))
      continue;
    *sign = whole[at];
    whole[at] = '\0';
    memcpy(first, whole, at + 1);
    return true;
  }
  return false;
}

bool reading_marks_have_number(const char *words, double number) {
  double mark;
  while (reading_marks_next_number(&words, &mark))
    if (mark == number)
      return true;
  return false;
}

static bool strip(const char *text, const char *word, size_t length, char *out) {
  bool is_signed = *text == '-' || *text == '+';
  const char *sign = is_signed ? text : "", *rest = text + is_signed;
  size_t left = strlen(rest);
  if (left > length && memcmp(rest, word, length) == 0) {
    rest += length;
    left -= length;
    for (size_t blank; (blank = blank_at(rest, left)) > 0; left -= blank)
      rest += blank;
  } else if (left > length && memcmp(rest + left - length, word, length) == 0) {
    left -= length;
    for (size_t blank; (blank = blank_before(rest, left)) > 0;)
      left -= blank;
  } else {
    return false;
  }
  int written = snprintf(out, READING_MARKS_ROOM, "%.*s%.*s", (int)is_signed, sign, (int)left, rest);
  return left > 0 && written > 0 && written < READING_MARKS_ROOM;
}

bool reading_marks_strip(const char *words, const char *text, char *out) {
  const char *word;
  size_t length;
  while (tutti_list_next(&words, blanks, &word, &length))
    if (strip(text, word, length, out))
      return true;
  return false;
}
