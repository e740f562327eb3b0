/* npy.h - NumPy's array files, mapped and written; and the types of the numbers in arrays. */
#ifndef TUTTI_NPY_H
#define TUTTI_NPY_H

#include <tutti/context.h>

TUTTI_BEGIN_DECLS

enum tutti_element { TUTTI_F32, TUTTI_F64, TUTTI_I32, TUTTI_I64, TUTTI_U8 };

/* An array in a mapped file. */
struct tutti_npy {
  enum tutti_element element;
  size_t rank, shape[8], count; /* count: product of the shape */
  const void *data;
  void *mapping; /* private */
  size_t mapped;
};
/* Map a C-order little-endian .npy file (versions 1-3); every length is checked (TUTTI_ERROR_CORRUPT). */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_npy_map(tutti_context *context, const char *path,
                                                          struct tutti_npy *array);
/* tutti_npy_map of a file that the user named: what is wrong with it is a TUTTI_ERROR_USAGE. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_npy_map_users(tutti_context *context, const char *path,
                                                                struct tutti_npy *array);
TUTTI_API void tutti_npy_unmap(struct tutti_npy *array);
/* Write a C-order array by temporary name, fsync, rename. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_npy_write(tutti_context *context, const char *path,
                                                            enum tutti_element element, size_t rank,
                                                            const size_t *shape, const void *data);

TUTTI_END_DECLS
#endif
