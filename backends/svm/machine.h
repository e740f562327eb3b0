/* machine.h - one support vector machine: fitted by libsvm, stored as tensors, rebuilt from them. */
#ifndef MACHINE_H
#define MACHINE_H

#include "backends/classical/learner.h"

#include <tutti/plugin.h>

/* The parameters, as a recipe sets them. */
struct machine_config {
  double c, gamma, epsilon, tolerance;
  int64_t folds, cache, most_rows;
};

/* Was libsvm there at build time? Otherwise this writes why not, and the functions below fail. */
bool backend_available_svm(char *why, size_t size);

/* Fit the machine of one output (classification: of all classes) and add its tensors, named "OUTPUT.part". */
TUTTI_NODISCARD enum tutti_status machine_fit(tutti_context *context, const struct machine_config *config,
                                              const struct tutti_task *task, uint64_t seed,
                                              const struct learner_rows *rows, size_t output, tutti_tensors *tensors);
/* Predict rows with the machine of one output: its part of out[rows][width]. */
TUTTI_NODISCARD enum tutti_status machine_predict(tutti_context *context, const struct tutti_task *task,
                                                  const tutti_tensors *tensors, const struct learner_rows *rows,
                                                  size_t output, float *out);
/* Write the machine of one output down: its mean (classification: all probabilities) and its variance, TUTTI_NO_TERM:
   none. */
TUTTI_NODISCARD enum tutti_status machine_formula(tutti_context *context, const struct tutti_task *task,
                                                  const tutti_tensors *tensors, size_t output, tutti_formula *formula,
                                                  struct tutti_predicted_terms *terms);

#endif
