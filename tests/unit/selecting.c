/* selecting.c - what tests of selectors share. */
#include "selecting.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <tutti/evaluate.h>

#include "golden.h"

enum tutti_status selecting_choose(tutti_context *context, const struct tutti_descriptor *descriptor,
                                   const void *config, const struct tutti_pool *pool, size_t count,
                                   tutti_ensemble **ensemble) {
  const struct tutti_selector_ops *ops = descriptor->ops;
  const struct tutti_selector_setup setup = {.size = sizeof setup};
  void *self = (void *)(uintptr_t)config;
  assert_int_equal(tutti_ensemble_create(context, ensemble), TUTTI_OK);
  if (descriptor->create)
    assert_int_equal(descriptor->create(context, config, &setup, &self), TUTTI_OK);
  enum tutti_status status = ops->select(self, context, pool, count, *ensemble);
  if (descriptor->destroy)
    descriptor->destroy(self);
  return status;
}

void selecting_golden(struct pools_models *models, const json_t *golden) {
  size_t rows, count;
  *models = (struct pools_models){0};
  models->labels = golden_integers(golden_get(golden, "y"), &rows);
  models->values = golden_floats(golden_get(golden, "probs[model][sample][class]"), &count);
  pools_make(models, TUTTI_TASK_CLASSIFICATION, 12, rows, count / 12 / rows);
}

double selecting_metric(tutti_context *context, const struct tutti_pool *pool, const tutti_ensemble *ensemble,
                        const char *metric) {
  tutti_evaluation *evaluation;
  assert_int_equal(tutti_evaluate(context, pool, ensemble, NULL, &evaluation), TUTTI_OK);
  double value = tutti_evaluation_find(evaluation, metric)->value;
  tutti_evaluation_destroy(evaluation);
  return value;
}

double selecting_metric_of(tutti_context *context, const struct tutti_pool *pool, size_t count, const size_t *picks,
                           const char *metric) {
  tutti_ensemble *ensemble;
  assert_int_equal(tutti_ensemble_create(context, &ensemble), TUTTI_OK);
  for (size_t i = 0; i < count; i++)
    assert_int_equal(tutti_ensemble_add(context, ensemble, pool->trials[picks[i]], 1), TUTTI_OK);
  double value = selecting_metric(context, pool, ensemble, metric);
  tutti_ensemble_destroy(ensemble);
  return value;
}

double selecting_weight(const tutti_ensemble *ensemble, uint64_t trial) {
  for (size_t m = 0; m < tutti_ensemble_size(ensemble); m++)
    if (tutti_ensemble_trial(ensemble, m) == trial)
      return tutti_ensemble_weight(ensemble, m);
  return 0;
}
