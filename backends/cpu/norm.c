/* norm.c - batch normalisation of features (Ioffe and Szegedy, ICML 2015): over the rows of a mini-batch in training,
   by running statistics in predictions. The running variance takes the unbiased estimate, as PyTorch does. */
#include "cpu_impl.h"

#include <math.h>

static float norm_parameter(const struct cpu_plan *plan, size_t offset, size_t column, float preset) {
  return offset == CPU_NONE ? preset : plan->weights[offset + column];
}

/* Mean and 1 / deviation of a batch into node->scratch, and into the running statistics. */
static void norm_measure(struct cpu_plan *plan, const struct cpu_node *node, const struct cpu_node *source,
                         size_t rows) {
  const struct tutti_attributes *attributes = &node->layer->attributes;
  float momentum = (float)attributes->momentum;
  for (size_t c = 0; c < node->width; c++) {
    double sum = 0, squares = 0;
    for (size_t r = 0; r < rows; r++)
      sum += (double)source->value[r * source->ld + c];
    double mean = sum / (double)rows;
    for (size_t r = 0; r < rows; r++) {
      double apart = (double)source->value[r * source->ld + c] - mean;
      squares += apart * apart;
    }
    double variance = squares / (double)rows, unbiased = rows > 1 ? squares / (double)(rows - 1) : variance;
    node->scratch[c] = (float)mean;
    node->scratch[node->ld + c] = (float)(1 / sqrt(variance + attributes->epsilon));
    float *running_mean = plan->weights + node->mean + c, *running_variance = plan->weights + node->variance + c;
    *running_mean += momentum * ((float)mean - *running_mean);
    *running_variance += momentum * ((float)unbiased - *running_variance);
  }
}

void backend_cpu_norm_forward(struct cpu_plan *plan, struct cpu_node *node, size_t rows, bool training) {
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
  if (training)
    norm_measure(plan, node, source, rows);
  for (size_t c = 0; c < node->width; c++) {
    float gamma = norm_parameter(plan, node->weight, c, 1), beta = norm_parameter(plan, node->bias, c, 0), mean,
          inverse;
    if (training) {
      mean = node->scratch[c];
      inverse = node->scratch[node->ld + c];
    } else {
      mean = plan->weights[node->mean + c];
      inverse = (float)(1 / sqrt((double)plan->weights[node->variance + c] + node->layer->attributes.epsilon));
    }
    for (size_t r = 0; r < rows; r++) {
      float normal = (source->value[r * source->ld + c] - mean) * inverse;
      if (training)
        node->mask[r * node->ld + c] = normal;
      node->value[r * node->ld + c] = gamma * normal + beta;
    }
  }
}

/* dx = gamma / deviation (g - mean(g) - normal mean(g normal)). */
void backend_cpu_norm_backward(struct cpu_plan *plan, struct cpu_node *node, size_t rows) {
  const struct cpu_edge *edge = &node->edges[0];
  const struct cpu_node *source = &plan->nodes[edge->source];
  for (size_t c = 0; c < node->width; c++) {
    double sum = 0, product = 0;
    for (size_t r = 0; r < rows; r++) {
      double g = (double)node->gradient[r * node->ld + c];
      sum += g;
      product += g * (double)node->mask[r * node->ld + c];
    }
    if (node->weight != CPU_NONE) {
      plan->gradients[node->weight + c] = (float)product;
      plan->gradients[node->bias + c] = (float)sum;
    }
    if (!edge->gradient)
      continue;
    float factor = norm_parameter(plan, node->weight, c, 1) * node->scratch[node->ld + c];
    float mean = (float)(sum / (double)rows), tilt = (float)(product / (double)rows);
    for (size_t r = 0; r < rows; r++) {
      float g = node->gradient[r * node->ld + c] - mean - node->mask[r * node->ld + c] * tilt;
      float *to = source->gradient + r * source->ld + c;
      *to = (edge->first ? 0 : *to) + factor * g;
    }
  }
  for (size_t r = 0; edge->gradient && edge->first && r < rows; r++)
    for (size_t c = node->width; c < node->ld; c++)
      source->gradient[r * source->ld + c] = 0;
}
