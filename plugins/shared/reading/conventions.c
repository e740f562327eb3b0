/* conventions.c - how numbers are written in a file: with decimal commas or points, with marks between thousands. */
#include "conventions.h"

#include <string.h>

static const char digits[] = "0123456789";

enum tutti_status reading_conventions_open(tutti_context *context, size_t columns,
                                           struct reading_conventions *conventions) {
  conventions->columns = columns;
  return tutti_alloc(context, columns, sizeof *conventions->column, &conventions->column);
}

void reading_conventions_release(struct reading_conventions *conventions) { tutti_free(conventions->column); }

static void note(size_t *first, size_t line) { *first = *first ? *first : line; }

/* A whole number without marks: above 999 it says that thousands have none. */
static void note_whole(struct reading_column_numbers *numbers, const char *text) {
  text += strspn(text, "+-");
  size_t length = strspn(text, digits);
  if (length == 0 || text[length] != '\0')
    return;
  numbers->whole = true;
  numbers->thousands = numbers->thousands || length > 3;
}

/* A number with points alone. */
static void note_points(struct reading_conventions *conventions, size_t line, const char *text, bool maybe_group) {
  char plain[READING_NUMERAL_ROOM];
  double number;
  if (maybe_group || reading_numeral(text, READING_DECIMAL_COMMA, plain) == READING_NUMBER)
    note(&conventions->maybe_group, line);
  else if (!conventions->plain_point && tutti_cell_read(text, &number) == TUTTI_CELL_NUMBER)
    note(&conventions->plain_point, line);
}

/* A text with commas that is no number, as a list 1,2,3, says nothing. */
void reading_conventions_note(struct reading_conventions *conventions, size_t column, size_t line, const char *text,
                              enum reading_numeral is) {
  struct reading_column_numbers *numbers = &conventions->column[column];
  const char *comma = strchr(text, ','), *point = strchr(text, '.');
  if (!comma && !point)
    note_whole(numbers, text);
  if (text[strspn(text, "+-.,0123456789")] != '\0' || (!comma && !point) || (comma && is != READING_NUMBER))
    return;
  bool zero = text[strspn(text, "+-")] == '0';
  bool maybe_comma = !zero && tutti_cell_in_threes(text, ','), maybe_point = tutti_cell_in_threes(text, '.');
  if (maybe_comma) {
    note(&conventions->maybe_comma, line);
    note(&numbers->maybe_comma, line);
  } else if (comma && ((point && comma < point) || strchr(comma + 1, ','))) {
    note(&conventions->point, line);
  } else if (comma) {
    note(&conventions->comma, line);
  } else if (maybe_point) {
    note(&conventions->maybe_point, line);
  }
  if (!comma)
    note_points(conventions, line, text, maybe_point && !zero);
  if (maybe_point && !zero)
    note(&numbers->maybe_point, line);
  numbers->fraction = numbers->fraction || (!maybe_comma && (!maybe_point || zero));
  if (comma && point && point < comma)
    note(&conventions->grouped, line);
}

/* Whole numbers up to 999 beside others of which each has three digits behind its sign, as 865 beside 1,038: that is
   how marked thousands look, and hardly ever how fractions do. */
static bool looks_grouped(const struct reading_column_numbers *numbers) {
  return numbers->whole && !numbers->thousands && !numbers->fraction && (numbers->maybe_comma || numbers->maybe_point);
}

static void doubt_columns(tutti_context *context, const char *path, const char *const *names,
                          const struct reading_conventions *conventions) {
  for (size_t c = 0; c < conventions->columns; c++) {
    const struct reading_column_numbers *numbers = &conventions->column[c];
    bool comma = numbers->maybe_comma && !conventions->comma;
    if (!looks_grouped(numbers) || (!comma && !numbers->maybe_point))
      continue;
    tutti_log(
        context, TUTTI_LOG_WARNING,
        "%s: column '%s': the number in line %zu has three digits behind its %s, beside whole numbers; it is read "
        "as 1.234 is, and not as 1234: if %ss group digits, set data.decimal = %s, and else %s",
        path, names[c], comma ? numbers->maybe_comma : numbers->maybe_point, comma ? "comma" : "point",
        comma ? "comma" : "point", comma ? "point" : "comma", comma ? "comma" : "point");
  }
}

enum tutti_status reading_conventions_check(tutti_context *context, const char *path, const char *const *names,
                                            const struct reading_conventions *conventions) {
  const struct reading_conventions *seen = conventions;
  size_t one = seen->point, other = seen->comma ? seen->comma : seen->maybe_comma;
  if (!one || !other) {
    one = seen->grouped;
    other = seen->maybe_point;
  }
  if ((!one || !other) && seen->comma && seen->maybe_point)
    tutti_log(
        context, TUTTI_LOG_WARNING,
        "%s: line %zu has a decimal comma, and line %zu a number such as 1.234, which is read as 1.234 and not as "
        "1234; if points group digits, set data.decimal = comma, and else point",
        path, seen->comma, seen->maybe_point);
  if (one && other)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: the numbers in lines %zu and %zu do not tell together whether commas or points are their "
                      "decimal signs; set data.decimal = comma or point",
                      path, one, other);
  doubt_columns(context, path, names, conventions);
  if (seen->maybe_comma && !seen->comma && !seen->point)
    tutti_log(
        context, TUTTI_LOG_WARNING,
        "%s: line %zu has a number such as 1,234, which is read as 1.234 and not as 1234; if commas group digits, "
        "set data.decimal = point, and else comma",
        path, seen->maybe_comma);
  return TUTTI_OK;
}

enum tutti_status reading_conventions_compare(tutti_context *context, const char *path, bool commas,
                                              const struct reading_conventions *conventions) {
  const struct reading_conventions *seen = conventions;
  const char *sign = commas ? "comma" : "point", *other = commas ? "point, as in 3.5" : "comma, as in 3,5";
  const char *doubtful = commas ? "1.234" : "1,234";
  size_t points = seen->point ? seen->point : seen->plain_point;
  size_t line = commas ? points : seen->comma, doubt = commas ? seen->maybe_group : seen->maybe_comma;
  if (line && doubt)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "%s: line %zu has a decimal %s, and line %zu a number such as %s, which is 1234 in the training "
                      "data; write all numbers with decimal %ss, as there",
                      path, line, other, doubt, doubtful, sign);
  if (line)
    tutti_log(context, TUTTI_LOG_WARNING,
              "%s: line %zu has a decimal %s, and the training data have decimal %ss; it is read as it stands, but a "
              "number such as %s would be 1234, as there",
              path, line, other, sign, doubtful);
  return TUTTI_OK;
}

enum reading_decimal reading_conventions_found(const struct reading_conventions *conventions) {
  const struct reading_conventions *seen = conventions;
  bool points = seen->point || seen->plain_point;
  if (seen->comma && !points && !seen->maybe_point && !seen->maybe_group)
    return READING_DECIMAL_COMMA;
  return points && !seen->comma && !seen->maybe_comma ? READING_DECIMAL_POINT : READING_DECIMAL_EITHER;
}
