/* philox_lanes_impl.h - blocks of random words (philox_impl.h), as many at a time as a vector has lanes of 64 bits, of
   which words take the lower 32. Included once for each width: LANES is 2, 4 or 8, and MAKE_BLOCKS the function's name,
   after what it may use. */
#if LANES == 8
#define LANES_REGISTER __m512i
#define LANES_MULTIPLY(a, b) (lanes) _mm512_mul_epu32((__m512i)(a), (__m512i)(b))
#define LANES_EVEN(a, b) _mm512_unpacklo_epi64((__m512i)(a), (__m512i)(b))
#define LANES_ODD(a, b) _mm512_unpackhi_epi64((__m512i)(a), (__m512i)(b))
#elif LANES == 4
#define LANES_REGISTER __m256i
#define LANES_MULTIPLY(a, b) (lanes) _mm256_mul_epu32((__m256i)(a), (__m256i)(b))
#define LANES_EVEN(a, b) _mm256_unpacklo_epi64((__m256i)(a), (__m256i)(b))
#define LANES_ODD(a, b) _mm256_unpackhi_epi64((__m256i)(a), (__m256i)(b))
#else
#define LANES_REGISTER __m128i
#define LANES_MULTIPLY(a, b) (lanes) _mm_mul_epu32((__m128i)(a), (__m128i)(b))
#define LANES_EVEN(a, b) _mm_unpacklo_epi64((__m128i)(a), (__m128i)(b))
#define LANES_ODD(a, b) _mm_unpackhi_epi64((__m128i)(a), (__m128i)(b))
#endif

/* The 64-bit numbers of 2 LANES blocks, two a block, the earlier word above the later one. */
static void MAKE_BLOCKS(uint64_t first, uint64_t stream, const uint32_t key[2], uint64_t out[4 * LANES]) {
  enum { VECTORS = 2 };
  typedef uint64_t lanes __attribute__((vector_size(8 * LANES), aligned(8)));
  const lanes zero = {0}, lower = zero + UINT32_MAX, m0 = zero + PHILOX_M0, m1 = zero + PHILOX_M1;
  lanes c[4][VECTORS];
  uint32_t k0 = key[0], k1 = key[1];
  /* Even lanes hold the first half of the blocks, so that pairs of lanes lie side by side in the end. */
  for (size_t v = 0; v < VECTORS; v++) {
    lanes counter = zero + first + v * LANES;
    for (size_t i = 0; i < LANES; i++)
      counter[i] += i / 2 + i % 2 * LANES / 2;
    c[0][v] = counter;
    c[1][v] = counter >> 32;
    c[2][v] = zero + stream;
    c[3][v] = zero + (stream >> 32);
  }
  for (int round = 0; round < 10; round++, k0 += PHILOX_W0, k1 += PHILOX_W1)
#pragma GCC unroll 2
    for (size_t v = 0; v < VECTORS; v++) {
      const lanes p0 = LANES_MULTIPLY(c[0][v], m0), p1 = LANES_MULTIPLY(c[2][v], m1);
      c[0][v] = (p1 >> 32) ^ c[1][v] ^ (zero + k0);
      c[2][v] = (p0 >> 32) ^ c[3][v] ^ (zero + k1);
      c[1][v] = p1;
      c[3][v] = p0;
    }
  for (size_t v = 0; v < VECTORS; v++, out += 2 * LANES) {
    const lanes one = c[0][v] << 32 | (c[1][v] & lower), other = c[2][v] << 32 | (c[3][v] & lower);
    const LANES_REGISTER even = LANES_EVEN(one, other), odd = LANES_ODD(one, other);
    memcpy(out, &even, sizeof even);
    memcpy(out + LANES, &odd, sizeof odd);
  }
}

#undef LANES_REGISTER
#undef LANES_MULTIPLY
#undef LANES_EVEN
#undef LANES_ODD
#undef LANES
#undef MAKE_BLOCKS
