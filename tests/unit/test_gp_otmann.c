/* Surrogate gp-otmann against a plain model of its own: eigenvalues by Jacobi's rotations, equations by elimination.
   Words and their edit distances stand for architectures; their covariance is indefinite. */
#include "plain_gp_otmann.h"
#include "toy.h"
#include "words.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "plugins/surrogate/gp-otmann.c"

/* A world of words, candidates in it, and a config whose lists are fixed numbers or ranges. */
struct subject {
  struct toy toy;
  struct gp_otmann_config config;
  double powers[2], scales[4], alpha[2], noise[2], length[2];
  struct gp_otmann *gp;
  size_t count;
  tutti_candidate *candidates[2 * MOST];
  double values[2 * MOST];
};

static double worth_of(const tutti_candidate *candidate) {
  double d[4], x = tutti_candidate_hyperparameters(candidate)[0];
  words_distances(words_letters(tutti_candidate_genotype(candidate)), "abcde", d);
  return d[0] / 100 + 4 * (x - 0.3) * (x - 0.3);
}

static void make(struct subject *subject) {
  struct tutti_surrogate_setup setup = {.size = sizeof(setup), .seed = 3, .scope = subject->toy.scope};
  void *instance = NULL;
  TOY_OK(&subject->toy, surrogate_create_gp_otmann(subject->toy.context, &subject->config, &setup, &instance));
  subject->gp = instance;
}

/* `fixed`: at these hyperparameters; NULL: the presets. */
static void open_subject(struct subject *subject, const double *fixed) {
  static const double presets[] = {1e-9, 1e-3, 0.1, 100};
  struct tutti_random random;
  memset(subject, 0, sizeof(*subject));
  toy_create_in(&subject->toy, 5, 4, &words_descriptor, "x = uniform 0 1");
  subject->powers[0] = 1, subject->powers[1] = 2;
  memcpy(subject->scales, presets, sizeof(presets));
  subject->alpha[0] = 0.01, subject->alpha[1] = 100;
  subject->noise[0] = 0.005, subject->noise[1] = 0.2;
  subject->length[0] = 0.05, subject->length[1] = 20;
  if (fixed) {
    subject->alpha[0] = fixed[0], subject->noise[0] = fixed[NOISE], subject->length[0] = fixed[LENGTH];
    for (size_t i = 0; i < 4; i++)
      subject->scales[i] = fixed[BETA + i / 2 * 2];
  }
  size_t ends = fixed ? 1 : 2;
  subject->config = (struct gp_otmann_config){.powers = {2, subject->powers},
                                              .scales = {4, subject->scales},
                                              .alpha = {ends, subject->alpha},
                                              .noise = {ends, subject->noise},
                                              .length_scale = {ends, subject->length},
                                              .projection = DGP_PROJECT_ALL,
                                              .draws = 60,
                                              .evaluations = 40,
                                              .refit = 1};
  tutti_random_init(&random, 1, "test", 0);
  subject->count = 2 * MOST;
  for (size_t i = 0; i < subject->count; i++) {
    TOY_OK(&subject->toy,
           tutti_scope_sample(subject->toy.context, subject->toy.scope, &random, i, &subject->candidates[i]));
    subject->values[i] = worth_of(subject->candidates[i]);
  }
  make(subject);
}

static void close_subject(struct subject *subject) {
  surrogate_destroy_gp_otmann(subject->gp);
  for (size_t i = 0; i < subject->count; i++)
    tutti_candidate_unref(subject->candidates[i]);
  toy_destroy(&subject->toy);
}

static struct tutti_points points_of(const struct subject *subject, size_t first, size_t count) {
  return (struct tutti_points){.size = sizeof(struct tutti_points),
                               .count = count,
                               .candidates = (const tutti_candidate *const *)subject->candidates + first};
}

static void fit(struct subject *subject, size_t count, const double *noise) {
  struct tutti_points points = points_of(subject, 0, count);
  TOY_OK(&subject->toy, surrogate_fit_gp_otmann(subject->gp, subject->toy.context, &points, subject->values, noise));
}

static void predict(struct subject *subject, size_t first, size_t count, double *mean, double *deviation) {
  struct tutti_points points = points_of(subject, first, count);
  TOY_OK(&subject->toy, surrogate_predict_gp_otmann(subject->gp, subject->toy.context, &points, mean, deviation));
}

/* Long ranges, so that the edit distances' square makes the covariance indefinite. */
static const double plain_hyper[HYPERS] = {0.6, 0.6, 1e-4, 1e-4, 0.1, 0.1, 5, 0.02};

/* With candidates projected, and with the observations' matrix alone (`matrix`). */
static void test_predictions(void **state) {
  enum { COUNT = 33, PROBES = 24 };
  static struct plain plain;
  double mean[MOST + PROBES], deviation[MOST + PROBES], noise[COUNT];
  (void)state;
  for (int which = 0; which < 4; which++) {
    bool noisy = which % 2 != 0, matrix = which >= 2;
    struct subject subject;
    open_subject(&subject, plain_hyper);
    surrogate_destroy_gp_otmann(subject.gp);
    subject.config.projection = matrix ? DGP_PROJECT_MATRIX : DGP_PROJECT_ALL;
    make(&subject);
    for (size_t i = 0; i < COUNT; i++)
      noise[i] = 0.02 * (double)(i % 4);
    fit(&subject, COUNT - noisy, noisy ? noise : NULL); /* an odd and an even median */
    plain_fit(&plain, COUNT - (size_t)noisy, subject.candidates, subject.values, noisy ? noise : NULL, plain_hyper);
    plain.as_they_are = matrix;
    assert_true(plain.negative > 0);
    assert_int_equal(subject.gp->posteriors->negative, plain.negative);
    assert_near(subject.gp->likelihood, plain.likelihood, 1e-9);
    predict(&subject, 20, MOST, mean, deviation); /* seen and unseen */
    for (size_t i = 0; i < MOST; i++) {
      const tutti_candidate *at = subject.candidates[20 + i];
      assert_near(mean[i], plain_mean(&plain, at), 1e-8);
      assert_near(deviation[i], plain.scale * sqrt(fmax(plain_given(&plain, at, at), 0)), 1e-6);
    }
    close_subject(&subject);
  }
}

/* Against the plain model, and its slopes against finite differences: with eigenvalues clipped, and with none. */
static void test_likelihood(void **state) {
  enum { COUNT = 20 };
  static struct plain plain;
  static const double definite[HYPERS] = {0.6, 0.6, 4e-2, 4e-2, 90, 90, 0.2, 0.05};
  (void)state;
  for (int which = 0; which < 2; which++) {
    double hyper[HYPERS], gradient[HYPERS], likelihood, noise[COUNT];
    struct dgp_workspace workspace;
    struct dgp_units units;
    struct subject subject;
    memcpy(hyper, which ? definite : plain_hyper, sizeof(hyper));
    for (size_t i = 0; i < HYPERS; i++)
      hyper[i] *= 1 + 0.05 * (double)i; /* none like another */
    for (size_t i = 0; i < COUNT; i++)
      noise[i] = 0.01 * (double)(i % 3);
    open_subject(&subject, plain_hyper);
    fit(&subject, COUNT, noise);
    plain_fit(&plain, COUNT, subject.candidates, subject.values, noise, hyper);
    assert_int_equal(plain.negative > 0, !which);
    tutti_context *context = subject.toy.context;
    const struct dgp_data *data = &subject.gp->data;
    TOY_OK(&subject.toy, dgp_units_of(context, data, COUNT, &units));
    TOY_OK(&subject.toy, dgp_workspace_create(context, data, COUNT, &workspace));
    TOY_OK(&subject.toy, dgp_likelihood(context, data, &units, hyper, &workspace, &likelihood, gradient));
    assert_near(likelihood, plain.likelihood, 1e-9);
    for (size_t k = 0; k < HYPERS; k++) {
      double ends[2], kept = hyper[k];
      for (int side = 0; side < 2; side++) {
        hyper[k] = kept * exp(side ? 1e-5 : -1e-5);
        TOY_OK(&subject.toy, dgp_likelihood(context, data, &units, hyper, &workspace, &ends[side], NULL));
      }
      hyper[k] = kept;
      assert_near(gradient[k], (ends[1] - ends[0]) / 2e-5, 1e-6);
    }
    dgp_workspace_destroy(&workspace);
    close_subject(&subject);
  }
}

/* The eigenvalues that a Cholesky factor spares are those of which none would be clipped, and nothing else changes;
   observations that are there twice make the matrix singular. */
static void test_eigenvalues_are_spared(void **state) {
  enum { COUNT = 24, DRAWS = 200 };
  size_t spared = 0, clipped = 0;
  (void)state;
  for (int twice = 0; twice < 2; twice++) {
    struct subject subject;
    struct tutti_random random;
    struct dgp_workspace ours;
    struct dgp_spectrum *spectrum;
    static double factor[COUNT * COUNT];
    double hyper[HYPERS];
    open_subject(&subject, NULL);
    subject.powers[1] = 1;
    if (twice) {
      tutti_candidate_unref(subject.candidates[COUNT - 1]);
      subject.candidates[COUNT - 1] = tutti_candidate_ref(subject.candidates[0]);
    }
    fit(&subject, COUNT, NULL);
    tutti_random_init(&random, 1, "draws", 0);
    TOY_OK(&subject.toy, dgp_workspace_create(subject.toy.context, &subject.gp->data, COUNT, &ours));
    TOY_OK(&subject.toy, dgp_spectrum_create(subject.toy.context, COUNT, &spectrum));
    for (int draw = 0; draw < DRAWS; draw++) {
      for (size_t i = 0; i < HYPERS; i++) {
        const double *range = subject.gp->ranges[i];
        hyper[i] = range[0] * pow(range[1] / range[0], tutti_random_uniform(&random));
      }
      dgp_covariance(&subject.gp->data, hyper, &ours);
      TOY_OK(&subject.toy, dgp_factor(subject.toy.context, &subject.gp->data, hyper, &ours));
      TOY_OK(&subject.toy, dgp_decompose(subject.toy.context, ours.covariance, spectrum));
      assert_int_equal(ours.spectrum->clipped, spectrum->clipped);
      clipped += spectrum->clipped > 0;
      if (spectrum->clipped > 0)
        continue;
      memcpy(factor, ours.covariance, sizeof factor);
      for (size_t i = 0; i < COUNT; i++)
        factor[i * COUNT + i] += hyper[NOISE];
      TOY_OK(&subject.toy, dgp_factorise(subject.toy.context, COUNT, ours.covariance, spectrum, factor));
      for (size_t j = 0; j < COUNT; j++)
        assert_memory_equal(ours.factor + j * COUNT + j, factor + j * COUNT + j, (COUNT - j) * sizeof(double));
      spared++;
    }
    dgp_spectrum_destroy(spectrum);
    dgp_workspace_destroy(&ours);
    close_subject(&subject);
  }
  assert_true(spared > DRAWS / 10 && clipped >= DRAWS);
}

/* Observations of the hyperparameters' fit, a random part: the first ones, which are all alike, would say that there is
   nothing but noise. All others are in the model. */
static void test_part_of_the_observations(void **state) {
  enum { COUNT = 60, PART = 30 };
  double found[3][HYPERS], mean[COUNT], deviation[COUNT];
  (void)state;
  for (int which = 0; which < 3; which++) {
    static const int64_t rows[] = {0, COUNT, PART};
    struct subject subject;
    open_subject(&subject, NULL);
    surrogate_destroy_gp_otmann(subject.gp);
    subject.config.fit_rows = rows[which];
    make(&subject);
    for (size_t i = 0; i < PART; i++)
      subject.values[i] = subject.values[0];
    fit(&subject, COUNT, NULL);
    memcpy(found[which], subject.gp->posteriors->hyper, sizeof found[which]);
    predict(&subject, 0, COUNT, mean, deviation);
    assert_int_equal(subject.gp->posteriors->count, COUNT);
    double spread = 0;
    for (size_t i = 0; i < PART; i++)
      spread += fabs(mean[i] - mean[PART + i]) / PART;
    assert_true(spread > 0.05); /* a model of the first ones alone is constant */
    close_subject(&subject);
  }
  assert_memory_equal(found[0], found[1], sizeof found[0]);
  assert_memory_not_equal(found[0], found[2], sizeof found[0]);
}

/* No draw from the ranges is more likely than the fitted hyperparameters, which lie within the ranges: with few
   observations, and with so many that a part of them is looked at first. */
static void check_likeliest(size_t count, int draws) {
  struct subject subject;
  struct dgp_workspace workspace;
  struct tutti_random random;
  double hyper[HYPERS], likelihood;
  open_subject(&subject, NULL);
  const tutti_candidate **points = calloc(count, sizeof *points);
  double *values = calloc(count, sizeof *values);
  tutti_random_init(&random, 1, "repeats", 0);
  for (size_t i = 0; i < count; i++) {
    points[i] = subject.candidates[i % subject.count];
    values[i] = subject.values[i % subject.count] + (i < subject.count ? 0 : 0.02 * tutti_random_normal(&random));
  }
  const struct tutti_points all = {sizeof all, count, 0, NULL, points};
  TOY_OK(&subject.toy, surrogate_fit_gp_otmann(subject.gp, subject.toy.context, &all, values, NULL));
  tutti_random_init(&random, 1, "draws", 0);
  TOY_OK(&subject.toy, dgp_workspace_create(subject.toy.context, &subject.gp->data, count, &workspace));
  for (size_t i = 0; i < HYPERS; i++) {
    const double *range = subject.gp->ranges[i];
    assert_true(subject.gp->posteriors->hyper[i] >= range[0] * (1 - 1e-12));
    assert_true(subject.gp->posteriors->hyper[i] <= range[1] * (1 + 1e-12));
  }
  for (int draw = 0; draw < draws; draw++) {
    for (size_t i = 0; i < HYPERS; i++) {
      const double *range = subject.gp->ranges[i];
      hyper[i] = range[0] * pow(range[1] / range[0], tutti_random_uniform(&random));
    }
    TOY_OK(&subject.toy, dgp_likelihood(subject.toy.context, &subject.gp->data, &subject.gp->posteriors->units, hyper,
                                        &workspace, &likelihood, NULL));
    assert_true(likelihood <= subject.gp->likelihood + 1e-9);
  }
  TOY_OK(&subject.toy, dgp_likelihood(subject.toy.context, &subject.gp->data, &subject.gp->posteriors->units,
                                      subject.gp->posteriors->hyper, &workspace, &likelihood, NULL));
  assert_near(subject.gp->likelihood, likelihood, 1e-9);
  dgp_workspace_destroy(&workspace);
  close_subject(&subject);
  free(points);
  free(values);
}

static void test_fit_finds_the_likeliest(void **state) {
  (void)state;
  check_likeliest(30, 300);
  check_likeliest(140, 60);
}

static void test_learns(void **state) {
  enum { COUNT = 48 };
  struct subject subject;
  double mean[COUNT], deviation[COUNT], error = 0, spread = 0, middle = 0, inside = 0;
  (void)state;
  open_subject(&subject, NULL);
  fit(&subject, COUNT, NULL);
  predict(&subject, COUNT, COUNT, mean, deviation);
  for (size_t i = 0; i < COUNT; i++)
    middle += subject.values[COUNT + i] / COUNT;
  for (size_t i = 0; i < COUNT; i++) {
    double off = mean[i] - subject.values[COUNT + i];
    error += off * off;
    spread += (subject.values[COUNT + i] - middle) * (subject.values[COUNT + i] - middle);
    inside += fabs(off) < 2 * deviation[i];
  }
  assert_true(error < 0.6 * spread);
  assert_true(inside > 0.7 * COUNT);
  close_subject(&subject);
}

/* The deviation as if the pending candidates had been observed, and the mean as if not. */
static void test_hallucination(void **state) {
  enum { COUNT = 20, PENDING = 3, PROBES = 20, FIRST = COUNT + 1 };
  static struct plain plain;
  struct subject subject;
  double before[2][PROBES], during[2][PROBES], after[2][PROBES];
  static square given, projected, projector;
  (void)state;
  open_subject(&subject, plain_hyper);
  fit(&subject, COUNT, NULL);
  plain_fit(&plain, COUNT, subject.candidates, subject.values, NULL, plain_hyper);
  predict(&subject, FIRST, PROBES, before[0], before[1]);
  struct tutti_points pending = points_of(&subject, COUNT, 2), other = points_of(&subject, COUNT + 2, 1);
  TOY_OK(&subject.toy, surrogate_hallucinate_gp_otmann(subject.gp, subject.toy.context, &pending));
  TOY_OK(&subject.toy, surrogate_hallucinate_gp_otmann(subject.gp, subject.toy.context, &other));
  predict(&subject, FIRST, PROBES, during[0], during[1]);
  tutti_candidate *const *first = subject.candidates + COUNT;
  for (size_t i = 0; i < PENDING; i++)
    for (size_t j = 0; j < PENDING; j++)
      given[i][j] = plain_given(&plain, first[i], first[j]);
  project(PENDING, given, projected, projector);
  for (size_t i = 0; i < PENDING; i++)
    projected[i][i] += plain_hyper[NOISE];
  for (size_t p = 0; p < PROBES; p++) {
    const tutti_candidate *at = subject.candidates[FIRST + p];
    double cross[PENDING], solved[MOST], variance = plain_given(&plain, at, at);
    for (size_t i = 0; i < PENDING; i++)
      cross[i] = solved[i] = plain_given(&plain, first[i], at);
    eliminate(PENDING, projected, solved);
    for (size_t i = 0; i < PENDING; i++)
      variance -= cross[i] * solved[i];
    assert_near(during[1][p], plain.scale * sqrt(fmax(variance, 0)), 1e-6);
    assert_true(during[0][p] == before[0][p] && during[1][p] <= before[1][p]);
  }
  surrogate_release_gp_otmann(subject.gp);
  predict(&subject, FIRST, PROBES, after[0], after[1]);
  assert_memory_equal(before, after, sizeof(before));
  close_subject(&subject);
}

/* Fitted again, to as many other values, it is as if there had been no fit before. */
static void test_fitted_again(void **state) {
  enum { COUNT = 20, PROBES = 20, FIRST = COUNT + 1 };
  struct subject subject, fresh;
  double before[2][PROBES], again[2][PROBES], alone[2][PROBES];
  (void)state;
  open_subject(&subject, plain_hyper);
  open_subject(&fresh, plain_hyper);
  fit(&subject, COUNT, NULL);
  predict(&subject, FIRST, PROBES, before[0], before[1]);
  for (size_t i = 0; i < COUNT; i++)
    subject.values[i] = fresh.values[i] = subject.values[i] * subject.values[i] + (double)(i % 3);
  fit(&subject, COUNT, NULL);
  predict(&subject, FIRST, PROBES, again[0], again[1]);
  fit(&fresh, COUNT, NULL);
  predict(&fresh, FIRST, PROBES, alone[0], alone[1]);
  assert_memory_equal(again, alone, sizeof alone);
  assert_memory_not_equal(again, before, sizeof before);
  close_subject(&subject);
  close_subject(&fresh);
}

/* Twice the same candidate is pending, which was observed, and there is no noise: no pivot is left, and none is
   missed. */
static void test_pending_twice(void **state) {
  double hyper[HYPERS], mean[2], deviation[2];
  struct subject subject;
  (void)state;
  memcpy(hyper, plain_hyper, sizeof(hyper));
  hyper[NOISE] = 0;
  open_subject(&subject, hyper);
  fit(&subject, 10, NULL);
  tutti_candidate_unref(subject.candidates[11]);
  subject.candidates[11] = tutti_candidate_ref(subject.candidates[10]);
  tutti_candidate_unref(subject.candidates[12]);
  subject.candidates[12] = tutti_candidate_ref(subject.candidates[3]);
  struct tutti_points pending = points_of(&subject, 10, 3);
  TOY_OK(&subject.toy, surrogate_hallucinate_gp_otmann(subject.gp, subject.toy.context, &pending));
  predict(&subject, 11, 2, mean, deviation);
  assert_true(deviation[0] < 1e-3 && isfinite(deviation[1]));
  close_subject(&subject);
}

/* How often distances are measured: once for each pair of different words observed. */
static void test_distances_are_kept(void **state) {
  enum { COUNT = 20 };
  struct subject subject;
  double mean[COUNT], deviation[COUNT];
  (void)state;
  open_subject(&subject, plain_hyper);
  for (size_t i = 1; i < COUNT + 2; i++) /* different words */
    for (size_t j = 0; j < i; j++)
      assert_false(tutti_genotype_equal(tutti_candidate_genotype(subject.candidates[i]),
                                        tutti_candidate_genotype(subject.candidates[j])));
  size_t before = words_measured();
  fit(&subject, COUNT, NULL);
  assert_int_equal(words_measured() - before, COUNT * (COUNT - 1) / 2);
  fit(&subject, COUNT, NULL);
  fit(&subject, COUNT + 1, NULL);
  assert_int_equal(words_measured() - before, COUNT * (COUNT + 1) / 2);
  before = words_measured();
  predict(&subject, 0, COUNT, mean, deviation);
  assert_int_equal(words_measured(), before);
  predict(&subject, COUNT + 1, 1, mean, deviation);
  assert_int_equal(words_measured() - before, COUNT + 1);
  /* A sequence that begins in the same way: the common beginning is kept. */
  tutti_candidate *other = subject.candidates[10];
  subject.candidates[10] = subject.candidates[COUNT + 1];
  before = words_measured();
  fit(&subject, 12, NULL);
  assert_int_equal(words_measured() - before, 10 + 11);
  subject.candidates[COUNT + 1] = other;
  close_subject(&subject);
}

/* A fit to more observations has draws of its own: else all that a search fits would begin at the same few places. */
static void test_every_fit_has_its_own_draws(void **state) {
  enum { COUNT = 20, FITS = 6 };
  double hyper[FITS][HYPERS];
  struct subject subject;
  (void)state;
  open_subject(&subject, NULL);
  subject.config.evaluations = 0; /* the likeliest draw is taken as it is */
  for (size_t i = 0; i < FITS; i++) {
    fit(&subject, COUNT + i, NULL);
    memcpy(hyper[i], subject.gp->posteriors[0].hyper, sizeof hyper[i]);
    for (size_t before = 0; before < i; before++)
      assert_memory_not_equal(hyper[before], hyper[i], sizeof hyper[i]);
  }
  close_subject(&subject);
}

/* Whatever the calls, and predictions and pending points between them: the same bits. */
static void test_history_alone_counts(void **state) {
  enum { COUNT = 24, FIRST = 8, PROBES = 10 };
  struct subject once, bit_by_bit;
  double expected[2][PROBES], found[2][PROBES], scratch[2][PROBES];
  (void)state;
  for (int64_t refit = 1; refit < 8; refit += 6) {
    open_subject(&once, NULL);
    open_subject(&bit_by_bit, NULL);
    once.config.refit = bit_by_bit.config.refit = refit;
    fit(&once, FIRST, NULL);
    fit(&bit_by_bit, FIRST, NULL);
    struct tutti_points rest = points_of(&once, FIRST, COUNT - FIRST);
    TOY_OK(&once.toy, surrogate_add_gp_otmann(once.gp, once.toy.context, &rest, once.values + FIRST, NULL));
    for (size_t i = FIRST; i < COUNT; i++) {
      struct tutti_points one = points_of(&bit_by_bit, i, 1), pending = points_of(&bit_by_bit, i + 2, 2);
      TOY_OK(&bit_by_bit.toy,
             surrogate_add_gp_otmann(bit_by_bit.gp, bit_by_bit.toy.context, &one, bit_by_bit.values + i, NULL));
      if (i % 5 == 2)
        TOY_OK(&bit_by_bit.toy, surrogate_hallucinate_gp_otmann(bit_by_bit.gp, bit_by_bit.toy.context, &pending));
      if (i % 3 == 1)
        predict(&bit_by_bit, COUNT, PROBES, scratch[0], scratch[1]);
      surrogate_release_gp_otmann(bit_by_bit.gp);
    }
    predict(&once, COUNT, PROBES, expected[0], expected[1]);
    predict(&bit_by_bit, COUNT, PROBES, found[0], found[1]);
    assert_memory_equal(expected, found, sizeof(expected));
    close_subject(&once);
    close_subject(&bit_by_bit);
  }
}

static void assert_says(const struct toy *toy, const char *text) {
  if (!strstr(tutti_error_message(toy->context), text)) {
    print_error("expected \"%s\" in: %s\n", text, tutti_error_message(toy->context));
    fail();
  }
}

static enum tutti_status refuse(struct subject *subject) {
  struct tutti_surrogate_setup setup = {.size = sizeof(setup), .seed = 3, .scope = subject->toy.scope};
  void *instance = NULL;
  enum tutti_status status = surrogate_create_gp_otmann(subject->toy.context, &subject->config, &setup, &instance);
  assert_null(instance);
  return status;
}

/* A single term of the two: the plain model with a variance of 0 for the other. */
static void test_terms(void **state) {
  enum { COUNT = 20 };
  static struct plain plain;
  static const int64_t numbers[] = {1, 2, 3};
  double mean[MOST], deviation[MOST];
  (void)state;
  for (size_t term = 0; term < 2; term++) {
    struct subject subject;
    double hyper[HYPERS];
    memcpy(hyper, plain_hyper, sizeof(hyper));
    hyper[1 - term] = 0;
    open_subject(&subject, plain_hyper);
    surrogate_destroy_gp_otmann(subject.gp);
    subject.config.terms = (struct tutti_integers){1, &numbers[term]};
    make(&subject);
    fit(&subject, COUNT, NULL);
    plain_fit(&plain, COUNT, subject.candidates, subject.values, NULL, hyper);
    predict(&subject, COUNT - 10, 20, mean, deviation);
    for (size_t i = 0; i < 20; i++)
      assert_near(mean[i], plain_mean(&plain, subject.candidates[COUNT - 10 + i]), 1e-8);
    close_subject(&subject);
  }
  struct subject subject;
  open_subject(&subject, NULL);
  subject.config.terms = (struct tutti_integers){3, numbers};
  assert_int_equal(refuse(&subject), TUTTI_ERROR_USAGE);
  assert_says(&subject.toy, "terms: numbers of the 2 groups of powers were expected, 3 was found");
  subject.config.terms = (struct tutti_integers){1, numbers};
  surrogate_destroy_gp_otmann(subject.gp);
  make(&subject);
  fit(&subject, COUNT, NULL); /* what has no term is not searched */
  assert_true(subject.gp->posteriors->hyper[1] == 0 && subject.gp->posteriors->hyper[0] > 0);
  close_subject(&subject);
}

static double likelihood_of(struct subject *subject, size_t model, size_t count) {
  struct dgp_workspace workspace;
  double likelihood;
  const struct dgp_posterior *posterior = &subject->gp->posteriors[model];
  TOY_OK(&subject->toy, dgp_workspace_create(subject->toy.context, &subject->gp->data, count, &workspace));
  TOY_OK(&subject->toy, dgp_likelihood(subject->toy.context, &subject->gp->data, &posterior->units, posterior->hyper,
                                       &workspace, &likelihood, NULL));
  dgp_workspace_destroy(&workspace);
  return likelihood;
}

/* Several optima begin with the one that there is alone. Sampled models are likely ones and not all the same. The
   mixture has the moments of its components, and pending candidates lower the deviation of each. */
static void test_mixtures(void **state) {
  enum { COUNT = 12, MODELS = 7, PROBES = 9 };
  (void)state;
  for (int inference = DGP_OPTIMA; inference <= DGP_SAMPLING; inference++) {
    struct subject subject, alone;
    double means[MODELS][PROBES], deviations[MODELS][PROBES], mean[PROBES], deviation[PROBES];
    double during[MODELS][PROBES], lower[MODELS][PROBES];
    size_t different = 0;
    open_subject(&alone, NULL);
    fit(&alone, COUNT, NULL);
    open_subject(&subject, NULL);
    surrogate_destroy_gp_otmann(subject.gp);
    subject.config.inference = inference;
    subject.config.samples = MODELS;
    subject.config.draws = 1000;
    alone.config.draws = 1000;
    make(&subject);
    fit(&alone, COUNT, NULL);
    fit(&subject, COUNT, NULL);
    assert_int_equal(surrogate_components_gp_otmann(subject.gp), MODELS);
    double most = alone.gp->likelihood;
    for (size_t m = 0; m < MODELS; m++) {
      double likelihood = likelihood_of(&subject, m, COUNT);
      assert_true(likelihood <= subject.gp->likelihood + 1e-9 && likelihood > most - 15);
      different += memcmp(subject.gp->posteriors[m].hyper, subject.gp->posteriors->hyper, HYPERS * sizeof(double)) != 0;
    }
    assert_true(different > 0);
    if (inference == DGP_OPTIMA)
      assert_memory_equal(subject.gp->posteriors->hyper, alone.gp->posteriors->hyper, HYPERS * sizeof(double));
    struct tutti_points points = points_of(&subject, COUNT + 2, PROBES), pending = points_of(&subject, COUNT, 2);
    tutti_context *context = subject.toy.context;
    TOY_OK(&subject.toy, surrogate_predict_components_gp_otmann(subject.gp, context, &points, *means, *deviations));
    predict(&subject, COUNT + 2, PROBES, mean, deviation);
    TOY_OK(&subject.toy, surrogate_hallucinate_gp_otmann(subject.gp, context, &pending));
    TOY_OK(&subject.toy, surrogate_predict_components_gp_otmann(subject.gp, context, &points, *during, *lower));
    for (size_t i = 0; i < PROBES; i++) {
      double sum = 0, squares = 0;
      for (size_t m = 0; m < MODELS; m++) {
        sum += means[m][i] / MODELS;
        squares += (means[m][i] * means[m][i] + deviations[m][i] * deviations[m][i]) / MODELS;
        assert_true(during[m][i] == means[m][i] && lower[m][i] <= deviations[m][i]);
      }
      assert_near(mean[i], sum, 1e-12);
      assert_near(deviation[i], sqrt(squares - sum * sum), 1e-9);
    }
    close_subject(&subject);
    close_subject(&alone);
  }
}

/* Without the projection, an indefinite matrix is an error that shows its eigenvalues; with it, no noise is needed. */
static void test_indefinite(void **state) {
  double hyper[HYPERS];
  struct subject subject;
  (void)state;
  memcpy(hyper, plain_hyper, sizeof(hyper));
  hyper[NOISE] = 0;
  open_subject(&subject, hyper);
  fit(&subject, 24, NULL);
  surrogate_destroy_gp_otmann(subject.gp);
  subject.config.projection = DGP_PROJECT_NOTHING;
  make(&subject);
  struct tutti_points points = points_of(&subject, 0, 24);
  assert_int_equal(surrogate_fit_gp_otmann(subject.gp, subject.toy.context, &points, subject.values, NULL),
                   TUTTI_ERROR_NUMERIC);
  assert_says(&subject.toy, "(24 x 24) is not positive definite");
  assert_says(&subject.toy, "of its eigenvalues are negative: -0.");
  assert_says(&subject.toy, ", ..., ");
  assert_says(&subject.toy, "projection = yes");
  close_subject(&subject);
}

static void test_bad_parameters(void **state) {
  static const double three[] = {1, 1, 2}, falling[] = {2, 1}, zero[] = {0, 1};
  struct subject subject;
  (void)state;
  open_subject(&subject, NULL);
  const struct gp_otmann_config sound = subject.config;
  subject.config.powers = (struct tutti_reals){3, three};
  assert_int_equal(refuse(&subject), TUTTI_ERROR_USAGE);
  assert_says(&subject.toy, "3 groups of equal size were asked for, and space words gives 4 measures");
  subject.config = sound;
  subject.config.scales.count = 3;
  assert_int_equal(refuse(&subject), TUTTI_ERROR_USAGE);
  assert_says(&subject.toy, "scales: least and greatest factor of each of the 2 groups");
  subject.config = sound;
  subject.config.alpha = (struct tutti_reals){2, falling};
  assert_int_equal(refuse(&subject), TUTTI_ERROR_USAGE);
  assert_says(&subject.toy, "alpha: a range");
  subject.config = sound;
  subject.config.noise = (struct tutti_reals){2, zero};
  assert_int_equal(refuse(&subject), TUTTI_ERROR_USAGE);
  assert_says(&subject.toy, "noise: a range from above 0");
  subject.config = sound;
  struct tutti_points vectors = {.size = sizeof(vectors), .count = 1, .vectors = three};
  assert_int_equal(surrogate_fit_gp_otmann(subject.gp, subject.toy.context, &vectors, three, NULL),
                   TUTTI_ERROR_INTERNAL);
  close_subject(&subject);
}

static void test_cancelled(void **state) {
  struct subject subject;
  (void)state;
  open_subject(&subject, NULL);
  struct tutti_points points = points_of(&subject, 0, 10);
  tutti_cancel(subject.toy.context);
  assert_int_equal(surrogate_fit_gp_otmann(subject.gp, subject.toy.context, &points, subject.values, NULL),
                   TUTTI_ERROR_CANCELLED);
  close_subject(&subject);
}

static void test_describes_itself(void **state) {
  struct subject subject;
  char *text = NULL;
  (void)state;
  open_subject(&subject, plain_hyper);
  for (size_t i = 0; i < subject.count; i++)
    subject.values[i] *= 10;
  fit(&subject, 21, NULL);
  TOY_OK(&subject.toy, surrogate_describe_gp_otmann(subject.gp, subject.toy.context, &text));
  json_t *json = json_loads(text, 0, NULL);
  double unit = subject.gp->posteriors->units.scale * subject.gp->posteriors->units.scale;
  assert_near(json_real_value(json_object_get(json, "noise")), plain_hyper[NOISE] * unit, 1e-12);
  assert_near(json_real_value(json_array_get(json_object_get(json, "alpha"), 1)), plain_hyper[1] * unit, 1e-12);
  assert_near(json_real_value(json_array_get(json_object_get(json, "beta"), 3)), plain_hyper[5], 1e-12);
  assert_int_equal(json_integer_value(json_object_get(json, "observations")), 21);
  assert_true(json_integer_value(json_object_get(json, "negative_eigenvalues")) > 0);
  json_decref(json);
  tutti_free(text);
  close_subject(&subject);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_predictions),
      cmocka_unit_test(test_likelihood),
      cmocka_unit_test(test_eigenvalues_are_spared),
      cmocka_unit_test(test_part_of_the_observations),
      cmocka_unit_test(test_fit_finds_the_likeliest),
      cmocka_unit_test(test_learns),
      cmocka_unit_test(test_hallucination),
      cmocka_unit_test(test_fitted_again),
      cmocka_unit_test(test_pending_twice),
      cmocka_unit_test(test_distances_are_kept),
      cmocka_unit_test(test_every_fit_has_its_own_draws),
      cmocka_unit_test(test_history_alone_counts),
      cmocka_unit_test(test_terms),
      cmocka_unit_test(test_mixtures),
      cmocka_unit_test(test_indefinite),
      cmocka_unit_test(test_bad_parameters),
      cmocka_unit_test(test_cancelled),
      cmocka_unit_test(test_describes_itself),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
