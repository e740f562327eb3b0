/* profile_marks.c - what spoils a column of numbers: one sign at each of them, or one mark of missing cells. */
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

/* The text without a number in it and without blanks around that: a sign; false: there is no number, or two signs. */
static bool sign_of(const char *text, char sign[TUTTI_MARK_ROOM]) {
  text += *text == '-' || *text == '+';
  size_t before = strcspn(text, "0123456789"), end = strlen(text);
  if (text[before] == '\0')
    return false;
  while (!strchr(digits, text[end - 1]))
    end--;
  if (!is_number(text + before, end - before))
    return false;
  const char *behind = text + end + strspn(text + end, " ");
  size_t length = before ? before : strlen(behind);
  while (before && length > 0 && strchr(" -+", text[length - 1]))
    length--;
  if ((before && *behind) || length == 0 || length >= TUTTI_MARK_ROOM)
    return false;
  memcpy(sign, before ? text : behind, length);
  sign[length] = '\0';
  return !strpbrk(sign, " \t");
}

bool tutti_profile_sign(const tutti_rows *table, size_t column, char sign[TUTTI_MARK_ROOM]) {
  char found[TUTTI_MARK_ROOM] = "";
  bool any = false;
  for (size_t r = 0; r < tutti_rows_count(table); r++) {
    if (tutti_rows_cell(table, r, column) != TUTTI_CELL_TEXT)
      continue;
    if (!sign_of(tutti_rows_text(table, r, column), found) || (any && strcmp(sign, found) != 0))
      return false;
    (void)strcpy(sign, found);
    any = true;
  }
  return any;
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
  if (!first || strlen(first) >= TUTTI_MARK_ROOM || strpbrk(first, " \t"))
    return false;
  (void)strcpy(mark, first);
  return true;
}
