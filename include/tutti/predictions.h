/* predictions.h - the predictions of one model for the rows of one split, and the targets for them. Rows are in the
   order of the split, never in loader order; values are in the target's own units, counted from its origin (dataset.h),
   which mostly is 0. On disk: float32 .npy. */
#ifndef TUTTI_PREDICTIONS_H
#define TUTTI_PREDICTIONS_H

#include <tutti/task.h>

TUTTI_BEGIN_DECLS

/* Classification: probabilities [rows][outputs]. Regression: [rows][outputs][2], mean and variance; the variance is NaN
   if the model gives none. */
struct tutti_predictions {
  size_t size; /* sizeof(struct tutti_predictions) */
  enum tutti_task_kind kind;
  size_t rows, outputs;
  const float *values;
};

/* Classification: labels [rows]. Regression: values [rows][outputs] in their own units, counted from their origins. */
struct tutti_targets {
  size_t size; /* sizeof(struct tutti_targets) */
  enum tutti_task_kind kind;
  size_t rows, outputs;
  const double *values;
  const int32_t *labels;
};

/* How many numbers a row has, here [width]: 2 * outputs for regression, else outputs. */
TUTTI_API size_t tutti_predictions_width(enum tutti_task_kind kind, size_t outputs);
/* What no model may predict, in values [rows][width]: numbers that are not finite, negative variances or probabilities,
   probabilities that do not sum to one (within 1e-3). Returns it as words that follow "its predictions", static; NULL
   if there is nothing of that. */
TUTTI_API const char *tutti_predictions_fault(enum tutti_task_kind kind, size_t rows, size_t outputs,
                                              const float *values);

/* Some models know how much of their uncertainty is their own: epistemic, and not noise in the data (NOMU, draws of
   dropout). Beside their predictions stand numbers that say so. Regression: [rows][outputs], the part of the variance;
   classification: [rows], the mutual information of label and draw in nats, a part of the entropy of the probabilities.
   On disk: float32 .npy. How many numbers a row has: */
TUTTI_API size_t tutti_epistemic_width(enum tutti_task_kind kind, size_t outputs);
/* What is wrong with such numbers, parts [rows][tutti_epistemic_width], of the predictions `values`: one that is
   negative, no number, or more than the whole (within a thousandth); where there is no variance (NaN), any size goes.
   Returns as tutti_predictions_fault does. */
TUTTI_API const char *tutti_parts_fault(enum tutti_task_kind kind, size_t rows, size_t outputs, const float *values,
                                        const float *parts);

TUTTI_END_DECLS
#endif
