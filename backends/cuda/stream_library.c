/* stream_library.c - what the stream engine leaves to libraries: convolutions to cuDNN, products to cuBLAS. Both work
   on one stream, in memory that they are lent, so that they neither wait nor allocate; and only with deterministic
   algorithms, whose sums are float32. */
#include "stream_host_impl.h"

#include <cublas_v2.h>
#include <cudnn.h>

struct stream_library {
  cudnnHandle_t dnn;
  cublasHandle_t blas;
  cudnnTensorDescriptor_t in, out;
  cudnnFilterDescriptor_t filter;
  cudnnConvolutionDescriptor_t conv;
  void *workspace;
  size_t workspace_bytes;
};

/* Algorithms that want more memory are passed over where another does without. */
enum { WORKSPACE_LIMIT = 1 << 29 };

static enum tutti_status dnn_status(tutti_context *context, cudnnStatus_t error, const char *doing) {
  if (error == CUDNN_STATUS_SUCCESS)
    return TUTTI_OK;
  return TUTTI_FAIL(context,
                    error == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED ? TUTTI_ERROR_MEMORY : TUTTI_ERROR_IO,
                    "cuDNN: %s (error %d in %.40s)", cudnnGetErrorString(error), (int)error, doing);
}
#define DNN_TRY(context, call) TUTTI_TRY(context, dnn_status(context, call, #call))

static enum tutti_status blas_status(tutti_context *context, cublasStatus_t error, const char *doing) {
  if (error == CUBLAS_STATUS_SUCCESS)
    return TUTTI_OK;
  return TUTTI_FAIL(context, error == CUBLAS_STATUS_ALLOC_FAILED ? TUTTI_ERROR_MEMORY : TUTTI_ERROR_IO,
                    "cuBLAS: %s (error %d in %.40s)", cublasGetStatusString(error), (int)error, doing);
}
#define BLAS_TRY(context, call) TUTTI_TRY(context, blas_status(context, call, #call))

static enum tutti_status library_fill(tutti_context *context, cudaStream_t stream, struct stream_library *l) {
  DNN_TRY(context, cudnnCreate(&l->dnn));
  DNN_TRY(context, cudnnSetStream(l->dnn, stream));
  DNN_TRY(context, cudnnCreateTensorDescriptor(&l->in));
  DNN_TRY(context, cudnnCreateTensorDescriptor(&l->out));
  DNN_TRY(context, cudnnCreateFilterDescriptor(&l->filter));
  DNN_TRY(context, cudnnCreateConvolutionDescriptor(&l->conv));
  BLAS_TRY(context, cublasCreate(&l->blas));
  BLAS_TRY(context, cublasSetStream(l->blas, stream));
  /* By itself cuBLAS may add numbers of 16 bits up in 16 bits. */
  BLAS_TRY(context, cublasSetMathMode(l->blas, (cublasMath_t)(CUBLAS_DEFAULT_MATH |
                                                              CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)));
  return TUTTI_OK;
}

enum tutti_status backend_cuda_library_open(tutti_context *context, cudaStream_t stream, struct stream_library **made) {
  struct stream_library *library;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *library, &library));
  enum tutti_status status = library_fill(context, stream, library);
  if (status == TUTTI_OK)
    *made = library;
  else
    backend_cuda_library_close(library);
  return status;
}

void backend_cuda_library_close(struct stream_library *library) {
  if (!library)
    return;
  if (library->conv)
    (void)cudnnDestroyConvolutionDescriptor(library->conv);
  if (library->filter)
    (void)cudnnDestroyFilterDescriptor(library->filter);
  if (library->out)
    (void)cudnnDestroyTensorDescriptor(library->out);
  if (library->in)
    (void)cudnnDestroyTensorDescriptor(library->in);
  if (library->blas)
    (void)cublasDestroy(library->blas);
  if (library->dnn)
    (void)cudnnDestroy(library->dnn);
  tutti_free(library);
}

enum tutti_status backend_cuda_library_lend(tutti_context *context, struct stream_library *library, void *products,
                                            size_t product_bytes, void *convolutions, size_t convolution_bytes) {
  BLAS_TRY(context, cublasSetWorkspace(library->blas, products, product_bytes));
  library->workspace = convolutions;
  library->workspace_bytes = convolution_bytes;
  return TUTTI_OK;
}

/* --- convolutions --- */

static enum tutti_status describe_conv(tutti_context *context, struct stream_library *l, const struct stream_conv *c,
                                       cudnnMathType_t math) {
  const cudnnDataType_t type = c->precision == CPU_BFLOAT16 ? CUDNN_DATA_BFLOAT16 : CUDNN_DATA_FLOAT;
  DNN_TRY(context, cudnnSetTensor4dDescriptor(l->in, CUDNN_TENSOR_NHWC, type, (int)c->rows, (int)c->in_ld,
                                              (int)c->in_height, (int)c->in_width));
  DNN_TRY(context, cudnnSetTensor4dDescriptor(l->out, CUDNN_TENSOR_NHWC, type, (int)c->rows, (int)c->out_ld,
                                              (int)c->out_height, (int)c->out_width));
  DNN_TRY(context, cudnnSetFilter4dDescriptor(l->filter, type, CUDNN_TENSOR_NHWC, (int)c->out_ld, (int)c->in_ld,
                                              (int)c->kernel_height, (int)c->kernel_width));
  DNN_TRY(context, cudnnSetConvolution2dDescriptor(l->conv, (int)c->top, (int)c->left, (int)c->stride, (int)c->stride,
                                                   (int)c->dilation, (int)c->dilation, CUDNN_CROSS_CORRELATION,
                                                   CUDNN_DATA_FLOAT));
  DNN_TRY(context, cudnnSetConvolutionMathType(l->conv, math));
  return TUTTI_OK;
}

enum { MOST_ALGORITHMS = 16 };

/* What cuDNN may use: for float32 no tensor cores, which would round to TF32. */
static cudnnMathType_t math_of(const struct stream_conv *conv) {
  return conv->precision == CPU_FLOAT32 ? CUDNN_FMA_MATH : CUDNN_DEFAULT_MATH;
}

/* The first of cuDNN's proposals, the fastest first, that is deterministic and content with the memory. */
#define PICK(found, count, algorithm, memory_needed)                                                                   \
  do {                                                                                                                 \
    (algorithm).number = -1;                                                                                           \
    for (int pick = 0; pick < (count) && (algorithm).number < 0; pick++)                                               \
      if ((found)[pick].status == CUDNN_STATUS_SUCCESS && (found)[pick].determinism == CUDNN_DETERMINISTIC &&          \
          (found)[pick].memory <= WORKSPACE_LIMIT) {                                                                   \
        (algorithm).number = (int)(found)[pick].algo;                                                                  \
        (algorithm).math = (int)(found)[pick].mathType;                                                                \
        if ((memory_needed) < (found)[pick].memory)                                                                    \
          (memory_needed) = (found)[pick].memory;                                                                      \
      }                                                                                                                \
  } while (0)

enum tutti_status backend_cuda_library_choose(tutti_context *context, struct stream_library *l,
                                              const struct stream_conv *conv, bool gradients,
                                              struct stream_algorithms *a, bool *has) {
  cudnnConvolutionFwdAlgoPerf_t forward[MOST_ALGORITHMS];
  cudnnConvolutionBwdDataAlgoPerf_t inputs[MOST_ALGORITHMS];
  cudnnConvolutionBwdFilterAlgoPerf_t weights[MOST_ALGORITHMS];
  int count = 0;
  *a = (struct stream_algorithms){0};
  TUTTI_TRY(context, describe_conv(context, l, conv, math_of(conv)));
  DNN_TRY(context, cudnnGetConvolutionForwardAlgorithm_v7(l->dnn, l->in, l->filter, l->conv, l->out, MOST_ALGORITHMS,
                                                          &count, forward));
  PICK(forward, count, a->forward, a->workspace);
  *has = a->forward.number >= 0;
  if (!gradients)
    return TUTTI_OK;
  DNN_TRY(context, cudnnGetConvolutionBackwardDataAlgorithm_v7(l->dnn, l->filter, l->out, l->conv, l->in,
                                                               MOST_ALGORITHMS, &count, inputs));
  PICK(inputs, count, a->inputs, a->workspace);
  DNN_TRY(context, cudnnGetConvolutionBackwardFilterAlgorithm_v7(l->dnn, l->in, l->out, l->conv, l->filter,
                                                                 MOST_ALGORITHMS, &count, weights));
  PICK(weights, count, a->weights, a->workspace);
  *has = *has && a->inputs.number >= 0 && a->weights.number >= 0;
  return TUTTI_OK;
}

static const float one = 1, zero = 0;

enum tutti_status backend_cuda_conv_forward(tutti_context *context, struct stream_library *l,
                                            const struct stream_conv *conv, const struct stream_algorithms *a,
                                            const void *x, const void *filter, void *y) {
  TUTTI_TRY(context, describe_conv(context, l, conv, (cudnnMathType_t)a->forward.math));
  DNN_TRY(context, cudnnConvolutionForward(l->dnn, &one, l->in, x, l->filter, filter, l->conv,
                                           (cudnnConvolutionFwdAlgo_t)a->forward.number, l->workspace,
                                           l->workspace_bytes, &zero, l->out, y));
  return TUTTI_OK;
}

enum tutti_status backend_cuda_conv_inputs(tutti_context *context, struct stream_library *l,
                                           const struct stream_conv *conv, const struct stream_algorithms *a,
                                           const void *filter, const void *gradient, bool accumulate, void *to) {
  TUTTI_TRY(context, describe_conv(context, l, conv, (cudnnMathType_t)a->inputs.math));
  DNN_TRY(context, cudnnConvolutionBackwardData(l->dnn, &one, l->filter, filter, l->out, gradient, l->conv,
                                                (cudnnConvolutionBwdDataAlgo_t)a->inputs.number, l->workspace,
                                                l->workspace_bytes, accumulate ? &one : &zero, l->in, to));
  return TUTTI_OK;
}

enum tutti_status backend_cuda_conv_weights(tutti_context *context, struct stream_library *l,
                                            const struct stream_conv *conv, const struct stream_algorithms *a,
                                            const void *x, const void *gradient, void *filter) {
  TUTTI_TRY(context, describe_conv(context, l, conv, (cudnnMathType_t)a->weights.math));
  DNN_TRY(context, cudnnConvolutionBackwardFilter(l->dnn, &one, l->in, x, l->out, gradient, l->conv,
                                                  (cudnnConvolutionBwdFilterAlgo_t)a->weights.number, l->workspace,
                                                  l->workspace_bytes, &zero, l->filter, filter));
  return TUTTI_OK;
}

/* --- products --- */

static cudaDataType_t type_of(struct stream_array array) { return array.narrow ? CUDA_R_16BF : CUDA_R_32F; }

/* cuBLAS reads matrices by columns: what it takes for B' A' is A B by rows. */
enum tutti_status backend_cuda_multiply(tutti_context *context, struct stream_library *l,
                                        const struct stream_product *p) {
  const cublasComputeType_t compute = p->precision == CPU_TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
  BLAS_TRY(context,
           cublasGemmEx(l->blas, p->b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
                        p->a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, (int)p->n, (int)p->m, (int)p->k, &one, p->b.at,
                        type_of(p->b), (int)p->ldb, p->a.at, type_of(p->a), (int)p->lda, p->accumulate ? &one : &zero,
                        p->c.at, type_of(p->c), (int)p->ldc, compute, CUBLAS_GEMM_DEFAULT));
  return TUTTI_OK;
}
