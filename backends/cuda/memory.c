/* memory.c - what lies in the device's memory: the rows of splits, each once for all jobs, and for each job its
   program, its weights and what has no room in shared memory. */
#include "cuda_impl.h"

#include <string.h>

/* --- rows --- */

static size_t features_of(const tutti_split *split) {
  struct tutti_shape shape = tutti_split_input(split);
  return (size_t)shape.height * (size_t)shape.width * (size_t)shape.channels;
}

struct cuda_selection backend_cuda_whole(const tutti_split *split) {
  return (struct cuda_selection){
      .split = split, .span = {.count = split ? tutti_split_rows(split) : 0}, .targets = true};
}

size_t backend_cuda_rows_bytes(const struct cuda_selection *selection) {
  const tutti_split *split = selection->split;
  size_t each = selection->targets ? tutti_split_labels(split) ? 1 : tutti_split_outputs(split) : 0;
  return selection->span.count * (features_of(split) + each) * sizeof(float);
}

/* Rows that are made on demand are made now. */
static enum tutti_status copy_inputs(tutti_context *context, const tutti_split *split, struct cuda_span span, float *to,
                                     cudaStream_t stream) {
  size_t rows = span.count, features = features_of(split);
  const float *inputs = tutti_split_inputs(split);
  float *made = NULL;
  uint32_t *numbers = NULL;
  enum tutti_status status;
  if (!inputs) {
    TUTTI_TRY_OUT(context, tutti_alloc(context, rows, features * sizeof *made, &made));
    TUTTI_TRY_OUT(context, tutti_alloc(context, rows, sizeof *numbers, &numbers));
    for (size_t i = 0; i < rows; i++)
      numbers[i] = (uint32_t)(span.first + i);
    tutti_split_gather(split, rows, numbers, made);
  }
  CUDA_TRY_OUT(context, cudaMemcpyAsync(to, inputs ? inputs + span.first * features : made,
                                        rows * features * sizeof *to, cudaMemcpyHostToDevice, stream));
  CUDA_TRY_OUT(context, cudaStreamSynchronize(stream));
out:
  tutti_free(made);
  tutti_free(numbers);
  return status;
}

enum tutti_status backend_cuda_copy_rows(tutti_context *context, const struct cuda_selection *selection, void *memory,
                                         cudaStream_t stream, struct cuda_rows *rows) {
  const tutti_split *split = selection->split;
  size_t count = selection->span.count, features = features_of(split);
  float *inputs = memory, *behind = inputs + count * features;
  *rows = (struct cuda_rows){.inputs = inputs, .rows = (uint32_t)count, .features = (uint32_t)features};
  if (count > 0)
    TUTTI_TRY(context, copy_inputs(context, split, selection->span, inputs, stream));
  if (selection->targets && count > 0) {
    const int32_t *labels = tutti_split_labels(split);
    size_t size = labels ? sizeof *labels : tutti_split_outputs(split) * sizeof(float);
    const char *from = labels ? (const char *)labels : (const char *)tutti_split_targets(split);
    CUDA_TRY(context, cudaMemcpyAsync(behind, from + selection->span.first * size, count * size, cudaMemcpyHostToDevice,
                                      stream));
    CUDA_TRY(context, cudaStreamSynchronize(stream));
    rows->labels = labels ? (const int32_t *)(const void *)behind : NULL;
    rows->targets = labels ? NULL : behind;
  }
  return TUTTI_OK;
}

static bool holds(const struct cuda_selection *held, const struct cuda_selection *wanted) {
  return held->split == wanted->split && (held->targets || !wanted->targets) &&
         held->span.first <= wanted->span.first &&
         held->span.first + held->span.count >= wanted->span.first + wanted->span.count;
}

static struct cuda_held *find_rows(const struct cuda_shelf *data, const struct cuda_selection *selection) {
  struct cuda_held *one = data->rows;
  while (one && !holds(&one->selection, selection))
    one = one->next;
  return one;
}

enum tutti_status backend_cuda_rows_use(tutti_context *context, struct cuda_shelf *data, struct cuda_arena *arena,
                                        const struct cuda_selection *selection, cudaStream_t stream,
                                        struct cuda_held **out) {
  struct cuda_held *made = find_rows(data, selection);
  enum tutti_status status;
  if (made) {
    made->users++;
    *out = made;
    return TUTTI_OK;
  }
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *made, &made));
  TUTTI_TRY_OUT(context, backend_cuda_arena_take(context, arena, backend_cuda_rows_bytes(selection) + sizeof(float),
                                                 &made->memory));
  TUTTI_TRY_OUT(context, backend_cuda_copy_rows(context, selection, made->memory->device, stream, &made->rows));
  made->selection = *selection;
  made->users = 1;
  made->next = data->rows;
  data->rows = *out = made;
  return TUTTI_OK;
out:
  if (made)
    backend_cuda_arena_give(arena, made->memory);
  tutti_free(made);
  return status;
}

void backend_cuda_rows_leave(struct cuda_shelf *data, struct cuda_arena *arena, struct cuda_held *held) {
  if (!held || --held->users > 0)
    return;
  struct cuda_held **place = &data->rows;
  while (*place != held)
    place = &(*place)->next;
  *place = held->next;
  backend_cuda_arena_give(arena, held->memory);
  tutti_free(held);
}

struct cuda_rows backend_cuda_rows_of(const struct cuda_held *held, struct cuda_span span) {
  const struct cuda_rows *all = &held->rows;
  return (struct cuda_rows){.inputs = all->inputs + (span.first - held->selection.span.first) * all->features,
                            .rows = (uint32_t)span.count,
                            .features = all->features};
}

size_t backend_cuda_rows_missing(const struct cuda_shelf *data, const struct cuda_selection *selection) {
  return selection->span.count == 0 || find_rows(data, selection) ? 0 : backend_cuda_rows_bytes(selection);
}

/* --- jobs --- */

static size_t lines(size_t bytes) { return (bytes + 255) / 256 * 256; }

struct cuda_layout backend_cuda_layout(const struct cuda_program *program, size_t rows) {
  struct cuda_layout l;
  l.nodes = lines(sizeof(struct cuda_job));
  l.edges = l.nodes + lines(program->node_count * sizeof *program->nodes);
  l.segments = l.edges + lines(program->edge_count * sizeof *program->edges);
  l.program = l.box = l.segments + lines(program->segment_count * sizeof *program->segments);
  l.classes = l.box + lines(program->box ? 2 * program->features * sizeof *program->box : 0);
  l.keys = l.classes + lines(program->class_weights ? program->plan->outputs * sizeof *program->class_weights : 0);
  l.kept = l.keys + lines(program->draws * sizeof *program->keys);
  l.copied = l.kept + lines(program->plan->floats * sizeof(float));
  l.far = l.copied;
  l.order = l.far + lines(program->far * sizeof(float));
  l.average = l.order + lines(2 * rows * sizeof(uint32_t));
  l.bytes = l.average + lines(program->averages ? program->plan->floats * sizeof(float) : 0);
  return l;
}

void backend_cuda_place(const struct cuda_program *program, const struct cuda_layout *l, struct cuda_job *job,
                        char *memory) {
  job->node_count = program->node_count;
  job->edge_count = program->edge_count;
  job->segment_count = program->segment_count;
  job->floats = (uint32_t)program->plan->floats;
  job->trained = (uint32_t)program->plan->trained;
  job->outputs = (uint32_t)program->plan->outputs;
  job->program = program->program;
  job->program_bytes = (uint32_t)l->program;
  job->stage = program->stage;
  job->weights = program->weights;
  job->gradients = program->gradients;
  job->first = program->first;
  job->second = program->second;
  job->nodes = (const struct cuda_node *)(const void *)(memory + l->nodes);
  job->edges = (const struct cuda_edge *)(const void *)(memory + l->edges);
  job->segments = (const struct cuda_segment *)(const void *)(memory + l->segments);
  job->head = program->head;
  job->artificial = program->artificial;
  job->box = program->box ? (const float *)(const void *)(memory + l->box) : NULL;
  job->class_weights = program->class_weights ? (const double *)(const void *)(memory + l->classes) : NULL;
  job->kept = (float *)(void *)(memory + l->kept);
  job->memory = (float *)(void *)(memory + l->far);
  job->order = (uint32_t *)(void *)(memory + l->order);
  job->average = program->averages ? (float *)(void *)(memory + l->average) : NULL;
  job->measures = program->averages && backend_cpu_has_norm(program->plan);
}

void backend_cuda_stage(const struct cuda_program *program, const struct cuda_layout *l, const struct cuda_job *job,
                        char *staged) {
  memcpy(staged, job, sizeof *job);
  memcpy(staged + l->nodes, program->nodes, program->node_count * sizeof *program->nodes);
  memcpy(staged + l->edges, program->edges, program->edge_count * sizeof *program->edges);
  memcpy(staged + l->segments, program->segments, program->segment_count * sizeof *program->segments);
  if (program->box)
    memcpy(staged + l->box, program->box, 2 * program->features * sizeof *program->box);
  if (program->class_weights)
    memcpy(staged + l->classes, program->class_weights, program->plan->outputs * sizeof *program->class_weights);
  if (program->draws)
    memcpy(staged + l->keys, program->keys, program->draws * sizeof *program->keys);
  memcpy(staged + l->kept, program->plan->weights, program->plan->floats * sizeof(float));
}
