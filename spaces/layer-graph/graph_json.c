/* graph_json.c - layer graphs as JSON and back. */
#include "graph_json.h"
#include "plugins/shared/json.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const char form[] = "{\"layers\": [{\"label\": \"ip\"}, {\"label\": \"...\", \"units\": N}, ..., "
                           "{\"label\": \"op\"}], \"edges\": [[FROM, TO], ...]}";

/* --- print ------------------------------------------------------------------------------------------------------- */

static json_t *json_of_layer(const struct layer *layer) {
  json_t *value = json_pack("{s:s}", "label", label_facts[layer->label].name);
  if (label_facts[layer->label].units)
    (void)json_object_set_new(value, "units", json_integer(layer->units));
  if (layer->stride == 2)
    (void)json_object_set_new(value, "stride", json_integer(2));
  return value;
}

enum tutti_status graph_to_json(tutti_context *context, const struct graph *graph, char **json) {
  json_t *layers = json_array(), *edges = json_array();
  for (int i = 0; i < graph->count; i++) {
    (void)json_array_append_new(layers, json_of_layer(&graph->layers[i]));
    for (uint64_t rest = graph->layers[i].children; rest;)
      (void)json_array_append_new(edges, json_pack("[i,i]", i, bits_take(&rest)));
  }
  json_t *root = json_pack("{s:o,s:o}", "layers", layers, "edges", edges);
  return shared_json_print(context, root, JSON_COMPACT, "a layer graph", json);
}

/* --- parse ------------------------------------------------------------------------------------------------------- */

static enum tutti_status check_keys(tutti_context *context, const char *place, json_t *object, size_t count,
                                    const char *const *keys) {
  const char *key;
  json_t *ignored;
  json_object_foreach(object, key, ignored) {
    size_t i = 0;
    while (i < count && strcmp(keys[i], key) != 0)
      i++;
    if (i == count)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: unknown key \"%s\"; expected %s", place, key, form);
  }
  return TUTTI_OK;
}

/* An integer of an object, in range; `preset` where it is not there. */
static enum tutti_status read_integer(tutti_context *context, const char *place, const json_t *object, const char *key,
                                      int32_t preset, int32_t *out) {
  const json_t *value = json_object_get(object, key);
  json_int_t number = json_integer_value(value);
  *out = preset;
  if (!value)
    return TUTTI_OK;
  if (!json_is_integer(value) || number < INT32_MIN || number > INT32_MAX)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: \"%s\" must be an integer of 32 bits", place, key);
  *out = (int32_t)number;
  return TUTTI_OK;
}

static enum tutti_status read_layer(tutti_context *context, const struct graph_rules *rules, int index, json_t *value,
                                    struct graph *graph) {
  static const char *const keys[] = {"label", "units", "stride"};
  const char *name = json_string_value(json_object_get(value, "label"));
  enum label label;
  int32_t units, stride;
  char place[32];
  (void)snprintf(place, sizeof place, "layer %d", index);
  if (!name)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected an object with a text \"label\", as in %s", place,
                      form);
  TUTTI_TRY(context, check_keys(context, place, value, sizeof keys / sizeof keys[0], keys));
  enum tutti_status status = label_parse(context, rules->labels, name, &label);
  if (status != TUTTI_OK)
    return tutti_error_prefix(context, status, "%s: ", place);
  bool sized = label_facts[label].units, strides = label_role(label) == ROLE_CONV;
  TUTTI_TRY(context, read_integer(context, place, value, "units", 0, &units));
  TUTTI_TRY(context, read_integer(context, place, value, "stride", strides ? 1 : 0, &stride));
  if (sized != (json_object_get(value, "units") != NULL))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: %s %s", place, name,
                      sized ? "needs a number of \"units\"" : "has no \"units\"");
  if (strides ? stride != 1 && stride != 2 : json_object_get(value, "stride") != NULL)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: %s", place,
                      strides ? "\"stride\" must be 1 or 2" : "only convolutions have a \"stride\"");
  (void)graph_add_layer(graph, label, units, stride);
  return TUTTI_OK;
}

static enum tutti_status read_edge(tutti_context *context, size_t index, const json_t *value, struct graph *graph) {
  int ends[2];
  for (size_t k = 0; k < 2; k++) {
    const json_t *end = json_array_get(value, k);
    json_int_t number = json_integer_value(end);
    if (json_array_size(value) != 2 || !json_is_integer(end) || number < 0 || number >= graph->count)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "edge %zu: expected [FROM, TO], numbers of layers, 0 to %d", index,
                        graph->count - 1);
    ends[k] = (int)number;
  }
  if (graph->layers[ends[0]].children & bit(ends[1]))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "edge %zu: there is one from layer %d to %d already", index, ends[0],
                      ends[1]);
  graph_add_edge(graph, ends[0], ends[1]);
  return TUTTI_OK;
}

static enum tutti_status read_graph(tutti_context *context, const struct graph_rules *rules, json_t *root,
                                    struct graph *graph) {
  static const char *const keys[] = {"layers", "edges"};
  const json_t *layers = json_object_get(root, "layers"), *edges = json_object_get(root, "edges");
  if (!json_is_array(layers) || !json_is_array(edges))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "expected a layer graph as %s", form);
  TUTTI_TRY(context, check_keys(context, "layer graph", root, sizeof keys / sizeof keys[0], keys));
  if (json_array_size(layers) > (size_t)rules->layers_most)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "expected at most %lld layers (max_layers), found %zu",
                      (long long)rules->layers_most, json_array_size(layers));
  for (size_t i = 0; i < json_array_size(layers); i++)
    TUTTI_TRY(context, read_layer(context, rules, (int)i, json_array_get(layers, i), graph));
  for (size_t i = 0; i < json_array_size(edges); i++)
    TUTTI_TRY(context, read_edge(context, i, json_array_get(edges, i), graph));
  return TUTTI_OK;
}

static enum tutti_status sort_graph(tutti_context *context, const struct graph_rules *rules, struct graph *graph) {
  int numbers[GRAPH_LAYERS_MOST], cycle;
  char why[256];
  if (!graph_sort(graph, numbers, &cycle))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "the graph has a cycle; layer %d (%s) is on it, or behind it", cycle,
                      label_facts[graph->layers[cycle].label].name);
  if (graph_misfits(rules, graph, numbers, sizeof why, why))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s", why);
  return TUTTI_OK;
}

enum tutti_status graph_from_json(tutti_context *context, const struct graph_rules *rules, const char *json,
                                  struct graph *graph) {
  json_t *root;
  TUTTI_TRY(context, shared_json_parse(context, json, JSON_REJECT_DUPLICATES, "a layer graph", form, &root));
  graph->count = 0;
  enum tutti_status status = read_graph(context, rules, root, graph);
  json_decref(root);
  TUTTI_TRY(context, status);
  return sort_graph(context, rules, graph);
}
