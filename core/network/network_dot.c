/* network_dot.c - a picture of a network for Graphviz. */
#include "network_impl.h"
#include "core/base/text_impl.h"

#include <math.h>

static void add_more_than_one(struct tutti_text *text, const struct tutti_layer *layer, const char *name) {
  int32_t value = tutti_layer_integer(layer, name, 1);
  if (value > 1)
    tutti_text_add(text, " %s %d", name, value);
}

static void add_kernel(struct tutti_text *text, const struct tutti_layer *layer) {
  tutti_text_add(text, " %dx%d", tutti_layer_integer(layer, "kernel_height", 1),
                 tutti_layer_integer(layer, "kernel_width", 1));
}

/* For an op of a plugin: every attribute that is not at its default. */
static void add_attributes(struct tutti_text *text, const struct network_layer *layer) {
  const struct tutti_attribute_definitions *table = &layer->definition->attributes;
  for (size_t i = 0; i < table->count; i++) {
    const struct tutti_attribute_definition *attribute = &table->table[i];
    double value = layer->attributes[i].value, preset = tutti_attribute_preset(attribute);
    if (isnan(value) || value == preset)
      continue;
    if (attribute->type == TUTTI_ATTRIBUTE_CHOICE)
      tutti_text_add(text, " %s", attribute->choices[(size_t)value]);
    else if (attribute->type == TUTTI_ATTRIBUTE_FLAG)
      tutti_text_add(text, " %s%s", value != 0 ? "" : "not ", attribute->name);
    else
      tutti_text_add(text, " %s %g", attribute->name, value);
  }
}

/* The details of a layer that the picture shows. */
static void add_details(struct tutti_text *text, const struct network_layer *whole) {
  const struct tutti_layer *layer = &whole->layer;
  switch (layer->op) {
  case TUTTI_OP_CONV2D:
    add_kernel(text, layer);
    add_more_than_one(text, layer, "stride");
    add_more_than_one(text, layer, "dilation");
    add_more_than_one(text, layer, "groups");
    break;
  case TUTTI_OP_MAX_POOL:
  case TUTTI_OP_AVERAGE_POOL:
    add_kernel(text, layer);
    tutti_text_add(text, " stride %d", tutti_layer_integer(layer, "stride", 1));
    break;
  case TUTTI_OP_ACTIVATION:
    tutti_text_add(text, " %s",
                   tutti_activation_name((enum tutti_activation)tutti_layer_integer(layer, "activation", -1)));
    break;
  case TUTTI_OP_DROPOUT:
  case TUTTI_OP_DROP_PATH:
    tutti_text_add(text, " %g", tutti_layer_real(layer, "rate", 0));
    break;
  case TUTTI_OP_OTHER:
    add_attributes(text, whole);
    break;
  default:
    break;
  }
}

static void add_layer(struct tutti_text *text, size_t number, const struct network_layer *whole) {
  const struct tutti_layer *layer = &whole->layer;
  tutti_text_add(text, "  n%zu [label=\"%s\\n%s", number, layer->label, layer->op_name);
  add_details(text, whole);
  if (layer->shape.height == 1 && layer->shape.width == 1)
    tutti_text_add(text, "\\n%d", layer->shape.channels);
  else
    tutti_text_add(text, "\\n%d x %d x %d", layer->shape.height, layer->shape.width, layer->shape.channels);
  tutti_text_add(text, "\", style=\"%s\", fillcolor=\"%s\"];\n",
                 whole->definition->head || layer->op == TUTTI_OP_INPUT ? "filled,bold" : "filled",
                 layer->parameters ? "#dce9f7" : "#ffffff");
  for (size_t i = 0; i < layer->input_count; i++)
    tutti_text_add(text, "  n%u -> n%zu;\n", layer->inputs[i], number);
}

enum tutti_status tutti_network_dot(tutti_context *context, const tutti_network *network, char **dot) {
  struct tutti_text text = tutti_text_begin(context);
  tutti_text_add(&text, "digraph network {\n  label=\"%zu parameters, %.4g FLOPs\";\n",
                 tutti_network_parameters(network), tutti_network_flops(network));
  tutti_text_add(&text, "  node [shape=box, fontname=\"sans-serif\", fontsize=10];\n");
  for (size_t i = 0; i < network->count; i++)
    add_layer(&text, i, network->layers[i]);
  tutti_text_add(&text, "}\n");
  return tutti_text_take(&text, dot);
}
