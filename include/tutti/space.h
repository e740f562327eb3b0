/* space.h - kind `space`: what can be tried, and how a genotype becomes a network. */
#ifndef TUTTI_SPACE_H
#define TUTTI_SPACE_H

#include <tutti/candidate.h>
#include <tutti/descriptor.h>
#include <tutti/host.h>

TUTTI_BEGIN_DECLS

struct tutti_space_setup {
  size_t size; /* these four: see struct tutti_setup (host.h) */
  const tutti_host *host;
  const struct tutti_task *task;
  uint64_t seed;
};

/* A space is one of two sorts. A POINT space has a `domain`: a genotype is a point in it, and sampling, mutation,
   encoding, printing and parsing come for nothing. A GRAPH space has no domain and gives those itself. */
struct tutti_space_ops {
  size_t size; /* sizeof(struct tutti_space_ops) */

  /* REQUIRED. Build the network of a genotype for the task. MUST give the same network for the same genotype; MUST end it
     with tutti_network_add_head or tutti_network_add_mean_head. The caller owns *network. */
  enum tutti_status (*decode)(void *self, tutti_context *context, const tutti_genotype *genotype,
                              const struct tutti_task *task, tutti_network **network);

  /* POINT spaces: REQUIRED. The domain, borrowed and constant for the instance's life. */
  const tutti_domain *(*domain)(void *self);
  /* POINT spaces: OPTIONAL; defaults: tutti_domain_sample, tutti_domain_mutate. point[count of the domain]. `mutate`
     changes `point` in place and MUST leave it different where the space has a second point. */
  enum tutti_status (*sample_point)(void *self, tutti_context *context, struct tutti_random *random, double *point);
  enum tutti_status (*mutate_point)(void *self, tutti_context *context, struct tutti_random *random, double *point);
  /* POINT spaces: OPTIONAL; default: every point of the domain is valid. The error says what is wrong. */
  enum tutti_status (*check_point)(void *self, tutti_context *context, const double *point);

  /* GRAPH spaces: all REQUIRED. A graph is the space's own; the caller frees it with graph_free. graph_print gives
     canonical JSON (equal graphs, equal text; free with tutti_free); graph_parse checks all and says what is wrong. */
  enum tutti_status (*graph_sample)(void *self, tutti_context *context, struct tutti_random *random, void **graph);
  enum tutti_status (*graph_mutate)(void *self, tutti_context *context, struct tutti_random *random, const void *graph,
                                    void **mutant);
  enum tutti_status (*graph_print)(void *self, tutti_context *context, const void *graph, char **json);
  enum tutti_status (*graph_parse)(void *self, tutti_context *context, const char *json, void **graph);
  void (*graph_free)(void *self, void *graph);

  /* OPTIONAL for both. JSON of the index-th known genotype (a published cell, a member of the method's initial pool) and
     its name; false when there is none of that index. Texts are constant. Names are accepted wherever a genotype is. */
  bool (*known)(void *self, size_t index, const char **name, const char **json);
  /* OPTIONAL for both, without default: `measures` distances (>= 0, symmetric, 0 to itself) between one genotype and
     `count` others; out[count][measures]. Both or neither. */
  size_t (*measures)(void *self);
  enum tutti_status (*distances)(void *self, tutti_context *context, const tutti_genotype *from, size_t count,
                                 const tutti_genotype *const *to, double *out);

  /* POINT spaces: OPTIONAL, both or neither; default: a JSON object of the domain's active dimensions. print_point gives
     canonical JSON (free with tutti_free), where dimensions alone would be hard to read; parse_point reads it into
     point[count of the domain], checks all and says what is wrong. JSON strings that name no known genotype come here,
     too, so that further spellings may be taken. */
  enum tutti_status (*print_point)(void *self, tutti_context *context, const double *point, char **json);
  enum tutti_status (*parse_point)(void *self, tutti_context *context, const char *json, double *point);

  /* OPTIONAL for both, where there are distances. A measure's name for people; texts live as long as the instance. What a distance is made of, as a table for people: JSON {"title": TEXT, "columns": [TEXT, ...],
     "rows": [[TEXT or NUMBER, ...], ...]} (free with tutti_free). */
  const char *(*measure_name)(void *self, size_t index);
  enum tutti_status (*explain)(void *self, tutti_context *context, const tutti_genotype *from, const tutti_genotype *to,
                               char **json);
};

/* What a space offers, and a surrogate or maximiser may need. */
enum {
  TUTTI_SPACE_VECTORS = 1,  /* a domain, so an encoding as vectors */
  TUTTI_SPACE_DISTANCES = 2 /* distances */
};

/* --- the host's side: checks and defaults around the ops --- */

TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_space_create(tutti_context *context, const tutti_host *host,
                                                               const char *section,
                                                               const struct tutti_space_setup *setup,
                                                               tutti_space **space);
TUTTI_API void tutti_space_destroy(tutti_space *space);
TUTTI_API const struct tutti_descriptor *tutti_space_descriptor(const tutti_space *space);
/* TUTTI_SPACE_VECTORS | TUTTI_SPACE_DISTANCES */
TUTTI_API unsigned tutti_space_capabilities(const tutti_space *space);
/* NULL for graph spaces. */
TUTTI_API const tutti_domain *tutti_space_domain(const tutti_space *space);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_space_sample(tutti_context *context, const tutti_space *space,
                                                               struct tutti_random *random, tutti_genotype **genotype);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_space_mutate(tutti_context *context, const tutti_space *space,
                                                               struct tutti_random *random,
                                                               const tutti_genotype *genotype, tutti_genotype **mutant);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_space_from_point(tutti_context *context, const tutti_space *space,
                                                                   const double *point, tutti_genotype **genotype);
/* JSON of the genotype (free with tutti_free), and back; parse takes the name of a known genotype, too. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_space_print(tutti_context *context, const tutti_genotype *genotype,
                                                              char **json);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_space_parse(tutti_context *context, const tutti_space *space,
                                                              const char *json, tutti_genotype **genotype);
TUTTI_API bool tutti_space_known(const tutti_space *space, size_t index, const char **name, const char **json);
/* Decode and check (tutti_network_check, the task's head). */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_space_decode(tutti_context *context, const tutti_genotype *genotype,
                                                               const struct tutti_task *task, tutti_network **network);
TUTTI_API size_t tutti_space_measures(const tutti_space *space);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_space_distances(tutti_context *context, const tutti_genotype *from,
                                                                  size_t count, const tutti_genotype *const *to,
                                                                  double *out);
/* The space's own name of a measure, or NULL where it has none. */
TUTTI_API const char *tutti_space_measure_name(const tutti_space *space, size_t index);
/* What the distance of two genotypes is made of: the table of `explain`; *json = NULL where the space does not say. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_space_explain(tutti_context *context, const tutti_genotype *from,
                                                                const tutti_genotype *to, char **json);

TUTTI_END_DECLS
#endif
