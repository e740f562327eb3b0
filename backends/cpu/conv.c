/* conv.c - convolutions, image by image: depthwise ones directly, others as products of patches. Pointwise ones are the
   dense layers of step.c, with a row for each pixel.

   A factorised reduction is one convolution with two taps, a pixel and the next down and right; each half of its units
   sees one of them, so that its weights are spread over a matrix of two blocks first. */
#include "cpu_impl.h"

#include <string.h>

static struct cpu_pad conv_pad(const struct cpu_window *w) {
  return (struct cpu_pad){.height = w->in_height,
                          .width = w->in_width,
                          .ld = w->ld,
                          .top = w->top,
                          .left = w->left,
                          .padded_height = w->padded_height,
                          .padded_width = w->padded_width,
                          .step = 1};
}

static const float *conv_bias(const struct cpu_plan *plan, const struct cpu_node *node) {
  return node->bias == CPU_NONE ? NULL : plan->weights + node->bias;
}

/* --- depthwise --- */

/* The inputs' gradient is a convolution too: of the outputs' gradient, spread by the stride, with the kernel turned. */
static struct cpu_pad conv_spread(const struct cpu_window *w) {
  size_t span_y = (w->kernel_height - 1) * w->dilation, span_x = (w->kernel_width - 1) * w->dilation;
  return (struct cpu_pad){.height = w->out_height,
                          .width = w->out_width,
                          .ld = w->ld,
                          .top = span_y - w->top,
                          .left = span_x - w->left,
                          .padded_height = w->in_height + span_y,
                          .padded_width = w->in_width + span_x,
                          .step = w->stride};
}

static struct cpu_window conv_turned(const struct cpu_window *w) {
  struct cpu_pad spread = conv_spread(w);
  struct cpu_window turned = *w;
  turned.out_height = w->in_height;
  turned.out_width = w->in_width;
  turned.stride = 1;
  turned.padded_height = spread.padded_height;
  turned.padded_width = spread.padded_width;
  return turned;
}

static void depthwise_forward(struct cpu_plan *plan, const struct cpu_node *node, const float *x, float *y) {
  const struct cpu_window *w = &node->window;
  struct cpu_pad pad = conv_pad(w);
  plan->kernels->pad(&pad, x, plan->scratch.padded);
  plan->kernels->depthwise(w, plan->scratch.padded, plan->weights + node->weight, plan->segments[node->segment].ld,
                           conv_bias(plan, node), false, y);
}

static void depthwise_turn(struct cpu_plan *plan, const struct cpu_node *node) {
  size_t ld = plan->segments[node->segment].ld, taps = node->tap_count;
  for (size_t t = 0; t < taps; t++)
    memcpy(plan->scratch.weights + t * ld, plan->weights + node->weight + (taps - 1 - t) * ld, ld * sizeof(float));
}

static void depthwise_backward(struct cpu_plan *plan, const struct cpu_node *node, const float *x, const float *g,
                               float *to) {
  const struct cpu_edge *edge = &node->edges[0];
  const struct cpu_window *w = &node->window;
  struct cpu_pad pad = conv_pad(w), spread = conv_spread(w);
  struct cpu_window turned = conv_turned(w);
  size_t ld = plan->segments[node->segment].ld;
  plan->kernels->pad(&pad, x, plan->scratch.padded);
  plan->kernels->depthwise_weights(w, plan->scratch.padded, g, plan->gradients + node->weight, ld);
  if (!edge->gradient)
    return;
  plan->kernels->pad(&spread, g, plan->scratch.padded_gradient);
  plan->kernels->depthwise(&turned, plan->scratch.padded_gradient, plan->scratch.weights, ld, NULL, !edge->first, to);
}

/* --- patches --- */

/* Weights as the product takes them, [patch][units]. */
static const float *patch_weights(struct cpu_plan *plan, const struct cpu_node *node, const struct cpu_node *source) {
  const float *weights = plan->weights + node->weight;
  if (node->op != TUTTI_OP_FACTORISED_REDUCE)
    return weights;
  size_t ld = plan->segments[node->segment].ld, half = node->width / 2;
  float *spread = plan->scratch.weights;
  memset(spread, 0, 2 * source->width * ld * sizeof *spread);
  for (size_t c = 0; c < source->width; c++) {
    memcpy(spread + c * ld, weights + c * ld, half * sizeof *spread);
    memcpy(spread + (source->width + c) * ld + half, weights + c * ld + half, (node->width - half) * sizeof *spread);
  }
  return spread;
}

/* The gradient of spread weights, back in place. */
static void gather_halves(struct cpu_plan *plan, const struct cpu_node *node, const struct cpu_node *source) {
  size_t ld = plan->segments[node->segment].ld, half = node->width / 2;
  const float *spread = plan->scratch.weight_gradients;
  float *gradient = plan->gradients + node->weight;
  for (size_t c = 0; c < source->width; c++) {
    memcpy(gradient + c * ld, spread + c * ld, half * sizeof *spread);
    memcpy(gradient + c * ld + half, spread + (source->width + c) * ld + half, (node->width - half) * sizeof *spread);
  }
}

/* Patches of at most `rows` rows of the output from row `at` on. */
static struct cpu_patches conv_patches(const struct cpu_node *node, const struct cpu_node *source, size_t at,
                                       size_t rows) {
  const struct cpu_window *w = &node->window;
  size_t left = w->out_height - at;
  return (struct cpu_patches){.rows = left < rows ? left : rows,
                              .width = w->out_width,
                              .channels = source->width,
                              .ldo = backend_cpu_patch_ld(node, source),
                              .row_step = w->stride * w->padded_width * w->ld,
                              .pixel_step = w->stride * w->ld,
                              .taps = node->taps,
                              .tap_count = node->tap_count};
}

static void patches_forward(struct cpu_plan *plan, const struct cpu_node *node, const struct cpu_node *source,
                            const float *weights, const float *x, float *y) {
  const struct cpu_window *w = &node->window;
  struct cpu_pad pad = conv_pad(w);
  size_t rows = backend_cpu_patch_rows(node, source);
  plan->kernels->pad(&pad, x, plan->scratch.padded);
  for (size_t at = 0; at < w->out_height; at += rows) {
    struct cpu_patches patches = conv_patches(node, source, at, rows);
    plan->kernels->patches(&patches, plan->scratch.padded + at * patches.row_step, plan->scratch.patches);
    struct cpu_gemm product = {.m = patches.rows * patches.width,
                               .n = backend_cpu_columns(node),
                               .k = backend_cpu_patch(node, source),
                               .a = plan->scratch.patches,
                               .a_row = patches.ldo,
                               .a_column = 1,
                               .b = weights,
                               .ldb = plan->segments[node->segment].ld,
                               .c = y + at * w->out_width * node->ld,
                               .ldc = node->ld,
                               .bias = conv_bias(plan, node)};
    plan->kernels->gemm(&product);
  }
}

static void patches_backward(struct cpu_plan *plan, const struct cpu_node *node, const struct cpu_node *source,
                             const float *weights, const float *x, const float *g, float *to) {
  const struct cpu_edge *edge = &node->edges[0];
  const struct cpu_window *w = &node->window;
  struct cpu_pad pad = conv_pad(w);
  size_t rows = backend_cpu_patch_rows(node, source), ld = plan->segments[node->segment].ld;
  bool reduce = node->op == TUTTI_OP_FACTORISED_REDUCE;
  plan->kernels->pad(&pad, x, plan->scratch.padded);
  if (edge->gradient)
    memset(plan->scratch.padded_gradient, 0, w->padded_height * w->padded_width * w->ld * sizeof(float));
  for (size_t at = 0; at < w->out_height; at += rows) {
    struct cpu_patches patches = conv_patches(node, source, at, rows);
    plan->kernels->patches(&patches, plan->scratch.padded + at * patches.row_step, plan->scratch.patches);
    struct cpu_product product = {.rows = patches.rows * patches.width,
                                  .inputs = backend_cpu_patch(node, source),
                                  .units = node->width,
                                  .weight_columns = backend_cpu_columns(node),
                                  .ldw = ld,
                                  .x = plan->scratch.patches,
                                  .ldx = patches.ldo,
                                  .gradient = g + at * w->out_width * node->ld,
                                  .ldg = node->ld,
                                  .weights = weights,
                                  .weight_gradient =
                                      reduce ? plan->scratch.weight_gradients : plan->gradients + node->weight,
                                  .to = edge->gradient ? plan->scratch.patch_gradients : NULL,
                                  .columns = (backend_cpu_patch(node, source) + 7) / 8 * 8,
                                  .accumulate_weights = true};
    backend_cpu_product_gradients(plan, &product);
    if (edge->gradient)
      plan->kernels->unpatch(&patches, plan->scratch.patch_gradients,
                             plan->scratch.padded_gradient + at * patches.row_step);
  }
  if (edge->gradient)
    plan->kernels->crop(&pad, plan->scratch.padded_gradient, !edge->first, to);
}

/* --- groups --- */

/* Calls for each output number of an image, its group's first channel and the place of its window. */
struct grouped {
  size_t in_group, out_group, ld, unit, channel, at, out;
};

static bool grouped_next(const struct cpu_node *node, struct grouped *g) {
  const struct cpu_window *w = &node->window;
  if (++g->unit == node->width) {
    g->unit = 0;
    g->out++;
  }
  g->channel = g->unit / g->out_group * g->in_group;
  g->at = (g->out / w->out_width * w->padded_width + g->out % w->out_width) * w->stride * w->ld + g->channel;
  return g->out < node->pixels;
}

static struct grouped grouped_begin(const struct cpu_plan *plan, const struct cpu_node *node,
                                    const struct cpu_node *source) {
  size_t groups = (size_t)node->layer->attributes.groups;
  return (struct grouped){
      .in_group = source->width / groups, .out_group = node->width / groups, .ld = plan->segments[node->segment].ld};
}

static void grouped_forward(struct cpu_plan *plan, const struct cpu_node *node, const struct cpu_node *source,
                            const float *x, float *y) {
  struct cpu_pad pad = conv_pad(&node->window);
  struct grouped g = grouped_begin(plan, node, source);
  const float *bias = conv_bias(plan, node);
  plan->kernels->pad(&pad, x, plan->scratch.padded);
  do {
    float sum = bias ? bias[g.unit] : 0;
    for (size_t t = 0; t < node->tap_count; t++)
      for (size_t c = 0; c < g.in_group; c++)
        sum += plan->scratch.padded[g.at + node->taps[t] + c] *
               plan->weights[node->weight + (t * g.in_group + c) * g.ld + g.unit];
    y[g.out * node->ld + g.unit] = sum;
  } while (grouped_next(node, &g));
}

static void grouped_backward(struct cpu_plan *plan, const struct cpu_node *node, const struct cpu_node *source,
                             const float *x, const float *gradient, float *to) {
  const struct cpu_edge *edge = &node->edges[0];
  const struct cpu_window *w = &node->window;
  struct cpu_pad pad = conv_pad(w);
  struct grouped g = grouped_begin(plan, node, source);
  plan->kernels->pad(&pad, x, plan->scratch.padded);
  memset(plan->scratch.padded_gradient, 0, w->padded_height * w->padded_width * w->ld * sizeof(float));
  do {
    float one = gradient[g.out * node->ld + g.unit];
    for (size_t t = 0; t < node->tap_count; t++)
      for (size_t c = 0; c < g.in_group; c++) {
        size_t from = g.at + node->taps[t] + c, weight = node->weight + (t * g.in_group + c) * g.ld + g.unit;
        plan->gradients[weight] += one * plan->scratch.padded[from];
        plan->scratch.padded_gradient[from] += one * plan->weights[weight];
      }
  } while (grouped_next(node, &g));
  if (edge->gradient)
    plan->kernels->crop(&pad, plan->scratch.padded_gradient, !edge->first, to);
}

/* --- all images --- */

void backend_cpu_conv_forward(struct cpu_plan *plan, struct cpu_node *node, size_t rows) {
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
  const float *weights = node->form == CPU_PATCHES ? patch_weights(plan, node, source) : NULL;
  for (size_t r = 0; r < rows; r++) {
    const float *x = source->value + r * source->pixels * source->ld;
    float *y = node->value + r * node->pixels * node->ld;
    if (node->form == CPU_DEPTHWISE)
      depthwise_forward(plan, node, x, y);
    else if (node->form == CPU_PATCHES)
      patches_forward(plan, node, source, weights, x, y);
    else
      grouped_forward(plan, node, source, x, y);
  }
}

void backend_cpu_conv_backward(struct cpu_plan *plan, struct cpu_node *node, size_t rows) {
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
  const struct cpu_segment *segment = &plan->segments[node->segment];
  const float *weights = node->form == CPU_PATCHES ? patch_weights(plan, node, source) : NULL;
  bool reduce = node->op == TUTTI_OP_FACTORISED_REDUCE;
  memset(plan->gradients + node->weight, 0, segment->rows * segment->ld * sizeof(float));
  if (reduce)
    memset(plan->scratch.weight_gradients, 0, 2 * segment->rows * segment->ld * sizeof(float));
  if (node->form == CPU_DEPTHWISE)
    depthwise_turn(plan, node);
  for (size_t r = 0; r < rows; r++) {
    const float *x = source->value + r * source->pixels * source->ld;
    const float *g = node->gradient + r * node->pixels * node->ld;
    float *to = source->gradient ? source->gradient + r * source->pixels * source->ld : NULL;
    if (node->form == CPU_DEPTHWISE)
      depthwise_backward(plan, node, x, g, to);
    else if (node->form == CPU_PATCHES)
      patches_backward(plan, node, source, weights, x, g, to);
    else
      grouped_backward(plan, node, source, x, g, to);
  }
  if (reduce)
    gather_halves(plan, node, source);
  if (node->bias != CPU_NONE)
    plan->kernels->column_sums(rows * node->pixels, backend_cpu_columns(node), node->gradient, node->ld,
                               plan->gradients + node->bias);
}
