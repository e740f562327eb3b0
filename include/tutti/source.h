/* source.h - kind `source`: where data come from, a reader of files or a generator. Its section is [data] of a recipe,
   which also has the parameters of the data set (target, split, ...): no parameter of a source may have the name of one
   of these. */
#ifndef TUTTI_SOURCE_H
#define TUTTI_SOURCE_H

#include <tutti/host.h>
#include <tutti/rows.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_source tutti_source;

struct tutti_source_setup {
  size_t size; /* these four: see struct tutti_setup (host.h); there is no task yet */
  const tutti_host *host;
  const struct tutti_task *task;
  uint64_t seed;
};

/* The files that a source reads. If a recipe names others, it is refused before `read`. */
enum {
  TUTTI_SOURCE_PATH = 1,        /* data.path: required then, forbidden otherwise. Such a source reads new rows, too */
  TUTTI_SOURCE_TARGET_PATH = 2, /* data.target_path and test_target_path: files with only the targets or labels */
  TUTTI_SOURCE_TEST_PATH = 4    /* data.test_path: a second file, all of whose rows are test rows */
};

/* The rows that are wanted. */
enum tutti_rows_wanted { TUTTI_ROWS_ANY, TUTTI_ROWS_TABLE, TUTTI_ROWS_IMAGES };

/* What to read. Paths are those of readable files or folders, NULL where the recipe names none; borrowed until
   return. */
struct tutti_source_request {
  size_t size; /* sizeof(struct tutti_source_request); members beyond it count as 0 */
  const char *path, *target_path, *test_path, *test_target_path;
  uint64_t seed; /* keys everything random */
  /* The rows are to be predicted, or out of distribution: only `path` is given, and labels may be missing. */
  bool new_rows;
  bool named;                    /* for new rows: the data set's columns had names, so those of the file will, too */
  enum tutti_rows_wanted wanted; /* for new rows: what the data set has */
  /* For new rows of a table: one that cannot be read, where the next ones can, may be added as such
     (tutti_rows_add_unread), and need not be an error. */
  bool tolerant;
  /* For new rows: what was settled when the data set was read (tutti_rows_settle), as parameter, value, ..., NULL;
     NULL:
     nothing. A source takes of it what the new file does not say itself. */
  const char *const *settled;
  /* For new rows with names: the columns that are used, NULL at the end; NULL: all may be. What stands in others is
     nobody's mistake. */
  const char *const *columns;
};

struct tutti_source_ops {
  size_t size;    /* sizeof(struct tutti_source_ops) */
  unsigned reads; /* TUTTI_SOURCE_PATH | ...; 0: a generator, or a source that finds its data by its own parameters */

  /* OPTIONAL; default: none. Endings of the files that this source reads (".csv"), NULL-terminated. If a recipe does
     not name its source, and for new rows, the source with the longest fitting ending reads. "" fits every file that no
     other ending fits. */
  const char *const *endings;

  /* REQUIRED. Fill `rows`, which are empty. The same request and parameters MUST give the same rows. If a file or a
     parameter is wrong: TUTTI_ERROR_USAGE, and a message that starts with the file's path and line, or with "data.KEY:
     ". MUST NOT keep `rows` or what the request points to. Called once or more, by one thread at a time. */
  enum tutti_status (*read)(void *self, tutti_context *context, const struct tutti_source_request *request,
                            tutti_rows *rows);

  /* OPTIONAL; default: false. A word of rows that an application adds: as a cell of a file, would it be a number or
     missing, though tutti_cell_read takes it for a text or for another number? Then write the word that tutti_cell_read
     reads so ("": missing), with its zero, to meaning[TUTTI_SOURCE_WORD_ROOM]; it MUST be a number, infinite or
     missing. What the file decides (tutti_rows_settle) is then set as a parameter. A word that files of one kind would
     have as another number than those of another kind, where it is not known which the data set came from, is none. */
  bool (*reword)(const void *self, const char *word, char *meaning);

  /* OPTIONAL; default: none. A number that marks missing cells in its files, number `index` from 0 on; false: there are
     no more. Numbers of an application that are equal to it count as missing, and unless it is whole and below 2^53,
     so does the float32 that is next to it. */
  bool (*mark)(const void *self, size_t index, double *number);
};

enum { TUTTI_SOURCE_WORD_ROOM = 256 };

TUTTI_END_DECLS
#endif
