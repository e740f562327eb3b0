/* update_impl.h - one pass of each optimiser over weights, gradients and state. optimiser.c has the rules in words. */
#ifndef BACKEND_CPU_UPDATE_IMPL_H
#define BACKEND_CPU_UPDATE_IMPL_H

#include "kernels_impl.h"
#include "vector_impl.h"

/* A pass: The body reads weight w and gradient g, may use the state (m, v) of place i, and leaves the change in `step`.
 */
#define CPU_UPDATE(name, ...)                                                                                          \
  static void update_##name(const struct cpu_update *u, size_t count, float *weights, const float *gradients,          \
                            float *first, float *second) {                                                             \
    const vec scale = v_set(u->scale), decay = v_set(u->decay), rate = v_set(u->rate), beta1 = v_set(u->beta1),        \
              beta2 = v_set(u->beta2), rest1 = v_set(1 - u->beta1), rest2 = v_set(1 - u->beta2),                       \
              epsilon = v_set(u->epsilon), momentum = v_set(u->momentum);                                              \
    (void)beta1, (void)beta2, (void)rest1, (void)rest2, (void)epsilon, (void)momentum, (void)first, (void)second;      \
    for (size_t i = 0; i < count; i += CPU_LANES) {                                                                    \
      vec w = v_load(weights + i), g = v_fma(decay, w, scale * v_load(gradients + i)), step;                           \
      __VA_ARGS__ v_store(weights + i, v_fma(v_negate(rate), step, w));                                                \
    }                                                                                                                  \
  }

CPU_UPDATE(sgd, {
  step = g;
  if (u->momentum > 0) {
    vec m = v_fma(momentum, v_load(first + i), g);
    v_store(first + i, m);
    step = u->nesterov ? v_fma(momentum, m, g) : m;
  }
})

CPU_UPDATE(rmsprop, {
  vec v = v_fma(beta2, v_load(second + i), rest2 * g * g);
  v_store(second + i, v);
  step = v_over_root(g, v, epsilon);
  if (u->momentum > 0) {
    step = v_fma(momentum, v_load(first + i), step);
    v_store(first + i, step);
  }
})

CPU_UPDATE(adagrad, {
  vec v = v_fma(g, g, v_load(second + i));
  v_store(second + i, v);
  step = v_over_root(g, v, epsilon);
})

CPU_UPDATE(adam, {
  vec m = v_fma(beta1, v_load(first + i), rest1 * g);
  vec v = v_fma(beta2, v_load(second + i), rest2 * g * g);
  v_store(first + i, m);
  v_store(second + i, v);
  step = v_over_root(m, v, epsilon);
})

CPU_UPDATE(adadelta, {
  vec v = v_fma(beta2, v_load(second + i), rest2 * g * g), m = v_load(first + i);
  v_store(second + i, v);
  step = g * v_sqrt((m + epsilon) / (v + epsilon));
  v_store(first + i, v_fma(beta2, m, rest2 * step * step));
})

CPU_UPDATE(adamax, {
  vec m = v_fma(beta1, v_load(first + i), rest1 * g), v = v_max(beta2 * v_load(second + i), v_abs(g));
  v_store(first + i, m);
  v_store(second + i, v);
  step = m / (v + epsilon);
})

CPU_UPDATE(nadam, {
  vec m = v_fma(beta1, v_load(first + i), rest1 * g);
  vec v = v_fma(beta2, v_load(second + i), rest2 * g * g);
  v_store(first + i, m);
  v_store(second + i, v);
  step = v_over_root(v_fma(v_set(u->momentum_weight), m, v_set(u->gradient_weight) * g), v * v_set(u->root_scale),
                     epsilon);
})

#endif
