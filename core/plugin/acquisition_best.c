/* acquisition_best.c - finds the best of many points without predicting most of them. If the worth never falls as the
   deviation rises, upper bounds of deviations give upper bounds of worths. A point is out when its bound is below the
   worths of as many points as are wanted. The bounds get tighter in stages. After each stage the most promising points
   are evaluated; after the last one, all that are left, best bound first. */
#include "acquisition_impl.h"

#include <tutti/sized.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A point that may be among the best. */
struct rival {
  double bound, mean;
  size_t index;
};

struct contest {
  tutti_acquisition *acquisition;
  const struct tutti_standing *standing;
  tutti_surrogate *surrogate;
  const struct tutti_points *points;
  double *worth;       /* [count]: of evaluated points; NaN for others */
  struct rival *rival; /* [count]: those from `begin` to `end` are left, best bound first */
  size_t begin, end;
  size_t wanted, known;
  double *best; /* [count], of which `known` are used: worths of evaluated points, best first, at most `wanted` */
  /* For some rivals, in their order. */
  double *vectors;                    /* [count][dimension] */
  const tutti_candidate **candidates; /* [count] */
  double *mean, *deviation, *bound;   /* [count] */
};

enum { GROUP = 24, GROUP_MOST = 1024 }; /* points that are evaluated at a time: several cost little more than one */

static enum tutti_status contest_create(tutti_context *context, struct contest *contest) {
  const struct tutti_points *points = contest->points;
  size_t count = points->count;
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof(struct rival), &contest->rival));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof(double), &contest->best));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof(double), &contest->mean));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof(double), &contest->deviation));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof(double), &contest->bound));
  if (points->vectors)
    TUTTI_TRY(context, tutti_alloc(context, count, points->dimension * sizeof(double), &contest->vectors));
  if (points->candidates)
    TUTTI_TRY(context, tutti_alloc(context, count, sizeof(tutti_candidate *), &contest->candidates));
  for (size_t i = 0; i < count; i++) {
    contest->rival[i].index = i;
    contest->worth[i] = NAN;
  }
  contest->end = count;
  return TUTTI_OK;
}

static void contest_destroy(struct contest *contest) {
  tutti_free(contest->rival);
  tutti_free(contest->best);
  tutti_free(contest->mean);
  tutti_free(contest->deviation);
  tutti_free(contest->bound);
  tutti_free(contest->vectors);
  tutti_free(contest->candidates);
}

static int compare_rivals(const void *a_, const void *b_) {
  const struct rival *a = a_, *b = b_;
  if (a->bound != b->bound)
    return a->bound > b->bound ? -1 : 1;
  return a->index < b->index ? -1 : 1;
}

static int compare_worths(const void *a_, const void *b_) {
  double a = *(const double *)a_, b = *(const double *)b_;
  return (a < b) - (a > b);
}

/* Copy the first `count` rivals that are left side by side. */
static struct tutti_points gather(struct contest *contest, size_t count) {
  struct tutti_points points;
  TUTTI_TAKE(&points, contest->points);
  size_t dimension = points.dimension;
  for (size_t i = 0; i < count; i++) {
    size_t index = contest->rival[contest->begin + i].index;
    if (points.vectors)
      memcpy(contest->vectors + i * dimension, points.vectors + index * dimension, dimension * sizeof(double));
    if (points.candidates)
      contest->candidates[i] = points.candidates[index];
  }
  points.count = count;
  points.vectors = contest->vectors;
  points.candidates = contest->candidates;
  return points;
}

/* Bound all rivals that are left, as closely as the surrogate can at this stage. */
static enum tutti_status narrow(tutti_context *context, struct contest *contest, size_t stage) {
  size_t count = contest->end - contest->begin;
  struct rival *rival = contest->rival + contest->begin;
  struct tutti_points points = gather(contest, count);
  TUTTI_TRY(context, tutti_surrogate_bound(context, contest->surrogate, &points, stage,
                                           stage == 0 ? contest->mean : NULL, contest->deviation));
  for (size_t i = 0; i < count; i++)
    if (stage == 0)
      rival[i].mean = contest->mean[i];
    else
      contest->mean[i] = rival[i].mean;
  TUTTI_TRY(context, tutti_acquisition_moments(context, contest->acquisition, contest->standing, count, contest->mean,
                                               contest->deviation, contest->bound, NULL, NULL));
  for (size_t i = 0; i < count; i++)
    rival[i].bound = contest->bound[i];
  qsort(rival, count, sizeof(*rival), compare_rivals);
  return TUTTI_OK;
}

/* Evaluate the first rivals. */
static enum tutti_status meet(tutti_context *context, struct contest *contest, size_t most) {
  size_t left = contest->end - contest->begin, count = left < most ? left : most;
  struct tutti_points points = gather(contest, count);
  double *worth = contest->bound;
  TUTTI_TRY(context, tutti_acquisition_evaluate(context, contest->acquisition, contest->standing, contest->surrogate,
                                                &points, worth));
  for (size_t i = 0; i < count; i++)
    contest->worth[contest->rival[contest->begin + i].index] = worth[i];
  memcpy(contest->best + contest->known, worth, count * sizeof(double));
  contest->known += count;
  contest->begin += count;
  qsort(contest->best, contest->known, sizeof(double), compare_worths);
  if (contest->known > contest->wanted)
    contest->known = contest->wanted;
  return TUTTI_OK;
}

/* The worth and its bound are rounded separately, so points that are closer than that stay. Equals stay, too. */
static void drop(struct contest *contest) {
  static const double rounding = 1e-9;
  if (contest->known < contest->wanted)
    return;
  double least = contest->best[contest->wanted - 1];
  double slack = rounding * (fabs(least) + (tutti_acquisition_in_logs(contest->acquisition) ? 1 : 0));
  while (contest->end > contest->begin && contest->rival[contest->end - 1].bound < least - slack)
    contest->end--;
}

bool tutti_acquisition_has_bounds(const tutti_acquisition *acquisition, const tutti_surrogate *surrogate) {
  bool rises = false;
  if (acquisition->ops.rises && !acquisition->ops.evaluate && tutti_surrogate_stages(surrogate) > 0)
    TUTTI_ASK(TUTTI_CONTEXT_OF(acquisition), acquisition, rises = acquisition->ops.rises(acquisition->instance.self));
  return rises;
}

static enum tutti_status play(tutti_context *context, struct contest *contest) {
  size_t stages = tutti_surrogate_stages(contest->surrogate);
  size_t group = contest->wanted > GROUP ? contest->wanted : GROUP;
  TUTTI_TRY(context, contest_create(context, contest));
  for (size_t stage = 0; contest->begin < contest->end; stage++) {
    if (tutti_cancelled(context))
      return TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "cancelled with %zu of %zu candidates left",
                        contest->end - contest->begin, contest->points->count);
    if (stage < stages)
      TUTTI_TRY(context, narrow(context, contest, stage));
    else if (group < GROUP_MOST)
      group *= 2;
    TUTTI_TRY(context, meet(context, contest, group));
    drop(contest);
  }
  return TUTTI_OK;
}

enum tutti_status tutti_acquisition_evaluate_best(tutti_context *context, tutti_acquisition *acquisition,
                                                  const struct tutti_standing *standing, tutti_surrogate *surrogate,
                                                  const struct tutti_points *points, size_t wanted, double *worth) {
  if (wanted >= points->count || !tutti_acquisition_has_bounds(acquisition, surrogate))
    return tutti_acquisition_evaluate(context, acquisition, standing, surrogate, points, worth);
  struct contest contest = {.acquisition = acquisition,
                            .standing = standing,
                            .surrogate = surrogate,
                            .points = points,
                            .wanted = wanted > 0 ? wanted : 1,
                            .worth = worth};
  enum tutti_status status = play(context, &contest);
  contest_destroy(&contest);
  return status;
}
