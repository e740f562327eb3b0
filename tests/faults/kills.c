/* kills.c - kill -9 of managers and workers at random instants, then --resume: no trial that was recorded is lost or
   changed, and the finished run has the bits of an uninterrupted one, for 1, 2 and 5 workers.

   Usage: kills [KILLS] [SEED]; the kills are spread over four of the recipes in tests/faults/methods (a function that
   sleeps, searched at random and by Bayesian optimisation; small networks trained on the toy data, drawn at random and
   by AgEBO) and the three numbers of workers. storm.c does more to more of them, and takes longer. */
#include "drill.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <tutti/random.h>
#include <unistd.h>

enum { KILLS_A_RUN = 8, MOST_WORKERS = 64 };

static const char *const methods[] = {"random", "nes-rs", "bo", "agebo"};
static const int worker_counts[] = {1, 2, 5};

/* A worker of a manager; 0 when there is none. */
static pid_t worker_of(pid_t manager, uint64_t pick) {
  pid_t workers[MOST_WORKERS];
  size_t count = drill_workers(manager, workers, MOST_WORKERS);
  return count ? workers[pick % count] : 0;
}

/* One run with `kills` kills, then to its end, against the uninterrupted one in `expected`. */
static void torment(const char *recipe, const char *folder, const char *expected, int workers, int kills, double length,
                    struct tutti_random *random) {
  struct drill_run run = {.recipe = recipe, .folder = folder, .workers = workers};
  struct drill_rows before = {0}, after = {0}, reference = {0};
  drill_remove(folder);
  for (int kill_number = 0; kill_number < kills; kill_number++) {
    pid_t manager = drill_start(&run);
    drill_pause(tutti_random_uniform(random) * length);
    if (tutti_random_uniform(random) < 0.4) { /* a worker first; the manager goes on for a while */
      pid_t worker = worker_of(manager, tutti_random_u64(random));
      if (worker)
        (void)kill(worker, SIGKILL);
      drill_pause(tutti_random_uniform(random) * length * 0.5);
    }
    (void)kill(manager, SIGKILL);
    (void)waitpid(manager, NULL, 0);
    if (!drill_read(folder, &after))
      continue;
    drill_check_kept(&before, &after, folder);
    drill_release(&before);
    before = after;
    after = (struct drill_rows){0};
  }
  if (drill_finish(drill_start(&run), folder) && drill_read(folder, &after) && drill_read(expected, &reference)) {
    drill_check_kept(&before, &after, folder);
    drill_check_equal(&reference, &after, folder);
    drill_check_files(expected, folder);
  }
  drill_release(&before);
  drill_release(&after);
  drill_release(&reference);
}

/* The kills of one recipe. */
static void torment_recipe(size_t which, const char *base, int kills, uint64_t seed) {
  char recipe[DRILL_PATH], expected[DRILL_PATH], folder[DRILL_PATH];
  struct tutti_random random;
  tutti_random_init(&random, seed, "kills", which);
  (void)snprintf(recipe, sizeof recipe, "%s/tests/faults/methods/%s.ini", getenv("TUTTI_TEST_SRCDIR"), methods[which]);
  (void)snprintf(expected, sizeof expected, "%s/expected-%s", base, methods[which]);
  struct drill_run run = {.recipe = recipe, .folder = expected, .workers = 2};
  double began = drill_now();
  if (!drill_finish(drill_start(&run), expected))
    return;
  double length = drill_now() - began;
  for (int done = 0, round = 0; done < kills && drill_failures() == 0; round++) {
    int workers = worker_counts[round % 3], share = kills - done < KILLS_A_RUN ? kills - done : KILLS_A_RUN;
    (void)snprintf(folder, sizeof folder, "%s/%s-%d", base, methods[which], round);
    /* Most kills should come while trials are trained, some at the very start and at the end. */
    torment(recipe, folder, expected, workers, share, length * 0.6, &random);
    if (drill_failures() == 0)
      drill_remove(folder);
    done += share;
  }
}

int main(int argc, char **argv) {
  int kills = argc > 1 ? atoi(argv[1]) : 200;
  uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  char base[] = "/tmp/tutti-kills-XXXXXX";
  if (!getenv("TUTTI_PROGRAM") || !getenv("TUTTI_TEST_SRCDIR") || !mkdtemp(base)) {
    (void)fputs("kills: expected the environment of a test, and room in /tmp\n", stderr);
    return 1;
  }
  size_t count = sizeof methods / sizeof methods[0];
  for (size_t i = 0; i < count; i++)
    torment_recipe(i, base, (kills + (int)i) / (int)count, seed);
  if (drill_failures() == 0)
    drill_remove(base);
  (void)printf("%d kills, %d failures%s%s\n", kills, drill_failures(), drill_failures() ? "; see " : "",
               drill_failures() ? base : "");
  return drill_failures() ? 1 : 0;
}
