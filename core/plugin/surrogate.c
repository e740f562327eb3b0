/* surrogate.c - kind surrogate: checks and defaults around its ops. */
#include "instance_impl.h"

#include <math.h>
#include <string.h>
#include <tutti/space.h>
#include <tutti/surrogate.h>

struct tutti_surrogate {
  struct tutti_instance instance;
  struct tutti_surrogate_ops ops;
  bool conditioned; /* on pending points, or a drawn function */
  bool white;       /* values are drawn independently: the default of realise */
  uint64_t white_seed;
  /* All observations, for surrogates that cannot add to a fit. */
  struct {
    size_t count, room, dimension;
    double *vectors, *values, *noise;
    tutti_candidate **candidates;
    bool noisy;
  } seen;
  double *moments; /* [2][moment_room]: for independent draws */
  size_t moment_room;
};

static const char *missing_ops(const void *ops) {
  bool conditions = TUTTI_HAS_OP(surrogate, ops, hallucinate) || TUTTI_HAS_OP(surrogate, ops, fantasise) ||
                    TUTTI_HAS_OP(surrogate, ops, realise);
  if (conditions != TUTTI_HAS_OP(surrogate, ops, release))
    return "release, or what it ends: hallucinate, fantasise or realise";
  bool components = TUTTI_HAS_OP(surrogate, ops, components);
  if (components != TUTTI_HAS_OP(surrogate, ops, predict_components))
    return "components or predict_components (both or neither)";
  if (TUTTI_HAS_OP(surrogate, ops, gradient_components) != (components && TUTTI_HAS_OP(surrogate, ops, gradient)))
    return "gradient_components, or gradient and components (all or not)";
  if (TUTTI_HAS_OP(surrogate, ops, has_gradient) && !TUTTI_HAS_OP(surrogate, ops, gradient))
    return "gradient, without which there is no has_gradient";
  bool fantasies = TUTTI_HAS_OP(surrogate, ops, fantasise);
  if (fantasies != TUTTI_HAS_OP(surrogate, ops, least) || (fantasies && !components))
    return "fantasise, least and components (the first two with the third)";
  if (TUTTI_HAS_OP(surrogate, ops, stages) != TUTTI_HAS_OP(surrogate, ops, bound))
    return "stages or bound (both or neither)";
  return NULL;
}

/* A surrogate that needs what the space does not offer is refused before anything is trained. */
static enum tutti_status check_needs(tutti_context *context, const void *object, const void *setup_) {
  const tutti_surrogate *surrogate = object;
  const struct tutti_surrogate_setup *setup = setup_;
  unsigned needs = surrogate->ops.needs;
  const char *name = surrogate->instance.descriptor->name;
  if (!setup->scope || !tutti_scope_space(setup->scope)) {
    if (needs & TUTTI_NEEDS_DISTANCES)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "surrogate %s needs distances between architectures, and here are "
                        "vectors only",
                        name);
    return TUTTI_OK;
  }
  const tutti_space *space = tutti_scope_space(setup->scope);
  const char *space_name = tutti_space_descriptor(space)->name;
  if ((needs & TUTTI_NEEDS_VECTORS) && !tutti_scope_joint(setup->scope))
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "surrogate %s needs vectors, and space %s has none (its genotypes are graphs); choose a surrogate "
        "over distances, or another space",
        name, space_name);
  if ((needs & TUTTI_NEEDS_DISTANCES) && !(tutti_space_capabilities(space) & TUTTI_SPACE_DISTANCES))
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "surrogate %s needs distances between architectures, and space %s has none; choose a surrogate over "
        "vectors, or another space",
        name, space_name);
  return TUTTI_OK;
}

static enum tutti_status note_dimension(tutti_context *context, void *surrogate, const void *setup) {
  (void)context;
  ((tutti_surrogate *)surrogate)->seen.dimension = ((const struct tutti_surrogate_setup *)setup)->dimension;
  return TUTTI_OK;
}

static void forget(tutti_surrogate *surrogate) {
  for (size_t i = 0; i < surrogate->seen.count && surrogate->seen.candidates; i++)
    tutti_candidate_unref(surrogate->seen.candidates[i]);
  surrogate->seen.count = 0;
  surrogate->seen.noisy = false;
}

static void free_seen(void *object) {
  tutti_surrogate *surrogate = object;
  forget(surrogate);
  tutti_free(surrogate->seen.vectors);
  tutti_free(surrogate->seen.values);
  tutti_free(surrogate->seen.noise);
  tutti_free(surrogate->seen.candidates);
  tutti_free(surrogate->moments);
}

TUTTI_DEFINE_KIND(SURROGATE, surrogate,
                  .required = {TUTTI_REQUIRED_OP(surrogate, fit), TUTTI_REQUIRED_OP(surrogate, predict)},
                  .missing = missing_ops, .check = check_needs, .open = note_dimension, .close = free_seen)

static enum tutti_status check_points(tutti_context *context, const tutti_surrogate *surrogate,
                                      const struct tutti_points *points) {
  if ((surrogate->ops.needs & TUTTI_NEEDS_VECTORS) &&
      (!points->vectors || points->dimension != surrogate->seen.dimension))
    return TUTTI_FAIL(context, TUTTI_ERROR_INTERNAL, "surrogate %s: expected vectors of dimension %zu, found %zu",
                      surrogate->instance.descriptor->name, surrogate->seen.dimension,
                      points->vectors ? points->dimension : 0);
  return TUTTI_OK;
}

static enum tutti_status check_values(tutti_context *context, const tutti_surrogate *surrogate, size_t count,
                                      const double *values, const double *noise) {
  for (size_t i = 0; i < count; i++)
    if (!isfinite(values[i]) || (noise && !(noise[i] >= 0 && isfinite(noise[i]))))
      return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "surrogate %s: observation %zu is not finite",
                        surrogate->instance.descriptor->name, i);
  return TUTTI_OK;
}

/* Keep observations for a later fit of everything. */
static enum tutti_status remember(tutti_context *context, tutti_surrogate *surrogate, const struct tutti_points *points,
                                  const double *values, const double *noise) {
  size_t count = surrogate->seen.count, dimension = surrogate->seen.dimension, total = count + points->count;
  if (total > surrogate->seen.room) {
    size_t room = total * 2;
    if (points->vectors)
      TUTTI_TRY(context, tutti_realloc(context, count, room, dimension * sizeof(double), &surrogate->seen.vectors));
    if (points->candidates)
      TUTTI_TRY(context, tutti_realloc(context, count, room, sizeof(tutti_candidate *), &surrogate->seen.candidates));
    TUTTI_TRY(context, tutti_realloc(context, count, room, sizeof(double), &surrogate->seen.values));
    TUTTI_TRY(context, tutti_realloc(context, count, room, sizeof(double), &surrogate->seen.noise));
    surrogate->seen.room = room;
  }
  for (size_t i = 0; i < points->count; i++) {
    if (points->vectors)
      memcpy(surrogate->seen.vectors + (count + i) * dimension, points->vectors + i * dimension,
             dimension * sizeof(double));
    if (points->candidates)
      surrogate->seen.candidates[count + i] = tutti_candidate_ref(points->candidates[i]);
    surrogate->seen.values[count + i] = values[i];
    surrogate->seen.noise[count + i] = noise ? noise[i] : 0;
  }
  surrogate->seen.noisy = surrogate->seen.noisy || noise;
  surrogate->seen.count = total;
  return TUTTI_OK;
}

enum tutti_status tutti_surrogate_fit(tutti_context *context, tutti_surrogate *surrogate,
                                      const struct tutti_points *points, const double *values, const double *noise) {
  TUTTI_TRY(context, check_points(context, surrogate, points));
  TUTTI_TRY(context, check_values(context, surrogate, points->count, values, noise));
  if (points->count == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_INTERNAL, "a surrogate cannot be fitted to nothing");
  tutti_surrogate_release(surrogate);
  if (!surrogate->ops.add) {
    forget(surrogate);
    TUTTI_TRY(context, remember(context, surrogate, points, values, noise));
  }
  TUTTI_CALL(context, surrogate, surrogate->ops.fit(surrogate->instance.self, context, points, values, noise));
  return TUTTI_OK;
}

enum tutti_status tutti_surrogate_add(tutti_context *context, tutti_surrogate *surrogate,
                                      const struct tutti_points *points, const double *values, const double *noise) {
  TUTTI_TRY(context, check_points(context, surrogate, points));
  TUTTI_TRY(context, check_values(context, surrogate, points->count, values, noise));
  tutti_surrogate_release(surrogate);
  if (surrogate->ops.add) {
    TUTTI_CALL(context, surrogate, surrogate->ops.add(surrogate->instance.self, context, points, values, noise));
    return TUTTI_OK;
  }
  TUTTI_TRY(context, remember(context, surrogate, points, values, noise));
  struct tutti_points all = {.size = sizeof all,
                             .count = surrogate->seen.count,
                             .dimension = surrogate->seen.dimension,
                             .vectors = surrogate->seen.vectors,
                             .candidates = (const tutti_candidate *const *)surrogate->seen.candidates};
  TUTTI_CALL(context, surrogate,
             surrogate->ops.fit(surrogate->instance.self, context, &all, surrogate->seen.values,
                                surrogate->seen.noisy ? surrogate->seen.noise : NULL));
  return TUTTI_OK;
}

/* Draw at each point, keyed by the point alone, so that the draw is the same each time. */
static void draw_white(const tutti_surrogate *surrogate, const struct tutti_points *points, double *mean,
                       double *deviation) {
  for (size_t i = 0; i < points->count; i++) {
    struct tutti_random random;
    uint64_t key = points->candidates ? tutti_candidate_hash(points->candidates[i]) : 0;
    for (size_t k = 0; points->vectors && k < points->dimension; k++) {
      uint64_t bits;
      memcpy(&bits, points->vectors + i * points->dimension + k, sizeof bits);
      key = (key ^ bits) * UINT64_C(0x9E3779B97F4A7C15);
      key ^= key >> 29;
    }
    tutti_random_init(&random, surrogate->white_seed, "white function", key);
    mean[i] += deviation[i] * tutti_random_normal(&random);
    deviation[i] = 0;
  }
}

enum tutti_status tutti_surrogate_predict(tutti_context *context, tutti_surrogate *surrogate,
                                          const struct tutti_points *points, double *mean, double *deviation) {
  TUTTI_TRY(context, check_points(context, surrogate, points));
  TUTTI_CALL(context, surrogate, surrogate->ops.predict(surrogate->instance.self, context, points, mean, deviation));
  for (size_t i = 0; i < points->count; i++)
    if (!isfinite(mean[i]) || !isfinite(deviation[i]) || deviation[i] < 0)
      return TUTTI_BREACH(context, &surrogate->instance, "predict gave mean %g and standard deviation %g", mean[i],
                          deviation[i]);
  if (surrogate->white)
    draw_white(surrogate, points, mean, deviation);
  return TUTTI_OK;
}

bool tutti_surrogate_has_hallucination(const tutti_surrogate *surrogate) { return surrogate->ops.hallucinate != NULL; }

enum tutti_status tutti_surrogate_hallucinate(tutti_context *context, tutti_surrogate *surrogate,
                                              const struct tutti_points *points) {
  if (!surrogate->ops.hallucinate)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "surrogate %s does not hallucinate pending points",
                      surrogate->instance.descriptor->name);
  TUTTI_TRY(context, check_points(context, surrogate, points));
  tutti_surrogate_release(surrogate);
  surrogate->conditioned = true;
  TUTTI_CALL(context, surrogate, surrogate->ops.hallucinate(surrogate->instance.self, context, points));
  return TUTTI_OK;
}

void tutti_surrogate_release(tutti_surrogate *surrogate) {
  if (surrogate->conditioned)
    TUTTI_ASK(TUTTI_CONTEXT_OF(surrogate), surrogate, surrogate->ops.release(surrogate->instance.self));
  surrogate->conditioned = surrogate->white = false;
}

bool tutti_surrogate_has_gradient(const tutti_surrogate *surrogate) {
  const struct tutti_surrogate_ops *ops = &surrogate->ops;
  bool answer = ops->gradient && !surrogate->white;
  if (answer && ops->has_gradient)
    TUTTI_ASK(TUTTI_CONTEXT_OF(surrogate), surrogate, answer = ops->has_gradient(surrogate->instance.self));
  return answer;
}

enum tutti_status tutti_surrogate_gradient(tutti_context *context, tutti_surrogate *surrogate, const double *vector,
                                           double *mean, double *deviation, double *mean_gradient,
                                           double *deviation_gradient) {
  if (!tutti_surrogate_has_gradient(surrogate))
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "surrogate %s has no gradients",
                      surrogate->instance.descriptor->name);
  TUTTI_CALL(context, surrogate,
             surrogate->ops.gradient(surrogate->instance.self, context, vector, mean, deviation, mean_gradient,
                                     deviation_gradient));
  return TUTTI_OK;
}

/* The default draw: independent normals. */
static enum tutti_status draw_independent(tutti_context *context, tutti_surrogate *surrogate,
                                          const struct tutti_points *points, struct tutti_random *random,
                                          double *values) {
  if (points->count > surrogate->moment_room) {
    TUTTI_TRY(context, tutti_realloc(context, 0, points->count, 2 * sizeof(double), &surrogate->moments));
    surrogate->moment_room = points->count;
  }
  double *mean = surrogate->moments, *deviation = surrogate->moments + points->count;
  TUTTI_TRY(context, tutti_surrogate_predict(context, surrogate, points, mean, deviation));
  for (size_t i = 0; i < points->count; i++)
    values[i] = mean[i] + deviation[i] * tutti_random_normal(random);
  return TUTTI_OK;
}

enum tutti_status tutti_surrogate_draw(tutti_context *context, tutti_surrogate *surrogate,
                                       const struct tutti_points *points, struct tutti_random *random, double *values) {
  if (!surrogate->ops.draw)
    return draw_independent(context, surrogate, points, random, values);
  TUTTI_TRY(context, check_points(context, surrogate, points));
  TUTTI_CALL(context, surrogate, surrogate->ops.draw(surrogate->instance.self, context, points, random, values));
  return TUTTI_OK;
}

size_t tutti_surrogate_components(const tutti_surrogate *surrogate) {
  size_t answer = 1;
  if (surrogate->ops.components && !surrogate->white)
    TUTTI_ASK(TUTTI_CONTEXT_OF(surrogate), surrogate, answer = surrogate->ops.components(surrogate->instance.self));
  return answer;
}

enum tutti_status tutti_surrogate_predict_components(tutti_context *context, tutti_surrogate *surrogate,
                                                     const struct tutti_points *points, double *mean,
                                                     double *deviation) {
  size_t components = tutti_surrogate_components(surrogate);
  if (components == 1)
    return tutti_surrogate_predict(context, surrogate, points, mean, deviation);
  TUTTI_TRY(context, check_points(context, surrogate, points));
  TUTTI_CALL(context, surrogate,
             surrogate->ops.predict_components(surrogate->instance.self, context, points, mean, deviation));
  for (size_t i = 0; i < components * points->count; i++)
    if (!isfinite(mean[i]) || !isfinite(deviation[i]) || deviation[i] < 0)
      return TUTTI_BREACH(context, &surrogate->instance, "predict_components gave mean %g and standard deviation %g",
                          mean[i], deviation[i]);
  return TUTTI_OK;
}

enum tutti_status tutti_surrogate_gradient_components(tutti_context *context, tutti_surrogate *surrogate,
                                                      const double *vector, double *mean, double *deviation,
                                                      double *mean_gradient, double *deviation_gradient) {
  if (tutti_surrogate_components(surrogate) == 1)
    return tutti_surrogate_gradient(context, surrogate, vector, mean, deviation, mean_gradient, deviation_gradient);
  TUTTI_CALL(context, surrogate,
             surrogate->ops.gradient_components(surrogate->instance.self, context, vector, mean, deviation,
                                                mean_gradient, deviation_gradient));
  return TUTTI_OK;
}

bool tutti_surrogate_has_fantasies(const tutti_surrogate *surrogate) { return surrogate->ops.fantasise != NULL; }

enum tutti_status tutti_surrogate_fantasise(tutti_context *context, tutti_surrogate *surrogate,
                                            const struct tutti_points *points, struct tutti_random *random,
                                            size_t draws) {
  if (!surrogate->ops.fantasise)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "surrogate %s has no fantasies of pending points",
                      surrogate->instance.descriptor->name);
  TUTTI_TRY(context, check_points(context, surrogate, points));
  tutti_surrogate_release(surrogate);
  surrogate->conditioned = true;
  TUTTI_CALL(context, surrogate, surrogate->ops.fantasise(surrogate->instance.self, context, points, random, draws));
  return TUTTI_OK;
}

void tutti_surrogate_least(const tutti_surrogate *surrogate, double *least) {
  for (size_t i = 0; i < tutti_surrogate_components(surrogate); i++)
    least[i] = INFINITY;
  if (surrogate->ops.least && !surrogate->white)
    TUTTI_ASK(TUTTI_CONTEXT_OF(surrogate), surrogate, surrogate->ops.least(surrogate->instance.self, least));
}

enum tutti_status tutti_surrogate_realise(tutti_context *context, tutti_surrogate *surrogate,
                                          struct tutti_random *random) {
  if (!surrogate->ops.realise) {
    surrogate->white = true;
    surrogate->white_seed = tutti_random_u64(random);
    return TUTTI_OK;
  }
  surrogate->conditioned = true;
  TUTTI_CALL(context, surrogate, surrogate->ops.realise(surrogate->instance.self, context, random));
  return TUTTI_OK;
}

size_t tutti_surrogate_stages(const tutti_surrogate *surrogate) {
  size_t answer = 0;
  if (surrogate->ops.stages && !surrogate->white)
    TUTTI_ASK(TUTTI_CONTEXT_OF(surrogate), surrogate, answer = surrogate->ops.stages(surrogate->instance.self));
  return answer;
}

enum tutti_status tutti_surrogate_bound(tutti_context *context, tutti_surrogate *surrogate,
                                        const struct tutti_points *points, size_t stage, double *mean,
                                        double *deviation) {
  if (stage >= tutti_surrogate_stages(surrogate))
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "surrogate %s has no bounds at stage %zu",
                      surrogate->instance.descriptor->name, stage);
  TUTTI_TRY(context, check_points(context, surrogate, points));
  TUTTI_CALL(context, surrogate,
             surrogate->ops.bound(surrogate->instance.self, context, points, stage, mean, deviation));
  for (size_t i = 0; i < points->count; i++)
    if ((mean && !isfinite(mean[i])) || !isfinite(deviation[i]) || deviation[i] < 0)
      return TUTTI_BREACH(context, &surrogate->instance, "bound gave mean %g and standard deviation %g",
                          mean ? mean[i] : 0, deviation[i]);
  return TUTTI_OK;
}

enum tutti_status tutti_surrogate_describe(tutti_context *context, tutti_surrogate *surrogate, char **json) {
  *json = NULL;
  if (surrogate->ops.describe)
    TUTTI_CALL(context, surrogate, surrogate->ops.describe(surrogate->instance.self, context, json));
  return TUTTI_OK;
}
