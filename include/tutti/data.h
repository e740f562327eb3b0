/* data.h - loads a data set, splits it and standardises it, as the sections [data] and [head] of a recipe say. */
#ifndef TUTTI_DATA_H
#define TUTTI_DATA_H

#include <tutti/dataset.h>
#include <tutti/param.h>
#include <tutti/predictions.h>
#include <tutti/source.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_dataset tutti_dataset;

/* The parameter table of [data], without `plugin` and the parameters of the source that it names; tutti_head_params:
   that of [head]. Static. */
TUTTI_API const struct tutti_params *tutti_data_params(void);
TUTTI_API const struct tutti_params *tutti_head_params(void);

/* Load what the source gives, by the parameters of [data] and [head]. Relative paths are taken from `folder` (the
   recipe's; NULL: the working folder). Splits, generators and everything random are keyed by `seed`, or by
   data.split_seed where it is set. The caller destroys *dataset; nothing is borrowed. Errors name the file, the line or
   row, and the column. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_dataset_load(tutti_context *context, const tutti_config *data,
                                                               const tutti_config *head, tutti_source *source,
                                                               const char *folder, uint64_t seed,
                                                               tutti_dataset **dataset);
/* Destroy it with its splits; NULL is allowed. */
TUTTI_API void tutti_dataset_destroy(tutti_dataset *dataset);
/* The task that the data set is for; borrowed. */
TUTTI_API const struct tutti_task *tutti_dataset_task(const tutti_dataset *dataset);
/* The number of splits. "train", "validation" and "test" come first (all but "train" may have 0 rows), then shifted
   ones ("validation-5"), then those out of distribution, without labels ("ood", "ood-noise"). */
TUTTI_API size_t tutti_dataset_splits(const tutti_dataset *dataset);
/* Split number `index` (< tutti_dataset_splits); borrowed. */
TUTTI_API const tutti_split *tutti_dataset_split(const tutti_dataset *dataset, size_t index);
/* The split of that name, borrowed; NULL if there is none. */
TUTTI_API const tutti_split *tutti_dataset_find(const tutti_dataset *dataset, const char *name);
/* The name of feature `index`, after one-hot coding; of tables only. tutti_dataset_target: of target `index`.
   tutti_dataset_class: of class `index`, as in the data. All are borrowed, and `index` is in range. */
TUTTI_API const char *tutti_dataset_feature(const tutti_dataset *dataset, size_t index);
TUTTI_API const char *tutti_dataset_target(const tutti_dataset *dataset, size_t index);
TUTTI_API const char *tutti_dataset_class(const tutti_dataset *dataset, size_t index);
/* A hash of all values, splits and scalings: runs with equal ones are on the same data. */
TUTTI_API uint64_t tutti_dataset_fingerprint(const tutti_dataset *dataset);

/* How raw rows become inputs (source, columns, categories, standardisation), as the JSON that a run directory keeps;
   free *json with tutti_free. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_dataset_describe(tutti_context *context, const tutti_dataset *dataset,
                                                                   char **json);
/* Read new rows from the file `path` and turn them into inputs as such a JSON says. The split has targets or labels if
   the file has them in every row (a warning tells if it has them in some); the caller destroys it. TUTTI_ERROR_USAGE:
   the file lacks a column, or holds what the data set did not have. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_dataset_apply(tutti_context *context, const char *json,
                                                                const char *path, tutti_split **split);
/* Turn rows that are in memory into inputs, as those of the data set were: the columns of a table are found by their
   names if both have some, else by position; targets may be left out. The caller destroys *split, before the rows whose
   pixels it borrows. TUTTI_ERROR_USAGE: a column is missing, a table where images are wanted (or the reverse), a value
   that the data set did not have. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_dataset_encode(tutti_context *context, const tutti_dataset *dataset,
                                                                 const tutti_rows *rows, tutti_split **split);
/* The number of input columns of a table as it was read, before categories are coded; 0 for images.
   tutti_dataset_input: the name of column `index`; borrowed. */
TUTTI_API size_t tutti_dataset_inputs(const tutti_dataset *dataset);
TUTTI_API const char *tutti_dataset_input(const tutti_dataset *dataset, size_t index);

TUTTI_END_DECLS
#endif
