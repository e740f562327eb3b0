/* source.h - kind `source`: where data come from - a reader of files, or a generator. It stands in the section [data] of a
   recipe, where its parameters have their place beside those of the data set (target, split, ...): no parameter may have the
   name of one of these. */
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

/* Files that a source reads; what a recipe names beyond them is refused before `read`. */
enum {
  TUTTI_SOURCE_PATH = 1, /* data.path: required then, and forbidden otherwise. Such a source reads new rows, too */
  TUTTI_SOURCE_TARGET_PATH = 2, /* data.target_path and test_target_path: files with the targets or labels alone */
  TUTTI_SOURCE_TEST_PATH = 4    /* data.test_path: a second file, all of whose rows are test rows */
};

/* What rows are wanted. */
enum tutti_rows_wanted { TUTTI_ROWS_ANY, TUTTI_ROWS_TABLE, TUTTI_ROWS_IMAGES };

/* What to read. Paths are those of readable files or folders, NULL where the recipe names none; borrowed until return. */
struct tutti_source_request {
  size_t size; /* sizeof(struct tutti_source_request); what lies beyond is to be taken as 0 */
  const char *path, *target_path, *test_path, *test_target_path;
  uint64_t seed; /* everything random is keyed by it */
  /* Rows to predict, or out of distribution: path alone is given, and labels need not be there. */
  bool new_rows;
  bool named;                    /* of new rows: the columns of the data set had names; those of the file will, too */
  enum tutti_rows_wanted wanted; /* of new rows: what the data set consists of */
};

struct tutti_source_ops {
  size_t size;    /* sizeof(struct tutti_source_ops) */
  unsigned reads; /* TUTTI_SOURCE_PATH | ...; 0: a generator, or a source that finds its data by its own parameters */

  /* OPTIONAL; default: none. Endings of files that this source reads, ".csv", NULL-terminated: where a recipe does not name its source, and
     for new rows, the source with the longest fitting ending reads. "" fits every file for which there is no other. */
  const char *const *endings;

  /* REQUIRED. Fill `rows`, which are empty. The same request and parameters MUST give the same rows. A file that is wrong,
     or a parameter, is a TUTTI_ERROR_USAGE whose message starts with the file's path and line, or with "data.KEY: ". MUST
     NOT keep `rows` or what the request points to. Called once or more, by one thread at a time. */
  enum tutti_status (*read)(void *self, tutti_context *context, const struct tutti_source_request *request,
                            tutti_rows *rows);
};

/* --- the host's side --- */

TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_source_create(tutti_context *context, const tutti_host *host,
                                                                const char *section,
                                                                const struct tutti_source_setup *setup,
                                                                tutti_source **source);
TUTTI_API void tutti_source_destroy(tutti_source *source);
TUTTI_API const struct tutti_descriptor *tutti_source_descriptor(const tutti_source *source);
/* TUTTI_SOURCE_PATH | ... */
TUTTI_API unsigned tutti_source_reads(const tutti_source *source);
/* Refuse what the source does not read: a path that it needs is not there, or one that it has no use for is. Paths need not
   be those of files. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_source_check(tutti_context *context, const tutti_source *source,
                                                               const struct tutti_source_request *request);
/* Check the request, read, and check what was read: free with tutti_rows_destroy. TUTTI_ERROR_PLUGIN where the source broke its contract. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_source_read(tutti_context *context, tutti_source *source,
                                                              const struct tutti_source_request *request,
                                                              tutti_rows **rows);

/* The values of its parameters; borrowed. */
TUTTI_API const tutti_config *tutti_source_config(const tutti_source *source);
/* Does one of its endings, other than "", fit this path? */
TUTTI_API bool tutti_source_fits(const tutti_source *source, const char *path);
/* The name of the source that reads files which end like `path`, among all on the search path (those that cannot be loaded
   are passed over, and logged). `own` is taken, if it reads files, where no ending but "" fits, and where several fit as
   well; NULL: none is preferred. TUTTI_ERROR_USAGE: none, or more than one. *name is never freed. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_source_find(tutti_context *context, const char *path, const char *own,
                                                              const char **name);

TUTTI_END_DECLS
#endif
