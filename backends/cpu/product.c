/* product.c - the products of a backward pass: gradients of inputs and of weights, for dense layers and
   convolutions. */
#include "cpu_impl.h"

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

void backend_cpu_product_inputs(struct cpu_plan *plan, const struct cpu_input_product *p) {
  for (size_t unit = 0; unit < p->units; unit += CPU_GEMM_DEPTH)
    product_of_units(plan, p, unit);
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
  plan->kernels->gemm(&product);
}
