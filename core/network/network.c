/* network.c - the network: layers in topological order, each owned with its label and inputs. */
#include "network_impl.h"

#include <math.h>
#include <string.h>

static void release_layer(struct tutti_layer *layer) {
  tutti_free((void *)layer->label);
  tutti_free((void *)layer->inputs);
}

static bool label_is_legal(const char *label) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/-";
  size_t length = strlen(label);
  return length >= 1 && length <= TUTTI_LABEL_MAX && strspn(label, letters) == length;
}

static enum tutti_status set_label(tutti_context *context, const tutti_network *network, const char *label,
                                   struct tutti_layer *layer) {
  char *copy;
  if (label)
    TUTTI_TRY(context, tutti_strdup(context, label, &copy));
  else
    TUTTI_TRY(context, tutti_format(context, &copy, "%s%zu", tutti_op_name(layer->op), network->count));
  layer->label = copy;
  if (!label_is_legal(copy))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "a layer's label has 1 to %d letters, digits and \"._/-\"; layer %zu (%s) has \"%.220s\"",
                      TUTTI_LABEL_MAX, network->count, tutti_op_name(layer->op), copy);
  for (size_t i = 0; i < network->count; i++)
    if (strcmp(network->layers[i].label, copy) == 0)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "two layers have the label \"%s\": %zu (%s) and %zu (%s)", copy, i,
                        tutti_op_name(network->layers[i].op), network->count, tutti_op_name(layer->op));
  return TUTTI_OK;
}

static enum tutti_status set_inputs(tutti_context *context, const tutti_network *network, size_t count,
                                    const uint32_t *inputs, struct tutti_layer *layer) {
  const struct tutti_op_facts *facts = tutti_op_facts(layer->op);
  if (count < facts->min_inputs || count > facts->max_inputs)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "layer \"%s\" (%s) has %zu inputs; it takes %zu%s", layer->label,
                      facts->name, count, facts->min_inputs, facts->max_inputs > facts->min_inputs ? " or more" : "");
  for (size_t i = 0; i < count; i++) {
    if (inputs[i] >= network->count)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "layer \"%s\" (%s) reads layer %u; a layer reads only those before it, here 0 to %zu",
                        layer->label, facts->name, inputs[i], network->count - 1);
    const struct tutti_layer *read = &network->layers[inputs[i]];
    if (tutti_op_facts(read->op)->head)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "layer \"%s\" (%s) reads the head \"%s\"; nothing comes after a head", layer->label,
                        facts->name, read->label);
  }
  uint32_t *copy;
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof *copy, &copy));
  if (count)
    memcpy(copy, inputs, count * sizeof *copy);
  layer->inputs = copy;
  layer->input_count = count;
  return TUTTI_OK;
}

static enum tutti_status make_room(tutti_context *context, tutti_network *network) {
  if (network->count < network->capacity)
    return TUTTI_OK;
  if (network->count >= TUTTI_NETWORK_LAYERS_MAX)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "a network has at most %d layers", TUTTI_NETWORK_LAYERS_MAX);
  size_t capacity = network->capacity ? 2 * network->capacity : 16;
  TUTTI_TRY(context, tutti_realloc(context, network->count, capacity, sizeof *network->layers, &network->layers));
  network->capacity = capacity;
  return TUTTI_OK;
}

/* Attributes of a caller that was compiled against an older, shorter struct keep their defaults at the end. */
static struct tutti_attributes complete_attributes(const struct tutti_attributes *given) {
  struct tutti_attributes attributes = tutti_attributes_default();
  if (given) {
    size_t size = given->size < sizeof attributes ? given->size : sizeof attributes;
    memcpy(&attributes, given, size);
    attributes.size = sizeof attributes;
  }
  return attributes;
}

static enum tutti_status append(tutti_context *context, tutti_network *network, enum tutti_op op, const char *label,
                                size_t input_count, const uint32_t *inputs, struct tutti_attributes attributes,
                                struct tutti_shape shape) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_layer layer = {.op = op, .attributes = attributes, .shape = shape};
  TUTTI_TRY_OUT(context, make_room(context, network));
  TUTTI_TRY_OUT(context, set_label(context, network, label, &layer));
  TUTTI_TRY_OUT(context, set_inputs(context, network, input_count, inputs, &layer));
  TUTTI_TRY_OUT(context, tutti_network_infer(context, network, &layer));
  network->layers[network->count++] = layer;
out:
  if (status != TUTTI_OK)
    release_layer(&layer);
  return status;
}

enum tutti_status tutti_network_create(tutti_context *context, struct tutti_shape input, tutti_network **network) {
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof **network, network));
  enum tutti_status status =
      append(context, *network, TUTTI_OP_INPUT, "input", 0, NULL, tutti_attributes_default(), input);
  if (status != TUTTI_OK) {
    tutti_network_destroy(*network);
    *network = NULL;
  }
  return status;
}

void tutti_network_destroy(tutti_network *network) {
  if (!network)
    return;
  for (size_t i = 0; i < network->count; i++)
    release_layer(&network->layers[i]);
  tutti_free(network->layers);
  tutti_free(network);
}

enum tutti_status tutti_network_copy(tutti_context *context, const tutti_network *from, tutti_network **network) {
  enum tutti_status status = TUTTI_OK;
  tutti_network *copy;
  *network = NULL;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *copy, &copy));
  for (size_t i = 0; i < from->count; i++) {
    const struct tutti_layer *layer = &from->layers[i];
    TUTTI_TRY_OUT(context, append(context, copy, layer->op, layer->label, layer->input_count, layer->inputs,
                                  layer->attributes, layer->shape));
  }
  *network = copy;
  copy = NULL;
out:
  tutti_network_destroy(copy);
  return status;
}

enum tutti_status tutti_network_add(tutti_context *context, tutti_network *network, enum tutti_op op, const char *label,
                                    size_t input_count, const uint32_t *inputs,
                                    const struct tutti_attributes *attributes, uint32_t *layer) {
  if (!tutti_op_facts(op) || op == TUTTI_OP_INPUT)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "layer %zu cannot have the op %d (%s); only layer 0 is an input",
                      network->count, (int)op, tutti_op_name(op));
  TUTTI_TRY(context, append(context, network, op, label, input_count, inputs, complete_attributes(attributes),
                            (struct tutti_shape){0, 0, 0}));
  if (layer)
    *layer = (uint32_t)(network->count - 1);
  return TUTTI_OK;
}

enum tutti_status tutti_network_add_dense(tutti_context *context, tutti_network *network, const char *label,
                                          uint32_t input, int32_t units, enum tutti_activation activation,
                                          uint32_t *layer) {
  struct tutti_attributes attributes = tutti_attributes_default();
  attributes.units = units;
  attributes.activation = activation;
  uint32_t last;
  TUTTI_TRY(context, tutti_network_add(context, network, TUTTI_OP_DENSE, label, 1, &input, &attributes, &last));
  if (activation != TUTTI_ACTIVATION_LINEAR) {
    enum tutti_status status = TUTTI_OK;
    char *name = NULL;
    if (label)
      TUTTI_TRY(context, tutti_format(context, &name, "%s-activation", label));
    status = tutti_network_add(context, network, TUTTI_OP_ACTIVATION, name, 1, &last, &attributes, &last);
    tutti_free(name);
    TUTTI_TRY(context, status);
  }
  if (layer)
    *layer = last;
  return TUTTI_OK;
}

enum tutti_status tutti_network_add_dropout(tutti_context *context, tutti_network *network, const char *label,
                                            uint32_t input, double rate, uint32_t *layer) {
  struct tutti_attributes attributes = tutti_attributes_default();
  attributes.rate = rate;
  TUTTI_TRY(context, tutti_network_add(context, network, TUTTI_OP_DROPOUT, label, 1, &input, &attributes, layer));
  return TUTTI_OK;
}

static struct tutti_layer *find_label(tutti_network *network, const char *label) {
  for (size_t i = 0; i < network->count; i++)
    if (strcmp(network->layers[i].label, label) == 0)
      return &network->layers[i];
  return NULL;
}

enum tutti_status tutti_network_set_l2(tutti_context *context, tutti_network *network, const char *label, double l2) {
  struct tutti_layer *layer = find_label(network, label);
  if (!layer)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "no layer has the label \"%s\", which is to get an L2 weight", label);
  if (layer->parameters == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "layer \"%s\" (%s) has no parameters that an L2 weight could hold",
                      label, tutti_op_name(layer->op));
  if (!(l2 >= 0) || !isfinite(l2))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "layer \"%s\": an L2 weight is finite and not negative, found %g",
                      label, l2);
  layer->attributes.l2 = l2;
  return TUTTI_OK;
}

enum tutti_status tutti_network_check(tutti_context *context, const tutti_network *network) {
  enum tutti_status status = TUTTI_OK;
  bool *used = NULL;
  const struct tutti_layer *last = &network->layers[network->count - 1];
  if (!tutti_op_facts(last->op)->head)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "the last layer, \"%s\" (%s), is not a head; end with a head-*",
                      last->label, tutti_op_name(last->op));
  TUTTI_TRY(context, tutti_alloc(context, network->count, sizeof *used, &used));
  used[network->count - 1] = true;
  for (size_t i = network->count; i-- > 0;) {
    const struct tutti_layer *layer = &network->layers[i];
    if (!used[i]) {
      status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                          "layer \"%s\" (%s) is not on any way to the head \"%s\"; take it out or read it",
                          layer->label, tutti_op_name(layer->op), last->label);
      goto out;
    }
    for (size_t k = 0; k < layer->input_count; k++)
      used[layer->inputs[k]] = true;
  }
out:
  tutti_free(used);
  return status;
}

size_t tutti_network_layers(const tutti_network *network) { return network->count; }

const struct tutti_layer *tutti_network_layer(const tutti_network *network, size_t index) {
  return index < network->count ? &network->layers[index] : NULL;
}

size_t tutti_network_parameters(const tutti_network *network) {
  size_t sum = 0;
  for (size_t i = 0; i < network->count; i++)
    if (__builtin_add_overflow(sum, network->layers[i].parameters, &sum))
      return SIZE_MAX;
  return sum;
}

double tutti_network_flops(const tutti_network *network) {
  double sum = 0;
  for (size_t i = 0; i < network->count; i++)
    sum += network->layers[i].flops;
  return sum;
}
