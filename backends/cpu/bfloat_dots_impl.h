/* bfloat_dots_impl.h - products of tiles (bfloat_impl.h) by the instruction for sums of two products (VDPBF16PS of
   AVX512-BF16). It adds the product of the upper numbers of two pairs, then that of the lower ones, and rounds after
   each; so a pair holds two even terms that follow each other, or two odd ones, and the sums are those of all others
   to the bit. */
#ifndef BACKEND_CPU_BFLOAT_DOTS_IMPL_H
#define BACKEND_CPU_BFLOAT_DOTS_IMPL_H

#include "bfloat_pack_impl.h"

enum { DOTS_HALF = CPU_TILE / 2 };

CPU_INLINE __m512bh dots_load(const float *pairs) { return (__m512bh)_mm512_loadu_ps(pairs); }
CPU_INLINE __m512bh dots_spread(const float *pair) { return (__m512bh)_mm512_set1_ps(*pair); }

/* Sums of four rows of a tile by two tiles side by side, or one. */
struct dots {
  vec even[4][2], odd[4][2];
};

/* One pair of even terms and one of odd ones. Sixteen chains of sums hide what an instruction takes. */
CPU_INLINE void dots_step(const size_t wide, const float *a, const float *b, size_t b_next, struct dots *dots) {
  CPU_UNROLL for (size_t r = 0; r < 4; r++) {
    const __m512bh first = dots_spread(a + r * CPU_TILE), second = dots_spread(a + r * CPU_TILE + DOTS_HALF);
    CPU_UNROLL for (size_t v = 0; v < wide; v++) {
      dots->even[r][v] = _mm512_dpbf16_ps(dots->even[r][v], first, dots_load(b + v * b_next));
      dots->odd[r][v] = _mm512_dpbf16_ps(dots->odd[r][v], second, dots_load(b + v * b_next + DOTS_HALF * CPU_TILE));
    }
  }
}

CPU_INLINE void dots_begin(struct dots *dots) {
  CPU_UNROLL for (size_t r = 0; r < 4; r++) CPU_UNROLL for (size_t v = 0; v < 2; v++) dots->even[r][v] =
      dots->odd[r][v] = v_zero();
}

CPU_INLINE void dots_end(const size_t wide, const struct dots *dots, vec sum[4][2]) {
  CPU_UNROLL for (size_t r = 0; r < 4; r++) CPU_UNROLL for (size_t v = 0; v < wide; v++) sum[r][v] =
      sum[r][v] + (dots->even[r][v] + dots->odd[r][v]);
}

/* Four rows of a tile of A, all of its 32 values of k, or `steps` of the eight pairs of even and of odd ones. */
CPU_INLINE void dots_tile(const size_t wide, const float *a, const float *b, size_t b_next, vec sum[4][2]) {
  struct dots dots;
  dots_begin(&dots);
  CPU_UNROLL for (size_t p = 0; p < DOTS_HALF; p++) dots_step(wide, a + p, b + p * CPU_TILE, b_next, &dots);
  dots_end(wide, &dots, sum);
}
CPU_INLINE void dots_part(const size_t wide, size_t steps, const float *a, const float *b, size_t b_next,
                          vec sum[4][2]) {
  struct dots dots;
  dots_begin(&dots);
  for (size_t p = 0; p < steps; p++)
    dots_step(wide, a + p, b + p * CPU_TILE, b_next, &dots);
  dots_end(wide, &dots, sum);
}

/* `rows` rows of a tile of A by `wide` columns of tiles of B. The last tile along k may be there in part. */
CPU_INLINE void dots_columns(const size_t wide, const struct cpu_tiles *t, size_t rows, const float *a, const float *b,
                             float *sums) {
  const size_t whole = t->k / (2 * CPU_TILE), rest = bfloat_tiles_of(t->k % (2 * CPU_TILE), 4);
  for (size_t row = 0; row < rows; row += 4) {
    vec sum[4][2];
    CPU_UNROLL for (size_t r = 0; r < 4; r++) CPU_UNROLL for (size_t v = 0; v < wide; v++) sum[r][v] =
        t->starts ? v_load(sums + v * CPU_TILE_FLOATS + (row + r) * CPU_TILE) : v_zero();
    const float *a_tile = a + row * CPU_TILE, *b_tile = b;
    for (size_t k = 0; k < whole; k++, a_tile += CPU_TILE_FLOATS, b_tile += CPU_TILE_FLOATS)
      dots_tile(wide, a_tile, b_tile, t->b_next, sum);
    if (rest)
      dots_part(wide, rest, a_tile, b_tile, t->b_next, sum);
    CPU_UNROLL for (size_t r = 0; r < 4; r++) CPU_UNROLL for (size_t v = 0; v < wide; v++)
        v_store(sums + v * CPU_TILE_FLOATS + (row + r) * CPU_TILE, sum[r][v]);
  }
}

static void bfloat_tiles(const struct cpu_tiles *t, float *sums) {
  for (size_t i = 0; i < t->down; i++) {
    const float *a = t->a + i * t->a_next;
    const size_t rows = bfloat_least(t->rows - i * CPU_TILE, CPU_TILE);
    size_t j = 0;
    for (; j + 2 <= t->across; j += 2, sums += 2 * CPU_TILE_FLOATS)
      dots_columns(2, t, rows, a, t->b + j * t->b_next, sums);
    for (; j < t->across; j++, sums += CPU_TILE_FLOATS)
      dots_columns(1, t, rows, a, t->b + j * t->b_next, sums);
  }
}

#endif
