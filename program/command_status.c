/* command_status.c - tutti status: where a run or an ablation stands. */
#include "program_impl.h"

#include <time.h>
#include <tutti/ablation.h>
#include <unistd.h>

struct status_options {
  long trials;
  bool json, trust, watch;
};

static enum tutti_status look(tutti_context *context, const char *directory, char **text) {
  tutti_view *view;
  if (tutti_ablation_is_there(directory))
    return tutti_ablation_status(context, directory, text);
  TUTTI_TRY(context, tutti_view_open(context, directory, &view));
  enum tutti_status status = tutti_view_status(context, view, text);
  tutti_view_close(view);
  return status;
}

static bool is_ablation(const json_t *status) { return json_object_get(status, "cells"); }

static void show_once(const json_t *root, const void *given, FILE *out) {
  const struct status_options *options = given;
  if (is_ablation(root))
    show_ablation(root, out);
  else
    show_status(root, (size_t)options->trials, out);
}

/* --- watching --- */

static void show_again(const json_t *root, const void *options, FILE *out) {
  (void)options;
  if (is_ablation(root))
    show_ablation(root, out);
  else
    show_watched(root, out);
  (void)fprintf(out, "\n");
}

/* On a terminal each picture takes the place of the one before. */
static void clear_screen(void) {
  begin_output();
  if (is_terminal(stdout))
    (void)fputs("\033[H\033[2J", stdout);
}

static bool is_running(const char *text) {
  json_t *root = json_loads(text, 0, NULL);
  bool running = json_is_true(json_object_get(root, "running"));
  json_decref(root);
  return running;
}

/* Show it every other second until the run stops. */
static int watch(tutti_context *context, const char *directory, const struct status_options *options) {
  static const struct timespec pause = {.tv_sec = 2};
  for (;;) {
    char *text;
    enum tutti_status status = look(context, directory, &text);
    if (status != TUTTI_OK)
      return fail(context, status);
    bool running = is_running(text);
    if (!options->json)
      clear_screen();
    int code = print_result(text, options->json, show_again, options);
    tutti_free(text);
    if (code != EXIT_DONE || !running)
      return code;
    (void)nanosleep(&pause, NULL);
    if (tutti_cancelled(context))
      return EXIT_DONE;
  }
}

static int run_status(tutti_context *context, const struct texts *operands, const void *given) {
  const struct status_options *options = given;
  tutti_trust_runs(context, options->trust);
  if (options->watch)
    return watch(context, operands->items[0], options);
  char *text;
  enum tutti_status status = look(context, operands->items[0], &text);
  if (status != TUTTI_OK)
    return fail(context, status);
  int code = print_result(text, options->json, show_once, options);
  tutti_free(text);
  return code;
}

static const struct command_option status_options[] = {
    {"trials", 't', OPTION_NUMBER, "N", "Show the last N trials (default 10).",
     .offset = offsetof(struct status_options, trials), .most = 1000000000, .preset = 10},
    {"json", 'j', OPTION_FLAG, NULL, "All of it as JSON.", .offset = offsetof(struct status_options, json)},
    {"watch", 'w', OPTION_FLAG, NULL, "Show it again every other second until the run stops: what each worker is at.",
     .offset = offsetof(struct status_options, watch)},
    TRUST_OPTION(struct status_options),
    {0}};

const struct command command_status = {
    .name = "status",
    .summary = "where a run or an ablation stands",
    .about = "Show where the run in a directory stands; of an ablation's directory, where its cells do.",
    .operands = ONE_RUN,
    .options = status_options,
    .size = sizeof(struct status_options),
    .run = run_status,
};
