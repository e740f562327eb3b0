/* kernels_baseline.c - the kernels in plain C, four lanes wide: for any processor. */
#define CPU_LANES 4
#include "table_impl.h"

const struct cpu_kernels backend_cpu_kernels_baseline = CPU_KERNEL_TABLE;
