/* host_impl.h - the inside of a host, for host.c and engine/plugins/assembly.c. */
#ifndef TUTTI_HOST_IMPL_H
#define TUTTI_HOST_IMPL_H

#include "core/base/private.h"

#include <tutti/assembly.h>

struct tutti_section {
  char *name;
  const struct tutti_descriptor *descriptor;
  tutti_config *config;
};

struct tutti_host {
  struct tutti_host_facts facts;
  struct tutti_section *sections;
  size_t count, room;
};

/* The section of this name; NULL if it is empty. */
TUTTI_PRIVATE struct tutti_section *tutti_section_find(const tutti_host *host, const char *name);
TUTTI_PRIVATE void tutti_section_release(struct tutti_section *section);

#endif
