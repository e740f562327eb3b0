/* candidate.h - what a builder proposes: a genotype (architecture), hyperparameters and a seed; and the scope, the set of
   all candidates of a run. */
#ifndef TUTTI_CANDIDATE_H
#define TUTTI_CANDIDATE_H

#include <tutti/domain.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_space tutti_space;         /* space.h */
typedef struct tutti_genotype tutti_genotype;   /* below */
typedef struct tutti_candidate tutti_candidate; /* below */
typedef struct tutti_scope tutti_scope;         /* below */

/* --- genotypes ------------------------------------------------------------------------------------------------- */

/* An architecture in the terms of its space; immutable once made, counted by reference. */
TUTTI_API tutti_genotype *tutti_genotype_ref(const tutti_genotype *genotype);
TUTTI_API void tutti_genotype_unref(tutti_genotype *genotype);
/* The space's point, for spaces with a domain; else NULL. */
TUTTI_API const double *tutti_genotype_point(const tutti_genotype *genotype);
/* What the space made it of, for graph spaces; else NULL. */
TUTTI_API const void *tutti_genotype_graph(const tutti_genotype *genotype);
TUTTI_API const tutti_space *tutti_genotype_space(const tutti_genotype *genotype);
/* Equal means that they print the same. */
TUTTI_API bool tutti_genotype_equal(const tutti_genotype *a, const tutti_genotype *b);

/* --- candidates ------------------------------------------------------------------------------------------------ */

/* Immutable once made, counted by reference. */
TUTTI_API tutti_candidate *tutti_candidate_ref(const tutti_candidate *candidate);
TUTTI_API void tutti_candidate_unref(tutti_candidate *candidate);
/* NULL where its scope leaves the architecture out. */
TUTTI_API const tutti_genotype *tutti_candidate_genotype(const tutti_candidate *candidate);
/* The point in the scope's hyperparameters. */
TUTTI_API const double *tutti_candidate_hyperparameters(const tutti_candidate *candidate);
/* Key of everything that is drawn in its training; equal seeds and equal candidates give equal bits. */
TUTTI_API uint64_t tutti_candidate_seed(const tutti_candidate *candidate);
/* Equal in architecture and hyperparameters; seeds may differ. The hash agrees with it. */
TUTTI_API bool tutti_candidate_equal(const tutti_candidate *a, const tutti_candidate *b);
TUTTI_API uint64_t tutti_candidate_hash(const tutti_candidate *candidate);

/* --- scope ----------------------------------------------------------------------------------------------------- */

/* What a builder searches: a space and a domain of hyperparameters, either of which may be a single point. */

/* Borrows both, which must outlive it. Without a space (NULL) the architecture is left out, as where one model searches
   the hyperparameters for all architectures: candidates then have no genotype. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_scope_create(tutti_context *context, const tutti_space *space,
                                                               const tutti_domain *hyperparameters,
                                                               tutti_scope **scope);
TUTTI_API void tutti_scope_destroy(tutti_scope *scope);
/* NULL where the architecture is left out. */
TUTTI_API const tutti_space *tutti_scope_space(const tutti_scope *scope);
TUTTI_API const tutti_domain *tutti_scope_hyperparameters(const tutti_scope *scope);
/* Space's domain followed by hyperparameters ("space." before names of the former that clash); NULL for graph spaces. */
TUTTI_API const tutti_domain *tutti_scope_joint(const tutti_scope *scope);

/* Make a candidate. `genotype` (NULL exactly where the scope has no space) is referenced, `hyperparameters` [count of the domain] copied. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_scope_candidate(tutti_context *context, const tutti_scope *scope,
                                                                  const tutti_genotype *genotype,
                                                                  const double *hyperparameters, uint64_t seed,
                                                                  tutti_candidate **candidate);
/* Draw architecture and hyperparameters. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_scope_sample(tutti_context *context, const tutti_scope *scope,
                                                               struct tutti_random *random, uint64_t seed,
                                                               tutti_candidate **candidate);
/* The candidate of the space's index-th known genotype with hyperparameters drawn; *candidate = NULL where it has none of that
   index. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_scope_known(tutti_context *context, const tutti_scope *scope,
                                                              size_t index, struct tutti_random *random, uint64_t seed,
                                                              tutti_candidate **candidate);
/* Mutate one variable of architecture and hyperparameters together, each with the same chance; a graph is one, whose mutation
   is its space's, and a space with a single point is none. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_scope_mutate(tutti_context *context, const tutti_scope *scope,
                                                               struct tutti_random *random,
                                                               const tutti_candidate *parent, uint64_t seed,
                                                               tutti_candidate **mutant);
/* The candidate at a point of the joint domain. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_scope_from_point(tutti_context *context, const tutti_scope *scope,
                                                                   const double *point, uint64_t seed,
                                                                   tutti_candidate **candidate);
/* Its point in the joint domain; point[count of joint]. */
TUTTI_API void tutti_scope_to_point(const tutti_scope *scope, const tutti_candidate *candidate, double *point);
/* {"architecture": ..., "hyperparameters": {...}, "seed": "..."} both ways. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_scope_print(tutti_context *context, const tutti_scope *scope,
                                                              const tutti_candidate *candidate, char **json);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_scope_parse(tutti_context *context, const tutti_scope *scope,
                                                              const char *json, tutti_candidate **candidate);

TUTTI_END_DECLS
#endif
