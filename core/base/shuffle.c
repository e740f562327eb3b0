/* shuffle.c - shuffles of many numbers: those of random_shuffle (philox_impl.h), whose random words are made several
   blocks at a time. The same numbers come out, and the stream goes on from the same place. */
#include "philox_blocks_impl.h"

/* The counter's half that counts blocks, and the half that says which stream it is. */
static uint64_t blocks_of(const struct tutti_random *random) {
  return random->counter[0] | (uint64_t)random->counter[1] << 32;
}
static void set_blocks(struct tutti_random *random, uint64_t blocks) {
  random->counter[0] = (uint32_t)blocks;
  random->counter[1] = (uint32_t)(blocks >> 32);
}
static uint64_t stream_of(const struct tutti_random *random) {
  return random->counter[2] | (uint64_t)random->counter[3] << 32;
}

/* Numbers of 64 bits, two a block, that are made ahead: the swaps then follow each other closely enough to wait for
   their indices together. */
enum { NUMBERS = 64 };

/* The numbers of a stream that begins with a whole block. */
struct numbers {
  const struct tutti_random *random;
  make_blocks_function *make;
  size_t at_once;
  uint64_t made[NUMBERS];
  uint64_t taken; /* in all */
};

static void make_numbers(struct numbers *numbers) {
  const struct tutti_random *random = numbers->random;
  for (size_t made = 0; made < NUMBERS; made += numbers->at_once)
    numbers->make(blocks_of(random) + (numbers->taken + made) / 2, stream_of(random), random->key,
                  numbers->made + made);
}

static inline uint64_t next_number(struct numbers *numbers) {
  const size_t at = numbers->taken % NUMBERS;
  if (at == 0)
    make_numbers(numbers);
  numbers->taken++;
  return numbers->made[at];
}

/* random_below. */
static inline uint64_t number_below(struct numbers *numbers, uint64_t bound) {
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
  set_blocks(random, blocks_of(random) + (taken - 1) / 2);
  philox_block(random->counter, random->key, random->block);
  set_blocks(random, blocks_of(random) + 1);
  random->used = taken % 2 ? 2 : 4;
}

void tutti_random_shuffle(struct tutti_random *random, size_t count, uint32_t *indices) {
  if (random->used != 4 || count < NUMBERS) {
    random_shuffle(random, count, indices);
    return;
  }
  struct numbers numbers;
  numbers.random = random;
  numbers.make = philox_blocks(tutti_cpu_detect(), &numbers.at_once);
  numbers.taken = 0;
  for (size_t i = count; i > 1; i--) {
    size_t j = (size_t)number_below(&numbers, i);
    uint32_t kept = indices[i - 1];
    indices[i - 1] = indices[j];
    indices[j] = kept;
  }
  go_on(random, numbers.taken);
}
