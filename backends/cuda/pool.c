/* pool.c - many trainings at once. Jobs are prepared on the host, and wait, the longest first, for a block that they
   fit and for memory. While they train, the host waits for reports in memory that it shares with the device, calls
   back, and answers; and asks for more jobs as some end. */
#include "pool_impl.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <tutti/clock.h>
#include <tutti/sized.h>

/* --- one job --- */

void backend_cuda_wait(void) {
  const struct timespec pause = {.tv_nsec = 50 * 1000};
  (void)nanosleep(&pause, NULL);
}

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

static enum tutti_status prepare(tutti_context *context, const struct cuda_device *device, struct cuda_work *work) {
  const struct cpu_config *config = work->job.config;
  size_t rows = rows_of(work->job.train);
  TUTTI_TRY(context, backend_cuda_lower(context, device, &work->job, rows_at_once(&work->job, work->task), true, NULL,
                                        &work->program));
  work->layout = backend_cuda_layout(&work->program, rows);
  work->cost = (double)config->epochs * (double)rows * (double)(work->program.plan->trained + 1);
  return TUTTI_OK;
}

static struct cuda_job job_of(const struct cuda_work *work) {
  const struct tutti_job *job = &work->job;
  const struct cpu_config *config = job->config;
  size_t plan_rows = work->program.plan->rows;
  struct tutti_random orders, dropout, points;
  uint64_t seed = backend_cpu_shared_seed(config, job);
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

/* It has failed, for this reason. */
static void fail(struct cuda_work *work, const char *text) {
  work->ended = true;
  work->outcome->state = TUTTI_STATE_FAILED;
  (void)snprintf(work->outcome->failure, sizeof work->outcome->failure, "%s", text);
}

static void destroy(struct cuda_work *work) {
  backend_cuda_program_release(&work->program);
  tutti_free(work);
}

/* --- its memory --- */

static const tutti_split *validation_of(const struct cuda_work *work) {
  return work->task == CUDA_TRAIN && rows_of(work->job.validation) > 0 ? work->job.validation : NULL;
}

/* The bytes that it takes of the device's memory, with those of its rows that are not there. */
static size_t need_of(const struct cuda_shelf *data, const struct cuda_work *work) {
  const struct cuda_selection train = backend_cuda_whole(work->job.train),
                              validation = backend_cuda_whole(validation_of(work));
  return work->layout.bytes + 4096 + backend_cuda_rows_missing(data, &train) +
         backend_cuda_rows_missing(data, &validation);
}

/* Give back what it has of the device's memory. What it has come to lies in the host's. */
static void leave_device(struct cuda_pool *pool, struct cuda_work *work) {
  backend_cuda_rows_leave(&pool->data, &pool->memory, work->train);
  backend_cuda_rows_leave(&pool->data, &pool->memory, work->validation);
  backend_cuda_arena_give(&pool->memory, work->memory);
  work->train = work->validation = NULL;
  work->memory = NULL;
}

static void unload(struct cuda_pool *pool, struct cuda_work *work) {
  leave_device(pool, work);
  backend_cuda_arena_give(&pool->host, work->staged);
  work->staged = NULL;
}

static enum tutti_status load(struct cuda_pool *pool, struct cuda_work *work) {
  tutti_context *context = pool->context;
  const struct cuda_selection train = backend_cuda_whole(work->job.train),
                              validation = backend_cuda_whole(validation_of(work));
  size_t reports = work->layout.copied, answers = reports + sizeof *work->report;
  /* Rows, which often take little, ask for a piece of memory, and leave that much less for what is taken behind them:
     so they come last. */
  TUTTI_TRY(context, backend_cuda_arena_take(context, &pool->memory, work->layout.bytes, &work->memory));
  TUTTI_TRY(context, backend_cuda_rows_use(context, &pool->data, &pool->memory, &train, pool->copies, &work->train));
  if (validation.split)
    TUTTI_TRY(context,
              backend_cuda_rows_use(context, &pool->data, &pool->memory, &validation, pool->copies, &work->validation));
  TUTTI_TRY(context, backend_cuda_arena_take(context, &pool->host, answers + sizeof *work->answer, &work->staged));
  struct cuda_job job = job_of(work);
  job.train = work->train->rows;
  if (work->validation)
    job.validation = work->validation->rows;
  char *there = work->staged->device;
  work->report = (struct cuda_report *)(void *)(work->staged->at + reports);
  work->answer = (struct cuda_answer *)(void *)(work->staged->at + answers);
  memset(work->report, 0, sizeof *work->report);
  memset(work->answer, 0, sizeof *work->answer);
  job.report = (struct cuda_report *)(void *)(there + reports);
  job.answer = (struct cuda_answer *)(void *)(there + answers);
  job.result = (float *)(void *)(there + work->layout.kept);
  backend_cuda_place(&work->program, &work->layout, &job, work->memory->device);
  backend_cuda_stage(&work->program, &work->layout, &job, work->staged->at);
  work->seen = 0;
  work->began = tutti_clock();
  return TUTTI_OK;
}

/* --- jobs that wait --- */

static void enqueue(struct cuda_pool *pool, struct cuda_work *work) {
  struct cuda_work **place = &pool->waiting;
  while (*place && (*place)->cost >= work->cost)
    place = &(*place)->next;
  work->next = *place;
  *place = work;
}

static enum tutti_status begin_work(struct cuda_pool *pool, struct cuda_work *work) {
  work->outcome->weights = NULL;
  work->outcome->epochs = work->outcome->best_epoch = 0;
  work->outcome->steps = 0;
  if (pool->check)
    TUTTI_TRY(pool->context, pool->check(pool->self, pool->context, &work->job));
  return prepare(pool->context, pool->grids.device, work);
}

/* Take the jobs that the queue has. One that cannot be trained fails by itself. */
static enum tutti_status take_new(struct cuda_pool *pool) {
  const struct tutti_job *job;
  struct tutti_outcome *outcome;
  size_t number;
  pool->asked = tutti_clock();
  while (!pool->lost[0] && pool->queue->next(pool->queue->argument, &job, &outcome, &number)) {
    struct cuda_work *work;
    TUTTI_TRY(pool->context, tutti_alloc(pool->context, 1, sizeof *work, &work));
    TUTTI_TAKE(&work->job, job);
    work->outcome = outcome;
    work->number = number;
    work->task = pool->task;
    pool->changed = true;
    if (begin_work(pool, work) == TUTTI_OK) {
      enqueue(pool, work);
      continue;
    }
    fail(work, tutti_error_message(pool->context));
    tutti_error_clear(pool->context);
    pool->queue->done(pool->queue->argument, number);
    destroy(work);
  }
  return TUTTI_OK;
}

/* How many wait for blocks like these? */
static uint32_t waiting_like(const struct cuda_pool *pool, const struct cuda_fit *fit) {
  uint32_t count = 0;
  for (const struct cuda_work *work = pool->waiting; work; work = work->next)
    count += work->program.fit.workers == fit->workers && work->program.fit.shared == fit->shared;
  return count;
}

/* A block for it: one that waits, or a new one, for which those that wait for others make room. */
static enum tutti_status find_seat(struct cuda_pool *pool, const struct cuda_work *work, struct cuda_grid **grid,
                                   uint32_t *seat) {
  const struct cuda_fit *fit = &work->program.fit;
  *seat = 0;
  for (int tries = 0; tries < 2; tries++) {
    if (backend_cuda_grid_idle(&pool->grids, fit, grid, seat))
      return TUTTI_OK;
    TUTTI_TRY(pool->context, backend_cuda_grid_start(pool->context, &pool->grids, fit, waiting_like(pool, fit), grid));
    if (*grid)
      return TUTTI_OK;
    backend_cuda_grids_end_idle(&pool->grids);
  }
  return TUTTI_OK;
}

/* Give a job to a block, if there is one, and memory. Its weights are made only now, while those before it train. */
static enum tutti_status place(struct cuda_pool *pool, struct cuda_work *work, bool *placed) {
  struct cuda_grid *grid = NULL;
  uint32_t seat;
  *placed = false;
  TUTTI_TRY(pool->context, find_seat(pool, work, &grid, &seat));
  if (!grid)
    return TUTTI_OK;
  if (backend_cpu_weights_begin(pool->context, work->program.plan, &work->job) != TUTTI_OK) {
    fail(work, tutti_error_message(pool->context));
    tutti_error_clear(pool->context);
    *placed = true;
    return TUTTI_OK;
  }
  enum tutti_status status = load(pool, work);
  if (status != TUTTI_OK) {
    unload(pool, work);
    if (status == TUTTI_ERROR_MEMORY) { /* until another one ends */
      tutti_error_clear(pool->context);
      status = TUTTI_OK;
    }
    return status;
  }
  backend_cuda_grid_give(grid, seat, work, work->staged->device, work->memory->device, work->layout.copied);
  *placed = true;
  pool->tidy = false;
  return TUTTI_OK;
}

static enum tutti_status place_waiting(struct cuda_pool *pool) {
  for (struct cuda_work **from = &pool->waiting; *from;) {
    struct cuda_work *work = *from;
    bool placed;
    TUTTI_TRY(pool->context, place(pool, work, &placed));
    if (!placed) {
      from = &work->next;
      continue;
    }
    *from = work->next;
    work->next = pool->working;
    pool->working = work;
    backend_cuda_pool_answer(pool); /* a block waits for nothing but this */
  }
  return TUTTI_OK;
}

static bool all_over(const struct cuda_grids *grids) {
  for (const struct cuda_grid *grid = grids->first; grid; grid = grid->next)
    if (grid->stream && cudaStreamQuery(grid->stream) == cudaErrorNotReady)
      return false;
  return true;
}

/* Nothing is at work: give all memory back, so that it is no longer in pieces. False: that did not help, or there is
   none. */
static bool tidy(struct cuda_pool *pool) {
  if (!pool->memory.regions || pool->tidy)
    return false;
  pool->tidy = true;
  backend_cuda_grids_end_idle(&pool->grids);
  while (!all_over(&pool->grids))
    backend_cuda_wait();
  backend_cuda_grids_clear(&pool->grids, true);
  backend_cuda_arena_release(&pool->memory);
  pool->changed = true;
  return true;
}

/* Nothing is at work, and yet the first that waits finds no memory: it never will. */
static void give_up_first(struct cuda_pool *pool) {
  struct cuda_work *work = pool->waiting;
  char text[256];
  backend_cuda_say_full(text, sizeof text, "the network and its rows", need_of(&pool->data, work),
                        backend_cuda_arena_unused(&pool->memory), "lower batch_size, or take backend cpu");
  pool->waiting = work->next;
  work->next = pool->working;
  pool->working = work;
  fail(work, text);
}

/* --- talking to the device --- */

static uint32_t number_of(const struct cuda_report *report) {
  return __atomic_load_n(&report->number, __ATOMIC_ACQUIRE);
}

/* It has told its end, which nobody has looked at yet. */
static bool has_told_end(const struct cuda_work *work) {
  return number_of(work->report) != work->seen && work->report->end != CUDA_GOES_ON;
}

static void answer(struct cuda_answer *to, uint32_t number, enum cuda_command command) {
  to->command = (uint32_t)command;
  __atomic_store_n(&to->number, number, __ATOMIC_RELEASE);
}

static void cancel_all(struct cuda_pool *pool) {
  pool->cancelled = true;
  for (struct cuda_work *work = pool->working; work; work = work->next)
    if (work->answer)
      __atomic_store_n(&work->answer->cancel, 1, __ATOMIC_RELEASE);
}

static struct tutti_epoch epoch_of(const struct cuda_work *work, const struct cuda_report *report) {
  return (struct tutti_epoch){.size = sizeof(struct tutti_epoch),
                              .epoch = report->epoch,
                              .steps = report->steps,
                              .learning_rate = report->learning_rate,
                              .train_loss = report->train_loss,
                              .validation_loss = report->validation_loss,
                              .seconds = tutti_clock() - work->began};
}

void backend_cuda_add_penalty(const struct cpu_plan *plan, float *gradient, double *loss) {
  for (size_t s = 0; s < plan->segment_count; s++) {
    const struct cpu_segment *segment = &plan->segments[s];
    double decay = (double)segment->decay;
    for (size_t i = segment->offset; i < segment->offset + segment->rows * segment->ld; i++) {
      double w = (double)plan->weights[i];
      *loss += 0.5 * decay * w * w;
      gradient[i] = (float)((double)gradient[i] + decay * w);
    }
  }
}

/* Weights, or a gradient, are where the block has left them. */
static enum tutti_status take_result(tutti_context *context, const struct cuda_work *work) {
  const struct cpu_plan *plan = work->program.plan;
  float *result = (float *)(void *)(work->staged->at + work->layout.kept);
  if (work->task == CUDA_GRADIENT)
    backend_cuda_add_penalty(plan, result, &work->outcome->value);
  return backend_cpu_weights_write(context, plan, result, work->task == CUDA_GRADIENT, &work->outcome->weights);
}

/* It has ended by itself. */
static enum tutti_status finish(struct cuda_pool *pool, struct cuda_work *work, const struct cuda_report *report) {
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
    const char *name = report->end != CUDA_EPOCH_DIVERGED ? what[report->end]
                       : validation_of(work)              ? "the validation loss"
                                                          : "the loss";
    outcome->state = TUTTI_STATE_FAILED;
    backend_cpu_say_diverged(work->job.config, &epoch, name, report->value, outcome);
    return TUTTI_OK;
  }
  default:
    outcome->state = report->end == CUDA_STOPPED ? TUTTI_STATE_PRUNED : TUTTI_STATE_FINISHED;
    return take_result(pool->context, work);
  }
}

/* Answer an epoch's report, unless it is none, or the last. */
static bool answer_epoch(struct cuda_pool *pool, struct cuda_work *work) {
  const struct cuda_report *report = work->report;
  if (work->ended || number_of(report) == work->seen || report->end != CUDA_GOES_ON)
    return false;
  struct tutti_epoch epoch = epoch_of(work, report);
  work->seen = number_of(report);
  bool go_on = work->job.progress(work->job.progress_argument, &epoch);
  if (tutti_cancelled(pool->context))
    cancel_all(pool);
  answer(work->answer, work->seen, pool->cancelled ? CUDA_CANCEL : go_on ? CUDA_GO_ON : CUDA_STOP);
  return true;
}

void backend_cuda_pool_answer(struct cuda_pool *pool) {
  for (struct cuda_work *work = pool->working; work; work = work->next)
    (void)answer_epoch(pool, work);
}

static enum tutti_status serve_news(struct cuda_pool *pool, bool *news) {
  *news = false;
  for (struct cuda_work *work = pool->working; work; work = work->next) {
    if (work->ended)
      continue;
    *news = answer_epoch(pool, work) || *news;
    if (has_told_end(work)) {
      work->seen = number_of(work->report);
      TUTTI_TRY(pool->context, finish(pool, work, work->report));
    }
  }
  return TUTTI_OK;
}

static void leave_seat(struct cuda_pool *pool, const struct cuda_work *work) {
  for (struct cuda_grid *grid = pool->grids.first; grid; grid = grid->next)
    for (uint32_t i = 0; i < grid->blocks; i++)
      if (grid->seats[i].work == work)
        grid->seats[i].work = NULL;
}

/* Those that have ended leave, and the caller is told. It may ask for predictions meanwhile. */
static bool dismiss_ended(struct cuda_pool *pool) {
  bool some = false;
  for (struct cuda_work **from = &pool->working; *from;) {
    struct cuda_work *work = *from;
    if (!work->ended) {
      from = &work->next;
      continue;
    }
    *from = work->next;
    leave_seat(pool, work);
    unload(pool, work);
    pool->queue->done(pool->queue->argument, work->number);
    destroy(work);
    pool->changed = some = true;
    from = &pool->working;
  }
  return some;
}

/* --- failures --- */

/* A grid is over although blocks of it have jobs: they fail with what the runtime says, and the others go on if the
   device does. */
static void fail_grid(struct cuda_pool *pool, struct cuda_grid *grid, cudaError_t error) {
  char text[256];
  size_t room, total;
  (void)snprintf(text, sizeof text, "CUDA: the training kernel failed: %s (error %d)", cudaGetErrorString(error),
                 (int)error);
  for (uint32_t i = 0; i < grid->blocks; i++) {
    struct cuda_work *work = grid->seats[i].work;
    /* One that has told its end is well; one that has told of an epoch since it was looked at waits for an answer. */
    if (work && !work->ended && (number_of(work->report) == work->seen || work->report->end == CUDA_GOES_ON))
      fail(work, text);
    grid->seats[i].ended = true;
  }
  grid->live = 0;
  if (error != cudaSuccess && cudaMemGetInfo(&room, &total) != cudaSuccess)
    (void)snprintf(pool->lost, sizeof pool->lost, "%s", text);
}

void backend_cuda_pool_look(struct cuda_pool *pool) {
  for (struct cuda_grid *grid = pool->grids.first; grid; grid = grid->next) {
    cudaError_t error = grid->live > 0 ? cudaStreamQuery(grid->stream) : cudaErrorNotReady;
    if (error != cudaErrorNotReady)
      fail_grid(pool, grid, error);
  }
}

/* --- a pool --- */

/* A block that has a job and has not begun waits for room: those that have none make it. */
static void make_room(struct cuda_pool *pool) {
  bool all = true;
  for (const struct cuda_work *work = pool->working; work; work = work->next)
    all = all && (work->ended || __atomic_load_n(&work->report->begun, __ATOMIC_ACQUIRE));
  if (!all)
    backend_cuda_grids_end_idle(&pool->grids);
  backend_cuda_grids_clear(&pool->grids, false);
}

enum tutti_status backend_cuda_wait_for_memory(struct cuda_pool *pool, bool *some) {
  for (bool waits = true; waits;) {
    *some = waits = false;
    for (struct cuda_work *work = pool->working; work; work = work->next) {
      if (!work->memory)
        continue;
      bool over = work->ended || has_told_end(work);
      if (over)
        leave_device(pool, work);
      *some = *some || over;
      waits = waits || !over;
    }
    if (*some || pool->lost[0])
      return TUTTI_OK;
    if (tutti_cancelled(pool->context))
      return TUTTI_FAIL(pool->context, TUTTI_ERROR_CANCELLED, "cancelled, while predictions waited for memory");
    backend_cuda_pool_answer(pool);
    backend_cuda_pool_look(pool);
    make_room(pool);
    backend_cuda_wait();
  }
  return TUTTI_OK;
}

/* The device is lost: the jobs that wait, too. */
static void fail_waiting(struct cuda_pool *pool) {
  for (struct cuda_work *work = pool->waiting, *next; work; work = next) {
    next = work->next;
    work->next = pool->working;
    pool->working = work;
    fail(work, pool->lost);
  }
  pool->waiting = NULL;
}

static enum tutti_status attend(struct cuda_pool *pool) {
  static const double ask_again = 0.01; /* seconds, for a queue that gets jobs though none has ended */
  for (;;) {
    bool news;
    if (pool->changed || tutti_clock() - pool->asked > ask_again)
      TUTTI_TRY(pool->context, take_new(pool));
    if (pool->lost[0] && !pool->ends_process)
      fail_waiting(pool);
    else if (pool->changed && !pool->lost[0])
      TUTTI_TRY(pool->context, place_waiting(pool));
    pool->changed = false;
    bool stuck = !pool->working && pool->waiting && !pool->lost[0];
    if (stuck && tidy(pool))
      continue;
    if (stuck)
      give_up_first(pool);
    if (!pool->working)
      break;
    TUTTI_TRY(pool->context, serve_news(pool, &news));
    if (dismiss_ended(pool) || news)
      continue;
    if (tutti_cancelled(pool->context) && !pool->cancelled)
      cancel_all(pool);
    backend_cuda_pool_look(pool);
    make_room(pool);
    backend_cuda_wait();
  }
  return pool->lost[0] && pool->ends_process ? TUTTI_FAIL(pool->context, TUTTI_ERROR_IO, "%s", pool->lost) : TUTTI_OK;
}

/* Let the device come to its end, whatever it is at. */
static void stop_all(struct cuda_pool *pool) {
  cancel_all(pool);
  while (!all_over(&pool->grids)) {
    for (struct cuda_work *work = pool->working; work; work = work->next) {
      if (work->ended || number_of(work->report) == work->seen) {
        if (work->ended)
          leave_seat(pool, work);
        continue;
      }
      work->seen = number_of(work->report);
      work->ended = work->report->end != CUDA_GOES_ON;
      if (!work->ended)
        answer(work->answer, work->seen, CUDA_CANCEL);
    }
    backend_cuda_grids_end_idle(&pool->grids);
    backend_cuda_wait();
  }
}

static void close_pool(struct cuda_pool *pool) {
  struct cuda_work *const lists[] = {pool->working, pool->waiting};
  stop_all(pool);
  backend_cuda_grids_clear(&pool->grids, true);
  for (size_t i = 0; i < 2; i++)
    for (struct cuda_work *work = lists[i], *next; work; work = next) {
      next = work->next;
      unload(pool, work);
      destroy(work);
    }
  if (pool->copies)
    (void)cudaStreamDestroy(pool->copies);
  backend_cuda_arena_release(&pool->memory);
  backend_cuda_arena_release(&pool->host);
}

static enum tutti_status run(struct cuda_pool *pool, struct cuda_device *device) {
  enum tutti_status status;
  pool->memory.piece = (size_t)64 << 20; /* asking takes as long as some steps of a network */
  pool->host = (struct cuda_arena){.piece = (size_t)16 << 20, .mapped = true};
  pool->grids = (struct cuda_grids){.device = device, .host = &pool->host};
  pool->changed = true;
  CUDA_TRY_OUT(pool->context, cudaStreamCreateWithFlags(&pool->copies, cudaStreamNonBlocking));
  TUTTI_TRY_OUT(pool->context, backend_cuda_arena_prepare(pool->context, &pool->memory));
  TUTTI_TRY_OUT(pool->context, backend_cuda_arena_prepare(pool->context, &pool->host));
  device->pool = pool;
  TUTTI_TRY_OUT(pool->context, attend(pool));
out:
  close_pool(pool);
  device->pool = NULL;
  return status;
}

enum tutti_status backend_cuda_train(tutti_context *context, struct cuda_device *device,
                                     const struct tutti_job_queue *queue, const struct cuda_training *how) {
  struct cuda_pool pool = {.context = context,
                           .queue = queue,
                           .check = how->check,
                           .self = how->self,
                           .ends_process = how->ends_process,
                           .task = CUDA_TRAIN};
  TUTTI_TRY(context, backend_cuda_device_open(context, device));
  return run(&pool, device);
}

/* --- the gradient, and what a job needs --- */

/* A queue of one job. */
struct single {
  struct tutti_job job;
  struct tutti_outcome outcome;
  bool given;
};

static bool next_single(void *argument, const struct tutti_job **job, struct tutti_outcome **outcome, size_t *number) {
  struct single *single = argument;
  *job = &single->job;
  *outcome = &single->outcome;
  *number = 0;
  bool first = !single->given;
  single->given = true;
  return first;
}

static void nobody(void *argument, size_t index) { (void)argument, (void)index; }

enum tutti_status backend_cuda_gradient(tutti_context *context, struct cuda_device *device, const struct tutti_job *job,
                                        const tutti_tensors *weights, double *loss, tutti_tensors **gradient) {
  struct single single = {.job = *job, .outcome.size = sizeof single.outcome};
  const struct tutti_job_queue queue = {sizeof queue, &single, next_single, nobody};
  struct cuda_pool pool = {.context = context, .queue = &queue, .task = CUDA_GRADIENT};
  *gradient = NULL;
  single.job.initial = weights;
  single.job.warm = false;
  single.job.validation = NULL;
  single.job.progress = NULL;
  TUTTI_TRY(context, backend_cuda_device_open(context, device));
  TUTTI_TRY(context, run(&pool, device));
  if (single.outcome.state == TUTTI_STATE_FAILED)
    return TUTTI_FAIL(context, TUTTI_ERROR_IO, "%s", single.outcome.failure);
  *loss = single.outcome.value;
  *gradient = single.outcome.weights;
  return TUTTI_OK;
}

enum tutti_status backend_cuda_need(tutti_context *context, const struct cuda_device *device,
                                    const struct tutti_job *job, size_t *bytes) {
  const struct cuda_shelf none = {0};
  struct cuda_work work = {.task = CUDA_TRAIN, .job = *job};
  work.job.initial = NULL;
  enum tutti_status status = prepare(context, device, &work);
  if (status == TUTTI_OK)
    *bytes = need_of(&none, &work);
  backend_cuda_program_release(&work.program);
  return status;
}
