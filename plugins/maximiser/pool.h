/* pool.h - what the maximisers share: a pool gathers candidates without repeats and without those tried before,
   evaluates them in batches, and compares them. */
#ifndef TUTTI_MAXIMISER_POOL_H
#define TUTTI_MAXIMISER_POOL_H

#include <tutti/kit.h>

/* Candidates at some points, those that the space does not refuse, with their vectors. */
struct maximiser_batch {
  size_t count, room;
  tutti_candidate **candidates; /* [room] */
  double *vectors, *worth;      /* [room][width], [room] */
  size_t *places;               /* [room]: numbers of the points */
};

struct maximiser_pool {
  const tutti_scope *scope;
  const tutti_domain *joint; /* NULL for graph spaces */
  const struct tutti_objective *objective;
  size_t width; /* of the joint domain's vectors */
  size_t count, evaluated, capacity;
  size_t seeds;                 /* the first so many candidates were tried before: they cannot be answers */
  tutti_candidate **candidates; /* [capacity] */
  double *vectors;              /* [capacity][width] */
  double *worth;                /* [capacity] */
  double *point, *vector;       /* [count of joint], [width]: scratch */
  struct maximiser_batch batch; /* scratch */
  tutti_candidate_set *seen;    /* known candidates, and those of the pool */
};

enum tutti_status maximiser_pool_init(tutti_context *context, const tutti_scope *scope,
                                      const struct tutti_objective *objective, struct maximiser_pool *pool);
void maximiser_pool_clear(struct maximiser_pool *pool);
/* Add a candidate that was tried before but whose worth is needed. All of these must come before any other. */
enum tutti_status maximiser_pool_seed(tutti_context *context, struct maximiser_pool *pool,
                                      const tutti_candidate *candidate);
/* Add a candidate unless it is in the pool or was tried before. Takes over the reference, on failure, too. */
enum tutti_status maximiser_pool_take(tutti_context *context, struct maximiser_pool *pool, tutti_candidate *candidate);
/* Add the candidate at a point of the joint domain, unless the space refuses the point. */
enum tutti_status maximiser_pool_add_point(tutti_context *context, struct maximiser_pool *pool, const double *point);
/* Worth of the candidate at a point of the joint domain, whether it was tried before or not. If the space refuses the
   point, *worth stays as it is. The candidate does not join the pool. */
enum tutti_status maximiser_pool_worth(tutti_context *context, struct maximiser_pool *pool, const double *point,
                                       double *worth);
/* Evaluate points[count] of the joint domain together: worth[count], NaN where the space refuses the point. Candidates
   that are neither in the pool nor tried before join it with their worth; all others of the pool must be evaluated. */
enum tutti_status maximiser_pool_evaluate_points(tutti_context *context, struct maximiser_pool *pool, size_t count,
                                                 const double *points, double *worth);
/* Draw a candidate. */
enum tutti_status maximiser_pool_sample(tutti_context *context, struct maximiser_pool *pool,
                                        struct tutti_random *random);
/* Draw one candidate if the pool has none besides the seeds. TUTTI_ERROR_UNSUPPORTED when none is left. */
enum tutti_status maximiser_pool_find_one(tutti_context *context, struct maximiser_pool *pool,
                                          struct tutti_random *random);
/* Evaluate the candidates added since the last call. */
enum tutti_status maximiser_pool_evaluate(tutti_context *context, struct maximiser_pool *pool);
/* Evaluate until the `wanted` (>= 1) best of them are known; the worth of the others may be NaN. */
enum tutti_status maximiser_pool_evaluate_best(tutti_context *context, struct maximiser_pool *pool, size_t wanted);
/* Indices of the `count` best evaluated candidates other than the seeds, best first; among equals, earlier ones first.
   Returns how many there are. */
size_t maximiser_pool_best(const struct maximiser_pool *pool, size_t count, size_t *best);
/* The best candidate, which the caller unrefs, and its worth. */
void maximiser_pool_answer(const struct maximiser_pool *pool, tutti_candidate **candidate, double *worth);
/* Indices of the `count` known candidates with the least loss, best first; returns how many have a loss. */
size_t maximiser_pool_incumbents(const struct tutti_objective *objective, size_t count, size_t *best);

#endif
