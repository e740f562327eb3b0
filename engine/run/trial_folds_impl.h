/* trial_folds_impl.h - trials of several models, one for each fold of the data set. */
#ifndef TUTTI_TRIAL_FOLDS_IMPL_H
#define TUTTI_TRIAL_FOLDS_IMPL_H

#include "trial_impl.h"

/* Train a model for each fold of the experiment's data set. The outcome has the weights of all. */
TUTTI_NODISCARD enum tutti_status tutti_folds_train(tutti_context *context, const struct tutti_experiment *experiment,
                                                    struct tutti_training *training);
/* For how many folds are these the weights? 0: they are of one model. */
size_t tutti_folds_count(const tutti_tensors *weights);
/* Those of one fold, named as if there were no others; the caller destroys *one. */
TUTTI_NODISCARD enum tutti_status tutti_folds_take(tutti_context *context, const tutti_tensors *all, size_t fold,
                                                   tutti_tensors **one);
/* Predict a split with such weights, standardised: out[rows][width] and epistemic[rows][tutti_epistemic_width].
   Of the data set's own validation rows, each is predicted by the model that has not seen it. */
TUTTI_NODISCARD enum tutti_status tutti_folds_predict(tutti_context *context, const tutti_dataset *dataset,
                                                      const tutti_backend *learner, const struct tutti_job *job,
                                                      const tutti_tensors *weights, const tutti_split *split,
                                                      float *out, float *epistemic);

#endif
