/* missing_column.c - a column that a recipe names and the table has not. */
#include "roles_impl.h"

#include "core/base/text_impl.h"

#include <tutti/names.h>

/* Is this the text of a cell of the first row, which then may hold the names? */
static bool is_in_first_row(const tutti_rows *table, const char *word) {
  for (size_t c = 0; c < tutti_rows_columns(table); c++)
    if (tutti_rows_count(table) > 0 && tutti_rows_cell(table, 0, c) == TUTTI_CELL_TEXT &&
        strcmp(tutti_rows_text(table, 0, c), word) == 0)
      return true;
  return false;
}

/* The names of the columns, the first of many. */
static void add_names(struct tutti_text *text, const tutti_rows *table) {
  enum { SHOWN = 8 };
  size_t columns = tutti_rows_columns(table);
  const char *const *names = tutti_rows_names(table);
  if (!tutti_rows_named(table)) {
    tutti_text_add(text, "; its columns have no names");
    return;
  }
  tutti_text_add(text, "; %s '%.40s'", columns == 1 ? "its only column is" : "its columns are", names[0]);
  for (size_t c = 1; c < columns && c < SHOWN; c++)
    tutti_text_add(text, ", '%.40s'", names[c]);
  tutti_text_add(text, "%s", columns > SHOWN ? ", ..." : "");
}

/* The column whose name this is a part of, between commas; NULL: none. */
static const char *name_with_part(const tutti_rows *table, const char *word) {
  for (size_t c = 0; c < tutti_rows_columns(table); c++) {
    const char *name = tutti_rows_names(table)[c], *rest = name, *item;
    size_t length, whole = strlen(word);
    while (strchr(name, ',') && tutti_list_next(&rest, ",", &item, &length))
      if (length == whole && memcmp(item, word, length) == 0)
        return name;
  }
  return NULL;
}

enum tutti_status tutti_missing_column(tutti_context *context, const tutti_rows *table, const char *parameter,
                                       const char *word) {
  enum tutti_status status = TUTTI_OK;
  char *message = NULL;
  struct tutti_text text = tutti_text_begin(context);
  const char *with_comma = name_with_part(table, word);
  const char *closest = tutti_closest_name(word, tutti_rows_columns(table), tutti_rows_names(table));
  tutti_text_add(&text, "data.%s: %s has no column '%s'", parameter, tutti_rows_origin(table), word);
  if (with_comma)
    tutti_text_add(&text, "; a name with commas stands in quotes: \"%s\"", with_comma);
  else if (closest)
    tutti_text_add(&text, "; did you mean '%s'?", closest);
  else if (!tutti_rows_named(table) && is_in_first_row(table, word))
    tutti_text_add(&text, "; its columns have no names, but the first row has that text: if it holds the names, set "
                          "data.header = yes");
  else {
    add_names(&text, table);
    if (tutti_rows_columns(table) == 1)
      tutti_text_add(&text, "; give its %snumber, 0", tutti_rows_named(table) ? "name or its " : "");
    else
      tutti_text_add(&text, "; give a %snumber from 0 to %zu, or from -1 for the last",
                     tutti_rows_named(table) ? "name or a " : "", tutti_rows_columns(table) - 1);
  }
  TUTTI_TRY_OUT(context, tutti_text_take(&text, &message));
  status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s", message);
out:
  tutti_free(message);
  return status;
}
