/* adamax.c - Adamax (Kingma and Ba, ICLR 2015, Algorithm 2):

   m = b1 m + (1 - b1) g;  v = max(b2 v, |g|);  w -= r / (1 - b1^t) m / (v + epsilon) */
#include "backends/cpu/optimiser_impl.h"

#include <math.h>

CPU_UPDATE(adamax, {
  vec m = v_fma(beta1, v_load(first + i), rest1 * g), v = v_max(beta2 * v_load(second + i), v_abs(g));
  v_store(first + i, m);
  v_store(second + i, v);
  step = m / (v + epsilon);
})

CPU_KERNEL void fit_adamax(const struct cpu_config *config, struct cpu_coefficients *c) {
  (void)config;
  c->rate /= 1 - pow(c->beta1, (double)c->step);
}

CPU_OPTIMISER(adamax, .first = true, .second = true, .fit = fit_adamax)
