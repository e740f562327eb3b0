/* ensemble_loss_brier.c - running Brier score of ensembles of classifiers. */
#include <math.h>
#include <string.h>

#include "ensemble_loss_impl.h"

/* Let D_k be a model's probabilities less the labels' ones and zeros, and R the sum of the members' D. After adding
   model k, N (m + 1)^2 times the score is |R|^2 + 2 R.D_k + |D_k|^2. R.D_k is a running sum, too: adding model j adds
   D_j.D_k, so that the models are read once per addition, and trying one costs nothing. All terms of these sums are >=
   0, (1 - p) times (1 - p) for the labels: they do not cancel. */
enum { LANES = 8 };

typedef float floats __attribute__((vector_size(LANES * sizeof(float))));
typedef double doubles __attribute__((vector_size(LANES * sizeof(double))));

/* dots[j] = sum over i < count of differences[i] values[j][i] for ENSEMBLE_LOSS_BATCH models. */
static inline __attribute__((always_inline)) void multiply(size_t count, const double *differences,
                                                           const float *const *values, double *dots) {
  doubles sums[ENSEMBLE_LOSS_BATCH] = {{0}};
  size_t whole = count / LANES * LANES;
  for (size_t i = 0; i < whole; i += LANES) {
    doubles difference;
    memcpy(&difference, differences + i, sizeof difference);
#pragma GCC unroll 4
    for (int j = 0; j < ENSEMBLE_LOSS_BATCH; j++) {
      floats value;
      memcpy(&value, values[j] + i, sizeof value);
      sums[j] += difference * __builtin_convertvector(value, doubles);
    }
  }
  for (int j = 0; j < ENSEMBLE_LOSS_BATCH; j++) {
    dots[j] = 0;
    for (int lane = 0; lane < LANES; lane++)
      dots[j] += sums[j][lane];
    for (size_t i = whole; i < count; i++)
      dots[j] += differences[i] * (double)values[j][i];
  }
}

static void multiply_baseline(size_t count, const double *differences, const float *const *values, double *dots) {
  multiply(count, differences, values, dots);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void multiply_avx2(size_t count, const double *differences,
                                                          const float *const *values, double *dots) {
  multiply(count, differences, values, dots);
}

__attribute__((target("avx512f"))) static void multiply_avx512(size_t count, const double *differences,
                                                               const float *const *values, double *dots) {
  multiply(count, differences, values, dots);
}
#endif

static void multiply_for(enum tutti_cpu cpu, size_t count, const double *differences, const float *const *values,
                         double *dots) {
#if defined(__x86_64__)
  if (cpu == TUTTI_CPU_AVX512)
    multiply_avx512(count, differences, values, dots);
  else if (cpu == TUTTI_CPU_AVX2)
    multiply_avx2(count, differences, values, dots);
  else
#endif
    multiply_baseline(count, differences, values, dots);
  (void)cpu;
}

/* Write a model's D to loss->sums; returns the sum of its entries at the labels. */
static double take_differences(tutti_ensemble_loss *loss, size_t model) {
  const struct tutti_pool *pool = &loss->pool;
  double labels = 0;
  for (size_t i = 0; i < pool->rows * pool->outputs; i++)
    loss->sums[i] = (double)pool->predictions[model][i];
  for (size_t n = 0; n < pool->rows; n++)
    labels += loss->sums[n * pool->outputs + (size_t)pool->labels[n]] -= 1;
  return labels;
}

/* products[j] = D.D_k for k = first + j, j < count, where D is in loss->sums. */
static void multiply_differences(const tutti_ensemble_loss *loss, double labels, size_t first, size_t count,
                                 double *products) {
  const float *values[ENSEMBLE_LOSS_BATCH];
  for (size_t j = 0; j < ENSEMBLE_LOSS_BATCH; j++)
    values[j] = loss->pool.predictions[first + (j < count ? j : 0)];
  multiply_for(loss->cpu, loss->pool.rows * loss->pool.outputs, loss->sums, values, products);
  for (size_t j = 0; j < count; j++)
    products[j] -= labels;
}

static void brier_with(const tutti_ensemble_loss *loss, size_t count, const size_t *models, double *losses) {
  double picks = (double)(loss->picks + 1), scale = 1 / (picks * picks * (double)loss->pool.rows);
  for (size_t j = 0; j < count; j++)
    losses[j] = (loss->squares + 2 * loss->cross[models[j]] + loss->own[models[j]]) * scale;
}

static void brier_add(tutti_ensemble_loss *loss, size_t model) {
  size_t models = loss->pool.models;
  double labels = take_differences(loss, model);
  loss->squares += 2 * loss->cross[model] + loss->own[model];
  for (size_t k = 0; k < models; k += ENSEMBLE_LOSS_BATCH) {
    size_t count = models - k < ENSEMBLE_LOSS_BATCH ? models - k : ENSEMBLE_LOSS_BATCH;
    double products[ENSEMBLE_LOSS_BATCH];
    multiply_differences(loss, labels, k, count, products);
    for (size_t j = 0; j < count; j++)
      loss->cross[k + j] += products[j];
  }
}

static enum tutti_status brier_begin(tutti_context *context, tutti_ensemble_loss *loss) {
  size_t models = loss->pool.models, rows = loss->pool.rows;
  TUTTI_TRY(context, tutti_alloc(context, rows, loss->pool.outputs * sizeof *loss->sums, &loss->sums));
  TUTTI_TRY(context, tutti_alloc(context, models, sizeof *loss->own, &loss->own));
  TUTTI_TRY(context, tutti_alloc(context, models, sizeof *loss->cross, &loss->cross));
  for (size_t k = 0; k < models; k++) {
    double labels = take_differences(loss, k), products[ENSEMBLE_LOSS_BATCH];
    multiply_differences(loss, labels, k, 1, products);
    loss->own[k] = products[0];
  }
  return TUTTI_OK;
}

const struct ensemble_loss_kind ensemble_loss_brier = {brier_begin, brier_with, brier_add, NULL};
