/* profile_marks.c - what spoils a column of numbers: one sign at each of them, or one mark of missing cells. */
#include <string.h>

#include "profile_impl.h"

static const char digits[] = "0123456789";

/* The text without a number in it and without blanks around that: a sign; false: there is no number, or two signs. */
static bool sign_of(const char *text, char sign[TUTTI_MARK_ROOM]) {
  text += *text == '-' || *text == '+';
  size_t before = strcspn(text, "0123456789"), end = strlen(text);
  if (text[before] == '\0')
    return false;
  while (!strchr(digits, text[end - 1]))
    end--;
  for (size_t i = before; i < end; i++)
    if (!strchr("0123456789.,' ", text[i]))
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
