/* network_infer.c - checks a layer's attributes, and asks its op for shape, parameters and FLOPs. */
#include "core/base/running_impl.h"
#include "network_impl.h"

#include <math.h>

static enum tutti_status blame(tutti_context *context, const struct tutti_layer *layer, enum tutti_status status) {
  (void)tutti_error_prefix(context, status, "layer \"%s\" (%s): ", layer->label, layer->op_name);
  return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
}

static enum tutti_status check_attributes(tutti_context *context, const struct network_layer *layer) {
  const struct tutti_attribute_definitions *table = &layer->definition->attributes;
  for (size_t i = 0; i < table->count; i++) {
    enum tutti_status status = tutti_attribute_check(context, &table->table[i], layer->attributes[i].value);
    if (status != TUTTI_OK)
      return blame(context, &layer->layer, status);
  }
  return TUTTI_OK;
}

static enum tutti_status infer_op(tutti_context *context, const tutti_network *network,
                                  const struct network_layer *layer, struct tutti_inferred *inferred) {
  const struct tutti_descriptor *plugin = tutti_op_plugin(context, layer->definition);
  const struct tutti_descriptor *caller = plugin ? tutti_running_enter(context, plugin) : NULL;
  enum tutti_status status = layer->definition->infer(context, network, &layer->layer, inferred);
  if (plugin)
    tutti_running_leave(context, caller);
  if (status == TUTTI_OK)
    return TUTTI_OK;
  /* A plugin may fail without saying why; the message would then be that of an earlier error. */
  if (tutti_error_status(context) != status)
    status = TUTTI_FAIL(context, status, "its shape cannot be inferred (%s), and the op does not say why",
                        tutti_status_name(status));
  return blame(context, &layer->layer, status);
}

/* An int32_t can count the numbers of every layer, so that flatten and backends need no checks of their own. */
static enum tutti_status check_inferred(tutti_context *context, const struct tutti_layer *layer,
                                        const struct tutti_inferred *inferred) {
  struct tutti_shape shape = inferred->shape;
  int32_t area, volume;
  if (shape.height < 1 || shape.width < 1 || shape.channels < 1 ||
      __builtin_mul_overflow(shape.height, shape.width, &area) || __builtin_mul_overflow(area, shape.channels, &volume))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "layer \"%s\" (%s) has the shape %d x %d x %d; each side must be at least 1, and the product at "
                      "most %d",
                      layer->label, layer->op_name, shape.height, shape.width, shape.channels, INT32_MAX);
  if (!(inferred->flops >= 0) || !isfinite(inferred->flops))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "layer \"%s\" (%s) takes %g FLOPs; a finite number >= 0 was expected",
                      layer->label, layer->op_name, inferred->flops);
  return TUTTI_OK;
}

enum tutti_status tutti_network_infer(tutti_context *context, const tutti_network *network,
                                      struct network_layer *layer) {
  struct tutti_inferred inferred = {.size = sizeof inferred, .shape = layer->layer.shape};
  if (layer->layer.input_count)
    inferred.shape = network->layers[layer->layer.inputs[0]]->layer.shape;
  TUTTI_TRY(context, check_attributes(context, layer));
  TUTTI_TRY(context, infer_op(context, network, layer, &inferred));
  TUTTI_TRY(context, check_inferred(context, &layer->layer, &inferred));
  layer->layer.shape = inferred.shape;
  layer->layer.parameters = inferred.parameters;
  layer->layer.flops = inferred.flops;
  return TUTTI_OK;
}
