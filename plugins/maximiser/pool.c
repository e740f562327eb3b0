/* pool.c - candidates gathered, evaluated and compared. */
#include "pool.h"

enum tutti_status maximiser_pool_init(tutti_context *context, const tutti_scope *scope,
                                      const struct tutti_objective *objective, struct maximiser_pool *pool) {
  enum tutti_status status;
  *pool = (struct maximiser_pool){.scope = scope, .joint = tutti_scope_joint(scope), .objective = objective};
  if (pool->joint) {
    pool->width = tutti_domain_width(pool->joint);
    TUTTI_TRY_OUT(context, tutti_alloc(context, tutti_domain_count(pool->joint) + 1, sizeof(double), &pool->point));
    TUTTI_TRY_OUT(context, tutti_alloc(context, pool->width + 1, sizeof(double), &pool->vector));
  }
  TUTTI_TRY_OUT(context, tutti_candidate_set_create(context, &pool->seen));
  for (size_t i = 0; i < objective->known_count; i++)
    TUTTI_TRY_OUT(context, tutti_candidate_set_add(context, pool->seen, objective->known[i], NULL));
  return TUTTI_OK;
out:
  maximiser_pool_clear(pool);
  return status;
}

static void release_batch(struct maximiser_batch *batch) {
  for (size_t i = 0; i < batch->count; i++)
    tutti_candidate_unref(batch->candidates[i]);
  batch->count = 0;
}

static void clear_batch(struct maximiser_batch *batch) {
  release_batch(batch);
  tutti_free(batch->candidates);
  tutti_free(batch->vectors);
  tutti_free(batch->worth);
  tutti_free(batch->places);
}

void maximiser_pool_clear(struct maximiser_pool *pool) {
  for (size_t i = 0; i < pool->count; i++)
    tutti_candidate_unref(pool->candidates[i]);
  tutti_free(pool->candidates);
  tutti_free(pool->vectors);
  tutti_free(pool->worth);
  tutti_free(pool->point);
  tutti_free(pool->vector);
  clear_batch(&pool->batch);
  tutti_candidate_set_destroy(pool->seen);
  *pool = (struct maximiser_pool){0};
}

static enum tutti_status grow_pool(tutti_context *context, struct maximiser_pool *pool) {
  size_t capacity = pool->capacity ? 2 * pool->capacity : 256, width = pool->width ? pool->width : 1;
  TUTTI_TRY(context, tutti_realloc(context, pool->count, capacity, sizeof(tutti_candidate *), &pool->candidates));
  TUTTI_TRY(context, tutti_realloc(context, pool->count, capacity, width * sizeof(double), &pool->vectors));
  TUTTI_TRY(context, tutti_realloc(context, pool->count, capacity, sizeof(double), &pool->worth));
  pool->capacity = capacity;
  return TUTTI_OK;
}

/* The pool has room; takes over the reference. */
static void append(struct maximiser_pool *pool, tutti_candidate *candidate) {
  if (pool->joint) {
    tutti_scope_to_point(pool->scope, candidate, pool->point);
    tutti_domain_encode(pool->joint, pool->point, pool->vectors + pool->count * pool->width);
  }
  pool->candidates[pool->count++] = candidate;
}

enum tutti_status maximiser_pool_seed(tutti_context *context, struct maximiser_pool *pool,
                                      const tutti_candidate *candidate) {
  if (pool->count == pool->capacity)
    TUTTI_TRY(context, grow_pool(context, pool));
  append(pool, tutti_candidate_ref(candidate));
  pool->seeds++;
  return TUTTI_OK;
}

enum tutti_status maximiser_pool_take(tutti_context *context, struct maximiser_pool *pool, tutti_candidate *candidate) {
  bool fresh = false;
  enum tutti_status status = pool->count < pool->capacity ? TUTTI_OK : grow_pool(context, pool);
  if (status == TUTTI_OK)
    status = tutti_candidate_set_add(context, pool->seen, candidate, &fresh);
  if (status != TUTTI_OK || !fresh)
    tutti_candidate_unref(candidate);
  else
    append(pool, candidate);
  return status;
}

/* NULL if the space refuses the point: a space may have rules beyond its domain. */
static enum tutti_status candidate_at(tutti_context *context, const struct maximiser_pool *pool, const double *point,
                                      tutti_candidate **candidate) {
  *candidate = NULL;
  enum tutti_status status =
      tutti_scope_from_point(context, pool->scope, point, pool->objective->trial_seed, candidate);
  if (status != TUTTI_ERROR_USAGE)
    return status;
  tutti_error_clear(context);
  return TUTTI_OK;
}

enum tutti_status maximiser_pool_add_point(tutti_context *context, struct maximiser_pool *pool, const double *point) {
  tutti_candidate *candidate;
  TUTTI_TRY(context, candidate_at(context, pool, point, &candidate));
  return candidate ? maximiser_pool_take(context, pool, candidate) : TUTTI_OK;
}

enum tutti_status maximiser_pool_worth(tutti_context *context, struct maximiser_pool *pool, const double *point,
                                       double *worth) {
  tutti_candidate *candidate;
  TUTTI_TRY(context, candidate_at(context, pool, point, &candidate));
  if (!candidate)
    return TUTTI_OK;
  const tutti_candidate *const candidates[1] = {candidate};
  struct tutti_points points = {
      .size = sizeof(points), .count = 1, .dimension = pool->width, .vectors = pool->vector, .candidates = candidates};
  tutti_domain_encode(pool->joint, point, pool->vector);
  enum tutti_status status = pool->objective->evaluate(pool->objective->argument, context, &points, worth);
  tutti_candidate_unref(candidate);
  return status;
}

/* --- many points at once --- */

/* Room for so many points, kept from one batch to the next. */
static enum tutti_status reserve_batch(tutti_context *context, const struct maximiser_pool *pool, size_t count,
                                       struct maximiser_batch *batch) {
  size_t room = 2 * batch->room > count ? 2 * batch->room : count, width = pool->width ? pool->width : 1;
  if (count <= batch->room)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_realloc(context, 0, room, sizeof(tutti_candidate *), &batch->candidates));
  TUTTI_TRY(context, tutti_realloc(context, 0, room, width * sizeof(double), &batch->vectors));
  TUTTI_TRY(context, tutti_realloc(context, 0, room, sizeof(double), &batch->worth));
  TUTTI_TRY(context, tutti_realloc(context, 0, room, sizeof(size_t), &batch->places));
  batch->room = room;
  return TUTTI_OK;
}

static enum tutti_status fill_batch(tutti_context *context, const struct maximiser_pool *pool, size_t count,
                                    const double *points, struct maximiser_batch *batch) {
  size_t dimensions = tutti_domain_count(pool->joint);
  TUTTI_TRY(context, reserve_batch(context, pool, count, batch));
  for (size_t i = 0; i < count; i++) {
    tutti_candidate *candidate;
    TUTTI_TRY(context, candidate_at(context, pool, points + i * dimensions, &candidate));
    if (!candidate)
      continue;
    tutti_domain_encode(pool->joint, points + i * dimensions, batch->vectors + batch->count * pool->width);
    batch->places[batch->count] = i;
    batch->candidates[batch->count++] = candidate;
  }
  return TUTTI_OK;
}

enum tutti_status maximiser_pool_evaluate_points(tutti_context *context, struct maximiser_pool *pool, size_t count,
                                                 const double *points, double *worth) {
  struct maximiser_batch *batch = &pool->batch;
  enum tutti_status status;
  for (size_t i = 0; i < count; i++)
    worth[i] = (double)NAN;
  TUTTI_TRY_OUT(context, fill_batch(context, pool, count, points, batch));
  struct tutti_points asked = {.size = sizeof asked,
                               .count = batch->count,
                               .dimension = pool->width,
                               .vectors = batch->vectors,
                               .candidates = (const tutti_candidate *const *)batch->candidates};
  if (batch->count > 0)
    TUTTI_TRY_OUT(context, pool->objective->evaluate(pool->objective->argument, context, &asked, batch->worth));
  for (size_t i = 0; i < batch->count; i++) {
    worth[batch->places[i]] = batch->worth[i];
    TUTTI_TRY_OUT(context, maximiser_pool_take(context, pool, tutti_candidate_ref(batch->candidates[i])));
    if (pool->evaluated < pool->count)
      pool->worth[pool->evaluated++] = batch->worth[i];
  }
out:
  release_batch(batch);
  return status;
}

enum tutti_status maximiser_pool_sample(tutti_context *context, struct maximiser_pool *pool,
                                        struct tutti_random *random) {
  tutti_candidate *candidate;
  TUTTI_TRY(context, tutti_scope_sample(context, pool->scope, random, pool->objective->trial_seed, &candidate));
  return maximiser_pool_take(context, pool, candidate);
}

enum tutti_status maximiser_pool_find_one(tutti_context *context, struct maximiser_pool *pool,
                                          struct tutti_random *random) {
  tutti_candidate *candidate;
  if (pool->count > pool->seeds)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_candidate_set_draw(context, pool->seen, pool->scope, random, pool->objective->trial_seed,
                                              &candidate));
  if (!candidate)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "no candidate is left beside the %zu that were tried",
                      pool->objective->known_count);
  return maximiser_pool_take(context, pool, candidate);
}

/* The next candidates without a worth, up to `most` of them. */
static struct tutti_points next_points(const struct maximiser_pool *pool, size_t most) {
  size_t first = pool->evaluated, left = pool->count - first;
  return (struct tutti_points){.size = sizeof(struct tutti_points),
                               .count = left < most ? left : most,
                               .dimension = pool->width,
                               .vectors = pool->joint ? pool->vectors + first * pool->width : NULL,
                               .candidates = (const tutti_candidate *const *)pool->candidates + first};
}

enum tutti_status maximiser_pool_evaluate(tutti_context *context, struct maximiser_pool *pool) {
  enum { BATCH = 1024 }; /* bounds the memory that the evaluation needs */
  while (pool->evaluated < pool->count) {
    size_t first = pool->evaluated;
    struct tutti_points points = next_points(pool, BATCH);
    if (tutti_cancelled(context))
      return TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "cancelled at candidate %zu of %zu", first, pool->count);
    TUTTI_TRY(context, pool->objective->evaluate(pool->objective->argument, context, &points, pool->worth + first));
    pool->evaluated += points.count;
  }
  return TUTTI_OK;
}

enum tutti_status maximiser_pool_evaluate_best(tutti_context *context, struct maximiser_pool *pool, size_t wanted) {
  const struct tutti_objective *objective = pool->objective;
  if (!objective->evaluate_best)
    return maximiser_pool_evaluate(context, pool);
  struct tutti_points points = next_points(pool, SIZE_MAX);
  TUTTI_TRY(context,
            objective->evaluate_best(objective->argument, context, &points, wanted, pool->worth + pool->evaluated));
  pool->evaluated = pool->count;
  return TUTTI_OK;
}

/* Indices of the `count` smallest keys (sign 1) or largest (-1) from number `first` on, without NaNs; by insertion,
   since `count` is small. */
static size_t leading(const double *keys, double sign, size_t first, size_t total, size_t count, size_t *best) {
  size_t found = 0;
  for (size_t i = first; i < total; i++) {
    size_t place = found;
    while (place > 0 && sign * keys[i] < sign * keys[best[place - 1]])
      place--;
    if (isnan(keys[i]) || place >= count)
      continue;
    found += found < count;
    for (size_t j = found - 1; j > place; j--)
      best[j] = best[j - 1];
    best[place] = i;
  }
  return found;
}

size_t maximiser_pool_best(const struct maximiser_pool *pool, size_t count, size_t *best) {
  return leading(pool->worth, -1, pool->seeds, pool->evaluated, count, best);
}

void maximiser_pool_answer(const struct maximiser_pool *pool, tutti_candidate **candidate, double *worth) {
  size_t best = pool->seeds;
  (void)maximiser_pool_best(pool, 1, &best);
  *candidate = tutti_candidate_ref(pool->candidates[best]);
  *worth = pool->worth[best];
}

size_t maximiser_pool_incumbents(const struct tutti_objective *objective, size_t count, size_t *best) {
  return leading(objective->known_losses, 1, 0, objective->known_losses ? objective->known_count : 0, count, best);
}
