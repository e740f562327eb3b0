/* model_impl.h - the members of a model; for engine/ alone. */
#ifndef TUTTI_MODEL_IMPL_H
#define TUTTI_MODEL_IMPL_H

#include "engine/run/run_view_impl.h"

#include <tutti/model.h>

struct tutti_member {
  const tutti_backend *learner; /* what trained it */
  tutti_network *network;       /* NULL unless that takes networks */
  tutti_config *config;
  tutti_tensors *weights;
  struct tutti_headed_task task;             /* that of its candidate */
  uint64_t trial;                            /* as the ensemble numbers it; job.trial is the number in its own run */
  struct tutti_job job;                      /* borrows these, and the candidate from the view */
  const struct tutti_experiment *experiment; /* that of its run */
};

struct tutti_model {
  tutti_view *view;
  bool owns_view;
  tutti_ensemble *ensemble;
  struct tutti_run_calibration calibration;
  size_t count;
  uint64_t *trials;             /* [count], ascending */
  struct tutti_member *members; /* [count] */
};

/* The rows of a pool that can be judged (judged.c): all, or copies of those that new rows have with a target and a
   prediction. Release it even after a failure; it borrows the pool. */
struct tutti_judged {
  struct tutti_pool pool;
  float **predictions, **epistemic;
  double *values;
  int32_t *labels;
};
TUTTI_NODISCARD enum tutti_status tutti_judged_take(tutti_context *context, const tutti_split *split,
                                                    const struct tutti_pool *pool, struct tutti_judged *judged);
void tutti_judged_release(struct tutti_judged *judged);

#endif
