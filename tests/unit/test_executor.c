/* test_executor.c - executor local with shells for workers, which say what they find: limits, groups, environment; and
   do what no worker should. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>
#include <unistd.h>

static tutti_context *context;
static tutti_host *host;
static tutti_executor *executor;
static struct tutti_task task = {.size = sizeof task, .kind = TUTTI_TASK_VALUE};
static char folder[64], here[4096];
static const char *command[4];

/* Frames on the worker's side, which is its descriptor 0: ready; done, of trial 0, with the text "ok". */
#define READY "printf '\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0' >&0; "
#define DONE "printf '\\4\\0\\0\\0\\0\\0\\0\\0\\0\\2\\0\\0\\0ok' >&0; "
/* Wait for a request: its first byte. */
#define REQUEST "head -c 1 >first; "

static int begin(void **state) {
  struct tutti_host_facts facts = {.size = sizeof facts, .seed = 1, .budget = 9, .window = 2, .task = &task};
  (void)state;
  (void)strcpy(folder, "/tmp/tutti-executor-XXXXXX");
  if (!getcwd(here, sizeof here) || !mkdtemp(folder) || chdir(folder) != 0 ||
      tutti_context_create(&context) != TUTTI_OK || tutti_host_create(context, &facts, &host) != TUTTI_OK ||
      tutti_host_put(context, host, "executor", TUTTI_KIND_EXECUTOR, "local") != TUTTI_OK) {
    print_error("%s\n", context ? tutti_error_message(context) : "no context");
    return 1;
  }
  executor = NULL;
  return 0;
}

static int end(void **state) {
  char remove[128];
  (void)state;
  tutti_executor_destroy(executor);
  tutti_host_destroy(host);
  tutti_context_destroy(context);
  (void)snprintf(remove, sizeof remove, "rm -rf '%s'", folder);
  return chdir(here) != 0 || system(remove) != 0;
}

static void ok(enum tutti_status status) {
  if (status != TUTTI_OK)
    fail_msg("%s", tutti_error_message(context));
}

static void set(const char *name, const char *text) { ok(tutti_host_set(context, host, "executor", name, text)); }

/* Make the executor with a shell script for its worker, and hand it a request. */
static void start(const char *script, uint64_t memory_limit, double trial_timeout) {
  command[0] = "/bin/sh";
  command[1] = "-c";
  command[2] = script;
  command[3] = NULL;
  struct tutti_executor_setup setup = {.size = sizeof setup,
                                       .workers = 1,
                                       .capacity = 1,
                                       .trial_timeout = trial_timeout,
                                       .memory_limit = memory_limit,
                                       .worker_command = command};
  ok(tutti_executor_create(context, host, "executor", &setup, &executor));
  ok(tutti_executor_submit(context, executor, 0, "a request"));
}

/* The next reply, or the executor's error. */
static enum tutti_status reply_of(struct tutti_reply *reply) {
  double before = tutti_clock();
  do {
    *reply = (struct tutti_reply){.size = sizeof *reply};
    enum tutti_status status = tutti_executor_wait(context, executor, 5, reply);
    if (status != TUTTI_OK)
      return status;
    if (tutti_clock() - before > 60)
      fail_msg("no reply in a minute");
  } while (reply->kind == TUTTI_REPLY_NONE);
  return TUTTI_OK;
}

static void expect_reply(enum tutti_reply_kind kind, const char *text) {
  struct tutti_reply reply;
  ok(reply_of(&reply));
  if (reply.kind != kind || !strstr(reply.text, text))
    fail_msg("reply %d: %s", (int)reply.kind, reply.text);
  tutti_free(reply.text);
}

/* What the worker wrote to the file `said`. */
static const char *said(void) {
  static char text[8192];
  FILE *file = fopen("said", "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  assert_int_equal(fclose(file), 0);
  return text;
}

static void expect_said(const char *text) {
  if (!strstr(said(), text))
    fail_msg("expected \"%s\", the worker says:\n%s", text, said());
}

/* --- what a worker finds ------------------------------------------------------------------------------------------ */

static void a_worker_has_the_limit_of_memory(void **state) {
  (void)state;
  /* The limit is set as soon as the process is there: it may be ahead of that. */
  start(READY REQUEST "for i in 1 2 3 4 5 6 7 8 9; do grep 'Max address space' /proc/self/limits >said; "
                      "grep -q unlimited said || break; sleep 0.1; done; " DONE "sleep 60",
        UINT64_C(3) << 30, INFINITY);
  expect_reply(TUTTI_REPLY_DONE, "ok");
  expect_said("Max address space         3221225472           3221225472           bytes");
}

static void or_none(void **state) {
  (void)state;
  start(READY REQUEST "grep 'Max address space' /proc/self/limits >said; " DONE "sleep 60", 0, INFINITY);
  expect_reply(TUTTI_REPLY_DONE, "ok");
  expect_said("unlimited");
}

/* An interrupt at the terminal goes to the manager's group alone. */
static void a_worker_has_a_process_group_of_its_own(void **state) {
  char expected[64];
  (void)state;
  start(READY REQUEST "cut -d' ' -f1,5 /proc/$$/stat >said; " DONE "sleep 60", 0, INFINITY);
  expect_reply(TUTTI_REPLY_DONE, "ok");
  long pid = strtol(said(), NULL, 10);
  (void)snprintf(expected, sizeof expected, "%ld %ld\n", pid, pid);
  expect_said(expected);
}

/* What the manager blocks, its workers do not. A shell would clear that by itself; what the worker says goes to
   stderr. */
static void a_worker_blocks_no_signals(void **state) {
  static const char *const grep[] = {"grep", "SigBlk", "/proc/self/status", NULL};
  struct tutti_executor_setup setup = {
      .size = sizeof setup, .workers = 1, .capacity = 1, .trial_timeout = INFINITY, .worker_command = grep};
  struct tutti_reply reply;
  sigset_t blocked, before;
  (void)state;
  set("startup_tries", "1");
  int file = open("said", O_WRONLY | O_CREAT, 0600), kept = dup(2);
  assert_true(file >= 0 && kept >= 0);
  (void)sigemptyset(&blocked);
  (void)sigaddset(&blocked, SIGTERM);
  assert_int_equal(sigprocmask(SIG_BLOCK, &blocked, &before), 0);
  ok(tutti_executor_create(context, host, "executor", &setup, &executor));
  assert_int_equal(dup2(file, 2), 2);
  enum tutti_status status = tutti_executor_submit(context, executor, 0, "a request");
  assert_int_equal(dup2(kept, 2), 2);
  ok(status);
  assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
  assert_int_equal(reply_of(&reply), TUTTI_ERROR_IO); /* it ended without being ready */
  assert_string_equal(said(), "SigBlk:\t0000000000000000\n");
  (void)close(file);
  (void)close(kept);
}

static void a_worker_has_its_threads_from_the_recipe(void **state) {
  (void)state;
  assert_int_equal(setenv("OPENBLAS_NUM_THREADS", "7", 1), 0);
  assert_int_equal(setenv("OMP_NUM_THREADS", "8", 1), 0);
  set("blas_threads", "3");
  start(READY REQUEST "tr '\\0' '\\n' </proc/$$/environ | grep -E '^(OPENBLAS|OMP)_NUM' | sort >said; " DONE "sleep 60",
        0, INFINITY);
  expect_reply(TUTTI_REPLY_DONE, "ok");
  assert_string_equal(said(), "OMP_NUM_THREADS=3\nOPENBLAS_NUM_THREADS=3\n");
}

static void by_default_one(void **state) {
  (void)state;
  assert_int_equal(unsetenv("OPENBLAS_NUM_THREADS"), 0);
  assert_int_equal(unsetenv("OMP_NUM_THREADS"), 0);
  start(READY REQUEST "tr '\\0' '\\n' </proc/$$/environ | grep -E '^(OPENBLAS|OMP)_NUM' | sort >said; " DONE "sleep 60",
        0, INFINITY);
  expect_reply(TUTTI_REPLY_DONE, "ok");
  assert_string_equal(said(), "OMP_NUM_THREADS=1\nOPENBLAS_NUM_THREADS=1\n");
}

/* --- workers that do not work ------------------------------------------------------------------------------------- */

static size_t lines_of_said(void) {
  size_t lines = 0;
  for (const char *c = said(); *c; c++)
    lines += *c == '\n';
  return lines;
}

static void a_worker_that_does_not_get_ready_is_replaced(void **state) {
  struct tutti_reply reply;
  (void)state;
  set("startup_timeout", "0.3");
  set("startup_tries", "3");
  double before = tutti_clock();
  start("echo begun >>said; sleep 60", 0, INFINITY);
  assert_int_equal(reply_of(&reply), TUTTI_ERROR_IO);
  assert_true(tutti_clock() - before < 50);
  assert_non_null(strstr(tutti_error_message(context), "3 workers in a row did not get ready"));
  assert_non_null(strstr(tutti_error_message(context), "took longer than executor.startup_timeout = 0.3 s"));
  assert_true(lines_of_said() <= 3);
}

static void so_is_one_that_ends(void **state) {
  struct tutti_reply reply;
  (void)state;
  set("startup_tries", "3");
  start("echo begun >>said; exit 5", 0, INFINITY);
  assert_int_equal(reply_of(&reply), TUTTI_ERROR_IO);
  assert_non_null(strstr(tutti_error_message(context), "ended with exit code 5"));
  assert_int_equal(lines_of_said(), 3);
}

/* Only workers in a row count: this one gets ready each second time, and then dies with its trial. */
static void a_worker_that_gets_ready_clears_the_count(void **state) {
  (void)state;
  set("startup_tries", "2");
  start("echo begun >>said; [ $(($(wc -l <said) % 2)) -eq 0 ] || exit 5; " READY REQUEST "exit 6", 0, INFINITY);
  expect_reply(TUTTI_REPLY_LOST, "exit code 6");
  for (uint64_t i = 1; i < 4; i++) {
    ok(tutti_executor_submit(context, executor, 0, "again"));
    expect_reply(TUTTI_REPLY_LOST, "exit code 6");
  }
  assert_int_equal(lines_of_said(), 8);
}

static void what_is_no_reply_ends_its_worker(void **state) {
  (void)state;
  start(READY REQUEST "printf 'this is no frame at all' >&0; sleep 60", 0, INFINITY);
  expect_reply(TUTTI_REPLY_LOST, "the worker wrote what is no reply");
}

static void a_trial_has_its_time_and_no_more(void **state) {
  (void)state;
  double before = tutti_clock();
  start(READY "sleep 60", 0, 0.5);
  expect_reply(TUTTI_REPLY_TIMED_OUT, "took longer than run.trial_timeout = 0.5 s");
  assert_true(tutti_clock() - before >= 0.5);
}

/* --- while trainings are short, a worker holds its next request --------------------------------------------------- */

/* A request of `start`'s text, whole; done, of trial 1 and of trial 2. */
#define WHOLE "head -c 22 >>got; "
#define DONE_1 "printf '\\4\\1\\0\\0\\0\\0\\0\\0\\0\\2\\0\\0\\0ok' >&0; "
#define DONE_2 "printf '\\4\\2\\0\\0\\0\\0\\0\\0\\0\\2\\0\\0\\0ok' >&0; "

static void expect_of(uint64_t trial, enum tutti_reply_kind kind) {
  struct tutti_reply reply;
  ok(reply_of(&reply));
  if (reply.kind != kind || reply.trial != trial)
    fail_msg("reply %d of trial %d: %s", (int)reply.kind, (int)reply.trial, reply.text);
  tutti_free(reply.text);
}

/* After a first training, which shows how short they are, two requests. */
static void start_three(const char *script, double trial_timeout) {
  start(script, 0, trial_timeout);
  expect_of(0, TUTTI_REPLY_DONE);
  ok(tutti_executor_submit(context, executor, 1, "a request"));
  ok(tutti_executor_submit(context, executor, 2, "a request"));
}

/* It answers only when it has both. */
static void a_worker_holds_its_next_request(void **state) {
  (void)state;
  start_three(READY WHOLE DONE WHOLE WHOLE DONE_1 DONE_2 "sleep 60", INFINITY);
  expect_of(1, TUTTI_REPLY_DONE);
  expect_of(2, TUTTI_REPLY_DONE);
}

static void not_if_the_recipe_forbids_it(void **state) {
  (void)state;
  set("hold_below", "0");
  start_three(READY WHOLE DONE WHOLE "timeout 0.3 head -c 1 >more; wc -c <more >said; " DONE_1 WHOLE DONE_2 "sleep 60",
              INFINITY);
  expect_of(1, TUTTI_REPLY_DONE);
  expect_of(2, TUTTI_REPLY_DONE);
  assert_string_equal(said(), "0\n");
}

/* A training of half a second is not forgotten over a short one. */
static void nor_after_a_long_training(void **state) {
  (void)state;
  set("hold_below", "0.4");
  start(READY WHOLE "sleep 0.5; " DONE WHOLE DONE_1 WHOLE "timeout 0.3 head -c 1 >more; wc -c <more >said; " DONE_2
                    "sleep 60",
        0, INFINITY);
  expect_of(0, TUTTI_REPLY_DONE);
  ok(tutti_executor_submit(context, executor, 1, "a request"));
  expect_of(1, TUTTI_REPLY_DONE);
  ok(tutti_executor_submit(context, executor, 2, "a request"));
  ok(tutti_executor_submit(context, executor, 3, "a request"));
  expect_of(2, TUTTI_REPLY_DONE);
  assert_string_equal(said(), "0\n");
}

/* The second one never began: it is no loss, and another worker gets it. */
static void what_a_worker_only_held_is_not_lost_with_it(void **state) {
  (void)state;
  start_three(READY "if [ -e got ]; then " WHOLE DONE_2 "sleep 60; fi; " WHOLE DONE WHOLE WHOLE "exit 6", INFINITY);
  expect_of(1, TUTTI_REPLY_LOST);
  expect_of(2, TUTTI_REPLY_DONE);
}

static void it_is_lost_once_it_has_begun(void **state) {
  (void)state;
  start_three(READY WHOLE DONE WHOLE WHOLE DONE_1 "exit 6", INFINITY);
  expect_of(1, TUTTI_REPLY_DONE);
  expect_of(2, TUTTI_REPLY_LOST);
}

/* Each takes 1.1 s of its 2; the second one is done 2.2 s after it was handed over. */
static void the_time_of_what_is_held_begins_with_it(void **state) {
  (void)state;
  start_three(READY WHOLE DONE WHOLE WHOLE "sleep 1.1; " DONE_1 "sleep 1.1; " DONE_2 "sleep 60", 2);
  expect_of(1, TUTTI_REPLY_DONE);
  expect_of(2, TUTTI_REPLY_DONE);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
  const struct CMUnitTest tests[] = {
      TEST(a_worker_has_the_limit_of_memory),
      TEST(or_none),
      TEST(a_worker_has_a_process_group_of_its_own),
      TEST(a_worker_blocks_no_signals),
      TEST(a_worker_has_its_threads_from_the_recipe),
      TEST(by_default_one),
      TEST(a_worker_that_does_not_get_ready_is_replaced),
      TEST(so_is_one_that_ends),
      TEST(a_worker_that_gets_ready_clears_the_count),
      TEST(what_is_no_reply_ends_its_worker),
      TEST(a_trial_has_its_time_and_no_more),
      TEST(a_worker_holds_its_next_request),
      TEST(not_if_the_recipe_forbids_it),
      TEST(nor_after_a_long_training),
      TEST(what_a_worker_only_held_is_not_lost_with_it),
      TEST(it_is_lost_once_it_has_begun),
      TEST(the_time_of_what_is_held_begins_with_it),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
