/* acquisition.c - kind acquisition: checks and defaults around its ops. */
#include "acquisition_impl.h"

#include <tutti/sized.h>

#include <math.h>

static const char *missing_ops(const void *ops) {
  return TUTTI_HAS_OP(acquisition, ops, moments) || TUTTI_HAS_OP(acquisition, ops, evaluate) ? NULL
                                                                                             : "moments or evaluate";
}

static void free_room(void *acquisition) { tutti_free(((tutti_acquisition *)acquisition)->room); }

TUTTI_DEFINE_KIND(ACQUISITION, acquisition, .missing = missing_ops, .close = free_room)

bool tutti_acquisition_is_blind(const tutti_acquisition *acquisition) {
  bool answer = false;
  if (acquisition->ops.blind)
    TUTTI_ASK(TUTTI_CONTEXT_OF(acquisition), acquisition, answer = acquisition->ops.blind(acquisition->instance.self));
  return answer;
}

static enum tutti_status reserve_points(tutti_context *context, tutti_acquisition *acquisition, size_t count) {
  if (count <= acquisition->count)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_realloc(context, 0, count, sizeof(double), &acquisition->room));
  acquisition->count = count;
  return TUTTI_OK;
}

enum tutti_status tutti_acquisition_prepare(tutti_context *context, tutti_acquisition *acquisition,
                                            const struct tutti_standing *standing, tutti_surrogate *surrogate) {
  if (acquisition->ops.prepare)
    TUTTI_CALL(context, acquisition,
               acquisition->ops.prepare(acquisition->instance.self, context, standing, surrogate));
  return TUTTI_OK;
}

bool tutti_acquisition_calibrates(const tutti_acquisition *acquisition) { return acquisition->ops.calibrate != NULL; }

enum tutti_status tutti_acquisition_calibrate(tutti_context *context, tutti_acquisition *acquisition,
                                              const struct tutti_standing *standing, tutti_surrogate *surrogate) {
  if (acquisition->ops.calibrate)
    TUTTI_CALL(context, acquisition,
               acquisition->ops.calibrate(acquisition->instance.self, context, standing, surrogate));
  return TUTTI_OK;
}

static enum tutti_status check_worth(tutti_context *context, const tutti_acquisition *acquisition, size_t count,
                                     const double *worth) {
  for (size_t i = 0; i < count; i++)
    if (isnan(worth[i]))
      return TUTTI_BREACH(context, &acquisition->instance, "the worth of point %zu is not a number", i);
  return TUTTI_OK;
}

enum tutti_status tutti_acquisition_moments(tutti_context *context, tutti_acquisition *acquisition,
                                            const struct tutti_standing *standing, size_t count, const double *mean,
                                            const double *deviation, double *worth, double *by_mean,
                                            double *by_deviation) {
  if (!acquisition->ops.moments)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "acquisition %s does not go by means and standard deviations",
                      acquisition->instance.descriptor->name);
  TUTTI_CALL(context, acquisition,
             acquisition->ops.moments(acquisition->instance.self, context, standing, count, mean, deviation, worth,
                                      by_mean, by_deviation));
  return check_worth(context, acquisition, count, worth);
}

/* The standing as a component sees it: the component may suppose a value below the best one. */
static struct tutti_standing standing_of(const struct tutti_standing *standing, double least) {
  struct tutti_standing its;
  TUTTI_TAKE(&its, standing);
  its.best = fmin(its.best, least);
  return its;
}

/* Add the worth of one more of `components` to the average *total. Give back the weights of the old total and of this
   worth: total = before * total + share * worth. Of logarithms, the exponentials are averaged. */
static void average(bool in_logs, size_t components, bool first, double worth, double *total, double *before,
                    double *share) {
  if (!in_logs || components == 1) {
    *before = 1;
    *share = 1 / (double)components;
    *total = first ? worth * *share : *total + worth * *share;
    return;
  }
  double term = worth - log((double)components), most = first ? term : fmax(*total, term);
  double sum = first ? term : most + log1p(exp(fmin(*total, term) - most));
  *before = first ? 0 : exp(*total - sum);
  *share = exp(term - sum);
  *total = sum;
}

bool tutti_acquisition_in_logs(const tutti_acquisition *acquisition) {
  bool answer = false;
  if (acquisition->ops.in_logs)
    TUTTI_ASK(TUTTI_CONTEXT_OF(acquisition), acquisition,
              answer = acquisition->ops.in_logs(acquisition->instance.self));
  return answer;
}

enum tutti_status tutti_acquisition_evaluate(tutti_context *context, tutti_acquisition *acquisition,
                                             const struct tutti_standing *standing, tutti_surrogate *surrogate,
                                             const struct tutti_points *points, double *worth) {
  if (acquisition->ops.evaluate) {
    TUTTI_CALL(context, acquisition,
               acquisition->ops.evaluate(acquisition->instance.self, context, standing, surrogate, points, worth));
    return check_worth(context, acquisition, points->count, worth);
  }
  size_t components = tutti_surrogate_components(surrogate), count = points->count;
  TUTTI_TRY(context, reserve_points(context, acquisition, (2 * components + 1) * count + components));
  double *mean = acquisition->room, *deviation = mean + components * count, *its_worth = deviation + components * count;
  double *least = its_worth + count, before, share;
  TUTTI_TRY(context, tutti_surrogate_predict_components(context, surrogate, points, mean, deviation));
  tutti_surrogate_least(surrogate, least);
  for (size_t c = 0; c < components; c++) {
    struct tutti_standing its = standing_of(standing, least[c]);
    TUTTI_TRY(context, tutti_acquisition_moments(context, acquisition, &its, count, mean + c * count,
                                                 deviation + c * count, its_worth, NULL, NULL));
    for (size_t i = 0; i < count; i++)
      average(tutti_acquisition_in_logs(acquisition), components, c == 0, its_worth[i], &worth[i], &before, &share);
  }
  return TUTTI_OK;
}

bool tutti_acquisition_has_gradient(const tutti_acquisition *acquisition, const tutti_surrogate *surrogate) {
  return acquisition->ops.moments && !acquisition->ops.evaluate && tutti_surrogate_has_gradient(surrogate);
}

enum tutti_status tutti_acquisition_gradient(tutti_context *context, tutti_acquisition *acquisition,
                                             const struct tutti_standing *standing, tutti_surrogate *surrogate,
                                             size_t dimension, const double *vector, double *worth, double *gradient) {
  size_t components = tutti_surrogate_components(surrogate);
  TUTTI_TRY(context, reserve_points(context, acquisition, components * (2 * dimension + 3)));
  double *mean = acquisition->room, *deviation = mean + components, *least = deviation + components;
  double *mean_gradient = least + components, *deviation_gradient = mean_gradient + components * dimension;
  TUTTI_TRY(context, tutti_surrogate_gradient_components(context, surrogate, vector, mean, deviation, mean_gradient,
                                                         deviation_gradient));
  tutti_surrogate_least(surrogate, least);
  for (size_t c = 0; c < components; c++) {
    struct tutti_standing its = standing_of(standing, least[c]);
    double its_worth, by_mean, by_deviation, before, share;
    TUTTI_TRY(context, tutti_acquisition_moments(context, acquisition, &its, 1, mean + c, deviation + c, &its_worth,
                                                 &by_mean, &by_deviation));
    average(tutti_acquisition_in_logs(acquisition), components, c == 0, its_worth, worth, &before, &share);
    for (size_t i = 0; i < dimension; i++) {
      double slope = by_mean * mean_gradient[c * dimension + i] + by_deviation * deviation_gradient[c * dimension + i];
      gradient[i] = (c == 0 ? 0 : before * gradient[i]) + share * slope;
    }
  }
  return TUTTI_OK;
}

enum tutti_status tutti_acquisition_judge(tutti_context *context, tutti_acquisition *acquisition,
                                          const struct tutti_standing *standing, const struct tutti_points *proposal,
                                          unsigned round, bool *accept) {
  /* The contract says that it accepts in the end; here is the end. */
  enum { MOST_ROUNDS = 1000 };
  *accept = true;
  if (!acquisition->ops.judge)
    return TUTTI_OK;
  if (round >= MOST_ROUNDS)
    return TUTTI_BREACH(context, &acquisition->instance, "judge refused %u proposals in a row", round);
  TUTTI_CALL(context, acquisition,
             acquisition->ops.judge(acquisition->instance.self, context, standing, proposal, round, accept));
  return TUTTI_OK;
}
