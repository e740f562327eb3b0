/* norm.c - batch normalisation (Ioffe and Szegedy, ICML 2015) of features over the rows of a mini-batch, and of channels
   over all their pixels; by running statistics in predictions. The running variance takes the unbiased estimate, as
   PyTorch does.

   Sums go in blocks: floats within a block, doubles over the blocks. The variance is that of differences to the mean of
   the first block, so that a large mean costs no digits. */
#include "cpu_impl.h"

#include <math.h>
#include <string.h>

enum { NORM_BLOCK = 1 << 13 }; /* floats, that stay in the first-level cache */

/* Arrays of node->statistics, each over a period. */
struct norm_arrays {
  float *mean, *inverse, *scale, *shift, *sums, *squares;
};

static struct norm_arrays norm_arrays(const struct cpu_node *node) {
  size_t period = backend_cpu_period(node);
  float *s = node->statistics;
  return (struct norm_arrays){s, s + period, s + 2 * period, s + 3 * period, s + 4 * period, s + 5 * period};
}

static float norm_parameter(const struct cpu_plan *plan, size_t offset, size_t column, float preset) {
  return offset == CPU_NONE ? preset : plan->weights[offset + column];
}

/* Repeat what stands in the first pixel of the period. */
static void norm_repeat(const struct cpu_node *node, float *x) {
  if (backend_cpu_period(node) > node->ld)
    memcpy(x + node->ld, x, node->ld * sizeof *x);
}

/* Floats of a block: whole periods, at least one. */
static size_t norm_block(const struct cpu_node *node) {
  size_t period = backend_cpu_period(node), periods = NORM_BLOCK / period;
  return period * (periods ? periods : 1);
}

/* The two sums of channel c. */
static void norm_add(const struct cpu_node *node, const struct norm_arrays *a, size_t c, double *sum, double *square) {
  for (size_t at = c; at < backend_cpu_period(node); at += node->ld) {
    *sum += (double)a->sums[at];
    *square += (double)a->squares[at];
  }
}

/* Mean and 1 / deviation of a batch, and the running statistics. */
static void norm_measure(struct cpu_plan *plan, const struct cpu_node *node, const float *x, size_t rows) {
  struct norm_arrays a = norm_arrays(node);
  const struct tutti_attributes *attributes = &node->layer->attributes;
  size_t size = rows * node->ld, period = backend_cpu_period(node), block = norm_block(node);
  float momentum = (float)attributes->momentum;
  double *total = plan->sums;
  memset(total, 0, 2 * node->ld * sizeof *total);
  memset(a.mean, 0, period * sizeof *a.mean);
  for (size_t at = 0; at < size; at += block) {
    size_t here = size - at < block ? size - at : block;
    if (at == 0) {
      plan->kernels->moments(here, period, x, a.mean, a.sums, a.squares);
      for (size_t c = 0; c < node->ld; c++) {
        double sum = 0, square = 0;
        norm_add(node, &a, c, &sum, &square);
        a.mean[c] = (float)(sum / (double)(here / node->ld));
      }
      norm_repeat(node, a.mean);
    }
    plan->kernels->moments(here, period, x + at, a.mean, a.sums, a.squares);
    for (size_t c = 0; c < node->ld; c++)
      norm_add(node, &a, c, &total[c], &total[node->ld + c]);
  }
  for (size_t c = 0; c < node->ld; c++) {
    double apart = total[c] / (double)rows, mean = (double)a.mean[c] + apart;
    double variance = fmax(0, total[node->ld + c] / (double)rows - apart * apart);
    a.mean[c] = (float)mean;
    a.inverse[c] = (float)(1 / sqrt(variance + attributes->epsilon));
    if (c >= node->width)
      continue;
    double unbiased = rows > 1 ? variance * (double)rows / (double)(rows - 1) : variance;
    float *running_mean = plan->weights + node->mean + c, *running_variance = plan->weights + node->variance + c;
    *running_mean += momentum * ((float)mean - *running_mean);
    *running_variance += momentum * ((float)unbiased - *running_variance);
  }
}

/* Mean and 1 / deviation as they have been. */
static void norm_recall(const struct cpu_plan *plan, const struct cpu_node *node) {
  struct norm_arrays a = norm_arrays(node);
  for (size_t c = 0; c < node->width; c++) {
    a.mean[c] = plan->weights[node->mean + c];
    a.inverse[c] = (float)(1 / sqrt((double)plan->weights[node->variance + c] + node->layer->attributes.epsilon));
  }
}

void backend_cpu_norm_forward(struct cpu_plan *plan, struct cpu_node *node, size_t rows, bool training) {
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
  struct norm_arrays a = norm_arrays(node);
  rows *= node->pixels;
  if (training)
    norm_measure(plan, node, source->value, rows);
  else
    norm_recall(plan, node);
  for (size_t c = 0; c < node->width; c++) {
    a.scale[c] = norm_parameter(plan, node->weight, c, 1) * a.inverse[c];
    a.shift[c] = norm_parameter(plan, node->bias, c, 0) - a.mean[c] * a.scale[c];
  }
  for (size_t c = node->width; c < node->ld; c++)
    a.scale[c] = a.shift[c] = 0;
  norm_repeat(node, a.mean);
  norm_repeat(node, a.scale);
  norm_repeat(node, a.shift);
  plan->kernels->affine(rows * node->ld, backend_cpu_period(node), source->value, a.scale, a.shift, false, node->value);
}

/* With normal = (x - mean) / deviation: dx = gamma / deviation (g - mean(g) - normal mean(g normal)). */
void backend_cpu_norm_backward(struct cpu_plan *plan, struct cpu_node *node, size_t rows) {
  const struct cpu_edge *edge = &node->edges[0];
  const struct cpu_node *source = &plan->nodes[edge->source];
  struct norm_arrays a = norm_arrays(node);
  size_t period = backend_cpu_period(node), block = norm_block(node);
  rows *= node->pixels;
  size_t size = rows * node->ld;
  double *total = plan->sums;
  memset(total, 0, 2 * node->ld * sizeof *total);
  for (size_t at = 0; at < size; at += block) {
    size_t here = size - at < block ? size - at : block;
    plan->kernels->norm_moments(here, period, node->gradient + at, source->value + at, a.mean, a.sums, a.squares);
    for (size_t c = 0; c < node->ld; c++)
      norm_add(node, &a, c, &total[c], &total[node->ld + c]);
  }
  float *tilt = a.sums, *offset = a.squares;
  for (size_t c = 0; c < node->ld; c++) {
    double sum = total[c], product = total[node->ld + c] * (double)a.inverse[c];
    if (c < node->width && node->weight != CPU_NONE) {
      plan->gradients[node->weight + c] = (float)product;
      plan->gradients[node->bias + c] = (float)sum;
    }
    double gain = (double)a.scale[c]; /* gamma / deviation */
    tilt[c] = (float)(-gain * (double)a.inverse[c] * product / (double)rows);
    offset[c] = (float)(-gain * sum / (double)rows);
  }
  if (!edge->gradient)
    return;
  norm_repeat(node, tilt);
  norm_repeat(node, offset);
  struct cpu_norm norm = {.period = period, .mean = a.mean, .gain = a.scale, .tilt = tilt, .offset = offset};
  plan->kernels->norm_gradient(&norm, size, node->gradient, source->value, !edge->first, source->gradient);
}
