/* candidate.c - candidates: immutable, counted by reference. */
#include "candidate_impl.h"
#include "space_impl.h"

#include <string.h>

/* Only the count changes, so everyone else may hold const pointers. */
tutti_candidate *tutti_candidate_ref(const tutti_candidate *candidate_) {
  tutti_candidate *candidate = (tutti_candidate *)(uintptr_t)candidate_;
  if (candidate)
    candidate->references++;
  return candidate;
}

void tutti_candidate_unref(tutti_candidate *candidate) {
  if (!candidate || --candidate->references > 0)
    return;
  tutti_genotype_unref(candidate->genotype);
  tutti_free(candidate);
}

const tutti_genotype *tutti_candidate_genotype(const tutti_candidate *candidate) { return candidate->genotype; }

const double *tutti_candidate_hyperparameters(const tutti_candidate *candidate) { return candidate->hyperparameters; }

uint64_t tutti_candidate_seed(const tutti_candidate *candidate) { return candidate->seed; }

bool tutti_candidate_equal(const tutti_candidate *a, const tutti_candidate *b) {
  bool same_architecture =
      a->genotype && b->genotype ? tutti_genotype_equal(a->genotype, b->genotype) : a->genotype == b->genotype;
  return a->domain == b->domain && same_architecture &&
         (!a->domain || tutti_domain_equal(a->domain, a->hyperparameters, b->hyperparameters));
}

uint64_t tutti_candidate_hash(const tutti_candidate *candidate) {
  uint64_t hash = candidate->genotype ? tutti_genotype_hash(candidate->genotype) : 0;
  for (size_t i = 0; candidate->domain && i < tutti_domain_count(candidate->domain); i++) {
    double value = candidate->hyperparameters[i];
    uint64_t bits;
    value = value != value ? -1e300 : value + 0.0; /* NaNs are equal, and so are both zeros */
    memcpy(&bits, &value, sizeof bits);
    hash = (hash ^ bits) * UINT64_C(0x9E3779B97F4A7C15);
    hash ^= hash >> 29;
  }
  return hash;
}
