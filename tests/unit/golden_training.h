/* golden_training.h - golden losses, gradients and trajectories of whole networks (tests/golden/), which every backend
   that trains has to give. */
#ifndef GOLDEN_TRAINING_H
#define GOLDEN_TRAINING_H

#include "backends/cpu/cpu_impl.h"
#include "golden.h"

/* A backend as it is asked for golden numbers, with the parameters that these do not set. */
struct golden_backend {
  tutti_context *context;
  struct cpu_config config;
  const void *self;
  enum tutti_status (*gradient)(const struct golden_backend *backend, const struct tutti_job *job,
                                const tutti_tensors *weights, double *loss, tutti_tensors **gradient);
  enum tutti_status (*train)(const struct golden_backend *backend, const struct tutti_job *job,
                             struct tutti_outcome *outcome);
};

/* Losses and gradients of Gaussian networks, with L2 (gaussian_nll.json). */
void golden_gaussian(const struct golden_backend *backend);
/* Steps of Adam on all rows of these networks, in Keras's convention and the paper's (gaussian_adam.json). */
void golden_gaussian_adam(const struct golden_backend *backend);
/* Losses and gradients of NOMU's network, with artificial points and L2 (nomu_loss.json). */
void golden_nomu(const struct golden_backend *backend);

/* --- NOMU's network, for who asks a part of a backend --- */

enum { GOLDEN_NOMU_ARRAYS = 12, GOLDEN_NOMU_ROWS = 6, GOLDEN_NOMU_ARTIFICIAL = 10, GOLDEN_NOMU_FEATURES = 2 };

struct tutti_task golden_nomu_task(void);
/* Heiss et al.'s network: f 2-5-4-1, r 2-3-3-[both last hidden layers]-1. */
tutti_network *golden_nomu_network(tutti_context *context, const struct tutti_task *task, const json_t *config,
                                   uint32_t artificial, bool stop_gradient);
tutti_tensors *golden_nomu_weights(tutti_context *context, const json_t *golden);
void golden_nomu_check(const tutti_tensors *have, const json_t *want, double relative, double absolute);

#endif
