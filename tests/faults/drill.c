/* drill.c - runs that are disturbed: processes, catalogues, files. */
#include "drill.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <tutti/catalogue.h>
#include <unistd.h>

static int failures;

void drill_complain(const char *what, const char *folder) {
  (void)fprintf(stderr, "%s (%s)\n", what, folder);
  failures++;
}

int drill_failures(void) { return failures; }

/* --- processes --- */

extern char **environ;

/* The environment with what the run wants set, and `preload`, a variable, too. */
static char **environment_of(const struct drill_run *run, char *preload) {
  size_t count = 0, kept = 0, more = 0;
  while (environ[count])
    count++;
  while (run->settings && run->settings[more])
    more++;
  char **environment = calloc(count + more + 2, sizeof *environment);
  if (!environment)
    exit(1);
  for (size_t i = 0; i < count; i++)
    environment[kept++] = environ[i];
  for (size_t i = 0; i < more; i++)
    environment[kept++] = (char *)(uintptr_t)run->settings[i];
  if (run->preload)
    environment[kept] = preload;
  return environment;
}

pid_t drill_start(const struct drill_run *run) {
  char count[16], log[DRILL_PATH + 8], preload[DRILL_PATH + 16];
  pid_t child;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  (void)snprintf(preload, sizeof preload, "LD_PRELOAD=%s", run->preload ? run->preload : "");
  char **environment = environment_of(run, preload);
  (void)snprintf(count, sizeof count, "%d", run->workers);
  (void)snprintf(log, sizeof log, "%s.log", run->folder);
  char *const command[] = {getenv("TUTTI_PROGRAM"),
                           "run",
                           (char *)(uintptr_t)run->recipe,
                           "--out",
                           (char *)(uintptr_t)run->folder,
                           "--workers",
                           count,
                           "--resume",
                           "--quiet",
                           NULL};
  (void)posix_spawn_file_actions_init(&actions);
  (void)posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  (void)posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
  (void)posix_spawnattr_init(&attributes);
  (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  int error = posix_spawn(&child, command[0], &actions, &attributes, command, environment);
  (void)posix_spawn_file_actions_destroy(&actions);
  (void)posix_spawnattr_destroy(&attributes);
  free(environment);
  if (error) {
    (void)fprintf(stderr, "%s: %s\n", command[0], strerror(error));
    exit(1);
  }
  struct rlimit limit = {run->file_limit, run->file_limit};
  if (run->file_limit)
    (void)prlimit(child, RLIMIT_FSIZE, &limit, NULL);
  return child;
}

double drill_now(void) {
  struct timespec time;
  (void)clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

void drill_pause(double seconds) {
  struct timespec time = {(time_t)seconds, (long)(fmod(seconds, 1) * 1e9)};
  while (nanosleep(&time, &time) != 0 && errno == EINTR)
    ;
}

int drill_wait(pid_t manager, double seconds, const char *folder) {
  double end = drill_now() + seconds;
  int how;
  for (double pause = 0.001; waitpid(manager, &how, WNOHANG) == 0; pause = fmin(pause * 2, 0.05)) {
    if (drill_now() > end) {
      drill_complain("the run did not end: it hangs", folder);
      (void)kill(manager, SIGKILL);
      end = INFINITY;
    }
    drill_pause(pause);
  }
  return how;
}

bool drill_finish(pid_t manager, const char *folder) {
  int how = drill_wait(manager, 600, folder);
  if (WIFEXITED(how) && WEXITSTATUS(how) == 0)
    return true;
  drill_complain("the run did not finish: see its .log", folder);
  return false;
}

size_t drill_workers(pid_t manager, pid_t *found, size_t room) {
  DIR *processes = opendir("/proc");
  struct dirent *entry;
  size_t count = 0;
  while (processes && (entry = readdir(processes)) && count < room) {
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
  return count;
}

static int remove_entry(const char *path, const struct stat *facts, int type, struct FTW *place) {
  (void)facts;
  (void)type;
  (void)place;
  return remove(path);
}

void drill_remove(const char *folder) { (void)nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

/* --- methods --- */

size_t drill_methods(const char *base, struct drill_method *methods, size_t room) {
  char pattern[DRILL_PATH];
  size_t count = 0;
  glob_t found;
  (void)snprintf(pattern, sizeof pattern, "%s/tests/faults/methods/*.ini", getenv("TUTTI_TEST_SRCDIR"));
  if (glob(pattern, 0, NULL, &found) != 0)
    return 0;
  for (; count < found.gl_pathc && count < room; count++) {
    struct drill_method *method = &methods[count];
    const char *name = strrchr(found.gl_pathv[count], '/') + 1;
    (void)snprintf(method->recipe, sizeof method->recipe, "%s", found.gl_pathv[count]);
    (void)snprintf(method->name, sizeof method->name, "%.*s", (int)strlen(name) - 4, name);
    (void)snprintf(method->expected, sizeof method->expected, "%s/expected-%s", base, method->name);
  }
  globfree(&found);
  return count;
}

/* --- what a catalogue says, without times --- */

void drill_release(struct drill_rows *rows) {
  for (size_t i = 0; i < rows->count; i++)
    free(rows->items[i].text);
  free(rows->items);
  *rows = (struct drill_rows){0};
}

size_t drill_done(const struct drill_rows *rows) {
  size_t done = 0;
  for (size_t i = 0; i < rows->count; i++)
    done += rows->items[i].done;
  return done;
}

static enum tutti_status take_row(void *argument, const struct tutti_trial *trial) {
  struct drill_rows *rows = argument;
  if (rows->count == rows->room) {
    rows->room = rows->room * 2 + 64;
    rows->items = realloc(rows->items, rows->room * sizeof *rows->items);
    if (!rows->items)
      exit(1);
  }
  struct drill_row *row = &rows->items[rows->count++];
  row->done = trial->done;
  if (asprintf(&row->text, "%s|%s|%" PRIu64 "|%d|%a|%" PRIu64 "|%s|%s", trial->candidate, trial->origin,
               trial->asked_after, trial->done ? (int)trial->state : -1, trial->loss, trial->told, trial->failure,
               trial->report) < 0)
    exit(1);
  return TUTTI_OK;
}

bool drill_read(const char *folder, struct drill_rows *rows) {
  char path[DRILL_PATH + 32];
  tutti_context *context;
  tutti_catalogue *catalogue = NULL;
  *rows = (struct drill_rows){0};
  (void)snprintf(path, sizeof path, "%s/catalogue.sqlite", folder);
  if (access(path, F_OK) != 0 || tutti_context_create(&context) != TUTTI_OK)
    return false;
  /* Opened as a resume opens it: a kill while the tables are made leaves them to be made then. */
  enum tutti_status status = tutti_catalogue_open(context, path, true, &catalogue);
  if (status == TUTTI_OK)
    status = tutti_catalogue_visit(context, catalogue, take_row, rows);
  if (status != TUTTI_OK)
    drill_complain(tutti_error_message(context), folder);
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

void drill_check_kept(const struct drill_rows *before, const struct drill_rows *after, const char *folder) {
  if (after->count < before->count)
    drill_complain("recorded trials are gone", folder);
  for (size_t i = 0; i < before->count && i < after->count; i++)
    if (before->items[i].done && (!after->items[i].done || !same_result(before->items[i].text, after->items[i].text)))
      drill_complain("a recorded result is lost or changed", folder);
}

void drill_check_equal(const struct drill_rows *expected, const struct drill_rows *found, const char *folder) {
  if (expected->count != found->count) {
    drill_complain("another number of trials than undisturbed", folder);
    return;
  }
  for (size_t i = 0; i < expected->count; i++)
    if (strcmp(expected->items[i].text, found->items[i].text) != 0) {
      (void)fprintf(stderr, "undisturbed: %s\n  disturbed: %s\n", expected->items[i].text, found->items[i].text);
      drill_complain("a trial differs from the undisturbed run's", folder);
    }
}

/* --- files --- */

static bool same_file(const char *a, const char *b) {
  FILE *x = fopen(a, "rb"), *y = fopen(b, "rb");
  bool same = x && y;
  while (same) {
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

static bool is_compared(const char *name) {
  return name[0] != '.' && strncmp(name, "catalogue", 9) != 0 && strcmp(name, "lock") != 0 &&
         strcmp(name, "worker.log") != 0;
}

/* Every entry of `folder` is in `other`, too; files with the same bytes, unless only their names count. */
static void compare_folders(const char *folder, const char *other, bool names_alone, const char *blamed) {
  DIR *entries = opendir(folder);
  struct dirent *entry;
  while (entries && (entry = readdir(entries))) {
    char a[2 * DRILL_PATH], b[2 * DRILL_PATH];
    struct stat facts;
    if (!is_compared(entry->d_name))
      continue;
    (void)snprintf(a, sizeof a, "%s/%s", folder, entry->d_name);
    (void)snprintf(b, sizeof b, "%s/%s", other, entry->d_name);
    if (stat(a, &facts) == 0 && S_ISDIR(facts.st_mode)) {
      compare_folders(a, b, names_alone, blamed);
    } else if (names_alone ? access(b, F_OK) != 0 : !same_file(a, b)) {
      (void)fprintf(stderr, names_alone ? "not in the undisturbed run: %s\n" : "missing, or other than %s\n", a);
      drill_complain("the files differ from the undisturbed run's", blamed);
    }
  }
  if (entries)
    (void)closedir(entries);
  else
    drill_complain("a folder is missing", names_alone ? other : folder);
}

void drill_check_files(const char *expected, const char *folder) {
  compare_folders(expected, folder, false, folder);
  compare_folders(folder, expected, true, folder);
}
