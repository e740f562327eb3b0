/* grove.h - what backend trees is made of: a forest of this project, or boosted trees by XGBoost; fitted, kept as tensors, made
   again from them. */
#ifndef GROVE_H
#define GROVE_H

#include "backends/classical/learner.h"

enum grove_method { GROVE_RANDOM_FOREST, GROVE_EXTRA_TREES, GROVE_BOOSTING };

/* The parameters, and so what a recipe sets. */
struct grove_config {
  int method;
  int64_t trees, min_leaf, max_depth, folds;
  double features, learning_rate, absolute, l2;
  bool bootstrap;
};

/* Fit what predicts one output (classification: all classes) and add its tensors, named "OUTPUT.": */
TUTTI_NODISCARD enum tutti_status grove_fit_forest(tutti_context *context, const struct grove_config *config,
                                                   const struct tutti_task *task, uint64_t seed,
                                                   const struct learner_rows *rows, size_t output,
                                                   tutti_tensors *tensors);
TUTTI_NODISCARD enum tutti_status grove_fit_boosting(tutti_context *context, const struct grove_config *config,
                                                     const struct tutti_task *task, uint64_t seed,
                                                     const struct learner_rows *rows, size_t output,
                                                     tutti_tensors *tensors);
/* Predict rows: one output's part of out[rows][width]. */
TUTTI_NODISCARD enum tutti_status grove_predict_forest(tutti_context *context, const struct tutti_task *task,
                                                       const tutti_tensors *tensors, const struct learner_rows *rows,
                                                       size_t output, float *out);
TUTTI_NODISCARD enum tutti_status grove_predict_boosting(tutti_context *context, const struct tutti_task *task,
                                                         const tutti_tensors *tensors, const struct learner_rows *rows,
                                                         size_t output, float *out);
/* Is XGBoost there? TUTTI_ERROR_UNSUPPORTED, with what to install, where it is not. */
TUTTI_NODISCARD enum tutti_status grove_check_boosting(tutti_context *context);

#endif
