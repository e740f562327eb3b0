/* adagrad.c - Adagrad (Duchi, Hazan and Singer, JMLR 12, 2011):

   v += g^2, from `accumulator`;  w -= r g / (sqrt(v) + epsilon) */
#include "backends/cpu/optimiser_impl.h"

CPU_UPDATE(adagrad, {
  vec v = v_fma(g, g, v_load(second + i));
  v_store(second + i, v);
  step = v_over_root(g, v, epsilon);
})

CPU_KERNEL double start_adagrad(const struct cpu_config *config) { return config->accumulator; }

CPU_OPTIMISER(adagrad, .second = true, .start = start_adagrad)
