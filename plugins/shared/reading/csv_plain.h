/* csv_plain.h - rows of a file of comma-separated values that are easy to read: one line each, with the number of cells
   that is expected, no quotes inside of cells. Their numbers are read where they stand. All others are libcsv's
   (csv_file.h). */
#ifndef READING_CSV_PLAIN_H
#define READING_CSV_PLAIN_H

#include <tutti/context.h>

/* So many bytes behind a text may be read, whatever they are. */
enum { CSV_PLAIN_BEHIND = 40 };

/* A row: a number for each cell that is one as it stands, a text for the others. */
struct csv_plain {
  size_t columns;          /* so many cells a row has */
  unsigned char delimiter; /* between cells */
  bool runs;               /* several of them are one, and those before and behind a row are none */
  bool reads_numbers;      /* or all cells are texts */
  size_t line;             /* the line of the row, from 1 */
  double *numbers;         /* [columns] */
  size_t *texts;           /* [columns]: where in `text` a cell's text starts; CSV_PLAIN_NUMBER: it is a number */
  char *text;              /* texts, each with its end */
  size_t bytes, room;
};
#define CSV_PLAIN_NUMBER SIZE_MAX

/* Has a number zeros before it, as codes have, maybe behind a sign? Its text is kept beside it then. */
static inline bool csv_has_zeros(const char *text) {
  text += *text == '-' || *text == '+';
  return text[0] == '0' && text[1] >= '0' && text[1] <= '9';
}

/* Make room for rows of so many cells; the caller releases *plain, also on failure. */
TUTTI_NODISCARD enum tutti_status csv_plain_begin(tutti_context *context, size_t columns, unsigned char delimiter,
                                                  bool runs, bool reads_numbers, struct csv_plain *plain);
void csv_plain_release(struct csv_plain *plain);
/* Read the row that text[length] begins with. *taken: the bytes of the row with the end of its line; 0: it is no such
   row, or does not end in the text. */
TUTTI_NODISCARD enum tutti_status csv_plain_read(tutti_context *context, struct csv_plain *plain, const char *text,
                                                 size_t length, size_t *taken);

#endif
