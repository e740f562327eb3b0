/* command_worker.c - tutti worker: the other end of an executor. */
#include "program_impl.h"

static int run_worker(tutti_context *context, const struct texts *operands, const void *options) {
  (void)options;
  return tutti_worker_main(context, operands->items[0], 0);
}

const struct command command_worker = {
    .name = "worker",
    .summary = "train what a manager asks for",
    .about = "Train what the manager of a run asks for on standard input.",
    .operands = {.synopsis = "RUN",
                 .wanted = "a run directory (workers are started by tutti run)",
                 .least = 1,
                 .most = 1},
    .run = run_worker,
    .internal = true,
};
