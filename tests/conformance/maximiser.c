/* maximiser.c - the contract of kind maximiser. */
#include "conform.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KNOWN = 12, SAMPLES = 101, WIDTH_MOST = 64 };

/* The objective: how close a point is to a secret one; for graphs, a draw keyed by the candidate. */
struct hill {
  struct conform *conform;
  double top[WIDTH_MOST];
  size_t width, evaluations;
};

static double height(const struct hill *hill, const double *vector) {
  double sum = 0;
  for (size_t k = 0; k < hill->width; k++)
    sum += (vector[k] - hill->top[k]) * (vector[k] - hill->top[k]);
  return -sum;
}

static enum tutti_status evaluate(void *argument, tutti_context *context, const struct tutti_points *points,
                                  double *worth) {
  struct hill *hill = argument;
  if (!points->candidates || (hill->width && !points->vectors))
    return TUTTI_FAIL(context, TUTTI_ERROR_PLUGIN, "the objective was asked without %s",
                      points->candidates ? "vectors" : "candidates");
  for (size_t i = 0; i < points->count; i++)
    worth[i] = hill->width ? height(hill, points->vectors + i * hill->width) : world_loss(points->candidates[i]);
  hill->evaluations += points->count;
  return TUTTI_OK;
}

static enum tutti_status gradient(void *argument, tutti_context *context, const double *vector, double *worth,
                                  double *slope) {
  const struct hill *hill = argument;
  (void)context;
  *worth = height(hill, vector);
  for (size_t k = 0; k < hill->width; k++)
    slope[k] = -2 * (vector[k] - hill->top[k]);
  return TUTTI_OK;
}

struct subject {
  struct world world;
  tutti_maximiser *maximiser;
  tutti_candidate **known;
  double *losses;
  struct hill hill;
  struct tutti_objective objective;
};

static bool open_in(struct conform *conform, struct subject *subject, enum world_space space) {
  memset(subject, 0, sizeof *subject);
  world_make(conform, space, 1, &subject->world);
  struct tutti_maximiser_setup setup = {
      .size = sizeof setup, .host = subject->world.host, .seed = WORLD_SEED, .scope = subject->world.scope};
  subject->known = world_candidates(conform, &subject->world, 1, KNOWN);
  subject->losses = conform_alloc(conform, KNOWN, sizeof *subject->losses);
  for (size_t i = 0; i < KNOWN; i++)
    subject->losses[i] = i % 4 == 3 ? NAN : world_loss(subject->known[i]);
  tutti_candidate **top = world_candidates(conform, &subject->world, 2, 1);
  double *vector;
  struct tutti_points point = world_points(conform, &subject->world, 1, top, &vector);
  REQUIRE(conform, point.dimension <= WIDTH_MOST, "the encoding has %zu columns", point.dimension);
  subject->hill.width = point.dimension;
  subject->hill.conform = conform;
  if (vector)
    memcpy(subject->hill.top, vector, point.dimension * sizeof *vector);
  tutti_free(vector);
  world_release(1, top);
  subject->objective = (struct tutti_objective){
      .size = sizeof subject->objective,
      .argument = &subject->hill,
      .evaluate = evaluate,
      .gradient = point.dimension ? gradient : NULL,
      .known_count = KNOWN,
      .known = conform_given(conform, "known candidates", subject->known, KNOWN * sizeof(tutti_candidate *)),
      .known_losses = conform_given(conform, "known losses", subject->losses, KNOWN * sizeof *subject->losses),
      .step = 5,
      .trial_seed = 99};
  return tutti_maximiser_create(conform->context, subject->world.host, "maximiser", &setup, &subject->maximiser) ==
         TUTTI_OK;
}

static void open_subject(struct conform *conform, struct subject *subject) {
  REQUIRE(conform, open_in(conform, subject, WORLD_POINTS), "%s", tutti_error_message(conform->context));
}

static void close_subject(struct subject *subject) {
  tutti_maximiser_destroy(subject->maximiser);
  world_release(KNOWN, subject->known);
  tutti_free(subject->losses);
  world_end(&subject->world);
}

/* The worth of a candidate, by the objective itself. */
static double worth_of(struct conform *conform, struct subject *subject, tutti_candidate *candidate) {
  double *vectors, worth;
  struct tutti_points point = world_points(conform, &subject->world, 1, &candidate, &vectors);
  TRY(conform, evaluate(&subject->hill, conform->context, &point, &worth));
  tutti_free(vectors);
  return worth;
}

/* Maximise, and check the contract's conditions on any answer. The wrapper checks that it is not a known candidate. */
static tutti_candidate *maximise(struct conform *conform, struct subject *subject) {
  tutti_candidate *candidate = NULL, *back = NULL;
  double worth;
  char *text = NULL;
  const struct tutti_objective *given =
      conform_given(conform, "the objective", &subject->objective, sizeof subject->objective);
  TRY(conform, tutti_maximiser_maximise(conform->context, subject->maximiser, given, &candidate, &worth));
  TRY(conform, tutti_scope_print(conform->context, subject->world.scope, candidate, &text));
  TRY(conform, tutti_scope_parse(conform->context, subject->world.scope, text, &back));
  REQUIRE(conform, tutti_candidate_equal(candidate, back), "a candidate does not survive being written: %s", text);
  REQUIRE(conform, tutti_candidate_seed(candidate) == subject->objective.trial_seed, "its seed is not the trial's");
  double found = worth_of(conform, subject, candidate);
  REQUIRE(conform, conform_close(worth, found, 1e-6, 1e-9), "it says worth %g, the objective says %g", worth, found);
  tutti_candidate_unref(back);
  tutti_free(text);
  return candidate;
}

/* --- checks --- */

static void check_answer(struct conform *conform) {
  struct subject subject;
  open_subject(conform, &subject);
  for (uint64_t step = 0; step < 4; step++) {
    subject.objective.step = step;
    tutti_candidate_unref(maximise(conform, &subject));
  }
  close_subject(&subject);
}

static void check_nothing_known(struct conform *conform) {
  struct subject subject;
  open_subject(conform, &subject);
  subject.objective.known_count = 0;
  subject.objective.gradient = NULL;
  subject.objective.step = 0;
  tutti_candidate_unref(maximise(conform, &subject));
  close_subject(&subject);
}

static void check_determinism(struct conform *conform) {
  struct subject a, b;
  open_subject(conform, &a);
  open_subject(conform, &b);
  tutti_candidate *first = maximise(conform, &a), *again = maximise(conform, &a), *twin = maximise(conform, &b);
  char *texts[2];
  REQUIRE(conform, tutti_candidate_equal(first, again), "the same objective twice gave two candidates");
  TRY(conform, tutti_scope_print(conform->context, a.world.scope, first, &texts[0]));
  TRY(conform, tutti_scope_print(conform->context, b.world.scope, twin, &texts[1]));
  REQUIRE(conform, strcmp(texts[0], texts[1]) == 0, "two instances gave %s and %s", texts[0], texts[1]);
  tutti_free(texts[0]), tutti_free(texts[1]);
  tutti_candidate_unref(first), tutti_candidate_unref(again), tutti_candidate_unref(twin);
  close_subject(&a);
  close_subject(&b);
}

static int descending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x < y) - (x > y);
}

static void check_search(struct conform *conform, struct subject *subject) {
  tutti_candidate **samples = world_candidates(conform, &subject->world, 3, SAMPLES),
                  *found = maximise(conform, subject);
  double worths[SAMPLES], worth = worth_of(conform, subject, found);
  for (size_t i = 0; i < SAMPLES; i++)
    worths[i] = worth_of(conform, subject, samples[i]);
  qsort(worths, SAMPLES, sizeof *worths, descending);
  REQUIRE(conform, worth > worths[SAMPLES / 4], "what it found is worth %g, a quarter of random candidates %g and more",
          worth, worths[SAMPLES / 4]);
  tutti_candidate_unref(found);
  world_release(SAMPLES, samples);
}

static void check_maximum(struct conform *conform) {
  struct subject subject;
  open_subject(conform, &subject);
  check_search(conform, &subject);
  close_subject(&subject);
}

static void check_graphs(struct conform *conform) {
  struct subject subject;
  bool made = open_in(conform, &subject, WORLD_GRAPHS);
  if (made)
    check_search(conform, &subject);
  else
    REQUIRE(conform, strstr(tutti_error_message(conform->context), "conform-graphs"),
            "the refusal does not name the space: %s", tutti_error_message(conform->context));
  close_subject(&subject);
  if (!made)
    conform_skip(conform, "it refuses them: %s", tutti_error_message(conform->context));
}

/* Three points: the one that is left is found; when none is left, that is said. */
static void check_few(struct conform *conform) {
  struct subject subject;
  tutti_candidate *points[3], *found = NULL;
  double worth;
  REQUIRE(conform, open_in(conform, &subject, WORLD_FEW), "%s", tutti_error_message(conform->context));
  for (size_t i = 0; i < 3; i++)
    TRY(conform, tutti_scope_from_point(conform->context, subject.world.scope, (double[]){(double)i}, i, &points[i]));
  subject.objective.known = (const tutti_candidate *const *)points;
  subject.objective.known_count = 2;
  found = maximise(conform, &subject);
  REQUIRE(conform, tutti_candidate_equal(found, points[2]), "of three points it did not find the one that was left");
  tutti_candidate_unref(found);
  subject.objective.known_count = 3;
  enum tutti_status status =
      tutti_maximiser_maximise(conform->context, subject.maximiser, &subject.objective, &found, &worth);
  REQUIRE(conform, status == TUTTI_ERROR_UNSUPPORTED, "with every point known it answered \"%s\", not \"unsupported\"",
          tutti_status_name(status));
  for (size_t i = 0; i < 3; i++)
    tutti_candidate_unref(points[i]);
  close_subject(&subject);
}

static enum tutti_status fail_to_evaluate(void *argument, tutti_context *context, const struct tutti_points *points,
                                          double *worth) {
  (void)argument, (void)points, (void)worth;
  return TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "no worth today");
}

static void check_failure(struct conform *conform) {
  struct subject subject;
  tutti_candidate *found = NULL;
  double worth;
  open_subject(conform, &subject);
  subject.objective.evaluate = fail_to_evaluate;
  subject.objective.gradient = NULL;
  enum tutti_status status =
      tutti_maximiser_maximise(conform->context, subject.maximiser, &subject.objective, &found, &worth);
  REQUIRE(conform, status == TUTTI_ERROR_NUMERIC && strstr(tutti_error_message(conform->context), "no worth today"),
          "the objective's error was not passed on: %s", tutti_error_message(conform->context));
  close_subject(&subject);
}

const struct conform_check conform_maximiser[] = {
    {"finds a new candidate, and its worth", check_answer},
    {"works before anything is known", check_nothing_known},
    {"the same objective gives the same candidate", check_determinism},
    {"finds better than a quarter of random candidates", check_maximum},
    {"a space of graphs", check_graphs},
    {"a space of three points, of which two or all are known", check_few},
    {"passes on the objective's errors", check_failure},
    {NULL, NULL},
};
