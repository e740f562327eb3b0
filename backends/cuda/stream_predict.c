/* stream_predict.c - predictions of a split, some rows after the others, and the gradient of all training rows at
   once. A question that comes while networks train has their memory and a lane of its own. */
#include "stream_trials_impl.h"

#include <string.h>

/* A network on the device for one question. */
struct question {
  struct stream_program program;
  struct stream_run run;
  struct stream_memory own, *memory; /* own: where nothing trains */
  struct stream_lane its, *lane;
  struct cuda_region *region;
  struct cuda_held *rows;
  size_t need; /* bytes of the device's memory, once it is lowered */
};

/* Lower the network, with `weights`, and put it and a split there. */
static enum tutti_status open_question(tutti_context *context, const struct cuda_device *device,
                                       const struct tutti_job *job, const struct stream_purpose *purpose,
                                       const tutti_tensors *weights, const struct cuda_selection *rows,
                                       struct question *q) {
  struct stream_run *run = &q->run;
  q->memory = device->images ? backend_cuda_stream_memory(device->images) : &q->own;
  q->lane = device->images ? backend_cuda_stream_question_lane(device->images) : &q->its;
  TUTTI_TRY(context, backend_cuda_lane_open(context, q->lane));
  run->context = context;
  run->program = &q->program;
  run->stream = q->lane->stream;
  run->library = q->lane->library;
  run->place = backend_cuda_stream_place(device, run->stream);
  TUTTI_TRY(context, backend_cuda_stream_lower(context, run->library, job, purpose, &q->program));
  q->need = q->program.bytes + backend_cuda_rows_missing(&q->memory->data, rows);
  TUTTI_TRY(context, backend_cpu_weights_read(context, q->program.plan, weights));
  TUTTI_TRY(context, backend_cuda_arena_take(context, &q->memory->device, q->program.bytes, &q->region));
  TUTTI_TRY(context, backend_cuda_rows_use(context, &q->memory->data, &q->memory->device, rows, run->stream, &q->rows));
  run->memory = (float *)(void *)q->region->device;
  TUTTI_TRY(context,
            backend_cuda_library_lend(context, run->library, run->memory + q->program.products, STREAM_PRODUCT_BYTES,
                                      run->memory + q->program.convolutions, q->program.convolution_bytes));
  return backend_cuda_stream_load_program(run, job);
}

static void close_question(struct question *q) {
  if (!q->memory)
    return;
  if (q->run.stream)
    (void)cudaStreamSynchronize(q->run.stream);
  backend_cuda_rows_leave(&q->memory->data, &q->memory->device, q->rows);
  backend_cuda_arena_give(&q->memory->device, q->region);
  backend_cuda_lane_close(&q->its);
  backend_cuda_arena_release(&q->own.device);
  backend_cuda_stream_release(&q->program);
}

/* --- predictions --- */

static enum tutti_status predict_chunk(struct question *q, const struct cuda_rows *rows, size_t begin, uint32_t count,
                                       uint32_t width, float *out) {
  struct stream_run *run = &q->run;
  const struct cpu_plan *plan = q->program.plan;
  const struct cpu_node *head = backend_cpu_plan_head(plan);
  const struct cpu_node *source = &plan->nodes[head->edges[0].source];
  struct stream_batch batch = {.rows = *rows};
  const struct stream_pass pass = {.rows = count};
  const struct stream_predict predict = {.value = backend_cuda_stream_value(run, head->edges[0].source).at,
                                         .out = run->memory + q->program.out,
                                         .op = (uint32_t)head->op,
                                         .count = count,
                                         .outputs = (uint32_t)plan->outputs,
                                         .ld = (uint32_t)source->ld,
                                         .width = width,
                                         .variance = head->attributes->variance,
                                         .scale = (float)head->attributes->scale,
                                         .floor = (float)head->attributes->floor};
  batch.rows.inputs += begin * rows->features;
  backend_cuda_stream_load(run, &batch, count);
  TUTTI_TRY(run->context, backend_cuda_stream_forward(run, &pass));
  backend_cuda_stream_predict(&run->place, &predict);
  CUDA_TRY(run->context, cudaGetLastError());
  CUDA_TRY(run->context, cudaMemcpyAsync(out + begin * width, predict.out, count * width * sizeof *out,
                                         cudaMemcpyDeviceToHost, run->stream));
  CUDA_TRY(run->context, cudaStreamSynchronize(run->stream));
  return TUTTI_OK;
}

enum tutti_status backend_cuda_images_prediction_need(tutti_context *context, const struct tutti_job *job,
                                                      const tutti_split *split, struct cuda_span span, size_t *bytes) {
  const struct cuda_selection selection = {.split = split, .span = span};
  const uint32_t count = (uint32_t)span.count;
  const struct stream_purpose purpose = {.row_counts = &count,
                                         .row_count_count = 1,
                                         .out = count * tutti_predictions_width(job->task->kind, job->task->outputs)};
  struct stream_program program;
  TUTTI_TRY(context, backend_cuda_stream_lower(context, NULL, job, &purpose, &program));
  *bytes = program.bytes + backend_cuda_rows_bytes(&selection);
  backend_cuda_stream_release(&program);
  return TUTTI_OK;
}

enum tutti_status backend_cuda_images_predict(tutti_context *context, const struct cuda_device *device,
                                              const struct tutti_job *job, const tutti_tensors *weights,
                                              const tutti_split *split, struct cuda_span span, float *out,
                                              float *epistemic) {
  size_t width = tutti_predictions_width(job->task->kind, job->task->outputs), all = tutti_split_rows(split);
  const size_t most = all < CUDA_PREDICTED_ROWS ? all : CUDA_PREDICTED_ROWS;
  uint32_t counts[2] = {(uint32_t)most, (uint32_t)(all % most)}; /* which choose algorithms, whatever part it is */
  struct stream_purpose purpose = {
      .row_counts = counts, .row_count_count = counts[1] ? 2 : 1, .out = CUDA_PREDICTED_ROWS * width};
  const struct cuda_selection selection = {.split = split, .span = span};
  struct question question = {0};
  enum tutti_status status = TUTTI_OK;
  for (size_t i = 0; epistemic && i < span.count * tutti_epistemic_width(job->task->kind, job->task->outputs); i++)
    epistemic[i] = 0; /* heads that say more of it are not here */
  TUTTI_TRY_OUT(context, open_question(context, device, job, &purpose, weights, &selection, &question));
  const struct cuda_rows rows = backend_cuda_rows_of(question.rows, span);
  for (size_t begin = 0; begin < span.count; begin += CUDA_PREDICTED_ROWS) {
    size_t count = span.count - begin < CUDA_PREDICTED_ROWS ? span.count - begin : CUDA_PREDICTED_ROWS;
    TUTTI_TRY_OUT(context, predict_chunk(&question, &rows, begin, (uint32_t)count, (uint32_t)width, out));
  }
out:
  close_question(&question);
  if (status == TUTTI_ERROR_MEMORY && question.need > 0)
    status = backend_cuda_prediction_full(context, span.count, question.need,
                                          backend_cuda_arena_unused(&question.memory->device));
  return status;
}

/* --- the gradient of all rows --- */

enum tutti_status backend_cuda_images_gradient(tutti_context *context, const struct cuda_device *device,
                                               const struct tutti_job *job, const tutti_tensors *weights, double *loss,
                                               tutti_tensors **made) {
  uint32_t count = (uint32_t)tutti_split_rows(job->train);
  const struct stream_purpose purpose = {.training = true, .row_counts = &count, .row_count_count = 1};
  const struct stream_pass pass = {.rows = count, .training = true};
  struct question question = {0};
  struct stream_run *run = &question.run;
  struct stream_state state;
  struct stream_batch batch = {0};
  float *gradient = NULL;
  enum tutti_status status;
  *made = NULL;
  const struct cuda_selection train = backend_cuda_whole(job->train);
  TUTTI_TRY_OUT(context, open_question(context, device, job, &purpose, weights, &train, &question));
  batch.rows = question.rows->rows;
  const struct cpu_plan *plan = question.program.plan;
  batch.state = (struct stream_state *)(void *)(run->memory + question.program.state);
  batch.label_smoothing = (float)((const struct cpu_config *)job->config)->label_smoothing;
  if (job->class_weights)
    batch.class_weights = (const double *)(void *)(run->memory + question.program.class_weights);
  TUTTI_TRY_OUT(context, tutti_alloc(context, plan->floats, sizeof *gradient, &gradient));
  backend_cuda_stream_load(run, &batch, count);
  TUTTI_TRY_OUT(context, backend_cuda_stream_forward(run, &pass));
  backend_cuda_stream_judge(run, &batch, count, true, false);
  TUTTI_TRY_OUT(context, backend_cuda_stream_backward(run, &pass));
  CUDA_TRY_OUT(context, cudaGetLastError());
  CUDA_TRY_OUT(context, cudaMemcpyAsync(gradient, run->memory + question.program.gradients,
                                        plan->floats * sizeof *gradient, cudaMemcpyDeviceToHost, run->stream));
  CUDA_TRY_OUT(context, cudaMemcpyAsync(&state, batch.state, sizeof state, cudaMemcpyDeviceToHost, run->stream));
  CUDA_TRY_OUT(context, cudaStreamSynchronize(run->stream));
  *loss = state.loss;
  backend_cuda_add_penalty(plan, gradient, loss);
  status = backend_cpu_weights_write(context, plan, gradient, true, made);
out:
  close_question(&question);
  tutti_free(gradient);
  return status;
}
