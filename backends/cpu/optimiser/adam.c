/* adam.c - Adam (Kingma and Ba, ICLR 2015, Algorithm 1):

   m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2
   keras: w -= r sqrt(1 - b2^t) / (1 - b1^t) m / (sqrt(v) + epsilon)
   paper: w -= r m / (1 - b1^t) / (sqrt(v / (1 - b2^t)) + epsilon) */
#include "backends/cpu/optimiser_impl.h"

#include <math.h>

CPU_UPDATE(adam, {
  vec m = v_fma(beta1, v_load(first + i), rest1 * g);
  vec v = v_fma(beta2, v_load(second + i), rest2 * g * g);
  v_store(first + i, m);
  v_store(second + i, v);
  step = v_over_root(m, v, epsilon);
})

/* The paper's rule is Keras's with epsilon sqrt(1 - b2^t). */
CPU_KERNEL void fit_adam(const struct cpu_config *config, struct cpu_coefficients *c) {
  double t = (double)c->step, first = 1 - pow(c->beta1, t), second = 1 - pow(c->beta2, t);
  c->rate *= sqrt(second) / first;
  if (config->epsilon_placement == CPU_EPSILON_PAPER)
    c->epsilon *= sqrt(second);
}

CPU_OPTIMISER(adam, .first = true, .second = true, .fit = fit_adam)
