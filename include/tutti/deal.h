/* deal.h - groups of rows, and how whole ones are dealt to the folds of cross-validation. */
#ifndef TUTTI_DEAL_H
#define TUTTI_DEAL_H

#include <tutti/context.h>

TUTTI_BEGIN_DECLS

/* The number of groups of rows. group[count]: of each row, the first row of its group; NULL: none belong together,
   0. */
TUTTI_API size_t tutti_groups_count(size_t count, const uint32_t *group);
/* Deal groups of rows to folds: the largest group first, of equal ones the first in order[count], each to the fold that
   has the fewest rows. group[count]: of each row, the first row of its group. fold[count]: out. *groups gets how many
   groups there are; if they are fewer than the folds, nothing is dealt. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_deal_groups(tutti_context *context, size_t count,
                                                              const uint32_t *group, const uint32_t *order,
                                                              size_t folds, uint32_t *fold, size_t *groups);

TUTTI_END_DECLS
#endif
