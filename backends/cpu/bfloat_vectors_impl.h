/* bfloat_vectors_impl.h - products of tiles (bfloat_impl.h) by the vectors that every level has: numbers are taken out
   of their pairs as floats. */
#ifndef BACKEND_CPU_BFLOAT_VECTORS_IMPL_H
#define BACKEND_CPU_BFLOAT_VECTORS_IMPL_H

#include "bfloat_pack_impl.h"

/* Rows [row, row + 4) of a tile, 32 values of k: what is added to `sum`. */
CPU_INLINE void bfloat_add(const float *a, const float *b, size_t row, size_t column, vec sum[4]) {
  const ivec upper = i_set(-0x10000);
  vec even[4], odd[4];
  CPU_UNROLL for (size_t r = 0; r < 4; r++) even[r] = odd[r] = v_zero();
  for (size_t p = 0; p < CPU_TILE; p++) {
    const ivec pairs = i_load(b + p * CPU_TILE + column);
    const vec b_even = v_from_bits(i_shift_left(pairs, 16)), b_odd = v_from_bits(i_and(pairs, upper));
    CPU_UNROLL for (size_t r = 0; r < 4; r++) {
      int32_t pair;
      memcpy(&pair, a + (row + r) * CPU_TILE + p, sizeof pair);
      even[r] = v_fma(v_from_bits(i_shift_left(i_set(pair), 16)), b_even, even[r]);
      odd[r] = v_fma(v_from_bits(i_and(i_set(pair), upper)), b_odd, odd[r]);
    }
  }
  CPU_UNROLL for (size_t r = 0; r < 4; r++) sum[r] = sum[r] + (even[r] + odd[r]);
}

static void bfloat_tiles(const struct cpu_tiles *t, float *sums) {
  for (size_t i = 0; i < t->down; i++)
    for (size_t j = 0; j < t->across; j++, sums += CPU_TILE_FLOATS)
      for (size_t row = 0; row < CPU_TILE; row += 4)
        for (size_t column = 0; column < CPU_TILE; column += CPU_LANES) {
          const float *a = t->a + i * t->a_next, *b = t->b + j * t->b_next;
          float *to = sums + row * CPU_TILE + column;
          vec sum[4];
          CPU_UNROLL for (size_t r = 0; r < 4; r++) sum[r] = t->starts ? v_load(to + r * CPU_TILE) : v_zero();
          for (size_t k = 0; k < t->depth; k++, a += CPU_TILE_FLOATS, b += CPU_TILE_FLOATS)
            bfloat_add(a, b, row, column, sum);
          CPU_UNROLL for (size_t r = 0; r < 4; r++) v_store(to + r * CPU_TILE, sum[r]);
        }
}

#endif
