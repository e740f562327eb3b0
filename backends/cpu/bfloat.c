/* bfloat.c - products of dense layers and convolutions in bfloat16 (`precision = bfloat16`). */
#include "cpu_impl.h"

size_t backend_cpu_bfloat_ways(const struct cpu_kernels *kernels, struct cpu_bfloat_way ways[CPU_BFLOAT_WAYS]) {
  const struct cpu_bfloat_way all[CPU_BFLOAT_WAYS] = {
      {"AMX-BF16", backend_cpu_tiles()}, {"AVX512-BF16", backend_cpu_dots()}, {NULL, kernels->gemm_bfloat}};
  size_t count = 0;
  for (size_t i = 0; i < CPU_BFLOAT_WAYS; i++)
    if (all[i].multiply)
      ways[count++] = all[i];
  return count;
}

void backend_cpu_multiply_bfloat(const struct cpu_plan *plan, const struct cpu_gemm *product, size_t columns) {
  plan->gemm_bfloat(&(struct cpu_bfloat){.product = product,
                                         .columns = columns,
                                         .a = plan->scratch.bfloat,
                                         .b = plan->scratch.bfloat + CPU_BFLOAT_PACK_A});
}
