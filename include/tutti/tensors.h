/* tensors.h - a set of named arrays: a network's weights, or whatever a backend keeps of a trained model. On disk it is
   a safetensors file. */
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

/* Make an empty set; the caller destroys *tensors. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_tensors_create(tutti_context *context, tutti_tensors **tensors);
/* Destroy it with its data; NULL is allowed. */
TUTTI_API void tutti_tensors_destroy(tutti_tensors *tensors);
/* Make a copy with all data and notes; the caller destroys *tensors. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_tensors_copy(tutti_context *context, const tutti_tensors *from,
                                                               tutti_tensors **tensors);
/* Add a zeroed tensor shape[rank], rank <= 8, and set *(void **)data_pointer to its data, which stay the set's and do
   not move. TUTTI_ERROR_USAGE: the name is taken, empty, "__metadata__" or not UTF-8, or element or rank is unknown;
   TUTTI_ERROR_MEMORY. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_tensors_add(tutti_context *context, tutti_tensors *tensors,
                                                              const char *name, enum tutti_element element, size_t rank,
                                                              const size_t *shape, void *data_pointer);
/* The number of tensors. */
TUTTI_API size_t tutti_tensors_count(const tutti_tensors *tensors);
/* Tensor number `index`, borrowed until the next one is added; NULL past the last. */
TUTTI_API const struct tutti_tensor *tutti_tensors_at(const tutti_tensors *tensors, size_t index);
/* The tensor of that name, borrowed likewise; NULL if there is none. */
TUTTI_API const struct tutti_tensor *tutti_tensors_find(const tutti_tensors *tensors, const char *name);

/* Set a note, a text under a key in the file's header; both are copied, and an old text is replaced. TUTTI_ERROR_USAGE:
   not UTF-8. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_tensors_set_note(tutti_context *context, tutti_tensors *tensors,
                                                                   const char *key, const char *text);
/* The note of that key, borrowed until it is set again; NULL if there is none. */
TUTTI_API const char *tutti_tensors_note(const tutti_tensors *tensors, const char *key);

TUTTI_END_DECLS
#endif
