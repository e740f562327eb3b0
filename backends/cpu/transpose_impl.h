/* transpose_impl.h - a square block of a matrix with rows and columns exchanged: as many numbers each way as a vector
   has. */
#ifndef BACKEND_CPU_TRANSPOSE_IMPL_H
#define BACKEND_CPU_TRANSPOSE_IMPL_H

#include "vector_impl.h"

#if CPU_LANES == 16
/* Four columns of 16 rows. Quarter q of part[i] is loaded from row 4 q + i. After that, 4 x 4 numbers are transposed
   within each quarter. */
CPU_INLINE void transpose_lines(const float *const line[16], size_t at, float *out, size_t ldo) {
  vec part[4];
  CPU_UNROLL for (size_t i = 0; i < 4; i++) {
    part[i] = _mm512_castps128_ps512(_mm_loadu_ps(line[i] + at));
    part[i] = _mm512_mask_broadcast_f32x4(part[i], 0x00f0, _mm_loadu_ps(line[4 + i] + at));
    part[i] = _mm512_mask_broadcast_f32x4(part[i], 0x0f00, _mm_loadu_ps(line[8 + i] + at));
    part[i] = _mm512_mask_broadcast_f32x4(part[i], 0xf000, _mm_loadu_ps(line[12 + i] + at));
  }
  vec a = _mm512_unpacklo_ps(part[0], part[1]), b = _mm512_unpackhi_ps(part[0], part[1]);
  vec d = _mm512_unpacklo_ps(part[2], part[3]), e = _mm512_unpackhi_ps(part[2], part[3]);
  v_store(out, _mm512_shuffle_ps(a, d, 0x44));
  v_store(out + ldo, _mm512_shuffle_ps(a, d, 0xee));
  v_store(out + 2 * ldo, _mm512_shuffle_ps(b, e, 0x44));
  v_store(out + 3 * ldo, _mm512_shuffle_ps(b, e, 0xee));
}

/* 16 columns, from `at` on, of 16 rows that begin at line[]. */
CPU_INLINE void transpose_rows(const float *const line[16], size_t at, float *out, size_t ldo) {
  CPU_UNROLL for (size_t c = 0; c < 16; c += 4) transpose_lines(line, at + c, out + c * ldo, ldo);
}
#elif CPU_LANES == 8
/* 8 columns of 8 rows: halves of two rows make a vector each, pairs of which are interleaved twice. */
CPU_INLINE void transpose_rows(const float *const line[8], size_t at, float *out, size_t ldo) {
  CPU_UNROLL for (size_t c = 0; c < 8; c += 4) {
    vec part[4];
    CPU_UNROLL for (size_t i = 0; i < 4; i++) {
      part[i] = _mm256_castps128_ps256(_mm_loadu_ps(line[i] + at + c));
      part[i] = _mm256_insertf128_ps(part[i], _mm_loadu_ps(line[i + 4] + at + c), 1);
    }
    vec a = _mm256_unpacklo_ps(part[0], part[1]), b = _mm256_unpackhi_ps(part[0], part[1]);
    vec d = _mm256_unpacklo_ps(part[2], part[3]), e = _mm256_unpackhi_ps(part[2], part[3]);
    v_store(out + c * ldo, _mm256_shuffle_ps(a, d, 0x44));
    v_store(out + (c + 1) * ldo, _mm256_shuffle_ps(a, d, 0xee));
    v_store(out + (c + 2) * ldo, _mm256_shuffle_ps(b, e, 0x44));
    v_store(out + (c + 3) * ldo, _mm256_shuffle_ps(b, e, 0xee));
  }
}
#else
CPU_INLINE void transpose_rows(const float *const line[CPU_LANES], size_t at, float *out, size_t ldo) {
  for (size_t c = 0; c < CPU_LANES; c++)
    for (size_t r = 0; r < CPU_LANES; r++)
      out[c * ldo + r] = line[r][at + c];
}
#endif

/* A block whose rows lie `ldi` floats apart. */
CPU_INLINE void transpose_block(const float *in, size_t ldi, float *out, size_t ldo) {
  const float *line[CPU_LANES];
  CPU_UNROLL for (size_t r = 0; r < CPU_LANES; r++) line[r] = in + r * ldi;
  transpose_rows(line, 0, out, ldo);
}

#endif
