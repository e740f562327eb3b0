/* test_direct.c - dividing rectangles against a slow program that only follows the rules of the papers, rectangle by
   rectangle, in both forms; how many evaluations the original takes to the known minima of its paper; and the maximiser
   that divides them. */
#include "toy.h"

#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

#include "plugins/maximiser/rectangles.c"

enum { MOST = 4000, WIDEST = 3 };

/* --- the rules (Jones, Perttunen, Stuckman, JOTA 79, 1993, sections 3 to 5) --------------------------------------- */

struct part {
  double centre[WIDEST], value;
  int divisions[WIDEST]; /* a side's length is 3 to the power of minus this */
  size_t born;
};

struct plain {
  double (*function)(const double *x);
  int dimensions;
  bool local; /* Gablonsky, Kelley, 2001: a size is the longest side, and of equal rectangles one is divided */
  size_t count;
  struct part parts[MOST];
  bool chosen[MOST];
};

static double side(int divisions) { return pow(3, -(double)divisions); }

/* From the centre to a corner; in the local form, to the farthest face. */
static double size_by_rule(const struct plain *p, const struct part *part) {
  double squares = 0, longest = 0;
  for (int k = 0; k < p->dimensions; k++) {
    squares += side(part->divisions[k]) * side(part->divisions[k]);
    longest = fmax(longest, side(part->divisions[k]));
  }
  return p->local ? longest / 2 : sqrt(squares) / 2;
}

static bool same_size(double a, double b) { return fabs(a - b) < 1e-9 * a; }

/* No rectangle of the same size is better; in the local form, of those that equal it none is older. */
static bool is_best_of_size(const struct plain *p, size_t j) {
  for (size_t i = 0; i < p->count; i++)
    if (same_size(size_by_rule(p, &p->parts[j]), size_by_rule(p, &p->parts[i])) &&
        (p->parts[i].value < p->parts[j].value || (p->local && p->parts[i].value == p->parts[j].value && i < j)))
      return false;
  return true;
}

/* Does a line of slope k > 0 through (size, value) of j have no rectangle below it, and does it promise enough? What
   the roundings of the line can amount to does not count. */
static bool is_lowest(const struct plain *p, size_t j, double k) {
  double least = INFINITY, size = size_by_rule(p, &p->parts[j]), bound = p->parts[j].value - k * size;
  for (size_t i = 0; i < p->count; i++) {
    double rise = k * size_by_rule(p, &p->parts[i]), value = p->parts[i].value;
    least = fmin(least, value);
    if (value - rise < bound - 1e-14 * (fabs(value) + rise + k * size))
      return false;
  }
  return bound <= least - 1e-4 * fabs(least);
}

/* Definition 4.1. Every slope between j and another is tried, and one that is steeper than all. */
static bool is_potentially_optimal(const struct plain *p, size_t j) {
  if (!is_best_of_size(p, j))
    return false;
  for (size_t i = 0; i < p->count; i++) {
    double run = size_by_rule(p, &p->parts[i]) - size_by_rule(p, &p->parts[j]);
    double k = (p->parts[i].value - p->parts[j].value) / run;
    if (fabs(run) > 1e-9 * size_by_rule(p, &p->parts[j]) && k > 0 && is_lowest(p, j, k))
      return true;
  }
  return is_lowest(p, j, 1e12);
}

/* Sample at both ends of each longest side; divide along them, the one with the best value first. */
static void divide_by_rule(struct plain *p, size_t j) {
  int fewest = 1000, count = 0, order[WIDEST];
  double least[WIDEST];
  struct part ends[WIDEST][2];
  for (int k = 0; k < p->dimensions; k++)
    fewest = p->parts[j].divisions[k] < fewest ? p->parts[j].divisions[k] : fewest;
  for (int k = 0; k < p->dimensions; k++) {
    if (p->parts[j].divisions[k] > fewest)
      continue;
    for (int end = 0; end < 2; end++) {
      ends[k][end] = p->parts[j];
      ends[k][end].centre[k] += (end ? 1 : -1) * side(fewest + 1);
      ends[k][end].value = p->function(ends[k][end].centre);
      ends[k][end].born = p->count + 2 * (size_t)count + (size_t)end;
    }
    least[k] = fmin(ends[k][0].value, ends[k][1].value);
    order[count++] = k;
  }
  for (int done = 0; done < count; done++) {
    int best = done;
    for (int i = done + 1; i < count; i++)
      if (least[order[i]] < least[order[best]] || (least[order[i]] == least[order[best]] && order[i] < order[best]))
        best = i;
    int k = order[best];
    order[best] = order[done];
    order[done] = k;
    p->parts[j].divisions[k]++;
    for (int end = 0; end < 2; end++) {
      memcpy(ends[k][end].divisions, p->parts[j].divisions, sizeof ends[k][end].divisions);
      p->parts[ends[k][end].born] = ends[k][end];
    }
  }
  p->count += 2 * (size_t)count;
}

/* Those that are potentially optimal at the beginning of a round, the largest first. */
static void round_by_rule(struct plain *p) {
  size_t before = p->count;
  for (size_t j = 0; j < before; j++)
    p->chosen[j] = is_potentially_optimal(p, j);
  for (;;) {
    size_t next = before;
    for (size_t j = 0; j < before; j++)
      if (p->chosen[j] &&
          (next == before || size_by_rule(p, &p->parts[j]) > size_by_rule(p, &p->parts[next]) * (1 + 1e-9)))
        next = j;
    if (next == before)
      return;
    p->chosen[next] = false;
    divide_by_rule(p, next);
  }
}

/* --- functions ---------------------------------------------------------------------------------------------------- */

static double branin(const double *u) {
  double x = 15 * u[0] - 5, y = 15 * u[1], bend = y - 5.1 / (4 * M_PI * M_PI) * x * x + 5 / M_PI * x - 6;
  return bend * bend + 10 * (1 - 1 / (8 * M_PI)) * cos(x) + 10;
}

static double goldstein_price(const double *u) {
  double x = 4 * u[0] - 2, y = 4 * u[1] - 2, a = x + y + 1, b = 2 * x - 3 * y;
  return (1 + a * a * (19 - 14 * x + 3 * x * x - 14 * y + 6 * x * y + 3 * y * y)) *
         (30 + b * b * (18 - 32 * x + 12 * x * x + 48 * y - 36 * x * y + 27 * y * y));
}

static double six_hump_camel(const double *u) {
  double x = 6 * u[0] - 3, y = 4 * u[1] - 2;
  return (4 - 2.1 * x * x + x * x * x * x / 3) * x * x + x * y + (4 * y * y - 4) * y * y;
}

static double hartman3(const double *u) {
  static const double weight[4] = {1, 1.2, 3, 3.2};
  static const double steep[4][3] = {{3, 10, 30}, {0.1, 10, 35}, {3, 10, 30}, {0.1, 10, 35}};
  static const double at[4][3] = {
      {0.3689, 0.117, 0.2673}, {0.4699, 0.4387, 0.747}, {0.1091, 0.8732, 0.5547}, {0.03815, 0.5743, 0.8828}};
  double sum = 0;
  for (int i = 0; i < 4; i++) {
    double square = 0;
    for (int k = 0; k < 3; k++)
      square += steep[i][k] * (u[k] - at[i][k]) * (u[k] - at[i][k]);
    sum -= weight[i] * exp(-square);
  }
  return sum;
}

static double waves(const double *u) { return sin(7 * u[0]) + cos(5 * u[1]) * u[2] + 0.3 * u[1]; }
/* Equal along two sides of three. */
static double ridge(const double *u) { return (u[1] - 0.3) * (u[1] - 0.3); }
static double steps(const double *u) { return floor(4 * u[0]) + 2 * floor(4 * u[1]); }
static double flat(const double *u) { return 1 + 0 * u[0]; }

/* --- both side by side -------------------------------------------------------------------------------------------- */

struct subject {
  double (*function)(const double *x);
  size_t dimensions, points;
  double goal;    /* stop counting at a value below this */
  size_t to_goal; /* points until then */
};

static enum tutti_status evaluate(void *argument, tutti_context *context, size_t count, const double *points,
                                  double *values) {
  struct subject *subject = argument;
  (void)context;
  for (size_t i = 0; i < count; i++) {
    values[i] = subject->function(points + i * subject->dimensions);
    subject->points++;
    if (values[i] < subject->goal && subject->to_goal == 0)
      subject->to_goal = subject->points;
  }
  return TUTTI_OK;
}

static void are_equal(const struct rectangles *r, const struct plain *p) {
  if (r->count != p->count)
    fail_msg("%zu rectangles; by the rules there are %zu", r->count, p->count);
  for (size_t i = 0; i < r->count; i++) {
    if (r->values[i] != p->parts[i].value)
      fail_msg("rectangle %zu of %zu has value %g, not %g", i, r->count, r->values[i], p->parts[i].value);
    for (int k = 0; k < p->dimensions; k++) {
      size_t at = i * (size_t)p->dimensions + (size_t)k;
      if (fabs(r->centres[at] - p->parts[i].centre[k]) > 1e-12 || r->levels[at] != p->parts[i].divisions[k])
        fail_msg("rectangle %zu of %zu, side %d: %g by %d, not %g by %d", i, r->count, k, r->centres[at], r->levels[at],
                 p->parts[i].centre[k], p->parts[i].divisions[k]);
    }
  }
}

/* So many rounds, or until there are enough rectangles. */
static void follows_the_rules(double (*function)(const double *), size_t dimensions, bool local) {
  enum { ROUNDS = 25, ENOUGH = 300 };
  static struct plain plain;
  struct subject subject = {.function = function, .dimensions = dimensions, .goal = -INFINITY};
  const struct rectangles_task task = {
      .dimensions = dimensions, .evaluations = MOST, .local = local, .evaluate = evaluate, .argument = &subject};
  struct rectangles r;
  tutti_context *context;
  bool more;
  assert_int_equal(tutti_context_create(&context), TUTTI_OK);
  assert_int_equal(create(context, &task, &r), TUTTI_OK);
  plain = (struct plain){.function = function, .dimensions = (int)dimensions, .local = local, .count = 1};
  for (size_t k = 0; k < dimensions; k++)
    r.centres[k] = plain.parts[0].centre[k] = 0.5;
  r.values[0] = plain.parts[0].value = function(r.centres);
  r.count = 1;
  for (int round = 0; round < ROUNDS && r.count < ENOUGH; round++) {
    assert_int_equal(divide_round(context, &r, &more), TUTTI_OK);
    round_by_rule(&plain);
    are_equal(&r, &plain);
  }
  assert_true(r.count > 100);
  destroy(&r);
  tutti_context_destroy(context);
}

static void test_rules(void **state) {
  (void)state;
  for (int local = 0; local < 2; local++) {
    follows_the_rules(branin, 2, local);
    follows_the_rules(goldstein_price, 2, local);
    follows_the_rules(six_hump_camel, 2, local);
    follows_the_rules(hartman3, 3, local);
    follows_the_rules(waves, 3, local);
  }
}

/* Equal ones are all divided in the original form, and in the local form the oldest. */
static void test_equal_ones(void **state) {
  (void)state;
  for (int local = 0; local < 2; local++) {
    follows_the_rules(ridge, 2, local);
    follows_the_rules(ridge, 3, local);
    follows_the_rules(steps, 2, local);
    follows_the_rules(steps, 3, local);
  }
  follows_the_rules(flat, 2, false);
  follows_the_rules(flat, 3, false);
}

static size_t evaluations_to(double (*function)(const double *), size_t dimensions, double minimum) {
  struct subject subject = {.function = function, .dimensions = dimensions, .goal = minimum + 1e-4 * fabs(minimum)};
  const struct rectangles_task task = {
      .dimensions = dimensions, .evaluations = MOST, .local = false, .evaluate = evaluate, .argument = &subject};
  tutti_context *context;
  assert_int_equal(tutti_context_create(&context), TUTTI_OK);
  assert_int_equal(rectangles_divide(context, &task), TUTTI_OK);
  tutti_context_destroy(context);
  return subject.to_goal;
}

/* The paper's counts until the value is within 0.01 % of the minimum. In which order a round divides its rectangles, it
   does not say: the point that counts may come a little sooner in its round. */
static void test_published(void **state) {
  static const struct {
    double (*function)(const double *x);
    size_t dimensions, published;
    double minimum;
  } cases[] = {{branin, 2, 195, 0.397887357729739}, {goldstein_price, 2, 191, 3}, {hartman3, 3, 199, -3.86278214782}};
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    size_t found = evaluations_to(cases[i].function, cases[i].dimensions, cases[i].minimum);
    if (found > cases[i].published || found + 5 < cases[i].published)
      fail_msg("%zu evaluations; %zu are published", found, cases[i].published);
  }
}

/* --- the maximiser ------------------------------------------------------------------------------------------------ */

/* Points, in the order in which they are asked for. */
struct asked {
  size_t count;
  double at[MOST][2], least, best[2];
};

static void ask(struct asked *asked, const double *at, double value) {
  assert_true(asked->count < MOST);
  memcpy(asked->at[asked->count++], at, sizeof asked->at[0]);
  if (asked->count == 1 || value < asked->least) {
    asked->least = value;
    memcpy(asked->best, at, sizeof asked->best);
  }
}

static enum tutti_status ask_by_rectangles(void *argument, tutti_context *context, size_t count, const double *points,
                                           double *values) {
  (void)context;
  for (size_t i = 0; i < count; i++) {
    values[i] = branin(points + 2 * i);
    ask(argument, points + 2 * i, values[i]);
  }
  return TUTTI_OK;
}

static enum tutti_status ask_by_maximiser(void *argument, tutti_context *context, const struct tutti_points *points,
                                          double *worth) {
  (void)context;
  for (size_t i = 0; i < points->count; i++) {
    worth[i] = -branin(points->vectors + 2 * i);
    ask(argument, points->vectors + 2 * i, -worth[i]);
  }
  return TUTTI_OK;
}

/* It asks for the points of its form, as many as it is told to, and proposes the best. */
static void test_maximiser(void **state) {
  static struct asked plain, asked;
  (void)state;
  for (int local = 0; local < 2; local++) {
    struct toy toy;
    tutti_scope *scope;
    tutti_maximiser *maximiser;
    tutti_candidate *candidate;
    double worth;
    plain.count = asked.count = 0;
    toy_create(&toy, 1, 1, 1, "x = uniform 0 1\ny = uniform 0 1");
    const struct rectangles_task task = {
        .dimensions = 2, .evaluations = 300, .local = local, .evaluate = ask_by_rectangles, .argument = &plain};
    TOY_OK(&toy, rectangles_divide(toy.context, &task));
    toy_put(&toy, "maximiser", TUTTI_KIND_MAXIMISER, "direct");
    toy_set(&toy, "maximiser", "local", local ? "yes" : "no");
    toy_set(&toy, "maximiser", "evaluations", "300");
    TOY_OK(&toy, tutti_scope_create(toy.context, NULL, toy.hyperparameters, &scope));
    struct tutti_maximiser_setup setup = {.size = sizeof setup, .host = toy.host, .seed = 1, .scope = scope};
    struct tutti_objective objective = {.size = sizeof objective, .argument = &asked, .evaluate = ask_by_maximiser};
    TOY_OK(&toy, tutti_maximiser_create(toy.context, toy.host, "maximiser", &setup, &maximiser));
    TOY_OK(&toy, tutti_maximiser_maximise(toy.context, maximiser, &objective, &candidate, &worth));
    assert_true(plain.count > 280 && asked.count == plain.count);
    for (size_t i = 0; i < plain.count; i++)
      assert_true(fabs(asked.at[i][0] - plain.at[i][0]) + fabs(asked.at[i][1] - plain.at[i][1]) < 1e-12);
    const double *found = tutti_candidate_hyperparameters(candidate);
    assert_true(fabs(worth + plain.least) < 1e-9);
    assert_true(fabs(found[0] - plain.best[0]) + fabs(found[1] - plain.best[1]) < 1e-12);
    tutti_candidate_unref(candidate);
    tutti_maximiser_destroy(maximiser);
    tutti_scope_destroy(scope);
    toy_destroy(&toy);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rules),
      cmocka_unit_test(test_equal_ones),
      cmocka_unit_test(test_published),
      cmocka_unit_test(test_maximiser),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
