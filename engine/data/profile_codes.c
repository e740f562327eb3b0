/* profile_codes.c - codes such as 007 and 7, which are the same number, and so one category. */
#include <stdlib.h>
#include <string.h>

#include "profile_impl.h"

struct code {
  double number;
  const char *text; /* "" of a number without zeros before it */
};

static int compare_codes(const void *left, const void *right) {
  const struct code *one = left, *other = right;
  if (one->number != other->number)
    return one->number < other->number ? -1 : 1;
  return strcmp(one->text, other->text);
}

enum tutti_status tutti_profile_codes(tutti_context *context, const tutti_rows *table, size_t column,
                                      struct tutti_profile_column *profile) {
  struct code *codes;
  size_t count = 0;
  if (profile->zeros == 0)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_alloc(context, profile->numbers, sizeof *codes, &codes));
  for (size_t r = 0; r < tutti_rows_count(table); r++)
    if (tutti_rows_cell(table, r, column) == TUTTI_CELL_NUMBER)
      codes[count++] = (struct code){tutti_rows_number(table, r, column), tutti_rows_text(table, r, column)};
  qsort(codes, count, sizeof *codes, compare_codes);
  for (size_t i = 1; i < count && !profile->same_code; i++)
    if (codes[i].number == codes[i - 1].number && strcmp(codes[i].text, codes[i - 1].text) != 0) {
      profile->same_code = codes[i].text;
      profile->code = codes[i].number;
    }
  tutti_free(codes);
  return TUTTI_OK;
}
