/* Panels of points: sums and triangular solves against plain loops, for every level of vector instructions. The result
   of a point depends neither on its neighbours nor on how many rows follow. */
#include "golden.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#include "plugins/shared/gp/gp_panel.c"

enum { ROWS_MOST = 203, STRIDE = 208 };

struct panel {
  double factor[ROWS_MOST * STRIDE]; /* upper, with rows below the diagonal that nobody may read */
  double weight[ROWS_MOST];
  double block[ROWS_MOST * GP_BATCH], solved[ROWS_MOST * GP_BATCH];
};

static struct panel *panel_make(void) {
  struct tutti_random random;
  struct panel *panel = malloc(sizeof(*panel));
  tutti_random_init(&random, 1, "test panel", 0);
  for (size_t j = 0; j < ROWS_MOST; j++) {
    for (size_t i = 0; i < STRIDE; i++)
      panel->factor[j * STRIDE + i] = i < j    ? tutti_random_normal(&random) / 20
                                      : i == j ? 1 + tutti_random_uniform(&random)
                                               : NAN;
    panel->weight[j] = tutti_random_normal(&random);
  }
  for (size_t i = 0; i < ROWS_MOST * GP_BATCH; i++)
    panel->block[i] = tutti_random_normal(&random);
  return panel;
}

/* Forward substitution and sums as they are written in books. */
static void check_column(const struct panel *panel, size_t rows, size_t c, const double *solved, double square,
                         double sum) {
  double z[ROWS_MOST], squares = 0, weighted = 0;
  for (size_t j = 0; j < rows; j++) {
    z[j] = panel->block[j * GP_BATCH + c];
    weighted += panel->weight[j] * z[j];
    for (size_t i = 0; i < j; i++)
      z[j] -= panel->factor[j * STRIDE + i] * z[i];
    z[j] /= panel->factor[j * STRIDE + j];
    squares += z[j] * z[j];
    assert_close(solved[j * GP_BATCH + c], z[j], 1e-12, 1e-12);
  }
  assert_close(square, squares, 1e-12, 0);
  assert_close(sum, weighted, 1e-12, 1e-12);
}

static void check_functions(const struct gp_panel_functions *functions) {
  static const size_t rows[] = {1, 3, 8, 31, 32, 33, 64, ROWS_MOST}, columns[] = {1, 24, 25, 95, 96};
  struct panel *panel = panel_make();
  double squares[GP_BATCH], sums[GP_BATCH], before[GP_BATCH] = {0}, alone[GP_BATCH], sum_alone[GP_BATCH];
  for (size_t r = 0; r < sizeof(rows) / sizeof(rows[0]); r++) {
    for (size_t c = 0; c < sizeof(columns) / sizeof(columns[0]); c++) {
      memcpy(panel->solved, panel->block, sizeof(panel->block));
      functions->weigh(rows[r], columns[c], panel->solved, panel->weight, sums);
      functions->solve(panel->factor, STRIDE, rows[r], columns[c], panel->solved, squares);
      for (size_t i = 0; i < columns[c]; i++)
        check_column(panel, rows[r], i, panel->solved, squares[i], sums[i]);
    }
    for (size_t i = 0; i < GP_BATCH; i++) /* more rows explain more */
      assert_true(squares[i] >= before[i]);
    memcpy(before, squares, sizeof(before));
    for (size_t i = 0; i < GP_BATCH; i += 17) { /* elsewhere in the panel, with other points beside it */
      for (size_t j = 0; j < rows[r]; j++)
        for (size_t c = 0; c < GP_TILE; c++)
          panel->solved[j * GP_BATCH + c] = c == 7 ? panel->block[j * GP_BATCH + i] : (double)c;
      functions->weigh(rows[r], 8, panel->solved, panel->weight, sum_alone);
      functions->solve(panel->factor, STRIDE, rows[r], 8, panel->solved, alone);
      assert_memory_equal(&alone[7], &squares[i], sizeof(double));
      assert_memory_equal(&sum_alone[7], &sums[i], sizeof(double));
    }
  }
  free(panel);
}

static void test_panels_of_every_processor(void **state) {
  (void)state;
  check_functions(&panel_baseline);
#if defined(__x86_64__)
  if (tutti_cpu_detect() >= TUTTI_CPU_AVX2)
    check_functions(&panel_avx2);
  if (tutti_cpu_detect() >= TUTTI_CPU_AVX512)
    check_functions(&panel_avx512);
#endif
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_panels_of_every_processor),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
