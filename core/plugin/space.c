/* space.c - kind space: checks and defaults around its ops. */
#include "space_impl.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static const char *missing_ops(const void *ops) {
  if (TUTTI_HAS_OP(space, ops, measures) != TUTTI_HAS_OP(space, ops, distances))
    return "measures or distances (both or neither)";
  if (TUTTI_HAS_OP(space, ops, print_point) != TUTTI_HAS_OP(space, ops, parse_point))
    return "print_point or parse_point (both or neither)";
  if (TUTTI_HAS_OP(space, ops, domain))
    return NULL;
  if (!TUTTI_HAS_OP(space, ops, graph_sample))
    return "domain (for points) or graph_sample (for graphs)";
  if (!TUTTI_HAS_OP(space, ops, graph_mutate))
    return "graph_mutate";
  if (!TUTTI_HAS_OP(space, ops, graph_print))
    return "graph_print";
  if (!TUTTI_HAS_OP(space, ops, graph_parse))
    return "graph_parse";
  return TUTTI_HAS_OP(space, ops, graph_free) ? NULL : "graph_free";
}

static enum tutti_status fetch_domain(tutti_context *context, void *object, const void *setup) {
  tutti_space *space = object;
  (void)setup;
  if (!space->ops.domain)
    return TUTTI_OK;
  TUTTI_ASK(context, space, space->domain = space->ops.domain(space->instance.self));
  return space->domain ? TUTTI_OK : TUTTI_BREACH(context, &space->instance, "domain gave nothing");
}

TUTTI_DEFINE_KIND(SPACE, space, .required = {TUTTI_REQUIRED_OP(space, decode)}, .missing = missing_ops,
                  .open = fetch_domain)

unsigned tutti_space_capabilities(const tutti_space *space) {
  return (space->domain ? TUTTI_SPACE_VECTORS : 0u) | (space->ops.distances ? TUTTI_SPACE_DISTANCES : 0u);
}

const tutti_domain *tutti_space_domain(const tutti_space *space) { return space->domain; }

/* --- sampling, mutation --- */

static enum tutti_status sample_point(tutti_context *context, const tutti_space *space, struct tutti_random *random,
                                      double *point) {
  if (!space->ops.sample_point) {
    tutti_domain_sample(space->domain, random, point);
    return TUTTI_OK;
  }
  TUTTI_CALL(context, space, space->ops.sample_point(space->instance.self, context, random, point));
  return TUTTI_OK;
}

static enum tutti_status mutate_point(tutti_context *context, const tutti_space *space, struct tutti_random *random,
                                      double *point) {
  if (!space->ops.mutate_point) {
    (void)tutti_domain_mutate(space->domain, random, point);
    return TUTTI_OK;
  }
  TUTTI_CALL(context, space, space->ops.mutate_point(space->instance.self, context, random, point));
  return TUTTI_OK;
}

enum tutti_status tutti_space_sample(tutti_context *context, const tutti_space *space, struct tutti_random *random,
                                     tutti_genotype **genotype) {
  *genotype = NULL;
  if (space->domain) {
    double *point;
    TUTTI_TRY(context, tutti_alloc(context, tutti_domain_count(space->domain) + 1, sizeof *point, &point));
    enum tutti_status status = sample_point(context, space, random, point);
    if (status == TUTTI_OK)
      status = tutti_space_from_point(context, space, point, genotype);
    tutti_free(point);
    return status;
  }
  void *graph = NULL;
  TUTTI_CALL(context, space, space->ops.graph_sample(space->instance.self, context, random, &graph));
  return tutti_genotype_of_graph(context, space, graph, genotype);
}

enum tutti_status tutti_space_mutate(tutti_context *context, const tutti_space *space, struct tutti_random *random,
                                     const tutti_genotype *genotype, tutti_genotype **mutant) {
  *mutant = NULL;
  if (space->domain) {
    double *point;
    size_t count = tutti_domain_count(space->domain);
    TUTTI_TRY(context, tutti_alloc(context, count + 1, sizeof *point, &point));
    memcpy(point, genotype->point, count * sizeof *point);
    enum tutti_status status = mutate_point(context, space, random, point);
    if (status == TUTTI_OK)
      status = tutti_space_from_point(context, space, point, mutant);
    tutti_free(point);
    return status;
  }
  void *graph = NULL;
  TUTTI_CALL(context, space, space->ops.graph_mutate(space->instance.self, context, random, genotype->graph, &graph));
  return tutti_genotype_of_graph(context, space, graph, mutant);
}

/* --- text --- */

bool tutti_space_known(const tutti_space *space, size_t index, const char **name, const char **json) {
  bool answer = false;
  if (space->ops.known)
    TUTTI_ASK(TUTTI_CONTEXT_OF(space), space, answer = space->ops.known(space->instance.self, index, name, json));
  return answer;
}

/* The JSON of the known genotype that `json` names, or `json` itself. A space that parses its points gets unknown
   names, too. */
static enum tutti_status resolve_name(tutti_context *context, const tutti_space *space, const char *json,
                                      const char **resolved) {
  enum { MOST = 64 };
  const char *names[MOST], *name, *text;
  size_t count = 0;
  json_t *root = json_loads(json, JSON_DECODE_ANY, NULL);
  const char *wanted = json_string_value(root);
  enum tutti_status status = TUTTI_OK;
  *resolved = json;
  if (wanted) {
    *resolved = NULL;
    for (size_t i = 0; !*resolved && tutti_space_known(space, i, &name, &text); i++) {
      if (strcmp(name, wanted) == 0)
        *resolved = text;
      if (count < MOST)
        names[count++] = name;
    }
    if (!*resolved && space->ops.parse_point) {
      *resolved = json;
    } else if (!*resolved) {
      const char *closest = tutti_closest_name(wanted, count, names);
      status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "space %s knows no genotype '%s'%s%s%s",
                          space->instance.descriptor->name, wanted, closest ? "; did you mean '" : "",
                          closest ? closest : "", closest ? "'?" : "");
    }
  }
  json_decref(root);
  return status;
}

static enum tutti_status parse_point(tutti_context *context, const tutti_space *space, const char *json,
                                     double *point) {
  if (!space->ops.parse_point)
    return tutti_domain_parse(context, space->domain, json, point);
  TUTTI_CALL(context, space, space->ops.parse_point(space->instance.self, context, json, point));
  return TUTTI_OK;
}

enum tutti_status tutti_space_parse(tutti_context *context, const tutti_space *space, const char *json_or_name,
                                    tutti_genotype **genotype) {
  const char *json;
  *genotype = NULL;
  TUTTI_TRY(context, resolve_name(context, space, json_or_name, &json));
  if (!space->domain) {
    void *graph = NULL;
    TUTTI_CALL(context, space, space->ops.graph_parse(space->instance.self, context, json, &graph));
    return tutti_genotype_of_graph(context, space, graph, genotype);
  }
  double *point;
  TUTTI_TRY(context, tutti_alloc(context, tutti_domain_count(space->domain) + 1, sizeof *point, &point));
  enum tutti_status status = parse_point(context, space, json, point);
  if (status == TUTTI_OK)
    status = tutti_space_from_point(context, space, point, genotype);
  tutti_free(point);
  return status;
}

/* --- decode --- */

static enum tutti_status check_network(tutti_context *context, const tutti_space *space, const struct tutti_task *task,
                                       const tutti_network *network) {
  if (!network)
    return TUTTI_BREACH(context, &space->instance, "decode gave no network");
  enum tutti_status status = tutti_network_check(context, network);
  if (status != TUTTI_OK)
    return tutti_instance_blame(context, &space->instance, status);
  const struct tutti_layer *head = tutti_network_layer(network, tutti_network_layers(network) - 1);
  if (head->op != task->head)
    return TUTTI_BREACH(
        context, &space->instance,
        "decode ended the network in %s, and the run's head is %s, the one that predictions and metrics "
        "are made for; end it with tutti_network_add_head",
        head->op_name, tutti_op_name(task->head));
  return TUTTI_OK;
}

enum tutti_status tutti_space_decode(tutti_context *context, const tutti_genotype *genotype,
                                     const struct tutti_task *task, tutti_network **network) {
  const tutti_space *space = genotype->space;
  *network = NULL;
  TUTTI_CALL(context, space, space->ops.decode(space->instance.self, context, genotype, task, network));
  enum tutti_status status = check_network(context, space, task, *network);
  if (status != TUTTI_OK) {
    tutti_network_destroy(*network);
    *network = NULL;
  }
  return status;
}

/* --- distances --- */

size_t tutti_space_measures(const tutti_space *space) {
  size_t answer = 0;
  if (space->ops.measures)
    TUTTI_ASK(TUTTI_CONTEXT_OF(space), space, answer = space->ops.measures(space->instance.self));
  return answer;
}

enum tutti_status tutti_space_distances(tutti_context *context, const tutti_genotype *from, size_t count,
                                        const tutti_genotype *const *to, double *out) {
  const tutti_space *space = from->space;
  if (!space->ops.distances)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "space %s has no distances", space->instance.descriptor->name);
  TUTTI_CALL(context, space, space->ops.distances(space->instance.self, context, from, count, to, out));
  size_t measures = tutti_space_measures(space);
  for (size_t i = 0; i < count * measures; i++)
    if (!(out[i] >= 0))
      return TUTTI_BREACH(context, &space->instance, "a distance is %g", out[i]);
  return TUTTI_OK;
}

const char *tutti_space_measure_name(const tutti_space *space, size_t index) {
  const char *answer = NULL;
  if (space->ops.measure_name)
    TUTTI_ASK(TUTTI_CONTEXT_OF(space), space, answer = space->ops.measure_name(space->instance.self, index));
  return answer;
}

enum tutti_status tutti_space_explain(tutti_context *context, const tutti_genotype *from, const tutti_genotype *to,
                                      char **json) {
  const tutti_space *space = from->space;
  *json = NULL;
  if (space->ops.explain)
    TUTTI_CALL(context, space, space->ops.explain(space->instance.self, context, from, to, json));
  return TUTTI_OK;
}
