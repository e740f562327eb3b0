/* machine_impl.h - what the parts of a support vector machine share. libsvm's types do not appear outside of it. */
#ifndef MACHINE_IMPL_H
#define MACHINE_IMPL_H

#include "machine.h"

#include <libsvm/svm.h>

/* Rows as libsvm wants them: lists of the features that are not 0. */
struct machine_nodes {
  struct svm_node *storage, **rows; /* rows[count] */
};
TUTTI_NODISCARD enum tutti_status machine_nodes_create(tutti_context *context, size_t count, size_t features,
                                                       const float *inputs, struct machine_nodes *nodes);
void machine_nodes_destroy(struct machine_nodes *nodes);

/* The classes of a stored machine. */
struct machine_classes {
  size_t count;
  int *labels, *counts; /* [count]: numbers of classes; how many of the vectors are of each, in this order */
};
/* Find and check those of the machine of one output, which has so many support vectors. They stay the tensors'.
   TUTTI_ERROR_CORRUPT. */
TUTTI_NODISCARD enum tutti_status machine_classes(tutti_context *context, const struct tutti_task *task,
                                                  const tutti_tensors *tensors, size_t output, size_t vectors,
                                                  struct machine_classes *found);

/* Train. NULL, with the context's error set, if cancelled or refused. Free with svm_free_and_destroy_model. */
TUTTI_NODISCARD enum tutti_status machine_train(tutti_context *context, const struct svm_problem *problem,
                                                const struct svm_parameter *parameter, struct svm_model **model);

/* --- calibration (calibration.c) --------------------------------------------------------------------------------- */

/* Fit P(y = +1 | f) = 1 / (1 + exp(A f + B)) to decision values f[count] of labels y[count] = +1 or -1. Each row counts
   for weights[0] if its label is -1, and for weights[1] if it is +1. */
void machine_fit_sigmoid(size_t count, const double *f, const double *y, const double weights[2], double *a, double *b);

/* Sigmoids of all pairs of `model`'s classes, in libsvm's order of pairs: a[pairs], b[pairs]. fold[count of the
   problem]. */
TUTTI_NODISCARD enum tutti_status machine_calibrate(tutti_context *context, const struct svm_problem *problem,
                                                    const struct svm_parameter *parameter,
                                                    const struct svm_model *model, const double *class_weights,
                                                    const uint32_t *fold, size_t folds, double *a, double *b);
/* The mean squared error on rows that were left out. */
TUTTI_NODISCARD enum tutti_status machine_residual_variance(tutti_context *context, const struct svm_problem *problem,
                                                            const struct svm_parameter *parameter, const uint32_t *fold,
                                                            size_t folds, double *variance);

#endif
