/* file_impl.h - files that are whole or absent: written under a temporary name, made durable, renamed. */
#ifndef TUTTI_FILE_IMPL_H
#define TUTTI_FILE_IMPL_H

#include "private.h"

#include <tutti/context.h>

/* A piece of a file. */
struct tutti_file_part {
  const void *data;
  size_t bytes;
};

/* Write the parts as the file `path` (temporary name, fsync, rename, fsync of the folder). TUTTI_ERROR_FULL: there is
   no room; TUTTI_ERROR_IO otherwise. After an error nothing is left behind, and an old file of that name stays. */
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_file_write(tutti_context *context, const char *path, size_t count,
                                                                 const struct tutti_file_part *parts);
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_file_write_text(tutti_context *context, const char *path,
                                                                      const char *text);
/* The same in pieces that come one after the other, each written by a call of its own: a first one (offset 0) begins
   the file anew, and the one that ends at `total` gives it its name. As in a group, it is made durable only by the end
   of one, in its folder. TUTTI_ERROR_CORRUPT: the piece does not begin where the one before ended. */
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_file_write_piece(tutti_context *context, const char *path,
                                                                       uint64_t offset, uint64_t total,
                                                                       const struct tutti_file_part *piece);
/* Give a file that is durable another name in its folder, durably; a file of that name is replaced. */
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_file_rename(tutti_context *context, const char *from,
                                                                  const char *to);
/* A name is durable once its folder is: sync the one of `path`, which is as it was on return. 0, or the errno. */
int tutti_file_sync_name(char *path);
/* A group of files in one folder: from its begin to its end, files that are written and a folder that is made, but not
   those above it, get their names at once and are made durable by the end, all side by side, which a disk does for
   little more than the time of one. Until then a power failure may leave a torn file under its name: write only what
   nobody looks for before the end. A group that is dropped ends, and nothing is made durable. */
TUTTI_PRIVATE void tutti_file_group_begin(tutti_context *context);
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_file_group_end(tutti_context *context, const char *folder);
TUTTI_PRIVATE void tutti_file_group_drop(tutti_context *context);
/* The end of a group in two steps, between which other work is done: `leave` begins to make its files durable, in
   threads of its own; tutti_file_syncing_end waits for that, says what `end` says, and frees *syncing (NULL: nothing is
   to be done). */
struct tutti_file_syncing;
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_file_group_leave(tutti_context *context, const char *folder,
                                                                       struct tutti_file_syncing **syncing);
/* Would it not have to wait? */
TUTTI_PRIVATE bool tutti_file_syncing_is_done(const struct tutti_file_syncing *syncing);
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_file_syncing_end(tutti_context *context,
                                                                       struct tutti_file_syncing *syncing);
struct stat;
/* Open a regular file for reading, with its facts; the caller closes *file. Anything else is a TUTTI_ERROR_IO. */
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_file_open(tutti_context *context, const char *path, int *file,
                                                                struct stat *facts);
/* Read a whole file; *data (free with tutti_free) has a NUL after its *bytes. */
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_file_read(tutti_context *context, const char *path, char **data,
                                                                size_t *bytes);
/* Make a folder and those above it, durably; one that exists is fine. */
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_file_make_folder(tutti_context *context, const char *path);
/* Size and CRC-32 (zlib's) of a file. */
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_file_checksum(tutti_context *context, const char *path,
                                                                    uint64_t *bytes, uint32_t *checksum);
/* Do two paths lead to the same file or folder? */
TUTTI_PRIVATE bool tutti_file_is_same(const char *a, const char *b);
/* TUTTI_ERROR_FULL or TUTTI_ERROR_IO for an errno, with a message "PATH: cannot DO: reason". */
TUTTI_PRIVATE enum tutti_status tutti_file_error(tutti_context *context, const char *path, const char *doing,
                                                 int error);

#endif
