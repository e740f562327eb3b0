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

static enum tutti_status run(tutti_context *context, struct predicting *p, struct cuda_prediction *what, uint32_t most,
                             float *out) {
  const struct cuda_program *program = &p->program;
  const struct cpu_plan *plan = program->plan;
  size_t rows = what->rows.rows, bytes = rows * what->width * sizeof *out;
  struct cuda_layout layout = backend_cuda_layout(program, 0);
  size_t far = layout.copied, to = far + most * program->far * sizeof(float);
  struct cuda_job job = {0};
  void *memory;
  CUDA_TRY(context, cudaMalloc(&memory, to + bytes));
  p->memory = memory;
  TUTTI_TRY(context, backend_cuda_upload(context, program, &layout, &job, p->memory, p->stream));
  what->node_count = program->node_count;
  what->outputs = (uint32_t)plan->outputs;
  what->most = (uint32_t)plan->rows;
  what->blocks = most;
  what->block_floats = (uint32_t)program->far;
  what->nodes = job.nodes;
  what->edges = job.edges;
  what->memory = (float *)(void *)(p->memory + far);
  what->weights = job.kept;
  what->out = (float *)(void *)(p->memory + to);
  backend_cuda_launch_predict(p->stream, most, program->workers, program->shared, what);
  CUDA_TRY(context, cudaGetLastError());
  CUDA_TRY(context, cudaMemcpyAsync(out, what->out, bytes, cudaMemcpyDeviceToHost, p->stream));
  CUDA_TRY(context, cudaStreamSynchronize(p->stream));
  return TUTTI_OK;
}

enum tutti_status backend_cuda_predict(tutti_context *context, const struct cuda_device *device,
                                       const struct tutti_job *job, const tutti_tensors *weights,
                                       const tutti_split *split, float *out) {
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
  what.width = (uint32_t)tutti_predictions_width(job->task->kind, job->task->outputs);
  size_t chunks = (rows + chunk - 1) / chunk, most = (size_t)device->multiprocessors * 2;
  TUTTI_TRY_OUT(context, run(context, &p, &what, (uint32_t)(chunks < most ? chunks : most), out));
out:
  if (p.stream)
    (void)cudaStreamDestroy(p.stream);
  (void)cudaFree(p.memory);
  for (size_t i = 0; i < p.data.count; i++)
    (void)cudaFree(p.data.splits[i].memory);
  backend_cuda_program_release(&p.program);
  return status;
}
