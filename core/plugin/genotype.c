/* genotype.c - architectures: points of a space's domain, or graphs of its own; immutable, counted by reference. */
#include "space_impl.h"

#include <jansson.h>
#include <string.h>

static enum tutti_status allocate(tutti_context *context, const tutti_space *space, tutti_genotype **genotype) {
  size_t count = space->domain ? tutti_domain_count(space->domain) : 0;
  TUTTI_TRY(context, tutti_alloc(context, sizeof **genotype + count * sizeof(double), 1, genotype));
  (*genotype)->references = 1;
  (*genotype)->space = space;
  return TUTTI_OK;
}

enum tutti_status tutti_space_from_point(tutti_context *context, const tutti_space *space, const double *point,
                                         tutti_genotype **genotype) {
  *genotype = NULL;
  if (!space->domain)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "the genotypes of space %s are graphs, not points",
                      space->instance.descriptor->name);
  TUTTI_TRY(context, tutti_domain_check(context, space->domain, point));
  if (space->ops.check_point)
    TUTTI_CALL(context, space, space->ops.check_point(space->instance.self, context, point));
  TUTTI_TRY(context, allocate(context, space, genotype));
  memcpy((*genotype)->point, point, tutti_domain_count(space->domain) * sizeof *point);
  return TUTTI_OK;
}

enum tutti_status tutti_genotype_of_graph(tutti_context *context, const tutti_space *space, void *graph,
                                          tutti_genotype **out) {
  tutti_genotype *genotype = NULL;
  enum tutti_status status = allocate(context, space, &genotype);
  *out = NULL;
  if (status != TUTTI_OK) {
    TUTTI_ASK(context, space, space->ops.graph_free(space->instance.self, graph));
    return status;
  }
  genotype->graph = graph;
  TUTTI_ASK(context, space, status = space->ops.graph_print(space->instance.self, context, graph, &genotype->text));
  if (status != TUTTI_OK) {
    status = tutti_instance_blame(context, &space->instance, status);
    tutti_genotype_unref(genotype);
    return status;
  }
  *out = genotype;
  return TUTTI_OK;
}

/* Only the count changes, so everyone else may hold const pointers. */
tutti_genotype *tutti_genotype_ref(const tutti_genotype *genotype_) {
  tutti_genotype *genotype = (tutti_genotype *)(uintptr_t)genotype_;
  if (genotype)
    genotype->references++;
  return genotype;
}

void tutti_genotype_unref(tutti_genotype *genotype) {
  if (!genotype || --genotype->references > 0)
    return;
  const tutti_space *space = genotype->space;
  if (genotype->graph)
    TUTTI_ASK(TUTTI_CONTEXT_OF(space), space, space->ops.graph_free(space->instance.self, genotype->graph));
  tutti_free(genotype->text);
  tutti_free(genotype);
}

const double *tutti_genotype_point(const tutti_genotype *genotype) {
  return genotype->space->domain ? genotype->point : NULL;
}

const void *tutti_genotype_graph(const tutti_genotype *genotype) { return genotype->graph; }

const tutti_space *tutti_genotype_space(const tutti_genotype *genotype) { return genotype->space; }

bool tutti_genotype_equal(const tutti_genotype *a, const tutti_genotype *b) {
  if (a->space != b->space)
    return false;
  return a->space->domain ? tutti_domain_equal(a->space->domain, a->point, b->point) : strcmp(a->text, b->text) == 0;
}

/* FNV-1a over bytes. */
static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size) {
  const unsigned char *bytes = data;
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ bytes[i]) * UINT64_C(0x100000001B3);
  return hash;
}

uint64_t tutti_genotype_hash(const tutti_genotype *genotype) {
  uint64_t hash = UINT64_C(0xCBF29CE484222325);
  if (genotype->text)
    return hash_bytes(hash, genotype->text, strlen(genotype->text));
  for (size_t i = 0; i < tutti_domain_count(genotype->space->domain); i++) {
    /* NaNs (inactive) are equal whatever their bits, and so are both zeros. */
    double value = genotype->point[i] != genotype->point[i] ? -1e300 : genotype->point[i] + 0.0;
    hash = hash_bytes(hash, &value, sizeof value);
  }
  return hash;
}

enum tutti_status tutti_space_print(tutti_context *context, const tutti_genotype *genotype, char **json) {
  const tutti_space *space = genotype->space;
  if (!space->domain)
    return tutti_strdup(context, genotype->text, json);
  if (!space->ops.print_point)
    return tutti_domain_print(context, space->domain, genotype->point, json);
  TUTTI_CALL(context, space, space->ops.print_point(space->instance.self, context, genotype->point, json));
  return TUTTI_OK;
}

enum tutti_status tutti_space_name(tutti_context *context, const tutti_genotype *genotype, char **name) {
  char *json;
  TUTTI_TRY(context, tutti_space_print(context, genotype, &json));
  json_t *root = json_loads(json, JSON_DECODE_ANY, NULL);
  enum tutti_status status = tutti_strdup(context, json_is_string(root) ? json_string_value(root) : json, name);
  json_decref(root);
  tutti_free(json);
  return status;
}
