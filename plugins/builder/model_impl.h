/* model_impl.h - what builders with one model of the losses share: its parameters, and the proposer that they describe. */
#ifndef MODEL_IMPL_H
#define MODEL_IMPL_H

#include "plugins/shared/json.h"

#include <jansson.h>
#include <stdlib.h>
#include <tutti/plugin.h>
#include <tutti/propose.h>

/* Parameters; a builder's config struct has this as its field `model`. */
struct model_config {
  int pending, lie, failed, transform;
  int64_t fantasies;
  const char *surrogate, *acquisition, *maximiser;
};

static const char *const model_pendings[] = {"auto", "hallucinate", "liar", "liar-batch", "none", "fantasies", NULL};
static const char *const model_lies[] = {"min", "mean", "max", NULL};
static const char *const model_faileds[] = {"worst", "ignore", NULL};
static const char *const model_transforms[] = {"none", "log", NULL};

/* clang-format off */
#define MODEL_PARAMS(config_type, pending_preset, failed_preset, surrogate_preset, acquisition_preset, maximiser_preset) \
  {.name = "pending", .type = TUTTI_PARAM_CHOICE, .offset = offsetof(config_type, model.pending), \
   .preset = (pending_preset), .choices = model_pendings, \
   .doc = "What stands in for results that are outstanding: lower deviations, lies, lies for those asked for since the " \
          "last result alone, nothing, or several joint draws of them, over which the acquisition is averaged; auto: " \
          "hallucinate where the surrogate can, else lie."}, \
  {.name = "fantasies", .type = TUTTI_PARAM_INTEGER, .offset = offsetof(config_type, model.fantasies), \
   .preset = "10", .min = 1, .max = 10000, .doc = "The joint draws (pending = fantasies)."}, \
  {.name = "lie", .type = TUTTI_PARAM_CHOICE, .offset = offsetof(config_type, model.lie), .preset = "min", \
   .choices = model_lies, .doc = "The lie: least, mean or greatest value observed."}, \
  {.name = "failed", .type = TUTTI_PARAM_CHOICE, .offset = offsetof(config_type, model.failed), \
   .preset = (failed_preset), \
   .choices = model_faileds, \
   .doc = "What a failed trial teaches: that its value is the worst so far, or nothing."}, \
  {.name = "transform", .type = TUTTI_PARAM_CHOICE, .offset = offsetof(config_type, model.transform), \
   .preset = "none", .choices = model_transforms, \
   .doc = "What the surrogate models: the loss, or its logarithm, for losses over orders of magnitude."}, \
  {.name = "surrogate", .type = TUTTI_PARAM_PLUGIN, .offset = offsetof(config_type, model.surrogate), \
   .preset = (surrogate_preset), .kind = TUTTI_KIND_SURROGATE, .doc = "Model of the losses."}, \
  {.name = "acquisition", .type = TUTTI_PARAM_PLUGIN, .offset = offsetof(config_type, model.acquisition), \
   .preset = (acquisition_preset), .kind = TUTTI_KIND_ACQUISITION, .doc = "What a candidate is worth."}, \
  {.name = "maximiser", .type = TUTTI_PARAM_PLUGIN, .offset = offsetof(config_type, model.maximiser), \
   .preset = (maximiser_preset), .kind = TUTTI_KIND_MAXIMISER, \
   .doc = "Search for the candidate that is worth most."}
/* clang-format on */

/* The proposer over `scope` (NULL: the host's) that refits up to `begin` observations. */
static inline struct tutti_proposer_setup model_setup(const struct model_config *config, const tutti_host *host,
                                                      const tutti_scope *scope, size_t begin) {
  return (struct tutti_proposer_setup){.size = sizeof(struct tutti_proposer_setup),
                                       .host = host,
                                       .scope = scope,
                                       .seed = tutti_host_seed(host),
                                       .begin = begin,
                                       .pending = (enum tutti_pending)config->pending,
                                       .lie = (enum tutti_lie)config->lie,
                                       .failed = (enum tutti_failed)config->failed,
                                       .transform = (enum tutti_transform)config->transform,
                                       .fantasies = (size_t)config->fantasies};
}

/* The text of a builder's state, which is taken, with what the proposer's surrogate (NULL: none) says of itself; for
   `describe`. */
static inline enum tutti_status model_describe(tutti_context *context, json_t *state, tutti_proposer *proposer,
                                               char **json) {
  char *surrogate = NULL;
  if (state && proposer) {
    enum tutti_status described = tutti_proposer_describe(context, proposer, &surrogate);
    if (described != TUTTI_OK) {
      json_decref(state);
      return described;
    }
    if (surrogate)
      json_object_set_new(state, "surrogate", json_loads(surrogate, 0, NULL));
    tutti_free(surrogate);
  }
  return shared_json_print(context, state, JSON_REAL_PRECISION(17), "the builder's state", json);
}

#endif
