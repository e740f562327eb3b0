/* param_impl.h - values of parameters, between their text and their field in a config struct; for core/ only. */
#ifndef TUTTI_PARAM_IMPL_H
#define TUTTI_PARAM_IMPL_H

#include "core/base/private.h"

#include <tutti/param.h>

/* A value of any type. */
struct tutti_value {
  int64_t integer; /* bool, integer, choice */
  double number;   /* real */
  size_t count;    /* elements of a list */
  void *memory;    /* text or elements; NULL for numbers and empty lists */
  size_t bytes;    /* of memory */
};

/* Parse and check; value->memory belongs to the caller. TUTTI_ERROR_USAGE: "expected ..., found ...". */
TUTTI_NODISCARD enum tutti_status tutti_value_parse(tutti_context *context, const struct tutti_param *param,
                                                    const char *text, struct tutti_value *value);
/* The same from a number, for types that have one. */
TUTTI_NODISCARD enum tutti_status tutti_value_from_number(tutti_context *context, const struct tutti_param *param,
                                                          double number, struct tutti_value *value);
/* The text that gives this value again; free with tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_value_print(tutti_context *context, const struct tutti_param *param,
                                                    const struct tutti_value *value, char **text);
/* Move between a value and its field; memory is borrowed. */
void tutti_value_store(const struct tutti_param *param, const struct tutti_value *value, void *config);
struct tutti_value tutti_value_load(const struct tutti_param *param, const void *config);
/* Bytes of the field. */
size_t tutti_param_field_size(enum tutti_param_type type);
bool tutti_param_is_text(enum tutti_param_type type);
/* Is it of lower-case letters, digits and hyphens, and is the first a letter? */
TUTTI_PRIVATE bool tutti_plugin_name_valid(const char *name);

#endif
