/* pool.c - models in a pool, and their predictions. */
#include <tutti/host.h>

#include <math.h>
#include <tutti/sized.h>

size_t tutti_pool_find(const struct tutti_pool *pool, uint64_t trial) {
  size_t low = 0, high = pool->models;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (pool->trials[middle] < trial)
      low = middle + 1;
    else
      high = middle;
  }
  return low < pool->models && pool->trials[low] == trial ? low : pool->models;
}

double tutti_pool_cost(const struct tutti_pool *pool, enum tutti_cost cost, size_t model) {
  struct tutti_pool own;
  TUTTI_TAKE(&own, pool);
  return (size_t)cost < own.cost_kinds ? own.costs[cost][model] : (double)NAN;
}

void tutti_pool_predictions(const struct tutti_pool *pool, size_t model, struct tutti_predictions *predictions) {
  const struct tutti_predictions own = {
      .kind = pool->kind, .rows = pool->rows, .outputs = pool->outputs, .values = pool->predictions[model]};
  TUTTI_GIVE(predictions, &own);
}

void tutti_pool_targets(const struct tutti_pool *pool, struct tutti_targets *targets) {
  const struct tutti_targets own = {
      .kind = pool->kind, .rows = pool->rows, .outputs = pool->outputs, .values = pool->values, .labels = pool->labels};
  TUTTI_GIVE(targets, &own);
}
