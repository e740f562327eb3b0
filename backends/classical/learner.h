/* learner.h - what backends without networks share: rows as arrays, checks, folds, and tensors that are looked at closely. */
#ifndef LEARNER_H
#define LEARNER_H

#include <tutti/plugin.h>

/* Rows to learn from, or to predict. */
struct learner_rows {
  size_t count, features;
  float *inputs;         /* [count][features], owned */
  const int32_t *labels; /* [count], or NULL */
  const float *targets;  /* [count][outputs], standardised, or NULL */
};

TUTTI_NODISCARD enum tutti_status learner_rows_open(tutti_context *context, const tutti_split *split,
                                                    struct learner_rows *rows);
void learner_rows_close(struct learner_rows *rows);

/* Begin a training: open its rows. What is not finite makes the outcome failed, and leaves `rows` closed. */
TUTTI_NODISCARD enum tutti_status learner_begin(tutti_context *context, const struct tutti_job *job,
                                                struct learner_rows *rows, struct tutti_outcome *outcome);
/* The outcome of a training that ended well; takes the weights. */
void learner_finish(struct tutti_outcome *outcome, tutti_tensors *weights_take);

/* Refuse what no classical learner can do: a task without data, a head of another kind, rows of one class alone. */
TUTTI_NODISCARD enum tutti_status learner_check(tutti_context *context, const struct tutti_job *job);

/* fold[count]: a number < folds for each row, drawn from `seed`. Folds differ in size by one row at most, and in how many
   rows of a class they have, too, where there are labels. */
TUTTI_NODISCARD enum tutti_status learner_folds(tutti_context *context, uint64_t seed, const struct learner_rows *rows,
                                                size_t folds, uint32_t *fold);

/* Models of a task: one for all classes, one for each target. */
size_t learner_models(const struct tutti_task *task);
/* Write the probabilities of a row, out[rows][classes], from shares that sum to about 1: at least 1e-7 each, and normalised. */
void learner_put_classes(const struct tutti_task *task, size_t row, const double *shares, float *out);
/* Write a row's mean and variance: out[rows][outputs][2]. NaN: no variance. */
void learner_put_value(const struct tutti_task *task, size_t row, size_t output, double mean, double variance,
                       float *out);

#define LEARNER_ANY SIZE_MAX /* as a length: any */
/* Add the zeroed tensor "OUTPUT.part". */
TUTTI_NODISCARD enum tutti_status learner_add(tutti_context *context, tutti_tensors *tensors, size_t output,
                                              const char *part, enum tutti_element element, size_t rank,
                                              const size_t *shape, void *data_pointer);
/* Find it; TUTTI_ERROR_CORRUPT when it is absent, or not of these lengths. */
TUTTI_NODISCARD enum tutti_status learner_find(tutti_context *context, const tutti_tensors *tensors, size_t output,
                                               const char *part, enum tutti_element element, size_t rank,
                                               const size_t *shape, const struct tutti_tensor **tensor);
/* Is there one? */
bool learner_has(const tutti_tensors *tensors, size_t output, const char *part);
/* The variance of a Gaussian head, the same for all rows; NaN for other heads. */
TUTTI_NODISCARD enum tutti_status learner_keep_variance(tutti_context *context, tutti_tensors *tensors, size_t output,
                                                        double variance);
TUTTI_NODISCARD enum tutti_status learner_find_variance(tutti_context *context, const tutti_tensors *tensors,
                                                        const struct tutti_task *task, size_t output, double *variance);

#endif
