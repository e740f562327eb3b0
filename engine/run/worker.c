/* worker.c - the worker process: sets up the run's experiment, then trains the candidates that it is sent. */
#include "run_inputs.h"
#include "run_plugins.h"
#include "trial_folds_impl.h"

#include "core/base/file_impl.h"
#include "core/base/memory_bound_impl.h"

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
  bool queues; /* the backend trains several jobs at once */
  size_t capacity;
  struct place {
    struct tutti_training training;
    char *request;          /* NULL: nothing is trained here */
    size_t begun, done;     /* of its jobs */
  } * places;               /* [capacity] */
  size_t jobs;              /* of a trial: one for each fold, or one */
  struct tutti_fold *folds; /* [jobs], if it queues: the backend holds the rows of each once; NULL: there are none */
  char **requests;          /* [waiting]: those that have come and are not begun */
  size_t waiting, room;
  struct tutti_unsent unsent; /* the training before, whose files are not durable yet */
  bool ended;                 /* the manager has closed the socket */
  enum tutti_status status;   /* of requests and answers */
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

/* With the data that the manager has read, or reads them. Takes the recipe. */
static enum tutti_status make_experiment(struct worker *worker, tutti_recipe *recipe) {
  tutti_context *context = worker->context;
  tutti_dataset *dataset;
  enum tutti_status status = tutti_run_inputs_take(context, worker->directory, recipe, &dataset);
  if (status != TUTTI_OK)
    tutti_recipe_destroy(recipe);
  TUTTI_TRY(context, status);
  if (!dataset)
    return tutti_experiment_create(context, recipe, &worker->experiment);
  TUTTI_TRY(context, tutti_experiment_reopen(context, recipe, dataset, &worker->experiment));
  return tutti_experiment_need_backend(context, worker->experiment);
}

static enum tutti_status make_folds(struct worker *worker) {
  const tutti_dataset *dataset = worker->experiment->dataset;
  size_t folds = worker->queues && dataset ? tutti_dataset_folds(dataset) : 0;
  worker->jobs = folds ? folds : 1;
  if (folds == 0)
    return TUTTI_OK;
  TUTTI_TRY(worker->context, tutti_alloc(worker->context, folds, sizeof *worker->folds, &worker->folds));
  for (size_t f = 0; f < folds; f++)
    TUTTI_TRY(worker->context, tutti_dataset_fold(worker->context, dataset, f, &worker->folds[f]));
  return TUTTI_OK;
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
  if (tutti_recipe_run(recipe)->memory_limit > 0)
    tutti_memory_name_limit(context, (size_t)(tutti_recipe_run(recipe)->memory_limit * 1048576),
                            "what run.memory_limit allows");
  TUTTI_TRY(context, make_experiment(worker, recipe));
  TUTTI_TRY(context, tutti_run_plugins_print(context, worker->experiment->recipe, &worker->experiment->plugins));
  TUTTI_TRY(context, tutti_frames_create(context, &worker->frames));
  worker->queues = tutti_experiment_queues(worker->experiment);
  worker->capacity = tutti_experiment_capacity(worker->experiment);
  TUTTI_TRY(context, tutti_alloc(context, worker->capacity, sizeof *worker->places, &worker->places));
  return make_folds(worker);
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
  for (size_t i = 0; i < worker->capacity; i++)
    if (worker->places[i].request && worker->places[i].training.number == frame->trial)
      return tutti_training_stop(worker->context, &worker->places[i].training, frame->text);
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

/* A request that has come; NULL: none has, or the manager has gone. Unless `waits`, it is not waited for. */
static enum tutti_status take_request(struct worker *worker, bool waits, char **request) {
  *request = NULL;
  while (worker->waiting == 0 && !worker->ended && (waits || has_come(worker)))
    TUTTI_TRY(worker->context, listen_once(worker));
  if (worker->waiting == 0 || worker->ended)
    return TUTTI_OK;
  *request = worker->requests[0];
  worker->waiting--;
  memmove(worker->requests, worker->requests + 1, worker->waiting * sizeof *worker->requests);
  return TUTTI_OK;
}

/* --- replies --- */

/* Send the reply that waits for its files, if there is one; this waits for them. */
static enum tutti_status send_unsent(struct worker *worker) {
  char *reply = NULL;
  if (!worker->unsent.reply)
    return TUTTI_OK;
  uint64_t number = worker->unsent.number;
  enum tutti_status status = tutti_training_reply_end(worker->context, &worker->unsent, &reply);
  if (status == TUTTI_OK)
    status = tutti_frame_write(worker->context, worker->descriptor, TUTTI_FRAME_DONE, number, reply);
  tutti_free(reply);
  return status;
}

/* Reply to a training. Its files become durable while the next one is under way, if there is one. */
static enum tutti_status answer(struct worker *worker, struct tutti_training *training, enum tutti_status result) {
  TUTTI_TRY(worker->context, send_unsent(worker));
  TUTTI_TRY(worker->context, tutti_training_reply_begin(worker->context, worker->experiment, worker->directory, result,
                                                        training, &worker->unsent));
  bool goes_on = worker->unsent.syncing && !worker->queues && (worker->waiting > 0 || has_come(worker));
  return goes_on ? TUTTI_OK : send_unsent(worker);
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
  bool sends = worker->unsent.reply && tutti_file_syncing_is_done(worker->unsent.syncing);
  if (sends && send_unsent(worker) != TUTTI_OK)
    tutti_error_clear(worker->context); /* likewise */
  if (sends || tutti_clock() - worker->reported >= interval)
    tell_progress(worker, training);
}

static void begin_report(struct worker *worker, struct tutti_training *training) {
  if (training->most_epochs > 0) {
    training->report = on_report;
    training->report_argument = worker;
  }
  tell_progress(worker, training);
}

/* --- places where candidates are trained --- */

static void leave(struct place *place) {
  tutti_training_end(&place->training);
  tutti_free(place->request);
  *place = (struct place){.request = NULL};
}

/* Begin with a request, which the place owns. One that cannot even start is answered at once: *begun is false. */
static enum tutti_status begin_training(struct worker *worker, struct place *place, char *request, bool *begun) {
  place->request = request;
  enum tutti_status result =
      tutti_training_begin(worker->context, worker->experiment, worker->directory, request, &place->training);
  if (result == TUTTI_OK && worker->folds)
    result = tutti_folds_prepare(worker->context, worker->experiment, &place->training);
  *begun = result == TUTTI_OK;
  if (*begun) {
    begin_report(worker, &place->training);
    return TUTTI_OK;
  }
  enum tutti_status status = answer(worker, &place->training, result);
  leave(place);
  return status;
}

/* --- jobs of a backend that trains several at once --- */

/* Of its jobs one is done. When all are, or the others are not needed, it is answered. */
static void count_done(struct worker *worker, struct place *place, size_t number) {
  if (worker->folds)
    tutti_folds_done(&place->training, number);
  place->done++;
  if (worker->folds && tutti_folds_pointless(&place->training, place->begun)) {
    place->done += worker->jobs - place->begun;
    place->begun = worker->jobs;
  }
  if (place->done < worker->jobs)
    return;
  enum tutti_status result =
      worker->folds ? tutti_folds_gather(worker->context, worker->experiment, &place->training) : TUTTI_OK;
  if (worker->status == TUTTI_OK)
    worker->status = answer(worker, &place->training, result);
  leave(place);
}

/* The next job of a trial. One that cannot be made has failed; *made is then false. */
static void make_job(struct worker *worker, struct place *place, const struct tutti_job **job,
                     struct tutti_outcome **outcome, bool *made) {
  struct tutti_training *training = &place->training;
  size_t number = place->begun++;
  *made = true;
  *job = &training->job;
  *outcome = &training->outcome;
  if (!worker->folds)
    return;
  *made = tutti_folds_begin(worker->context, worker->experiment, training, number, &worker->folds[number]) == TUTTI_OK;
  *job = &training->folds[number].job;
  *outcome = &training->folds[number].outcome;
  if (*made)
    return;
  (*outcome)->state = TUTTI_STATE_FAILED;
  (void)snprintf((*outcome)->failure, sizeof(*outcome)->failure, "%s", tutti_error_message(worker->context));
  tutti_error_clear(worker->context);
  count_done(worker, place, number);
}

/* A place whose trial has jobs that nobody has begun; else a free one; NULL: there is none. */
static struct place *find_place(struct worker *worker) {
  struct place *free_one = NULL;
  for (size_t i = worker->capacity; i-- > 0;) {
    struct place *place = &worker->places[i];
    if (place->request && place->begun < worker->jobs)
      return place;
    free_one = place->request ? free_one : place;
  }
  return free_one;
}

/* The next job: of a trial that is begun or, if a request has come and there is a place for it, of that. */
static bool next_job(void *argument, const struct tutti_job **job, struct tutti_outcome **outcome, size_t *number) {
  struct worker *worker = argument;
  struct place *place;
  while (worker->status == TUTTI_OK && (place = find_place(worker))) {
    bool made = place->request != NULL;
    if (!made) {
      char *request;
      worker->status = take_request(worker, false, &request);
      if (!request)
        return false;
      worker->status = begin_training(worker, place, request, &made);
    }
    if (!made)
      continue;
    *number = (size_t)(place - worker->places) * worker->jobs + place->begun;
    make_job(worker, place, job, outcome, &made);
    if (made)
      return true;
  }
  return false;
}

static void job_done(void *argument, size_t number) {
  struct worker *worker = argument;
  count_done(worker, &worker->places[number / worker->jobs], number % worker->jobs);
}

/* Wait for a request. A backend that trains many at once takes those that come meanwhile, too. An error other than of
   one job ends this worker: another takes its place. */
static enum tutti_status serve(struct worker *worker) {
  const struct tutti_job_queue queue = {sizeof queue, worker, next_job, job_done};
  tutti_context *context = worker->context;
  struct place *place = &worker->places[0];
  char *request;
  bool begun;
  if (worker->queues) {
    struct pollfd more = {.fd = worker->descriptor, .events = POLLIN};
    if (worker->waiting == 0)
      (void)poll(&more, 1, -1);
    TUTTI_TRY(context, tutti_backend_train_queue(context, worker->experiment->backend, &queue));
    return worker->status;
  }
  TUTTI_TRY(context, take_request(worker, false, &request));
  if (!request) {
    TUTTI_TRY(context, send_unsent(worker));
    TUTTI_TRY(context, take_request(worker, true, &request));
  }
  if (!request)
    return TUTTI_OK;
  TUTTI_TRY(context, begin_training(worker, place, request, &begun));
  if (!begun)
    return TUTTI_OK;
  enum tutti_status result = tutti_training_train(context, worker->experiment, &place->training);
  enum tutti_status status = answer(worker, &place->training, result);
  leave(place);
  return status;
}

int tutti_worker_main(tutti_context *context, const char *directory, int descriptor) {
  struct worker worker = {.context = context, .directory = directory, .descriptor = descriptor};
  settle(context, directory);
  enum tutti_status status = set_up(&worker);
  if (status == TUTTI_OK) {
    status = tutti_frame_write(context, descriptor, TUTTI_FRAME_READY, 0, "");
  } else {
    char why[1024];
    (void)snprintf(why, sizeof why, "%s", tutti_error_message(context));
    if (tutti_frame_write(context, descriptor, TUTTI_FRAME_FATAL, 0, why) != TUTTI_OK)
      tutti_log(context, TUTTI_LOG_ERROR, "%s", tutti_error_message(context));
  }
  while (status == TUTTI_OK && worker.places && !worker.ended) {
    status = serve(&worker);
    if (status != TUTTI_OK)
      tutti_log(context, TUTTI_LOG_ERROR, "%s", tutti_error_message(context));
  }
  tutti_unsent_drop(context, &worker.unsent);
  for (size_t i = 0; worker.places && i < worker.capacity; i++)
    leave(&worker.places[i]);
  for (size_t i = 0; i < worker.waiting; i++)
    tutti_free(worker.requests[i]);
  tutti_free(worker.requests);
  tutti_free(worker.places);
  for (size_t f = 0; worker.folds && f < worker.jobs; f++)
    tutti_fold_release(&worker.folds[f]);
  tutti_free(worker.folds);
  tutti_frames_destroy(worker.frames);
  tutti_experiment_destroy(worker.experiment);
  return status == TUTTI_OK ? 0 : 1;
}
