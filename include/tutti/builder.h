/* builder.h - kind `builder`: decides which candidate is trained next (ask) and learns from results (tell). */
#ifndef TUTTI_BUILDER_H
#define TUTTI_BUILDER_H

#include <tutti/backend.h>
#include <tutti/host.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_builder tutti_builder;

struct tutti_builder_setup {
  size_t size; /* these four: see struct tutti_setup (host.h) */
  const tutti_host *host;
  const struct tutti_task *task;
  uint64_t seed;
};

#define TUTTI_NO_TRIAL UINT64_MAX

/* What a builder proposes. */
struct tutti_proposal {
  size_t size;
  tutti_candidate *candidate; /* NULL: nothing to propose until more results are told */
  uint64_t parent;            /* the trial that it descends from, or TUTTI_NO_TRIAL */
  char origin[96];            /* for people: "random", "mutation", "ei 0.031" */
};

/* A trial's end, as told to a builder; borrowed until return. */
struct tutti_result {
  size_t size;
  uint64_t trial;
  const tutti_candidate *candidate;
  enum tutti_state state;
  double loss; /* what builders minimise: the run's objective on the validation rows; NaN unless finished */
  double seconds;
  const char *failure; /* "" unless failed */
  double last_loss;    /* of a pruned trial, what `loss` is of a finished one, where it was pruned; NaN: not known */
};

struct tutti_builder_ops {
  size_t size; /* sizeof(struct tutti_builder_ops) */

  /* REQUIRED. Propose the candidate of trial number `trial`. The numbers come in the order 0, 1, 2, ...; after
     "nothing", the same number comes again. The state MUST be a function of what was asked, adopted and told, never of
     time: draw from streams keyed by (tutti_host_seed, purpose, trial). MUST NOT answer "nothing" while no trial is
     outstanding, unless `exhausted`. */
  enum tutti_status (*ask)(void *self, tutti_context *context, uint64_t trial, struct tutti_proposal *proposal);
  /* REQUIRED. Learn from a result. A failed trial is an ordinary result. tutti_host_pool gives the predictions of the
     trials told so far. */
  enum tutti_status (*tell)(void *self, tutti_context *context, const struct tutti_result *result);

  /* OPTIONAL; default: `ask` is called, and must propose what the record says. On resume: take the recorded proposal as
     if `ask` had just returned it, and leave the same state as that ask did. */
  enum tutti_status (*adopt)(void *self, tutti_context *context, uint64_t trial, const struct tutti_proposal *proposal);
  /* OPTIONAL; default: false. True: no candidate will ever follow, whatever is told. */
  bool (*exhausted)(void *self);
  /* OPTIONAL, without default: state as JSON, for `tutti status` and the catalogue; free with tutti_free. */
  enum tutti_status (*describe)(void *self, tutti_context *context, char **json);
  /* OPTIONAL; default: 0. The run's ensembles are chosen from the trials from this number on; earlier ones only inform
     the search. MUST always be the same. */
  uint64_t (*members_from)(void *self);
  /* OPTIONAL; default: false. Warm starts: does the training of a trial with a parent start from the parent's weights,
     where its layers agree (struct tutti_job)? A parent that kept none, since it failed or was pruned, gives none. MUST
     always be the same. */
  bool (*warm)(void *self);
};

/* --- the host's side --- */

/* Make an instance of the builder plugin in `section` of the host; the caller destroys *builder. What is copied or
   borrowed, and the errors of every kind: struct tutti_setup (host.h). */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_builder_create(tutti_context *context, const tutti_host *host,
                                                                 const char *section,
                                                                 const struct tutti_builder_setup *setup,
                                                                 tutti_builder **builder);
/* Destroy it; NULL is allowed. */
TUTTI_API void tutti_builder_destroy(tutti_builder *builder);
/* The plugin's descriptor, valid for the life of the process. */
TUTTI_API const struct tutti_descriptor *tutti_builder_descriptor(const tutti_builder *builder);
/* Ask for the candidate of trial number `trial`. *proposal is overwritten; the caller unrefs proposal->candidate. NULL
   there means: tell more results first, or the builder is exhausted. TUTTI_ERROR_PLUGIN: it proposed nothing although
   no trial is outstanding and it is not exhausted. TUTTI_ERROR_INTERNAL: proposal->size is not set. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_builder_ask(tutti_context *context, tutti_builder *builder,
                                                              uint64_t trial, struct tutti_proposal *proposal);
/* Tell a result; borrowed until return. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_builder_tell(tutti_context *context, tutti_builder *builder,
                                                               const struct tutti_result *result);
/* On resume, make the builder take the recorded proposal of a trial; borrowed until return. TUTTI_ERROR_PLUGIN: the
   builder has no op `adopt`, and asked again it proposes something else. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_builder_adopt(tutti_context *context, tutti_builder *builder,
                                                                uint64_t trial, const struct tutti_proposal *proposal);
/* Will no candidate ever follow? */
TUTTI_API bool tutti_builder_exhausted(const tutti_builder *builder);
/* The first trial that may be a member of an ensemble of the run. */
TUTTI_API uint64_t tutti_builder_members_from(const tutti_builder *builder);
/* Do trials start from the weights of their parents? */
TUTTI_API bool tutti_builder_warm(const tutti_builder *builder);
/* The builder's state as JSON; free *json with tutti_free. *json = NULL if it has no op `describe`. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_builder_describe(tutti_context *context, tutti_builder *builder,
                                                                   char **json);
/* The usual seed of a trial's candidate, a function of both numbers. */
TUTTI_API uint64_t tutti_trial_seed(uint64_t run_seed, uint64_t trial);

TUTTI_END_DECLS
#endif
