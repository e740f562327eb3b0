/* folder.h - data sets that are published as a folder of files, possibly gzipped. */
#ifndef READING_FOLDER_H
#define READING_FOLDER_H

#include <tutti/context.h>

/* Does a folder of this name exist? */
bool reading_is_folder(const char *path);
/* The file at `path`. If that is a folder, the file `name`.gz or `name` in it. TUTTI_ERROR_USAGE if it has neither.
   Free *found with tutti_free. */
TUTTI_NODISCARD enum tutti_status reading_find(tutti_context *context, const char *path, const char *name,
                                               char **found);

#endif
