/* dataset.c - a data set: read, split, encoded. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <tutti/data.h>

#include "data_impl.h"
#include "split_impl.h"

struct tutti_dataset {
  struct tutti_task task;
  struct tutti_encoding *encoding;
  tutti_split *splits[TUTTI_SPLITS];
  uint64_t fingerprint;
};

/* What loading needs on its way. */
struct loading {
  tutti_context *context;
  const struct tutti_data_config *config;
  const char *folder;
  uint64_t seed;
  struct tutti_table *table;
  uint8_t *split;  /* [rows] */
  int32_t *labels; /* [rows]; NULL for regression */
  uint32_t *rows[TUTTI_SPLITS];
  size_t counts[TUTTI_SPLITS];
};

/* --- the source --- */

/* The file that the parameter `name` names, relative to the recipe's folder; NULL where it names none. */
static enum tutti_status find_file(const struct loading *loading, const char *name, const char *path, char **found) {
  bool relative = path[0] != '/' && loading->folder && loading->folder[0];
  *found = NULL;
  if (path[0] == '\0')
    return TUTTI_OK;
  TUTTI_TRY(loading->context, tutti_format(loading->context, found, "%s%s%s", relative ? loading->folder : "",
                                           relative ? "/" : "", path));
  if (access(*found, R_OK) == 0)
    return TUTTI_OK;
  enum tutti_status status = TUTTI_FAIL(loading->context, TUTTI_ERROR_USAGE, "data.%s: expected a file; %s: %s", name,
                                        *found, strerror(errno));
  tutti_free(*found);
  *found = NULL;
  return status;
}

static enum tutti_format format_of(const struct tutti_data_config *config) {
  size_t length = strlen(config->path);
  if (config->format != TUTTI_FORMAT_AUTO)
    return (enum tutti_format)config->format;
  return length >= 4 && strcmp(config->path + length - 4, ".npy") == 0 ? TUTTI_FORMAT_NPY : TUTTI_FORMAT_CSV;
}

static enum tutti_status check_source(tutti_context *context, const struct tutti_data_config *config,
                                      enum tutti_format format) {
  bool generated = format >= TUTTI_FORMAT_GENERATOR;
  if (generated && config->path[0])
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.path: the generator %s reads no file; leave it out",
                      tutti_format_names[format]);
  if (!generated && !config->path[0])
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.path: expected a csv or npy file, found nothing");
  if (config->target_path[0] && format != TUTTI_FORMAT_NPY)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "data.target_path: only npy has a second file; name the target columns in data.target");
  return TUTTI_OK;
}

static enum tutti_status read_source(struct loading *loading) {
  const struct tutti_data_config *config = loading->config;
  tutti_context *context = loading->context;
  enum tutti_status status = TUTTI_OK;
  enum tutti_format format = format_of(config);
  char *path = NULL, *target_path = NULL;
  TUTTI_TRY_OUT(context, check_source(context, config, format));
  TUTTI_TRY_OUT(context, find_file(loading, "path", config->path, &path));
  TUTTI_TRY_OUT(context, find_file(loading, "target_path", config->target_path, &target_path));
  if (format >= TUTTI_FORMAT_GENERATOR)
    status = tutti_generate(context, config, loading->seed, &loading->table);
  else if (format == TUTTI_FORMAT_NPY)
    status = tutti_npy_table(context, path, target_path, &loading->table);
  else
    status = tutti_csv_read(context, path, (enum tutti_header)config->header, (enum tutti_delimiter)config->delimiter,
                            &loading->table);
out:
  tutti_free(path);
  tutti_free(target_path);
  return status;
}

/* --- the splits --- */

static enum tutti_status label_rows(struct loading *loading, const struct tutti_encoding *encoding) {
  if (encoding->task != TUTTI_TASK_CLASSIFICATION)
    return TUTTI_OK;
  TUTTI_TRY(loading->context, tutti_alloc(loading->context, loading->table->rows, sizeof(int32_t), &loading->labels));
  for (size_t r = 0; r < loading->table->rows; r++)
    if (loading->split[r] != TUTTI_UNUSED)
      TUTTI_TRY(loading->context,
                tutti_encoding_label(loading->context, encoding, loading->table, r, &loading->labels[r]));
  return TUTTI_OK;
}

static enum tutti_status partition(struct loading *loading, const struct tutti_encoding *encoding) {
  const struct tutti_data_config *config = loading->config;
  tutti_context *context = loading->context;
  enum tutti_status status = TUTTI_OK;
  double shares[TUTTI_SPLITS] = {0};
  char *files[TUTTI_SPLITS] = {NULL};
  if (config->split.count < 2 || config->split.count > 3)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "data.split: expected shares of train, validation and test, as in 0.8 0.1 "
                      "0.1; found %zu numbers",
                      config->split.count);
  if (config->stratify == TUTTI_STRATIFY_YES && !loading->labels)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "data.stratify: only classes can be stratified, and the task is regression");
  memcpy(shares, config->split.values, config->split.count * sizeof *shares);
  TUTTI_TRY_OUT(context, find_file(loading, "train_rows", config->train_rows, &files[TUTTI_TRAIN]));
  TUTTI_TRY_OUT(context, find_file(loading, "validation_rows", config->validation_rows, &files[TUTTI_VALIDATION]));
  TUTTI_TRY_OUT(context, find_file(loading, "test_rows", config->test_rows, &files[TUTTI_TEST]));
  struct tutti_partition request = {.rows = loading->table->rows,
                                    .test_rows = loading->table->test_rows,
                                    .split = loading->split,
                                    .labels = config->stratify == TUTTI_STRATIFY_NO ? NULL : loading->labels,
                                    .classes = tutti_encoding_outputs(encoding),
                                    .shares = shares,
                                    .files = {files[0], files[1], files[2]},
                                    .seed = loading->seed};
  TUTTI_TRY_OUT(context, tutti_partition_rows(context, &request));
out:
  for (size_t s = 0; s < TUTTI_SPLITS; s++)
    tutti_free(files[s]);
  return status;
}

static enum tutti_status list_rows(struct loading *loading) {
  for (size_t s = 0; s < TUTTI_SPLITS; s++) {
    size_t count = 0;
    for (size_t r = 0; r < loading->table->rows; r++)
      count += loading->split[r] == s;
    TUTTI_TRY(loading->context, tutti_alloc(loading->context, count, sizeof(uint32_t), &loading->rows[s]));
    for (size_t r = 0; r < loading->table->rows; r++)
      if (loading->split[r] == s)
        loading->rows[s][loading->counts[s]++] = (uint32_t)r;
  }
  return TUTTI_OK;
}

static enum tutti_status check_classes(struct loading *loading, const struct tutti_encoding *encoding) {
  enum tutti_status status = TUTTI_OK;
  tutti_context *context = loading->context;
  size_t classes = tutti_encoding_outputs(encoding);
  bool *seen = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, classes, sizeof *seen, &seen));
  for (size_t i = 0; i < loading->counts[TUTTI_TRAIN]; i++)
    seen[loading->labels[loading->rows[TUTTI_TRAIN][i]]] = true;
  for (size_t c = 0; c < classes && status == TUTTI_OK; c++)
    if (!seen[c])
      status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                          "%s: class '%s' of '%s' is absent from the %zu training rows, so that it cannot be learned; "
                          "change the split, or leave its rows out",
                          loading->table->source, encoding->target[0].category[c], encoding->target[0].name,
                          loading->counts[TUTTI_TRAIN]);
out:
  tutti_free(seen);
  return status;
}

/* --- the task --- */

static enum tutti_status set_task(tutti_context *context, const struct tutti_head_config *head,
                                  tutti_dataset *dataset) {
  bool classes = dataset->encoding->task == TUTTI_TASK_CLASSIFICATION;
  static const enum tutti_op ops[] = {[TUTTI_HEAD_SOFTMAX] = TUTTI_OP_HEAD_SOFTMAX,
                                      [TUTTI_HEAD_GAUSSIAN] = TUTTI_OP_HEAD_GAUSSIAN,
                                      [TUTTI_HEAD_LINEAR] = TUTTI_OP_HEAD_LINEAR};
  int kind = head->kind != TUTTI_HEAD_AUTO ? head->kind : classes ? TUTTI_HEAD_SOFTMAX : TUTTI_HEAD_GAUSSIAN;
  if (classes != (kind == TUTTI_HEAD_SOFTMAX))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "head.kind: %s takes %s, and the task is %s",
                      classes ? "a gaussian or linear head" : "softmax", classes ? "numbers" : "classes",
                      classes ? "classification" : "regression");
  dataset->task = (struct tutti_task){.size = sizeof dataset->task,
                                      .kind = dataset->encoding->task,
                                      .input = {1, 1, (int32_t)dataset->encoding->features},
                                      .outputs = tutti_encoding_outputs(dataset->encoding),
                                      .train_rows = dataset->splits[TUTTI_TRAIN]->rows,
                                      .head = ops[kind],
                                      .head_attributes = tutti_attributes_default()};
  dataset->task.head_attributes.scale = head->scale;
  dataset->task.head_attributes.floor = head->floor;
  dataset->task.head_attributes.variance = head->parametrisation == 1;
  return TUTTI_OK;
}

/* --- fingerprint: FNV-1a, 64 bits --- */

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes) {
  const unsigned char *byte = data;
  for (size_t i = 0; byte && i < bytes; i++)
    hash = (hash ^ byte[i]) * 0x100000001b3u;
  return hash;
}

static uint64_t hash_split(uint64_t hash, const tutti_split *split) {
  size_t features = (size_t)split->input.channels;
  hash = hash_bytes(hash, &split->rows, sizeof split->rows);
  hash = hash_bytes(hash, split->source_rows, split->rows * sizeof *split->source_rows);
  hash = hash_bytes(hash, split->inputs, split->rows * features * sizeof *split->inputs);
  hash = hash_bytes(hash, split->raw_targets, split->rows * split->outputs * sizeof *split->raw_targets);
  return hash_bytes(hash, split->labels, split->rows * sizeof *split->labels);
}

static enum tutti_status set_fingerprint(tutti_context *context, tutti_dataset *dataset) {
  char *description;
  TUTTI_TRY(context, tutti_encoding_print(context, dataset->encoding, &description));
  dataset->fingerprint = hash_bytes(0xcbf29ce484222325u, description, strlen(description));
  tutti_free(description);
  for (size_t s = 0; s < TUTTI_SPLITS; s++)
    dataset->fingerprint = hash_split(dataset->fingerprint, dataset->splits[s]);
  return TUTTI_OK;
}

/* --- all of it --- */

static enum tutti_status fill(struct loading *loading, const struct tutti_head_config *head, tutti_dataset *dataset) {
  tutti_context *context = loading->context;
  TUTTI_TRY(context, read_source(loading));
  const struct tutti_table *table = loading->table;
  TUTTI_TRY(context, tutti_alloc(context, table->rows, 1, &loading->split));
  TUTTI_TRY(context, tutti_encoding_create(context, loading->config, table, loading->split, &dataset->encoding));
  TUTTI_TRY(context, label_rows(loading, dataset->encoding));
  TUTTI_TRY(context, partition(loading, dataset->encoding));
  TUTTI_TRY(context, list_rows(loading));
  if (loading->labels)
    TUTTI_TRY(context, check_classes(loading, dataset->encoding));
  TUTTI_TRY(context, tutti_encoding_measure(context, dataset->encoding, table, loading->counts[TUTTI_TRAIN],
                                            loading->rows[TUTTI_TRAIN], loading->config->standardise));
  for (size_t s = 0; s < TUTTI_SPLITS; s++)
    TUTTI_TRY(context, tutti_encoding_split(context, dataset->encoding, table, tutti_partition_name(s),
                                            loading->counts[s], loading->rows[s], true, &dataset->splits[s]));
  TUTTI_TRY(context, set_task(context, head, dataset));
  return set_fingerprint(context, dataset);
}

enum tutti_status tutti_dataset_load(tutti_context *context, const tutti_config *data, const tutti_config *head,
                                     const char *folder, uint64_t seed, tutti_dataset **out) {
  enum tutti_status status = TUTTI_OK;
  const struct tutti_data_config *config = tutti_config_values(data);
  tutti_dataset *dataset = NULL;
  struct loading loading = {.context = context,
                            .config = config,
                            .folder = folder,
                            .seed = config->split_seed >= 0 ? (uint64_t)config->split_seed : seed};
  *out = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *dataset, &dataset));
  TUTTI_TRY_OUT(context, fill(&loading, tutti_config_values(head), dataset));
  *out = dataset;
  dataset = NULL;
out:
  for (size_t s = 0; s < TUTTI_SPLITS; s++)
    tutti_free(loading.rows[s]);
  tutti_free(loading.labels);
  tutti_free(loading.split);
  tutti_table_destroy(loading.table);
  tutti_dataset_destroy(dataset);
  return status;
}

void tutti_dataset_destroy(tutti_dataset *dataset) {
  if (!dataset)
    return;
  for (size_t s = 0; s < TUTTI_SPLITS; s++)
    tutti_split_destroy(dataset->splits[s]);
  tutti_encoding_destroy(dataset->encoding);
  tutti_free(dataset);
}

const struct tutti_task *tutti_dataset_task(const tutti_dataset *dataset) { return &dataset->task; }

size_t tutti_dataset_splits(const tutti_dataset *dataset) {
  (void)dataset;
  return TUTTI_SPLITS;
}

const tutti_split *tutti_dataset_split(const tutti_dataset *dataset, size_t index) { return dataset->splits[index]; }

const tutti_split *tutti_dataset_find(const tutti_dataset *dataset, const char *name) {
  for (size_t s = 0; s < TUTTI_SPLITS; s++)
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

enum tutti_status tutti_dataset_describe(tutti_context *context, const tutti_dataset *dataset, char **json) {
  return tutti_encoding_print(context, dataset->encoding, json);
}
