/* optimiser_impl.h - what an optimiser is made of. A file of optimiser/ defines one, and is compiled for each
   instruction set (level_impl.h):

     CPU_UPDATE(name, { body })   its pass over weights, gradients and state;
     CPU_OPTIMISER(name, ...)     what state it keeps, and functions for where that starts and for the coefficients of
                                  a step, where it needs them (struct cpu_rule).

   A new one is such a file, its line in local.mk, and its rule in double precision in
   tests/unit/test_cpu_optimiser.c. Without the line, nothing knows of the file; without the rule, the test does not
   build.

   Rules are written with g for the gradient with its L2 terms, after clipping; t for the steps, from 1; r for the
   learning rate; defaults and conventions are Keras's. */
#ifndef BACKEND_CPU_OPTIMISER_IMPL_H
#define BACKEND_CPU_OPTIMISER_IMPL_H

#include "cpu_impl.h"
#include "level_impl.h"

CPU_LEVEL_BEGIN
#include "vector_impl.h"
CPU_LEVEL_END

/* A pass: the body reads weight w and gradient g, may use the state (m, v) of place i in `first` and `second`, and
   leaves the change in `step`. */
#define CPU_UPDATE(name, ...)                                                                                          \
  CPU_LEVEL_FUNCTION CPU_PASS void update_##name(const struct cpu_update *u, size_t count, const float *from,          \
                                                 float *weights, const float *gradients, float *first,                 \
                                                 float *second) {                                                      \
    const vec scale = v_set(u->scale), decay = v_set(u->decay), rate = v_set(u->rate), beta1 = v_set(u->beta1),        \
              beta2 = v_set(u->beta2), rest1 = v_set(1 - u->beta1), rest2 = v_set(1 - u->beta2),                       \
              epsilon = v_set(u->epsilon), momentum = v_set(u->momentum);                                              \
    (void)beta1, (void)beta2, (void)rest1, (void)rest2, (void)epsilon, (void)momentum, (void)first, (void)second;      \
    CPU_PASS_UNROLL                                                                                                    \
    for (size_t i = 0; i < count; i += CPU_LANES) {                                                                    \
      vec w = v_load(from + i), g = v_fma(decay, w, scale * v_load(gradients + i)), step;                              \
      __VA_ARGS__ v_store(weights + i, v_fma(v_negate(rate), step, w));                                                \
    }                                                                                                                  \
  }

#define CPU_LISTED(id, name) CPU_LISTED_##name = 1,
enum { CPU_OPTIMISER_LIST(CPU_LISTED) };
#undef CPU_LISTED

/* The rule of an optimiser of the list: the members of struct cpu_rule that it has, but for its update. For a GPU,
   whose calls through pointers would cost more than a step, the rule is a constant of a function of its own
   (backends/cuda). */
#if CPU_LANES == 1
#define CPU_OPTIMISER(name, ...)                                                                                       \
  CPU_INLINE constexpr struct cpu_rule rule_##name() { return {.update = update_##name, __VA_ARGS__}; }
#else
#define CPU_OPTIMISER(name, ...)                                                                                       \
  _Static_assert(CPU_LISTED_##name, "an optimiser is in the list of local.mk");                                        \
  const struct cpu_rule CPU_OF_LEVEL(backend_cpu_rule_##name) = {.update = update_##name, __VA_ARGS__};
#endif

#endif
