/* test_domain.c - domains: what is refused, what is drawn, and what comes back from vectors and texts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <string.h>
#include <tutti/domain.h>

static tutti_context *context;

static int begin(void **state) { return tutti_context_create(&context) != TUTTI_OK; }

static int end(void **state) {
  tutti_context_destroy(context);
  return 0;
}

static struct tutti_random stream(const char *purpose) {
  struct tutti_random random;
  tutti_random_init(&random, 7, purpose, 0);
  return random;
}

static tutti_domain *domain_of(size_t count, const char *const texts[][2]) {
  tutti_domain *domain;
  assert_int_equal(tutti_domain_create(context, &domain), TUTTI_OK);
  for (size_t i = 0; i < count; i++)
    if (tutti_domain_add_text(context, domain, texts[i][0], texts[i][1]) != TUTTI_OK)
      fail_msg("%s", tutti_error_message(context));
  return domain;
}

/* Every sort of dimension, with conditions on conditions. */
enum { RICH = 10, RICH_WIDTH = 12 };
static tutti_domain *rich_domain(void) {
  static const char *const texts[RICH][2] = {
      {"rate", "log-uniform 1e-4 1e-1"},
      {"batch", "log-integer 1 256"},
      {"optimiser", "choice sgd adam rmsprop"},
      {"momentum", "uniform 0 0.99 if optimiser = sgd rmsprop"},
      {"nesterov", "choice no yes if optimiser = sgd"},
      {"dampening", "uniform -1 1 if nesterov = yes"},
      {"depth", "integer 1 3"},
      {"units2", "integer -8 8 if depth = 2 3"},
      {"units3", "integer 5 6 if depth = 3"},
      {"constant", "integer 4 4"},
  };
  return domain_of(RICH, texts);
}

/* --- what is refused -------------------------------------------------------------------------------------------- */

static void bad_dimensions_are_refused(void **state) {
  static const struct {
    const char *name, *text, *expected;
  } cases[] = {
      {"", "uniform 0 1", "needs a name"},
      {"depth", "uniform 0 1", "already"},
      {"x", "uniform 1 0", "least value first, found 1 to 0"},
      {"x", "uniform 0 inf", "finite range"},
      {"x", "uniform nan 1", "finite range"},
      {"x", "uniform -1.7e308 1.7e308", "finite range"},
      {"x", "log-uniform 0 1", "begins above 0, found 0"},
      {"x", "log-integer 0 4", "begins above 0, found 0"},
      {"x", "integer 0 1.5", "whole numbers, found 0 to 1.5"},
      {"x", "integer 0 9007199254740992", "below 2^53"},
      {"x", "uniform 0", "two numbers, found 1"},
      {"x", "uniform 0 1 2", "two numbers, found 3"},
      {"x", "uniform 0 one", "a number, found 'one'"},
      {"x", "choice", "at least one choice"},
      {"x", "choice a b a", "'a' is there twice"},
      {"x", "unifrom 0 1", "did you mean 'uniform'"},
      {"x", "", "found ''"},
      {"x", "uniform 0 1 if", "'if NAME = VALUE ...'"},
      {"x", "uniform 0 1 if depth=2", "'if NAME = VALUE ...'"},
      {"x", "uniform 0 1 if depth =", "'if NAME = VALUE ...'"},
      {"x", "uniform 0 1 if dept = 2", "did you mean 'depth'"},
      {"x", "uniform 0 1 if rate = 0.01", "is real"},
      {"x", "uniform 0 1 if depth = 4", "asks for 4, which 'depth' never is"},
      {"x", "uniform 0 1 if depth = 1.5", "asks for 1.5"},
      {"x", "uniform 0 1 if depth = two", "a number, found 'two'"},
      {"x", "uniform 0 1 if optimiser = adma", "did you mean 'adam'"},
  };
  tutti_domain *domain = rich_domain();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_int_equal(tutti_domain_add_text(context, domain, cases[i].name, cases[i].text), TUTTI_ERROR_USAGE);
    if (!strstr(tutti_error_message(context), cases[i].expected))
      fail_msg("'%s': \"%s\" lacks \"%s\"", cases[i].text, tutti_error_message(context), cases[i].expected);
    assert_int_equal(tutti_domain_count(domain), RICH);
    assert_int_equal(tutti_domain_width(domain), RICH_WIDTH);
  }
  tutti_domain_destroy(domain);
}

static void bad_structs_are_refused(void **state) {
  static const char *const choices[] = {"a", NULL};
  tutti_domain *domain = domain_of(0, NULL);
  struct tutti_dimension unsized = {.name = "x", .high = 1}, unknown = {.size = sizeof unknown, .name = "x", .type = 9},
                         empty = {.size = sizeof empty,
                                  .name = "x",
                                  .type = TUTTI_DIMENSION_CATEGORICAL,
                                  .choice_count = 2,
                                  .choices = choices};
  assert_int_equal(tutti_domain_add(context, domain, &unsized), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(context), "size"));
  assert_int_equal(tutti_domain_add(context, domain, &unknown), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(context), "type 9"));
  assert_int_equal(tutti_domain_add(context, domain, &empty), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(context), "choice 2 is empty"));
  tutti_domain_destroy(domain);
}

static void bad_points_are_refused(void **state) {
  static const struct {
    const char *json, *expected;
  } cases[] = {
      {"{", "line 1"},
      {"[1]", "expected a JSON object"},
      {"{\"a\": 2, \"b\": \"no\", \"a\": 2}", "duplicate"},
      {"{\"a\": 2}", "b: has no value"},
      {"{\"a\": 2, \"bb\": \"no\"}", "bb: there is no dimension"},
      {"{\"a\": 9, \"b\": \"no\"}", "a: expected a whole number from 1 to 8, found 9"},
      {"{\"a\": 1.5, \"b\": \"no\"}", "found 1.5"},
      {"{\"a\": \"2\", \"b\": \"no\"}", "a: expected a number"},
      {"{\"a\": null, \"b\": \"no\"}", "a: expected a number"},
      {"{\"a\": 2, \"b\": 0}", "b: expected a text"},
      {"{\"a\": 2, \"b\": \"yse\"}", "did you mean 'yes'"},
      {"{\"a\": 2, \"b\": \"no\", \"c\": 0.5}", "c: has a value (0.5) although its condition on 'b'"},
      {"{\"a\": 2, \"b\": \"yes\"}", "c: has no value"},
      {"{\"a\": 2, \"b\": \"yes\", \"c\": 1.1}", "c: expected a number from 0 to 1, found 1.1"},
      {"{\"a\": 2, \"b\": \"yes\", \"c\": 1e999}", "real number overflow"},
  };
  static const char *const texts[][2] = {{"a", "integer 1 8"}, {"b", "choice no yes"}, {"c", "uniform 0 1 if b = yes"}};
  tutti_domain *domain = domain_of(3, texts);
  double point[3];
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_int_equal(tutti_domain_parse(context, domain, cases[i].json, point), TUTTI_ERROR_USAGE);
    if (!strstr(tutti_error_message(context), cases[i].expected))
      fail_msg("%s: \"%s\" lacks \"%s\"", cases[i].json, tutti_error_message(context), cases[i].expected);
  }
  double choice[3] = {2, 2, NAN};
  assert_int_equal(tutti_domain_check(context, domain, choice), TUTTI_ERROR_USAGE);
  assert_non_null(strstr(tutti_error_message(context), "b: expected the number of a choice from 0 to 1, found 2"));
  tutti_domain_destroy(domain);
}

/* --- properties of random points -------------------------------------------------------------------------------- */

enum { POINTS = 2000 };

static void samples_are_valid_and_conditions_hold(void **state) {
  tutti_domain *domain = rich_domain();
  struct tutti_random random = stream("samples");
  size_t with_dampening = 0;
  for (int i = 0; i < POINTS; i++) {
    double point[RICH];
    tutti_domain_sample(domain, &random, point);
    assert_int_equal(tutti_domain_check(context, domain, point), TUTTI_OK);
    assert_int_equal(isnan(point[3]), point[2] == 1);
    assert_int_equal(isnan(point[4]), point[2] != 0);
    assert_int_equal(isnan(point[5]), !(point[4] == 1));
    assert_int_equal(isnan(point[7]), point[6] == 1);
    assert_int_equal(isnan(point[8]), point[6] != 3);
    with_dampening += !isnan(point[5]);
  }
  assert_in_range(with_dampening, POINTS / 6 - 80, POINTS / 6 + 80);
  tutti_domain_destroy(domain);
}

/* Number of the one dimension that differs and has a value on both sides; fails if there are several or none. */
static size_t changed_dimension(size_t count, const double *a, const double *b) {
  size_t changed = SIZE_MAX;
  for (size_t i = 0; i < count; i++)
    if (!isnan(a[i]) && !isnan(b[i]) && a[i] != b[i]) {
      assert_int_equal(changed, SIZE_MAX);
      changed = i;
    }
  assert_int_not_equal(changed, SIZE_MAX);
  return changed;
}

static void mutants_differ_in_one_dimension(void **state) {
  tutti_domain *domain = rich_domain();
  struct tutti_random random = stream("mutants");
  size_t times[RICH] = {0};
  double point[RICH];
  tutti_domain_sample(domain, &random, point);
  for (int i = 0; i < 10 * POINTS; i++) {
    double before[RICH];
    memcpy(before, point, sizeof point);
    assert_true(tutti_domain_mutate(domain, &random, point));
    assert_int_equal(tutti_domain_check(context, domain, point), TUTTI_OK);
    times[changed_dimension(RICH, before, point)]++;
  }
  for (size_t i = 0; i < RICH - 1; i++)
    assert_true(times[i] > POINTS / 4);
  assert_int_equal(times[RICH - 1], 0);
  tutti_domain_destroy(domain);
}

/* Each active dimension that varies is as likely to change as another. */
static void mutation_is_uniform_over_active_dimensions(void **state) {
  tutti_domain *domain = rich_domain();
  struct tutti_random random = stream("uniform mutation");
  const double start[RICH] = {0.01, 32, 1, NAN, NAN, NAN, 1, NAN, NAN, 4};
  size_t times[RICH] = {0};
  for (int i = 0; i < 4 * POINTS; i++) {
    double point[RICH];
    memcpy(point, start, sizeof point);
    assert_true(tutti_domain_mutate(domain, &random, point));
    times[changed_dimension(RICH, start, point)]++;
  }
  double chi = 0;
  static const size_t active[] = {0, 1, 2, 6};
  for (size_t k = 0; k < 4; k++)
    chi += pow((double)times[active[k]] - POINTS, 2) / POINTS;
  assert_true(chi < 16.3); /* 3 degrees of freedom, p = 0.001 */
  tutti_domain_destroy(domain);
}

static void mutation_finds_the_other_value(void **state) {
  /* One value holds all but a sliver of the probability, or rounding leaves a single one. */
  static const char *const narrow[][2] = {{"a", "log-uniform 1 1.0000000000000002"}};
  tutti_domain *domain = domain_of(1, narrow);
  struct tutti_random random = stream("narrow");
  double point[1] = {1};
  for (int i = 0; i < 20; i++) {
    double before = point[0];
    assert_true(tutti_domain_mutate(domain, &random, point));
    assert_true(point[0] != before);
  }
  tutti_domain_destroy(domain);
  static const char *const single[][2] = {{"a", "integer 3 3"}, {"b", "choice x"}, {"c", "uniform 2 2"}};
  domain = domain_of(3, single);
  double only[3] = {3, 0, 2};
  assert_false(tutti_domain_mutate(domain, &random, only));
  assert_true(only[0] == 3 && only[1] == 0 && only[2] == 2);
  tutti_domain_destroy(domain);
}

struct visited {
  const tutti_domain *domain;
  const double *centre;
  size_t count, limit;
  double least[RICH], greatest[RICH];
};

static bool visit(void *argument, const double *point) {
  struct visited *visited = argument;
  assert_int_equal(tutti_domain_check(context, visited->domain, point), TUTTI_OK);
  size_t changed = changed_dimension(tutti_domain_count(visited->domain), visited->centre, point);
  visited->least[changed] = fmin(visited->least[changed], point[changed]);
  visited->greatest[changed] = fmax(visited->greatest[changed], point[changed]);
  return ++visited->count < visited->limit;
}

static void neighbours_are_valid_and_near(void **state) {
  tutti_domain *domain = rich_domain();
  struct tutti_random random = stream("neighbours");
  for (int i = 0; i < 200; i++) {
    double point[RICH];
    tutti_domain_sample(domain, &random, point);
    struct visited visited = {.domain = domain, .centre = point, .limit = SIZE_MAX};
    assert_int_equal(tutti_domain_neighbours(context, domain, point, 0.1, visit, &visited), TUTTI_OK);
    assert_in_range(visited.count, 6, 16);
  }
  const double centre[RICH] = {0.01, 64, 2, 0.5, NAN, NAN, 3, 0, 5, 4};
  struct visited visited = {.domain = domain, .centre = centre, .limit = SIZE_MAX};
  memcpy(visited.least, centre, sizeof centre);
  memcpy(visited.greatest, centre, sizeof centre);
  assert_int_equal(tutti_domain_neighbours(context, domain, centre, 0.1, visit, &visited), TUTTI_OK);
  /* rate: 2, batch: 2, optimiser: 2, momentum: 2, depth: 1 (3 is the most), units2: 2, units3: 1 */
  assert_int_equal(visited.count, 12);
  assert_true(fabs(visited.greatest[0] / 0.01 - pow(10, 0.3)) < 1e-12);
  assert_true(fabs(visited.least[3] - 0.401) < 1e-12 && fabs(visited.greatest[3] - 0.599) < 1e-12);
  assert_true(visited.greatest[1] == 84 && visited.least[1] == 49); /* 64 * 256^(+-1/20) */
  assert_true(visited.least[7] == -1 && visited.greatest[7] == 1 && visited.least[8] == 5 && visited.greatest[8] == 6);
  visited.count = 0;
  visited.limit = 3;
  assert_int_equal(tutti_domain_neighbours(context, domain, centre, 0.1, visit, &visited), TUTTI_OK);
  assert_int_equal(visited.count, 3);
  tutti_domain_destroy(domain);
}

static void small_log_integers_still_have_neighbours(void **state) {
  static const char *const texts[][2] = {{"a", "log-integer 1 256"}};
  tutti_domain *domain = domain_of(1, texts);
  const double centre[1] = {2};
  struct visited visited = {.domain = domain, .centre = centre, .limit = SIZE_MAX, .least = {2}, .greatest = {2}};
  assert_int_equal(tutti_domain_neighbours(context, domain, centre, 0.1, visit, &visited), TUTTI_OK);
  assert_true(visited.least[0] == 1 && visited.greatest[0] == 3);
  tutti_domain_destroy(domain);
}

static void repair_clips_rounds_and_sets_nan(void **state) {
  tutti_domain *domain = rich_domain();
  double point[RICH] = {1, 3.4, 0, -1, NAN, 0.5, 7, NAN, 5.5, 9};
  const double expected[RICH] = {0.1, 3, 0, 0, 0, NAN, 3, 0, 6, 4};
  tutti_domain_repair(domain, point);
  assert_true(tutti_domain_equal(domain, point, expected));
  struct tutti_random random = stream("repair");
  for (int i = 0; i < POINTS; i++) {
    double valid[RICH], repaired[RICH];
    tutti_domain_sample(domain, &random, valid);
    memcpy(repaired, valid, sizeof valid);
    tutti_domain_repair(domain, repaired);
    assert_true(tutti_domain_equal(domain, valid, repaired));
    for (size_t d = 0; d < RICH; d++)
      repaired[d] = 600 * (tutti_random_uniform(&random) - 0.5);
    tutti_domain_repair(domain, repaired);
    assert_int_equal(tutti_domain_check(context, domain, repaired), TUTTI_OK);
  }
  tutti_domain_destroy(domain);
}

/* --- distributions ---------------------------------------------------------------------------------------------- */

/* Draws of a domain of one dimension fall into `cells` as likely as expected[cells] says. */
static void assert_distribution(const char *text, size_t cells, const double *expected, size_t (*cell)(double value)) {
  enum { DRAWS = 20000, CELLS = 32 };
  const char *const texts[][2] = {{"x", text}};
  tutti_domain *domain = domain_of(1, texts);
  for (int by_unit = 0; by_unit < 2; by_unit++) {
    struct tutti_random random = stream(text);
    size_t counts[CELLS] = {0};
    double chi = 0;
    for (int i = 0; i < DRAWS; i++) {
      double value, unit = (i + 0.5) / DRAWS;
      if (by_unit)
        tutti_domain_from_unit(domain, &unit, &value);
      else
        tutti_domain_sample(domain, &random, &value);
      assert_int_equal(tutti_domain_check(context, domain, &value), TUTTI_OK);
      counts[cell(value)]++;
    }
    for (size_t i = 0; i < cells; i++)
      chi += pow((double)counts[i] - DRAWS * expected[i], 2) / (DRAWS * expected[i]);
    /* Even units miss their share by rounding alone; draws by p = 0.001 at most (normal approximation of chi-square).
     */
    double freedom = (double)cells - 1;
    double limit = by_unit ? 0.01 : freedom * pow(1 - 2 / (9 * freedom) + 3.09 * sqrt(2 / (9 * freedom)), 3);
    if (chi > limit)
      fail_msg("%s: chi-square %g is above %g", text, chi, limit);
  }
  tutti_domain_destroy(domain);
}

static size_t number(double value) { return (size_t)value; }
static size_t tenth(double value) { return (size_t)(10 * value); }
static size_t decade_third(double value) { return (size_t)(3 * (log10(value) + 4)); }
static size_t from_minus_2(double value) { return (size_t)(value + 2); }
static size_t from_1(double value) { return (size_t)value - 1; }

static void draws_follow_their_distributions(void **state) {
  double even[10], shares[16];
  for (int i = 0; i < 10; i++)
    even[i] = 0.1;
  assert_distribution("uniform 0 1", 10, even, tenth);
  assert_distribution("choice a b c d e f g h i j", 10, even, number);
  for (int i = 0; i < 9; i++)
    even[i] = 1.0 / 9;
  assert_distribution("log-uniform 1e-4 1e-1", 9, even, decade_third);
  for (int i = 0; i < 5; i++)
    even[i] = 0.2;
  assert_distribution("integer -2 2", 5, even, from_minus_2);
  for (int k = 1; k <= 16; k++)
    shares[k - 1] = log((k + 1.0) / k) / log(17);
  assert_distribution("log-integer 1 16", 16, shares, from_1);
}

static void units_reach_every_value(void **state) {
  static const char *const texts[][2] = {{"a", "integer -3 3"}, {"b", "choice x y z"}, {"c", "log-integer 1 9"}};
  tutti_domain *domain = domain_of(3, texts);
  unsigned seen[3] = {0};
  for (int i = 0; i < 1000; i++) {
    double unit[3] = {i / 1000.0, i / 1000.0, i / 1000.0}, point[3];
    tutti_domain_from_unit(domain, unit, point);
    seen[0] |= 1u << (int)(point[0] + 3);
    seen[1] |= 1u << (int)point[1];
    seen[2] |= 1u << (int)point[2];
  }
  assert_int_equal(seen[0], 0x7F);
  assert_int_equal(seen[1], 0x7);
  assert_int_equal(seen[2], 0x3FE);
  double last[3] = {0x1.fffffffffffffp-1, 0x1.fffffffffffffp-1, 0x1.fffffffffffffp-1}, point[3];
  tutti_domain_from_unit(domain, last, point);
  assert_true(point[0] == 3 && point[1] == 2 && point[2] == 9);
  tutti_domain_destroy(domain);
}

static void large_integers_are_exact(void **state) {
  static const char *const texts[][2] = {{"a", "integer 9007199254740988 9007199254740991"},
                                         {"b", "integer -9007199254740991 9007199254740991"}};
  tutti_domain *domain = domain_of(2, texts);
  struct tutti_random random = stream("large");
  unsigned seen = 0;
  bool odd = false;
  for (int i = 0; i < 200; i++) {
    double point[2];
    tutti_domain_sample(domain, &random, point);
    assert_int_equal(tutti_domain_check(context, domain, point), TUTTI_OK);
    seen |= 1u << (int)(point[0] - 9007199254740988);
    odd = odd || fmod(fabs(point[1]), 2) == 1;
  }
  assert_int_equal(seen, 0xF);
  assert_true(odd);
  tutti_domain_destroy(domain);
}

/* --- vectors ---------------------------------------------------------------------------------------------------- */

static void vectors_come_back(void **state) {
  tutti_domain *domain = rich_domain();
  struct tutti_random random = stream("vectors");
  assert_int_equal(tutti_domain_width(domain), RICH_WIDTH);
  for (int i = 0; i < POINTS; i++) {
    double point[RICH], vector[RICH_WIDTH], back[RICH];
    tutti_domain_sample(domain, &random, point);
    tutti_domain_encode(domain, point, vector);
    for (size_t c = 0; c < RICH_WIDTH; c++)
      assert_true(vector[c] >= 0 && vector[c] <= 1);
    tutti_domain_decode(domain, vector, back);
    assert_int_equal(tutti_domain_check(context, domain, back), TUTTI_OK);
    for (size_t d = 0; d < RICH; d++)
      if (tutti_domain_at(domain, d)->type == TUTTI_DIMENSION_REAL && !isnan(point[d]))
        assert_true(fabs(back[d] - point[d]) <= 1e-13);
      else
        assert_true(back[d] == point[d] || (isnan(back[d]) && isnan(point[d])));
  }
  for (int i = 0; i < POINTS; i++) {
    double vector[RICH_WIDTH], point[RICH];
    for (size_t c = 0; c < RICH_WIDTH; c++)
      vector[c] = 3 * tutti_random_uniform(&random) - 1;
    tutti_domain_decode(domain, vector, point);
    assert_int_equal(tutti_domain_check(context, domain, point), TUTTI_OK);
  }
  tutti_domain_destroy(domain);
}

static struct tutti_domain_column_facts column_of(const tutti_domain *domain, size_t column) {
  struct tutti_domain_column_facts facts = {.size = sizeof facts};
  tutti_domain_column(domain, column, &facts);
  return facts;
}

/* A caller that knows a shorter struct gets what fits, and one that knows a longer struct gets zeros at the end. */
static void columns_are_told_to_callers_of_other_versions(void **state) {
  tutti_domain *domain = rich_domain();
  struct {
    struct tutti_domain_column_facts facts;
    double more;
  } longer = {.facts.size = sizeof longer, .more = 1};
  struct tutti_domain_column_facts shorter = {.size = offsetof(struct tutti_domain_column_facts, step), .step = 7};
  (void)state;
  tutti_domain_column(domain, 9, &shorter);
  assert_true(shorter.step == 7);
  assert_int_equal(shorter.dimension, 7);
  assert_int_equal(shorter.size, offsetof(struct tutti_domain_column_facts, step));
  tutti_domain_column(domain, 9, &longer.facts);
  assert_true(longer.facts.step == 1.0 / 16);
  assert_true(longer.more == 0);
  tutti_domain_destroy(domain);
}

static void columns_say_what_they_are(void **state) {
  tutti_domain *domain = rich_domain();
  const double point[RICH] = {0.01, 16, 2, 0.33, NAN, NAN, 2, -4, NAN, 4};
  const double expected[RICH_WIDTH] = {2.0 / 3, 0.5, 0, 0, 1, 0.33 / 0.99, 0.5, 0.5, 0.5, 0.25, 0.5, 0.5};
  double vector[RICH_WIDTH];
  tutti_domain_encode(domain, point, vector);
  for (size_t c = 0; c < RICH_WIDTH; c++)
    assert_true(fabs(vector[c] - expected[c]) < 1e-14);
  static const uint32_t dimensions[RICH_WIDTH] = {0, 1, 2, 2, 2, 3, 4, 5, 6, 7, 8, 9};
  for (size_t c = 0; c < RICH_WIDTH; c++)
    assert_int_equal(column_of(domain, c).dimension, dimensions[c]);
  assert_int_equal(column_of(domain, 4).choice, 2);
  assert_int_equal(column_of(domain, 6).choice, 1);
  assert_int_equal(column_of(domain, 6).type, TUTTI_DIMENSION_CATEGORICAL);
  assert_true(column_of(domain, 1).step == 0);
  assert_true(column_of(domain, 9).step == 1.0 / 16);
  assert_true(column_of(domain, 11).step == 0);
  tutti_domain_destroy(domain);
}

static void inactive_choices_are_zeros(void **state) {
  static const char *const texts[][2] = {{"a", "choice x y"}, {"b", "choice p q r if a = y"}};
  tutti_domain *domain = domain_of(2, texts);
  const double point[2] = {0, NAN};
  double vector[4];
  tutti_domain_encode(domain, point, vector);
  assert_true(vector[0] == 0 && vector[1] == 0 && vector[2] == 0 && vector[3] == 0);
  tutti_domain_destroy(domain);
}

/* --- text ------------------------------------------------------------------------------------------------------- */

static void printed_points_come_back_bit_for_bit(void **state) {
  tutti_domain *domain = rich_domain();
  struct tutti_random random = stream("print");
  for (int i = 0; i < POINTS; i++) {
    double point[RICH], back[RICH];
    char *json;
    tutti_domain_sample(domain, &random, point);
    assert_int_equal(tutti_domain_print(context, domain, point, &json), TUTTI_OK);
    assert_int_equal(tutti_domain_parse(context, domain, json, back), TUTTI_OK);
    for (size_t d = 0; d < RICH; d++)
      assert_true(isnan(point[d]) ? isnan(back[d]) : memcmp(&point[d], &back[d], sizeof(double)) == 0);
    tutti_free(json);
  }
  tutti_domain_destroy(domain);
}

static void points_read_well(void **state) {
  static const char *const texts[][2] = {{"rate", "uniform -1 1"},
                                         {"zero", "uniform -1 1"},
                                         {"n", "integer 1 5"},
                                         {"o", "choice \"q\" b"},
                                         {"p", "uniform 0 1 if n = 2"}};
  tutti_domain *domain = domain_of(5, texts);
  double point[5] = {0.1, -0.0, 3, 0, NAN}, back[5];
  char *json;
  assert_int_equal(tutti_domain_print(context, domain, point, &json), TUTTI_OK);
  assert_string_equal(json, "{\"rate\": 0.1, \"zero\": -0.0, \"n\": 3, \"o\": \"\\\"q\\\"\"}");
  assert_int_equal(tutti_domain_parse(context, domain, json, back), TUTTI_OK);
  assert_true(signbit(back[1]));
  tutti_free(json);
  tutti_domain_destroy(domain);
}

static void dimensions_come_back_from_text(void **state) {
  tutti_domain *domain = rich_domain(), *copy = domain_of(0, NULL);
  for (size_t i = 0; i < RICH; i++) {
    char *text, *again;
    assert_int_equal(tutti_domain_text(context, domain, i, &text), TUTTI_OK);
    assert_int_equal(tutti_domain_add_text(context, copy, tutti_domain_at(domain, i)->name, text), TUTTI_OK);
    assert_int_equal(tutti_domain_text(context, copy, i, &again), TUTTI_OK);
    assert_string_equal(text, again);
    if (i == 3)
      assert_string_equal(text, "uniform 0 0.99 if optimiser = sgd rmsprop");
    if (i == 7)
      assert_string_equal(text, "integer -8 8 if depth = 2 3");
    tutti_free(text);
    tutti_free(again);
  }
  tutti_domain_destroy(domain);
  tutti_domain_destroy(copy);
}

static void ranges_are_told_from_values(void **state) {
  assert_true(tutti_domain_is_range("  choice a b"));
  assert_true(tutti_domain_is_range("log-integer"));
  assert_false(tutti_domain_is_range("choices"));
  assert_false(tutti_domain_is_range("0.1"));
  assert_false(tutti_domain_is_range(""));
}

/* --- counting --------------------------------------------------------------------------------------------------- */

static bool next_assignment(const tutti_domain *domain, double *point) {
  for (size_t i = 0; i < tutti_domain_count(domain); i++) {
    const struct tutti_dimension *dimension = tutti_domain_at(domain, i);
    double low = dimension->type == TUTTI_DIMENSION_CATEGORICAL ? 0 : dimension->low;
    double high =
        dimension->type == TUTTI_DIMENSION_CATEGORICAL ? (double)dimension->choice_count - 1 : dimension->high;
    point[i] = isnan(point[i]) ? low : point[i] + 1;
    if (point[i] <= high)
      return true;
    point[i] = NAN;
  }
  return false;
}

static void cardinality_counts_the_valid_points(void **state) {
  static const char *const texts[][2] = {
      {"a", "integer 1 4"},         {"b", "choice x y z if a = 2 3"}, {"c", "integer 0 1 if b = y z"},
      {"d", "choice u v w"},        {"e", "integer 5 6 if a = 3 4"},  {"f", "integer 1 2 if d = w"},
      {"g", "integer 1 2 if b = y"}};
  for (size_t count = 0; count <= 7; count++) {
    tutti_domain *domain = domain_of(count, texts);
    double point[7] = {NAN, NAN, NAN, NAN, NAN, NAN, NAN}, valid = count == 0;
    while (next_assignment(domain, point))
      valid += tutti_domain_check(context, domain, point) == TUTTI_OK;
    assert_true(tutti_domain_cardinality(domain) == valid);
    tutti_domain_destroy(domain);
  }
  tutti_domain *rich = rich_domain();
  assert_true(isinf(tutti_domain_cardinality(rich)));
  tutti_domain_destroy(rich);
  static const char *const constant[][2] = {{"a", "uniform 2 2"}, {"b", "integer 1 3"}};
  tutti_domain *single = domain_of(2, constant);
  assert_true(tutti_domain_cardinality(single) == 3);
  tutti_domain_destroy(single);
}

/* By hand: a choice that differs, a real a quarter of its range apart, a log-integer at half of it, and a dimension
   that only one point has. */
static void test_distance(void **state) {
  (void)state;
  tutti_context *own;
  tutti_domain *domain;
  assert_int_equal(tutti_context_create(&own), TUTTI_OK);
  assert_int_equal(tutti_domain_create(own, &domain), TUTTI_OK);
  assert_int_equal(tutti_domain_add_text(own, domain, "kind", "choice a b c"), TUTTI_OK);
  assert_int_equal(tutti_domain_add_text(own, domain, "x", "uniform 0 4"), TUTTI_OK);
  assert_int_equal(tutti_domain_add_text(own, domain, "rate", "log-uniform 1e-4 1"), TUTTI_OK);
  assert_int_equal(tutti_domain_add_text(own, domain, "extra", "uniform 0 1 if kind = c"), TUTTI_OK);
  const double a[] = {0, 1, 1e-4, NAN}, b[] = {2, 2, 1e-2, 0.5}, c[] = {0, 1, 1e-4, NAN}, d[] = {1, 5 - 1, 1, NAN};
  assert_true(fabs(tutti_domain_distance(domain, a, b) - (1 + 0.25 + 0.5 + 1) / 4) < 1e-12);
  assert_true(tutti_domain_distance(domain, a, b) == tutti_domain_distance(domain, b, a));
  assert_true(tutti_domain_distance(domain, a, c) == 0);
  assert_true(fabs(tutti_domain_distance(domain, a, d) - (1 + 0.75 + 1) / 3) < 1e-12);
  tutti_domain_destroy(domain);
  tutti_context_destroy(own);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(bad_dimensions_are_refused),
      cmocka_unit_test(bad_structs_are_refused),
      cmocka_unit_test(bad_points_are_refused),
      cmocka_unit_test(samples_are_valid_and_conditions_hold),
      cmocka_unit_test(mutants_differ_in_one_dimension),
      cmocka_unit_test(mutation_is_uniform_over_active_dimensions),
      cmocka_unit_test(mutation_finds_the_other_value),
      cmocka_unit_test(neighbours_are_valid_and_near),
      cmocka_unit_test(small_log_integers_still_have_neighbours),
      cmocka_unit_test(repair_clips_rounds_and_sets_nan),
      cmocka_unit_test(draws_follow_their_distributions),
      cmocka_unit_test(units_reach_every_value),
      cmocka_unit_test(large_integers_are_exact),
      cmocka_unit_test(vectors_come_back),
      cmocka_unit_test(columns_say_what_they_are),
      cmocka_unit_test(columns_are_told_to_callers_of_other_versions),
      cmocka_unit_test(inactive_choices_are_zeros),
      cmocka_unit_test(printed_points_come_back_bit_for_bit),
      cmocka_unit_test(points_read_well),
      cmocka_unit_test(dimensions_come_back_from_text),
      cmocka_unit_test(ranges_are_told_from_values),
      cmocka_unit_test(cardinality_counts_the_valid_points),
      cmocka_unit_test(test_distance),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
