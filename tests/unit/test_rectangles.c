/* Dividing rectangles: the parts always make up the cube, points are as many as allowed and asked for in rounds, and
   known minima are found in both forms. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "plugins/maximiser/rectangles.c"

enum { MOST = 2000 };

struct search {
  double (*function)(const double *x, size_t dimensions);
  size_t dimensions, points, rounds;
  double least, at[8], first[5][2];
};

static double branin(const double *u, size_t dimensions) {
  double x = 15 * u[0] - 5, y = 15 * u[1], bend = y - 5.1 / (4 * M_PI * M_PI) * x * x + 5 / M_PI * x - 6;
  (void)dimensions;
  return bend * bend + 10 * (1 - 1 / (8 * M_PI)) * cos(x) + 10;
}

static double bowl(const double *u, size_t dimensions) {
  double sum = 0;
  for (size_t k = 0; k < dimensions; k++)
    sum += (u[k] - 0.3) * (u[k] - 0.3);
  return sum;
}

static double flat(const double *u, size_t dimensions) {
  (void)u, (void)dimensions;
  return 1;
}

static enum tutti_status evaluate(void *argument, tutti_context *context, size_t count, const double *points,
                                  double *values) {
  struct search *search = argument;
  (void)context;
  for (size_t i = 0; i < count; i++) {
    const double *x = points + i * search->dimensions;
    for (size_t k = 0; k < search->dimensions; k++)
      assert_true(x[k] > 0 && x[k] < 1);
    values[i] = search->function(x, search->dimensions);
    if (search->dimensions == 2 && search->points < 5)
      memcpy(search->first[search->points], x, 2 * sizeof *x);
    search->points++;
    if (values[i] < search->least) {
      search->least = values[i];
      memcpy(search->at, x, search->dimensions * sizeof *x);
    }
  }
  search->rounds++;
  return TUTTI_OK;
}

static struct search run(double (*function)(const double *, size_t), size_t dimensions, size_t evaluations,
                         bool local) {
  struct search search = {.function = function, .dimensions = dimensions, .least = INFINITY};
  const struct rectangles_task task = {
      .dimensions = dimensions, .evaluations = evaluations, .local = local, .evaluate = evaluate, .argument = &search};
  tutti_context *context;
  assert_int_equal(tutti_context_create(&context), TUTTI_OK);
  assert_int_equal(rectangles_divide(context, &task), TUTTI_OK);
  tutti_context_destroy(context);
  return search;
}

static void test_minima(void **state) {
  (void)state;
  for (int local = 0; local < 2; local++) {
    struct search search = run(branin, 2, 500, local);
    assert_true(search.least - 0.397887 < 1e-3);
    assert_true(search.points <= 500 && search.points > 480);
    assert_true(search.rounds < 120);
    search = run(bowl, 5, MOST, local);
    assert_true(search.least < 1e-3);
  }
}

/* The middle, then a third to both sides of it along each side. */
static void test_first_points(void **state) {
  static const double expected[5][2] = {{0.5, 0.5}, {1 / 6.0, 0.5}, {5 / 6.0, 0.5}, {0.5, 1 / 6.0}, {0.5, 5 / 6.0}};
  (void)state;
  struct search search = run(branin, 2, 5, false);
  assert_int_equal(search.points, 5);
  assert_int_equal(search.rounds, 2);
  for (int i = 0; i < 5; i++)
    for (int k = 0; k < 2; k++)
      assert_true(fabs(search.first[i][k] - expected[i][k]) < 1e-15);
}

static void test_few_evaluations(void **state) {
  (void)state;
  for (size_t evaluations = 1; evaluations < 30; evaluations++)
    assert_true(run(branin, 2, evaluations, false).points <= evaluations);
  assert_int_equal(run(flat, 1, MOST, true).points % 2, 1);
}

/* After each round the rectangles fill the cube, and sides of one have two lengths at most. */
static void test_parts_make_up_the_cube(void **state) {
  (void)state;
  for (int local = 0; local < 2; local++) {
    struct search search = {.function = bowl, .dimensions = 3, .least = INFINITY};
    const struct rectangles_task task = {
        .dimensions = 3, .evaluations = MOST, .local = local, .evaluate = evaluate, .argument = &search};
    struct rectangles r;
    tutti_context *context;
    bool more = true;
    assert_int_equal(tutti_context_create(&context), TUTTI_OK);
    assert_int_equal(create(context, &task, &r), TUTTI_OK);
    for (int k = 0; k < 3; k++)
      r.centres[k] = 0.5;
    r.values[0] = bowl(r.centres, 3);
    r.count = 1;
    while (more) {
      double volume = 0;
      assert_int_equal(divide_round(context, &r, &more), TUTTI_OK);
      for (size_t i = 0; i < r.count; i++) {
        const uint8_t *levels = r.levels + 3 * i;
        volume += pow(3, -(double)(levels[0] + levels[1] + levels[2]));
        for (int k = 0; k < 3; k++)
          assert_true(levels[k] <= lowest_level(&r, i) + 1);
        assert_true(r.keys[i] == key_of(&r, i));
      }
      assert_true(fabs(volume - 1) < 1e-9);
    }
    destroy(&r);
    tutti_context_destroy(context);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_minima),
      cmocka_unit_test(test_first_points),
      cmocka_unit_test(test_few_evaluations),
      cmocka_unit_test(test_parts_make_up_the_cube),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
