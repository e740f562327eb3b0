/* network.c - the network: layers in topological order, each owned with its label and inputs. */
#include "network_impl.h"

#include <math.h>
#include <string.h>
#include <tutti/names.h>

static void destroy_layer(struct network_layer *layer) {
  if (!layer)
    return;
  tutti_free((void *)(uintptr_t)layer->layer.label);
  tutti_free((void *)(uintptr_t)layer->layer.inputs);
  tutti_free(layer->attributes);
  tutti_free(layer);
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
    TUTTI_TRY(context, tutti_format(context, &copy, "%s%zu", layer->op_name, network->count));
  layer->label = copy;
  if (!label_is_legal(copy))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "a layer's label has 1 to %d letters, digits and \"._/-\"; layer %zu (%s) has \"%.220s\"",
                      TUTTI_LABEL_MAX, network->count, layer->op_name, copy);
  for (size_t i = 0; i < network->count; i++)
    if (strcmp(network->layers[i]->layer.label, copy) == 0)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "two layers have the label \"%s\": %zu (%s) and %zu (%s)", copy, i,
                        network->layers[i]->layer.op_name, network->count, layer->op_name);
  return TUTTI_OK;
}

static enum tutti_status check_inputs(tutti_context *context, const tutti_network *network,
                                      const struct network_layer *layer, size_t count, const uint32_t *inputs) {
  const struct tutti_op_definition *op = layer->definition;
  const char *label = layer->layer.label;
  if (count < op->min_inputs || count > op->max_inputs)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "layer \"%s\" (%s) has %zu inputs; it takes %zu%s", label, op->name,
                      count, op->min_inputs, op->max_inputs > op->min_inputs ? " or more" : "");
  for (size_t i = 0; i < count; i++) {
    if (inputs[i] >= network->count)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "layer \"%s\" (%s) reads layer %u; a layer reads only those before it, here 0 to %zu", label,
                        op->name, inputs[i], network->count - 1);
    const struct network_layer *read = network->layers[inputs[i]];
    if (read->definition->head)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "layer \"%s\" (%s) reads the head \"%s\"; nothing comes after a head", label, op->name,
                        read->layer.label);
  }
  return TUTTI_OK;
}

static enum tutti_status set_inputs(tutti_context *context, const tutti_network *network, size_t count,
                                    const uint32_t *inputs, struct network_layer *layer) {
  uint32_t *copy;
  TUTTI_TRY(context, check_inputs(context, network, layer, count, inputs));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof *copy, &copy));
  if (count)
    memcpy(copy, inputs, count * sizeof *copy);
  layer->layer.inputs = copy;
  layer->layer.input_count = count;
  return TUTTI_OK;
}

/* Fail because the op has no attribute of that name. */
static enum tutti_status fail_attribute(tutti_context *context, const struct network_layer *layer, const char *name) {
  const struct tutti_attribute_definitions *table = &layer->definition->attributes;
  const char **names, *closest;
  TUTTI_TRY(context, tutti_alloc(context, table->count, sizeof *names, &names));
  for (size_t i = 0; i < table->count; i++)
    names[i] = table->table[i].name;
  closest = tutti_closest_name(name, table->count, names);
  tutti_free(names);
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "layer \"%s\" (%s) has no attribute \"%s\"%s%s%s", layer->layer.label,
                    layer->layer.op_name, name, closest ? "; did you mean \"" : "", closest ? closest : "",
                    closest ? "\"?" : "");
}

/* Set all attributes of the op: as given, or to their defaults. */
static enum tutti_status set_attributes(tutti_context *context, const struct tutti_attribute *given,
                                        struct network_layer *layer) {
  const struct tutti_attribute_definitions *table = &layer->definition->attributes;
  TUTTI_TRY(context, tutti_alloc(context, table->count + 1, sizeof *layer->attributes, &layer->attributes));
  for (size_t i = 0; i < table->count; i++)
    layer->attributes[i] = (struct tutti_attribute){table->table[i].name, tutti_attribute_preset(&table->table[i])};
  for (; given && given->name; given++) {
    const struct tutti_attribute_definition *attribute = tutti_op_attribute(layer->definition, given->name);
    if (!attribute)
      return fail_attribute(context, layer, given->name);
    layer->attributes[attribute - table->table].value = given->value;
  }
  return TUTTI_OK;
}

static enum tutti_status reserve_layer(tutti_context *context, tutti_network *network) {
  if (network->count < network->capacity)
    return TUTTI_OK;
  if (network->count >= TUTTI_NETWORK_LAYERS_MAX)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "a network has at most %d layers", TUTTI_NETWORK_LAYERS_MAX);
  size_t capacity = network->capacity ? 2 * network->capacity : 16;
  TUTTI_TRY(context,
            tutti_realloc(context, network->count, capacity, sizeof(struct network_layer *), &network->layers));
  network->capacity = capacity;
  return TUTTI_OK;
}

/* `shape` counts for an input only; the shapes of other layers are inferred. */
static enum tutti_status append_layer(tutti_context *context, tutti_network *network, enum tutti_op op,
                                      const struct tutti_op_definition *definition, const char *label,
                                      size_t input_count, const uint32_t *inputs,
                                      const struct tutti_attribute *attributes, struct tutti_shape shape) {
  enum tutti_status status = TUTTI_OK;
  struct network_layer *layer = NULL;
  TUTTI_TRY_OUT(context, reserve_layer(context, network));
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *layer, &layer));
  layer->layer =
      (struct tutti_layer){.size = sizeof layer->layer, .op = op, .op_name = definition->name, .shape = shape};
  layer->definition = definition;
  TUTTI_TRY_OUT(context, set_label(context, network, label, &layer->layer));
  TUTTI_TRY_OUT(context, set_inputs(context, network, input_count, inputs, layer));
  TUTTI_TRY_OUT(context, set_attributes(context, attributes, layer));
  TUTTI_TRY_OUT(context, tutti_network_infer(context, network, layer));
  network->layers[network->count++] = layer;
  return TUTTI_OK;
out:
  destroy_layer(layer);
  return status;
}

enum tutti_status tutti_network_create(tutti_context *context, struct tutti_shape input, tutti_network **network) {
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof **network, network));
  enum tutti_status status =
      append_layer(context, *network, TUTTI_OP_INPUT, tutti_op_builtin(TUTTI_OP_INPUT), "input", 0, NULL, NULL, input);
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
    destroy_layer(network->layers[i]);
  tutti_free(network->layers);
  tutti_free(network);
}

enum tutti_status tutti_network_copy(tutti_context *context, const tutti_network *from, tutti_network **network) {
  return tutti_network_narrow(context, from, 0, network);
}

enum tutti_status tutti_network_narrow(tutti_context *context, const tutti_network *from, size_t unread,
                                       tutti_network **network) {
  enum tutti_status status = TUTTI_OK;
  struct tutti_shape input = from->layers[0]->layer.shape;
  tutti_network *copy;
  *network = NULL;
  if (unread >= (size_t)input.channels)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%zu of %d inputs are to be left out; expected fewer", unread,
                      input.channels);
  input.channels -= (int32_t)unread;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *copy, &copy));
  for (size_t i = 0; i < from->count; i++) {
    const struct network_layer *layer = from->layers[i];
    const struct tutti_op_definition *definition = layer->definition;
    if (layer->layer.op == TUTTI_OP_OTHER) /* this context's: the layer's may belong to another */
      TUTTI_TRY_OUT(context, tutti_op_get(context, layer->layer.op_name, &definition));
    TUTTI_TRY_OUT(context,
                  append_layer(context, copy, layer->layer.op, definition, layer->layer.label, layer->layer.input_count,
                               layer->layer.inputs, layer->attributes, input)); /* the others' shapes are inferred */
  }
  *network = copy;
  copy = NULL;
out:
  tutti_network_destroy(copy);
  return status;
}

/* --- adding --- */

enum tutti_status tutti_network_add_defined(tutti_context *context, tutti_network *network, enum tutti_op op,
                                            const struct tutti_op_definition *definition, const char *label,
                                            size_t input_count, const uint32_t *inputs,
                                            const struct tutti_attribute *attributes, uint32_t *layer) {
  TUTTI_TRY(context, append_layer(context, network, op, definition, label, input_count, inputs, attributes,
                                  (struct tutti_shape){0, 0, 0}));
  if (layer)
    *layer = (uint32_t)(network->count - 1);
  return TUTTI_OK;
}

enum tutti_status tutti_network_add(tutti_context *context, tutti_network *network, enum tutti_op op, const char *label,
                                    size_t input_count, const uint32_t *inputs,
                                    const struct tutti_attribute *attributes, uint32_t *layer) {
  const struct tutti_op_definition *definition = tutti_op_builtin(op);
  if (op == TUTTI_OP_OTHER)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "layer %zu: an op of a plugin is added by its name, by "
                      "tutti_network_add_op",
                      network->count);
  if (!definition || op == TUTTI_OP_INPUT)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "layer %zu cannot have the op %d (%s); only layer 0 is an input",
                      network->count, (int)op, tutti_op_name(op));
  return tutti_network_add_defined(context, network, op, definition, label, input_count, inputs, attributes, layer);
}

enum tutti_status tutti_network_add_op(tutti_context *context, tutti_network *network, const char *op,
                                       const char *label, size_t input_count, const uint32_t *inputs,
                                       const struct tutti_attribute *attributes, uint32_t *layer) {
  const struct tutti_op_definition *definition;
  TUTTI_TRY(context, tutti_op_get(context, op, &definition));
  enum tutti_op number = tutti_op_number(definition);
  if (number != TUTTI_OP_OTHER)
    return tutti_network_add(context, network, number, label, input_count, inputs, attributes, layer);
  return tutti_network_add_defined(context, network, number, definition, label, input_count, inputs, attributes, layer);
}

enum tutti_status tutti_network_add_dense(tutti_context *context, tutti_network *network, const char *label,
                                          uint32_t input, int32_t units, enum tutti_activation activation,
                                          uint32_t *layer) {
  uint32_t last;
  TUTTI_TRY(context, tutti_network_add(context, network, TUTTI_OP_DENSE, label, 1, &input,
                                       TUTTI_ATTRIBUTES({"units", units}), &last));
  if (activation != TUTTI_ACTIVATION_LINEAR) {
    enum tutti_status status = TUTTI_OK;
    char *name = NULL;
    if (label)
      TUTTI_TRY(context, tutti_format(context, &name, "%s-activation", label));
    status = tutti_network_add(context, network, TUTTI_OP_ACTIVATION, name, 1, &last,
                               TUTTI_ATTRIBUTES({"activation", activation}), &last);
    tutti_free(name);
    TUTTI_TRY(context, status);
  }
  if (layer)
    *layer = last;
  return TUTTI_OK;
}

enum tutti_status tutti_network_add_dropout(tutti_context *context, tutti_network *network, const char *label,
                                            uint32_t input, double rate, uint32_t *layer) {
  TUTTI_TRY(context, tutti_network_add(context, network, TUTTI_OP_DROPOUT, label, 1, &input,
                                       TUTTI_ATTRIBUTES({"rate", rate}), layer));
  return TUTTI_OK;
}

/* --- L2, checks, sums --- */

static struct network_layer *find_label(tutti_network *network, const char *label) {
  for (size_t i = 0; i < network->count; i++)
    if (strcmp(network->layers[i]->layer.label, label) == 0)
      return network->layers[i];
  return NULL;
}

enum tutti_status tutti_network_set_l2(tutti_context *context, tutti_network *network, const char *label, double l2) {
  struct network_layer *layer = find_label(network, label);
  if (!layer)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "no layer has the label \"%s\", which is to get an L2 weight", label);
  if (layer->layer.parameters == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "layer \"%s\" (%s) has no parameters that an L2 weight could hold",
                      label, layer->layer.op_name);
  if (!(l2 >= 0) || !isfinite(l2))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "layer \"%s\": an L2 weight is finite and not negative, found %g",
                      label, l2);
  const struct tutti_attribute_definition *attribute = tutti_op_attribute(layer->definition, "l2");
  if (!attribute)
    return fail_attribute(context, layer, "l2");
  layer->attributes[attribute - layer->definition->attributes.table].value = l2;
  return TUTTI_OK;
}

enum tutti_status tutti_network_check(tutti_context *context, const tutti_network *network) {
  enum tutti_status status = TUTTI_OK;
  bool *used = NULL;
  const struct tutti_layer *last = &network->layers[network->count - 1]->layer;
  if (!network->layers[network->count - 1]->definition->head)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "the last layer, \"%s\" (%s), is not a head; end with a head-*",
                      last->label, last->op_name);
  TUTTI_TRY(context, tutti_alloc(context, network->count, sizeof *used, &used));
  used[network->count - 1] = true;
  for (size_t i = network->count; i-- > 0;) {
    const struct tutti_layer *layer = &network->layers[i]->layer;
    if (!used[i]) {
      status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                          "layer \"%s\" (%s) is not on any way to the head \"%s\"; take it out or read it",
                          layer->label, layer->op_name, last->label);
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

size_t tutti_network_parameters(const tutti_network *network) {
  size_t sum = 0;
  for (size_t i = 0; i < network->count; i++)
    if (__builtin_add_overflow(sum, network->layers[i]->layer.parameters, &sum))
      return SIZE_MAX;
  return sum;
}

double tutti_network_flops(const tutti_network *network) {
  double sum = 0;
  for (size_t i = 0; i < network->count; i++)
    sum += network->layers[i]->layer.flops;
  return sum;
}
