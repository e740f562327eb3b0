/* run_launch.c - reads what those who start many processes at once leave in the environment of each. */
#include "run_launch.h"

#include <stddef.h>
#include <stdlib.h>

static int number_of(const char *name) {
  const char *text = getenv(name);
  char *end;
  long number = text ? strtol(text, &end, 10) : -1;
  return text && end != text && !*end && number >= 0 && number < 1 << 30 ? (int)number : -1;
}

struct tutti_launch tutti_launch_look(void) {
  static const struct {
    const char *by, *rank, *size;
  } starters[] = {{"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                  {"mpiexec", "PMI_RANK", "PMI_SIZE"},
                  {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
  for (size_t i = 0; i < sizeof starters / sizeof starters[0]; i++) {
    int rank = number_of(starters[i].rank), size = number_of(starters[i].size);
    if (size > 1 && rank >= 0 && rank < size)
      return (struct tutti_launch){.by = starters[i].by, .rank = rank, .size = size};
  }
  return (struct tutti_launch){.by = "", .size = 1};
}
