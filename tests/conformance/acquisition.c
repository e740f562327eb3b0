/* acquisition.c - the contract of kind acquisition. */
#include "conform.h"

#include <math.h>
#include <string.h>

enum { OBSERVED = 6, PROBES = 12 };

struct subject {
  struct world world;
  tutti_surrogate *surrogate; /* conform-ramp */
  tutti_acquisition *acquisition;
  tutti_candidate **seen, **probes;
  double *seen_vectors, *probe_vectors;
  struct tutti_points observed, points;
  struct tutti_standing standing;
};

static void open_subject(struct conform *conform, struct subject *subject) {
  tutti_context *context = conform->context;
  const struct tutti_descriptor *known;
  memset(subject, 0, sizeof *subject);
  world_make(conform, WORLD_POINTS, 1, &subject->world);
  subject->seen = world_candidates(conform, &subject->world, 1, OBSERVED);
  subject->probes = world_candidates(conform, &subject->world, 2, PROBES);
  subject->observed = world_points(conform, &subject->world, OBSERVED, subject->seen, &subject->seen_vectors);
  subject->points = world_points(conform, &subject->world, PROBES, subject->probes, &subject->probe_vectors);
  subject->observed.vectors = conform_given(conform, "vectors of the observations", subject->seen_vectors,
                                            OBSERVED * subject->observed.dimension * sizeof(double));
  subject->points.vectors = conform_given(conform, "vectors of the points", subject->probe_vectors,
                                          PROBES * subject->points.dimension * sizeof(double));
  if (tutti_plugin_find(context, TUTTI_KIND_SURROGATE, world_surrogate_ramp.name, &known) != TUTTI_OK)
    TRY(conform, tutti_plugin_register(context, &world_surrogate_ramp));
  TRY(conform, tutti_host_put(context, subject->world.host, "conform-surrogate", TUTTI_KIND_SURROGATE,
                              world_surrogate_ramp.name));
  struct tutti_surrogate_setup ramp = {.size = sizeof ramp,
                                       .host = subject->world.host,
                                       .dimension = subject->points.dimension,
                                       .domain = tutti_scope_joint(subject->world.scope),
                                       .scope = subject->world.scope};
  TRY(conform, tutti_surrogate_create(context, subject->world.host, "conform-surrogate", &ramp, &subject->surrogate));
  struct tutti_acquisition_setup setup = {
      .size = sizeof setup, .host = subject->world.host, .seed = WORLD_SEED, .scope = subject->world.scope};
  TRY(conform, tutti_acquisition_create(context, subject->world.host, "acquisition", &setup, &subject->acquisition));
  subject->standing = (struct tutti_standing){.size = sizeof subject->standing,
                                              .best = 0.3,
                                              .step = OBSERVED,
                                              .steps = WORLD_BUDGET,
                                              .observed = &subject->observed};
}

static void close_subject(struct subject *subject) {
  tutti_acquisition_destroy(subject->acquisition);
  tutti_surrogate_destroy(subject->surrogate);
  world_release(OBSERVED, subject->seen);
  world_release(PROBES, subject->probes);
  tutti_free(subject->seen_vectors);
  tutti_free(subject->probe_vectors);
  world_end(&subject->world);
}

static void prepare(struct conform *conform, struct subject *subject) {
  TRY(conform,
      tutti_acquisition_prepare(conform->context, subject->acquisition, &subject->standing, subject->surrogate));
}

/* Is there an op `moments`? It is the default of evaluate, and asked for by gradients. */
static bool has_moments(const struct conform *conform) {
  const struct tutti_acquisition_ops *ops = conform->descriptor->ops;
  return ops->moments != NULL;
}

/* --- checks --- */

static void check_evaluate(struct conform *conform) {
  struct subject a, b;
  double first[PROBES], again[PROBES], twin[PROBES];
  open_subject(conform, &a);
  open_subject(conform, &b);
  prepare(conform, &a);
  prepare(conform, &b);
  TRY(conform, tutti_acquisition_evaluate(conform->context, a.acquisition, &a.standing, a.surrogate, &a.points, first));
  TRY(conform, tutti_acquisition_evaluate(conform->context, a.acquisition, &a.standing, a.surrogate, &a.points, again));
  TRY(conform, tutti_acquisition_evaluate(conform->context, b.acquisition, &b.standing, b.surrogate, &b.points, twin));
  for (size_t i = 0; i < PROBES; i++)
    REQUIRE(conform, isfinite(first[i]), "point %zu is worth %g", i, first[i]);
  REQUIRE(conform, memcmp(first, again, sizeof first) == 0, "evaluated twice, points have two worths");
  REQUIRE(conform, memcmp(first, twin, sizeof first) == 0, "two instances differ in what points are worth");
  close_subject(&a);
  close_subject(&b);
}

/* All means with all deviations, from certain to hardly known, near the best and far from it. */
enum { MEANS = 9, DEVIATIONS = 6, GRID = MEANS * DEVIATIONS };
static const double means[MEANS] = {-1e6, -40, -1, 0.2999999, 0.3, 0.31, 2, 40, 1e6};
static const double deviations[DEVIATIONS] = {0, 1e-12, 1e-3, 0.1, 1, 1e3};

static void fill_grid(double *mean, double *deviation) {
  for (size_t i = 0; i < GRID; i++) {
    mean[i] = means[i / DEVIATIONS];
    deviation[i] = deviations[i % DEVIATIONS];
  }
}

static void check_finite(struct conform *conform) {
  struct subject subject;
  double all_means[GRID], all_deviations[GRID], worth[GRID], alone[GRID], by_mean[GRID], by_deviation[GRID];
  if (!has_moments(conform))
    conform_skip(conform, "it has no moments");
  open_subject(conform, &subject);
  prepare(conform, &subject);
  fill_grid(all_means, all_deviations);
  const double *mean = conform_given(conform, "the means", all_means, sizeof all_means),
               *deviation = conform_given(conform, "the deviations", all_deviations, sizeof all_deviations);
  TRY(conform, tutti_acquisition_moments(conform->context, subject.acquisition, &subject.standing, GRID, mean,
                                         deviation, worth, by_mean, by_deviation));
  TRY(conform, tutti_acquisition_moments(conform->context, subject.acquisition, &subject.standing, GRID, mean,
                                         deviation, alone, NULL, NULL));
  for (size_t i = 0; i < GRID; i++) {
    REQUIRE(conform, isfinite(worth[i]) && isfinite(by_mean[i]) && isfinite(by_deviation[i]),
            "mean %g, deviation %g: worth %g, derivatives %g and %g", mean[i], deviation[i], worth[i], by_mean[i],
            by_deviation[i]);
    REQUIRE(conform, worth[i] == alone[i], "mean %g, deviation %g: worth %g with derivatives, %g without", mean[i],
            deviation[i], worth[i], alone[i]);
    REQUIRE(conform, by_mean[i] <= 1e-12, "mean %g, deviation %g: a larger mean is worth more (%g)", mean[i],
            deviation[i], by_mean[i]);
  }
  close_subject(&subject);
}

/* Where it says so, the worth never falls as the deviation rises. */
static void check_rises(struct conform *conform) {
  struct subject subject;
  double mean[GRID], deviation[GRID], worth[GRID];
  const struct tutti_acquisition_ops *ops = conform->descriptor->ops;
  if (!has_moments(conform) || ops->size <= offsetof(struct tutti_acquisition_ops, rises) || !ops->rises)
    conform_skip(conform, "it does not say so");
  open_subject(conform, &subject);
  prepare(conform, &subject);
  fill_grid(mean, deviation);
  for (int best = 0; best < 2; best++) {
    subject.standing.best = best ? 0.3 : INFINITY;
    TRY(conform, tutti_acquisition_moments(conform->context, subject.acquisition, &subject.standing, GRID, mean,
                                           deviation, worth, NULL, NULL));
    for (size_t i = 1; i < GRID; i++)
      REQUIRE(conform, i % DEVIATIONS == 0 || worth[i] >= worth[i - 1] - 1e-12 * (1 + fabs(worth[i])),
              "mean %g: the worth falls from %.17g to %.17g as the deviation rises from %g to %g", mean[i],
              worth[i - 1], worth[i], deviation[i - 1], deviation[i]);
  }
  close_subject(&subject);
}

/* Before anything finished there is no best value. */
static void check_no_best(struct conform *conform) {
  struct subject subject;
  double worth[PROBES];
  open_subject(conform, &subject);
  subject.standing.best = INFINITY;
  prepare(conform, &subject);
  TRY(conform, tutti_acquisition_evaluate(conform->context, subject.acquisition, &subject.standing, subject.surrogate,
                                          &subject.points, worth));
  close_subject(&subject);
}

static double worth_at(struct conform *conform, struct subject *subject, double mean, double deviation) {
  double worth;
  TRY(conform, tutti_acquisition_moments(conform->context, subject->acquisition, &subject->standing, 1, &mean,
                                         &deviation, &worth, NULL, NULL));
  return worth;
}

static bool slopes_agree(struct conform *conform, struct subject *subject, double mean, double deviation,
                         bool by_deviation, double slope) {
  for (double h = 1e-3; h > 1e-8; h /= 10) {
    double step = h * deviation;
    double difference =
        by_deviation
            ? worth_at(conform, subject, mean, deviation + step) - worth_at(conform, subject, mean, deviation - step)
            : worth_at(conform, subject, mean + step, deviation) - worth_at(conform, subject, mean - step, deviation);
    if (conform_close(difference / (2 * step), slope, 1e-4, 1e-7))
      return true;
  }
  return false;
}

static void check_derivatives(struct conform *conform) {
  struct subject subject;
  if (!has_moments(conform))
    conform_skip(conform, "it has no moments");
  open_subject(conform, &subject);
  prepare(conform, &subject);
  for (double deviation = 0.01; deviation < 20; deviation *= 3)
    for (double distance = -3; distance <= 3; distance += 0.75) {
      double mean = subject.standing.best + distance * deviation, worth, by_mean, by_deviation;
      TRY(conform, tutti_acquisition_moments(conform->context, subject.acquisition, &subject.standing, 1, &mean,
                                             &deviation, &worth, &by_mean, &by_deviation));
      REQUIRE(conform, slopes_agree(conform, &subject, mean, deviation, false, by_mean),
              "mean %g, deviation %g: the derivative by the mean is given as %g, finite differences disagree", mean,
              deviation, by_mean);
      REQUIRE(conform, slopes_agree(conform, &subject, mean, deviation, true, by_deviation),
              "mean %g, deviation %g: the derivative by the deviation is given as %g, finite differences disagree",
              mean, deviation, by_deviation);
    }
  close_subject(&subject);
}

static void check_judge(struct conform *conform) {
  enum { ROUNDS_MOST = 1000 };
  struct subject subject;
  bool accept = false;
  open_subject(conform, &subject);
  prepare(conform, &subject);
  struct tutti_points proposal = subject.points;
  proposal.count = 1;
  for (unsigned round = 0; round < ROUNDS_MOST && !accept; round++)
    TRY(conform,
        tutti_acquisition_judge(conform->context, subject.acquisition, &subject.standing, &proposal, round, &accept));
  REQUIRE(conform, accept, "it refused a proposal %d times", ROUNDS_MOST);
  close_subject(&subject);
}

const struct conform_check conform_acquisition[] = {
    {"points have a finite worth, always the same", check_evaluate},
    {"finite for every mean and deviation, 0 too", check_finite},
    {"derivatives against finite differences", check_derivatives},
    {"rises with the deviation", check_rises},
    {"works before there is a best value", check_no_best},
    {"accepts a proposal in the end", check_judge},
    {NULL, NULL},
};
