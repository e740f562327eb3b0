/* executor local: worker processes on this machine. Each is spawned, never forked (because of BLAS threads and CUDA
   contexts), with one BLAS thread, and in its own process group, so that an interrupt at the terminal reaches only the
   manager. A worker that crashes, is killed, or exceeds the run's trial_timeout is replaced, and its trial is reported
   as lost or timed out. The manager decides whether to try it again. One that ends before it is ready is replaced, too;
   if that happens several times in a row, the run ends, since something is wrong with all of them. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <tutti/cpu.h>
#include <tutti/plugin.h>
#include <tutti/protocol.h>
#include <unistd.h>

struct executor_local_config {
  double startup_timeout;
  int64_t startup_tries;
  int64_t blas_threads;
};

static const struct tutti_param executor_local_params[] = {
    TUTTI_REAL(struct executor_local_config, startup_timeout, "300", 0, TUTTI_NO_LIMIT,
               "A worker that is not ready (data loaded) by then is replaced.", .unit = "s", .min_open = true),
    TUTTI_INTEGER(struct executor_local_config, startup_tries, "3", 1, 1000,
                  "As many workers in a row that do not get ready end the run with an error."),
    TUTTI_INTEGER(
        struct executor_local_config, blas_threads, "1", 1, 1024,
        "Threads of OpenBLAS in each worker; pools are many small networks, so workers are the better use of cores."),
};

/* A request that is waiting, or that a worker is training. */
struct executor_local_task {
  uint64_t trial;
  char *request; /* NULL once it was handed over */
  double since;  /* when it was */
  struct executor_local_task *next;
};

struct executor_local_worker {
  pid_t pid; /* 0: not running */
  int socket;
  bool ready;
  double started;
  tutti_frames *frames;
  size_t held;
  struct executor_local_task *tasks;
};

struct executor_local_reply {
  struct tutti_reply reply;
  struct executor_local_reply *next;
};

struct executor_local {
  const struct executor_local_config *config;
  struct tutti_executor_setup setup;
  struct executor_local_worker *workers;
  struct pollfd *polls;
  char **environment;
  int64_t unready; /* workers that ended before they were ready, since the last one that was */
  struct executor_local_task *queue, **queue_end;
  struct executor_local_reply *replies, **replies_end;
};

/* --- environment of workers --- */

extern char **environ;

static bool executor_is_local(const char *entry, const char *name) {
  size_t length = strlen(name);
  return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

/* The manager's environment with the thread counts set and, unless the user chose one, OpenBLAS's kernels. */
static enum tutti_status executor_environment_local(struct executor_local *local, tutti_context *context) {
  size_t count = 0, kept = 0;
  while (environ[count])
    count++;
  TUTTI_TRY(context, tutti_alloc(context, count + 4, sizeof *local->environment, &local->environment));
  const char *coretype = getenv("OPENBLAS_CORETYPE") ? NULL : tutti_cpu_blas_coretype();
  for (size_t i = 0; i < count; i++)
    if (!executor_is_local(environ[i], "OPENBLAS_NUM_THREADS") && !executor_is_local(environ[i], "OMP_NUM_THREADS"))
      TUTTI_TRY(context, tutti_strdup(context, environ[i], &local->environment[kept++]));
  long long threads = (long long)local->config->blas_threads;
  TUTTI_TRY(context, tutti_format(context, &local->environment[kept++], "OPENBLAS_NUM_THREADS=%lld", threads));
  TUTTI_TRY(context, tutti_format(context, &local->environment[kept++], "OMP_NUM_THREADS=%lld", threads));
  if (coretype)
    TUTTI_TRY(context, tutti_format(context, &local->environment[kept++], "OPENBLAS_CORETYPE=%s", coretype));
  return TUTTI_OK;
}

/* --- create, destroy --- */

static void executor_free_tasks_local(struct executor_local_task *task) {
  while (task) {
    struct executor_local_task *next = task->next;
    tutti_free(task->request);
    tutti_free(task);
    task = next;
  }
}

/* Forget a worker. Its process has ended or gets `signal_number` (0: it may end in its own time). */
static int executor_reap_local(struct executor_local_worker *worker, int signal_number) {
  int how = 0;
  (void)close(worker->socket);
  if (signal_number)
    (void)kill(worker->pid, signal_number);
  while (waitpid(worker->pid, &how, 0) < 0 && errno == EINTR)
    ;
  tutti_frames_destroy(worker->frames);
  executor_free_tasks_local(worker->tasks);
  memset(worker, 0, sizeof *worker);
  return how;
}

static void executor_destroy_local(void *self) {
  struct executor_local *local = self;
  if (local->workers)
    for (size_t i = 0; i < local->setup.workers; i++)
      if (local->workers[i].pid)
        (void)executor_reap_local(&local->workers[i], SIGKILL);
  executor_free_tasks_local(local->queue);
  for (struct executor_local_reply *reply = local->replies, *next; reply; reply = next) {
    next = reply->next;
    tutti_free(reply->reply.text);
    tutti_free(reply);
  }
  for (char **entry = local->environment; entry && *entry; entry++)
    tutti_free(*entry);
  tutti_free(local->environment);
  tutti_free(local->workers);
  tutti_free(local->polls);
  tutti_free(local);
}

static enum tutti_status executor_create_local(tutti_context *context, const void *config, const void *setup,
                                               void **self) {
  enum tutti_status status = TUTTI_OK;
  const struct tutti_executor_setup *given = setup;
  struct executor_local *local = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *local, &local));
  local->config = config;
  memcpy(&local->setup, given, given->size < sizeof local->setup ? given->size : sizeof local->setup);
  local->queue_end = &local->queue;
  local->replies_end = &local->replies;
  TUTTI_TRY_OUT(context, tutti_alloc(context, local->setup.workers, sizeof *local->workers, &local->workers));
  TUTTI_TRY_OUT(context, tutti_alloc(context, local->setup.workers, sizeof *local->polls, &local->polls));
  TUTTI_TRY_OUT(context, executor_environment_local(local, context));
  *self = local;
  local = NULL;
out:
  if (local)
    executor_destroy_local(local);
  return status;
}

/* --- workers --- */

static enum tutti_status executor_spawn_local(struct executor_local *local, tutti_context *context,
                                              struct executor_local_worker *worker) {
  enum tutti_status status = TUTTI_OK;
  int pair[2] = {-1, -1}, error = 0;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none;
  (void)sigemptyset(&none);
  (void)posix_spawn_file_actions_init(&actions);
  (void)posix_spawnattr_init(&attributes);
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    status = TUTTI_FAIL(context, TUTTI_ERROR_IO, "cannot make a socket for a worker: %s", strerror(errno));
    goto out;
  }
  (void)posix_spawn_file_actions_adddup2(&actions, pair[1], 0);
  (void)posix_spawn_file_actions_adddup2(&actions, 2, 1); /* output that plugins print is not a result of the run */
  (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  (void)posix_spawnattr_setsigmask(&attributes, &none);
  TUTTI_TRY_OUT(context, tutti_frames_create(context, &worker->frames));
  const char *const *command = local->setup.worker_command;
  error = posix_spawnp(&worker->pid, command[0], &actions, &attributes, (char *const *)command, local->environment);
  if (error) {
    worker->pid = 0;
    tutti_frames_destroy(worker->frames);
    worker->frames = NULL;
    status = TUTTI_FAIL(context, TUTTI_ERROR_IO, "cannot start the worker program %s: %s", command[0], strerror(error));
    goto out;
  }
  if (local->setup.memory_limit) {
    struct rlimit limit = {local->setup.memory_limit, local->setup.memory_limit};
    (void)prlimit(worker->pid, RLIMIT_AS, &limit, NULL);
  }
  worker->socket = pair[0];
  worker->started = tutti_clock();
  pair[0] = -1;
out:
  if (pair[0] >= 0)
    (void)close(pair[0]);
  if (pair[1] >= 0)
    (void)close(pair[1]);
  (void)posix_spawn_file_actions_destroy(&actions);
  (void)posix_spawnattr_destroy(&attributes);
  return status;
}

static enum tutti_status executor_push_local(struct executor_local *local, tutti_context *context,
                                             enum tutti_reply_kind kind, const struct executor_local_worker *worker,
                                             const struct executor_local_task *task, char *text) {
  struct executor_local_reply *entry;
  enum tutti_status status = tutti_alloc(context, 1, sizeof *entry, &entry);
  if (status != TUTTI_OK) {
    tutti_free(text);
    return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
  }
  entry->reply = (struct tutti_reply){.size = sizeof entry->reply,
                                      .kind = kind,
                                      .trial = task->trial,
                                      .text = text,
                                      .worker = (uint32_t)(worker - local->workers),
                                      .seconds = tutti_clock() - task->since};
  *local->replies_end = entry;
  local->replies_end = &entry->next;
  return TUTTI_OK;
}

/* End a worker. Its requests are lost for this reason (NULL: derive it from how the process ended). */
static enum tutti_status executor_lose_local(struct executor_local *local, tutti_context *context,
                                             struct executor_local_worker *worker, const char *reason) {
  enum tutti_status status = TUTTI_OK;
  struct executor_local_worker gone = *worker;
  char why[160];
  bool ready = gone.ready;
  worker->tasks = NULL;
  int how = executor_reap_local(worker, reason ? SIGKILL : 0);
  if (reason)
    (void)snprintf(why, sizeof why, "%s", reason);
  else if (WIFSIGNALED(how))
    (void)snprintf(why, sizeof why, "the worker was killed by signal %d (%s)%s", WTERMSIG(how),
                   strsignal(WTERMSIG(how)), WTERMSIG(how) == SIGKILL ? ", as when memory runs out" : "");
  else
    (void)snprintf(why, sizeof why, "the worker ended with exit code %d", WEXITSTATUS(how));
  double now = tutti_clock();
  for (struct executor_local_task *task = gone.tasks; task && status == TUTTI_OK; task = task->next) {
    bool late = now >= task->since + local->setup.trial_timeout;
    char *text = NULL;
    status = tutti_strdup(context, why, &text);
    if (status == TUTTI_OK)
      status = executor_push_local(local, context, late ? TUTTI_REPLY_TIMED_OUT : TUTTI_REPLY_LOST, worker, task, text);
  }
  executor_free_tasks_local(gone.tasks);
  if (status != TUTTI_OK || ready)
    return status;
  if (++local->unready < local->config->startup_tries) {
    tutti_log(context, TUTTI_LOG_WARNING, "a worker did not get ready: %s; starting another", why);
    return TUTTI_OK;
  }
  return TUTTI_FAIL(
      context, TUTTI_ERROR_IO,
      "%lld workers in a row did not get ready (executor.startup_tries): %s; their output is in the run's "
      "worker.log",
      (long long)local->unready, why);
}

/* Hand waiting requests to workers with room, the least busy first; start workers for the rest. */
static enum tutti_status executor_dispatch_local(struct executor_local *local, tutti_context *context) {
  while (local->queue) {
    struct executor_local_worker *free_worker = NULL, *idle_place = NULL;
    bool starting = false;
    for (size_t i = 0; i < local->setup.workers; i++) {
      struct executor_local_worker *worker = &local->workers[i];
      if (!worker->pid)
        idle_place = idle_place ? idle_place : worker;
      else if (!worker->ready)
        starting = true;
      else if (worker->held < local->setup.capacity && (!free_worker || worker->held < free_worker->held))
        free_worker = worker;
    }
    if (!free_worker || free_worker->held > 0) {
      /* One more worker per waiting request, up to the limit. */
      size_t waiting = 0, coming = 0;
      for (struct executor_local_task *task = local->queue; task; task = task->next)
        waiting++;
      for (size_t i = 0; i < local->setup.workers; i++)
        coming += local->workers[i].pid && !local->workers[i].ready;
      if (idle_place && coming < waiting) {
        TUTTI_TRY(context, executor_spawn_local(local, context, idle_place));
        continue;
      }
    }
    if (!free_worker || (free_worker->held > 0 && starting))
      return TUTTI_OK;
    struct executor_local_task *task = local->queue;
    local->queue = task->next;
    if (!local->queue)
      local->queue_end = &local->queue;
    task->next = free_worker->tasks;
    free_worker->tasks = task;
    free_worker->held++;
    task->since = tutti_clock();
    /* A worker that has died in the meantime is noticed when its socket is read. */
    if (tutti_frame_write(context, free_worker->socket, TUTTI_FRAME_REQUEST, task->trial, task->request) != TUTTI_OK)
      tutti_error_clear(context);
    tutti_free(task->request);
    task->request = NULL;
  }
  return TUTTI_OK;
}

static struct executor_local_task **executor_find_local(struct executor_local_worker *worker, uint64_t trial) {
  struct executor_local_task **place = &worker->tasks;
  while (*place && (*place)->trial != trial)
    place = &(*place)->next;
  return place;
}

static enum tutti_status executor_frame_local(struct executor_local *local, tutti_context *context,
                                              struct executor_local_worker *worker, struct tutti_frame *frame) {
  enum tutti_status status = TUTTI_OK;
  struct executor_local_task **place = executor_find_local(worker, frame->trial), *task = *place;
  switch (frame->kind) {
  case TUTTI_FRAME_READY:
    worker->ready = true;
    local->unready = 0;
    break;
  case TUTTI_FRAME_FATAL:
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "a worker cannot work: %s", frame->text);
    break;
  case TUTTI_FRAME_PROGRESS:
  case TUTTI_FRAME_DONE:
    if (!task)
      break;
    status =
        executor_push_local(local, context, frame->kind == TUTTI_FRAME_DONE ? TUTTI_REPLY_DONE : TUTTI_REPLY_PROGRESS,
                            worker, task, frame->text);
    frame->text = NULL;
    if (frame->kind == TUTTI_FRAME_DONE) {
      *place = task->next;
      worker->held--;
      tutti_free(task);
    }
    break;
  case TUTTI_FRAME_REQUEST:
    status = TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "a worker sent a request");
    break;
  }
  tutti_free(frame->text);
  return status;
}

static enum tutti_status executor_read_local(struct executor_local *local, tutti_context *context,
                                             struct executor_local_worker *worker) {
  bool ended, whole = true;
  enum tutti_status status = tutti_frames_fill(context, worker->frames, worker->socket, &ended);
  while (status == TUTTI_OK && whole) {
    struct tutti_frame frame;
    status = tutti_frames_take(context, worker->frames, &frame, &whole);
    if (status == TUTTI_OK && whole)
      TUTTI_TRY(context, executor_frame_local(local, context, worker, &frame));
  }
  if (status != TUTTI_OK) { /* reset by its death, or not our protocol */
    bool corrupt = status == TUTTI_ERROR_CORRUPT;
    tutti_error_clear(context);
    return executor_lose_local(local, context, worker, corrupt ? "the worker wrote what is no reply" : NULL);
  }
  return ended ? executor_lose_local(local, context, worker, NULL) : TUTTI_OK;
}

/* End the workers that took too long. Returns the seconds until the next deadline, or infinity. */
static enum tutti_status executor_deadlines_local(struct executor_local *local, tutti_context *context, double *next) {
  double now = tutti_clock();
  *next = INFINITY;
  for (size_t i = 0; i < local->setup.workers; i++) {
    struct executor_local_worker *worker = &local->workers[i];
    if (!worker->pid)
      continue;
    double left = worker->ready ? INFINITY : worker->started + local->config->startup_timeout - now;
    for (struct executor_local_task *task = worker->tasks; task; task = task->next)
      left = fmin(left, task->since + local->setup.trial_timeout - now);
    if (left <= 0) {
      char why[96];
      if (worker->ready)
        (void)snprintf(why, sizeof why, "took longer than run.trial_timeout = %g s", local->setup.trial_timeout);
      else
        (void)snprintf(why, sizeof why, "took longer than executor.startup_timeout = %g s",
                       local->config->startup_timeout);
      TUTTI_TRY(context, executor_lose_local(local, context, worker, why));
    } else {
      *next = fmin(*next, left);
    }
  }
  return TUTTI_OK;
}

/* --- ops --- */

static size_t executor_capacity_local(void *self) {
  const struct executor_local *local = self;
  return local->setup.workers * local->setup.capacity;
}

static enum tutti_status executor_submit_local(void *self, tutti_context *context, uint64_t trial,
                                               const char *request) {
  struct executor_local *local = self;
  struct executor_local_task *task;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *task, &task));
  enum tutti_status status = tutti_strdup(context, request, &task->request);
  if (status != TUTTI_OK) {
    tutti_free(task);
    return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
  }
  task->trial = trial;
  *local->queue_end = task;
  local->queue_end = &task->next;
  return executor_dispatch_local(local, context);
}

static bool executor_take_local(struct executor_local *local, struct tutti_reply *reply) {
  struct executor_local_reply *entry = local->replies;
  if (!entry)
    return false;
  local->replies = entry->next;
  if (!local->replies)
    local->replies_end = &local->replies;
  TUTTI_GIVE(reply, &entry->reply);
  tutti_free(entry);
  return true;
}

static enum tutti_status executor_wait_local(void *self, tutti_context *context, double timeout,
                                             struct tutti_reply *reply) {
  struct executor_local *local = self;
  double end = timeout < 0 ? INFINITY : tutti_clock() + timeout;
  for (;;) {
    if (executor_take_local(local, reply))
      return TUTTI_OK;
    double next;
    TUTTI_TRY(context, executor_dispatch_local(local, context));
    TUTTI_TRY(context, executor_deadlines_local(local, context, &next));
    double left = fmin(next, end - tutti_clock());
    if (local->replies)
      continue;
    for (size_t i = 0; i < local->setup.workers; i++)
      local->polls[i] = (struct pollfd){.fd = local->workers[i].pid ? local->workers[i].socket : -1, .events = POLLIN};
    int wait_ms = isinf(left) ? -1 : left <= 0 ? 0 : left > 3600 ? 3600000 : (int)ceil(left * 1e3);
    int count = tutti_cancelled(context) ? 0 : poll(local->polls, (nfds_t)local->setup.workers, wait_ms);
    if (count < 0 && errno != EINTR)
      return TUTTI_FAIL(context, TUTTI_ERROR_IO, "cannot wait for workers: %s", strerror(errno));
    for (size_t i = 0; i < local->setup.workers && count > 0; i++)
      if (local->polls[i].revents)
        TUTTI_TRY(context, executor_read_local(local, context, &local->workers[i]));
    if (!local->replies && (tutti_cancelled(context) || tutti_clock() >= end)) {
      const struct tutti_reply none = {.size = sizeof none, .kind = TUTTI_REPLY_NONE};
      TUTTI_GIVE(reply, &none);
      return TUTTI_OK;
    }
  }
}

static const struct tutti_executor_ops executor_local_ops = {
    .size = sizeof executor_local_ops,
    .capacity = executor_capacity_local,
    .submit = executor_submit_local,
    .wait = executor_wait_local,
};

static const struct tutti_descriptor executor_local_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_EXECUTOR, "local"),
    .version = "1.0",
    .summary = "worker processes on this machine",
    .source = "",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(executor_local_params, struct executor_local_config),
    .create = executor_create_local,
    .destroy = executor_destroy_local,
    .ops = &executor_local_ops,
};

TUTTI_PLUGIN(executor_local_descriptor)
