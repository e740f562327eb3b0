/* assembly.h - for embedders and tests: make a host by hand. The run makes its own from a recipe. */
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
  enum tutti_status (*other_run)(tutti_context *context, const char *run, uint64_t trial, char **candidate);
};

TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_host_create(tutti_context *context,
                                                              const struct tutti_host_facts *facts, tutti_host **host);
TUTTI_API void tutti_host_destroy(tutti_host *host);
/* Change the facts (a scope can be made only after the space, which a host makes). */
TUTTI_API void tutti_host_set_facts(tutti_host *host, const struct tutti_host_facts *facts);
/* Put a plugin in a section ("surrogate", or any parameter's name), with the presets of its parameters; for each
   parameter of type TUTTI_PARAM_PLUGIN the named plugin is put in the section of that name in turn, unless something is
   there. "none" empties the section, unless the kind has a plugin of that name (pruner, calibrator). */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_host_put(tutti_context *context, tutti_host *host, const char *section, enum tutti_kind kind, const char *plugin);
/* Set a parameter of the plugin in a section. Setting one of type TUTTI_PARAM_PLUGIN puts that plugin. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_host_set(tutti_context *context, tutti_host *host,
                                                           const char *section, const char *key, const char *text);
/* Every required parameter of every section is set. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_host_check(tutti_context *context, const tutti_host *host);
/* Sections in the order in which they were put: for dumping a recipe. */
TUTTI_API size_t tutti_host_sections(const tutti_host *host);
TUTTI_API const char *tutti_host_section(const tutti_host *host, size_t index,
                                         const struct tutti_descriptor **descriptor, const tutti_config **config);

TUTTI_END_DECLS
#endif
