/* csv_table.h - reads comma-separated values, maybe gzipped: quoting, CRLF, a byte order mark, files with or without a
   header. All rows must have the same length; every error names the line. */
#ifndef READING_CSV_TABLE_H
#define READING_CSV_TABLE_H

#include <tutti/plugin.h>

#include "plugins/shared/reading/numeral.h"

enum { READING_HEADER_AUTO, READING_HEADER_YES, READING_HEADER_NO };
enum {
  READING_DELIMITER_AUTO,
  READING_DELIMITER_COMMA,
  READING_DELIMITER_SEMICOLON,
  READING_DELIMITER_TAB,
  READING_DELIMITER_SPACE,
  READING_DELIMITER_PIPE,
  READING_DELIMITER_BLANKS /* of any number, tabs among them */
};
/* Names of these choices, NULL-terminated. */
extern const char *const reading_csv_headers[];
extern const char *const reading_csv_decimals[];
extern const char *const reading_csv_delimiters[];

struct reading_csv_options {
  int header;    /* does the first row name the columns? auto: yes if none of its cells is a number and not all are
                    empty */
  int delimiter; /* auto: comma, semicolon, tab or |, whichever the first line has most of, or what it says (sep=;);
                    space or blanks if the lines are rows by their words (words.h) */
  int decimal;   /* of READING_DECIMAL_ (numeral.h): how numbers are written */
  const char *missing_marks;  /* marks of missing cells besides the usual ones, separated by blanks; NULL: none */
  const char *strip;          /* signs that numbers may have before or behind them, likewise */
  int64_t skip_lines;         /* so many lines stand above the table: a title, comments */
  bool tolerant;              /* may rows have other numbers of cells than the first, as rows that cannot be read? */
  const char *const *columns; /* those that are used, where names are known, NULL at the end; NULL: all may be */
};

/* Read a file into empty rows: a table, with the lines of its rows. TUTTI_ERROR_USAGE: the file cannot be read, is no
   such table, or has no rows; TUTTI_ERROR_CANCELLED. */
TUTTI_NODISCARD enum tutti_status reading_csv(tutti_context *context, const char *path,
                                              const struct reading_csv_options *options, tutti_rows *rows);
/* How numbers of new rows are written, if those of the data set have this decimal sign: a number that may be read in
   two ways is read so, others as they stand. */
int reading_csv_decimal_first(int decimal);
/* Is a word a number or missing as a cell of such a file, otherwise than tutti_cell_read has it? Its meaning then, as
   `reword` of sources gives it (source.h). */
bool reading_csv_word(const struct reading_csv_options *options, const char *word, char *meaning);
/* A number that marks missing cells of such a file, number `index` from 0 on; false: there are no more. */
bool reading_csv_mark(const struct reading_csv_options *options, size_t index, double *number);

#endif
