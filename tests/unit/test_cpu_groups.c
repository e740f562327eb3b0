/* test_cpu_groups.c - backend cpu's convolutions in groups of several channels, on every instruction set that this
   machine has: all outputs and gradients of random ones against plain loops in double precision. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu_check.h"
#include "cpu_levels.h"
#include "golden.h"

enum { ROWS = 3, CLASSES = 3, NETWORKS = 150 };

static struct tutti_random draws;

static size_t below(size_t n) { return (size_t)tutti_random_below(&draws, (uint32_t)n); }

/* A convolution in groups, and what stands before it. */
struct drawn {
  struct attributes conv;
  int32_t height, width, inputs, units; /* of the image; of a group */
  bool norm, relu, half, adds;          /* adds: the inputs' gradient goes to what is there */
  bool bfloat;                          /* precision = bfloat16, which does not round what is in groups */
};

static struct drawn draw_one(void) {
  static const int32_t sizes[] = {1, 2, 3, 4, 8, 16};
  struct drawn d = {.conv = default_attributes(),
                    .height = 5 + (int32_t)below(4),
                    .width = 5 + (int32_t)below(10),
                    .inputs = sizes[1 + below(5)],
                    .units = sizes[below(6)],
                    .norm = below(2),
                    .relu = below(2),
                    .half = below(3) == 0,
                    .adds = below(3) == 0,
                    .bfloat = below(3) == 0};
  if (below(2))
    d.units = d.inputs;
  d.conv.groups = 2 + (int32_t)below(4);
  d.conv.units = d.units * d.conv.groups;
  d.conv.kernel_height = below(2) ? 3 : 1 + (int32_t)below(5);
  d.conv.kernel_width = below(2) ? d.conv.kernel_height : 1 + (int32_t)below(5);
  d.conv.stride = 1 + (int32_t)(below(2) * below(3));
  d.conv.padding = below(3) ? TUTTI_PADDING_SAME : TUTTI_PADDING_VALID;
  d.conv.dilation = d.conv.padding == TUTTI_PADDING_SAME && below(3) == 0 ? 2 : 1;
  d.conv.bias = below(2);
  if (below(10) == 0) { /* a single pixel, which is a table */
    d.height = d.width = 1;
    d.conv.padding = TUTTI_PADDING_SAME;
  }
  return d;
}

static struct tutti_task make_task(const struct drawn *d) {
  return (struct tutti_task){.size = sizeof(struct tutti_task),
                             .kind = TUTTI_TASK_CLASSIFICATION,
                             .input = {d->height, d->width, 3},
                             .outputs = CLASSES,
                             .train_rows = ROWS,
                             .head = TUTTI_OP_HEAD_SOFTMAX};
}

static tutti_network *make_network(const struct drawn *d, const struct tutti_task *task) {
  tutti_network *network = begin(task);
  struct attributes first = default_attributes(), relu = default_attributes();
  first.units = d->inputs * d->conv.groups;
  uint32_t layer = OP_WITH(network, TUTTI_OP_CONV2D, &first, 0);
  if (d->norm)
    layer = OP(network, TUTTI_OP_BATCH_NORM, layer);
  if (d->relu)
    layer = OP_WITH(network, TUTTI_OP_ACTIVATION, &relu, layer);
  layer = OP(network, TUTTI_OP_GLOBAL_POOL, OP_WITH(network, TUTTI_OP_CONV2D, &d->conv, layer));
  OK(tutti_network_add_head(context, network, layer, task));
  return network;
}

/* --- plain loops --- */

/* Pixels before the image along one side. */
static int padding_of(const struct drawn *d, int in, int out, int kernel) {
  int lacks = (out - 1) * d->conv.stride + (kernel - 1) * d->conv.dilation + 1 - in;
  return d->conv.padding == TUTTI_PADDING_SAME && lacks > 0 ? lacks / 2 : 0;
}

struct loops {
  size_t channels, units; /* of all groups */
  double *x, *g, *y, *dx; /* [rows][height][width][channels], or units; g and y of outputs */
  double *weights, *dw;   /* [taps][channels of a group][units] */
};

/* Every product of an input, a weight and what its output gets: y, dx and dw. */
static void run_loops(const struct drawn *d, int out_height, int out_width, struct loops *l) {
  const int top = padding_of(d, d->height, out_height, d->conv.kernel_height);
  const int left = padding_of(d, d->width, out_width, d->conv.kernel_width);
  for (int at = 0; at < ROWS * out_height * out_width; at++)
    for (int tap = 0; tap < d->conv.kernel_height * d->conv.kernel_width; tap++) {
      const int row = at / (out_height * out_width), oy = at / out_width % out_height, ox = at % out_width;
      const int y = oy * d->conv.stride - top + tap / d->conv.kernel_width * d->conv.dilation;
      const int x = ox * d->conv.stride - left + tap % d->conv.kernel_width * d->conv.dilation;
      if (y < 0 || x < 0 || y >= d->height || x >= d->width)
        continue;
      for (size_t u = 0; u < l->units; u++)
        for (size_t c = 0; c < (size_t)d->inputs; c++) {
          const size_t in = (size_t)((row * d->height + y) * d->width + x) * l->channels +
                            u / (size_t)d->units * (size_t)d->inputs + c;
          const size_t out = (size_t)at * l->units + u;
          const size_t weight = ((size_t)tap * (size_t)d->inputs + c) * l->units + u;
          l->y[out] += l->x[in] * l->weights[weight];
          l->dx[in] += l->g[out] * l->weights[weight];
          l->dw[weight] += l->g[out] * l->x[in];
        }
    }
}

/* --- beside them --- */

/* [rows][ld] without what lies behind the first `width` numbers of a row. */
static double *compact(const float *from, size_t rows, size_t width, size_t ld) {
  double *out = calloc(rows * width, sizeof *out);
  assert_non_null(out);
  for (size_t i = 0; i < rows * width; i++)
    out[i] = (double)from[i / width * ld + i % width];
  return out;
}

/* The columns are close to what is wanted, and 0 behind these. */
static void check_rows(const char *what, const float *is, size_t ld, size_t rows, size_t width, const double *want,
                       double relative) {
  for (size_t i = 0; i < rows * ld; i++)
    if (i % ld < width)
      assert_close_told((double)is[i], want[i / ld * width + i % ld], relative, 1e-5, "%s %zu of row %zu", what, i % ld,
                        i / ld);
    else if (is[i] != 0)
      fail_msg("%s: %g behind the columns", what, (double)is[i]);
}

static struct cpu_node *find_groups(struct cpu_plan *plan) {
  struct cpu_node *node = &plan->nodes[0];
  while (node->layer->op != TUTTI_OP_CONV2D || node->attributes->groups == 1)
    node++;
  assert_int_equal(node->form, CPU_GROUPED);
  return node;
}

/* Forward through the node, from a random input and with random biases. What lies in memory then is soon that of
   others. */
static void forward(struct cpu_plan *plan, const struct cpu_node *node) {
  float *input = plan->nodes[0].value;
  tutti_random_fill_normal(&draws, ROWS * backend_cpu_image(&plan->nodes[0]), 0, 1, input);
  backend_cpu_clear_padding(&plan->nodes[0], ROWS, input);
  if (node->bias != CPU_NONE)
    tutti_random_fill_normal(&draws, node->width, 0, 1, plan->weights + node->bias);
  for (size_t i = 0; &plan->nodes[i] <= node; i++)
    backend_cpu_forward_node(plan, i, ROWS, &(struct cpu_draws){.drop = true});
}

/* What lay in memory before changes nothing. */
static void fill_scratch(const struct cpu_plan *plan, const struct cpu_node *node) {
  struct cpu_scratch_sizes sizes = {0};
  backend_cpu_groups_sizes(plan, node, &sizes);
  tutti_random_fill_normal(&draws, sizes.weights, 0, 1, plan->scratch.weights);
  tutti_random_fill_normal(&draws, sizes.weights, 0, 1, plan->scratch.weight_gradients);
  tutti_random_fill_normal(&draws, sizes.transposed, 0, 1, plan->scratch.transposed);
  tutti_random_fill_normal(&draws, sizes.panel, 0, 1, plan->scratch.panel);
  tutti_random_fill_normal(&draws, sizes.padded_gradient, 0, 1, plan->scratch.padded_gradient);
}

static void check_node(struct cpu_plan *plan, const struct drawn *d) {
  struct cpu_node *node = find_groups(plan);
  struct cpu_edge *edge = &node->edges[0];
  const struct cpu_node *source = &plan->nodes[edge->source];
  const size_t pixels = ROWS * source->pixels, outputs = ROWS * node->pixels, in_size = pixels * source->ld;
  const size_t inputs = node->tap_count * (size_t)d->inputs, ldw = backend_cpu_weights_ld(plan, node);
  float *x = calloc(in_size + 16, sizeof *x), *g = calloc(outputs * node->ld + 16, sizeof *g);
  struct loops l = {.channels = source->width, .units = node->width};
  assert_true(edge->relu == (d->relu && source->pixels > 1) && node->half == (d->half && node->pixels > 1));
  fill_scratch(plan, node);
  forward(plan, node);
  tutti_random_fill_normal(&draws, outputs * node->ld, 0, 1, g);
  backend_cpu_clear_padding(node, ROWS, g);
  backend_cpu_view(plan, edge, 0, ROWS, false, x);
  l.x = compact(x, pixels, l.channels, source->ld);
  l.g = compact(g, outputs, l.units, node->ld);
  l.weights = compact(plan->weights + node->weight, inputs, l.units, ldw);
  l.y = calloc(outputs * l.units, sizeof *l.y);
  l.dx = calloc(pixels * l.channels, sizeof *l.dx);
  l.dw = calloc(inputs * l.units, sizeof *l.dw);
  run_loops(d, node->layer->shape.height, node->layer->shape.width, &l);
  for (size_t i = 0; i < outputs * l.units && node->bias != CPU_NONE; i++)
    l.y[i] += (double)plan->weights[node->bias + i % l.units];
  check_rows("output", backend_cpu_values_read(plan, node, 0, ROWS), node->ld, outputs, l.units, l.y,
             node->half ? 1e-3 : 1e-5);

  memcpy(node->gradient, g, outputs * node->ld * sizeof *g);
  assert_true(edge->gradient && edge->first);
  edge->first = !d->adds;
  tutti_random_fill_normal(&draws, in_size, 0, 1, source->gradient); /* what another edge added, or what lay there */
  if (d->adds)
    backend_cpu_clear_padding(source, ROWS, source->gradient);
  for (size_t i = 0; i < pixels * l.channels; i++) {
    const size_t at = i / l.channels * source->ld + i % l.channels;
    l.dx[i] = edge->relu && x[at] <= 0 ? 0 : l.dx[i];
    l.dx[i] += d->adds ? (double)source->gradient[at] : 0;
  }
  fill_scratch(plan, node);
  backend_cpu_backward_node(plan, (size_t)(node - plan->nodes), ROWS);
  check_rows("gradient of weight", plan->gradients + node->weight, ldw, inputs, l.units, l.dw, 1e-5);
  check_rows("gradient of input", source->gradient, source->ld, pixels, l.channels, l.dx, 1e-5);
  free(x), free(g), free(l.x), free(l.g), free(l.weights), free(l.y), free(l.dx), free(l.dw);
}

static void test_random_groups(void **state) {
  const struct level_test *level = *state;
  tutti_random_init(&draws, 3, "groups", 0);
  for (size_t i = 0; i < NETWORKS; i++) {
    const struct drawn d = draw_one();
    const struct tutti_task task = make_task(&d);
    struct cpu_config config = make_config();
    config.storage = d.half ? CPU_STORAGE_HALF : CPU_STORAGE_FLOAT;
    config.precision = d.bfloat ? CPU_BFLOAT16 : CPU_FLOAT32;
    tutti_network *network = make_network(&d, &task);
    struct cpu_plan *plan = plan_to_train(network, &task, level->cpu, &config);
    check_node(plan, &d);
    backend_cpu_plan_destroy(plan);
    tutti_network_destroy(network);
  }
}

int main(void) {
  static struct level_tests all;
  add_on_levels(&all, "test_random_groups", 0, test_random_groups);
  return run_on_levels(&all, "cpu groups", set_up, tear_down);
}
