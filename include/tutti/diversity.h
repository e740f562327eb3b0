/* diversity.h - how different the members of an ensemble are made. How differently they predict is a matter of evaluate.h. */
#ifndef TUTTI_DIVERSITY_H
#define TUTTI_DIVERSITY_H

#include <tutti/candidate.h>

TUTTI_BEGIN_DECLS

/* Mean distances over all pairs of candidates; NaN with fewer than two. */
struct tutti_diversity {
  double
      architecture; /* tutti_domain_distance of the genotypes; of graph spaces the first of their distances; NaN where
                             there is none, or a single architecture */
  double hyperparameters; /* tutti_domain_distance; NaN where none is searched */
};

/* The diversity of candidates [count] of a scope (Egele et al., "AutoDEUQ", ICPR 2022: pairwise distances of the vectors of
   decisions). */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_diversity_of(tutti_context *context, const tutti_scope *scope,
                                                               size_t count, const tutti_candidate *const *candidates,
                                                               struct tutti_diversity *diversity);

TUTTI_END_DECLS
#endif
