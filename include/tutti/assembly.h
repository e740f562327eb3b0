/* assembly.h - for embedders and tests: make a host by hand, with the facts of a run. A run makes its own from a
   recipe. hosting.h puts plugins into it. */
#ifndef TUTTI_ASSEMBLY_H
#define TUTTI_ASSEMBLY_H

#include <tutti/descriptor.h>
#include <tutti/host.h>

TUTTI_BEGIN_DECLS

/* What a host knows. Pointers are borrowed and must outlive it. */
struct tutti_host_facts {
  size_t size;
  uint64_t seed, budget;
  size_t window;
  const struct tutti_task *task;
  const tutti_scope *scope;
  /* Gives tutti_host_pool its predictions; NULL: unsupported. */
  enum tutti_status (*pool)(void *argument, tutti_context *context, const char *split, size_t count,
                            const uint64_t *trials, struct tutti_pool *pool);
  void (*pool_release)(void *argument, struct tutti_pool *pool);
  void *pool_argument;
  /* Gives tutti_host_other_run its candidates; NULL: unsupported. */
  enum tutti_status (*other_run)(void *argument, tutti_context *context, const struct tutti_other_trial *wanted,
                                 char **candidate);
  void *other_run_argument;
};

/* Make a host without plugins. `facts` is copied as far as facts->size goes; what it points to is borrowed and must
   outlive the host. The caller destroys *host. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_host_create(tutti_context *context,
                                                              const struct tutti_host_facts *facts, tutti_host **host);
/* Destroy it with its parameters, after the instances that were made from it; NULL is allowed. */
TUTTI_API void tutti_host_destroy(tutti_host *host);
/* Replace all facts, copied likewise. Needed because a scope can be made only after the space, which is made from the
   host. */
TUTTI_API void tutti_host_set_facts(tutti_host *host, const struct tutti_host_facts *facts);

/* The number of sections with a plugin. Sections stand in the order in which they were put. */
TUTTI_API size_t tutti_host_sections(const tutti_host *host);
/* The name of section `index` (< tutti_host_sections), with its plugin and its parameters; all borrowed until the
   section is put anew or emptied, or the host is destroyed. */
TUTTI_API const char *tutti_host_section(const tutti_host *host, size_t index,
                                         const struct tutti_descriptor **descriptor, const tutti_config **config);

TUTTI_END_DECLS
#endif
