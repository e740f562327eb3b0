/* optimiser.c - a pass of each optimiser over the weights of a network: optimiser [WEIGHTS]...

   One line for each number of weights (1,024: first-level cache; 38,912: the second, as of five layers of 96 units;
   4,194,304: beyond) and optimiser: nanoseconds for sixteen weights, the least of many passes; the same for moving what
   the pass moves - it reads weights, gradients and state, and writes weights and state - with an addition in place of
   its arithmetic; and how many cycles the first is, at the clock that the peak of multiply-adds implies. Seconds are
   the processor's. */
#include <stdio.h>
#include <stdlib.h>

#include "backends/cpu/cpu_impl.h"
#include "bench.h"

enum { TRIES = 200, LEAST_WORK = 1 << 18, VECTOR = 16 };

static const char *const names[] = {
#define NAME(id, name) [CPU_##id] = #name,
    CPU_OPTIMISER_LIST(NAME)
#undef NAME
};

/* The arrays of a pass, each [count]. */
struct arrays {
  size_t count;
  float *weights, *gradients, *first, *second; /* the last two: NULL for a rule without them */
};

typedef void pass_function(const struct cpu_rule *rule, const struct arrays *a);

static void step(const struct cpu_rule *rule, const struct arrays *a) {
  const struct cpu_update update = {
      .scale = 1, .rate = 1e-9f, .momentum = 0.9f, .beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-7f};
  rule->update(&update, a->count, a->weights, a->weights, a->gradients, a->first, a->second);
}

#define MOVE(name, bytes, attribute)                                                                                   \
  typedef float name##_vector __attribute__((vector_size(bytes), aligned(64), may_alias));                             \
  attribute static void name(const struct cpu_rule *rule, const struct arrays *a) {                                    \
    name##_vector *w = (void *)a->weights, *m = (void *)a->first, *v = (void *)a->second;                              \
    const name##_vector *g = (const void *)a->gradients;                                                               \
    (void)rule;                                                                                                        \
    for (size_t i = 0; i < a->count / (bytes / sizeof(float)); i++) {                                                  \
      name##_vector x = g[i];                                                                                          \
      w[i] += x;                                                                                                       \
      if (m)                                                                                                           \
        m[i] += x;                                                                                                     \
      if (v)                                                                                                           \
        v[i] += x;                                                                                                     \
    }                                                                                                                  \
  }

MOVE(move_baseline, 16, )
#if defined(__x86_64__)
MOVE(move_avx2, 32, __attribute__((target("avx2"))))
MOVE(move_avx512, 64, __attribute__((target("avx512f"))))
#endif

static pass_function *move(void) {
#if defined(__x86_64__)
  if (tutti_cpu_detect() == TUTTI_CPU_AVX512)
    return move_avx512;
  if (tutti_cpu_detect() == TUTTI_CPU_AVX2)
    return move_avx2;
#endif
  return move_baseline;
}

/* Nanoseconds for VECTOR weights. */
static double least(pass_function *pass, const struct cpu_rule *rule, const struct arrays *a) {
  const size_t passes = 1 + LEAST_WORK / a->count;
  double best = 1e9;
  for (int t = 0; t < TRIES; t++) {
    double begin = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (size_t i = 0; i < passes; i++)
      pass(rule, a);
    double took = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
    best = took < best ? took : best;
  }
  return 1e9 * best / (double)passes / (double)a->count * VECTOR;
}

static float *filled(size_t count) {
  float *x = aligned_alloc(64, count * sizeof *x);
  for (size_t i = 0; x && i < count; i++)
    x[i] = 1e-3f * (float)(1 + i % 7);
  return x;
}

static bool run(size_t weights, double gigahertz) {
  const struct cpu_kernels *kernels = backend_cpu_kernels(tutti_cpu_detect());
  struct arrays all = {.count = (weights + VECTOR - 1) / VECTOR * VECTOR};
  all.weights = filled(all.count), all.gradients = filled(all.count);
  all.first = filled(all.count), all.second = filled(all.count);
  bool there = all.weights && all.gradients && all.first && all.second;
  for (size_t o = 0; there && o < CPU_OPTIMISERS; o++) {
    const struct cpu_rule *rule = kernels->rules[o];
    struct arrays own = all;
    own.first = rule->first ? all.first : NULL;
    own.second = rule->second ? all.second : NULL;
    double takes = least(step, rule, &own), moves = least(move(), rule, &own);
    printf("%zu weights, %s: %.2f ns for %d, %.2f to move them, %.1f and %.1f cycles\n", all.count, names[o], takes,
           VECTOR, moves, takes * gigahertz, moves * gigahertz);
    (void)fflush(stdout);
  }
  free(all.weights), free(all.gradients), free(all.first), free(all.second);
  return there;
}

int main(int count, char **arguments) {
  static const size_t standard[] = {1024, 38912, 4194304};
  const double lanes = tutti_cpu_detect() == TUTTI_CPU_AVX512 ? 16 : tutti_cpu_detect() == TUTTI_CPU_AVX2 ? 8 : 4;
  const double gigahertz = bench_peak(CLOCK_PROCESS_CPUTIME_ID) / (4 * lanes); /* two units, two operations each */
  bool fits = true;
  for (int i = 1; fits && i < count; i++)
    fits = run((size_t)atoll(arguments[i]), gigahertz);
  for (size_t i = 0; fits && count == 1 && i < sizeof standard / sizeof *standard; i++)
    fits = run(standard[i], gigahertz);
  if (!fits)
    (void)fprintf(stderr, "there is no memory for so many weights\n");
  return !fits;
}
