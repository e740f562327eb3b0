/* worker.c - the worker process: sets up the run's experiment, then trains the candidates that it is sent. */
#include "run_plugins.h"
#include "trial_impl.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <tutti/clock.h>
#include <tutti/protocol.h>
#include <tutti/run.h>
#include <unistd.h>

struct worker {
  double reported; /* the clock when progress was told last */
  tutti_context *context;
  struct tutti_experiment *experiment;
  const char *directory;
  int descriptor;
  tutti_frames *frames;
  size_t capacity;
  struct tutti_training *trainings; /* [capacity] */
  enum tutti_status *results;       /* [capacity]: how training ended */
  size_t count;                     /* of the trainings that it is at */
  char **requests;                  /* [waiting]: those that have come and are not begun */
  size_t waiting, room;
  bool ended; /* the manager has closed the socket */
};

/* Output that plugins and libraries print goes to the run's worker.log. When the manager dies, its workers end. */
static void settle(tutti_context *context, const char *directory) {
  char *path;
  (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (tutti_run_file_path(context, directory, TUTTI_RUN_FILE_LOG, &path) != TUTTI_OK) {
    tutti_error_clear(context);
    return;
  }
  int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
  tutti_free(path);
  if (log < 0)
    return;
  (void)dup2(log, 1);
  (void)dup2(log, 2);
  (void)close(log);
}

static enum tutti_status set_up(struct worker *worker) {
  tutti_context *context = worker->context;
  char *path;
  tutti_recipe *recipe = NULL;
  TUTTI_TRY(context, tutti_run_file_path(context, worker->directory, TUTTI_RUN_FILE_RECIPE, &path));
  enum tutti_status status = tutti_recipe_load_recorded(context, path, 0, NULL, &recipe);
  tutti_free(path);
  if (status != TUTTI_OK)
    return tutti_error_trace(context, status, __FILE__, __LINE__, __func__);
  TUTTI_TRY(context, tutti_experiment_create(context, recipe, &worker->experiment));
  TUTTI_TRY(context, tutti_run_plugins_print(context, worker->experiment->recipe, &worker->experiment->plugins));
  TUTTI_TRY(context, tutti_frames_create(context, &worker->frames));
  worker->capacity = tutti_experiment_capacity(worker->experiment);
  TUTTI_TRY(context, tutti_alloc(context, worker->capacity, sizeof *worker->trainings, &worker->trainings));
  return tutti_alloc(context, worker->capacity, sizeof *worker->results, &worker->results);
}

/* --- what the manager says --- */

static enum tutti_status keep_request(struct worker *worker, char *request) {
  if (worker->waiting == worker->room) {
    size_t room = 2 * worker->room + 4;
    TUTTI_TRY(worker->context,
              tutti_realloc(worker->context, worker->waiting, room, sizeof *worker->requests, &worker->requests));
    worker->room = room;
  }
  worker->requests[worker->waiting++] = request;
  return TUTTI_OK;
}

/* A training that has ended, or has not begun, is not stopped. */
static enum tutti_status stop_training(struct worker *worker, const struct tutti_frame *frame) {
  for (size_t i = 0; i < worker->count; i++)
    if (worker->trainings[i].number == frame->trial && worker->results[i] == TUTTI_OK)
      return tutti_training_stop(worker->context, &worker->trainings[i], frame->text);
  return TUTTI_OK;
}

/* Take the frames that are whole. */
static enum tutti_status take_frames(struct worker *worker) {
  for (bool whole = true; whole;) {
    struct tutti_frame frame;
    enum tutti_status status = TUTTI_OK;
    TUTTI_TRY(worker->context, tutti_frames_take(worker->context, worker->frames, &frame, &whole));
    if (whole && frame.kind == TUTTI_FRAME_REQUEST) {
      status = keep_request(worker, frame.text);
      if (status == TUTTI_OK)
        frame.text = NULL;
    } else if (whole && frame.kind == TUTTI_FRAME_STOP) {
      status = stop_training(worker, &frame);
    }
    tutti_free(frame.text);
    TUTTI_TRY(worker->context, status);
  }
  return TUTTI_OK;
}

/* Has the manager said something? */
static bool has_come(const struct worker *worker) {
  struct pollfd more = {.fd = worker->descriptor, .events = POLLIN};
  return !worker->ended && poll(&more, 1, 0) > 0;
}

static enum tutti_status listen_once(struct worker *worker) {
  TUTTI_TRY(worker->context, tutti_frames_fill(worker->context, worker->frames, worker->descriptor, &worker->ended));
  return take_frames(worker);
}

/* Collect requests: wait for one, then take those that have already arrived, as many as the backend trains at once.
   None: the manager has gone. The caller frees requests[count]. */
static enum tutti_status collect(struct worker *worker, char **requests, size_t *count) {
  *count = 0;
  while (!worker->ended && (worker->waiting == 0 || (worker->waiting < worker->capacity && has_come(worker))))
    TUTTI_TRY(worker->context, listen_once(worker));
  if (worker->ended)
    return TUTTI_OK;
  *count = worker->waiting < worker->capacity ? worker->waiting : worker->capacity;
  memcpy(requests, worker->requests, *count * sizeof *requests);
  worker->waiting -= *count;
  memmove(worker->requests, worker->requests + *count, worker->waiting * sizeof *requests);
  return TUTTI_OK;
}

static enum tutti_status answer(struct worker *worker, size_t index) {
  struct tutti_training *training = &worker->trainings[index];
  char *reply = NULL;
  enum tutti_status status = tutti_training_reply(worker->context, worker->experiment, worker->directory,
                                                  worker->results[index], training, &reply);
  if (status == TUTTI_OK)
    status = tutti_frame_write(worker->context, worker->descriptor, TUTTI_FRAME_DONE, training->number, reply);
  tutti_free(reply);
  return status;
}

/* --- progress, for people who look on --- */

/* A manager that is gone is noticed when its socket is read. */
static void tell_progress(struct worker *worker, const struct tutti_training *training) {
  char *text = NULL;
  enum tutti_status status = tutti_training_progress(worker->context, training, &text);
  worker->reported = tutti_clock();
  if (status == TUTTI_OK)
    status = tutti_frame_write(worker->context, worker->descriptor, TUTTI_FRAME_PROGRESS, training->number, text);
  if (status != TUTTI_OK)
    tutti_error_clear(worker->context);
  tutti_free(text);
}

/* Tell it a few times a second at most, and look at each epoch whether the manager wants it to stop. */
static void on_report(void *argument, const struct tutti_training *training) {
  static const double interval = 0.3;
  struct worker *worker = argument;
  if (has_come(worker) && listen_once(worker) != TUTTI_OK)
    tutti_error_clear(worker->context); /* if it is gone, the answer finds out */
  if (tutti_clock() - worker->reported >= interval)
    tell_progress(worker, training);
}

static void begin_report(struct worker *worker, struct tutti_training *training) {
  if (training->most_epochs > 0) {
    training->report = on_report;
    training->report_argument = worker;
  }
  tell_progress(worker, training);
}

/* The jobs of one batch that could be started, in the form that train_many takes. */
struct batch {
  struct worker *worker;
  const struct tutti_job **jobs;
  struct tutti_outcome **outcomes;
  size_t *places; /* in worker->trainings */
  bool *answered; /* [count] */
  size_t count;
  enum tutti_status status; /* of answering */
};

static void on_done(void *argument, size_t index) {
  struct batch *batch = argument;
  batch->answered[index] = true;
  if (batch->status == TUTTI_OK)
    batch->status = answer(batch->worker, batch->places[index]);
}

/* Training together ended with an error: the jobs that were not done fail with it. */
static enum tutti_status answer_rest(struct batch *batch, enum tutti_status result) {
  tutti_context *context = batch->worker->context;
  enum tutti_status status = batch->status;
  char *message;
  size_t rest = 0;
  TUTTI_TRY(context, tutti_strdup(context, tutti_error_message(context), &message));
  for (size_t i = 0; i < batch->count && status == TUTTI_OK; i++) {
    if (batch->answered[i])
      continue;
    batch->worker->results[batch->places[i]] = TUTTI_FAIL(context, result, "%s", message);
    status = answer(batch->worker, batch->places[i]);
    rest++;
  }
  if (rest == 0)
    tutti_log(context, TUTTI_LOG_WARNING, "%s", message);
  tutti_free(message);
  return status;
}

static enum tutti_status train(struct worker *worker, size_t count) {
  tutti_context *context = worker->context;
  enum tutti_status status = TUTTI_OK;
  struct batch batch = {.worker = worker};
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *batch.jobs, &batch.jobs));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *batch.outcomes, &batch.outcomes));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *batch.places, &batch.places));
  TUTTI_TRY_OUT(context, tutti_alloc(context, count, sizeof *batch.answered, &batch.answered));
  for (size_t i = 0; i < count; i++) {
    if (worker->results[i] != TUTTI_OK)
      continue;
    batch.jobs[batch.count] = &worker->trainings[i].job;
    batch.outcomes[batch.count] = &worker->trainings[i].outcome;
    batch.places[batch.count++] = i;
  }
  if (count == 1 && batch.count == 1) {
    worker->results[0] = tutti_training_train(context, worker->experiment, &worker->trainings[0]);
    TUTTI_TRY_OUT(context, answer(worker, 0));
  } else if (batch.count > 0) {
    status = tutti_backend_train_many(context, worker->experiment->backend, batch.count, batch.jobs, batch.outcomes,
                                      on_done, &batch);
    status = status == TUTTI_OK ? batch.status : answer_rest(&batch, status);
  }
out:
  tutti_free(batch.jobs);
  tutti_free(batch.outcomes);
  tutti_free(batch.places);
  tutti_free(batch.answered);
  return status;
}

/* Train a batch of requests and answer each. A request that cannot even start is answered at once. */
static enum tutti_status serve(struct worker *worker, char **requests, size_t count) {
  enum tutti_status status = TUTTI_OK;
  memset(worker->trainings, 0, count * sizeof *worker->trainings);
  worker->count = count;
  for (size_t i = 0; i < count && status == TUTTI_OK; i++) {
    worker->results[i] = tutti_training_begin(worker->context, worker->experiment, worker->directory, requests[i],
                                              &worker->trainings[i]);
    if (worker->results[i] != TUTTI_OK)
      status = answer(worker, i);
    else
      begin_report(worker, &worker->trainings[i]);
  }
  if (status == TUTTI_OK)
    status = train(worker, count);
  worker->count = 0;
  for (size_t i = 0; i < count; i++)
    tutti_training_end(&worker->trainings[i]);
  return status;
}

int tutti_worker_main(tutti_context *context, const char *directory, int descriptor) {
  struct worker worker = {.context = context, .directory = directory, .descriptor = descriptor};
  char **requests = NULL;
  settle(context, directory);
  enum tutti_status status = set_up(&worker);
  if (status == TUTTI_OK)
    status = tutti_alloc(context, worker.capacity, sizeof *requests, &requests);
  if (status == TUTTI_OK) {
    status = tutti_frame_write(context, descriptor, TUTTI_FRAME_READY, 0, "");
  } else {
    char why[1024];
    (void)snprintf(why, sizeof why, "%s", tutti_error_message(context));
    if (tutti_frame_write(context, descriptor, TUTTI_FRAME_FATAL, 0, why) != TUTTI_OK)
      tutti_log(context, TUTTI_LOG_ERROR, "%s", tutti_error_message(context));
  }
  while (status == TUTTI_OK && !worker.ended) {
    size_t count = 0;
    status = collect(&worker, requests, &count);
    if (status == TUTTI_OK && count > 0)
      status = serve(&worker, requests, count);
    for (size_t i = 0; i < count; i++)
      tutti_free(requests[i]);
  }
  for (size_t i = 0; i < worker.waiting; i++)
    tutti_free(worker.requests[i]);
  tutti_free(worker.requests);
  tutti_free(requests);
  tutti_free(worker.results);
  tutti_free(worker.trainings);
  tutti_frames_destroy(worker.frames);
  tutti_experiment_destroy(worker.experiment);
  return status == TUTTI_OK ? 0 : 1;
}
