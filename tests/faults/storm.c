/* storm.c - runs under a storm: their manager, a worker, or all of them are killed, ended, stopped for a while, or meet
   a full disk, at random instants; then they are resumed until they are done. Nothing that was recorded may be lost or
   changed, and the finished run has the bits of an undisturbed one.

   Usage: storm [DISTURBANCES] [SEED] [FOLDER]; the methods are the recipes of tests/faults/methods, the numbers of
   workers 1, 2, 3 and 5. Which disturbance comes at which share of a run follows from the seed alone. With a FOLDER the
   storm can be stopped and goes on where it was; the first difference ends it, and the run's directory stays. */
#include "drill.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tutti/random.h>
#include <unistd.h>

enum { A_RUN = 6, MOST_WORKERS = 64, MOST_METHODS = 64 };
static const int worker_counts[] = {1, 2, 3, 5};

/* --- what can happen --- */

enum target { MANAGER, WORKER, ALL, DISK };

static const struct kind {
  const char *name;
  enum target target;
  int signal;     /* SIGSTOP is followed by SIGCONT */
  bool ends;      /* the manager ends by it */
  bool file_size; /* for DISK: by a limit on the size of files; else it is full at some byte */
} kinds[] = {
    {"kill manager", MANAGER, SIGKILL, true, false},
    {"kill worker", WORKER, SIGKILL, false, false},
    {"kill all", ALL, SIGKILL, true, false},
    {"term manager", MANAGER, SIGTERM, true, false},
    {"term worker", WORKER, SIGTERM, false, false},
    {"int manager", MANAGER, SIGINT, true, false},
    {"hup manager", MANAGER, SIGHUP, true, false},
    {"stop manager", MANAGER, SIGSTOP, false, false},
    {"stop worker", WORKER, SIGSTOP, false, false},
    {"stop all", ALL, SIGSTOP, false, false},
    {"disk full", DISK, 0, true, false},
    {"file limit", DISK, 0, true, true},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

struct method {
  const struct drill_method *own;
  double seconds; /* that the undisturbed run took */
  uint64_t bytes; /* of its files */
  uint64_t counts[KINDS];
};

struct storm {
  char base[DRILL_PATH], disk_module[DRILL_PATH];
  uint64_t seed, wanted, done, rounds, late;
  struct method methods[MOST_METHODS];
  size_t method_count;
};

/* Give a signal to the manager, to one of its workers, or to all; false if there is nobody. */
static bool give(enum target target, int signal_number, pid_t manager, uint64_t pick) {
  pid_t workers[MOST_WORKERS];
  size_t count = target == MANAGER ? 0 : drill_workers(manager, workers, MOST_WORKERS);
  if (target == WORKER)
    return count > 0 && kill(workers[pick % count], signal_number) == 0;
  bool given = kill(-manager, signal_number) == 0;
  for (size_t i = 0; i < count; i++)
    (void)kill(workers[i], signal_number); /* each has a group of its own */
  return given;
}

/* --- one run --- */

/* A signal at an instant; stopped processes go on after a while. Says whether it was in time. */
static bool strike(const struct kind *kind, pid_t manager, double length, struct tutti_random *random) {
  double when = tutti_random_uniform(random) * length, pause = tutti_random_uniform(random) * 0.2 * length;
  uint64_t pick = tutti_random_u64(random);
  drill_pause(when);
  siginfo_t ended = {0};
  if (waitid(P_PID, (id_t)manager, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid == manager)
    return false;
  bool given = give(kind->target, kind->signal, manager, pick);
  if (kind->signal == SIGSTOP) {
    drill_pause(pause);
    (void)give(kind->target == WORKER ? ALL : kind->target, SIGCONT, manager, 0);
  }
  return given;
}

/* The text in a run's log; free it. */
static char *read_log(const char *folder) {
  char path[DRILL_PATH + 8], *text = calloc(1, 8192);
  (void)snprintf(path, sizeof path, "%s.log", folder);
  FILE *file = fopen(path, "r");
  if (text && file)
    text[fread(text, 1, 8191, file)] = '\0';
  if (file)
    (void)fclose(file);
  return text;
}

/* How a manager may end: done; by a signal that it was given before it could catch it; interrupted, saying how to go
   on; on a full disk, saying so. */
static void check_end(int how, const struct kind *kind, const char *folder) {
  char *log = read_log(folder);
  bool fine = WIFEXITED(how) && WEXITSTATUS(how) == 0;
  if (kind->target == DISK)
    fine = fine || (WIFEXITED(how) && WEXITSTATUS(how) == 1 && log && strstr(log, "make room"));
  else if (kind->ends && kind->signal == SIGKILL)
    fine = fine || WIFSIGNALED(how);
  else if (kind->ends)
    fine = fine || (WIFSIGNALED(how) && WTERMSIG(how) == kind->signal) || (WIFEXITED(how) && WEXITSTATUS(how) == 130);
  if (!fine) {
    (void)fprintf(stderr, "%s: ended with status %#x: %s\n", kind->name, (unsigned)how, log ? log : "");
    drill_complain("the manager ended in another way than it should", folder);
  }
  free(log);
}

/* A session: start, disturb, perhaps several times, until the manager ends. Says whether the run is finished. */
static bool session(struct storm *storm, struct method *method, const char *folder, int workers, size_t *left,
                    struct tutti_random *random) {
  char room[64];
  const char *settings[] = {room, NULL};
  struct drill_run run = {.recipe = method->own->recipe, .folder = folder, .workers = workers};
  const struct kind *kind = &kinds[tutti_random_u64(random) % KINDS];
  double share = tutti_random_uniform(random);
  uint64_t *count = &method->counts[kind - kinds];
  if (kind->target == DISK && kind->file_size)
    run.file_limit = 1 + (uint64_t)(share * 0.3 * (double)method->bytes);
  else if (kind->target == DISK) {
    (void)snprintf(room, sizeof room, "TUTTI_DISK_ROOM=%" PRIu64, (uint64_t)(share * 0.7 * (double)method->bytes));
    run.preload = getenv("TUTTI_TEST_WATCHED") ? NULL : storm->disk_module; /* a watch wants to be loaded first */
    run.settings = settings;
  }
  pid_t manager = drill_start(&run);
  while (kind->target != DISK) {
    if (!strike(kind, manager, method->seconds * 0.5, random)) {
      storm->late++;
      break;
    }
    ++*count;
    storm->done++;
    --*left;
    if (kind->ends || *left == 0)
      break;
    kind = &kinds[tutti_random_u64(random) % KINDS];
    count = &method->counts[kind - kinds];
    if (kind->target == DISK)
      kind = &kinds[0], count = &method->counts[0];
  }
  int how = drill_wait(manager, 600, folder);
  if (kind->target == DISK && !(WIFEXITED(how) && WEXITSTATUS(how) == 0)) {
    ++*count;
    storm->done++;
    --*left;
  }
  check_end(how, kind, folder);
  return WIFEXITED(how) && WEXITSTATUS(how) == 0;
}

/* A run with its share of disturbances, then to its end, against the undisturbed one. */
static void torment(struct storm *storm, struct method *method, const char *folder, int workers,
                    struct tutti_random *random) {
  struct drill_rows before = {0}, after = {0}, reference = {0};
  size_t left = A_RUN;
  bool finished = false;
  drill_remove(folder);
  for (int sessions = 0; left > 0 && !finished && sessions < 4 * A_RUN && drill_failures() == 0; sessions++) {
    finished = session(storm, method, folder, workers, &left, random);
    if (drill_read(folder, &after)) {
      drill_check_kept(&before, &after, folder);
      drill_release(&before);
      before = after;
      after = (struct drill_rows){0};
    }
  }
  struct drill_run run = {.recipe = method->own->recipe, .folder = folder, .workers = workers};
  if (drill_failures() == 0 && drill_finish(drill_start(&run), folder) && drill_read(folder, &after) &&
      drill_read(method->own->expected, &reference)) {
    drill_check_kept(&before, &after, folder);
    drill_check_equal(&reference, &after, folder);
    drill_check_files(method->own->expected, folder);
  }
  drill_release(&before);
  drill_release(&after);
  drill_release(&reference);
}

/* --- the whole storm --- */

static uint64_t bytes_in(const char *folder) {
  char command[DRILL_PATH + 32];
  unsigned long long bytes = 0;
  (void)snprintf(command, sizeof command, "du -sb '%s'", folder);
  FILE *pipe = popen(command, "re");
  if (!pipe || fscanf(pipe, "%llu", &bytes) != 1)
    bytes = 100000;
  if (pipe)
    (void)pclose(pipe);
  return bytes;
}

/* The undisturbed run, unless it is there. */
static bool prepare(struct method *method) {
  char summary[DRILL_PATH + 16];
  struct drill_run run = {.recipe = method->own->recipe, .folder = method->own->expected, .workers = 2};
  (void)snprintf(summary, sizeof summary, "%s/summary.json", method->own->expected);
  double began = drill_now();
  if (!drill_finish(drill_start(&run), method->own->expected))
    return false;
  if (method->seconds == 0)
    method->seconds = drill_now() - began;
  method->bytes = bytes_in(method->own->expected);
  return true;
}

static void progress_path(const struct storm *storm, char path[DRILL_PATH + 32]) {
  (void)snprintf(path, DRILL_PATH + 32, "%s/storm.txt", storm->base);
}

/* What an earlier call did in this folder, if it had the same seed. */
static void read_progress(struct storm *storm) {
  char path[DRILL_PATH + 32], name[64], kind[64];
  uint64_t seed, count;
  double seconds;
  progress_path(storm, path);
  FILE *file = fopen(path, "r");
  if (!file)
    return;
  if (fscanf(file, "seed %" SCNu64 " rounds %" SCNu64 " done %" SCNu64 " late %" SCNu64 "\n", &seed, &storm->rounds,
             &storm->done, &storm->late) != 4 ||
      seed != storm->seed) {
    (void)fprintf(stderr, "storm: %s is of another seed: take another folder\n", path);
    exit(1);
  }
  while (fscanf(file, "method %63s %lf\n", name, &seconds) == 2)
    for (size_t i = 0; i < storm->method_count; i++)
      if (strcmp(storm->methods[i].own->name, name) == 0)
        storm->methods[i].seconds = seconds;
  while (fscanf(file, "%63s %" SCNu64 " %63[^\n]\n", name, &count, kind) == 3)
    for (size_t i = 0; i < storm->method_count; i++)
      for (size_t k = 0; k < KINDS; k++)
        if (strcmp(storm->methods[i].own->name, name) == 0 && strcmp(kinds[k].name, kind) == 0)
          storm->methods[i].counts[k] = count;
  (void)fclose(file);
}

static void write_progress(const struct storm *storm) {
  char path[DRILL_PATH + 32], temporary[DRILL_PATH + 40];
  progress_path(storm, path);
  (void)snprintf(temporary, sizeof temporary, "%s.tmp", path);
  FILE *file = fopen(temporary, "w");
  if (!file)
    return;
  (void)fprintf(file, "seed %" PRIu64 " rounds %" PRIu64 " done %" PRIu64 " late %" PRIu64 "\n", storm->seed,
                storm->rounds, storm->done, storm->late);
  for (size_t i = 0; i < storm->method_count; i++)
    (void)fprintf(file, "method %s %.3f\n", storm->methods[i].own->name, storm->methods[i].seconds);
  for (size_t i = 0; i < storm->method_count; i++)
    for (size_t k = 0; k < KINDS; k++)
      (void)fprintf(file, "%s %" PRIu64 " %s\n", storm->methods[i].own->name, storm->methods[i].counts[k],
                    kinds[k].name);
  if (fclose(file) == 0)
    (void)rename(temporary, path);
}

static void print_counts(const struct storm *storm) {
  printf("%-14s", "");
  for (size_t k = 0; k < KINDS; k++)
    printf(" %12s", kinds[k].name);
  printf(" %8s\n", "all");
  for (size_t i = 0; i < storm->method_count; i++) {
    uint64_t sum = 0;
    printf("%-14s", storm->methods[i].own->name);
    for (size_t k = 0; k < KINDS; k++) {
      printf(" %12" PRIu64, storm->methods[i].counts[k]);
      sum += storm->methods[i].counts[k];
    }
    printf(" %8" PRIu64 "\n", sum);
  }
}

int main(int argc, char **argv) {
  static struct storm storm;
  static struct drill_method methods[MOST_METHODS];
  storm.wanted = argc > 1 ? strtoull(argv[1], NULL, 10) : 20;
  storm.seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  char own[] = "/tmp/tutti-storm-XXXXXX";
  bool keep = argc > 3 && *argv[3];
  if (!getenv("TUTTI_PROGRAM") || !getenv("TUTTI_TEST_SRCDIR") || !getenv("TUTTI_TEST_BUILDDIR")) {
    (void)fputs("storm: expected the environment of a test: make storm\n", stderr);
    return 1;
  }
  if (keep ? mkdir(argv[3], 0755) != 0 && errno != EEXIST : !mkdtemp(own)) {
    (void)fprintf(stderr, "storm: cannot make a folder: %s\n", strerror(errno));
    return 1;
  }
  (void)snprintf(storm.base, sizeof storm.base, "%s", keep ? argv[3] : own);
  (void)snprintf(storm.disk_module, sizeof storm.disk_module, "%s/tests/faults/.libs/full_disk.so",
                 getenv("TUTTI_TEST_BUILDDIR"));
  storm.method_count = drill_methods(storm.base, methods, MOST_METHODS);
  for (size_t i = 0; i < storm.method_count; i++)
    storm.methods[i].own = &methods[i];
  read_progress(&storm);
  while (storm.done < storm.wanted && drill_failures() == 0) {
    char folder[DRILL_PATH];
    struct tutti_random random;
    struct method *method = &storm.methods[storm.rounds % storm.method_count];
    tutti_random_init(&random, storm.seed, "storm", storm.rounds);
    if (!prepare(method))
      break;
    (void)snprintf(folder, sizeof folder, "%.300s/%s-%" PRIu64, storm.base, method->own->name, storm.rounds);
    torment(&storm, method, folder, worker_counts[storm.rounds / storm.method_count % 4], &random);
    if (drill_failures() > 0)
      break;
    drill_remove(folder);
    storm.rounds++;
    write_progress(&storm);
  }
  print_counts(&storm);
  printf("%" PRIu64 " disturbances of %" PRIu64 " runs (%" PRIu64 " came too late), %d failures%s%s\n", storm.done,
         storm.rounds, storm.late, drill_failures(), drill_failures() ? "; see " : "",
         drill_failures() ? storm.base : "");
  if (!keep && drill_failures() == 0)
    drill_remove(storm.base);
  return drill_failures() || storm.done < storm.wanted ? 1 : 0;
}
