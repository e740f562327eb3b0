/* shuffle.c - shuffles of many numbers: those of random_shuffle (philox_impl.h), whose blocks of random words are made
   several at a time, since no block waits for another. The same numbers come out, and the stream goes on from the same
   place. */
#include "philox_impl.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Blocks made at a time; numbers of 64 bits, two a block, that are made ahead: the swaps then follow each other closely
   enough to wait for their indices together. */
enum { BLOCKS = 4, NUMBERS = 64 };

static void counter_after(const uint32_t counter[4], uint64_t blocks, uint32_t out[4]) {
  uint64_t low = (counter[0] | (uint64_t)counter[1] << 32) + blocks;
  out[0] = (uint32_t)low;
  out[1] = (uint32_t)(low >> 32);
  out[2] = counter[2];
  out[3] = counter[3];
}

#if defined(__SSE2__)

/* philox_block for two counters a vector: each word has 64 bits of room, of which the lower 32 count. */
static void make_blocks(const uint32_t counter[4], const uint32_t key[2], uint64_t out[2 * BLOCKS]) {
  enum { PAIRS = BLOCKS / 2 };
  const __m128i m0 = _mm_set1_epi32((int)PHILOX_M0), m1 = _mm_set1_epi32((int)PHILOX_M1);
  __m128i c[4][PAIRS];
  uint32_t k0 = key[0], k1 = key[1];
#pragma GCC unroll 8
  for (int p = 0; p < PAIRS; p++) {
    uint32_t one[4], other[4];
    counter_after(counter, 2 * (uint64_t)p, one);
    counter_after(counter, 2 * (uint64_t)p + 1, other);
    for (int w = 0; w < 4; w++)
      c[w][p] = _mm_set_epi64x((long long)other[w], (long long)one[w]);
  }
  for (int round = 0; round < 10; round++, k0 += PHILOX_W0, k1 += PHILOX_W1) {
    const __m128i round0 = _mm_set1_epi32((int)k0), round1 = _mm_set1_epi32((int)k1);
#pragma GCC unroll 8
    for (int p = 0; p < PAIRS; p++) {
      __m128i p0 = _mm_mul_epu32(c[0][p], m0), p1 = _mm_mul_epu32(c[2][p], m1);
      c[0][p] = _mm_xor_si128(_mm_xor_si128(_mm_srli_epi64(p1, 32), c[1][p]), round0);
      c[2][p] = _mm_xor_si128(_mm_xor_si128(_mm_srli_epi64(p0, 32), c[3][p]), round1);
      c[1][p] = p1;
      c[3][p] = p0;
    }
  }
  /* A number has the earlier word above the later one. */
  const __m128i lower = _mm_set1_epi64x(0xffffffff);
#pragma GCC unroll 8
  for (int p = 0; p < PAIRS; p++) {
    __m128i first = _mm_or_si128(_mm_slli_epi64(c[0][p], 32), _mm_and_si128(c[1][p], lower));
    __m128i second = _mm_or_si128(_mm_slli_epi64(c[2][p], 32), _mm_and_si128(c[3][p], lower));
    _mm_storeu_si128((__m128i *)&out[4 * p], _mm_unpacklo_epi64(first, second));
    _mm_storeu_si128((__m128i *)&out[4 * p + 2], _mm_unpackhi_epi64(first, second));
  }
}

#else

static void make_blocks(const uint32_t counter[4], const uint32_t key[2], uint64_t out[2 * BLOCKS]) {
  for (uint64_t b = 0; b < BLOCKS; b++) {
    uint32_t at[4], words[4];
    counter_after(counter, b, at);
    philox_block(at, key, words);
    out[2 * b] = (uint64_t)words[0] << 32 | words[1];
    out[2 * b + 1] = (uint64_t)words[2] << 32 | words[3];
  }
}

#endif

/* The numbers of a stream that begins with a whole block. */
struct numbers {
  const struct tutti_random *random;
  uint64_t made[NUMBERS];
  uint64_t taken; /* in all */
};

static uint64_t next_number(struct numbers *numbers) {
  const size_t at = numbers->taken % NUMBERS;
  for (size_t made = 0; at == 0 && made < NUMBERS; made += 2 * BLOCKS) {
    uint32_t counter[4];
    counter_after(numbers->random->counter, (numbers->taken + made) / 2, counter);
    make_blocks(counter, numbers->random->key, numbers->made + made);
  }
  numbers->taken++;
  return numbers->made[at];
}

/* random_below. */
static uint64_t number_below(struct numbers *numbers, uint64_t bound) {
  unsigned __int128 product = (unsigned __int128)next_number(numbers) * bound;
  if ((uint64_t)product < bound) {
    const uint64_t threshold = -bound % bound;
    while ((uint64_t)product < threshold)
      product = (unsigned __int128)next_number(numbers) * bound;
  }
  return (uint64_t)(product >> 64);
}

/* Leave the stream where it would be had its blocks been made one by one. */
static void go_on(struct tutti_random *random, uint64_t taken) {
  if (taken == 0)
    return;
  uint32_t last[4];
  counter_after(random->counter, (taken - 1) / 2, last);
  philox_block(last, random->key, random->block);
  counter_after(last, 1, random->counter);
  random->used = taken % 2 ? 2 : 4;
}

void tutti_random_shuffle(struct tutti_random *random, size_t count, uint32_t *indices) {
  if (random->used != 4 || count < NUMBERS) {
    random_shuffle(random, count, indices);
    return;
  }
  struct numbers numbers = {.random = random};
  for (size_t i = count; i > 1; i--) {
    size_t j = (size_t)number_below(&numbers, i);
    uint32_t kept = indices[i - 1];
    indices[i - 1] = indices[j];
    indices[j] = kept;
  }
  go_on(random, numbers.taken);
}
