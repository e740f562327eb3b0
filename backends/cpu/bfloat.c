/* bfloat.c - products of dense layers and convolutions in bfloat16 (`precision = bfloat16`). */
#include "cpu_impl.h"

/* All have the same bits. */
cpu_bfloat_function *backend_cpu_bfloat(const struct cpu_kernels *kernels, const char **units) {
  cpu_bfloat_function *function = backend_cpu_tiles();
  *units = "AMX-BF16";
  if (!function) {
    function = backend_cpu_dots();
    *units = function ? "AVX512-BF16" : NULL;
  }
  return function ? function : kernels->gemm_bfloat;
}

void backend_cpu_multiply_bfloat(const struct cpu_plan *plan, const struct cpu_gemm *product, size_t columns) {
  plan->gemm_bfloat(&(struct cpu_bfloat){.product = product,
                                         .columns = columns,
                                         .a = plan->scratch.bfloat,
                                         .b = plan->scratch.bfloat + CPU_BFLOAT_PACK_A});
}
