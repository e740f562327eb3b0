/* stream_head.cuh - rows into the input, losses with their gradients, predictions, and the steps of the optimiser. */
#ifndef BACKEND_CUDA_STREAM_HEAD_CUH
#define BACKEND_CUDA_STREAM_HEAD_CUH

#include "stream_view.cuh"
#include "step.cuh"

CPU_INLINE uint32_t row_at(const uint32_t *order, const struct stream_state *state, uint32_t i) {
  const uint32_t at = (state ? state->begin : 0) + i;
  return order ? order[at] : at;
}

static __global__ void gather_rows(struct stream_gather w) {
  const uint32_t size = w.pixels * w.ld;
  for_all(w.count * size, [&](uint32_t i) {
    const uint32_t c = i % w.ld, p = i % size / w.ld, row = row_at(w.order, w.state, i / size);
    set(w.to, i, c < w.width ? w.rows.inputs[(size_t)row * w.rows.features + p * w.width + c] : 0);
  });
}

void backend_cuda_stream_gather(const struct stream_place *place, const struct stream_gather *what) {
  const struct stream_gather w = *what;
  STREAM_LAUNCH(gather_rows, place, w.count * w.pixels * w.ld, w);
}

/* --- losses (backends/cpu/head.c) --- */

/* The logarithm of the sum of a row's exponentials, less the largest number, which is *top. */
CPU_INLINE float softmax_sum(const float *x, uint32_t classes, float *top) {
  float sum = 0;
  *top = x[0];
  for (uint32_t c = 1; c < classes; c++)
    *top = x[c] > *top ? x[c] : *top;
  for (uint32_t c = 0; c < classes; c++)
    sum += v_exp_negative(x[c] - *top);
  return sum;
}

static __global__ void class_losses(struct stream_head w) {
  for_all(w.count, [&](uint32_t r) {
    const float *x = w.value + r * w.ld;
    const uint32_t label = (uint32_t)w.rows.labels[row_at(w.order, w.state, r)];
    float top;
    const float sum = softmax_sum(x, w.outputs, &top);
    const double weight = w.class_weights ? w.class_weights[label] : 1;
    const float by = 1 / (float)w.count * (float)weight;
    for (uint32_t c = 0; w.gradient && c < w.ld; c++)
      w.gradient[r * w.ld + c] =
          c < w.outputs ? by * (v_exp_negative(x[c] - top) / sum - label_target(c, label, w.outputs, w.label_smoothing)) : 0;
    w.partial[r] = weight * ((double)(top + v_log(sum)) - label_logit(x, label, w.outputs, w.label_smoothing));
  });
}

static __global__ void number_losses(struct stream_head w) {
  const uint32_t cells = w.count * w.outputs;
  const struct cpu_gaussian by = {w.scale, w.floor, w.variance != 0, 1 / (float)cells};
  for_all(w.count * w.ld, [&](uint32_t i) {
    const uint32_t r = i / w.ld, o = i % w.ld;
    const uint32_t used = w.op == TUTTI_OP_HEAD_GAUSSIAN ? 2 * w.outputs : w.outputs;
    if (o >= used && w.gradient)
      w.gradient[i] = 0;
    if (o >= w.outputs)
      return;
    const float target = w.rows.targets[(size_t)row_at(w.order, w.state, r) * w.outputs + o], *x = w.value + i;
    if (w.op == TUTTI_OP_HEAD_GAUSSIAN) {
      float slope_mean, slope_raw;
      w.partial[r * w.outputs + o] = gaussian(&by, 1, x, x + w.outputs, &target, &slope_mean, &slope_raw);
      if (w.gradient) {
        w.gradient[i] = slope_mean;
        w.gradient[i + w.outputs] = slope_raw;
      }
    } else {
      const float residual = *x - target;
      w.partial[r * w.outputs + o] = (double)residual * (double)residual;
      if (w.gradient)
        w.gradient[i] = 2 / (float)cells * residual;
    }
  });
}

/* What the rows' losses come to. By one block. */
static __global__ void add_losses(struct stream_head w, uint32_t terms) {
  CUDA_SHARED(shared);
  struct stream_state *state = w.state;
  const double loss = tree_sum((double *)shared, terms, [&](uint32_t i) { return w.partial[i]; }) / (double)terms;
  if (threadIdx.x != 0 || state->diverged)
    return;
  state->loss = loss;
  if (w.watched && !isfinite(loss)) {
    state->diverged = 1;
    state->value = loss;
    return;
  }
  state->total += loss * (double)w.count;
  state->begin += w.count;
}

void backend_cuda_stream_loss(const struct stream_place *place, const struct stream_head *what) {
  const struct stream_head w = *what;
  const bool classes = w.op == TUTTI_OP_HEAD_SOFTMAX;
  const uint32_t terms = classes ? w.count : w.count * w.outputs;
  if (classes)
    STREAM_LAUNCH(class_losses, place, w.count, w);
  else
    STREAM_LAUNCH(number_losses, place, w.count * w.ld, w);
  CUDA_LAUNCH(add_losses, 1, place->threads, TREE_BYTES, place->stream, w, terms);
}

static __global__ void predict_heads(struct stream_predict w) {
  const struct cpu_gaussian by = {w.scale, w.floor, w.variance != 0, 1};
  for_all(w.count, [&](uint32_t r) {
    const float *x = w.value + r * w.ld;
    float *out = w.out + (size_t)r * w.width, top, sum = 1;
    if (w.op == TUTTI_OP_HEAD_SOFTMAX)
      sum = softmax_sum(x, w.outputs, &top);
    for (uint32_t o = 0; o < w.outputs; o++) {
      if (w.op == TUTTI_OP_HEAD_SOFTMAX) {
        out[o] = v_exp_negative(x[o] - top) / sum;
        continue;
      }
      float spread = __int_as_float(0x7fc00000);
      if (w.op == TUTTI_OP_HEAD_GAUSSIAN)
        variance(&by, 1, x + w.outputs + o, &spread);
      out[2 * o] = x[o];
      out[2 * o + 1] = spread;
    }
  });
}

void backend_cuda_stream_predict(const struct stream_place *place, const struct stream_predict *what) {
  const struct stream_predict w = *what;
  STREAM_LAUNCH(predict_heads, place, w.count, w);
}

/* --- steps --- */

static __global__ void begin_pass(struct stream_state *state, double rate, double progress) {
  state->rate = rate;
  state->progress = progress;
  state->total = 0;
  state->begin = 0;
}

static __global__ void start_second(const struct cpu_config *config, float *second, uint32_t count) {
  const float start = start_of(*config);
  for_all(count, [&](uint32_t i) { second[i] = start; });
}

static __global__ void begin_update(struct stream_update w) {
  struct stream_state *state = w.state;
  if (state->diverged)
    return;
  state->steps++;
  state->update = update_of(*w.config, state->steps, state->rate, state->own);
}

/* L2 is added to the gradients first, then their norms are taken. A block for each piece. */
static __global__ void square_pieces(struct stream_update w) {
  CUDA_SHARED(shared);
  for (uint32_t i = blockIdx.x; i < w.count; i += gridDim.x) {
    const struct stream_piece piece = w.pieces[i];
    float *g = w.gradients + piece.offset;
    const float *weights = w.weights + piece.offset;
    const double sum = tree_sum((double *)shared, piece.size, [&](uint32_t k) {
      if (piece.decay > 0)
        g[k] = CUDA_FMA(piece.decay, weights[k], g[k]);
      return (double)g[k] * (double)g[k];
    });
    if (threadIdx.x == 0)
      w.squares[i] = sum;
  }
}

/* The factor of each segment. By one block. */
static __global__ void scale_segments(struct stream_update w) {
  CUDA_SHARED(shared);
  const double limit = w.config->gradient_clip;
  const double all = tree_sum((double *)shared, w.count, [&](uint32_t i) { return w.squares[i]; });
  for (uint32_t s = threadIdx.x; s < w.segments; s += blockDim.x) {
    double own = 0;
    for (uint32_t i = w.starts[s]; i < w.starts[s + 1]; i++)
      own += w.squares[i];
    w.scales[s] = clip_scale(limit, w.each ? own : all);
  }
}

static __global__ void update_pieces(struct stream_update w) {
  if (w.state->diverged)
    return;
  struct cpu_update u = w.state->update;
  for (uint32_t i = blockIdx.x; i < w.count; i += gridDim.x) {
    const struct stream_piece piece = w.pieces[i];
    u.scale = w.squares ? w.scales[piece.segment] : 1;
    u.decay = w.squares ? 0 : piece.decay;
    update_weights(*w.config, u, piece.size, w.weights + piece.offset, w.gradients + piece.offset,
                   w.first + piece.offset, w.second + piece.offset);
  }
}

static __global__ void average_weights(struct stream_average w) {
  for_all(w.floats, [&](uint32_t i) {
    const float now = w.weights[i];
    w.own[i] = now;
    if (i < w.trained) {
      const float before = w.average[i], mean = w.share == 1 ? now : before + w.share * (now - before);
      w.average[i] = mean;
      w.weights[i] = mean;
    }
  });
}

void backend_cuda_stream_average(const struct stream_place *place, const struct stream_average *what) {
  const struct stream_average w = *what;
  STREAM_LAUNCH(average_weights, place, w.floats, w);
}

void backend_cuda_stream_begin(const struct stream_place *place, struct stream_state *state, double rate,
                               double progress) {
  CUDA_LAUNCH(begin_pass, 1, 1, 0, place->stream, state, rate, progress);
}

void backend_cuda_stream_start(const struct stream_place *place, const struct cpu_config *config, float *second,
                               uint32_t count) {
  STREAM_LAUNCH(start_second, place, count, config, second, count);
}

void backend_cuda_stream_update(const struct stream_place *place, const struct stream_update *what) {
  const struct stream_update w = *what;
  const uint32_t blocks = w.count < place->blocks ? w.count : place->blocks;
  CUDA_LAUNCH(begin_update, 1, 1, 0, place->stream, w);
  if (w.count == 0)
    return;
  if (w.squares) {
    CUDA_LAUNCH(square_pieces, blocks, place->threads, TREE_BYTES, place->stream, w);
    CUDA_LAUNCH(scale_segments, 1, place->threads, TREE_BYTES, place->stream, w);
  }
  CUDA_LAUNCH(update_pieces, blocks, place->threads, 0, place->stream, w);
}

#endif
