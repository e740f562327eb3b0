/* tensors.h - a set of named arrays: a network's weights, or whatever a backend keeps of a trained model. On disk it is a
   safetensors file. */
#ifndef TUTTI_TENSORS_H
#define TUTTI_TENSORS_H

#include <tutti/npy.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_tensors tutti_tensors;

struct tutti_tensor {
  size_t size; /* sizeof(struct tutti_tensor) of the library */
  const char *name;
  enum tutti_element element;
  size_t rank;
  const size_t *shape;
  size_t bytes;
  void *data; /* row-major, 64-byte aligned */
};

TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_tensors_create(tutti_context *context, tutti_tensors **tensors);
TUTTI_API void tutti_tensors_destroy(tutti_tensors *tensors);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_tensors_copy(tutti_context *context, const tutti_tensors *from,
                                                               tutti_tensors **tensors);
/* Add a zeroed tensor (rank <= 8) and give its data; TUTTI_ERROR_USAGE if the name is taken. Data pointers stay valid. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_tensors_add(tutti_context *context, tutti_tensors *tensors,
                                                              const char *name, enum tutti_element element, size_t rank,
                                                              const size_t *shape, void *data_pointer);
TUTTI_API size_t tutti_tensors_count(const tutti_tensors *tensors);
TUTTI_API const struct tutti_tensor *tutti_tensors_at(const tutti_tensors *tensors, size_t index);
/* NULL when there is none of that name. */
TUTTI_API const struct tutti_tensor *tutti_tensors_find(const tutti_tensors *tensors, const char *name);

/* Metadata are texts kept in the file's header; NULL when the key is absent. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_tensors_set_note(tutti_context *context, tutti_tensors *tensors,
                                                                   const char *key, const char *text);
TUTTI_API const char *tutti_tensors_note(const tutti_tensors *tensors, const char *key);

/* Write by temporary name, fsync, rename; read with every length checked (TUTTI_ERROR_CORRUPT). */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_tensors_write(tutti_context *context, const tutti_tensors *tensors,
                                                                const char *path);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_tensors_read(tutti_context *context, const char *path,
                                                               tutti_tensors **tensors);

TUTTI_END_DECLS
#endif
