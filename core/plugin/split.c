/* split.c - rows in a fixed order, as plugins see them. */
#include "split_impl.h"

#include <tutti/sized.h>

#include <string.h>

static size_t split_features(const tutti_split *split) {
  return (size_t)split->input.height * (size_t)split->input.width * (size_t)split->input.channels;
}

/* Targets that a caller gives are taken as they are: scale 1, shift 0. */
static enum tutti_status split_take_targets(tutti_context *context, tutti_split *split, const float *targets) {
  size_t count = split->rows * split->outputs;
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof *targets, &split->targets));
  TUTTI_TRY(context, tutti_alloc(context, count, sizeof(double), &split->raw_targets));
  TUTTI_TRY(context, tutti_alloc(context, split->outputs, sizeof(double), &split->scale));
  TUTTI_TRY(context, tutti_alloc(context, split->outputs, sizeof(double), &split->shift));
  for (size_t i = 0; i < count; i++) {
    split->targets[i] = targets[i];
    split->raw_targets[i] = (double)targets[i];
  }
  for (size_t o = 0; o < split->outputs; o++)
    split->scale[o] = 1;
  return TUTTI_OK;
}

static enum tutti_status split_take_labels(tutti_context *context, tutti_split *split, const int32_t *labels) {
  for (size_t r = 0; r < split->rows; r++)
    if (labels[r] < 0 || (size_t)labels[r] >= split->outputs)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "split %s, row %zu: label %d is not one of the %zu classes",
                        split->name, r, (int)labels[r], split->outputs);
  TUTTI_TRY(context, tutti_alloc(context, split->rows, sizeof *labels, &split->labels));
  if (split->rows)
    memcpy(split->labels, labels, split->rows * sizeof *labels);
  return TUTTI_OK;
}

enum tutti_status tutti_split_create(tutti_context *context, const char *name, size_t rows, struct tutti_shape input,
                                     size_t outputs, const float *inputs, const float *targets, const int32_t *labels,
                                     tutti_split **made) {
  tutti_split *split = NULL;
  enum tutti_status status;
  *made = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *split, &split));
  split->rows = rows;
  split->outputs = outputs;
  split->input = input;
  TUTTI_TRY_OUT(context, tutti_strdup(context, name, &split->name));
  TUTTI_TRY_OUT(context, tutti_alloc(context, rows, split_features(split) * sizeof *inputs, &split->inputs));
  if (split->inputs)
    memcpy(split->inputs, inputs, rows * split_features(split) * sizeof *inputs);
  if (targets)
    TUTTI_TRY_OUT(context, split_take_targets(context, split, targets));
  if (labels)
    TUTTI_TRY_OUT(context, split_take_labels(context, split, labels));
  *made = split;
  split = NULL;
out:
  tutti_split_destroy(split);
  return status;
}

void tutti_split_destroy(tutti_split *split) {
  if (!split)
    return;
  tutti_free(split->name);
  if (split->inputs != split->map.data)
    tutti_free(split->inputs);
  tutti_free(split->pixels.table);
  tutti_free(split->pixels.black);
  tutti_free(split->pixels.factor);
  if (split->owned)
    split->owned_destroy(split->owned);
  tutti_npy_unmap(&split->map);
  tutti_free(split->own_image);
  tutti_free(split->targets);
  tutti_free(split->raw_targets);
  tutti_free(split->values);
  tutti_free(split->labels);
  tutti_free(split->scale);
  tutti_free(split->shift);
  tutti_free(split->origin);
  tutti_free(split->source_rows);
  tutti_free(split->group);
  for (size_t r = 0; split->unread && r < split->rows; r++)
    tutti_free(split->unread[r]);
  tutti_free(split->unread);
  tutti_free(split->unjudged);
  tutti_free(split);
}

const char *tutti_split_name(const tutti_split *split) { return split->name; }

size_t tutti_split_rows(const tutti_split *split) { return split->rows; }

struct tutti_shape tutti_split_input(const tutti_split *split) {
  return split->input;
}

size_t tutti_split_outputs(const tutti_split *split) { return split->outputs; }

const float *tutti_split_inputs(const tutti_split *split) { return split->inputs; }

void tutti_split_gather(const tutti_split *split, size_t count, const uint32_t *rows, float *out) {
  size_t features = split_features(split);
  if (!split->inputs)
    tutti_pixels_gather(&split->pixels, (size_t)split->input.channels, count, rows, NULL, out);
  for (size_t i = 0; split->inputs && i < count; i++)
    memcpy(out + i * features, split->inputs + rows[i] * features, features * sizeof *out);
}

void tutti_split_gather_augmented(const tutti_split *split, const struct tutti_augmentation *augmentation, size_t count,
                                  const uint32_t *rows, float *out) {
  struct tutti_augmentation own;
  TUTTI_TAKE(&own, augmentation);
  struct tutti_pixels pixels = {.stored = split->input, .floats = split->inputs};
  tutti_pixels_gather(split->inputs ? &pixels : &split->pixels, (size_t)split->input.channels, count, rows, &own, out);
}

const float *tutti_split_targets(const tutti_split *split) { return split->targets; }

const double *tutti_split_raw_targets(const tutti_split *split) { return split->raw_targets; }

const int32_t *tutti_split_labels(const tutti_split *split) { return split->labels; }

const double *tutti_split_target_scale(const tutti_split *split) { return split->scale; }

const double *tutti_split_target_shift(const tutti_split *split) { return split->shift; }

double tutti_split_target_origin(const tutti_split *split, size_t output) {
  return split->origin ? split->origin[output] : 0;
}

const uint32_t *tutti_split_source_rows(const tutti_split *split) { return split->source_rows; }

const uint32_t *tutti_split_groups(const tutti_split *split) { return split->group; }

bool tutti_split_in_order(const tutti_split *split) { return split->in_order; }

void tutti_split_all_targets(const tutti_split *split, struct tutti_targets *targets) {
  const struct tutti_targets own = {.kind = split->scale ? TUTTI_TASK_REGRESSION : TUTTI_TASK_CLASSIFICATION,
                                    .rows = split->rows,
                                    .outputs = split->outputs,
                                    .values = split->values ? split->values : split->raw_targets,
                                    .labels = split->labels};
  TUTTI_GIVE(targets, &own);
}

void tutti_split_unscale(const tutti_split *split, enum tutti_task_kind kind, float *predictions) {
  if (kind != TUTTI_TASK_REGRESSION || !split->scale)
    return;
  for (size_t i = 0; i < split->rows * split->outputs; i++) {
    double scale = split->scale[i % split->outputs], shift = split->shift[i % split->outputs];
    predictions[2 * i] = (float)(predictions[2 * i] * scale + shift);
    predictions[2 * i + 1] = (float)(predictions[2 * i + 1] * scale * scale);
  }
}

uint64_t tutti_hash(uint64_t hash, const void *data, size_t bytes) {
  const unsigned char *byte = data;
  for (size_t i = 0; byte && i < bytes; i++)
    hash = (hash ^ byte[i]) * 0x100000001b3u;
  return hash;
}

static uint64_t hash_pixels(uint64_t hash, const struct tutti_pixels *pixels, size_t rows) {
  const char *all = pixels->bytes ? (const char *)pixels->bytes : (const char *)pixels->floats;
  size_t size = (size_t)pixels->stored.height * (size_t)pixels->stored.width * (size_t)pixels->stored.channels *
                (pixels->bytes ? 1 : sizeof *pixels->floats);
  for (size_t r = 0; all && r < rows; r++)
    hash = tutti_hash(hash, all + (pixels->image ? pixels->image[r] : r) * size, size);
  return hash;
}

uint64_t tutti_split_hash(uint64_t hash, const tutti_split *split) {
  hash = tutti_hash(hash, &split->rows, sizeof split->rows);
  hash = tutti_hash(hash, split->source_rows, split->rows * sizeof *split->source_rows);
  hash = tutti_hash(hash, split->inputs, split->rows * split_features(split) * sizeof *split->inputs);
  hash = hash_pixels(hash, &split->pixels, split->rows);
  hash = tutti_hash(hash, split->raw_targets, split->rows * split->outputs * sizeof *split->raw_targets);
  return tutti_hash(hash, split->labels, split->rows * sizeof *split->labels);
}
