/* inspect_ops.h - the ops of layers, as tutti inspect describes them. */
#ifndef INSPECT_OPS_H
#define INSPECT_OPS_H

#include "program_impl.h"

/* Limits of a parameter or an attribute; 0 and 0: none. */
struct limits {
  double min, max;
  bool min_open, max_open;
};
/* "0 <= x < 1", or "" without limits; returns `text`. */
const char *range_text(const struct limits *limits, char *text, size_t size);
/* The op of that name, or a built-in one by its number, with its attributes as parameters; NULL if there is none. */
json_t *op_json(tutti_context *context, const char *name);
json_t *built_in_op_json(tutti_context *context, size_t number);
/* Say that there is no op of that name, and which one is meant. */
enum tutti_status refuse_op(tutti_context *context, const char *name);

#endif
