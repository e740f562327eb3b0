/* deal.c - whole groups of rows, dealt to folds of about one size. */
#include <stdlib.h>
#include <tutti/deal.h>

struct unit {
  uint32_t group;
  size_t first, rows; /* where it begins in the order drawn */
};

static int compare_units(const void *one, const void *other) {
  const struct unit *a = one, *b = other;
  return a->rows != b->rows ? (a->rows < b->rows) - (a->rows > b->rows) : (a->first > b->first) - (a->first < b->first);
}

size_t tutti_groups_count(size_t count, const uint32_t *group) {
  size_t groups = 0;
  for (size_t r = 0; group && r < count; r++)
    groups += group[r] == r; /* it is the first of its group */
  return groups;
}

enum tutti_status tutti_deal_groups(tutti_context *context, size_t count, const uint32_t *group, const uint32_t *order,
                                    size_t folds, uint32_t *fold, size_t *groups) {
  enum tutti_status status = TUTTI_OK;
  size_t *filled = NULL;
  uint32_t *place = NULL; /* of a group: its number + 1 in units; later its fold */
  struct unit *units = NULL;
  *groups = 0;
  TUTTI_TRY_OUT(context, tutti_alloc(context, folds, sizeof *filled, &filled));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *place, &place));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *units, &units));
  for (size_t i = 0; i < count; i++) {
    const uint32_t of = group[order[i]];
    if (!place[of]) {
      units[*groups] = (struct unit){.group = of, .first = i};
      place[of] = (uint32_t)++ * groups;
    }
    units[place[of] - 1].rows++;
  }
  if (*groups < folds)
    goto out;
  qsort(units, *groups, sizeof *units, compare_units);
  for (size_t u = 0; u < *groups; u++) {
    size_t least = 0;
    for (size_t f = 1; f < folds; f++)
      least = filled[f] < filled[least] ? f : least;
    filled[least] += units[u].rows;
    place[units[u].group] = (uint32_t)least;
  }
  for (size_t i = 0; i < count; i++)
    fold[i] = place[group[i]];
out:
  tutti_free(filled);
  tutti_free(place);
  tutti_free(units);
  return status;
}
