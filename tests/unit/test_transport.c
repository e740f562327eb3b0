/* test_transport.c - partial optimal transport: every optimum is proved by its prices, on random problems, on
   degenerate ones, from the start and from the basis of other costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/random.h>

#include "spaces/layer-graph/transport.h"

static struct transport transport;
static double supplies[TRANSPORT_SIDE], demands[TRANSPORT_SIDE], costs[TRANSPORT_SIDE][TRANSPORT_SIDE];

/* Sizes up to `most`; whole masses and few costs make ties, real ones none. */
static void draw_masses(struct tutti_random *random, int most, bool ties) {
  transport.rows = 1 + (int)tutti_random_below(random, (uint64_t)most);
  transport.columns = 1 + (int)tutti_random_below(random, (uint64_t)most);
  for (int i = 0; i < transport.rows; i++)
    supplies[i] = ties ? 1 + (double)tutti_random_below(random, 3) : exp(10 * tutti_random_uniform(random));
  for (int j = 0; j < transport.columns; j++)
    demands[j] = ties ? 1 + (double)tutti_random_below(random, 3) : exp(10 * tutti_random_uniform(random));
  memcpy(transport.supplies, supplies, sizeof supplies);
  memcpy(transport.demands, demands, sizeof demands);
}

static void draw_costs(struct tutti_random *random, bool ties) {
  for (int i = 0; i < transport.rows; i++)
    for (int j = 0; j < transport.columns; j++) {
      double cost = ties ? 0.25 * (double)tutti_random_below(random, 10) : 2.5 * tutti_random_uniform(random);
      costs[i][j] = transport.costs[i][j] = tutti_random_below(random, 10) == 0 ? INFINITY : cost;
    }
}

static double total_mass(void) {
  double total = 0;
  for (int i = 0; i < transport.rows; i++)
    total += supplies[i];
  for (int j = 0; j < transport.columns; j++)
    total += demands[j];
  return total;
}

/* Prices that no arc undercuts, and a flow whose cost they match: by duality both are optimal. */
static void assert_optimal(void) {
  double total = total_mass(), promised = 0, cost = 0;
  for (int i = 0; i < transport.rows; i++) {
    double left = supplies[i];
    assert_true(transport.row_prices[i] <= 1 + 1e-12);
    for (int j = 0; j < transport.columns; j++) {
      double flow = transport_flow(&transport, i, j);
      assert_true(flow >= 0);
      assert_true(transport.row_prices[i] + transport.column_prices[j] <= costs[i][j] + 1e-12);
      cost += flow > 0 ? flow * costs[i][j] : 0;
      left -= flow;
    }
    promised += transport.row_prices[i] * supplies[i];
    assert_true(left >= -1e-15 * total);
    cost += left;
  }
  for (int j = 0; j < transport.columns; j++) {
    double left = demands[j];
    assert_true(transport.column_prices[j] <= 1 + 1e-12);
    for (int i = 0; i < transport.rows; i++)
      left -= transport_flow(&transport, i, j);
    promised += transport.column_prices[j] * demands[j];
    assert_true(left >= -1e-15 * total);
    cost += left;
  }
  assert_true(fabs(cost - promised) <= 1e-12 * total);
}

static void prove(uint64_t seed, int problems, int most, bool ties) {
  for (int problem = 0; problem < problems; problem++) {
    struct tutti_random random;
    tutti_random_init(&random, seed, "transport", (uint64_t)problem);
    draw_masses(&random, most, ties);
    transport_begin(&transport);
    for (int again = 0; again < 4; again++) {
      draw_costs(&random, ties);
      transport_solve(&transport);
      assert_optimal();
    }
  }
}

static void random_problems_are_solved(void **state) {
  (void)state;
  prove(1, 2000, 12, false);
  prove(2, 40, TRANSPORT_SIDE, false);
}

static void degenerate_problems_are_solved(void **state) {
  (void)state;
  prove(3, 2000, 12, true);
  prove(4, 40, TRANSPORT_SIDE, true);
}

/* 64 rows and columns of one mass and one cost: every basis is degenerate. */
static void equal_numbers_are_solved(void **state) {
  (void)state;
  transport.rows = transport.columns = TRANSPORT_SIDE;
  for (int i = 0; i < TRANSPORT_SIDE; i++) {
    supplies[i] = demands[i] = transport.supplies[i] = transport.demands[i] = 3;
    for (int j = 0; j < TRANSPORT_SIDE; j++)
      costs[i][j] = transport.costs[i][j] = 0.5;
  }
  transport_begin(&transport);
  transport_solve(&transport);
  assert_optimal();
}

/* Masses of very different sizes: small ones are neither lost nor in the way. */
static void small_masses_count(void **state) {
  (void)state;
  transport.rows = transport.columns = 2;
  for (int i = 0; i < 2; i++) {
    supplies[i] = transport.supplies[i] = i ? 1e-9 : 1e9;
    demands[i] = transport.demands[i] = i ? 1e9 : 1e-9;
    for (int j = 0; j < 2; j++)
      costs[i][j] = transport.costs[i][j] = i == j ? 0 : 0.5;
  }
  transport_begin(&transport);
  transport_solve(&transport);
  assert_true(transport_flow(&transport, 0, 1) > 0.99e9);
  for (int i = 0; i < 2; i++)
    assert_true(transport.supplies[i] > 0 && transport.demands[i] > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_problems_are_solved),
      cmocka_unit_test(degenerate_problems_are_solved),
      cmocka_unit_test(equal_numbers_are_solved),
      cmocka_unit_test(small_masses_count),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
