/* diversity.h - how different the members of an ensemble are made. How differently they predict is a matter of evaluate.h. */
#ifndef TUTTI_DIVERSITY_H
#define TUTTI_DIVERSITY_H

#include <tutti/candidate.h>
#include <tutti/evaluate.h>

TUTTI_BEGIN_DECLS

/* How different candidates [count] of a scope are: means over all pairs of tutti_domain_distance of their genotypes (of graph
   spaces, of the first of their distances) and of their hyperparameters (Egele et al., "AutoDEUQ", ICPR 2022: pairwise
   distances of the vectors of decisions). Left out where there are fewer than two candidates, a single architecture, no
   distance of architectures, or no hyperparameter that is searched. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_evaluate_diversity(tutti_context *context, const tutti_scope *scope,
                                                                     size_t count,
                                                                     const tutti_candidate *const *candidates,
                                                                     tutti_evaluation **evaluation);

TUTTI_END_DECLS
#endif
