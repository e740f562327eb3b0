/* dataset.c - a data set: loaded, and split into the parts that others use. */
#include <string.h>
#include <tutti/descriptor.h>

#include "fingerprint_impl.h"
#include "loading_impl.h"
#include "core/plugin/split_impl.h"

/* With folds, each training goes without one of them. */
static size_t rows_of_a_training(const tutti_dataset *dataset) {
  size_t rows = dataset->splits[TUTTI_TRAIN]->rows;
  return dataset->folds ? rows - rows / dataset->folds : rows;
}

enum tutti_status tutti_dataset_set_task(tutti_context *context, const struct tutti_head_config *head,
                                         tutti_dataset *dataset) {
  dataset->headed.task = (struct tutti_task){.size = sizeof dataset->headed.task,
                                             .kind = dataset->encoding->task,
                                             .input = dataset->splits[TUTTI_TRAIN]->input,
                                             .outputs = tutti_encoding_outputs(dataset->encoding),
                                             .train_rows = rows_of_a_training(dataset),
                                             .encodings = tutti_encoding_bins(dataset->encoding)};
  return tutti_head_set(context, head, &dataset->headed);
}

/* If the ending of the path names the source, this counts as `auto`, even if the recipe names it, too. */
static const char *source_in_fingerprint(const struct tutti_loading *loading) {
  return tutti_source_fits(loading->source, loading->config->path) ? "auto"
                                                                   : tutti_source_descriptor(loading->source)->name;
}

static enum tutti_status set_fingerprint(const struct tutti_loading *loading, tutti_dataset *dataset) {
  char *description;
  TUTTI_TRY(loading->context, tutti_encoding_fingerprint_text(loading->context, dataset->encoding,
                                                              source_in_fingerprint(loading), &description));
  dataset->fingerprint = tutti_hash(TUTTI_HASH_BEGIN, description, strlen(description));
  tutti_free(description);
  for (size_t s = 0; s < dataset->split_count; s++) {
    dataset->fingerprint = tutti_split_hash(dataset->fingerprint, dataset->splits[s]);
    if (s <= TUTTI_CALIBRATION && strcmp(dataset->splits[s]->name, tutti_partition_name(s)) == 0)
      dataset->rows_fingerprint = dataset->fingerprint;
  }
  if (dataset->folds) {
    size_t bytes = dataset->splits[TUTTI_VALIDATION]->rows * sizeof *dataset->fold;
    dataset->fingerprint = tutti_hash(dataset->fingerprint, dataset->fold, bytes);
    dataset->rows_fingerprint = tutti_hash(dataset->rows_fingerprint, dataset->fold, bytes);
  }
  return TUTTI_OK;
}

static enum tutti_status fill(struct tutti_loading *loading, const struct tutti_head_config *head,
                              tutti_dataset *dataset) {
  tutti_context *context = loading->context;
  TUTTI_TRY(context, tutti_loading_read(loading, dataset));
  TUTTI_TRY(context, tutti_loading_share_out(loading, dataset));
  tutti_groups_doubt(loading, dataset);
  TUTTI_TRY(context, tutti_loading_add_shifted(loading, dataset));
  TUTTI_TRY(context, tutti_loading_add_ood(loading, dataset));
  TUTTI_TRY(context, tutti_dataset_set_task(context, head, dataset));
  return set_fingerprint(loading, dataset);
}

enum tutti_status tutti_dataset_load(tutti_context *context, const tutti_config *data, const tutti_config *head,
                                     tutti_source *source, const char *folder, uint64_t seed, tutti_dataset **out) {
  enum tutti_status status = TUTTI_OK;
  const struct tutti_data_config *config = tutti_config_values(data);
  tutti_dataset *dataset = NULL;
  struct tutti_loading loading = {.context = context,
                                  .config = config,
                                  .source = source,
                                  .folder = folder,
                                  .seed = config->split_seed >= 0 ? (uint64_t)config->split_seed : seed};
  *out = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *dataset, &dataset));
  TUTTI_TRY_OUT(context, fill(&loading, tutti_config_values(head), dataset));
  *out = dataset;
  dataset = NULL;
out:
  for (size_t s = 0; s < TUTTI_SHARED_OUT; s++)
    tutti_free(loading.of_split[s]);
  tutti_free(loading.labels);
  tutti_free(loading.group);
  tutti_free(loading.split);
  if (!loading.images)
    tutti_rows_destroy(loading.rows);
  tutti_dataset_destroy(dataset);
  return status;
}

void tutti_dataset_destroy(tutti_dataset *dataset) {
  if (!dataset)
    return;
  for (size_t s = 0; s < dataset->split_count; s++)
    tutti_split_destroy(dataset->splits[s]);
  tutti_free(dataset->fold);
  tutti_rows_destroy(dataset->images);
  tutti_encoding_destroy(dataset->encoding);
  tutti_free(dataset);
}

const struct tutti_task *tutti_dataset_task(const tutti_dataset *dataset) { return &dataset->headed.task; }

size_t tutti_dataset_splits(const tutti_dataset *dataset) { return dataset->split_count; }

const tutti_split *tutti_dataset_split(const tutti_dataset *dataset, size_t index) { return dataset->splits[index]; }

const tutti_split *tutti_dataset_find(const tutti_dataset *dataset, const char *name) {
  for (size_t s = 0; s < dataset->split_count; s++)
    if (strcmp(dataset->splits[s]->name, name) == 0)
      return dataset->splits[s];
  return NULL;
}

const char *tutti_dataset_feature(const tutti_dataset *dataset, size_t index) {
  return dataset->encoding->feature[index];
}

const char *tutti_dataset_target(const tutti_dataset *dataset, size_t index) {
  return dataset->encoding->target[index].name;
}

const char *tutti_dataset_class(const tutti_dataset *dataset, size_t index) {
  return dataset->encoding->target[0].category[index];
}

uint64_t tutti_dataset_fingerprint(const tutti_dataset *dataset) { return dataset->fingerprint; }

uint64_t tutti_dataset_rows_fingerprint(const tutti_dataset *dataset) { return dataset->rows_fingerprint; }

enum tutti_status tutti_dataset_check_test_rows(tutti_context *context, const tutti_dataset *dataset,
                                                const char *path) {
  return tutti_partition_check(context, TUTTI_TEST, path, dataset->source_rows);
}

enum tutti_status tutti_dataset_describe(tutti_context *context, const tutti_dataset *dataset, char **json) {
  return tutti_encoding_print(context, dataset->encoding, dataset->split_count, dataset->splits, json);
}
