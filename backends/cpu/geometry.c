/* geometry.c - how the numbers of nodes and weights lie in memory, and how many rows or images are worked on at
   once. */
#include "cpu_impl.h"

#include <string.h>

bool backend_cpu_is_head(enum tutti_op op) { return op >= TUTTI_OP_HEAD_SOFTMAX && op <= TUTTI_OP_HEAD_NOMU; }

/* Row length in memory: whole vectors of 16. Long rows avoid multiples of 512 bytes, because the rows of a panel would
   then fall into few sets of the first-level cache. */
size_t backend_cpu_ld(size_t width) {
  size_t ld = (width + 15) / 16 * 16;
  return ld % 128 == 0 ? ld + 16 : ld;
}

size_t backend_cpu_period(const struct cpu_node *node) { return node->ld % 16 ? 2 * node->ld : node->ld; }

size_t backend_cpu_columns(const struct cpu_node *node) {
  return node->pixels > 1 ? node->ld : (node->width + 15) / 16 * 16;
}

size_t backend_cpu_weights_ld(const struct cpu_plan *plan, const struct cpu_node *node) {
  return plan->segments[node->segment].ld;
}

const float *backend_cpu_bias(const struct cpu_plan *plan, const struct cpu_node *node) {
  return node->bias == CPU_NONE ? NULL : plan->weights + node->bias;
}

size_t backend_cpu_image(const struct cpu_node *node) { return node->pixels * node->ld; }

void backend_cpu_clear_padding(const struct cpu_node *node, size_t rows, float *values) {
  for (size_t r = 0; node->width < node->ld && r < rows * node->pixels; r++, values += node->ld)
    memset(values + node->width, 0, (node->ld - node->width) * sizeof *values);
}

size_t backend_cpu_patch(const struct cpu_node *node) { return node->tap_count * node->inputs; }

size_t backend_cpu_patch_ld(const struct cpu_node *node) { return backend_cpu_ld(backend_cpu_patch(node)); }

size_t backend_cpu_patch_rows(const struct cpu_node *node) {
  enum { FLOATS = 1 << 15 }; /* floats that stay in the second-level cache besides everything else */
  size_t rows = FLOATS / (node->window.out_width * backend_cpu_patch_ld(node));
  return rows < 1 ? 1 : rows > node->window.out_height ? node->window.out_height : rows;
}

size_t backend_cpu_block(const struct cpu_plan *plan, const struct cpu_node *node) {
  enum { FLOATS = 1 << 13 }; /* floats that stay in the second-level cache with everything computed from them */
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
  size_t most = node->pixels * node->ld, read = source->pixels * node->input_ld;
  if (source->through) /* the floats that it reads */
    read = plan->nodes[source->edges[0].source].pixels * node->input_ld;
  most = read > most ? read : most;
  size_t images = FLOATS / most;
  return images == 0 ? 1 : images > plan->rows ? plan->rows : images;
}

size_t backend_cpu_evaluation_rows(const tutti_network *network) {
  for (size_t i = 1; i < tutti_network_layers(network); i++) {
    const struct tutti_layer *layer = tutti_network_layer(network, i);
    if (layer->shape.height > 1 || layer->shape.width > 1)
      return CPU_EVALUATION_IMAGES;
  }
  return CPU_EVALUATION_ROWS;
}
