/* activation_impl.h - activations and their derivatives over arrays. */
#ifndef BACKEND_CPU_ACTIVATION_IMPL_H
#define BACKEND_CPU_ACTIVATION_IMPL_H

#include "kernels_impl.h"
#include "math_impl.h"

#define SELU_SCALE 1.05070098735548049342f
#define SELU_ALPHA 1.67326324235437728482f
#define LEAKY_SLOPE 0.01f

/* An activation whose derivative follows from its value: `forward` reads x; `backward` computes the derivative from
   y. */
#define CPU_ACTIVATION(name, forward, backward)                                                                        \
  CPU_KERNEL void activate_##name(size_t count, float *values, float *slope) {                                         \
    (void)slope;                                                                                                       \
    for (size_t i = 0; i < count; i += CPU_LANES) {                                                                    \
      vec x = v_load(values + i);                                                                                      \
      v_store(values + i, forward);                                                                                    \
    }                                                                                                                  \
  }                                                                                                                    \
  CPU_KERNEL void derive_##name(size_t count, const float *values, const float *slope, float *gradient) {              \
    (void)slope;                                                                                                       \
    for (size_t i = 0; i < count; i += CPU_LANES) {                                                                    \
      vec y = v_load(values + i), g = v_load(gradient + i);                                                            \
      v_store(gradient + i, backward);                                                                                 \
    }                                                                                                                  \
  }

CPU_KERNEL void activate_linear(size_t count, float *values, float *slope) { (void)count, (void)values, (void)slope; }
CPU_KERNEL void derive_linear(size_t count, const float *values, const float *slope, float *gradient) {
  (void)count, (void)values, (void)slope, (void)gradient;
}

CPU_ACTIVATION(relu, v_max(v_zero(), x), v_masked(v_greater(y, v_zero()), g))
CPU_ACTIVATION(leaky_relu, v_select(v_greater(x, v_zero()), x, x *v_set(LEAKY_SLOPE)),
               v_select(v_greater(y, v_zero()), g, g *v_set(LEAKY_SLOPE)))
CPU_ACTIVATION(elu, v_select(v_greater(x, v_zero()), x, v_expm1_negative(v_min(v_zero(), x))),
               v_select(v_greater(y, v_zero()), g, v_fma(g, y, g)))
CPU_ACTIVATION(selu,
               v_select(v_greater(x, v_zero()), x *v_set(SELU_SCALE),
                        v_set(SELU_SCALE *SELU_ALPHA) * v_expm1_negative(v_min(v_zero(), x))),
               g *v_select(v_greater(y, v_zero()), v_set(SELU_SCALE), y + v_set(SELU_SCALE * SELU_ALPHA)))
CPU_ACTIVATION(sigmoid, v_sigmoid(x), g *(y - y * y))
CPU_ACTIVATION(hard_sigmoid, v_max(v_zero(), v_min(v_set(1), v_fma(x, v_set(0.2f), v_set(0.5f)))),
               v_masked(v_greater(v_set(1), y), v_masked(v_greater(y, v_zero()), g *v_set(0.2f))))
/* 1 - exp(-y) is the sigmoid of x. */
CPU_ACTIVATION(softplus, v_softplus(x), v_negate(g *v_expm1_negative(v_negate(y))))
CPU_ACTIVATION(softsign, x / (v_set(1) + v_abs(x)), g *(v_set(1) - v_abs(y)) * (v_set(1) - v_abs(y)))
CPU_ACTIVATION(tanh, v_tanh(x), v_fma(v_negate(g *y), y, g))

/* Activations that are not monotonic keep their derivative. */
CPU_KERNEL void activate_swish(size_t count, float *values, float *slope) {
  for (size_t i = 0; i < count; i += CPU_LANES) {
    vec x = v_load(values + i), s = v_sigmoid(x), y = x * s;
    v_store(values + i, y);
    if (slope)
      v_store(slope + i, v_fma(y, v_set(1) - s, s));
  }
}

CPU_KERNEL void activate_gelu(size_t count, float *values, float *slope) {
  for (size_t i = 0; i < count; i += CPU_LANES) {
    vec density, x = v_load(values + i), phi = v_normal_cdf(x, &density);
    v_store(values + i, x * phi);
    if (slope)
      v_store(slope + i, v_fma(x * density, v_set(0.39894228f), phi));
  }
}

CPU_KERNEL void derive_from_slope(size_t count, const float *values, const float *slope, float *gradient) {
  (void)values;
  for (size_t i = 0; i < count; i += CPU_LANES)
    v_store(gradient + i, v_load(gradient + i) * v_load(slope + i));
}

#endif
