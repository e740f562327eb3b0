/* Builders nasbot and ea, and maximiser ea, on words: the initial pool first, parents by fitness, no word twice,
   failures that teach nothing, histories that resume, and searches that beat chance. */
#include "toy.h"
#include "words.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <tutti/candidate_set.h>

/* --- a search ----------------------------------------------------------------------------------------------------- */

enum { MOST = 400 };
struct search {
  struct toy toy;
  tutti_builder *builder;
  uint64_t asked;
  struct tutti_proposal proposals[MOST];
  double losses[MOST];
};

static tutti_builder *make(struct toy *toy) {
  struct tutti_builder_setup setup = {.size = sizeof(setup), .host = toy->host};
  tutti_builder *builder;
  TOY_OK(toy, tutti_builder_create(toy->context, toy->host, "builder", &setup, &builder));
  return builder;
}

static void begin(struct search *search, const char *plugin, uint64_t seed, size_t window, const char *hyperparameters,
                  const char *const settings[][3]) {
  memset(search, 0, sizeof(*search));
  toy_create_in(&search->toy, seed, window, &words_descriptor, hyperparameters);
  toy_put(&search->toy, "builder", TUTTI_KIND_BUILDER, plugin);
  for (; settings && (*settings)[0]; settings++)
    toy_set(&search->toy, (*settings)[0], (*settings)[1], (*settings)[2]);
  search->builder = make(&search->toy);
}

static void end(struct search *search) {
  for (uint64_t i = 0; i < search->asked; i++)
    tutti_candidate_unref(search->proposals[i].candidate);
  tutti_builder_destroy(search->builder);
  toy_destroy(&search->toy);
}

static const struct tutti_proposal *ask(struct search *search) {
  struct tutti_proposal *proposal = &search->proposals[search->asked];
  proposal->size = sizeof(*proposal);
  TOY_OK(&search->toy, tutti_builder_ask(search->toy.context, search->builder, search->asked, proposal));
  assert_non_null(proposal->candidate);
  search->asked++;
  return proposal;
}

static const char *letters_of(const struct tutti_proposal *proposal) {
  return words_letters(tutti_candidate_genotype(proposal->candidate));
}

static void tell_to(struct search *search, tutti_builder *builder, uint64_t trial, double loss) {
  struct tutti_result result = {.size = sizeof(result),
                                .trial = trial,
                                .candidate = search->proposals[trial].candidate,
                                .state = isnan(loss) ? TUTTI_STATE_FAILED : TUTTI_STATE_FINISHED,
                                .loss = loss,
                                .failure = isnan(loss) ? "it diverged" : ""};
  TOY_OK(&search->toy, tutti_builder_tell(search->toy.context, builder, &result));
  search->losses[trial] = loss;
}

static void tell(struct search *search, uint64_t trial, double loss) { tell_to(search, search->builder, trial, loss); }

/* Edits to a word that no initial one resembles. */
static double edits(const struct tutti_proposal *proposal) {
  double d[WORDS_MEASURES];
  words_distances(letters_of(proposal), "dcbadcb", d);
  return d[0] / 100;
}

static const char *const quick[][3] = {{"maximiser", "evaluations", "10 30 100"},
                                       {"surrogate", "draws", "20"},
                                       {"surrogate", "evaluations", "20"},
                                       {"acquisition", "log", "no"},
                                       {"builder", "initial", "6"},
                                       {NULL}};

/* --- what comes first, and what never comes ----------------------------------------------------------------------- */

static void test_initial_pool(void **state) {
  static const char *const builders[] = {"nasbot", "ea"};
  static const char *const known[] = {"aaa", "abab", "eeeeee"};
  (void)state;
  for (int which = 0; which < 2; which++) {
    struct search search;
    begin(&search, builders[which], 1, 10, "x = uniform 0 1", which ? NULL : quick);
    for (int i = 0; i < 6; i++) {
      const struct tutti_proposal *proposal = ask(&search);
      double nearest = INFINITY;
      assert_string_equal(proposal->origin, "design");
      assert_true(proposal->parent == TUTTI_NO_TRIAL);
      for (int k = 0; k < 3; k++) {
        double d[WORDS_MEASURES];
        words_distances(letters_of(proposal), known[k], d);
        nearest = fmin(nearest, d[0]);
      }
      if (i < 3)
        assert_string_equal(letters_of(proposal), known[i]);
      assert_true(nearest <= 100); /* a mutant is one edit away, or has another x */
    }
    end(&search);
  }
}

static void test_nothing_is_proposed_twice(void **state) {
  static const char *const builders[] = {"nasbot", "ea"};
  (void)state;
  for (int which = 0; which < 2; which++) {
    struct search search;
    tutti_candidate_set *seen;
    begin(&search, builders[which], 2, 3, NULL, which ? NULL : quick);
    TOY_OK(&search.toy, tutti_candidate_set_create(search.toy.context, &seen));
    for (uint64_t i = 0; i < (which ? MOST : 60); i++) {
      bool fresh;
      if (i >= 3)
        tell(&search, i - 3, edits(&search.proposals[i - 3]));
      TOY_OK(&search.toy, tutti_candidate_set_add(search.toy.context, seen, ask(&search)->candidate, &fresh));
      assert_true(fresh);
    }
    tutti_candidate_set_destroy(seen);
    end(&search);
  }
}

/* Parents of builder ea are drawn by exp((fitness - mean) / (spread deviation)); failed trials are none. */
static void test_parents_of_evolution(void **state) {
  enum { TOLD = 6, DRAWS = 300 };
  static const double losses[TOLD] = {1, 4, NAN, 2, 0.5, 3};
  static const char *const settings[][3] = {{"builder", "initial", "6"}, {"builder", "spread", "1"}, {NULL}};
  double mean = 10.5 / 5, squares = 0, sum = 0, counts[TOLD] = {0};
  (void)state;
  for (int i = 0; i < TOLD; i++)
    squares += isnan(losses[i]) ? 0 : (losses[i] - mean) * (losses[i] - mean) / 5;
  for (int i = 0; i < TOLD; i++)
    sum += isnan(losses[i]) ? 0 : exp(-losses[i] / sqrt(squares));
  struct search search;
  begin(&search, "ea", 3, MOST, NULL, settings);
  for (uint64_t i = 0; i < TOLD; i++) {
    ask(&search);
    tell(&search, i, losses[i]);
  }
  for (int i = 0; i < DRAWS; i++) {
    const struct tutti_proposal *proposal = ask(&search);
    if (strcmp(proposal->origin, "mutation") != 0)
      continue;
    double d[WORDS_MEASURES];
    assert_true(proposal->parent < TOLD);
    words_distances(letters_of(proposal), letters_of(&search.proposals[proposal->parent]), d);
    assert_true(d[0] == 100);
    if (i < 60) /* while mutants of all are left */
      counts[proposal->parent]++;
  }
  assert_true(counts[2] == 0);
  for (int i = 0; i < TOLD; i++) {
    double share = isnan(losses[i]) ? 0 : exp(-losses[i] / sqrt(squares)) / sum;
    assert_true(fabs(counts[i] - 60 * share) <= 4 * sqrt(60 * share * (1 - share)));
  }
  end(&search);
}

/* Mutants are made in sets: what finishes meanwhile is no parent before the next set begins, after a resumption,
   too. */
static void test_sets_of_mutants(void **state) {
  enum { INITIAL = 6, MUTANTS = 8, TRIALS = INITIAL + 3 * MUTANTS };
  static const char *const settings[][3] = {{"builder", "initial", "6"}, {"builder", "mutants", "8"}, {NULL}};
  struct search search;
  size_t late = 0;
  (void)state;
  begin(&search, "ea", 3, MOST, NULL, settings);
  tutti_builder *resumed = make(&search.toy);
  for (uint64_t i = 0; i < TRIALS; i++) {
    const struct tutti_proposal *proposal = ask(&search);
    uint64_t begun =
        i < INITIAL ? 0 : i - (i - INITIAL) % MUTANTS; /* its set's first trial: those before had finished */
    if (i >= INITIAL)
      assert_true(proposal->parent < begun);
    late += i >= INITIAL + MUTANTS && proposal->parent >= INITIAL;
    if (i == TRIALS - 1) {
      struct tutti_proposal again = {.size = sizeof(again)};
      TOY_OK(&search.toy, tutti_builder_ask(search.toy.context, resumed, i, &again));
      assert_true(again.parent == proposal->parent && tutti_candidate_equal(again.candidate, proposal->candidate));
      tutti_candidate_unref(again.candidate);
    } else {
      TOY_OK(&search.toy, tutti_builder_adopt(search.toy.context, resumed, i, proposal));
      tell(&search, i, -(double)i); /* the later the better */
      tell_to(&search, resumed, i, -(double)i);
    }
  }
  assert_true(late > MUTANTS);
  tutti_builder_destroy(resumed);
  end(&search);
}

/* RAND: with acquisition random, losses change nothing, and what is proposed comes from all epochs of the evolution. */
static void test_random_acquisition(void **state) {
  static const char *const settings[][3] = {{"builder", "acquisition", "random"}, {NULL}};
  (void)state;
  for (int random = 0; random < 2; random++) {
    struct search one, other;
    int differ = 0, far = 0;
    begin(&one, "nasbot", 4, 1, NULL, random ? settings : quick);
    begin(&other, "nasbot", 4, 1, NULL, random ? settings : quick);
    for (uint64_t i = 0; i < 40; i++) {
      double nearest = INFINITY, d[WORDS_MEASURES];
      differ += strcmp(letters_of(ask(&one)), letters_of(ask(&other))) != 0;
      for (uint64_t k = 0; k < i; k++) {
        words_distances(letters_of(&one.proposals[i]), letters_of(&one.proposals[k]), d);
        nearest = fmin(nearest, d[0]);
      }
      far += i >= 12 && nearest > 100;
      tell(&one, i, edits(&one.proposals[i]));
      tell(&other, i, (double)(i * 7 % 11));
    }
    assert_int_equal(differ == 0, random);
    assert_true(!random || far > 5); /* more than one edit from all that was tried */
    end(&one);
    end(&other);
  }
}

/* What a parameter is at, as a recipe would write it; the caller frees it. */
static char *value_of(struct search *search, const char *section, const char *name) {
  const struct tutti_descriptor *descriptor;
  const tutti_config *config;
  char *text = NULL;
  for (size_t i = 0; i < tutti_host_sections(search->toy.host); i++)
    if (strcmp(tutti_host_section(search->toy.host, i, &descriptor, &config), section) == 0)
      TOY_OK(&search->toy, tutti_config_get(search->toy.context, config, name, &text));
  return text;
}

/* Builder nasbot alone is the paper's method: its sub-plugins stand with the settings that go with it, unless the
   recipe has others; under other builders the same plugins keep their own. */
static void test_presets(void **state) {
  struct search search;
  char *text;
  (void)state;
  begin(&search, "nasbot", 1, 1, NULL, NULL);
  static const char *const expected[][3] = {{"builder", "initial", "12"},
                                            {"builder", "acquisition", "ei"},
                                            {"acquisition", "log", "false"},
                                            {"surrogate", "refit", "20"},
                                            {"surrogate", "powers", "1 1"}};
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    text = value_of(&search, expected[i][0], expected[i][1]);
    assert_string_equal(text, expected[i][2]);
    tutti_free(text);
  }
  toy_set(&search.toy, "builder", "acquisition", "pi");
  text = value_of(&search, "acquisition", "log");
  assert_string_equal(text, "true");
  tutti_free(text);
  end(&search);
}

/* While all trials fail, mutants of the initial pool continue; failed trials teach nothing. */
static void test_failures(void **state) {
  static const char *const builders[] = {"nasbot", "ea"};
  (void)state;
  for (int which = 0; which < 2; which++) {
    struct search failing, sound;
    begin(&failing, builders[which], 5, 1, NULL, which ? NULL : quick);
    for (uint64_t i = 0; i < 20; i++) {
      assert_true(ask(&failing)->parent == TUTTI_NO_TRIAL);
      tell(&failing, i, NAN);
    }
    end(&failing);

    char *text;
    begin(&sound, builders[which], 5, 1, NULL, which ? NULL : quick);
    for (uint64_t i = 0; i < 12; i++) {
      ask(&sound);
      tell(&sound, i, i % 3 == 1 ? NAN : edits(&sound.proposals[i]));
    }
    TOY_OK(&sound.toy, tutti_builder_describe(sound.toy.context, sound.builder, &text));
    assert_non_null(strstr(text, "\"asked\": 12"));
    assert_non_null(strstr(text, which ? "\"parents\": 8" : "\"observed\": 8"));
    tutti_free(text);
    end(&sound);
  }
}

/* A builder that adopted and was told the same asks for the same, with outstanding trials and failures in between. */
static void test_resumes(void **state) {
  enum { TRIALS = 26, WINDOW = 4, HALT = 17 };
  static const char *const builders[] = {"nasbot", "ea"};
  (void)state;
  for (int which = 0; which < 2; which++) {
    struct search search;
    begin(&search, builders[which], 6, WINDOW, "x = uniform 0 1\nkind = choice a b", which ? NULL : quick);
    tutti_builder *resumed = make(&search.toy);
    for (uint64_t i = 0; i < TRIALS; i++) {
      if (i >= WINDOW) {
        double loss = i % 5 == 0 ? NAN : edits(&search.proposals[i - WINDOW]);
        tell_to(&search, search.builder, i - WINDOW, loss);
        tell_to(&search, resumed, i - WINDOW, loss);
      }
      const struct tutti_proposal *proposal = ask(&search);
      if (i < HALT) {
        TOY_OK(&search.toy, tutti_builder_adopt(search.toy.context, resumed, i, proposal));
      } else {
        struct tutti_proposal again = {.size = sizeof(again)};
        TOY_OK(&search.toy, tutti_builder_ask(search.toy.context, resumed, i, &again));
        assert_true(tutti_candidate_equal(again.candidate, proposal->candidate));
        assert_true(again.parent == proposal->parent);
        assert_string_equal(again.origin, proposal->origin);
        tutti_candidate_unref(again.candidate);
      }
    }
    tutti_builder_destroy(resumed);
    end(&search);
  }
}

/* --- searches that find ------------------------------------------------------------------------------------------- */

/* The best of 60 words. */
static double minimise(const char *plugin, uint64_t seed, const char *const settings[][3]) {
  struct search search;
  double best = INFINITY;
  begin(&search, plugin, seed, 2, NULL, settings);
  for (uint64_t i = 0; i < 60; i++) {
    if (i >= 2)
      tell(&search, i - 2, edits(&search.proposals[i - 2]));
    best = fmin(best, edits(ask(&search)));
  }
  end(&search);
  return best;
}

static double mean_minimum(const char *plugin, uint64_t seeds, const char *const settings[][3]) {
  double sum = 0;
  for (uint64_t seed = 1; seed <= seeds; seed++)
    sum += minimise(plugin, seed, settings);
  return sum / (double)seeds;
}

/* The word sought has seven letters and is six edits and more from the initial ones. In 60 trials of the 480,000 words
   mutation without selection comes to some 3.3 edits, evolution on the edits closer, and the model all but there. */
static void test_beats_chance(void **state) {
  static const char *const chances[][3] = {{"builder", "acquisition", "random"}, {NULL}};
  (void)state;
  if (getenv("TUTTI_TEST_WATCHED")) { /* the other tests run the same code, in a tenth of the time */
    assert_true(minimise("nasbot", 1, quick) <= 2);
    return;
  }
  double model = mean_minimum("nasbot", 4, quick), evolution = mean_minimum("ea", 40, NULL),
         chance = mean_minimum("nasbot", 40, chances);
  assert_true(model <= 1 && evolution + 0.3 <= chance);
}

/* Evolution that begins with the pool alone has to walk all the way in each proposal; from the best trials it goes
   on. */
static void test_incumbents_help(void **state) {
  static const char *const alone[][3] = {{"maximiser", "incumbents", "0"},
                                         {"maximiser", "evaluations", "10 30 100"},
                                         {"surrogate", "draws", "20"},
                                         {"surrogate", "evaluations", "20"},
                                         {"acquisition", "log", "no"},
                                         {"builder", "initial", "6"},
                                         {NULL}};
  (void)state;
  if (getenv("TUTTI_TEST_WATCHED")) /* see test_beats_chance */
    return;
  assert_true(mean_minimum("nasbot", 12, quick) + 1 <= mean_minimum("nasbot", 12, alone)); /* 0 edits and 1.5 */
}

/* Architecture and hyperparameters together. */
static void test_joint(void **state) {
  struct search search;
  double best = INFINITY;
  (void)state;
  begin(&search, "nasbot", 1, 2, "rate = log-uniform 1e-4 1", quick);
  for (uint64_t i = 0; i < 70; i++) {
    const struct tutti_proposal *proposal = ask(&search);
    double off = log10(tutti_candidate_hyperparameters(proposal->candidate)[0]) + 2, d[WORDS_MEASURES];
    words_distances(letters_of(proposal), "abcde", d);
    double loss = d[0] / 100 + off * off;
    best = fmin(best, loss);
    tell(&search, i, loss);
  }
  assert_true(best < 0.5); /* the best of 70 random ones is at 3 or so */
  end(&search);
}

/* --- the maximiser ------------------------------------------------------------------------------------------------ */

struct hunt {
  size_t evaluations;
  double floor;
};

static enum tutti_status worth_of_words(void *argument, tutti_context *context, const struct tutti_points *points,
                                        double *worth) {
  struct hunt *hunt = argument;
  (void)context;
  hunt->evaluations += points->count;
  for (size_t i = 0; i < points->count; i++) {
    double d[WORDS_MEASURES];
    words_distances(words_letters(tutti_candidate_genotype(points->candidates[i])), "dcbadcb", d);
    worth[i] = d[0] > hunt->floor ? -1.7976931348623157e308 : -d[0];
  }
  return TUTTI_OK;
}

/* A word is found from far away in 500 evaluations among 100,000 words and more, despite plains of minus infinity
   around it. The number of evaluations follows the parameters, plus the known candidates and the initial pool. */
static void test_maximiser(void **state) {
  (void)state;
  for (int plain = 0; plain < 2; plain++) {
    struct hunt hunt = {.floor = plain ? 650 : 1e9};
    struct toy toy;
    tutti_maximiser *maximiser;
    tutti_candidate *found, *known[2];
    double worth, losses[2] = {1, NAN};
    struct tutti_random random;
    toy_create_in(&toy, 1, 1, &words_descriptor, NULL);
    toy_put(&toy, "maximiser", TUTTI_KIND_MAXIMISER, "ea");
    struct tutti_maximiser_setup setup = {.size = sizeof(setup), .host = toy.host, .seed = 1, .scope = toy.scope};
    TOY_OK(&toy, tutti_maximiser_create(toy.context, toy.host, "maximiser", &setup, &maximiser));
    tutti_random_init(&random, 1, "known", 0);
    for (int i = 0; i < 2; i++)
      TOY_OK(&toy, tutti_scope_sample(toy.context, toy.scope, &random, 0, &known[i]));
    struct tutti_objective objective = {.size = sizeof(objective),
                                        .argument = &hunt,
                                        .evaluate = worth_of_words,
                                        .known_count = 2,
                                        .known = (const tutti_candidate *const *)known,
                                        .known_losses = losses,
                                        .step = 400};
    TOY_OK(&toy, tutti_maximiser_maximise(toy.context, maximiser, &objective, &found, &worth));
    assert_true(worth >= -200);
    assert_int_equal(hunt.evaluations, 1 + WORDS_KNOWN + 500);
    tutti_candidate_unref(found);
    hunt.evaluations = 0;
    objective.step = 9;
    TOY_OK(&toy, tutti_maximiser_maximise(toy.context, maximiser, &objective, &found, &worth));
    assert_int_equal(hunt.evaluations, 1 + WORDS_KNOWN + 75);
    tutti_candidate_unref(found);
    for (int i = 0; i < 2; i++)
      tutti_candidate_unref(known[i]);
    tutti_maximiser_destroy(maximiser);
    toy_destroy(&toy);
  }
}

/* With incumbents = 0 evolution begins with the space's initial pool alone, tried or not. What was tried is no
   answer. */
static void test_from_the_pool_alone(void **state) {
  enum { KNOWN = WORDS_KNOWN + 1 };
  struct hunt hunt = {.floor = 1e9};
  struct toy toy;
  tutti_maximiser *maximiser;
  tutti_candidate *found, *known[KNOWN];
  double worth, losses[KNOWN] = {4, 3, 2, 1};
  struct tutti_random random;
  (void)state;
  toy_create_in(&toy, 1, 1, &words_descriptor, NULL);
  toy_put(&toy, "maximiser", TUTTI_KIND_MAXIMISER, "ea");
  toy_set(&toy, "maximiser", "incumbents", "0");
  struct tutti_maximiser_setup setup = {.size = sizeof(setup), .host = toy.host, .seed = 1, .scope = toy.scope};
  TOY_OK(&toy, tutti_maximiser_create(toy.context, toy.host, "maximiser", &setup, &maximiser));
  tutti_random_init(&random, 1, "known", 0);
  for (size_t i = 0; i < WORDS_KNOWN; i++)
    TOY_OK(&toy, tutti_scope_known(toy.context, toy.scope, i, &random, 0, &known[i]));
  TOY_OK(&toy, tutti_scope_sample(toy.context, toy.scope, &random, 0, &known[WORDS_KNOWN]));
  struct tutti_objective objective = {.size = sizeof(objective),
                                      .argument = &hunt,
                                      .evaluate = worth_of_words,
                                      .known_count = KNOWN,
                                      .known = (const tutti_candidate *const *)known,
                                      .known_losses = losses,
                                      .step = 9};
  TOY_OK(&toy, tutti_maximiser_maximise(toy.context, maximiser, &objective, &found, &worth));
  assert_int_equal(hunt.evaluations, WORDS_KNOWN + 75);
  for (size_t i = 0; i < KNOWN; i++) {
    assert_false(tutti_candidate_equal(found, known[i]));
    tutti_candidate_unref(known[i]);
  }
  tutti_candidate_unref(found);
  tutti_maximiser_destroy(maximiser);
  toy_destroy(&toy);
}

static void test_bad_rules(void **state) {
  static const char *const bad[] = {"25 50", "25 500 50", "25 0.5 50"};
  (void)state;
  for (int i = 0; i < 3; i++) {
    struct toy toy;
    tutti_maximiser *maximiser;
    toy_create_in(&toy, 1, 1, &words_descriptor, NULL);
    toy_put(&toy, "maximiser", TUTTI_KIND_MAXIMISER, "ea");
    toy_set(&toy, "maximiser", "evaluations", bad[i]);
    struct tutti_maximiser_setup setup = {.size = sizeof(setup), .host = toy.host, .seed = 1, .scope = toy.scope};
    assert_int_equal(tutti_maximiser_create(toy.context, toy.host, "maximiser", &setup, &maximiser), TUTTI_ERROR_USAGE);
    assert_non_null(strstr(tutti_error_message(toy.context), "evaluations: three numbers were expected"));
    toy_destroy(&toy);
  }
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_initial_pool),
      cmocka_unit_test(test_nothing_is_proposed_twice),
      cmocka_unit_test(test_parents_of_evolution),
      cmocka_unit_test(test_sets_of_mutants),
      cmocka_unit_test(test_random_acquisition),
      cmocka_unit_test(test_presets),
      cmocka_unit_test(test_failures),
      cmocka_unit_test(test_resumes),
      cmocka_unit_test(test_beats_chance),
      cmocka_unit_test(test_incumbents_help),
      cmocka_unit_test(test_joint),
      cmocka_unit_test(test_maximiser),
      cmocka_unit_test(test_from_the_pool_alone),
      cmocka_unit_test(test_bad_rules),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
