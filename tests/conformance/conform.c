/* conform.c - tutti-conform: tries the contracts of the headers on every plugin that is found, third parties' too. Each
   plugin runs in a process of its own, so that one that crashes or hangs is a failed check and no more. */
#include "conform.h"

#include <argp.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Seconds that all checks of one plugin may take, and of the processor those in which it must have worked by then. */
enum { PLUGIN_TIMEOUT = 300, LEAST_WORK = 30 };

#define CHECKS(constant, name, title) conform_##name,
static const struct conform_check *const checks_of[] = {TUTTI_KINDS(CHECKS)};

/* --- leaving a check --- */

enum { LEFT_FAILED = 1, LEFT_SKIPPED };

void conform_fail(struct conform *conform, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(conform->why, sizeof conform->why, format, arguments);
  va_end(arguments);
  longjmp(conform->leave, LEFT_FAILED);
}

void conform_skip(struct conform *conform, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(conform->why, sizeof conform->why, format, arguments);
  va_end(arguments);
  longjmp(conform->leave, LEFT_SKIPPED);
}

void conform_try(struct conform *conform, enum tutti_status status, const char *call) {
  if (status == TUTTI_OK)
    return;
  conform_fail(conform, "%.*s: %s (%s)", (int)strcspn(call, "("), call, tutti_error_message(conform->context),
               tutti_status_name(status));
}

void conform_refused(struct conform *conform, enum tutti_status status, const char *what) {
  REQUIRE(conform, status != TUTTI_OK, "%s was taken, an error was expected", what);
  REQUIRE(conform, tutti_error_message(conform->context)[0], "%s was refused without a message", what);
  tutti_error_clear(conform->context);
}

void *conform_alloc(struct conform *conform, size_t count, size_t size) {
  void *memory = NULL;
  TRY(conform, tutti_alloc(conform->context, count ? count : 1, size, &memory));
  return memory;
}

bool conform_close(double a, double b, double relative, double absolute) {
  return fabs(a - b) <= relative * fmax(fabs(a), fabs(b)) + absolute;
}

/* --- one plugin --- */

/* Shared between this process and those that it makes. */
struct tally {
  size_t passed, failed;
  bool finished;             /* the plugin's process came to its end, rather than was ended by the plugin */
  bool printed, left_behind; /* said once of each plugin */
  char running[128];
  char why[512]; /* it ended before */
};

struct options {
  size_t path_count, setting_count, wanted_count;
  const char **paths, **settings, **wanted; /* [argc] each */
  char program[4096];
  bool rough;
};

static void print_result(const char *result, const struct conform *conform, const char *check) {
  (void)fprintf(conform->results, "%s %s/%s: %s%s%s\n", result, tutti_kind_name(conform->kind), conform->name, check,
                conform->why[0] ? ": " : "", conform->why);
}

static void count_failure(struct conform *conform, struct tally *tally, const char *check) {
  print_result("FAIL", conform, check);
  tally->failed++;
}

/* A context with the search path. Anything that a failed check leaves behind dies with the process. */
static bool begin_context(struct conform *conform, const struct options *options) {
  if (tutti_context_create(&conform->context) != TUTTI_OK)
    return false;
  if (tutti_plugin_scan_with(conform->context, options->program) != TUTTI_OK)
    return false;
  for (size_t i = 0; i < options->path_count; i++)
    if (tutti_plugin_path_add(conform->context, options->paths[i]) != TUTTI_OK)
      return false;
  return true;
}

/* How a check is left: 0 if all is well. */
static int run_once(struct conform *conform, const struct options *options, const struct conform_check *check) {
  conform->why[0] = '\0';
  conform->calling = "";
  if (!begin_context(conform, options))
    exit(1);
  int left = setjmp(conform->leave);
  if (left == 0) {
    TRY(conform, tutti_plugin_find(conform->context, conform->kind, conform->name, &conform->descriptor));
    check->run(conform);
  }
  tutti_context_destroy(conform->context);
  conform_release_given();
  return left;
}

struct repetition {
  struct conform *conform;
  const struct options *options;
  const struct conform_check *check;
};

static bool run_again(void *argument) {
  const struct repetition *repetition = argument;
  return run_once(repetition->conform, repetition->options, repetition->check) == 0;
}

static double seconds(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A check that passes is repeated, if it is quick, to see whether it leaves something behind. */
static void run_check(struct conform *conform, const struct options *options, const struct conform_check *check,
                      int listening, struct tally *tally) {
  static const double quick = 0.5; /* seconds */
  char words[256], left_behind[128];
  struct repetition repetition = {conform, options, check};
  (void)snprintf(tally->running, sizeof tally->running, "%s", check->name);
  double begin = seconds();
  int left = run_once(conform, options, check);
  print_result(left == LEFT_FAILED ? "FAIL" : left == LEFT_SKIPPED ? "skip" : "ok  ", conform, check->name);
  tally->passed += left == 0;
  tally->failed += left == LEFT_FAILED;
  size_t heard = conform_heard(listening, words, sizeof words);
  if (heard && !tally->printed) {
    tally->printed = true;
    (void)snprintf(conform->why, sizeof conform->why, "%zu bytes: %s", heard, words);
    count_failure(conform, tally, "it prints nothing");
  }
  if (left == 0 && !tally->left_behind && seconds() - begin < quick &&
      conform_leaves(run_again, &repetition, left_behind, sizeof left_behind)) {
    tally->left_behind = true;
    (void)snprintf(conform->why, sizeof conform->why, "%s that '%s' is run", left_behind, check->name);
    count_failure(conform, tally, "it leaves nothing behind");
  }
  (void)conform_heard(listening, words, sizeof words); /* of the repetitions */
}

/* A plugin that computes has more time on a busy machine; one that waits for ever, or computes for ever, is ended. */
static void end_if_stuck(int signal_number) {
  static double before;
  struct rusage used;
  (void)getrusage(RUSAGE_SELF, &used);
  double now = (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec);
  if (now - before < LEAST_WORK || now >= PLUGIN_TIMEOUT) {
    (void)signal(signal_number, SIG_DFL);
    (void)raise(signal_number);
  }
  before = now;
  (void)alarm(PLUGIN_TIMEOUT);
}

static void run_plugin(const struct options *options, const struct tutti_plugin_entry *entry, int listening,
                       struct tally *tally) {
  static const struct conform_check exports = {"exports nothing but tutti_plugin", conform_exports};
  static struct conform conform;
  conform = (struct conform){.kind = entry->kind,
                             .name = entry->name,
                             .setting_count = options->setting_count,
                             .settings = options->settings,
                             .rough = options->rough,
                             .program = options->program,
                             .results = fdopen(dup(STDOUT_FILENO), "w")};
  if (!conform.results || dup2(listening, STDOUT_FILENO) < 0 || dup2(listening, STDERR_FILENO) < 0)
    exit(1);
  (void)setvbuf(conform.results, NULL, _IOLBF, 0); /* what was found out stays, if a plugin ends its process */
  (void)signal(SIGALRM, end_if_stuck);
  (void)alarm(PLUGIN_TIMEOUT);
  conform_watch_given(&conform, tally->why, sizeof tally->why);
  run_check(&conform, options, &exports, listening, tally);
  for (const struct conform_check *check = checks_of[entry->kind]; check->name; check++)
    run_check(&conform, options, check, listening, tally);
  tally->finished = fclose(conform.results) == 0;
}

/* What a process that was ended had printed may say why. */
static void show_last_words(int listening) {
  char words[4096];
  ssize_t count;
  (void)lseek(listening, 0, SEEK_SET);
  while ((count = read(listening, words, sizeof words)) > 0)
    (void)fwrite(words, 1, (size_t)count, stderr);
}

/* No plugin is loaded in this process, so it has one thread and may be forked. */
static void try_plugin(const struct options *options, const struct tutti_plugin_entry *entry, struct tally *tally) {
  int how = 0, listening = conform_listen();
  tally->finished = tally->printed = tally->left_behind = false;
  tally->why[0] = '\0';
  pid_t child = listening < 0 ? -1 : fork();
  if (child == 0) {
    run_plugin(options, entry, listening, tally);
    _exit(0);
  }
  if (child < 0 || waitpid(child, &how, 0) != child) {
    perror("tutti-conform: fork");
    tally->failed++;
  } else if (!tally->finished) {
    show_last_words(listening);
    printf("FAIL %s/%s: %s: %s\n", tutti_kind_name(entry->kind), entry->name, tally->running,
           tally->why[0]      ? tally->why
           : WIFSIGNALED(how) ? strsignal(WTERMSIG(how))
                              : "it ended the process");
    tally->failed++;
  }
  if (listening >= 0)
    (void)close(listening);
}

/* --- all plugins --- */

struct visiting {
  const struct options *options;
  struct tally *tally;
  bool *found; /* [wanted] */
};

static bool is_wanted(const struct visiting *visiting, const struct tutti_plugin_entry *entry) {
  const struct options *options = visiting->options;
  char full[256];
  bool wanted = options->wanted_count == 0;
  (void)snprintf(full, sizeof full, "%s/%s", tutti_kind_name(entry->kind), entry->name);
  for (size_t i = 0; i < options->wanted_count; i++)
    if (strcmp(options->wanted[i], full) == 0 || strcmp(options->wanted[i], tutti_kind_name(entry->kind)) == 0)
      wanted = visiting->found[i] = true;
  return wanted;
}

static void visit(void *argument, const struct tutti_plugin_entry *entry) {
  struct visiting *visiting = argument;
  if (entry->shadowed_by)
    return; /* it is not used, and may be an older version of the one that is */
  if (!is_wanted(visiting, entry))
    return;
  if (entry->works) {
    try_plugin(visiting->options, entry, visiting->tally);
    return;
  }
  if (entry->lacking) {
    printf("skip %s/%s: loads and is available: %s\n", tutti_kind_name(entry->kind), entry->name, entry->reason);
    return;
  }
  printf("FAIL %s/%s: loads and is available: %s\n", tutti_kind_name(entry->kind), entry->name, entry->reason);
  visiting->tally->failed++;
}

static int run_all(const struct options *options) {
  struct conform conform = {.why = ""};
  struct tally *tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  struct visiting visiting = {options, tally, calloc(options->wanted_count + 1, sizeof(bool))};
  if (tally == MAP_FAILED || !visiting.found || !begin_context(&conform, options))
    return 1;
  if (tutti_plugin_scan(conform.context, visit, &visiting) != TUTTI_OK) {
    fprintf(stderr, "tutti-conform: %s\n", tutti_error_message(conform.context));
    tally->failed++;
  }
  for (size_t i = 0; i < options->wanted_count; i++)
    if (!visiting.found[i]) {
      printf("FAIL %s: there is no such plugin on the search path\n", options->wanted[i]);
      tally->failed++;
    }
  printf("%zu passed, %zu failed\n", tally->passed, tally->failed);
  int code = tally->failed || fflush(stdout) ? 1 : 0;
  tutti_context_destroy(conform.context);
  free(visiting.found);
  (void)munmap(tally, sizeof *tally);
  return code;
}

/* --- the command line --- */

static error_t parse_option(int key, char *argument, struct argp_state *state) {
  struct options *options = state->input;
  switch (key) {
  case 'h':
    argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
    return 0;
  case 'p':
    options->paths[options->path_count++] = argument;
    return 0;
  case 'r':
    options->rough = true;
    return 0;
  case 's':
    options->settings[options->setting_count++] = argument;
    return 0;
  case ARGP_KEY_ARG:
    options->wanted[options->wanted_count++] = argument;
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static int parse_and_run(int argc, char **argv, struct options *options) {
  static const struct argp_option known[] = {
      {"path", 'p', "FOLDER", 0, "Look for plugins in FOLDER, too", 0},
      {"set", 's', "KIND/NAME.KEY=VALUE", 0, "Try the plugin with this parameter instead of its default", 0},
      {"rough", 'r', NULL, 0, "Leave out finite differences: with these parameters the plugin rounds too much for them",
       0},
      {NULL, 'h', NULL, OPTION_HIDDEN, NULL, 0},
      {0}};
  static const struct argp argp = {
      .options = known,
      .parser = parse_option,
      .args_doc = "[KIND | KIND/NAME]...",
      .doc = "Tries the contracts of Tutti's kinds of plugin on plugins: all that are found, or "
             "those that are named."};
  options->paths = calloc((size_t)argc, sizeof *options->paths);
  options->settings = calloc((size_t)argc, sizeof *options->settings);
  options->wanted = calloc((size_t)argc, sizeof *options->wanted);
  if (!options->paths || !options->settings || !options->wanted)
    return 1;
  return argp_parse(&argp, argc, argv, 0, NULL, options) == 0 ? run_all(options) : 2;
}

/* What a scan runs in a child process. */
static int scan_plugin(const char *file) {
  tutti_context *context;
  if (tutti_context_create(&context) != TUTTI_OK)
    return 1;
  int code = tutti_plugin_scan_child(context, file, STDOUT_FILENO);
  tutti_context_destroy(context);
  return code;
}

/* What waits in malloc's cache for later counts as allocated. Without the cache, what is counted is what is held. */
static void begin_without_cache(char **argv) {
  static const char variable[] = "GLIBC_TUNABLES", setting[] = "glibc.malloc.tcache_count=0";
  const char *tunables = getenv(variable);
  char all[1024];
  if (tunables && strstr(tunables, setting))
    return;
  int length = snprintf(all, sizeof all, "%s%s%s", tunables ? tunables : "", tunables ? ":" : "", setting);
  if (length < (int)sizeof all && setenv(variable, all, 1) == 0)
    (void)execv("/proc/self/exe", argv);
}

int main(int argc, char **argv) {
  struct options options = {0};
  begin_without_cache(argv);
  (void)setvbuf(stdout, NULL, _IOLBF, 0); /* what was found out stays, if a plugin ends its process */
  if (argc == 3 && strcmp(argv[1], "scan-plugin") == 0)
    return scan_plugin(argv[2]);
  if (argc == 2 && strcmp(argv[1], "worker") == 0)
    return conform_worker();
  argp_err_exit_status = 2;
  ssize_t length = readlink("/proc/self/exe", options.program, sizeof options.program - 1);
  if (length <= 0) {
    perror("tutti-conform: /proc/self/exe");
    return 1;
  }
  int code = parse_and_run(argc, argv, &options);
  free(options.paths);
  free(options.settings);
  free(options.wanted);
  return code;
}
