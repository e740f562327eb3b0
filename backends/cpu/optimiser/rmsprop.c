/* rmsprop.c - RMSprop (Tieleman and Hinton, COURSERA: Neural Networks for Machine Learning, lecture 6.5, 2012):

   v = rho v + (1 - rho) g^2;  m = momentum m + g / (sqrt(v) + epsilon);  w -= r m */
#include "backends/cpu/optimiser_impl.h"

CPU_UPDATE(rmsprop, {
  vec v = v_fma(beta2, v_load(second + i), rest2 * g * g);
  v_store(second + i, v);
  step = v_over_root(g, v, epsilon);
  if (u->momentum > 0) {
    step = v_fma(momentum, v_load(first + i), step);
    v_store(first + i, step);
  }
})

CPU_KERNEL void fit_rmsprop(const struct cpu_config *config, struct cpu_coefficients *c) {
  c->beta2 = config->rho > 0 ? config->rho : 0.9;
}

CPU_OPTIMISER(rmsprop, .first = true, .second = true, .fit = fit_rmsprop)
