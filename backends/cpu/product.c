/* product.c - the products of dense layers and convolutions: gradients of inputs and of weights; and large products,
   which threads share. */
#include "team_impl.h"

/* --- large products --- */

/* A product of so many multiply-adds is done in parts, so many a thread if each then has so many rows: the more rows a
   part has, the cheaper is packing its block of B; the more parts there are, the less do threads wait for the last. */
enum { LARGE_PRODUCT = 1 << 25, LARGE_LEAST = 64, LARGE_PARTS = 3, LARGE_PART_ROWS = 120 };

/* A product in parts of about equal size: bands of columns, and in each, bands of rows. */
struct large {
  const struct cpu_plan *plan;
  const struct cpu_gemm *product;
  size_t across, down, units; /* units: columns of a band */
};

static void run_part(void *argument, size_t index, float *pack) {
  const struct large *large = argument;
  struct cpu_gemm part = *large->product;
  size_t column = index % large->across * large->units, band = index / large->across;
  size_t row = part.m * band / large->down, end = part.m * (band + 1) / large->down;
  if (column >= part.n)
    return;
  part.n = part.n - column < large->units ? part.n - column : large->units;
  part.m = end - row;
  part.a += row * part.a_row;
  part.b += column * (part.b_transposed ? part.ldb : 1);
  part.c += row * part.ldc + column;
  part.bias = part.bias ? part.bias + column : NULL;
  part.mask = part.mask ? part.mask + row * part.ldm + column : NULL;
  large->plan->kernels->gemm_large(&part, pack);
}

bool backend_cpu_is_large(size_t m, size_t n, size_t k) {
  return m >= LARGE_LEAST && n >= LARGE_LEAST && k >= LARGE_LEAST && m * n >= LARGE_PRODUCT / k;
}

static bool is_large(const struct cpu_plan *plan, const struct cpu_gemm *g) {
  return plan->scratch.pack && backend_cpu_is_large(g->m, g->n, g->k) && g->n % 16 == 0 && g->more == 0 &&
         g->run == 0 && !g->ahead;
}

static void multiply_large(const struct cpu_plan *plan, const struct cpu_gemm *g) {
  size_t across = (g->n + CPU_LARGE_COLUMNS - 1) / CPU_LARGE_COLUMNS;
  size_t wanted = (LARGE_PARTS * backend_cpu_team_threads(plan->team) + across - 1) / across;
  size_t most = g->m < LARGE_PART_ROWS ? 1 : g->m / LARGE_PART_ROWS;
  struct large large = {.plan = plan,
                        .product = g,
                        .across = across,
                        .down = wanted < most ? wanted : most,
                        .units = (g->n / 16 + across - 1) / across * 16};
  struct cpu_work work = {.parts = large.across * large.down, .run = run_part, .argument = &large};
  backend_cpu_team_run(plan->team, &work, plan->scratch.pack);
}

/* Below 16 of any, the tiles of all products of the layer would be mostly empty. Neither how a layer is cut into blocks
   decides nor the processor. */
bool backend_cpu_rounds(const struct cpu_plan *plan, const struct cpu_node *node) {
  const size_t terms = node->form == CPU_PATCHES ? backend_cpu_patch(node) : node->inputs;
  return plan->gemm_bfloat && plan->trains && terms >= CPU_TILE && node->width >= CPU_TILE &&
         plan->batch * node->pixels >= CPU_TILE;
}

void backend_cpu_multiply(const struct cpu_plan *plan, const struct cpu_gemm *product, bool rounds) {
  if (rounds)
    backend_cpu_multiply_bfloat(plan, product, product->n);
  else if (is_large(plan, product))
    multiply_large(plan, product);
  else
    plan->kernels->gemm(product);
}

/* --- the backward pass --- */

void backend_cpu_transpose_weights(struct cpu_plan *plan, const struct cpu_node *node) {
  plan->kernels->transpose(node->inputs, node->width, plan->weights + node->weight, backend_cpu_weights_ld(plan, node),
                           plan->scratch.transposed, backend_cpu_ld(node->inputs));
}

/* The part of the inputs' gradient that comes from CPU_GEMM_DEPTH units: these columns of W, transposed while they are
   in cache, times the units' gradients. */
static void product_of_units(struct cpu_plan *plan, const struct cpu_input_product *p, size_t unit) {
  bool last = p->units - unit <= CPU_GEMM_DEPTH;
  size_t units = last ? p->units - unit : CPU_GEMM_DEPTH, ld = backend_cpu_ld(p->inputs);
  plan->kernels->transpose(p->inputs, units, p->weights + unit, p->ldw, plan->scratch.transposed, ld);
  struct cpu_gemm product = {.m = p->rows,
                             .n = p->columns,
                             .k = units,
                             .a = p->gradient + unit,
                             .a_row = p->ldg,
                             .a_column = 1,
                             .b = plan->scratch.transposed,
                             .ldb = ld,
                             .c = p->to,
                             .ldc = p->ldt,
                             .mask = last ? p->mask : NULL,
                             .ldm = p->ldt,
                             .accumulate = p->accumulate || unit > 0};
  plan->kernels->gemm(&product);
}

/* Up to so many rows, W is mostly larger than what is transposed in its place, the gradients of units and inputs; the
   kernel wants so many inputs (gemm_few). */
enum { FEW_ROWS = 16, FEW_NUMBERS = 16 };

static bool has_few_rows(const struct cpu_input_product *p) {
  return p->rows <= FEW_ROWS && p->inputs >= FEW_NUMBERS && p->units >= FEW_NUMBERS;
}

void backend_cpu_product_inputs(struct cpu_plan *plan, const struct cpu_input_product *p) {
  struct cpu_gemm whole = {.m = p->rows,
                           .n = p->columns,
                           .k = p->units,
                           .a = p->gradient,
                           .a_row = p->ldg,
                           .a_column = 1,
                           .b = p->weights,
                           .ldb = p->ldw,
                           .b_transposed = true,
                           .c = p->to,
                           .ldc = p->ldt,
                           .mask = p->mask,
                           .ldm = p->ldt,
                           .accumulate = p->accumulate};
  if (p->rounds) {
    backend_cpu_multiply_bfloat(plan, &whole, p->inputs);
    return;
  }
  if (p->columns == p->inputs && is_large(plan, &whole)) {
    multiply_large(plan, &whole);
    return;
  }
  if (has_few_rows(p)) {
    plan->kernels->gemm_few(&whole, p->inputs);
    return;
  }
  for (size_t unit = 0; unit < p->units; unit += CPU_GEMM_DEPTH)
    product_of_units(plan, p, unit);
}

/* Layers of few units, as most outputs are: more than half of a vector of units would be padding. */
enum { NARROW_UNITS = 8, NARROW_INPUTS = 16 };

/* The weights' gradient, transposed: units take the place of rows and inputs that of columns, which fill their vectors.
   Each sum has the same terms in the same order. */
static void product_narrow_weights(struct cpu_plan *plan, const struct cpu_weight_product *p) {
  const size_t columns = (p->inputs + 15) / 16 * 16;
  float *across = plan->scratch.transposed; /* [units][columns] */
  plan->kernels->gemm(&(struct cpu_gemm){.m = p->units,
                                         .n = columns,
                                         .k = p->rows,
                                         .a = p->gradient,
                                         .a_row = 1,
                                         .a_column = p->ldg,
                                         .b = p->x,
                                         .ldb = p->ldx,
                                         .c = across,
                                         .ldc = columns});
  for (size_t u = 0; u < p->units; u++)
    for (size_t i = 0; i < p->inputs; i++)
      p->to[i * p->ldw + u] = across[u * columns + i];
}

void backend_cpu_product_weights(struct cpu_plan *plan, const struct cpu_weight_product *p) {
  struct cpu_gemm product = {.m = p->inputs,
                             .n = p->columns,
                             .k = p->rows,
                             .a = p->x,
                             .a_row = 1,
                             .a_column = p->ldx,
                             .b = p->gradient,
                             .ldb = p->ldg,
                             .c = p->to,
                             .ldc = p->ldw,
                             .accumulate = p->accumulate,
                             .ahead = p->ahead};
  if (!p->rounds && p->units > 0 && p->units <= NARROW_UNITS && p->inputs >= NARROW_INPUTS && !p->accumulate)
    product_narrow_weights(plan, p);
  else
    backend_cpu_multiply(plan, &product, p->rounds);
}
