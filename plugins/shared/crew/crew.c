/* crew.c - hands requests to workers and takes their replies. */
#include "crew_impl.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOWHERE = UINT32_MAX, EVENTS = 256 };

struct crew_worker {
  struct crew_process process;
  bool ready;
  double started;
  size_t held;
  struct crew_task *tasks;
  uint32_t before, after; /* its neighbours in the list that it is in */
};

struct crew_reply {
  struct tutti_reply reply;
  struct crew_reply *next;
};

struct crew {
  const struct crew_config *config;
  struct tutti_executor_setup setup;
  size_t device_count;
  const char *const *devices;
  struct crew_environment environment;
  struct crew_worker *workers; /* [setup.workers] */
  size_t room;                 /* requests that a worker may hold: setup.capacity, or one more if that is 1 */
  /* Heads of lists of workers: [held] of those that are ready and hold so many requests; [room] of places where no
     worker is. */
  uint32_t *lists;
  double longest;    /* seconds of the longest training; it is forgotten slowly; NaN: none is done */
  size_t starting;   /* workers that are not ready yet */
  int64_t unready;   /* workers that ended before they were ready, since the last one that was */
  double next_limit; /* no worker's time is over before */
  int events;        /* epoll */
  struct crew_task *queue, **queue_end;
  size_t waiting;
  struct crew_reply *replies, **replies_end;
};

/* --- lists --- */

static void enter(struct crew *crew, uint32_t *list, uint32_t worker) {
  crew->workers[worker].before = NOWHERE;
  crew->workers[worker].after = *list;
  if (*list != NOWHERE)
    crew->workers[*list].before = worker;
  *list = worker;
}

static void leave(struct crew *crew, uint32_t *list, uint32_t worker) {
  const struct crew_worker *gone = &crew->workers[worker];
  if (gone->before != NOWHERE)
    crew->workers[gone->before].after = gone->after;
  else
    *list = gone->after;
  if (gone->after != NOWHERE)
    crew->workers[gone->after].before = gone->before;
}

static uint32_t *vacant(struct crew *crew) { return &crew->lists[crew->room]; }

/* A worker that holds as many requests as it may is in no list. */
static void set_held(struct crew *crew, uint32_t worker, size_t held) {
  struct crew_worker *of = &crew->workers[worker];
  if (of->held < crew->room)
    leave(crew, &crew->lists[of->held], worker);
  of->held = held;
  if (of->held < crew->room)
    enter(crew, &crew->lists[of->held], worker);
}

/* --- create, destroy --- */

static void free_tasks(struct crew_task *task) {
  while (task) {
    struct crew_task *next = task->next;
    tutti_free(task->request);
    tutti_free(task);
    task = next;
  }
}

/* One descriptor for each worker. */
static void allow_descriptors(size_t workers) {
  enum { OTHERS = 128 };
  struct rlimit limit;
  rlim_t wanted = (rlim_t)workers + OTHERS;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted)
    return;
  limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
  (void)setrlimit(RLIMIT_NOFILE, &limit); /* if it is not enough, starting a worker says so */
}

enum tutti_status crew_create(tutti_context *context, const struct crew_config *config,
                              const struct tutti_executor_setup *setup, size_t device_count, const char *const *devices,
                              struct crew **out) {
  enum tutti_status status = TUTTI_OK;
  struct crew *crew = NULL;
  TUTTI_TRY_OUT(context, crew_cores_check(context, config, setup->workers));
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *crew, &crew));
  crew->config = config;
  crew->device_count = device_count;
  crew->devices = devices;
  crew->next_limit = INFINITY;
  crew->longest = NAN;
  crew->queue_end = &crew->queue;
  crew->replies_end = &crew->replies;
  memcpy(&crew->setup, setup, setup->size < sizeof crew->setup ? setup->size : sizeof crew->setup);
  crew->room = crew->setup.capacity + (crew->setup.capacity == 1);
  crew->events = epoll_create1(EPOLL_CLOEXEC);
  if (crew->events < 0) {
    status = TUTTI_FAIL(context, TUTTI_ERROR_IO, "cannot wait for workers: %s", strerror(errno));
    goto out;
  }
  TUTTI_TRY_OUT(context, tutti_alloc(context, crew->setup.workers, sizeof *crew->workers, &crew->workers));
  TUTTI_TRY_OUT(context, tutti_alloc(context, crew->room + 1, sizeof *crew->lists, &crew->lists));
  TUTTI_TRY_OUT(context, crew_environment_make(context, config, &crew->environment));
  for (size_t i = 0; i <= crew->room; i++)
    crew->lists[i] = NOWHERE;
  for (size_t i = crew->setup.workers; i-- > 0;)
    enter(crew, vacant(crew), (uint32_t)i);
  allow_descriptors(crew->setup.workers);
  *out = crew;
  crew = NULL;
out:
  crew_destroy(crew);
  return status;
}

void crew_destroy(struct crew *crew) {
  if (!crew)
    return;
  /* All are told first, and then each is waited for. */
  for (size_t i = 0; crew->workers && i < crew->setup.workers; i++)
    if (crew->workers[i].process.pid)
      (void)kill(crew->workers[i].process.pid, SIGKILL);
  for (size_t i = 0; crew->workers && i < crew->setup.workers; i++) {
    if (crew->workers[i].process.pid)
      (void)crew_process_end(&crew->workers[i].process, 0);
    free_tasks(crew->workers[i].tasks);
  }
  free_tasks(crew->queue);
  for (struct crew_reply *reply = crew->replies, *next; reply; reply = next) {
    next = reply->next;
    tutti_free(reply->reply.text);
    tutti_free(reply);
  }
  if (crew->events >= 0)
    (void)close(crew->events);
  crew_environment_release(&crew->environment);
  tutti_free(crew->lists);
  tutti_free(crew->workers);
  tutti_free(crew);
}

size_t crew_capacity(const struct crew *crew) { return crew->setup.workers * crew->setup.capacity; }

size_t crew_waiting(const struct crew *crew) { return crew->waiting; }

/* --- workers --- */

static enum tutti_status start_worker(struct crew *crew, tutti_context *context) {
  uint32_t worker = *vacant(crew);
  struct crew_worker *of = &crew->workers[worker];
  struct epoll_event event = {.events = EPOLLIN, .data.u32 = worker};
  char *own = NULL;
  if (crew->device_count)
    TUTTI_TRY(context,
              tutti_format(context, &own, "CUDA_VISIBLE_DEVICES=%s", crew->devices[worker % crew->device_count]));
  cpu_set_t before;
  enum tutti_status status = crew_cores_enter(context, crew->config, worker, &before);
  if (status == TUTTI_OK) {
    status = crew_process_start(context, &crew->setup, &crew->environment, own, &of->process);
    crew_cores_leave(&before);
  }
  tutti_free(own);
  if (status != TUTTI_OK)
    return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
  leave(crew, vacant(crew), worker);
  of->ready = false;
  of->started = tutti_clock();
  crew->starting++;
  crew->next_limit = fmin(crew->next_limit, of->started + crew->config->startup_timeout);
  if (epoll_ctl(crew->events, EPOLL_CTL_ADD, of->process.socket, &event) != 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_IO, "cannot wait for a worker: %s", strerror(errno));
  return TUTTI_OK;
}

static enum tutti_status push_reply(struct crew *crew, tutti_context *context, enum tutti_reply_kind kind,
                                    uint32_t worker, const struct crew_task *task, char *text) {
  struct crew_reply *entry;
  enum tutti_status status = tutti_alloc(context, 1, sizeof *entry, &entry);
  if (status != TUTTI_OK) {
    tutti_free(text);
    return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
  }
  entry->reply = (struct tutti_reply){.size = sizeof entry->reply,
                                      .kind = kind,
                                      .trial = task->trial,
                                      .text = text,
                                      .worker = worker,
                                      .seconds = tutti_clock() - task->since};
  *crew->replies_end = entry;
  crew->replies_end = &entry->next;
  return TUTTI_OK;
}

static void describe_end(int how, char *why, size_t size) {
  if (WIFSIGNALED(how))
    (void)snprintf(why, size, "the worker was killed by signal %d (%s)%s", WTERMSIG(how), strsignal(WTERMSIG(how)),
                   WTERMSIG(how) == SIGKILL ? ", as when memory runs out" : "");
  else
    (void)snprintf(why, size, "the worker ended with exit code %d", WEXITSTATUS(how));
}

/* --- what a worker has begun, and what it only holds --- */

/* A worker begins with a request; that is when its time begins. */
static void begin(struct crew *crew, struct crew_task *task) {
  task->since = tutti_clock();
  crew->next_limit = fmin(crew->next_limit, task->since + crew->setup.trial_timeout);
  tutti_free(task->request);
  task->request = NULL;
}

/* The request that a worker holds, but has not begun: the last one that it got. */
static bool is_held(const struct crew_task *task) { return isinf(task->since); }

/* A training of so many seconds has ended. */
static void note_seconds(struct crew *crew, double seconds) {
  static const double kept = 0.95;
  crew->longest = isnan(crew->longest) ? seconds : fmax(seconds, kept * crew->longest);
}

/* Nobody has begun with it: it is the next. */
static void put_back(struct crew *crew, struct crew_task *task) {
  task->next = crew->queue;
  if (!crew->queue)
    crew->queue_end = &task->next;
  crew->queue = task;
  crew->waiting++;
}

/* End a worker. What it has begun is lost for this reason (NULL: derive it from how the process ended). */
static enum tutti_status lose_worker(struct crew *crew, tutti_context *context, uint32_t worker, const char *reason) {
  enum tutti_status status = TUTTI_OK;
  struct crew_worker *of = &crew->workers[worker];
  struct crew_task *tasks = of->tasks;
  char why[160];
  bool ready = of->ready;
  int how = crew_process_end(&of->process, reason ? SIGKILL : 0);
  if (reason)
    (void)snprintf(why, sizeof why, "%s", reason);
  else
    describe_end(how, why, sizeof why);
  if (ready && of->held < crew->room)
    leave(crew, &crew->lists[of->held], worker);
  crew->starting -= !ready;
  *of = (struct crew_worker){.process.socket = -1};
  enter(crew, vacant(crew), worker);
  double now = tutti_clock();
  if (tasks && is_held(tasks)) {
    struct crew_task *held = tasks;
    tasks = held->next;
    put_back(crew, held);
  }
  for (struct crew_task *task = tasks; task && status == TUTTI_OK; task = task->next) {
    bool late = now >= task->since + crew->setup.trial_timeout;
    note_seconds(crew, now - task->since);
    char *text = NULL;
    status = tutti_strdup(context, why, &text);
    if (status == TUTTI_OK)
      status = push_reply(crew, context, late ? TUTTI_REPLY_TIMED_OUT : TUTTI_REPLY_LOST, worker, task, text);
  }
  free_tasks(tasks);
  if (status != TUTTI_OK || ready)
    return status;
  if (++crew->unready < crew->config->startup_tries) {
    tutti_log(context, TUTTI_LOG_WARNING, "a worker did not get ready: %s; starting another", why);
    return TUTTI_OK;
  }
  const size_t tries = (size_t)crew->unready;
  return TUTTI_FAIL(context, TUTTI_ERROR_IO,
                    "%zu %s did not get ready (executor.startup_tries): %s%s; the output is in the run's "
                    "worker.log",
                    tries, tutti_plural(tries, "worker", "workers in a row"), why,
                    crew->setup.memory_limit ? ", perhaps for want of memory (run.memory_limit)" : "");
}

/* --- requests --- */

static void hand_over(struct crew *crew, tutti_context *context, uint32_t worker) {
  struct crew_worker *of = &crew->workers[worker];
  struct crew_task *task = crew->queue;
  crew->queue = task->next;
  if (!crew->queue)
    crew->queue_end = &crew->queue;
  crew->waiting--;
  task->next = of->tasks;
  of->tasks = task;
  set_held(crew, worker, of->held + 1);
  /* A worker that has died in the meantime is noticed when its socket is read. */
  if (tutti_frame_write(context, of->process.socket, TUTTI_FRAME_REQUEST, task->trial, task->request) != TUTTI_OK)
    tutti_error_clear(context);
  if (of->held <= crew->setup.capacity)
    begin(crew, task);
  else
    task->since = INFINITY;
}

/* Hand waiting requests to workers with room, the least busy first; start workers for the rest, one for each waiting
   request, up to the limit. */
static enum tutti_status dispatch(struct crew *crew, tutti_context *context) {
  size_t most = crew->longest < crew->config->hold_below ? crew->room : crew->setup.capacity;
  while (crew->queue) {
    size_t held = 0;
    while (held < most && crew->lists[held] == NOWHERE)
      held++;
    if (held > 0 && *vacant(crew) != NOWHERE && crew->starting < crew->waiting) {
      TUTTI_TRY(context, start_worker(crew, context));
      continue;
    }
    if (held == most || (held > 0 && crew->starting > 0))
      return TUTTI_OK;
    hand_over(crew, context, crew->lists[held]);
  }
  return TUTTI_OK;
}

/* --- replies --- */

static struct crew_task **find_task(struct crew_worker *worker, uint64_t trial) {
  struct crew_task **place = &worker->tasks;
  while (*place && (*place)->trial != trial)
    place = &(*place)->next;
  return place;
}

static enum tutti_status take_frame(struct crew *crew, tutti_context *context, uint32_t worker,
                                    struct tutti_frame *frame) {
  enum tutti_status status = TUTTI_OK;
  struct crew_worker *of = &crew->workers[worker];
  struct crew_task **place = find_task(of, frame->trial), *task = *place;
  switch (frame->kind) {
  case TUTTI_FRAME_READY:
    if (!of->ready) {
      crew->starting--;
      enter(crew, &crew->lists[0], worker);
    }
    of->ready = true;
    crew->unready = 0;
    break;
  case TUTTI_FRAME_FATAL:
    if (crew->setup.memory_limit)
      status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                          "a worker cannot work: %s (it may have %llu MiB of memory, run.memory_limit; if that is too "
                          "little, raise it)",
                          frame->text, (unsigned long long)(crew->setup.memory_limit >> 20));
    else
      status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "a worker cannot work: %s", frame->text);
    break;
  case TUTTI_FRAME_PROGRESS:
  case TUTTI_FRAME_DONE:
    if (!task)
      break;
    if (is_held(task)) /* it has begun while the files of the one before become durable */
      begin(crew, task);
    status = push_reply(crew, context, frame->kind == TUTTI_FRAME_DONE ? TUTTI_REPLY_DONE : TUTTI_REPLY_PROGRESS,
                        worker, task, frame->text);
    frame->text = NULL;
    if (frame->kind == TUTTI_FRAME_DONE) {
      note_seconds(crew, tutti_clock() - task->since);
      *place = task->next;
      set_held(crew, worker, of->held - 1);
      tutti_free(task);
      if (of->tasks && is_held(of->tasks))
        begin(crew, of->tasks);
    }
    break;
  case TUTTI_FRAME_REQUEST:
  case TUTTI_FRAME_STOP:
    status = TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "a worker sent what only a manager sends");
    break;
  }
  tutti_free(frame->text);
  return status;
}

static enum tutti_status read_worker(struct crew *crew, tutti_context *context, uint32_t worker) {
  struct crew_process *process = &crew->workers[worker].process;
  bool ended, whole = true;
  enum tutti_status status = tutti_frames_fill(context, process->frames, process->socket, &ended);
  while (status == TUTTI_OK && whole) {
    struct tutti_frame frame;
    status = tutti_frames_take(context, process->frames, &frame, &whole);
    if (status == TUTTI_OK && whole)
      TUTTI_TRY(context, take_frame(crew, context, worker, &frame));
  }
  if (status != TUTTI_OK) { /* reset by its death, or not our protocol */
    bool corrupt = status == TUTTI_ERROR_CORRUPT;
    tutti_error_clear(context);
    return lose_worker(crew, context, worker, corrupt ? "the worker wrote what is no reply" : NULL);
  }
  return ended ? lose_worker(crew, context, worker, NULL) : TUTTI_OK;
}

/* The seconds that a worker has left. */
static double left_of(const struct crew *crew, const struct crew_worker *worker, double now) {
  double left = worker->ready ? INFINITY : worker->started + crew->config->startup_timeout - now;
  for (const struct crew_task *task = worker->tasks; task; task = task->next)
    left = fmin(left, task->since + crew->setup.trial_timeout - now);
  return left;
}

/* End the workers that took too long. All are looked at only when the first of them may be late. */
static enum tutti_status keep_limits(struct crew *crew, tutti_context *context) {
  double now = tutti_clock();
  if (now < crew->next_limit)
    return TUTTI_OK;
  crew->next_limit = INFINITY;
  for (size_t i = 0; i < crew->setup.workers; i++) {
    const struct crew_worker *worker = &crew->workers[i];
    double left = worker->process.pid ? left_of(crew, worker, now) : INFINITY;
    if (left > 0) {
      crew->next_limit = fmin(crew->next_limit, now + left);
      continue;
    }
    char why[96];
    if (worker->ready)
      (void)snprintf(why, sizeof why, "took longer than run.trial_timeout = %g s", crew->setup.trial_timeout);
    else
      (void)snprintf(why, sizeof why, "took longer than executor.startup_timeout = %g s",
                     crew->config->startup_timeout);
    TUTTI_TRY(context, lose_worker(crew, context, (uint32_t)i, why));
  }
  return TUTTI_OK;
}

static bool take_reply(struct crew *crew, struct tutti_reply *reply) {
  struct crew_reply *entry = crew->replies;
  if (!entry)
    return false;
  crew->replies = entry->next;
  if (!crew->replies)
    crew->replies_end = &crew->replies;
  TUTTI_GIVE(reply, &entry->reply);
  tutti_free(entry);
  return true;
}

/* Wait until `end` at most for what workers say, and read it. */
static enum tutti_status listen(struct crew *crew, tutti_context *context, double end) {
  struct epoll_event events[EVENTS];
  double left = fmin(crew->next_limit, end) - tutti_clock();
  int wait_ms = left <= 0 ? 0 : isinf(left) ? -1 : left > 3600 ? 3600000 : (int)ceil(left * 1e3);
  int count = tutti_cancelled(context) ? 0 : epoll_wait(crew->events, events, EVENTS, wait_ms);
  if (count < 0 && errno != EINTR)
    return TUTTI_FAIL(context, TUTTI_ERROR_IO, "cannot wait for workers: %s", strerror(errno));
  for (int i = 0; i < count; i++)
    if (crew->workers[events[i].data.u32].process.pid)
      TUTTI_TRY(context, read_worker(crew, context, events[i].data.u32));
  return TUTTI_OK;
}

enum tutti_status crew_submit(struct crew *crew, tutti_context *context, uint64_t trial, const char *request) {
  struct crew_task *task;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *task, &task));
  enum tutti_status status = tutti_strdup(context, request, &task->request);
  if (status != TUTTI_OK) {
    tutti_free(task);
    return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
  }
  task->trial = trial;
  *crew->queue_end = task;
  crew->queue_end = &task->next;
  crew->waiting++;
  /* Whoever submits many requests one after the other, each of which took long to find, does not look for replies
     meanwhile. */
  TUTTI_TRY(context, listen(crew, context, -INFINITY));
  return dispatch(crew, context);
}

void crew_stop(struct crew *crew, tutti_context *context, uint64_t trial, const char *text) {
  for (size_t i = 0; i < crew->setup.workers; i++) {
    struct crew_worker *worker = &crew->workers[i];
    const struct crew_task *task = worker->process.pid ? *find_task(worker, trial) : NULL;
    if (!task || is_held(task))
      continue;
    /* A worker that has died in the meantime is noticed when its socket is read. */
    if (tutti_frame_write(context, worker->process.socket, TUTTI_FRAME_STOP, trial, text) != TUTTI_OK)
      tutti_error_clear(context);
  }
}

/* Take a request out of the queue; NULL: it is not there. */
static struct crew_task *take_from_queue(struct crew *crew, uint64_t trial) {
  struct crew_task **place = &crew->queue;
  while (*place && (*place)->trial != trial)
    place = &(*place)->next;
  struct crew_task *task = *place;
  if (!task)
    return NULL;
  *place = task->next;
  if (!task->next)
    crew->queue_end = place;
  task->next = NULL;
  crew->waiting--;
  return task;
}

enum tutti_status crew_end(struct crew *crew, tutti_context *context, uint64_t trial) {
  struct crew_task *waiting = take_from_queue(crew, trial);
  if (waiting) {
    char *text = NULL;
    waiting->since = tutti_clock();
    enum tutti_status status = tutti_strdup(context, "it was ended before it began", &text);
    if (status == TUTTI_OK)
      status = push_reply(crew, context, TUTTI_REPLY_LOST, 0, waiting, text);
    free_tasks(waiting);
    return status;
  }
  for (size_t i = 0; i < crew->setup.workers; i++) {
    struct crew_worker *worker = &crew->workers[i];
    const struct crew_task *task = worker->process.pid ? *find_task(worker, trial) : NULL;
    if (task && !is_held(task))
      return lose_worker(crew, context, (uint32_t)i, "its training was ended");
  }
  return TUTTI_OK;
}

enum tutti_status crew_wait(struct crew *crew, tutti_context *context, double timeout, struct tutti_reply *reply) {
  double end = timeout < 0 ? INFINITY : tutti_clock() + timeout;
  if (take_reply(crew, reply))
    return TUTTI_OK;
  for (;;) {
    TUTTI_TRY(context, keep_limits(crew, context));
    /* Workers get their next requests before anybody looks at what they replied. */
    TUTTI_TRY(context, dispatch(crew, context));
    if (take_reply(crew, reply))
      return TUTTI_OK;
    TUTTI_TRY(context, listen(crew, context, end));
    if (!crew->replies && (tutti_cancelled(context) || tutti_clock() >= end)) {
      const struct tutti_reply none = {.size = sizeof none, .kind = TUTTI_REPLY_NONE};
      TUTTI_GIVE(reply, &none);
      return dispatch(crew, context);
    }
  }
}
