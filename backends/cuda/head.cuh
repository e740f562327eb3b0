/* head.cuh - losses with their gradients, and predictions (backends/cpu/head.c). */
#ifndef BACKEND_CUDA_HEAD_CUH
#define BACKEND_CUDA_HEAD_CUH

#include "network.cuh"

/* Rows [begin, begin + count) of a split, or those that `order` names, into the input node. */
CUDA_PHASE void gather(const struct block &b, const struct cuda_rows &rows, const uint32_t *order, uint32_t begin,
                       uint32_t count) {
  const struct cuda_node &input = b.nodes[0];
  const float *inputs = rows.inputs;
  const uint32_t features = rows.features, ld = input.ld;
  float *to = at(b, input.value);
  each_with<4>(
      count * features,
      [=](uint32_t i) {
        const size_t row = order ? order[begin + i / features] : begin + i / features;
        return inputs[row * features + i % features];
      },
      [=](uint32_t i, float x) { to[i / features * ld + i % features] = x; });
  meet();
}

/* Artificial points behind `rows` rows of step number `step`, from 0: a grid, or the numbers that
   backends/cpu/training.c draws one after the other. */
CUDA_PHASE void set_artificial(const struct block &b, const struct cuda_job &job, uint32_t rows, uint64_t step) {
  const struct cuda_node &input = b.nodes[0];
  const uint32_t features = job.train.features;
  float *to = at(b, input.value);
  each_cell(job.artificial, features, [&](uint32_t r, uint32_t f) {
    const uint64_t number = (step * job.artificial + r) * features + f, draw = number / 4;
    const uint32_t counter[4] = {(uint32_t)draw, (uint32_t)(draw >> 32), 0, 0};
    const float low = job.box[f], high = job.box[features + f];
    if (b.head->points == TUTTI_NOMU_POINTS_GRID) {
      to[(rows + r) * input.ld + f] = nomu_grid_point(low, high, r, job.artificial);
      return;
    }
    const float highest = nextafterf(high, low);
    uint32_t words[4];
    philox_block(counter, job.box_key, words);
    const float x = low + __fmul_rn(high - low, (float)(words[number % 4] >> 8) * 0x1p-24f);
    to[(rows + r) * input.ld + f] = x < highest ? x : highest;
  });
  meet();
}

CPU_INLINE struct cpu_gaussian gaussian_of(const struct cuda_node &head, float weight) {
  return {head.head_scale, head.head_floor, head.head_variance != 0, weight};
}

/* --- losses --- */

/* The node of one of head-nomu's inputs. */
CPU_INLINE const struct cuda_node &input_of(const struct block &b, const struct cuda_node &head, uint32_t index) {
  return b.nodes[b.edges[head.edge + index].source];
}

CPU_INLINE struct nomu_point point_of(const struct block &b, const struct cuda_node &head, uint32_t row, uint32_t o) {
  struct nomu_point p = {};
  for (uint32_t i = 0; i < 3 && i < head.edge_count; i++) {
    const struct cuda_node &node = input_of(b, head, i);
    p.in[i] = (double)at(b, node.value)[row * node.ld + o];
  }
  return p;
}

/* The sum over rows and artificial points that is trained (backends/cpu/nomu.c), with its gradients. */
CUDA_PHASE double loss_of_nomu(const struct block &b, const struct cuda_node &head, const struct cuda_rows &rows,
                               const uint32_t *order, uint32_t begin, uint32_t count) {
  const uint32_t outputs = b.outputs, inputs = head.edge_count < 3 ? head.edge_count : 3;
  const double weight = b.artificial > 0 ? b.head->pi_exp / (double)b.artificial : 0;
  return sum_over(b, (count + b.artificial) * outputs, [&](uint32_t i) {
    const uint32_t r = i / outputs, o = i % outputs;
    const bool artificial = r >= count;
    const size_t row = artificial ? 0 : order ? order[begin + r] : begin + r;
    struct nomu_point p = point_of(b, head, r, o);
    const double target = artificial ? 0 : (double)rows.targets[row * outputs + o], by = artificial ? weight : 1;
    const double term = nomu_term(b.head, inputs, artificial, target, &p);
    for (uint32_t k = 0; k < inputs; k++) {
      const struct cuda_node &node = input_of(b, head, k);
      if (node.gradient.at != CUDA_NOWHERE)
        at(b, node.gradient)[r * node.ld + o] = (float)(by * p.to[k]);
    }
    return by * term;
  });
}

/* What stands for it on validation rows. */
CUDA_PHASE double likelihood_of_nomu(const struct block &b, const struct cuda_node &head, const struct cuda_rows &rows,
                                     uint32_t begin, uint32_t count) {
  const uint32_t outputs = b.outputs;
  return sum_over(b, count * outputs,
                  [&](uint32_t i) {
                    const struct nomu_point p = point_of(b, head, i / outputs, i % outputs);
                    const struct cpu_nomu_moments moments = nomu_moments(b.head, &p);
                    return nomu_likelihood(&moments, (double)rows.targets[(size_t)begin * outputs + i]);
                  }) /
         (double)(count * outputs);
}

/* The mean loss of the rows that a forward pass has left, and, if wanted, its gradient in the head's input; of
   head-nomu see above. */
CUDA_PHASE double loss_of(const struct block &b, uint32_t node_count, const struct cuda_rows &rows,
                          const uint32_t *order, uint32_t begin, uint32_t count, bool gradients) {
  const struct cuda_node &head = b.nodes[node_count - 1];
  const struct cuda_node &source = b.nodes[b.edges[head.edge].source];
  const uint32_t outputs = b.outputs, ld = source.ld, cells = count * outputs;
  const float *value = at(b, source.value);
  float *gradient = gradients && source.gradient.at != CUDA_NOWHERE ? at(b, source.gradient) : NULL;
  const auto row_of = [=](uint32_t r) { return (size_t)(order ? order[begin + r] : begin + r); };
  const double *class_weights = gradients ? b.class_weights : NULL;
  const float smoothing = gradients ? b.label_smoothing : 0;
  if (head.op == TUTTI_OP_HEAD_NOMU)
    return gradients ? loss_of_nomu(b, head, rows, order, begin, count)
                     : likelihood_of_nomu(b, head, rows, begin, count);
  if (head.op == TUTTI_OP_HEAD_SOFTMAX)
    return sum_over(b, count,
                    [=](uint32_t r) {
                      const float *x = value + r * ld;
                      const uint32_t label = (uint32_t)rows.labels[row_of(r)];
                      const double weight = class_weights ? class_weights[label] : 1;
                      const float by = 1 / (float)count * (float)weight;
                      float top = x[0], sum = 0;
                      for (uint32_t c = 1; c < outputs; c++)
                        top = x[c] > top ? x[c] : top;
                      for (uint32_t c = 0; c < outputs; c++)
                        sum += v_exp_negative(x[c] - top);
                      for (uint32_t c = 0; gradient && c < outputs; c++)
                        gradient[r * ld + c] = by * (v_exp_negative(x[c] - top) / sum - label_target(c, label, outputs, smoothing));
                      return weight * ((double)(top + v_log(sum)) - label_logit(x, label, outputs, smoothing));
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

/* --- predictions --- */

/* Of `count` rows, into out[count][width], and what of their uncertainty is the network's own into
   epistemic[count][parts]. */
CUDA_PHASE void predict_rows(const struct block &b, const struct cuda_prediction &p, uint32_t count, float *out,
                             float *epistemic) {
  const struct cuda_node &head = b.nodes[p.node_count - 1];
  const uint32_t width = p.width;
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
      epistemic[r] = 0;
    });
    return;
  }
  const struct cpu_gaussian by = gaussian_of(head, 1);
  each_cell(count, outputs, [&](uint32_t r, uint32_t o) {
    const float *x = value + r * source.ld;
    float spread = __int_as_float(0x7fc00000), own = 0;
    if (head.op == TUTTI_OP_HEAD_GAUSSIAN)
      variance(&by, 1, x + outputs + o, &spread);
    if (head.op == TUTTI_OP_HEAD_NOMU) {
      const struct nomu_point point = point_of(b, head, r, o);
      const struct cpu_nomu_moments moments = nomu_moments(b.head, &point);
      spread = (float)moments.variance;
      own = (float)moments.epistemic;
    }
    out[r * width + 2 * o] = x[o];
    out[r * width + 2 * o + 1] = spread;
    epistemic[r * outputs + o] = own;
  });
}

/* Add draw number `draw`, of rows [begin, begin + count), to the mixture. */
CUDA_PHASE void mix_rows(const struct cuda_prediction &p, uint32_t draw, uint32_t begin, uint32_t count) {
  const size_t from = (size_t)begin * p.outputs;
  if (p.classes)
    each(count, [&](uint32_t r) {
      const size_t row = from + (size_t)r * p.outputs;
      mix_classes(p.mixed + row, p.outputs, draw, p.one + row);
    });
  else
    each(count * p.outputs, [&](uint32_t i) {
      mix_moments(&p.mixed[from + i], draw, p.one[2 * (from + i)], p.one[2 * (from + i) + 1], p.part[from + i]);
    });
}

CUDA_PHASE void end_mixture(const struct cuda_prediction &p, uint32_t begin, uint32_t count) {
  const size_t from = (size_t)begin * p.outputs;
  if (p.classes)
    each(count, [&](uint32_t r) {
      const size_t row = from + (size_t)r * p.outputs;
      mix_classes_end(p.mixed + row, p.outputs, p.out + row, p.epistemic + begin + r);
    });
  else
    each(count * p.outputs, [&](uint32_t i) {
      mix_moments_end(&p.mixed[from + i], p.draws, p.out + 2 * (from + i), p.epistemic + from + i);
    });
}

#endif
