/* host_impl.h - the inside of a host, for host.c and assembly.c. */
#ifndef TUTTI_HOST_IMPL_H
#define TUTTI_HOST_IMPL_H

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
struct tutti_section *tutti_section_find(const tutti_host *host, const char *name);
void tutti_section_release(struct tutti_section *section);

#endif
