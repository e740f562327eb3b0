/* throughput.c - the cost of a trial for the manager: throughput [TRIALS]. It runs a random search over a function that
   takes no time, so all the time goes into asking, sending, replying, telling and the durable commit, which ends in
   fdatasync. It prints milliseconds per trial, in all and for the first and last tenth, beside the time of an fdatasync
   of one page on the same file system. The limit: one commit may cover all replies that have arrived, so a trial costs
   at least one sync divided by the window. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tutti/run.h>
#include <unistd.h>

enum { SYNCS = 200, PAGE = 4096 };

static const char recipe_text[] = "[run]\nname = throughput\n[space]\nplugin = fixed\n[backend]\nplugin = function\n"
                                  "[hyperparameters]\nx0 = uniform -5 10\nx1 = uniform 0 15\n";

struct times {
  uint64_t trials;
  double first, last, end; /* seconds when a tenth, nine tenths, all were done */
};

static void on_progress(void *argument, const struct tutti_run_progress *progress) {
  struct times *times = argument;
  if (times->first == 0 && progress->done >= times->trials / 10)
    times->first = progress->seconds;
  if (times->last == 0 && progress->done >= times->trials - times->trials / 10)
    times->last = progress->seconds;
  if (times->end == 0 && progress->done == times->trials)
    times->end = progress->seconds;
}

static double sync_ms(const char *folder) {
  char path[512], page[PAGE] = {0};
  struct timespec a, b;
  (void)snprintf(path, sizeof path, "%s/sync", folder);
  int file = open(path, O_RDWR | O_CREAT, 0644);
  (void)clock_gettime(CLOCK_MONOTONIC, &a);
  for (int i = 0; i < SYNCS && file >= 0; i++)
    if (pwrite(file, page, PAGE, (off_t)i * PAGE) != PAGE || fdatasync(file) != 0)
      break;
  (void)clock_gettime(CLOCK_MONOTONIC, &b);
  if (file >= 0)
    (void)close(file);
  return ((double)(b.tv_sec - a.tv_sec) * 1e3 + (double)(b.tv_nsec - a.tv_nsec) * 1e-6) / SYNCS;
}

static enum tutti_status measure(tutti_context *context, const char *folder, struct times *times) {
  char path[512], run[512], budget[64], *summary = NULL;
  const char *const overrides[] = {budget};
  tutti_recipe *recipe;
  struct tutti_run_options options = {.size = sizeof options,
                                      .directory = run,
                                      .program = getenv("TUTTI_PROGRAM"),
                                      .progress = on_progress,
                                      .argument = times};
  (void)snprintf(path, sizeof path, "%s/throughput.ini", folder);
  (void)snprintf(run, sizeof run, "%s/run", folder);
  (void)snprintf(budget, sizeof budget, "run.budget=%llu", (unsigned long long)times->trials);
  FILE *file = fopen(path, "w");
  if (!file || fputs(recipe_text, file) < 0 || fclose(file) != 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_IO, "%s: cannot be written", path);
  TUTTI_TRY(context, tutti_recipe_load(context, path, 1, overrides, &recipe));
  TUTTI_TRY(context, tutti_run(context, recipe, &options, &summary));
  tutti_free(summary);
  return TUTTI_OK;
}

int main(int argc, char **argv) {
  struct times times = {.trials = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000};
  char folder[] = "throughput-XXXXXX";
  tutti_context *context;
  if (!getenv("TUTTI_PROGRAM") || times.trials < 10 || !mkdtemp(folder) || tutti_context_create(&context) != TUTTI_OK) {
    (void)fputs("throughput: expected TUTTI_PROGRAM and TUTTI_PLUGIN_PATH in the environment, and 10 trials or more\n",
                stderr);
    return 1;
  }
  double sync = sync_ms(folder);
  enum tutti_status status = measure(context, folder, &times);
  if (status != TUTTI_OK) {
    (void)fprintf(stderr, "throughput: %s\n", tutti_error_message(context));
    return 1;
  }
  double count = (double)times.trials;
  (void)printf("%llu trials: %.4f ms each; first tenth %.4f, last tenth %.4f; fdatasync of a page %.4f ms\nin %s\n",
               (unsigned long long)times.trials, times.end / count * 1e3, times.first / (count / 10) * 1e3,
               (times.end - times.last) / (count / 10) * 1e3, sync, folder);
  tutti_context_destroy(context);
  return 0;
}
