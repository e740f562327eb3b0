/* stream_forward.c - the forward pass of a network of images, node by node in the order of backend cpu's plan
   (backends/cpu/step.c), each as one or a few launches. What that plan does not store is not stored here: batch norms
   and ReLUs before convolutions are applied as their readers read, depthwise convolutions before pointwise ones are
   made anew when they are needed. */
#include "stream_host_impl.h"

/* --- what nodes read --- */

struct stream_array backend_cuda_stream_value(const struct stream_run *run, size_t node) {
  const struct stream_program *program = run->program;
  if (program->plan->nodes[node].through)
    return stream_scratch(run, program->across);
  return stream_array_at(run, program->nodes[node].value, program->nodes[node].narrow);
}

struct stream_array backend_cuda_stream_gradient(const struct stream_run *run, size_t node) {
  const struct stream_program *program = run->program;
  const struct stream_node *at = &program->nodes[backend_cpu_gradient_of(program->plan, node)];
  return stream_array_at(run, at->gradient, at->narrow);
}

struct stream_array backend_cuda_stream_weights(const struct stream_run *run, size_t place) {
  const struct stream_program *program = run->program;
  size_t all = program->narrow ? program->narrow_weights : program->weights;
  return stream_beyond(stream_scratch(run, all), place);
}

struct stream_view backend_cuda_stream_view(const struct stream_run *run, const struct cpu_edge *edge) {
  const struct cpu_node *source = &run->program->plan->nodes[edge->source];
  struct stream_view view = {.relu = edge->relu};
  if (source->lazy) {
    const float *statistics = stream_at(run, run->program->nodes[edge->source].statistics);
    view.value = backend_cuda_stream_value(run, source->edges[0].source);
    view.scale = statistics + 2 * source->ld;
    view.shift = statistics + 3 * source->ld;
  } else {
    view.value = backend_cuda_stream_value(run, edge->source);
  }
  return view;
}

/* An image of a node, which is a row where it is a table. */
struct stream_geometry backend_cuda_stream_geometry(const struct cpu_node *node, uint32_t rows) {
  bool image = node->pixels > 1;
  uint32_t height = image ? (uint32_t)node->layer->shape.height : 1;
  uint32_t width = image ? (uint32_t)node->layer->shape.width : 1;
  return (struct stream_geometry){.rows = rows,
                                  .channels = (uint32_t)node->width,
                                  .height = height,
                                  .width = width,
                                  .ld = (uint32_t)node->ld,
                                  .moved_height = height,
                                  .moved_width = width,
                                  .moved_ld = (uint32_t)node->ld,
                                  .step = 1};
}

/* Copy the parts that a node reads side by side into the scratch: of a reduction's half, every second pixel. */
static struct stream_input copy_parts(const struct stream_run *run, size_t index, uint32_t rows, int half) {
  const struct cpu_plan *plan = run->program->plan;
  const struct cpu_node *node = &plan->nodes[index];
  const struct stream_node *to = &run->program->nodes[index];
  struct stream_array at = stream_scratch(run, run->program->view);
  bool reduce = node->op == TUTTI_OP_FACTORISED_REDUCE;
  uint32_t ld = to->by_library ? to->conv.in_ld : (uint32_t)node->input_ld;
  for (size_t e = 0; e < node->edge_count; e++) {
    const struct cpu_node *source = &plan->nodes[node->edges[e].source];
    struct stream_copy copy = {.geometry = backend_cuda_stream_geometry(source, rows),
                               .from = backend_cuda_stream_view(run, &node->edges[e]),
                               .to = at,
                               .part = node->edge_count > 1};
    copy.geometry.moved_ld = ld;
    if (reduce) {
      copy.geometry.moved_height = (uint32_t)node->layer->shape.height;
      copy.geometry.moved_width = (uint32_t)node->layer->shape.width;
      copy.geometry.step = 2;
      copy.geometry.top = copy.geometry.left = -half;
    } else if (to->padded) {
      copy.geometry.moved_height = to->conv.in_height;
      copy.geometry.moved_width = to->conv.in_width;
      copy.geometry.top = (int32_t)node->window.top;
      copy.geometry.left = (int32_t)node->window.left;
    }
    backend_cuda_stream_copy(&run->place, &copy);
    at = stream_beyond(at, source->width);
  }
  return (struct stream_input){stream_scratch(run, run->program->view), ld};
}

struct stream_window backend_cuda_stream_window(const struct stream_run *run, const struct cpu_node *node,
                                                uint32_t rows) {
  const struct cpu_plan *plan = run->program->plan;
  const struct cpu_window *w = &node->window;
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
  struct stream_window window = {.rows = rows,
                                 .in_height = (uint32_t)w->in_height,
                                 .in_width = (uint32_t)w->in_width,
                                 .in_ld = (uint32_t)source->ld,
                                 .out_height = (uint32_t)w->out_height,
                                 .out_width = (uint32_t)w->out_width,
                                 .out_ld = (uint32_t)node->ld,
                                 .kernel_height = (uint32_t)w->kernel_height,
                                 .kernel_width = (uint32_t)w->kernel_width,
                                 .stride = (uint32_t)w->stride,
                                 .dilation = (uint32_t)w->dilation,
                                 .top = (int32_t)w->top,
                                 .left = (int32_t)w->left,
                                 .units = (uint32_t)node->width};
  if (node->op == TUTTI_OP_CONV2D) {
    uint32_t groups = (uint32_t)node->attributes->groups;
    window.in_group = (uint32_t)source->width / groups;
    window.out_group = window.units / groups;
    window.ldw = (uint32_t)plan->segments[node->segment].ld;
  }
  return window;
}

/* A convolution in groups into `out`. */
static void grouped_values(const struct stream_run *run, const struct cpu_node *node, uint32_t rows,
                           struct stream_array out) {
  const struct stream_grouped grouped = {.window = backend_cuda_stream_window(run, node, rows),
                                         .in = backend_cuda_stream_view(run, &node->edges[0]),
                                         .weights = stream_at(run, run->program->weights) + node->weight,
                                         .out = out};
  backend_cuda_stream_grouped_forward(&run->place, &grouped);
}

/* Patches of a convolution that is a product of them, in the scratch. */
static struct stream_input copy_patches(const struct stream_run *run, size_t index, uint32_t rows) {
  const struct cpu_plan *plan = run->program->plan;
  const struct cpu_node *node = &plan->nodes[index];
  const struct stream_patches patches = {.window = backend_cuda_stream_window(run, node, rows),
                                         .in = backend_cuda_stream_view(run, &node->edges[0]),
                                         .to = stream_scratch(run, run->program->view),
                                         .channels = (uint32_t)plan->nodes[node->edges[0].source].width,
                                         .ld = (uint32_t)backend_cuda_stream_patch_ld(plan, node)};
  backend_cuda_stream_patches(&run->place, &patches);
  return (struct stream_input){patches.to, patches.ld};
}

struct stream_input backend_cuda_stream_read(const struct stream_run *run, size_t index, uint32_t rows, int half) {
  const struct cpu_plan *plan = run->program->plan;
  const struct cpu_node *node = &plan->nodes[index];
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
  if (run->program->nodes[index].by_patches)
    return copy_patches(run, index, rows);
  if (!backend_cuda_stream_reads_directly(run->program, index))
    return copy_parts(run, index, rows, half);
  if (source->through)
    grouped_values(run, source, rows, stream_scratch(run, run->program->across));
  return (struct stream_input){backend_cuda_stream_value(run, node->edges[0].source), (uint32_t)source->ld};
}

/* --- convolutions --- */

const struct stream_algorithms *backend_cuda_stream_algorithms(const struct stream_run *run, size_t index,
                                                               uint32_t rows, struct stream_conv *conv) {
  const struct stream_program *program = run->program;
  uint32_t k = 0;
  while (k + 1 < program->row_count_count && program->row_counts[k] != rows)
    k++;
  *conv = program->nodes[index].conv;
  conv->rows = rows;
  return &program->nodes[index].algorithms[k];
}

void backend_cuda_stream_turn(const struct stream_run *run, const struct cpu_node *node, bool back) {
  const struct stream_program *program = run->program;
  const struct cpu_plan *plan = program->plan;
  const struct cpu_node *source = &plan->nodes[node->edges[0].source];
  const struct stream_filter filter = {.weights =
                                           stream_at(run, back ? program->gradients : program->weights) + node->weight,
                                       .filter = stream_scratch(run, back ? program->filter_gradient : program->filter),
                                       .taps = (uint32_t)node->tap_count,
                                       .inputs = (uint32_t)source->width,
                                       .units = (uint32_t)node->width,
                                       .inputs_ld = (uint32_t)source->ld,
                                       .units_ld = (uint32_t)node->ld,
                                       .ldw = (uint32_t)plan->segments[node->segment].ld,
                                       .back = back};
  backend_cuda_stream_filter(&run->place, &filter);
}

static enum tutti_status forward_library(const struct stream_run *run, size_t index, uint32_t rows) {
  const struct cpu_node *node = &run->program->plan->nodes[index];
  struct stream_conv conv;
  const struct stream_algorithms *algorithms = backend_cuda_stream_algorithms(run, index, rows, &conv);
  struct stream_input input = backend_cuda_stream_read(run, index, rows, 0);
  backend_cuda_stream_turn(run, node, false);
  return backend_cuda_conv_forward(run->context, run->library, &conv, algorithms, input.x.at,
                                   stream_at(run, run->program->filter), backend_cuda_stream_value(run, index).at);
}

static enum tutti_status forward_product(const struct stream_run *run, size_t index, uint32_t rows) {
  const struct cpu_plan *plan = run->program->plan;
  const struct cpu_node *node = &plan->nodes[index];
  struct stream_input input = backend_cuda_stream_read(run, index, rows, 0);
  const struct stream_product product = {.m = rows * (uint32_t)node->pixels,
                                         .n = (uint32_t)node->ld,
                                         .k = (uint32_t)plan->segments[node->segment].rows,
                                         .a = input.x,
                                         .lda = input.ld,
                                         .b = backend_cuda_stream_weights(run, node->weight),
                                         .ldb = (uint32_t)plan->segments[node->segment].ld,
                                         .c = backend_cuda_stream_value(run, index),
                                         .ldc = (uint32_t)node->ld,
                                         .precision = run->program->precision};
  return backend_cuda_multiply(run->context, run->library, &product);
}

enum tutti_status backend_cuda_stream_clear(const struct stream_run *run, struct stream_array array, size_t count) {
  size_t bytes = (size_t)((char *)stream_beyond(array, count).at - (char *)array.at);
  CUDA_TRY(run->context, cudaMemsetAsync(array.at, 0, bytes, run->stream));
  return TUTTI_OK;
}

struct stream_half backend_cuda_stream_half(const struct cpu_node *node, int half) {
  uint32_t width = (uint32_t)node->width, first = width / 2;
  return half ? (struct stream_half){first, width - first} : (struct stream_half){0, first};
}

static enum tutti_status forward_reduce(const struct stream_run *run, size_t index, uint32_t rows) {
  const struct cpu_plan *plan = run->program->plan;
  const struct cpu_node *node = &plan->nodes[index];
  for (int half = 0; half < 2; half++) {
    struct stream_half h = backend_cuda_stream_half(node, half);
    struct stream_input input = backend_cuda_stream_read(run, index, rows, half);
    const struct stream_product product = {.m = rows * (uint32_t)node->pixels,
                                           .n = h.units,
                                           .k = (uint32_t)node->inputs,
                                           .a = input.x,
                                           .lda = input.ld,
                                           .b = backend_cuda_stream_weights(run, node->weight + h.column),
                                           .ldb = (uint32_t)plan->segments[node->segment].ld,
                                           .c = stream_beyond(backend_cuda_stream_value(run, index), h.column),
                                           .ldc = (uint32_t)node->ld,
                                           .precision = run->program->precision};
    if (h.units > 0)
      TUTTI_TRY(run->context, backend_cuda_multiply(run->context, run->library, &product));
  }
  return TUTTI_OK;
}

/* --- the other ops --- */

static void forward_sum(const struct stream_run *run, size_t index, uint32_t rows, float factor) {
  const struct cpu_node *node = &run->program->plan->nodes[index];
  struct stream_sum sum = {.cells = rows * (uint32_t)node->pixels,
                           .ld = (uint32_t)node->ld,
                           .factor = factor,
                           .to = backend_cuda_stream_value(run, index)};
  for (size_t e = 0; e < node->edge_count; e++) {
    sum.terms[sum.count++] = backend_cuda_stream_view(run, &node->edges[e]);
    if (sum.count < STREAM_TERMS && e + 1 < node->edge_count)
      continue;
    backend_cuda_stream_sum(&run->place, &sum);
    sum.accumulate = true;
    sum.count = 0;
  }
}

static void forward_concat(const struct stream_run *run, size_t index, uint32_t rows) {
  const struct cpu_plan *plan = run->program->plan;
  const struct cpu_node *node = &plan->nodes[index];
  struct stream_array at = backend_cuda_stream_value(run, index);
  for (size_t e = 0; e < node->edge_count; e++) {
    const struct cpu_node *source = &plan->nodes[node->edges[e].source];
    struct stream_copy copy = {.geometry = backend_cuda_stream_geometry(source, rows),
                               .from = backend_cuda_stream_view(run, &node->edges[e]),
                               .to = at,
                               .part = true};
    copy.geometry.moved_ld = (uint32_t)node->ld;
    backend_cuda_stream_copy(&run->place, &copy);
    at = stream_beyond(at, source->width);
  }
}

static void forward_crelu(const struct stream_run *run, size_t index, uint32_t rows) {
  const struct cpu_plan *plan = run->program->plan;
  const struct cpu_node *node = &plan->nodes[index], *source = &plan->nodes[node->edges[0].source];
  const struct stream_crelu crelu = {.from = backend_cuda_stream_view(run, &node->edges[0]),
                                     .to = backend_cuda_stream_value(run, index),
                                     .cells = rows * (uint32_t)node->pixels,
                                     .width = (uint32_t)source->width,
                                     .from_ld = (uint32_t)source->ld,
                                     .ld = (uint32_t)node->ld};
  backend_cuda_stream_crelu(&run->place, &crelu, false);
}

static void forward_pool(const struct stream_run *run, size_t index, uint32_t rows) {
  const struct cpu_node *node = &run->program->plan->nodes[index];
  const struct stream_pool pool = {.window = backend_cuda_stream_window(run, node, rows),
                                   .in = backend_cuda_stream_view(run, &node->edges[0]),
                                   .out = backend_cuda_stream_value(run, index)};
  if (node->op == TUTTI_OP_MAX_POOL)
    backend_cuda_stream_max_pool(&run->place, &pool, false);
  else
    backend_cuda_stream_average_pool(&run->place, &pool, false);
}

static void forward_global(const struct stream_run *run, size_t index, uint32_t rows) {
  const struct cpu_plan *plan = run->program->plan;
  const struct cpu_node *node = &plan->nodes[index];
  struct stream_array at = backend_cuda_stream_value(run, index);
  for (size_t e = 0; e < node->edge_count; e++) {
    const struct cpu_node *source = &plan->nodes[node->edges[e].source];
    const struct stream_global global = {.in = backend_cuda_stream_view(run, &node->edges[e]),
                                         .out = at,
                                         .rows = rows,
                                         .pixels = (uint32_t)source->pixels,
                                         .width = (uint32_t)source->width,
                                         .ld = (uint32_t)source->ld,
                                         .out_ld = (uint32_t)node->ld};
    backend_cuda_stream_global(&run->place, &global, false);
    at = stream_beyond(at, source->width);
  }
}

static void forward_flatten(const struct stream_run *run, size_t index, uint32_t rows) {
  const struct cpu_plan *plan = run->program->plan;
  const struct cpu_node *node = &plan->nodes[index], *source = &plan->nodes[node->edges[0].source];
  const struct stream_flatten flatten = {.from = backend_cuda_stream_view(run, &node->edges[0]),
                                         .to = backend_cuda_stream_value(run, index),
                                         .rows = rows,
                                         .pixels = (uint32_t)source->pixels,
                                         .width = (uint32_t)source->width,
                                         .ld = (uint32_t)source->ld,
                                         .to_ld = (uint32_t)node->ld};
  backend_cuda_stream_flatten(&run->place, &flatten, false);
}

static void forward_drop(const struct stream_run *run, size_t index, const struct stream_pass *pass) {
  const struct cpu_node *node = &run->program->plan->nodes[index];
  const struct cpu_attributes *a = node->attributes;
  bool paths = node->op == TUTTI_OP_DROP_PATH;
  void *state = stream_at(run, run->program->state);
  const struct stream_drop drop = {.from = backend_cuda_stream_view(run, &node->edges[0]),
                                   .to = backend_cuda_stream_value(run, index),
                                   .state = pass->drop ? state : NULL,
                                   .key = run->drop_key,
                                   .rate = a->rate,
                                   .rows = pass->rows,
                                   .pixels = (uint32_t)node->pixels,
                                   .width = (uint32_t)node->width,
                                   .ld = (uint32_t)node->ld,
                                   .layer = (uint32_t)index,
                                   .grain = paths                            ? STREAM_PATHS
                                            : a->spatial && node->pixels > 1 ? STREAM_CHANNELS
                                                                             : STREAM_NUMBERS,
                                   .scheduled = paths && a->scheduled};
  backend_cuda_stream_drop(&run->place, &drop);
}

static void forward_norm(const struct stream_run *run, size_t index, const struct stream_pass *pass) {
  const struct stream_program *program = run->program;
  const struct cpu_plan *plan = program->plan;
  const struct cpu_node *node = &plan->nodes[index];
  size_t cells = pass->rows * node->pixels;
  struct stream_chunks chunks = backend_cuda_stream_chunks(cells, node->width);
  float *weights = stream_at(run, program->weights);
  double *partial = (double *)(void *)stream_at(run, program->partial);
  const struct stream_columns columns = {.x = backend_cuda_stream_value(run, node->edges[0].source),
                                         .partial = partial,
                                         .cells = (uint32_t)cells,
                                         .ld = (uint32_t)node->ld,
                                         .width = (uint32_t)node->width,
                                         .chunk = chunks.size,
                                         .chunks = chunks.count};
  const struct stream_norm norm = {.partial = pass->training ? partial : NULL,
                                   .chunks = chunks.count,
                                   .width = (uint32_t)node->width,
                                   .ld = (uint32_t)node->ld,
                                   .cells = (double)cells,
                                   .statistics = stream_at(run, program->nodes[index].statistics),
                                   .gamma = node->weight == CPU_NONE ? NULL : weights + node->weight,
                                   .beta = node->bias == CPU_NONE ? NULL : weights + node->bias,
                                   .running_mean = weights + node->mean,
                                   .running_variance = weights + node->variance,
                                   .momentum = (float)(pass->share > 0 ? pass->share : node->attributes->momentum),
                                   .epsilon = node->attributes->epsilon};
  if (pass->training)
    backend_cuda_stream_columns(&run->place, &columns, STREAM_MOMENTS);
  backend_cuda_stream_norm_forward(&run->place, &norm);
  if (node->lazy)
    return;
  const struct stream_sum sum = {
      .terms = {{.value = columns.x, .scale = norm.statistics + 2 * norm.ld, .shift = norm.statistics + 3 * norm.ld}},
      .count = 1,
      .cells = (uint32_t)cells,
      .ld = norm.ld,
      .factor = 1,
      .to = backend_cuda_stream_value(run, index)};
  backend_cuda_stream_sum(&run->place, &sum);
}

/* Bias and activation; zeros in the columns that some ops leave as they were. */
static void finish_node(const struct stream_run *run, size_t index, uint32_t rows) {
  const struct stream_program *program = run->program;
  const struct cpu_node *node = &program->plan->nodes[index];
  bool biased = node->op == TUTTI_OP_DENSE || node->op == TUTTI_OP_CONV2D;
  bool partly =
      node->op == TUTTI_OP_FACTORISED_REDUCE || node->op == TUTTI_OP_CONCAT || node->op == TUTTI_OP_GLOBAL_POOL;
  const struct stream_finish finish = {
      .value = backend_cuda_stream_value(run, index),
      .slope = stream_array_at(run, program->nodes[index].slope, program->nodes[index].narrow),
      .bias = biased && node->bias != CPU_NONE ? stream_at(run, program->weights) + node->bias : NULL,
      .cells = rows * (uint32_t)node->pixels,
      .width = (uint32_t)node->width,
      .ld = (uint32_t)node->ld,
      .activation = (uint32_t)node->activation};
  if (finish.bias || node->activation != TUTTI_ACTIVATION_LINEAR || (partly && node->ld > node->width))
    backend_cuda_stream_finish(&run->place, &finish);
}

static enum tutti_status forward_node(const struct stream_run *run, size_t index, const struct stream_pass *pass) {
  const struct cpu_node *node = &run->program->plan->nodes[index];
  uint32_t rows = pass->rows;
  if (node->through || node->op == TUTTI_OP_INPUT || backend_cpu_is_head(node->op))
    return TUTTI_OK;
  switch (node->op) {
  case TUTTI_OP_DENSE:
  case TUTTI_OP_CONV2D:
    if (backend_cuda_stream_is_product(run->program, index))
      TUTTI_TRY(run->context, forward_product(run, index, rows));
    else if (run->program->nodes[index].by_library)
      TUTTI_TRY(run->context, forward_library(run, index, rows));
    else
      grouped_values(run, node, rows, backend_cuda_stream_value(run, index));
    break;
  case TUTTI_OP_FACTORISED_REDUCE:
    TUTTI_TRY(run->context, forward_reduce(run, index, rows));
    break;
  case TUTTI_OP_ADD:
    forward_sum(run, index, rows, 1);
    break;
  case TUTTI_OP_MEAN:
    forward_sum(run, index, rows, 1 / (float)node->edge_count);
    break;
  case TUTTI_OP_CONCAT:
    forward_concat(run, index, rows);
    break;
  case TUTTI_OP_ACTIVATION:
    if (node->activation == TUTTI_ACTIVATION_CRELU) {
      forward_crelu(run, index, rows);
      return TUTTI_OK;
    }
    forward_sum(run, index, rows, 1);
    break;
  case TUTTI_OP_ZERO:
    TUTTI_TRY(run->context,
              backend_cuda_stream_clear(run, backend_cuda_stream_value(run, index), rows * node->pixels * node->ld));
    break;
  case TUTTI_OP_DROPOUT:
  case TUTTI_OP_DROP_PATH:
    forward_drop(run, index, pass);
    break;
  case TUTTI_OP_BATCH_NORM:
    forward_norm(run, index, pass);
    break;
  case TUTTI_OP_MAX_POOL:
  case TUTTI_OP_AVERAGE_POOL:
    forward_pool(run, index, rows);
    break;
  case TUTTI_OP_GLOBAL_POOL:
    forward_global(run, index, rows);
    break;
  case TUTTI_OP_FLATTEN:
    forward_flatten(run, index, rows);
    break;
  default:
    return TUTTI_FAIL(run->context, TUTTI_ERROR_INTERNAL, "layer %s: no kernel", node->layer->label);
  }
  finish_node(run, index, rows);
  return TUTTI_OK;
}

/* The weights as products read them, where that is not as they are. */
static void narrow_weights(const struct stream_run *run) {
  const struct stream_program *program = run->program;
  const struct stream_convert convert = {.from = stream_array_at(run, program->weights, false),
                                         .to = stream_array_at(run, program->narrow_weights, true),
                                         .count = (uint32_t)program->plan->floats};
  if (program->narrow)
    backend_cuda_stream_convert(&run->place, &convert);
}

enum tutti_status backend_cuda_stream_forward(const struct stream_run *run, const struct stream_pass *pass) {
  narrow_weights(run);
  for (size_t i = 0; i < run->program->plan->node_count; i++)
    TUTTI_TRY(run->context, forward_node(run, i, pass));
  return TUTTI_OK;
}

/* --- rows --- */

void backend_cuda_stream_load(const struct stream_run *run, const struct stream_batch *batch, uint32_t count) {
  const struct cpu_node *input = &run->program->plan->nodes[0];
  struct stream_gather gather = {.rows = batch->rows,
                                 .order = batch->order,
                                 .state = batch->state,
                                 .to = backend_cuda_stream_value(run, 0),
                                 .count = count,
                                 .pixels = (uint32_t)input->pixels,
                                 .width = (uint32_t)input->width,
                                 .ld = (uint32_t)input->ld};
  if (batch->gathered) {
    gather.rows.inputs = stream_at(run, run->program->staging);
    gather.order = NULL;
    gather.state = NULL;
  }
  backend_cuda_stream_gather(&run->place, &gather);
}

void backend_cuda_stream_judge(const struct stream_run *run, const struct stream_batch *batch, uint32_t count,
                               bool gradients, bool watched) {
  const struct cpu_plan *plan = run->program->plan;
  const struct cpu_node *node = backend_cpu_plan_head(plan);
  size_t source = node->edges[0].source;
  const struct stream_head head = {.rows = batch->rows,
                                   .order = batch->order,
                                   .state = batch->state,
                                   .value = backend_cuda_stream_value(run, source).at,
                                   .gradient = gradients ? backend_cuda_stream_gradient(run, source).at : NULL,
                                   .partial = (double *)(void *)stream_at(run, run->program->partial),
                                   .class_weights = gradients ? batch->class_weights : NULL,
                                   .op = (uint32_t)node->op,
                                   .count = count,
                                   .outputs = (uint32_t)plan->outputs,
                                   .ld = (uint32_t)plan->nodes[source].ld,
                                   .variance = node->attributes->variance,
                                   .watched = watched,
                                   .scale = (float)node->attributes->scale,
                                   .floor = (float)node->attributes->floor,
                                   .label_smoothing = gradients ? batch->label_smoothing : 0};
  backend_cuda_stream_loss(&run->place, &head);
}
