/* pools.h - pools of models for tests of evaluation and selection. */
#ifndef POOLS_H
#define POOLS_H

#include <tutti/evaluate.h>
#include <tutti/host.h>
#include <tutti/random.h>

enum { POOLS_MODELS_MAX = 64 };

/* A pool that owns its arrays: values[models][rows][width] and y or labels are made with malloc. */
struct pools_models {
  struct tutti_pool pool;
  float *values;
  const float *predictions[POOLS_MODELS_MAX];
  uint64_t trials[POOLS_MODELS_MAX];
  double losses[POOLS_MODELS_MAX], *y;
  int32_t *labels;
};

/* Make the pool of the arrays; losses are the models' NLLs. Trials are 10, 20, ..., so that no test mistakes a trial
   for a number in the pool. */
void pools_make(struct pools_models *models, enum tutti_task_kind kind, size_t count, size_t rows, size_t outputs);
void pools_free(struct pools_models *models);
/* Softmax of normal logits with this deviation (classes <= 8), uniform labels; normal means, targets and log
   variances. */
void pools_random_classes(struct pools_models *models, struct tutti_random *random, size_t count, size_t rows,
                          size_t classes, double sharpness);
void pools_random_values(struct pools_models *models, struct tutti_random *random, size_t count, size_t rows,
                         size_t outputs);
/* An ensemble of all models with equal weights; the value of a metric that has to be there. */
tutti_ensemble *pools_equal_members(tutti_context *context, const struct pools_models *models);
double pools_value(const tutti_evaluation *evaluation, const char *name);

#endif
