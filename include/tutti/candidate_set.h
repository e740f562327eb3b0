/* candidate_set.h - a set of candidates, for builders and maximisers that never propose the same thing twice.
   Candidates are equal when architecture and hyperparameters are, whatever their seeds. */
#ifndef TUTTI_CANDIDATE_SET_H
#define TUTTI_CANDIDATE_SET_H

#include <tutti/candidate.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_candidate_set tutti_candidate_set;

/* Make an empty set; the caller destroys *set. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_candidate_set_create(tutti_context *context,
                                                                       tutti_candidate_set **set);
/* Destroy it and give its references back; NULL is allowed. */
TUTTI_API void tutti_candidate_set_destroy(tutti_candidate_set *set);
/* Add a candidate, which is referenced. *added (may be NULL) = false if an equal one is in the set already. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_candidate_set_add(tutti_context *context, tutti_candidate_set *set,
                                                                    const tutti_candidate *candidate, bool *added);
/* Is an equal candidate in the set? */
TUTTI_API bool tutti_candidate_set_has(const tutti_candidate_set *set, const tutti_candidate *candidate);
/* The number of candidates in the set. */
TUTTI_API size_t tutti_candidate_set_count(const tutti_candidate_set *set);
/* Draw a candidate of the scope that is not in the set; the caller unrefs it. *candidate = NULL after 1000 + 40 n
   draws, n the number of candidates in the set: where one of n + 1 equally likely candidates is new, the chance of
   missing it is below 1e-17. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_candidate_set_draw(tutti_context *context, const tutti_candidate_set *set, const tutti_scope *scope,
                         struct tutti_random *random, uint64_t seed, tutti_candidate **candidate);

TUTTI_END_DECLS
#endif
