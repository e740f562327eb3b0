/* backend_layers.c - which layers a backend takes, and why not others. */
#include "backend_impl.h"
#include "core/network/network_impl.h"

#include <math.h>
#include <stdio.h>

static const struct network_layer *whole(const struct tutti_layer *layer) {
  return (const struct network_layer *)(const void *)layer;
}

static bool is_changed(const struct network_layer *layer, size_t index) {
  const struct tutti_attribute_definition *attribute = &layer->definition->attributes.table[index];
  double value = layer->attributes[index].value, preset = tutti_attribute_preset(attribute);
  return !(attribute->flags & TUTTI_ATTRIBUTE_REQUIRED) && !(isnan(value) && isnan(preset)) && value != preset;
}

/* Without `supports_layer`, a backend gets only layers that it cannot mistake: built-in ops whose attributes are at
   their defaults, except for those that every layer states. */
static bool is_plain(const struct tutti_layer *layer) {
  for (size_t i = 0; i < whole(layer)->definition->attributes.count; i++)
    if (is_changed(whole(layer), i))
      return false;
  return layer->op != TUTTI_OP_OTHER;
}

static bool has_op(const struct tutti_backend_ops *ops, void *self, const struct tutti_layer *layer) {
  return layer->op == TUTTI_OP_OTHER ? ops->supports_layer != NULL : ops->supports(self, layer->op);
}

static bool takes(const struct tutti_backend_ops *ops, void *self, const struct tutti_layer *layer) {
  return ops->supports_layer ? ops->supports_layer(self, layer) : is_plain(layer);
}

bool tutti_backend_knows(const struct tutti_backend_ops *ops, void *self, const struct tutti_layer *layer) {
  return has_op(ops, self, layer) && takes(ops, self, layer);
}

/* Find the attribute without which the backend would take the layer; the table's count if there is none. */
static enum tutti_status find_culprit(tutti_context *context, const struct tutti_backend_ops *ops, void *self,
                                      const struct network_layer *layer, size_t *culprit) {
  const struct tutti_attribute_definitions *table = &layer->definition->attributes;
  struct network_layer changed = *layer;
  TUTTI_TRY(context, tutti_alloc(context, table->count + 1, sizeof *changed.attributes, &changed.attributes));
  for (size_t i = 0; i < table->count; i++)
    changed.attributes[i] = layer->attributes[i];
  for (*culprit = 0; *culprit < table->count; ++*culprit) {
    if (!is_changed(layer, *culprit))
      continue;
    changed.attributes[*culprit].value = tutti_attribute_preset(&table->table[*culprit]);
    if (takes(ops, self, &changed.layer))
      break;
    changed.attributes[*culprit].value = layer->attributes[*culprit].value;
  }
  tutti_free(changed.attributes);
  return TUTTI_OK;
}

/* " with stride = 2" */
static void describe(const struct network_layer *layer, size_t index, char *text, size_t size) {
  const struct tutti_attribute_definition *attribute = tutti_attribute_at(&layer->definition->attributes, index);
  if (!attribute) {
    (void)snprintf(text, size, "%s", layer->layer.op == TUTTI_OP_OTHER ? "" : " with attributes as it does not take");
    return;
  }
  double value = layer->attributes[index].value;
  if (attribute->type == TUTTI_ATTRIBUTE_CHOICE)
    (void)snprintf(text, size, " with %s = %s", attribute->name, attribute->choices[(size_t)value]);
  else if (attribute->type == TUTTI_ATTRIBUTE_FLAG)
    (void)snprintf(text, size, " with %s = %s", attribute->name, value != 0 ? "true" : "false");
  else
    (void)snprintf(text, size, " with %s = %g", attribute->name, value);
}

enum tutti_status tutti_backend_refuse(tutti_context *context, const char *backend, const struct tutti_backend_ops *ops,
                                       void *self, size_t index, const struct tutti_layer *layer) {
  char with[256] = "";
  if (has_op(ops, self, layer)) {
    size_t culprit;
    TUTTI_TRY(context, find_culprit(context, ops, self, whole(layer), &culprit));
    describe(whole(layer), culprit, with, sizeof with);
  }
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "the space makes networks with a layer that backend %s does not have: layer %zu '%s', op %s%s; "
                    "choose another [backend] or [space]",
                    backend, index, layer->label, layer->op_name, with);
}
