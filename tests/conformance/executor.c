/* executor.c - the contract of kind executor, with this program as the worker (worker.c). */
#include "conform.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TRIALS = 30 };

struct subject {
  struct tutti_host_facts facts;
  struct tutti_task task;
  tutti_host *host;
  tutti_executor *executor;
  const char *command[3];
};

static double now(void) {
  struct timespec time;
  (void)clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static enum tutti_status open_with(struct conform *conform, struct subject *subject, size_t workers, double timeout,
                                   const char *program) {
  subject->task = world_task(TUTTI_TASK_REGRESSION);
  subject->facts = (struct tutti_host_facts){
      .size = sizeof subject->facts, .seed = WORLD_SEED, .budget = TRIALS, .window = 4, .task = &subject->task};
  subject->host = world_host(conform, &subject->facts);
  subject->command[0] = program;
  subject->command[1] = "worker";
  subject->command[2] = NULL;
  subject->executor = NULL;
  struct tutti_executor_setup setup = {.size = sizeof setup,
                                       .workers = workers,
                                       .capacity = 1,
                                       .trial_timeout = timeout,
                                       .worker_command = subject->command};
  enum tutti_status status =
      tutti_executor_create(conform->context, subject->host, "executor", &setup, &subject->executor);
  if (status == TUTTI_ERROR_UNSUPPORTED) { /* others have to start its processes, or it lacks a library */
    tutti_host_destroy(subject->host);
    conform_skip(conform, "%s", tutti_error_message(conform->context));
  }
  return status;
}

static void open_subject(struct conform *conform, struct subject *subject, size_t workers, double timeout) {
  TRY(conform, open_with(conform, subject, workers, timeout, conform->program));
}

static void close_subject(struct subject *subject) {
  tutti_executor_destroy(subject->executor);
  tutti_host_destroy(subject->host);
}

static void submit(struct conform *conform, struct subject *subject, uint64_t trial, const char *request) {
  const char *given = conform_given(conform, "the request", request, strlen(request) + 1);
  TRY(conform, tutti_executor_submit(conform->context, subject->executor, trial, given));
}

/* Wait until some trial ends; the caller frees its text. */
static struct tutti_reply wait_for_end(struct conform *conform, struct subject *subject) {
  struct tutti_reply reply = {.size = sizeof reply};
  double end = now() + 30;
  do {
    REQUIRE(conform, now() < end, "no reply in 30 s");
    TRY(conform, tutti_executor_wait(conform->context, subject->executor, 5, &reply));
    if (reply.kind == TUTTI_REPLY_PROGRESS)
      tutti_free(reply.text);
  } while (reply.kind == TUTTI_REPLY_NONE || reply.kind == TUTTI_REPLY_PROGRESS);
  return reply;
}

static const char *kind_name(enum tutti_reply_kind kind) {
  static const char *const names[] = {"nothing", "the reply", "the progress", "the loss", "a time-out"};
  return (size_t)kind < sizeof names / sizeof names[0] ? names[kind] : "something unknown";
}

static void expect(struct conform *conform, struct subject *subject, uint64_t trial, enum tutti_reply_kind kind,
                   const char *text) {
  struct tutti_reply reply = wait_for_end(conform, subject);
  REQUIRE(conform, reply.trial == trial && reply.kind == kind,
          "expected %s of trial %" PRIu64 ", got %s of trial %" PRIu64 " (%s)", kind_name(kind), trial,
          kind_name(reply.kind), reply.trial, reply.text);
  REQUIRE(conform, !text || strcmp(reply.text, text) == 0, "trial %" PRIu64 ": expected '%s', got '%s'", trial, text,
          reply.text);
  REQUIRE(conform, reply.text[0], "trial %" PRIu64 " was lost without a reason", trial);
  REQUIRE(conform, reply.seconds >= 0 && reply.seconds < 60, "trial %" PRIu64 " took %g s", trial, reply.seconds);
  tutti_free(reply.text);
}

/* --- checks --- */

/* The worker of a trial hears that it is to stop, and no other; the trial has one end all the same. */
static void check_stop(struct conform *conform) {
  struct subject subject;
  struct tutti_reply reply = {.size = sizeof reply, .kind = TUTTI_REPLY_NONE};
  open_subject(conform, &subject, 1, 60);
  submit(conform, &subject, 4, "wait to be stopped");
  for (double end = now() + 30; reply.kind == TUTTI_REPLY_NONE && now() < end;)
    TRY(conform, tutti_executor_wait(conform->context, subject.executor, 1, &reply));
  REQUIRE(conform, reply.kind == TUTTI_REPLY_PROGRESS, "expected the progress of trial 4, got kind %d",
          (int)reply.kind);
  tutti_free(reply.text);
  TRY(conform, tutti_executor_stop(conform->context, subject.executor, 5, "nobody trains it"));
  TRY(conform, tutti_executor_stop(conform->context, subject.executor, 4, "enough"));
  reply = wait_for_end(conform, &subject);
  bool stops = strcmp(reply.text, "enough") == 0;
  REQUIRE(conform, reply.trial == 4 && reply.kind == TUTTI_REPLY_DONE && (stops || reply.text[0] == 'w'),
          "trial %" PRIu64 ", which was to stop, gave %s", reply.trial, reply.text);
  tutti_free(reply.text);
  submit(conform, &subject, 5, "echo");
  expect(conform, &subject, 5, TUTTI_REPLY_DONE, "echo");
  close_subject(&subject);
  if (!stops)
    conform_skip(conform, "it stops nothing");
}

/* A training that is ended has one end all the same, as has a request that waits behind it, and nobody else's is. */
static void check_end(struct conform *conform) {
  struct subject subject;
  struct tutti_reply reply = {.size = sizeof reply, .kind = TUTTI_REPLY_NONE};
  open_subject(conform, &subject, 1, 60);
  const struct tutti_executor_ops *ops = tutti_executor_descriptor(subject.executor)->ops;
  if (ops->size <= offsetof(struct tutti_executor_ops, end) || !ops->end) {
    close_subject(&subject);
    conform_skip(conform, "it ends nothing");
  }
  submit(conform, &subject, 6, "hang");
  for (uint64_t trial = 7; trial < 11; trial++)
    submit(conform, &subject, trial, "echo");
  TRY(conform, tutti_executor_end(conform->context, subject.executor, 99));
  for (double end = now() + 1; now() < end;)
    TRY(conform, tutti_executor_wait(conform->context, subject.executor, 0.2, &reply));
  REQUIRE(conform, reply.kind == TUTTI_REPLY_NONE, "trial %" PRIu64 " came out of turn: %s", reply.trial, reply.text);
  TRY(conform, tutti_executor_end(conform->context, subject.executor, 10));
  expect(conform, &subject, 10, TUTTI_REPLY_LOST, NULL);
  TRY(conform, tutti_executor_end(conform->context, subject.executor, 6));
  expect(conform, &subject, 6, TUTTI_REPLY_LOST, NULL);
  submit(conform, &subject, 11, "echo");
  for (uint64_t trial = 7; trial < 12; trial++)
    if (trial != 10)
      expect(conform, &subject, trial, TUTTI_REPLY_DONE, "echo");
  close_subject(&subject);
}

/* Every trial gets one end, whatever the number of workers. */
static void check_echo(struct conform *conform) {
  for (size_t workers = 1; workers <= 3; workers++) {
    struct subject subject;
    unsigned ends[TRIALS] = {0};
    char request[32];
    open_subject(conform, &subject, workers, 60);
    REQUIRE(conform, tutti_executor_capacity(subject.executor) >= workers, "with %zu workers it holds %zu trials",
            workers, tutti_executor_capacity(subject.executor));
    for (uint64_t trial = 0; trial < TRIALS; trial++) {
      (void)snprintf(request, sizeof request, "%s %" PRIu64, trial % 3 ? "echo" : "progress", trial);
      submit(conform, &subject, trial, request);
    }
    for (uint64_t i = 0; i < TRIALS; i++) {
      struct tutti_reply reply = wait_for_end(conform, &subject);
      REQUIRE(conform, reply.kind == TUTTI_REPLY_DONE && reply.trial < TRIALS, "trial %" PRIu64 ": %s", reply.trial,
              reply.text);
      (void)snprintf(request, sizeof request, "%s %" PRIu64, reply.trial % 3 ? "echo" : "progress", reply.trial);
      REQUIRE(conform, strcmp(reply.text, request) == 0, "sent '%s', got '%s'", request, reply.text);
      ends[reply.trial]++;
      tutti_free(reply.text);
    }
    for (size_t i = 0; i < TRIALS; i++)
      REQUIRE(conform, ends[i] == 1, "trial %zu ended %u times", i, ends[i]);
    close_subject(&subject);
  }
}

static void check_order(struct conform *conform) {
  struct subject subject;
  open_subject(conform, &subject, 1, 60);
  for (uint64_t trial = 0; trial < 5; trial++)
    submit(conform, &subject, trial, "echo");
  for (uint64_t trial = 0; trial < 5; trial++)
    expect(conform, &subject, trial, TUTTI_REPLY_DONE, "echo");
  close_subject(&subject);
}

static void check_progress(struct conform *conform) {
  struct subject subject;
  struct tutti_reply reply = {.size = sizeof reply, .kind = TUTTI_REPLY_NONE}, forgotten = {.size = 0};
  open_subject(conform, &subject, 1, 60);
  submit(conform, &subject, 3, "progress");
  conform_refused(conform, tutti_executor_wait(conform->context, subject.executor, 1, &forgotten),
                  "a reply whose size was not set");
  for (double end = now() + 30; reply.kind == TUTTI_REPLY_NONE && now() < end;)
    TRY(conform, tutti_executor_wait(conform->context, subject.executor, 1, &reply));
  REQUIRE(conform, reply.kind == TUTTI_REPLY_PROGRESS && reply.trial == 3 && strcmp(reply.text, "half") == 0,
          "expected the progress of trial 3, got kind %d: %s", (int)reply.kind, reply.text ? reply.text : "");
  tutti_free(reply.text);
  expect(conform, &subject, 3, TUTTI_REPLY_DONE, "progress");
  close_subject(&subject);
}

static void check_large(struct conform *conform) {
  enum { LENGTH = 3 << 20 };
  struct subject subject;
  char *request = conform_alloc(conform, LENGTH + 1, 1);
  memset(request, 'x', LENGTH);
  open_subject(conform, &subject, 1, 60);
  submit(conform, &subject, 0, request);
  submit(conform, &subject, 1, "echo");
  expect(conform, &subject, 0, TUTTI_REPLY_DONE, request);
  expect(conform, &subject, 1, TUTTI_REPLY_DONE, "echo");
  tutti_free(request);
  close_subject(&subject);
}

/* A worker that dies takes its trial with it, and no other. */
static void check_crash(struct conform *conform) {
  static const char *const requests[] = {"crash", "end"};
  struct subject subject;
  open_subject(conform, &subject, 1, 60);
  for (uint64_t i = 0; i < 4; i++) {
    submit(conform, &subject, 2 * i, requests[i % 2]);
    submit(conform, &subject, 2 * i + 1, "echo");
    expect(conform, &subject, 2 * i, TUTTI_REPLY_LOST, NULL);
    expect(conform, &subject, 2 * i + 1, TUTTI_REPLY_DONE, "echo");
  }
  close_subject(&subject);
}

static void check_hang(struct conform *conform) {
  struct subject subject;
  open_subject(conform, &subject, 1, 1);
  double begin = now();
  submit(conform, &subject, 0, "hang");
  submit(conform, &subject, 1, "echo");
  expect(conform, &subject, 0, TUTTI_REPLY_TIMED_OUT, NULL);
  REQUIRE(conform, now() - begin >= 0.9 && now() - begin < 15, "a trial with 1 s to run was ended after %g s",
          now() - begin);
  expect(conform, &subject, 1, TUTTI_REPLY_DONE, "echo");
  close_subject(&subject);
}

static void check_timeout(struct conform *conform) {
  struct subject subject;
  struct tutti_reply reply = {.size = sizeof reply};
  open_subject(conform, &subject, 1, 60);
  double begin = now();
  submit(conform, &subject, 0, "hang");
  do
    TRY(conform, tutti_executor_wait(conform->context, subject.executor, 0.2, &reply));
  while (reply.kind == TUTTI_REPLY_NONE && now() - begin < 0.5);
  REQUIRE(conform, reply.kind == TUTTI_REPLY_NONE, "a reply came from a worker that hangs: %s", reply.text);
  REQUIRE(conform, now() - begin < 10, "waiting for 0.2 s took %g s", now() - begin);
  begin = now();
  close_subject(&subject);
  REQUIRE(conform, now() - begin < 10, "ending a busy worker took %g s", now() - begin);
}

static void check_cancel(struct conform *conform) {
  struct subject subject;
  struct tutti_reply reply = {.size = sizeof reply, .kind = TUTTI_REPLY_NONE};
  open_subject(conform, &subject, 1, 60);
  submit(conform, &subject, 0, "hang");
  tutti_cancel(conform->context);
  double begin = now();
  enum tutti_status status = tutti_executor_wait(conform->context, subject.executor, 20, &reply);
  REQUIRE(conform,
          (status == TUTTI_OK || status == TUTTI_ERROR_CANCELLED) && reply.kind == TUTTI_REPLY_NONE &&
              now() - begin < 5,
          "cancelled, it waited for %g s", now() - begin);
  close_subject(&subject);
}

/* A worker that cannot start is an error, when it is made or when it is waited for. */
static void check_no_worker(struct conform *conform) {
  struct subject subject;
  struct tutti_reply reply = {.size = sizeof reply, .kind = TUTTI_REPLY_NONE};
  enum tutti_status status = open_with(conform, &subject, 1, 60, "/nonexistent/worker");
  if (status == TUTTI_OK)
    status = tutti_executor_submit(conform->context, subject.executor, 0, "echo");
  for (double end = now() + 20; status == TUTTI_OK && reply.kind == TUTTI_REPLY_NONE && now() < end;)
    status = tutti_executor_wait(conform->context, subject.executor, 1, &reply);
  conform_refused(conform, status, "a worker that is not there");
  close_subject(&subject);
}

static void check_fatal(struct conform *conform) {
  struct subject subject;
  struct tutti_reply reply = {.size = sizeof reply, .kind = TUTTI_REPLY_NONE};
  (void)setenv("TUTTI_CONFORM_FATAL", "1", 1);
  enum tutti_status status = open_with(conform, &subject, 1, 60, conform->program);
  if (status == TUTTI_OK)
    status = tutti_executor_submit(conform->context, subject.executor, 0, "echo");
  for (double end = now() + 20; status == TUTTI_OK && reply.kind == TUTTI_REPLY_NONE && now() < end;)
    status = tutti_executor_wait(conform->context, subject.executor, 1, &reply);
  (void)unsetenv("TUTTI_CONFORM_FATAL");
  REQUIRE(conform, status != TUTTI_OK && strstr(tutti_error_message(conform->context), "nothing works in this worker"),
          "the worker's message was not passed on: %s", tutti_error_message(conform->context));
  close_subject(&subject);
}

const struct conform_check conform_executor[] = {
    {"every request gets one reply, from 1, 2 and 3 workers", check_echo},
    {"one worker works in order", check_order},
    {"progress is passed on", check_progress},
    {"a worker hears that it is to stop", check_stop},
    {"a training that is ended", check_end},
    {"requests and replies of 3 MiB", check_large},
    {"a worker that dies is a lost trial and a new worker", check_crash},
    {"a worker that hangs is timed out, and a new worker", check_hang},
    {"waits no longer than it may; ends busy workers", check_timeout},
    {"cancelling ends a wait", check_cancel},
    {"a worker that cannot be started", check_no_worker},
    {"a worker that says that it cannot work", check_fatal},
    {NULL, NULL},
};
