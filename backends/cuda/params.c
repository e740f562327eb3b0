/* params.c - backend cuda's parameters. */
#define CPU_PARAMS_TABLE backend_cuda_params
#define CPU_PRECISIONS                                                                                                 \
  { "float32", "bfloat16", "tf32", NULL }
#define CPU_PRECISION_TEXT                                                                                             \
  "What layers compute with in trainings: float32; bfloat16, with 8 binary digits, of networks of images, whose "      \
  "values and gradients are stored so; or tf32, with 11, in products. Weights, losses and sums stay float32."
#include "backend_impl.h"
#include "backends/cpu/params_impl.h"
