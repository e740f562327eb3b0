/* process.h - one Gaussian process: fitted, stored as tensors, conditioned again on its rows. */
#ifndef PROCESS_H
#define PROCESS_H

#include "backends/classical/learner.h"
#include "plugins/shared/gp/gp_impl.h"

/* The parameters, as a recipe sets them. */
struct process_config {
  int kernel;
  bool ard;
  struct tutti_reals amplitude, length_scale, noise;
  int64_t most_rows, fit_rows, looks, starts, evaluations;
};

/* The ranges of the hyperparameters. TUTTI_ERROR_USAGE: a parameter is none. */
TUTTI_NODISCARD enum tutti_status process_bounds(tutti_context *context, const struct process_config *config,
                                                 struct gp_bounds *bounds);
/* Fit the process of one target and add its tensors, named "OUTPUT.part". */
TUTTI_NODISCARD enum tutti_status process_fit(tutti_context *context, const struct process_config *config,
                                              const struct tutti_task *task, uint64_t seed,
                                              const struct learner_rows *rows, size_t output, tutti_tensors *tensors);
/* Condition a process on its rows, from its tensors. The caller clears the posterior (gp_posterior_clear), also after a
   failure. */
TUTTI_NODISCARD enum tutti_status process_open(tutti_context *context, const tutti_tensors *tensors, size_t features,
                                               size_t output, struct gp_posterior *posterior);
/* Only its shape and hyperparameters: how many rows it has, but not these. Likewise cleared. */
TUTTI_NODISCARD enum tutti_status process_glance(tutti_context *context, const tutti_tensors *tensors, size_t features,
                                                 size_t output, struct gp_posterior *posterior);
/* Predict rows with the process of one target: its part of out[rows][outputs][2] and, unless NULL, of
   epistemic[rows][outputs]. */
TUTTI_NODISCARD enum tutti_status process_predict(tutti_context *context, const struct tutti_task *task,
                                                  const tutti_tensors *tensors, const struct learner_rows *rows,
                                                  size_t output, float *out, float *epistemic);
/* Write the process of one target down: its mean, and for a Gaussian head its variance and the part of it that is
   epistemic. */
TUTTI_NODISCARD enum tutti_status process_formula(tutti_context *context, const struct tutti_task *task,
                                                  const tutti_tensors *tensors, size_t output, tutti_formula *formula,
                                                  struct tutti_predicted_terms *terms);

#endif
