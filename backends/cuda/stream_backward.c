/* stream_backward.c - the backward pass of a network of images (backends/cpu/step.c). A node first multiplies its
   gradient by the derivative of its activation, then passes it on to its weights and its inputs; the first to write an
   input's gradient stores, the others add. */
#include "stream_host_impl.h"

/* --- the gradient of a node, and those of its inputs --- */

/* In the numbers that products and convolutions read. Of a convolution before a batch norm that is not stored, it
   follows from the gradient behind that. */
static struct stream_array read_gradient(const struct stream_run *run, size_t index, uint32_t rows) {
  const struct stream_program *program = run->program;
  const struct cpu_node *node = &program->plan->nodes[index];
  if (node->norm == CPU_NONE) {
    const struct stream_convert convert = {.from = backend_cuda_stream_gradient(run, index),
                                           .to = stream_scratch(run, program->gradient),
                                           .count = rows * (uint32_t)(node->pixels * node->ld)};
    if (backend_cuda_stream_shares_precision(program, index))
      return convert.from;
    backend_cuda_stream_convert(&run->place, &convert);
    return convert.to;
  }
  const struct stream_norm_gradient pull = {.x = backend_cuda_stream_value(run, index),
                                            .gradient = backend_cuda_stream_gradient(run, node->norm),
                                            .statistics = stream_at(run, program->nodes[node->norm].statistics),
                                            .to = stream_scratch(run, program->gradient),
                                            .cells = rows * (uint32_t)node->pixels,
                                            .width = (uint32_t)node->width,
                                            .ld = (uint32_t)node->ld};
  backend_cuda_stream_norm_gradient(&run->place, &pull);
  return pull.to;
}

static struct stream_push push_to(const struct stream_run *run, const struct cpu_edge *edge, uint32_t rows) {
  const struct cpu_node *source = &run->program->plan->nodes[edge->source];
  struct stream_push push = {.geometry = backend_cuda_stream_geometry(source, rows),
                             .to = backend_cuda_stream_gradient(run, edge->source),
                             .factor = 1,
                             .accumulate = !edge->first};
  if (edge->relu)
    push.mask = backend_cuda_stream_view(run, edge);
  return push;
}

static void bias_gradient(const struct stream_run *run, const struct cpu_node *node, uint32_t rows,
                          struct stream_array g) {
  const struct stream_program *program = run->program;
  size_t cells = rows * node->pixels;
  struct stream_chunks chunks = backend_cuda_stream_chunks(cells, node->width);
  const struct stream_columns columns = {.g = g,
                                         .partial = (double *)(void *)stream_at(run, program->partial),
                                         .cells = (uint32_t)cells,
                                         .ld = (uint32_t)node->ld,
                                         .width = (uint32_t)node->width,
                                         .chunk = chunks.size,
                                         .chunks = chunks.count};
  const struct stream_add add = {.partial = columns.partial,
                                 .to = stream_at(run, program->gradients) + node->bias,
                                 .chunks = chunks.count,
                                 .count = columns.width,
                                 .width = columns.width,
                                 .ld = columns.width};
  if (node->bias == CPU_NONE || node->frozen)
    return;
  backend_cuda_stream_columns(&run->place, &columns, STREAM_BIAS);
  backend_cuda_stream_add(&run->place, &add);
}

/* --- convolutions in groups --- */

static void backward_grouped(const struct stream_run *run, const struct cpu_node *node, uint32_t rows,
                             struct stream_array gradient) {
  const struct stream_program *program = run->program;
  const struct cpu_edge *edge = &node->edges[0];
  struct stream_grouped grouped = {.window = backend_cuda_stream_window(run, node, rows),
                                   .in = backend_cuda_stream_view(run, edge),
                                   .weights = stream_at(run, program->weights) + node->weight,
                                   .gradient = gradient,
                                   .partial = (double *)(void *)stream_at(run, program->partial),
                                   .accumulate = !edge->first};
  uint32_t inputs = (uint32_t)node->tap_count * grouped.window.in_group;
  struct stream_chunks chunks = backend_cuda_stream_chunks(rows * node->pixels, inputs * node->width);
  grouped.chunk = chunks.size;
  grouped.chunks = chunks.count;
  const struct stream_add add = {.partial = grouped.partial,
                                 .to = stream_at(run, program->gradients) + node->weight,
                                 .chunks = chunks.count,
                                 .count = inputs * grouped.window.units,
                                 .width = grouped.window.units,
                                 .ld = grouped.window.ldw};
  if (!node->frozen) {
    backend_cuda_stream_grouped_weights(&run->place, &grouped);
    backend_cuda_stream_add(&run->place, &add);
  }
  if (edge->gradient) {
    grouped.to = backend_cuda_stream_gradient(run, edge->source);
    backend_cuda_stream_grouped_inputs(&run->place, &grouped);
  }
}

/* --- products --- */

/* The gradients of the columns of the weights from `column` on; x is what was read. */
static enum tutti_status weight_product(const struct stream_run *run, const struct cpu_node *node, uint32_t rows,
                                        struct stream_half columns, struct stream_input input, struct stream_array g) {
  const struct stream_program *program = run->program;
  const struct stream_product product = {
      .m = (uint32_t)program->plan->segments[node->segment].rows,
      .n = columns.units,
      .k = rows * (uint32_t)node->pixels,
      .a = input.x,
      .lda = input.ld,
      .a_transposed = true,
      .b = stream_beyond(g, columns.column),
      .ldb = (uint32_t)node->ld,
      .c = stream_beyond(stream_array_at(run, program->gradients, false), node->weight + columns.column),
      .ldc = (uint32_t)program->plan->segments[node->segment].ld,
      .precision = program->precision};
  return node->frozen ? TUTTI_OK : backend_cuda_multiply(run->context, run->library, &product);
}

/* The inputs' gradient into to[cells][ld]. */
static enum tutti_status input_product(const struct stream_run *run, const struct cpu_node *node, uint32_t rows,
                                       struct stream_half columns, struct stream_array g, bool accumulate,
                                       struct stream_array to, uint32_t ld) {
  const struct stream_program *program = run->program;
  const struct stream_product product = {.m = rows * (uint32_t)node->pixels,
                                         .n = (uint32_t)node->inputs,
                                         .k = columns.units,
                                         .a = stream_beyond(g, columns.column),
                                         .lda = (uint32_t)node->ld,
                                         .b = backend_cuda_stream_weights(run, node->weight + columns.column),
                                         .ldb = (uint32_t)program->plan->segments[node->segment].ld,
                                         .b_transposed = true,
                                         .accumulate = accumulate,
                                         .c = to,
                                         .ldc = ld,
                                         .precision = program->precision};
  return backend_cuda_multiply(run->context, run->library, &product);
}

static bool wants_inputs(const struct cpu_plan *plan, const struct cpu_node *node) {
  bool wants = false;
  for (size_t e = 0; e < node->edge_count; e++)
    wants = wants || node->edges[e].gradient || plan->nodes[node->edges[e].source].through;
  return wants;
}

static enum tutti_status backward_product(const struct stream_run *run, size_t index, uint32_t rows) {
  const struct stream_program *program = run->program;
  const struct cpu_plan *plan = program->plan;
  const struct cpu_node *node = &plan->nodes[index], *source = &plan->nodes[node->edges[0].source];
  const struct stream_half all = {0, (uint32_t)node->ld};
  const struct stream_array g = read_gradient(run, index, rows);
  if (!node->frozen) {
    struct stream_input input = backend_cuda_stream_read(run, index, rows, 0);
    TUTTI_TRY(run->context, weight_product(run, node, rows, all, input, g));
  }
  bias_gradient(run, node, rows, g);
  if (!wants_inputs(plan, node))
    return TUTTI_OK;
  if (backend_cuda_stream_writes_directly(program, index))
    return input_product(run, node, rows, all, g, !node->edges[0].first,
                         backend_cuda_stream_gradient(run, node->edges[0].source), (uint32_t)source->ld);
  struct stream_array scratch = stream_scratch(run, program->input_gradient);
  uint32_t ld = source->through ? (uint32_t)source->ld : (uint32_t)node->inputs;
  TUTTI_TRY(run->context, input_product(run, node, rows, all, g, false, scratch, ld));
  if (source->through) {
    backward_grouped(run, source, rows, scratch);
    return TUTTI_OK;
  }
  for (size_t e = 0; e < node->edge_count; e++) {
    const struct cpu_edge *edge = &node->edges[e];
    if (edge->gradient) {
      struct stream_push push = push_to(run, edge, rows);
      push.from = scratch;
      push.geometry.moved_ld = ld;
      backend_cuda_stream_push(&run->place, &push);
    }
    scratch = stream_beyond(scratch, plan->nodes[edge->source].width);
  }
  return TUTTI_OK;
}

static enum tutti_status backward_reduce(const struct stream_run *run, size_t index, uint32_t rows) {
  const struct stream_program *program = run->program;
  const struct cpu_plan *plan = program->plan;
  const struct cpu_node *node = &plan->nodes[index];
  const struct stream_array g = read_gradient(run, index, rows);
  for (int half = 0; half < 2; half++) {
    struct stream_half columns = backend_cuda_stream_half(node, half);
    struct stream_array scratch = stream_scratch(run, program->input_gradient);
    if (columns.units > 0 && !node->frozen) {
      struct stream_input input = backend_cuda_stream_read(run, index, rows, half);
      TUTTI_TRY(run->context, weight_product(run, node, rows, columns, input, g));
    }
    if (!wants_inputs(plan, node))
      continue;
    if (columns.units == 0)
      TUTTI_TRY(run->context, backend_cuda_stream_clear(run, scratch, rows * node->pixels * node->inputs));
    else
      TUTTI_TRY(run->context, input_product(run, node, rows, columns, g, false, scratch, (uint32_t)node->inputs));
    for (size_t e = 0; e < node->edge_count; e++) {
      const struct cpu_edge *edge = &node->edges[e];
      if (edge->gradient) {
        struct stream_push push = push_to(run, edge, rows);
        push.from = scratch;
        push.accumulate = !edge->first || half == 1;
        push.geometry.moved_height = (uint32_t)node->layer->shape.height;
        push.geometry.moved_width = (uint32_t)node->layer->shape.width;
        push.geometry.moved_ld = (uint32_t)node->inputs;
        push.geometry.step = 2;
        push.geometry.top = push.geometry.left = -half;
        backend_cuda_stream_push(&run->place, &push);
      }
      scratch = stream_beyond(scratch, plan->nodes[edge->source].width);
    }
  }
  return TUTTI_OK;
}

/* --- convolutions by cuDNN --- */

static enum tutti_status backward_library(const struct stream_run *run, size_t index, uint32_t rows) {
  const struct stream_program *program = run->program;
  const struct cpu_plan *plan = program->plan;
  const struct cpu_node *node = &plan->nodes[index];
  const struct cpu_edge *edge = &node->edges[0];
  const struct stream_node *to = &program->nodes[index];
  const struct stream_array g = read_gradient(run, index, rows);
  void *filter = stream_at(run, program->filter);
  struct stream_conv conv;
  const struct stream_algorithms *algorithms = backend_cuda_stream_algorithms(run, index, rows, &conv);
  if (!node->frozen) {
    struct stream_input input = backend_cuda_stream_read(run, index, rows, 0);
    TUTTI_TRY(run->context, backend_cuda_conv_weights(run->context, run->library, &conv, algorithms, input.x.at, g.at,
                                                      stream_at(run, program->filter_gradient)));
    backend_cuda_stream_turn(run, node, true);
  }
  bias_gradient(run, node, rows, g);
  if (!edge->gradient)
    return TUTTI_OK;
  backend_cuda_stream_turn(run, node, false);
  if (backend_cuda_stream_writes_directly(program, index))
    return backend_cuda_conv_inputs(run->context, run->library, &conv, algorithms, filter, g.at, !edge->first,
                                    backend_cuda_stream_gradient(run, edge->source).at);
  struct stream_push push = push_to(run, edge, rows);
  push.from = stream_scratch(run, program->input_gradient);
  push.geometry.moved_height = conv.in_height;
  push.geometry.moved_width = conv.in_width;
  push.geometry.moved_ld = conv.in_ld;
  push.geometry.top = to->padded ? (int32_t)node->window.top : 0;
  push.geometry.left = to->padded ? (int32_t)node->window.left : 0;
  TUTTI_TRY(run->context, backend_cuda_conv_inputs(run->context, run->library, &conv, algorithms, filter, g.at, false,
                                                   stream_at(run, program->input_gradient)));
  backend_cuda_stream_push(&run->place, &push);
  return TUTTI_OK;
}

/* --- the other ops --- */

/* To every input, times `factor`. */
static void backward_sum(const struct stream_run *run, size_t index, uint32_t rows, float factor) {
  const struct cpu_node *node = &run->program->plan->nodes[index];
  const struct stream_array gradient = backend_cuda_stream_gradient(run, index);
  for (size_t e = 0; e < node->edge_count; e++) {
    const struct cpu_edge *edge = &node->edges[e];
    const struct stream_array to = backend_cuda_stream_gradient(run, edge->source);
    if (!edge->gradient || to.at == gradient.at) /* a shared one is there already */
      continue;
    const struct stream_sum sum = {.terms = {{.value = gradient}},
                                   .count = 1,
                                   .accumulate = !edge->first,
                                   .cells = rows * (uint32_t)node->pixels,
                                   .ld = (uint32_t)node->ld,
                                   .factor = factor,
                                   .to = to};
    backend_cuda_stream_sum(&run->place, &sum);
  }
}

static void backward_concat(const struct stream_run *run, size_t index, uint32_t rows) {
  const struct cpu_plan *plan = run->program->plan;
  const struct cpu_node *node = &plan->nodes[index];
  struct stream_array from = backend_cuda_stream_gradient(run, index);
  for (size_t e = 0; e < node->edge_count; e++) {
    const struct cpu_edge *edge = &node->edges[e];
    if (edge->gradient) {
      struct stream_push push = push_to(run, edge, rows);
      push.from = from;
      push.geometry.moved_ld = (uint32_t)node->ld;
      backend_cuda_stream_push(&run->place, &push);
    }
    from = stream_beyond(from, plan->nodes[edge->source].width);
  }
}

static void backward_crelu(const struct stream_run *run, size_t index, uint32_t rows) {
  const struct cpu_plan *plan = run->program->plan;
  const struct cpu_node *node = &plan->nodes[index], *source = &plan->nodes[node->edges[0].source];
  const struct stream_crelu crelu = {.from = backend_cuda_stream_view(run, &node->edges[0]),
                                     .to = backend_cuda_stream_gradient(run, index),
                                     .gradient = backend_cuda_stream_gradient(run, node->edges[0].source),
                                     .cells = rows * (uint32_t)node->pixels,
                                     .width = (uint32_t)source->width,
                                     .from_ld = (uint32_t)source->ld,
                                     .ld = (uint32_t)node->ld,
                                     .accumulate = !node->edges[0].first};
  if (node->edges[0].gradient)
    backend_cuda_stream_crelu(&run->place, &crelu, true);
}

static void backward_pool(const struct stream_run *run, size_t index, uint32_t rows) {
  const struct cpu_node *node = &run->program->plan->nodes[index];
  const struct cpu_edge *edge = &node->edges[0];
  const struct stream_pool pool = {.window = backend_cuda_stream_window(run, node, rows),
                                   .in = backend_cuda_stream_view(run, edge),
                                   .value = backend_cuda_stream_value(run, index),
                                   .gradient = backend_cuda_stream_gradient(run, index),
                                   .to = backend_cuda_stream_gradient(run, edge->source),
                                   .largest = (uint16_t *)(void *)stream_at(run, run->program->largest),
                                   .accumulate = !edge->first};
  if (!edge->gradient)
    return;
  if (node->op == TUTTI_OP_MAX_POOL)
    backend_cuda_stream_max_pool(&run->place, &pool, true);
  else
    backend_cuda_stream_average_pool(&run->place, &pool, true);
}

static void backward_global(const struct stream_run *run, size_t index, uint32_t rows) {
  const struct cpu_plan *plan = run->program->plan;
  const struct cpu_node *node = &plan->nodes[index];
  struct stream_array from = backend_cuda_stream_gradient(run, index);
  for (size_t e = 0; e < node->edge_count; e++) {
    const struct cpu_edge *edge = &node->edges[e];
    const struct cpu_node *source = &plan->nodes[edge->source];
    const struct stream_global global = {.gradient = from,
                                         .to = backend_cuda_stream_gradient(run, edge->source),
                                         .rows = rows,
                                         .pixels = (uint32_t)source->pixels,
                                         .width = (uint32_t)source->width,
                                         .ld = (uint32_t)source->ld,
                                         .out_ld = (uint32_t)node->ld,
                                         .accumulate = !edge->first};
    if (edge->gradient)
      backend_cuda_stream_global(&run->place, &global, true);
    from = stream_beyond(from, source->width);
  }
}

static void backward_flatten(const struct stream_run *run, size_t index, uint32_t rows) {
  const struct cpu_plan *plan = run->program->plan;
  const struct cpu_node *node = &plan->nodes[index], *source = &plan->nodes[node->edges[0].source];
  const struct stream_flatten flatten = {.to = backend_cuda_stream_gradient(run, index),
                                         .gradient = backend_cuda_stream_gradient(run, node->edges[0].source),
                                         .rows = rows,
                                         .pixels = (uint32_t)source->pixels,
                                         .width = (uint32_t)source->width,
                                         .ld = (uint32_t)source->ld,
                                         .to_ld = (uint32_t)node->ld,
                                         .accumulate = !node->edges[0].first};
  if (node->edges[0].gradient)
    backend_cuda_stream_flatten(&run->place, &flatten, true);
}

static void backward_drop(const struct stream_run *run, size_t index, const struct stream_pass *pass) {
  const struct cpu_node *node = &run->program->plan->nodes[index];
  const struct cpu_attributes *a = node->attributes;
  bool paths = node->op == TUTTI_OP_DROP_PATH;
  void *state = stream_at(run, run->program->state);
  const struct stream_drop drop = {.from = {.value = backend_cuda_stream_gradient(run, index)},
                                   .to = backend_cuda_stream_gradient(run, node->edges[0].source),
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
                                   .scheduled = paths && a->scheduled,
                                   .accumulate = !node->edges[0].first};
  if (node->edges[0].gradient)
    backend_cuda_stream_drop(&run->place, &drop);
}

static void backward_norm(const struct stream_run *run, size_t index, uint32_t rows) {
  const struct stream_program *program = run->program;
  const struct cpu_plan *plan = program->plan;
  const struct cpu_node *node = &plan->nodes[index];
  const struct cpu_edge *edge = &node->edges[0];
  size_t cells = rows * node->pixels;
  struct stream_chunks chunks = backend_cuda_stream_chunks(cells, node->width);
  float *statistics = stream_at(run, program->nodes[index].statistics), *gradients = stream_at(run, program->gradients);
  const struct stream_columns columns = {.x = backend_cuda_stream_value(run, edge->source),
                                         .g = backend_cuda_stream_gradient(run, index),
                                         .mean = statistics,
                                         .partial = (double *)(void *)stream_at(run, program->partial),
                                         .cells = (uint32_t)cells,
                                         .ld = (uint32_t)node->ld,
                                         .width = (uint32_t)node->width,
                                         .chunk = chunks.size,
                                         .chunks = chunks.count};
  const struct stream_norm norm = {.partial = columns.partial,
                                   .chunks = chunks.count,
                                   .width = columns.width,
                                   .ld = columns.ld,
                                   .cells = (double)cells,
                                   .statistics = statistics,
                                   .gamma_gradient = node->weight == CPU_NONE ? NULL : gradients + node->weight,
                                   .beta_gradient = node->bias == CPU_NONE ? NULL : gradients + node->bias};
  const struct stream_norm_gradient pull = {.x = columns.x,
                                            .gradient = columns.g,
                                            .statistics = statistics,
                                            .to = backend_cuda_stream_gradient(run, edge->source),
                                            .cells = columns.cells,
                                            .width = columns.width,
                                            .ld = columns.ld,
                                            .accumulate = !edge->first};
  backend_cuda_stream_columns(&run->place, &columns, STREAM_NORM_GRADIENTS);
  backend_cuda_stream_norm_backward(&run->place, &norm);
  if (edge->gradient && plan->nodes[edge->source].norm == CPU_NONE)
    backend_cuda_stream_norm_gradient(&run->place, &pull);
}

static void derive_node(const struct stream_run *run, size_t index, uint32_t rows) {
  const struct stream_program *program = run->program;
  const struct cpu_node *node = &program->plan->nodes[index];
  const struct stream_derive derive = {
      .value = backend_cuda_stream_value(run, index),
      .slope = stream_array_at(run, program->nodes[index].slope, program->nodes[index].narrow),
      .gradient = backend_cuda_stream_gradient(run, index),
      .cells = rows * (uint32_t)node->pixels,
      .width = (uint32_t)node->width,
      .ld = (uint32_t)node->ld,
      .activation = (uint32_t)node->activation};
  if (node->activation != TUTTI_ACTIVATION_LINEAR && node->activation != TUTTI_ACTIVATION_CRELU)
    backend_cuda_stream_derive(&run->place, &derive);
}

static enum tutti_status backward_node(const struct stream_run *run, size_t index, const struct stream_pass *pass) {
  const struct cpu_node *node = &run->program->plan->nodes[index];
  uint32_t rows = pass->rows;
  bool has = backend_cuda_stream_gradient(run, index).at || node->norm != CPU_NONE;
  if (!node->needs_gradient || !has || node->through || node->edge_count == 0)
    return TUTTI_OK;
  derive_node(run, index, rows);
  switch (node->op) {
  case TUTTI_OP_DENSE:
  case TUTTI_OP_CONV2D:
    if (backend_cuda_stream_is_product(run->program, index))
      return backward_product(run, index, rows);
    if (run->program->nodes[index].by_library)
      return backward_library(run, index, rows);
    const struct stream_array g = read_gradient(run, index, rows);
    bias_gradient(run, node, rows, g);
    backward_grouped(run, node, rows, g);
    break;
  case TUTTI_OP_FACTORISED_REDUCE:
    return backward_reduce(run, index, rows);
  case TUTTI_OP_ADD:
    backward_sum(run, index, rows, 1);
    break;
  case TUTTI_OP_MEAN:
    backward_sum(run, index, rows, 1 / (float)node->edge_count);
    break;
  case TUTTI_OP_CONCAT:
    backward_concat(run, index, rows);
    break;
  case TUTTI_OP_ACTIVATION:
    if (node->activation == TUTTI_ACTIVATION_CRELU)
      backward_crelu(run, index, rows);
    else
      backward_sum(run, index, rows, 1);
    break;
  case TUTTI_OP_DROPOUT:
  case TUTTI_OP_DROP_PATH:
    backward_drop(run, index, pass);
    break;
  case TUTTI_OP_BATCH_NORM:
    backward_norm(run, index, rows);
    break;
  case TUTTI_OP_MAX_POOL:
  case TUTTI_OP_AVERAGE_POOL:
    backward_pool(run, index, rows);
    break;
  case TUTTI_OP_GLOBAL_POOL:
    backward_global(run, index, rows);
    break;
  case TUTTI_OP_FLATTEN:
    backward_flatten(run, index, rows);
    break;
  default:
    break;
  }
  return TUTTI_OK;
}

enum tutti_status backend_cuda_stream_backward(const struct stream_run *run, const struct stream_pass *pass) {
  for (size_t i = run->program->plan->node_count; i-- > 0;)
    TUTTI_TRY(run->context, backward_node(run, i, pass));
  return TUTTI_OK;
}
