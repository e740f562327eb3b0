/* data.h - loads a data set, splits and standardises it, as the sections [data] and [head] of a recipe say. */
#ifndef TUTTI_DATA_H
#define TUTTI_DATA_H

#include <tutti/dataset.h>
#include <tutti/param.h>
#include <tutti/predictions.h>
#include <tutti/source.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_dataset tutti_dataset;

/* The parameter tables of [data], without the keys `plugin` and those of the source that it names, and of [head]. */
TUTTI_API const struct tutti_params *tutti_data_params(void);
TUTTI_API const struct tutti_params *tutti_head_params(void);

/* Load what the source gives. Files of rows and data are found relative to `folder` (the recipe's; NULL: the working folder).
   Splits, draws of generators and everything random are keyed by `seed`. Errors name file, line or row, and column. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_dataset_load(tutti_context *context, const tutti_config *data,
                                                               const tutti_config *head, tutti_source *source,
                                                               const char *folder, uint64_t seed,
                                                               tutti_dataset **dataset);
TUTTI_API void tutti_dataset_destroy(tutti_dataset *dataset);
TUTTI_API const struct tutti_task *tutti_dataset_task(const tutti_dataset *dataset);
/* Splits: "train", "validation", "test" always come first (any may have 0 rows but train), then shifted ones
   ("validation-5"), then those without labels, out of distribution ("ood", "ood-noise"). */
TUTTI_API size_t tutti_dataset_splits(const tutti_dataset *dataset);
TUTTI_API const tutti_split *tutti_dataset_split(const tutti_dataset *dataset, size_t index);
TUTTI_API const tutti_split *tutti_dataset_find(const tutti_dataset *dataset, const char *name);
/* Names: of features after one-hot coding, of targets, of classes (as in the file). */
TUTTI_API const char *tutti_dataset_feature(const tutti_dataset *dataset, size_t index);
TUTTI_API const char *tutti_dataset_target(const tutti_dataset *dataset, size_t index);
TUTTI_API const char *tutti_dataset_class(const tutti_dataset *dataset, size_t index);
/* A hash of all values, splits and scalings: two runs are on the same data if it is equal. */
TUTTI_API uint64_t tutti_dataset_fingerprint(const tutti_dataset *dataset);

/* How raw rows become inputs (source, columns, categories, standardisation) as JSON, kept in the run directory; and new rows
   through it, from a file that a source reads: the split has targets or labels where the file has them. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_dataset_describe(tutti_context *context, const tutti_dataset *dataset,
                                                                   char **json);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_dataset_apply(tutti_context *context, const char *json,
                                                                const char *path, tutti_split **split);

TUTTI_END_DECLS
#endif
