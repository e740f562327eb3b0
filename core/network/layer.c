/* layer.c - a layer of a network, and its attributes by name. */
#include "network_impl.h"

#include <math.h>
#include <string.h>

static const struct network_layer *whole(const struct tutti_layer *layer) {
  return (const struct network_layer *)(const void *)layer;
}

const struct tutti_layer *tutti_network_layer(const tutti_network *network, size_t index) {
  return index < network->count ? &network->layers[index]->layer : NULL;
}

/* The attribute's place in the layer, where it has one of these types; NULL otherwise. */
static const double *find(const struct tutti_layer *layer, const char *name, enum tutti_attribute_type type,
                          enum tutti_attribute_type or_type) {
  const struct tutti_attribute_definitions *table = &whole(layer)->definition->attributes;
  for (size_t i = 0; i < table->count; i++)
    if (strcmp(table->table[i].name, name) == 0)
      return table->table[i].type == type || table->table[i].type == or_type ? &whole(layer)->attributes[i].value
                                                                             : NULL;
  return NULL;
}

int32_t tutti_layer_integer(const struct tutti_layer *layer, const char *name, int32_t otherwise) {
  const double *value = find(layer, name, TUTTI_ATTRIBUTE_INTEGER, TUTTI_ATTRIBUTE_CHOICE);
  return value ? (int32_t)*value : otherwise;
}

double tutti_layer_real(const struct tutti_layer *layer, const char *name, double otherwise) {
  const double *value = find(layer, name, TUTTI_ATTRIBUTE_REAL, TUTTI_ATTRIBUTE_REAL);
  return value ? *value : otherwise;
}

bool tutti_layer_flag(const struct tutti_layer *layer, const char *name, bool otherwise) {
  const double *value = find(layer, name, TUTTI_ATTRIBUTE_FLAG, TUTTI_ATTRIBUTE_FLAG);
  return value ? *value != 0 : otherwise;
}

const struct tutti_attribute *tutti_layer_attributes(const struct tutti_layer *layer) {
  return whole(layer)->attributes;
}

static bool is_preset(const struct tutti_attribute_definition *attribute, double value) {
  double preset = tutti_attribute_preset(attribute);
  if (attribute->flags & TUTTI_ATTRIBUTE_REQUIRED)
    return false;
  return isnan(preset) ? isnan(value) : value == preset;
}

const char *tutti_layer_unknown(const struct tutti_layer *layer, const char *const *known) {
  const struct tutti_attribute_definitions *table = &whole(layer)->definition->attributes;
  for (size_t i = 0; i < table->count; i++) {
    const char *const *name = known;
    while (*name && strcmp(*name, table->table[i].name) != 0)
      name++;
    if (!*name && !is_preset(&table->table[i], whole(layer)->attributes[i].value))
      return table->table[i].name;
  }
  return NULL;
}
