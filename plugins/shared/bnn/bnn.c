/* bnn.c - see bnn.h. Sums are float32, in the order of the inputs, so that their bits do not depend on the machine
   (compiled without contraction to fused operations). */
#include "bnn.h"

#include <string.h>

enum { LAYERS = 4, POINTS = 64, TILE = 16, ROWS = 4 };
static const size_t units[LAYERS] = {1024, 2048, 1024, 1};

struct bnn {
  size_t dimensions;
  float *weights[LAYERS]; /* [units / TILE][inputs + 1][TILE], the last [inputs + 1]; of inputs, the last is the bias */
};

double bnn_deviation(size_t dimensions) {
  static const struct {
    size_t dimensions;
    double deviation;
  } table[] = {{1, 0.114}, {2, 0.102}, {5, 0.092}, {10, 0.084}, {20, 0.070}};
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
    if (table[i].dimensions == dimensions)
      return table[i].deviation;
  return 0;
}

static size_t inputs_of(const struct bnn *bnn, size_t layer) { return layer == 0 ? bnn->dimensions : units[layer - 1]; }

void bnn_destroy(struct bnn *bnn) {
  for (size_t l = 0; bnn && l < LAYERS; l++)
    tutti_free(bnn->weights[l]);
  tutti_free(bnn);
}

enum tutti_status bnn_create(tutti_context *context, size_t dimensions, double deviation, uint64_t seed,
                             struct bnn **out) {
  enum tutti_status status;
  struct bnn *bnn;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *bnn, &bnn));
  bnn->dimensions = dimensions;
  for (size_t l = 0; l < LAYERS; l++) {
    struct tutti_random random;
    size_t count = (inputs_of(bnn, l) + 1) * units[l];
    TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(float), &bnn->weights[l]));
    tutti_random_init(&random, seed, "bnn weights", l);
    tutti_random_fill_normal(&random, count, 0, (float)deviation, bnn->weights[l]);
  }
  *out = bnn;
  return TUTTI_OK;
out:
  bnn_destroy(bnn);
  return status;
}

/* A tile of units, for ROWS points at once: the bias, then input after input. */
static void add_tile(size_t inputs, size_t width, const float *weights, size_t rows, const float *in, float *out) {
  float sums[ROWS][TILE];
  for (size_t n = 0; n < ROWS; n++)
    memcpy(sums[n], weights + inputs * TILE, sizeof sums[n]);
  for (size_t i = 0; i < inputs; i++)
    for (size_t n = 0; n < ROWS; n++) {
      float value = in[n * inputs + i];
      for (size_t u = 0; u < TILE; u++)
        sums[n][u] += value * weights[i * TILE + u];
    }
  for (size_t n = 0; n < rows; n++)
    for (size_t u = 0; u < TILE; u++)
      out[n * width + u] = sums[n][u] > 0 ? sums[n][u] : 0;
}

/* in[POINTS][inputs]: points beyond count are there, and do not count. */
static void add_layer(const struct bnn *bnn, size_t layer, size_t count, const float *in, float *out) {
  size_t inputs = inputs_of(bnn, layer), width = units[layer];
  for (size_t u = 0; u < width; u += TILE)
    for (size_t n = 0; n < count; n += ROWS)
      add_tile(inputs, width, bnn->weights[layer] + u * (inputs + 1), count - n < ROWS ? count - n : ROWS,
               in + n * inputs, out + n * width + u);
}

static double output(const struct bnn *bnn, const float *in) {
  const float *weights = bnn->weights[LAYERS - 1];
  size_t inputs = inputs_of(bnn, LAYERS - 1);
  double sum = (double)weights[inputs];
  for (size_t i = 0; i < inputs; i++)
    sum += (double)in[i] * (double)weights[i];
  return sum;
}

enum tutti_status bnn_values(tutti_context *context, const struct bnn *bnn, size_t count, const double *x,
                             double *values) {
  enum tutti_status status;
  float *in = NULL, *out = NULL;
  size_t widest = units[1] > bnn->dimensions ? units[1] : bnn->dimensions;
  TUTTI_TRY_OUT(context, tutti_alloc(context, POINTS * widest, sizeof *in, &in));
  TUTTI_TRY_OUT(context, tutti_alloc(context, POINTS * widest, sizeof *out, &out));
  for (size_t begin = 0; begin < count; begin += POINTS) {
    size_t here = count - begin < POINTS ? count - begin : POINTS;
    for (size_t i = 0; i < here * bnn->dimensions; i++)
      in[i] = (float)x[begin * bnn->dimensions + i];
    for (size_t l = 0; l + 1 < LAYERS; l++) {
      add_layer(bnn, l, here, in, out);
      float *swap = in;
      in = out;
      out = swap;
    }
    for (size_t n = begin; n < begin + here; n++)
      values[n] = output(bnn, in + (n - begin) * inputs_of(bnn, LAYERS - 1));
  }
out:
  tutti_free(in);
  tutti_free(out);
  return status;
}
