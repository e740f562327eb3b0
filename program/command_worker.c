/* command_worker.c - tutti worker: the other end of an executor. */
#include "program_impl.h"

static int run_worker(tutti_context *context, const struct texts *operands, const void *options) {
  (void)options;
  enum tutti_status status = operands->count > 1 ? tutti_plugin_path_add_list(context, operands->items[1]) : TUTTI_OK;
  return status == TUTTI_OK ? tutti_worker_main(context, operands->items[0], 0) : fail(context, status);
}

const struct command command_worker = {
    .name = "worker",
    .summary = "train what a manager asks for",
    .about = "Train what the manager of a run asks for on standard input.",
    .operands = {.synopsis = "RUN [FOLDERS]",
                 .wanted = "a run directory, and folders of plugins (workers are started by tutti run)",
                 .least = 1,
                 .most = 2},
    .run = run_worker,
    .internal = true,
};
