/* json_impl.h - JSON to and from text, for the libraries and the program. jansson's types do not cross the plugin
   interface: plugins have plugins/shared/json.h. */
#ifndef TUTTI_JSON_IMPL_H
#define TUTTI_JSON_IMPL_H

#include "private.h"

#include <jansson.h>
#include <tutti/context.h>

/* The text of a tree, which is taken; a root of NULL is TUTTI_ERROR_MEMORY. Numbers have enough digits to give the same
   bits back. Free *text with tutti_free. tutti_json_line gives one line without blanks and without a newline;
   tutti_json_document gives indented lines, each with its newline. */
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_json_line(tutti_context *context, json_t *root, char **text);
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_json_document(tutti_context *context, json_t *root, char **text);

/* Parse a text; end *root with json_decref. `flags` are jansson's. If the text is not JSON, the error is `status`:
   "expected EXPECTED, line 1, column 2: REASON". */
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_json_parse(tutti_context *context, const char *text, size_t flags,
                                                                 enum tutti_status status, const char *expected,
                                                                 json_t **root);

/* A number; null for infinities and NaN, which JSON cannot write. */
TUTTI_PRIVATE json_t *tutti_json_number(double value);

#endif
