/* view.c - the input of an op on images, some images at a time. Batch norm and the cut-off of negative numbers are
   applied as values are read, so neither result is ever stored. If the gradient of a layer before a batch norm follows
   from the gradient after it, it is computed as it is read. */
#include "cpu_impl.h"

#include <string.h>

bool backend_cpu_view_of(const struct cpu_plan *plan, const struct cpu_edge *edge, struct cpu_affine *f) {
  const struct cpu_node *source = &plan->nodes[edge->source];
  *f = (struct cpu_affine){.period = backend_cpu_period(source)};
  if (source->lazy)
    *f = backend_cpu_norm_affine(source);
  f->relu = edge->relu;
  f->half = backend_cpu_is_half(plan, source);
  return source->lazy || f->relu || f->half;
}

void backend_cpu_frame(const struct cpu_pad *pad, size_t images, float *out) {
  size_t count = images * pad->padded_height * pad->padded_width * pad->ld;
  memset(out, 0, count * sizeof *out);
  for (size_t i = 0; pad->fill < 0 && i < count; i++)
    out[i] = pad->fill;
}

struct cpu_pad backend_cpu_pad_of(const struct cpu_plan *plan, const struct cpu_node *node, struct cpu_affine *view) {
  const struct cpu_window *w = &node->window;
  bool viewed = backend_cpu_view_of(plan, &node->edges[0], view);
  return (struct cpu_pad){.view = viewed ? view : NULL,
                          .height = w->in_height,
                          .width = w->in_width,
                          .image_ld = plan->nodes[node->edges[0].source].ld,
                          .ld = w->ld,
                          .top = w->top,
                          .left = w->left,
                          .padded_height = w->padded_height,
                          .padded_width = w->padded_width,
                          .step = 1};
}

void backend_cpu_view(const struct cpu_plan *plan, const struct cpu_edge *edge, size_t first, size_t count,
                      bool accumulate, float *out) {
  const struct cpu_node *source = &plan->nodes[edge->source];
  struct cpu_affine f;
  (void)backend_cpu_view_of(plan, edge, &f);
  plan->kernels->affine(&f, count * backend_cpu_image(source), backend_cpu_values(plan, source, first), accumulate,
                        out);
}

const float *backend_cpu_read(const struct cpu_plan *plan, const struct cpu_edge *edge, size_t first, size_t count) {
  const struct cpu_node *source = &plan->nodes[edge->source];
  if (!source->lazy && !edge->relu && !backend_cpu_is_half(plan, source))
    return source->value + first * backend_cpu_image(source);
  backend_cpu_view(plan, edge, first, count, false, plan->scratch.view);
  return plan->scratch.view;
}

const float *backend_cpu_read_parts(const struct cpu_plan *plan, const struct cpu_node *node, size_t first,
                                    size_t count) {
  if (node->edge_count == 1)
    return backend_cpu_read(plan, &node->edges[0], first, count);
  float *out = plan->scratch.view;
  for (size_t e = 0; e < node->edge_count; e++) {
    const struct cpu_node *source = &plan->nodes[node->edges[e].source];
    struct cpu_affine f;
    (void)backend_cpu_view_of(plan, &node->edges[e], &f);
    plan->kernels->place(&f, count * source->pixels, source->ld, backend_cpu_values(plan, source, first), source->ld,
                         out, node->input_ld);
    out += source->ld;
  }
  return plan->scratch.view;
}

const float *backend_cpu_read_gradient(const struct cpu_plan *plan, const struct cpu_node *node, size_t first,
                                       size_t count) {
  size_t size = node->pixels * node->ld, at = first * size;
  if (node->norm == CPU_NONE)
    return node->gradient + at;
  const struct cpu_node *norm = &plan->nodes[node->norm];
  struct cpu_norm slopes = backend_cpu_norm_slopes(plan, norm);
  plan->kernels->norm_gradient(&slopes, count * size, norm->gradient + at, backend_cpu_values(plan, node, first), false,
                               plan->scratch.gradient);
  return plan->scratch.gradient;
}

/* Prefetch the data of the next images, of so many bytes each, while these are worked on. */
static void view_fetch(struct cpu_plan *plan, const void *array, size_t bytes, size_t first, size_t count,
                       size_t rows) {
  struct cpu_ahead *ahead = &plan->scratch.ahead;
  size_t next = first + count, images = rows - next < count ? rows - next : count;
  if (!array || images == 0 || ahead->count == CPU_STREAMS)
    return;
  ahead->streams[ahead->count].at = (const char *)array + next * bytes;
  ahead->streams[ahead->count++].lines = images * bytes / 64;
}

static void view_fetch_gradient(struct cpu_plan *plan, const struct cpu_node *node, const struct cpu_node *owner,
                                size_t first, size_t count, size_t rows) {
  view_fetch(plan, owner->gradient, backend_cpu_image(node) * sizeof(float), first, count, rows);
}

static void view_fetch_values(struct cpu_plan *plan, const struct cpu_node *node, size_t first, size_t count,
                              size_t rows) {
  size_t number = backend_cpu_is_half(plan, node) ? sizeof(uint16_t) : sizeof(float);
  view_fetch(plan, node->value, backend_cpu_image(node) * number, first, count, rows);
}

/* Kernels will ask about as often as they did for the images before. Spread the lines evenly over these calls, since
   lines that are fetched in bursts wait for one another. */
static void view_pace(struct cpu_ahead *ahead, size_t first) {
  enum { LINES = 8 };
  size_t lines = 0;
  for (size_t i = 0; i < ahead->count; i++)
    lines += ahead->streams[i].lines;
  ahead->lines = first > 0 && ahead->calls > 0 ? lines / ahead->calls + 1 : LINES;
  ahead->calls = 0;
}

void backend_cpu_fetch_next(struct cpu_plan *plan, const struct cpu_node *node, size_t first, size_t count, size_t rows,
                            bool backward) {
  struct cpu_ahead *ahead = &plan->scratch.ahead;
  ahead->count = 0;
  for (size_t e = 0; e < node->edge_count; e++) {
    const struct cpu_edge *edge = &node->edges[e];
    if (plan->nodes[edge->source].through)
      edge = &plan->nodes[edge->source].edges[0];
    const struct cpu_node *source = &plan->nodes[edge->source];
    bool last = backward && edge->last;
    if (backward)
      view_fetch_gradient(plan, source, source, first, count, rows);
    view_fetch_values(plan, source, first, count, rows);
    for (size_t i = last ? source->norms : CPU_NONE; i != CPU_NONE; i = plan->nodes[i].next_norm)
      view_fetch_values(plan, &plan->nodes[i], first, count, rows);
  }
  if (!backward || node->norm != CPU_NONE)
    view_fetch_values(plan, node, first, count, rows);
  if (backward)
    view_fetch_gradient(plan, node, node->norm == CPU_NONE ? node : &plan->nodes[node->norm], first, count, rows);
  view_pace(ahead, first);
}
