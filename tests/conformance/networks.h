/* networks.h - small networks that between them use every op and every activation, for the checks of backends. */
#ifndef CONFORM_NETWORKS_H
#define CONFORM_NETWORKS_H

#include "conform.h"

/* A network for a task; `detached` is the label of a layer that gets no gradient, or NULL. */
struct example {
  char name[64];
  struct tutti_task task;
  tutti_network *network;
  const char *detached;
};

size_t example_count(void);
/* Make the index-th one; end it with example_end. */
void example_make(struct conform *conform, size_t index, struct example *example);
void example_end(struct example *example);

#endif
