/* network_dot.c - a picture of a network for Graphviz. */
#include "network_impl.h"
#include "core/base/text_impl.h"

/* What of a layer is worth a line in the picture. */
static void add_details(struct tutti_text *text, const struct tutti_layer *layer) {
  const struct tutti_attributes *attributes = &layer->attributes;
  switch (layer->op) {
  case TUTTI_OP_CONV2D:
    tutti_text_add(text, " %dx%d", attributes->kernel_height, attributes->kernel_width);
    if (attributes->stride > 1)
      tutti_text_add(text, " stride %d", attributes->stride);
    if (attributes->dilation > 1)
      tutti_text_add(text, " dilation %d", attributes->dilation);
    if (attributes->groups > 1)
      tutti_text_add(text, " groups %d", attributes->groups);
    break;
  case TUTTI_OP_MAX_POOL:
  case TUTTI_OP_AVERAGE_POOL:
    tutti_text_add(text, " %dx%d stride %d", attributes->kernel_height, attributes->kernel_width, attributes->stride);
    break;
  case TUTTI_OP_ACTIVATION:
    tutti_text_add(text, " %s", tutti_activation_name(attributes->activation));
    break;
  case TUTTI_OP_DROPOUT:
  case TUTTI_OP_DROP_PATH:
    tutti_text_add(text, " %g", attributes->rate);
    break;
  default:
    break;
  }
}

static void add_layer(struct tutti_text *text, size_t number, const struct tutti_layer *layer) {
  bool head = tutti_op_facts(layer->op)->head;
  tutti_text_add(text, "  n%zu [label=\"%s\\n%s", number, layer->label, tutti_op_name(layer->op));
  add_details(text, layer);
  if (layer->shape.height == 1 && layer->shape.width == 1)
    tutti_text_add(text, "\\n%d", layer->shape.channels);
  else
    tutti_text_add(text, "\\n%d x %d x %d", layer->shape.height, layer->shape.width, layer->shape.channels);
  tutti_text_add(text, "\", style=\"%s\", fillcolor=\"%s\"];\n",
                 head || layer->op == TUTTI_OP_INPUT ? "filled,bold" : "filled",
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
    add_layer(&text, i, &network->layers[i]);
  tutti_text_add(&text, "}\n");
  return tutti_text_take(&text, dot);
}
