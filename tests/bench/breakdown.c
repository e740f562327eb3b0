/* breakdown.c - see breakdown.h. */
#include "breakdown.h"

#include <stdio.h>
#include <string.h>

enum { LINES = 40 };

struct line {
  char name[40];
  double seconds, flops, bytes;
};

struct breakdown {
  struct line lines[LINES];
  size_t count;
  double begin;
};

enum tutti_status breakdown_create(tutti_context *context, struct breakdown **breakdown) {
  return tutti_alloc(context, 1, sizeof **breakdown, breakdown);
}

void breakdown_destroy(struct breakdown *breakdown) { tutti_free(breakdown); }

void breakdown_begin(struct breakdown *breakdown) {
  if (breakdown)
    breakdown->begin = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

static void count_line(struct breakdown *b, const char *name, double flops, double bytes) {
  double seconds = bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - b->begin;
  size_t i = 0;
  while (i < b->count && strcmp(b->lines[i].name, name) != 0)
    i++;
  if (i == LINES)
    return;
  if (i == b->count)
    (void)snprintf(b->lines[b->count++].name, sizeof b->lines[i].name, "%s", name);
  b->lines[i].seconds += seconds;
  b->lines[i].flops += flops;
  b->lines[i].bytes += bytes;
}

static const char *kind_of(const struct cpu_plan *plan, const struct cpu_node *node) {
  if (node->layer->op != TUTTI_OP_CONV2D)
    return node->layer->op_name;
  if (node->op == TUTTI_OP_DENSE || node->form == CPU_POINTWISE)
    return plan->nodes[node->edges[0].source].through ? "conv2d depthwise + 1x1" : "conv2d 1x1";
  return node->form == CPU_DEPTHWISE ? "conv2d depthwise" : "conv2d";
}

/* Numbers that lie in memory. */
static double numbers(const struct cpu_plan *plan, const struct cpu_node *node, size_t rows) {
  while (node->through)
    node = &plan->nodes[node->edges[0].source];
  return node->value ? (double)(rows * node->pixels * node->width) : 0;
}

/* The traffic that an op cannot avoid. Forward: each input is read and the output written, except batch norm that its
   readers apply. Backward: the output's gradient and the values that the op needs are read, and each input's gradient
   is written; batch norms that sum it also read their values. */
static double traffic(const struct cpu_plan *plan, const struct cpu_node *node, size_t rows, bool backward) {
  double own = numbers(plan, node, rows), in = 0;
  bool looks_up =
      node->op == TUTTI_OP_CONV2D || node->op == TUTTI_OP_FACTORISED_REDUCE || node->op == TUTTI_OP_MAX_POOL;
  if (node->lazy) /* it only sums, and others have summed for it */
    return 0;
  for (size_t e = 0; e < node->edge_count; e++) {
    const struct cpu_edge *edge = &node->edges[e];
    const struct cpu_node *source = &plan->nodes[edge->source];
    in += numbers(plan, source, rows);
    edge = source->through ? &source->edges[0] : edge;
    for (size_t i = plan->nodes[edge->source].norms; backward && edge->last && i != CPU_NONE;
         i = plan->nodes[i].next_norm)
      own += numbers(plan, &plan->nodes[i], rows);
  }
  if (!backward)
    return 4 * (own + in);
  return 4 * (own + in * (looks_up ? 2 : 1) + (node->norm == CPU_NONE ? 0 : own));
}

void breakdown_end(struct breakdown *b, const struct cpu_plan *plan, size_t index, size_t rows, bool backward) {
  const struct cpu_node *node = &plan->nodes[index];
  char name[40];
  if (!b || node->through || (backward && !(node->needs_gradient && (node->gradient || node->norm != CPU_NONE))))
    return;
  double flops = node->layer->flops;
  if (node->edge_count > 0 && plan->nodes[node->edges[0].source].through)
    flops += plan->nodes[node->edges[0].source].layer->flops;
  (void)snprintf(name, sizeof name, "%s %s", kind_of(plan, node), backward ? "backward" : "forward");
  count_line(b, name, flops * (double)rows * (backward ? 2 : 1), traffic(plan, node, rows, backward));
}

void breakdown_end_step(struct breakdown *b, const struct cpu_plan *plan) {
  if (b)
    count_line(b, "optimiser", 6 * (double)plan->trained, 20 * (double)plan->trained);
}

/* GB/s of a copy, read and written counted. */
static double copy_rate(void) {
  enum { FLOATS = 1 << 22, TIMES = 4 };
  static const double bytes = 8.0 * FLOATS;
  float *from = NULL, *to = NULL;
  double best = 0;
  if (tutti_alloc(NULL, FLOATS, sizeof *from, &from) == TUTTI_OK &&
      tutti_alloc(NULL, FLOATS, sizeof *to, &to) == TUTTI_OK)
    for (int i = 0; i < TIMES; i++) {
      double begin = bench_seconds(CLOCK_PROCESS_CPUTIME_ID);
      for (size_t k = 0; k < FLOATS; k++)
        to[k] = from[k] + 1;
      double rate = 1e-9 * bytes / (bench_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin);
      best = rate > best ? rate : best;
      from[0] = to[i];
    }
  tutti_free(from);
  tutti_free(to);
  return best;
}

void breakdown_print(const struct breakdown *b, size_t steps, double peak) {
  double all = 0, copy = copy_rate(), each = 1 / (double)steps;
  for (size_t i = 0; i < b->count; i++)
    all += b->lines[i].seconds;
  printf("  %-28s %8s %6s %9s %8s   (peak %.0f GFLOP/s, copy %.1f GB/s)\n", "op", "ms/step", "share", "of peak",
         "of copy", peak, copy);
  for (size_t i = 0; i < b->count; i++) {
    const struct line *l = &b->lines[i];
    printf("  %-28s %8.2f %6.2f %9.2f %8.2f\n", l->name, 1e3 * l->seconds * each, l->seconds / all,
           1e-9 * l->flops / l->seconds / peak, 1e-9 * l->bytes / l->seconds / copy);
  }
}
