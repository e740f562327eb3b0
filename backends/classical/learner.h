/* learner.h - what backends without networks share: rows as arrays, checks, folds, and tensors whose shapes are
   checked. */
#ifndef LEARNER_H
#define LEARNER_H

#include <tutti/plugin.h>

/* Rows to learn from or to predict. */
struct learner_rows {
  size_t count, features;
  float *inputs;               /* [count][features], owned */
  const int32_t *labels;       /* [count], or NULL */
  const float *targets;        /* [count][outputs], standardised, or NULL */
  const double *class_weights; /* [outputs]: what rows of each class count for; NULL: all count the same */
  const uint32_t *group;       /* [count]: the first row of those that belong together; NULL: each stands alone */
  bool in_order;               /* neighbours belong together */
  int32_t *own_labels;         /* where they are no split's */
  float *own_targets;          /* likewise */
  uint32_t *own_group;         /* likewise */
};

/* The split's rows, with the task's plain features alone: what is there for networks only is left out. */
TUTTI_NODISCARD enum tutti_status learner_rows_open(tutti_context *context, const struct tutti_task *task,
                                                    const tutti_split *split, struct learner_rows *rows);
void learner_rows_close(struct learner_rows *rows);

/* Keep `most` rows at most, drawn from `seed`, of each class about its share; 0: all. */
TUTTI_NODISCARD enum tutti_status learner_rows_thin(tutti_context *context, uint64_t seed, size_t most, size_t outputs,
                                                    struct learner_rows *rows);

/* Begin a training: open its rows. If a number is not finite, the outcome is "failed" and `rows` stays closed. */
TUTTI_NODISCARD enum tutti_status learner_begin(tutti_context *context, const struct tutti_job *job,
                                                struct learner_rows *rows, struct tutti_outcome *outcome);
/* The outcome of a training that ended well. Takes the weights. */
void learner_finish(struct tutti_outcome *outcome, tutti_tensors *weights_take);

/* Refuse what no classical learner can do: a task without data, or without rows, an unsuitable head. Rows of one class
   only can be learnt from: a fold that has the only row of another class leaves them. */
TUTTI_NODISCARD enum tutti_status learner_check(tutti_context *context, const struct tutti_job *job);

/* fold[count]: a number < folds for each row. Groups stay whole: folds are of about one size, or of one group where
   there are fewer groups than folds, which leaves folds empty; a single group has its rows dealt. Rows in order are in
   blocks. Other rows are dealt in an order drawn from `seed`: the sizes of folds differ by one row at most and, with
   labels, so do their counts of each class. */
TUTTI_NODISCARD enum tutti_status learner_folds(tutti_context *context, uint64_t seed, const struct learner_rows *rows,
                                                size_t folds, uint32_t *fold);

/* Number of models of a task: one for all classes, or one for each target. */
size_t learner_models(const struct tutti_task *task);
/* Write the probabilities of a row, out[rows][classes], from shares that sum to about 1. Each is at least 1e-7; they
   are normalised. */
void learner_put_classes(const struct tutti_task *task, size_t row, const double *shares, float *out);
/* Write a row's mean and variance: out[rows][outputs][2]. NaN: no variance. */
void learner_put_value(const struct tutti_task *task, size_t row, size_t output, double mean, double variance,
                       float *out);

/* As formulas: probabilities as learner_put_classes writes them; and the models of all outputs side by side, each
   written down by `one` (its mean, and its variance or TUTTI_NO_TERM). */
tutti_term learner_classes_term(tutti_formula *formula, tutti_term shares);
typedef enum tutti_status learner_formula(tutti_context *context, const struct tutti_job *job,
                                          const tutti_tensors *tensors, size_t output, tutti_formula *formula,
                                          struct tutti_predicted_terms *terms);
TUTTI_NODISCARD enum tutti_status learner_formulas(tutti_context *context, const struct tutti_job *job,
                                                   const tutti_tensors *tensors, learner_formula *one,
                                                   tutti_formula *formula, struct tutti_predicted_terms *terms);

#define LEARNER_ANY SIZE_MAX /* as a length: any */
/* Add the zeroed tensor "OUTPUT.part". */
TUTTI_NODISCARD enum tutti_status learner_add(tutti_context *context, tutti_tensors *tensors, size_t output,
                                              const char *part, enum tutti_element element, size_t rank,
                                              const size_t *shape, void *data_pointer);
/* Find a tensor; TUTTI_ERROR_CORRUPT if it is missing or does not have these lengths. */
TUTTI_NODISCARD enum tutti_status learner_find(tutti_context *context, const tutti_tensors *tensors, size_t output,
                                               const char *part, enum tutti_element element, size_t rank,
                                               const size_t *shape, const struct tutti_tensor **tensor);
/* Does the tensor exist? */
bool learner_has(const tutti_tensors *tensors, size_t output, const char *part);
/* The variance of a Gaussian head, the same for all rows; NaN for other heads. */
TUTTI_NODISCARD enum tutti_status learner_keep_variance(tutti_context *context, tutti_tensors *tensors, size_t output,
                                                        double variance);
TUTTI_NODISCARD enum tutti_status learner_find_variance(tutti_context *context, const tutti_tensors *tensors,
                                                        const struct tutti_task *task, size_t output, double *variance);

#endif
