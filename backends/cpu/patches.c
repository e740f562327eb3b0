/* patches.c - convolutions as products: a row of the one matrix is what lies under the taps of an output pixel, the
   other one is the weights. The padded image has the channels of its pixels side by side, so that the taps of a row of
   an undilated window are one run of numbers, and products read that matrix from the image itself. Elsewhere, and where
   they round, patches are gathered for some rows of the output. */
#include "cpu_impl.h"

#include <string.h>

/* Eight last columns want an even number of terms in a run. */
static bool reads_image(const struct cpu_plan *plan, const struct cpu_node *node) {
  const struct cpu_window *w = &node->window;
  bool even = w->kernel_width * w->ld % 2 == 0 || backend_cpu_columns(node) % 16 == 0;
  return (w->dilation == 1 || w->kernel_width == 1) && even && !backend_cpu_rounds(plan, node);
}

/* Put an image into the middle of the padded one. */
static struct cpu_pad pad_image(struct cpu_plan *plan, const struct cpu_node *node, size_t image) {
  const struct cpu_edge *edge = &node->edges[0];
  struct cpu_affine view;
  struct cpu_pad pad = backend_cpu_pad_of(plan, node, &view);
  if (pad.ld == pad.image_ld) {
    plan->kernels->pad(&pad, backend_cpu_values(plan, &plan->nodes[edge->source], image), plan->scratch.padded);
  } else {
    pad.view = NULL;
    plan->kernels->pad(&pad, backend_cpu_read(plan, edge, image, 1), plan->scratch.padded);
  }
  pad.view = NULL;
  return pad;
}

/* The patches of at most `rows` rows of the output, starting at row `at`. */
static struct cpu_patches patches_of(const struct cpu_node *node, size_t at, size_t rows) {
  const struct cpu_window *w = &node->window;
  size_t left = w->out_height - at;
  return (struct cpu_patches){.rows = left < rows ? left : rows,
                              .width = w->out_width,
                              .channels = node->inputs,
                              .ldo = backend_cpu_patch_ld(node),
                              .row_step = w->stride * w->padded_width * w->ld,
                              .pixel_step = w->stride * w->ld,
                              .taps = node->taps,
                              .tap_count = node->tap_count};
}

/* Floats from one row of the window to the next. */
static size_t window_line(const struct cpu_window *w) { return w->dilation * w->padded_width * w->ld; }

/* --- forward, one image --- */

/* A product for each row of the output; their weights are the same. */
static void forward_from_image(struct cpu_plan *plan, const struct cpu_node *node, float *y) {
  const struct cpu_window *w = &node->window;
  struct cpu_gemm product = {.m = w->out_width,
                             .n = backend_cpu_columns(node),
                             .k = backend_cpu_patch(node),
                             .a = plan->scratch.padded,
                             .a_row = w->stride * w->ld,
                             .a_column = 1,
                             .run = w->kernel_width * w->ld,
                             .jump = window_line(w),
                             .b = plan->weights + node->weight,
                             .ldb = backend_cpu_weights_ld(plan, node),
                             .c = y,
                             .ldc = node->ld,
                             .bias = backend_cpu_bias(plan, node),
                             .more = w->out_height - 1,
                             .a_next = w->stride * w->padded_width * w->ld,
                             .c_next = w->out_width * node->ld};
  backend_cpu_multiply(plan, &product, false);
}

static void forward_from_patches(struct cpu_plan *plan, const struct cpu_node *node, float *y) {
  const struct cpu_window *w = &node->window;
  size_t rows = backend_cpu_patch_rows(node);
  for (size_t at = 0; at < w->out_height; at += rows) {
    struct cpu_patches patches = patches_of(node, at, rows);
    plan->kernels->patches(&patches, plan->scratch.padded + at * patches.row_step, plan->scratch.patches);
    struct cpu_gemm product = {.m = patches.rows * patches.width,
                               .n = backend_cpu_columns(node),
                               .k = backend_cpu_patch(node),
                               .a = plan->scratch.patches,
                               .a_row = patches.ldo,
                               .a_column = 1,
                               .b = plan->weights + node->weight,
                               .ldb = backend_cpu_weights_ld(plan, node),
                               .c = y + at * w->out_width * node->ld,
                               .ldc = node->ld,
                               .bias = backend_cpu_bias(plan, node)};
    backend_cpu_multiply(plan, &product, backend_cpu_rounds(plan, node));
  }
}

void backend_cpu_patches_forward(struct cpu_plan *plan, const struct cpu_node *node, size_t image, float *y) {
  (void)pad_image(plan, node, image);
  if (reads_image(plan, node))
    forward_from_image(plan, node, y);
  else
    forward_from_patches(plan, node, y);
}

/* --- backward, one image --- */

/* The gradients of the weights under one row of the window after the other. */
static void weights_from_image(struct cpu_plan *plan, const struct cpu_node *node, const float *g) {
  const struct cpu_window *w = &node->window;
  struct cpu_gemm product = {.m = w->kernel_width * w->ld,
                             .n = backend_cpu_columns(node),
                             .k = node->pixels,
                             .a = plan->scratch.padded,
                             .a_row = 1,
                             .a_column = w->stride * w->ld,
                             .run = w->out_width,
                             .jump = w->stride * w->padded_width * w->ld,
                             .b = g,
                             .ldb = node->ld,
                             .c = plan->gradients + node->weight,
                             .ldc = backend_cpu_weights_ld(plan, node),
                             .accumulate = true};
  for (size_t ky = 0; ky < w->kernel_height; ky++) {
    backend_cpu_multiply(plan, &product, false);
    product.a += window_line(w);
    product.c += product.m * product.ldc;
  }
}

static void weights_from_patches(struct cpu_plan *plan, const struct cpu_node *node, const struct cpu_patches *patches,
                                 size_t at, const float *g) {
  struct cpu_weight_product weights = {.rows = patches->rows * patches->width,
                                       .inputs = backend_cpu_patch(node),
                                       .columns = backend_cpu_columns(node),
                                       .x = plan->scratch.patches,
                                       .ldx = patches->ldo,
                                       .gradient = g,
                                       .ldg = node->ld,
                                       .to = plan->gradients + node->weight,
                                       .ldw = backend_cpu_weights_ld(plan, node),
                                       .accumulate = true,
                                       .rounds = backend_cpu_rounds(plan, node)};
  plan->kernels->patches(patches, plan->scratch.padded + at * patches->row_step, plan->scratch.patches);
  backend_cpu_product_weights(plan, &weights);
}

/* The gradients of the patches, each added where it came from. */
static void inputs_of_patches(struct cpu_plan *plan, const struct cpu_node *node, const struct cpu_patches *patches,
                              size_t at, const float *g) {
  struct cpu_input_product inputs = {.rows = patches->rows * patches->width,
                                     .inputs = backend_cpu_patch(node),
                                     .units = node->width,
                                     .gradient = g,
                                     .ldg = node->ld,
                                     .weights = plan->weights + node->weight,
                                     .ldw = backend_cpu_weights_ld(plan, node),
                                     .to = plan->scratch.patch_gradients,
                                     .ldt = patches->ldo,
                                     .columns = (backend_cpu_patch(node) + 7) / 8 * 8,
                                     .rounds = backend_cpu_rounds(plan, node)};
  backend_cpu_product_inputs(plan, &inputs);
  plan->kernels->unpatch(patches, plan->scratch.patch_gradients,
                         plan->scratch.padded_gradient + at * patches->row_step);
}

void backend_cpu_patches_backward(struct cpu_plan *plan, const struct cpu_node *node, size_t image, const float *g,
                                  float *to) {
  const struct cpu_edge *edge = &node->edges[0];
  const struct cpu_window *w = &node->window;
  const bool from_image = reads_image(plan, node);
  const struct cpu_pad pad = pad_image(plan, node, image);
  size_t rows = backend_cpu_patch_rows(node);
  if (from_image)
    weights_from_image(plan, node, g);
  if (edge->gradient)
    memset(plan->scratch.padded_gradient, 0, w->padded_height * w->padded_width * w->ld * sizeof(float));
  for (size_t at = 0; at < w->out_height && (edge->gradient || !from_image); at += rows) {
    struct cpu_patches patches = patches_of(node, at, rows);
    const float *of = g + at * w->out_width * node->ld;
    if (!from_image)
      weights_from_patches(plan, node, &patches, at, of);
    if (edge->gradient)
      inputs_of_patches(plan, node, &patches, at, of);
  }
  if (edge->gradient)
    plan->kernels->crop(&pad, plan->scratch.padded_gradient, edge->relu ? plan->scratch.padded : NULL, !edge->first,
                        to);
}
