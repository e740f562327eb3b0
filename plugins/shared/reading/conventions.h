/* conventions.h - how numbers are written in a file, where each may have a decimal comma or a decimal point. */
#ifndef READING_CONVENTIONS_H
#define READING_CONVENTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <tutti/rows.h>

#include "numeral.h"

/* The numbers of a column: the line of the first whose sign may be a decimal sign or a mark between thousands, as 1,234
   or 1.234; and whether others have a fraction beyond doubt, or thousands without a mark. */
struct reading_column_numbers {
  size_t maybe_comma, maybe_point;
  bool whole, fraction, thousands;
};

/* How numbers are written, by cells that say so: their lines, 0: there is none. */
struct reading_conventions {
  size_t comma;       /* a comma is the decimal sign, as in 3,5 */
  size_t point;       /* commas group digits, as in 1,234.5 */
  size_t maybe_comma; /* 1,234 may be either */
  size_t grouped;     /* points group digits, as in 1.234,5 */
  size_t maybe_point; /* 1.234 may be either */
  size_t plain_point; /* a point is the decimal sign, as in 3.5 */
  size_t maybe_group; /* points may group digits, as in 1.234 or 1.234.567 */
  size_t columns;
  struct reading_column_numbers *column; /* [columns] */
};

TUTTI_NODISCARD enum tutti_status reading_conventions_open(tutti_context *context, size_t columns,
                                                           struct reading_conventions *conventions);
void reading_conventions_release(struct reading_conventions *conventions);

/* Where cells are not separated by commas, each number is read by itself: note what it says of all, and of its column.
   `is` is what reading_numeral made of the text. */
void reading_conventions_note(struct reading_conventions *conventions, size_t column, size_t line, const char *text,
                              enum reading_numeral is);

/* Would a number be read a thousand times too large or too small? TUTTI_ERROR_USAGE: the numbers contradict each other.
   A warning where they leave a doubt. names[columns] */
TUTTI_NODISCARD enum tutti_status reading_conventions_check(tutti_context *context, const char *path,
                                                            const char *const *names,
                                                            const struct reading_conventions *conventions);
/* Of a new file, whose numbers are read as in the training data where they may be read in two ways, with commas or
   points as decimal signs: TUTTI_ERROR_USAGE if some are written otherwise, and others may be read in two ways; a
   warning if none of these is there. */
TUTTI_NODISCARD enum tutti_status reading_conventions_compare(tutti_context *context, const char *path, bool commas,
                                                              const struct reading_conventions *conventions);
/* What the numbers of a file say their decimal sign is, so that each reads the same if that is known: READING_DECIMAL_
   COMMA or POINT; EITHER: nothing, or not all the same. */
enum reading_decimal reading_conventions_found(const struct reading_conventions *conventions);

#endif
