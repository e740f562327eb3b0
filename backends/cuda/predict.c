/* predict.c - predictions of a split. Blocks take some rows each, one after the other; a row's numbers do not depend on
   those beside it. */
#include "cuda_impl.h"

static size_t lines(size_t bytes) { return (bytes + 255) / 256 * 256; }

/* All but the weights. */
static enum tutti_status lower_prediction(tutti_context *context, const struct cuda_device *device,
                                          const struct tutti_job *job, size_t rows, const struct cuda_fit *like,
                                          struct cuda_program *program, struct cuda_prediction *what) {
  size_t chunks = (rows + CUDA_PREDICTED_ROWS - 1) / CUDA_PREDICTED_ROWS,
         most = like ? 1 : (size_t)device->multiprocessors * 2;
  TUTTI_TRY(context, backend_cuda_lower(context, device, job, CUDA_PREDICTED_ROWS, false, like, program));
  what->node_count = program->node_count;
  what->width = (uint32_t)tutti_predictions_width(job->task->kind, job->task->outputs);
  what->parts = (uint32_t)tutti_epistemic_width(job->task->kind, job->task->outputs);
  what->classes = job->task->kind == TUTTI_TASK_CLASSIFICATION;
  what->outputs = (uint32_t)job->task->outputs;
  what->draws = program->draws;
  what->head = program->head;
  what->stage = program->stage;
  what->most = CUDA_PREDICTED_ROWS;
  what->blocks = (uint32_t)(chunks < most ? chunks : most);
  what->block_floats = (uint32_t)program->far;
  what->rows.rows = (uint32_t)rows;
  return TUTTI_OK;
}

enum tutti_status backend_cuda_prediction(tutti_context *context, const struct cuda_device *device,
                                          const struct tutti_job *job, const tutti_tensors *weights, size_t rows,
                                          const struct cuda_fit *like, struct cuda_program *program,
                                          struct cuda_prediction *what) {
  TUTTI_TRY(context, lower_prediction(context, device, job, rows, like, program, what));
  return backend_cpu_weights_read(context, program->plan, weights);
}

/* Where the parts begin, in bytes. */
struct parts {
  size_t one, part, mixed, bytes;
};

static size_t bytes_of(const struct cuda_prediction *what, size_t width) {
  return lines(what->rows.rows * width * sizeof(float));
}

static struct parts parts_of(const struct cuda_program *program, const struct cuda_prediction *what) {
  size_t drawn = what->draws > 0;
  struct parts p;
  p.one = lines(what->blocks * program->far * sizeof(float));
  p.part = p.one + drawn * bytes_of(what, what->width);
  p.mixed = p.part + drawn * bytes_of(what, what->parts);
  p.bytes = p.mixed + drawn * what->rows.rows * what->outputs * sizeof(struct cpu_mixed);
  return p;
}

size_t backend_cuda_prediction_bytes(const struct cuda_program *program, const struct cuda_prediction *what) {
  return parts_of(program, what).bytes;
}

size_t backend_cuda_prediction_answers(const struct cuda_prediction *what) {
  return bytes_of(what, what->width) + bytes_of(what, what->parts);
}

void backend_cuda_prediction_place(const struct cuda_program *program, const struct cuda_layout *layout,
                                   const struct cuda_job *job, char *memory, char *answers,
                                   struct cuda_prediction *what) {
  struct parts parts = parts_of(program, what);
  char *behind = memory + layout->copied;
  what->nodes = job->nodes;
  what->edges = job->edges;
  what->weights = job->kept;
  what->keys = (const uint64_t *)(const void *)(memory + layout->keys);
  what->memory = (float *)(void *)behind;
  what->one = (float *)(void *)(behind + parts.one);
  what->part = (float *)(void *)(behind + parts.part);
  what->mixed = (struct cpu_mixed *)(void *)(behind + parts.mixed);
  what->out = (float *)(void *)answers;
  what->epistemic = (float *)(void *)(answers + bytes_of(what, what->width));
}

/* --- by a kernel of its own --- */

struct predicting {
  struct cuda_program program;
  cudaStream_t stream;
  void *rows;   /* on the device */
  void *memory; /* likewise */
};

/* Bytes of the device's memory besides rows; *answers: where those begin that are copied back. */
static size_t need_of(const struct predicting *p, const struct cuda_prediction *what, size_t *answers) {
  *answers = backend_cuda_layout(&p->program, 0).copied + lines(backend_cuda_prediction_bytes(&p->program, what));
  return *answers + backend_cuda_prediction_answers(what);
}

enum tutti_status backend_cuda_prediction_need(tutti_context *context, const struct cuda_device *device,
                                               const struct tutti_job *job, const tutti_split *split,
                                               struct cuda_span span, size_t *bytes) {
  const struct cuda_selection selection = {.split = split, .span = span};
  struct predicting p = {0};
  struct cuda_prediction what = {0};
  size_t answers;
  enum tutti_status status = lower_prediction(context, device, job, span.count, NULL, &p.program, &what);
  if (status == TUTTI_OK)
    *bytes = backend_cuda_rows_bytes(&selection) + sizeof(float) + need_of(&p, &what, &answers);
  backend_cuda_program_release(&p.program);
  return status;
}

static enum tutti_status load(tutti_context *context, struct predicting *p, struct cuda_prediction *what) {
  struct cuda_layout layout = backend_cuda_layout(&p->program, 0);
  size_t answers, need = need_of(p, what, &answers);
  struct cuda_job job = {.task = CUDA_PREDICT};
  char *staged, *memory;
  CUDA_TRY(context, cudaMalloc(&p->memory, need));
  memory = p->memory;
  backend_cuda_place(&p->program, &layout, &job, memory);
  backend_cuda_prediction_place(&p->program, &layout, &job, memory, memory + answers, what);
  TUTTI_TRY(context, tutti_alloc(context, layout.copied, 1, &staged));
  backend_cuda_stage(&p->program, &layout, &job, staged);
  cudaError_t error = cudaMemcpyAsync(memory, staged, layout.copied, cudaMemcpyHostToDevice, p->stream);
  if (error == cudaSuccess)
    error = cudaStreamSynchronize(p->stream);
  tutti_free(staged);
  return backend_cuda_status(context, error, "copying a network to the device");
}

enum tutti_status backend_cuda_predict_alone(tutti_context *context, const struct cuda_device *device,
                                             const struct tutti_job *job, const tutti_tensors *weights,
                                             const tutti_split *split, struct cuda_span span, float *out,
                                             float *epistemic) {
  struct predicting p = {0};
  struct cuda_prediction what = {0};
  const struct cuda_selection selection = {.split = split, .span = span};
  size_t rows = span.count, bytes = backend_cuda_rows_bytes(&selection) + sizeof(float), answers;
  enum tutti_status status;
  TUTTI_TRY_OUT(context, backend_cuda_prediction(context, device, job, weights, rows, NULL, &p.program, &what));
  CUDA_TRY_OUT(context, cudaStreamCreateWithFlags(&p.stream, cudaStreamNonBlocking));
  CUDA_TRY_OUT(context, cudaMalloc(&p.rows, bytes));
  TUTTI_TRY_OUT(context, backend_cuda_copy_rows(context, &selection, p.rows, p.stream, &what.rows));
  TUTTI_TRY_OUT(context, load(context, &p, &what));
  backend_cuda_launch_predict(p.stream, what.blocks, p.program.fit.workers, p.program.fit.shared, &what);
  CUDA_TRY_OUT(context, cudaGetLastError());
  CUDA_TRY_OUT(context,
               cudaMemcpyAsync(out, what.out, rows * what.width * sizeof *out, cudaMemcpyDeviceToHost, p.stream));
  if (epistemic)
    CUDA_TRY_OUT(context, cudaMemcpyAsync(epistemic, what.epistemic, rows * what.parts * sizeof *epistemic,
                                          cudaMemcpyDeviceToHost, p.stream));
  CUDA_TRY_OUT(context, cudaStreamSynchronize(p.stream));
out:
  if (p.stream)
    (void)cudaStreamDestroy(p.stream);
  (void)cudaFree(p.memory);
  (void)cudaFree(p.rows);
  if (status == TUTTI_ERROR_MEMORY && p.stream)
    status = backend_cuda_prediction_full(context, rows, bytes + need_of(&p, &what, &answers), 0);
  backend_cuda_program_release(&p.program);
  return status;
}
