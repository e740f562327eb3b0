/* levels_impl.h - the different values of a column, and which of them become categories; for engine/data/ alone. */
#ifndef TUTTI_LEVELS_IMPL_H
#define TUTTI_LEVELS_IMPL_H

#include <stddef.h>

#include "engine/data/config_impl.h"

/* A value of a column as a text, and in how many rows it stands. */
struct tutti_level {
  const char *text;
  size_t rows;
};

/* Count sorted texts: levels[at most `count`], the most frequent first, of those as frequent by text. Returns how many
   there are. */
size_t tutti_levels_count(size_t count, const char *const *sorted, struct tutti_level *levels);
/* How many of these levels stay categories: the first most_categories, of `rare` rows or more. The others are one. */
size_t tutti_levels_kept(const struct tutti_data_config *config, size_t count, const struct tutti_level *levels);

#endif
