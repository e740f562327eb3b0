/* npy.h - maps and writes NumPy's array files, and names the types of numbers in arrays. */
#ifndef TUTTI_NPY_H
#define TUTTI_NPY_H

#include <tutti/context.h>

TUTTI_BEGIN_DECLS

enum tutti_element { TUTTI_F32, TUTTI_F64, TUTTI_I32, TUTTI_I64, TUTTI_U8 };

/* An array in a mapped file. Never grows. */
struct tutti_npy {
  enum tutti_element element;
  size_t rank, shape[8], count; /* count: product of the shape */
  const void *data;
  void *mapping; /* private */
  size_t mapped;
};
/* Map a .npy file (versions 1 to 3, C order, little-endian, at most 8 sizes) as *array, which is overwritten; end it
   with tutti_npy_unmap. TUTTI_ERROR_IO: it cannot be read; TUTTI_ERROR_CORRUPT: it is not such a file, or its lengths
   do not agree. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_npy_map(tutti_context *context, const char *path,
                                                          struct tutti_npy *array);
/* tutti_npy_map for a file that the user named: it is read into memory, since it may change, and what is wrong with it
   is a TUTTI_ERROR_USAGE. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_npy_read_users(tutti_context *context, const char *path,
                                                                 struct tutti_npy *array);
/* Unmap it and zero *array; allowed for a zeroed one. */
TUTTI_API void tutti_npy_unmap(struct tutti_npy *array);
/* Write the array data[shape[0]]...[shape[rank - 1]] (C order) to a file that is whole or absent: temporary name,
   fsync, rename. TUTTI_ERROR_USAGE: an unknown element, or rank > 8; TUTTI_ERROR_MEMORY: its size overflows;
   TUTTI_ERROR_FULL or TUTTI_ERROR_IO. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_npy_write(tutti_context *context, const char *path,
                                                            enum tutti_element element, size_t rank,
                                                            const size_t *shape, const void *data);

TUTTI_END_DECLS
#endif
