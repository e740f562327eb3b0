/* trial_folds_impl.h - trials of several models, one for each fold of the data set. */
#ifndef TUTTI_TRIAL_FOLDS_IMPL_H
#define TUTTI_TRIAL_FOLDS_IMPL_H

#include "trial_impl.h"

#include "engine/data/folds_impl.h"

/* A model of a trial: that of one fold. */
struct tutti_fold_training {
  const struct tutti_training *training;
  size_t number;
  struct tutti_job job;
  struct tutti_outcome outcome;
  tutti_tensors *initial; /* what the job starts from, and its class weights; NULL: none */
  double *class_weights;
  bool done; /* the outcome is filled */
};

/* Train a model for each fold of the experiment's data set, one after the other. The outcome has the weights of all. */
TUTTI_NODISCARD enum tutti_status tutti_folds_train(tutti_context *context, const struct tutti_experiment *experiment,
                                                    struct tutti_training *training);

/* --- several at once, with the same outcome --- */

/* Make room for training->folds, which ends with the training. */
TUTTI_NODISCARD enum tutti_status tutti_folds_prepare(tutti_context *context, const struct tutti_experiment *experiment,
                                                      struct tutti_training *training);
/* Make training->folds[number], whose job is to be trained; the fold outlives it. */
TUTTI_NODISCARD enum tutti_status tutti_folds_begin(tutti_context *context, const struct tutti_experiment *experiment,
                                                    struct tutti_training *training, size_t number,
                                                    const struct tutti_fold *fold);
/* Its outcome is there. */
void tutti_folds_done(struct tutti_training *training, size_t number);
/* Has one before it ended without a model? Then nobody needs this one. */
bool tutti_folds_pointless(const struct tutti_training *training, size_t number);
/* All that were begun are done: make the outcome of the whole, of the first that has no model or of all. */
TUTTI_NODISCARD enum tutti_status tutti_folds_gather(tutti_context *context, const struct tutti_experiment *experiment,
                                                     struct tutti_training *training);
/* Give back what training->folds has. */
void tutti_folds_release(struct tutti_training *training);
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
