/* run_costs.c - ensembles that cost less and less, chosen from a finished pool by the run's selector: what accuracy
   costs. */
#include "run_impl.h"

#include "core/base/json_impl.h"
#include "engine/data/split_names.h"

#include <math.h>
#include <string.h>

/* Limits fall by this factor, and so often at most. */
enum { HALVES = 24 };
static const double factor = 0.5;

enum tutti_status tutti_run_cost_parse(tutti_context *context, const char *name, enum tutti_cost *cost) {
  for (size_t c = 0; c < TUTTI_COSTS; c++)
    if (strcmp(name, tutti_cost_names[c]) == 0) {
      *cost = (enum tutti_cost)c;
      return TUTTI_OK;
    }
  return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                    "expected what costs are counted in, flops, bytes or microseconds; found '%s'", name);
}

/* The loss on the rows that chose. */
static double loss_of(const json_t *point, const char *split, const char *loss) {
  const json_t *entry, *metric;
  size_t i, k;
  json_array_foreach(json_object_get(point, "evaluation"), i, entry) {
    if (strcmp(json_string_value(json_object_get(entry, "split")), split) == 0)
      json_array_foreach(json_object_get(entry, "metrics"), k, metric) {
        if (strcmp(json_string_value(json_object_get(metric, "name")), loss) == 0)
          return json_number_value(json_object_get(metric, "value"));
      }
  }
  return (double)NAN;
}

/* Say of each point whether none is both as cheap and as good, and better in one of the two. */
static void mark_front(json_t *points, const char *split, const char *loss) {
  json_t *point, *other;
  size_t i, k;
  json_array_foreach(points, i, point) {
    double cost = json_number_value(json_object_get(point, "cost")), own = loss_of(point, split, loss);
    bool front = !isnan(own);
    json_array_foreach(points, k, other) {
      double its = json_number_value(json_object_get(other, "cost")), others = loss_of(other, split, loss);
      front = front && !(its <= cost && others <= own && (its < cost || others < own));
    }
    (void)json_object_set_new(point, "front", json_boolean(front));
  }
}

static enum tutti_status add_point(tutti_context *context, const struct tutti_choice *choice,
                                   const struct tutti_history *history, const tutti_ensemble *ensemble, double cost,
                                   json_t *points) {
  enum tutti_status status = TUTTI_OK;
  const char *shift;
  char *chosen = NULL, *evaluation = NULL;
  TUTTI_TRY_OUT(context, tutti_run_shift_of(context, choice->source->experiment, choice->split, &shift));
  TUTTI_TRY_OUT(context, tutti_ensemble_print(context, ensemble, tutti_host_plugin(choice->host, "selector"),
                                              choice->source->experiment->loss, NULL, &chosen));
  TUTTI_TRY_OUT(context, tutti_run_evaluate(context, choice->source, history, ensemble, NULL, choice->evaluation, shift,
                                            &evaluation));
  json_t *said = json_loads(chosen, 0, NULL);
  json_array_append_new(points,
                        json_pack("{s:I, s:I, s:f, s:O, s:O, s:o}", "budget", (json_int_t)history->asked, "members",
                                  (json_int_t)tutti_ensemble_size(ensemble), "cost", cost, "ensemble",
                                  json_object_get(said, "members"), "combination", json_object_get(said, "combination"),
                                  "evaluation", json_loads(evaluation, 0, NULL)));
  json_decref(said);
out:
  tutti_free(chosen);
  tutti_free(evaluation);
  return status;
}

static double cheapest(const struct tutti_pool *pool, enum tutti_cost cost) {
  double least = INFINITY;
  for (size_t k = 0; k < pool->models; k++)
    least = fmin(least, tutti_pool_cost(pool, cost, k));
  return least;
}

/* From what the models cost together, which no ensemble exceeds, to the cheapest model. Each limit is below the last
   ensemble's cost, so that each step chooses another one. */
static enum tutti_status add_points(tutti_context *context, const struct tutti_choice *choice,
                                    const struct tutti_history *history, tutti_selector *selector,
                                    const struct tutti_pool *pool, enum tutti_cost cost, json_t *points) {
  struct tutti_cost_limit limit = {.size = sizeof limit, .cost = cost};
  double least = cheapest(pool, cost);
  (void)tutti_pool_tell_unknown(context, pool, cost);
  for (size_t k = 0; k < pool->models; k++)
    limit.most += fmax(tutti_pool_cost(pool, cost, k), 0);
  limit.most = fmax(limit.most, 1); /* where none is known, choosing says so */
  for (size_t i = 0; i < HALVES && (i == 0 || limit.most >= least); i++) {
    tutti_ensemble *ensemble;
    double sum = 0;
    TUTTI_TRY(context, tutti_ensemble_create(context, &ensemble));
    enum tutti_status status = tutti_selector_select_within(context, selector, pool, choice->members, &limit, ensemble);
    if (status == TUTTI_OK) {
      sum = tutti_ensemble_cost(ensemble, pool, cost);
      status = add_point(context, choice, history, ensemble, sum, points);
    }
    tutti_ensemble_destroy(ensemble);
    TUTTI_TRY(context, status);
    bool last = sum * factor < least && sum > least; /* then the cheapest model alone */
    limit.most = last ? least : sum * factor;
  }
  return TUTTI_OK;
}

enum tutti_status tutti_run_costs(tutti_context *context, const struct tutti_choice *choice,
                                  const struct tutti_history *history, enum tutti_cost cost, json_t *points) {
  enum tutti_status status = TUTTI_OK;
  const struct tutti_selector_setup setup = {.size = sizeof setup, .host = choice->host, .seed = choice->seed};
  struct tutti_pool pool = {.size = sizeof pool};
  tutti_selector *selector = NULL;
  TUTTI_TRY_OUT(context,
                tutti_run_pool_open(choice->source, context, choice->split, choice->count, choice->trials, &pool));
  TUTTI_TRY_OUT(context, tutti_selector_create(context, choice->host, "selector", &setup, &selector));
  TUTTI_TRY_OUT(context, add_points(context, choice, history, selector, &pool, cost, points));
  mark_front(points, choice->split, tutti_loss_names()[choice->source->experiment->loss]);
out:
  tutti_selector_destroy(selector);
  tutti_run_pool_release(choice->source, &pool);
  return status;
}
