/* emulation_convolutions.c - cuDNN's convolutions on a host without a GPU: images
   [n][h][w][c], filters [k][h][w][c]. */
#include "cudnn.h"

#include "emulation.h"

struct emulated_dnn {
  cudaStream_t stream;
};

struct emulated_images {
  int n, c, h, w;
  bool narrow; /* bfloat16 */
};

struct emulated_convolution {
  cudnnMathType_t math;
  int pad_h, pad_w, stride_h, stride_w, dilation_h, dilation_w;
};

const char *cudnnGetErrorString(cudnnStatus_t status) {
  switch (status) {
  case CUDNN_STATUS_SUCCESS:
    return "CUDNN_STATUS_SUCCESS";
  case CUDNN_STATUS_BAD_PARAM:
    return "CUDNN_STATUS_BAD_PARAM";
  case CUDNN_STATUS_NOT_SUPPORTED:
    return "CUDNN_STATUS_NOT_SUPPORTED";
  case CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED:
    return "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED";
  default:
    return "CUDNN_STATUS_EXECUTION_FAILED";
  }
}

/* --- handles and descriptors --- */

cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
  emulated_begin();
  *handle = calloc(1, sizeof **handle);
  return *handle ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  free(handle);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

static cudnnStatus_t make_images(struct emulated_images **made) {
  *made = calloc(1, sizeof **made);
  return *made ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

static cudnnStatus_t set_images(struct emulated_images *images, cudnnTensorFormat_t format, cudnnDataType_t type, int n,
                                int c, int h, int w) {
  if ((type != CUDNN_DATA_FLOAT && type != CUDNN_DATA_BFLOAT16) || format != CUDNN_TENSOR_NHWC || n < 1 || c < 1 ||
      h < 1 || w < 1)
    return CUDNN_STATUS_BAD_PARAM;
  *images = (struct emulated_images){n, c, h, w, type == CUDNN_DATA_BFLOAT16};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t *made) { return make_images(made); }

cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor) {
  free(tensor);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetTensor4dDescriptor(cudnnTensorDescriptor_t tensor, cudnnTensorFormat_t format,
                                         cudnnDataType_t type, int n, int c, int h, int w) {
  return set_images(tensor, format, type, n, c, h, w);
}

cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t *made) { return make_images(made); }

cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filter) {
  free(filter);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetFilter4dDescriptor(cudnnFilterDescriptor_t filter, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int k, int c, int h, int w) {
  return set_images(filter, format, type, k, c, h, w);
}

cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t *made) {
  *made = calloc(1, sizeof **made);
  return *made ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t conv) {
  free(conv);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolution2dDescriptor(cudnnConvolutionDescriptor_t conv, int pad_h, int pad_w, int stride_h,
                                              int stride_w, int dilation_h, int dilation_w, cudnnConvolutionMode_t mode,
                                              cudnnDataType_t type) {
  if (type != CUDNN_DATA_FLOAT || mode != CUDNN_CROSS_CORRELATION || pad_h < 0 || pad_w < 0 || stride_h < 1 ||
      stride_w < 1 || dilation_h < 1 || dilation_w < 1)
    return CUDNN_STATUS_BAD_PARAM;
  *conv = (struct emulated_convolution){CUDNN_DEFAULT_MATH, pad_h, pad_w, stride_h, stride_w, dilation_h, dilation_w};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t conv, cudnnMathType_t math) {
  conv->math = math;
  return CUDNN_STATUS_SUCCESS;
}

/* --- algorithms --- */

enum { ALGORITHM_RANDOM, ALGORITHM_MISSING, ALGORITHM_GOOD, ALGORITHM_SLOW, ALGORITHMS };

static size_t workspace_of(const struct emulated_images *x) { return (size_t)x->n * (size_t)x->c * 16 + 4; }

/* Tensor cores, where the convolution may have them. */
static cudnnStatus_t propose(const struct emulated_images *x, const struct emulated_convolution *conv, int requested,
                             int *returned, cudnnConvolutionFwdAlgoPerf_t *found) {
  const char *most = getenv("TUTTI_EMULATED_ALGORITHMS");
  *returned = most ? (int)strtol(most, NULL, 10) : ALGORITHMS;
  if (requested < *returned)
    *returned = requested;
  for (int i = 0; i < *returned; i++)
    found[i] = (cudnnConvolutionFwdAlgoPerf_t){
        .algo = i,
        .status = i == ALGORITHM_MISSING ? CUDNN_STATUS_NOT_SUPPORTED : CUDNN_STATUS_SUCCESS,
        .time = (float)i,
        .memory = workspace_of(x),
        .determinism = i == ALGORITHM_RANDOM ? CUDNN_NON_DETERMINISTIC : CUDNN_DETERMINISTIC,
        .mathType = conv->math == CUDNN_FMA_MATH ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t handle, const cudnnTensorDescriptor_t x,
                                                     const cudnnFilterDescriptor_t w,
                                                     const cudnnConvolutionDescriptor_t conv,
                                                     const cudnnTensorDescriptor_t y, const int requested,
                                                     int *returned, cudnnConvolutionFwdAlgoPerf_t *found) {
  (void)handle, (void)w, (void)y;
  return propose(x, conv, requested, returned, found);
}

cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(cudnnHandle_t handle, const cudnnFilterDescriptor_t w,
                                                          const cudnnTensorDescriptor_t dy,
                                                          const cudnnConvolutionDescriptor_t conv,
                                                          const cudnnTensorDescriptor_t dx, const int requested,
                                                          int *returned, cudnnConvolutionBwdDataAlgoPerf_t *found) {
  (void)handle, (void)w, (void)dy;
  return propose(dx, conv, requested, returned, found);
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(cudnnHandle_t handle, const cudnnTensorDescriptor_t x,
                                                            const cudnnTensorDescriptor_t dy,
                                                            const cudnnConvolutionDescriptor_t conv,
                                                            const cudnnFilterDescriptor_t dw, const int requested,
                                                            int *returned, cudnnConvolutionBwdFilterAlgoPerf_t *found) {
  (void)handle, (void)dw, (void)dy;
  return propose(x, conv, requested, returned, found);
}

/* --- convolutions --- */

enum pass { PASS_FORWARD, PASS_INPUTS, PASS_WEIGHTS };

struct convolution {
  enum pass pass;
  struct emulated_images x, y, w;
  struct emulated_convolution by;
  const void *in, *filter, *gradient;
  void *to;
  float beta, wrong;
  void *workspace;
  size_t bytes;
};

static size_t image_at(const struct emulated_images *s, int n, int h, int w) {
  return (((size_t)n * (size_t)s->h + (size_t)h) * (size_t)s->w + (size_t)w) * (size_t)s->c;
}

static size_t count_of(const struct emulated_images *s) {
  return (size_t)s->n * (size_t)s->h * (size_t)s->w * (size_t)s->c;
}

/* What is multiplied and summed up, as float32. */
struct numbers {
  float *in, *filter, *gradient, *to;
};

/* The numbers of an array, rounded to TF32 where the arithmetic does that. */
static float *read_numbers(const struct convolution *c, const void *array, const struct emulated_images *shape) {
  size_t count = count_of(shape);
  float *numbers = array ? malloc(count * sizeof *numbers) : NULL;
  bool rounds = !shape->narrow && c->by.math != CUDNN_FMA_MATH;
  for (size_t i = 0; numbers && i < count; i++) {
    float x = emulated_get(array, shape->narrow, i);
    numbers[i] = rounds ? emulated_to_tf32(x) : x;
  }
  return numbers;
}

/* What two pixels and the filter between them give to each other. */
static void add_tap(const struct convolution *c, const struct numbers *z, size_t x, size_t y, int ky, int kx) {
  for (int k = 0; k < c->y.c; k++) {
    size_t w = image_at(&c->w, k, ky, kx);
    float sum = 0;
    for (int i = 0; i < c->x.c; i++)
      if (c->pass == PASS_FORWARD)
        sum += z->in[x + (size_t)i] * z->filter[w + (size_t)i];
      else if (c->pass == PASS_INPUTS)
        z->to[x + (size_t)i] += z->gradient[y + (size_t)k] * z->filter[w + (size_t)i];
      else
        z->to[w + (size_t)i] += z->gradient[y + (size_t)k] * z->in[x + (size_t)i];
    if (c->pass == PASS_FORWARD)
      z->to[y + (size_t)k] += sum;
  }
}

static void run_convolution(void *argument) {
  const struct convolution *c = argument;
  const struct emulated_images *to = c->pass == PASS_FORWARD ? &c->y : c->pass == PASS_INPUTS ? &c->x : &c->w;
  size_t count = count_of(to);
  struct numbers z = {read_numbers(c, c->in, &c->x), read_numbers(c, c->filter, &c->w),
                      read_numbers(c, c->gradient, &c->y), malloc(count * sizeof(float))};
  memset(c->workspace, 0xff, c->bytes);
  for (size_t i = 0; i < count; i++)
    z.to[i] = c->beta != 0 ? c->beta * emulated_get(c->to, to->narrow, i) : c->wrong;
  for (int n = 0; n < c->y.n; n++)
    for (int oy = 0; oy < c->y.h; oy++)
      for (int ox = 0; ox < c->y.w; ox++)
        for (int ky = 0; ky < c->w.h; ky++)
          for (int kx = 0; kx < c->w.w; kx++) {
            int iy = oy * c->by.stride_h + ky * c->by.dilation_h - c->by.pad_h;
            int ix = ox * c->by.stride_w + kx * c->by.dilation_w - c->by.pad_w;
            if (iy >= 0 && iy < c->x.h && ix >= 0 && ix < c->x.w)
              add_tap(c, &z, image_at(&c->x, n, iy, ix), image_at(&c->y, n, oy, ox), ky, kx);
          }
  for (size_t i = 0; i < count; i++)
    emulated_set(c->to, to->narrow, i, z.to[i]);
  free(z.in), free(z.filter), free(z.gradient), free(z.to);
}

static int outputs(int in, int pad, int kernel, int dilation, int stride) {
  return (in + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1;
}

static cudnnStatus_t start(cudnnHandle_t handle, struct convolution c, const struct emulated_convolution *by, int algo,
                           const void *alpha, const void *beta) {
  float factor;
  memcpy(&factor, alpha, sizeof factor);
  memcpy(&c.beta, beta, sizeof c.beta);
  if (factor != 1 || c.x.narrow != c.y.narrow || c.x.narrow != c.w.narrow || c.x.n != c.y.n || c.x.c != c.w.c ||
      c.y.c != c.w.n || !c.workspace || c.bytes < workspace_of(&c.x) ||
      outputs(c.x.h, by->pad_h, c.w.h, by->dilation_h, by->stride_h) != c.y.h ||
      outputs(c.x.w, by->pad_w, c.w.w, by->dilation_w, by->stride_w) != c.y.w)
    return CUDNN_STATUS_BAD_PARAM;
  if (algo < 0 || algo >= ALGORITHMS || algo == ALGORITHM_MISSING)
    return CUDNN_STATUS_NOT_SUPPORTED;
  c.by = *by;
  c.bytes = workspace_of(&c.x);
  c.wrong = algo == ALGORITHM_RANDOM ? 1 : 0;
  return emulated_call(handle->stream, run_convolution, &c, sizeof c) == cudaSuccess ? CUDNN_STATUS_SUCCESS
                                                                                     : CUDNN_STATUS_EXECUTION_FAILED;
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void *alpha, const cudnnTensorDescriptor_t x_shape,
                                      const void *x, const cudnnFilterDescriptor_t w_shape, const void *w,
                                      const cudnnConvolutionDescriptor_t conv, cudnnConvolutionFwdAlgo_t algo,
                                      void *workspace, size_t workspace_bytes, const void *beta,
                                      const cudnnTensorDescriptor_t y_shape, void *y) {
  const struct convolution c = {.pass = PASS_FORWARD,
                                .x = *x_shape,
                                .y = *y_shape,
                                .w = *w_shape,
                                .in = x,
                                .filter = w,
                                .to = y,
                                .workspace = workspace,
                                .bytes = workspace_bytes};
  return start(handle, c, conv, algo, alpha, beta);
}

cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void *alpha,
                                           const cudnnFilterDescriptor_t w_shape, const void *w,
                                           const cudnnTensorDescriptor_t dy_shape, const void *dy,
                                           const cudnnConvolutionDescriptor_t conv, cudnnConvolutionBwdDataAlgo_t algo,
                                           void *workspace, size_t workspace_bytes, const void *beta,
                                           const cudnnTensorDescriptor_t dx_shape, void *dx) {
  const struct convolution c = {.pass = PASS_INPUTS,
                                .x = *dx_shape,
                                .y = *dy_shape,
                                .w = *w_shape,
                                .gradient = dy,
                                .filter = w,
                                .to = dx,
                                .workspace = workspace,
                                .bytes = workspace_bytes};
  return start(handle, c, conv, algo, alpha, beta);
}

cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void *alpha,
                                             const cudnnTensorDescriptor_t x_shape, const void *x,
                                             const cudnnTensorDescriptor_t dy_shape, const void *dy,
                                             const cudnnConvolutionDescriptor_t conv,
                                             cudnnConvolutionBwdFilterAlgo_t algo, void *workspace,
                                             size_t workspace_bytes, const void *beta,
                                             const cudnnFilterDescriptor_t dw_shape, void *dw) {
  const struct convolution c = {.pass = PASS_WEIGHTS,
                                .x = *x_shape,
                                .y = *dy_shape,
                                .w = *dw_shape,
                                .in = x,
                                .gradient = dy,
                                .to = dw,
                                .workspace = workspace,
                                .bytes = workspace_bytes};
  return start(handle, c, conv, algo, alpha, beta);
}
