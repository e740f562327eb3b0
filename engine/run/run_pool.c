/* run_pool.c - predictions of a run's trials, mapped from its directory. */
#include "record_impl.h"
#include "run_impl.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <tutti/sized.h>

/* The arrays and maps of a pool. pool.trials is its `trials`, so the pool can be found from it. */
struct mapped_pool {
  size_t models;
  struct tutti_npy *maps, *part_maps;
  const float **predictions, **epistemic;
  double *losses, *costs[TUTTI_COSTS];
  const double *kinds[TUTTI_COSTS];
  uint64_t trials[];
};

static void unmap_pool(struct mapped_pool *mapped) {
  if (!mapped)
    return;
  for (size_t i = 0; i < mapped->models && mapped->maps; i++)
    tutti_npy_unmap(&mapped->maps[i]);
  for (size_t i = 0; i < mapped->models && mapped->part_maps; i++)
    tutti_npy_unmap(&mapped->part_maps[i]);
  tutti_free(mapped->maps);
  tutti_free(mapped->part_maps);
  tutti_free(mapped->predictions);
  tutti_free(mapped->epistemic);
  tutti_free(mapped->losses);
  for (size_t c = 0; c < TUTTI_COSTS; c++)
    tutti_free(mapped->costs[c]);
  tutti_free(mapped);
}

enum tutti_status tutti_run_report(tutti_context *context, const struct tutti_run_pool *source, uint64_t trial,
                                   const char **report) {
  *report = NULL;
  if (source->history && trial < source->history->asked)
    *report = source->history->records[trial].report;
  else if (source->reports && trial < source->reports->count)
    *report = source->reports->texts[trial];
  return *report ? TUTTI_OK
                 : TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%" PRIu64 " is not a trial of %s that has a result", trial,
                              source->directory);
}

static enum tutti_status map_file(tutti_context *context, const struct tutti_run_pool *source, uint64_t trial,
                                  const char *report, const char *name, size_t rows, size_t width,
                                  struct tutti_npy *map) {
  enum tutti_status status = TUTTI_OK;
  char *folder = NULL, *path = NULL;
  TUTTI_TRY_OUT(context, tutti_trial_folder(context, source->directory, trial, &folder));
  TUTTI_TRY_OUT(context, tutti_format(context, &path, "%s/%s", folder, name));
  TUTTI_TRY_OUT(context, tutti_record_check_trial(context, source->directory, trial, report, path));
  TUTTI_TRY_OUT(context, tutti_npy_map(context, path, map));
  if (map->element != TUTTI_F32 || map->count != rows * width)
    status = TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                        "%s: expected %zu x %zu float32 numbers, found %zu; run again with --resume to mend it", path,
                        rows, width, map->count);
out:
  tutti_free(folder);
  tutti_free(path);
  return status;
}

/* A checksum that fits does not say that a model made them. */
static enum tutti_status no_model(tutti_context *context, const struct tutti_run_pool *source, uint64_t trial,
                                  const char *name, const char *fault) {
  return TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT,
                    "%s: the predictions of trial %" PRIu64
                    " in %s %s, so no model made them; leave this run alone, or "
                    "run it anew",
                    source->directory, trial, name, fault);
}

static enum tutti_status check_values(tutti_context *context, const struct tutti_run_pool *source, uint64_t trial,
                                      const char *name, const struct tutti_targets *targets, const float *values) {
  const char *fault = tutti_predictions_fault(targets->kind, targets->rows, targets->outputs, values);
  return fault ? no_model(context, source, trial, name, fault) : TUTTI_OK;
}

static enum tutti_status check_parts(tutti_context *context, const struct tutti_run_pool *source, uint64_t trial,
                                     const char *name, const struct tutti_targets *targets, const float *values,
                                     const float *parts) {
  const char *fault = tutti_parts_fault(targets->kind, targets->rows, targets->outputs, values, parts);
  return fault ? no_model(context, source, trial, name, fault) : TUTTI_OK;
}

static double above_zero(const json_t *number) {
  double value = json_is_number(number) ? json_number_value(number) : 0;
  return value > 0 ? value : (double)NAN;
}

/* The bytes of a file of weights that the network reads: not the zeros for inputs that it leaves out. */
static double bytes_of(const json_t *root, const json_t *file) {
  const json_t *unread = json_object_get(json_object_get(root, TUTTI_REPORT_UNREAD), "bytes");
  double bytes = above_zero(json_object_get(file, "bytes")), zeros = above_zero(unread);
  return zeros < bytes ? bytes - zeros : bytes;
}

/* What a trial's report says of its costs. */
static void read_costs(const char *report, size_t i, struct mapped_pool *mapped) {
  json_t *root = json_loads(report, 0, NULL);
  const char *weights = tutti_trial_file_name(TUTTI_TRIAL_FILE_WEIGHTS);
  const json_t *file;
  size_t index;
  mapped->costs[TUTTI_COST_FLOPS][i] = above_zero(json_object_get(root, "flops"));
  mapped->costs[TUTTI_COST_MICROSECONDS][i] = above_zero(json_object_get(root, TUTTI_REPORT_MICROSECONDS));
  mapped->costs[TUTTI_COST_BYTES][i] = (double)NAN;
  json_array_foreach(json_object_get(root, "files"), index, file) {
    const char *name = json_string_value(json_object_get(file, "name"));
    if (name && strcmp(name, weights) == 0)
      mapped->costs[TUTTI_COST_BYTES][i] = bytes_of(root, file);
  }
  if ((file = json_object_get(root, TUTTI_REPORT_REMOVED)))
    mapped->costs[TUTTI_COST_BYTES][i] = bytes_of(root, file);
  json_decref(root);
}

/* Map a model's predictions, and what of their uncertainty is its own, if it has said so. */
static enum tutti_status map_model(tutti_context *context, const struct tutti_run_pool *source, const char *split,
                                   const struct tutti_targets *targets, size_t i, struct mapped_pool *mapped) {
  enum tutti_status status = TUTTI_OK;
  uint64_t trial = mapped->trials[i];
  const struct tutti_run_pool *own = tutti_run_pool_of(source, &trial);
  char *name = NULL, *parts = NULL;
  const char *report;
  TUTTI_TRY_OUT(context, tutti_run_report(context, own, trial, &report));
  read_costs(report, i, mapped);
  TUTTI_TRY_OUT(context, tutti_trial_predictions_name(context, split, &name));
  TUTTI_TRY_OUT(context, tutti_trial_epistemic_name(context, split, &parts));
  TUTTI_TRY_OUT(context, map_file(context, own, trial, report, name, targets->rows,
                                  tutti_predictions_width(targets->kind, targets->outputs), &mapped->maps[i]));
  mapped->predictions[i] = mapped->maps[i].data;
  TUTTI_TRY_OUT(context, check_values(context, own, trial, name, targets, mapped->predictions[i]));
  if (!tutti_record_has(report, parts))
    goto out;
  TUTTI_TRY_OUT(context, map_file(context, own, trial, report, parts, targets->rows,
                                  tutti_epistemic_width(targets->kind, targets->outputs), &mapped->part_maps[i]));
  mapped->epistemic[i] = mapped->part_maps[i].data;
  TUTTI_TRY_OUT(context,
                check_parts(context, own, trial, parts, targets, mapped->predictions[i], mapped->epistemic[i]));
out:
  tutti_free(name);
  tutti_free(parts);
  return status;
}

enum tutti_status tutti_run_pool_map(tutti_context *context, const struct tutti_run_pool *source, const char *split,
                                     const struct tutti_targets *targets, enum tutti_loss loss, size_t count,
                                     const uint64_t *trials, struct tutti_pool *pool) {
  enum tutti_status status = TUTTI_OK;
  struct mapped_pool *mapped = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, sizeof *mapped + count * sizeof mapped->trials[0], 1, &mapped));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *mapped->maps, &mapped->maps));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *mapped->part_maps, &mapped->part_maps));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *mapped->predictions, &mapped->predictions));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *mapped->epistemic, &mapped->epistemic));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *mapped->losses, &mapped->losses));
  for (size_t c = 0; c < TUTTI_COSTS; c++) {
    TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *mapped->costs[c], &mapped->costs[c]));
    mapped->kinds[c] = mapped->costs[c];
  }
  for (size_t i = 0; i < count; i++) {
    mapped->models = i + 1;
    mapped->trials[i] = trials[i];
    TUTTI_TRY_OUT(context, map_model(context, source, split, targets, i, mapped));
    struct tutti_predictions predictions = {sizeof predictions, targets->kind, targets->rows, targets->outputs,
                                            mapped->predictions[i]};
    mapped->losses[i] = tutti_loss_of(loss, &predictions, targets);
  }
  *pool = (struct tutti_pool){.size = sizeof *pool,
                              .kind = targets->kind,
                              .models = count,
                              .rows = targets->rows,
                              .outputs = targets->outputs,
                              .predictions = mapped->predictions,
                              .values = targets->values,
                              .labels = targets->labels,
                              .trials = mapped->trials,
                              .losses = mapped->losses,
                              .epistemic = mapped->epistemic,
                              .cost_kinds = TUTTI_COSTS,
                              .costs = mapped->kinds};
  mapped = NULL;
out:
  unmap_pool(mapped);
  return status;
}

enum tutti_status tutti_run_pool_open(void *argument, tutti_context *context, const char *split_name, size_t count,
                                      const uint64_t *trials, struct tutti_pool *pool) {
  const struct tutti_run_pool *source = argument;
  const tutti_dataset *dataset = source->experiment->dataset;
  const tutti_split *split = dataset ? tutti_dataset_find(dataset, split_name) : NULL;
  if (!dataset)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED,
                      "trials of backend %s have no predictions, so there is nothing to select from",
                      tutti_host_plugin(source->experiment->host, "backend"));
  if (!split || tutti_split_rows(split) == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "the data have no rows in a split '%s'", split_name);
  struct tutti_targets targets = {.size = sizeof targets};
  tutti_split_all_targets(split, &targets);
  return tutti_run_pool_map(context, source, split_name, &targets, source->experiment->loss, count, trials, pool);
}

void tutti_run_pool_release(void *argument, struct tutti_pool *pool) {
  if (pool->trials)
    unmap_pool((struct mapped_pool *)((char *)(uintptr_t)pool->trials - offsetof(struct mapped_pool, trials)));
  const struct tutti_pool none = {.size = sizeof none};
  TUTTI_GIVE(pool, &none);
}
