/* attribute.c - the attributes of ops: a table's entries, their defaults, and the names of activations. */
#include "op_impl.h"

#include <math.h>
#include <string.h>

const char *const tutti_activation_table[] = {TUTTI_ACTIVATION_CHOICES};

const char *tutti_activation_name(enum tutti_activation activation) {
  return (unsigned)activation < TUTTI_ACTIVATION_COUNT ? tutti_activation_table[activation] : "unknown activation";
}

const char *const *tutti_activation_names(void) { return tutti_activation_table; }

const struct tutti_attribute_definition *tutti_attribute_at(const struct tutti_attribute_definitions *attributes,
                                                            size_t index) {
  if (index >= attributes->count)
    return NULL;
  return (const struct tutti_attribute_definition *)(const void *)((const char *)attributes->table +
                                                                   index * attributes->stride);
}

const struct tutti_attribute_definition *tutti_op_attribute(const struct tutti_op_definition *definition,
                                                            const char *name) {
  for (size_t i = 0; i < definition->attributes.count; i++)
    if (strcmp(definition->attributes.table[i].name, name) == 0)
      return &definition->attributes.table[i];
  return NULL;
}

double tutti_attribute_preset(const struct tutti_attribute_definition *attribute) {
  return attribute->flags & (TUTTI_ATTRIBUTE_REQUIRED | TUTTI_ATTRIBUTE_OPTIONAL) ? NAN : attribute->preset;
}
