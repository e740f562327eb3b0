/* space_impl.h - the inside of spaces and genotypes, for space.c and genotype.c. */
#ifndef TUTTI_SPACE_IMPL_H
#define TUTTI_SPACE_IMPL_H

#include "instance_impl.h"

#include <tutti/space.h>

struct tutti_space {
  struct tutti_instance instance;
  struct tutti_space_ops ops;
  const tutti_domain *domain; /* of point spaces */
};

struct tutti_genotype {
  size_t references;
  const tutti_space *space;
  void *graph;    /* graph spaces */
  char *text;     /* graph spaces: canonical JSON */
  double point[]; /* point spaces: [count of the domain] */
};

/* Make a genotype of a graph, which it takes (also on failure). */
TUTTI_NODISCARD enum tutti_status tutti_genotype_of_graph(tutti_context *context, const tutti_space *space, void *graph,
                                                          tutti_genotype **genotype);
uint64_t tutti_genotype_hash(const tutti_genotype *genotype);

#endif
