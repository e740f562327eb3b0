/* norm.c - batch normalisation (Ioffe and Szegedy, ICML 2015) of features over the rows of a mini-batch, and of
   channels over all their pixels; predictions use running statistics. The running variance takes the unbiased estimate,
   as PyTorch does. Sums go in blocks: floats within a block, doubles over the blocks. The variance comes from
   differences to the mean of the first block, so that a large mean costs no digits. The convolution before it gathers
   the sums as it writes its values. */
#include "cpu_impl.h"

#include <math.h>
#include <string.h>

enum { NORM_BLOCK = 1 << 13 }; /* floats that stay in the first-level cache */

/* Arrays of node->statistics, each over a period. */
struct norm_arrays {
  float *mean, *inverse, *scale, *shift, *tilt, *offset, *sums, *squares;
};

static struct norm_arrays norm_arrays(const struct cpu_node *node) {
  size_t period = backend_cpu_period(node);
  float *s = node->statistics;
  return (struct norm_arrays){
      s, s + period, s + 2 * period, s + 3 * period, s + 4 * period, s + 5 * period, s + 6 * period, s + 7 * period};
}

static float norm_parameter(const struct cpu_plan *plan, size_t offset, size_t column, float preset) {
  return offset == CPU_NONE ? preset : plan->weights[offset + column];
}

/* Repeat the first pixel's numbers over the whole period. */
static void norm_repeat(const struct cpu_node *node, float *x) {
  if (backend_cpu_period(node) > node->ld)
    memcpy(x + node->ld, x, node->ld * sizeof *x);
}

/* Floats of a block: whole periods, at least one. */
static size_t norm_block(const struct cpu_node *node) {
  size_t period = backend_cpu_period(node), periods = NORM_BLOCK / period;
  return period * (periods ? periods : 1);
}

/* The two sums of channel c, added. */
static void norm_add(const struct cpu_node *node, const struct norm_arrays *a, size_t c, double *sum, double *square) {
  for (size_t at = c; at < backend_cpu_period(node); at += node->ld) {
    *sum += (double)a->sums[at];
    *square += (double)a->squares[at];
  }
}

/* --- forward --- */

/* The means of the first pixels, which all differences are taken from. */
static void norm_begin(const struct cpu_plan *plan, struct cpu_node *node, const float *x, size_t pixels) {
  struct norm_arrays a = norm_arrays(node);
  memset(node->totals, 0, 2 * node->ld * sizeof *node->totals);
  memset(a.mean, 0, backend_cpu_period(node) * sizeof *a.mean);
  plan->kernels->moments(pixels * node->ld, backend_cpu_period(node), x, a.mean, a.sums, a.squares);
  for (size_t c = 0; c < node->ld; c++) {
    double sum = 0, square = 0;
    norm_add(node, &a, c, &sum, &square);
    a.mean[c] = (float)(sum / (double)pixels);
  }
  norm_repeat(node, a.mean);
}

void backend_cpu_norm_gather(const struct cpu_plan *plan, struct cpu_node *node, const float *x, size_t pixels) {
  struct norm_arrays a = norm_arrays(node);
  size_t ld = node->ld, block = norm_block(node) / ld;
  for (size_t at = 0; at < pixels; at += block) {
    size_t here = pixels - at < block ? pixels - at : block;
    if (node->gathered == 0)
      norm_begin(plan, node, x, here);
    plan->kernels->moments(here * ld, backend_cpu_period(node), x + at * ld, a.mean, a.sums, a.squares);
    for (size_t c = 0; c < node->ld; c++)
      norm_add(node, &a, c, &node->totals[c], &node->totals[node->ld + c]);
    node->gathered += here;
  }
}

/* What no convolution gathered: in 16 bits, some images at a time. */
static void norm_gather_all(struct cpu_plan *plan, struct cpu_node *node, size_t rows) {
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
  size_t block = backend_cpu_is_half(plan, source) ? backend_cpu_block(plan, node) : rows;
  for (size_t first = 0; first < rows; first += block) {
    size_t count = rows - first < block ? rows - first : block;
    backend_cpu_norm_gather(plan, node, backend_cpu_values_read(plan, source, first, count), count * node->pixels);
  }
}

/* Mean and 1 / deviation of the gathered sums; updates the running statistics. */
static void norm_measure(struct cpu_plan *plan, struct cpu_node *node) {
  struct norm_arrays a = norm_arrays(node);
  const struct cpu_attributes *attributes = node->attributes;
  float momentum = (float)(plan->norm_share > 0 ? plan->norm_share : attributes->momentum);
  double count = (double)node->gathered;
  for (size_t c = 0; c < node->width; c++) {
    double apart = node->totals[c] / count, mean = (double)a.mean[c] + apart;
    double variance = fmax(0, node->totals[node->ld + c] / count - apart * apart);
    double unbiased = count > 1 ? variance * count / (count - 1) : variance;
    float *running_mean = plan->weights + node->mean + c, *running_variance = plan->weights + node->variance + c;
    a.mean[c] = (float)mean;
    a.inverse[c] = (float)(1 / sqrt(variance + attributes->epsilon));
    *running_mean += momentum * ((float)mean - *running_mean);
    *running_variance += momentum * ((float)unbiased - *running_variance);
  }
  node->gathered = 0;
}

/* Mean and 1 / deviation from the running statistics. */
static void norm_recall(const struct cpu_plan *plan, const struct cpu_node *node) {
  struct norm_arrays a = norm_arrays(node);
  for (size_t c = 0; c < node->width; c++) {
    a.mean[c] = plan->weights[node->mean + c];
    a.inverse[c] = (float)(1 / sqrt((double)plan->weights[node->variance + c] + node->attributes->epsilon));
  }
}

struct cpu_affine backend_cpu_norm_affine(const struct cpu_node *node) {
  struct norm_arrays a = norm_arrays(node);
  return (struct cpu_affine){.period = backend_cpu_period(node), .scale = a.scale, .shift = a.shift};
}

void backend_cpu_norm_forward(struct cpu_plan *plan, struct cpu_node *node, size_t rows, bool training) {
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
  struct norm_arrays a = norm_arrays(node);
  size_t pixels = rows * node->pixels;
  if (training && node->gathered == 0)
    norm_gather_all(plan, node, rows);
  if (training)
    norm_measure(plan, node);
  else
    norm_recall(plan, node);
  for (size_t c = 0; c < node->ld; c++) {
    bool counts = c < node->width;
    a.scale[c] = counts ? norm_parameter(plan, node->weight, c, 1) * a.inverse[c] : 0;
    a.shift[c] = counts ? norm_parameter(plan, node->bias, c, 0) - a.mean[c] * a.scale[c] : 0;
  }
  norm_repeat(node, a.mean);
  norm_repeat(node, a.scale);
  norm_repeat(node, a.shift);
  struct cpu_affine f = backend_cpu_norm_affine(node);
  f.half = backend_cpu_is_half(plan, source);
  if (!node->lazy)
    plan->kernels->affine(&f, pixels * node->ld, source->value, false, node->value);
}

/* --- backward --- */

/* With normal = (x - mean) / deviation: dx = gamma / deviation (g - mean(g) - normal mean(g normal)). */
struct cpu_norm backend_cpu_norm_slopes(const struct cpu_plan *plan, const struct cpu_node *node) {
  struct norm_arrays a = norm_arrays(node);
  return (struct cpu_norm){.period = backend_cpu_period(node),
                           .mean = a.mean,
                           .gain = a.scale,
                           .tilt = a.tilt,
                           .offset = a.offset,
                           .half = backend_cpu_is_half(plan, &plan->nodes[node->edges[0].source])};
}

/* Add the sums of `pixels` pixels, starting at `first`. */
static void norm_sum_gradients(const struct cpu_plan *plan, struct cpu_node *node, size_t first, size_t pixels) {
  struct norm_arrays a = norm_arrays(node);
  const struct cpu_norm norm = backend_cpu_norm_slopes(plan, node);
  size_t end = (first + pixels) * node->ld, block = norm_block(node);
  size_t number = norm.half ? sizeof(uint16_t) : sizeof(float);
  const char *x = backend_cpu_values(plan, &plan->nodes[node->edges[0].source], 0);
  if (node->gathered == 0)
    memset(node->totals, 0, 2 * node->ld * sizeof *node->totals);
  node->gathered += pixels;
  for (size_t at = first * node->ld; at < end; at += block) {
    size_t here = end - at < block ? end - at : block;
    plan->kernels->norm_moments(&norm, here, node->gradient + at, x + at * number, a.sums, a.squares);
    for (size_t c = 0; c < node->ld; c++)
      norm_add(node, &a, c, &node->totals[c], &node->totals[node->ld + c]);
  }
}

void backend_cpu_norm_gather_gradient(struct cpu_plan *plan, const struct cpu_edge *edge, size_t first, size_t count) {
  if (!edge->last || plan->slopes)
    return;
  for (size_t i = plan->nodes[edge->source].norms; i != CPU_NONE; i = plan->nodes[i].next_norm) {
    struct cpu_node *norm = &plan->nodes[i];
    norm_sum_gradients(plan, norm, first * norm->pixels, count * norm->pixels);
  }
}

/* The batch's mean and deviation follow from its rows: the terms that this adds, and the gradients of the weights. */
static void norm_follow_batch(struct cpu_plan *plan, struct cpu_node *node, size_t pixels) {
  struct norm_arrays a = norm_arrays(node);
  if (node->gathered == 0)
    norm_sum_gradients(plan, node, 0, pixels);
  node->gathered = 0;
  for (size_t c = 0; c < node->ld; c++) {
    bool counts = c < node->width;
    double inverse = counts ? (double)a.inverse[c] : 0, gain = (double)a.scale[c]; /* gamma / deviation */
    double sum = node->totals[c], product = node->totals[node->ld + c] * inverse;
    if (counts && node->weight != CPU_NONE) {
      plan->gradients[node->weight + c] = (float)product;
      plan->gradients[node->bias + c] = (float)sum;
    }
    a.tilt[c] = (float)(-gain * inverse * product / (double)pixels);
    a.offset[c] = (float)(-gain * sum / (double)pixels);
  }
  norm_repeat(node, a.tilt);
  norm_repeat(node, a.offset);
}

void backend_cpu_norm_backward(struct cpu_plan *plan, struct cpu_node *node, size_t rows) {
  const struct cpu_edge *edge = &node->edges[0];
  const struct cpu_node *source = &plan->nodes[edge->source];
  size_t pixels = rows * node->pixels;
  if (plan->slopes) { /* predictions use running statistics, which no row moves */
    struct norm_arrays a = norm_arrays(node);
    memset(a.tilt, 0, backend_cpu_period(node) * sizeof *a.tilt);
    memset(a.offset, 0, backend_cpu_period(node) * sizeof *a.offset);
  } else {
    norm_follow_batch(plan, node, pixels);
  }
  if (!edge->gradient || source->norm != CPU_NONE)
    return;
  struct cpu_norm slopes = backend_cpu_norm_slopes(plan, node);
  plan->kernels->norm_gradient(&slopes, pixels * node->ld, node->gradient, source->value, !edge->first,
                               source->gradient);
}
