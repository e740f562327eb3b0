/* groups.c - convolutions in groups of several channels, as products, one image at a time. A product makes a panel:
   some columns of the output, whole vectors of 8 whatever the size of a group is, so that it writes nothing beside
   them. It reads the channels of all groups that it has columns of, which lie side by side in an image of their own.
   Weights are laid out panel by panel, with zeros between the channels of a group and the units of another. The inputs'
   gradient is the same again, turned: a convolution of the outputs' gradient, spread by the stride, with the rotated
   kernel. */
#include "cpu_impl.h"

#include <string.h>

/* --- the two sides --- */

/* What is convolved: images to outputs, or the outputs' gradients to those of the images. */
struct side {
  struct cpu_window window; /* over the padded image that is read; its ld is that image's */
  size_t width;             /* of what is written */
  size_t inputs, units;     /* of a group: what is read, and what is written */
  /* Where a weight lies in the node's segment: that of tap 0, and the steps to the next tap, group, input and unit. */
  ptrdiff_t start, tap, group, input, unit;
};

static struct side forward_side(const struct cpu_plan *plan, const struct cpu_node *node) {
  const size_t groups = (size_t)node->attributes->groups, inputs = node->inputs / groups, units = node->width / groups;
  const ptrdiff_t ld = (ptrdiff_t)backend_cpu_weights_ld(plan, node);
  return (struct side){.window = node->window,
                       .width = node->width,
                       .inputs = inputs,
                       .units = units,
                       .tap = (ptrdiff_t)inputs * ld,
                       .group = (ptrdiff_t)units,
                       .input = ld,
                       .unit = 1};
}

static struct side backward_side(const struct cpu_plan *plan, const struct cpu_node *node) {
  const struct side forward = forward_side(plan, node);
  struct side side = forward;
  side.window = backend_cpu_turned(&forward.window);
  side.window.ld = node->ld;
  side.width = node->inputs;
  side.inputs = forward.units;
  side.units = forward.inputs;
  side.start = (ptrdiff_t)(node->tap_count - 1) * forward.tap;
  side.tap = -forward.tap;
  side.input = forward.unit;
  side.unit = forward.input;
  return side;
}

static struct cpu_pad spread_of(const struct cpu_node *node) {
  struct cpu_pad spread = backend_cpu_spread_of(&node->window);
  spread.image_ld = spread.ld = node->ld;
  return spread;
}

/* --- panels --- */

enum { PANEL = 8 };

struct panel {
  size_t first, groups;     /* those that it has columns of */
  size_t column, columns;   /* that are written */
  size_t channel, channels; /* that are read */
  size_t terms;             /* of its products: rows of its weights, [terms][columns] */
  size_t weights;           /* floats of those of the panels before it */
};

/* The panel at p->column. */
static void panel_set(const struct side *side, struct panel *p) {
  const size_t next = p->column + p->columns, end = next < side->width ? next : side->width;
  p->first = p->column / side->units;
  p->groups = (end - 1) / side->units + 1 - p->first;
  p->channel = p->first * side->inputs;
  p->channels = p->groups * side->inputs;
  p->terms = side->window.kernel_height * side->window.kernel_width * p->channels;
}

static struct panel panel_begin(const struct side *side) {
  struct panel p = {.columns = side->units % PANEL == 0 ? side->units : PANEL};
  panel_set(side, &p);
  return p;
}

/* False: there is none; then p->weights counts all. */
static bool panel_next(const struct side *side, struct panel *p) {
  p->weights += p->terms * p->columns;
  p->column += p->columns;
  if (p->column >= side->width)
    return false;
  panel_set(side, p);
  return true;
}

/* Are the taps of a row of the window one run of numbers in the image of a panel? */
static bool has_rows(const struct cpu_window *w) { return w->dilation == 1 || w->kernel_width == 1; }

/* Floats of the image of a panel. Without neighbours in a row of the window, or with all channels, it is read where it
   lies. */
static size_t panel_image(const struct side *side, const struct panel *p) {
  const struct cpu_window *w = &side->window;
  return w->kernel_width == 1 || p->channels == w->ld ? 0 : w->padded_height * w->padded_width * p->channels;
}

/* Floats of the weights of all panels. */
static size_t side_weights(const struct side *side) {
  struct panel p = panel_begin(side);
  while (panel_next(side, &p))
    continue;
  return p.weights;
}

/* Floats of the largest image of a panel. */
static size_t side_image(const struct side *side) {
  struct panel p = panel_begin(side);
  size_t most = 0;
  do
    most = panel_image(side, &p) > most ? panel_image(side, &p) : most;
  while (panel_next(side, &p));
  return most;
}

void backend_cpu_groups_sizes(const struct cpu_plan *plan, const struct cpu_node *node,
                              struct cpu_scratch_sizes *sizes) {
  const struct side forward = forward_side(plan, node), backward = backward_side(plan, node);
  const struct cpu_pad spread = spread_of(node);
  sizes->padded_gradient = spread.padded_height * spread.padded_width * spread.ld;
  const size_t images[] = {side_image(&forward), side_image(&backward)};
  sizes->panel = images[0] > images[1] ? images[0] : images[1];
  sizes->weights = side_weights(&forward);
  sizes->transposed = side_weights(&backward);
}

/* --- weights --- */

/* Copy the weights of a panel out of the node's segment, or into it. */
static void copy_weights(const struct side *side, const struct panel *p, bool into, float *segment, float *panel) {
  const size_t taps = side->window.kernel_height * side->window.kernel_width, next = p->column + p->columns;
  for (size_t g = 0; g < p->groups; g++) {
    const size_t from = (p->first + g) * side->units, begin = from > p->column ? from : p->column;
    const size_t end = from + side->units < next ? from + side->units : next;
    for (size_t t = 0; t < taps; t++)
      for (size_t i = 0; i < side->inputs; i++) {
        float *whole = segment + side->start + (ptrdiff_t)t * side->tap + (ptrdiff_t)(p->first + g) * side->group +
                       (ptrdiff_t)i * side->input + (ptrdiff_t)(begin - from) * side->unit;
        float *part = panel + (t * p->channels + g * side->inputs + i) * p->columns + begin - p->column;
        for (size_t u = 0; u < end - begin; u++, whole += side->unit, part++)
          *(into ? whole : part) = *(into ? part : whole);
      }
  }
}

/* Lay out the weights of all panels. */
static void gather_weights(const struct side *side, float *segment, float *out) {
  struct panel p = panel_begin(side);
  do {
    memset(out + p.weights, 0, p.terms * p.columns * sizeof *out);
    copy_weights(side, &p, false, segment, out + p.weights);
  } while (panel_next(side, &p));
}

void backend_cpu_groups_begin(struct cpu_plan *plan, const struct cpu_node *node, bool backward) {
  const struct side forward = forward_side(plan, node), turned = backward_side(plan, node);
  const struct cpu_pad spread = spread_of(node);
  struct cpu_affine view;
  const struct cpu_pad pad = backend_cpu_pad_of(plan, node, &view);
  backend_cpu_frame(&pad, 1, plan->scratch.padded);
  if (!backward) {
    gather_weights(&forward, plan->weights + node->weight, plan->scratch.weights);
    return;
  }
  backend_cpu_frame(&spread, 1, plan->scratch.padded_gradient);
  gather_weights(&turned, plan->weights + node->weight, plan->scratch.transposed);
  memset(plan->scratch.weight_gradients, 0, side_weights(&forward) * sizeof(float));
}

void backend_cpu_groups_end(struct cpu_plan *plan, const struct cpu_node *node) {
  const struct side side = forward_side(plan, node);
  struct panel p = panel_begin(&side);
  do
    copy_weights(&side, &p, true, plan->gradients + node->weight, plan->scratch.weight_gradients + p.weights);
  while (panel_next(&side, &p));
}

/* --- one image --- */

/* The channels of a panel. */
struct channels {
  const float *at;
  size_t pixel, line; /* floats from one pixel, and from one row, of the padded image to the next */
};

static struct channels read_panel(struct cpu_plan *plan, const struct side *side, const struct panel *p,
                                  const float *padded) {
  const struct cpu_window *w = &side->window;
  if (panel_image(side, p) == 0)
    return (struct channels){padded + p->channel, w->ld, w->padded_width * w->ld};
  const struct cpu_pad copy = {.height = w->padded_height,
                               .width = w->padded_width,
                               .image_ld = w->ld,
                               .ld = p->channels,
                               .padded_width = w->padded_width,
                               .step = 1};
  plan->kernels->pad(&copy, padded + p->channel, plan->scratch.panel);
  return (struct channels){plan->scratch.panel, p->channels, w->padded_width * p->channels};
}

/* The columns of a panel; `to` says where they go and what is done to them, and `weights` are those of all panels. A
   product for each row of the output: of all taps, or of one tap after the other where they are no runs, or odd ones
   (eight last columns want an even number of terms in a run). */
static void multiply_panel(struct cpu_plan *plan, const struct side *side, const struct panel *p, const float *padded,
                           const float *weights, const struct cpu_gemm *to) {
  const struct cpu_window *w = &side->window;
  const struct channels x = read_panel(plan, side, p, padded);
  const size_t row = w->kernel_width * p->channels;
  struct cpu_gemm product = *to;
  product.m = w->out_width;
  product.n = p->columns;
  product.a_row = w->stride * x.pixel;
  product.a_column = 1;
  product.a_next = w->stride * x.line;
  product.b = weights + p->weights;
  product.ldb = p->columns;
  product.more = w->out_height - 1;
  if (has_rows(w) && (row % 2 == 0 || p->columns % 16 == 0 || w->kernel_height == 1)) {
    product.a = x.at;
    product.k = p->terms;
    product.run = w->kernel_height == 1 ? 0 : row;
    product.jump = w->dilation * x.line;
    backend_cpu_multiply(plan, &product, false);
    return;
  }
  product.k = p->channels;
  for (size_t ky = 0; ky < w->kernel_height; ky++)
    for (size_t kx = 0; kx < w->kernel_width; kx++) {
      product.a = x.at + (ky * x.line + kx * x.pixel) * w->dilation;
      backend_cpu_multiply(plan, &product, false);
      product.b += p->channels * p->columns;
      product.bias = NULL;
      product.accumulate = true;
    }
}

/* Add the gradients of a panel's weights: those under a row of the window, or under a tap, at once. */
static void add_gradients(struct cpu_plan *plan, const struct side *side, const struct panel *p,
                          const struct cpu_node *node, const float *g) {
  const struct cpu_window *w = &side->window;
  const struct channels x = read_panel(plan, side, p, plan->scratch.padded);
  const size_t taps = has_rows(w) ? w->kernel_width : 1;
  struct cpu_gemm product = {.m = taps * p->channels,
                             .n = p->columns,
                             .k = node->pixels,
                             .a_row = 1,
                             .a_column = w->stride * x.pixel,
                             .run = w->out_width,
                             .jump = w->stride * x.line,
                             .b = g + p->column,
                             .ldb = node->ld,
                             .c = plan->scratch.weight_gradients + p->weights,
                             .ldc = p->columns,
                             .accumulate = true};
  for (size_t ky = 0; ky < w->kernel_height; ky++)
    for (size_t kx = 0; kx < w->kernel_width; kx += taps, product.c += product.m * product.ldc) {
      product.a = x.at + (ky * x.line + kx * x.pixel) * w->dilation;
      backend_cpu_multiply(plan, &product, false);
    }
}

/* Put an image into the middle of the padded one, as it is read. Returns the floats before its first pixel. */
static size_t pad_image(struct cpu_plan *plan, const struct cpu_node *node, size_t image) {
  struct cpu_affine view;
  const struct cpu_pad pad = backend_cpu_pad_of(plan, node, &view);
  plan->kernels->pad(&pad, backend_cpu_values(plan, &plan->nodes[node->edges[0].source], image), plan->scratch.padded);
  return (pad.top * pad.padded_width + pad.left) * pad.ld;
}

void backend_cpu_groups_forward(struct cpu_plan *plan, const struct cpu_node *node, size_t image, float *y) {
  const struct side side = forward_side(plan, node);
  const float *bias = backend_cpu_bias(plan, node);
  struct panel p = panel_begin(&side);
  (void)pad_image(plan, node, image);
  if (node->pixels == 1) /* rows of tables may be longer than their panels */
    backend_cpu_clear_padding(node, 1, y);
  do {
    const struct cpu_gemm to = {.c = y + p.column,
                                .ldc = node->ld,
                                .c_next = side.window.out_width * node->ld,
                                .bias = bias ? bias + p.column : NULL};
    multiply_panel(plan, &side, &p, plan->scratch.padded, plan->scratch.weights, &to);
  } while (panel_next(&side, &p));
}

/* The inputs' gradient from that of the outputs, which is spread. */
static void write_inputs(struct cpu_plan *plan, const struct cpu_node *node, const float *mask, const float *g,
                         float *to) {
  const struct cpu_edge *edge = &node->edges[0];
  const struct cpu_node *source = &plan->nodes[edge->source];
  const struct side side = backward_side(plan, node);
  const struct cpu_pad spread = spread_of(node);
  struct panel p = panel_begin(&side);
  plan->kernels->pad(&spread, g, plan->scratch.padded_gradient);
  if (edge->first && source->pixels == 1)
    backend_cpu_clear_padding(source, 1, to);
  do {
    const struct cpu_gemm product = {.c = to + p.column,
                                     .ldc = source->ld,
                                     .c_next = node->window.in_width * source->ld,
                                     .mask = mask ? mask + p.column : NULL,
                                     .ldm = source->ld,
                                     .mask_next = node->window.padded_width * source->ld,
                                     .mask_sum = true,
                                     .accumulate = !edge->first};
    multiply_panel(plan, &side, &p, plan->scratch.padded_gradient, plan->scratch.transposed, &product);
  } while (panel_next(&side, &p));
}

void backend_cpu_groups_backward(struct cpu_plan *plan, const struct cpu_node *node, size_t image, const float *g,
                                 float *to) {
  const struct cpu_edge *edge = &node->edges[0];
  const struct side side = forward_side(plan, node);
  const float *x = plan->scratch.padded + pad_image(plan, node, image);
  struct panel p = panel_begin(&side);
  do
    add_gradients(plan, &side, &p, node, g);
  while (panel_next(&side, &p));
  if (edge->gradient)
    write_inputs(plan, node, edge->relu ? x : NULL, g, to);
}
