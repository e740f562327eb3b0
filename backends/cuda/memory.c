/* memory.c - what lies in the device's memory: the rows of splits, each once for all jobs, and for each job its
   program, its weights and what has no room in shared memory. */
#include "cuda_impl.h"

#include <string.h>

/* --- rows --- */

static size_t features_of(const tutti_split *split) {
  struct tutti_shape shape = tutti_split_input(split);
  return (size_t)shape.height * (size_t)shape.width * (size_t)shape.channels;
}

size_t backend_cuda_split_bytes(const tutti_split *split, bool targets) {
  size_t each = targets ? tutti_split_labels(split) ? 1 : tutti_split_outputs(split) : 0;
  return tutti_split_rows(split) * (features_of(split) + each) * sizeof(float);
}

/* Rows that are made on demand are made now. */
static enum tutti_status copy_inputs(tutti_context *context, const tutti_split *split, float *to, cudaStream_t stream) {
  size_t rows = tutti_split_rows(split), features = features_of(split);
  const float *inputs = tutti_split_inputs(split);
  float *made = NULL;
  uint32_t *numbers = NULL;
  enum tutti_status status;
  if (!inputs) {
    TUTTI_TRY_OUT(context, tutti_alloc(context, rows, features * sizeof *made, &made));
    TUTTI_TRY_OUT(context, tutti_alloc(context, rows, sizeof *numbers, &numbers));
    for (size_t i = 0; i < rows; i++)
      numbers[i] = (uint32_t)i;
    tutti_split_gather(split, rows, numbers, made);
  }
  CUDA_TRY_OUT(context, cudaMemcpyAsync(to, inputs ? inputs : made, rows * features * sizeof *to,
                                        cudaMemcpyHostToDevice, stream));
  CUDA_TRY_OUT(context, cudaStreamSynchronize(stream));
out:
  tutti_free(made);
  tutti_free(numbers);
  return status;
}

enum tutti_status backend_cuda_copy_rows(tutti_context *context, const tutti_split *split, bool targets, void *memory,
                                         cudaStream_t stream, struct cuda_rows *rows) {
  size_t count = tutti_split_rows(split), features = features_of(split);
  float *inputs = memory, *behind = inputs + count * features;
  *rows = (struct cuda_rows){.inputs = inputs, .rows = (uint32_t)count, .features = (uint32_t)features};
  if (count > 0)
    TUTTI_TRY(context, copy_inputs(context, split, inputs, stream));
  if (targets && count > 0) {
    const int32_t *labels = tutti_split_labels(split);
    size_t size = labels ? sizeof *labels : tutti_split_outputs(split) * sizeof(float);
    const void *from = labels ? (const void *)labels : tutti_split_targets(split);
    CUDA_TRY(context, cudaMemcpyAsync(behind, from, count * size, cudaMemcpyHostToDevice, stream));
    CUDA_TRY(context, cudaStreamSynchronize(stream));
    rows->labels = labels ? (const int32_t *)(const void *)behind : NULL;
    rows->targets = labels ? NULL : behind;
  }
  return TUTTI_OK;
}

enum tutti_status backend_cuda_rows_use(tutti_context *context, struct cuda_shelf *data, struct cuda_arena *arena,
                                        const tutti_split *split, bool targets, cudaStream_t stream,
                                        struct cuda_held **out) {
  struct cuda_held *made = NULL;
  enum tutti_status status;
  for (struct cuda_held *one = data->splits; one; one = one->next)
    if (one->split == split && (one->targets || !targets)) {
      one->users++;
      *out = one;
      return TUTTI_OK;
    }
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *made, &made));
  TUTTI_TRY_OUT(context, backend_cuda_arena_take(
                             context, arena, backend_cuda_split_bytes(split, targets) + sizeof(float), &made->memory));
  TUTTI_TRY_OUT(context, backend_cuda_copy_rows(context, split, targets, made->memory->device, stream, &made->rows));
  made->split = split;
  made->targets = targets;
  made->users = 1;
  made->next = data->splits;
  data->splits = *out = made;
  return TUTTI_OK;
out:
  if (made)
    backend_cuda_arena_give(arena, made->memory);
  tutti_free(made);
  return status;
}

void backend_cuda_rows_leave(struct cuda_shelf *data, struct cuda_arena *arena, struct cuda_held *split) {
  if (!split || --split->users > 0)
    return;
  struct cuda_held **place = &data->splits;
  while (*place != split)
    place = &(*place)->next;
  *place = split->next;
  backend_cuda_arena_give(arena, split->memory);
  tutti_free(split);
}

bool backend_cuda_rows_have(const struct cuda_shelf *data, const tutti_split *split, bool targets) {
  for (const struct cuda_held *one = data->splits; one; one = one->next)
    if (one->split == split && (one->targets || !targets))
      return true;
  return false;
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
