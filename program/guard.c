/* guard.c - names the plugin that ends or stops this process. Workers need no guard: their executor replaces them. */
#include "program_impl.h"

#include "core/base/running_impl.h"

#include <tutti/clock.h>
#include <tutti/descriptor.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A plugin that takes longer than this to load hangs; so does one that works longer than this after an interrupt. */
enum { LOADING_SECONDS = 60, SECONDS_TO_RETURN = 5 };

/* Signal handlers and functions at exit take no argument. */
static struct {
  const tutti_context *context;
  pid_t process;              /* a child that a plugin forks may end as it likes */
  char hint[512];             /* what to do then; empty: nothing */
  _Atomic double interrupted; /* when, by tutti_clock; 0: not yet */
  /* The watch for plugins that do not return. */
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t wake;
  bool watches, over;
  int code; /* once it is over: the exit code */
} guard;

/* What the C library's _exit does. */
static _Noreturn void end_process(int status) {
  for (;;)
    (void)syscall(SYS_exit_group, status);
}

/* Called in a dying process: no memory, no streams, no locks. */
static void say(const struct tutti_descriptor *plugin, const char *what, const char *then, const char *hint) {
  const char *const parts[] = {"tutti: ", tutti_kind_name(plugin->kind), " ", plugin->name, " ", what, then, hint};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
    if (write(STDERR_FILENO, parts[i], strlen(parts[i])) < 0)
      break;
}

/* Say what a plugin did, and end. */
static _Noreturn void blame(const struct tutti_descriptor *plugin, const char *what) {
  say(plugin, what,
      tutti_running_is_loading(guard.context) ? " while it was loaded; this is an error of the plugin\n"
                                              : "; this is an error of the plugin\n",
      guard.hint);
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

/* When all is done, a plugin's destructor cannot make another status of it. */
static int code_of(int status) { return guard.over && getpid() == guard.process ? guard.code : status; }

/* Ends a process without a word to anybody, so the program has functions of these names, which plugins find before
   those of the C library. */
// NOLINTBEGIN(bugprone-reserved-identifier)
void _exit(int status) {
  blame_for("called _exit()");
  end_process(code_of(status));
}

void _Exit(int status) {
  blame_for("called _Exit()");
  end_process(code_of(status));
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

#ifdef __SANITIZE_ADDRESS__
static const bool sanitizers_tell = true; /* and say more than we could */
#else
static const bool sanitizers_tell = false;
#endif

/* On a stack of its own: an endless recursion has used up the other one. */
static void catch_crashes(void) {
  static char stack[1 << 16];
  const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
  const struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
  if (sanitizers_tell || sigaltstack(&other, NULL) != 0)
    return;
  for (size_t i = 0; i < sizeof crashes / sizeof crashes[0]; i++)
    (void)sigaction(crashes[i].number, &action, NULL);
}

/* --- plugins that do not return --- */

static void look(void) {
  const char *what = "did not return within run.plugin_timeout";
  double seconds, limit, interrupted = guard.interrupted;
  const struct tutti_descriptor *plugin = running(&seconds);
  if (!plugin)
    return;
  limit = tutti_running_limit(guard.context);
  if (tutti_running_is_loading(guard.context) && limit > LOADING_SECONDS) {
    what = "did not return within a minute";
    limit = LOADING_SECONDS;
  }
  if (seconds >= limit)
    blame(plugin, what);
  if (interrupted > 0 && fmin(seconds, tutti_clock() - interrupted) >= SECONDS_TO_RETURN) {
    say(plugin, "did not return within five seconds of the interrupt", "\n", guard.hint);
    end_process(EXIT_INTERRUPTED);
  }
}

static void *watch(void *unused) {
  (void)unused;
  (void)pthread_mutex_lock(&guard.lock);
  while (!guard.over) {
    struct timespec next;
    (void)clock_gettime(CLOCK_MONOTONIC, &next);
    next.tv_nsec += 200 * 1000 * 1000;
    next.tv_sec += next.tv_nsec / 1000000000;
    next.tv_nsec %= 1000000000;
    if (pthread_cond_clockwait(&guard.wake, &guard.lock, CLOCK_MONOTONIC, &next) == ETIMEDOUT)
      look();
  }
  (void)pthread_mutex_unlock(&guard.lock);
  return NULL;
}

static void begin_watch(void) {
  sigset_t all, before;
  (void)pthread_mutex_init(&guard.lock, NULL);
  (void)pthread_cond_init(&guard.wake, NULL);
  (void)sigfillset(&all);
  (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the main thread's */
  guard.watches = pthread_create(&guard.thread, NULL, watch, NULL) == 0;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void guard_hint(const char *hint) { (void)snprintf(guard.hint, sizeof guard.hint, "%s", hint); }

void guard_interrupted(void) {
  double seconds;
  if (guard.interrupted == 0)
    guard.interrupted = tutti_clock();
  const struct tutti_descriptor *plugin = running(&seconds);
  if (!plugin || !tutti_running_is_loading(guard.context))
    return;
  say(plugin, "was being loaded when the program was interrupted", "\n", "");
  end_process(EXIT_INTERRUPTED);
}

/* --- all of it --- */

void guard_plugins(tutti_context *context) {
  guard.context = context;
  guard.process = getpid();
  catch_crashes();
  (void)atexit(on_exit_of_process);
  (void)at_quick_exit(on_quick_exit);
  begin_watch();
}

void stop_guarding(int code) {
  if (!guard.context)
    return;
  (void)pthread_mutex_lock(&guard.lock);
  guard.code = code;
  guard.over = true;
  (void)pthread_cond_signal(&guard.wake);
  (void)pthread_mutex_unlock(&guard.lock);
  if (guard.watches)
    (void)pthread_join(guard.thread, NULL);
  guard.context = NULL;
}
