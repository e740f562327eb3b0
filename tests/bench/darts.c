/* darts.c - networks of DARTS cells, as train_darts_torch.py has them. */
#include "darts.h"

#include <stdio.h>
#include <string.h>

/* --- genotypes --- */

static const char *const edge_ops[] = {"max3", "avg3", "skip", "sep3", "sep5", "dil3", "dil5", NULL};

struct darts_genotype darts_draw(uint64_t index) {
  struct darts_genotype g;
  struct tutti_random random;
  tutti_random_init(&random, 1, "genotype", index);
  for (int cell = 0; cell < 2; cell++)
    for (uint32_t node = 0; node < DARTS_NODES; node++) {
      struct darts_edge *pair = &g.cells[cell][2 * node];
      pair[0].input = (uint32_t)tutti_random_below(&random, node + 2);
      pair[1].input = (pair[0].input + 1 + (uint32_t)tutti_random_below(&random, node + 1)) % (node + 2);
      pair[0].op = (int)tutti_random_below(&random, 7);
      pair[1].op = (int)tutti_random_below(&random, 7);
    }
  return g;
}

bool darts_parse(const char *text, struct darts_genotype *g) {
  for (int e = 0; e < 2 * DARTS_EDGES; e++) {
    char name[8];
    int used = 0, op = 0;
    struct darts_edge *edge = &g->cells[e / DARTS_EDGES][e % DARTS_EDGES];
    if (sscanf(text, "%u:%7[a-z0-9]%n", &edge->input, name, &used) != 2 ||
        edge->input >= (uint32_t)(e % DARTS_EDGES) / 2 + 2)
      return false;
    while (edge_ops[op] && strcmp(edge_ops[op], name) != 0)
      op++;
    if (!edge_ops[op])
      return false;
    edge->op = op;
    text += used + (text[used] == ',');
  }
  return *text == 0;
}

/* --- networks --- */

struct maker {
  tutti_context *context;
  tutti_network *network;
  enum tutti_status status;
};

static uint32_t add(struct maker *m, enum tutti_op op, size_t count, const uint32_t *inputs,
                    const struct tutti_attribute *attributes) {
  uint32_t layer = 0;
  if (m->status == TUTTI_OK)
    m->status = tutti_network_add(m->context, m->network, op, NULL, count, inputs, attributes, &layer);
  return layer;
}

static uint32_t relu(struct maker *m, uint32_t x) {
  return add(m, TUTTI_OP_ACTIVATION, 1, &x, TUTTI_ATTRIBUTES({"activation", TUTTI_ACTIVATION_RELU}));
}

static uint32_t norm(struct maker *m, uint32_t x) { return add(m, TUTTI_OP_BATCH_NORM, 1, &x, NULL); }

static uint32_t conv(struct maker *m, uint32_t x, int32_t units, int32_t kernel, int32_t stride, int32_t dilation,
                     int32_t groups) {
  return add(m, TUTTI_OP_CONV2D, 1, &x,
             TUTTI_ATTRIBUTES({"units", units}, {"kernel_height", kernel}, {"kernel_width", kernel}, {"stride", stride},
                              {"dilation", dilation}, {"groups", groups}, {"bias", false}));
}

/* ReLU, depthwise, pointwise, batch norm. */
static uint32_t separable(struct maker *m, uint32_t x, int32_t units, int32_t kernel, int32_t stride,
                          int32_t dilation) {
  uint32_t across = conv(m, relu(m, x), units, kernel, stride, dilation, units);
  return norm(m, conv(m, across, units, 1, 1, 1, 1));
}

static uint32_t reduce(struct maker *m, uint32_t x, int32_t units) {
  uint32_t input = relu(m, x);
  return norm(m, add(m, TUTTI_OP_FACTORISED_REDUCE, 1, &input, TUTTI_ATTRIBUTES({"units", units})));
}

static uint32_t pool(struct maker *m, enum tutti_op op, uint32_t x, int32_t stride) {
  return add(m, op, 1, &x, TUTTI_ATTRIBUTES({"kernel_height", 3}, {"kernel_width", 3}, {"stride", stride}));
}

static uint32_t edge_op(struct maker *m, int op, uint32_t x, int32_t units, int32_t stride) {
  switch (op) {
  case 0:
    return pool(m, TUTTI_OP_MAX_POOL, x, stride);
  case 1:
    return pool(m, TUTTI_OP_AVERAGE_POOL, x, stride);
  case 2:
    return stride == 1 ? x : reduce(m, x, units);
  case 3:
  case 4:
    return separable(m, separable(m, x, units, op == 3 ? 3 : 5, stride, 1), units, op == 3 ? 3 : 5, 1, 1);
  default:
    return separable(m, x, units, op == 5 ? 3 : 5, stride, 2);
  }
}

static uint32_t cell(struct maker *m, const struct darts_edge *edges, uint32_t before, uint32_t last, int32_t units,
                     bool reduction, bool after_reduction) {
  uint32_t states[2 + DARTS_NODES];
  states[0] = after_reduction ? reduce(m, before, units) : norm(m, conv(m, relu(m, before), units, 1, 1, 1, 1));
  states[1] = norm(m, conv(m, relu(m, last), units, 1, 1, 1, 1));
  for (int node = 0; node < DARTS_NODES; node++) {
    uint32_t pair[2];
    for (int e = 0; e < 2; e++) {
      const struct darts_edge *edge = &edges[2 * node + e];
      pair[e] = edge_op(m, edge->op, states[edge->input], units, reduction && edge->input < 2 ? 2 : 1);
    }
    states[2 + node] = add(m, TUTTI_OP_ADD, 2, pair, NULL);
  }
  return add(m, TUTTI_OP_CONCAT, DARTS_NODES, states + 2, NULL);
}

enum tutti_status darts_network(tutti_context *context, int cells, int channels, const struct tutti_task *task,
                                const struct darts_genotype *genotype, tutti_network **network) {
  struct maker m = {.context = context};
  TUTTI_TRY(context, tutti_network_create(context, task->input, &m.network));
  *network = m.network;
  int32_t units = channels;
  uint32_t before = norm(&m, conv(&m, 0, 3 * units, 3, 1, 1, 1)), last = before;
  bool after_reduction = false;
  for (int c = 0; c < cells; c++) {
    bool reduction = c == cells / 3 || c == 2 * cells / 3;
    units *= reduction ? 2 : 1;
    uint32_t next = cell(&m, genotype->cells[reduction], before, last, units, reduction, after_reduction);
    before = last;
    last = next;
    after_reduction = reduction;
  }
  uint32_t mean = add(&m, TUTTI_OP_GLOBAL_POOL, 1, &last, NULL);
  TUTTI_TRY(context, m.status);
  return tutti_network_add_head(context, m.network, mean, task);
}
