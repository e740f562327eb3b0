/* reduce.c - factorised reductions: every second pixel of every second row, in two products. Half of the units see the
   pixels at even positions; the other half see the pixels one further down and right, with zeros beyond the image. If a
   half is a whole number of vectors, it is a product with its columns of the weights. Otherwise it is a product with
   weights that are 0 in the columns of the other half. */
#include "cpu_impl.h"

#include <string.h>

/* One of the two halves of the units, and its pixels. */
struct reduce_half {
  size_t shift;                /* of its pixels, down and right */
  size_t height, width;        /* pixels of an output image that have an input */
  size_t column, units;        /* its columns of the weights */
  bool whole;                  /* they are whole vectors */
  size_t store_column, stored; /* how a product with them stores its sums */
};

static struct reduce_half reduce_half(const struct cpu_plan *plan, const struct cpu_node *node, size_t shift) {
  const struct tutti_shape *in = &plan->nodes[node->edges[0].source].layer->shape;
  size_t half = node->width / 2;
  struct reduce_half h = {.shift = shift,
                          .height = ((size_t)in->height + 1 - shift) / 2,
                          .width = ((size_t)in->width + 1 - shift) / 2,
                          .column = shift * half,
                          .units = shift ? node->width - half : half,
                          .whole = node->width % 16 == 0};
  h.store_column = h.whole ? h.column : 0;
  h.stored = h.whole ? half : backend_cpu_columns(node);
  return h;
}

/* The weights for the product of one half. */
static const float *reduce_weights(struct cpu_plan *plan, const struct cpu_node *node, const struct reduce_half *h) {
  size_t ld = backend_cpu_weights_ld(plan, node);
  const float *weights = plan->weights + node->weight;
  if (h->whole)
    return weights + h->column;
  float *alone = plan->scratch.weights + h->shift * node->inputs * ld;
  memset(alone, 0, node->inputs * ld * sizeof *alone);
  for (size_t c = 0; c < node->inputs; c++)
    memcpy(alone + c * ld + h->column, weights + c * ld + h->column, h->units * sizeof *alone);
  return alone;
}

/* Gather the input of one half for images [first, first + count), [count * pixels][input_ld]. */
static float *reduce_read(struct cpu_plan *plan, const struct cpu_node *node, const struct reduce_half *h, size_t first,
                          size_t count) {
  size_t height = (size_t)node->layer->shape.height, width = (size_t)node->layer->shape.width, ld = node->input_ld;
  float *out = plan->scratch.view + h->shift * count * node->pixels * ld;
  if (h->height < height || h->width < width)
    memset(out, 0, count * node->pixels * ld * sizeof *out);
  for (size_t e = 0, at = 0; e < node->edge_count; e++) {
    const struct cpu_node *source = &plan->nodes[node->edges[e].source];
    size_t line = (size_t)source->layer->shape.width * source->ld;
    struct cpu_affine f;
    (void)backend_cpu_view_of(plan, &node->edges[e], &f);
    size_t number = f.half ? sizeof(uint16_t) : sizeof(float);
    for (size_t i = 0; i < count; i++) {
      const char *image = backend_cpu_values(plan, source, first + i);
      for (size_t y = 0; y < h->height; y++)
        plan->kernels->place(&f, h->width, source->ld,
                             image + ((2 * y + h->shift) * line + h->shift * source->ld) * number, 2 * source->ld,
                             out + (i * node->pixels + y * width) * ld + at, ld);
    }
    at += source->ld;
  }
  return out;
}

void backend_cpu_reduce_forward(struct cpu_plan *plan, struct cpu_node *node, size_t rows, bool training) {
  size_t block = backend_cpu_block(plan, node);
  struct reduce_half halves[2] = {reduce_half(plan, node, 0), reduce_half(plan, node, 1)};
  const float *weights[2] = {reduce_weights(plan, node, &halves[0]), reduce_weights(plan, node, &halves[1])};
  for (size_t first = 0; first < rows; first += block) {
    size_t count = rows - first < block ? rows - first : block;
    float *y = backend_cpu_values_begin(plan, node, first);
    backend_cpu_fetch_next(plan, node, first, count, rows, false);
    for (size_t half = 0; half < 2; half++) {
      const struct reduce_half *h = &halves[half];
      struct cpu_gemm product = {.m = count * node->pixels,
                                 .n = h->stored,
                                 .k = node->inputs,
                                 .a = reduce_read(plan, node, h, first, count),
                                 .a_row = node->input_ld,
                                 .a_column = 1,
                                 .b = weights[half],
                                 .ldb = backend_cpu_weights_ld(plan, node),
                                 .c = y + h->store_column,
                                 .ldc = node->ld,
                                 .accumulate = !h->whole && half > 0,
                                 .ahead = &plan->scratch.ahead};
      backend_cpu_multiply(plan, &product, backend_cpu_rounds(plan, node));
    }
    backend_cpu_values_end(plan, node, first, count, y);
    if (training && node->norm != CPU_NONE)
      backend_cpu_norm_gather(plan, &plan->nodes[node->norm], y, count * node->pixels);
  }
}

/* The gradient of a half's weights, in its columns only, from pixels x and their gradients g. */
static void reduce_weight_gradient(struct cpu_plan *plan, const struct cpu_node *node, const struct reduce_half *h,
                                   size_t pixels, const float *x, const float *g) {
  size_t ld = backend_cpu_weights_ld(plan, node);
  float *gradient = plan->gradients + node->weight, *all = plan->scratch.weight_gradients;
  struct cpu_weight_product product = {.rows = pixels,
                                       .inputs = node->inputs,
                                       .columns = h->stored,
                                       .x = x,
                                       .ldx = node->input_ld,
                                       .gradient = g + h->store_column,
                                       .ldg = node->ld,
                                       .to = h->whole ? gradient + h->column : all,
                                       .ldw = ld,
                                       .accumulate = h->whole,
                                       .rounds = backend_cpu_rounds(plan, node),
                                       .ahead = &plan->scratch.ahead};
  backend_cpu_product_weights(plan, &product);
  for (size_t c = 0; !h->whole && c < node->inputs; c++)
    for (size_t u = h->column; u < h->column + h->units; u++)
      gradient[c * ld + u] += all[c * ld + u];
}

/* The share of one half in the gradients of the images of one part: from the gradients g of the half's pixels; x: the
   input. `product` has the settings that all parts share. Several images at once are one high image. */
static void reduce_input_gradient(struct cpu_plan *plan, const struct cpu_node *node, const struct reduce_half *h,
                                  const struct cpu_edge *edge, size_t images, const float *x, const float *g, float *to,
                                  struct cpu_gemm product) {
  const struct cpu_node *source = &plan->nodes[edge->source];
  size_t line = (size_t)source->layer->shape.width * source->ld, width = (size_t)node->layer->shape.width;
  if (h->height == 0 || h->width == 0)
    return;
  product.m = h->width;
  product.n = backend_cpu_columns(source);
  product.k = h->units;
  product.a = g + h->column;
  product.b += h->column * product.ldb;
  product.c = to + h->shift * (line + source->ld);
  product.ldc = 2 * source->ld;
  product.mask = edge->relu ? x : NULL;
  product.more = images * h->height - 1;
  product.a_next = width * node->ld;
  product.c_next = 2 * line;
  product.mask_next = width * node->input_ld;
  backend_cpu_multiply(plan, &product, backend_cpu_rounds(plan, node));
}

static void reduce_inputs(struct cpu_plan *plan, const struct cpu_node *node, const struct reduce_half halves[2],
                          const float *const x[2], size_t first, size_t count, const float *g) {
  struct cpu_gemm product = {.a_row = node->ld,
                             .a_column = 1,
                             .b = plan->scratch.transposed,
                             .ldb = backend_cpu_ld(node->inputs),
                             .ldm = node->input_ld,
                             .mask_sum = true,
                             .accumulate = true,
                             .ahead = &plan->scratch.ahead};
  for (size_t e = 0, at = 0; e < node->edge_count; e++) {
    const struct cpu_edge *edge = &node->edges[e];
    const struct cpu_node *source = &plan->nodes[edge->source];
    size_t images = source->layer->shape.height % 2 ? 1 : count;
    for (size_t i = 0; edge->gradient && i < count; i += images) {
      float *to = source->gradient + (first + i) * backend_cpu_image(source);
      if (edge->first)
        memset(to, 0, images * backend_cpu_image(source) * sizeof *to);
      for (size_t half = 0; half < 2; half++)
        reduce_input_gradient(plan, node, &halves[half], edge, images, x[half] + i * node->pixels * node->input_ld + at,
                              g + i * backend_cpu_image(node), to, product);
    }
    at += source->ld;
    product.b += source->ld;
  }
}

void backend_cpu_reduce_backward(struct cpu_plan *plan, struct cpu_node *node, size_t rows) {
  size_t block = backend_cpu_block(plan, node);
  const struct reduce_half halves[2] = {reduce_half(plan, node, 0), reduce_half(plan, node, 1)};
  memset(plan->gradients + node->weight, 0, node->inputs * backend_cpu_weights_ld(plan, node) * sizeof(float));
  backend_cpu_transpose_weights(plan, node);
  for (size_t first = 0; first < rows; first += block) {
    size_t count = rows - first < block ? rows - first : block;
    backend_cpu_fetch_next(plan, node, first, count, rows, true);
    const float *g = backend_cpu_read_gradient(plan, node, first, count);
    const float *x[2];
    for (size_t half = 0; half < 2; half++) {
      x[half] = reduce_read(plan, node, &halves[half], first, count);
      reduce_weight_gradient(plan, node, &halves[half], count * node->pixels, x[half], g);
    }
    reduce_inputs(plan, node, halves, x, first, count, g);
    for (size_t e = 0; e < node->edge_count; e++)
      backend_cpu_norm_gather_gradient(plan, &node->edges[e], first, count);
  }
}
