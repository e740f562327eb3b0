/* levels.c - the different values of a column. */
#include "levels_impl.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int compare_levels(const void *a, const void *b) {
  const struct tutti_level *x = a, *y = b;
  return x->rows != y->rows ? (x->rows < y->rows) - (x->rows > y->rows) : strcmp(x->text, y->text);
}

size_t tutti_levels_count(size_t count, const char *const *sorted, struct tutti_level *levels) {
  size_t found = 0;
  for (size_t i = 0; i < count; i++) {
    if (i == 0 || strcmp(sorted[i - 1], sorted[i]) != 0)
      levels[found++] = (struct tutti_level){.text = sorted[i]};
    levels[found - 1].rows++;
  }
  qsort(levels, found, sizeof *levels, compare_levels);
  return found;
}

size_t tutti_levels_kept(const struct tutti_data_config *config, size_t count, const struct tutti_level *levels) {
  size_t kept = 0, most = config->most_categories > 0 ? (size_t)config->most_categories : SIZE_MAX;
  while (kept < count && kept < most && levels[kept].rows >= (size_t)config->rare)
    kept++;
  return kept;
}
