/* mask_impl.h - dropout's masks: Philox 4x32-10 (Salmon et al., SC 2011) with a counter of (block, layer, step), sixteen
   blocks side by side. Only integers decide, so that every processor drops the same units. */
#ifndef BACKEND_CPU_MASK_IMPL_H
#define BACKEND_CPU_MASK_IMPL_H

#include "kernels_impl.h"
#include "vector_impl.h"

#if defined(__clang__)
#define CPU_OPTIMISE
#else
#define CPU_OPTIMISE __attribute__((optimize("O3")))
#endif

/* 64 draws: lanes[word][block]. */
CPU_OPTIMISE static void mask_draw(const struct cpu_mask *mask, uint32_t block, uint32_t lanes[4][16]) {
  uint32_t c0[16], c1[16], c2[16], c3[16], k0 = (uint32_t)mask->key, k1 = (uint32_t)(mask->key >> 32);
  for (uint32_t i = 0; i < 16; i++) {
    c0[i] = block + i;
    c1[i] = mask->layer;
    c2[i] = (uint32_t)mask->step;
    c3[i] = (uint32_t)(mask->step >> 32);
  }
  for (int round = 0; round < 10; round++) {
    for (int i = 0; i < 16; i++) {
      uint64_t p0 = (uint64_t)0xD2511F53u * c0[i], p1 = (uint64_t)0xCD9E8D57u * c2[i];
      c0[i] = (uint32_t)(p1 >> 32) ^ c1[i] ^ k0;
      c2[i] = (uint32_t)(p0 >> 32) ^ c3[i] ^ k1;
      c1[i] = (uint32_t)p1;
      c3[i] = (uint32_t)p0;
    }
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  memcpy(lanes[0], c0, sizeof c0);
  memcpy(lanes[1], c1, sizeof c1);
  memcpy(lanes[2], c2, sizeof c2);
  memcpy(lanes[3], c3, sizeof c3);
}

static void mask(const struct cpu_mask *m, size_t count, float *y) {
  for (size_t i = 0; i < count; i += 64) {
    uint32_t lanes[4][16];
    mask_draw(m, (uint32_t)(i / 4), lanes);
    size_t here = count - i < 64 ? count - i : 64;
    for (size_t j = 0; j < here; j++)
      y[i + j] = lanes[j / 16][j % 16] < m->threshold ? 0 : m->keep;
  }
}

#endif
