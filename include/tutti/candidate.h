/* candidate.h - what a builder proposes: a genotype (architecture), hyperparameters and a seed; and the scope, the set
   of all candidates of a run. */
#ifndef TUTTI_CANDIDATE_H
#define TUTTI_CANDIDATE_H

#include <tutti/domain.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_space tutti_space;         /* space.h */
typedef struct tutti_genotype tutti_genotype;   /* below */
typedef struct tutti_candidate tutti_candidate; /* below */
typedef struct tutti_scope tutti_scope;         /* below */

/* --- genotypes ------------------------------------------------------------------------------------------------- */

/* A genotype is an architecture in the terms of its space. It is immutable once made, and counted by reference. */

/* Count one more reference and return the genotype; NULL gives NULL. Not safe from several threads at once. */
TUTTI_API tutti_genotype *tutti_genotype_ref(const tutti_genotype *genotype);
/* Give a reference back; the last one destroys the genotype, which must happen before its space is destroyed. NULL is
   allowed. */
TUTTI_API void tutti_genotype_unref(tutti_genotype *genotype);
/* The point [count of the space's domain], borrowed; NULL for graph spaces. */
TUTTI_API const double *tutti_genotype_point(const tutti_genotype *genotype);
/* The graph that the space made, borrowed; NULL for point spaces. */
TUTTI_API const void *tutti_genotype_graph(const tutti_genotype *genotype);
/* The space that it belongs to. */
TUTTI_API const tutti_space *tutti_genotype_space(const tutti_genotype *genotype);
/* Are both of the same space and the same architecture (equal points, or graphs with equal canonical text)? */
TUTTI_API bool tutti_genotype_equal(const tutti_genotype *a, const tutti_genotype *b);

/* --- candidates ------------------------------------------------------------------------------------------------ */

/* A candidate is immutable once made, and counted by reference. */

/* Count one more reference and return the candidate; NULL gives NULL. Not safe from several threads at once. */
TUTTI_API tutti_candidate *tutti_candidate_ref(const tutti_candidate *candidate);
/* Give a reference back; the last one destroys the candidate. NULL is allowed. */
TUTTI_API void tutti_candidate_unref(tutti_candidate *candidate);
/* Its genotype, borrowed; NULL where the scope leaves the architecture out. */
TUTTI_API const tutti_genotype *tutti_candidate_genotype(const tutti_candidate *candidate);
/* Its point [count of the scope's hyperparameters], borrowed; NaN where a dimension is inactive. */
TUTTI_API const double *tutti_candidate_hyperparameters(const tutti_candidate *candidate);
/* The key of everything that is drawn in its training: equal candidates with equal seeds give equal bits. */
TUTTI_API uint64_t tutti_candidate_seed(const tutti_candidate *candidate);
/* Are architecture and hyperparameters equal? Seeds may differ. */
TUTTI_API bool tutti_candidate_equal(const tutti_candidate *a, const tutti_candidate *b);
/* A hash that is equal for equal candidates, whatever their seeds. */
TUTTI_API uint64_t tutti_candidate_hash(const tutti_candidate *candidate);

/* --- scope ----------------------------------------------------------------------------------------------------- */

/* What a builder searches: a space and a domain of hyperparameters, either of which may be a single point. */

/* Make a scope of a space and hyperparameters, both borrowed; they must outlive it. `space` NULL leaves the
   architecture out, as where one model searches the hyperparameters for all architectures: candidates then have no
   genotype. `hyperparameters` NULL: none are searched. The caller destroys *scope. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_scope_create(tutti_context *context, const tutti_space *space,
                                                               const tutti_domain *hyperparameters,
                                                               tutti_scope **scope);
/* Destroy it; NULL is allowed. */
TUTTI_API void tutti_scope_destroy(tutti_scope *scope);
/* Its space; NULL where the architecture is left out. */
TUTTI_API const tutti_space *tutti_scope_space(const tutti_scope *scope);
/* The domain of its hyperparameters; NULL where there are none. */
TUTTI_API const tutti_domain *tutti_scope_hyperparameters(const tutti_scope *scope);
/* The joint domain, borrowed: the space's dimensions, then the hyperparameters. "space." stands before a name of the
   former that the latter have, too. NULL for graph spaces. */
TUTTI_API const tutti_domain *tutti_scope_joint(const tutti_scope *scope);

/* Make a candidate, which the caller unrefs. `genotype` (NULL exactly where the scope has no space) is referenced, and
   hyperparameters[count of the domain] is copied. TUTTI_ERROR_INTERNAL: a genotype of another space; TUTTI_ERROR_USAGE:
   a hyperparameter out of range. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_scope_candidate(tutti_context *context, const tutti_scope *scope,
                                                                  const tutti_genotype *genotype,
                                                                  const double *hyperparameters, uint64_t seed,
                                                                  tutti_candidate **candidate);
/* Draw a candidate's architecture and hyperparameters from `random`; its seed is `seed`. The caller unrefs *candidate.
   Errors are those of the space. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_scope_sample(tutti_context *context, const tutti_scope *scope,
                                                               struct tutti_random *random, uint64_t seed,
                                                               tutti_candidate **candidate);
/* Make the candidate of the space's known genotype number `index`, with drawn hyperparameters; the caller unrefs it.
   *candidate = NULL if there is none of that number. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_scope_known(tutti_context *context, const tutti_scope *scope,
                                                              size_t index, struct tutti_random *random, uint64_t seed,
                                                              tutti_candidate **candidate);
/* Make a mutant of `parent`, which the caller unrefs: one variable changes, chosen evenly from the active dimensions of
   architecture and hyperparameters. A graph counts as one variable, which its space mutates; a space with a single
   point has none. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_scope_mutate(tutti_context *context, const tutti_scope *scope,
                                                               struct tutti_random *random,
                                                               const tutti_candidate *parent, uint64_t seed,
                                                               tutti_candidate **mutant);
/* Make the candidate at point[count of the joint domain], which the caller unrefs. TUTTI_ERROR_USAGE: the point is out
   of range, or breaks a rule of the space; TUTTI_ERROR_UNSUPPORTED: a graph space. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_scope_from_point(tutti_context *context, const tutti_scope *scope,
                                                                   const double *point, uint64_t seed,
                                                                   tutti_candidate **candidate);
/* Write the candidate's point in the joint domain to point[count of the joint domain]; not for graph spaces. */
TUTTI_API void tutti_scope_to_point(const tutti_scope *scope, const tutti_candidate *candidate, double *point);
/* The candidate as JSON, {"architecture": ..., "hyperparameters": {...}, "seed": "..."}; free *json with tutti_free. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_scope_print(tutti_context *context, const tutti_scope *scope,
                                                              const tutti_candidate *candidate, char **json);
/* The candidate of such a text, which the caller unrefs. TUTTI_ERROR_USAGE says what is wrong with the text. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_scope_parse(tutti_context *context, const tutti_scope *scope,
                                                              const char *json, tutti_candidate **candidate);

TUTTI_END_DECLS
#endif
