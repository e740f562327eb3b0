/* dataset.h - splits of a data set as plugins see them. Inputs are standardised float32; targets of regression come
   standardised (for training) and in their own units (for metrics).

   Time stamps, or sums of money, are large beside what varies in them: float32 numbers would lose it. Of such a target,
   predictions and the values that they are compared with are counted from an origin, a number near its mean. Losses,
   variances and whatever else rests on differences are the same from any origin. Of other targets, the origin is 0. */
#ifndef TUTTI_DATASET_H
#define TUTTI_DATASET_H

#include <tutti/predictions.h>
#include <tutti/task.h>

TUTTI_BEGIN_DECLS

/* A split: rows in a fixed order. It belongs to its data set, unless tutti_split_create made it. */
typedef struct tutti_split tutti_split;

/* Make a split from arrays, which are copied: inputs[rows][features], and either targets[rows][outputs] as they are to
   be trained on (regression) or labels[rows] (classification); the other is NULL, or both for rows without. The caller
   destroys *split. TUTTI_ERROR_USAGE: a label is not in 0 .. outputs - 1. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_split_create(tutti_context *context, const char *name, size_t rows,
                                                               struct tutti_shape input, size_t outputs,
                                                               const float *inputs, const float *targets,
                                                               const int32_t *labels, tutti_split **split);
/* Destroy a split of tutti_split_create or tutti_dataset_apply; NULL is allowed. */
TUTTI_API void tutti_split_destroy(tutti_split *split);

/* Its name, as in "validation"; borrowed. */
TUTTI_API const char *tutti_split_name(const tutti_split *split);
/* The number of rows. */
TUTTI_API size_t tutti_split_rows(const tutti_split *split);
/* The shape of a row; features = height * width * channels. */
TUTTI_API struct tutti_shape tutti_split_input(const tutti_split *split);
/* The number of targets, or of classes. */
TUTTI_API size_t tutti_split_outputs(const tutti_split *split);
/* The inputs [rows][features], borrowed; NULL where rows are made on demand. tutti_split_gather works for both. */
TUTTI_API const float *tutti_split_inputs(const tutti_split *split);
/* Copy the inputs of rows[count], each < tutti_split_rows, to out[count][features]. Safe from several threads;
   allocates nothing. */
TUTTI_API void tutti_split_gather(const tutti_split *split, size_t count, const uint32_t *rows, float *out);
/* How images are varied as they are gathered for training. The draws for a row depend on (seed, epoch, row) alone. */
struct tutti_augmentation {
  size_t size; /* sizeof(struct tutti_augmentation) */
  /* An image is moved by at most so many pixels, either way, down and across: a random crop of the image with a black
     border of that width. What comes in has the value of a pixel of 0. */
  uint32_t padding;
  bool flip; /* mirror an image, left and right, with probability 1/2 */
  uint64_t seed;
  uint64_t epoch; /* < 2^32 */
  /* A crop at random, scaled back to the image's size: of at least this share of its area, with sides in a ratio of 3/4
     to 4/3. 0 and 1: none. */
  double crop;
  /* Colours, for images of numbers from 0 to 1 before they are standardised: each factor is drawn from 1 - x to 1 + x
     (not below 0), the part of the colour wheel by which the hue turns from -hue to hue; in random order. 0: none.
     Saturation and hue only change images of three channels. */
  double brightness, contrast, saturation, hue;
};
/* Like tutti_split_gather, with the images varied: moved, mirrored, cropped, coloured. Also for splits of arrays;
   there, black is 0. */
TUTTI_API void tutti_split_gather_augmented(const tutti_split *split, const struct tutti_augmentation *augmentation,
                                            size_t count, const uint32_t *rows, float *out);
/* Standardised targets [rows][outputs], borrowed; NULL for classification and for splits without targets. */
TUTTI_API const float *tutti_split_targets(const tutti_split *split);
/* Targets in their own units [rows][outputs], borrowed; NULL for classification and for splits without targets. */
TUTTI_API const double *tutti_split_raw_targets(const tutti_split *split);
/* Classes [rows], 0 .. outputs - 1, borrowed; NULL for regression and for splits without labels. */
TUTTI_API const int32_t *tutti_split_labels(const tutti_split *split);
/* Scales [outputs], and tutti_split_target_shift: shifts [outputs], with raw = standardised * scale + shift + origin.
   Borrowed; NULL for classification. */
TUTTI_API const double *tutti_split_target_scale(const tutti_split *split);
TUTTI_API const double *tutti_split_target_shift(const tutti_split *split);
/* What predictions and values of an output < tutti_split_outputs are counted from, in the target's unit. */
TUTTI_API double tutti_split_target_origin(const tutti_split *split, size_t output);
/* Fill *targets with the split's targets in their own units, counted from their origins, or its labels; they stay the
   split's. The caller has set targets->size. */
TUTTI_API void tutti_split_all_targets(const tutti_split *split, struct tutti_targets *targets);
/* The number in the source of each row [rows] (csv: from 0, without the header), borrowed; NULL for splits of
   tutti_split_create. */
TUTTI_API const uint32_t *tutti_split_source_rows(const tutti_split *split);
/* Rows that belong together (data.groups), as those of one patient: of each row [rows], the first row of its group.
   Borrowed; NULL: each row stands alone. Who leaves rows out to judge a model by leaves out whole groups. */
TUTTI_API const uint32_t *tutti_split_groups(const tutti_split *split);
/* Do rows that stand beside each other belong together, as in time (data.split_order = file)? Then what is left out is
   a stretch of rows. */
TUTTI_API bool tutti_split_in_order(const tutti_split *split);
/* Turn a backend's predictions of this split, [rows][width] (predictions.h), into the target's own units, counted from
   the origins, in place. Does nothing for classification. */
TUTTI_API void tutti_split_unscale(const tutti_split *split, enum tutti_task_kind kind, float *predictions);

TUTTI_END_DECLS
#endif
