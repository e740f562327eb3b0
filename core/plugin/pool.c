/* pool.c - models in a pool. */
#include <tutti/host.h>

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
