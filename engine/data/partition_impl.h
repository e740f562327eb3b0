/* partition_impl.h - which row goes to which split; for engine/data/ alone. */
#ifndef TUTTI_PARTITION_IMPL_H
#define TUTTI_PARTITION_IMPL_H

#include <tutti/context.h>

enum { TUTTI_TRAIN, TUTTI_VALIDATION, TUTTI_TEST, TUTTI_SPLITS, TUTTI_UNUSED = TUTTI_SPLITS };

/* What is to be split. */
struct tutti_partition {
  size_t rows;           /* of the source */
  size_t test_rows;      /* the last so many are test rows whatever else is said */
  uint8_t *split;        /* [rows] in: TUTTI_UNUSED for rows that were dropped, else 0; out: the split */
  const int32_t *labels; /* [rows], to stratify by; or NULL */
  size_t classes;
  const double *shares;            /* [3] */
  bool in_order;                   /* shares are taken in the order of rows, not at random */
  size_t limits[TUTTI_SPLITS];     /* most rows of a split; 0: as many as there are */
  const char *files[TUTTI_SPLITS]; /* of row numbers; NULL where there is none */
  uint64_t seed;
};
TUTTI_NODISCARD enum tutti_status tutti_partition_rows(tutti_context *context, const struct tutti_partition *partition);
const char *tutti_partition_name(size_t split);

#endif
