/* rows.h - a catalogue for the fuzz targets, written as lines: the name of a table (facts, trials, times), then the
   values of a row, with tabs in between. A value is n (NULL), iINTEGER, rREAL, tTEXT or bBYTES. Any of them may stand
   in any column: SQLite takes it, and so a hostile file may have it. */
#ifndef TUTTI_TESTS_FUZZ_ROWS_H
#define TUTTI_TESTS_FUZZ_ROWS_H

#include <stddef.h>
#include <stdint.h>

/* Changes a text value before it is written; the result is freed with free(). NULL: it stays as it is. */
typedef char *(*fuzz_change)(void *argument, const char *table, long long first, const char *text);
/* Make the file NAME in the target's folder; the path is that of fuzz_file. */
const char *fuzz_catalogue(const char *name, const uint8_t *lines, size_t size, fuzz_change change, void *argument);

#endif
