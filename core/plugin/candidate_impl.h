/* candidate_impl.h - the inside of a candidate, for candidate.c and scope.c. */
#ifndef TUTTI_CANDIDATE_IMPL_H
#define TUTTI_CANDIDATE_IMPL_H

#include <tutti/candidate.h>

struct tutti_candidate {
  size_t references;
  const tutti_domain *domain; /* of the hyperparameters; may be NULL */
  tutti_genotype *genotype;
  uint64_t seed;
  double hyperparameters[]; /* [count of the domain] */
};

#endif
