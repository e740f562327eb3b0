/* partition_impl.h - which row goes to which split; for engine/data/ alone. */
#ifndef TUTTI_PARTITION_IMPL_H
#define TUTTI_PARTITION_IMPL_H

#include <tutti/context.h>

/* The splits that every data set has, the one for calibrators, which is the last of those that share the rows, and rows
   of none. */
enum {
  TUTTI_TRAIN,
  TUTTI_VALIDATION,
  TUTTI_TEST,
  TUTTI_SPLITS,
  TUTTI_CALIBRATION = TUTTI_SPLITS,
  TUTTI_SHARED_OUT,
  TUTTI_UNUSED = TUTTI_SHARED_OUT
};

/* The rows to split, and how. */
struct tutti_partition {
  size_t rows;           /* of the source */
  size_t test_rows;      /* the last ones, which are test rows in any case */
  uint8_t *split;        /* [rows] in: TUTTI_UNUSED for dropped rows, else 0; out: the split */
  const int32_t *labels; /* [rows], to stratify by; or NULL */
  size_t classes;
  const uint32_t *group;           /* [rows]: a number < rows that the rows of a group share; or NULL */
  const double *shares;            /* [3] */
  bool in_order;                   /* shares are taken in the order of rows, not at random */
  size_t limits[TUTTI_SPLITS];     /* maximum of rows of a split; 0: no limit */
  const char *files[TUTTI_SPLITS]; /* of row numbers; NULL where there is none */
  double calibration;              /* the share of the training rows that become calibration rows */
  const double *gap;               /* [rows]: test rows are the middle third in this order; or NULL */
  uint64_t seed;
};
TUTTI_NODISCARD enum tutti_status tutti_partition_rows(tutti_context *context, const struct tutti_partition *partition);
/* Is this a file of row numbers below `rows`, each once, for this split? TUTTI_ERROR_USAGE: it is not. */
TUTTI_NODISCARD enum tutti_status tutti_partition_check(tutti_context *context, size_t split, const char *path,
                                                        size_t rows);
const char *tutti_partition_name(size_t split);

#endif
