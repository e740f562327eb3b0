/* surrogate.c - the contract of kind surrogate. */
#include "conform.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

enum { FITTED = 20, ADDED = 4, SEEN = FITTED + ADDED, PROBES = 16, WIDTH_MOST = 64 };

/* A surrogate, observations, and points at which to predict. */
struct subject {
  struct world world;
  tutti_surrogate *surrogate;
  tutti_candidate **seen, **probes;
  double *seen_vectors, *probe_vectors;
  struct tutti_points seen_points, probe_points;
  double values[SEEN];
};

/* Smooth in the vector; for graphs, in the distances to the first. */
static void fill_values(struct conform *conform, struct subject *subject) {
  for (size_t i = 0; i < SEEN; i++) {
    double value = 3;
    for (size_t k = 0; k < subject->seen_points.dimension; k++)
      value += sin(2 * subject->seen_vectors[i * subject->seen_points.dimension + k] + (double)k);
    if (!subject->seen_vectors) {
      double distances[2];
      const tutti_genotype *to = tutti_candidate_genotype(subject->seen[i]);
      TRY(conform,
          tutti_space_distances(conform->context, tutti_candidate_genotype(subject->seen[0]), 1, &to, distances));
      value += sin(distances[0] + 0.3 * distances[1]);
    }
    subject->values[i] = value;
  }
}

/* Is it made of networks? Then it computes in floats, and its ReLUs have kinks. */
static bool has_networks(const struct conform *conform) {
  return tutti_params_find(&conform->descriptor->params, "trainer") != NULL;
}

/* A surrogate that trains networks, small and for few epochs: its defaults may take minutes a fit. */
static void shrink(struct conform *conform, tutti_host *host) {
  static const char *const small[][3] = {{"surrogate", "units", "24 24"},
                                         {"surrogate", "uncertainty_units", "24 24"},
                                         {"trainer", "epochs", "150"},
                                         {"trainer", "learning_rate", "0.01"}};
  if (!has_networks(conform))
    return;
  for (size_t i = 0; i < sizeof small / sizeof small[0]; i++)
    if (tutti_host_set(conform->context, host, small[i][0], small[i][1], small[i][2]) != TUTTI_OK)
      tutti_error_clear(conform->context);
}

static enum tutti_status make_surrogate(struct conform *conform, struct subject *subject) {
  shrink(conform, subject->world.host);
  struct tutti_surrogate_setup setup = {.size = sizeof setup,
                                        .host = subject->world.host,
                                        .seed = WORLD_SEED,
                                        .dimension = subject->seen_points.dimension,
                                        .domain = tutti_scope_joint(subject->world.scope),
                                        .scope = subject->world.scope};
  return tutti_surrogate_create(conform->context, subject->world.host, "surrogate", &setup, &subject->surrogate);
}

static void open_world(struct conform *conform, struct subject *subject, enum world_space space) {
  memset(subject, 0, sizeof *subject);
  world_make(conform, space, 1, &subject->world);
  subject->seen = world_candidates(conform, &subject->world, 1, SEEN);
  subject->probes = world_candidates(conform, &subject->world, 2, PROBES);
  subject->seen_points = world_points(conform, &subject->world, SEEN, subject->seen, &subject->seen_vectors);
  subject->probe_points = world_points(conform, &subject->world, PROBES, subject->probes, &subject->probe_vectors);
  fill_values(conform, subject);
  subject->seen_points.vectors = conform_given(conform, "vectors of the points", subject->seen_vectors,
                                               SEEN * subject->seen_points.dimension * sizeof(double));
  subject->probe_points.vectors = conform_given(conform, "vectors of the points", subject->probe_vectors,
                                                PROBES * subject->probe_points.dimension * sizeof(double));
}

static void close_subject(struct subject *subject) {
  tutti_surrogate_destroy(subject->surrogate);
  world_release(SEEN, subject->seen);
  world_release(PROBES, subject->probes);
  tutti_free(subject->seen_vectors);
  tutti_free(subject->probe_vectors);
  world_end(&subject->world);
}

/* In a space of points, or, where it needs distances, of graphs. */
static void open_subject(struct conform *conform, struct subject *subject) {
  char why[512];
  open_world(conform, subject, WORLD_POINTS);
  if (make_surrogate(conform, subject) == TUTTI_OK)
    return;
  (void)snprintf(why, sizeof why, "%s", tutti_error_message(conform->context));
  close_subject(subject);
  open_world(conform, subject, WORLD_GRAPHS);
  if (make_surrogate(conform, subject) != TUTTI_OK)
    conform_fail(conform, "it works neither in a space of points (%s) nor of graphs (%s)", why,
                 tutti_error_message(conform->context));
}

/* The part [first, first + count) of points. */
static struct tutti_points part(const struct tutti_points *points, size_t first, size_t count) {
  struct tutti_points some = *points;
  some.count = count;
  some.vectors = points->vectors ? points->vectors + first * points->dimension : NULL;
  some.candidates = points->candidates + first;
  return some;
}

static void fit(struct conform *conform, struct subject *subject, size_t count, const double *values) {
  struct tutti_points points = part(&subject->seen_points, 0, count);
  const struct tutti_points *given = conform_given(conform, "the points", &points, sizeof points);
  const double *given_values = conform_given(conform, "the values", values, count * sizeof *values);
  TRY(conform, tutti_surrogate_fit(conform->context, subject->surrogate, given, given_values, NULL));
}

struct moments {
  double mean[PROBES], deviation[PROBES];
};

/* The wrapper checks that they are finite and deviations not negative. */
static struct moments predict(struct conform *conform, struct subject *subject) {
  struct moments moments;
  TRY(conform, tutti_surrogate_predict(conform->context, subject->surrogate, &subject->probe_points, moments.mean,
                                       moments.deviation));
  return moments;
}

static double spread(size_t count, const double *values) {
  double mean = 0, sum = 0;
  for (size_t i = 0; i < count; i++)
    mean += values[i] / (double)count;
  for (size_t i = 0; i < count; i++)
    sum += (values[i] - mean) * (values[i] - mean) / (double)count;
  return sqrt(sum);
}

static double distance(size_t count, const double *a, const double *b) {
  double sum = 0;
  for (size_t i = 0; i < count; i++)
    sum += (a[i] - b[i]) * (a[i] - b[i]) / (double)count;
  return sqrt(sum);
}

static void require_bits(struct conform *conform, const struct moments *a, const struct moments *b, const char *what) {
  REQUIRE(conform, memcmp(a, b, sizeof *a) == 0, "%s: mean %.17g +- %.17g became %.17g +- %.17g", what, a->mean[0],
          a->deviation[0], b->mean[0], b->deviation[0]);
}

/* --- checks --- */

static void check_determinism(struct conform *conform) {
  struct subject a, b;
  open_subject(conform, &a);
  open_subject(conform, &b);
  fit(conform, &a, SEEN, a.values);
  fit(conform, &b, SEEN, b.values);
  struct moments first = predict(conform, &a), again = predict(conform, &a), twin = predict(conform, &b);
  require_bits(conform, &first, &again, "predicted twice");
  require_bits(conform, &first, &twin, "fitted by another instance");
  close_subject(&a);
  close_subject(&b);
}

static void check_forgets(struct conform *conform) {
  struct subject a, b;
  open_subject(conform, &a);
  open_subject(conform, &b);
  fit(conform, &a, FITTED, a.values + ADDED);
  fit(conform, &a, SEEN, a.values);
  fit(conform, &b, SEEN, b.values);
  struct moments first = predict(conform, &a), fresh = predict(conform, &b);
  REQUIRE(conform, distance(PROBES, first.mean, fresh.mean) <= 1e-3 * spread(SEEN, a.values),
          "a fit after another fit differs from a fresh one: mean %g, %g", first.mean[0], fresh.mean[0]);
  close_subject(&a);
  close_subject(&b);
}

static void check_learns(struct conform *conform) {
  struct subject subject;
  double mean[SEEN], deviation[SEEN];
  open_subject(conform, &subject);
  fit(conform, &subject, SEEN, subject.values);
  TRY(conform, tutti_surrogate_predict(conform->context, subject.surrogate, &subject.seen_points, mean, deviation));
  REQUIRE(conform, distance(SEEN, mean, subject.values) < spread(SEEN, subject.values),
          "at the observed points it errs by %g, and their spread is %g", distance(SEEN, mean, subject.values),
          spread(SEEN, subject.values));
  close_subject(&subject);
}

static void check_one_by_one(struct conform *conform) {
  struct subject subject;
  open_subject(conform, &subject);
  fit(conform, &subject, SEEN, subject.values);
  struct moments together = predict(conform, &subject);
  for (size_t i = 0; i < PROBES; i++) {
    struct tutti_points one = part(&subject.probe_points, i, 1);
    double mean, deviation;
    TRY(conform, tutti_surrogate_predict(conform->context, subject.surrogate, &one, &mean, &deviation));
    REQUIRE(conform,
            conform_close(mean, together.mean[i], 1e-6, 1e-9) &&
                conform_close(deviation, together.deviation[i], 1e-4, 1e-6),
            "point %zu alone: %g +- %g; among others: %g +- %g", i, mean, deviation, together.mean[i],
            together.deviation[i]);
  }
  close_subject(&subject);
}

static void check_awkward(struct conform *conform) {
  struct subject subject;
  double constant[SEEN], tiny[SEEN];
  open_subject(conform, &subject);
  for (size_t i = 0; i < SEEN; i++) {
    constant[i] = 5;
    tiny[i] = 1e-12 * subject.values[i];
  }
  fit(conform, &subject, 1, subject.values);
  (void)predict(conform, &subject);
  fit(conform, &subject, 2, subject.values);
  (void)predict(conform, &subject);
  fit(conform, &subject, SEEN, tiny);
  (void)predict(conform, &subject);
  fit(conform, &subject, SEEN, constant);
  struct moments moments = predict(conform, &subject);
  for (size_t i = 0; i < PROBES; i++)
    REQUIRE(conform, fabs(moments.mean[i] - 5) < 1, "all observations are 5, and it predicts %g", moments.mean[i]);
  close_subject(&subject);
}

/* One point many times, with values that agree or not. */
static void check_duplicates(struct conform *conform) {
  struct subject subject;
  open_subject(conform, &subject);
  size_t width = subject.seen_points.dimension;
  for (size_t i = 1; i < SEEN; i++) {
    tutti_candidate_unref(subject.seen[i]);
    subject.seen[i] = tutti_candidate_ref(subject.seen[0]);
    if (subject.seen_vectors)
      memcpy(subject.seen_vectors + i * width, subject.seen_vectors, width * sizeof(double));
  }
  fit(conform, &subject, SEEN, subject.values);
  (void)predict(conform, &subject);
  for (size_t i = 0; i < SEEN; i++)
    subject.values[i] = 1;
  fit(conform, &subject, SEEN, subject.values);
  (void)predict(conform, &subject);
  close_subject(&subject);
}

static void check_noise(struct conform *conform) {
  struct subject subject;
  double noise[SEEN];
  open_subject(conform, &subject);
  for (size_t i = 0; i < SEEN; i++)
    noise[i] = i % 2 ? 0 : 0.01 * (double)i;
  TRY(conform, tutti_surrogate_fit(conform->context, subject.surrogate, &subject.seen_points, subject.values, noise));
  (void)predict(conform, &subject);
  close_subject(&subject);
}

/* Observations that come later: much as if all had been there, whether it adds or fits again. */
static void check_add(struct conform *conform) {
  struct subject a, b;
  open_subject(conform, &a);
  open_subject(conform, &b);
  fit(conform, &a, FITTED, a.values);
  for (size_t i = FITTED; i < SEEN; i++) {
    struct tutti_points one = part(&a.seen_points, i, 1);
    TRY(conform, tutti_surrogate_add(conform->context, a.surrogate, &one, a.values + i, NULL));
  }
  fit(conform, &b, SEEN, b.values);
  struct moments added = predict(conform, &a), fitted = predict(conform, &b);
  double error = distance(PROBES, added.mean, fitted.mean), scale = spread(SEEN, a.values);
  REQUIRE(conform, error < 0.5 * scale,
          "added to a fit they give means that differ by %g from a fit of all (spread %g)", error, scale);
  close_subject(&a);
  close_subject(&b);
}

/* The best of differences at several steps: rounding spoils the small ones, curvature and kinks the large. A kink on
   one side leaves the difference on the other. */
static bool slopes_agree(struct conform *conform, struct subject *subject, double *vector, size_t k, bool deviations,
                         double slope) {
  static const double steps[] = {1e-3, 1e-4, 1e-5, 1e-6};
  bool networks = has_networks(conform);
  double at = vector[k], relative = networks ? 2e-2 : 1e-3, absolute = networks ? 1e-3 : 1e-5;
  bool agree = false;
  for (size_t i = 0; i < 4 && !agree; i++) {
    double ends[3][2], step = networks ? 10 * steps[i] : steps[i];
    for (int side = -1; side <= 1; side++) {
      vector[k] = at + side * step;
      struct tutti_points point = {
          .size = sizeof point, .count = 1, .dimension = subject->probe_points.dimension, .vectors = vector};
      TRY(conform, tutti_surrogate_predict(conform->context, subject->surrogate, &point, &ends[side + 1][0],
                                           &ends[side + 1][1]));
    }
    double below = (ends[1][deviations] - ends[0][deviations]) / step;
    double above = (ends[2][deviations] - ends[1][deviations]) / step;
    agree = conform_close((below + above) / 2, slope, relative, absolute) ||
            (networks &&
             (conform_close(below, slope, relative, absolute) || conform_close(above, slope, relative, absolute)));
  }
  vector[k] = at;
  return agree;
}

static void check_gradient(struct conform *conform) {
  struct subject subject;
  open_subject(conform, &subject);
  if (!tutti_surrogate_has_gradient(subject.surrogate)) {
    close_subject(&subject);
    conform_skip(conform, "it has none");
  }
  size_t width = subject.probe_points.dimension;
  double mean, deviation, by_mean[WIDTH_MOST], by_deviation[WIDTH_MOST];
  fit(conform, &subject, SEEN, subject.values);
  struct moments moments = predict(conform, &subject);
  for (size_t i = 0; i < PROBES; i++) {
    double *vector = subject.probe_vectors + i * width;
    TRY(conform, tutti_surrogate_gradient(conform->context, subject.surrogate, vector, &mean, &deviation, by_mean,
                                          by_deviation));
    REQUIRE(
        conform,
        conform_close(mean, moments.mean[i], 1e-6, 1e-9) && conform_close(deviation, moments.deviation[i], 1e-4, 1e-6),
        "with its gradient it is %g +- %g, without %g +- %g", mean, deviation, moments.mean[i], moments.deviation[i]);
    for (size_t k = 0; k < width; k++) {
      REQUIRE(conform, slopes_agree(conform, &subject, vector, k, false, by_mean[k]),
              "point %zu: derivative %zu of the mean is given as %g, finite differences disagree", i, k, by_mean[k]);
      REQUIRE(conform, deviation < 1e-3 || slopes_agree(conform, &subject, vector, k, true, by_deviation[k]),
              "point %zu: derivative %zu of the deviation is given as %g, finite differences disagree", i, k,
              by_deviation[k]);
    }
  }
  close_subject(&subject);
}

static void check_hallucination(struct conform *conform) {
  struct subject subject;
  open_subject(conform, &subject);
  if (!tutti_surrogate_has_hallucination(subject.surrogate)) {
    close_subject(&subject);
    conform_skip(conform, "it has none");
  }
  fit(conform, &subject, SEEN, subject.values);
  struct moments before = predict(conform, &subject);
  struct tutti_points pending = part(&subject.probe_points, 0, 3);
  TRY(conform, tutti_surrogate_hallucinate(conform->context, subject.surrogate, &pending));
  struct moments during = predict(conform, &subject);
  for (size_t i = 0; i < PROBES; i++) {
    REQUIRE(conform, conform_close(before.mean[i], during.mean[i], 1e-9, 1e-9), "it moves the mean from %g to %g",
            before.mean[i], during.mean[i]);
    REQUIRE(conform, during.deviation[i] <= before.deviation[i] * (1 + 1e-6) + 1e-9, "a deviation rises from %g to %g",
            before.deviation[i], during.deviation[i]);
    REQUIRE(conform, i >= pending.count || before.deviation[i] < 1e-6 || during.deviation[i] < before.deviation[i],
            "at a pending point the deviation stays at %g", before.deviation[i]);
  }
  tutti_surrogate_release(subject.surrogate);
  struct moments after = predict(conform, &subject);
  require_bits(conform, &before, &after, "released");
  close_subject(&subject);
}

static void check_draw(struct conform *conform) {
  enum { DRAWS = 400 };
  struct subject subject;
  double sums[PROBES] = {0}, draw[PROBES], again[PROBES];
  open_subject(conform, &subject);
  fit(conform, &subject, SEEN, subject.values);
  struct moments moments = predict(conform, &subject);
  for (uint64_t i = 0; i < DRAWS; i++) {
    struct tutti_random random, copy;
    tutti_random_init(&random, WORLD_SEED, "conform draw", i);
    copy = random;
    TRY(conform, tutti_surrogate_draw(conform->context, subject.surrogate, &subject.probe_points, &random, draw));
    TRY(conform, tutti_surrogate_draw(conform->context, subject.surrogate, &subject.probe_points, &copy, again));
    REQUIRE(conform, memcmp(draw, again, sizeof draw) == 0, "the same stream gave two draws");
    for (size_t k = 0; k < PROBES; k++)
      sums[k] += draw[k];
  }
  for (size_t k = 0; k < PROBES; k++)
    REQUIRE(conform, fabs(sums[k] / DRAWS - moments.mean[k]) <= 6 * moments.deviation[k] / sqrt(DRAWS) + 1e-2,
            "draws average %g where the mean is %g +- %g", sums[k] / DRAWS, moments.mean[k], moments.deviation[k]);
  close_subject(&subject);
}

/* predict gives the moments of the components, before pending values are drawn and after. */
static void check_mixture(struct conform *conform) {
  enum { DRAWS = 3, COMPONENTS_MOST = 100 };
  static double mean[COMPONENTS_MOST * PROBES], deviation[COMPONENTS_MOST * PROBES], least[COMPONENTS_MOST];
  struct subject subject;
  open_subject(conform, &subject);
  fit(conform, &subject, SEEN, subject.values);
  struct moments before = predict(conform, &subject);
  for (int fantasies = 0; fantasies <= tutti_surrogate_has_fantasies(subject.surrogate); fantasies++) {
    struct tutti_points pending = part(&subject.seen_points, 0, 2);
    struct tutti_random random;
    tutti_random_init(&random, WORLD_SEED, "conform fantasies", 0);
    if (fantasies)
      TRY(conform, tutti_surrogate_fantasise(conform->context, subject.surrogate, &pending, &random, DRAWS));
    size_t components = tutti_surrogate_components(subject.surrogate);
    REQUIRE(conform, components >= 1 && components <= COMPONENTS_MOST, "it has %zu components", components);
    TRY(conform, tutti_surrogate_predict_components(conform->context, subject.surrogate, &subject.probe_points, mean,
                                                    deviation));
    tutti_surrogate_least(subject.surrogate, least);
    struct moments mixture = predict(conform, &subject);
    for (size_t i = 0; i < PROBES; i++) {
      double sum = 0, squares = 0;
      for (size_t c = 0; c < components; c++) {
        double m = mean[c * PROBES + i], s = deviation[c * PROBES + i];
        sum += m / (double)components;
        squares += (m * m + s * s) / (double)components;
        REQUIRE(conform, !fantasies || isfinite(least[c]), "component %zu supposes %g at pending points", c, least[c]);
      }
      REQUIRE(conform,
              conform_close(mixture.mean[i], sum, 1e-6, 1e-9) &&
                  conform_close(mixture.deviation[i], sqrt(fmax(0, squares - sum * sum)), 1e-4, 1e-6),
              "point %zu is predicted as %g +- %g, and its components make %g +- %g", i, mixture.mean[i],
              mixture.deviation[i], sum, sqrt(fmax(0, squares - sum * sum)));
    }
  }
  tutti_surrogate_release(subject.surrogate);
  struct moments after = predict(conform, &subject);
  require_bits(conform, &before, &after, "released");
  close_subject(&subject);
}

/* A function that is drawn is one: certain, and the same however it is asked for. */
static void check_realise(struct conform *conform) {
  struct subject subject;
  struct tutti_random random;
  open_subject(conform, &subject);
  fit(conform, &subject, SEEN, subject.values);
  struct moments before = predict(conform, &subject);
  tutti_random_init(&random, WORLD_SEED, "conform function", 0);
  TRY(conform, tutti_surrogate_realise(conform->context, subject.surrogate, &random));
  REQUIRE(conform, tutti_surrogate_components(subject.surrogate) == 1, "a drawn function has %zu components",
          tutti_surrogate_components(subject.surrogate));
  struct moments drawn = predict(conform, &subject);
  for (size_t i = 0; i < PROBES; i++) {
    struct tutti_points one = part(&subject.probe_points, i, 1);
    double mean, deviation;
    TRY(conform, tutti_surrogate_predict(conform->context, subject.surrogate, &one, &mean, &deviation));
    REQUIRE(conform, mean == drawn.mean[i] && deviation == 0 && drawn.deviation[i] == 0,
            "the function is %g +- %g at point %zu, and %g +- %g when asked for it alone", drawn.mean[i],
            drawn.deviation[i], i, mean, deviation);
  }
  tutti_surrogate_release(subject.surrogate);
  struct moments after = predict(conform, &subject);
  require_bits(conform, &before, &after, "released");
  close_subject(&subject);
}

/* Bounds hold, and are tighter from stage to stage; means are as predicted, and predictions the same alone. */
static void check_bounds(struct conform *conform) {
  enum { MANY = 200 };
  struct subject subject;
  double mean[PROBES], bound[PROBES], before[PROBES], values[MANY], *vectors;
  const struct tutti_surrogate_ops *ops = conform->descriptor->ops;
  if (ops->size <= offsetof(struct tutti_surrogate_ops, bound) || !ops->bound)
    conform_skip(conform, "it has none");
  open_subject(conform, &subject);
  tutti_candidate **many = world_candidates(conform, &subject.world, 3, MANY);
  struct tutti_points points = world_points(conform, &subject.world, MANY, many, &vectors);
  for (size_t i = 0; i < MANY; i++)
    values[i] = subject.values[i % SEEN] + 0.01 * (double)i;
  TRY(conform, tutti_surrogate_fit(conform->context, subject.surrogate, &points, values, NULL));
  struct moments moments = predict(conform, &subject);
  for (size_t stage = 0; stage < tutti_surrogate_stages(subject.surrogate); stage++) {
    TRY(conform, tutti_surrogate_bound(conform->context, subject.surrogate, &subject.probe_points, stage, mean, bound));
    for (size_t i = 0; i < PROBES; i++) {
      struct tutti_points one = part(&subject.probe_points, i, 1);
      double alone[2];
      TRY(conform, tutti_surrogate_predict(conform->context, subject.surrogate, &one, &alone[0], &alone[1]));
      REQUIRE(conform, mean[i] == moments.mean[i], "stage %zu: a mean is %.17g, and predicted as %.17g", stage, mean[i],
              moments.mean[i]);
      REQUIRE(conform, alone[0] == moments.mean[i] && alone[1] == moments.deviation[i],
              "a point is predicted as %.17g +- %.17g alone, and %.17g +- %.17g among others", alone[0], alone[1],
              moments.mean[i], moments.deviation[i]);
      REQUIRE(conform, bound[i] >= moments.deviation[i] && (stage == 0 || bound[i] <= before[i]),
              "stage %zu: a deviation of %.17g is bounded by %.17g", stage, moments.deviation[i], bound[i]);
    }
    memcpy(before, bound, sizeof before);
  }
  world_release(MANY, many);
  tutti_free(vectors);
  close_subject(&subject);
}

/* If the surrogate needs something that a space lacks, it is refused, and the message names both. */
static void check_needs(struct conform *conform) {
  enum world_space spaces[] = {WORLD_POINTS, WORLD_GRAPHS};
  static const char *const names[] = {"conform-points", "conform-graphs"};
  size_t refused = 0;
  for (size_t i = 0; i < 2; i++) {
    struct subject subject;
    open_world(conform, &subject, spaces[i]);
    if (make_surrogate(conform, &subject) != TUTTI_OK) {
      const char *message = tutti_error_message(conform->context);
      REQUIRE(conform, strstr(message, conform->name) && strstr(message, names[i]),
              "the refusal does not name surrogate and space: %s", message);
      refused++;
    }
    close_subject(&subject);
  }
  REQUIRE(conform, refused < 2, "it refuses spaces of points and of graphs: %s", tutti_error_message(conform->context));
}

static void check_describe(struct conform *conform) {
  struct subject subject;
  char *json = NULL;
  open_subject(conform, &subject);
  fit(conform, &subject, SEEN, subject.values);
  TRY(conform, tutti_surrogate_describe(conform->context, subject.surrogate, &json));
  if (json) {
    json_t *root = json_loads(json, JSON_DECODE_ANY, NULL);
    REQUIRE(conform, root, "it describes itself in what is no JSON: %s", json);
    json_decref(root);
  }
  tutti_free(json);
  close_subject(&subject);
}

const struct conform_check conform_surrogate[] = {
    {"refuses spaces that lack what it needs", check_needs},
    {"the same observations give the same bits", check_determinism},
    {"a fit forgets what was before", check_forgets},
    {"learns what it sees", check_learns},
    {"points one by one and together", check_one_by_one},
    {"one observation, tiny and constant values", check_awkward},
    {"one point many times", check_duplicates},
    {"known noise", check_noise},
    {"observations added later", check_add},
    {"gradients against finite differences", check_gradient},
    {"hallucination lowers deviations and leaves means", check_hallucination},
    {"joint draws", check_draw},
    {"components make up what is predicted", check_mixture},
    {"a drawn function", check_realise},
    {"bounds of deviations", check_bounds},
    {"describes itself in JSON", check_describe},
    {NULL, NULL},
};
