/* cells_impl.h - cells of a table in messages; for engine/data/ alone. */
#ifndef TUTTI_CELLS_IMPL_H
#define TUTTI_CELLS_IMPL_H

#include <tutti/rows.h>

/* Fail with a message that starts with the cell's place. */
enum tutti_status tutti_cell_fail(tutti_context *context, const tutti_rows *table, size_t row, size_t column,
                                  const char *format, ...) TUTTI_PRINTF(5, 6);
/* Fail with a message that starts with the row's place. */
enum tutti_status tutti_row_fail(tutti_context *context, const tutti_rows *table, size_t row, const char *what);
/* Is this text UTF-8? Names and categories must be, since they are stored as JSON. */
bool tutti_is_utf8(const char *text);
/* Fail unless a cell, or the name of a column, is UTF-8, with the first byte that is not ASCII and what converts a
   file. */
TUTTI_NODISCARD enum tutti_status tutti_cell_check_utf8(tutti_context *context, const tutti_rows *table, size_t row,
                                                        size_t column);
TUTTI_NODISCARD enum tutti_status tutti_name_check_utf8(tutti_context *context, const tutti_rows *table, size_t column);

enum { TUTTI_QUOTED_ROOM = 256 };
/* A text as an item of a list in a recipe whose items these signs separate: in quotes if it has one of them. Written to
   `room` then; one that is too long, or has quotes in it, stays as it is. */
const char *tutti_quoted(const char *text, const char *signs, char room[TUTTI_QUOTED_ROOM]);

/* The order of two texts by their bytes, for qsort of an array of const char *. */
int tutti_compare_texts(const void *a, const void *b);

#endif
