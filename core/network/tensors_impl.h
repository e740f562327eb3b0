/* tensors_impl.h - the inside of a set of tensors; for core/network/ and the reader of files alone. */
#ifndef TUTTI_TENSORS_IMPL_H
#define TUTTI_TENSORS_IMPL_H

#include "core/base/private.h"

#include <tutti/tensors.h>

enum { TUTTI_RANK_MAX = 8 };

/* The name that safetensors reserves for notes. */
#define TUTTI_NOTES_NAME "__metadata__"

struct tutti_note {
  char *key, *text;
};

struct tutti_tensors {
  size_t count, capacity;
  struct tutti_tensor *tensors; /* each owns name, shape and data */
  size_t note_count, note_capacity;
  struct tutti_note *notes;
};

TUTTI_PRIVATE size_t tutti_element_size(enum tutti_element element);
/* Product of a shape times the element's size; false when it overflows. */
TUTTI_PRIVATE bool tutti_tensor_size(enum tutti_element element, size_t rank, const size_t *shape, size_t *bytes);
/* Add a tensor. The caller has checked rank, size and name, and that the name is new. */
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_tensors_append(tutti_context *context, tutti_tensors *tensors,
                                                                     const char *name, enum tutti_element element,
                                                                     size_t rank, const size_t *shape, size_t bytes,
                                                                     void **data);

#endif
