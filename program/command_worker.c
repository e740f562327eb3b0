/* command_worker.c - tutti worker: the other end of an executor. */
#include "program_impl.h"

int command_worker(tutti_context *context, int argc, char **argv) {
  if (argc != 2) {
    (void)fputs("tutti: expected a run directory; workers are started by tutti run\n", stderr);
    return EXIT_USAGE;
  }
  return tutti_worker_main(context, argv[1], 0);
}
