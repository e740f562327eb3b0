/* command_status.c - tutti status: where a run stands. */
#include "program_impl.h"

struct status_options {
  long trials;
  bool json, trust;
};

static enum tutti_status work_status(tutti_context *context, tutti_view *view, const void *options, char **text) {
  (void)options;
  return tutti_view_status(context, view, text);
}

static void show_run(const json_t *root, const void *given, FILE *out) {
  const struct status_options *options = given;
  show_status(root, (size_t)options->trials, out);
}

static int run_status(tutti_context *context, const struct texts *operands, const void *given) {
  const struct status_options *options = given;
  tutti_trust_runs(context, options->trust);
  return print_view(context, operands->items[0], options->json, work_status, show_run, options);
}

static const struct command_option status_options[] = {
    {"trials", 't', OPTION_NUMBER, "N", "Show the last N trials (default 10).",
     .offset = offsetof(struct status_options, trials), .most = 1000000000, .preset = 10},
    {"json", 'j', OPTION_FLAG, NULL, "All of it as JSON.", .offset = offsetof(struct status_options, json)},
    TRUST_OPTION(struct status_options),
    {0}};

const struct command command_status = {
    .name = "status",
    .summary = "where a run stands",
    .about = "Show where the run in a directory stands.",
    .operands = ONE_RUN,
    .options = status_options,
    .size = sizeof(struct status_options),
    .run = run_status,
};
