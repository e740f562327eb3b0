/* elements.cuh - what is done to a number by itself: activations with their derivatives, and the words that decide
   which numbers dropout drops (backends/cpu/mask_impl.h). Both engines use them. */
#ifndef BACKEND_CUDA_ELEMENTS_CUH
#define BACKEND_CUDA_ELEMENTS_CUH

#include "device.cuh"

#define CUDA_ACTIVATIONS(X)                                                                                            \
  X(ELU, elu)                                                                                                          \
  X(GELU, gelu)                                                                                                        \
  X(HARD_SIGMOID, hard_sigmoid)                                                                                        \
  X(RELU, relu)                                                                                                        \
  X(SELU, selu)                                                                                                        \
  X(SIGMOID, sigmoid)                                                                                                  \
  X(SOFTPLUS, softplus)                                                                                                \
  X(SOFTSIGN, softsign)                                                                                                \
  X(SWISH, swish)                                                                                                      \
  X(TANH, tanh)                                                                                                        \
  X(LEAKY_RELU, leaky_relu)

CUDA_PHASE float activate(uint32_t activation, float x, float *slope) {
  switch (activation) {
#define ACTIVATE(id, name)                                                                                             \
  case TUTTI_ACTIVATION_##id:                                                                                          \
    activate_##name(1, &x, slope);                                                                                     \
    break;
    CUDA_ACTIVATIONS(ACTIVATE)
#undef ACTIVATE
  }
  return x;
}

/* Four numbers after their activation, with its derivative if it is one that layers keep. */
struct activated {
  float4 value, slope;
};
CUDA_PHASE struct activated activate_four(uint32_t activation, float4 numbers) {
  float x[4] = {numbers.x, numbers.y, numbers.z, numbers.w}, slope[4] = {};
  switch (activation) {
#define ACTIVATE(id, name)                                                                                             \
  case TUTTI_ACTIVATION_##id:                                                                                          \
    activate_##name(4, x, slope);                                                                                      \
    break;
    CUDA_ACTIVATIONS(ACTIVATE)
#undef ACTIVATE
  }
  return {make_float4(x[0], x[1], x[2], x[3]), make_float4(slope[0], slope[1], slope[2], slope[3])};
}

CPU_KERNEL void derive_gelu(size_t count, const float *values, const float *slope, float *gradient) {
  derive_from_slope(count, values, slope, gradient);
}
CPU_KERNEL void derive_swish(size_t count, const float *values, const float *slope, float *gradient) {
  derive_from_slope(count, values, slope, gradient);
}

CUDA_PHASE float derive(uint32_t activation, float value, float slope, float gradient) {
  switch (activation) {
#define DERIVE(id, name)                                                                                               \
  case TUTTI_ACTIVATION_##id:                                                                                          \
    derive_##name(1, &value, &slope, &gradient);                                                                       \
    break;
    CUDA_ACTIVATIONS(DERIVE)
#undef DERIVE
  }
  return gradient;
}

CUDA_PHASE float4 derive_four(uint32_t activation, float4 value, float4 slope, float4 gradient) {
  const float y[4] = {value.x, value.y, value.z, value.w}, by[4] = {slope.x, slope.y, slope.z, slope.w};
  float g[4] = {gradient.x, gradient.y, gradient.z, gradient.w};
  switch (activation) {
#define DERIVE(id, name)                                                                                               \
  case TUTTI_ACTIVATION_##id:                                                                                          \
    derive_##name(4, y, by, g);                                                                                        \
    break;
    CUDA_ACTIVATIONS(DERIVE)
#undef DERIVE
  }
  return make_float4(g[0], g[1], g[2], g[3]);
}

/* The four words of block `number` of a layer in a step. */
CPU_INLINE void philox_words(uint64_t key, uint64_t step, uint32_t layer, uint32_t number, uint32_t words[4]) {
  const uint32_t counter[4] = {number, layer, (uint32_t)step, (uint32_t)(step >> 32)};
  const uint32_t keys[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
  philox_block(counter, keys, words);
}

#endif
