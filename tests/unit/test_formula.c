/* test_formula.c - formulas: what fits together has the right size, what does not is refused, and the first failure is
   kept. What their terms compute is compared with predictions by tests/cli/export-tables.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <tutti/formula.h>

static tutti_context *context;
static tutti_formula *formula;
static tutti_term x; /* three columns */

static int set_up(void **state) {
  (void)state;
  if (tutti_context_create(&context) != TUTTI_OK || tutti_formula_create(context, &formula) != TUTTI_OK)
    return -1;
  x = tutti_formula_input(formula, 3);
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  tutti_formula_destroy(formula);
  tutti_formula_destroy(NULL);
  tutti_context_destroy(context);
  return 0;
}

static void expect_size(tutti_term term, size_t rows, size_t columns) {
  assert_int_equal(tutti_formula_status(formula), TUTTI_OK);
  assert_non_null(tutti_formula_at(formula, term));
  assert_int_equal(tutti_formula_at(formula, term)->rows, rows);
  assert_int_equal(tutti_formula_at(formula, term)->columns, columns);
}

/* The last term failed with a message that says this, and nothing can be added after it. */
static void expect_failure(tutti_term term, const char *says) {
  size_t count = tutti_formula_count(formula);
  assert_true(term == TUTTI_NO_TERM);
  assert_int_equal(tutti_formula_status(formula), TUTTI_ERROR_INTERNAL);
  assert_non_null(strstr(tutti_error_message(context), says));
  assert_true(tutti_formula_number(formula, 1) == TUTTI_NO_TERM);
  assert_true(TUTTI_FORMULA(formula, TUTTI_FORMULA_EXP, x) == TUTTI_NO_TERM);
  assert_int_equal(tutti_formula_count(formula), count);
  assert_int_equal(tutti_formula_status(formula), TUTTI_ERROR_INTERNAL);
}

static void test_sizes(void **state) {
  static const double numbers[6] = {1, 2, 3, 4, 5, 6};
  (void)state;
  tutti_term row = tutti_formula_constant(formula, 1, 3, numbers),
             table = tutti_formula_constant(formula, 3, 2, numbers);
  tutti_term one = tutti_formula_number(formula, 7);
  expect_size(x, 0, 3);
  expect_size(row, 1, 3);
  expect_size(table, 3, 2);
  expect_size(TUTTI_FORMULA(formula, TUTTI_FORMULA_ADD, x, row), 0, 3);
  expect_size(TUTTI_FORMULA(formula, TUTTI_FORMULA_ADD, one, x), 0, 3);
  expect_size(TUTTI_FORMULA(formula, TUTTI_FORMULA_LOG, row), 1, 3);
  expect_size(TUTTI_FORMULA(formula, TUTTI_FORMULA_SUM, x), 0, 1);
  expect_size(TUTTI_FORMULA(formula, TUTTI_FORMULA_PRODUCT, x, table), 0, 2);
  expect_size(TUTTI_FORMULA(formula, TUTTI_FORMULA_PRODUCT, row, table), 1, 2);
  expect_size(TUTTI_FORMULA(formula, TUTTI_FORMULA_BESIDE, x, row, one), 0, 7);
  expect_size(tutti_formula_columns(formula, x, 2, (const uint32_t[]){2, 2}), 0, 2);
  expect_size(tutti_formula_couple(formula, x, 3), 0, 3);
  assert_true(tutti_formula_at(formula, table)->values[5] == 6);
  assert_null(tutti_formula_at(formula, TUTTI_NO_TERM));
}

static void test_other_columns(void **state) {
  (void)state;
  tutti_term two = tutti_formula_constant(formula, 1, 2, (const double[]){1, 2});
  expect_failure(TUTTI_FORMULA(formula, TUTTI_FORMULA_MULTIPLY, x, two), "op multiply");
}

static void test_table_as_row(void **state) {
  (void)state;
  tutti_term table = tutti_formula_constant(formula, 2, 3, (const double[]){1, 2, 3, 4, 5, 6});
  expect_failure(TUTTI_FORMULA(formula, TUTTI_FORMULA_ADD, x, table), "op add");
}

static void test_product_of_inputs(void **state) {
  (void)state;
  expect_failure(TUTTI_FORMULA(formula, TUTTI_FORMULA_PRODUCT, x, x), "op product");
}

static void test_wrong_count(void **state) {
  (void)state;
  expect_failure(TUTTI_FORMULA(formula, TUTTI_FORMULA_EXP, x, x), "does not take 2 terms");
}

static void test_ops_with_functions(void **state) {
  (void)state;
  expect_failure(TUTTI_FORMULA(formula, TUTTI_FORMULA_TREES, x), "does not take 1 terms");
}

static void test_unknown_op(void **state) {
  (void)state;
  expect_failure(TUTTI_FORMULA(formula, TUTTI_FORMULA_OPS, x), "does not take 1 terms");
}

static void test_unknown_term(void **state) {
  (void)state;
  expect_failure(TUTTI_FORMULA(formula, TUTTI_FORMULA_ADD, x, 9), "one that it does not have");
}

static void test_unknown_column(void **state) {
  (void)state;
  expect_failure(tutti_formula_columns(formula, x, 1, (const uint32_t[]){3}), "of a term that has 3");
}

static void test_pairs_of_others(void **state) {
  (void)state;
  expect_failure(tutti_formula_couple(formula, x, 4), "3 pairs are not those of 4 classes");
}

static void test_no_constant(void **state) {
  (void)state;
  expect_failure(tutti_formula_constant(formula, 0, 3, NULL), "0 rows and 3 columns");
}

/* Two trees: a question with two leaves, and a leaf alone. */
struct sample {
  size_t roots[3], leaf[3];
  uint32_t column[4], low[4], high[4], of[3];
  double threshold[4], value[3];
};
static const struct sample right = {.roots = {0, 3, 4},
                                    .leaf = {1, 2, 3},
                                    .column = {2, 0, 0, 0},
                                    .low = {1, 1, 2, 0},
                                    .high = {2, 1, 2, 0},
                                    .of = {0, 1, 1},
                                    .threshold = {0.5},
                                    .value = {1, 2, 3}};

static tutti_term ask(const struct sample *sample) {
  const struct tutti_formula_trees trees = {.size = sizeof trees,
                                            .trees = 2,
                                            .columns = 2,
                                            .says = 3,
                                            .roots = sample->roots,
                                            .column = sample->column,
                                            .threshold = sample->threshold,
                                            .low = sample->low,
                                            .high = sample->high,
                                            .leaf = sample->leaf,
                                            .of = sample->of,
                                            .value = sample->value};
  return tutti_formula_grow(formula, x, &trees);
}

static void test_trees(void **state) {
  struct sample sample = right;
  (void)state;
  tutti_term term = ask(&sample);
  memset(&sample, 0, sizeof sample); /* it has its own */
  expect_size(term, 0, 2);
  assert_true(tutti_formula_at(formula, term)->trees->value[2] == 3);
  assert_int_equal(tutti_formula_at(formula, term)->trees->roots[2], 4);
}

/* A plugin of a later version has a larger struct; who forgot its size has none. */
static void test_size_of_trees(void **state) {
  struct {
    struct tutti_formula_trees trees;
    size_t later;
  } grown = {.trees = {.size = sizeof grown,
                       .trees = 2,
                       .columns = 2,
                       .says = 3,
                       .roots = right.roots,
                       .column = right.column,
                       .threshold = right.threshold,
                       .low = right.low,
                       .high = right.high,
                       .leaf = right.leaf,
                       .of = right.of,
                       .value = right.value},
             .later = 1};
  (void)state;
  tutti_term term = tutti_formula_grow(formula, x, &grown.trees);
  expect_size(term, 0, 2);
  assert_int_equal(tutti_formula_at(formula, term)->trees->size, sizeof(struct tutti_formula_trees));
  grown.trees.size = 0;
  expect_failure(tutti_formula_grow(formula, x, &grown.trees), "set their member size to sizeof");
}

/* A row that went round in circles, or out of its tree, would never arrive. */
static void test_no_trees(void **state) {
  struct sample samples[] = {right, right, right, right, right, right, right};
  samples[0].high[0] = 0;
  samples[1].high[0] = 3;
  samples[2].column[0] = 3;
  samples[3].leaf[1] = 0;
  samples[4].of[2] = 2;
  samples[5].roots[1] = 4;
  samples[6].high[3] = 1;
  for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
    expect_failure(ask(&samples[i]), "no trees over the 3 columns");
    assert_int_equal(tear_down(state), 0);
    assert_int_equal(set_up(state), 0);
  }
}

/* What a row costs; constants and what is made of them alone cost nothing. */
static void test_flops(void **state) {
  static const double numbers[6] = {1, 2, 3, 4, 5, 6};
  (void)state;
  tutti_term row = tutti_formula_constant(formula, 1, 3, numbers),
             table = tutti_formula_constant(formula, 3, 2, numbers);
  double before = 0;
  assert_true(tutti_formula_flops(formula) == 0);
#define COSTS(term, flops)                                                                                             \
  assert_true((term) != TUTTI_NO_TERM);                                                                                \
  assert_true(tutti_formula_flops(formula) - before == (flops));                                                       \
  before = tutti_formula_flops(formula)
  COSTS(TUTTI_FORMULA(formula, TUTTI_FORMULA_EXP, row), 0);
  COSTS(TUTTI_FORMULA(formula, TUTTI_FORMULA_ADD, x, row), 3);
  COSTS(TUTTI_FORMULA(formula, TUTTI_FORMULA_EXP, x), 3);
  COSTS(TUTTI_FORMULA(formula, TUTTI_FORMULA_SUM, x), 3);
  COSTS(TUTTI_FORMULA(formula, TUTTI_FORMULA_PRODUCT, x, table), 12);
  COSTS(TUTTI_FORMULA(formula, TUTTI_FORMULA_PRODUCT, row, table), 0);
  COSTS(TUTTI_FORMULA(formula, TUTTI_FORMULA_BESIDE, x, x), 0);
  COSTS(tutti_formula_columns(formula, x, 1, (const uint32_t[]){2}), 0);
  COSTS(tutti_formula_couple(formula, x, 3), 360);
#undef COSTS
}

/* A chain of two questions and three leaves, at depths 1, 2 and 2: 5/3 questions, and one addition. */
static void test_flops_of_trees(void **state) {
  static const size_t roots[] = {0, 5}, leaf[] = {1, 3, 4};
  static const uint32_t column[5] = {0, 0, 1, 0, 0}, low[] = {1, 1, 3, 3, 4}, high[] = {2, 1, 4, 3, 4}, of[3] = {0};
  static const double threshold[5] = {0}, value[] = {1, 2, 3};
  const struct tutti_formula_trees trees = {.size = sizeof trees,
                                            .trees = 1,
                                            .columns = 1,
                                            .says = 3,
                                            .roots = roots,
                                            .column = column,
                                            .threshold = threshold,
                                            .low = low,
                                            .high = high,
                                            .leaf = leaf,
                                            .of = of,
                                            .value = value};
  (void)state;
  expect_size(tutti_formula_grow(formula, x, &trees), 0, 1);
  assert_float_equal(tutti_formula_flops(formula), 5.0 / 3 + 1, 1e-12);
}

/* A formula that only counts needs no numbers and keeps none, and counts the same. */
static void test_counting(void **state) {
  static const double numbers[6] = {1, 2, 3, 4, 5, 6};
  static const size_t roots[] = {0, 3}, leaf[] = {1, 2};
  static const uint32_t column[3] = {0}, low[] = {1, 1, 2}, high[] = {2, 1, 2}, of[2] = {0};
  static const double threshold[3] = {0};
  const struct tutti_formula_trees trees = {.size = sizeof trees,
                                            .trees = 1,
                                            .columns = 1,
                                            .says = 2,
                                            .roots = roots,
                                            .column = column,
                                            .threshold = threshold,
                                            .low = low,
                                            .high = high,
                                            .leaf = leaf,
                                            .of = of,
                                            .value = numbers};
  tutti_formula *whole = formula;
  double flops[2];
  (void)state;
  for (int counts = 0; counts < 2; counts++) {
    if (counts) {
      assert_int_equal(tutti_formula_create_counting(context, &formula), TUTTI_OK);
      x = tutti_formula_input(formula, 3);
    }
    assert_true(tutti_formula_counts(formula) == (counts == 1));
    tutti_term given = tutti_formula_constant(formula, 3, 2, numbers);
    tutti_term table = counts ? tutti_formula_constant(formula, 3, 2, NULL) : given;
    tutti_term product = TUTTI_FORMULA(formula, TUTTI_FORMULA_PRODUCT, x, table);
    tutti_term grown = tutti_formula_grow(formula, x, &trees);
    expect_size(product, 0, 2);
    expect_size(grown, 0, 1);
    assert_true((tutti_formula_at(formula, given)->values == NULL) == (counts == 1));
    assert_true((tutti_formula_at(formula, grown)->trees == NULL) == (counts == 1));
    flops[counts] = tutti_formula_flops(formula);
  }
  assert_true(flops[0] == 12 + 1 + 1 && flops[1] == flops[0]);
  tutti_formula_destroy(formula);
  formula = whole;
}

static void test_no_values(void **state) {
  (void)state;
  expect_failure(tutti_formula_constant(formula, 2, 3, NULL), "a constant of 2 rows and 3 columns without its numbers");
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(test_sizes),           TEST(test_other_columns),     TEST(test_table_as_row), TEST(test_product_of_inputs),
      TEST(test_wrong_count),     TEST(test_unknown_op),        TEST(test_unknown_term), TEST(test_unknown_column),
      TEST(test_pairs_of_others), TEST(test_no_constant),       TEST(test_trees),        TEST(test_size_of_trees),
      TEST(test_flops),           TEST(test_flops_of_trees),    TEST(test_counting),     TEST(test_no_values),
      TEST(test_no_trees),        TEST(test_ops_with_functions)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
