/* candidate_set.h - a set of candidates that are equal when architecture and hyperparameters are, whatever their seeds:
   for builders and maximisers that never propose the same thing twice. */
#ifndef TUTTI_CANDIDATE_SET_H
#define TUTTI_CANDIDATE_SET_H

#include <tutti/candidate.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_candidate_set tutti_candidate_set;

TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_candidate_set_create(tutti_context *context,
                                                                       tutti_candidate_set **set);
TUTTI_API void tutti_candidate_set_destroy(tutti_candidate_set *set);
/* Add a candidate, which is referenced; *added (may be NULL) = false when an equal one is there. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_candidate_set_add(tutti_context *context, tutti_candidate_set *set,
                                                                    const tutti_candidate *candidate, bool *added);
TUTTI_API bool tutti_candidate_set_has(const tutti_candidate_set *set, const tutti_candidate *candidate);
TUTTI_API size_t tutti_candidate_set_count(const tutti_candidate_set *set);
/* Draw a random candidate of the scope that is not there (the caller unrefs it), trying so often that, of n equally likely ones
   of which one is new, it is missed with a probability below 1e-17; *candidate = NULL when none was found. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_candidate_set_draw(tutti_context *context, const tutti_candidate_set *set, const tutti_scope *scope,
                         struct tutti_random *random, uint64_t seed, tutti_candidate **candidate);

TUTTI_END_DECLS
#endif
