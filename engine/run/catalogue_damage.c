/* catalogue_damage.c - a catalogue that is not whole: what was expected, what was found, and what to do. */
#include "catalogue_impl.h"
#include "run_files.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Bytes of the file by its header (https://sqlite.org/fileformat2.html), pages of the database; 0: it tells none. */
static uint64_t bytes_by_header(const unsigned char header[100]) {
  static const char magic[] = "SQLite format 3";
  const uint64_t page = (uint64_t)header[16] << 8 | header[17], pages = (uint64_t)header[28] << 24 |
                                                                        (uint64_t)header[29] << 16 |
                                                                        (uint64_t)header[30] << 8 | header[31];
  const bool valid = memcmp(header, magic, sizeof magic) == 0 && memcmp(header + 24, header + 92, 4) == 0;
  return valid ? (page == 1 ? 65536 : page) * pages : 0;
}

/* What the file is, in words. */
static void look(const char *path, const char *otherwise, size_t size, char *text) {
  unsigned char header[100] = {0};
  struct stat facts;
  FILE *file = fopen(path, "rbe");
  const size_t read = file ? fread(header, 1, sizeof header, file) : 0;
  const uint64_t bytes = file && fstat(fileno(file), &facts) == 0 ? (uint64_t)facts.st_size : 0,
                 wanted = read == sizeof header ? bytes_by_header(header) : 0;
  if (file)
    (void)fclose(file);
  if (file && bytes == 0)
    (void)snprintf(text, size, "found an empty file");
  else if (bytes < wanted)
    (void)snprintf(text, size, "of %" PRIu64 " bytes by its first page, found %" PRIu64 ": it was cut short", wanted,
                   bytes);
  else
    (void)snprintf(text, size, "found %" PRIu64 " bytes in which %s", bytes, otherwise);
}

enum tutti_status tutti_catalogue_damaged(tutti_context *context, const tutti_catalogue *catalogue, const char *what) {
  const char *path = sqlite3_db_filename(catalogue->database, "main"), *slash = path ? strrchr(path, '/') : NULL;
  char found[256];
  if (!slash) /* SQLite's names of files begin with a slash */
    return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "catalogue: %s", what);
  const int folder = (int)(slash - path);
  look(path, what, sizeof found, found);
  return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                    "%s: expected a whole catalogue, an SQLite file, %s. Without it no command reads the run: put back "
                    "a copy of it, or train again from %.*s/%s with another --out. The files of its trials are not "
                    "touched by this; they stay in %.*s/%s",
                    path, found, folder, path, tutti_run_file_name(TUTTI_RUN_FILE_RECIPE), folder, path,
                    tutti_run_file_name(TUTTI_RUN_FILE_TRIALS));
}
