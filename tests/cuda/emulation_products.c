/* emulation_products.c - cuBLAS's products on a host without a GPU. */
#include "cublas_v2.h"

#include "emulation.h"

struct emulated_products {
  cudaStream_t stream;
  void *workspace;
  size_t bytes;
};

struct product {
  bool a_turned, b_turned;
  int m, n, k, lda, ldb, ldc;
  float alpha, beta;
  const float *a, *b;
  float *c;
  void *workspace;
  size_t bytes;
};

cublasStatus_t cublasCreate(cublasHandle_t *handle) {
  *handle = calloc(1, sizeof **handle);
  return *handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

cublasStatus_t cublasDestroy(cublasHandle_t handle) {
  free(handle);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
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

static void run_product(void *argument) {
  const struct product *p = argument;
  enum { SPOILT = 4096 };
  memset(p->workspace, 0xff, p->bytes < SPOILT ? p->bytes : SPOILT); /* nobody may count on what was there */
  for (int j = 0; j < p->n; j++)
    for (int i = 0; i < p->m; i++) {
      const float *a = p->a + (p->a_turned ? (size_t)i * (size_t)p->lda : (size_t)i);
      const float *b = p->b + (p->b_turned ? (size_t)j : (size_t)j * (size_t)p->ldb);
      size_t along = p->a_turned ? 1 : (size_t)p->lda, down = p->b_turned ? (size_t)p->ldb : 1;
      float *c = p->c + (size_t)j * (size_t)p->ldc + i, sum = 0;
      for (size_t k = 0; k < (size_t)p->k; k++)
        sum += a[k * along] * b[k * down];
      *c = p->beta != 0 ? p->alpha * sum + p->beta * *c : p->alpha * sum;
    }
}

cublasStatus_t cublasSgemm(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                           int k, const float *alpha, const float *a, int lda, const float *b, int ldb,
                           const float *beta, float *c, int ldc) {
  const struct product product = {
      transa == CUBLAS_OP_T, transb == CUBLAS_OP_T, m, n, k, lda, ldb, ldc, *alpha, *beta, a, b, c,
      handle->workspace,     handle->bytes};
  if (m < 0 || n < 0 || k < 0 || lda < (transa == CUBLAS_OP_N ? m : k) || ldb < (transb == CUBLAS_OP_N ? k : n) ||
      ldc < m || !handle->workspace)
    return CUBLAS_STATUS_INVALID_VALUE;
  return emulated_call(handle->stream, run_product, &product, sizeof product) == cudaSuccess
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_ALLOC_FAILED;
}
