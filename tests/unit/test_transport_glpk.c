/* test_transport_glpk.c - partial optimal transport against GLPK's simplex method, on random problems. */
#include "config.h"
#include <stdio.h>

#ifndef HAVE_GLPK
int main(void) {
  (void)puts("skipped: configure did not find GLPK (Debian: libglpk-dev)");
  return 77;
}
#else

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <glpk.h>
#include <math.h>
#include <tutti/random.h>

#include "spaces/layer-graph/transport.h"

static struct transport transport;
static double costs[TRANSPORT_SIDE][TRANSPORT_SIDE];

static void draw(struct tutti_random *random) {
  transport.rows = 1 + (int)tutti_random_below(random, 14);
  transport.columns = 1 + (int)tutti_random_below(random, 14);
  for (int i = 0; i < transport.rows; i++) {
    transport.supplies[i] = exp(3 * tutti_random_uniform(random));
    for (int j = 0; j < transport.columns; j++)
      transport.costs[i][j] = costs[i][j] = 2.2 * tutti_random_uniform(random);
  }
  for (int j = 0; j < transport.columns; j++)
    transport.demands[j] = exp(3 * tutti_random_uniform(random));
}

static double own_optimum(void) {
  double cost = 0;
  for (int i = 0; i < transport.rows; i++)
    cost += transport.supplies[i];
  for (int j = 0; j < transport.columns; j++)
    cost += transport.demands[j];
  for (int i = 0; i < transport.rows; i++)
    for (int j = 0; j < transport.columns; j++)
      cost += transport_flow(&transport, i, j) * (costs[i][j] - 2);
  return cost;
}

/* Minimise, over flows x with the sums of rows and columns bounded by their masses, masses + sum x (cost - 2). */
static double glpk_optimum(void) {
  int rows = transport.rows, columns = transport.columns;
  double constant = 0;
  glp_prob *problem = glp_create_prob();
  glp_add_rows(problem, rows + columns);
  for (int k = 0; k < rows + columns; k++) {
    double mass = k < rows ? transport.supplies[k] : transport.demands[k - rows];
    glp_set_row_bnds(problem, k + 1, GLP_UP, 0, mass);
    constant += mass;
  }
  glp_add_cols(problem, rows * columns);
  for (int i = 0; i < rows; i++)
    for (int j = 0; j < columns; j++) {
      int column = i * columns + j + 1, ends[] = {0, i + 1, rows + j + 1};
      double ones[] = {0, 1, 1};
      glp_set_col_bnds(problem, column, GLP_LO, 0, 0);
      glp_set_obj_coef(problem, column, costs[i][j] - 2);
      glp_set_mat_col(problem, column, 2, ends, ones);
    }
  glp_set_obj_coef(problem, 0, constant);
  glp_smcp options;
  glp_init_smcp(&options);
  options.msg_lev = GLP_MSG_OFF;
  assert_int_equal(glp_simplex(problem, &options), 0);
  double optimum = glp_get_obj_val(problem);
  glp_delete_prob(problem);
  return optimum;
}

static void optima_are_glpks(void **state) {
  (void)state;
  for (uint64_t problem = 0; problem < 500; problem++) {
    struct tutti_random random;
    tutti_random_init(&random, 1, "glpk", problem);
    draw(&random);
    transport_begin(&transport);
    transport_solve(&transport);
    double own = own_optimum(), other = glpk_optimum();
    if (!(fabs(own - other) <= 1e-10 * other))
      fail_msg("problem %d: %.17g, not %.17g", (int)problem, own, other);
  }
  glp_free_env();
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(optima_are_glpks)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
