/* safetensors.c - tensors as a safetensors file: 8 bytes of header length (little-endian), a header in JSON, the data.
   The header maps each name to {"dtype", "shape", "data_offsets": [begin, end]}, offsets counted from the header's end,
   and "__metadata__" to texts. The data are without holes and overlaps; that, and every length, is checked on reading.
 */
#include <tutti/safetensors.h>

#include "core/base/file_impl.h"
#include "core/base/text_impl.h"
#include "core/network/tensors_impl.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "safetensors files are little-endian");

enum { LENGTH_BYTES = 8, HEADER_MAX = 100 << 20, NOTES_MAX = 4096 };

static const char *const element_names[] = {
    [TUTTI_F32] = "F32", [TUTTI_F64] = "F64", [TUTTI_I32] = "I32", [TUTTI_I64] = "I64", [TUTTI_U8] = "U8",
};
enum { ELEMENTS = sizeof element_names / sizeof element_names[0] };

/* --- write --- */

static void add_header_notes(struct tutti_text *text, const tutti_tensors *tensors) {
  if (tensors->note_count == 0)
    return;
  tutti_text_add(text, "\"" TUTTI_NOTES_NAME "\":{");
  for (size_t i = 0; i < tensors->note_count; i++) {
    tutti_text_add(text, i ? "," : "");
    tutti_text_add_json(text, tensors->notes[i].key);
    tutti_text_add(text, ":");
    tutti_text_add_json(text, tensors->notes[i].text);
  }
  tutti_text_add(text, tensors->count ? "}," : "}");
}

static void add_header_tensor(struct tutti_text *text, const struct tutti_tensor *tensor, size_t begin) {
  tutti_text_add_json(text, tensor->name);
  tutti_text_add(text, ":{\"dtype\":\"%s\",\"shape\":[", element_names[tensor->element]);
  for (size_t i = 0; i < tensor->rank; i++)
    tutti_text_add(text, i ? ",%zu" : "%zu", tensor->shape[i]);
  tutti_text_add(text, "],\"data_offsets\":[%zu,%zu]}", begin, begin + tensor->bytes);
}

static enum tutti_status print_header(tutti_context *context, const tutti_tensors *tensors, char **header) {
  struct tutti_text text = tutti_text_begin(context);
  size_t begin = 0;
  tutti_text_add(&text, "{");
  add_header_notes(&text, tensors);
  for (size_t i = 0; i < tensors->count; i++) {
    tutti_text_add(&text, i ? "," : "");
    add_header_tensor(&text, &tensors->tensors[i], begin);
    begin += tensors->tensors[i].bytes;
  }
  tutti_text_add(&text, "}");
  /* Spaces up to a multiple of 8, so that readers that map the file find the data aligned. */
  while (text.length % 8 != 0 && text.status == TUTTI_OK)
    tutti_text_add(&text, " ");
  return tutti_text_take(&text, header);
}

enum tutti_status tutti_tensors_write(tutti_context *context, const tutti_tensors *tensors, const char *path) {
  enum tutti_status status = TUTTI_OK;
  char *header = NULL;
  struct tutti_file_part *parts = NULL;
  TUTTI_TRY_OUT(context, print_header(context, tensors, &header));
  TUTTI_TRY_OUT(context, tutti_alloc(context, tensors->count + 2, sizeof *parts, &parts));
  uint64_t length = strlen(header);
  parts[0] = (struct tutti_file_part){&length, sizeof length};
  parts[1] = (struct tutti_file_part){header, (size_t)length};
  for (size_t i = 0; i < tensors->count; i++)
    parts[i + 2] = (struct tutti_file_part){tensors->tensors[i].data, tensors->tensors[i].bytes};
  TUTTI_TRY_OUT(context, tutti_file_write(context, path, tensors->count + 2, parts));
out:
  tutti_free(header);
  tutti_free(parts);
  return status;
}

/* --- read --- */

/* A file that is being read. */
struct reader {
  tutti_context *context;
  const char *path;
  const char *data; /* after the header */
  size_t data_bytes;
};

/* A tensor's entry in the header. */
struct entry {
  const char *name;
  enum tutti_element element;
  size_t rank, shape[TUTTI_RANK_MAX];
  size_t begin, end;
  size_t number; /* in the header */
};

static enum tutti_status fail_entry(const struct reader *reader, const char *name, const char *problem) {
  return TUTTI_FAIL(reader->context, TUTTI_ERROR_CORRUPT, "%s: tensor \"%s\": %s", reader->path, name, problem);
}

static bool read_size(const json_t *value, size_t *size) {
  *size = (size_t)json_integer_value(value);
  return json_is_integer(value) && json_integer_value(value) >= 0;
}

static enum tutti_status read_entry(const struct reader *reader, const char *name, const json_t *value,
                                    struct entry *entry) {
  const char *element = json_string_value(json_object_get(value, "dtype"));
  const json_t *shape = json_object_get(value, "shape"), *offsets = json_object_get(value, "data_offsets");
  size_t bytes, known = 0;
  entry->name = name;
  while (element && known < ELEMENTS && strcmp(element_names[known], element) != 0)
    known++;
  if (!element || known == ELEMENTS)
    return fail_entry(reader, name, "dtype must be F32, F64, I32, I64 or U8");
  entry->element = (enum tutti_element)known;
  entry->rank = json_array_size(shape);
  if (!json_is_array(shape) || entry->rank > TUTTI_RANK_MAX)
    return fail_entry(reader, name, "shape must be an array of at most 8 sizes");
  for (size_t i = 0; i < entry->rank; i++)
    if (!read_size(json_array_get(shape, i), &entry->shape[i]))
      return fail_entry(reader, name, "shape must be an array of sizes");
  if (json_array_size(offsets) != 2 || !read_size(json_array_get(offsets, 0), &entry->begin) ||
      !read_size(json_array_get(offsets, 1), &entry->end) || entry->begin > entry->end)
    return fail_entry(reader, name, "data_offsets must be [begin, end]");
  if (entry->end > reader->data_bytes)
    return fail_entry(reader, name, "its data end behind the end of the file; the file is cut short");
  if (!tutti_tensor_size(entry->element, entry->rank, entry->shape, &bytes) || bytes != entry->end - entry->begin)
    return fail_entry(reader, name, "shape, dtype and data_offsets do not agree on its size");
  return TUTTI_OK;
}

static enum tutti_status read_notes(const struct reader *reader, json_t *notes, tutti_tensors *tensors) {
  const char *key;
  json_t *text;
  if (!json_is_object(notes) || json_object_size(notes) > NOTES_MAX)
    return TUTTI_FAIL(reader->context, TUTTI_ERROR_CORRUPT,
                      "%s: " TUTTI_NOTES_NAME " must be an object of at most %d texts", reader->path, NOTES_MAX);
  json_object_foreach(notes, key, text) {
    if (!json_is_string(text))
      return TUTTI_FAIL(reader->context, TUTTI_ERROR_CORRUPT, "%s: " TUTTI_NOTES_NAME " \"%s\" must be a text",
                        reader->path, key);
    TUTTI_TRY(reader->context, tutti_tensors_set_note(reader->context, tensors, key, json_string_value(text)));
  }
  return TUTTI_OK;
}

static int compare_entries(const void *left, const void *right) {
  const struct entry *a = left, *b = right;
  if (a->begin != b->begin)
    return a->begin < b->begin ? -1 : 1;
  if (a->end != b->end)
    return a->end < b->end ? -1 : 1;
  return a->number < b->number ? -1 : a->number > b->number;
}

/* Data must follow each other without holes or overlaps, to the end of the file. */
static enum tutti_status check_cover(const struct reader *reader, size_t count, const struct entry *entries) {
  size_t end = 0;
  for (size_t i = 0; i < count; i++) {
    if (entries[i].begin != end)
      return fail_entry(reader, entries[i].name,
                        entries[i].begin < end ? "its data overlap another's" : "there is a hole before its data");
    end = entries[i].end;
  }
  if (end != reader->data_bytes)
    return TUTTI_FAIL(reader->context, TUTTI_ERROR_CORRUPT, "%s: %zu bytes behind the last tensor belong to none",
                      reader->path, reader->data_bytes - end);
  return TUTTI_OK;
}

static enum tutti_status read_tensors(const struct reader *reader, json_t *header, tutti_tensors *tensors) {
  tutti_context *context = reader->context;
  enum tutti_status status = TUTTI_OK;
  struct entry *entries;
  size_t count = 0;
  const char *name;
  json_t *value;
  TUTTI_TRY(context, tutti_alloc(context, json_object_size(header), sizeof *entries, &entries));
  json_object_foreach(header, name, value) {
    if (strcmp(name, TUTTI_NOTES_NAME) == 0) {
      TUTTI_TRY_OUT(context, read_notes(reader, value, tensors));
      continue;
    }
    entries[count].number = count;
    TUTTI_TRY_OUT(context, read_entry(reader, name, value, &entries[count]));
    count++;
  }
  if (count)
    qsort(entries, count, sizeof *entries, compare_entries);
  TUTTI_TRY_OUT(context, check_cover(reader, count, entries));
  for (size_t i = 0; i < count; i++) {
    const struct entry *entry = &entries[i];
    size_t bytes = entry->end - entry->begin;
    void *data;
    TUTTI_TRY_OUT(context, tutti_tensors_append(context, tensors, entry->name, entry->element, entry->rank,
                                                entry->shape, bytes, &data));
    if (bytes)
      memcpy(data, reader->data + entry->begin, bytes);
  }
out:
  tutti_free(entries);
  return status;
}

/* Parse the header of a file in memory; the reader's data are the bytes after it. */
static enum tutti_status read_header(struct reader *reader, const char *file, size_t bytes, json_t **header) {
  uint64_t length;
  json_error_t error;
  if (bytes < LENGTH_BYTES)
    return TUTTI_FAIL(reader->context, TUTTI_ERROR_CORRUPT, "%s: %zu bytes are too few for a safetensors file",
                      reader->path, bytes);
  memcpy(&length, file, sizeof length);
  if (length > bytes - LENGTH_BYTES || length > HEADER_MAX)
    return TUTTI_FAIL(
        reader->context, TUTTI_ERROR_CORRUPT,
        "%s: the header should have %llu bytes, but the file has %zu; it is cut short or no safetensors file",
        reader->path, (unsigned long long)length, bytes);
  *header = json_loadb(file + LENGTH_BYTES, (size_t)length, JSON_REJECT_DUPLICATES, &error);
  if (!json_is_object(*header))
    return TUTTI_FAIL(reader->context, TUTTI_ERROR_CORRUPT, "%s: the header is not a JSON object: %s", reader->path,
                      *header ? "it is something else" : error.text);
  reader->data = file + LENGTH_BYTES + length;
  reader->data_bytes = bytes - LENGTH_BYTES - (size_t)length;
  return TUTTI_OK;
}

enum tutti_status tutti_tensors_read(tutti_context *context, const char *path, tutti_tensors **tensors) {
  enum tutti_status status = TUTTI_OK;
  struct reader reader = {.context = context, .path = path};
  char *file = NULL;
  size_t bytes;
  json_t *header = NULL;
  *tensors = NULL;
  TUTTI_TRY_OUT(context, tutti_file_read(context, path, &file, &bytes));
  TUTTI_TRY_OUT(context, read_header(&reader, file, bytes, &header));
  TUTTI_TRY_OUT(context, tutti_tensors_create(context, tensors));
  TUTTI_TRY_OUT(context, read_tensors(&reader, header, *tensors));
out:
  if (status != TUTTI_OK) {
    tutti_tensors_destroy(*tensors);
    *tensors = NULL;
  }
  json_decref(header);
  tutti_free(file);
  return status;
}
