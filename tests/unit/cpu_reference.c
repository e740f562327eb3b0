/* cpu_reference.c - see cpu_reference.h. Written to be read, not to be fast. */
#include "cpu_reference.h"
#include "tests/attributes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void reference_create(struct reference *reference, const tutti_network *network, const struct tutti_task *task,
                      const tutti_tensors *weights) {
  memset(reference, 0, sizeof *reference);
  reference->network = network;
  reference->task = task;
  reference->training = true;
  for (size_t t = 0; t < tutti_tensors_count(weights); t++) {
    const struct tutti_tensor *tensor = tutti_tensors_at(weights, t);
    struct reference_array *array = &reference->arrays[reference->array_count++];
    array->name = tensor->name;
    array->count = tensor->bytes / sizeof(float);
    array->values = malloc(array->count * sizeof *array->values);
    for (size_t i = 0; i < array->count; i++)
      array->values[i] = (double)((const float *)tensor->data)[i];
  }
}

void reference_destroy(struct reference *reference) {
  for (size_t i = 0; i < reference->array_count; i++)
    free(reference->arrays[i].values);
  for (size_t i = 0; i < REFERENCE_LAYERS; i++) {
    free(reference->values[i]);
    free(reference->detached[i]);
  }
  free(reference->first_noise);
}

struct reference_array *reference_find(struct reference *reference, const char *label, const char *part) {
  char name[128];
  (void)snprintf(name, sizeof name, "%s/%s", label, part);
  for (size_t i = 0; i < reference->array_count; i++)
    if (strcmp(reference->arrays[i].name, name) == 0)
      return &reference->arrays[i];
  return NULL;
}

double reference_activation(enum tutti_activation activation, double x) {
  switch (activation) {
  case TUTTI_ACTIVATION_ELU:
    return x > 0 ? x : expm1(x);
  case TUTTI_ACTIVATION_GELU:
    return x * 0.5 * erfc(-x / sqrt(2));
  case TUTTI_ACTIVATION_HARD_SIGMOID:
    return fmax(0, fmin(1, 0.2 * x + 0.5));
  case TUTTI_ACTIVATION_RELU:
    return x > 0 ? x : 0;
  case TUTTI_ACTIVATION_SELU:
    return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * expm1(x));
  case TUTTI_ACTIVATION_SIGMOID:
    return 1 / (1 + exp(-x));
  case TUTTI_ACTIVATION_SOFTPLUS:
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
  case TUTTI_ACTIVATION_SOFTSIGN:
    return x / (1 + fabs(x));
  case TUTTI_ACTIVATION_SWISH:
    return x / (1 + exp(-x));
  case TUTTI_ACTIVATION_TANH:
    return tanh(x);
  case TUTTI_ACTIVATION_LEAKY_RELU:
    return x > 0 ? x : 0.01 * x;
  default:
    return x;
  }
}

static size_t width_of(const struct tutti_layer *layer) {
  return (size_t)(layer->shape.height * layer->shape.width * layer->shape.channels);
}

/* Pixels are rows. */
static void norm(struct reference *reference, const struct tutti_layer *layer, size_t rows, const double *x,
                 double *y) {
  size_t width = (size_t)layer->shape.channels;
  rows *= width_of(layer) / width;
  double epsilon = tutti_layer_real(layer, "epsilon", 0);
  struct reference_array *gamma = reference_find(reference, layer->label, "gamma");
  struct reference_array *beta = reference_find(reference, layer->label, "beta");
  for (size_t c = 0; c < width; c++) {
    double mean = 0, variance = 0;
    for (size_t r = 0; r < rows; r++)
      mean += x[r * width + c] / (double)rows;
    for (size_t r = 0; r < rows; r++)
      variance += pow(x[r * width + c] - mean, 2) / (double)rows;
    if (!reference->training) {
      mean = reference_find(reference, layer->label, "mean")->values[c];
      variance = reference_find(reference, layer->label, "variance")->values[c];
    }
    for (size_t r = 0; r < rows; r++) {
      double normal = (x[r * width + c] - mean) / sqrt(variance + epsilon);
      y[r * width + c] = (gamma ? gamma->values[c] : 1) * normal + (beta ? beta->values[c] : 0);
    }
  }
}

/* Of 2 * half channels a pixel, number c. */
static double crelu(const double *from, size_t channels, size_t c) {
  size_t half = channels / 2, pixel = c / channels, channel = c % channels;
  double x = from[pixel * half + channel % half];
  return channel < half ? fmax(0, x) : fmax(0, -x);
}

static void evaluate_layer(struct reference *reference, size_t index) {
  const struct tutti_layer *layer = tutti_network_layer(reference->network, index);
  enum tutti_activation activation = (enum tutti_activation)tutti_layer_integer(layer, "activation", 0);
  size_t rows = reference->rows + reference->artificial, width = width_of(layer);
  double *y = realloc(reference->values[index], (rows * width + 1) * sizeof *y);
  reference->values[index] = y;
  const double *x = layer->input_count ? reference->values[layer->inputs[0]] : reference->inputs;
  size_t in = layer->input_count ? width_of(tutti_network_layer(reference->network, layer->inputs[0])) : width;
  struct reference_array *weight = reference_find(reference, layer->label, "weight");
  struct reference_array *bias = reference_find(reference, layer->label, "bias");
  if (layer->op == TUTTI_OP_BATCH_NORM) {
    norm(reference, layer, rows, x, y);
    return;
  }
  if (reference_image(layer, layer->input_count ? tutti_network_layer(reference->network, layer->inputs[0]) : NULL,
                      rows, x, weight ? weight->values : NULL, bias ? bias->values : NULL, y))
    return;
  for (size_t r = 0; r < rows; r++) {
    double *to = y + r * width;
    const double *from = x + r * in;
    size_t at = 0;
    for (size_t c = 0; c < width; c++) {
      to[c] = 0;
      switch (layer->op) {
      case TUTTI_OP_DENSE:
        for (size_t i = 0; i < in; i++)
          to[c] += from[i] * weight->values[i * width + c];
        to[c] += bias ? bias->values[c] : 0;
        break;
      case TUTTI_OP_ACTIVATION:
        if (activation == TUTTI_ACTIVATION_CRELU)
          to[c] = crelu(from, (size_t)layer->shape.channels, c);
        else
          to[c] = reference_activation(activation, from[c]);
        break;
      case TUTTI_OP_ADD:
      case TUTTI_OP_MEAN:
        for (size_t e = 0; e < layer->input_count; e++)
          to[c] += reference->values[layer->inputs[e]][r * width + c];
        to[c] /= layer->op == TUTTI_OP_MEAN ? (double)layer->input_count : 1;
        break;
      case TUTTI_OP_ZERO:
        break;
      case TUTTI_OP_CONCAT:
        break; /* below */
      default:
        to[c] = c < in ? from[c] : 0; /* input, identity, flatten, dropout, detach; heads may be wider than an input */
      }
    }
    size_t channels = (size_t)layer->shape.channels, pixels = width / channels;
    for (size_t e = 0; layer->op == TUTTI_OP_CONCAT && e < layer->input_count; e++) {
      size_t wide = (size_t)tutti_network_layer(reference->network, layer->inputs[e])->shape.channels;
      for (size_t p = 0; p < pixels; p++)
        memcpy(to + p * channels + at, reference->values[layer->inputs[e]] + (r * pixels + p) * wide,
               wide * sizeof *to);
      at += wide;
    }
  }
  if (layer->op == TUTTI_OP_DETACH && reference->training) {
    if (!reference->detached[index]) {
      reference->detached[index] = malloc(rows * width * sizeof *y);
      memcpy(reference->detached[index], y, rows * width * sizeof *y);
    }
    memcpy(y, reference->detached[index], rows * width * sizeof *y);
  }
}

void reference_forward(struct reference *reference) {
  for (size_t i = 0; i < tutti_network_layers(reference->network); i++)
    evaluate_layer(reference, i);
}

static const struct tutti_layer *head_of(const struct reference *reference) {
  return tutti_network_layer(reference->network, tutti_network_layers(reference->network) - 1);
}

static double spread_to_variance(const struct attributes *a, double raw) {
  double spread = a->floor + reference_activation(TUTTI_ACTIVATION_SOFTPLUS, a->scale * raw);
  return a->variance ? spread : spread * spread;
}

/* --- head-nomu: Eqs. 2, 4, 54, 55, 57 and Definition C.1 of Heiss et al., output by output --- */

static double nomu_deviation(const struct attributes *a, double raw) {
  if (a->readout == TUTTI_NOMU_READOUT_LINEAR)
    return a->l_min + fmax(0, raw - a->l_min) - fmax(0, raw - a->l_max);
  return a->l_max * (1 - exp(-(fmax(raw, 0) + a->l_min) / a->l_max));
}

static double nomu_square(const struct attributes *a, double raw) {
  return a->stable && fabs(raw) > 1 ? 2 * fabs(raw) - 1 : raw * raw;
}

static double nomu_push(const struct attributes *a, double raw) {
  return a->stable ? a->c_exp * fmax(0, -raw) + exp(-a->c_exp * fmax(0, raw)) : exp(-a->c_exp * raw);
}

/* Input number `input` of the head at cell i. */
static double nomu_input(const struct reference *reference, size_t input, size_t i) {
  const struct tutti_layer *head = head_of(reference);
  return reference->values[head->inputs[input]][i];
}

static double nomu_noise(const struct reference *reference, const struct attributes *a, size_t i) {
  if (a->noise == TUTTI_NOMU_NOISE_NONE)
    return 0;
  return a->noise == TUTTI_NOMU_NOISE_KNOWN ? a->known_noise * a->known_noise
                                            : spread_to_variance(a, nomu_input(reference, 2, i));
}

/* Where the inputs with bounds begin and end; a lower one is pushed down. */
static bool is_lower(const struct attributes *a, size_t input) {
  return a->bounds == TUTTI_NOMU_BOUNDS_LOWER || (a->bounds == TUTTI_NOMU_BOUNDS_BOTH && input == 1);
}
static size_t bounds_end(const struct attributes *a) { return a->bounds == TUTTI_NOMU_BOUNDS_BOTH ? 3 : 2; }

static double nomu_loss(struct reference *reference, const struct attributes *a) {
  size_t outputs = reference->task->outputs, cells = reference->rows * outputs;
  double total = 0;
  bool first = !reference->first_noise;
  if (first)
    reference->first_noise = calloc(cells, sizeof(double));
  for (size_t i = 0; i < cells; i++) {
    double error = nomu_input(reference, 0, i) - reference->targets[i], v = nomu_noise(reference, a, i);
    if (first)
      reference->first_noise[i] = v;
    if (a->bounds != TUTTI_NOMU_BOUNDS_SYMMETRIC) {
      total += error * error;
      for (size_t k = 1; k < bounds_end(a); k++)
        total += a->pi_sqr * nomu_square(a, nomu_input(reference, k, i) - reference->targets[i]);
      continue;
    }
    double square = a->pi_sqr * nomu_square(a, nomu_input(reference, 1, i));
    if (a->noise == TUTTI_NOMU_NOISE_NONE)
      total += error * error + square;
    else
      total += error * error / (2 * v) + square / (2 * (a->through_noise ? v : reference->first_noise[i])) +
               (a->noise == TUTTI_NOMU_NOISE_LEARNT ? log(sqrt(v)) : 0);
  }
  for (size_t i = cells; i < cells + reference->artificial * outputs; i++)
    for (size_t k = 1; k < bounds_end(a); k++) {
      double raw = nomu_input(reference, k, i);
      total += a->pi_exp * nomu_push(a, is_lower(a, k) ? -raw : raw) / (double)reference->artificial;
    }
  return total;
}

static double nomu_variance(const struct reference *reference, const struct attributes *a, size_t i) {
  double mean = nomu_input(reference, 0, i), one = nomu_input(reference, 1, i), deviation;
  if (a->bounds == TUTTI_NOMU_BOUNDS_SYMMETRIC)
    deviation = nomu_deviation(a, one);
  else if (a->bounds == TUTTI_NOMU_BOUNDS_BOTH)
    deviation = (nomu_input(reference, 2, i) - one) / 2;
  else
    deviation = a->bounds == TUTTI_NOMU_BOUNDS_LOWER ? mean - one : one - mean;
  return pow(fmax(deviation, 0), 2) + nomu_noise(reference, a, i);
}

static double penalty(struct reference *reference) {
  double total = 0;
  for (size_t i = 0; i < tutti_network_layers(reference->network); i++) {
    const struct tutti_layer *layer = tutti_network_layer(reference->network, i);
    double own = tutti_layer_real(layer, "l2", NAN), l2 = isnan(own) ? reference->l2 : own;
    static const char *const parts[] = {"weight", "bias", "gamma", "beta"};
    for (size_t p = 0; p < 4; p++) {
      struct reference_array *array = reference_find(reference, layer->label, parts[p]);
      for (size_t k = 0; array && (p == 0 || reference->l2_biases) && k < array->count; k++)
        total += l2 * array->values[k] * array->values[k];
    }
  }
  return total;
}

double reference_loss(struct reference *reference) {
  reference_forward(reference);
  const struct tutti_layer *head = head_of(reference);
  const struct attributes attributes = attributes_of(head), *a = &attributes;
  const double *x = reference->values[head->inputs[0]];
  size_t outputs = reference->task->outputs, rows = reference->rows;
  double total = 0, cells = (double)(rows * outputs);
  if (head->op == TUTTI_OP_HEAD_NOMU)
    return nomu_loss(reference, a) + penalty(reference);
  for (size_t r = 0; r < rows; r++) {
    if (head->op == TUTTI_OP_HEAD_SOFTMAX) {
      double sum = 0;
      for (size_t c = 0; c < outputs; c++)
        sum += exp(x[r * outputs + c]);
      total += (log(sum) - x[r * outputs + (size_t)reference->labels[r]]) / (double)rows;
    } else {
      for (size_t o = 0; o < outputs; o++) {
        double d = reference->targets[r * outputs + o];
        if (head->op == TUTTI_OP_HEAD_LINEAR) {
          total += pow(d - x[r * outputs + o], 2) / cells;
        } else {
          double v = spread_to_variance(a, x[r * 2 * outputs + outputs + o]);
          d -= x[r * 2 * outputs + o];
          total += (0.5 * log(2 * M_PI * v) + d * d / (2 * v)) / cells;
        }
      }
    }
  }
  return total + penalty(reference);
}

void reference_predict(struct reference *reference, double *out) {
  reference->training = false;
  reference_forward(reference);
  const struct tutti_layer *head = head_of(reference);
  const struct attributes attributes = attributes_of(head);
  const double *x = reference->values[head->inputs[0]];
  size_t outputs = reference->task->outputs;
  for (size_t r = 0; r < reference->rows; r++) {
    double sum = 0;
    for (size_t o = 0; o < outputs; o++)
      sum += exp(x[r * outputs + o]);
    for (size_t o = 0; o < outputs; o++) {
      size_t i = r * outputs + o;
      switch (head->op) {
      case TUTTI_OP_HEAD_SOFTMAX:
        out[i] = exp(x[i]) / sum;
        break;
      case TUTTI_OP_HEAD_GAUSSIAN:
        out[2 * i] = x[r * 2 * outputs + o];
        out[2 * i + 1] = spread_to_variance(&attributes, x[r * 2 * outputs + outputs + o]);
        break;
      case TUTTI_OP_HEAD_NOMU:
        out[2 * i] = x[i];
        out[2 * i + 1] = nomu_variance(reference, &attributes, i);
        break;
      default:
        out[2 * i] = x[i];
        out[2 * i + 1] = NAN;
      }
    }
  }
}

double reference_derivative(struct reference *reference, struct reference_array *array, size_t index) {
  double kept = array->values[index], h = 1e-7; /* small, so that few units cross a kink */
  array->values[index] = kept + h;
  double up = reference_loss(reference);
  array->values[index] = kept - h;
  double down = reference_loss(reference);
  array->values[index] = kept;
  return (up - down) / (2 * h);
}
