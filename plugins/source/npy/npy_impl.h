/* npy_impl.h - the two things that an array may hold: a table or images. */
#ifndef SOURCE_NPY_IMPL_H
#define SOURCE_NPY_IMPL_H

#include <tutti/plugin.h>

/* Does the array have three or four dimensions? False, too, if it cannot be read. */
bool npy_has_images(tutti_context *context, const char *path);
/* Append the images of a file and, with `labels`, their labels. */
TUTTI_NODISCARD enum tutti_status npy_read_images(tutti_context *context, const char *path, const char *labels,
                                                  tutti_rows *rows);
/* Read an array [rows] or [rows][columns] as a table. With `target_path`, append the columns of that array, which are
   the targets. */
TUTTI_NODISCARD enum tutti_status npy_read_table(tutti_context *context, const char *path, const char *target_path,
                                                 tutti_rows *rows);

#endif
