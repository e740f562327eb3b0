/* executor simulated: any number of workers that take no time. Manager and builder are the real ones; only trainings do
   not last: one real worker process answers each request (backends function and table know results without training),
   and the reply is held back until a clock of its own has come to the training's end. How long a training takes is
   drawn from a distribution, or from durations that a run recorded. While the manager works, the clock goes on; while
   it waits, the clock jumps to the next event. So what the manager costs a thousand workers can be measured on one
   core.

   A worker that ends a training takes the next one from those that wait on its node, if `ahead` lets any wait there;
   else from the manager, once that looks. */
#include "plugins/shared/crew/crew.h"
#include "plugins/shared/json.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { SHAPE_CONSTANT, SHAPE_NORMAL, SHAPE_LOGNORMAL, SHAPE_EXPONENTIAL };
static const char *const simulated_shapes[] = {"constant", "normal", "lognormal", "exponential", NULL};

enum { PACE_REAL, PACE_PROCESSOR };
static const char *const simulated_paces[] = {"real", "processor", NULL};

struct executor_simulated_config {
  struct crew_config crew;
  int shape, pace;
  double mean, deviation, ahead;
  const char *durations;
};

static const struct tutti_param executor_simulated_params[] = {
    TUTTI_REAL(struct executor_simulated_config, mean, "0", 0, TUTTI_NO_LIMIT,
               "Mean of the durations; 0: trainings take no time.", .unit = "s"),
    TUTTI_REAL(struct executor_simulated_config, deviation, "0", 0, TUTTI_NO_LIMIT,
               "Their standard deviation, where the distribution has one.", .unit = "s"),
    TUTTI_CHOICE(struct executor_simulated_config, shape, "normal", simulated_shapes,
                 "Their distribution: constant, normal (at least a hundredth of the mean), lognormal or exponential."),
    TUTTI_PATH(
        struct executor_simulated_config, durations, "",
        "A run's directory, or a file of durations in seconds, one a line; each training takes as long as one of "
        "its trials, drawn at random. Empty: from the distribution."),
    TUTTI_REAL(struct executor_simulated_config, ahead, "0.125", 0, 1000,
               "Requests that wait where the workers are, as a share of these; 0: a worker waits for the manager after "
               "each training."),
    TUTTI_CHOICE(struct executor_simulated_config, pace, "real", simulated_paces,
                 "How the clock goes on while the manager works: as real time does, or by the processor's time that it "
                 "takes, which does not count that it waits for disks, nor other programs on a busy machine."),
    CREW_PARAMS(struct executor_simulated_config),
};

struct simulated_task {
  uint64_t trial;
  uint32_t worker;
  double since, duration;
  enum tutti_reply_kind kind; /* of the real worker's answer; NONE: it has not answered */
  char *reply, *progress;     /* what it said at the end, and at last before; NULL */
  struct simulated_task *next, *next_same;
};

struct simulated_reply {
  enum tutti_reply_kind kind;
  struct simulated_task *task;
  struct simulated_reply *next;
};

struct simulated_queue {
  struct simulated_task *first, **end;
  size_t count;
};

enum { BUCKETS = 4096 };

struct executor_simulated {
  const struct executor_simulated_config *config;
  struct tutti_executor_setup setup;
  struct crew *crew;
  double offset; /* of the simulated clock from its pace */
  double *durations;
  size_t duration_count;
  struct simulated_task **heap; /* [running]: trainings by their end, the first on top */
  size_t running;
  uint32_t *idle; /* [idle_count]: numbers of workers that have nothing to do */
  size_t idle_count, most_ahead;
  struct simulated_queue here, there; /* at the manager, and where the workers are */
  struct simulated_reply *replies, **replies_end;
  struct simulated_task *answers[BUCKETS]; /* tasks by trial */
  /* What comes of it. */
  double begin, end, busy, since_sum, busy_while_asked, last_submit;
  uint64_t count;
};

/* --- clock --- */

static double pace_of(const struct executor_simulated *self) {
  struct timespec now;
  if (self->config->pace == PACE_REAL)
    return tutti_clock();
  (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double now_of(const struct executor_simulated *self) { return pace_of(self) + self->offset; }

static double executor_clock_simulated(void *self) { return now_of(self); }

static void jump_to(struct executor_simulated *self, double time) {
  double ahead = time - now_of(self);
  if (ahead > 0)
    self->offset += ahead;
}

/* --- durations --- */

static enum tutti_status add_duration(tutti_context *context, struct executor_simulated *self, double seconds) {
  if ((self->duration_count & (self->duration_count - 1)) == 0)
    TUTTI_TRY(context, tutti_realloc(context, self->duration_count, self->duration_count ? 2 * self->duration_count : 1,
                                     sizeof *self->durations, &self->durations));
  self->durations[self->duration_count++] = seconds;
  return TUTTI_OK;
}

static enum tutti_status check_distribution(tutti_context *context, const struct executor_simulated_config *config) {
  if (config->durations[0] || config->deviation == 0 || config->mean > 0)
    return TUTTI_OK;
  return TUTTI_FAIL(
      context, TUTTI_ERROR_USAGE,
      "[executor] deviation = %g: expected a mean above 0 beside it; with mean = 0 trainings take no time",
      config->deviation);
}

/* A number of seconds a line; empty lines are passed over. */
static enum tutti_status read_lines(tutti_context *context, struct executor_simulated *self, const char *path) {
  char text[128], *rest;
  enum tutti_status status = TUTTI_OK;
  FILE *file = fopen(path, "re");
  if (!file)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[executor] durations: cannot read %s: %m", path);
  for (size_t line = 1; status == TUTTI_OK && fgets(text, sizeof text, file); line++) {
    if (text[strspn(text, " \t\r\n")] == '\0')
      continue;
    double seconds = strtod(text, &rest);
    if (rest == text || rest[strspn(rest, " \t\r\n")] || !(seconds >= 0) || !isfinite(seconds))
      status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                          "[executor] durations: %s, line %zu: expected one number of seconds, at least 0", path, line);
    else
      status = add_duration(context, self, seconds);
  }
  (void)fclose(file);
  return status;
}

/* How long the trials of a run took that have a result (docs/run-directory.md). */
static enum tutti_status read_run(tutti_context *context, struct executor_simulated *self, const char *directory) {
  sqlite3 *catalogue = NULL;
  sqlite3_stmt *trials = NULL;
  char *path;
  int step = SQLITE_DONE;
  enum tutti_status status = TUTTI_OK;
  TUTTI_TRY(context, tutti_format(context, &path, "%s/catalogue.sqlite", directory));
  int opened = sqlite3_open_v2(path, &catalogue, SQLITE_OPEN_READONLY, NULL);
  if (opened == SQLITE_OK)
    opened = sqlite3_prepare_v2(catalogue, "SELECT seconds FROM trials WHERE state IS NOT NULL ORDER BY number", -1,
                                &trials, NULL);
  while (status == TUTTI_OK && opened == SQLITE_OK && (step = sqlite3_step(trials)) == SQLITE_ROW)
    status = add_duration(context, self, sqlite3_column_double(trials, 0));
  if (status == TUTTI_OK && (opened != SQLITE_OK || step != SQLITE_DONE))
    status = TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[executor] durations: cannot read %s of a run: %s", path,
                        catalogue ? sqlite3_errmsg(catalogue) : sqlite3_errstr(opened));
  (void)sqlite3_finalize(trials);
  (void)sqlite3_close(catalogue);
  tutti_free(path);
  return status;
}

static enum tutti_status read_durations(tutti_context *context, struct executor_simulated *self) {
  const char *path = self->config->durations;
  struct stat facts;
  if (!path[0])
    return TUTTI_OK;
  TUTTI_TRY(context, stat(path, &facts) == 0 && S_ISDIR(facts.st_mode) ? read_run(context, self, path)
                                                                       : read_lines(context, self, path));
  if (self->duration_count == 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "[executor] durations: %s has none", path);
  return TUTTI_OK;
}

static double draw_duration(const struct executor_simulated *self, uint64_t trial) {
  const struct executor_simulated_config *config = self->config;
  struct tutti_random random;
  tutti_random_init(&random, self->setup.seed, "simulated duration", trial);
  if (self->duration_count)
    return self->durations[tutti_random_below(&random, self->duration_count)];
  double mean = config->mean, share = config->deviation / config->mean;
  if (mean == 0)
    return 0;
  switch (config->shape) {
  case SHAPE_NORMAL:
    return fmax(mean + config->deviation * tutti_random_normal(&random), mean / 100);
  case SHAPE_LOGNORMAL: {
    double variance = log1p(share * share); /* of the logarithm */
    return exp(log(mean) - variance / 2 + sqrt(variance) * tutti_random_normal(&random));
  }
  case SHAPE_EXPONENTIAL:
    return -mean * log1p(-tutti_random_uniform(&random));
  default:
    return mean;
  }
}

/* --- queues --- */

static void enqueue(struct simulated_queue *queue, struct simulated_task *task) {
  task->next = NULL;
  *queue->end = task;
  queue->end = &task->next;
  queue->count++;
}

static struct simulated_task *take_first(struct simulated_queue *queue) {
  struct simulated_task *task = queue->first;
  queue->first = task->next;
  if (!queue->first)
    queue->end = &queue->first;
  queue->count--;
  return task;
}

static double end_of(const struct simulated_task *task) { return task->since + task->duration; }

static bool is_before(const struct simulated_task *a, const struct simulated_task *b) {
  return end_of(a) < end_of(b) || (end_of(a) == end_of(b) && a->trial < b->trial);
}

static void heap_add(struct executor_simulated *self, struct simulated_task *task) {
  size_t i = self->running++;
  for (; i > 0 && is_before(task, self->heap[(i - 1) / 2]); i = (i - 1) / 2)
    self->heap[i] = self->heap[(i - 1) / 2];
  self->heap[i] = task;
}

static struct simulated_task *heap_take(struct executor_simulated *self) {
  struct simulated_task *top = self->heap[0], *last = self->heap[--self->running];
  size_t i = 0;
  for (;;) {
    size_t child = 2 * i + 1;
    if (child >= self->running)
      break;
    if (child + 1 < self->running && is_before(self->heap[child + 1], self->heap[child]))
      child++;
    if (!is_before(self->heap[child], last))
      break;
    self->heap[i] = self->heap[child];
    i = child;
  }
  self->heap[i] = last;
  return top;
}

/* --- create, destroy --- */

static void free_task(struct simulated_task *task) {
  tutti_free(task->reply);
  tutti_free(task->progress);
  tutti_free(task);
}

static void executor_destroy_simulated(void *instance) {
  struct executor_simulated *self = instance;
  crew_destroy(self->crew);
  for (size_t i = 0; i < BUCKETS; i++)
    for (struct simulated_task *task = self->answers[i], *next; task; task = next) {
      next = task->next_same;
      free_task(task);
    }
  for (struct simulated_reply *reply = self->replies, *next; reply; reply = next) {
    next = reply->next;
    tutti_free(reply);
  }
  tutti_free(self->durations);
  tutti_free(self->heap);
  tutti_free(self->idle);
  tutti_free(self);
}

static enum tutti_status executor_create_simulated(tutti_context *context, const void *config, const void *setup_,
                                                   void **self) {
  enum tutti_status status = TUTTI_OK;
  const struct tutti_executor_setup *setup = setup_;
  struct executor_simulated *simulated = NULL;
  TUTTI_TRY_OUT(context, tutti_alloc(context, 1, sizeof *simulated, &simulated));
  simulated->config = config;
  simulated->offset = tutti_clock() - pace_of(simulated);
  simulated->here.end = &simulated->here.first;
  simulated->there.end = &simulated->there.first;
  simulated->replies_end = &simulated->replies;
  memcpy(&simulated->setup, setup, setup->size < sizeof simulated->setup ? setup->size : sizeof simulated->setup);
  struct tutti_executor_setup one = simulated->setup;
  one.size = sizeof one;
  one.workers = 1;
  size_t places = simulated->setup.workers * simulated->setup.capacity;
  simulated->most_ahead = (size_t)(simulated->config->ahead * (double)places);
  TUTTI_TRY_OUT(context, tutti_alloc(context, places, sizeof *simulated->heap, &simulated->heap));
  TUTTI_TRY_OUT(context, tutti_alloc(context, places, sizeof *simulated->idle, &simulated->idle));
  for (size_t i = places; i-- > 0;)
    simulated->idle[simulated->idle_count++] = (uint32_t)(i / simulated->setup.capacity);
  TUTTI_TRY_OUT(context, check_distribution(context, simulated->config));
  TUTTI_TRY_OUT(context, read_durations(context, simulated));
  TUTTI_TRY_OUT(context, crew_create(context, &simulated->config->crew, &one, 0, NULL, &simulated->crew));
  *self = simulated;
  simulated = NULL;
out:
  if (simulated)
    executor_destroy_simulated(simulated);
  return status;
}

/* --- simulated workers --- */

static enum tutti_status push_reply(struct executor_simulated *self, tutti_context *context, enum tutti_reply_kind kind,
                                    struct simulated_task *task) {
  struct simulated_reply *reply;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *reply, &reply));
  *reply = (struct simulated_reply){.kind = kind, .task = task};
  *self->replies_end = reply;
  self->replies_end = &reply->next;
  return TUTTI_OK;
}

static enum tutti_status start(struct executor_simulated *self, tutti_context *context, struct simulated_task *task,
                               uint32_t worker, double at) {
  task->worker = worker;
  task->since = at;
  heap_add(self, task);
  self->since_sum += at - self->begin;
  return push_reply(self, context, TUTTI_REPLY_PROGRESS, task);
}

/* What has happened up to now: trainings ended, and their workers began what waits where they are. */
static enum tutti_status catch_up(struct executor_simulated *self, tutti_context *context) {
  double now = now_of(self);
  while (self->running && end_of(self->heap[0]) <= now) {
    struct simulated_task *task = heap_take(self);
    double at = end_of(task);
    bool late = task->duration >= self->setup.trial_timeout;
    self->busy += task->duration;
    self->since_sum -= task->since - self->begin;
    self->end = at;
    self->count++;
    TUTTI_TRY(context, push_reply(self, context, late ? TUTTI_REPLY_TIMED_OUT : TUTTI_REPLY_DONE, task));
    if (self->there.count)
      TUTTI_TRY(context, start(self, context, take_first(&self->there), task->worker, at));
    else
      self->idle[self->idle_count++] = task->worker;
  }
  return TUTTI_OK;
}

/* The manager hands out what it has. */
static enum tutti_status dispatch(struct executor_simulated *self, tutti_context *context) {
  while (self->here.count && self->idle_count)
    TUTTI_TRY(context, start(self, context, take_first(&self->here), self->idle[--self->idle_count], now_of(self)));
  while (self->here.count && self->there.count < self->most_ahead)
    enqueue(&self->there, take_first(&self->here));
  return TUTTI_OK;
}

/* --- the real worker --- */

static struct simulated_task **place_of(struct executor_simulated *self, uint64_t trial) {
  struct simulated_task **place = &self->answers[trial % BUCKETS];
  while (*place && (*place)->trial != trial)
    place = &(*place)->next_same;
  return place;
}

static void note_answer(struct executor_simulated *self, struct tutti_reply *reply) {
  struct simulated_task *task = *place_of(self, reply->trial);
  if (!task)
    return;
  bool progress = reply->kind == TUTTI_REPLY_PROGRESS;
  char **place = progress ? &task->progress : &task->reply;
  if (!progress)
    task->kind = reply->kind;
  tutti_free(*place);
  *place = reply->text;
  reply->text = NULL;
}

/* Wait until the real worker has said something of a trial, or has ended it; so long at most. Time stands still
   meanwhile. */
static enum tutti_status await(struct executor_simulated *self, tutti_context *context,
                               const struct simulated_task *task, bool begun, double longest) {
  double begin = pace_of(self), end = tutti_clock() + longest;
  enum tutti_status status = TUTTI_OK;
  while (status == TUTTI_OK && task->kind == TUTTI_REPLY_NONE && !(begun && task->progress) &&
         !tutti_cancelled(context) && tutti_clock() < end) {
    struct tutti_reply reply = {.size = sizeof reply};
    status = crew_wait(self->crew, context, fmax(end - tutti_clock(), 0), &reply);
    if (status == TUTTI_OK && reply.kind != TUTTI_REPLY_NONE)
      note_answer(self, &reply);
    tutti_free(reply.text);
  }
  self->offset -= pace_of(self) - begin;
  return status;
}

/* The real worker's reply, as one who has trained for so long would give it. Other texts stay as they are. */
static enum tutti_status print_reply(tutti_context *context, struct simulated_task *task, char **text) {
  json_t *root = json_loads(task->reply, 0, NULL);
  if (json_is_object(root) && json_object_get(root, "seconds")) {
    (void)json_object_set_new(root, "seconds", json_real(task->duration));
    return shared_json_print(context, root, JSON_COMPACT, "a worker's reply", text);
  }
  json_decref(root);
  *text = task->reply;
  task->reply = NULL;
  return TUTTI_OK;
}

/* --- ops --- */

static size_t executor_capacity_simulated(void *instance) {
  const struct executor_simulated *self = instance;
  return self->setup.workers * self->setup.capacity;
}

static enum tutti_status executor_submit_simulated(void *instance, tutti_context *context, uint64_t trial,
                                                   const char *request) {
  struct executor_simulated *self = instance;
  struct simulated_task *task;
  TUTTI_TRY(context, tutti_alloc(context, 1, sizeof *task, &task));
  *task = (struct simulated_task){.trial = trial, .duration = draw_duration(self, trial)};
  task->duration = fmin(task->duration, self->setup.trial_timeout);
  task->next_same = self->answers[trial % BUCKETS];
  self->answers[trial % BUCKETS] = task;
  enqueue(&self->here, task);
  if (self->begin == 0)
    self->begin = self->end = now_of(self);
  TUTTI_TRY(context, crew_submit(self->crew, context, trial, request));
  TUTTI_TRY(context, catch_up(self, context));
  TUTTI_TRY(context, dispatch(self, context));
  double now = now_of(self);
  self->last_submit = now;
  self->busy_while_asked = self->busy + (double)self->running * (now - self->begin) - self->since_sum;
  return TUTTI_OK;
}

static void drop_first(struct executor_simulated *self) {
  struct simulated_reply *entry = self->replies;
  self->replies = entry->next;
  if (!self->replies)
    self->replies_end = &self->replies;
  tutti_free(entry);
}

static enum tutti_status tell_progress(struct executor_simulated *self, struct simulated_task *task,
                                       struct tutti_reply *said) {
  said->seconds = now_of(self) - task->since;
  said->text = task->progress;
  task->progress = NULL;
  if (!said->text) /* it ended at once */
    said->kind = TUTTI_REPLY_NONE;
  return TUTTI_OK;
}

static enum tutti_status tell_end(struct executor_simulated *self, tutti_context *context, struct simulated_task *task,
                                  struct tutti_reply *said) {
  bool late = said->kind == TUTTI_REPLY_TIMED_OUT;
  said->seconds = task->duration;
  if (late)
    TUTTI_TRY(context, tutti_format(context, &said->text, "took longer than run.trial_timeout = %g s",
                                    self->setup.trial_timeout));
  else
    TUTTI_TRY(context, print_reply(context, task, &said->text));
  if (!late)
    said->kind = task->kind;
  *place_of(self, task->trial) = task->next_same;
  free_task(task);
  return TUTTI_OK;
}

/* The first reply, if the real worker has said that much; else *reply stays as it is. */
static enum tutti_status take_reply(struct executor_simulated *self, tutti_context *context, double longest,
                                    struct tutti_reply *reply) {
  struct simulated_task *task = self->replies->task;
  bool progress = self->replies->kind == TUTTI_REPLY_PROGRESS;
  struct tutti_reply said = {
      .size = sizeof said, .kind = self->replies->kind, .trial = task->trial, .worker = task->worker};
  TUTTI_TRY(context, await(self, context, task, progress, longest));
  if (task->kind == TUTTI_REPLY_NONE && !(progress && task->progress))
    return TUTTI_OK;
  drop_first(self);
  TUTTI_TRY(context, progress ? tell_progress(self, task, &said) : tell_end(self, context, task, &said));
  TUTTI_GIVE(reply, &said);
  return TUTTI_OK;
}

static enum tutti_status executor_wait_simulated(void *instance, tutti_context *context, double timeout,
                                                 struct tutti_reply *reply) {
  static const double shortest = 0.05; /* for the real worker, which needs no longer */
  struct executor_simulated *self = instance;
  double end = timeout < 0 ? INFINITY : now_of(self) + timeout, longest = timeout < 0 ? 1 : fmax(timeout, shortest);
  const struct tutti_reply none = {.size = sizeof none, .kind = TUTTI_REPLY_NONE};
  TUTTI_GIVE(reply, &none);
  for (;;) {
    TUTTI_TRY(context, catch_up(self, context));
    TUTTI_TRY(context, dispatch(self, context));
    while (self->replies) {
      TUTTI_TRY(context, take_reply(self, context, longest, reply));
      if (reply->kind != TUTTI_REPLY_NONE || timeout >= 0 || tutti_cancelled(context))
        return TUTTI_OK;
    }
    double next = self->running ? end_of(self->heap[0]) : INFINITY;
    if (tutti_cancelled(context) || now_of(self) >= end || (isinf(next) && isinf(end)))
      return TUTTI_OK;
    jump_to(self, fmin(next, end));
    if (end < next)
      return TUTTI_OK;
  }
}

static enum tutti_status executor_describe_simulated(void *instance, tutti_context *context, char **json) {
  const struct executor_simulated *self = instance;
  double places = (double)(self->setup.workers * self->setup.capacity);
  double asked = self->last_submit - self->begin, all = self->end - self->begin;
  json_t *root = json_pack("{s:I, s:I, s:f, s:f, s:f}", "trainings", (json_int_t)self->count, "workers",
                           (json_int_t)self->setup.workers, "seconds", all, "utilisation",
                           all > 0 ? self->busy / (places * all) : 0, "utilisation_until_last_request",
                           asked > 0 ? self->busy_while_asked / (places * asked) : 0);
  return shared_json_print(context, root, JSON_REAL_PRECISION(6), "what came of a simulation", json);
}

static const struct tutti_executor_ops executor_simulated_ops = {
    .size = sizeof executor_simulated_ops,
    .capacity = executor_capacity_simulated,
    .submit = executor_submit_simulated,
    .wait = executor_wait_simulated,
    .clock = executor_clock_simulated,
    .describe = executor_describe_simulated,
};

static const struct tutti_descriptor executor_simulated_descriptor = {
    TUTTI_DESCRIPTOR_HEAD(TUTTI_KIND_EXECUTOR, "simulated"),
    .version = "1.0",
    .summary = "any number of workers whose trainings take no time, to measure what the manager costs them",
    .source = "",
    .licence = "Apache-2.0",
    .params = TUTTI_PARAMS(executor_simulated_params, struct executor_simulated_config),
    .create = executor_create_simulated,
    .destroy = executor_destroy_simulated,
    .ops = &executor_simulated_ops,
};

TUTTI_PLUGIN(executor_simulated_descriptor)
