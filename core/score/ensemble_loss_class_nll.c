/* ensemble_loss_class_nll.c - running NLL of ensembles of classifiers. Only the true class's probability of each row
   counts. */
#include <math.h>

#include "ensemble_loss_impl.h"
#include "metrics_impl.h"

enum { LANES = 8, UNROLL = 8, BLOCK = LANES * UNROLL };

typedef float floats __attribute__((vector_size(LANES * sizeof(float))));
typedef double doubles __attribute__((vector_size(LANES * sizeof(double))));
typedef uint64_t words __attribute__((vector_size(LANES * sizeof(uint64_t))));

/* mantissa * 2^exponent */
struct product {
  double mantissa, exponent;
};

static double log_of(struct product product) { return log(product.mantissa) + product.exponent * M_LN2; }

/* --- exactly ------------------------------------------------------------------------------------------------------ */

/* The sum of logarithms over rows is the logarithm of the product, held as mantissas (8 lanes) and exponents: one
   multiplication a row and one logarithm a model. Each factor rounds by 2^-53, so that 10^4 rows cost 10^-12 of the
   product, that is 10^-16 of the mean: closer than summing rounded logarithms. A factor is at least FLT_MIN = 2^-126,
   so that a mantissa times UNROLL = 8 of them stays a normal float64. All processors do the same operations in the same
   order, and nothing in the loops can be contracted into other roundings: the choice of instructions does not change a
   bit. */
static const uint64_t MANTISSA = (UINT64_C(1) << 52) - 1, ONE = UINT64_C(1023) << 52;

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

/* --- lower bounds ------------------------------------------------------------------------------------------------- */

/* Reading the probabilities of 400 models for 10^4 rows takes longer than all arithmetic on them. So each is kept a
   second time in a byte, as a code c with c - 1 <= CODES p <= c; p <= 1.01 keeps it below 256. With s the sum of the
   members' probabilities of a row, e = c / CODES - p >= 0 and the step d = 1 / CODES, for any w >= 0, summed over rows,

     sum log(s + p) <= sum log(s + c / CODES) - sum e / (s + c / CODES),
     sum e / (s + c / CODES) >= sum e / (s + 1.02) >= w sum e - d sum max(w - 1 / (s + 1.02), 0).

   With w = 1 / (mean s + 1.02) the last sum is at most w^2 sum max(s - mean s, 0), half the deviation of the rows' s:
   what rounding up adds on average is taken off again, and the bound is near. Models whose bound is above the second
   lowest loss that was found need no closer look. */
static const float CODES = 252, MOST = 1.01f;
enum { WIDE = 16, FACTORS = BLOCK / WIDE };

typedef int32_t integers16 __attribute__((vector_size(WIDE * sizeof(int32_t))));
typedef float floats16 __attribute__((vector_size(WIDE * sizeof(float))));
typedef uint32_t words16 __attribute__((vector_size(WIDE * sizeof(uint32_t))));

/* Floor a column of probabilities and make its codes: the 4 x 16 rows of each block as 16 words of 4 bytes, which are
   taken apart faster than bytes in a row. Returns the sum of c - CODES p, or -1 if the numbers are not probabilities: a
   head's rounding may exceed 1 a little, but numbers far from it must not reach the products. The bits of floats >= 0
   compare like integers, and the highest bit of a difference says which is larger: compilers turn comparisons of
   vectors into branches. */
static inline __attribute__((always_inline)) double encode(size_t stride, float *column, uint32_t *codes) {
  const words16 none = {0}, least = (words16)((floats16){0} + FLT_MIN), most = (words16)((floats16){0} + MOST);
  floats16 *probability = (floats16 *)(void *)column, excess = {0};
  words16 *code = (words16 *)(void *)codes, unsound = none;
  uint32_t any = 0;
  double sum = 0;
  for (size_t n = 0; n < stride / WIDE; n++) {
    words16 bits = (words16)(probability[n] + 0.0f), odd = bits | (most - bits);
    words16 floored = none - ((odd | (bits - least)) >> 31);
    floats16 p = (floats16)((bits & ~floored) | (least & floored));
    integers16 above = __builtin_convertvector(CODES * p, integers16) + 1;
    unsound |= odd;
    excess += __builtin_convertvector(above, floats16) - CODES * p;
    probability[n] = p;
    code[n / FACTORS] |= (words16)above << (8 * (n % FACTORS));
  }
  for (int lane = 0; lane < WIDE; lane++) {
    any |= unsound[lane];
    sum += (double)excess[lane];
  }
  return any >> 31 ? -1 : sum;
}

/* products[j] = product over n of sums[n] + code of row n. A factor is at least 1, and less than 2^31 up to 2^23
   members, so that a mantissa times FACTORS = 4 of them is a float32. */
static inline __attribute__((always_inline)) void bound(size_t stride, const float *sums, const uint32_t *const *codes,
                                                        struct product *products) {
  const words16 *code[ENSEMBLE_LOSS_BATCH];
  floats16 product[ENSEMBLE_LOSS_BATCH];
  words16 exponent[ENSEMBLE_LOSS_BATCH];
#pragma GCC unroll 4
  for (int j = 0; j < ENSEMBLE_LOSS_BATCH; j++) {
    code[j] = (const words16 *)(const void *)codes[j];
    product[j] = (floats16){0} + 1;
    exponent[j] = (words16){0};
  }
  const floats16 *sum = (const floats16 *)(const void *)sums;
  for (size_t n = 0; n < stride / BLOCK; n++) {
    words16 rest[ENSEMBLE_LOSS_BATCH];
#pragma GCC unroll 4
    for (int j = 0; j < ENSEMBLE_LOSS_BATCH; j++)
      rest[j] = code[j][n];
#pragma GCC unroll 4
    for (size_t u = 0; u < FACTORS; u++)
#pragma GCC unroll 4
      for (int j = 0; j < ENSEMBLE_LOSS_BATCH; j++) {
        product[j] *= sum[FACTORS * n + u] + __builtin_convertvector((integers16)(rest[j] & 255), floats16);
        rest[j] >>= 8;
      }
#pragma GCC unroll 4
    for (int j = 0; j < ENSEMBLE_LOSS_BATCH; j++) {
      words16 bits = (words16)product[j];
      exponent[j] += bits >> 23;
      product[j] = (floats16)((bits & 0x007fffff) | 0x3f800000);
    }
  }
  size_t blocks = stride / BLOCK;
  double bias = 127.0 * (double)blocks * WIDE;
  for (int j = 0; j < ENSEMBLE_LOSS_BATCH; j++) {
    products[j] = (struct product){1, -bias};
    for (int lane = 0; lane < WIDE; lane++) {
      products[j].mantissa *= (double)product[j][lane];
      products[j].exponent += (double)exponent[j][lane];
    }
  }
}

/* --- for each processor ------------------------------------------------------------------------------------------- */

struct kernels {
  void (*multiply)(size_t stride, const double *sums, const float *const *columns, struct product *products);
  double (*encode)(size_t stride, float *column, uint32_t *codes);
  void (*bound)(size_t stride, const float *sums, const uint32_t *const *codes, struct product *products);
};

#define KERNELS(level, ...)                                                                                            \
  __VA_ARGS__ static void multiply_##level(size_t stride, const double *sums, const float *const *columns,             \
                                           struct product *products) {                                                 \
    multiply(stride, sums, columns, products);                                                                         \
  }                                                                                                                    \
  __VA_ARGS__ static double encode_##level(size_t stride, float *column, uint32_t *codes) {                            \
    return encode(stride, column, codes);                                                                              \
  }                                                                                                                    \
  __VA_ARGS__ static void bound_##level(size_t stride, const float *sums, const uint32_t *const *codes,                \
                                        struct product *products) {                                                    \
    bound(stride, sums, codes, products);                                                                              \
  }

KERNELS(baseline, )
#if defined(__x86_64__)
KERNELS(avx2, __attribute__((target("avx2,fma"))))
KERNELS(avx512, __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl"))))
#endif

static struct kernels kernels_for(enum tutti_cpu cpu) {
#if defined(__x86_64__)
  if (cpu == TUTTI_CPU_AVX512)
    return (struct kernels){multiply_avx512, encode_avx512, bound_avx512};
  if (cpu == TUTTI_CPU_AVX2)
    return (struct kernels){multiply_avx2, encode_avx2, bound_avx2};
#endif
  (void)cpu;
  return (struct kernels){multiply_baseline, encode_baseline, bound_baseline};
}

/* --- the loss ----------------------------------------------------------------------------------------------------- */

static void class_nll_exactly(const tutti_ensemble_loss *loss, size_t count, const size_t *models, double *losses) {
  const float *columns[ENSEMBLE_LOSS_BATCH];
  struct product products[ENSEMBLE_LOSS_BATCH];
  for (size_t j = 0; j < ENSEMBLE_LOSS_BATCH; j++)
    columns[j] = loss->columns + models[j < count ? j : 0] * loss->stride;
  kernels_for(loss->cpu).multiply(loss->stride, loss->sums, columns, products);
  for (size_t j = 0; j < count; j++)
    losses[j] = loss->broken[models[j]]
                    ? (double)NAN
                    : log((double)(loss->picks + 1)) - log_of(products[j]) / (double)loss->pool.rows;
}

static void class_nll_with(const tutti_ensemble_loss *loss, size_t count, const size_t *models, double *losses) {
  if (loss->picks > 0)
    class_nll_exactly(loss, count, models, losses);
  else
    for (size_t j = 0; j < count; j++)
      losses[j] = loss->own[models[j]];
}

static double add_up(const doubles *lanes) {
  doubles sum = *lanes;
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

/* Sum lanes[stride]. The ones after the last row do no harm: any mean gives a bound, and a larger part above it only
   lowers the bound. */
static double lanes_total(size_t stride, const double *lanes) {
  const doubles *lane = (const doubles *)(const void *)lanes;
  doubles sum = {0};
  for (size_t n = 0; n < stride / LANES; n++)
    sum += lane[n];
  return add_up(&sum);
}

/* The part of s above the mean, as half of the difference and its absolute value. */
static double lanes_above(size_t stride, const double *lanes, double mean) {
  const doubles *lane = (const doubles *)(const void *)lanes;
  doubles sum = {0};
  for (size_t n = 0; n < stride / LANES; n++) {
    doubles difference = lane[n] - mean;
    sum += 0.5 * (difference + (doubles)((words)difference & ~(UINT64_C(1) << 63)));
  }
  return add_up(&sum);
}

/* Twice the most that float32 rounds in a factor's code, sum and product. Over rows the errors add up, and they are
   averaged. */
static const double ROUNDING = 6 * 0x1p-24;

static void class_nll_bounds(const tutti_ensemble_loss *loss, double *bounds) {
  size_t models = loss->pool.models, rows = loss->pool.rows;
  double mean = lanes_total(loss->stride, loss->sums) / (double)rows, w = 1 / (mean + 1.02);
  double above = lanes_above(loss->stride, loss->sums, mean) / (double)rows;
  double constant = log((double)(loss->picks + 1)) + log((double)CODES) - w * w * above / (double)CODES - ROUNDING;
  for (size_t k = 0; k < models; k += ENSEMBLE_LOSS_BATCH) {
    const uint32_t *codes[ENSEMBLE_LOSS_BATCH];
    struct product products[ENSEMBLE_LOSS_BATCH];
    for (size_t j = 0; j < ENSEMBLE_LOSS_BATCH; j++)
      codes[j] = loss->codes + (k + j < models ? k + j : k) * (loss->stride / sizeof(uint32_t));
    kernels_for(loss->cpu).bound(loss->stride, loss->scaled, codes, products);
    for (size_t j = 0; j < ENSEMBLE_LOSS_BATCH && k + j < models; j++)
      bounds[k + j] =
          loss->broken[k + j] ? INFINITY : constant - log_of(products[j]) / (double)rows + w * loss->excess[k + j];
  }
}

static void class_nll_add(tutti_ensemble_loss *loss, size_t model) {
  const float *column = loss->columns + model * loss->stride;
  for (size_t n = 0; n < loss->pool.rows; n++) {
    loss->sums[n] += (double)column[n];
    loss->scaled[n] = (float)(loss->sums[n] * (double)CODES);
  }
}

/* Each row's numbers come from memory for one of them, which takes half of a selection: so they are asked for early. */
static void gather_column(const struct tutti_pool *pool, size_t model, float *column) {
  enum { AHEAD = 512 };
  const float *row = pool->predictions[model];
  for (size_t n = 0; n < pool->rows; n++, row += pool->outputs) {
    __builtin_prefetch(row + AHEAD);
    column[n] = row[pool->labels[n]];
  }
}

static enum tutti_status class_nll_begin(tutti_context *context, tutti_ensemble_loss *loss) {
  const struct tutti_pool *pool = &loss->pool;
  size_t models = pool->models, stride = (pool->rows + BLOCK - 1) / BLOCK * BLOCK, batch[ENSEMBLE_LOSS_BATCH];
  loss->stride = stride;
  TUTTI_TRY(context, tutti_alloc(context, stride, sizeof *loss->sums, &loss->sums));
  TUTTI_TRY(context, tutti_alloc(context, stride, sizeof *loss->scaled, &loss->scaled));
  TUTTI_TRY(context, tutti_alloc(context, models, sizeof *loss->broken, &loss->broken));
  TUTTI_TRY(context, tutti_alloc(context, models, sizeof *loss->own, &loss->own));
  TUTTI_TRY(context, tutti_alloc(context, models, sizeof *loss->excess, &loss->excess));
  TUTTI_TRY(context, tutti_alloc(context, models, stride * sizeof *loss->columns, &loss->columns));
  TUTTI_TRY(context, tutti_alloc(context, models, stride, &loss->codes));
  /* Lanes of float32 may sum to a little too much; at least this share of the sum is right. */
  double scale = fmax(1 - 0x1p-23 * (double)stride / WIDE, 0) / (double)CODES / (double)pool->rows;
  /* The columns end in zeros, whose codes are 1: these rows have no weight. */
  for (size_t n = pool->rows; n < stride; n++)
    loss->sums[n] = 1;
  for (size_t k = 0; k < models; k++) {
    float *column = loss->columns + k * stride;
    gather_column(pool, k, column);
    double excess = kernels_for(loss->cpu).encode(stride, column, loss->codes + k * (stride / sizeof(uint32_t)));
    loss->broken[k] = excess < 0;
    loss->excess[k] = (excess - (double)(stride - pool->rows)) * scale;
    /* While they are in the cache. */
    batch[k % ENSEMBLE_LOSS_BATCH] = k;
    if (k % ENSEMBLE_LOSS_BATCH == ENSEMBLE_LOSS_BATCH - 1 || k + 1 == models)
      class_nll_exactly(loss, k % ENSEMBLE_LOSS_BATCH + 1, batch, loss->own + k - k % ENSEMBLE_LOSS_BATCH);
  }
  return TUTTI_OK;
}

const struct ensemble_loss_kind ensemble_loss_class_nll = {class_nll_begin, class_nll_with, class_nll_add,
                                                           class_nll_bounds};
