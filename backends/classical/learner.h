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
TUTTI_NODISCARD enum tutti_status learner_check(tutti_context *context, const char *backend,
                                                const struct tutti_job *job);

/* fold[count]: a number < folds for each row, drawn from `seed`. Folds differ in size by one row at most, and in how many
   rows of a class they have, too, where there are labels. */
TUTTI_NODISCARD enum tutti_status learner_folds(tutti_context *context, uint64_t seed, const struct learner_rows *rows,
                                                size_t folds, uint32_t *fold);

/* Write a row's mean and variance: out[rows][outputs][2]. NaN: no variance. */
void learner_put_value(const struct tutti_task *task, size_t row, size_t output, double mean, double variance,
                       float *out);

enum { LEARNER_ANY = 0 }; /* as a length: any */
/* Data of a tensor of these lengths. TUTTI_ERROR_CORRUPT when it is absent, or is not what it should be. */
TUTTI_NODISCARD enum tutti_status learner_tensor(tutti_context *context, const tutti_tensors *tensors, const char *name,
                                                 enum tutti_element element, size_t rank, const size_t *shape,
                                                 const struct tutti_tensor **tensor);

#endif
