/* philox_impl.h - Philox 4x32-10 (Salmon et al., SC 2011), integers from its streams, and shuffles. The program of a
   GPU (backends/cuda) is made from this file, too: so both draw the same numbers. PHILOX_FUNCTION: what stands before a
   function. */
#ifndef TUTTI_PHILOX_IMPL_H
#define TUTTI_PHILOX_IMPL_H

#include <stddef.h>
#include <tutti/random.h>

#ifndef PHILOX_FUNCTION
#define PHILOX_FUNCTION static inline
#endif

/* Multipliers and Weyl increments of the paper, Section 4.3. */
#define PHILOX_M0 UINT32_C(0xD2511F53)
#define PHILOX_M1 UINT32_C(0xCD9E8D57)
#define PHILOX_W0 UINT32_C(0x9E3779B9)
#define PHILOX_W1 UINT32_C(0xBB67AE85)

PHILOX_FUNCTION void philox_block(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
  uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3], k0 = key[0], k1 = key[1];
  for (int round = 0; round < 10; round++) {
    uint64_t p0 = (uint64_t)PHILOX_M0 * c0, p1 = (uint64_t)PHILOX_M1 * c2;
    uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0, n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c1 = (uint32_t)p1;
    c3 = (uint32_t)p0;
    c0 = n0;
    c2 = n2;
    k0 += PHILOX_W0;
    k1 += PHILOX_W1;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

PHILOX_FUNCTION uint32_t random_u32(struct tutti_random *random) {
  if (random->used == 4) {
    philox_block(random->counter, random->key, random->block);
    if (++random->counter[0] == 0)
      random->counter[1]++;
    random->used = 0;
  }
  return random->block[random->used++];
}

PHILOX_FUNCTION uint64_t random_u64(struct tutti_random *random) {
  uint64_t high = random_u32(random);
  return high << 32 | random_u32(random);
}

PHILOX_FUNCTION uint64_t random_below(struct tutti_random *random, uint64_t bound) {
  /* Lemire's multiplication method: reject the few low products that would make some numbers likelier. */
  unsigned __int128 product = (unsigned __int128)random_u64(random) * bound;
  uint64_t low = (uint64_t)product;
  if (low < bound) {
    uint64_t threshold = -bound % bound;
    while (low < threshold) {
      product = (unsigned __int128)random_u64(random) * bound;
      low = (uint64_t)product;
    }
  }
  return (uint64_t)(product >> 64);
}

PHILOX_FUNCTION void random_shuffle(struct tutti_random *random, size_t count, uint32_t *indices) {
  for (size_t i = count; i > 1; i--) {
    size_t j = (size_t)random_below(random, i);
    uint32_t kept = indices[i - 1];
    indices[i - 1] = indices[j];
    indices[j] = kept;
  }
}

#endif
