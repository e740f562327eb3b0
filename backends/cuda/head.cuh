/* head.cuh - losses with their gradients, and predictions (backends/cpu/head.c). */
#ifndef BACKEND_CUDA_HEAD_CUH
#define BACKEND_CUDA_HEAD_CUH

#include "network.cuh"

/* Rows [begin, begin + count) of a split, or those that `order` names, into the input node. */
CUDA_PHASE void gather(const struct block &b, const struct cuda_rows &rows, const uint32_t *order, uint32_t begin,
                       uint32_t count) {
  const struct cuda_node &input = b.nodes[0];
  float *to = at(b, input.value);
  each_cell(count, rows.features, [&](uint32_t r, uint32_t f) {
    const size_t row = order ? order[begin + r] : begin + r;
    to[r * input.ld + f] = rows.inputs[row * rows.features + f];
  });
  meet();
}

CPU_INLINE struct cpu_gaussian gaussian_of(const struct cuda_node &head, float weight) {
  return {head.head_scale, head.head_floor, head.head_variance != 0, weight};
}

/* The mean loss of the rows that a forward pass has left, and, if wanted, its gradient in the head's input. */
CUDA_PHASE double loss_of(const struct block &b, uint32_t node_count, const struct cuda_rows &rows,
                          const uint32_t *order, uint32_t begin, uint32_t count, bool gradients) {
  const struct cuda_node &head = b.nodes[node_count - 1];
  const struct cuda_node &source = b.nodes[b.edges[head.edge].source];
  const uint32_t outputs = b.outputs, ld = source.ld, cells = count * outputs;
  const float *value = at(b, source.value);
  float *gradient = gradients && source.gradient.at != CUDA_NOWHERE ? at(b, source.gradient) : NULL;
  const auto row_of = [=](uint32_t r) { return (size_t)(order ? order[begin + r] : begin + r); };
  if (head.op == TUTTI_OP_HEAD_SOFTMAX)
    return sum_over(b, count,
                    [=](uint32_t r) {
                      const float *x = value + r * ld;
                      const uint32_t label = (uint32_t)rows.labels[row_of(r)];
                      float top = x[0], sum = 0;
                      for (uint32_t c = 1; c < outputs; c++)
                        top = x[c] > top ? x[c] : top;
                      for (uint32_t c = 0; c < outputs; c++)
                        sum += v_exp_negative(x[c] - top);
                      for (uint32_t c = 0; gradient && c < outputs; c++)
                        gradient[r * ld + c] =
                            1 / (float)count * (v_exp_negative(x[c] - top) / sum - (c == label ? 1.0f : 0.0f));
                      return (double)(top + v_log(sum)) - (double)x[label];
                    }) /
           (double)count;
  if (head.op == TUTTI_OP_HEAD_GAUSSIAN) {
    const struct cpu_gaussian by = gaussian_of(head, 1 / (float)cells);
    return sum_over(b, cells,
                    [=](uint32_t i) {
                      const uint32_t r = i / outputs, o = i % outputs;
                      const float *x = value + r * ld;
                      float slope_mean, slope_raw;
                      double loss = gaussian(&by, 1, x + o, x + outputs + o, rows.targets + row_of(r) * outputs + o,
                                             &slope_mean, &slope_raw);
                      if (gradient) {
                        gradient[r * ld + o] = slope_mean;
                        gradient[r * ld + outputs + o] = slope_raw;
                      }
                      return loss;
                    }) /
           (double)cells;
  }
  return sum_over(b, cells,
                  [=](uint32_t i) {
                    const uint32_t r = i / outputs, o = i % outputs;
                    const float residual = value[r * ld + o] - rows.targets[row_of(r) * outputs + o];
                    if (gradient)
                      gradient[r * ld + o] = 2 / (float)cells * residual;
                    return (double)residual * (double)residual;
                  }) /
         (double)cells;
}

/* Predictions of `count` rows into out[count][width]. */
CUDA_PHASE void predict_rows(const struct block &b, uint32_t node_count, uint32_t count, uint32_t width, float *out) {
  const struct cuda_node &head = b.nodes[node_count - 1];
  const struct cuda_node &source = b.nodes[b.edges[head.edge].source];
  const float *value = at(b, source.value);
  const uint32_t outputs = b.outputs;
  if (head.op == TUTTI_OP_HEAD_SOFTMAX) {
    each(count, [&](uint32_t r) {
      const float *x = value + r * source.ld;
      float top = x[0], sum = 0;
      for (uint32_t c = 1; c < outputs; c++)
        top = x[c] > top ? x[c] : top;
      for (uint32_t c = 0; c < outputs; c++)
        sum += v_exp_negative(x[c] - top);
      for (uint32_t c = 0; c < outputs; c++)
        out[r * width + c] = v_exp_negative(x[c] - top) / sum;
    });
    return;
  }
  const struct cpu_gaussian by = gaussian_of(head, 1);
  each_cell(count, outputs, [&](uint32_t r, uint32_t o) {
    const float *x = value + r * source.ld;
    float spread = __int_as_float(0x7fc00000);
    if (head.op == TUTTI_OP_HEAD_GAUSSIAN)
      variance(&by, 1, x + outputs + o, &spread);
    out[r * width + 2 * o] = x[o];
    out[r * width + 2 * o + 1] = spread;
  });
}

#endif
