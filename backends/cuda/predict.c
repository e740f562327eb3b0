/* predict.c - predictions of a split. Blocks take some rows each, one after the other; a row's numbers do not depend on
   those beside it. */
#include "cuda_impl.h"

#include <string.h>

struct predicting {
  struct cuda_program program;
  struct cuda_data data;
  struct cuda_split room; /* for the split */
  cudaStream_t stream;
  char *memory;
};

/* Where the parts of the device's memory begin, in bytes. */
struct parts {
  size_t far, out, epistemic, one, part, keys, mixed, bytes;
};

static size_t lines(size_t bytes) { return (bytes + 255) / 256 * 256; }

static struct parts parts_of(const struct cuda_program *program, const struct cuda_prediction *what) {
  size_t rows = what->rows.rows, out = lines(rows * what->width * sizeof(float));
  size_t part = lines(rows * what->parts * sizeof(float)), drawn = what->draws > 0;
  struct parts p;
  p.far = backend_cuda_layout(program, 0).copied;
  p.out = p.far + lines(what->blocks * program->far * sizeof(float));
  p.epistemic = p.out + out;
  p.one = p.epistemic + part;
  p.part = p.one + drawn * out;
  p.keys = p.part + drawn * part;
  p.mixed = p.keys + lines(what->draws * sizeof(uint64_t));
  p.bytes = p.mixed + drawn * rows * what->outputs * sizeof(struct cpu_mixed);
  return p;
}

/* The keys of the draws, there at what->keys. */
static enum tutti_status copy_keys(tutti_context *context, const struct predicting *p,
                                   const struct cuda_prediction *what, uint64_t seed) {
  uint64_t *keys, *to = (uint64_t *)(uintptr_t)what->keys;
  TUTTI_TRY(context, tutti_alloc(context, what->draws, sizeof *keys, &keys));
  for (uint32_t draw = 0; draw < what->draws; draw++)
    keys[draw] = backend_cpu_draw_key(seed, draw);
  cudaError_t error = cudaMemcpyAsync(to, keys, what->draws * sizeof *keys, cudaMemcpyHostToDevice, p->stream);
  if (error == cudaSuccess)
    error = cudaStreamSynchronize(p->stream);
  tutti_free(keys);
  return backend_cuda_status(context, error, "copying the keys of draws");
}

static void *part_of(const struct predicting *p, size_t at) { return p->memory + at; }

static enum tutti_status run(tutti_context *context, struct predicting *p, struct cuda_prediction *what, uint64_t seed,
                             float *out, float *epistemic) {
  const struct cuda_program *program = &p->program;
  struct parts parts = parts_of(program, what);
  struct cuda_layout layout = backend_cuda_layout(program, 0);
  struct cuda_job job = {0};
  size_t rows = what->rows.rows;
  void *memory;
  CUDA_TRY(context, cudaMalloc(&memory, parts.bytes));
  p->memory = memory;
  TUTTI_TRY(context, backend_cuda_upload(context, program, &layout, &job, p->memory, p->stream));
  what->node_count = program->node_count;
  what->block_floats = (uint32_t)program->far;
  what->nodes = job.nodes;
  what->edges = job.edges;
  what->weights = job.kept;
  what->memory = part_of(p, parts.far);
  what->out = part_of(p, parts.out);
  what->epistemic = part_of(p, parts.epistemic);
  what->one = part_of(p, parts.one);
  what->part = part_of(p, parts.part);
  what->keys = part_of(p, parts.keys);
  what->mixed = part_of(p, parts.mixed);
  if (what->draws > 0)
    TUTTI_TRY(context, copy_keys(context, p, what, seed));
  backend_cuda_launch_predict(p->stream, what->blocks, program->workers, program->shared, what);
  CUDA_TRY(context, cudaGetLastError());
  CUDA_TRY(context,
           cudaMemcpyAsync(out, what->out, rows * what->width * sizeof *out, cudaMemcpyDeviceToHost, p->stream));
  if (epistemic)
    CUDA_TRY(context, cudaMemcpyAsync(epistemic, what->epistemic, rows * what->parts * sizeof *epistemic,
                                      cudaMemcpyDeviceToHost, p->stream));
  CUDA_TRY(context, cudaStreamSynchronize(p->stream));
  return TUTTI_OK;
}

enum tutti_status backend_cuda_predict(tutti_context *context, const struct cuda_device *device,
                                       const struct tutti_job *job, const tutti_tensors *weights,
                                       const tutti_split *split, float *out, float *epistemic) {
  const struct cpu_config *config = job->config;
  struct predicting p = {0};
  struct cuda_prediction what = {0};
  size_t rows = tutti_split_rows(split), chunk = 64;
  enum tutti_status status = TUTTI_OK;
  if (rows == 0)
    return TUTTI_OK;
  p.data.splits = &p.room;
  TUTTI_TRY_OUT(context, backend_cuda_lower(context, device, job, chunk, false, &p.program));
  TUTTI_TRY_OUT(context, backend_cpu_weights_read(context, p.program.plan, weights));
  CUDA_TRY_OUT(context, cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
  TUTTI_TRY_OUT(context, backend_cuda_data_add(context, &p.data, split, false, p.stream, &what.rows));
  size_t chunks = (rows + chunk - 1) / chunk, most = (size_t)device->multiprocessors * 2;
  what.width = (uint32_t)tutti_predictions_width(job->task->kind, job->task->outputs);
  what.parts = (uint32_t)tutti_epistemic_width(job->task->kind, job->task->outputs);
  what.classes = job->task->kind == TUTTI_TASK_CLASSIFICATION;
  what.outputs = (uint32_t)job->task->outputs;
  what.draws = (uint32_t)config->prediction_draws;
  what.head = p.program.head;
  what.most = (uint32_t)chunk;
  what.blocks = (uint32_t)(chunks < most ? chunks : most);
  TUTTI_TRY_OUT(context, run(context, &p, &what, job->seed, out, epistemic));
out:
  if (p.stream)
    (void)cudaStreamDestroy(p.stream);
  (void)cudaFree(p.memory);
  for (size_t i = 0; i < p.data.count; i++)
    (void)cudaFree(p.data.splits[i].memory);
  backend_cuda_program_release(&p.program);
  return status;
}
