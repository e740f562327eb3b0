/* nadam.c - Nadam (Dozat, "Incorporating Nesterov momentum into Adam", ICLR workshop 2016):

   m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2
   c_t = b1 (1 - 0.5 * 0.96^(0.004 t)), C_t the product of c_1 .. c_t
   w -= r ((1 - c_t) g / (1 - C_t) + c_{t+1} m / (1 - C_{t+1})) / (sqrt(v / (1 - b2^t)) + epsilon) */
#include "backends/cpu/optimiser_impl.h"

#include <math.h>

/* C_t; the weights of g and of m; 1 / (1 - b2^t). */
enum { NADAM_PRODUCT, NADAM_GRADIENT, NADAM_MOMENTUM, NADAM_ROOT };

CPU_UPDATE(nadam, {
  vec m = v_fma(beta1, v_load(first + i), rest1 * g);
  vec v = v_fma(beta2, v_load(second + i), rest2 * g * g);
  v_store(first + i, m);
  v_store(second + i, v);
  step = v_over_root(v_fma(v_set(u->own[NADAM_MOMENTUM]), m, v_set(u->own[NADAM_GRADIENT]) * g),
                     v * v_set(u->own[NADAM_ROOT]), epsilon);
})

CPU_KERNEL double momentum_nadam(double beta1, uint64_t step) {
  return beta1 * (1 - 0.5 * pow(0.96, 0.004 * (double)step));
}

CPU_KERNEL void fit_nadam(const struct cpu_config *config, struct cpu_coefficients *c) {
  double now = momentum_nadam(c->beta1, c->step), next = momentum_nadam(c->beta1, c->step + 1);
  double product = (c->step == 1 ? 1 : c->own[NADAM_PRODUCT]) * now;
  (void)config;
  c->own[NADAM_PRODUCT] = product;
  c->own[NADAM_GRADIENT] = (1 - now) / (1 - product);
  c->own[NADAM_MOMENTUM] = next / (1 - product * next);
  c->own[NADAM_ROOT] = 1 / (1 - pow(c->beta2, (double)c->step));
}

CPU_OPTIMISER(nadam, .first = true, .second = true, .fit = fit_nadam)
