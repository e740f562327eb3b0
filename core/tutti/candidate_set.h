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

TUTTI_END_DECLS
#endif
