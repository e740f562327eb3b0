/* population.h - the population of aging evolution: a bounded queue of finished trials, which the oldest leaves when a
   new one enters (Real, Aggarwal, Huang, Le, "Regularized evolution for image classifier architecture search", AAAI
   2019, Algorithm 1). For builders that evolve candidates. */
#ifndef TUTTI_POPULATION_H
#define TUTTI_POPULATION_H

#include <tutti/candidate.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_population tutti_population;

/* A member; borrowed from the population until another is added. */
struct tutti_individual {
  size_t size; /* sizeof(struct tutti_individual) of the library */
  uint64_t trial;
  const tutti_candidate *candidate;
  double loss;
};

/* Make an empty population for `capacity` members; the caller destroys *population. TUTTI_ERROR_USAGE: a capacity of 0
   or over UINT32_MAX. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_population_create(tutti_context *context, size_t capacity,
                                                                    tutti_population **population);
/* Destroy it and give its references back; NULL is allowed. */
TUTTI_API void tutti_population_destroy(tutti_population *population);
/* Add the newest member; the candidate is referenced, and the oldest member leaves if the population is full.
   TUTTI_ERROR_USAGE: the loss is not finite. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_population_add(tutti_context *context, tutti_population *population,
                                                                 uint64_t trial, const tutti_candidate *candidate,
                                                                 double loss);
/* The number of members; tutti_population_full: whether it equals the capacity. */
TUTTI_API size_t tutti_population_count(const tutti_population *population);
TUTTI_API bool tutti_population_full(const tutti_population *population);
/* Member number `index` (< count); 0 is the oldest. */
TUTTI_API const struct tutti_individual *tutti_population_at(const tutti_population *population, size_t index);
/* The member with the least loss among `sample` (>= 1) drawn without replacement, or among all if there are fewer; the
   lowest trial on ties. The population must not be empty. */
TUTTI_API const struct tutti_individual *tutti_population_tournament(tutti_population *population,
                                                                     struct tutti_random *random, size_t sample);

TUTTI_END_DECLS
#endif
