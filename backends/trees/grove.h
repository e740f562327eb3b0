/* grove.h - what backend trees is made of: Tutti's own forest, or boosted trees by XGBoost; fitted, stored as tensors,
   rebuilt from them. */
#ifndef GROVE_H
#define GROVE_H

#include "backends/classical/learner.h"

enum grove_method { GROVE_RANDOM_FOREST, GROVE_EXTRA_TREES, GROVE_BOOSTING };

/* The parameters, as a recipe sets them. */
struct grove_config {
  int method;
  int64_t trees, min_leaf, max_depth, folds;
  double features, learning_rate, absolute, l2, min_child, prior;
  bool bootstrap;
};

/* Fit the model of one output (classification: of all classes) and add its tensors, named "OUTPUT.part". */
TUTTI_NODISCARD enum tutti_status grove_fit_forest(tutti_context *context, const struct grove_config *config,
                                                   const struct tutti_task *task, uint64_t seed,
                                                   const struct learner_rows *rows, size_t output,
                                                   tutti_tensors *tensors);
TUTTI_NODISCARD enum tutti_status grove_fit_boosting(tutti_context *context, const struct grove_config *config,
                                                     const struct tutti_task *task, uint64_t seed,
                                                     const struct learner_rows *rows, size_t output,
                                                     tutti_tensors *tensors);
/* Predict rows: one output's part of out[rows][width]. */
TUTTI_NODISCARD enum tutti_status grove_predict_forest(tutti_context *context, const struct grove_config *config,
                                                       const struct tutti_task *task, const tutti_tensors *tensors,
                                                       const struct learner_rows *rows, size_t output, float *out);
TUTTI_NODISCARD enum tutti_status grove_predict_boosting(tutti_context *context, const struct grove_config *config,
                                                         const struct tutti_task *task, const tutti_tensors *tensors,
                                                         const struct learner_rows *rows, size_t output, float *out);
/* Write the model of one output down: its mean (classification: all probabilities), and its variance or
   TUTTI_NO_TERM. */
TUTTI_NODISCARD enum tutti_status grove_formula_forest(tutti_context *context, const struct grove_config *config,
                                                       const struct tutti_task *task, const tutti_tensors *tensors,
                                                       size_t output, tutti_formula *formula,
                                                       struct tutti_predicted_terms *terms);
TUTTI_NODISCARD enum tutti_status grove_formula_boosting(tutti_context *context, const struct grove_config *config,
                                                         const struct tutti_task *task, const tutti_tensors *tensors,
                                                         size_t output, tutti_formula *formula,
                                                         struct tutti_predicted_terms *terms);
/* Is XGBoost there? If not, TUTTI_ERROR_UNSUPPORTED, with what to install. */
TUTTI_NODISCARD enum tutti_status grove_check_boosting(tutti_context *context);

#endif
