/* toy.h - for tests of searches: a host with a scope. The architecture is an integer "depth" of 1..depths;
   hyperparameters are written as in a recipe. Whatever fails, fails the running test. */
#ifndef TOY_H
#define TOY_H

#include <stdarg.h>
#include <tutti/hosting.h>
#include <tutti/plugin.h>

struct toy {
  tutti_context *context;
  tutti_host *host;
  struct tutti_host_facts facts;
  struct tutti_task task;
  tutti_space *space;
  tutti_domain *hyperparameters;
  tutti_scope *scope;
};

/* `hyperparameters`: lines "name = text", separated by newlines; NULL or "": none. */
void toy_create(struct toy *toy, uint64_t seed, size_t window, int depths, const char *hyperparameters);
/* In another space, with its presets. */
void toy_create_in(struct toy *toy, uint64_t seed, size_t window, const struct tutti_descriptor *space,
                   const char *hyperparameters);
void toy_destroy(struct toy *toy);
/* Put a plugin in a section, and set a parameter. */
void toy_put(struct toy *toy, const char *section, enum tutti_kind kind, const char *plugin);
void toy_set(struct toy *toy, const char *section, const char *name, const char *text);
/* A status that must be TUTTI_OK; prints the context's message and fails otherwise. */
void toy_ok(struct toy *toy, enum tutti_status status, const char *what, const char *file, int line);
#define TOY_OK(toy, expression) toy_ok((toy), (expression), #expression, __FILE__, __LINE__)

#endif
