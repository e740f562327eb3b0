/* kind.h - the kinds of plugin. All that depends on the kind is made from the one table here. */
#ifndef TUTTI_KIND_H
#define TUTTI_KIND_H

#include <tutti/context.h>

TUTTI_BEGIN_DECLS

/* One line for each kind: KIND(its constant, its name, its title in the reference). The order is part of the ABI: add
   at the end. */
#define TUTTI_KINDS(KIND)                                                                                              \
  KIND(SPACE, space, "Spaces")                                                                                         \
  KIND(BACKEND, backend, "Backends")                                                                                   \
  KIND(BUILDER, builder, "Builders")                                                                                   \
  KIND(SURROGATE, surrogate, "Surrogates")                                                                             \
  KIND(ACQUISITION, acquisition, "Acquisitions")                                                                       \
  KIND(MAXIMISER, maximiser, "Maximisers")                                                                             \
  KIND(SELECTOR, selector, "Selectors")                                                                                \
  KIND(EXECUTOR, executor, "Executors")                                                                                \
  KIND(PRUNER, pruner, "Pruners")                                                                                      \
  KIND(CALIBRATOR, calibrator, "Calibrators")                                                                          \
  KIND(SOURCE, source, "Sources")

/* TUTTI_KIND_SPACE, TUTTI_KIND_BACKEND, ... */
#define TUTTI_KIND_CONSTANT(constant, name, title) TUTTI_KIND_##constant,
enum tutti_kind { TUTTI_KINDS(TUTTI_KIND_CONSTANT) TUTTI_KIND_COUNT };
#undef TUTTI_KIND_CONSTANT

/* "space", "backend", ...; "unknown kind" for other numbers. Static. */
TUTTI_API const char *tutti_kind_name(enum tutti_kind kind);
/* The kind's heading in the plugin reference: "Spaces", "Backends", ...; "Unknown kind" for other numbers. Static. */
TUTTI_API const char *tutti_kind_title(enum tutti_kind kind);
/* Set *kind to the kind of this name. TUTTI_ERROR_USAGE names the closest kind, or all of them. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_kind_parse(tutti_context *context, const char *name,
                                                             enum tutti_kind *kind);

TUTTI_END_DECLS
#endif
