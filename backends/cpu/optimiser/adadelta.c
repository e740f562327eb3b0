/* adadelta.c - Adadelta (Zeiler, arXiv:1212.5701, 2012):

   v = rho v + (1 - rho) g^2;  d = g sqrt((m + epsilon) / (v + epsilon));  m = rho m + (1 - rho) d^2;  w -= r d */
#include "backends/cpu/optimiser_impl.h"

CPU_UPDATE(adadelta, {
  vec v = v_fma(beta2, v_load(second + i), rest2 * g * g), m = v_load(first + i);
  v_store(second + i, v);
  step = g * v_sqrt((m + epsilon) / (v + epsilon));
  v_store(first + i, v_fma(beta2, m, rest2 * step * step));
})

CPU_KERNEL void fit_adadelta(const struct cpu_config *config, struct cpu_coefficients *c) {
  c->beta2 = config->rho > 0 ? config->rho : 0.95;
}

CPU_OPTIMISER(adadelta, .first = true, .second = true, .fit = fit_adadelta)
