/* weights.c - draws initial weights; converts weights to and from named tensors. In memory, rows are padded and all
   arrays lie in one vector; a tensor holds just the numbers: "<label>/weight" [in][out]; for a convolution
   [height][width][channels of a group][out]; for a factorised reduction [in][out], with the first half of `out` for the
   pixels at even positions and the second for those next to them; "<label>/bias" [out]; for batch norm "gamma", "beta",
   "mean" and "variance" [features or channels]. */
#include "cpu_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A uniform draw on [-range, range] or a normal one, with the variance that the rule asks for. */
static void draw_matrix(struct tutti_random *random, const struct cpu_config *config, const struct cpu_segment *segment,
                        float *to) {
  double in = (double)segment->fan_in, out = (double)segment->fan_out, variance = 0;
  switch ((enum cpu_initialiser)config->initialiser) {
  case CPU_GLOROT_UNIFORM:
  case CPU_GLOROT_NORMAL:
    variance = 2 / (in + out);
    break;
  case CPU_HE_UNIFORM:
  case CPU_HE_NORMAL:
    variance = 2 / in;
    break;
  case CPU_LECUN_UNIFORM:
  case CPU_LECUN_NORMAL:
    variance = 1 / in;
    break;
  case CPU_UNIFORM:
    variance = config->initialiser_range * config->initialiser_range / 3;
    break;
  case CPU_PYTORCH:
    variance = 1 / (3 * in);
    break;
  }
  bool normal = config->initialiser == CPU_GLOROT_NORMAL || config->initialiser == CPU_HE_NORMAL ||
                config->initialiser == CPU_LECUN_NORMAL;
  float range = (float)sqrt(3 * variance);
  for (size_t r = 0; r < segment->rows; r++) {
    if (normal)
      tutti_random_fill_normal(random, segment->columns, 0, (float)sqrt(variance), to + r * segment->ld);
    else
      tutti_random_fill_uniform(random, segment->columns, -range, range, to + r * segment->ld);
  }
}

void backend_cpu_weights_draw(struct cpu_plan *plan, const struct cpu_config *config, uint64_t seed) {
  bool draws_biases = config->initialiser == CPU_UNIFORM || config->initialiser == CPU_PYTORCH;
  memset(plan->weights, 0, plan->floats * sizeof *plan->weights);
  for (size_t s = 0; s < plan->segment_count; s++) {
    const struct cpu_segment *segment = &plan->segments[s];
    float *to = plan->weights + segment->offset;
    bool one = strcmp(segment->part, "gamma") == 0 || strcmp(segment->part, "variance") == 0;
    bool bias = strcmp(segment->part, "bias") == 0;
    struct tutti_random random;
    tutti_random_init(&random, seed, "weights", s);
    if (segment->matrix || (bias && draws_biases))
      draw_matrix(&random, config, segment, to);
    for (size_t c = 0; one && c < segment->columns; c++)
      to[c] = 1;
  }
}

enum { NAME_SIZE = 512 };

static enum tutti_status weights_name(tutti_context *context, const struct cpu_segment *segment, char *name) {
  int length = snprintf(name, NAME_SIZE, "%s/%s", segment->layer->label, segment->part);
  if (length < 0 || length >= NAME_SIZE)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "label of a layer is too long: at most %d characters fit",
                      NAME_SIZE - 16);
  return TUTTI_OK;
}

/* Rows of a segment's tensor, in which inputs that are left out have zeros. */
static size_t rows_of(const struct cpu_segment *segment) { return segment->rows + segment->unread; }

static bool fits(const struct tutti_tensor *tensor, const struct cpu_segment *segment) {
  return tensor->element == TUTTI_F32 && tensor->bytes == rows_of(segment) * segment->columns * sizeof(float);
}

static void copy_in(const struct cpu_plan *plan, const struct cpu_segment *segment, const struct tutti_tensor *tensor) {
  for (size_t r = 0; r < segment->rows; r++)
    memcpy(plan->weights + segment->offset + r * segment->ld, (const float *)tensor->data + r * segment->columns,
           segment->columns * sizeof(float));
}

enum tutti_status backend_cpu_weights_read(tutti_context *context, const struct cpu_plan *plan,
                                           const tutti_tensors *tensors) {
  for (size_t s = 0; s < plan->segment_count; s++) {
    const struct cpu_segment *segment = &plan->segments[s];
    char name[NAME_SIZE];
    TUTTI_TRY(context, weights_name(context, segment, name));
    const struct tutti_tensor *tensor = tutti_tensors_find(tensors, name);
    if (!tensor)
      return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "weights have no tensor \"%s\": they are not of this network",
                        name);
    if (!fits(tensor, segment))
      return TUTTI_FAIL(
          context, TUTTI_ERROR_USAGE,
          "tensor \"%s\" has %zu bytes, expected %zu x %zu float32: these weights are not of this network", name,
          tensor->bytes, rows_of(segment), segment->columns);
    copy_in(plan, segment, tensor);
  }
  return TUTTI_OK;
}

/* --- starting --- */

/* The shape of a segment's tensor; returns its rank. */
static size_t shape_of(const struct cpu_segment *segment, size_t shape[4]) {
  const struct cpu_attributes *a = segment->attributes;
  size_t height = (size_t)a->kernel_height, width = (size_t)a->kernel_width;
  if (segment->matrix && segment->layer->op == TUTTI_OP_CONV2D) {
    shape[0] = height, shape[1] = width, shape[2] = segment->rows / (height * width), shape[3] = segment->columns;
    return 4;
  }
  shape[0] = segment->matrix ? rows_of(segment) : segment->columns, shape[1] = segment->columns;
  return segment->matrix ? 2 : 1;
}

/* The other network's tensor for a segment; NULL if it has none of that name and shape. */
static enum tutti_status find_agreeing(tutti_context *context, const tutti_tensors *others,
                                       const struct cpu_segment *segment, const struct tutti_tensor **found) {
  size_t shape[4], rank = shape_of(segment, shape);
  char name[NAME_SIZE];
  TUTTI_TRY(context, weights_name(context, segment, name));
  const struct tutti_tensor *tensor = tutti_tensors_find(others, name);
  bool agrees = tensor && fits(tensor, segment) && tensor->rank == rank &&
                memcmp(tensor->shape, shape, rank * sizeof *shape) == 0;
  *found = agrees ? tensor : NULL;
  return TUTTI_OK;
}

/* Take the layers that agree in all their segments, which stand side by side; *taken counts them. */
static enum tutti_status take_agreeing(tutti_context *context, const struct cpu_plan *plan, const tutti_tensors *others,
                                       size_t *taken) {
  for (size_t begin = 0, end; begin < plan->segment_count; begin = end) {
    const struct tutti_layer *layer = plan->segments[begin].layer;
    const struct tutti_tensor *found;
    bool agrees = true;
    for (end = begin; end < plan->segment_count && plan->segments[end].layer == layer; end++) {
      TUTTI_TRY(context, find_agreeing(context, others, &plan->segments[end], &found));
      agrees = agrees && found;
    }
    for (size_t s = begin; agrees && s < end; s++) {
      TUTTI_TRY(context, find_agreeing(context, others, &plan->segments[s], &found));
      copy_in(plan, &plan->segments[s], found);
    }
    *taken += agrees;
  }
  return TUTTI_OK;
}

enum tutti_status backend_cpu_weights_begin(tutti_context *context, struct cpu_plan *plan,
                                            const struct tutti_job *job) {
  size_t taken = 0;
  if (job->initial && !job->warm)
    return backend_cpu_weights_read(context, plan, job->initial);
  backend_cpu_weights_draw(plan, job->config, job->seed);
  if (!job->initial)
    return TUTTI_OK;
  TUTTI_TRY(context, take_agreeing(context, plan, job->initial, &taken));
  if (job->measure)
    job->measure(job->measure_argument, "layers-from-parent", (double)taken);
  return TUTTI_OK;
}

enum tutti_status backend_cpu_weights_write(tutti_context *context, const struct cpu_plan *plan, const float *flat,
                                            bool trained_only, tutti_tensors **made) {
  tutti_tensors *tensors = NULL;
  enum tutti_status status;
  *made = NULL;
  TUTTI_TRY_OUT(context, tutti_tensors_create(context, &tensors));
  for (size_t s = 0; s < plan->segment_count; s++) {
    const struct cpu_segment *segment = &plan->segments[s];
    if (trained_only && !segment->trained)
      continue;
    char name[NAME_SIZE];
    TUTTI_TRY_OUT(context, weights_name(context, segment, name));
    size_t shape[4], rank = shape_of(segment, shape);
    float *to;
    TUTTI_TRY_OUT(context, tutti_tensors_add(context, tensors, name, TUTTI_F32, rank, shape, &to));
    for (size_t r = 0; r < segment->rows; r++)
      memcpy(to + r * segment->columns, flat + segment->offset + r * segment->ld, segment->columns * sizeof(float));
    memset(to + segment->rows * segment->columns, 0, segment->unread * segment->columns * sizeof(float));
  }
  *made = tensors;
  tensors = NULL;
out:
  tutti_tensors_destroy(tensors);
  return status;
}

bool backend_cpu_steps(const struct cpu_segment *segment) { return segment->trained && !segment->frozen; }

void backend_cpu_decays(struct cpu_plan *plan, const struct cpu_config *config) {
  for (size_t s = 0; s < plan->segment_count; s++) {
    struct cpu_segment *segment = &plan->segments[s];
    double own = segment->attributes->l2, l2 = isnan(own) ? config->l2 : own;
    bool counts = backend_cpu_steps(segment) && (segment->matrix || config->l2_biases);
    segment->decay = counts ? (float)(2 * l2) : 0;
  }
}
