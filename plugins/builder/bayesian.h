/* bayesian.h - builders with one model over the whole scope: an initial design, then the candidate of the largest acquisition.
   They differ in their presets. */
#ifndef TUTTI_BUILDER_BAYESIAN_H
#define TUTTI_BUILDER_BAYESIAN_H

#include "design.h"
#include "model_impl.h"

/* The config struct; its table is DESIGN_PARAMS and MODEL_PARAMS. */
struct bayesian_config {
  struct design_config design;
  struct model_config model;
};

enum tutti_status bayesian_create(tutti_context *context, const void *config, const void *setup, void **instance);
void bayesian_destroy(void *instance);
extern const struct tutti_builder_ops bayesian_ops;

#endif
