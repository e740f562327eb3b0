/* diversity.h - how different the architectures and hyperparameters of an ensemble's members are. How differently they
   predict is in evaluate.h. */
#ifndef TUTTI_DIVERSITY_H
#define TUTTI_DIVERSITY_H

#include <tutti/candidate.h>
#include <tutti/evaluate.h>

TUTTI_BEGIN_DECLS

/* Measure how different candidates[count] of a scope are, of which the i-th was picked picks[i] times (NULL: once
   each):
   - architecture-diversity, of Egele et al., "AutoDEUQ", ICPR 2022, section III-B2: the Euclidean distances of all
     pairs of their vectors of decisions (each a choice's number or an integer), divided by the norm of these distances,
     and summed; one that was picked n times stands there n times; left out where a decision is real, and for graph
     spaces;
   - architecture-distance, hyperparameter-distance: the means over all pairs of tutti_domain_distance of their
     genotypes (for graph spaces, of the first of their distances) and of their hyperparameters, each candidate once.
   A number is left out if there are fewer than two candidates, a single architecture, no distance of architectures, or
   no hyperparameter that is searched. The caller destroys *evaluation. Errors are those of the space's distances. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_evaluate_diversity(tutti_context *context, const tutti_scope *scope,
                                                                     size_t count,
                                                                     const tutti_candidate *const *candidates,
                                                                     const uint64_t *picks,
                                                                     tutti_evaluation **evaluation);

TUTTI_END_DECLS
#endif
