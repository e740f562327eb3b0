/* stream_norm.cuh - sums over columns, and batch norm (backends/cpu/norm.c): statistics, gradients, and what they make
   of the input. Sums are in double precision: of floats that is exact enough for a variance from sums of squares,
   whatever the mean is. */
#ifndef BACKEND_CUDA_STREAM_NORM_CUH
#define BACKEND_CUDA_STREAM_NORM_CUH

#include "stream_view.cuh"

/* What the threads of a block sum up side by side: `items`, in `lanes` parts where that leaves none idle. So many
   sums at most meet in shared memory. */
enum { STREAM_LANES_AT_MOST = 256 };
CPU_INLINE uint32_t lanes_of(uint32_t items) { return items < STREAM_LANES_AT_MOST ? STREAM_LANES_AT_MOST / items : 1; }

/* A block sums a chunk of cells, a thread four columns of some of its cells. */
static __global__ void column_sums(struct stream_columns w, enum stream_kind kind) {
  CUDA_SHARED(shared);
  double *sums = (double *)shared; /* [lanes][quads][4][2] */
  const uint32_t quads = (w.width + 3) / 4, lanes = lanes_of(quads), values = kind == STREAM_BIAS ? 1 : 2;
  const auto keep = [&](uint32_t chunk, uint32_t c, uint32_t value, double sum) {
    if (c < w.width)
      w.partial[(value * w.chunks + chunk) * w.width + c] = sum;
  };
  for (uint32_t chunk = blockIdx.x; chunk < w.chunks; chunk += gridDim.x) {
    const uint32_t begin = chunk * w.chunk, end = w.cells - begin < w.chunk ? w.cells : begin + w.chunk;
    for (uint32_t i = threadIdx.x; i < lanes * quads; i += blockDim.x) {
      const uint32_t c = i % quads * 4;
      double sum[4][2] = {};
      float mean[4];
      CUDA_UNROLL
      for (uint32_t e = 0; e < 4; e++)
        mean[e] = kind == STREAM_NORM_GRADIENTS ? w.mean[c + e] : 0;
      CUDA_UNROLL_BY(2)
      for (uint32_t p = begin + i / quads; p < end; p += lanes) {
        struct numbers<4> x = {}, g = {};
        if (kind != STREAM_BIAS)
          x = get_some<4>(w.x, p * w.ld + c);
        if (kind != STREAM_MOMENTS)
          g = get_some<4>(w.g, p * w.ld + c);
        CUDA_UNROLL
        for (uint32_t e = 0; e < 4; e++) {
          const double one = kind == STREAM_MOMENTS ? (double)x.at[e] : (double)g.at[e];
          sum[e][0] += one;
          sum[e][1] += kind == STREAM_MOMENTS ? one * one : (double)(g.at[e] * (x.at[e] - mean[e]));
        }
      }
      CUDA_UNROLL
      for (uint32_t e = 0; e < 4; e++)
        for (uint32_t v = 0; v < values; v++)
          if (lanes == 1)
            keep(chunk, c + e, v, sum[e][v]);
          else
            sums[(i * 4 + e) * 2 + v] = sum[e][v];
    }
    if (lanes == 1)
      continue;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < quads * 4 * values; i += blockDim.x) {
      const uint32_t c = i / values, v = i % values;
      double sum = 0;
      for (uint32_t lane = 0; lane < lanes; lane++)
        sum += sums[(lane * quads * 4 + c) * 2 + v];
      keep(chunk, c, v, sum);
    }
    __syncthreads();
  }
}
#define COLUMN_SUMS_BYTES (STREAM_LANES_AT_MOST * 8 * sizeof(double))

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
  for_all(w.cells * w.ld / 4, [&](uint32_t i) {
    const uint32_t c = 4 * i % w.ld;
    const struct numbers<4> g = get_some<4>(w.gradient, 4 * i), x = get_some<4>(w.x, 4 * i);
    struct numbers<4> sum;
    CUDA_UNROLL
    for (uint32_t e = 0; e < 4; e++)
      sum.at[e] = c + e < w.width ? CUDA_FMA(s[2 * w.ld + c + e], g.at[e],
                                             CUDA_FMA(s[4 * w.ld + c + e], x.at[e] - s[c + e], s[5 * w.ld + c + e]))
                                  : 0;
    give_some<4>(w.to, 4 * i, sum, w.accumulate);
  });
}

/* A block for each column. */
#define COLUMN_LAUNCH(kernel, place, columns, ...)                                                                     \
  CUDA_LAUNCH(kernel, (columns) < (place)->blocks ? (columns) : (place)->blocks, (place)->threads, TREE_BYTES,         \
              (place)->stream, __VA_ARGS__)

void backend_cuda_stream_columns(const struct stream_place *place, const struct stream_columns *what,
                                 enum stream_kind kind) {
  const struct stream_columns w = *what;
  CUDA_LAUNCH(column_sums, w.chunks < place->blocks ? w.chunks : place->blocks, place->threads, COLUMN_SUMS_BYTES,
              place->stream, w, kind);
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
  STREAM_LAUNCH(pull_norm, place, w.cells * w.ld / 4, w);
}

#endif
