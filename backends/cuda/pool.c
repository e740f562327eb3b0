/* pool.c - many trainings at once. Jobs are prepared on the host, the longest first; as many as the device's memory has
   room for form a wave. Of these, all that have blocks of one size are one grid, whose blocks take them from a queue.
   While they train, the host waits for reports in memory that it shares with the device, calls back, and answers. */
#include "cuda_impl.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tutti/clock.h>
#include <tutti/sized.h>

/* A job on its way. */
struct work {
  size_t index; /* among the caller's */
  struct tutti_job job;
  struct tutti_outcome *outcome;
  struct cuda_program program;
  struct cuda_layout layout;
  enum cuda_task task;
  size_t bytes; /* of the device's memory, without rows */
  double cost;  /* multiply-adds of the longest training */
  char *memory; /* on the device */
  uint32_t class_of, seen;
  double began;
  bool ended;
};

struct pool {
  tutti_context *context;
  const struct cuda_device *device;
  struct work **works; /* [count], the longest first */
  size_t count;
  void (*done)(void *argument, size_t index);
  void *argument;
  /* of a wave */
  struct work **wave;
  size_t wave_count;
  struct cuda_data data;
  cudaStream_t copies;
  struct cuda_report *reports, *device_reports;
  struct cuda_answer *answers, *device_answers;
  struct grid {
    uint32_t workers, shared, count;
    cudaStream_t stream;
    struct cuda_job **jobs; /* on the device */
    uint32_t *next;
  } * grids;
  size_t grid_count;
  bool cancelled;
};

/* --- one job --- */

static size_t rows_of(const tutti_split *split) { return split ? tutti_split_rows(split) : 0; }

static size_t batch_of(const struct tutti_job *job, enum cuda_task task) {
  const struct cpu_config *config = job->config;
  size_t rows = rows_of(job->train), wanted = task == CUDA_TRAIN ? (size_t)config->batch_size : 0;
  return wanted == 0 || wanted > rows ? rows : wanted;
}

/* Rows of a plan: a mini-batch with its artificial points, and validation rows at once. */
static size_t rows_at_once(const struct tutti_job *job, enum cuda_task task) {
  size_t batch = batch_of(job, task) + backend_cpu_artificial(job->network), validated = rows_of(job->validation);
  if (validated > CPU_EVALUATION_ROWS)
    validated = CPU_EVALUATION_ROWS;
  return batch > validated ? batch : validated;
}

static enum tutti_status prepare(struct pool *pool, struct work *work) {
  const struct cpu_config *config = work->job.config;
  size_t rows = rows_of(work->job.train);
  TUTTI_TRY(pool->context, backend_cuda_lower(pool->context, pool->device, &work->job,
                                              rows_at_once(&work->job, work->task), true, &work->program));
  TUTTI_TRY(pool->context, backend_cpu_weights_begin(pool->context, work->program.plan, &work->job));
  work->layout = backend_cuda_layout(&work->program, rows);
  work->bytes = work->layout.bytes;
  work->cost = (double)config->epochs * (double)rows * (double)(work->program.plan->trained + 1);
  return TUTTI_OK;
}

static struct cuda_job job_of(const struct work *work) {
  const struct tutti_job *job = &work->job;
  const struct cpu_config *config = job->config;
  size_t plan_rows = work->program.plan->rows;
  struct tutti_random orders, dropout, points;
  uint64_t seed = config->shuffle == CPU_SHUFFLE_RUN ? job->run_seed : job->seed;
  tutti_random_init(&orders, seed, "mini-batches", 0);
  tutti_random_init(&dropout, job->seed, "dropout", 0);
  tutti_random_init(&points, job->seed, "artificial points", 0);
  return (struct cuda_job){
      .config = *config,
      .task = (uint32_t)work->task,
      .batch = (uint32_t)batch_of(job, work->task),
      .most = (uint32_t)(plan_rows < CPU_EVALUATION_ROWS ? plan_rows : CPU_EVALUATION_ROWS),
      .asks = job->progress != NULL,
      .order_key = {orders.key[0], orders.key[1]},
      .box_key = {points.key[0], points.key[1]},
      .drop_key = tutti_random_u64(&dropout),
  };
}

/* The job fails with this text. */
static void fail(struct pool *pool, struct work *work, const char *text) {
  work->ended = true;
  work->outcome->state = TUTTI_STATE_FAILED;
  (void)snprintf(work->outcome->failure, sizeof work->outcome->failure, "%s", text);
  pool->done(pool->argument, work->index);
}

/* --- a wave --- */

static uint32_t grid_of(struct pool *pool, const struct cuda_program *program) {
  for (size_t g = 0; g < pool->grid_count; g++)
    if (pool->grids[g].workers == program->workers && pool->grids[g].shared == program->shared) {
      pool->grids[g].count++;
      return (uint32_t)g;
    }
  pool->grids[pool->grid_count] = (struct grid){.workers = program->workers, .shared = program->shared, .count = 1};
  return (uint32_t)pool->grid_count++;
}

static enum tutti_status load_job(struct pool *pool, size_t place) {
  struct work *work = pool->wave[place];
  struct cuda_job job = job_of(work);
  void *memory;
  TUTTI_TRY(pool->context,
            backend_cuda_data_add(pool->context, &pool->data, work->job.train, true, pool->copies, &job.train));
  if (work->task == CUDA_TRAIN && rows_of(work->job.validation) > 0)
    TUTTI_TRY(pool->context, backend_cuda_data_add(pool->context, &pool->data, work->job.validation, true, pool->copies,
                                                   &job.validation));
  CUDA_TRY(pool->context, cudaMalloc(&memory, work->layout.bytes));
  work->memory = memory;
  job.report = &pool->device_reports[place];
  job.answer = &pool->device_answers[place];
  work->began = tutti_clock();
  return backend_cuda_upload(pool->context, &work->program, &work->layout, &job, work->memory, pool->copies);
}

/* Start the grid of all jobs of a class. */
static enum tutti_status start_grid(struct pool *pool, size_t g) {
  tutti_context *context = pool->context;
  struct grid *grid = &pool->grids[g];
  struct cuda_job **jobs = NULL;
  uint32_t count = 0;
  int blocks = 0;
  void *memory;
  enum tutti_status status;
  TUTTI_TRY(context, tutti_alloc(context, grid->count, sizeof(struct cuda_job *), &jobs));
  for (size_t i = 0; i < pool->wave_count; i++)
    if (pool->wave[i]->class_of == g)
      jobs[count++] = (struct cuda_job *)(void *)pool->wave[i]->memory;
  CUDA_TRY_OUT(context, cudaMalloc(&memory, count * sizeof *jobs + sizeof *grid->next));
  grid->jobs = memory;
  grid->next = (uint32_t *)(void *)(grid->jobs + count);
  CUDA_TRY_OUT(context, cudaMemcpyAsync(grid->jobs, jobs, count * sizeof *jobs, cudaMemcpyHostToDevice, pool->copies));
  CUDA_TRY_OUT(context, cudaMemsetAsync(grid->next, 0, sizeof *grid->next, pool->copies));
  CUDA_TRY_OUT(context, cudaStreamSynchronize(pool->copies));
  CUDA_TRY_OUT(context, (cudaError_t)backend_cuda_blocks(grid->workers, grid->shared, &blocks));
  uint32_t most = (uint32_t)(blocks > 0 ? blocks : 1) * pool->device->multiprocessors;
  CUDA_TRY_OUT(context, cudaStreamCreateWithFlags(&grid->stream, cudaStreamNonBlocking));
  backend_cuda_launch_train(grid->stream, count < most ? count : most, grid->workers, grid->shared, grid->jobs, count,
                            grid->next);
  CUDA_TRY_OUT(context, cudaGetLastError());
out:
  tutti_free(jobs);
  return status;
}

static enum tutti_status open_wave(struct pool *pool) {
  tutti_context *context = pool->context;
  void *reports, *answers, *there;
  pool->grid_count = 0;
  pool->data = (struct cuda_data){0};
  TUTTI_TRY(context, tutti_alloc(context, 2 * pool->wave_count, sizeof *pool->data.splits, &pool->data.splits));
  TUTTI_TRY(context, tutti_alloc(context, pool->wave_count, sizeof *pool->grids, &pool->grids));
  CUDA_TRY(context, cudaStreamCreateWithFlags(&pool->copies, cudaStreamNonBlocking));
  CUDA_TRY(context, cudaHostAlloc(&reports, pool->wave_count * sizeof *pool->reports, cudaHostAllocMapped));
  pool->reports = reports;
  CUDA_TRY(context, cudaHostAlloc(&answers, pool->wave_count * sizeof *pool->answers, cudaHostAllocMapped));
  pool->answers = answers;
  memset(reports, 0, pool->wave_count * sizeof *pool->reports);
  memset(answers, 0, pool->wave_count * sizeof *pool->answers);
  CUDA_TRY(context, cudaHostGetDevicePointer(&there, pool->reports, 0));
  pool->device_reports = there;
  CUDA_TRY(context, cudaHostGetDevicePointer(&there, pool->answers, 0));
  pool->device_answers = there;
  for (size_t i = 0; i < pool->wave_count; i++) {
    pool->wave[i]->seen = 0;
    pool->wave[i]->class_of = grid_of(pool, &pool->wave[i]->program);
    TUTTI_TRY(context, load_job(pool, i));
  }
  for (size_t g = 0; g < pool->grid_count; g++)
    TUTTI_TRY(context, start_grid(pool, g));
  return TUTTI_OK;
}

/* --- talking to the device --- */

static uint32_t number_of(const struct cuda_report *report) {
  return __atomic_load_n(&report->number, __ATOMIC_ACQUIRE);
}

static void answer(struct cuda_answer *to, uint32_t number, enum cuda_command command) {
  to->command = (uint32_t)command;
  __atomic_store_n(&to->number, number, __ATOMIC_RELEASE);
}

static void cancel_all(struct pool *pool) {
  pool->cancelled = true;
  for (size_t i = 0; i < pool->wave_count; i++)
    __atomic_store_n(&pool->answers[i].cancel, 1, __ATOMIC_RELEASE);
}

static struct tutti_epoch epoch_of(const struct work *work, const struct cuda_report *report) {
  return (struct tutti_epoch){.size = sizeof(struct tutti_epoch),
                              .epoch = report->epoch,
                              .steps = report->steps,
                              .learning_rate = report->learning_rate,
                              .train_loss = report->train_loss,
                              .validation_loss = report->validation_loss,
                              .seconds = tutti_clock() - work->began};
}

static enum tutti_status fetch(struct pool *pool, struct work *work) {
  struct cpu_plan *plan = work->program.plan;
  CUDA_TRY(pool->context, cudaMemcpyAsync(plan->weights, work->memory + work->layout.kept, plan->floats * sizeof(float),
                                          cudaMemcpyDeviceToHost, pool->copies));
  CUDA_TRY(pool->context, cudaStreamSynchronize(pool->copies));
  return TUTTI_OK;
}

/* A job has ended by itself. */
static enum tutti_status finish(struct pool *pool, struct work *work, const struct cuda_report *report) {
  static const char *const what[] = {
      [CUDA_LOSS_DIVERGED] = "the loss", [CUDA_WEIGHTS_DIVERGED] = "the sum of squared weights"};
  struct tutti_outcome *outcome = work->outcome;
  struct tutti_epoch epoch = epoch_of(work, report);
  work->ended = true;
  outcome->epochs = report->epoch;
  outcome->steps = report->steps;
  outcome->best_epoch = report->best_epoch;
  outcome->value = report->train_loss; /* of a gradient */
  switch ((enum cuda_end)report->end) {
  case CUDA_CANCELLED:
    return TUTTI_FAIL(pool->context, TUTTI_ERROR_CANCELLED, "training was cancelled in epoch %u", report->epoch);
  case CUDA_LOSS_DIVERGED:
  case CUDA_EPOCH_DIVERGED:
  case CUDA_WEIGHTS_DIVERGED: {
    const char *name = report->end != CUDA_EPOCH_DIVERGED  ? what[report->end]
                       : rows_of(work->job.validation) > 0 ? "the validation loss"
                                                           : "the loss";
    outcome->state = TUTTI_STATE_FAILED;
    backend_cpu_say_diverged(work->job.config, &epoch, name, report->value, outcome);
    break;
  }
  default:
    outcome->state = report->end == CUDA_STOPPED ? TUTTI_STATE_PRUNED : TUTTI_STATE_FINISHED;
    TUTTI_TRY(pool->context, fetch(pool, work));
    TUTTI_TRY(pool->context, backend_cpu_weights_write(pool->context, work->program.plan, work->program.plan->weights,
                                                       work->task == CUDA_GRADIENT, &outcome->weights));
  }
  pool->done(pool->argument, work->index);
  return TUTTI_OK;
}

/* An epoch, or the end, of the job at this place of the wave. */
static enum tutti_status serve(struct pool *pool, size_t place) {
  struct work *work = pool->wave[place];
  const struct cuda_report *report = &pool->reports[place];
  struct tutti_epoch epoch = epoch_of(work, report);
  work->seen = number_of(report);
  if (report->end != CUDA_GOES_ON)
    return finish(pool, work, report);
  bool go_on = work->job.progress(work->job.progress_argument, &epoch);
  if (tutti_cancelled(pool->context))
    cancel_all(pool);
  answer(&pool->answers[place], work->seen, pool->cancelled ? CUDA_CANCEL : go_on ? CUDA_GO_ON : CUDA_STOP);
  return TUTTI_OK;
}

static enum tutti_status serve_news(struct pool *pool, bool *news, size_t *left) {
  *news = false;
  *left = 0;
  for (size_t i = 0; i < pool->wave_count; i++) {
    struct work *work = pool->wave[i];
    if (!work->ended && number_of(&pool->reports[i]) != work->seen) {
      *news = true;
      TUTTI_TRY(pool->context, serve(pool, i));
    }
    *left += !work->ended;
  }
  return TUTTI_OK;
}

/* A grid that is over although jobs of its class have not ended: a kernel failed. They fail with what the runtime says,
   and the others go on. */
static void look_for_failures(struct pool *pool) {
  for (size_t g = 0; g < pool->grid_count; g++) {
    char text[256];
    cudaError_t error = cudaStreamQuery(pool->grids[g].stream);
    if (error == cudaErrorNotReady)
      continue;
    (void)snprintf(text, sizeof text, "CUDA: the training kernel failed: %s (error %d)", cudaGetErrorString(error),
                   (int)error);
    for (size_t i = 0; i < pool->wave_count; i++) {
      struct work *work = pool->wave[i];
      if (work->class_of == g && !work->ended && number_of(&pool->reports[i]) == work->seen)
        fail(pool, work, text);
    }
  }
}

static void wait_a_little(void) {
  const struct timespec pause = {.tv_nsec = 50 * 1000};
  (void)nanosleep(&pause, NULL);
}

static enum tutti_status attend(struct pool *pool) {
  size_t left = pool->wave_count;
  while (left > 0) {
    bool news;
    TUTTI_TRY(pool->context, serve_news(pool, &news, &left));
    if (news)
      continue;
    if (tutti_cancelled(pool->context) && !pool->cancelled)
      cancel_all(pool);
    look_for_failures(pool);
    wait_a_little();
  }
  return TUTTI_OK;
}

/* Let the device come to its end, whatever it is at, and give back what it has. */
static void close_wave(struct pool *pool) {
  if (pool->answers)
    cancel_all(pool);
  for (size_t g = 0; g < pool->grid_count; g++) {
    struct grid *grid = &pool->grids[g];
    while (pool->answers && grid->stream && cudaStreamQuery(grid->stream) == cudaErrorNotReady) {
      for (size_t i = 0; i < pool->wave_count; i++)
        answer(&pool->answers[i], number_of(&pool->reports[i]), CUDA_CANCEL);
      wait_a_little();
    }
    if (grid->stream)
      (void)cudaStreamDestroy(grid->stream);
    (void)cudaFree(grid->jobs);
  }
  for (size_t i = 0; i < pool->wave_count; i++) {
    (void)cudaFree(pool->wave[i]->memory);
    pool->wave[i]->memory = NULL;
  }
  backend_cuda_data_release(&pool->data);
  if (pool->copies)
    (void)cudaStreamDestroy(pool->copies);
  if (pool->reports)
    (void)cudaFreeHost(pool->reports);
  if (pool->answers)
    (void)cudaFreeHost(pool->answers);
  tutti_free(pool->grids);
  pool->grids = NULL;
  pool->copies = NULL;
  pool->reports = NULL;
  pool->answers = NULL;
  pool->grid_count = 0;
}

static enum tutti_status run_wave(struct pool *pool) {
  pool->cancelled = false;
  enum tutti_status status = open_wave(pool);
  if (status == TUTTI_OK)
    status = attend(pool);
  close_wave(pool);
  return status;
}

/* --- waves --- */

/* The bytes of the job with those of its rows that are not in the wave already. */
static size_t need_of(const struct pool *pool, const struct work *work) {
  bool has_train = false, has_validation = !work->job.validation;
  for (size_t i = 0; i < pool->wave_count; i++) {
    has_train = has_train || pool->wave[i]->job.train == work->job.train;
    has_validation = has_validation || pool->wave[i]->job.validation == work->job.validation;
  }
  size_t need = work->bytes + 4096;
  if (!has_train)
    need += backend_cuda_split_bytes(work->job.train, true);
  if (!has_validation)
    need += backend_cuda_split_bytes(work->job.validation, true);
  return need;
}

/* The next jobs, as many as there is room for, at least one that fits. */
static enum tutti_status next_wave(struct pool *pool) {
  size_t room, total, used = 0;
  TUTTI_TRY(pool->context, backend_cuda_device_memory(pool->context, &room, &total));
  pool->wave_count = 0;
  for (size_t i = 0; i < pool->count; i++) {
    struct work *work = pool->works[i];
    if (work->ended)
      continue;
    size_t need = need_of(pool, work);
    if (used + need <= room) {
      used += need;
      pool->wave[pool->wave_count++] = work;
    }
  }
  for (size_t i = 0; i < pool->count && pool->wave_count == 0; i++)
    if (!pool->works[i]->ended) {
      char text[256];
      (void)snprintf(text, sizeof text,
                     "out of memory on the device: the network and its rows need %zu MiB, and %zu of %zu MiB are "
                     "free; lower batch_size, or take backend cpu",
                     (need_of(pool, pool->works[i]) >> 20) + 1, room >> 20, total >> 20);
      fail(pool, pool->works[i], text);
    }
  return TUTTI_OK;
}

static bool all_ended(const struct pool *pool) {
  for (size_t i = 0; i < pool->count; i++)
    if (!pool->works[i]->ended)
      return false;
  return true;
}

static int by_cost(const void *left, const void *right) {
  const struct work *a = *(struct work *const *)left, *b = *(struct work *const *)right;
  if (a->cost != b->cost)
    return a->cost > b->cost ? -1 : 1;
  return (a->index > b->index) - (a->index < b->index);
}

static enum tutti_status run_all(struct pool *pool) {
  enum tutti_status status = TUTTI_OK;
  qsort(pool->works, pool->count, sizeof(struct work *), by_cost);
  while (status == TUTTI_OK && !all_ended(pool)) {
    status = next_wave(pool);
    if (status == TUTTI_OK && pool->wave_count > 0)
      status = run_wave(pool);
  }
  return status;
}

/* A job that cannot be prepared fails by itself, and the others are trained. */
static void prepare_or_fail(struct pool *pool, struct work *work) {
  if (prepare(pool, work) == TUTTI_OK)
    return;
  fail(pool, work, tutti_error_message(pool->context));
  tutti_error_clear(pool->context);
}

enum tutti_status backend_cuda_train_many(tutti_context *context, const struct cuda_device *device, size_t count,
                                          const struct tutti_job *const *jobs, struct tutti_outcome *const *outcomes,
                                          void (*done)(void *argument, size_t index), void *argument) {
  struct pool pool = {.context = context, .device = device, .count = count, .done = done, .argument = argument};
  struct work *works = NULL;
  enum tutti_status status;
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *works, &works));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(struct work *), &pool.works));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof(struct work *), &pool.wave));
  for (size_t i = 0; i < count; i++) {
    struct work *work = pool.works[i] = &works[i];
    work->index = i;
    work->task = CUDA_TRAIN;
    TUTTI_TAKE(&work->job, jobs[i]);
    work->outcome = outcomes[i];
    work->outcome->weights = NULL;
    work->outcome->epochs = work->outcome->best_epoch = 0;
    work->outcome->steps = 0;
    if (count > 1)
      prepare_or_fail(&pool, work);
    else
      TUTTI_TRY_OUT(context, prepare(&pool, work));
  }
  TUTTI_TRY_OUT(context, run_all(&pool));
out:
  for (size_t i = 0; works && i < count; i++)
    backend_cuda_program_release(&works[i].program);
  tutti_free(pool.wave);
  tutti_free(pool.works);
  tutti_free(works);
  return status;
}

/* --- the gradient, and what a job needs --- */

static void nobody(void *argument, size_t index) { (void)argument, (void)index; }

/* The L2 terms of the loss, added to both. */
static void add_penalty(const struct cpu_plan *plan, const float *weights, float *gradient, double *loss) {
  for (size_t s = 0; s < plan->segment_count; s++) {
    const struct cpu_segment *segment = &plan->segments[s];
    for (size_t i = segment->offset; i < segment->offset + segment->rows * segment->ld; i++) {
      double w = (double)weights[i], decay = (double)segment->decay;
      *loss += 0.5 * decay * w * w;
      gradient[i] = (float)((double)gradient[i] + decay * w);
    }
  }
}

enum tutti_status backend_cuda_gradient(tutti_context *context, const struct cuda_device *device,
                                        const struct tutti_job *job, const tutti_tensors *weights, double *loss,
                                        tutti_tensors **gradient) {
  struct tutti_outcome outcome = {.size = sizeof outcome};
  struct work work = {.task = CUDA_GRADIENT, .job = *job, .outcome = &outcome}, *one = &work, *wave;
  struct pool pool = {.context = context, .device = device, .count = 1, .works = &one, .wave = &wave, .done = nobody};
  enum tutti_status status;
  float *start = NULL;
  *gradient = NULL;
  work.job.validation = NULL;
  work.job.progress = NULL;
  work.job.initial = weights;
  work.job.warm = false;
  TUTTI_TRY_OUT(context, prepare(&pool, &work));
  const struct cpu_plan *plan = work.program.plan;
  TUTTI_TRY_OUT(context, tutti_alloc(context, plan->floats, sizeof *start, &start));
  memcpy(start, plan->weights, plan->floats * sizeof *start);
  TUTTI_TRY_OUT(context, run_all(&pool));
  if (outcome.state == TUTTI_STATE_FAILED) {
    status = TUTTI_FAIL(context, TUTTI_ERROR_IO, "%s", outcome.failure);
    goto out;
  }
  *loss = outcome.value;
  add_penalty(plan, start, plan->weights, loss);
  status = backend_cpu_weights_write(context, plan, plan->weights, true, gradient);
out:
  tutti_tensors_destroy(outcome.weights);
  tutti_free(start);
  backend_cuda_program_release(&work.program);
  return status;
}

enum tutti_status backend_cuda_need(tutti_context *context, const struct cuda_device *device,
                                    const struct tutti_job *job, size_t *bytes) {
  struct pool pool = {.context = context, .device = device};
  struct work work = {.task = CUDA_TRAIN, .job = *job};
  work.job.initial = NULL;
  enum tutti_status status = prepare(&pool, &work);
  if (status == TUTTI_OK)
    *bytes = need_of(&pool, &work);
  backend_cuda_program_release(&work.program);
  return status;
}
