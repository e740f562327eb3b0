/* bfloat_tiles_impl.h - products of tiles (bfloat_impl.h) by the matrix units of a processor (AMX-BF16), which have
   eight registers of one tile. */
#ifndef BACKEND_CPU_BFLOAT_TILES_IMPL_H
#define BACKEND_CPU_BFLOAT_TILES_IMPL_H

#include "bfloat_pack_impl.h"

/* Four sums, in registers 0 to 3. */
CPU_INLINE void bfloat_begin_four(bool starts, const float *sums) {
  enum { LINE = sizeof(float) * CPU_TILE };
  if (starts) {
    _tile_loadd(0, sums, LINE);
    _tile_loadd(1, sums + CPU_TILE_FLOATS, LINE);
    _tile_loadd(2, sums + 2 * CPU_TILE_FLOATS, LINE);
    _tile_loadd(3, sums + 3 * CPU_TILE_FLOATS, LINE);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
}
CPU_INLINE void bfloat_end_four(float *sums) {
  enum { LINE = sizeof(float) * CPU_TILE };
  _tile_stored(0, sums, LINE);
  _tile_stored(1, sums + CPU_TILE_FLOATS, LINE);
  _tile_stored(2, sums + 2 * CPU_TILE_FLOATS, LINE);
  _tile_stored(3, sums + 3 * CPU_TILE_FLOATS, LINE);
}

/* Two rows of A's tiles, registers 4 and 5, by two columns of B's, 6 and 7. */
CPU_INLINE void bfloat_two_by_two(const struct cpu_tiles *t, float *sums) {
  enum { LINE = sizeof(float) * CPU_TILE };
  const float *a = t->a, *b = t->b;
  bfloat_begin_four(t->starts, sums);
  for (size_t k = 0; k < t->depth; k++, a += CPU_TILE_FLOATS, b += CPU_TILE_FLOATS) {
    _tile_loadd(4, a, LINE);
    _tile_loadd(6, b, LINE);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, b + t->b_next, LINE);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, a + t->a_next, LINE);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  bfloat_end_four(sums);
}

/* One row of A's tiles, register 4, by four columns of B's, 5. */
CPU_INLINE void bfloat_one_by_four(const struct cpu_tiles *t, float *sums) {
  enum { LINE = sizeof(float) * CPU_TILE };
  const float *a = t->a, *b = t->b;
  bfloat_begin_four(t->starts, sums);
  for (size_t k = 0; k < t->depth; k++, a += CPU_TILE_FLOATS, b += CPU_TILE_FLOATS) {
    _tile_loadd(4, a, LINE);
    _tile_loadd(5, b, LINE);
    _tile_dpbf16ps(0, 4, 5);
    _tile_loadd(5, b + t->b_next, LINE);
    _tile_dpbf16ps(1, 4, 5);
    _tile_loadd(5, b + 2 * t->b_next, LINE);
    _tile_dpbf16ps(2, 4, 5);
    _tile_loadd(5, b + 3 * t->b_next, LINE);
    _tile_dpbf16ps(3, 4, 5);
  }
  bfloat_end_four(sums);
}

CPU_INLINE void bfloat_one(bool starts, const float *a, const float *b, size_t depth, float *sums) {
  enum { LINE = sizeof(float) * CPU_TILE };
  if (starts)
    _tile_loadd(0, sums, LINE);
  else
    _tile_zero(0);
  for (size_t k = 0; k < depth; k++, a += CPU_TILE_FLOATS, b += CPU_TILE_FLOATS) {
    _tile_loadd(4, a, LINE);
    _tile_loadd(6, b, LINE);
    _tile_dpbf16ps(0, 4, 6);
  }
  _tile_stored(0, sums, LINE);
}

CPU_INLINE void bfloat_tiles(const struct cpu_tiles *t, float *sums) {
  if (t->down == 2 && t->across == 2) {
    bfloat_two_by_two(t, sums);
    return;
  }
  if (t->down == 1 && t->across == 4) {
    bfloat_one_by_four(t, sums);
    return;
  }
  for (size_t i = 0; i < t->down; i++)
    for (size_t j = 0; j < t->across; j++, sums += CPU_TILE_FLOATS)
      bfloat_one(t->starts, t->a + i * t->a_next, t->b + j * t->b_next, t->depth, sums);
}

#endif
