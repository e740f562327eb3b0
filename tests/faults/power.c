/* power.c - the power fails at any instant of a run: what a disk may show then is made from a record of its writes,
   syncs and names (power_log.c, power_disk.c), and the run is resumed. Every result that was reported is there, with
   all of its files; a reported summary is whole; and the finished run has the bits of an undisturbed one. In each
   recorded run the manager is killed once before.

   Usage: power [CUTS] [SEED] [FOLDER]; the methods are the recipes of tests/faults/methods. With a FOLDER, the records
   stay, and it goes on where it was; the first loss ends it, and its directory stays. At first it cuts the power of a
   drive on which syncs do nothing: each kind of loss has to be found there, or this test would find none. */
#include "drill.h"
#include "power_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <tutti/cpu.h>
#include <tutti/random.h>
#include <tutti/run.h>
#include <unistd.h>

enum { MOST_METHODS = 64 };

/* --- the manager that is recorded: it notes what it reports --- */

static void announce(void *argument, const struct tutti_run_progress *progress) {
  const char *phase = progress->phase == TUTTI_PHASE_DONE ? "finished" : "";
  struct power_record head = {.kind = POWER_ANNOUNCED, .path = (uint32_t)strlen(phase), .offset = progress->done};
  struct iovec parts[2] = {{&head, sizeof head}, {(void *)(uintptr_t)phase, head.path}};
  if (writev(*(int *)argument, parts, 2) < 0)
    abort();
}

/* power manage RECIPE DIRECTORY */
static int manage(const char *recipe_path, const char *directory) {
  tutti_context *context;
  tutti_recipe *recipe;
  char *summary = NULL;
  const char *coretype = tutti_cpu_blas_coretype();
  int log = open(getenv(POWER_LOG), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (coretype)
    (void)setenv("OPENBLAS_CORETYPE", coretype, 0);
  if (log < 0 || tutti_context_create(&context) != TUTTI_OK)
    return 1;
  struct tutti_run_options options = {.size = sizeof options,
                                      .directory = directory,
                                      .program = getenv("TUTTI_PROGRAM"),
                                      .resume = true,
                                      .workers = 2,
                                      .progress = announce,
                                      .argument = &log};
  enum tutti_status status = tutti_recipe_load(context, recipe_path, 0, NULL, &recipe);
  if (status == TUTTI_OK)
    status = tutti_run(context, recipe, &options, &summary);
  if (status != TUTTI_OK)
    (void)fprintf(stderr, "power: %s\n", tutti_error_message(context));
  tutti_free(summary);
  tutti_context_destroy(context);
  return status == TUTTI_OK ? 0 : 1;
}

/* --- recording --- */

struct method {
  const struct drill_method *own;
  struct power_history history;
  uint64_t cuts;
};

struct power {
  char base[DRILL_PATH], module[DRILL_PATH], self[DRILL_PATH];
  uint64_t seed, wanted, done, losses[POWER_LOSSES];
  struct method methods[MOST_METHODS];
  size_t method_count;
};

static pid_t start_recorded(const struct power *power, const struct method *method, const char *log, const char *root) {
  char directory[DRILL_PATH + 8];
  (void)snprintf(directory, sizeof directory, "%s/run", root);
  pid_t child = fork();
  if (child != 0)
    return child;
  (void)setenv(POWER_LOG, log, 1);
  (void)setenv(POWER_ROOT, root, 1);
  (void)setenv("LD_PRELOAD", power->module, 1);
  (void)execl(power->self, power->self, "manage", method->own->recipe, directory, (char *)NULL);
  _exit(127);
}

/* Two sessions: in the first, the manager is killed about half way. */
static bool record_run(const struct power *power, struct method *method, double seconds) {
  char log[DRILL_PATH + 24], root[DRILL_PATH + 16];
  (void)snprintf(root, sizeof root, "%.300s/recorded-%s", power->base, method->own->name);
  (void)snprintf(log, sizeof log, "%s.log", root);
  if (access(log, F_OK) != 0) {
    char temporary[DRILL_PATH + 40];
    (void)snprintf(temporary, sizeof temporary, "%s.tmp", log);
    (void)unlink(temporary);
    drill_remove(root);
    (void)mkdir(root, 0755);
    int file = open(temporary, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    (void)close(file);
    pid_t manager = start_recorded(power, method, temporary, root);
    drill_pause(seconds * 0.5);
    (void)kill(manager, SIGKILL);
    (void)waitpid(manager, NULL, 0);
    if (!drill_finish(start_recorded(power, method, temporary, root), root))
      return false;
    (void)rename(temporary, log);
  }
  power_read(log, &method->history);
  return true;
}

static bool prepare(const struct power *power, struct method *method) {
  struct drill_run run = {.recipe = method->own->recipe, .folder = method->own->expected, .workers = 2};
  if (method->history.count)
    return true;
  double began = drill_now();
  return drill_finish(drill_start(&run), method->own->expected) && record_run(power, method, drill_now() - began);
}

/* --- a cut --- */

/* What had been reported: the number of results, and whether the run had ended. */
static uint64_t reported(const struct method *method, size_t cut, bool *finished) {
  uint64_t done = 0;
  *finished = false;
  for (size_t i = 0; i < cut; i++) {
    const struct power_entry *entry = &method->history.entries[i];
    if (entry->head.kind != POWER_ANNOUNCED)
      continue;
    done = entry->head.offset > done ? entry->head.offset : done;
    *finished = *finished || strcmp(entry->path, "finished") == 0;
  }
  return done;
}

/* What the disk shows, before the run is resumed. */
static void check_disk(const struct method *method, size_t cut, const char *folder) {
  char run[DRILL_PATH + 8];
  struct drill_rows found = {0}, expected = {0};
  bool finished;
  uint64_t promised = reported(method, cut, &finished);
  (void)snprintf(run, sizeof run, "%s/run", folder);
  bool is_there = drill_read(run, &found);
  if (drill_done(&found) < promised) {
    (void)fprintf(stderr, "reported: %" PRIu64 " results; found: %zu%s\n", promised, drill_done(&found),
                  is_there ? "" : ", and no catalogue");
    drill_complain("a reported result is lost", folder);
  }
  if (drill_read(method->own->expected, &expected))
    for (size_t i = 0; i < found.count; i++)
      if (found.items[i].done && i < expected.count)
        drill_check_kept(&(struct drill_rows){&found.items[i], 1, 1}, &(struct drill_rows){&expected.items[i], 1, 1},
                         folder);
  if (finished) {
    char live[DRILL_PATH + 24];
    (void)snprintf(live, sizeof live, "%s/live.json", run);
    (void)unlink(live); /* its end is not synced: who reads it passes over that of a run that is over */
    drill_check_files(method->own->expected, run);
  }
  drill_release(&found);
  drill_release(&expected);
}

/* A recorded trial whose files are not whole is trained again, and says so: then it was recorded too early. */
static void check_log(const char *folder) {
  char path[DRILL_PATH + 16], line[1024];
  (void)snprintf(path, sizeof path, "%s.log", folder);
  FILE *file = fopen(path, "r");
  while (file && fgets(line, sizeof line, file))
    if (strstr(line, "again")) {
      (void)fprintf(stderr, "%s", line);
      drill_complain("a file that was recorded is not whole", folder);
    }
  if (file)
    (void)fclose(file);
}

static void resume(const struct method *method, const char *folder) {
  char directory[DRILL_PATH];
  struct drill_rows found = {0}, expected = {0};
  (void)snprintf(directory, sizeof directory, "%.500s/run", folder);
  struct drill_run run = {.recipe = method->own->recipe, .folder = directory, .workers = 2};
  if (drill_finish(drill_start(&run), directory) && drill_read(directory, &found) &&
      drill_read(method->own->expected, &expected)) {
    check_log(directory);
    drill_check_equal(&expected, &found, directory);
    drill_check_files(method->own->expected, directory);
  }
  drill_release(&found);
  drill_release(&expected);
}

static void cut_once(struct power *power, struct method *method, enum power_loss loss) {
  char folder[DRILL_PATH], look[DRILL_PATH];
  struct tutti_random random;
  tutti_random_init(&random, power->seed, "cut", power->done);
  size_t cut = (size_t)(tutti_random_u64(&random) % (method->history.count + 1));
  uint64_t seed = tutti_random_u64(&random);
  (void)snprintf(folder, sizeof folder, "%.300s/cut-%" PRIu64, power->base, power->done);
  (void)snprintf(look, sizeof look, "%.300s/look-%" PRIu64, power->base, power->done);
  drill_remove(folder);
  drill_remove(look);
  power_make(&method->history, cut, loss, seed, false, folder);
  power_make(&method->history, cut, loss, seed, false, look);
  check_disk(method, cut, look); /* reading it mends it, so it has a copy of its own */
  if (drill_failures() == 0)
    resume(method, folder);
  if (drill_failures() > 0)
    (void)fprintf(stderr, "power: %s, after %zu of %zu records, \"%s\": %s\n", method->own->name, cut,
                  method->history.count, power_loss_names[loss], folder);
  if (drill_failures() > 0)
    return;
  drill_remove(folder);
  drill_remove(look);
}

/* --- a drive that lies --- */

/* In a process of its own, as complaints are counted: is a loss of this kind seen at one of many instants? */
static bool is_seen(const struct power *power, const struct method *method, enum power_loss loss) {
  enum { CUTS = 40 };
  int how = 0;
  (void)fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    int quiet = open("/dev/null", O_WRONLY | O_CLOEXEC);
    (void)dup2(quiet, 2);
    for (size_t i = 1; i <= CUTS && drill_failures() == 0; i++) {
      char look[DRILL_PATH];
      (void)snprintf(look, sizeof look, "%.300s/lie", power->base);
      drill_remove(look);
      power_make(&method->history, method->history.count * i / CUTS, loss, i, true, look);
      check_disk(method, method->history.count * i / CUTS, look);
      drill_remove(look);
    }
    _exit(drill_failures() > 0);
  }
  return waitpid(child, &how, 0) == child && WIFEXITED(how) && WEXITSTATUS(how) == 1;
}

static void check_that_losses_are_seen(const struct power *power, const struct method *method) {
  for (size_t i = 0; i < POWER_LOSSES; i++)
    if (!is_seen(power, method, (enum power_loss)i))
      drill_complain("without syncs, no loss of this kind is seen", power_loss_names[i]);
}

/* --- all of them --- */

static void progress(struct power *power, bool save) {
  char path[DRILL_PATH + 16];
  uint64_t seed = power->seed;
  (void)snprintf(path, sizeof path, "%s/power.txt", power->base);
  FILE *file = fopen(path, save ? "w" : "r");
  if (!file)
    return;
  if (save) {
    (void)fprintf(file, "%" PRIu64 " %" PRIu64 "\n", seed, power->done);
  } else if (fscanf(file, "%" SCNu64 " %" SCNu64, &seed, &power->done) != 2 || seed != power->seed) {
    (void)fprintf(stderr, "power: %s is of another seed: take another folder\n", path);
    exit(1);
  }
  (void)fclose(file);
}

static void find_place(struct power *power, const char *self, const char *given) {
  char own[] = "/tmp/tutti-power-XXXXXX";
  if (given && *given ? mkdir(given, 0755) != 0 && errno != EEXIST : !mkdtemp(own)) {
    (void)fprintf(stderr, "power: cannot make a folder: %s\n", strerror(errno));
    exit(1);
  }
  (void)snprintf(power->base, sizeof power->base, "%s", given && *given ? given : own);
  (void)snprintf(power->module, sizeof power->module, "%s/tests/faults/.libs/power_log.so",
                 getenv("TUTTI_TEST_BUILDDIR"));
  ssize_t length = readlink("/proc/self/exe", power->self, sizeof power->self - 1);
  if (length <= 0)
    (void)snprintf(power->self, sizeof power->self, "%s", self);
}

int main(int argc, char **argv) {
  static struct power power;
  static struct drill_method methods[MOST_METHODS];
  if (argc == 4 && strcmp(argv[1], "manage") == 0)
    return manage(argv[2], argv[3]);
  if (!getenv("TUTTI_PROGRAM") || !getenv("TUTTI_TEST_SRCDIR") || !getenv("TUTTI_TEST_BUILDDIR")) {
    (void)fputs("power: expected the environment of a test: make power\n", stderr);
    return 1;
  }
  if (getenv("TUTTI_TEST_WATCHED"))
    return 77; /* what watches wants to be loaded first */
  power.wanted = argc > 1 ? strtoull(argv[1], NULL, 10) : 24;
  power.seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  find_place(&power, argv[0], argc > 3 ? argv[3] : NULL);
  power.method_count = drill_methods(power.base, methods, MOST_METHODS);
  for (size_t i = 0; i < power.method_count; i++)
    power.methods[i].own = &methods[i];
  progress(&power, false);
  if (prepare(&power, &power.methods[0]))
    check_that_losses_are_seen(&power, &power.methods[0]);
  for (; power.done < power.wanted && drill_failures() == 0; power.done++) {
    struct method *method = &power.methods[power.done % power.method_count];
    enum power_loss loss = (enum power_loss)((power.done + power.done / power.method_count) % POWER_LOSSES);
    progress(&power, true);
    if (!prepare(&power, method))
      break;
    cut_once(&power, method, loss);
    method->cuts++;
    power.losses[loss]++;
  }
  printf("cuts of this call: ");
  for (size_t i = 0; i < POWER_LOSSES; i++)
    printf("%s %" PRIu64 "%s", power_loss_names[i], power.losses[i], i + 1 < POWER_LOSSES ? ", " : "; ");
  for (size_t i = 0; i < power.method_count; i++) {
    printf("%s %" PRIu64 "%s", power.methods[i].own->name, power.methods[i].cuts,
           i + 1 < power.method_count ? ", " : "\n");
    power_release(&power.methods[i].history);
  }
  printf("%" PRIu64 " cuts of the power, %d failures%s%s\n", power.done, drill_failures(),
         drill_failures() ? "; see " : "", drill_failures() ? power.base : "");
  if (!(argc > 3 && *argv[3]) && drill_failures() == 0)
    drill_remove(power.base);
  return drill_failures() > 0 || power.done < power.wanted ? 1 : 0;
}
