/* profile_marks.c - what hides the numbers of a column: one sign at each of them, one mark of missing cells, or a
   decimal comma. */
#include <stdio.h>
#include <string.h>

#include "profile_impl.h"

static const char digits[] = "0123456789";

/* A number with a decimal point, whose digits before it may stand in groups of three. */
static bool is_number(const char *text, size_t length) {
  char plain[64];
  double number;
  size_t bytes = 0, group = 0;
  bool marked = false, fraction = false;
  for (size_t i = 0; i < length; i++) {
    bool mark = strchr(",' ", text[i]) && !fraction;
    if (bytes + 1 == sizeof plain || (mark && (marked ? group != 3 : group == 0 || group > 3 || text[0] == '0')))
      return false;
    marked = marked || mark;
    fraction = fraction || text[i] == '.';
    if (fraction && marked && text[i] == '.' && group != 3)
      return false;
    group = mark ? 0 : group + !fraction;
    if (!mark)
      plain[bytes++] = text[i];
  }
  plain[bytes] = '\0';
  return (!marked || group == 3) && tutti_cell_read(plain, &number) == TUTTI_CELL_NUMBER;
}

/* A number with a decimal comma; points may group the digits before it. */
static bool is_comma_number(const char *text, size_t length) {
  char swapped[64];
  size_t sign = length > 0 && (*text == '-' || *text == '+'), commas = 0;
  if (length >= sizeof swapped)
    return false;
  for (size_t i = 0; i < length; i++) {
    if (i >= sign && !strchr("0123456789.,", text[i]))
      return false;
    commas += text[i] == ',';
    swapped[i] = text[i] == ',' ? '.' : text[i] == '.' ? ',' : text[i];
  }
  return commas > 0 && is_number(swapped + sign, length - sign);
}

static bool is_letter(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
}

/* What was found around a number. */
struct found {
  char sign[TUTTI_MARK_ROOM];
  bool comma; /* its decimal sign is a comma */
  bool name;  /* letters before a whole number, as in Q1 or user 17 */
};

/* The text without a number in it and without blanks around that: a sign; false: there is no number, or two signs. */
static bool sign_of(const char *text, struct found *found) {
  bool negative = *text == '-' || *text == '+';
  text += negative;
  size_t before = strcspn(text, "0123456789"), end = strlen(text);
  if (text[before] == '\0')
    return false;
  while (!strchr(digits, text[end - 1]))
    end--;
  bool plain = is_number(text + before, end - before); /* 1,000 may be either */
  found->comma = !plain && is_comma_number(text + before, end - before);
  if (!plain && !found->comma)
    return false;
  found->name = before > 0 && is_letter(*text) && strspn(text + before, digits) == end - before;
  const char *behind = text + end + strspn(text + end, " ");
  size_t length = before ? before : strlen(behind);
  while (before && length > 0 && strchr(" -+", text[length - 1])) {
    length--;
    if (text[length] != ' ' && negative) /* -$-3 has a sign too many */
      return false;
  }
  if ((before && *behind) || length == 0 || length >= TUTTI_MARK_ROOM)
    return false;
  memcpy(found->sign, before ? text : behind, length);
  found->sign[length] = '\0';
  return !strpbrk(found->sign, " \t");
}

bool tutti_profile_sign(const tutti_rows *table, size_t column, char sign[TUTTI_MARK_ROOM], bool *comma) {
  struct found found;
  bool any = false, names = true;
  *comma = false;
  for (size_t r = 0; r < tutti_rows_count(table); r++) {
    if (tutti_rows_cell(table, r, column) != TUTTI_CELL_TEXT)
      continue;
    if (!sign_of(tutti_rows_text(table, r, column), &found) || (any && strcmp(sign, found.sign) != 0))
      return false;
    (void)strcpy(sign, found.sign);
    *comma = *comma || found.comma;
    names = names && found.name;
    any = true;
  }
  return any && !names;
}

bool tutti_profile_is_minus(const char *mark) {
  static const char *const kinds[] = {"-", "\u2212", "\u2010", "\u2011", "\u2012", "\u2013", "\u2014"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(mark, kinds[i]) == 0)
      return true;
  return false;
}

bool tutti_profile_has_few(const tutti_rows *table, size_t column) {
  enum { FEW = 20 };
  const char *seen[FEW];
  size_t count = 0;
  for (size_t r = 0; r < tutti_rows_count(table); r++) {
    size_t i = 0;
    if (tutti_rows_cell(table, r, column) != TUTTI_CELL_TEXT)
      continue;
    const char *text = tutti_rows_text(table, r, column);
    while (i < count && strcmp(seen[i], text) != 0)
      i++;
    if (i == FEW)
      return false;
    seen[i] = text;
    count += i == count;
  }
  return true;
}

bool tutti_profile_is_name(const tutti_rows *table, size_t column, const char *sign) {
  static const char *const units[] = {"%", "$", "\u20ac", "\u00a3", "\u00a5"}; /* euros, pounds, yen */
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strcmp(sign, units[i]) == 0)
      return false;
  return tutti_profile_has_few(table, column);
}

bool tutti_profile_mark(const tutti_rows *table, size_t column, char mark[TUTTI_MARK_ROOM]) {
  const char *first = NULL;
  for (size_t r = 0; r < tutti_rows_count(table); r++) {
    if (tutti_rows_cell(table, r, column) != TUTTI_CELL_TEXT)
      continue;
    const char *text = tutti_rows_text(table, r, column);
    if (first && strcmp(first, text) != 0)
      return false;
    first = text;
  }
  if (!first || strlen(first) >= TUTTI_MARK_ROOM || strchr(first, '"'))
    return false;
  (void)strcpy(mark, first);
  return true;
}

/* --- decimal commas --- */

bool tutti_profile_decimal_commas(const tutti_rows *table, size_t column) {
  bool any = false;
  for (size_t r = 0; r < tutti_rows_count(table); r++) {
    if (tutti_rows_cell(table, r, column) != TUTTI_CELL_TEXT)
      continue;
    const char *text = tutti_rows_text(table, r, column);
    if (!is_comma_number(text, strlen(text)))
      return false;
    any = true;
  }
  return any;
}
