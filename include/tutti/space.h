/* space.h - kind `space`: the architectures that can be tried, and how a genotype becomes a network. */
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
   encoding, printing and parsing need no code. A GRAPH space has no domain and does these itself. */
struct tutti_space_ops {
  size_t size; /* sizeof(struct tutti_space_ops) */

  /* REQUIRED. Build the network of a genotype for the task; the caller owns *network. MUST give the same network for
     the same genotype; MUST end it with tutti_network_add_head or tutti_network_add_mean_head. */
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

  /* OPTIONAL for both. The name and the JSON of known genotype number `index` (a published cell, a member of the
     method's initial pool); false if there is none. Texts are constant. The name is accepted wherever a genotype is. */
  bool (*known)(void *self, size_t index, const char **name, const char **json);
  /* OPTIONAL for both, both or neither, without default. The number of distance measures, and the distances (>= 0,
     symmetric, 0 to itself) from one genotype to `count` others: out[count][measures]. */
  size_t (*measures)(void *self);
  enum tutti_status (*distances)(void *self, tutti_context *context, const tutti_genotype *from, size_t count,
                                 const tutti_genotype *const *to, double *out);

  /* POINT spaces: OPTIONAL, both or neither; default: a JSON object of the domain's active dimensions. For points that
     would be hard to read as dimensions. print_point gives canonical JSON (free with tutti_free); parse_point reads it
     into point[count of the domain], checks everything and says what is wrong. A JSON string that names no known
     genotype comes here, too, so that a space may accept other spellings. */
  enum tutti_status (*print_point)(void *self, tutti_context *context, const double *point, char **json);
  enum tutti_status (*parse_point)(void *self, tutti_context *context, const char *json, double *point);

  /* OPTIONAL for both, where there are distances. measure_name: a measure's name for people; texts live as long as the
     instance. explain: what a distance is made of, as a table for people: JSON {"title": TEXT, "columns": [TEXT, ...],
     "rows": [[TEXT or NUMBER, ...], ...]} (free with tutti_free). */
  const char *(*measure_name)(void *self, size_t index);
  enum tutti_status (*explain)(void *self, tutti_context *context, const tutti_genotype *from, const tutti_genotype *to,
                               char **json);
};

/* What a space may have, and a surrogate or maximiser may need. */
enum {
  TUTTI_SPACE_VECTORS = 1,  /* a domain, and so an encoding as vectors */
  TUTTI_SPACE_DISTANCES = 2 /* distances */
};

/* --- the host's side: checks and defaults around the ops --- */

/* Make an instance of the space plugin in `section` of the host; the caller destroys *space. What is copied or
   borrowed, and the errors of every kind: struct tutti_setup (host.h). */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_space_create(tutti_context *context, const tutti_host *host,
                                                               const char *section,
                                                               const struct tutti_space_setup *setup,
                                                               tutti_space **space);
/* Destroy it, after its genotypes; NULL is allowed. */
TUTTI_API void tutti_space_destroy(tutti_space *space);
/* The plugin's descriptor, valid for the life of the process. */
TUTTI_API const struct tutti_descriptor *tutti_space_descriptor(const tutti_space *space);
/* What it has: TUTTI_SPACE_VECTORS | TUTTI_SPACE_DISTANCES */
TUTTI_API unsigned tutti_space_capabilities(const tutti_space *space);
/* Its domain, borrowed; NULL for graph spaces. */
TUTTI_API const tutti_domain *tutti_space_domain(const tutti_space *space);
/* Draw a genotype, which the caller unrefs. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_space_sample(tutti_context *context, const tutti_space *space,
                                                               struct tutti_random *random, tutti_genotype **genotype);
/* Make a mutant of a genotype, which the caller unrefs. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_space_mutate(tutti_context *context, const tutti_space *space,
                                                               struct tutti_random *random,
                                                               const tutti_genotype *genotype, tutti_genotype **mutant);
/* Make the genotype at point[count of the domain], which is copied; the caller unrefs it. TUTTI_ERROR_USAGE: the point
   is out of range, or breaks a rule of the space; TUTTI_ERROR_UNSUPPORTED: a graph space. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_space_from_point(tutti_context *context, const tutti_space *space,
                                                                   const double *point, tutti_genotype **genotype);
/* The genotype as canonical JSON; free *json with tutti_free. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_space_print(tutti_context *context, const tutti_genotype *genotype,
                                                              char **json);
/* The genotype's name, as tables of results have it: its canonical JSON, and where that is a JSON string (a cell of
   NAS-Bench-201) the text within the quotes. Equal genotypes, equal names; free *name with tutti_free. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_space_name(tutti_context *context, const tutti_genotype *genotype,
                                                             char **name);
/* The genotype of such a JSON text, or of the name of a known genotype in quotes; the caller unrefs it.
   TUTTI_ERROR_USAGE says what is wrong, or gives the closest name. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_space_parse(tutti_context *context, const tutti_space *space,
                                                              const char *json, tutti_genotype **genotype);
/* The name and the JSON of known genotype number `index`, both constant; false if there is none. */
TUTTI_API bool tutti_space_known(const tutti_space *space, size_t index, const char **name, const char **json);
/* Decode a genotype and check the network (tutti_network_check, the task's head); the caller destroys *network.
   TUTTI_ERROR_PLUGIN: no network, or another head. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_space_decode(tutti_context *context, const tutti_genotype *genotype,
                                                               const struct tutti_task *task, tutti_network **network);
/* The number of its distance measures; 0 without distances. */
TUTTI_API size_t tutti_space_measures(const tutti_space *space);
/* Compute out[count][measures], the distances from one genotype to to[count], all of one space.
   TUTTI_ERROR_UNSUPPORTED: the space has no distances; TUTTI_ERROR_PLUGIN: one is negative or NaN. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_space_distances(tutti_context *context, const tutti_genotype *from,
                                                                  size_t count, const tutti_genotype *const *to,
                                                                  double *out);
/* The space's name of measure number `index`; NULL if it has none. */
TUTTI_API const char *tutti_space_measure_name(const tutti_space *space, size_t index);
/* What the distance of two genotypes is made of, as the table of the op `explain`; free *json with tutti_free. *json =
   NULL if the space has no such op. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_space_explain(tutti_context *context, const tutti_genotype *from,
                                                                const tutti_genotype *to, char **json);

TUTTI_END_DECLS
#endif
