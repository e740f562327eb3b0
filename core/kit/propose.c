/* propose.c - from a history to the next candidate. */
#include <tutti/propose.h>

#include "core/base/json_impl.h"
#include <tutti/sized.h>

#include <math.h>
#include <stdlib.h>

struct tutti_proposer {
  struct tutti_proposer_setup setup;
  const tutti_scope *scope;
  const tutti_domain *joint; /* NULL for graph spaces */
  size_t width;
  tutti_surrogate *surrogate;
  tutti_acquisition *acquisition;
  tutti_maximiser *maximiser;

  /* Every candidate that was asked for, in that order. */
  size_t asked, asked_room, pending;
  size_t batch;                 /* index of the first one asked for since the last result */
  tutti_candidate **candidates; /* [asked] */
  double *losses;               /* [asked]: NaN where there is none */
  uint64_t *trials;             /* [asked] */
  bool *outstanding;            /* [asked] */
  tutti_candidate_set *known;
  double best; /* loss */

  /* The observations that the surrogate learns from, in the order in which they were told, with room for pending
     candidates after them. */
  size_t observed, observed_room;
  const tutti_candidate **points; /* [observed_room]: borrowed from `candidates` */
  double *vectors;                /* [observed_room][width] */
  double *values;                 /* [observed_room]: transformed losses */
  size_t fed;                     /* observations that the surrogate's fit has; 0: fit anew */
  size_t stand_ins;               /* pending candidates after the observations */
  bool calibrated;                /* the acquisition, for good */
  size_t fresh;                   /* the surrogate is fitted to the first so many observations, and no more; 0: no */

  size_t waiting, waiting_room; /* failed before any loss was finite: indices of `candidates` */
  size_t *waiters;
  double *point; /* [count of joint]: scratch */
};

/* --- life --------------------------------------------------------------------------------------------------------- */

static enum tutti_status create_parts(tutti_context *context, tutti_proposer *proposer) {
  const struct tutti_proposer_setup *setup = &proposer->setup;
  struct tutti_surrogate_setup surrogate = {.size = sizeof(surrogate),
                                            .host = setup->host,
                                            .seed = setup->seed,
                                            .dimension = proposer->width,
                                            .domain = proposer->joint,
                                            .scope = proposer->scope};
  struct tutti_acquisition_setup acquisition = {
      .size = sizeof(acquisition), .host = setup->host, .seed = setup->seed, .scope = proposer->scope};
  struct tutti_maximiser_setup maximiser = {
      .size = sizeof(maximiser), .host = setup->host, .seed = setup->seed, .scope = proposer->scope};
  TUTTI_TRY(context, tutti_surrogate_create(context, setup->host, setup->surrogate ? setup->surrogate : "surrogate",
                                            &surrogate, &proposer->surrogate));
  TUTTI_TRY(context,
            tutti_acquisition_create(context, setup->host, setup->acquisition ? setup->acquisition : "acquisition",
                                     &acquisition, &proposer->acquisition));
  TUTTI_TRY(context, tutti_maximiser_create(context, setup->host, setup->maximiser ? setup->maximiser : "maximiser",
                                            &maximiser, &proposer->maximiser));
  return TUTTI_OK;
}

/* Decide how pending candidates are treated, now that the surrogate is known. */
static enum tutti_status choose_pending(tutti_context *context, tutti_proposer *proposer) {
  bool can = tutti_surrogate_has_hallucination(proposer->surrogate);
  if (proposer->setup.pending == TUTTI_PENDING_AUTO)
    proposer->setup.pending = can ? TUTTI_PENDING_HALLUCINATE : TUTTI_PENDING_LIAR;
  if (proposer->setup.pending == TUTTI_PENDING_HALLUCINATE && !can)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "pending = hallucinate needs a surrogate that can, and %s cannot; use pending = liar",
                      tutti_surrogate_descriptor(proposer->surrogate)->name);
  if (proposer->setup.pending == TUTTI_PENDING_FANTASIES && !tutti_surrogate_has_fantasies(proposer->surrogate))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "pending = fantasies needs a surrogate that has them, and %s has none; use pending = liar",
                      tutti_surrogate_descriptor(proposer->surrogate)->name);
  return TUTTI_OK;
}

enum tutti_status tutti_proposer_create(tutti_context *context, const struct tutti_proposer_setup *setup,
                                        tutti_proposer **proposer) {
  enum tutti_status status;
  tutti_proposer *made = NULL;
  *proposer = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof(*made), &made));
  TUTTI_TAKE(&made->setup, setup);
  if (made->setup.calibrate == 0)
    made->setup.calibrate = made->setup.begin;
  made->scope = made->setup.scope ? made->setup.scope : tutti_host_scope(made->setup.host);
  made->joint = tutti_scope_joint(made->scope);
  made->width = made->joint ? tutti_domain_width(made->joint) : 0;
  made->best = INFINITY;
  if (made->joint)
    TUTTI_TRY_OUT(context, tutti_alloc(context, tutti_domain_count(made->joint) + 1, sizeof(double), &made->point));
  TUTTI_TRY_OUT(context, tutti_candidate_set_create(context, &made->known));
  TUTTI_TRY_OUT(context, create_parts(context, made));
  TUTTI_TRY_OUT(context, choose_pending(context, made));
  *proposer = made;
  return TUTTI_OK;
out:
  tutti_proposer_destroy(made);
  return status;
}

void tutti_proposer_destroy(tutti_proposer *proposer) {
  if (!proposer)
    return;
  tutti_maximiser_destroy(proposer->maximiser);
  tutti_acquisition_destroy(proposer->acquisition);
  tutti_surrogate_destroy(proposer->surrogate);
  for (size_t i = 0; i < proposer->asked; i++)
    tutti_candidate_unref(proposer->candidates[i]);
  tutti_candidate_set_destroy(proposer->known);
  tutti_free(proposer->candidates);
  tutti_free(proposer->losses);
  tutti_free(proposer->trials);
  tutti_free(proposer->outstanding);
  tutti_free(proposer->points);
  tutti_free(proposer->vectors);
  tutti_free(proposer->values);
  tutti_free(proposer->waiters);
  tutti_free(proposer->point);
  tutti_free(proposer);
}

/* --- history ------------------------------------------------------------------------------------------------------ */

enum tutti_status tutti_proposer_asked(tutti_context *context, tutti_proposer *proposer, uint64_t trial,
                                       const tutti_candidate *candidate) {
  size_t count = proposer->asked, room = count < 32 ? 64 : 2 * count;
  if (count == proposer->asked_room) {
    TUTTI_TRY(context, tutti_realloc(context, count, room, sizeof(tutti_candidate *), &proposer->candidates));
    TUTTI_TRY(context, tutti_realloc(context, count, room, sizeof(double), &proposer->losses));
    TUTTI_TRY(context, tutti_realloc(context, count, room, sizeof(uint64_t), &proposer->trials));
    TUTTI_TRY(context, tutti_realloc(context, count, room, sizeof(bool), &proposer->outstanding));
    proposer->asked_room = room;
  }
  TUTTI_TRY(context, tutti_candidate_set_add(context, proposer->known, candidate, NULL));
  proposer->candidates[count] = tutti_candidate_ref(candidate);
  proposer->losses[count] = NAN;
  proposer->trials[count] = trial;
  proposer->outstanding[count] = true;
  proposer->asked++;
  proposer->pending++;
  return TUTTI_OK;
}

/* Make room for so many points. */
static enum tutti_status reserve_points(tutti_context *context, tutti_proposer *proposer, size_t wanted) {
  size_t kept = proposer->observed, room = 2 * wanted + 32, width = proposer->width ? proposer->width : 1;
  if (wanted <= proposer->observed_room)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_realloc(context, kept, room, sizeof(tutti_candidate *), &proposer->points));
  TUTTI_TRY(context, tutti_realloc(context, kept, room, width * sizeof(double), &proposer->vectors));
  TUTTI_TRY(context, tutti_realloc(context, kept, room, sizeof(double), &proposer->values));
  proposer->observed_room = room;
  return TUTTI_OK;
}

/* Write a candidate as point number `place`. */
static void place_point(tutti_proposer *proposer, size_t place, const tutti_candidate *candidate, double value) {
  proposer->points[place] = candidate;
  proposer->values[place] = value;
  if (proposer->joint) {
    tutti_scope_to_point(proposer->scope, candidate, proposer->point);
    tutti_domain_encode(proposer->joint, proposer->point, proposer->vectors + place * proposer->width);
  }
}

static enum tutti_status observe(tutti_context *context, tutti_proposer *proposer, size_t index, double value) {
  TUTTI_TRY(context, reserve_points(context, proposer, proposer->observed + 1));
  place_point(proposer, proposer->observed, proposer->candidates[index], value);
  proposer->observed++;
  return TUTTI_OK;
}

/* Below `low` the logarithm is mirrored at (low, log low): smooth, increasing, and defined for every loss. */
static double transformed(enum tutti_transform transform, double loss) {
  static const double low = 1e-6;
  if (transform == TUTTI_TRANSFORM_NONE)
    return loss;
  if (transform == TUTTI_TRANSFORM_ASINH)
    return asinh(loss);
  return loss >= low ? log(loss) : 2 * log(low) - log(2 * low - loss);
}

static double extreme_value(const tutti_proposer *proposer, int sign) {
  double extreme = proposer->values[0];
  for (size_t i = 1; i < proposer->observed; i++)
    if (sign * proposer->values[i] > sign * extreme)
      extreme = proposer->values[i];
  return extreme;
}

/* A trial that failed counts as the worst value so far; before there is a value, it waits for the first. */
static enum tutti_status observe_failure(tutti_context *context, tutti_proposer *proposer, size_t index) {
  if (proposer->setup.failed == TUTTI_FAILED_IGNORE)
    return TUTTI_OK;
  if (proposer->observed > 0)
    return observe(context, proposer, index, extreme_value(proposer, 1));
  if (proposer->waiting == proposer->waiting_room) {
    size_t room = 2 * proposer->waiting + 8;
    TUTTI_TRY(context, tutti_realloc(context, proposer->waiting, room, sizeof(size_t), &proposer->waiters));
    proposer->waiting_room = room;
  }
  proposer->waiters[proposer->waiting++] = index;
  return TUTTI_OK;
}

static size_t find_trial(const tutti_proposer *proposer, uint64_t trial) {
  for (size_t i = proposer->asked; i-- > 0;)
    if (proposer->trials[i] == trial)
      return i;
  return SIZE_MAX;
}

enum tutti_status tutti_proposer_told(tutti_context *context, tutti_proposer *proposer, uint64_t trial,
                                      const tutti_candidate *candidate, double loss) {
  size_t index = find_trial(proposer, trial);
  if (index == SIZE_MAX) {
    TUTTI_TRY(context, tutti_proposer_asked(context, proposer, trial, candidate));
    index = proposer->asked - 1;
  }
  if (!proposer->outstanding[index])
    return TUTTI_FAIL(context, TUTTI_ERROR_INTERNAL, "trial %llu was told twice", (unsigned long long)trial);
  proposer->outstanding[index] = false;
  proposer->pending--;
  proposer->batch = proposer->asked;
  if (!isfinite(loss))
    return observe_failure(context, proposer, index);
  proposer->losses[index] = loss;
  proposer->best = fmin(proposer->best, loss);
  double value = transformed(proposer->setup.transform, loss);
  TUTTI_TRY(context, observe(context, proposer, index, value));
  for (size_t i = 0; i < proposer->waiting; i++)
    TUTTI_TRY(context, observe(context, proposer, proposer->waiters[i], value));
  proposer->waiting = 0;
  return TUTTI_OK;
}

/* --- proposals ---------------------------------------------------------------------------------------------------- */

static struct tutti_points points_of(const tutti_proposer *proposer, size_t first, size_t count) {
  return (struct tutti_points){.size = sizeof(struct tutti_points),
                               .count = count,
                               .dimension = proposer->width,
                               .vectors = proposer->joint ? proposer->vectors + first * proposer->width : NULL,
                               .candidates = proposer->points + first};
}

/* Fit to the first `count` points. */
static enum tutti_status fit(tutti_context *context, tutti_proposer *proposer, size_t count) {
  struct tutti_points points = points_of(proposer, 0, count);
  size_t fresh = proposer->fresh;
  proposer->fresh = 0;
  if (fresh == count)
    return TUTTI_OK;
  return tutti_surrogate_fit(context, proposer->surrogate, &points, proposer->values, NULL);
}

/* Bring the surrogate up to date in a way that depends on the observations alone, not on when proposals were made. */
static enum tutti_status learn(tutti_context *context, tutti_proposer *proposer) {
  size_t count = proposer->observed, begin = proposer->setup.begin;
  if (proposer->fed == count && count > 0)
    return TUTTI_OK;
  if (proposer->fed == 0) {
    TUTTI_TRY(context, fit(context, proposer, count < begin ? count : begin));
    if (count < begin) {
      proposer->fresh = count; /* until something is told, this fit will do */
      return TUTTI_OK;
    }
    proposer->fed = begin;
  }
  if (proposer->fed < count) {
    struct tutti_points fresh = points_of(proposer, proposer->fed, count - proposer->fed);
    TUTTI_TRY(context,
              tutti_surrogate_add(context, proposer->surrogate, &fresh, proposer->values + proposer->fed, NULL));
    proposer->fed = count;
  }
  return TUTTI_OK;
}

/* Calibrate the acquisition, which depends on the first observations alone. */
static enum tutti_status calibrate(tutti_context *context, tutti_proposer *proposer,
                                   const struct tutti_standing *standing) {
  if (proposer->calibrated || !tutti_acquisition_calibrates(proposer->acquisition))
    return TUTTI_OK;
  size_t wanted = proposer->setup.calibrate, first = wanted <= proposer->observed ? wanted : proposer->observed;
  struct tutti_points points = points_of(proposer, 0, first);
  struct tutti_standing at_first;
  TUTTI_TAKE(&at_first, standing);
  at_first.step = first;
  at_first.observed = &points;
  at_first.best = INFINITY;
  for (size_t i = 0; i < first; i++)
    at_first.best = fmin(at_first.best, proposer->values[i]);
  proposer->fed = proposer->fresh = 0;
  TUTTI_TRY(context, fit(context, proposer, first));
  TUTTI_TRY(context, tutti_acquisition_calibrate(context, proposer->acquisition, &at_first, proposer->surrogate));
  proposer->calibrated = first == wanted;
  proposer->fresh = first;
  return TUTTI_OK;
}

static double lie_of(const tutti_proposer *proposer) {
  double sum = 0;
  if (proposer->setup.lie != TUTTI_LIE_MEAN)
    return extreme_value(proposer, proposer->setup.lie == TUTTI_LIE_MAX ? 1 : -1);
  for (size_t i = 0; i < proposer->observed; i++)
    sum += proposer->values[i];
  return sum / (double)proposer->observed;
}

/* Put the pending candidates after the observations, with lies for values, and leave room for a proposal that is to be
   judged. */
static enum tutti_status place_pending(tutti_context *context, tutti_proposer *proposer) {
  size_t place = proposer->observed;
  double lie = lie_of(proposer);
  TUTTI_TRY(context, reserve_points(context, proposer, place + proposer->pending + 1));
  for (size_t i = proposer->setup.pending == TUTTI_PENDING_LIAR_BATCH ? proposer->batch : 0; i < proposer->asked; i++)
    if (proposer->outstanding[i])
      place_point(proposer, place++, proposer->candidates[i], lie);
  proposer->stand_ins = place - proposer->observed;
  return TUTTI_OK;
}

/* Fit the surrogate to the observations, and take pending candidates into account. */
static enum tutti_status model(tutti_context *context, tutti_proposer *proposer, uint64_t trial) {
  bool liar = proposer->setup.pending == TUTTI_PENDING_LIAR || proposer->setup.pending == TUTTI_PENDING_LIAR_BATCH;
  if (tutti_acquisition_is_blind(proposer->acquisition))
    return TUTTI_OK;
  if (liar && proposer->stand_ins > 0) {
    proposer->fed = 0; /* lies cannot be taken back */
    return fit(context, proposer, proposer->observed + proposer->stand_ins);
  }
  TUTTI_TRY(context, learn(context, proposer));
  struct tutti_points pending = points_of(proposer, proposer->observed, proposer->stand_ins);
  if (proposer->setup.pending == TUTTI_PENDING_HALLUCINATE && proposer->stand_ins > 0)
    return tutti_surrogate_hallucinate(context, proposer->surrogate, &pending);
  if (proposer->setup.pending == TUTTI_PENDING_FANTASIES && proposer->stand_ins > 0) {
    struct tutti_random random;
    tutti_random_init(&random, proposer->setup.seed, "proposer fantasies", trial);
    return tutti_surrogate_fantasise(context, proposer->surrogate, &pending, &random, proposer->setup.fantasies);
  }
  return TUTTI_OK;
}

struct worth {
  tutti_proposer *proposer;
  const struct tutti_standing *standing;
};

static enum tutti_status evaluate(void *argument, tutti_context *context, const struct tutti_points *points,
                                  double *worth) {
  const struct worth *at = argument;
  return tutti_acquisition_evaluate(context, at->proposer->acquisition, at->standing, at->proposer->surrogate, points,
                                    worth);
}

static enum tutti_status evaluate_best(void *argument, tutti_context *context, const struct tutti_points *points,
                                       size_t wanted, double *worth) {
  const struct worth *at = argument;
  return tutti_acquisition_evaluate_best(context, at->proposer->acquisition, at->standing, at->proposer->surrogate,
                                         points, wanted, worth);
}

static enum tutti_status gradient(void *argument, tutti_context *context, const double *vector, double *worth,
                                  double *slope) {
  const struct worth *at = argument;
  return tutti_acquisition_gradient(context, at->proposer->acquisition, at->standing, at->proposer->surrogate,
                                    at->proposer->width, vector, worth, slope);
}

static enum tutti_status judge(tutti_context *context, tutti_proposer *proposer, const struct tutti_standing *standing,
                               const tutti_candidate *candidate, unsigned round, bool *accept) {
  size_t place = proposer->observed + proposer->stand_ins; /* there is room: place_pending */
  place_point(proposer, place, candidate, NAN);
  struct tutti_points proposal = points_of(proposer, place, 1);
  return tutti_acquisition_judge(context, proposer->acquisition, standing, &proposal, round, accept);
}

/* Maximise until the acquisition accepts; *candidate = NULL when none is left. */
static enum tutti_status search(tutti_context *context, tutti_proposer *proposer, const struct tutti_standing *standing,
                                uint64_t trial, tutti_candidate **candidate, double *worth) {
  struct worth at = {.proposer = proposer, .standing = standing};
  bool slopes = proposer->joint && tutti_acquisition_has_gradient(proposer->acquisition, proposer->surrogate);
  bool bounds = tutti_acquisition_has_bounds(proposer->acquisition, proposer->surrogate);
  struct tutti_objective objective = {.size = sizeof(objective),
                                      .argument = &at,
                                      .evaluate = evaluate,
                                      .gradient = slopes ? gradient : NULL,
                                      .evaluate_best = bounds ? evaluate_best : NULL,
                                      .known_count = proposer->asked,
                                      .known = (const tutti_candidate *const *)proposer->candidates,
                                      .known_losses = proposer->losses,
                                      .step = trial,
                                      .trial_seed = tutti_trial_seed(tutti_host_seed(proposer->setup.host), trial)};
  bool accept = false;
  for (unsigned round = 0; !accept; round++) {
    tutti_candidate_unref(*candidate);
    *candidate = NULL;
    enum tutti_status status = tutti_maximiser_maximise(context, proposer->maximiser, &objective, candidate, worth);
    if (status == TUTTI_ERROR_UNSUPPORTED) {
      tutti_error_clear(context);
      return TUTTI_OK;
    }
    TUTTI_TRY(context, status);
    TUTTI_TRY(context, judge(context, proposer, standing, *candidate, round, &accept));
  }
  return TUTTI_OK;
}

enum tutti_status tutti_proposer_draw(tutti_context *context, const tutti_proposer *proposer, uint64_t trial,
                                      tutti_candidate **candidate) {
  struct tutti_random random;
  uint64_t seed = tutti_trial_seed(tutti_host_seed(proposer->setup.host), trial);
  tutti_random_init(&random, proposer->setup.seed, "proposer draw", trial);
  return tutti_candidate_set_draw(context, proposer->known, proposer->scope, &random, seed, candidate);
}

enum tutti_status tutti_proposer_propose(tutti_context *context, tutti_proposer *proposer, uint64_t trial,
                                         tutti_candidate **candidate, double *worth) {
  enum tutti_status status;
  *candidate = NULL;
  *worth = NAN;
  if (proposer->observed == 0)
    return tutti_proposer_draw(context, proposer, trial, candidate);
  TUTTI_TRY_OUT(context, place_pending(context, proposer));
  struct tutti_points all = points_of(proposer, 0, proposer->observed + proposer->stand_ins);
  struct tutti_standing standing = {.size = sizeof(standing),
                                    .best = extreme_value(proposer, -1),
                                    .step = trial,
                                    .steps = tutti_host_budget(proposer->setup.host),
                                    .observed = &all};
  TUTTI_TRY_OUT(context, calibrate(context, proposer, &standing));
  TUTTI_TRY_OUT(context, model(context, proposer, trial));
  TUTTI_TRY_OUT(context, tutti_acquisition_prepare(context, proposer->acquisition, &standing, proposer->surrogate));
  TUTTI_TRY_OUT(context, search(context, proposer, &standing, trial, candidate, worth));
out:
  if (status != TUTTI_OK) {
    tutti_candidate_unref(*candidate);
    *candidate = NULL;
  }
  tutti_surrogate_release(proposer->surrogate);
  return status;
}

/* As JSON; NULL if it says nothing, and before there is a loss. */
static enum tutti_status describe_surrogate(tutti_context *context, tutti_proposer *proposer, char **json) {
  *json = NULL;
  if (proposer->observed == 0 || tutti_acquisition_is_blind(proposer->acquisition))
    return TUTTI_OK;
  TUTTI_TRY(context, learn(context, proposer));
  return tutti_surrogate_describe(context, proposer->surrogate, json);
}

enum tutti_status tutti_proposer_describe_in(tutti_context *context, tutti_proposer *proposer, const char *state,
                                             char **json) {
  char *surrogate = NULL, *text;
  json_t *object;
  *json = NULL;
  TUTTI_TRY(context, tutti_json_parse(context, state, 0, TUTTI_ERROR_USAGE, "a builder's state as JSON", &object));
  enum tutti_status status = proposer ? describe_surrogate(context, proposer, &surrogate) : TUTTI_OK;
  if (surrogate)
    json_object_set_new(object, "surrogate", json_loads(surrogate, 0, NULL));
  tutti_free(surrogate);
  text = status == TUTTI_OK ? json_dumps(object, JSON_REAL_PRECISION(17)) : NULL;
  json_decref(object);
  if (status == TUTTI_OK)
    status = text ? tutti_strdup(context, text, json)
                  : TUTTI_FAIL(context, TUTTI_ERROR_MEMORY, "no memory for the builder's description");
  free(text);
  return status;
}

/* --- facts -------------------------------------------------------------------------------------------------------- */

size_t tutti_proposer_asked_count(const tutti_proposer *proposer) { return proposer->asked; }

size_t tutti_proposer_observed_count(const tutti_proposer *proposer) { return proposer->observed; }

size_t tutti_proposer_pending_count(const tutti_proposer *proposer) { return proposer->pending; }

double tutti_proposer_best(const tutti_proposer *proposer) { return proposer->best; }

const tutti_candidate_set *tutti_proposer_known(const tutti_proposer *proposer) { return proposer->known; }

tutti_acquisition *tutti_proposer_acquisition(const tutti_proposer *proposer) { return proposer->acquisition; }
