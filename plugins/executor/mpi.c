/* executor mpi: workers on the nodes of a cluster, over an existing MPI. All ranks run the same command. Rank 0 is the
   manager; every other rank is an agent (mpi/agent.c) that starts and guards worker processes on its node, as executor
   local does, so that the crash of a training or a worker never reaches MPI. Agents that do not see the run's directory
   get what their workers read, and send back what these write (mpi/depot.c, mpi/freight.c). MPI itself is loaded only
   here (mpi/link.c). The loss of a rank ends the job, as MPI is: what was recorded is safe, and --resume goes on with
   any number of ranks. */
#include "mpi/agent.h"
#include "mpi/depot.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <tutti/clock.h>
#include <tutti/cpu.h>
#include <tutti/version.h>

struct executor_mpi_config {
  struct crew_config crew;
  int64_t workers_per_rank;
  double ahead;
  const char *devices;
  int shared, processors;
  const char *scratch;
  double lost_after;
};

static const char *const shared_names[] = {[DEPOT_AUTO] = "auto", [DEPOT_YES] = "yes", [DEPOT_NO] = "no", NULL};

enum { PROCESSORS_ALIKE, PROCESSORS_ANY };
static const char *const processors_names[] = {[PROCESSORS_ALIKE] = "alike", [PROCESSORS_ANY] = "any", NULL};

static const struct tutti_param executor_mpi_params[] = {
    TUTTI_INTEGER(struct executor_mpi_config, workers_per_rank, "0", 0, 65536,
                  "Worker processes of each rank but rank 0, which is the manager; 0: one a core that the rank may use "
                  "(mpirun --bind-to none gives it all of its node)."),
    TUTTI_REAL(
        struct executor_mpi_config, ahead, "0.125", 0, 1000,
        "Requests that wait on a node, as a share of its workers, so that a worker which is done need not wait for "
        "the manager."),
    TUTTI_STRING(struct executor_mpi_config, devices, "",
                 "Devices of a node, separated by spaces or commas: the workers of a rank see one each, in turn "
                 "(CUDA_VISIBLE_DEVICES). Empty: each sees all."),
    TUTTI_CHOICE(struct executor_mpi_config, shared, "auto", shared_names,
                 "Do all nodes see the run's directory and its data, at the same paths? no: each rank has a folder of "
                 "its own, data are sent there once, and what trainings write is sent back; auto: that is so for ranks "
                 "that do not find a file of the manager's in the run's directory."),
    TUTTI_STRING(struct executor_mpi_config, scratch, "",
                 "Folder on each node in which such a rank makes its own; empty: TMPDIR, or /tmp."),
    TUTTI_CHOICE(
        struct executor_mpi_config, processors, "alike", processors_names,
        "alike: a rank whose processor has other vector instructions than the manager's is refused, since last "
        "bits of its trainings would differ; any: it is taken."),
    TUTTI_REAL(struct executor_mpi_config, lost_after, "60", 0, TUTTI_NO_LIMIT,
               "A rank that is not heard of for so long ends the run, as if MPI had lost it.", .unit = "s",
               .min_open = true),
    CREW_PARAMS(struct executor_mpi_config),
};

/* An agent as the manager knows it. */
struct mpi_agent {
  bool here; /* it has said hello */
  char host[WIRE_TEXT], place[WIRE_TEXT + 32];
  size_t workers, first; /* how many; the number of its first one */
  size_t held, done;
  double heard;  /* when its last message came, or bytes for it went out */
  uint64_t sent; /* bytes that it was sent until then */
};

struct mpi_task {
  uint64_t trial;
  char *request;
  struct mpi_task *next;
};

struct executor_mpi {
  const struct executor_mpi_config *config;
  struct tutti_executor_setup setup;
  struct wire wire;
  struct mpi_agent *agents; /* [wire.size]; that of rank 0 stays empty */
  struct depot depot;
  size_t arrived, workers;
  bool begun;      /* the manager has begun to ask for trials */
  double listened; /* when it last looked for messages */
  struct mpi_task *queue, **queue_end;
  struct mpi_task *ended; /* that were taken out of the queue, and have no reply yet */
  size_t next;            /* the rank that is looked at first for a free worker */
  struct crew_devices devices;
};

static enum tutti_status begin_run(struct executor_mpi *self, tutti_context *context);

/* --- create, destroy --- */

static size_t cores_of_rank(void) {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0 ? (size_t)CPU_COUNT(&set) : 1;
}

/* Ranks but the manager's. A rank that cannot be reached is gone, and MPI with it. */
static void tell_all(struct executor_mpi *self, enum wire_tag tag) {
  void *sending;
  for (int rank = 1; self->wire.rank == 0 && rank < self->wire.size; rank++)
    (void)self->wire.link->send(rank, (int)tag, "", 0, &sending);
}

/* Have all ranks heard that the run is over? MPI would wait for one that has not, without end. */
static bool say_goodbye(struct executor_mpi *self) {
  static const double patience = 20, pause = 0.001;
  int heard = 0, rank;
  double end = tutti_clock() + fmin(patience, self->config->lost_after);
  if (self->wire.rank != 0)
    return true;
  tell_all(self, WIRE_BYE);
  while (heard + 1 < self->wire.size && tutti_clock() < end) {
    int tag = wire_discard(&self->wire, &rank);
    heard += tag == WIRE_BYE;
    if (tag == 0)
      wire_pause(pause);
  }
  return heard + 1 == self->wire.size;
}

static void free_tasks(struct mpi_task *task) {
  while (task) {
    struct mpi_task *next = task->next;
    tutti_free(task->request);
    tutti_free(task);
    task = next;
  }
}

static void executor_destroy_mpi(void *instance) {
  struct executor_mpi *self = instance;
  depot_release(&self->depot);
  if (self->wire.began)
    self->wire.began = say_goodbye(self);
  else if (self->begun)
    tell_all(self, WIRE_REST);
  wire_close(&self->wire);
  free_tasks(self->queue);
  free_tasks(self->ended);
  tutti_free(self->agents);
  crew_devices_release(&self->devices);
  tutti_free(self);
}

static enum tutti_status executor_create_mpi(tutti_context *context, const void *config, const void *setup_,
                                             void **out) {
  const struct tutti_executor_setup *setup = setup_;
  enum tutti_status status = TUTTI_OK;
  struct executor_mpi *self = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *self, &self));
  self->config = config;
  self->queue_end = &self->queue;
  memcpy(&self->setup, setup, setup->size < sizeof self->setup ? setup->size : sizeof self->setup);
  TUTTI_TRY_OUT(context, crew_devices_read(context, self->config->devices, &self->devices));
  TUTTI_TRY_OUT(context, wire_open(context, &self->wire));
  if (self->wire.size < 2) {
    char library[WIRE_TEXT];
    self->wire.link->library(library, sizeof library);
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                        "expected two ranks at least, a manager and an agent, found %d; start it as: mpirun "
                        "-n RANKS tutti run ...; if that was done, the mpirun is that of another MPI: Tutti was built "
                        "with %s",
                        self->wire.size, library);
    goto out;
  }
  TUTTI_TRY_OUT(context, tutti_alloc(context, (size_t)self->wire.size, sizeof *self->agents, &self->agents));
  TUTTI_TRY_OUT(context,
                depot_make(context, &self->wire, &self->setup, (enum depot_shared)self->config->shared, &self->depot));
  /* The first instance of a process finds out what the process is; that which comes after it is the manager's own. */
  if (!self->wire.began)
    TUTTI_TRY_OUT(context, begin_run(self, context));
  *out = self;
  self = NULL;
out:
  if (self)
    executor_destroy_mpi(self);
  return status;
}

/* --- agents --- */

static enum tutti_status executor_serve_mpi(void *instance, tutti_context *context, bool *served) {
  struct executor_mpi *self = instance;
  if (self->wire.rank == 0)
    return TUTTI_OK;
  *served = true;
  struct agent agent = {.wire = &self->wire,
                        .config = &self->config->crew,
                        .setup = self->setup,
                        .device_count = self->devices.count,
                        .scratch = self->config->scratch,
                        .alive = fmin(self->config->lost_after / 6, 5),
                        .devices = self->devices.names};
  agent.setup.workers = self->config->workers_per_rank ? (size_t)self->config->workers_per_rank : cores_of_rank();
  return agent_serve(context, &agent);
}

/* --- the manager --- */

static enum tutti_status welcome(tutti_context *context, struct executor_mpi *self,
                                 const struct wire_message *message) {
  struct mpi_agent *agent = &self->agents[message->rank];
  struct wire_hello hello;
  TUTTI_TRY(context, wire_read(context, message, &hello, sizeof hello));
  const char *processor = tutti_cpu_name(tutti_cpu_detect());
  hello.version[WIRE_TEXT - 1] = hello.host[WIRE_TEXT - 1] = hello.processor[WIRE_TEXT - 1] = '\0';
  if (strcmp(hello.version, tutti_build_id()) != 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "rank %d on %s runs another tutti, %s, and the manager is %s: results would depend on the rank; "
                      "install the same build on all nodes",
                      message->rank, hello.host, hello.version, tutti_build_id());
  if (self->config->processors == PROCESSORS_ALIKE && strcmp(hello.processor, processor) != 0)
    return TUTTI_FAIL(
        context, TUTTI_ERROR_USAGE,
        "the processor of rank %d on %s has the vector instructions %s, and the manager's %s: last bits of "
        "trainings would depend on the rank; take nodes of one kind (SLURM: --constraint), or, if that "
        "does not matter, set executor.processors = any",
        message->rank, hello.host, hello.processor, processor);
  (void)snprintf(agent->host, sizeof agent->host, "%s", hello.host);
  (void)snprintf(agent->place, sizeof agent->place, "rank %d on %s", message->rank, hello.host);
  agent->workers = (size_t)hello.workers;
  agent->first = self->workers;
  agent->here = true;
  agent->heard = tutti_clock();
  self->workers += agent->workers;
  self->arrived++;
  return TUTTI_OK;
}

/* A reply of a worker, once the files of its trial are safe. If they are not, its worker might as well be lost. */
static enum tutti_status take_reply(struct executor_mpi *self, tutti_context *context,
                                    const struct wire_message *message, struct tutti_reply *reply) {
  struct mpi_agent *agent = &self->agents[message->rank];
  struct wire_head head;
  const char *text = message->bytes + sizeof head;
  char *why = NULL;
  TUTTI_TRY(context, wire_read(context, message, &head, sizeof head));
  struct tutti_reply said = {.size = sizeof said,
                             .kind = (enum tutti_reply_kind)head.kind,
                             .trial = head.trial,
                             .worker = (uint32_t)agent->first + head.worker,
                             .seconds = head.seconds,
                             .place = agent->place};
  if (said.kind != TUTTI_REPLY_PROGRESS)
    TUTTI_TRY(context, depot_settle(context, &self->depot, message->rank, agent->host, &head, text, &why));
  if (why)
    said.kind = TUTTI_REPLY_LOST;
  said.text = why;
  if (!why)
    TUTTI_TRY(context, tutti_strdup(context, text, &said.text));
  agent->held -= said.kind != TUTTI_REPLY_PROGRESS;
  agent->done += said.kind != TUTTI_REPLY_PROGRESS;
  TUTTI_GIVE(reply, &said);
  return TUTTI_OK;
}

/* An agent cannot go on, and the run with it. */
static enum tutti_status take_failure(tutti_context *context, const struct mpi_agent *agent,
                                      const struct wire_message *message) {
  struct wire_head head;
  TUTTI_TRY(context, wire_read(context, message, &head, sizeof head));
  enum tutti_status status = head.kind == TUTTI_ERROR_FULL ? TUTTI_ERROR_FULL : TUTTI_ERROR_IO;
  return TUTTI_FAIL(context, status, "%s: %s", agent->place, message->bytes + sizeof head);
}

static enum tutti_status handle(struct executor_mpi *self, tutti_context *context, const struct wire_message *message,
                                struct tutti_reply *reply) {
  struct mpi_agent *agent = &self->agents[message->rank];
  bool taken;
  agent->heard = tutti_clock();
  switch (message->tag) {
  case WIRE_HELLO:
    return welcome(context, self, message);
  case WIRE_FAIL:
    return take_failure(context, agent, message);
  case WIRE_REPLY:
    return take_reply(self, context, message, reply);
  case WIRE_ALIVE:
    return TUTTI_OK;
  default:
    TUTTI_TRY(context, depot_take(context, &self->depot, agent->host, message, &taken));
    return taken ? TUTTI_OK
                 : TUTTI_FAIL(context, TUTTI_ERROR_CORRUPT, "rank %d sent a message %d", message->rank, message->tag);
  }
}

/* A rank that is silent for long is gone, with its node or its network; Open MPI may take many minutes to say so. The
   time in which the manager did not listen does not count, and one that takes what it is sent is there: its words may
   wait behind files on a slow network. */
static enum tutti_status look_for_silence(struct executor_mpi *self, tutti_context *context) {
  static const double pause = 1;
  double now = tutti_clock(), missed = now - self->listened;
  self->listened = now;
  for (int rank = 1; rank < self->wire.size; rank++) {
    struct mpi_agent *agent = &self->agents[rank];
    if (missed > pause)
      agent->heard = fmin(agent->heard + missed, now);
    if (agent->sent != self->wire.sent[rank])
      agent->heard = now;
    agent->sent = self->wire.sent[rank];
    if (agent->here && now - agent->heard > self->config->lost_after)
      return TUTTI_FAIL(context, TUTTI_ERROR_IO,
                        "rank %d on %s has not been heard of for %.3g s (executor.lost_after): its node or the network "
                        "is gone, and MPI cannot go on without it. What was recorded is safe: --resume goes on, with "
                        "any ranks",
                        rank, agent->host, now - agent->heard);
  }
  return TUTTI_OK;
}

/* Take what has come. *reply gets a reply, or stays as it is. */
static enum tutti_status take_message(struct executor_mpi *self, tutti_context *context, bool *any,
                                      struct tutti_reply *reply) {
  struct wire_message message;
  TUTTI_TRY(context, wire_take(&self->wire, context, &message));
  *any = message.tag != 0;
  if (!*any)
    return look_for_silence(self, context);
  enum tutti_status status = handle(self, context, &message, reply);
  tutti_free(message.bytes);
  return status;
}

/* Tell the agents what the run wants, and wait until all have come. */
static enum tutti_status begin_run(struct executor_mpi *self, tutti_context *context) {
  const struct wire_begin begin = {.capacity = self->setup.capacity,
                                   .memory_limit = self->setup.memory_limit,
                                   .trial_timeout = self->setup.trial_timeout};
  while (self->arrived + 1 < (size_t)self->wire.size) {
    struct tutti_reply none = {.size = sizeof none};
    bool any;
    TUTTI_TRY(context, take_message(self, context, &any, &none));
    tutti_free(none.text);
    if (tutti_cancelled(context))
      return TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "interrupted");
    if (!any)
      wire_pause(0.001);
  }
  self->begun = true;
  self->listened = tutti_clock();
  for (int rank = 1; rank < self->wire.size; rank++)
    TUTTI_TRY(context, wire_send(&self->wire, context, rank, WIRE_BEGIN, &begin, sizeof begin));
  tutti_log(context, TUTTI_LOG_INFO, "executor mpi: %zu workers of %d ranks", self->workers, self->wire.size - 1);
  return TUTTI_OK;
}

/* The next rank, in turn, where so many requests find room; 0: there is none. */
static int find_room(struct executor_mpi *self, double share) {
  size_t ranks = (size_t)self->wire.size - 1;
  for (size_t i = 0; i < ranks; i++) {
    size_t rank = 1 + (self->next + i) % ranks;
    const struct mpi_agent *agent = &self->agents[rank];
    size_t places = agent->workers * self->setup.capacity;
    if (depot_is_open(&self->depot, (int)rank) && agent->held < places + (size_t)(share * (double)places)) {
      self->next = rank % ranks;
      return (int)rank;
    }
  }
  return 0;
}

static enum tutti_status dispatch(struct executor_mpi *self, tutti_context *context) {
  while (self->queue) {
    struct mpi_task *task = self->queue;
    int rank = find_room(self, 0);
    if (!rank)
      rank = find_room(self, self->config->ahead);
    if (!rank)
      return TUTTI_OK;
    const struct wire_head head = {.trial = task->trial};
    TUTTI_TRY(context, depot_request(context, &self->depot, rank, &head, task->request));
    self->agents[rank].held++;
    self->queue = task->next;
    if (!self->queue)
      self->queue_end = &self->queue;
    tutti_free(task->request);
    tutti_free(task);
  }
  return TUTTI_OK;
}

/* --- ops --- */

static size_t executor_capacity_mpi(void *instance) {
  const struct executor_mpi *self = instance;
  return self->workers * self->setup.capacity;
}

static enum tutti_status executor_submit_mpi(void *instance, tutti_context *context, uint64_t trial,
                                             const char *request) {
  struct executor_mpi *self = instance;
  struct mpi_task *task;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *task, &task));
  enum tutti_status status = tutti_strdup(context, request, &task->request);
  if (status != TUTTI_OK) {
    tutti_free(task);
    return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
  }
  task->trial = trial;
  *self->queue_end = task;
  self->queue_end = &task->next;
  TUTTI_TRY(context, depot_open(context, &self->depot));
  return dispatch(self, context);
}

/* The reply of a request that was taken out of the queue. */
static enum tutti_status reply_for_ended(struct executor_mpi *self, tutti_context *context, struct tutti_reply *reply) {
  struct mpi_task *task = self->ended;
  struct tutti_reply said = {.size = sizeof said, .kind = TUTTI_REPLY_LOST, .trial = task->trial};
  TUTTI_TRY(context, tutti_strdup(context, "it was ended before it began", &said.text));
  self->ended = task->next;
  task->next = NULL;
  free_tasks(task);
  TUTTI_GIVE(reply, &said);
  return TUTTI_OK;
}

static enum tutti_status executor_wait_mpi(void *instance, tutti_context *context, double timeout,
                                           struct tutti_reply *reply) {
  static const double least = 20e-6, most = 1e-3;
  struct executor_mpi *self = instance;
  double end = timeout < 0 ? INFINITY : tutti_clock() + timeout, pause = least;
  const struct tutti_reply none = {.size = sizeof none, .kind = TUTTI_REPLY_NONE};
  TUTTI_GIVE(reply, &none);
  if (self->ended)
    return reply_for_ended(self, context, reply);
  for (;;) {
    bool any;
    TUTTI_TRY(context, take_message(self, context, &any, reply));
    TUTTI_TRY(context, depot_send(context, &self->depot));
    if (any)
      TUTTI_TRY(context, dispatch(self, context));
    if (reply->kind != TUTTI_REPLY_NONE || tutti_cancelled(context) || tutti_clock() >= end)
      return TUTTI_OK;
    /* MPI has nothing to wait on that sleeps. */
    pause = any ? least : fmin(2 * pause, most);
    if (!any)
      wire_pause(fmax(fmin(pause, end - tutti_clock()), 0));
  }
}

/* Take a request out of the manager's own queue. */
static bool take_from_queue(struct executor_mpi *self, uint64_t trial) {
  struct mpi_task **place = &self->queue;
  while (*place && (*place)->trial != trial)
    place = &(*place)->next;
  struct mpi_task *task = *place;
  if (!task)
    return false;
  *place = task->next;
  if (!task->next)
    self->queue_end = place;
  task->next = self->ended;
  self->ended = task;
  return true;
}

/* A message of this tag to each agent, which looks whether it has the trial. */
static enum tutti_status tell_agents(struct executor_mpi *self, tutti_context *context, enum wire_tag tag,
                                     uint64_t trial, const char *text) {
  const struct wire_head head = {.trial = trial};
  for (int rank = 1; rank < self->wire.size; rank++)
    if (depot_is_open(&self->depot, rank))
      TUTTI_TRY(context, wire_send_text(&self->wire, context, rank, tag, &head, text));
  return TUTTI_OK;
}

static enum tutti_status executor_stop_mpi(void *instance, tutti_context *context, uint64_t trial, const char *text) {
  return tell_agents(instance, context, WIRE_STOP, trial, text);
}

static enum tutti_status executor_end_mpi(void *instance, tutti_context *context, uint64_t trial) {
  return take_from_queue(instance, trial) ? TUTTI_OK : tell_agents(instance, context, WIRE_END, trial, "");
}

/* {"ranks": [{"host", "workers", "trainings"}]}; hosts' names have no quotes. */
static enum tutti_status executor_describe_mpi(void *instance, tutti_context *context, char **json) {
  const struct executor_mpi *self = instance;
  enum { ROOM = 256 };
  size_t room = ROOM * (size_t)self->wire.size, used = 0;
  char *text;
  TUTTI_TRY(context, tutti_alloc(context, room, 1, &text));
  for (int rank = 1; rank < self->wire.size; rank++) {
    const struct mpi_agent *agent = &self->agents[rank];
    used += (size_t)snprintf(text + used, room - used, "%s{\"host\": \"%s\", \"workers\": %zu, \"trainings\": %zu}",
                             rank > 1 ? ", " : "{\"ranks\": [", agent->host, agent->workers, agent->done);
  }
  (void)snprintf(text + used, room - used, "]}");
  *json = text;
  return TUTTI_OK;
}

static const struct tutti_executor_ops executor_mpi_ops = {
    .size = sizeof executor_mpi_ops,
    .capacity = executor_capacity_mpi,
    .submit = executor_submit_mpi,
    .wait = executor_wait_mpi,
    .describe = executor_describe_mpi,
    .serve = executor_serve_mpi,
    .stop = executor_stop_mpi,
    .end = executor_end_mpi,
};

static const struct tutti_descriptor executor_mpi_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_EXECUTOR, "mpi"),
    .version = "1.0",
    .summary = "worker processes on the nodes of a cluster, over MPI: mpirun -n RANKS tutti run ...",
    .source = "",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(executor_mpi_params, struct executor_mpi_config),
    .create = executor_create_mpi,
    .destroy = executor_destroy_mpi,
    .ops = &executor_mpi_ops,
};

TUTTI_PLUGIN(executor_mpi_descriptor)
