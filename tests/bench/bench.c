/* bench.c - see bench.h. */
#include "bench.h"

#include <tutti/cpu.h>

double bench_seconds(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* --- the peak --- */

enum { PEAK_LOOPS = 400000, PEAK_SUMS = 12 };

/* Twelve sums are under way at once: enough to cover the latency of two units. */
#define PEAK(name, bytes, attribute)                                                                                   \
  typedef float name##_vector __attribute__((vector_size(bytes)));                                                     \
  attribute static float name(void) {                                                                                  \
    name##_vector s[PEAK_SUMS], a = {0}, b = {0}, all = {0};                                                           \
    for (size_t j = 0; j < bytes / sizeof(float); j++) {                                                               \
      a[j] = 0.999f;                                                                                                   \
      b[j] = 1e-3f;                                                                                                    \
    }                                                                                                                  \
    for (int i = 0; i < PEAK_SUMS; i++)                                                                                \
      s[i] = a * (float)i;                                                                                             \
    for (int n = 0; n < PEAK_LOOPS; n++) {                                                                             \
      s[0] = s[0] * a + b, s[1] = s[1] * a + b, s[2] = s[2] * a + b, s[3] = s[3] * a + b;                              \
      s[4] = s[4] * a + b, s[5] = s[5] * a + b, s[6] = s[6] * a + b, s[7] = s[7] * a + b;                              \
      s[8] = s[8] * a + b, s[9] = s[9] * a + b, s[10] = s[10] * a + b, s[11] = s[11] * a + b;                          \
    }                                                                                                                  \
    for (int i = 0; i < PEAK_SUMS; i++)                                                                                \
      all += s[i];                                                                                                     \
    return all[0];                                                                                                     \
  }

PEAK(peak_baseline, 16, )
#if defined(__x86_64__)
PEAK(peak_avx2, 32, __attribute__((target("avx2,fma"))))
PEAK(peak_avx512, 64, __attribute__((target("avx512f"))))
#endif

double bench_peak(clockid_t clock) {
  float (*loop)(void) = peak_baseline;
  double lanes = 4, best = 0;
#if defined(__x86_64__)
  if (tutti_cpu_detect() == TUTTI_CPU_AVX2)
    loop = peak_avx2, lanes = 8;
  if (tutti_cpu_detect() == TUTTI_CPU_AVX512)
    loop = peak_avx512, lanes = 16;
#endif
  volatile float sink = 0; /* so that the loop is not dropped */
  for (int i = 0; i < 20; i++) {
    double begin = bench_seconds(clock);
    sink += loop();
    double rate = 2e-9 * PEAK_LOOPS * PEAK_SUMS * lanes / (bench_seconds(clock) - begin);
    best = rate > best ? rate : best;
  }
  (void)sink;
  return best;
}
