/* bayesian.h - a whole builder with one model over the run's scope: first an initial design, then always the candidate
   with the largest acquisition. A builder may be nothing else, by presets alone (plugins/builder/bo.c), or hold one and
   do something before or after it (template/src/builder-restless.c). */
#ifndef TUTTI_BAYESIAN_H
#define TUTTI_BAYESIAN_H

#include <tutti/design.h>
#include <tutti/propose.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_bayesian tutti_bayesian;

/* Make the design and the proposer. Both structs are copied; what they point to is borrowed until destroy. The caller
   ends it with tutti_bayesian_destroy. TUTTI_ERROR_USAGE: the space lacks what the design or a sub-plugin needs. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_bayesian_create(tutti_context *context,
                                                                  const struct tutti_design *design,
                                                                  const struct tutti_proposer_setup *proposer,
                                                                  tutti_bayesian **bayesian);
/* Its proposer, which it keeps and destroys. */
TUTTI_API tutti_proposer *tutti_bayesian_proposer(const tutti_bayesian *bayesian);

/* The operations of a builder, `destroy` to `describe`, with the contracts of builder.h and descriptor.h; `self` is a
   tutti_bayesian. */
TUTTI_API void tutti_bayesian_destroy(void *self);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_bayesian_ask(void *self, tutti_context *context, uint64_t trial,
                                                               struct tutti_proposal *proposal);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_bayesian_adopt(void *self, tutti_context *context, uint64_t trial,
                                                                 const struct tutti_proposal *proposal);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_bayesian_tell(void *self, tutti_context *context,
                                                                const struct tutti_result *result);
TUTTI_API bool tutti_bayesian_exhausted(void *self);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_bayesian_describe(void *self, tutti_context *context, char **json);

/* --- a builder by presets alone ----------------------------------------------------------------------------------- */

/* The config struct of a builder by presets, or its first field; in a table, TUTTI_DESIGN_PARAMS and
   TUTTI_PROPOSER_PARAMS of its fields. Made only by the host, from the plugin's own table. The library
   never sees it. */
struct tutti_bayesian_config {
  struct tutti_design_config design;
  struct tutti_proposer_config model;
};

/* `create` of a builder with that config; `self` is a tutti_bayesian. Until there are twice as many observations as the
   design has candidates, the model is fitted anew for each proposal, because its hyperparameters still move with each
   observation. */
static inline enum tutti_status tutti_bayesian_builder_create(tutti_context *context, const void *config,
                                                              const void *setup, void **self) {
  const struct tutti_bayesian_config *given = (const struct tutti_bayesian_config *)config;
  const tutti_host *host = ((const struct tutti_builder_setup *)setup)->host;
  const struct tutti_design design = tutti_design_of(&given->design, host);
  const struct tutti_proposer_setup proposer =
      tutti_proposer_setup_of(&given->model, host, NULL, 2 * (size_t)design.initial);
  tutti_bayesian *bayesian = NULL;
  enum tutti_status status = tutti_bayesian_create(context, &design, &proposer, &bayesian);
  *self = bayesian;
  return status;
}

TUTTI_END_DECLS
#endif
