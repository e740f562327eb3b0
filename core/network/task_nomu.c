/* task_nomu.c - gives the network of a mean a second one for its uncertainty, as NOMU has it (Heiss et al., ICML 2022,
   Figure 2): the same architecture again, with weights of its own, whose output also reads the last layer of the first.
   Bounds have a network each, without that connection (Figure 17). So every space's networks can end in head-nomu. */
#include "task_impl.h"

#include "op_impl.h"

#include <stdint.h>
#include <string.h>

/* The members that a task of an older version, which is shorter, does not have are at their defaults. */
static bool passes_gradient(const struct tutti_task *task) {
  return task->size >= offsetof(struct tutti_task, connection_gradient) + sizeof task->connection_gradient &&
         task->connection_gradient;
}

static double l2_of(const struct tutti_task *task) {
  bool has = task->size >= offsetof(struct tutti_task, uncertainty_l2) + sizeof task->uncertainty_l2;
  return has ? task->uncertainty_l2 : 0;
}

static enum tutti_status set_l2(tutti_context *context, tutti_network *network, uint32_t layer, double l2) {
  const struct tutti_layer *made = tutti_network_layer(network, layer);
  const struct tutti_op_definition *op = tutti_op_find(context, made->op_name);
  if (l2 <= 0 || made->parameters == 0 || !op || !tutti_op_attribute(op, "l2"))
    return TUTTI_OK;
  return tutti_network_set_l2(context, network, made->label, l2);
}

/* Copy one layer, which reads the copies map[] of what it reads. */
static enum tutti_status copy_layer(tutti_context *context, tutti_network *network, uint32_t number, const char *prefix,
                                    double l2, uint32_t *map, uint32_t *inputs) {
  const struct tutti_layer *layer = tutti_network_layer(network, number);
  char *label;
  if (layer->op == TUTTI_OP_BATCH_NORM)
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "head-nomu: layer \"%s\" is a batch norm, whose statistics would mix the data with the artificial "
        "points; choose a space, or parameters of it, without batch norm",
        layer->label);
  for (size_t i = 0; i < layer->input_count; i++)
    inputs[i] = map[layer->inputs[i]];
  TUTTI_TRY(context, tutti_format(context, &label, "%s%s", prefix, layer->label));
  enum tutti_status status = tutti_network_add_op(context, network, layer->op_name, label, layer->input_count, inputs,
                                                  tutti_layer_attributes(layer), &map[number]);
  tutti_free(label);
  TUTTI_TRY(context, status);
  return set_l2(context, network, map[number], l2);
}

/* Mark the layers on a way to `inputs`. */
static size_t mark_ways(const tutti_network *network, size_t count, const uint32_t *inputs, bool *used) {
  size_t most = 1;
  for (size_t i = 0; i < count; i++)
    used[inputs[i]] = true;
  for (size_t i = tutti_network_layers(network); i-- > 1;) {
    const struct tutti_layer *layer = tutti_network_layer(network, i);
    for (size_t k = 0; used[i] && k < layer->input_count; k++)
      used[layer->inputs[k]] = true;
    most = layer->input_count > most ? layer->input_count : most;
  }
  return most;
}

/* Copy all that leads to inputs[count] but the network's input, which both read; copies[count]. */
static enum tutti_status copy_ways(tutti_context *context, tutti_network *network, size_t count, const uint32_t *inputs,
                                   const char *prefix, double l2, uint32_t *copies) {
  enum tutti_status status;
  size_t layers = tutti_network_layers(network);
  bool *used = NULL;
  uint32_t *map = NULL, *reads = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, layers, sizeof *used, &used));
  TUTTI_TRY_OUT(context, tutti_alloc(context, layers, sizeof *map, &map));
  size_t most = mark_ways(network, count, inputs, used);
  TUTTI_TRY_OUT(context, tutti_alloc(context, most, sizeof *reads, &reads));
  for (uint32_t i = 1; i < layers; i++)
    if (used[i])
      TUTTI_TRY_OUT(context, copy_layer(context, network, i, prefix, l2, map, reads));
  for (size_t i = 0; i < count; i++)
    copies[i] = map[inputs[i]];
out:
  tutti_free(used);
  tutti_free(map);
  tutti_free(reads);
  return status;
}

static enum tutti_status add_dense(tutti_context *context, tutti_network *network, const char *label, uint32_t input,
                                   const struct tutti_task *task, double l2, uint32_t *layer) {
  TUTTI_TRY(context, tutti_network_add_dense(context, network, label, input, (int32_t)task->outputs,
                                             TUTTI_ACTIVATION_LINEAR, layer));
  return set_l2(context, network, *layer, l2);
}

/* What head-nomu has of each kind with these attributes. */
static double attribute_of(const struct tutti_task *task, const char *name) {
  double value = 0;
  for (const struct tutti_attribute *a = tutti_task_head_attributes(task); a && a->name; a++)
    if (strcmp(a->name, name) == 0)
      value = a->value;
  return value;
}

/* Layers side by side; a single one as it is. */
static enum tutti_status join(tutti_context *context, tutti_network *network, size_t count, const uint32_t *inputs,
                              uint32_t *layer) {
  *layer = inputs[0];
  return count == 1 ? TUTTI_OK : tutti_network_add(context, network, TUTTI_OP_CONCAT, NULL, count, inputs, NULL, layer);
}

/* Add a network like that which leads to inputs[count], and its output. `connected`: the output also reads them. */
static enum tutti_status add_beside(tutti_context *context, tutti_network *network, size_t count,
                                    const uint32_t *inputs, const char *prefix, bool connected,
                                    const struct tutti_task *task, uint32_t *output) {
  enum tutti_status status;
  uint32_t *both = NULL, joint;
  size_t own = connected ? count : 0;
  char *label = NULL;
  TUTTI_TRY_OUT(context, tutti_format(context, &label, "%soutput", prefix));
  TUTTI_TRY_OUT(context, tutti_alloc(context, 2 * count, sizeof *both, &both));
  for (size_t i = 0; i < own; i++) {
    both[i] = inputs[i];
    if (!passes_gradient(task))
      TUTTI_TRY_OUT(context, tutti_network_add(context, network, TUTTI_OP_DETACH, NULL, 1, &inputs[i], NULL, &both[i]));
  }
  TUTTI_TRY_OUT(context, copy_ways(context, network, count, inputs, prefix, l2_of(task), both + own));
  TUTTI_TRY_OUT(context, join(context, network, own + count, both, &joint));
  TUTTI_TRY_OUT(context, add_dense(context, network, label, joint, task, l2_of(task), output));
out:
  tutti_free(both);
  tutti_free(label);
  return status;
}

enum tutti_status tutti_network_add_nomu(tutti_context *context, tutti_network *network, size_t count,
                                         const uint32_t *inputs, uint32_t mean, const struct tutti_task *task) {
  int bounds = (int)attribute_of(task, "bounds");
  uint32_t outputs[3] = {mean}, joint;
  size_t filled = 1;
  if (bounds == TUTTI_NOMU_BOUNDS_SYMMETRIC)
    TUTTI_TRY(context, add_beside(context, network, count, inputs, "uncertainty/", true, task, &outputs[filled++]));
  if (bounds == TUTTI_NOMU_BOUNDS_LOWER || bounds == TUTTI_NOMU_BOUNDS_BOTH)
    TUTTI_TRY(context, add_beside(context, network, count, inputs, "lower/", false, task, &outputs[filled++]));
  if (bounds == TUTTI_NOMU_BOUNDS_UPPER || bounds == TUTTI_NOMU_BOUNDS_BOTH)
    TUTTI_TRY(context, add_beside(context, network, count, inputs, "upper/", false, task, &outputs[filled++]));
  if ((int)attribute_of(task, "noise") == TUTTI_NOMU_NOISE_LEARNT && filled < 3) {
    TUTTI_TRY(context, join(context, network, count, inputs, &joint));
    TUTTI_TRY(context, add_dense(context, network, "noise", joint, task, 0, &outputs[filled++]));
  }
  return tutti_network_add(context, network, TUTTI_OP_HEAD_NOMU, "head", filled, outputs,
                           tutti_task_head_attributes(task), NULL);
}
