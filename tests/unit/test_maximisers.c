/* Maximisers sample, sobol-lbfgs and direct on objectives whose maximum is known. */
#include "golden.h"
#include "toy.h"
#include "words.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Worth = -Σ (vector - peak)², in the vectors of the joint domain. */
struct hill {
  const double *peak;
  const tutti_domain *joint; /* not NULL: check_choices */
  size_t width, evaluations, gradients, wanted;
  bool bounded; /* evaluate_best is there */
  enum tutti_status fails;
};

static enum tutti_status evaluate_hill(void *argument, tutti_context *context, const struct tutti_points *points,
                                       double *worth) {
  struct hill *hill = argument;
  assert_int_equal(points->dimension, hill->width);
  hill->evaluations += points->count;
  if (hill->fails)
    return TUTTI_FAIL(context, hill->fails, "the hill fails");
  for (size_t i = 0; i < points->count; i++) {
    assert_non_null(points->candidates[i]);
    worth[i] = 0;
    for (size_t k = 0; k < hill->width; k++) {
      double x = points->vectors[i * hill->width + k] - hill->peak[k];
      worth[i] -= x * x;
    }
  }
  return TUTTI_OK;
}

/* The worth of all but the `wanted` best stays unknown. */
static enum tutti_status evaluate_best_hill(void *argument, tutti_context *context, const struct tutti_points *points,
                                            size_t wanted, double *worth) {
  struct hill *hill = argument;
  double *all = malloc(points->count * sizeof(double));
  hill->wanted = wanted;
  enum tutti_status status = evaluate_hill(argument, context, points, all);
  for (size_t i = 0; i < points->count; i++) {
    size_t better = 0;
    for (size_t j = 0; j < points->count; j++)
      better += all[j] > all[i] || (all[j] == all[i] && j < i);
    worth[i] = better < wanted ? all[i] : NAN;
  }
  free(all);
  return status;
}

/* A choice is one of its values, never something between two. */
static void check_choices(const tutti_domain *joint, const double *vector) {
  for (size_t k = 0; k < tutti_domain_width(joint); k++) {
    struct tutti_domain_column_facts about = {.size = sizeof about};
    tutti_domain_column(joint, k, &about);
    assert_true(about.type != TUTTI_DIMENSION_CATEGORICAL || vector[k] == 0 || vector[k] == 1);
  }
}

static enum tutti_status gradient_hill(void *argument, tutti_context *context, const double *vector, double *worth,
                                       double *gradient) {
  struct hill *hill = argument;
  (void)context;
  hill->gradients++;
  if (hill->joint)
    check_choices(hill->joint, vector);
  *worth = 0;
  for (size_t k = 0; k < hill->width; k++) {
    double x = vector[k] - hill->peak[k];
    *worth -= x * x;
    gradient[k] = -2 * x;
  }
  return TUTTI_OK;
}

static tutti_maximiser *make(struct toy *toy, const char *plugin) {
  struct tutti_maximiser_setup setup = {.size = sizeof(setup), .host = toy->host, .seed = 1, .scope = toy->scope};
  tutti_maximiser *maximiser;
  TOY_OK(toy, tutti_maximiser_create(toy->context, toy->host, "maximiser", &setup, &maximiser));
  assert_string_equal(tutti_maximiser_descriptor(maximiser)->name, plugin);
  return maximiser;
}

/* The candidate of the largest worth found, as hyperparameters in out[]; its worth is returned. */
static double climb(struct toy *toy, const char *plugin, struct hill *hill, bool slopes, size_t known_count,
                    const tutti_candidate *const *known, const double *losses, tutti_candidate **candidate) {
  struct tutti_objective objective = {.size = sizeof(objective),
                                      .argument = hill,
                                      .evaluate = evaluate_hill,
                                      .gradient = slopes ? gradient_hill : NULL,
                                      .evaluate_best = hill->bounded ? evaluate_best_hill : NULL,
                                      .known_count = known_count,
                                      .known = known,
                                      .known_losses = losses,
                                      .step = 7,
                                      .trial_seed = 99};
  tutti_maximiser *maximiser = make(toy, plugin);
  double worth;
  TOY_OK(toy, tutti_maximiser_maximise(toy->context, maximiser, &objective, candidate, &worth));
  assert_true(tutti_candidate_seed(*candidate) == 99);
  tutti_maximiser_destroy(maximiser);
  return worth;
}

/* Two reals, one of them logarithmic: with gradients and without, refined far beyond what 64 points give. */
static void test_refinement(void **state) {
  const double peak[] = {0.5, 0.3123, 0.7541};
  (void)state;
  for (int slopes = 0; slopes < 2; slopes++) {
    struct toy toy;
    struct hill hill = {.peak = peak, .width = 3};
    tutti_candidate *candidate;
    toy_create(&toy, 1, 1, 1, "a = uniform 0 10\nb = log-uniform 1e-4 1");
    toy_put(&toy, "maximiser", TUTTI_KIND_MAXIMISER, "sobol-lbfgs");
    toy_set(&toy, "maximiser", "points", "64");
    toy_set(&toy, "maximiser", "starts", "4");
    assert_true(climb(&toy, "sobol-lbfgs", &hill, slopes, 0, NULL, NULL, &candidate) > -1e-8);
    const double *x = tutti_candidate_hyperparameters(candidate);
    assert_close(x[0], 3.123, 0, 1e-3);
    assert_close(log10(x[1]), -4 + 4 * 0.7541, 0, 1e-3);
    assert_true(slopes == (hill.gradients > 0));
    assert_true(hill.evaluations < 1000);
    tutti_candidate_unref(candidate);
    toy_destroy(&toy);
  }
}

/* The same candidate, whether all points are evaluated or only as many as matter. */
static void test_only_the_best(void **state) {
  static const struct {
    const char *plugin, *parameter, *text;
    size_t wanted;
  } cases[] = {{"sample", "samples", "200", 1}, {"sobol-lbfgs", "starts", "4", 4}, {"sobol-lbfgs", "starts", "0", 1}};
  const double peak[] = {0.5, 0.3123, 0.7541};
  (void)state;
  for (size_t c = 0; c < 3; c++) {
    tutti_candidate *candidates[2];
    double worth[2];
    struct toy toy;
    toy_create(&toy, 1, 1, 1, "a = uniform 0 10\nb = log-uniform 1e-4 1");
    toy_put(&toy, "maximiser", TUTTI_KIND_MAXIMISER, cases[c].plugin);
    toy_set(&toy, "maximiser", cases[c].parameter, cases[c].text);
    for (int bounded = 0; bounded < 2; bounded++) {
      struct hill hill = {.peak = peak, .width = 3, .bounded = bounded};
      worth[bounded] = climb(&toy, cases[c].plugin, &hill, true, 0, NULL, NULL, &candidates[bounded]);
      assert_int_equal(hill.wanted, bounded ? cases[c].wanted : 0);
    }
    assert_true(worth[0] == worth[1] && tutti_candidate_equal(candidates[0], candidates[1]));
    tutti_candidate_unref(candidates[0]);
    tutti_candidate_unref(candidates[1]);
    toy_destroy(&toy);
  }
}

/* Integers come back whole and in range, choices are tried, inactive dimensions stay inactive. */
static void test_mixed(void **state) {
  /* depth of 9; kind one-hot a b c; n 1..5 if kind = b; x */
  const double peak[] = {0.63, 0.1, 0.8, 0.2, 0.74, 0.21};
  (void)state;
  for (int slopes = 0; slopes < 2; slopes++) {
    struct toy toy;
    struct hill hill = {.peak = peak, .width = 6};
    tutti_candidate *candidate;
    toy_create(&toy, 1, 1, 9, "kind = choice a b c\nn = integer 1 5 if kind = b\nx = uniform 0 1");
    hill.joint = tutti_scope_joint(toy.scope);
    toy_put(&toy, "maximiser", TUTTI_KIND_MAXIMISER, "sobol-lbfgs");
    toy_set(&toy, "maximiser", "points", "300");
    /* The nearest choice: b. The nearest integers: depth 6 (.625), n 4 (.75). */
    double best = -(0.1 * 0.1 + 0.2 * 0.2 + 0.2 * 0.2 + 0.005 * 0.005 + 0.01 * 0.01);
    assert_close(climb(&toy, "sobol-lbfgs", &hill, slopes, 0, NULL, NULL, &candidate), best, 0, 1e-7);
    const double *x = tutti_candidate_hyperparameters(candidate);
    assert_true(tutti_genotype_point(tutti_candidate_genotype(candidate))[0] == 6);
    assert_true(x[0] == 1 && x[1] == 4);
    assert_close(x[2], 0.21, 0, 1e-3);
    tutti_candidate_unref(candidate);
    toy_destroy(&toy);
  }
}

/* Known candidates are not proposed: of 6 candidates, the best new one wins. If all are known: unsupported. */
static void test_known_candidates(void **state) {
  static const char *const plugins[] = {"sample", "sobol-lbfgs", "direct", "ea"};
  const double peak[] = {1};
  (void)state;
  for (int which = 0; which < 4; which++) {
    struct toy toy;
    struct hill hill = {.peak = peak, .width = 1};
    tutti_candidate *known[6], *candidate = NULL;
    double losses[6], worth;
    toy_create(&toy, 1, 1, 6, NULL);
    toy_put(&toy, "maximiser", TUTTI_KIND_MAXIMISER, plugins[which]);
    for (int i = 0; i < 6; i++) {
      double depth = 6 - i;
      losses[i] = i % 2 ? NAN : i;
      TOY_OK(&toy, tutti_scope_from_point(toy.context, toy.scope, &depth, 1, &known[i]));
    }
    for (size_t count = 0; count < 6; count++) {
      climb(&toy, plugins[which], &hill, false, count, (const tutti_candidate *const *)known, losses, &candidate);
      assert_true(tutti_candidate_equal(candidate, known[count]));
      tutti_candidate_unref(candidate);
    }
    tutti_maximiser *maximiser = make(&toy, plugins[which]);
    struct tutti_objective objective = {.size = sizeof(objective),
                                        .argument = &hill,
                                        .evaluate = evaluate_hill,
                                        .known_count = 6,
                                        .known = (const tutti_candidate *const *)known,
                                        .known_losses = losses};
    assert_int_equal(tutti_maximiser_maximise(toy.context, maximiser, &objective, &candidate, &worth),
                     TUTTI_ERROR_UNSUPPORTED);
    assert_null(candidate);
    tutti_maximiser_destroy(maximiser);
    for (int i = 0; i < 6; i++)
      tutti_candidate_unref(known[i]);
    toy_destroy(&toy);
  }
}

/* Another step has other samples, and the same one the same. */
static void test_a_step_has_samples_of_its_own(void **state) {
  const double peak[] = {0.5, 0.3123};
  tutti_candidate *candidates[3];
  struct toy toy;
  struct hill hill = {.peak = peak, .width = 2};
  (void)state;
  toy_create(&toy, 1, 1, 1, "a = uniform 0 10");
  toy_put(&toy, "maximiser", TUTTI_KIND_MAXIMISER, "sample");
  tutti_maximiser *maximiser = make(&toy, "sample");
  for (uint64_t i = 0; i < 3; i++) {
    struct tutti_objective objective = {
        .size = sizeof(objective), .argument = &hill, .evaluate = evaluate_hill, .step = 7 + i / 2};
    double worth;
    TOY_OK(&toy, tutti_maximiser_maximise(toy.context, maximiser, &objective, &candidates[i], &worth));
  }
  assert_true(tutti_candidate_equal(candidates[0], candidates[1]));
  assert_false(tutti_candidate_equal(candidates[0], candidates[2]));
  for (size_t i = 0; i < 3; i++)
    tutti_candidate_unref(candidates[i]);
  tutti_maximiser_destroy(maximiser);
  toy_destroy(&toy);
}

static enum tutti_status evaluate_words(void *argument, tutti_context *context, const struct tutti_points *points,
                                        double *worth) {
  (void)context;
  for (size_t i = 0; i < points->count; i++) {
    double distances[WORDS_MEASURES];
    words_distances(argument, words_letters(tutti_candidate_genotype(points->candidates[i])), distances);
    worth[i] = -distances[0];
  }
  return TUTTI_OK;
}

/* In a space of graphs a mutant of the incumbent is found that no sample would be. */
static void test_mutants_of_the_incumbent(void **state) {
  char incumbent[] = "abcdeabc";
  double losses[] = {1}, worth;
  tutti_genotype *genotype;
  tutti_candidate *known, *candidate;
  struct toy toy;
  (void)state;
  toy_create_in(&toy, 1, 1, &words_descriptor, NULL);
  toy_put(&toy, "maximiser", TUTTI_KIND_MAXIMISER, "sample");
  toy_set(&toy, "maximiser", "samples", "1");
  toy_set(&toy, "maximiser", "incumbents", "1");
  TOY_OK(&toy, tutti_space_parse(toy.context, toy.space, "{\"word\": \"abcdeabc\"}", &genotype));
  TOY_OK(&toy, tutti_scope_candidate(toy.context, toy.scope, genotype, NULL, 1, &known));
  struct tutti_objective objective = {.size = sizeof(objective),
                                      .argument = incumbent,
                                      .evaluate = evaluate_words,
                                      .known_count = 1,
                                      .known = (const tutti_candidate *const *)&known,
                                      .known_losses = losses};
  tutti_maximiser *maximiser = make(&toy, "sample");
  TOY_OK(&toy, tutti_maximiser_maximise(toy.context, maximiser, &objective, &candidate, &worth));
  assert_close(worth, -100, 0, 0); /* one edit */
  tutti_maximiser_destroy(maximiser);
  tutti_candidate_unref(candidate);
  tutti_candidate_unref(known);
  tutti_genotype_unref(genotype);
  toy_destroy(&toy);
}

/* A needle beside the incumbent, in a space of a million: found among its neighbours, or from points near it. */
static void test_near_the_incumbent(void **state) {
  static const char *const plugins[] = {"sample", "sobol-lbfgs"};
  (void)state;
  for (int which = 0; which < 2; which++) {
    struct toy toy;
    double depth = 500000, losses[2] = {3, 1};
    const double peak[] = {500000.0 / 999999};
    struct hill hill = {.peak = peak, .width = 1};
    tutti_candidate *known[2], *candidate;
    toy_create(&toy, 1, 1, 1000000, NULL);
    toy_put(&toy, "maximiser", TUTTI_KIND_MAXIMISER, plugins[which]);
    toy_set(&toy, "maximiser", which ? "points" : "samples", "10");
    if (which)
      toy_set(&toy, "maximiser", "near_deviation", "2e-6");
    if (which)
      toy_set(&toy, "maximiser", "starts", "0");
    else
      toy_set(&toy, "maximiser", "incumbents", "1");
    TOY_OK(&toy, tutti_scope_from_point(toy.context, toy.scope, &(double){1}, 1, &known[0]));
    TOY_OK(&toy, tutti_scope_from_point(toy.context, toy.scope, &depth, 1, &known[1]));
    assert_true(climb(&toy, plugins[which], &hill, false, 2, (const tutti_candidate *const *)known, losses,
                      &candidate) > -1e-10);
    tutti_candidate_unref(candidate);
    tutti_candidate_unref(known[0]);
    tutti_candidate_unref(known[1]);
    toy_destroy(&toy);
  }
}

static void test_errors_and_cancel(void **state) {
  static const char *const plugins[] = {"sample", "sobol-lbfgs", "direct", "ea"};
  const double peak[] = {0.5, 0.5};
  (void)state;
  for (int which = 0; which < 4; which++) {
    struct toy toy;
    struct hill hill = {.peak = peak, .width = 2, .fails = TUTTI_ERROR_NUMERIC};
    struct tutti_objective objective = {.size = sizeof(objective), .argument = &hill, .evaluate = evaluate_hill};
    tutti_candidate *candidate = NULL;
    double worth;
    toy_create(&toy, 1, 1, 1, "x = uniform 0 1");
    toy_put(&toy, "maximiser", TUTTI_KIND_MAXIMISER, plugins[which]);
    tutti_maximiser *maximiser = make(&toy, plugins[which]);
    assert_int_equal(tutti_maximiser_maximise(toy.context, maximiser, &objective, &candidate, &worth),
                     TUTTI_ERROR_NUMERIC);
    assert_null(candidate);
    hill.fails = TUTTI_OK;
    tutti_cancel(toy.context);
    assert_int_equal(tutti_maximiser_maximise(toy.context, maximiser, &objective, &candidate, &worth),
                     TUTTI_ERROR_CANCELLED);
    tutti_maximiser_destroy(maximiser);
    toy_destroy(&toy);
  }
}

/* Rectangles close in on a hill in four dimensions of three kinds, in both forms, and draw nothing. */
static void test_rectangles(void **state) {
  /* depth of 9; kind one-hot a b c; x; y in logarithms */
  const double peak[] = {0.63, 0, 1, 0, 0.21, 0.7541};
  (void)state;
  for (int local = 0; local < 2; local++) {
    struct toy toy;
    struct hill hill = {.peak = peak, .width = 6};
    tutti_candidate *candidate, *again;
    toy_create(&toy, 1, 1, 9, "kind = choice a b c\nx = uniform 0 1\ny = log-uniform 1e-4 1");
    toy_put(&toy, "maximiser", TUTTI_KIND_MAXIMISER, "direct");
    toy_set(&toy, "maximiser", "local", local ? "yes" : "no");
    toy_set(&toy, "maximiser", "evaluations", "600");
    /* The nearest integer is depth 6 (.625). */
    assert_close(climb(&toy, "direct", &hill, false, 0, NULL, NULL, &candidate), -0.005 * 0.005, 0, 1e-4);
    assert_true(hill.evaluations <= 1300); /* once for NLopt, once in the end */
    const double *x = tutti_candidate_hyperparameters(candidate);
    assert_true(tutti_genotype_point(tutti_candidate_genotype(candidate))[0] == 6 && x[0] == 1);
    assert_close(x[1], 0.21, 0, 0.01);
    climb(&toy, "direct", &hill, false, 0, NULL, NULL, &again);
    assert_true(tutti_candidate_equal(again, candidate));
    tutti_candidate_unref(candidate);
    tutti_candidate_unref(again);
    toy_destroy(&toy);
  }
}

/* Fails with this in its message. */
static void refused(const char *dimensions, const char *what) {
  struct toy toy;
  tutti_maximiser *maximiser = NULL;
  toy_create(&toy, 1, 1, 1, dimensions);
  toy_put(&toy, "maximiser", TUTTI_KIND_MAXIMISER, "sobol-lbfgs");
  tutti_scope *scope = NULL;
  TOY_OK(&toy, tutti_scope_create(toy.context, NULL, toy.hyperparameters, &scope));
  struct tutti_maximiser_setup setup = {.size = sizeof(setup), .host = toy.host, .seed = 1, .scope = scope};
  assert_int_equal(tutti_maximiser_create(toy.context, toy.host, "maximiser", &setup, &maximiser), TUTTI_ERROR_USAGE);
  assert_null(maximiser);
  assert_non_null(strstr(tutti_error_message(toy.context), what));
  assert_non_null(strstr(tutti_error_message(toy.context), "maximiser = sample"));
  tutti_scope_destroy(scope);
  toy_destroy(&toy);
}

static void test_refuses_scopes(void **state) {
  char *many = calloc(200, 32), *end = many;
  (void)state;
  for (int i = 0; i < 129; i++)
    end += sprintf(end, "x%d = uniform 0 1\n", i);
  refused("kind = choice a b c\nother = choice d e", "all 2 dimensions");
  refused(many, "129 dimensions, and Sobol points 128");
  free(many);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refinement),
      cmocka_unit_test(test_only_the_best),
      cmocka_unit_test(test_mixed),
      cmocka_unit_test(test_known_candidates),
      cmocka_unit_test(test_near_the_incumbent),
      cmocka_unit_test(test_a_step_has_samples_of_its_own),
      cmocka_unit_test(test_mutants_of_the_incumbent),
      cmocka_unit_test(test_errors_and_cancel),
      cmocka_unit_test(test_rectangles),
      cmocka_unit_test(test_refuses_scopes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
