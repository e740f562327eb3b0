/* csv_file.h - the rows of a file of comma-separated values, maybe gzipped, as texts: quoting, CRLF, a byte order mark,
   a first line such as sep=; */
#ifndef READING_CSV_FILE_H
#define READING_CSV_FILE_H

#include "csv_plain.h"

enum { CSV_FILE_WHY = 384 };

/* A row: the texts of its cells, one after another. */
struct csv_row {
  char *text;
  size_t *cells; /* [count]: where each text starts */
  size_t count;
  size_t line;             /* the line where it begins, from 1 */
  unsigned char delimiter; /* what stands between the cells of this file */
  bool runs;               /* several of them are one, and those at the ends of a line are none */
  size_t bytes, room, cell_room;
};

/* The text of a cell. */
static inline const char *csv_row_cell(const struct csv_row *row, size_t cell) { return row->text + row->cells[cell]; }

/* How a file is laid out. */
struct csv_layout {
  int delimiter;      /* of READING_DELIMITER_ (csv_table.h) */
  int64_t skip_lines; /* lines above the table */
};

/* Who gets the rows. */
struct csv_taker {
  /* Take a row. Where the file is read as far as it can be, a row that cannot be taken is no error: say why, in a text
     that is empty at first. */
  enum tutti_status (*take)(void *argument, const struct csv_row *row, char why[CSV_FILE_WHY]);
  /* A row that begins in this line is left out, since it could not be read or taken. NULL: that is an error. */
  enum tutti_status (*leave_out)(void *argument, size_t line, const char *why);
  void *argument;
  /* How many cells the rows have from now on, and whether cells that are numbers as they stand may be handed over as
     numbers; 0: not known. Asked after the first rows, until it is known. NULL: rows come through `take` alone. */
  size_t (*columns)(void *argument, bool *reads_numbers);
  /* About so many rows are in the file. Said after the first of them were taken as plain ones, or never. */
  enum tutti_status (*expect)(void *argument, size_t rows);
  /* Take a row of so many cells. */
  enum tutti_status (*take_plain)(void *argument, const struct csv_plain *row);
};

/* Read a file row by row. With `leave_out`, a line whose row cannot be read (a quote that is never closed, or stands
   inside of a cell) or taken is left out, and the next line begins a row, but for the first row, which has to be right.
   TUTTI_ERROR_USAGE: the file cannot be read, or is not such a file, with the line; TUTTI_ERROR_CANCELLED. */
TUTTI_NODISCARD enum tutti_status csv_file_read(tutti_context *context, const char *path,
                                                const struct csv_layout *layout, const struct csv_taker *taker);

#endif
