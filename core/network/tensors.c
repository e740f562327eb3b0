/* tensors.c - a set of named arrays with notes. */
#include "tensors_impl.h"

#include <jansson.h>
#include <string.h>

size_t tutti_element_size(enum tutti_element element) {
  switch (element) {
  case TUTTI_F32:
  case TUTTI_I32:
    return 4;
  case TUTTI_F64:
  case TUTTI_I64:
    return 8;
  case TUTTI_U8:
    return 1;
  }
  return 0;
}

bool tutti_tensor_size(enum tutti_element element, size_t rank, const size_t *shape, size_t *bytes) {
  *bytes = tutti_element_size(element);
  for (size_t i = 0; i < rank; i++)
    if (__builtin_mul_overflow(*bytes, shape[i], bytes))
      return false;
  return *bytes <= PTRDIFF_MAX;
}

enum tutti_status tutti_tensors_create(tutti_context *context, tutti_tensors **tensors) {
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof **tensors, tensors));
  return TUTTI_OK;
}

void tutti_tensors_destroy(tutti_tensors *tensors) {
  if (!tensors)
    return;
  for (size_t i = 0; i < tensors->count; i++) {
    tutti_free((void *)tensors->tensors[i].name);
    tutti_free((void *)tensors->tensors[i].shape);
    tutti_free(tensors->tensors[i].data);
  }
  for (size_t i = 0; i < tensors->note_count; i++) {
    tutti_free(tensors->notes[i].key);
    tutti_free(tensors->notes[i].text);
  }
  tutti_free(tensors->tensors);
  tutti_free(tensors->notes);
  tutti_free(tensors);
}

enum tutti_status tutti_tensors_copy(tutti_context *context, const tutti_tensors *from, tutti_tensors **tensors) {
  enum tutti_status status = TUTTI_OK;
  tutti_tensors *copy;
  *tensors = NULL;
  TUTTI_TRY(context, tutti_tensors_create(context, &copy));
  for (size_t i = 0; i < from->count; i++) {
    const struct tutti_tensor *tensor = &from->tensors[i];
    void *data;
    TUTTI_TRY_OUT(context, tutti_tensors_append(context, copy, tensor->name, tensor->element, tensor->rank,
                                                tensor->shape, tensor->bytes, &data));
    if (tensor->bytes)
      memcpy(data, tensor->data, tensor->bytes);
  }
  for (size_t i = 0; i < from->note_count; i++)
    TUTTI_TRY_OUT(context, tutti_tensors_set_note(context, copy, from->notes[i].key, from->notes[i].text));
  *tensors = copy;
  copy = NULL;
out:
  tutti_tensors_destroy(copy);
  return status;
}

enum tutti_status tutti_tensors_append(tutti_context *context, tutti_tensors *tensors, const char *name,
                                       enum tutti_element element, size_t rank, const size_t *shape, size_t bytes,
                                       void **data) {
  enum tutti_status status = TUTTI_OK;
  char *name_copy = NULL;
  size_t *shape_copy = NULL;
  *data = NULL;
  if (tensors->count == tensors->capacity) {
    size_t capacity = tensors->capacity ? 2 * tensors->capacity : 16;
    TUTTI_TRY(context, tutti_realloc(context, tensors->count, capacity, sizeof *tensors->tensors, &tensors->tensors));
    tensors->capacity = capacity;
  }
  TUTTI_TRY_OUT(context, tutti_strdup(context, name, &name_copy));
  TUTTI_TRY_OUT(context, tutti_alloc(context, rank, sizeof *shape_copy, &shape_copy));
  TUTTI_TRY_OUT(context, tutti_alloc(context, bytes, 1, data));
  if (rank)
    memcpy(shape_copy, shape, rank * sizeof *shape_copy);
  tensors->tensors[tensors->count++] =
      (struct tutti_tensor){sizeof(struct tutti_tensor), name_copy, element, rank, shape_copy, bytes, *data};
out:
  if (status != TUTTI_OK) {
    tutti_free(name_copy);
    tutti_free(shape_copy);
  }
  return status;
}

/* Only UTF-8 can be written to a file's header. */
static bool is_utf8(const char *text) {
  json_t *string = json_string(text);
  json_decref(string);
  return string != NULL;
}

enum tutti_status tutti_tensors_add(tutti_context *context, tutti_tensors *tensors, const char *name,
                                    enum tutti_element element, size_t rank, const size_t *shape, void *data_pointer) {
  size_t bytes;
  void *data = NULL;
  memcpy(data_pointer, &data, sizeof data);
  if (name[0] == '\0' || strcmp(name, TUTTI_NOTES_NAME) == 0 || !is_utf8(name))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "a tensor cannot be called \"%s\"; it needs a text in UTF-8", name);
  if (tutti_tensors_find(tensors, name))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "there is a tensor \"%s\" already", name);
  if (rank > TUTTI_RANK_MAX || tutti_element_size(element) == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "tensor \"%s\" has rank %zu and element %d; at most %d and %d are known", name, rank,
                      (int)element, TUTTI_RANK_MAX, TUTTI_U8);
  if (!tutti_tensor_size(element, rank, shape, &bytes))
    return TUTTI_FAIL(context, TUTTI_ERROR_MEMORY, "the size of tensor \"%s\" overflows", name);
  TUTTI_TRY(context, tutti_tensors_append(context, tensors, name, element, rank, shape, bytes, &data));
  memcpy(data_pointer, &data, sizeof data);
  return TUTTI_OK;
}

size_t tutti_tensors_count(const tutti_tensors *tensors) { return tensors->count; }

const struct tutti_tensor *tutti_tensors_at(const tutti_tensors *tensors, size_t index) {
  return index < tensors->count ? &tensors->tensors[index] : NULL;
}

const struct tutti_tensor *tutti_tensors_find(const tutti_tensors *tensors, const char *name) {
  for (size_t i = 0; i < tensors->count; i++)
    if (strcmp(tensors->tensors[i].name, name) == 0)
      return &tensors->tensors[i];
  return NULL;
}

static struct tutti_note *find_note(const tutti_tensors *tensors, const char *key) {
  for (size_t i = 0; i < tensors->note_count; i++)
    if (strcmp(tensors->notes[i].key, key) == 0)
      return &tensors->notes[i];
  return NULL;
}

const char *tutti_tensors_note(const tutti_tensors *tensors, const char *key) {
  const struct tutti_note *note = find_note(tensors, key);
  return note ? note->text : NULL;
}

static enum tutti_status add_note(tutti_context *context, tutti_tensors *tensors, const char *key, char *text) {
  if (tensors->note_count == tensors->note_capacity) {
    size_t capacity = tensors->note_capacity ? 2 * tensors->note_capacity : 4;
    TUTTI_TRY(context, tutti_realloc(context, tensors->note_count, capacity, sizeof *tensors->notes, &tensors->notes));
    tensors->note_capacity = capacity;
  }
  struct tutti_note *note = &tensors->notes[tensors->note_count];
  TUTTI_TRY(context, tutti_strdup(context, key, &note->key));
  note->text = text;
  tensors->note_count++;
  return TUTTI_OK;
}

enum tutti_status tutti_tensors_set_note(tutti_context *context, tutti_tensors *tensors, const char *key,
                                         const char *text) {
  char *copy;
  if (!is_utf8(key) || !is_utf8(text))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "a note of tensors must be UTF-8; \"%s\" is not", key);
  TUTTI_TRY(context, tutti_strdup(context, text, &copy));
  struct tutti_note *note = find_note(tensors, key);
  if (note) {
    tutti_free(note->text);
    note->text = copy;
    return TUTTI_OK;
  }
  enum tutti_status status = add_note(context, tensors, key, copy);
  if (status != TUTTI_OK)
    tutti_free(copy);
  return status;
}
