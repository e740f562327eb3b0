/* vector_impl.h - vectors of CPU_LANES floats under one set of names: AVX-512, AVX2 with FMA, or four lanes of plain C.
   Included by each kernels_*.c, which defines CPU_LANES and chooses the instruction set. */
#ifndef BACKEND_CPU_VECTOR_IMPL_H
#define BACKEND_CPU_VECTOR_IMPL_H

#include <stdint.h>
#include <string.h>

#include "half_impl.h"
#include "level_impl.h"

#if defined(__clang__)
#define CPU_UNROLL _Pragma("clang loop unroll(full)")
/* Windows of any size share their loops with the usual sizes; the loops cannot be unrolled there. */
#pragma clang diagnostic ignored "-Wpass-failed"
#elif defined(__SANITIZE_ADDRESS__)
#define CPU_UNROLL /* a sanitizer's checks part some loops from what is said of them, of which gcc warns */
#else
#define CPU_UNROLL _Pragma("GCC unroll 32")
#endif

#if CPU_LANES == 16

#include <immintrin.h>
typedef __m512 vec;
typedef __m512i ivec;
typedef __mmask16 vmask;

CPU_INLINE vec v_load(const float *p) { return _mm512_loadu_ps(p); }
CPU_INLINE void v_store(float *p, vec x) { _mm512_storeu_ps(p, x); }
CPU_INLINE vec v_set(float x) { return _mm512_set1_ps(x); }
CPU_INLINE vec v_zero(void) { return _mm512_setzero_ps(); }
CPU_INLINE vec v_fma(vec a, vec b, vec c) { return _mm512_fmadd_ps(a, b, c); }
CPU_INLINE vec v_max(vec a, vec b) { return _mm512_max_ps(a, b); }
CPU_INLINE vec v_min(vec a, vec b) { return _mm512_min_ps(a, b); }
CPU_INLINE vec v_round(vec x) { return _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
CPU_INLINE vmask v_greater(vec a, vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ); }
CPU_INLINE vec v_select(vmask m, vec yes, vec no) { return _mm512_mask_blend_ps(m, no, yes); }
CPU_INLINE vec v_masked(vmask m, vec x) { return _mm512_maskz_mov_ps(m, x); }
CPU_INLINE vec v_masked_fma(vmask m, vec a, vec b, vec c) { return _mm512_maskz_fmadd_ps(m, a, b, c); }
CPU_INLINE ivec v_bits(vec x) { return _mm512_castps_si512(x); }
CPU_INLINE vec v_from_bits(ivec x) { return _mm512_castsi512_ps(x); }
CPU_INLINE ivec v_to_int(vec x) { return _mm512_cvtps_epi32(x); }
CPU_INLINE vec v_from_int(ivec x) { return _mm512_cvtepi32_ps(x); }
CPU_INLINE ivec i_set(int32_t x) { return _mm512_set1_epi32(x); }
CPU_INLINE ivec i_add(ivec a, ivec b) { return _mm512_add_epi32(a, b); }
CPU_INLINE ivec i_and(ivec a, ivec b) { return _mm512_and_si512(a, b); }
CPU_INLINE ivec i_shift_left(ivec a, int n) { return _mm512_slli_epi32(a, (unsigned)n); }
CPU_INLINE ivec i_shift_right(ivec a, int n) { return _mm512_srai_epi32(a, (unsigned)n); }
CPU_INLINE ivec i_load(const void *p) { return _mm512_loadu_si512(p); }
CPU_INLINE ivec i_xor(ivec a, ivec b) { return _mm512_xor_si512(a, b); }
CPU_INLINE vmask i_less(ivec a, ivec b) { return _mm512_cmplt_epi32_mask(a, b); }
/* The unsigned 64-bit products, in halves. */
CPU_INLINE void i_multiply(ivec a, uint32_t by, ivec *low, ivec *high) {
  const ivec b = _mm512_set1_epi32((int32_t)by);
  ivec even = _mm512_mul_epu32(a, b), odd = _mm512_mul_epu32(_mm512_srli_epi64(a, 32), b);
  *low = _mm512_mask_blend_epi32(0xaaaa, even, _mm512_slli_epi64(odd, 32));
  *high = _mm512_mask_blend_epi32(0xaaaa, _mm512_srli_epi64(even, 32), odd);
}
CPU_INLINE vec v_sqrt(vec x) { return _mm512_sqrt_ps(x); }
CPU_INLINE float v_sum(vec x) { return _mm512_reduce_add_ps(x); }
CPU_INLINE float v_largest(vec x) { return _mm512_reduce_max_ps(x); }
/* The first `count` <= CPU_LANES floats; the others are 0 (load) or stay as they were (store). */
CPU_INLINE vec v_load_first(const float *p, size_t count) {
  return _mm512_maskz_loadu_ps((__mmask16)((1u << count) - 1), p);
}
CPU_INLINE void v_store_first(float *p, vec x, size_t count) {
  _mm512_mask_storeu_ps(p, (__mmask16)((1u << count) - 1), x);
}
/* The first half of the lanes. Unlike masked stores, these forward to a following load without delay. */
CPU_INLINE vec v_load_half(const float *p) { return _mm512_zextps256_ps512(_mm256_loadu_ps(p)); }
CPU_INLINE void v_store_half(float *p, vec x) { _mm256_storeu_ps(p, _mm512_castps512_ps256(x)); }
/* Numbers of 16 bits (half_impl.h): all lanes, and the first half of them. */
CPU_INLINE vec v_widen(const uint16_t *p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)p));
}
CPU_INLINE void v_narrow(uint16_t *p, vec x) {
  _mm256_storeu_si256((__m256i *)(void *)p, _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
CPU_INLINE vec v_widen_half(const uint16_t *p) {
  return _mm512_zextps256_ps512(_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p)));
}
CPU_INLINE void v_narrow_half(uint16_t *p, vec x) {
  _mm_storeu_si128((__m128i *)(void *)p,
                   _mm256_cvtps_ph(_mm512_castps512_ps256(x), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
/* m / (sqrt(v) + epsilon), v >= 0, within 3e-7 relative. The root is an approximation of 14 bits and a Newton step,
   which the multipliers compute while the divider is busy with the quotient before: half the time of two divisions. v =
   0 is raised to the smallest normal number. */
CPU_INLINE vec v_over_root(vec m, vec v, vec epsilon) {
  v = _mm512_max_ps(v, _mm512_set1_ps(1.17549435e-38f));
  vec y = _mm512_rsqrt14_ps(v), s = v * y;
  s = v_fma(_mm512_fnmadd_ps(s, s, v), y * v_set(0.5f), s);
  return m / (s + epsilon);
}

#elif CPU_LANES == 8

#include <immintrin.h>
typedef __m256 vec;
typedef __m256i ivec;
typedef __m256 vmask;

CPU_INLINE vec v_load(const float *p) { return _mm256_loadu_ps(p); }
CPU_INLINE void v_store(float *p, vec x) { _mm256_storeu_ps(p, x); }
CPU_INLINE vec v_set(float x) { return _mm256_set1_ps(x); }
CPU_INLINE vec v_zero(void) { return _mm256_setzero_ps(); }
CPU_INLINE vec v_fma(vec a, vec b, vec c) { return _mm256_fmadd_ps(a, b, c); }
CPU_INLINE vec v_max(vec a, vec b) { return _mm256_max_ps(a, b); }
CPU_INLINE vec v_min(vec a, vec b) { return _mm256_min_ps(a, b); }
CPU_INLINE vec v_round(vec x) { return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
CPU_INLINE vmask v_greater(vec a, vec b) { return _mm256_cmp_ps(a, b, _CMP_GT_OQ); }
CPU_INLINE vec v_select(vmask m, vec yes, vec no) { return _mm256_blendv_ps(no, yes, m); }
CPU_INLINE vec v_masked(vmask m, vec x) { return _mm256_and_ps(m, x); }
CPU_INLINE ivec v_bits(vec x) { return _mm256_castps_si256(x); }
CPU_INLINE vec v_from_bits(ivec x) { return _mm256_castsi256_ps(x); }
CPU_INLINE ivec v_to_int(vec x) { return _mm256_cvtps_epi32(x); }
CPU_INLINE vec v_from_int(ivec x) { return _mm256_cvtepi32_ps(x); }
CPU_INLINE ivec i_set(int32_t x) { return _mm256_set1_epi32(x); }
CPU_INLINE ivec i_add(ivec a, ivec b) { return _mm256_add_epi32(a, b); }
CPU_INLINE ivec i_and(ivec a, ivec b) { return _mm256_and_si256(a, b); }
CPU_INLINE ivec i_shift_left(ivec a, int n) { return _mm256_slli_epi32(a, n); }
CPU_INLINE ivec i_shift_right(ivec a, int n) { return _mm256_srai_epi32(a, n); }
CPU_INLINE ivec i_load(const void *p) {
  ivec x;
  memcpy(&x, p, sizeof x);
  return x;
}
CPU_INLINE ivec i_xor(ivec a, ivec b) { return _mm256_xor_si256(a, b); }
CPU_INLINE vmask i_less(ivec a, ivec b) { return _mm256_castsi256_ps(_mm256_cmpgt_epi32(b, a)); }
CPU_INLINE void i_multiply(ivec a, uint32_t by, ivec *low, ivec *high) {
  const ivec b = _mm256_set1_epi32((int32_t)by);
  ivec even = _mm256_mul_epu32(a, b), odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), b);
  *low = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);
  *high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
}
CPU_INLINE vec v_sqrt(vec x) { return _mm256_sqrt_ps(x); }
CPU_INLINE float v_sum(vec x) {
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_shuffle_ps(s, s, 1)));
}
CPU_INLINE float v_largest(vec x) {
  __m128 s = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
  s = _mm_max_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_max_ss(s, _mm_shuffle_ps(s, s, 1)));
}
CPU_INLINE __m256i v_first(size_t count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
CPU_INLINE vec v_load_first(const float *p, size_t count) {
  return count == CPU_LANES ? v_load(p) : _mm256_maskload_ps(p, v_first(count));
}
/* Some processors take a dozen cycles for a masked store. */
CPU_INLINE void v_store_first(float *p, vec x, size_t count) {
  if (count == CPU_LANES)
    v_store(p, x);
  else
    _mm256_maskstore_ps(p, v_first(count), x);
}
CPU_INLINE vec v_over_root(vec m, vec v, vec epsilon) { return m / (_mm256_sqrt_ps(v) + epsilon); }
CPU_INLINE vec v_widen(const uint16_t *p) { return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p)); }
CPU_INLINE void v_narrow(uint16_t *p, vec x) {
  _mm_storeu_si128((__m128i *)(void *)p, _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

#elif CPU_LANES == 1

typedef float vec;
typedef int32_t ivec;
typedef bool vmask;

CPU_INLINE vec v_load(const float *p) { return *p; }
CPU_INLINE void v_store(float *p, vec x) { *p = x; }
CPU_INLINE vec v_set(float x) { return x; }
CPU_INLINE vec v_zero(void) { return 0; }
CPU_INLINE vec v_fma(vec a, vec b, vec c) { return CUDA_FMA(a, b, c); }
CPU_INLINE vec v_max(vec a, vec b) { return a > b ? a : b; }
CPU_INLINE vec v_min(vec a, vec b) { return a < b ? a : b; }
CPU_INLINE vec v_round(vec x) { return rintf(x); }
CPU_INLINE vmask v_greater(vec a, vec b) { return a > b; }
CPU_INLINE vec v_select(vmask m, vec yes, vec no) { return m ? yes : no; }
CPU_INLINE vec v_masked(vmask m, vec x) { return m ? x : 0; }
CPU_INLINE ivec v_bits(vec x) { return __float_as_int(x); }
CPU_INLINE vec v_from_bits(ivec x) { return __int_as_float(x); }
CPU_INLINE ivec v_to_int(vec x) { return (ivec)x; }
CPU_INLINE vec v_from_int(ivec x) { return (vec)x; }
CPU_INLINE ivec i_set(int32_t x) { return x; }
CPU_INLINE ivec i_add(ivec a, ivec b) { return (ivec)((uint32_t)a + (uint32_t)b); }
CPU_INLINE ivec i_and(ivec a, ivec b) { return a & b; }
CPU_INLINE ivec i_shift_left(ivec a, int n) { return (ivec)((uint32_t)a << n); }
CPU_INLINE ivec i_shift_right(ivec a, int n) { return a >> n; }
CPU_INLINE vec v_sqrt(vec x) { return sqrtf(x); }
CPU_INLINE float v_sum(vec x) { return x; }
CPU_INLINE vec v_load_first(const float *p, size_t count) { return count ? *p : 0; }
CPU_INLINE void v_store_first(float *p, vec x, size_t count) {
  if (count)
    *p = x;
}
CPU_INLINE vec v_over_root(vec m, vec v, vec epsilon) { return m / (sqrtf(v) + epsilon); }

#else

typedef float vec __attribute__((vector_size(16)));
typedef int32_t ivec __attribute__((vector_size(16)));
typedef uint32_t uvec __attribute__((vector_size(16)));
typedef ivec vmask;

CPU_INLINE vec v_load(const float *p) {
  vec x;
  memcpy(&x, p, sizeof x);
  return x;
}
CPU_INLINE void v_store(float *p, vec x) { memcpy(p, &x, sizeof x); }
CPU_INLINE vec v_set(float x) { return (vec){x, x, x, x}; }
CPU_INLINE vec v_zero(void) { return v_set(0); }
CPU_INLINE vec v_fma(vec a, vec b, vec c) { return a * b + c; }
CPU_INLINE ivec v_bits(vec x) { return (ivec)x; }
CPU_INLINE vec v_from_bits(ivec x) { return (vec)x; }
CPU_INLINE vmask v_greater(vec a, vec b) { return a > b; }
CPU_INLINE vec v_select(vmask m, vec yes, vec no) { return (vec)(((ivec)yes & m) | ((ivec)no & ~m)); }
CPU_INLINE vec v_masked(vmask m, vec x) { return (vec)((ivec)x & m); }
/* Like the x86 instructions: the second operand if either is NaN. */
CPU_INLINE vec v_max(vec a, vec b) { return v_select(a > b, a, b); }
CPU_INLINE vec v_min(vec a, vec b) { return v_select(a < b, a, b); }
/* Rounds to nearest, ties to even. Correct for |x| < 2^22, which is all that exp needs. */
CPU_INLINE vec v_round(vec x) {
  vec big = v_set(12582912.0f), sum = x + big;
  __asm__("" : "+m"(sum)); /* keeps the compiler from folding x + big - big */
  return sum - big;
}
CPU_INLINE ivec v_to_int(vec x) { return __builtin_convertvector(x, ivec); }
CPU_INLINE vec v_from_int(ivec x) { return __builtin_convertvector(x, vec); }
CPU_INLINE ivec i_set(int32_t x) { return (ivec){x, x, x, x}; }
CPU_INLINE ivec i_add(ivec a, ivec b) { return (ivec)((uvec)a + (uvec)b); } /* wraps, as the instructions do */
CPU_INLINE ivec i_and(ivec a, ivec b) { return a & b; }
CPU_INLINE ivec i_shift_left(ivec a, int n) { return (ivec)((uvec)a << n); }
CPU_INLINE ivec i_shift_right(ivec a, int n) { return a >> n; }
CPU_INLINE ivec i_load(const void *p) {
  ivec x;
  memcpy(&x, p, sizeof x);
  return x;
}
CPU_INLINE ivec i_xor(ivec a, ivec b) { return a ^ b; }
CPU_INLINE vmask i_less(ivec a, ivec b) { return a < b; }
CPU_INLINE void i_multiply(ivec a, uint32_t by, ivec *low, ivec *high) {
  for (int i = 0; i < 4; i++) {
    uint64_t product = (uint64_t)(uint32_t)a[i] * by;
    (*low)[i] = (int32_t)(uint32_t)product;
    (*high)[i] = (int32_t)(uint32_t)(product >> 32);
  }
}
CPU_INLINE vec v_sqrt(vec x) {
  return (vec){__builtin_sqrtf(x[0]), __builtin_sqrtf(x[1]), __builtin_sqrtf(x[2]), __builtin_sqrtf(x[3])};
}
CPU_INLINE float v_sum(vec x) { return (x[0] + x[2]) + (x[1] + x[3]); }
CPU_INLINE float v_largest(vec x) {
  float a = x[0] > x[1] ? x[0] : x[1], b = x[2] > x[3] ? x[2] : x[3];
  return a > b ? a : b;
}
CPU_INLINE vec v_load_first(const float *p, size_t count) {
  vec x = v_zero();
  memcpy(&x, p, count * sizeof *p);
  return x;
}
CPU_INLINE void v_store_first(float *p, vec x, size_t count) { memcpy(p, &x, count * sizeof *p); }
CPU_INLINE vec v_over_root(vec m, vec v, vec epsilon) { return m / (v_sqrt(v) + epsilon); }
CPU_INLINE vec v_widen(const uint16_t *p) {
  return (vec){half_to_float(p[0]), half_to_float(p[1]), half_to_float(p[2]), half_to_float(p[3])};
}
CPU_INLINE void v_narrow(uint16_t *p, vec x) {
  for (int i = 0; i < 4; i++)
    p[i] = half_of_float(x[i]);
}

#endif

#if CPU_LANES < 16 && CPU_LANES > 1
CPU_INLINE vec v_load_half(const float *p) { return v_load_first(p, CPU_LANES / 2); }
CPU_INLINE void v_store_half(float *p, vec x) { v_store_first(p, x, CPU_LANES / 2); }
#endif

#if CPU_LANES < 16
CPU_INLINE vec v_masked_fma(vmask m, vec a, vec b, vec c) { return v_masked(m, v_fma(a, b, c)); }
#endif

/* Keep a loaded value in a register: otherwise the compiler reads it again for each use. */
CPU_INLINE vec v_keep(vec x) {
#if defined(__x86_64__) && CPU_LANES > 1
  __asm__("" : "+v"(x));
#endif
  return x;
}

CPU_INLINE vec v_abs(vec x) { return v_from_bits(i_and(v_bits(x), i_set(0x7fffffff))); }
CPU_INLINE vec v_negate(vec x) { return v_zero() - x; }
/* a b - c with one rounding where there is an FMA. */
CPU_INLINE vec v_fms(vec a, vec b, vec c) { return v_fma(a, b, v_negate(c)); }

#endif
