/* philox_blocks_impl.h - several blocks of random words (philox_impl.h) at a time, since no block waits for another. */
#ifndef TUTTI_PHILOX_BLOCKS_IMPL_H
#define TUTTI_PHILOX_BLOCKS_IMPL_H

#include "philox_impl.h"

#include <string.h>
#include <tutti/cpu.h>

#if defined(__x86_64__)
#include <immintrin.h>

#define LANES 2
#define MAKE_BLOCKS make_4_blocks
#include "philox_lanes_impl.h"

#define LANES 4
#define MAKE_BLOCKS __attribute__((target("avx2"))) make_8_blocks
#include "philox_lanes_impl.h"

#define LANES 8
#define MAKE_BLOCKS __attribute__((target("avx512f"))) make_16_blocks
#include "philox_lanes_impl.h"
#endif

/* Of blocks that follow each other: out[] has two numbers of 64 bits a block, the earlier word above the later one. */
typedef void make_blocks_function(uint64_t first, uint64_t stream, const uint32_t key[2], uint64_t *out);

static inline void make_block(uint64_t first, uint64_t stream, const uint32_t key[2], uint64_t *out) {
  const uint32_t counter[4] = {(uint32_t)first, (uint32_t)(first >> 32), (uint32_t)stream, (uint32_t)(stream >> 32)};
  uint32_t words[4];
  philox_block(counter, key, words);
  out[0] = (uint64_t)words[0] << 32 | words[1];
  out[1] = (uint64_t)words[2] << 32 | words[3];
}

/* The widest that a processor has, and the numbers that it makes. */
static inline make_blocks_function *philox_blocks(enum tutti_cpu cpu, size_t *numbers) {
#if defined(__x86_64__)
  *numbers = cpu == TUTTI_CPU_AVX512 ? 32 : cpu == TUTTI_CPU_AVX2 ? 16 : 8;
  return cpu == TUTTI_CPU_AVX512 ? make_16_blocks : cpu == TUTTI_CPU_AVX2 ? make_8_blocks : make_4_blocks;
#else
  (void)cpu;
  *numbers = 2;
  return make_block;
#endif
}

#endif
