/* network.cuh - forward and backward pass of a network of tables by one block, node by node in the order of backend
   cpu's plan (backends/cpu/step.c), with the same numbers but for the order within sums. Every array is written by one
   phase and read by later ones; the threads meet in between. */
#ifndef BACKEND_CUDA_NETWORK_CUH
#define BACKEND_CUDA_NETWORK_CUH

#include "elements.cuh"
#include "staged_product.cuh"
#include "thin_product.cuh"

/* What a pass through the network is for. */
struct pass {
  bool training; /* batch norm by the rows of the batch */
  bool drop;
  bool one; /* all rows share a mask of dropout */
  uint64_t key, step;
  double progress;
  float share; /* of this batch in batch norm's running statistics; 0: as the layer has it */
};

/* --- where numbers go --- */

/* To a node's value, after its activation. */
struct put_numbers {
  float *value, *slope; /* slope: or NULL */
  uint32_t activation, ld;

  CUDA_METHOD void one(uint32_t row, uint32_t column, float x) const {
    const uint32_t i = row * ld + column;
    if (activation != TUTTI_ACTIVATION_LINEAR) {
      float by = 0;
      x = activate(activation, x, &by);
      if (slope)
        slope[i] = by;
    }
    value[i] = x;
  }
  /* Four of a row, padding among them. */
  CUDA_METHOD void four_from(uint32_t i, float4 x) const {
    if (activation != TUTTI_ACTIVATION_LINEAR) {
      const struct activated made = activate_four(activation, x);
      x = made.value;
      if (slope)
        put_four(slope + i, made.slope);
    }
    put_four(value + i, x);
  }
  template <int ROWS> CUDA_METHOD void tile(const struct spot &at, const float (&sum)[ROWS][4]) const {
    CUDA_UNROLL
    for (int r = 0; r < ROWS; r++)
      if (at.row + r < at.m)
        four_from((at.row + r) * ld + at.column, make_float4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]));
  }
  /* Two of a row, padding among them, and those PAIR_APART rows below. */
  CUDA_METHOD void pairs(const struct product &p, uint32_t row, uint32_t column, const float (&x)[4]) const {
    struct activated made = {make_float4(x[0], x[1], x[2], x[3]), make_float4(0, 0, 0, 0)};
    const uint32_t i = row * ld + column, j = i + PAIR_APART * ld;
    if (activation != TUTTI_ACTIVATION_LINEAR)
      made = activate_four(activation, made.value);
    if (row < p.m) {
      put_two(value + i, made.value.x, made.value.y);
      if (slope)
        put_two(slope + i, made.slope.x, made.slope.y);
    }
    if (row + PAIR_APART < p.m) {
      put_two(value + j, made.value.z, made.value.w);
      if (slope)
        put_two(slope + j, made.slope.z, made.slope.w);
    }
  }
};

CPU_INLINE struct put_numbers put_to(const struct block &b, const struct cuda_node &node) {
  const bool none = node.activation == TUTTI_ACTIVATION_CRELU; /* whose layer does it by itself */
  return {at(b, node.value), node.slope.at == CUDA_NOWHERE ? NULL : at(b, node.slope),
          none ? (uint32_t)TUTTI_ACTIVATION_LINEAR : node.activation, node.ld};
}

/* Each of two pairs by itself. */
template <typename Store>
CPU_INLINE void pairs_singly(const Store &store, const struct product &p, uint32_t row, uint32_t column,
                             const float (&x)[4]) {
  CUDA_UNROLL
  for (uint32_t e = 0; e < 4; e++)
    if (row + e / 2 * PAIR_APART < p.m && column + e % 2 < p.n)
      store.one(row + e / 2 * PAIR_APART, column + e % 2, x[e]);
}

/* To the gradient of weights. */
struct keep_numbers {
  float *to;
  uint32_t ld;

  CUDA_METHOD void one(uint32_t row, uint32_t column, float x) const { to[row * ld + column] = x; }
  template <int ROWS> CUDA_METHOD void tile(const struct spot &at, const float (&sum)[ROWS][4]) const {
    const bool inside[4] = {true, at.column + 1 < at.n, at.column + 2 < at.n, at.column + 3 < at.n};
    CUDA_UNROLL
    for (int r = 0; r < ROWS; r++)
      if (at.row + r < at.m) /* what lies between rows stays 0 */
        put_four(to + (at.row + r) * ld + at.column, make_float4(sum[r][0], inside[1] ? sum[r][1] : 0,
                                                                 inside[2] ? sum[r][2] : 0, inside[3] ? sum[r][3] : 0));
  }
  CUDA_METHOD void pairs(const struct product &p, uint32_t row, uint32_t column, const float (&x)[4]) const {
    pairs_singly(*this, p, row, column, x);
  }
};

/* To the gradient of a source, or added to it. */
struct pull_numbers {
  float *to;
  const float *mask; /* the source's value, where its gradient is 0 unless that is positive; or NULL */
  uint32_t ld, adds;

  CUDA_METHOD float made(float x, float before, float value) const {
    x = adds ? x + before : x;
    return mask && !(value > 0) ? 0 : x;
  }
  CUDA_METHOD void one(uint32_t row, uint32_t column, float x) const {
    const uint32_t i = row * ld + column;
    to[i] = made(x, adds ? to[i] : 0, mask ? mask[i] : 0);
  }
  CUDA_METHOD float4 before(uint32_t i) const { return adds ? four(to + i) : make_float4(0, 0, 0, 0); }
  CUDA_METHOD float4 value(uint32_t i) const { return mask ? four(mask + i) : make_float4(0, 0, 0, 0); }
  CUDA_METHOD void four_from(uint32_t i, float4 x, float4 was, float4 v) const {
    put_four(to + i,
             make_float4(made(x.x, was.x, v.x), made(x.y, was.y, v.y), made(x.z, was.z, v.z), made(x.w, was.w, v.w)));
  }
  template <int ROWS> CUDA_METHOD void tile(const struct spot &at, const float (&sum)[ROWS][4]) const {
    CUDA_UNROLL
    for (int r = 0; r < ROWS; r++) {
      const uint32_t first = (at.row + r) * ld + at.column;
      float was[4], value[4]; /* all four are under way before one is written */
      CUDA_UNROLL
      for (int c = 0; c < 4; c++) {
        const bool inside = at.row + r < at.m && at.column + c * at.step < at.n;
        was[c] = adds && inside ? to[first + c * at.step] : 0;
        value[c] = mask && inside ? mask[first + c * at.step] : 0;
      }
      CUDA_UNROLL
      for (int c = 0; c < 4; c++)
        if (at.row + r < at.m && at.column + c * at.step < at.n)
          to[first + c * at.step] = made(sum[r][c], was[c], value[c]);
    }
  }
  CUDA_METHOD void pairs(const struct product &p, uint32_t row, uint32_t column, const float (&x)[4]) const {
    pairs_singly(*this, p, row, column, x);
  }
};

CPU_INLINE struct pull_numbers pull_to(const struct block &b, const struct cuda_edge &edge,
                                       const struct cuda_node &source) {
  return {at(b, source.gradient), edge.mask ? at(b, source.value) : NULL, source.ld, !edge.first};
}

/* --- products --- */

/* What `start` gives a column + the sum over k. TENSOR: by tensor cores. The way depends on the sizes and on where the
   matrices lie. */
template <bool TENSOR, enum product_form FORM, typename Start, typename Store>
CPU_INLINE void multiply_by(const struct block &b, const struct product &p, const Start &start, const Store &store) {
  const bool staged = b.stage != CUDA_NOWHERE && !(p.a_shared && p.b_shared);
  if constexpr (TENSOR) {
    if (staged)
      multiply_staged<TENSOR, FORM>(b, p, start, store);
    else
      multiply_by_warps<FORM>(p, start, store);
    return;
  }
  if (!staged)
    return multiply<FORM>(p, start, store);
  if constexpr (FORM == PRODUCT_OF_COLUMNS) {
    if (p.k <= THIN_ROWS)
      return multiply<FORM>(p, start, store);
  } else if constexpr (FORM == PRODUCT_PLAIN) {
    if (b.thin && p.m == 1 && p.n <= THIN_COLUMNS)
      return multiply_thin_plain<1>(p, b.stage, start, store);
    if (b.thin && p.m <= THIN_ROWS && p.n <= THIN_COLUMNS)
      return multiply_thin_plain<THIN_ROWS>(p, b.stage, start, store);
  } else {
    if (p.m == 1)
      return multiply_thin_rows<1>(p, store);
    if (p.m <= THIN_ROWS)
      return multiply_thin_rows<THIN_ROWS>(p, store);
  }
  multiply_staged<TENSOR, FORM>(b, p, start, store);
}

/* --- forward --- */

template <bool TENSOR>
CUDA_PHASE void forward_dense(const struct block &b, const struct cuda_node &node, uint32_t rows) {
  const struct cuda_node &source = b.nodes[b.edges[node.edge].source];
  const struct product p = {rows,
                            node.width,
                            node.inputs,
                            source.ld,
                            node.ldw,
                            at(b, source.value),
                            b.weights + node.weight,
                            source.value.shared != 0,
                            b.weights_shared};
  const float *bias = node.bias == CUDA_NOWHERE ? NULL : b.weights + node.bias;
  multiply_by<TENSOR, PRODUCT_PLAIN>(b, p, from_bias{bias}, put_to(b, node));
}

CPU_INLINE float4 sum_of(float4 x, float4 y) { return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w); }
CPU_INLINE float4 times(float4 x, float by) { return make_float4(x.x * by, x.y * by, x.z * by, x.w * by); }

/* The sum of all inputs, times `factor`. */
CUDA_PHASE void forward_sum(const struct block &b, const struct cuda_node &node, uint32_t rows, float factor) {
  const auto value_of = [&](uint32_t e) -> const float * {
    return e < node.edge_count ? at(b, b.nodes[b.edges[node.edge + e].source].value) : NULL;
  };
  const float *first = value_of(0), *second = value_of(1), *third = value_of(2);
  const struct put_numbers to = put_to(b, node);
  each_with<2>(
      rows * to.ld / 4,
      [&](uint32_t i) {
        float4 sum = four(first + 4 * i);
        if (second)
          sum = sum_of(sum, four(second + 4 * i));
        if (third)
          sum = sum_of(sum, four(third + 4 * i));
        for (uint32_t e = 3; e < node.edge_count; e++)
          sum = sum_of(sum, four(value_of(e) + 4 * i));
        return sum;
      },
      [&](uint32_t i, float4 sum) { to.four_from(4 * i, factor == 1 ? sum : times(sum, factor)); });
}

CUDA_PHASE void forward_concat(const struct block &b, const struct cuda_node &node, uint32_t rows) {
  const struct put_numbers to = put_to(b, node);
  for (uint32_t e = 0, begin = 0; e < node.edge_count; e++) {
    const struct cuda_node &source = b.nodes[b.edges[node.edge + e].source];
    const float *x = at(b, source.value);
    each_cell(rows, source.width,
              [&](uint32_t row, uint32_t column) { to.one(row, begin + column, x[row * source.ld + column]); });
    begin += source.width;
  }
}

CUDA_PHASE void forward_crelu(const struct block &b, const struct cuda_node &node, uint32_t rows) {
  const struct cuda_node &source = b.nodes[b.edges[node.edge].source];
  const float *in = at(b, source.value);
  const struct put_numbers to = put_to(b, node);
  each_cell(rows, source.width, [&](uint32_t row, uint32_t column) {
    const float x = in[row * source.ld + column];
    to.one(row, column, x > 0 ? x : 0);
    to.one(row, source.width + column, x < 0 ? -x : 0);
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
  const struct put_numbers to = put_to(b, node);
  each_cell(rows, node.width, [&](uint32_t row, uint32_t c) {
    to.one(row, c, CUDA_FMA(x[row * source.ld + c], s[2 * node.ld + c], s[3 * node.ld + c]));
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
  const struct put_numbers to = put_to(b, node);
  each_cell(rows, node.width, [&](uint32_t row, uint32_t c) {
    const uint32_t entry = pass.one ? 0 : row;
    const float by = mask ? mask[paths ? entry : entry * node.ld + c] : 1;
    to.one(row, c, by * x[row * source.ld + c]);
  });
}

CUDA_PHASE void forward_zero(const struct block &b, const struct cuda_node &node, uint32_t rows) {
  const struct put_numbers to = put_to(b, node);
  each(rows * to.ld / 4, [&](uint32_t i) { to.four_from(4 * i, make_float4(0, 0, 0, 0)); });
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
      forward_zero(b, node, rows);
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

/* The bias's. A thread sums four columns of every 16th row, if there is room in shared memory for these sums to
   meet. */
CUDA_PHASE void backward_bias(const struct block &b, const struct cuda_node &node, uint32_t rows) {
  CUDA_SHARED(shared);
  constexpr uint32_t PARTS = 16;
  const float *gradient = at(b, node.gradient);
  float *to = b.gradients + node.bias;
  const uint32_t ld = node.ld;
  if (b.stage == CUDA_NOWHERE || rows < PARTS || PARTS * ld > CUDA_STAGE_PARTS * CUDA_STAGE_FLOATS)
    return each(node.width, [=](uint32_t column) {
      float sum = 0;
      CUDA_UNROLL_BY(8)
      for (uint32_t row = 0; row < rows; row++)
        sum += gradient[row * ld + column];
      to[column] = sum;
    });
  float *partial = (float *)shared + b.stage; /* [PARTS][ld] */
  each_cell(PARTS, ld / 4, [=](uint32_t part, uint32_t quad) {
    float4 sum = make_float4(0, 0, 0, 0);
    CUDA_UNROLL_BY(4)
    for (uint32_t row = part; row < rows; row += PARTS)
      sum = sum_of(sum, four(gradient + row * ld + 4 * quad));
    put_four(partial + part * ld + 4 * quad, sum);
  });
  meet();
  each(node.width, [=](uint32_t column) {
    float sum = 0;
    CUDA_UNROLL
    for (uint32_t part = 0; part < PARTS; part++)
      sum += partial[part * ld + column];
    to[column] = sum;
  });
  meet(); /* the sums are used no more */
}

template <bool TENSOR>
CUDA_PHASE void backward_weights(const struct block &b, const struct cuda_node &node, uint32_t rows) {
  const struct cuda_node &source = b.nodes[b.edges[node.edge].source];
  const struct product p = {node.inputs,
                            node.width,
                            rows,
                            source.ld,
                            node.ld,
                            at(b, source.value),
                            at(b, node.gradient),
                            source.value.shared != 0,
                            node.gradient.shared != 0};
  const struct keep_numbers to = {b.gradients + node.weight, node.ldw};
  multiply_by<TENSOR, PRODUCT_OF_COLUMNS>(b, p, from_zero{}, to);
}

template <bool TENSOR>
CUDA_PHASE void backward_inputs(const struct block &b, const struct cuda_node &node, uint32_t rows) {
  const struct cuda_edge &edge = b.edges[node.edge];
  const struct cuda_node &source = b.nodes[edge.source];
  const struct product p = {rows,
                            node.inputs,
                            node.width,
                            node.ld,
                            node.ldw,
                            at(b, node.gradient),
                            b.weights + node.weight,
                            node.gradient.shared != 0,
                            b.weights_shared};
  multiply_by<TENSOR, PRODUCT_OF_ROWS>(b, p, from_zero{}, pull_to(b, edge, source));
}

template <bool TENSOR>
CUDA_PHASE void backward_dense(const struct block &b, const struct cuda_node &node, uint32_t rows) {
  if (!node.frozen)
    backward_weights<TENSOR>(b, node, rows);
  if (!node.frozen && node.bias != CUDA_NOWHERE)
    backward_bias(b, node, rows);
  if (b.edges[node.edge].gradient)
    backward_inputs<TENSOR>(b, node, rows);
}

/* To every input, times `factor`. */
CUDA_PHASE void backward_sum(const struct block &b, const struct cuda_node &node, uint32_t rows, float factor) {
  struct three {
    float4 x, was, value;
  };
  const float *gradient = at(b, node.gradient);
  for (uint32_t e = 0; e < node.edge_count; e++) {
    const struct cuda_edge &edge = b.edges[node.edge + e];
    const struct cuda_node &source = b.nodes[edge.source];
    if (!edge.gradient || at(b, source.gradient) == gradient) /* a shared one is there already */
      continue;
    const struct pull_numbers to = pull_to(b, edge, source);
    each_with<1>(
        rows * to.ld / 4,
        [&](uint32_t i) -> struct three {
          return {four(gradient + 4 * i), to.before(4 * i), to.value(4 * i)};
        },
        [&](uint32_t i, const struct three &of) { to.four_from(4 * i, times(of.x, factor), of.was, of.value); });
  }
}

CUDA_PHASE void backward_concat(const struct block &b, const struct cuda_node &node, uint32_t rows) {
  const float *gradient = at(b, node.gradient);
  for (uint32_t e = 0; e < node.edge_count; e++) {
    const struct cuda_edge &edge = b.edges[node.edge + e];
    const struct cuda_node &source = b.nodes[edge.source];
    if (edge.gradient) {
      const struct pull_numbers to = pull_to(b, edge, source);
      each_cell(rows, source.width,
                [&](uint32_t row, uint32_t column) { to.one(row, column, gradient[row * node.ld + column]); });
    }
    gradient += source.width;
  }
}

CUDA_PHASE void backward_crelu(const struct block &b, const struct cuda_node &node, uint32_t rows) {
  const struct cuda_edge &edge = b.edges[node.edge];
  const struct cuda_node &source = b.nodes[edge.source];
  const float *in = at(b, source.value), *gradient = at(b, node.gradient);
  if (!edge.gradient)
    return;
  const struct pull_numbers to = pull_to(b, edge, source);
  each_cell(rows, source.width, [&](uint32_t row, uint32_t column) {
    const float x = in[row * source.ld + column], *g = gradient + row * node.ld + column;
    to.one(row, column, x > 0 ? *g : x < 0 ? -g[source.width] : 0);
  });
}

CUDA_PHASE void backward_drop(const struct block &b, const struct cuda_node &node, uint32_t rows) {
  const struct cuda_edge &edge = b.edges[node.edge];
  const struct cuda_node &source = b.nodes[edge.source];
  const float *mask = at(b, node.mask), *gradient = at(b, node.gradient);
  const bool paths = node.op == TUTTI_OP_DROP_PATH;
  if (!edge.gradient)
    return;
  const struct pull_numbers to = pull_to(b, edge, source);
  each_cell(rows, node.width, [&](uint32_t row, uint32_t c) {
    to.one(row, c, mask[paths ? row : row * node.ld + c] * gradient[row * node.ld + c]);
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
  const struct pull_numbers to = pull_to(b, edge, source);
  each_cell(rows, node.width, [&](uint32_t row, uint32_t c) {
    const float apart = x[row * source.ld + c] - s[c], g = gradient[row * node.ld + c];
    to.one(row, c, CUDA_FMA(s[2 * node.ld + c], g, CUDA_FMA(s[4 * node.ld + c], apart, s[5 * node.ld + c])));
  });
}

/* The gradient before a node's activation. */
CUDA_PHASE void backward_activation(const struct block &b, const struct cuda_node &node, uint32_t rows) {
  struct three {
    float4 value, slope, gradient;
  };
  float *gradient = at(b, node.gradient);
  const float *value = at(b, node.value), *slope = node.slope.at == CUDA_NOWHERE ? value : at(b, node.slope);
  const uint32_t activation = node.activation;
  each_with<1>(
      rows * node.ld / 4,
      [=](uint32_t i) -> struct three {
        return {four(value + 4 * i), four(slope + 4 * i), four(gradient + 4 * i)};
      },
      [=](uint32_t i, const struct three &of) {
        put_four(gradient + 4 * i, derive_four(activation, of.value, of.slope, of.gradient));
      });
}

/* `all`: rows with the artificial ones, where most gradients are 0. */
CUDA_PHASE void backward(const struct block &b, uint32_t node_count, uint32_t all) {
  for (uint32_t i = node_count; i-- > 0;) {
    const struct cuda_node &node = b.nodes[i];
    const uint32_t rows = node.artificial ? all : all - b.artificial;
    if (!node.needs_gradient || node.gradient.at == CUDA_NOWHERE || node.edge_count == 0)
      continue;
    if (node.activation != TUTTI_ACTIVATION_CRELU && node.activation != TUTTI_ACTIVATION_LINEAR && !node.masked) {
      backward_activation(b, node, rows);
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
