/* safetensors.h - sets of tensors as safetensors files, which other programs read, too. */
#ifndef TUTTI_SAFETENSORS_H
#define TUTTI_SAFETENSORS_H

#include <tutti/tensors.h>

TUTTI_BEGIN_DECLS

/* Write a safetensors file that is whole or absent: temporary name, fsync, rename. TUTTI_ERROR_FULL or
   TUTTI_ERROR_IO. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_tensors_write(tutti_context *context, const tutti_tensors *tensors,
                                                                const char *path);
/* Read a safetensors file; the caller destroys *tensors, which is NULL on failure. TUTTI_ERROR_IO: it cannot be read;
   TUTTI_ERROR_CORRUPT: a length or a name in it is wrong. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_tensors_read(tutti_context *context, const char *path,
                                                               tutti_tensors **tensors);

TUTTI_END_DECLS
#endif
