/* json_impl.h - JSON to and from text, for the libraries and the program. jansson's types do not cross the plugin interface:
   plugins have plugins/shared/json.h. */
#ifndef TUTTI_JSON_IMPL_H
#define TUTTI_JSON_IMPL_H

#include "private.h"

#include <jansson.h>
#include <tutti/context.h>

/* Text of a tree, which is taken; NULL stands for one that could not be made. Numbers have as many digits as give back the
   same bits. Free *text with tutti_free. A line without blanks and without its end, or a document of several lines, each with
   its end. */
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_json_line(tutti_context *context, json_t *root, char **text);
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_json_document(tutti_context *context, json_t *root, char **text);

/* The tree of a text; end it with json_decref. `flags` are jansson's. What is no JSON is the error `status`: "expected
   EXPECTED, line 1, column 2: REASON". */
TUTTI_PRIVATE TUTTI_NODISCARD enum tutti_status tutti_json_parse(tutti_context *context, const char *text, size_t flags,
                                                                 enum tutti_status status, const char *expected,
                                                                 json_t **root);

/* A number, or null for what JSON has no number for. */
TUTTI_PRIVATE json_t *tutti_json_number(double value);

#endif
