/* stream_trials.c - networks of images, many at once, from a queue. Each has a lane: a stream of its own, on which
   it puts
   some steps ahead. As many train as there are lanes and the device's memory has room for; when one ends, the next
   begins. */
#include "stream_trials_impl.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <tutti/clock.h>
#include <tutti/sized.h>

enum { STREAM_LANES = 16 };

struct stream_trials {
  tutti_context *context;
  const struct cuda_device *device;
  const struct tutti_job_queue *queue;
  const struct cuda_training *how;
  struct stream_memory memory;
  struct stream_lane lanes[STREAM_LANES], question;
  struct stream_trial *waiting; /* for memory; NULL: nobody */
  struct cuda_held *leaving[2]; /* rows of one that has ended, which its predictions may be about */
  bool room;                    /* some memory was given back since it began to wait */
  bool asks;                    /* the queue may have more */
  double asked;                 /* the clock when it was asked last */
  char lost[256];               /* why the device is lost; empty: it is not */
};

bool backend_cuda_stream_is_built(void) { return true; }

size_t backend_cuda_stream_capacity(void) { return STREAM_LANES; }

struct stream_memory *backend_cuda_stream_memory(struct stream_trials *pool) {
  return &pool->memory;
}

/* --- lanes --- */

enum tutti_status backend_cuda_lane_open(tutti_context *context, struct stream_lane *lane) {
  if (!lane->stream)
    CUDA_TRY(context, cudaStreamCreateWithFlags(&lane->stream, cudaStreamNonBlocking));
  if (!lane->library)
    TUTTI_TRY(context, backend_cuda_library_open(context, lane->stream, &lane->library));
  return TUTTI_OK;
}

void backend_cuda_lane_close(struct stream_lane *lane) {
  if (lane->stream)
    (void)cudaStreamSynchronize(lane->stream);
  backend_cuda_library_close(lane->library);
  if (lane->stream)
    (void)cudaStreamDestroy(lane->stream);
  lane->library = NULL;
  lane->stream = NULL;
}

static const struct stream_trial *first_trial(const struct stream_trials *pool) {
  for (size_t i = 0; i < STREAM_LANES; i++)
    if (pool->lanes[i].trial)
      return pool->lanes[i].trial;
  return NULL;
}

/* --- trials --- */

/* Something failed, and this is why: is the device lost with it? */
static void look_at_device(struct stream_trials *pool, const char *text) {
  size_t room, total;
  if (!pool->lost[0] && cudaMemGetInfo(&room, &total) != cudaSuccess)
    (void)snprintf(pool->lost, sizeof pool->lost, "%s", text);
}

static bool leave_rows(struct stream_trials *pool) {
  bool some = pool->leaving[0] || pool->leaving[1];
  for (size_t i = 0; i < 2; i++) {
    backend_cuda_rows_leave(&pool->memory.data, &pool->memory.device, pool->leaving[i]);
    pool->leaving[i] = NULL;
  }
  return some;
}

/* It has ended. Its memory is there for what the caller asks meanwhile; its rows stay, as these questions may be
   about them, unless they want that memory, too. */
static void dismiss(struct stream_trials *pool, struct stream_trial *trial) {
  pool->leaving[0] = trial->train_rows;
  pool->leaving[1] = trial->validation_rows;
  trial->train_rows = trial->validation_rows = NULL;
  backend_cuda_trial_unload(&pool->memory, trial);
  pool->queue->done(pool->queue->argument, trial->number);
  (void)leave_rows(pool);
  backend_cuda_trial_destroy(trial);
  pool->asks = pool->room = true;
}

/* The context's error is its failure. */
static void fail_by_error(struct stream_trials *pool, struct stream_trial *trial) {
  backend_cuda_trial_fail(trial, tutti_error_message(pool->context));
  tutti_error_clear(pool->context);
  look_at_device(pool, trial->outcome->failure);
}

/* The next job of the queue; NULL: it has none. */
static enum tutti_status take_next(struct stream_trials *pool, struct stream_trial **made) {
  const struct tutti_job *job;
  struct tutti_outcome *outcome;
  size_t number;
  *made = NULL;
  pool->asked = tutti_clock();
  pool->asks = pool->queue->next(pool->queue->argument, &job, &outcome, &number);
  if (!pool->asks)
    return TUTTI_OK;
  outcome->weights = NULL;
  outcome->epochs = outcome->best_epoch = 0;
  outcome->steps = 0;
  TUTTI_TRY(pool->context, tutti_alloc(pool->context, 1, sizeof **made, made));
  TUTTI_TAKE(&(*made)->job, job);
  (*made)->number = number;
  (*made)->outcome = outcome;
  (*made)->config = (*made)->job.config;
  return TUTTI_OK;
}

static enum tutti_status load(struct stream_trials *pool, struct stream_lane *lane, struct stream_trial *trial) {
  TUTTI_TRY(pool->context, backend_cuda_lane_open(pool->context, lane));
  if (!trial->program.plan)
    TUTTI_TRY(pool->context, backend_cuda_trial_lower(pool->context, lane->library, trial));
  return backend_cuda_trial_load(pool->context, pool->device, &pool->memory, lane, trial);
}

/* No memory, although nothing is at work. */
static void give_up(struct stream_trials *pool, struct stream_trial *trial) {
  char text[256];
  tutti_error_clear(pool->context);
  backend_cuda_arena_release(&pool->memory.device); /* all of it is free */
  backend_cuda_say_full(text, sizeof text, "the network and its rows",
                        backend_cuda_trial_need(&pool->memory.data, trial), 0, "lower batch_size, or take backend cpu");
  backend_cuda_trial_fail(trial, text);
  look_at_device(pool, text);
  dismiss(pool, trial);
}

/* Begin a trial on this lane. Where memory is short, it waits until another one has ended. */
static void begin_on_lane(struct stream_trials *pool, struct stream_lane *lane, struct stream_trial *trial) {
  enum tutti_status status = load(pool, lane, trial);
  if (status == TUTTI_OK) {
    lane->trial = trial;
    return;
  }
  if (lane->stream)
    (void)cudaStreamSynchronize(lane->stream);
  backend_cuda_trial_unload(&pool->memory, trial);
  if (status == TUTTI_ERROR_MEMORY && first_trial(pool)) {
    tutti_error_clear(pool->context);
    pool->waiting = trial;
    pool->room = false;
  } else if (status == TUTTI_ERROR_MEMORY && trial->program.plan) {
    give_up(pool, trial);
  } else {
    fail_by_error(pool, trial);
    dismiss(pool, trial);
  }
}

/* A lane that is free, and whose libraries have their memory; NULL: there is none. */
static struct stream_lane *find_open_lane(struct stream_trials *pool) {
  for (size_t i = 0; i < STREAM_LANES; i++)
    if (!pool->lanes[i].trial && pool->lanes[i].library)
      return &pool->lanes[i];
  return NULL;
}

struct stream_lane *backend_cuda_stream_question_lane(struct stream_trials *pool) {
  struct stream_lane *open = find_open_lane(pool);
  return open ? open : &pool->question;
}

/* Something for a free lane. */
static enum tutti_status fill(struct stream_trials *pool, struct stream_lane *lane) {
  struct stream_trial *trial = pool->waiting;
  if (trial && (!pool->room || (!lane->library && find_open_lane(pool))))
    return TUTTI_OK;
  pool->waiting = NULL;
  if (trial) {
    begin_on_lane(pool, lane, trial);
    return TUTTI_OK;
  }
  if (pool->asks)
    TUTTI_TRY(pool->context, take_next(pool, &trial));
  if (trial && pool->how->check && pool->how->check(pool->how->self, pool->context, &trial->job) != TUTTI_OK) {
    fail_by_error(pool, trial);
    dismiss(pool, trial);
  } else if (trial) {
    begin_on_lane(pool, lane, trial);
  }
  return TUTTI_OK;
}

/* Go on with the trial of a lane, unless its stream has work (*busy), or it has ended. */
static enum tutti_status advance(struct stream_trials *pool, struct stream_lane *lane, bool *busy) {
  struct stream_trial *trial = lane->trial;
  *busy = false;
  if (trial->phase == STREAM_ENDED)
    return TUTTI_OK;
  cudaError_t error = cudaStreamQuery(lane->stream);
  enum tutti_status status;
  *busy = error == cudaErrorNotReady;
  if (*busy)
    return TUTTI_OK;
  if (error != cudaSuccess)
    status = TUTTI_FAIL(pool->context, TUTTI_ERROR_IO, "CUDA: the training kernel failed: %s (error %d)",
                        cudaGetErrorString(error), (int)error);
  else
    status = backend_cuda_trial_go_on(trial);
  if (status == TUTTI_OK || status == TUTTI_ERROR_CANCELLED)
    return status;
  backend_cuda_lane_close(lane); /* a stream that failed stays so */
  fail_by_error(pool, trial);
  return TUTTI_OK;
}

/* Look after a lane that has a trial. */
static enum tutti_status attend_lane(struct stream_trials *pool, struct stream_lane *lane, bool *busy) {
  struct stream_trial *trial = lane->trial;
  TUTTI_TRY(pool->context, advance(pool, lane, busy));
  if (trial->phase != STREAM_ENDED)
    return TUTTI_OK;
  lane->trial = NULL;
  dismiss(pool, trial);
  return TUTTI_OK;
}

static enum tutti_status cancelled(const struct stream_trials *pool) {
  const struct stream_trial *first = first_trial(pool);
  return TUTTI_FAIL(pool->context, TUTTI_ERROR_CANCELLED, "training was cancelled in epoch %u",
                    first ? first->epoch.epoch : 1);
}

static void pause_shortly(void) {
  const struct timespec pause = {.tv_nsec = 20 * 1000};
  (void)nanosleep(&pause, NULL);
}

/* One of those that have ended leaves later, when it is attended to. */
enum tutti_status backend_cuda_images_wait_for_memory(struct stream_trials *pool, bool *some) {
  *some = leave_rows(pool);
  for (bool waits = true; waits && !*some && !pool->lost[0]; pause_shortly()) {
    waits = false;
    if (tutti_cancelled(pool->context))
      return cancelled(pool);
    for (size_t i = 0; i < STREAM_LANES; i++) {
      struct stream_trial *trial = pool->lanes[i].trial;
      bool busy;
      if (!trial || !trial->memory)
        continue;
      TUTTI_TRY(pool->context, advance(pool, &pool->lanes[i], &busy));
      if (trial->phase == STREAM_ENDED)
        backend_cuda_trial_unload(&pool->memory, trial);
      *some = *some || trial->phase == STREAM_ENDED;
      waits = true;
    }
  }
  return TUTTI_OK;
}

/* --- the pool --- */

/* The device is lost: what trains has failed with it. What waits is left for another process, or fails, too. */
static enum tutti_status lose_all(struct stream_trials *pool) {
  struct stream_trial *trial = pool->waiting;
  for (size_t i = 0; i < STREAM_LANES; i++)
    if (pool->lanes[i].trial) {
      struct stream_trial *at_work = pool->lanes[i].trial;
      backend_cuda_lane_close(&pool->lanes[i]);
      pool->lanes[i].trial = NULL;
      if (at_work->phase != STREAM_ENDED)
        backend_cuda_trial_fail(at_work, pool->lost);
      dismiss(pool, at_work);
    }
  if (pool->how->ends_process)
    return TUTTI_FAIL(pool->context, TUTTI_ERROR_IO, "%s", pool->lost);
  pool->waiting = NULL;
  do {
    if (trial) {
      backend_cuda_trial_fail(trial, pool->lost);
      dismiss(pool, trial);
    }
    TUTTI_TRY(pool->context, take_next(pool, &trial));
  } while (trial);
  return TUTTI_OK;
}

static enum tutti_status attend(struct stream_trials *pool) {
  static const double ask_again = 0.01; /* seconds, for a queue that gets jobs though none has ended */
  for (;;) {
    bool idle = true;
    if (tutti_cancelled(pool->context))
      return cancelled(pool);
    pool->asks = pool->asks || tutti_clock() - pool->asked > ask_again;
    for (size_t i = 0; i < STREAM_LANES && !pool->lost[0]; i++) {
      struct stream_lane *lane = &pool->lanes[i];
      bool busy = true;
      if (lane->trial)
        TUTTI_TRY(pool->context, attend_lane(pool, lane, &busy));
      else
        TUTTI_TRY(pool->context, fill(pool, lane));
      idle = idle && busy;
    }
    if (pool->lost[0])
      return lose_all(pool);
    if (!first_trial(pool) && !pool->waiting && !pool->asks)
      return TUTTI_OK;
    if (idle)
      pause_shortly();
  }
}

static void close_pool(struct stream_trials *pool) {
  for (size_t i = 0; i < STREAM_LANES; i++) {
    struct stream_lane *lane = &pool->lanes[i];
    backend_cuda_lane_close(lane);
    if (lane->trial)
      backend_cuda_trial_unload(&pool->memory, lane->trial);
    backend_cuda_trial_destroy(lane->trial);
  }
  backend_cuda_trial_destroy(pool->waiting);
  backend_cuda_lane_close(&pool->question);
  backend_cuda_arena_release(&pool->memory.device);
  backend_cuda_arena_release(&pool->memory.host);
}

enum tutti_status backend_cuda_images_train(tutti_context *context, struct cuda_device *device,
                                            const struct tutti_job_queue *queue, const struct cuda_training *how) {
  struct stream_trials pool = {.context = context,
                               .device = device,
                               .queue = queue,
                               .how = how,
                               .memory = {.device.gives_back = true, .host = {.mapped = true, .gives_back = true}},
                               .asks = true};
  TUTTI_TRY(context, backend_cuda_device_open(context, device));
  device->images = &pool;
  enum tutti_status status = attend(&pool);
  device->images = NULL;
  close_pool(&pool);
  return status;
}

/* --- what a job needs --- */

/* Without handles of libraries: who asks may be the manager, which begins with no device. So what convolutions work in
   is not counted; who trains finds out. */
enum tutti_status backend_cuda_images_need(tutti_context *context, const struct cuda_device *device,
                                           const struct tutti_job *job, size_t *bytes) {
  const struct cuda_shelf none = {0};
  struct stream_trial trial = {.job = *job, .config = job->config};
  (void)device;
  enum tutti_status status = backend_cuda_trial_lower(context, NULL, &trial);
  if (status == TUTTI_OK)
    *bytes = backend_cuda_trial_need(&none, &trial);
  backend_cuda_stream_release(&trial.program);
  return status;
}
