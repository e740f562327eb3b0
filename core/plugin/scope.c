/* scope.c - the space and the domain of hyperparameters that a builder searches, and candidates made in them. */
#include "candidate_impl.h"
#include "space_impl.h"

#include "core/base/json_impl.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tutti_scope {
  const tutti_space *space;            /* NULL: the architecture is left out */
  const tutti_domain *hyperparameters; /* may be NULL: nothing is searched */
  tutti_domain *joint;                 /* NULL for graph spaces */
};

static size_t count_of(const tutti_domain *domain) { return domain ? tutti_domain_count(domain) : 0; }

/* The dimensions of the architecture; NULL for graphs, and where it is left out. */
static const tutti_domain *architecture_of(const tutti_scope *scope) {
  return scope->space ? scope->space->domain : NULL;
}

/* --- the joint domain --- */

/* Add the dimensions of a domain, with a prefix for names that the other domain has, too. */
static enum tutti_status add_dimensions(tutti_context *context, tutti_domain *joint, const tutti_domain *from,
                                        const tutti_domain *other) {
  for (size_t i = 0; i < count_of(from); i++) {
    struct tutti_dimension dimension = *tutti_domain_at(from, i);
    char name[256], parent[256];
    if (other && tutti_domain_find(other, dimension.name) != SIZE_MAX) {
      (void)snprintf(name, sizeof name, "space.%s", dimension.name);
      dimension.name = name;
    }
    if (other && dimension.parent && tutti_domain_find(other, dimension.parent) != SIZE_MAX) {
      (void)snprintf(parent, sizeof parent, "space.%s", dimension.parent);
      dimension.parent = parent;
    }
    TUTTI_TRY(context, tutti_domain_add(context, joint, &dimension));
  }
  return TUTTI_OK;
}

enum tutti_status tutti_scope_create(tutti_context *context, const tutti_space *space,
                                     const tutti_domain *hyperparameters, tutti_scope **out) {
  enum tutti_status status = TUTTI_OK;
  tutti_scope *scope = NULL;
  *out = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *scope, &scope));
  scope->space = space;
  scope->hyperparameters = hyperparameters;
  if (!space || space->domain) {
    TUTTI_TRY_OUT(context, tutti_domain_create(context, &scope->joint));
    TUTTI_TRY_OUT(context, add_dimensions(context, scope->joint, architecture_of(scope), hyperparameters));
    TUTTI_TRY_OUT(context, add_dimensions(context, scope->joint, hyperparameters, NULL));
  }
  *out = scope;
  scope = NULL;
out:
  tutti_scope_destroy(scope);
  return status;
}

void tutti_scope_destroy(tutti_scope *scope) {
  if (scope)
    tutti_domain_destroy(scope->joint);
  tutti_free(scope);
}

const tutti_space *tutti_scope_space(const tutti_scope *scope) { return scope->space; }

const tutti_domain *tutti_scope_hyperparameters(const tutti_scope *scope) { return scope->hyperparameters; }

const tutti_domain *tutti_scope_joint(const tutti_scope *scope) { return scope->joint; }

/* --- candidates --- */

enum tutti_status tutti_scope_candidate(tutti_context *context, const tutti_scope *scope,
                                        const tutti_genotype *genotype, const double *hyperparameters, uint64_t seed,
                                        tutti_candidate **candidate) {
  size_t count = count_of(scope->hyperparameters);
  *candidate = NULL;
  if ((genotype ? tutti_genotype_space(genotype) : NULL) != scope->space)
    return TUTTI_FAIL(context, TUTTI_ERROR_INTERNAL, "the genotype is of another space than the scope's");
  if (scope->hyperparameters)
    TUTTI_TRY(context, tutti_domain_check(context, scope->hyperparameters, hyperparameters));
  TUTTI_TRY(context, tutti_alloc(context, sizeof **candidate + count * sizeof(double), 1, candidate));
  (*candidate)->references = 1;
  (*candidate)->domain = scope->hyperparameters;
  (*candidate)->genotype = tutti_genotype_ref(genotype);
  (*candidate)->seed = seed;
  if (count)
    memcpy((*candidate)->hyperparameters, hyperparameters, count * sizeof(double));
  return TUTTI_OK;
}

enum tutti_status tutti_scope_sample(tutti_context *context, const tutti_scope *scope, struct tutti_random *random,
                                     uint64_t seed, tutti_candidate **candidate) {
  enum tutti_status status = TUTTI_OK;
  tutti_genotype *genotype = NULL;
  double *point = NULL;
  *candidate = NULL;
  if (scope->space)
    TUTTI_TRY_OUT(context, tutti_space_sample(context, scope->space, random, &genotype));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count_of(scope->hyperparameters), sizeof *point, &point));
  if (scope->hyperparameters)
    tutti_domain_sample(scope->hyperparameters, random, point);
  TUTTI_TRY_OUT(context, tutti_scope_candidate(context, scope, genotype, point, seed, candidate));
out:
  tutti_genotype_unref(genotype);
  tutti_free(point);
  return status;
}

enum tutti_status tutti_scope_known(tutti_context *context, const tutti_scope *scope, size_t index,
                                    struct tutti_random *random, uint64_t seed, tutti_candidate **candidate) {
  enum tutti_status status = TUTTI_OK;
  const char *name, *json;
  tutti_genotype *genotype = NULL;
  double *point = NULL;
  *candidate = NULL;
  if (!scope->space || !tutti_space_known(scope->space, index, &name, &json))
    return TUTTI_OK;
  TUTTI_TRY_OUT(context, tutti_space_parse(context, scope->space, json, &genotype));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count_of(scope->hyperparameters), sizeof *point, &point));
  if (scope->hyperparameters)
    tutti_domain_sample(scope->hyperparameters, random, point);
  TUTTI_TRY_OUT(context, tutti_scope_candidate(context, scope, genotype, point, seed, candidate));
out:
  tutti_genotype_unref(genotype);
  tutti_free(point);
  return status;
}

/* The number of active values of a point; the others are NaN. */
static size_t active_of(const double *point, size_t count) {
  size_t active = 0;
  for (size_t i = 0; i < count; i++)
    active += point[i] == point[i];
  return active;
}

/* The number of variables of an architecture that a mutation may change. */
static size_t variables_of(const tutti_scope *scope, const tutti_genotype *genotype) {
  const tutti_domain *domain = architecture_of(scope);
  if (!domain)
    return scope->space ? 1 : 0;
  return tutti_domain_cardinality(domain) > 1 ? active_of(genotype->point, tutti_domain_count(domain)) : 0;
}

enum tutti_status tutti_scope_mutate(tutti_context *context, const tutti_scope *scope, struct tutti_random *random,
                                     const tutti_candidate *parent, uint64_t seed, tutti_candidate **mutant) {
  enum tutti_status status = TUTTI_OK;
  size_t count = count_of(scope->hyperparameters), ours = variables_of(scope, parent->genotype);
  size_t theirs = active_of(parent->hyperparameters, count);
  tutti_genotype *genotype = NULL;
  double *point = NULL;
  *mutant = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *point, &point));
  if (count)
    memcpy(point, parent->hyperparameters, count * sizeof *point);
  if (theirs == 0 ? ours > 0 : tutti_random_below(random, ours + theirs) < ours) {
    TUTTI_TRY_OUT(context, tutti_space_mutate(context, scope->space, random, parent->genotype, &genotype));
  } else {
    genotype = tutti_genotype_ref(parent->genotype);
    if (theirs)
      (void)tutti_domain_mutate(scope->hyperparameters, random, point);
  }
  TUTTI_TRY_OUT(context, tutti_scope_candidate(context, scope, genotype, point, seed, mutant));
out:
  tutti_genotype_unref(genotype);
  tutti_free(point);
  return status;
}

enum tutti_status tutti_scope_from_point(tutti_context *context, const tutti_scope *scope, const double *point,
                                         uint64_t seed, tutti_candidate **candidate) {
  tutti_genotype *genotype = NULL;
  *candidate = NULL;
  if (scope->space)
    TUTTI_TRY(context, tutti_space_from_point(context, scope->space, point, &genotype));
  enum tutti_status status =
      tutti_scope_candidate(context, scope, genotype, point + count_of(architecture_of(scope)), seed, candidate);
  tutti_genotype_unref(genotype);
  return status;
}

void tutti_scope_to_point(const tutti_scope *scope, const tutti_candidate *candidate, double *point) {
  size_t architecture = count_of(architecture_of(scope)), count = count_of(scope->hyperparameters);
  if (architecture)
    memcpy(point, tutti_genotype_point(candidate->genotype), architecture * sizeof *point);
  if (count)
    memcpy(point + architecture, candidate->hyperparameters, count * sizeof *point);
}

/* --- text --- */

enum tutti_status tutti_scope_print(tutti_context *context, const tutti_scope *scope, const tutti_candidate *candidate,
                                    char **json) {
  enum tutti_status status = TUTTI_OK;
  char *architecture = NULL, *hyperparameters = NULL;
  *json = NULL;
  if (scope->space)
    TUTTI_TRY_OUT(context, tutti_space_print(context, candidate->genotype, &architecture));
  if (scope->hyperparameters)
    TUTTI_TRY_OUT(context,
                  tutti_domain_print(context, scope->hyperparameters, candidate->hyperparameters, &hyperparameters));
  /* The seed is text: numbers of JSON readers are often doubles. */
  TUTTI_TRY_OUT(context, tutti_format(context, json,
                                      "{\"architecture\": %s, \"hyperparameters\": %s, \"seed\": \"%" PRIu64 "\"}",
                                      architecture ? architecture : "null", hyperparameters ? hyperparameters : "{}",
                                      candidate->seed));
out:
  tutti_free(architecture);
  tutti_free(hyperparameters);
  return status;
}

static enum tutti_status parse_parts(tutti_context *context, const tutti_scope *scope, const char *architecture,
                                     const char *hyperparameters, const char *seed_text, tutti_candidate **candidate) {
  enum tutti_status status = TUTTI_OK;
  tutti_genotype *genotype = NULL;
  double *point = NULL;
  char *end;
  errno = 0;
  uint64_t seed = strtoull(seed_text, &end, 10);
  if (errno || *end || !isdigit((unsigned char)*seed_text))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "candidate: expected a seed from 0 to 2^64 - 1 in quotes, found '%s'",
                      seed_text);
  if (scope->space)
    TUTTI_TRY_OUT(context, tutti_space_parse(context, scope->space, architecture, &genotype));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count_of(scope->hyperparameters), sizeof *point, &point));
  if (scope->hyperparameters)
    TUTTI_TRY_OUT(context, tutti_domain_parse(context, scope->hyperparameters, hyperparameters, point));
  TUTTI_TRY_OUT(context, tutti_scope_candidate(context, scope, genotype, point, seed, candidate));
out:
  tutti_genotype_unref(genotype);
  tutti_free(point);
  return status;
}

enum tutti_status tutti_scope_parse(tutti_context *context, const tutti_scope *scope, const char *json,
                                    tutti_candidate **candidate) {
  enum tutti_status status;
  json_error_t error = {.text = ""};
  json_t *root = json_loads(json, JSON_REJECT_DUPLICATES, &error), *architecture, *hyperparameters;
  const char *seed;
  char *architecture_text = NULL, *hyperparameters_text = NULL;
  *candidate = NULL;
  if (!root || json_unpack_ex(root, &error, JSON_STRICT, "{s:o, s:o, s:s}", "architecture", &architecture,
                              "hyperparameters", &hyperparameters, "seed", &seed) != 0) {
    status = TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "expected a candidate {\"architecture\": ..., \"hyperparameters\": {...}, \"seed\": \"...\"}: %s", error.text);
  } else {
    status = tutti_json_line(context, json_incref(architecture), &architecture_text);
    if (status == TUTTI_OK)
      status = tutti_json_line(context, json_incref(hyperparameters), &hyperparameters_text);
    if (status == TUTTI_OK)
      status = parse_parts(context, scope, architecture_text, hyperparameters_text, seed, candidate);
  }
  tutti_free(architecture_text);
  tutti_free(hyperparameters_text);
  json_decref(root);
  return status;
}
