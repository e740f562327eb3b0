/* json.h - JSON to and from text, for plugins that use jansson themselves: its types do not cross the plugin
   interface. */
#ifndef TUTTI_SHARED_JSON_H
#define TUTTI_SHARED_JSON_H

#include <jansson.h>
#include <stdlib.h>
#include <tutti/plugin.h>

/* Text of a tree; takes the tree. A NULL tree is one that could not be made. `flags` are jansson's; `what` names the
   thing in the error if it could not be written. Free *text with tutti_free. */
static inline enum tutti_status shared_json_print(tutti_context *context, json_t *root, size_t flags, const char *what,
                                                  char **text) {
  char *dumped = root ? json_dumps(root, flags) : NULL;
  enum tutti_status status =
      dumped ? tutti_strdup(context, dumped, text)
             : TUTTI_FAIL(context, root ? TUTTI_ERROR_MEMORY : TUTTI_ERROR_NUMERIC,
                          "cannot write %s as JSON: no memory, or a value in it that JSON does not have", what);
  free(dumped);
  json_decref(root);
  return status;
}

/* Parse a text into a tree; release it with json_decref. TUTTI_ERROR_USAGE if it is not JSON: "expected WHAT as FORM;
   line 1, column 2: REASON". The form may be NULL. */
static inline enum tutti_status shared_json_parse(tutti_context *context, const char *text, size_t flags,
                                                  const char *what, const char *form, json_t **root) {
  json_error_t error;
  *root = json_loads(text, flags, &error);
  if (*root)
    return TUTTI_OK;
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "expected %s%s%s; line %d, column %d: %s", what, form ? " as " : "",
                    form ? form : "", error.line, error.column, error.text);
}

#endif
