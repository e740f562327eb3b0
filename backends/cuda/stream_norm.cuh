/* stream_norm.cuh - sums over columns, and batch norm (backends/cpu/norm.c): statistics, gradients, and what they make of
   the input. Sums are in double precision: of floats that is exact enough for a variance from sums of squares, whatever
   the mean is. */
#ifndef BACKEND_CUDA_STREAM_NORM_CUH
#define BACKEND_CUDA_STREAM_NORM_CUH

#include "stream_view.cuh"

/* A thread sums one column over a chunk. */
static __global__ void column_sums(struct stream_columns w, enum stream_kind kind) {
  for_all(w.chunks * w.width, [&](uint32_t i) {
    const uint32_t c = i % w.width, begin = i / w.width * w.chunk;
    const uint32_t end = w.cells - begin < w.chunk ? w.cells : begin + w.chunk;
    const float mean = kind == STREAM_NORM_GRADIENTS ? w.mean[c] : 0;
    double sum = 0, other = 0;
    for (uint32_t p = begin; p < end; p++) {
      const uint32_t at = p * w.ld + c;
      if (kind == STREAM_MOMENTS) {
        const double x = (double)get(w.x, at);
        sum += x;
        other += x * x;
      } else {
        const float g = get(w.g, at);
        sum += (double)g;
        if (kind == STREAM_NORM_GRADIENTS)
          other += (double)(g * (get(w.x, at) - mean));
      }
    }
    w.partial[i] = sum;
    if (kind != STREAM_BIAS)
      w.partial[w.chunks * w.width + i] = other;
  });
}

/* Call f(column, sum) for each column, by the first thread of a block. */
static __global__ void add_partial(struct stream_add w) {
  CUDA_SHARED(shared);
  for (uint32_t i = blockIdx.x; i < w.count; i += gridDim.x) {
    const double sum = tree_sum((double *)shared, w.chunks, [&](uint32_t k) { return w.partial[k * w.count + i]; });
    if (threadIdx.x == 0)
      w.to[i / w.width * w.ld + i % w.width] = (float)sum;
  }
}

/* Scale and shift of channel c. */
CPU_INLINE void set_affine(const struct stream_norm &w, uint32_t c, float mean, float inverse) {
  float *s = w.statistics;
  const float scale = (w.gamma ? w.gamma[c] : 1) * inverse;
  s[c] = mean;
  s[w.ld + c] = inverse;
  s[2 * w.ld + c] = scale;
  s[3 * w.ld + c] = (w.beta ? w.beta[c] : 0) - mean * scale;
}

CPU_INLINE void clear_beyond(const struct stream_norm &w) {
  if (blockIdx.x == 0)
    for (uint32_t i = threadIdx.x; i < CUDA_STATISTICS * (w.ld - w.width); i += blockDim.x)
      w.statistics[i / (w.ld - w.width) * w.ld + w.width + i % (w.ld - w.width)] = 0;
}

static __global__ void measure_norm(struct stream_norm w) {
  CUDA_SHARED(shared);
  const double *squares = w.partial + w.chunks * w.width;
  clear_beyond(w);
  for (uint32_t c = blockIdx.x; c < w.width; c += gridDim.x) {
    const double sum = tree_sum((double *)shared, w.chunks, [&](uint32_t k) { return w.partial[k * w.width + c]; });
    const double square = tree_sum((double *)shared, w.chunks, [&](uint32_t k) { return squares[k * w.width + c]; });
    if (threadIdx.x == 0) {
      const double mean = sum / w.cells, apart = square / w.cells - mean * mean;
      const double variance = apart > 0 || isnan(apart) ? apart : 0;
      const double unbiased = w.cells > 1 ? variance * w.cells / (w.cells - 1) : variance;
      w.running_mean[c] += w.momentum * ((float)mean - w.running_mean[c]);
      w.running_variance[c] += w.momentum * ((float)unbiased - w.running_variance[c]);
      set_affine(w, c, (float)mean, (float)(1 / sqrt(variance + w.epsilon)));
    }
  }
}

static __global__ void recall_norm(struct stream_norm w) {
  clear_beyond(w);
  for_all(w.width, [&](uint32_t c) {
    set_affine(w, c, w.running_mean[c], (float)(1 / sqrt((double)w.running_variance[c] + w.epsilon)));
  });
}

static __global__ void follow_norm(struct stream_norm w) {
  CUDA_SHARED(shared);
  const double *products = w.partial + w.chunks * w.width;
  float *s = w.statistics;
  for (uint32_t c = blockIdx.x; c < w.width; c += gridDim.x) {
    const double sum = tree_sum((double *)shared, w.chunks, [&](uint32_t k) { return w.partial[k * w.width + c]; });
    const double apart = tree_sum((double *)shared, w.chunks, [&](uint32_t k) { return products[k * w.width + c]; });
    if (threadIdx.x == 0) {
      const double inverse = (double)s[w.ld + c], gain = (double)s[2 * w.ld + c], product = apart * inverse;
      if (w.gamma_gradient) {
        w.gamma_gradient[c] = (float)product;
        w.beta_gradient[c] = (float)sum;
      }
      s[4 * w.ld + c] = (float)(-gain * inverse * product / w.cells);
      s[5 * w.ld + c] = (float)(-gain * sum / w.cells);
    }
  }
}

static __global__ void pull_norm(struct stream_norm_gradient w) {
  const float *s = w.statistics;
  for_all(w.cells * w.ld, [&](uint32_t i) {
    const uint32_t c = i % w.ld;
    const float sum = c < w.width ? CUDA_FMA(s[2 * w.ld + c], get(w.gradient, i),
                                             CUDA_FMA(s[4 * w.ld + c], get(w.x, i) - s[c], s[5 * w.ld + c]))
                                  : 0;
    give(w.to, i, sum, w.accumulate);
  });
}

/* A block for each column. */
#define COLUMN_LAUNCH(kernel, place, columns, ...)                                                                     \
  CUDA_LAUNCH(kernel, (columns) < (place)->blocks ? (columns) : (place)->blocks, (place)->threads, TREE_BYTES,         \
              (place)->stream, __VA_ARGS__)

void backend_cuda_stream_columns(const struct stream_place *place, const struct stream_columns *what,
                                 enum stream_kind kind) {
  const struct stream_columns w = *what;
  STREAM_LAUNCH(column_sums, place, w.chunks * w.width, w, kind);
}

void backend_cuda_stream_add(const struct stream_place *place, const struct stream_add *what) {
  const struct stream_add w = *what;
  COLUMN_LAUNCH(add_partial, place, w.count, w);
}

void backend_cuda_stream_norm_forward(const struct stream_place *place, const struct stream_norm *what) {
  const struct stream_norm w = *what;
  if (w.partial)
    COLUMN_LAUNCH(measure_norm, place, w.width, w);
  else
    STREAM_LAUNCH(recall_norm, place, w.width, w);
}

void backend_cuda_stream_norm_backward(const struct stream_place *place, const struct stream_norm *what) {
  const struct stream_norm w = *what;
  COLUMN_LAUNCH(follow_norm, place, w.width, w);
}

void backend_cuda_stream_norm_gradient(const struct stream_place *place, const struct stream_norm_gradient *what) {
  const struct stream_norm_gradient w = *what;
  STREAM_LAUNCH(pull_norm, place, w.cells * w.ld, w);
}

#endif
