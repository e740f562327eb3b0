/* random.c - streams of random numbers (philox_impl.h), and the numbers that are drawn from them. */
#include "philox_impl.h"

#include <math.h>
#include <string.h>

/* The finaliser of SplitMix64: spreads the bits of seed and purpose over the key. */
static uint64_t mix(uint64_t x) {
  x += UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
  return x ^ (x >> 31);
}

/* FNV-1a, 64 bits. */
static uint64_t hash_text(const char *text) {
  uint64_t hash = UINT64_C(0xCBF29CE484222325);
  for (; *text; text++)
    hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001B3);
  return hash;
}

void tutti_random_init(struct tutti_random *random, uint64_t seed, const char *purpose, uint64_t index) {
  uint64_t key = mix(mix(seed) ^ hash_text(purpose));
  memset(random, 0, sizeof *random);
  random->key[0] = (uint32_t)key;
  random->key[1] = (uint32_t)(key >> 32);
  /* The low half of the counter counts blocks, the high half is the stream's index. */
  random->counter[2] = (uint32_t)index;
  random->counter[3] = (uint32_t)(index >> 32);
  random->used = 4;
}

uint32_t tutti_random_u32(struct tutti_random *random) { return random_u32(random); }

uint64_t tutti_random_u64(struct tutti_random *random) { return random_u64(random); }

double tutti_random_uniform(struct tutti_random *random) { return (double)(tutti_random_u64(random) >> 11) * 0x1p-53; }

uint64_t tutti_random_below(struct tutti_random *random, uint64_t bound) { return random_below(random, bound); }

double tutti_random_normal(struct tutti_random *random) {
  if (random->has_normal) {
    random->has_normal = 0;
    return random->normal;
  }
  /* Box-Muller; 1 - u keeps the logarithm's argument above 0. */
  double radius = sqrt(-2 * log(1 - tutti_random_uniform(random)));
  double angle = 2 * M_PI * tutti_random_uniform(random);
  random->normal = radius * sin(angle);
  random->has_normal = 1;
  return radius * cos(angle);
}

void tutti_random_fill_uniform(struct tutti_random *random, size_t count, float low, float high, float *out) {
  /* If the interval is narrow compared with its position, the sum may round up to `high`. */
  float highest = nextafterf(high, low);
  for (size_t i = 0; i < count; i++) {
    float x = low + (high - low) * ((float)(random_u32(random) >> 8) * 0x1p-24f);
    out[i] = x < highest ? x : highest;
  }
}

void tutti_random_fill_normal(struct tutti_random *random, size_t count, float mean, float deviation, float *out) {
  for (size_t i = 0; i < count; i++)
    out[i] = mean + deviation * (float)tutti_random_normal(random);
}

void tutti_random_choose(struct tutti_random *random, size_t count, size_t taken, uint32_t *out) {
  /* Floyd's method needs no memory besides the result. The shuffle makes every order equally likely. */
  size_t drawn = 0;
  for (size_t top = count - taken; top < count; top++) {
    uint32_t number = (uint32_t)tutti_random_below(random, top + 1);
    for (size_t i = 0; i < drawn; i++)
      if (out[i] == number) {
        number = (uint32_t)top;
        break;
      }
    out[drawn++] = number;
  }
  tutti_random_shuffle(random, taken, out);
}
