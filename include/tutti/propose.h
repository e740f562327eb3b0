/* propose.h - what builders with a model share: the history of what was asked and told, and the way from it over surrogate,
   acquisition and maximiser to the next candidate. A builder may hold several (one for each of several objectives over the
   same candidates, say), over the run's scope or another. */
#ifndef TUTTI_PROPOSE_H
#define TUTTI_PROPOSE_H

#include <tutti/acquisition.h>
#include <tutti/builder.h>
#include <tutti/maximiser.h>
#include <tutti/surrogate.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_proposer tutti_proposer;

/* What stands in for the values of candidates that are being trained. */
enum tutti_pending {
  TUTTI_PENDING_AUTO,        /* hallucinate where the surrogate can, else lie */
  TUTTI_PENDING_HALLUCINATE, /* they lower the standard deviation, and leave the mean */
  TUTTI_PENDING_LIAR,        /* they count as observed with a made-up value */
  TUTTI_PENDING_LIAR_BATCH, /* likewise, but only those asked for since the last result: a lie is forgotten when one is told */
  TUTTI_PENDING_NONE,
  TUTTI_PENDING_FANTASIES /* the acquisition is averaged over joint draws of their values */
};
enum tutti_lie { TUTTI_LIE_MIN, TUTTI_LIE_MEAN, TUTTI_LIE_MAX };
/* What a trial without a finite loss teaches. */
enum tutti_failed {
  TUTTI_FAILED_WORST, /* it counts as the worst value told before it, or as the first one told after it */
  TUTTI_FAILED_IGNORE /* nothing; it is not tried again, though */
};
enum tutti_transform {
  TUTTI_TRANSFORM_NONE,
  TUTTI_TRANSFORM_LOG /* log(loss); mirrored below 1e-6, so that losses of every sign have one */
};

struct tutti_proposer_setup {
  size_t size;
  const tutti_host *host;
  const tutti_scope *scope; /* NULL: the host's */
  uint64_t seed;            /* of surrogate, acquisition and maximiser */
  size_t begin;             /* up to so many observations the surrogate is fitted anew for each proposal; later ones are
                               added to a fit to the first `begin` (>= 1) */
  enum tutti_pending pending;
  enum tutti_lie lie;
  enum tutti_failed failed;
  enum tutti_transform transform;
  const char *surrogate, *acquisition, *maximiser; /* sections of the host; NULL: those of these names */
  size_t fantasies;                                /* joint draws; with TUTTI_PENDING_FANTASIES */
};

/* Makes the sub-plugins, which refuse here a space that lacks what they need. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_proposer_create(tutti_context *context, const struct tutti_proposer_setup *setup, tutti_proposer **proposer);
TUTTI_API void tutti_proposer_destroy(tutti_proposer *proposer);

/* A candidate was asked for, or adopted: it is pending, and never proposed again. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_proposer_asked(tutti_context *context, tutti_proposer *proposer,
                                                                 uint64_t trial, const tutti_candidate *candidate);
/* Its loss, or NaN where there is none. A trial that was not asked for is taken as if it had been. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_proposer_told(tutti_context *context, tutti_proposer *proposer,
                                                                uint64_t trial, const tutti_candidate *candidate,
                                                                double loss);
/* The next candidate (the caller unrefs it and calls tutti_proposer_asked), and what it is worth: drawn at random, with a
   worth of NaN, while no loss is known; *candidate = NULL when none is left. It is a function of what was asked and told,
   and changes nothing that matters. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_proposer_propose(tutti_context *context, tutti_proposer *proposer,
                                                                   uint64_t trial, tutti_candidate **candidate,
                                                                   double *worth);
/* A random candidate that was not asked for; *candidate = NULL when none is left. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_proposer_draw(tutti_context *context, const tutti_proposer *proposer,
                                                                uint64_t trial, tutti_candidate **candidate);

/* What the surrogate says of itself after all that was told, its fitted hyperparameters, say, as JSON; free with tutti_free.
   *json = NULL when it does not say, and before there is a loss. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_proposer_describe(tutti_context *context, tutti_proposer *proposer,
                                                                    char **json);

/* Candidates asked for, those that the surrogate learns from, and those without a result. */
TUTTI_API size_t tutti_proposer_asked_count(const tutti_proposer *proposer);
TUTTI_API size_t tutti_proposer_observed_count(const tutti_proposer *proposer);
TUTTI_API size_t tutti_proposer_pending_count(const tutti_proposer *proposer);
/* The least loss told; infinity when there is none. */
TUTTI_API double tutti_proposer_best(const tutti_proposer *proposer);
/* Was an equal candidate asked for? */
TUTTI_API bool tutti_proposer_knows(const tutti_proposer *proposer, const tutti_candidate *candidate);
TUTTI_API tutti_surrogate *tutti_proposer_surrogate(const tutti_proposer *proposer);
TUTTI_API tutti_acquisition *tutti_proposer_acquisition(const tutti_proposer *proposer);

TUTTI_END_DECLS
#endif
