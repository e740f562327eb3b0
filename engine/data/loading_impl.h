/* loading_impl.h - a data set on its way from rows to splits; for engine/data/ alone. dataset.c goes through the steps:
   loading.c reads, loading_splits.c divides the rows, loading_extra.c adds shifted and out-of-distribution splits. */
#ifndef TUTTI_LOADING_IMPL_H
#define TUTTI_LOADING_IMPL_H

#include <tutti/data.h>

#include "engine/data/head_impl.h"
#include "engine/data/images_impl.h"
#include "engine/data/partition_impl.h"
#include "engine/data/shift/corruption_impl.h"

enum {
  TUTTI_OUT_OF_DISTRIBUTION = 2,
  TUTTI_MOST_SPLITS = TUTTI_SHARED_OUT + 2 * TUTTI_SEVERITIES + TUTTI_OUT_OF_DISTRIBUTION
};

struct tutti_dataset {
  struct tutti_headed_task headed;
  struct tutti_encoding *encoding;
  tutti_rows *images; /* the splits borrow its pixels; NULL for tables */
  tutti_split *splits[TUTTI_MOST_SPLITS];
  size_t split_count;
  uint64_t fingerprint;
  uint64_t rows_fingerprint; /* likewise, of training, validation and test rows alone */
  size_t source_rows;        /* that files of row numbers may name: all but the source's own test rows */
  size_t folds;              /* 0: no cross-validation */
  uint32_t *fold;            /* [rows of the split validation] */
};

/* State of the loading. */
struct tutti_loading {
  tutti_context *context;
  const struct tutti_data_config *config;
  tutti_source *source;
  const char *folder;
  uint64_t seed;
  tutti_rows *rows;                     /* as they were read; images are moved into the data set */
  bool images;                          /* are they images? */
  uint8_t *split;                       /* [rows] */
  int32_t *labels;                      /* [rows]; NULL for regression */
  uint32_t *of_split[TUTTI_SHARED_OUT]; /* [counts]: numbers of rows */
  size_t counts[TUTTI_SHARED_OUT];
  uint32_t *group; /* [rows]: the first row of the group; NULL without groups */
};

/* The path in the parameter `name`, relative to the recipe's folder; NULL if it is empty. Free with tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_loading_file(const struct tutti_loading *loading, const char *name,
                                                     const char *path, char **found);
/* Read all rows into loading->rows and, for images, dataset->images. */
TUTTI_NODISCARD enum tutti_status tutti_loading_read(struct tutti_loading *loading, tutti_dataset *dataset);
/* Make the encoding, and the splits of training, validation and test. */
TUTTI_NODISCARD enum tutti_status tutti_loading_share_out(struct tutti_loading *loading, tutti_dataset *dataset);
/* Find the groups of rows that are used (groups.c). */
TUTTI_NODISCARD enum tutti_status tutti_groups_find(struct tutti_loading *loading);
/* Warn if some training would have rows of one group alone. */
void tutti_groups_doubt(const struct tutti_loading *loading, const tutti_dataset *dataset);
/* Of rows[count], the index of the first that is of the same group: group[count], which the caller frees. */
TUTTI_NODISCARD enum tutti_status tutti_groups_of_rows(const struct tutti_loading *loading, size_t count,
                                                       const uint32_t *rows, uint32_t **group);
/* Deal the pool's rows[count] to folds: fold[count]. */
TUTTI_NODISCARD enum tutti_status tutti_folds_deal(const struct tutti_loading *loading, bool stratified, size_t classes,
                                                   size_t count, const uint32_t *rows, size_t folds, uint32_t *fold);
/* Make the task, of a data set that has its encoding and its splits (dataset.c). TUTTI_ERROR_USAGE: the head does not
   fit it. */
TUTTI_NODISCARD enum tutti_status tutti_dataset_set_task(tutti_context *context, const struct tutti_head_config *head,
                                                         tutti_dataset *dataset);
/* Make the shifted and out-of-distribution splits. */
TUTTI_NODISCARD enum tutti_status tutti_loading_add_shifted(struct tutti_loading *loading, tutti_dataset *dataset);
TUTTI_NODISCARD enum tutti_status tutti_loading_add_ood(struct tutti_loading *loading, tutti_dataset *dataset);

#endif
