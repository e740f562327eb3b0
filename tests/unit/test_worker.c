/* test_worker.c - the worker process: what it answers, one request or several at a time. It works in a child of this
   process, with the simulated backend. */
#include "simulated.h"

#include "engine/run/experiment_impl.h"

#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tutti/protocol.h>
#include <unistd.h>

static pid_t worker;
static int descriptor;
static tutti_frames *frames;

/* Start a worker of a run without data whose recipe is this. */
static void start(const char *more) {
  int pair[2];
  assert_true(mkdir("run", 0700) == 0);
  simulated_write("run/recipe.ini", simulated_recipe(false, more));
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  worker = fork();
  assert_true(worker >= 0);
  if (worker == 0) {
    (void)close(pair[0]);
    _exit(tutti_worker_main(simulated_context, "run", pair[1]));
  }
  (void)close(pair[1]);
  descriptor = pair[0];
  SIMULATED_OK(tutti_frames_create(simulated_context, &frames));
}

/* The next frame; the caller frees its text. False: the worker has closed its side. */
static bool next(struct tutti_frame *frame) {
  for (;;) {
    bool whole, ended;
    SIMULATED_OK(tutti_frames_take(simulated_context, frames, frame, &whole));
    if (whole)
      return true;
    struct pollfd poll_of = {.fd = descriptor, .events = POLLIN};
    if (poll(&poll_of, 1, 30000) != 1)
      fail_msg("the worker said nothing for 30 seconds");
    SIMULATED_OK(tutti_frames_fill(simulated_context, frames, descriptor, &ended));
    if (ended)
      return false;
  }
}

static void expect_ready(void) {
  struct tutti_frame frame;
  assert_true(next(&frame));
  if (frame.kind != TUTTI_FRAME_READY)
    fail_msg("frame %d: %s", (int)frame.kind, frame.text);
  tutti_free(frame.text);
}

static void send_request(uint64_t trial, const char *data, double x) {
  char *text;
  SIMULATED_OK(tutti_format(simulated_context, &text,
                            "{\"trial\": %llu, \"data\": \"%s\", \"candidate\": {\"architecture\": {}, "
                            "\"hyperparameters\": {\"x\": %g}, \"seed\": \"3\"}}",
                            (unsigned long long)trial, data, x));
  SIMULATED_OK(tutti_frame_write(simulated_context, descriptor, TUTTI_FRAME_REQUEST, trial, text));
  tutti_free(text);
}

static const char no_data[] = "0000000000000000";

/* The answer to a trial, as JSON. What the worker says of its progress before is passed over. */
static json_t *answer(uint64_t trial) {
  struct tutti_frame frame;
  bool there = next(&frame);
  for (; there && frame.kind == TUTTI_FRAME_PROGRESS; there = next(&frame))
    tutti_free(frame.text);
  if (!there)
    fail_msg("the worker ended before it answered trial %llu", (unsigned long long)trial);
  assert_int_equal(frame.kind, TUTTI_FRAME_DONE);
  assert_int_equal(frame.trial, trial);
  json_t *root = json_loads(frame.text, 0, NULL);
  assert_non_null(root);
  tutti_free(frame.text);
  return root;
}

static const char *text_of(json_t *root, const char *key) { return json_string_value(json_object_get(root, key)); }

static void expect_loss(uint64_t trial, double loss) {
  json_t *root = answer(trial);
  assert_string_equal(text_of(root, "state"), "finished");
  assert_true(json_number_value(json_object_get(root, "loss")) == loss);
  json_decref(root);
}

/* Close our side; the worker ends with this code. */
static void expect_end(int code) {
  struct tutti_frame frame;
  int how;
  assert_int_equal(shutdown(descriptor, SHUT_WR), 0);
  assert_false(next(&frame));
  assert_true(waitpid(worker, &how, 0) == worker);
  assert_true(WIFEXITED(how));
  assert_int_equal(WEXITSTATUS(how), code);
  (void)close(descriptor);
  tutti_frames_destroy(frames);
}

static void requests_are_answered_until_the_end(void **state) {
  (void)state;
  start("");
  expect_ready();
  for (uint64_t i = 0; i < 5; i++) {
    send_request(i, no_data, 0.25 * (double)i);
    expect_loss(i, 0.25 * (double)i);
  }
  expect_end(0);
}

static void a_request_that_cannot_begin_is_answered(void **state) {
  (void)state;
  start("");
  expect_ready();
  send_request(1, "00000000000000ff", 1);
  json_t *root = answer(1);
  assert_string_equal(text_of(root, "status"), "corrupt");
  assert_non_null(strstr(text_of(root, "failure"), "the data have changed"));
  json_decref(root);
  send_request(2, no_data, 7); /* out of its range */
  root = answer(2);
  assert_string_equal(text_of(root, "state"), "failed");
  json_decref(root);
  send_request(3, no_data, 1.5);
  expect_loss(3, 1.5);
  expect_end(0);
}

static enum tutti_status tell_how_many(tutti_context *context, const struct tutti_job *job,
                                       struct tutti_outcome *outcome) {
  (void)context, (void)job;
  outcome->value = (double)simulated.jobs[(simulated.job_count - 1) % SIMULATED_MOST].together * 100 + job->trial;
  return TUTTI_OK;
}

/* Requests that wait while the worker is at work are trained together, as many as the backend takes, and each gets its
   own answer, although they end in another order and one of them cannot begin. */
static void a_batch_is_trained_together(void **state) {
  (void)state;
  simulated.capacity = 3;
  simulated.train = tell_how_many;
  start("");
  expect_ready();
  assert_int_equal(kill(worker, SIGSTOP), 0);
  send_request(10, no_data, 0);
  send_request(11, "00000000000000ff", 0);
  send_request(12, no_data, 0);
  send_request(13, no_data, 0);
  send_request(14, no_data, 0);
  assert_int_equal(kill(worker, SIGCONT), 0);
  json_decref(answer(11)); /* at once */
  expect_loss(13, 313);
  expect_loss(12, 312);
  expect_loss(10, 310);
  expect_loss(14, 114);
  expect_end(0);
}

static enum tutti_status fail_at_twenty(tutti_context *context, const struct tutti_job *job,
                                        struct tutti_outcome *outcome) {
  (void)outcome;
  return job->trial == 20 ? TUTTI_FAIL(context, TUTTI_ERROR_NUMERIC, "the device is gone") : TUTTI_OK;
}

/* train_many ends with an error after one of three: the others fail with it, and all are answered. */
static void the_rest_of_a_batch_that_failed_is_answered(void **state) {
  (void)state;
  simulated.capacity = 3;
  simulated.train = fail_at_twenty;
  start("");
  expect_ready();
  assert_int_equal(kill(worker, SIGSTOP), 0);
  for (uint64_t i = 19; i < 22; i++)
    send_request(i, no_data, 0.5);
  assert_int_equal(kill(worker, SIGCONT), 0);
  expect_loss(21, 0.5);
  for (uint64_t i = 19; i < 21; i++) {
    json_t *root = answer(i);
    assert_string_equal(text_of(root, "state"), "failed");
    assert_non_null(strstr(text_of(root, "failure"), "the device is gone"));
    json_decref(root);
  }
  send_request(30, no_data, 1);
  expect_loss(30, 1);
  expect_end(0);
}

/* A backend that takes jobs while others train gets those that come meanwhile; a place is free again as soon as one is
   done. */
static void requests_join_those_that_train(void **state) {
  (void)state;
  simulated = (struct simulated){.capacity = 2, .epochs = 3, .queue = true, .wanted = 3, .train = tell_how_many};
  start("");
  expect_ready();
  send_request(40, no_data, 0);
  for (uint64_t i = 41; i < 44; i++) {
    send_request(i, no_data, 0);
    expect_loss(i, 200 + (double)i);
  }
  expect_loss(40, 140);
  expect_end(0);
}

/* Once a backend can train no more, the worker ends, and has answered what was done: another takes its place. */
static void a_worker_without_a_device_ends(void **state) {
  struct tutti_frame frame;
  int how;
  (void)state;
  simulated = (struct simulated){.capacity = 2, .epochs = 3, .queue = true, .wanted = 1, .lost = true};
  start("");
  expect_ready();
  send_request(50, no_data, 0);
  send_request(51, no_data, 0.5);
  expect_loss(51, 0.5);
  while (next(&frame))
    tutti_free(frame.text);
  assert_true(waitpid(worker, &how, 0) == worker);
  assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 1);
  (void)close(descriptor);
  tutti_frames_destroy(frames);
}

/* --- folds --- */

/* A model of each fold of its own: the seeds of later folds are other ones. */
static enum tutti_status differ(tutti_context *context, const struct tutti_job *job, struct tutti_outcome *outcome) {
  float *x;
  size_t one = 1;
  tutti_tensors_destroy(outcome->weights);
  outcome->weights = NULL;
  TUTTI_TRY(context, tutti_tensors_create(context, &outcome->weights));
  TUTTI_TRY(context, tutti_tensors_add(context, outcome->weights, "x", TUTTI_F32, 1, &one, &x));
  *x = (float)(job->seed % 101) / 101;
  return TUTTI_OK;
}

static bool is_first_fold(const struct tutti_job *job) { return job->seed == 3; }

static enum tutti_status prune_first(tutti_context *context, const struct tutti_job *job,
                                     struct tutti_outcome *outcome) {
  if (is_first_fold(job))
    outcome->state = TUTTI_STATE_PRUNED;
  return differ(context, job, outcome);
}

static enum tutti_status fail_later(tutti_context *context, const struct tutti_job *job,
                                    struct tutti_outcome *outcome) {
  TUTTI_TRY(context, differ(context, job, outcome));
  if (is_first_fold(job))
    return TUTTI_OK;
  tutti_tensors_destroy(outcome->weights);
  outcome->weights = NULL;
  outcome->state = TUTTI_STATE_FAILED;
  (void)snprintf(outcome->failure, sizeof outcome->failure, "a later fold failed");
  return TUTTI_OK;
}

/* The answers to two trials of three folds each, of a backend that trains so. */
static void train_folds(const struct simulated *how, json_t *answers[2]) {
  char more[512], data[17], here[256];
  struct tutti_experiment *experiment;
  simulated = *how;
  assert_non_null(getcwd(here, sizeof here));
  assert_true(snprintf(more, sizeof more,
                       "[data]\nplugin = csv\npath = %s/table.csv\ntarget = y\nfolds = 3\nsplit = 2 1 1\n",
                       here) < (int)sizeof more);
  simulated_table();
  SIMULATED_OK(tutti_experiment_create(simulated_context, simulated_load(simulated_recipe(false, more)), &experiment));
  (void)snprintf(data, sizeof data, "%016" PRIx64, tutti_experiment_fingerprint(experiment));
  tutti_experiment_destroy(experiment);
  start(more);
  expect_ready();
  for (uint64_t i = 0; i < 2; i++) {
    send_request(60 + i, data, 0.5);
    answers[i] = answer(60 + i);
  }
  expect_end(0);
  assert_int_equal(rename("run", how->queue ? "queued" : "in-turn"), 0);
}

/* A backend that trains several at once gets all folds of a trial, in whatever order it ends them, and what comes of it
   is what comes of one after the other. A backend that waits for another job would never end if it had one alone. */
static void folds_of_a_trial_train_together(void **state) {
  static const struct {
    enum tutti_status (*train)(tutti_context *context, const struct tutti_job *job, struct tutti_outcome *outcome);
    size_t together; /* others that are asked for while the first fold trains */
    const char *outcome, *failure;
  } cases[] = {{differ, 2, "finished", ""},
               {prune_first, 2, "pruned", ""},
               {fail_later, 1, "failed", "a later fold failed"}}; /* and no more are begun */
  (void)state;
  for (size_t c = 0; c < 3; c++) {
    json_t *queued[2], *in_turn[2];
    train_folds(&(struct simulated){.capacity = 3,
                                    .epochs = 3,
                                    .queue = true,
                                    .variance = 0.5f,
                                    .wanted = cases[c].together,
                                    .train = cases[c].train},
                queued);
    train_folds(&(struct simulated){.capacity = 1, .epochs = 3, .variance = 0.5f, .train = cases[c].train}, in_turn);
    for (size_t i = 0; i < 2; i++) {
      assert_string_equal(text_of(queued[i], "state"), cases[c].outcome);
      assert_string_equal(text_of(queued[i], "failure"), cases[c].failure);
      json_object_del(queued[i], "seconds");
      json_object_del(in_turn[i], "seconds");
      if (!json_equal(queued[i], in_turn[i]))
        fail_msg("%s\n%s", json_dumps(queued[i], 0), json_dumps(in_turn[i], 0));
      json_decref(queued[i]);
      json_decref(in_turn[i]);
    }
    assert_int_equal(system("rm -rf queued in-turn"), 0);
  }
}

static void a_worker_that_cannot_work_says_so(void **state) {
  struct tutti_frame frame;
  int how;
  (void)state;
  start("[selector]\nplugin = none-such\n");
  assert_true(next(&frame));
  assert_int_equal(frame.kind, TUTTI_FRAME_FATAL);
  assert_non_null(strstr(frame.text, "none-such"));
  tutti_free(frame.text);
  assert_true(waitpid(worker, &how, 0) == worker);
  assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 1);
  (void)close(descriptor);
  tutti_frames_destroy(frames);
}

static enum tutti_status talk(tutti_context *context, const struct tutti_job *job, struct tutti_outcome *outcome) {
  (void)context, (void)job, (void)outcome;
  (void)printf("chatter on stdout\n");
  (void)fflush(stdout);
  (void)fprintf(stderr, "chatter on stderr\n");
  return TUTTI_OK;
}

static void what_plugins_print_goes_to_the_log(void **state) {
  char text[256];
  (void)state;
  simulated.train = talk;
  start("");
  expect_ready();
  send_request(0, no_data, 1);
  expect_loss(0, 1);
  expect_end(0);
  FILE *log = fopen("run/worker.log", "r");
  assert_non_null(log);
  text[fread(text, 1, sizeof text - 1, log)] = '\0';
  assert_int_equal(fclose(log), 0);
  assert_non_null(strstr(text, "chatter on stdout"));
  assert_non_null(strstr(text, "chatter on stderr"));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, simulated_begin, simulated_end)
  const struct CMUnitTest tests[] = {
      TEST(requests_are_answered_until_the_end), TEST(a_request_that_cannot_begin_is_answered),
      TEST(a_batch_is_trained_together),         TEST(the_rest_of_a_batch_that_failed_is_answered),
      TEST(requests_join_those_that_train),      TEST(a_worker_without_a_device_ends),
      TEST(folds_of_a_trial_train_together),     TEST(a_worker_that_cannot_work_says_so),
      TEST(what_plugins_print_goes_to_the_log),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
