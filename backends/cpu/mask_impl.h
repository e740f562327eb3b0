/* mask_impl.h - dropout's masks: Philox 4x32-10 (Salmon et al., SC 2011) with a counter of (block, layer, step), one
   block per lane. Only integers decide, so every processor drops the same units. */
#ifndef BACKEND_CPU_MASK_IMPL_H
#define BACKEND_CPU_MASK_IMPL_H

#include "kernels_impl.h"
#include "vector_impl.h"

/* Four words of each of the CPU_LANES blocks, starting at `block`. */
CPU_INLINE void mask_draw(const struct cpu_mask *mask, uint32_t block, ivec words[4]) {
  static const uint32_t lanes[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  uint32_t k0 = (uint32_t)mask->key, k1 = (uint32_t)(mask->key >> 32);
  ivec c0 = i_add(i_set((int32_t)block), i_load(lanes)), c1 = i_set((int32_t)mask->layer);
  ivec c2 = i_set((int32_t)(uint32_t)mask->step), c3 = i_set((int32_t)(uint32_t)(mask->step >> 32));
  for (int round = 0; round < 10; round++) {
    ivec low0 = c0, high0 = c0, low1 = c0, high1 = c0;
    i_multiply(c0, 0xD2511F53u, &low0, &high0);
    i_multiply(c2, 0xCD9E8D57u, &low1, &high1);
    c0 = i_xor(i_xor(high1, c1), i_set((int32_t)k0));
    c2 = i_xor(i_xor(high0, c3), i_set((int32_t)k1));
    c1 = low1;
    c3 = low0;
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  words[0] = c0;
  words[1] = c1;
  words[2] = c2;
  words[3] = c3;
}

/* Sixteen blocks give 64 numbers, word by word. */
static void mask(const struct cpu_mask *m, size_t count, float *y) {
  const ivec flip = i_set(INT32_MIN), threshold = i_xor(i_set((int32_t)m->threshold), flip);
  const vec keep = v_set(m->keep);
  for (size_t i = 0; i < count; i += 64)
    for (size_t lane = 0; lane < 16; lane += CPU_LANES) {
      ivec words[4];
      mask_draw(m, (uint32_t)(i / 4 + lane), words);
      for (size_t w = 0; w < 4 && i + 16 * w < count; w++)
        v_store(y + i + 16 * w + lane, v_select(i_less(i_xor(words[w], flip), threshold), v_zero(), keep));
    }
}

#endif
