/* dataset.h - splits of a data set as plugins see them. Inputs are standardised float32; targets of regression come
   standardised (for training) and in their own units (for metrics). */
#ifndef TUTTI_DATASET_H
#define TUTTI_DATASET_H

#include <tutti/predictions.h>
#include <tutti/task.h>

TUTTI_BEGIN_DECLS

/* A split: rows in a fixed order. Borrowed from its data set unless made by tutti_split_create. */
typedef struct tutti_split tutti_split;

/* Make a split of one's own from arrays, which are copied: inputs [rows][features]; for regression targets
   [rows][outputs] as they are to be trained on (labels NULL), for classification labels [rows] (targets NULL). */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_split_create(tutti_context *context, const char *name, size_t rows,
                                                               struct tutti_shape input, size_t outputs,
                                                               const float *inputs, const float *targets,
                                                               const int32_t *labels, tutti_split **split);
TUTTI_API void tutti_split_destroy(tutti_split *split);

TUTTI_API const char *tutti_split_name(const tutti_split *split);
TUTTI_API size_t tutti_split_rows(const tutti_split *split);
TUTTI_API struct tutti_shape tutti_split_input(const tutti_split *split);
TUTTI_API size_t tutti_split_outputs(const tutti_split *split);
/* [rows][features], or NULL where rows are made on demand: then, as always, tutti_split_gather gives them. */
TUTTI_API const float *tutti_split_inputs(const tutti_split *split);
/* Copy the inputs of rows[count] to out[count][features]. Safe from several threads; allocates nothing. */
TUTTI_API void tutti_split_gather(const tutti_split *split, size_t count, const uint32_t *rows, float *out);
/* How images are varied as they are gathered for training. The draws for a row depend on (seed, epoch, row) alone. */
struct tutti_augmentation {
  size_t size; /* sizeof(struct tutti_augmentation) */
  uint32_t
      padding; /* pixels by which an image is moved at most, either way, down and across: a random crop of the image
                       with a black border of that width; what comes in has the value that a pixel of 0 has */
  bool flip;   /* mirror every other image, left and right */
  uint64_t seed;
  uint64_t epoch; /* < 2^32 */
};
/* tutti_split_gather, varied. Rows whose inputs are arrays of one's own are varied too; for them black is 0. */
TUTTI_API void tutti_split_gather_augmented(const tutti_split *split, const struct tutti_augmentation *augmentation,
                                            size_t count, const uint32_t *rows, float *out);
/* Standardised targets [rows][outputs]; NULL for classification and for splits without targets. */
TUTTI_API const float *tutti_split_targets(const tutti_split *split);
/* Targets in their own units [rows][outputs]; NULL likewise. */
TUTTI_API const double *tutti_split_raw_targets(const tutti_split *split);
/* Classes [rows], 0 .. outputs - 1; NULL for regression and for splits without labels. */
TUTTI_API const int32_t *tutti_split_labels(const tutti_split *split);
/* Per output: raw = standardised * scale + shift; [outputs], or NULL for classification. */
TUTTI_API const double *tutti_split_target_scale(const tutti_split *split);
TUTTI_API const double *tutti_split_target_shift(const tutti_split *split);
/* Targets of a split in their own units, or its labels; borrowed from it. The caller has set targets->size. */
TUTTI_API void tutti_split_all_targets(const tutti_split *split, struct tutti_targets *targets);
/* Number in the source of each row of a split (csv: from 0, header not counted). */
TUTTI_API const uint32_t *tutti_split_source_rows(const tutti_split *split);
/* Turn a backend's predictions into the target's own units, in place. */
TUTTI_API void tutti_split_unscale(const tutti_split *split, enum tutti_task_kind kind, float *predictions);

TUTTI_END_DECLS
#endif
