/* archive.h - run directories for the fuzz targets, as an archive: for each file a line with its path and its size,
   then its bytes. `rows` becomes the catalogue (rows.h). Sizes and checksums in it are made to fit the files, as a
   forger would. */
#ifndef TUTTI_TESTS_FUZZ_ARCHIVE_H
#define TUTTI_TESTS_FUZZ_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

enum { MOST_FILES = 64, LONGEST_PATH = 80 };

struct entry {
  char path[LONGEST_PATH];
  const uint8_t *data;
  size_t size;
};
struct archive {
  struct entry files[MOST_FILES];
  size_t count;
};

/* Read as much of an archive as there is; names that lead elsewhere are left out. It borrows the data. */
void fuzz_unpack(const uint8_t *data, size_t size, struct archive *archive);
/* The archive as bytes, as far as they have room; returns how many these are. */
size_t fuzz_pack(const struct archive *archive, uint8_t *out, size_t room);
/* Write its files below the folder NAME of the target's folder, and delete them again. */
void fuzz_build(struct archive *archive, const char *name);
void fuzz_remove(const struct archive *archive, const char *name);

#endif
