/* design.h - the initial design of builders with a model: candidates spread over the scope before anything is known. */
#ifndef TUTTI_DESIGN_H
#define TUTTI_DESIGN_H

#include <tutti/builder.h>
#include <tutti/candidate_set.h>

TUTTI_BEGIN_DECLS

/* --- parameters --------------------------------------------------------------------------------------------------- */

/* A field (`design`) of a builder's config struct. Made only by the host, from the plugin's own table. The library
   never sees it: tutti_design_of makes a tutti_design of it. */
struct tutti_design_config {
  int64_t initial;
  int kind;
};

/* The choices of parameter `design`, in the order of enum tutti_design_kind. */
static const char *const tutti_design_kinds[] = {"sobol", "random", "known", NULL};

/* clang-format off */
/* The parameters initial and design, for a table: TUTTI_DESIGN_PARAMS(struct my_config, design, "sobol"). The last
   argument is the default of `design`. TUTTI_DESIGN_PARAMS_OF takes the default of `initial`, too, before it. */
#define TUTTI_DESIGN_PARAMS(config_type, field, kind_preset) TUTTI_DESIGN_PARAMS_OF(config_type, field, "10", kind_preset)
#define TUTTI_DESIGN_PARAMS_OF(config_type, field, initial_preset, kind_preset) \
  TUTTI_PARAM("initial", INTEGER, config_type, field.initial, initial_preset, 0, 1000000, NULL, TUTTI_KIND_SPACE, \
              "Candidates of the initial design; 0: as many as may be outstanding at once (run.window)."), \
  TUTTI_PARAM("design", CHOICE, config_type, field.kind, kind_preset, 0, 0, tutti_design_kinds, TUTTI_KIND_SPACE, \
              "Where they come from: Sobol points of the joint domain (random ones for spaces without); random draws; or the " \
              "architectures that the space knows, then mutants of them (Sobol points where it knows none).")
/* clang-format on */

/* --- the design --------------------------------------------------------------------------------------------------- */

enum tutti_design_kind {
  TUTTI_DESIGN_SOBOL,  /* Sobol points of the joint domain */
  TUTTI_DESIGN_RANDOM, /* none: the builder draws */
  /* the architectures that the space knows, then mutants of them; Sobol points where it knows none */
  TUTTI_DESIGN_KNOWN
};

struct tutti_design {
  size_t size; /* sizeof(struct tutti_design) */
  enum tutti_design_kind kind;
  uint64_t initial;       /* candidates, >= 1 */
  const tutti_host *host; /* its scope and seed */
};

static inline struct tutti_design tutti_design_of(const struct tutti_design_config *config, const tutti_host *host) {
  struct tutti_design design;
  design.size = sizeof design;
  design.kind = (enum tutti_design_kind)config->kind;
  design.initial = config->initial ? (uint64_t)config->initial : (uint64_t)tutti_host_window(host);
  design.host = host;
  return design;
}

/* Check a design against its host's scope; for `create`. TUTTI_ERROR_USAGE: it needs Sobol points, and the scope has
   more than TUTTI_SOBOL_DIMENSIONS dimensions. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_design_check(tutti_context *context,
                                                               const struct tutti_design *design);
/* Make the design's candidate of a trial, one that is not in `known`; the caller unrefs it. *candidate = NULL if the
   design is random, or if ten attempts met only known candidates (small scopes) or broke a rule of the space: draw one
   then (tutti_candidate_set_draw, tutti_proposer_draw). */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_design_candidate(tutti_context *context,
                                                                   const struct tutti_design *design, uint64_t trial,
                                                                   const tutti_candidate_set *known,
                                                                   tutti_candidate **candidate);

TUTTI_END_DECLS
#endif
