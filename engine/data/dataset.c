/* dataset.c - a data set: read, split, encoded. */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <tutti/data.h>

#include "engine/data/shift/corruption_impl.h"
#include "images_impl.h"
#include "engine/data/shift/shift_impl.h"
#include "core/plugin/split_impl.h"

enum { OUT_OF_DISTRIBUTION = 2 };

struct tutti_dataset {
  struct tutti_task task;
  struct tutti_attribute head_attributes[4]; /* the task's, ended by name NULL */
  struct tutti_encoding *encoding;
  struct tutti_images *images; /* NULL for tables */
  tutti_split *splits[TUTTI_SPLITS + 2 * TUTTI_SEVERITIES + OUT_OF_DISTRIBUTION];
  size_t split_count;
  uint64_t fingerprint;
};

/* What loading needs on its way. */
struct loading {
  tutti_context *context;
  const struct tutti_data_config *config;
  const char *folder;
  uint64_t seed;
  struct tutti_table *table;   /* this or */
  struct tutti_images *images; /* that: borrowed from the data set */
  const char *source;          /* for messages */
  size_t all, test_rows;       /* rows of the source; the last so many are test rows */
  uint8_t *split;              /* [rows] */
  int32_t *labels;             /* [rows]; NULL for regression */
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
  if (config->target_path[0] && format != TUTTI_FORMAT_NPY && format != TUTTI_FORMAT_IDX)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.target_path: only npy and idx have a second file; %s",
                      format >= TUTTI_FORMAT_CIFAR && !generated ? "the labels of cifar stand before the pixels"
                                                                 : "name the target columns in data.target");
  return TUTTI_OK;
}

/* Has the source images? *path is the file that was found. */
static bool has_images(const struct loading *loading, enum tutti_format format, const char *path) {
  if (format == TUTTI_FORMAT_NPY)
    return tutti_npy_has_images(loading->context, path);
  return format >= TUTTI_FORMAT_IDX && format < TUTTI_FORMAT_GENERATOR;
}

/* Append a file of images, or the one of test images. */
static enum tutti_status read_images(struct loading *loading, enum tutti_format format, const char *path,
                                     const char *labels, bool test) {
  tutti_context *context = loading->context;
  if (format == TUTTI_FORMAT_IDX)
    return tutti_idx_read(context, path, labels, test, loading->images);
  if (format != TUTTI_FORMAT_NPY)
    return tutti_cifar_read(context, path, format, test, loading->images);
  if (!labels)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "data.%starget_path: expected the npy file with the labels of %s",
                      test ? "test_" : "", path);
  return tutti_npy_images(context, path, labels, loading->images);
}

/* The images of path, then those of test_path; a folder has both. */
static enum tutti_status read_all_images(struct loading *loading, enum tutti_format format, const char *path,
                                         const char *labels, tutti_dataset *dataset) {
  enum tutti_status status = TUTTI_OK;
  tutti_context *context = loading->context;
  char *test_path = NULL, *test_labels = NULL;
  TUTTI_TRY_OUT(context, tutti_images_create(context, path, &dataset->images));
  loading->images = dataset->images;
  TUTTI_TRY_OUT(context, find_file(loading, "test_path", loading->config->test_path, &test_path));
  TUTTI_TRY_OUT(context, find_file(loading, "test_target_path", loading->config->test_target_path, &test_labels));
  TUTTI_TRY_OUT(context, read_images(loading, format, path, labels, false));
  size_t rows = dataset->images->rows;
  if (test_path || tutti_images_folder(path))
    TUTTI_TRY_OUT(context, read_images(loading, format, test_path ? test_path : path, test_labels, true));
  dataset->images->test_rows = dataset->images->rows - rows;
out:
  tutti_free(test_path);
  tutti_free(test_labels);
  return status;
}

static enum tutti_status read_table(struct loading *loading, enum tutti_format format, const char *path,
                                    const char *target_path) {
  const struct tutti_data_config *config = loading->config;
  tutti_context *context = loading->context;
  if (config->test_path[0])
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "data.test_path: only images have a second file; name the test rows of a table in "
                      "data.test_rows");
  if (format >= TUTTI_FORMAT_GENERATOR)
    return tutti_generate(context, config, loading->seed, &loading->table);
  if (format == TUTTI_FORMAT_NPY)
    return tutti_npy_table(context, path, target_path, &loading->table);
  return tutti_csv_read(context, path, (enum tutti_header)config->header, (enum tutti_delimiter)config->delimiter,
                        &loading->table);
}

static enum tutti_status read_source(struct loading *loading, tutti_dataset *dataset) {
  const struct tutti_data_config *config = loading->config;
  tutti_context *context = loading->context;
  enum tutti_status status = TUTTI_OK;
  enum tutti_format format = format_of(config);
  char *path = NULL, *target_path = NULL;
  TUTTI_TRY_OUT(context, check_source(context, config, format));
  TUTTI_TRY_OUT(context, find_file(loading, "path", config->path, &path));
  TUTTI_TRY_OUT(context, find_file(loading, "target_path", config->target_path, &target_path));
  bool images = path && has_images(loading, format, path);
  TUTTI_TRY_OUT(context, images ? read_all_images(loading, format, path, target_path, dataset)
                                : read_table(loading, format, path, target_path));
  loading->source = images ? loading->images->source : loading->table->source;
  loading->all = images ? loading->images->rows : loading->table->rows;
  loading->test_rows = images ? loading->images->test_rows : loading->table->test_rows;
out:
  tutti_free(path);
  tutti_free(target_path);
  return status;
}

/* --- the splits --- */

static enum tutti_status label_rows(struct loading *loading, const struct tutti_encoding *encoding) {
  if (encoding->task != TUTTI_TASK_CLASSIFICATION)
    return TUTTI_OK;
  TUTTI_TRY(loading->context, tutti_alloc(loading->context, loading->all, sizeof(int32_t), &loading->labels));
  for (size_t r = 0; r < loading->table->rows; r++)
    if (loading->split[r] != TUTTI_UNUSED)
      TUTTI_TRY(loading->context,
                tutti_encoding_label(loading->context, encoding, loading->table, r, &loading->labels[r]));
  return TUTTI_OK;
}

/* What each row is: its columns' roles, and its class. */
static enum tutti_status encode(struct loading *loading, tutti_dataset *dataset) {
  tutti_context *context = loading->context;
  TUTTI_TRY(context, tutti_alloc(context, loading->all, 1, &loading->split));
  if (loading->images) {
    TUTTI_TRY(context, tutti_alloc(context, loading->all, sizeof(int32_t), &loading->labels));
    return tutti_images_encode(context, loading->config, loading->images, loading->labels, &dataset->encoding);
  }
  TUTTI_TRY(context,
            tutti_encoding_create(context, loading->config, loading->table, loading->split, &dataset->encoding));
  return label_rows(loading, dataset->encoding);
}

/* Shall each split have its share of each class? */
static bool stratified(const struct tutti_data_config *config) {
  return config->stratify == TUTTI_STRATIFY_YES ||
         (config->stratify == TUTTI_STRATIFY_AUTO && config->split_order != TUTTI_SPLIT_FILE);
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
  if (config->limit.count > TUTTI_SPLITS)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "data.limit: expected at most 3 numbers, of training, validation and test rows; found %zu",
                      config->limit.count);
  memcpy(shares, config->split.values, config->split.count * sizeof *shares);
  TUTTI_TRY_OUT(context, find_file(loading, "train_rows", config->train_rows, &files[TUTTI_TRAIN]));
  TUTTI_TRY_OUT(context, find_file(loading, "validation_rows", config->validation_rows, &files[TUTTI_VALIDATION]));
  TUTTI_TRY_OUT(context, find_file(loading, "test_rows", config->test_rows, &files[TUTTI_TEST]));
  struct tutti_partition request = {.rows = loading->all,
                                    .test_rows = loading->test_rows,
                                    .split = loading->split,
                                    .labels = stratified(config) ? loading->labels : NULL,
                                    .in_order = config->split_order == TUTTI_SPLIT_FILE,
                                    .classes = tutti_encoding_outputs(encoding),
                                    .shares = shares,
                                    .files = {files[0], files[1], files[2]},
                                    .seed = loading->seed};
  for (size_t s = 0; s < config->limit.count; s++)
    request.limits[s] = (size_t)config->limit.values[s];
  TUTTI_TRY_OUT(context, tutti_partition_rows(context, &request));
out:
  for (size_t s = 0; s < TUTTI_SPLITS; s++)
    tutti_free(files[s]);
  return status;
}

static enum tutti_status list_rows(struct loading *loading) {
  for (size_t s = 0; s < TUTTI_SPLITS; s++) {
    size_t count = 0;
    for (size_t r = 0; r < loading->all; r++)
      count += loading->split[r] == s;
    TUTTI_TRY(loading->context, tutti_alloc(loading->context, count, sizeof(uint32_t), &loading->rows[s]));
    for (size_t r = 0; r < loading->all; r++)
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
                          loading->source, encoding->target[0].category[c], encoding->target[0].name,
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
                                      .input = dataset->splits[TUTTI_TRAIN]->input,
                                      .outputs = tutti_encoding_outputs(dataset->encoding),
                                      .train_rows = dataset->splits[TUTTI_TRAIN]->rows,
                                      .head = ops[kind],
                                      .head_attributes = dataset->head_attributes};
  if (kind == TUTTI_HEAD_GAUSSIAN) {
    dataset->head_attributes[0] = (struct tutti_attribute){"scale", head->scale};
    dataset->head_attributes[1] = (struct tutti_attribute){"floor", head->floor};
    dataset->head_attributes[2] = (struct tutti_attribute){"variance", head->parametrisation == 1};
  }
  return TUTTI_OK;
}

static enum tutti_status set_fingerprint(tutti_context *context, tutti_dataset *dataset) {
  char *description;
  TUTTI_TRY(context, tutti_encoding_print(context, dataset->encoding, &description));
  dataset->fingerprint = tutti_hash(TUTTI_HASH_BEGIN, description, strlen(description));
  tutti_free(description);
  for (size_t s = 0; s < dataset->split_count; s++)
    dataset->fingerprint = tutti_split_hash(dataset->fingerprint, dataset->splits[s]);
  return TUTTI_OK;
}

/* --- shift --- */

static enum tutti_status make_shifted(struct loading *loading, const char *ready, const char *cache,
                                      tutti_dataset *dataset) {
  const struct tutti_data_config *config = loading->config;
  for (size_t i = 0; i < config->shift.count; i++)
    for (size_t s = TUTTI_VALIDATION; s <= TUTTI_TEST && config->shift.values[i] > 0; s++) {
      const struct tutti_choices *list = s == TUTTI_TEST ? &config->shift_test : &config->shift_validation;
      struct tutti_shift shift = {.encoding = dataset->encoding,
                                  .clean = dataset->splits[s],
                                  .ready = ready,
                                  .cache = cache,
                                  .corruptions = list->values,
                                  .count = list->count,
                                  .test_rows = loading->test_rows,
                                  .all = loading->all,
                                  .severity = (int)config->shift.values[i]};
      TUTTI_TRY(loading->context, tutti_shift_split(loading->context, &shift, &dataset->splits[dataset->split_count]));
      dataset->split_count++;
    }
  return TUTTI_OK;
}

static enum tutti_status add_shifted(struct loading *loading, tutti_dataset *dataset) {
  enum tutti_status status = TUTTI_OK;
  tutti_context *context = loading->context;
  char *ready = NULL, *cache = NULL;
  if (loading->config->shift.count == 0)
    return TUTTI_OK;
  TUTTI_TRY_OUT(context, find_file(loading, "shift_path", loading->config->shift_path, &ready));
  TUTTI_TRY_OUT(context, tutti_shift_check(context, loading->config, dataset->encoding, ready));
  TUTTI_TRY_OUT(context, tutti_cache_folder(context, loading->config->cache, &cache));
  TUTTI_TRY_OUT(context, make_shifted(loading, ready, cache, dataset));
out:
  tutti_free(ready);
  tutti_free(cache);
  return status;
}

/* --- out of distribution --- */

static enum tutti_status add_ood(struct loading *loading, tutti_dataset *dataset) {
  enum tutti_status status = TUTTI_OK;
  tutti_context *context = loading->context;
  const struct tutti_data_config *config = loading->config;
  char *path = NULL;
  if (!loading->images && (config->ood_path[0] || config->ood_noise))
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "data.%s: inputs out of distribution are images, and these are rows of a table",
                      config->ood_path[0] ? "ood_path" : "ood_noise");
  TUTTI_TRY_OUT(context, find_file(loading, "ood_path", config->ood_path, &path));
  if (path) {
    TUTTI_TRY_OUT(context, tutti_images_apply(context, dataset->encoding, path, "ood", false,
                                              &dataset->splits[dataset->split_count]));
    dataset->split_count++;
  }
  if (config->ood_noise) {
    TUTTI_TRY_OUT(context, tutti_noise_split(context, dataset->encoding, "ood-noise", (size_t)config->ood_noise,
                                             &dataset->splits[dataset->split_count]));
    dataset->split_count++;
  }
out:
  tutti_free(path);
  return status;
}

/* --- all of it --- */

static enum tutti_status measure(struct loading *loading, struct tutti_encoding *encoding) {
  size_t count = loading->counts[TUTTI_TRAIN];
  const uint32_t *rows = loading->rows[TUTTI_TRAIN];
  if (loading->images)
    return tutti_images_measure(loading->context, loading->config, loading->images, count, rows, encoding);
  return tutti_encoding_measure(loading->context, encoding, loading->table, count, rows, loading->config->standardise);
}

static enum tutti_status make_split(struct loading *loading, size_t s, tutti_dataset *dataset) {
  const char *name = tutti_partition_name(s);
  if (loading->images)
    return tutti_images_split(loading->context, dataset->encoding, loading->images, name, loading->counts[s],
                              loading->rows[s], loading->labels, &dataset->splits[s]);
  return tutti_encoding_split(loading->context, dataset->encoding, loading->table, name, loading->counts[s],
                              loading->rows[s], true, &dataset->splits[s]);
}

static enum tutti_status fill(struct loading *loading, const struct tutti_head_config *head, tutti_dataset *dataset) {
  tutti_context *context = loading->context;
  TUTTI_TRY(context, read_source(loading, dataset));
  TUTTI_TRY(context, encode(loading, dataset));
  TUTTI_TRY(context, partition(loading, dataset->encoding));
  TUTTI_TRY(context, list_rows(loading));
  if (loading->labels)
    TUTTI_TRY(context, check_classes(loading, dataset->encoding));
  TUTTI_TRY(context, measure(loading, dataset->encoding));
  for (; dataset->split_count < TUTTI_SPLITS; dataset->split_count++)
    TUTTI_TRY(context, make_split(loading, dataset->split_count, dataset));
  TUTTI_TRY(context, add_shifted(loading, dataset));
  TUTTI_TRY(context, add_ood(loading, dataset));
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
  for (size_t s = 0; s < dataset->split_count; s++)
    tutti_split_destroy(dataset->splits[s]);
  tutti_images_destroy(dataset->images);
  tutti_encoding_destroy(dataset->encoding);
  tutti_free(dataset);
}

const struct tutti_task *tutti_dataset_task(const tutti_dataset *dataset) { return &dataset->task; }

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

enum tutti_status tutti_dataset_describe(tutti_context *context, const tutti_dataset *dataset, char **json) {
  return tutti_encoding_print(context, dataset->encoding, json);
}
