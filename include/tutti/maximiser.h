/* maximiser.h - kind `maximiser`: finds where an objective over candidates is largest. */
#ifndef TUTTI_MAXIMISER_H
#define TUTTI_MAXIMISER_H

#include <tutti/surrogate.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_maximiser tutti_maximiser;

struct tutti_maximiser_setup {
  size_t size; /* these four: see struct tutti_setup (host.h) */
  const tutti_host *host;
  const struct tutti_task *task;
  uint64_t seed;
  const tutti_scope *scope; /* what is searched; lives as long as the instance */
};

/* What to maximise, over the candidates of the scope; borrowed until return. */
struct tutti_objective {
  size_t size;
  void *argument;
  /* Compute worth[count] of points. The maximiser always fills in candidates, and vectors if the scope has a joint
     domain. */
  enum tutti_status (*evaluate)(void *argument, tutti_context *context, const struct tutti_points *points,
                                double *worth);
  /* The worth and its gradient at one vector of the joint domain's encoding, [width] each; NULL if there is none. */
  enum tutti_status (*gradient)(void *argument, tutti_context *context, const double *vector, double *worth,
                                double *gradient);
  /* What was tried before (observed or pending) and must not be proposed again, with its losses (NaN where there is
     none). */
  size_t known_count;
  const tutti_candidate *const *known;
  const double *known_losses;
  uint64_t step;       /* the number of the proposal in the run; keys random streams */
  uint64_t trial_seed; /* the seed of the candidate that is to be made */
  /* OPTIONAL; default: evaluate. Exact, with the same bits, for the `wanted` (>= 1) best of these points; others may
     get NaN. It is cheap only if it is given as many points at a time as there are. */
  enum tutti_status (*evaluate_best)(void *argument, tutti_context *context, const struct tutti_points *points,
                                     size_t wanted, double *worth);
};

struct tutti_maximiser_ops {
  size_t size;    /* sizeof(struct tutti_maximiser_ops) */
  unsigned needs; /* TUTTI_NEEDS_VECTORS: a joint domain; else 0 */

  /* REQUIRED. Give the best candidate found that is not among the known (the caller unrefs it), and its worth. MUST
     come to an end. TUTTI_ERROR_UNSUPPORTED if every candidate of a finite scope is known. Draw from streams keyed by
     (setup seed, purpose, objective->step). */
  enum tutti_status (*maximise)(void *self, tutti_context *context, const struct tutti_objective *objective,
                                tutti_candidate **candidate, double *worth);
};

/* --- the host's side --- */

/* Make an instance of the maximiser plugin in `section` of the host; the caller destroys *maximiser. What is copied or
   borrowed, and the errors of every kind: struct tutti_setup (host.h). TUTTI_ERROR_USAGE also if it needs vectors and
   the scope is over graphs. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_maximiser_create(tutti_context *context, const tutti_host *host,
                                                                   const char *section,
                                                                   const struct tutti_maximiser_setup *setup,
                                                                   tutti_maximiser **maximiser);
/* Destroy it; NULL is allowed. */
TUTTI_API void tutti_maximiser_destroy(tutti_maximiser *maximiser);
/* The plugin's descriptor, valid for the life of the process. */
TUTTI_API const struct tutti_descriptor *tutti_maximiser_descriptor(const tutti_maximiser *maximiser);
/* Search for the candidate with the largest worth that is not among the known; the caller unrefs *candidate, which is
   NULL on failure. TUTTI_ERROR_UNSUPPORTED: every candidate of the scope is known; TUTTI_ERROR_PLUGIN: it gave none, a
   known one, or a worth of NaN. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_maximiser_maximise(tutti_context *context, tutti_maximiser *maximiser,
                                                                     const struct tutti_objective *objective,
                                                                     tutti_candidate **candidate, double *worth);

TUTTI_END_DECLS
#endif
