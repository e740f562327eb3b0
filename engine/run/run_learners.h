/* run_learners.h - what may train the candidates of a run. */
#ifndef TUTTI_RUN_LEARNERS_H
#define TUTTI_RUN_LEARNERS_H

#include "experiment_impl.h"

typedef enum tutti_status tutti_visit_learner(void *visitor, tutti_context *context, const tutti_backend *learner,
                                              const tutti_config *config);

/* Visit every backend that the recipe's may hand a candidate to, or it alone, with its parameters where every number
   that is searched is at its upper end. One may come several times. */
TUTTI_NODISCARD enum tutti_status tutti_run_visit_learners(tutti_context *context,
                                                           const struct tutti_experiment *experiment,
                                                           tutti_visit_learner *visit, void *visitor);

#endif
