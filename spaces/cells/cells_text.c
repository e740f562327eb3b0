/* cells_text.c - genotypes as text and back, and the rules for the genotypes of a space. */
#include "cells.h"
#include "plugins/shared/json.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* --- rules ------------------------------------------------------------------------------------------------------- */

void cell_sort(struct cell_genotype *genotype) {
  for (int kind = 0; kind < CELL_KINDS; kind++)
    for (int node = 0; node < genotype->nodes; node++) {
      struct cell_edge *edges = genotype->edges[kind][node], first = edges[0];
      if (edges[1].input < first.input) {
        edges[0] = edges[1];
        edges[1] = first;
      }
    }
}

static bool allows(const struct cell_rules *rules, int operation) {
  for (size_t i = 0; i < rules->operation_count; i++)
    if (rules->operations[i] == operation)
      return true;
  return false;
}

/* Of one edge, the first or second of a node; `place` is "normal, node 3". */
static bool edge_misfits(const struct cell_rules *rules, const struct cell_edge *edges, int node, int number,
                         const char *place, size_t size, char *why) {
  const struct cell_edge *edge = &edges[number];
  bool fits = false;
  if (!allows(rules, edge->operation))
    (void)snprintf(why, size, "%s: %s is not among this space's operations", place,
                   cell_operation_names[edge->operation]);
  else if (edge->input < 0 || edge->input >= node + CELL_INPUTS)
    (void)snprintf(why, size, "%s: there is no edge from state %d; a node reads states before it, here 0 to %d", place,
                   edge->input, node + CELL_INPUTS - 1);
  else if (number == 1 && !rules->repeats && edges[0].input == edge->input)
    (void)snprintf(why, size, "%s: both edges come from state %d; here a node's inputs are distinct", place,
                   edge->input);
  else
    fits = true;
  return !fits;
}

static bool node_misfits(const struct cell_rules *rules, const struct cell_genotype *genotype, int kind, int node,
                         size_t size, char *why) {
  const struct cell_edge *edges = genotype->edges[kind][node];
  char place[64];
  (void)snprintf(place, sizeof place, "%s, node %d", cell_kind_names[kind], node + CELL_INPUTS);
  for (int number = 0; number < 2; number++)
    if (edge_misfits(rules, edges, node, number, place, size, why))
      return true;
  if (node > 0 || edges[0].input != edges[1].input)
    return false;
  (void)snprintf(why, size, "%s: the first node joins states 0 and 1, one edge from each", place);
  return true;
}

bool cell_misfit(const struct cell_rules *rules, const struct cell_genotype *genotype, size_t size, char *why) {
  if (genotype->nodes != rules->nodes) {
    (void)snprintf(why, size, "its cells have %d nodes, those of this space %d (nodes = %d)", genotype->nodes,
                   rules->nodes, genotype->nodes);
    return true;
  }
  if (genotype->loose_ends != rules->loose_ends) {
    (void)snprintf(why, size, "its cells' output is that of %s nodes (output = %s)",
                   genotype->loose_ends ? "loose" : "all", genotype->loose_ends ? "loose-ends" : "all");
    return true;
  }
  for (int kind = 0; kind < CELL_KINDS; kind++)
    for (int node = 0; node < genotype->nodes; node++)
      if (node_misfits(rules, genotype, kind, node, size, why))
        return true;
  return false;
}

/* --- print ------------------------------------------------------------------------------------------------------- */

/* NULL if memory runs out, as in jansson. */
static json_t *cell_json(const struct cell_genotype *genotype, int kind) {
  json_t *cell = json_array();
  for (int node = 0; node < genotype->nodes; node++)
    for (int i = 0; i < 2; i++) {
      const struct cell_edge *edge = &genotype->edges[kind][node][i];
      json_t *pair = json_pack("[s, i]", cell_operation_names[edge->operation], edge->input);
      if (json_array_append_new(cell, pair) != 0) {
        json_decref(cell);
        return NULL;
      }
    }
  return cell;
}

enum tutti_status cell_print(tutti_context *context, const struct cell_genotype *genotype, char **json) {
  json_t *root = json_pack("{s:o, s:o}", cell_kind_names[CELL_NORMAL], cell_json(genotype, CELL_NORMAL),
                           cell_kind_names[CELL_REDUCTION], cell_json(genotype, CELL_REDUCTION));
  return shared_json_print(context, root, 0, "a genotype", json);
}

/* --- parse ------------------------------------------------------------------------------------------------------- */

static const char form[] = "{\"normal\": [[\"OPERATION\", INPUT], ...], \"reduction\": [...]}";

static enum tutti_status parse_operation(tutti_context *context, const char *place, const char *name, int *operation) {
  for (*operation = 0; *operation < CELL_OPERATIONS; ++*operation)
    if (strcmp(cell_operation_names[*operation], name) == 0)
      return TUTTI_OK;
  const char *closest = tutti_closest_name(name, CELL_OPERATIONS, cell_operation_names);
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: there is no operation '%s'%s%s%s", place, name,
                    closest ? "; did you mean '" : "", closest ? closest : "", closest ? "'?" : "");
}

static enum tutti_status parse_edge(tutti_context *context, const char *place, const json_t *value,
                                    struct cell_edge *edge) {
  const json_t *name = json_array_get(value, 0), *input = json_array_get(value, 1);
  json_int_t number = json_integer_value(input);
  if (json_array_size(value) != 2 || !json_is_string(name) || !json_is_integer(input))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected an edge as [\"OPERATION\", INPUT]", place);
  /* Numbers out of range are reported with the other errors; one that does not fit into an int becomes INT32_MAX. */
  edge->input = number < 0 ? -1 : number > INT32_MAX ? INT32_MAX : (int)number;
  return parse_operation(context, place, json_string_value(name), &edge->operation);
}

static enum tutti_status parse_cell(tutti_context *context, const json_t *root, int kind,
                                    struct cell_genotype *genotype) {
  const char *name = cell_kind_names[kind];
  const json_t *cell = json_object_get(root, name);
  size_t expected = 2 * (size_t)genotype->nodes;
  if (!json_is_array(cell))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "expected %s; there is no list \"%s\"", form, name);
  if (json_array_size(cell) != expected)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected %zu edges, two for each of %d nodes, found %zu", name,
                      expected, genotype->nodes, json_array_size(cell));
  for (size_t i = 0; i < expected; i++) {
    char place[64];
    (void)snprintf(place, sizeof place, "%s, node %zu", name, i / 2 + CELL_INPUTS);
    TUTTI_TRY(context, parse_edge(context, place, json_array_get(cell, i), &genotype->edges[kind][i / 2][i % 2]));
  }
  return TUTTI_OK;
}

static enum tutti_status find_published(tutti_context *context, const char *name, struct cell_genotype *genotype) {
  for (size_t i = 0; i < CELL_PUBLISHED; i++)
    if (strcmp(cell_published_names[i], name) == 0) {
      *genotype = cell_published[i];
      return TUTTI_OK;
    }
  const char *closest = tutti_closest_name(name, CELL_PUBLISHED, cell_published_names);
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "no published cells are called '%s'%s%s%s; expected a name, or %s",
                    name, closest ? "; did you mean '" : "", closest ? closest : "", closest ? "'?" : "", form);
}

static enum tutti_status parse_root(tutti_context *context, const struct cell_rules *rules, const json_t *root,
                                    struct cell_genotype *genotype) {
  char why[256];
  if (json_is_string(root)) {
    TUTTI_TRY(context, find_published(context, json_string_value(root), genotype));
  } else {
    if (json_object_size(root) != CELL_KINDS)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "expected a genotype as %s", form);
    genotype->nodes = rules->nodes;
    genotype->loose_ends = rules->loose_ends;
    for (int kind = 0; kind < CELL_KINDS; kind++)
      TUTTI_TRY(context, parse_cell(context, root, kind, genotype));
  }
  if (cell_misfit(rules, genotype, sizeof why, why))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s%s%s", json_is_string(root) ? json_string_value(root) : "",
                      json_is_string(root) ? ": " : "", why);
  cell_sort(genotype);
  return TUTTI_OK;
}

enum tutti_status cell_parse(tutti_context *context, const struct cell_rules *rules, const char *json,
                             struct cell_genotype *genotype) {
  json_t *root;
  TUTTI_TRY(context,
            shared_json_parse(context, json, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, "a genotype", form, &root));
  enum tutti_status status = parse_root(context, rules, root, genotype);
  json_decref(root);
  return status;
}
