/* agent.h - a rank that is not the manager: it starts and guards the workers of its node. */
#ifndef EXECUTOR_MPI_AGENT_H
#define EXECUTOR_MPI_AGENT_H

#include "plugins/shared/crew/crew.h"
#include "wire.h"

struct agent {
  struct wire *wire;
  const struct crew_config *config;
  struct tutti_executor_setup setup; /* workers: of this node */
  size_t device_count;
  const char *const *devices;
  const char *scratch; /* the folder for one of its own; "": the usual one */
  double alive;        /* at least once in so many seconds it says that it is there */
};

/* Serve the manager until it says that the run is over. What goes wrong here is its to tell, and no error of this
   process: only if it cannot be reached is there one. */
TUTTI_NODISCARD enum tutti_status agent_serve(tutti_context *context, struct agent *agent);

#endif
