/* network.cuh - forward and backward pass of a network of tables by one block, node by node in the order of backend
   cpu's plan (backends/cpu/step.c), with the same numbers but for the order within sums. Every array is written by one
   phase and read by later ones; the threads meet in between. */
#ifndef BACKEND_CUDA_NETWORK_CUH
#define BACKEND_CUDA_NETWORK_CUH

#include "elements.cuh"
#include "warp_product.cuh"

/* What a pass through the network is for. */
struct pass {
  bool training; /* batch norm by the rows of the batch */
  bool drop;
  bool one; /* all rows share a mask of dropout */
  uint64_t key, step;
  double progress;
  float share; /* of this batch in batch norm's running statistics; 0: as the layer has it */
};

/* Store a node's number, after its activation. */
CPU_INLINE void put(const struct block &b, const struct cuda_node &node, uint32_t row, uint32_t column, float x) {
  const uint32_t i = row * node.ld + column;
  if (node.activation != TUTTI_ACTIVATION_LINEAR && node.activation != TUTTI_ACTIVATION_CRELU) {
    float slope = 0;
    x = activate(node.activation, x, &slope);
    if (node.slope.at != CUDA_NOWHERE)
      at(b, node.slope)[i] = slope;
  }
  at(b, node.value)[i] = x;
}

/* --- products --- */

/* store(row, column, start(column) + sum over k). TENSOR: by tensor cores. */
template <bool TENSOR, enum product_form FORM, typename Start, typename Store>
CPU_INLINE void multiply_by(const struct product &p, Start start, Store store) {
  if constexpr (TENSOR)
    multiply_by_warps<FORM>(p, start, store);
  else
    multiply<FORM>(p, start, store);
}

/* --- forward --- */

template <bool TENSOR>
CUDA_PHASE void forward_dense(const struct block &b, const struct cuda_node &node, uint32_t rows) {
  const struct cuda_node &source = b.nodes[b.edges[node.edge].source];
  const struct product p = {
      rows, node.width, node.inputs, source.ld, node.ldw, at(b, source.value), b.weights + node.weight};
  const float *bias = node.bias == CUDA_NOWHERE ? NULL : b.weights + node.bias;
  multiply_by<TENSOR, PRODUCT_PLAIN>(
      p, [=](uint32_t column) { return bias ? bias[column] : 0.0f; },
      [&](uint32_t row, uint32_t column, float sum) { put(b, node, row, column, sum); });
}

/* The sum of all inputs, times `factor`. */
CUDA_PHASE void forward_sum(const struct block &b, const struct cuda_node &node, uint32_t rows, float factor) {
  each_cell(rows, node.width, [&](uint32_t row, uint32_t column) {
    float sum = 0;
    for (uint32_t e = 0; e < node.edge_count; e++)
      sum += at(b, b.nodes[b.edges[node.edge + e].source].value)[row * node.ld + column];
    put(b, node, row, column, factor == 1 ? sum : sum * factor);
  });
}

CUDA_PHASE void forward_concat(const struct block &b, const struct cuda_node &node, uint32_t rows) {
  for (uint32_t e = 0, begin = 0; e < node.edge_count; e++) {
    const struct cuda_node &source = b.nodes[b.edges[node.edge + e].source];
    const float *x = at(b, source.value);
    each_cell(rows, source.width,
              [&](uint32_t row, uint32_t column) { put(b, node, row, begin + column, x[row * source.ld + column]); });
    begin += source.width;
  }
}

CUDA_PHASE void forward_crelu(const struct block &b, const struct cuda_node &node, uint32_t rows) {
  const struct cuda_node &source = b.nodes[b.edges[node.edge].source];
  const float *in = at(b, source.value);
  each_cell(rows, source.width, [&](uint32_t row, uint32_t column) {
    const float x = in[row * source.ld + column];
    put(b, node, row, column, x > 0 ? x : 0);
    put(b, node, row, source.width + column, x < 0 ? -x : 0);
  });
}

/* --- batch norm (backends/cpu/norm.c): a thread takes a feature --- */

CPU_INLINE float parameter(const struct block &b, uint32_t offset, uint32_t column, float preset) {
  return offset == CUDA_NOWHERE ? preset : b.weights[offset + column];
}

CUDA_PHASE void forward_norm(const struct block &b, const struct cuda_node &node, uint32_t rows,
                             const struct pass &pass) {
  const struct cuda_node &source = b.nodes[b.edges[node.edge].source];
  const float *x = at(b, source.value);
  float *s = at(b, node.statistics);
  each(node.width, [&](uint32_t c) {
    float *running_mean = b.weights + node.mean + c, *running_variance = b.weights + node.variance + c;
    float mean = *running_mean, inverse;
    if (pass.training) {
      const float first = x[c], momentum = pass.share > 0 ? pass.share : (float)node.momentum;
      double sum = 0, square = 0, count = rows;
      for (uint32_t r = 0; r < rows; r++) {
        double apart = (double)(x[r * source.ld + c] - first);
        sum += apart;
        square += apart * apart;
      }
      double from = sum / count, variance = fmax(0.0, square / count - from * from);
      double unbiased = rows > 1 ? variance * count / (count - 1) : variance;
      if (isnan(square))
        variance = unbiased = square;
      mean = (float)((double)first + from);
      inverse = (float)(1 / sqrt(variance + node.epsilon));
      *running_mean += momentum * (mean - *running_mean);
      *running_variance += momentum * ((float)unbiased - *running_variance);
    } else {
      inverse = (float)(1 / sqrt((double)*running_variance + node.epsilon));
    }
    const float scale = parameter(b, node.weight, c, 1) * inverse;
    s[c] = mean;
    s[node.ld + c] = inverse;
    s[2 * node.ld + c] = scale;
    s[3 * node.ld + c] = parameter(b, node.bias, c, 0) - mean * scale;
  });
  meet();
  each_cell(rows, node.width, [&](uint32_t row, uint32_t c) {
    put(b, node, row, c, CUDA_FMA(x[row * source.ld + c], s[2 * node.ld + c], s[3 * node.ld + c]));
  });
}

/* --- dropout (backends/cpu/drop.c, mask_impl.h) --- */

/* The rate at which a node drops numbers in this pass. */
CPU_INLINE double drop_rate(const struct cuda_node &node, const struct pass &pass) {
  return pass.drop ? node.rate * (node.scheduled ? pass.progress : 1) : 0;
}

CUDA_PHASE void forward_drop(const struct block &b, const struct cuda_node &node, uint32_t layer, uint32_t rows,
                             const struct pass &pass) {
  const struct cuda_node &source = b.nodes[b.edges[node.edge].source];
  const bool paths = node.op == TUTTI_OP_DROP_PATH;
  const double rate = drop_rate(node, pass);
  const uint32_t masks = pass.one ? 1 : rows, count = paths ? masks : masks * node.ld,
                 threshold = (uint32_t)(rate * 4294967296.0);
  const float keep = (float)(1 / (1 - rate));
  const float *x = at(b, source.value);
  float *mask = node.mask.at == CUDA_NOWHERE ? NULL : at(b, node.mask);
  /* Sixteen draws give 64 numbers, word by word, as the vectors of backend cpu have it. */
  if (mask) {
    each((count + 63) / 64 * 16, [&](uint32_t number) {
      uint32_t words[4] = {0, 0, 0, 0};
      if (rate > 0)
        philox_words(pass.key, pass.step, layer, number, words);
      for (uint32_t w = 0; w < 4; w++) {
        const uint32_t i = number / 16 * 64 + 16 * w + number % 16;
        if (i < count)
          mask[i] = rate <= 0 ? 1 : words[w] < threshold ? 0 : keep;
      }
    });
    meet();
  }
  each_cell(rows, node.width, [&](uint32_t row, uint32_t c) {
    const uint32_t entry = pass.one ? 0 : row;
    const float by = mask ? mask[paths ? entry : entry * node.ld + c] : 1;
    put(b, node, row, c, by * x[row * source.ld + c]);
  });
}

CUDA_PHASE void forward(const struct block &b, uint32_t node_count, uint32_t rows, const struct pass &pass) {
  for (uint32_t i = 0; i < node_count; i++) {
    const struct cuda_node &node = b.nodes[i];
    switch (node.op) {
    case TUTTI_OP_DENSE:
      if (b.tensor)
        forward_dense<true>(b, node, rows);
      else
        forward_dense<false>(b, node, rows);
      break;
    case TUTTI_OP_ADD:
      forward_sum(b, node, rows, 1);
      break;
    case TUTTI_OP_MEAN:
      forward_sum(b, node, rows, 1 / (float)node.edge_count);
      break;
    case TUTTI_OP_CONCAT:
      forward_concat(b, node, rows);
      break;
    case TUTTI_OP_ACTIVATION:
      if (node.activation == TUTTI_ACTIVATION_CRELU)
        forward_crelu(b, node, rows);
      else
        forward_sum(b, node, rows, 1);
      break;
    case TUTTI_OP_ZERO:
      each_cell(rows, node.width, [&](uint32_t row, uint32_t column) { put(b, node, row, column, 0); });
      break;
    case TUTTI_OP_DROPOUT:
    case TUTTI_OP_DROP_PATH:
      forward_drop(b, node, i, rows, pass);
      break;
    case TUTTI_OP_BATCH_NORM:
      forward_norm(b, node, rows, pass);
      break;
    default:
      continue; /* inputs are there; heads have no values of their own */
    }
    meet();
  }
}

/* --- backward --- */

/* Write a number of a source's gradient, or add it. */
CPU_INLINE void pull(const struct block &b, const struct cuda_edge &edge, const struct cuda_node &source, uint32_t row,
                     uint32_t column, float g) {
  const uint32_t i = row * source.ld + column;
  float *to = at(b, source.gradient) + i;
  if (!edge.first)
    g += *to;
  if (edge.mask && !(at(b, source.value)[i] > 0))
    g = 0;
  *to = g;
}

template <bool TENSOR>
CUDA_PHASE void backward_dense(const struct block &b, const struct cuda_node &node, uint32_t rows) {
  const struct cuda_edge &edge = b.edges[node.edge];
  const struct cuda_node &source = b.nodes[edge.source];
  const float *gradient = at(b, node.gradient);
  const auto nothing = [](uint32_t) { return 0.0f; };
  if (!node.frozen) {
    float *weights = b.gradients + node.weight;
    const uint32_t ldw = node.ldw;
    const struct product p = {node.inputs, node.width, rows, source.ld, node.ld, at(b, source.value), gradient};
    multiply_by<TENSOR, PRODUCT_OF_COLUMNS>(
        p, nothing, [=](uint32_t row, uint32_t column, float sum) { weights[row * ldw + column] = sum; });
  }
  if (!node.frozen && node.bias != CUDA_NOWHERE)
    each(node.width, [&](uint32_t column) {
      float sum = 0;
      for (uint32_t r = 0; r < rows; r++)
        sum += gradient[r * node.ld + column];
      b.gradients[node.bias + column] = sum;
    });
  if (edge.gradient) {
    const struct product p = {rows, node.inputs, node.width, node.ld, node.ldw, gradient, b.weights + node.weight};
    multiply_by<TENSOR, PRODUCT_OF_ROWS>(
        p, nothing, [&](uint32_t row, uint32_t column, float sum) { pull(b, edge, source, row, column, sum); });
  }
}

/* To every input, times `factor`. */
CUDA_PHASE void backward_sum(const struct block &b, const struct cuda_node &node, uint32_t rows, float factor) {
  const float *gradient = at(b, node.gradient);
  for (uint32_t e = 0; e < node.edge_count; e++) {
    const struct cuda_edge &edge = b.edges[node.edge + e];
    const struct cuda_node &source = b.nodes[edge.source];
    if (edge.gradient && at(b, source.gradient) != gradient) /* a shared one is there already */
      each_cell(rows, node.width, [&](uint32_t row, uint32_t column) {
        pull(b, edge, source, row, column, factor * gradient[row * node.ld + column]);
      });
  }
}

CUDA_PHASE void backward_concat(const struct block &b, const struct cuda_node &node, uint32_t rows) {
  const float *gradient = at(b, node.gradient);
  for (uint32_t e = 0; e < node.edge_count; e++) {
    const struct cuda_edge &edge = b.edges[node.edge + e];
    const struct cuda_node &source = b.nodes[edge.source];
    if (edge.gradient)
      each_cell(rows, source.width, [&](uint32_t row, uint32_t column) {
        pull(b, edge, source, row, column, gradient[row * node.ld + column]);
      });
    gradient += source.width;
  }
}

CUDA_PHASE void backward_crelu(const struct block &b, const struct cuda_node &node, uint32_t rows) {
  const struct cuda_edge &edge = b.edges[node.edge];
  const struct cuda_node &source = b.nodes[edge.source];
  const float *in = at(b, source.value), *gradient = at(b, node.gradient);
  if (!edge.gradient)
    return;
  each_cell(rows, source.width, [&](uint32_t row, uint32_t column) {
    const float x = in[row * source.ld + column], *g = gradient + row * node.ld + column;
    pull(b, edge, source, row, column, x > 0 ? *g : x < 0 ? -g[source.width] : 0);
  });
}

CUDA_PHASE void backward_drop(const struct block &b, const struct cuda_node &node, uint32_t rows) {
  const struct cuda_edge &edge = b.edges[node.edge];
  const struct cuda_node &source = b.nodes[edge.source];
  const float *mask = at(b, node.mask), *gradient = at(b, node.gradient);
  const bool paths = node.op == TUTTI_OP_DROP_PATH;
  if (!edge.gradient)
    return;
  each_cell(rows, node.width, [&](uint32_t row, uint32_t c) {
    pull(b, edge, source, row, c, mask[paths ? row : row * node.ld + c] * gradient[row * node.ld + c]);
  });
}

/* With normal = (x - mean) / deviation: dx = gamma / deviation (g - mean(g) - normal mean(g normal)). */
CUDA_PHASE void backward_norm(const struct block &b, const struct cuda_node &node, uint32_t rows) {
  const struct cuda_edge &edge = b.edges[node.edge];
  const struct cuda_node &source = b.nodes[edge.source];
  const float *x = at(b, source.value), *gradient = at(b, node.gradient);
  float *s = at(b, node.statistics);
  each(node.width, [&](uint32_t c) {
    double sum = 0, product = 0;
    for (uint32_t r = 0; r < rows; r++) {
      const float g = gradient[r * node.ld + c];
      sum += (double)g;
      product += (double)(g * (x[r * source.ld + c] - s[c]));
    }
    const double inverse = (double)s[node.ld + c], gain = (double)s[2 * node.ld + c];
    product *= inverse;
    if (node.weight != CUDA_NOWHERE) {
      b.gradients[node.weight + c] = (float)product;
      b.gradients[node.bias + c] = (float)sum;
    }
    s[4 * node.ld + c] = (float)(-gain * inverse * product / (double)rows);
    s[5 * node.ld + c] = (float)(-gain * sum / (double)rows);
  });
  if (!edge.gradient)
    return;
  meet();
  each_cell(rows, node.width, [&](uint32_t row, uint32_t c) {
    const float apart = x[row * source.ld + c] - s[c], g = gradient[row * node.ld + c];
    pull(b, edge, source, row, c,
         CUDA_FMA(s[2 * node.ld + c], g, CUDA_FMA(s[4 * node.ld + c], apart, s[5 * node.ld + c])));
  });
}

/* `all`: rows with the artificial ones, where most gradients are 0. */
CUDA_PHASE void backward(const struct block &b, uint32_t node_count, uint32_t all) {
  for (uint32_t i = node_count; i-- > 0;) {
    const struct cuda_node &node = b.nodes[i];
    const uint32_t rows = node.artificial ? all : all - b.artificial;
    if (!node.needs_gradient || node.gradient.at == CUDA_NOWHERE || node.edge_count == 0)
      continue;
    float *gradient = at(b, node.gradient);
    if (node.activation != TUTTI_ACTIVATION_CRELU && node.activation != TUTTI_ACTIVATION_LINEAR && !node.masked) {
      const float *value = at(b, node.value), *slope = node.slope.at == CUDA_NOWHERE ? value : at(b, node.slope);
      each_cell(rows, node.width, [&](uint32_t row, uint32_t column) {
        const uint32_t k = row * node.ld + column;
        gradient[k] = derive(node.activation, value[k], slope[k], gradient[k]);
      });
      meet();
    }
    switch (node.op) {
    case TUTTI_OP_DENSE:
      if (b.tensor)
        backward_dense<true>(b, node, rows);
      else
        backward_dense<false>(b, node, rows);
      break;
    case TUTTI_OP_ADD:
      backward_sum(b, node, rows, 1);
      break;
    case TUTTI_OP_MEAN:
      backward_sum(b, node, rows, 1 / (float)node.edge_count);
      break;
    case TUTTI_OP_CONCAT:
      backward_concat(b, node, rows);
      break;
    case TUTTI_OP_ACTIVATION:
      if (node.activation == TUTTI_ACTIVATION_CRELU)
        backward_crelu(b, node, rows);
      else
        backward_sum(b, node, rows, 1);
      break;
    case TUTTI_OP_DROPOUT:
    case TUTTI_OP_DROP_PATH:
      backward_drop(b, node, rows);
      break;
    case TUTTI_OP_BATCH_NORM:
      backward_norm(b, node, rows);
      break;
    default:
      break;
    }
    meet();
  }
}

#endif
