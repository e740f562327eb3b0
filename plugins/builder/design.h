/* design.h - the initial design of builders with a model: candidates that are spread over the scope before anything is known. */
#ifndef TUTTI_BUILDER_DESIGN_H
#define TUTTI_BUILDER_DESIGN_H

#include <tutti/plugin.h>

/* Parameters; a builder's config struct has this as its field `design`. */
struct design_config {
  int64_t initial;
  int kind;
};

static const char *const design_kinds[] = {"sobol", "random", "known", NULL};
enum { DESIGN_SOBOL, DESIGN_RANDOM, DESIGN_KNOWN };

/* clang-format off */
#define DESIGN_PARAMS(config_type, kind_preset) \
  {.name = "initial", .type = TUTTI_PARAM_INTEGER, .offset = offsetof(config_type, design.initial), .preset = "10", \
   .min = 1, .max = 1000000, .doc = "Candidates of the initial design."}, \
  {.name = "design", .type = TUTTI_PARAM_CHOICE, .offset = offsetof(config_type, design.kind), \
   .preset = (kind_preset), .choices = design_kinds, \
   .doc = "Where they come from: Sobol points of the joint domain (random ones for spaces without); random draws; or the " \
          "architectures that the space knows, then mutants of them (Sobol points where it knows none)."}
/* clang-format on */

struct design {
  const struct design_config *config;
  const tutti_scope *scope;
  uint64_t seed;
};

static inline struct design design_of(const struct design_config *config, const tutti_host *host) {
  return (struct design){config, tutti_host_scope(host), tutti_host_seed(host)};
}

/* TUTTI_ERROR_USAGE where the scope has more dimensions than Sobol points. */
enum tutti_status design_check(tutti_context *context, const struct design *design);
/* The design's candidate of a trial, one that is not known(argument, candidate); *candidate stays NULL where the design is
   random, and where it repeats candidates (small scopes) or breaks a rule of the space several times: draw one then. */
enum tutti_status design_candidate(tutti_context *context, const struct design *design, uint64_t trial,
                                   bool (*known)(const void *argument, const tutti_candidate *candidate),
                                   const void *argument, tutti_candidate **candidate);

#endif
