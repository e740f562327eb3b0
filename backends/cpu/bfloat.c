/* bfloat.c - the products of dense layers in bfloat16 (`precision = bfloat16`). */
#include "cpu_impl.h"

void backend_cpu_multiply_bfloat(const struct cpu_plan *plan, const struct cpu_gemm *product, size_t columns) {
  plan->gemm_bfloat(&(struct cpu_bfloat){.product = product,
                                         .columns = columns,
                                         .a = plan->scratch.bfloat,
                                         .b = plan->scratch.bfloat + CPU_BFLOAT_PACK_A});
}
