/* population.c - a ring of individuals. */
#include <math.h>
#include <tutti/population.h>

struct tutti_population {
  size_t capacity, count, oldest;
  struct tutti_individual *ring; /* [capacity]; candidates are referenced */
  uint32_t *drawn;               /* [capacity]: a tournament's */
};

enum tutti_status tutti_population_create(tutti_context *context, size_t capacity, tutti_population **population) {
  enum tutti_status status;
  tutti_population *made = NULL;
  *population = NULL;
  if (capacity == 0 || capacity > UINT32_MAX)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "population: expected a capacity from 1 to %u, found %zu", UINT32_MAX,
                      capacity);
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof(*made), &made));
  made->capacity = capacity;
  TUTTI_TRY_OUT(context, tutti_alloc(context, capacity, sizeof(*made->ring), &made->ring));
  TUTTI_TRY_OUT(context, tutti_alloc(context, capacity, sizeof(*made->drawn), &made->drawn));
  *population = made;
  return TUTTI_OK;
out:
  tutti_population_destroy(made);
  return status;
}

static struct tutti_individual *slot_of(const tutti_population *population, size_t index) {
  return &population->ring[(population->oldest + index) % population->capacity];
}

static void drop(const struct tutti_individual *individual) {
  tutti_candidate_unref((tutti_candidate *)(uintptr_t)individual->candidate);
}

void tutti_population_destroy(tutti_population *population) {
  if (!population)
    return;
  for (size_t i = 0; i < population->count; i++)
    drop(slot_of(population, i));
  tutti_free(population->ring);
  tutti_free(population->drawn);
  tutti_free(population);
}

enum tutti_status tutti_population_add(tutti_context *context, tutti_population *population, uint64_t trial,
                                       const tutti_candidate *candidate, double loss) {
  if (!isfinite(loss))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "population: trial %llu has no finite loss, so it cannot be a member",
                      (unsigned long long)trial);
  if (population->count == population->capacity) {
    drop(slot_of(population, 0));
    population->oldest = (population->oldest + 1) % population->capacity;
    population->count--;
  }
  *slot_of(population, population->count++) = (struct tutti_individual){.size = sizeof(struct tutti_individual),
                                                                        .trial = trial,
                                                                        .candidate = tutti_candidate_ref(candidate),
                                                                        .loss = loss};
  return TUTTI_OK;
}

size_t tutti_population_count(const tutti_population *population) { return population->count; }

bool tutti_population_full(const tutti_population *population) { return population->count == population->capacity; }

const struct tutti_individual *tutti_population_at(const tutti_population *population, size_t index) {
  return slot_of(population, index);
}

const struct tutti_individual *tutti_population_tournament(tutti_population *population, struct tutti_random *random,
                                                           size_t sample) {
  size_t taken = sample < population->count ? sample : population->count;
  tutti_random_choose(random, population->count, taken, population->drawn);
  const struct tutti_individual *best = slot_of(population, population->drawn[0]);
  for (size_t i = 1; i < taken; i++) {
    const struct tutti_individual *rival = slot_of(population, population->drawn[i]);
    if (rival->loss < best->loss || (rival->loss == best->loss && rival->trial < best->trial))
      best = rival;
  }
  return best;
}
