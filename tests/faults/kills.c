/* kills.c - kill -9 of managers and workers at random instants, then --resume: no trial that was recorded is lost or
   changed, and the finished run has the bits of an uninterrupted one, for 1, 2 and 5 workers.

   Usage: kills [KILLS] [SEED]; the kills are spread over four recipes (a function that sleeps, searched at random and
   by Bayesian optimisation; small networks trained on the toy data, drawn at random and by AgEBO) and the three numbers
   of workers. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <tutti/catalogue.h>
#include <tutti/random.h>
#include <unistd.h>

enum { PATH_SIZE = 512, KILLS_A_RUN = 8 };

static const char *const recipes[] = {
    "[run]\nname = kills\nbudget = 60\nwindow = 7\nretries = 1000\n"
    "[space]\nplugin = fixed\n"
    "[backend]\nplugin = function\nfunction = branin\nseconds = 0.004\n"
    "[hyperparameters]\nx0 = uniform -5 10\nx1 = uniform 0 15\n",
    "[run]\nname = kills\nbudget = 14\nwindow = 7\nretries = 1000\n"
    "[data]\nplugin = toy-sine\n"
    "[space]\nplugin = mlp\nmax_depth = 2\n"
    "[hyperparameters]\nepochs = 12\nlearning_rate = log-uniform 1e-3 1e-1\n"
    "[selector]\nplugin = forward\nsize = 3\n",
    "[run]\nname = kills\nbudget = 30\nwindow = 4\nretries = 1000\n"
    "[space]\nplugin = fixed\n"
    "[backend]\nplugin = function\nfunction = branin\nseconds = 0.004\n"
    "[hyperparameters]\nx0 = uniform -5 10\nx1 = uniform 0 15\n"
    "[builder]\nplugin = bo\n",
    "[run]\nname = kills\nbudget = 20\nwindow = 4\nretries = 1000\n"
    "[data]\nplugin = toy-sine\n"
    "[space]\nplugin = dense-skip\nnodes = 2\n"
    "[hyperparameters]\nepochs = 8\nlearning_rate = log-uniform 1e-3 1e-1\n"
    "[builder]\nplugin = agebo\n[surrogate]\ntrees = 10\n"
    "[selector]\nplugin = greedy\nsize = 3\n",
};
static const int worker_counts[] = {1, 2, 5};
static int failures;

static void complain(const char *what, const char *folder) {
  (void)fprintf(stderr, "kills: %s (%s)\n", what, folder);
  failures++;
}

/* --- processes --- */

extern char **environ;

static pid_t start(const char *recipe, const char *folder, int workers) {
  char count[16], log[PATH_SIZE + 8];
  pid_t child;
  posix_spawn_file_actions_t actions;
  (void)snprintf(count, sizeof count, "%d", workers);
  (void)snprintf(log, sizeof log, "%s.log", folder);
  char *const command[] = {getenv("TUTTI_PROGRAM"),
                           "run",
                           (char *)(uintptr_t)recipe,
                           "--out",
                           (char *)(uintptr_t)folder,
                           "--workers",
                           count,
                           "--resume",
                           "--quiet",
                           NULL};
  (void)posix_spawn_file_actions_init(&actions);
  (void)posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  (void)posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  int error = posix_spawn(&child, command[0], &actions, NULL, command, environ);
  (void)posix_spawn_file_actions_destroy(&actions);
  if (error) {
    (void)fprintf(stderr, "kills: %s: %s\n", command[0], strerror(error));
    exit(1);
  }
  return child;
}

static void pause_for(double seconds) {
  struct timespec time = {(time_t)seconds, (long)(fmod(seconds, 1) * 1e9)};
  while (nanosleep(&time, &time) != 0 && errno == EINTR)
    ;
}

/* A worker of a manager: any process whose parent it is; 0 when there is none. */
static pid_t worker_of(pid_t manager, uint64_t pick) {
  DIR *processes = opendir("/proc");
  struct dirent *entry;
  pid_t found[64];
  size_t count = 0;
  while (processes && (entry = readdir(processes)) && count < 64) {
    char path[300], line[512];
    int parent = 0;
    if (!isdigit((unsigned char)entry->d_name[0]))
      continue;
    (void)snprintf(path, sizeof path, "/proc/%s/stat", entry->d_name);
    FILE *file = fopen(path, "r");
    char *end = file && fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
    if (end && sscanf(end + 1, " %*c %d", &parent) == 1 && parent == manager)
      found[count++] = (pid_t)atoi(entry->d_name);
    if (file)
      (void)fclose(file);
  }
  if (processes)
    (void)closedir(processes);
  return count ? found[pick % count] : 0;
}

static int remove_entry(const char *path, const struct stat *facts, int type, struct FTW *place) {
  (void)facts;
  (void)type;
  (void)place;
  return remove(path);
}

static void remove_folder(const char *folder) { (void)nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

/* --- what a catalogue says, without times --- */

struct row {
  char *text; /* candidate, origin, state, loss, order, failure, report */
  bool done;
};
struct rows {
  struct row items[256];
  size_t count;
};

static void release(struct rows *rows) {
  for (size_t i = 0; i < rows->count; i++)
    free(rows->items[i].text);
  rows->count = 0;
}

static enum tutti_status take_row(void *argument, const struct tutti_trial *trial) {
  struct rows *rows = argument;
  struct row *row = &rows->items[rows->count++];
  row->done = trial->done;
  if (asprintf(&row->text, "%s|%s|%" PRIu64 "|%d|%a|%" PRIu64 "|%s|%s", trial->candidate, trial->origin,
               trial->asked_after, trial->done ? (int)trial->state : -1, trial->loss, trial->told, trial->failure,
               trial->report) < 0)
    exit(1);
  return TUTTI_OK;
}

/* Read a run's trials; false when there is no catalogue yet. A catalogue that cannot be read is a failure. */
static bool read_rows(const char *folder, struct rows *rows) {
  char path[PATH_SIZE];
  tutti_context *context;
  tutti_catalogue *catalogue = NULL;
  rows->count = 0;
  (void)snprintf(path, sizeof path, "%s/catalogue.sqlite", folder);
  if (access(path, F_OK) != 0 || tutti_context_create(&context) != TUTTI_OK)
    return false;
  /* Opened as a resume opens it: a kill while the tables are made leaves them to be made then. */
  enum tutti_status status = tutti_catalogue_open(context, path, true, &catalogue);
  if (status == TUTTI_OK)
    status = tutti_catalogue_visit(context, catalogue, take_row, rows);
  if (status != TUTTI_OK)
    complain(tutti_error_message(context), folder);
  tutti_catalogue_close(catalogue);
  tutti_context_destroy(context);
  return status == TUTTI_OK;
}

/* Text up to the place in the order of telling, which a done trial may yet get. */
static bool same_result(const char *before, const char *after) {
  size_t bars = 0, length = 0;
  while (before[length] && bars < 5)
    bars += before[length++] == '|';
  return strncmp(before, after, length) == 0;
}

/* Nothing that was recorded as done may be lost or changed. */
static void check_kept(const struct rows *before, const struct rows *after, const char *folder) {
  if (after->count < before->count)
    complain("recorded trials are gone", folder);
  for (size_t i = 0; i < before->count && i < after->count; i++)
    if (before->items[i].done && (!after->items[i].done || !same_result(before->items[i].text, after->items[i].text)))
      complain("a recorded result is lost or changed", folder);
}

static void check_equal(const struct rows *expected, const struct rows *found, const char *folder) {
  if (expected->count != found->count) {
    complain("another number of trials than uninterrupted", folder);
    return;
  }
  for (size_t i = 0; i < expected->count; i++)
    if (strcmp(expected->items[i].text, found->items[i].text) != 0) {
      (void)fprintf(stderr, "uninterrupted: %s\n  interrupted: %s\n", expected->items[i].text, found->items[i].text);
      complain("a trial differs from the uninterrupted run's", folder);
    }
}

static bool same_file(const char *a, const char *b) {
  FILE *x = fopen(a, "rb"), *y = fopen(b, "rb");
  bool same = !x == !y;
  while (same && x && y) {
    int c = getc(x);
    same = c == getc(y);
    if (c == EOF)
      break;
  }
  if (x)
    (void)fclose(x);
  if (y)
    (void)fclose(y);
  return same;
}

static void check_files(const char *expected, const char *found) {
  static const char *const names[] = {"summary.json", "ensemble.json", "recipe.ini"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char a[PATH_SIZE + 16], b[PATH_SIZE + 16];
    (void)snprintf(a, sizeof a, "%s/%s", expected, names[i]);
    (void)snprintf(b, sizeof b, "%s/%s", found, names[i]);
    if (!same_file(a, b))
      complain(names[i], found);
  }
}

/* --- runs --- */

/* Wait for a run's end; its exit code has to be 0. */
static bool finish(pid_t child, const char *folder) {
  int how;
  while (waitpid(child, &how, 0) < 0 && errno == EINTR)
    ;
  if (WIFEXITED(how) && WEXITSTATUS(how) == 0)
    return true;
  complain("the run did not finish: see its .log", folder);
  return false;
}

/* One run with `kills` kills, then to its end, against the uninterrupted one in `expected`. */
static void torment(const char *recipe, const char *folder, const char *expected, int workers, int kills, double length,
                    struct tutti_random *random) {
  struct rows before = {0}, after = {0}, reference = {0};
  remove_folder(folder);
  for (int kill_number = 0; kill_number < kills; kill_number++) {
    pid_t manager = start(recipe, folder, workers);
    pause_for(tutti_random_uniform(random) * length);
    if (tutti_random_uniform(random) < 0.4) { /* a worker first; the manager goes on for a while */
      pid_t worker = worker_of(manager, tutti_random_u64(random));
      if (worker)
        (void)kill(worker, SIGKILL);
      pause_for(tutti_random_uniform(random) * length * 0.5);
    }
    (void)kill(manager, SIGKILL);
    (void)waitpid(manager, NULL, 0);
    release(&after);
    if (read_rows(folder, &after))
      check_kept(&before, &after, folder);
    release(&before);
    before = after;
    after.count = 0;
  }
  if (finish(start(recipe, folder, workers), folder) && read_rows(folder, &after) && read_rows(expected, &reference)) {
    check_kept(&before, &after, folder);
    check_equal(&reference, &after, folder);
    check_files(expected, folder);
  }
  release(&before);
  release(&after);
  release(&reference);
}

static double now(void) {
  struct timespec time;
  (void)clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The kills of one recipe. */
static void torment_recipe(size_t which, const char *base, int kills, uint64_t seed) {
  char recipe[PATH_SIZE], expected[PATH_SIZE], folder[PATH_SIZE];
  struct tutti_random random;
  tutti_random_init(&random, seed, "kills", which);
  (void)snprintf(recipe, sizeof recipe, "%s/recipe%zu.ini", base, which);
  (void)snprintf(expected, sizeof expected, "%s/expected%zu", base, which);
  FILE *file = fopen(recipe, "w");
  if (!file || fputs(recipes[which], file) < 0 || fclose(file) != 0) {
    complain("cannot write the recipe", recipe);
    return;
  }
  double began = now();
  if (!finish(start(recipe, expected, 2), expected))
    return;
  double length = now() - began;
  for (int done = 0, round = 0; done < kills && failures == 0; round++) {
    int workers = worker_counts[round % 3], share = kills - done < KILLS_A_RUN ? kills - done : KILLS_A_RUN;
    (void)snprintf(folder, sizeof folder, "%s/run%zu-%d", base, which, round);
    /* Most kills should come while trials are trained, some at the very start and at the end. */
    torment(recipe, folder, expected, workers, share, length * 0.6, &random);
    if (failures == 0)
      remove_folder(folder);
    done += share;
  }
}

int main(int argc, char **argv) {
  int kills = argc > 1 ? atoi(argv[1]) : 200;
  uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  char base[] = "/tmp/tutti-kills-XXXXXX";
  if (!getenv("TUTTI_PROGRAM") || !mkdtemp(base)) {
    (void)fputs("kills: expected TUTTI_PROGRAM in the environment, and room in /tmp\n", stderr);
    return 1;
  }
  size_t count = sizeof recipes / sizeof recipes[0];
  for (size_t i = 0; i < count; i++)
    torment_recipe(i, base, (kills + (int)i) / (int)count, seed);
  if (failures == 0)
    remove_folder(base);
  (void)printf("%d kills, %d failures%s%s\n", kills, failures, failures ? "; see " : "", failures ? base : "");
  return failures ? 1 : 0;
}
