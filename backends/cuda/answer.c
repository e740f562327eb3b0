/* answer.c - predictions, also of a network that has just been trained while others of its pool still are. A kernel of
   its own would wait then for room that the pool has taken, and the pool for the host: so the block that has become
   free predicts, and the host goes on answering the others. */
#include "pool_impl.h"

#include <string.h>

struct answering {
  struct cuda_work work; /* for the seat */
  struct tutti_outcome outcome;
  struct cuda_prediction what;
  size_t answers; /* where they begin in the staged memory, in bytes */
};

static enum tutti_status load(struct cuda_pool *pool, const struct cuda_selection *rows, struct answering *a) {
  tutti_context *context = pool->context;
  struct cuda_work *work = &a->work;
  struct cuda_job job = {.task = CUDA_PREDICT};
  size_t own = backend_cuda_prediction_bytes(&work->program, &a->what);
  work->layout = backend_cuda_layout(&work->program, 0);
  a->answers = work->layout.copied;
  size_t report = a->answers + backend_cuda_prediction_answers(&a->what);
  TUTTI_TRY(context, backend_cuda_arena_take(context, &pool->memory, work->layout.copied + own, &work->memory));
  TUTTI_TRY(context, backend_cuda_rows_use(context, &pool->data, &pool->memory, rows, pool->copies, &work->train));
  TUTTI_TRY(context, backend_cuda_arena_take(context, &pool->host, report + sizeof *work->report, &work->staged));
  work->report = (struct cuda_report *)(void *)(work->staged->at + report);
  memset(work->report, 0, sizeof *work->report);
  a->what.rows = backend_cuda_rows_of(work->train, rows->span);
  backend_cuda_place(&work->program, &work->layout, &job, work->memory->device);
  backend_cuda_prediction_place(&work->program, &work->layout, &job, work->memory->device,
                                work->staged->device + a->answers, &a->what);
  job.report = (struct cuda_report *)(void *)(work->staged->device + report);
  job.prediction = a->what;
  backend_cuda_stage(&work->program, &work->layout, &job, work->staged->at);
  return TUTTI_OK;
}

/* Bytes of the device's memory that it takes. */
static size_t need_of(const struct cuda_pool *pool, const struct cuda_selection *rows, const struct answering *a) {
  return backend_cuda_rows_missing(&pool->data, rows) + a->work.layout.copied +
         backend_cuda_prediction_bytes(&a->work.program, &a->what);
}

static bool is_told(const struct cuda_work *work) {
  return __atomic_load_n(&work->report->number, __ATOMIC_ACQUIRE) > 0;
}

static bool is_begun(const struct cuda_work *work) {
  return __atomic_load_n(&work->report->begun, __ATOMIC_ACQUIRE) > 0;
}

/* A block that has not begun by then waits for room: those that have nothing to do make it. */
static const double begins_within = 0.01; /* seconds */

static enum tutti_status wait_for(struct cuda_pool *pool, struct answering *a) {
  const double since = tutti_clock();
  while (!is_told(&a->work) && !a->work.ended) {
    backend_cuda_pool_answer(pool);
    backend_cuda_pool_look(pool);
    if (!is_begun(&a->work) && tutti_clock() - since > begins_within)
      backend_cuda_grids_end_idle(&pool->grids);
    backend_cuda_wait();
  }
  if (!is_told(&a->work))
    return TUTTI_FAIL(pool->context, TUTTI_ERROR_IO, "%s", a->outcome.failure);
  return TUTTI_OK;
}

/* A free block, as that of a job which has just ended; a new one, if it has ended with a kernel that failed. */
static enum tutti_status find_block(struct cuda_pool *pool, struct cuda_grid **grid, uint32_t *seat) {
  const struct cuda_device *device = pool->grids.device;
  const struct cuda_fit some = {64, (uint32_t)(device->shared_multiprocessor / 8 - device->shared_reserved) / 16 * 16};
  *seat = 0;
  if (pool->lost[0])
    return TUTTI_FAIL(pool->context, TUTTI_ERROR_IO, "%s", pool->lost);
  if (backend_cuda_grid_idle(&pool->grids, NULL, grid, seat))
    return TUTTI_OK;
  TUTTI_TRY(pool->context, backend_cuda_grid_start(pool->context, &pool->grids, &some, 1, grid));
  return *grid ? TUTTI_OK : TUTTI_FAIL(pool->context, TUTTI_ERROR_INTERNAL, "no block is free to predict");
}

static enum tutti_status predict_beside(struct cuda_pool *pool, const struct tutti_job *job,
                                        const tutti_tensors *weights, const struct cuda_selection *selection,
                                        float *out, float *epistemic) {
  tutti_context *context = pool->context;
  struct answering a = {.work.task = CUDA_PREDICT, .outcome.size = sizeof a.outcome};
  struct cuda_work *work = &a.work;
  struct cuda_grid *grid = NULL;
  size_t rows = selection->span.count;
  uint32_t seat;
  enum tutti_status status;
  work->outcome = &a.outcome;
  TUTTI_TRY_OUT(context, find_block(pool, &grid, &seat));
  TUTTI_TRY_OUT(context, backend_cuda_prediction(context, pool->grids.device, job, weights, rows, &grid->fit,
                                                 &work->program, &a.what));
  TUTTI_TRY_OUT(context, load(pool, selection, &a));
  backend_cuda_grid_give(grid, seat, work, work->staged->device, work->memory->device, work->layout.copied);
  status = wait_for(pool, &a);
  grid->seats[seat].work = NULL;
  if (status != TUTTI_OK)
    goto out;
  const float *answers = (const float *)(void *)(work->staged->at + a.answers);
  memcpy(out, answers, rows * a.what.width * sizeof *out);
  if (epistemic)
    memcpy(epistemic, answers + (a.what.epistemic - a.what.out), rows * a.what.parts * sizeof *epistemic);
out:
  backend_cuda_rows_leave(&pool->data, &pool->memory, work->train);
  backend_cuda_arena_give(&pool->memory, work->memory);
  backend_cuda_arena_give(&pool->host, work->staged);
  if (status == TUTTI_ERROR_MEMORY && work->layout.copied > 0)
    status = backend_cuda_prediction_full(context, rows, need_of(pool, selection, &a),
                                          backend_cuda_arena_unused(&pool->memory));
  backend_cuda_program_release(&work->program);
  return status;
}

enum tutti_status backend_cuda_predict(tutti_context *context, struct cuda_device *device, const struct tutti_job *job,
                                       const tutti_tensors *weights, const tutti_split *split, struct cuda_span span,
                                       float *out, float *epistemic) {
  const struct cuda_selection selection = {.split = split, .span = span};
  TUTTI_TRY(context, backend_cuda_device_open(context, device));
  if (device->pool)
    return predict_beside(device->pool, job, weights, &selection, out, epistemic);
  return backend_cuda_predict_alone(context, device, job, weights, split, span, out, epistemic);
}
