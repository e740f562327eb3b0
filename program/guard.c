/* guard.c - names the plugin that ends or stops this process. Workers need no guard: their executor replaces them. */
#include "program_impl.h"

#include "core/plugin/running_impl.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Signal handlers and functions at exit take no argument. */
static struct {
  const tutti_context *context;
  pid_t process;  /* a child that a plugin forks may end as it likes */
  char hint[512]; /* what to do then; empty: nothing */
  double timeout;
} guard;

/* What the C library's _exit does. */
static _Noreturn void end_process(int status) {
  for (;;)
    (void)syscall(SYS_exit_group, status);
}

/* Say what a plugin did, and end. Called in a dying process: no memory, no streams, no locks. */
static _Noreturn void blame(const struct tutti_descriptor *plugin, const char *what) {
  const char *const parts[] = {"tutti: ", tutti_kind_name(plugin->kind),      " ",  plugin->name, " ",
                               what,      "; this is an error of the plugin", "\n", guard.hint};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
    if (write(STDERR_FILENO, parts[i], strlen(parts[i])) < 0)
      break;
  end_process(EXIT_FAILED);
}

static const struct tutti_descriptor *running(double *seconds) {
  return guard.context && getpid() == guard.process ? tutti_running_plugin(guard.context, seconds) : NULL;
}

static void blame_for(const char *call) {
  double seconds;
  const struct tutti_descriptor *plugin = running(&seconds);
  if (plugin)
    blame(plugin, call);
}

static void on_exit_of_process(void) { blame_for("called exit()"); }

static void on_quick_exit(void) { blame_for("called quick_exit()"); }

/* Ends a process without a word to anybody, so the program has functions of these names, which plugins find before
   those of the C library. */
// NOLINTBEGIN(bugprone-reserved-identifier)
void _exit(int status) {
  blame_for("called _exit()");
  end_process(status);
}

void _Exit(int status) {
  blame_for("called _Exit()");
  end_process(status);
}
// NOLINTEND(bugprone-reserved-identifier)

/* --- crashes --- */

static const struct {
  int number;
  const char *what;
} crashes[] = {
    {SIGABRT, "aborted (abort(), a failed assertion, or a C++ exception that nothing caught)"},
    {SIGSEGV, "crashed (segmentation fault)"},
    {SIGBUS, "crashed (bus error)"},
    {SIGFPE, "crashed (arithmetic error)"},
    {SIGILL, "crashed (illegal instruction)"},
};

static void on_crash(int number) {
  double seconds;
  const struct tutti_descriptor *plugin = running(&seconds);
  for (size_t i = 0; plugin && i < sizeof crashes / sizeof crashes[0]; i++)
    if (crashes[i].number == number)
      blame(plugin, crashes[i].what);
  (void)signal(number, SIG_DFL);
  (void)raise(number);
}

/* On a stack of its own: an endless recursion has used up the other one. Sanitizers say more than we could. */
static void catch_crashes(void) {
#if !defined(__SANITIZE_ADDRESS__)
  static char stack[1 << 16];
  const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
  const struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
  if (sigaltstack(&other, NULL) != 0)
    return;
  for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++)
    (void)sigaction(crashes[i].number, &action, NULL);
#endif
}

void guard_plugins(tutti_context *context) {
  guard.context = context;
  guard.process = getpid();
  guard.timeout = INFINITY;
  catch_crashes();
  (void)atexit(on_exit_of_process);
  (void)at_quick_exit(on_quick_exit);
}

void stop_guarding(void) { guard.context = NULL; }

/* --- plugins that do not return --- */

static void *watch(void *unused) {
  (void)unused;
  for (;;) {
    double seconds;
    const struct tutti_descriptor *plugin = running(&seconds);
    if (plugin && seconds >= guard.timeout)
      blame(plugin, "did not return within run.plugin_timeout");
    (void)usleep(200 * 1000);
  }
  return NULL;
}

void guard_with(double timeout, const char *hint) {
  pthread_t thread;
  sigset_t all, before;
  (void)snprintf(guard.hint, sizeof guard.hint, "%s", hint);
  guard.timeout = timeout;
  if (isinf(timeout))
    return;
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the main thread's */
  if (pthread_create(&thread, NULL, watch, NULL) == 0)
    (void)pthread_detach(thread);
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}
