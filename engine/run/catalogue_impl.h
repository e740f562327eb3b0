/* catalogue_impl.h - the inside of a catalogue; for catalogue*.c alone. */
#ifndef TUTTI_CATALOGUE_IMPL_H
#define TUTTI_CATALOGUE_IMPL_H

#include "catalogue_sums.h"

#include <sqlite3.h>
#include <sys/types.h>

/* SUM + a part of enum tutti_sum records its checksum. Those from GET on only read. */
enum statement {
  BEGIN,
  COMMIT,
  ROLLBACK,
  ASKED,
  DONE,
  AT,
  TOLD,
  SET,
  SUM,
  SUM_OF_FACT = SUM + TUTTI_SUMS,
  GET,
  VISIT,
  STATEMENTS
};

struct tutti_catalogue {
  tutti_context *context; /* whose cancel flag ends reading */
  sqlite3 *database;
  bool write;
  bool sums; /* are there checksums? */
  sqlite3_stmt *statements[STATEMENTS];
  dev_t device; /* of the file that is written, and its inode */
  ino_t inode;
};

/* TUTTI_ERROR_CORRUPT: the file is not whole, by what SQLite says of it. The message has what was expected and found,
   and what to do (catalogue_damage.c). */
TUTTI_NODISCARD enum tutti_status tutti_catalogue_damaged(tutti_context *context, const tutti_catalogue *catalogue,
                                                          const char *what);

/* --- rows (catalogue_row.c) --- */

/* TUTTI_ERROR_CORRUPT, with the file before the message. */
enum tutti_status tutti_catalogue_refuse(tutti_context *context, const tutti_catalogue *catalogue, const char *format,
                                         ...) TUTTI_PRINTF(3, 4);
/* The text in a column; "" for NULL. */
const char *tutti_column_text(sqlite3_stmt *row, int column);
/* Is it a text, and in UTF-8, as JSON will need it? */
bool tutti_column_is_text(sqlite3_stmt *row, int column);
/* The trial in a row of the statement VISIT; its texts are borrowed. TUTTI_ERROR_CORRUPT: a run would not write it. */
TUTTI_NODISCARD enum tutti_status tutti_catalogue_row(tutti_context *context, const tutti_catalogue *catalogue,
                                                      sqlite3_stmt *row, struct tutti_trial *trial);
/* TUTTI_ERROR_CORRUPT: the checksums in the row are not those of the trial. */
TUTTI_NODISCARD enum tutti_status tutti_catalogue_check_row(tutti_context *context, const tutti_catalogue *catalogue,
                                                            sqlite3_stmt *row, const struct tutti_trial *trial);

#endif
