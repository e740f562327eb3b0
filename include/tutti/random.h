/* random.h - counter-based random streams: Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2,
   3", SC 2011). A stream is named by (seed, purpose, index), so that what a trial draws depends on its own index
   alone. */
#ifndef TUTTI_RANDOM_H
#define TUTTI_RANDOM_H

#include <tutti/status.h>

TUTTI_BEGIN_DECLS

/* A stream: a plain value that may be copied (the copy goes on by itself). The fields are private. Never grows. */
struct tutti_random {
  uint32_t key[2];
  uint32_t counter[4];
  uint32_t block[4];
  uint32_t used;
  uint32_t has_normal;
  double normal;
};

/* Begin the stream (seed, purpose, index). `purpose` says what is drawn, as in "weights"; different texts give
   independent streams. */
TUTTI_API void tutti_random_init(struct tutti_random *random, uint64_t seed, const char *purpose, uint64_t index);
/* The next 32 random bits; tutti_random_u64: the next 64. */
TUTTI_API uint32_t tutti_random_u32(struct tutti_random *random);
TUTTI_API uint64_t tutti_random_u64(struct tutti_random *random);
/* Uniform in [0, 1), with 53 bits. */
TUTTI_API double tutti_random_uniform(struct tutti_random *random);
/* A uniform integer in [0, bound), without bias; bound >= 1. */
TUTTI_API uint64_t tutti_random_below(struct tutti_random *random, uint64_t bound);
/* Standard normal (Box-Muller). */
TUTTI_API double tutti_random_normal(struct tutti_random *random);
/* Fill out[count] with floats uniform in [low, high); tutti_random_fill_normal: with normal ones of this mean and
   standard deviation. */
TUTTI_API void tutti_random_fill_uniform(struct tutti_random *random, size_t count, float low, float high, float *out);
TUTTI_API void tutti_random_fill_normal(struct tutti_random *random, size_t count, float mean, float deviation,
                                        float *out);
/* Shuffle indices[count] in place (Fisher-Yates). */
TUTTI_API void tutti_random_shuffle(struct tutti_random *random, size_t count, uint32_t *indices);
/* Draw `taken` (<= count) distinct numbers of [0, count), in random order, into out[taken]. */
TUTTI_API void tutti_random_choose(struct tutti_random *random, size_t count, size_t taken, uint32_t *out);

TUTTI_END_DECLS
#endif
