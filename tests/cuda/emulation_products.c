/* emulation_products.c - cuBLAS's products on a host without a GPU. */
#include "cublas_v2.h"

#include "emulation.h"

struct emulated_products {
  cudaStream_t stream;
  int math;
  void *workspace;
  size_t bytes;
};

struct product {
  bool a_turned, b_turned;
  int m, n, k, lda, ldb, ldc;
  float alpha, beta;
  const void *a, *b;
  void *c;
  bool narrow, c_narrow, tf32; /* narrow: A and B are bfloat16; tf32: what is multiplied is rounded to it */
  void *workspace;
  size_t bytes;
};

static int handles; /* that are open */

cublasStatus_t cublasCreate(cublasHandle_t *handle) {
  const char *most = getenv("TUTTI_EMULATED_HANDLES");
  emulated_begin();
  *handle = most && handles >= atoi(most) ? NULL : calloc(1, sizeof **handle);
  handles += *handle != NULL;
  return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  handles--;
  free(handle);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  handle->math = (int)mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes) {
  handle->workspace = workspace;
  handle->bytes = bytes;
  return CUBLAS_STATUS_SUCCESS;
}

const char *cublasGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_SUCCESS        ? "success"
         : status == CUBLAS_STATUS_ALLOC_FAILED ? "the resource allocation failed"
                                                : "an invalid value";
}

static float factor(const struct product *p, const void *array, size_t i) {
  float x = emulated_get(array, p->narrow, i);
  return p->tf32 ? emulated_to_tf32(x) : x;
}

static void run_product(void *argument) {
  const struct product *p = argument;
  enum { SPOILT = 4096 };
  memset(p->workspace, 0xff, p->bytes < SPOILT ? p->bytes : SPOILT); /* nobody may count on what was there */
  for (int j = 0; j < p->n; j++)
    for (int i = 0; i < p->m; i++) {
      size_t a = p->a_turned ? (size_t)i * (size_t)p->lda : (size_t)i;
      size_t b = p->b_turned ? (size_t)j : (size_t)j * (size_t)p->ldb;
      size_t along = p->a_turned ? 1 : (size_t)p->lda, down = p->b_turned ? (size_t)p->ldb : 1;
      size_t c = (size_t)j * (size_t)p->ldc + (size_t)i;
      float sum = 0;
      for (size_t k = 0; k < (size_t)p->k; k++)
        sum += factor(p, p->a, a + k * along) * factor(p, p->b, b + k * down);
      sum *= p->alpha;
      emulated_set(p->c, p->c_narrow, c, p->beta != 0 ? sum + p->beta * emulated_get(p->c, p->c_narrow, c) : sum);
    }
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                            int k, const void *alpha, const void *a, cudaDataType_t a_type, int lda, const void *b,
                            cudaDataType_t b_type, int ldb, const void *beta, void *c, cudaDataType_t c_type, int ldc,
                            cublasComputeType_t compute, cublasGemmAlgo_t algorithm) {
  struct product product = {.a_turned = transa == CUBLAS_OP_T,
                            .b_turned = transb == CUBLAS_OP_T,
                            .m = m,
                            .n = n,
                            .k = k,
                            .lda = lda,
                            .ldb = ldb,
                            .ldc = ldc,
                            .a = a,
                            .b = b,
                            .c = c,
                            .narrow = a_type == CUDA_R_16BF,
                            .c_narrow = c_type == CUDA_R_16BF,
                            .tf32 = compute == CUBLAS_COMPUTE_32F_FAST_TF32,
                            .workspace = handle->workspace,
                            .bytes = handle->bytes};
  memcpy(&product.alpha, alpha, sizeof product.alpha);
  memcpy(&product.beta, beta, sizeof product.beta);
  if (a_type != b_type || (product.c_narrow && !product.narrow) || (product.tf32 && product.narrow) ||
      (product.c_narrow && (handle->math & CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION) == 0) ||
      algorithm != CUBLAS_GEMM_DEFAULT)
    return CUBLAS_STATUS_INVALID_VALUE;
  if (m < 0 || n < 0 || k < 0 || lda < (transa == CUBLAS_OP_N ? m : k) || ldb < (transb == CUBLAS_OP_N ? k : n) ||
      ldc < m || !handle->workspace)
    return CUBLAS_STATUS_INVALID_VALUE;
  return emulated_call(handle->stream, run_product, &product, sizeof product) == cudaSuccess
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_ALLOC_FAILED;
}
