/* encoding_impl.h - how rows become the numbers that networks take; for engine/data/ alone. */
#ifndef TUTTI_ENCODING_IMPL_H
#define TUTTI_ENCODING_IMPL_H

#include <tutti/dataset.h>

#include "engine/data/columns_impl.h"
#include "engine/data/config_impl.h"
#include "engine/data/reader_impl.h"

/* Everything that new rows need. Images have one target, the classes; their channels are their features. */
struct tutti_encoding {
  struct tutti_origin origin; /* the source that was read */
  struct tutti_shape image;   /* as in the files; height 0 for tables */
  bool floats;                /* for images: pixels are floats, not bytes */
  bool named;                 /* for tables: the data named the columns */
  size_t source_columns;
  enum tutti_missing missing;
  enum tutti_unseen unseen;
  enum tutti_task_kind task;
  size_t inputs, targets, features;
  struct tutti_data_column *input;     /* [inputs] */
  struct tutti_data_column *target;    /* [targets]; a target with categories is a class */
  char **feature;                      /* [features]: names; a category's is "column=category"; bins come last */
  double *shift, *scale;               /* [features]: scaled = (raw - shift) / scale; see also scaling_impl.h */
  double *target_shift, *target_scale; /* [targets]; NULL for classification */
  double *target_origin;               /* [targets]: encoded = (raw - origin - shift) / scale; likewise */
};

/* Decide which columns are inputs and targets, and collect their categories from the rows whose split is not
   TUTTI_UNUSED. Rows with missing cells become TUTTI_UNUSED if they are to be dropped. There are no features yet, and
   the origin stays zero (roles.c). */
TUTTI_NODISCARD enum tutti_status tutti_encoding_create(tutti_context *context, const struct tutti_data_config *config,
                                                        const tutti_rows *table, uint8_t *split,
                                                        struct tutti_encoding **encoding);
void tutti_encoding_destroy(struct tutti_encoding *encoding);
/* Numbers of an image as it is stored. */
static inline size_t tutti_encoding_image_values(const struct tutti_encoding *encoding) {
  return (size_t)encoding->image.height * (size_t)encoding->image.width * (size_t)encoding->image.channels;
}
/* Number of bins of all columns, which are the last features. */
size_t tutti_encoding_bins(const struct tutti_encoding *encoding);
/* Number of classes or targets. */
size_t tutti_encoding_outputs(const struct tutti_encoding *encoding);
/* Name the features and make room for their statistics, after columns, categories and bins are known. */
TUTTI_NODISCARD enum tutti_status tutti_encoding_lay_out(tutti_context *context, struct tutti_encoding *encoding);
/* The same for images, whose channels are their features. */
TUTTI_NODISCARD enum tutti_status tutti_encoding_name_channels(tutti_context *context, struct tutti_encoding *encoding);
/* Compute the statistics of the `count` given rows of the table, and lay out the features (measure.c). */
TUTTI_NODISCARD enum tutti_status tutti_encoding_measure(tutti_context *context, const struct tutti_data_config *config,
                                                         const tutti_rows *table, size_t count, const uint32_t *rows,
                                                         struct tutti_encoding *encoding);
/* The class of a row, from 0; an unknown one is an error. */
TUTTI_NODISCARD enum tutti_status tutti_encoding_label(tutti_context *context, const struct tutti_encoding *encoding,
                                                       const tutti_rows *table, size_t row, int32_t *label);
/* Make a split of these rows of the table, with targets or without. */
TUTTI_NODISCARD enum tutti_status tutti_encoding_split(tutti_context *context, const struct tutti_encoding *encoding,
                                                       const tutti_rows *table, const char *name, size_t count,
                                                       const uint32_t *rows, bool targets, tutti_split **split);
/* Has this row of a table all its targets? */
bool tutti_encoding_has_target(const struct tutti_encoding *encoding, const tutti_rows *table, size_t row);
/* The same of new rows, which may be wrong: one that cannot be read becomes zeros and is marked in split->unread, and
   the log says why. Of these, and of those without a target, there is none: they are marked in split->unjudged. */
TUTTI_NODISCARD enum tutti_status tutti_encoding_split_new(tutti_context *context,
                                                           const struct tutti_encoding *encoding,
                                                           const tutti_rows *table, const char *name, size_t count,
                                                           const uint32_t *rows, bool targets, tutti_split **split);
/* Warn of cells of new rows that models cannot have learnt from: missing ones of columns that were whole in training,
   and categories that it did not list. */
void tutti_encoding_warn(tutti_context *context, const struct tutti_encoding *encoding, const tutti_rows *table,
                         const tutti_split *split);
/* Copy the scaling of the targets into a split of regression. */
TUTTI_NODISCARD enum tutti_status
tutti_encoding_copy_scaling(tutti_context *context, const struct tutti_encoding *encoding, tutti_split *split);
/* Does any target have an origin other than 0? */
bool tutti_encoding_has_origin(const struct tutti_encoding *encoding);
/* Make the standardised targets of a regression's split from those in their own units. */
TUTTI_NODISCARD enum tutti_status tutti_encoding_standardise(tutti_context *context,
                                                             const struct tutti_encoding *encoding, tutti_split *split);
/* Of a split with targets in their own units: count them from their origins, too, unless these are all 0. */
TUTTI_NODISCARD enum tutti_status tutti_encoding_centre(tutti_context *context, const struct tutti_encoding *encoding,
                                                        tutti_split *split);
/* To JSON, with the names and sizes of the splits, and back without them (encoding_json.c, stored.c). */
TUTTI_NODISCARD enum tutti_status tutti_encoding_print(tutti_context *context, const struct tutti_encoding *encoding,
                                                       size_t count, tutti_split *const *splits, char **json);
TUTTI_NODISCARD enum tutti_status tutti_encoding_parse(tutti_context *context, const char *json,
                                                       struct tutti_encoding **encoding);
/* A text that is the same for equal encodings, however the data were read; `source` names the reader of images.
   Fingerprints depend on it, so never change it (encoding_json.c). */
TUTTI_NODISCARD enum tutti_status tutti_encoding_fingerprint_text(tutti_context *context,
                                                                  const struct tutti_encoding *encoding,
                                                                  const char *source, char **text);

#endif
