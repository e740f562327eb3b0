/* propose.h - the part that builders with a model share: the history of what was asked and told, and the way from it
   through surrogate, acquisition and maximiser to the next candidate. A builder may hold several proposers, over the
   run's scope or another: one for each of several objectives, for example. */
#ifndef TUTTI_PROPOSE_H
#define TUTTI_PROPOSE_H

#include <tutti/acquisition.h>
#include <tutti/builder.h>
#include <tutti/candidate_set.h>
#include <tutti/maximiser.h>
#include <tutti/surrogate.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_proposer tutti_proposer;

/* What stands in for the values of candidates that are being trained. */
enum tutti_pending {
  TUTTI_PENDING_AUTO,        /* hallucinate where the surrogate can, else lie */
  TUTTI_PENDING_HALLUCINATE, /* they lower the standard deviation, but leave the mean as it is */
  TUTTI_PENDING_LIAR,        /* they count as observed with a made-up value */
  /* likewise, but only those asked for since the last result: each result ends the lies before it */
  TUTTI_PENDING_LIAR_BATCH,
  TUTTI_PENDING_NONE,
  TUTTI_PENDING_FANTASIES /* the acquisition is averaged over joint draws of their values */
};
enum tutti_lie { TUTTI_LIE_MIN, TUTTI_LIE_MEAN, TUTTI_LIE_MAX };
/* What the model learns from a trial without a finite loss. */
enum tutti_failed {
  TUTTI_FAILED_WORST, /* that it has the worst value told before it; if there is none, the first one told after it */
  TUTTI_FAILED_IGNORE /* nothing; still, it is not tried again */
};
enum tutti_transform {
  TUTTI_TRANSFORM_NONE,
  TUTTI_TRANSFORM_LOG,  /* log(loss); mirrored below 1e-6, so that it is defined for every loss */
  TUTTI_TRANSFORM_ASINH /* asinh(loss): the loss itself near 0, its logarithm far from it, for losses of either sign */
};

struct tutti_proposer_setup {
  size_t size; /* sizeof(struct tutti_proposer_setup) */
  const tutti_host *host;
  const tutti_scope *scope; /* NULL: the host's */
  uint64_t seed;            /* of surrogate, acquisition and maximiser */
  /* Up to `begin` observations (>= 1), the surrogate is fitted anew for each proposal; later ones are added to a fit to
     the first `begin`. */
  size_t begin;
  enum tutti_pending pending;
  enum tutti_lie lie;
  enum tutti_failed failed;
  enum tutti_transform transform;
  const char *surrogate, *acquisition, *maximiser; /* sections of the host; NULL: those of these names */
  size_t fantasies;                                /* joint draws; with TUTTI_PENDING_FANTASIES */
  /* The acquisition is calibrated on a fit to the first so many observations, or while there are fewer, to all; 0: as
     `begin`. */
  size_t calibrate;
};

/* --- parameters --------------------------------------------------------------------------------------------------- */

/* A field (`model`) of a builder's config struct. Made only by the host, from the plugin's own table. The library never
   sees it: tutti_proposer_setup_of makes a setup of it. */
struct tutti_proposer_config {
  int pending, lie, failed, transform;
  int64_t fantasies;
  const char *surrogate, *acquisition, *maximiser;
};

/* The choices of these parameters, NULL-terminated, in the order of the enums. */
static const char *const tutti_proposer_pendings[] = {"auto", "hallucinate", "liar", "liar-batch",
                                                      "none", "fantasies",   NULL};
static const char *const tutti_proposer_lies[] = {"min", "mean", "max", NULL};
static const char *const tutti_proposer_faileds[] = {"worst", "ignore", NULL};
static const char *const tutti_proposer_transforms[] = {"none", "log", "asinh", NULL};

/* clang-format off */
/* The parameters pending, fantasies, lie, failed, transform, surrogate, acquisition and maximiser, for a table:
   TUTTI_PROPOSER_PARAMS(struct my_config, model, "auto", "worst", "gp", "ei", "sobol-lbfgs"). The last five arguments
   are the defaults of pending, failed and the three sub-plugins, whose own parameters are in the sections surrogate,
   acquisition and maximiser. TUTTI_PROPOSER_PARAMS_WITH takes, after each of these three, what of those parameters
   differs from the plugin's own table (member `with` of struct tutti_param), or NULL. */
#define TUTTI_PROPOSER_PARAMS(config_type, field, pending_preset, failed_preset, surrogate_preset, acquisition_preset, \
                              maximiser_preset) \
  TUTTI_PROPOSER_PARAMS_WITH(config_type, field, pending_preset, failed_preset, surrogate_preset, NULL, \
                             acquisition_preset, NULL, maximiser_preset, NULL)
#define TUTTI_PROPOSER_PARAMS_WITH(config_type, field, pending_preset, failed_preset, surrogate_preset, surrogate_with, \
                                   acquisition_preset, acquisition_with, maximiser_preset, maximiser_with) \
  TUTTI_PARAM("pending", CHOICE, config_type, field.pending, pending_preset, 0, 0, tutti_proposer_pendings, TUTTI_KIND_SPACE, \
              "What stands in for results that are outstanding: lower deviations, lies, lies for those asked for since the " \
              "last result alone, nothing, or several joint draws of them, over which the acquisition is averaged; auto: " \
              "hallucinate where the surrogate can, else lie."), \
  TUTTI_PARAM("fantasies", INTEGER, config_type, field.fantasies, "10", 1, 10000, NULL, TUTTI_KIND_SPACE, \
              "The joint draws (pending = fantasies)."), \
  TUTTI_PARAM("lie", CHOICE, config_type, field.lie, "min", 0, 0, tutti_proposer_lies, TUTTI_KIND_SPACE, \
              "The lie: least, mean or greatest value observed."), \
  TUTTI_PARAM("failed", CHOICE, config_type, field.failed, failed_preset, 0, 0, tutti_proposer_faileds, TUTTI_KIND_SPACE, \
              "What a failed trial teaches: that its value is the worst so far, or nothing."), \
  TUTTI_PARAM("transform", CHOICE, config_type, field.transform, "none", 0, 0, tutti_proposer_transforms, TUTTI_KIND_SPACE, \
              "What the surrogate models: the loss, or its logarithm, for losses over orders of magnitude; asinh: the loss near 0, its logarithm far from it, so that a few huge losses do not drown the rest."), \
  TUTTI_PARAM("surrogate", PLUGIN, config_type, field.surrogate, surrogate_preset, 0, 0, NULL, TUTTI_KIND_SURROGATE, \
              "Model of the losses.", TUTTI_PARAM_WITH(surrogate_with)), \
  TUTTI_PARAM("acquisition", PLUGIN, config_type, field.acquisition, acquisition_preset, 0, 0, NULL, \
              TUTTI_KIND_ACQUISITION, "What a candidate is worth.", TUTTI_PARAM_WITH(acquisition_with)), \
  TUTTI_PARAM("maximiser", PLUGIN, config_type, field.maximiser, maximiser_preset, 0, 0, NULL, TUTTI_KIND_MAXIMISER, \
              "Search for the candidate that is worth most.", TUTTI_PARAM_WITH(maximiser_with))
/* clang-format on */

/* The setup of a proposer over `scope` (NULL: the host's). Up to `begin` observations, the surrogate is fitted anew. */
static inline struct tutti_proposer_setup tutti_proposer_setup_of(const struct tutti_proposer_config *config,
                                                                  const tutti_host *host, const tutti_scope *scope,
                                                                  size_t begin) {
  struct tutti_proposer_setup setup;
  setup.size = sizeof setup;
  setup.host = host;
  setup.scope = scope;
  setup.seed = tutti_host_seed(host);
  setup.begin = begin;
  setup.pending = (enum tutti_pending)config->pending;
  setup.lie = (enum tutti_lie)config->lie;
  setup.failed = (enum tutti_failed)config->failed;
  setup.transform = (enum tutti_transform)config->transform;
  setup.surrogate = setup.acquisition = setup.maximiser = NULL;
  setup.fantasies = (size_t)config->fantasies;
  setup.calibrate = 0;
  return setup;
}

/* --- proposals ---------------------------------------------------------------------------------------------------- */

/* Make a proposer and its sub-plugins. The setup is copied; host, scope and section names are borrowed until destroy.
   The caller destroys *proposer. TUTTI_ERROR_USAGE: the space lacks what a sub-plugin needs, or the surrogate lacks
   what `pending` needs. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_proposer_create(tutti_context *context, const struct tutti_proposer_setup *setup, tutti_proposer **proposer);
/* Destroy it with its sub-plugins; NULL is allowed. */
TUTTI_API void tutti_proposer_destroy(tutti_proposer *proposer);

/* A candidate was asked for, or adopted: it is referenced, pending, and never proposed again. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_proposer_asked(tutti_context *context, tutti_proposer *proposer,
                                                                 uint64_t trial, const tutti_candidate *candidate);
/* A trial has ended with this loss, or NaN if it has none. A trial that was not asked for is taken as if it had been.
   TUTTI_ERROR_INTERNAL: it was told before. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_proposer_told(tutti_context *context, tutti_proposer *proposer,
                                                                uint64_t trial, const tutti_candidate *candidate,
                                                                double loss);
/* Find the next candidate and its worth; the caller unrefs it and calls tutti_proposer_asked. It is drawn at random,
   with a worth of NaN, while no loss is known; *candidate = NULL if none is left. The result is a function of what was
   asked and told alone, and the call does not change what later calls give. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_proposer_propose(tutti_context *context, tutti_proposer *proposer,
                                                                   uint64_t trial, tutti_candidate **candidate,
                                                                   double *worth);
/* Draw a candidate that was not asked for; the caller unrefs it. *candidate = NULL if none is found
   (tutti_candidate_set_draw). */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_proposer_draw(tutti_context *context, const tutti_proposer *proposer,
                                                                uint64_t trial, tutti_candidate **candidate);

/* `state`, the text of a JSON object, with what the surrogate says of itself after all that was told (its fitted
   hyperparameters, for example) added as its member `surrogate`: for a builder's `describe`. Nothing is added if the
   surrogate says nothing, if no loss is known, or if `proposer` is NULL. Free *json with tutti_free.
   TUTTI_ERROR_USAGE: `state` is not JSON. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_proposer_describe_in(tutti_context *context, tutti_proposer *proposer,
                                                                       const char *state, char **json);

/* The number of candidates asked for; _observed_count: of those that the surrogate learns from; _pending_count: of
   those without a result. */
TUTTI_API size_t tutti_proposer_asked_count(const tutti_proposer *proposer);
TUTTI_API size_t tutti_proposer_observed_count(const tutti_proposer *proposer);
TUTTI_API size_t tutti_proposer_pending_count(const tutti_proposer *proposer);
/* The least loss told; infinity if there is none. */
TUTTI_API double tutti_proposer_best(const tutti_proposer *proposer);
/* Every candidate asked for; borrowed. */
TUTTI_API const tutti_candidate_set *tutti_proposer_known(const tutti_proposer *proposer);
/* Its acquisition, which stays the proposer's. */
TUTTI_API tutti_acquisition *tutti_proposer_acquisition(const tutti_proposer *proposer);

TUTTI_END_DECLS
#endif
