/* json.c - JSON to and from text. */
#include "json_impl.h"

#include <math.h>
#include <stdlib.h>

/* Takes the root. */
static enum tutti_status print_tree(tutti_context *context, json_t *root, size_t flags, const char *end, char **text) {
  char *dumped = root ? json_dumps(root, flags | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17)) : NULL;
  json_decref(root);
  if (!dumped)
    return TUTTI_FAIL(context, TUTTI_ERROR_MEMORY, "cannot write JSON: no memory, or a text in it is not UTF-8");
  enum tutti_status status = tutti_format(context, text, "%s%s", dumped, end);
  free(dumped);
  return status;
}

enum tutti_status tutti_json_line(tutti_context *context, json_t *root, char **text) {
  return print_tree(context, root, JSON_COMPACT, "", text);
}

enum tutti_status tutti_json_document(tutti_context *context, json_t *root, char **text) {
  return print_tree(context, root, JSON_INDENT(2), "\n", text);
}

enum tutti_status tutti_json_parse(tutti_context *context, const char *text, size_t flags, enum tutti_status status,
                                   const char *expected, json_t **root) {
  json_error_t error;
  *root = json_loads(text, flags, &error);
  if (*root)
    return TUTTI_OK;
  return TUTTI_FAIL(context, status, "expected %s, line %d, column %d: %s", expected, error.line, error.column,
                    error.text);
}

json_t *tutti_json_number(double value) { return isfinite(value) ? json_real(value) : json_null(); }
