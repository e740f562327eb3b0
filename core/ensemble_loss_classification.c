/* ensemble_loss_classification.c - running losses of ensembles of classifiers: NLL, error, Brier score. */
#include <math.h>

#include "ensemble_loss_impl.h"
#include "metrics_impl.h"

/* --- NLL: of each row only the true class's probability counts ------------------------------------------------- */

/* The sum of logarithms over rows is the logarithm of the product, held as mantissas (8 lanes) and exponents: one
   multiplication a row and one logarithm a model. Each factor rounds by 2^-53, so that 10^4 rows cost 10^-12 of the
   product, that is 10^-16 of the mean: closer than summing rounded logarithms. A factor is at least FLT_MIN = 2^-126, so
   that a mantissa times UNROLL = 8 of them stays a normal float64. All processors do the same operations in the same
   order, and what a compiler might contract into other roundings stays outside: the choice of instructions does not change
   a bit. */
enum { LANES = 8, UNROLL = 8, BLOCK = LANES * UNROLL };

typedef float floats __attribute__((vector_size(LANES * sizeof(float))));
typedef double doubles __attribute__((vector_size(LANES * sizeof(double))));
typedef uint64_t words __attribute__((vector_size(LANES * sizeof(uint64_t))));

static const uint64_t MANTISSA = (UINT64_C(1) << 52) - 1, ONE = UINT64_C(1023) << 52;

/* mantissa * 2^exponent */
struct product {
  double mantissa, exponent;
};
typedef void multiply_function(size_t stride, const double *sums, const float *const *columns,
                               struct product *products);

/* products[j] = product over n < stride of sums[n] + columns[j][n], all positive; stride is a multiple of BLOCK. */
static inline __attribute__((always_inline)) void multiply(size_t stride, const double *sums,
                                                           const float *const *columns, struct product *products) {
  const floats *column[ENSEMBLE_LOSS_BATCH];
  doubles product[ENSEMBLE_LOSS_BATCH];
  words exponent[ENSEMBLE_LOSS_BATCH];
#pragma GCC unroll 4
  for (int j = 0; j < ENSEMBLE_LOSS_BATCH; j++) {
    column[j] = (const floats *)(const void *)columns[j];
    product[j] = (doubles){1, 1, 1, 1, 1, 1, 1, 1};
    exponent[j] = (words){0};
  }
  const doubles *sum = (const doubles *)(const void *)sums;
  for (size_t n = 0; n < stride / LANES; n += UNROLL) {
    for (size_t u = n; u < n + UNROLL; u++)
#pragma GCC unroll 4
      for (int j = 0; j < ENSEMBLE_LOSS_BATCH; j++)
        product[j] *= sum[u] + __builtin_convertvector(column[j][u], doubles);
#pragma GCC unroll 4
    for (int j = 0; j < ENSEMBLE_LOSS_BATCH; j++) {
      words bits = (words)product[j];
      exponent[j] += bits >> 52;
      product[j] = (doubles)((bits & MANTISSA) | ONE);
    }
  }
  size_t blocks = stride / BLOCK;
  double bias = 1023.0 * (double)blocks * LANES;
  for (int j = 0; j < ENSEMBLE_LOSS_BATCH; j++) {
    products[j] = (struct product){1, -bias};
    for (int lane = 0; lane < LANES; lane++) {
      products[j].mantissa *= product[j][lane];
      products[j].exponent += (double)exponent[j][lane];
    }
  }
}

static void multiply_baseline(size_t stride, const double *sums, const float *const *columns,
                              struct product *products) {
  multiply(stride, sums, columns, products);
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static void multiply_avx2(size_t stride, const double *sums,
                                                          const float *const *columns, struct product *products) {
  multiply(stride, sums, columns, products);
}

__attribute__((target("avx512f,avx512dq"))) static void
multiply_avx512(size_t stride, const double *sums, const float *const *columns, struct product *products) {
  multiply(stride, sums, columns, products);
}
#endif

static multiply_function *multiply_for(enum tutti_cpu cpu) {
#if defined(__x86_64__)
  if (cpu == TUTTI_CPU_AVX512)
    return multiply_avx512;
  if (cpu == TUTTI_CPU_AVX2)
    return multiply_avx2;
#endif
  (void)cpu;
  return multiply_baseline;
}

static void class_nll_with(const tutti_ensemble_loss *loss, size_t count, const size_t *models, double *losses) {
  const float *columns[ENSEMBLE_LOSS_BATCH];
  struct product products[ENSEMBLE_LOSS_BATCH];
  for (size_t j = 0; j < ENSEMBLE_LOSS_BATCH; j++)
    columns[j] = loss->columns + models[j < count ? j : 0] * loss->stride;
  multiply_for(loss->cpu)(loss->stride, loss->sums, columns, products);
  for (size_t j = 0; j < count; j++) {
    double sum = log(products[j].mantissa) + products[j].exponent * M_LN2;
    losses[j] = loss->broken[models[j]] ? (double)NAN : log((double)(loss->picks + 1)) - sum / (double)loss->pool.rows;
  }
}

static void class_nll_add(tutti_ensemble_loss *loss, size_t model) {
  const float *column = loss->columns + model * loss->stride;
  for (size_t n = 0; n < loss->stride; n++)
    loss->sums[n] += (double)column[n];
}

/* Floor a column of probabilities; true if they are no probabilities: a head's rounding may exceed 1 a little, but what is
   far from a probability must not reach the products. */
static bool floor_column(size_t rows, float *column) {
  int unsound = 0;
  for (size_t n = 0; n < rows; n++) {
    int sound = column[n] >= 0 && column[n] < 1.01f;
    unsound |= !sound;
    column[n] = sound && column[n] > FLT_MIN ? column[n] : FLT_MIN;
  }
  return unsound;
}

static enum tutti_status class_nll_begin(tutti_context *context, tutti_ensemble_loss *loss) {
  const struct tutti_pool *pool = &loss->pool;
  loss->stride = (pool->rows + BLOCK - 1) / BLOCK * BLOCK;
  TUTTI_TRY(context, tutti_alloc(context, loss->stride, sizeof *loss->sums, &loss->sums));
  TUTTI_TRY(context, tutti_alloc(context, pool->models, sizeof *loss->broken, &loss->broken));
  TUTTI_TRY(context, tutti_alloc(context, pool->models, loss->stride * sizeof *loss->columns, &loss->columns));
  for (size_t n = pool->rows; n < loss->stride; n++)
    loss->sums[n] = 1;
  for (size_t k = 0; k < pool->models; k++) {
    float *column = loss->columns + k * loss->stride;
    for (size_t n = 0; n < pool->rows; n++)
      column[n] = pool->predictions[k][n * pool->outputs + (size_t)pool->targets.labels[n]];
    loss->broken[k] = floor_column(pool->rows, column);
  }
  return TUTTI_OK;
}

const struct ensemble_loss_kind ensemble_loss_class_nll = {class_nll_begin, class_nll_with, class_nll_add};

/* --- error and Brier score: all classes count ----------------------------------------------------------------- */

static enum tutti_status classes_begin(tutti_context *context, tutti_ensemble_loss *loss) {
  return tutti_alloc(context, loss->pool.rows, loss->pool.outputs * sizeof *loss->sums, &loss->sums);
}

static void classes_add(tutti_ensemble_loss *loss, size_t model) {
  for (size_t i = 0; i < loss->pool.rows * loss->pool.outputs; i++)
    loss->sums[i] += (double)loss->pool.predictions[model][i];
}

/* 1 if the summed probabilities are not largest at the label (lowest class on ties), NaN if one is NaN. */
static double row_error(size_t classes, const double *sums, const float *added, size_t label) {
  size_t best = 0;
  double largest = -INFINITY;
  for (size_t c = 0; c < classes; c++) {
    double sum = sums[c] + (double)added[c];
    if (isnan(sum))
      return NAN;
    if (sum > largest) {
      largest = sum;
      best = c;
    }
  }
  return best != label;
}

static double row_brier(size_t classes, const double *sums, const float *added, size_t label, double scale) {
  double brier = 0;
  for (size_t c = 0; c < classes; c++) {
    double difference = (sums[c] + (double)added[c]) * scale - (c == label);
    brier += difference * difference;
  }
  return brier;
}

static double classes_loss(const tutti_ensemble_loss *loss, size_t model) {
  size_t classes = loss->pool.outputs;
  bool brier = loss->options.loss == TUTTI_LOSS_BRIER;
  double scale = 1 / (double)(loss->picks + 1), sum = 0;
  for (size_t n = 0; n < loss->pool.rows; n++) {
    const double *sums = loss->sums + n * classes;
    const float *added = loss->pool.predictions[model] + n * classes;
    size_t label = (size_t)loss->pool.targets.labels[n];
    sum += brier ? row_brier(classes, sums, added, label, scale) : row_error(classes, sums, added, label);
  }
  return sum / (double)loss->pool.rows;
}

static void classes_with(const tutti_ensemble_loss *loss, size_t count, const size_t *models, double *losses) {
  for (size_t j = 0; j < count; j++)
    losses[j] = classes_loss(loss, models[j]);
}

const struct ensemble_loss_kind ensemble_loss_classes = {classes_begin, classes_with, classes_add};
