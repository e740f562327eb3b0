/* judged.c - of new rows, those that have a target and a prediction: metrics are of these. */
#include "core/plugin/split_impl.h"
#include "model_impl.h"

#include <string.h>

/* Copy the rows that are judged, of `bytes` each; NULL stays NULL. */
static enum tutti_status take(tutti_context *context, const tutti_split *split, size_t count, size_t bytes,
                              const void *rows, void **out) {
  size_t taken = 0;
  if (!rows)
    return TUTTI_OK;
  TUTTI_TRY(context, tutti_alloc(context, count, bytes, out));
  for (size_t r = 0; r < split->rows; r++)
    if (!split->unjudged[r])
      memcpy((char *)*out + taken++ * bytes, (const char *)rows + r * bytes, bytes);
  return TUTTI_OK;
}

static enum tutti_status take_members(tutti_context *context, const tutti_split *split, const struct tutti_pool *pool,
                                      struct tutti_judged *judged) {
  const bool values = pool->kind == TUTTI_TASK_REGRESSION;
  const size_t count = judged->pool.rows, width = tutti_predictions_width(pool->kind, pool->outputs);
  const size_t own = values ? pool->outputs : 1;
  TUTTI_TRY(context, tutti_alloc(context, pool->models, sizeof(float *), &judged->predictions));
  TUTTI_TRY(context, tutti_alloc(context, pool->models, sizeof(float *), &judged->epistemic));
  for (size_t m = 0; m < pool->models; m++) {
    void *predictions = NULL, *epistemic = NULL;
    TUTTI_TRY(context, take(context, split, count, width * sizeof(float), pool->predictions[m], &predictions));
    judged->predictions[m] = predictions;
    TUTTI_TRY(context, take(context, split, count, own * sizeof(float), pool->epistemic[m], &epistemic));
    judged->epistemic[m] = epistemic;
  }
  judged->pool.predictions = (const float *const *)judged->predictions;
  judged->pool.epistemic = (const float *const *)judged->epistemic;
  return TUTTI_OK;
}

enum tutti_status tutti_judged_take(tutti_context *context, const tutti_split *split, const struct tutti_pool *pool,
                                    struct tutti_judged *judged) {
  void *values = NULL, *labels = NULL;
  *judged = (struct tutti_judged){.pool = *pool};
  if (!split->unjudged)
    return TUTTI_OK;
  for (size_t r = 0; r < split->rows; r++)
    judged->pool.rows -= split->unjudged[r];
  TUTTI_TRY(context, take_members(context, split, pool, judged));
  TUTTI_TRY(context, take(context, split, judged->pool.rows, pool->outputs * sizeof(double), pool->values, &values));
  judged->values = values;
  TUTTI_TRY(context, take(context, split, judged->pool.rows, sizeof(int32_t), pool->labels, &labels));
  judged->labels = labels;
  judged->pool.values = judged->values;
  judged->pool.labels = judged->labels;
  return TUTTI_OK;
}

void tutti_judged_release(struct tutti_judged *judged) {
  for (size_t m = 0; m < judged->pool.models; m++) {
    if (judged->predictions)
      tutti_free(judged->predictions[m]);
    if (judged->epistemic)
      tutti_free(judged->epistemic[m]);
  }
  tutti_free(judged->predictions);
  tutti_free(judged->epistemic);
  tutti_free(judged->values);
  tutti_free(judged->labels);
  *judged = (struct tutti_judged){.predictions = NULL};
}
