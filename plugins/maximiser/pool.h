/* pool.h - what the maximisers share: candidates that are gathered without those tried before and without repeats,
   evaluated in batches, and compared. */
#ifndef TUTTI_MAXIMISER_POOL_H
#define TUTTI_MAXIMISER_POOL_H

#include <tutti/kit.h>

struct maximiser_pool {
  const tutti_scope *scope;
  const tutti_domain *joint; /* NULL for graph spaces */
  const struct tutti_objective *objective;
  size_t width; /* of the joint domain's vectors */
  size_t count, evaluated, capacity;
  size_t seeds;                 /* of the candidates, the first so many were tried before: they are no answers */
  tutti_candidate **candidates; /* [capacity] */
  double *vectors;              /* [capacity][width] */
  double *worth;                /* [capacity] */
  double *point, *vector;       /* [count of joint], [width]: scratch */
  tutti_candidate_set *seen;    /* known candidates, and those of the pool */
};

enum tutti_status maximiser_pool_init(tutti_context *context, const tutti_scope *scope,
                                      const struct tutti_objective *objective, struct maximiser_pool *pool);
void maximiser_pool_clear(struct maximiser_pool *pool);
/* Before any other: a candidate that was tried before, whose worth is asked for all the same. */
enum tutti_status maximiser_pool_seed(tutti_context *context, struct maximiser_pool *pool,
                                      const tutti_candidate *candidate);
/* Add a candidate unless it is there or was tried before; the reference is taken over, on failure, too. */
enum tutti_status maximiser_pool_take(tutti_context *context, struct maximiser_pool *pool, tutti_candidate *candidate);
/* Add the candidate at a point of the joint domain, unless the space refuses the point. */
enum tutti_status maximiser_pool_add_point(tutti_context *context, struct maximiser_pool *pool, const double *point);
/* Worth of the candidate at a point of the joint domain, whether it was tried before or not; *worth stays as it is where the
   space refuses the point. The candidate does not join the pool. */
enum tutti_status maximiser_pool_worth(tutti_context *context, struct maximiser_pool *pool, const double *point,
                                       double *worth);
/* Draw a candidate. */
enum tutti_status maximiser_pool_sample(tutti_context *context, struct maximiser_pool *pool,
                                        struct tutti_random *random);
/* Draw one where there is no candidate beside the seeds. TUTTI_ERROR_UNSUPPORTED when none is left. */
enum tutti_status maximiser_pool_find_one(tutti_context *context, struct maximiser_pool *pool,
                                          struct tutti_random *random);
/* Evaluate the candidates added since the last call. */
enum tutti_status maximiser_pool_evaluate(tutti_context *context, struct maximiser_pool *pool);
/* Evaluate them so far that the `wanted` (>= 1) best of them are known; the worth of others may be NaN. */
enum tutti_status maximiser_pool_evaluate_best(tutti_context *context, struct maximiser_pool *pool, size_t wanted);
/* Indices of the `count` best evaluated candidates beside the seeds, best first, earlier ones first among equals; returns how many there
   are. */
size_t maximiser_pool_best(const struct maximiser_pool *pool, size_t count, size_t *best);
/* The best candidate, which the caller unrefs, and its worth. */
void maximiser_pool_answer(const struct maximiser_pool *pool, tutti_candidate **candidate, double *worth);
/* Indices of the `count` known candidates of least loss, best first; returns how many have a loss. */
size_t maximiser_pool_incumbents(const struct tutti_objective *objective, size_t count, size_t *best);

#endif
