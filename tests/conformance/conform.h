/* conform.h - what the checks of all kinds share. A check is a function: it returns if all is well, and otherwise
   leaves by REQUIRE, TRY or conform_skip. Each check has its own context, and each plugin its own process. */
#ifndef CONFORM_H
#define CONFORM_H

#include <setjmp.h>
#include <stdio.h>
#include <tutti/tutti.h>

struct conform {
  enum tutti_kind kind;
  const char *name; /* of the plugin */
  const struct tutti_descriptor *descriptor;
  size_t setting_count;
  const char *const *settings; /* "kind/name.key=value" */
  bool rough;                  /* losses are rounded so much that their differences say nothing */
  const char *program;         /* path of this program: it is the worker of executors, too */
  tutti_context *context;
  jmp_buf leave;
  const char *calling; /* the latest call of TRY */
  FILE *results;       /* stdout may be the plugin's */
  char why[2048];
};

/* A named check. */
struct conform_check {
  const char *name;
  void (*run)(struct conform *conform);
};
/* Those of each kind: conform_space, conform_backend, ... */
#define CONFORM_CHECKS(constant, name, title) extern const struct conform_check conform_##name[];
TUTTI_KINDS(CONFORM_CHECKS)

/* Leave the check: it failed, or it does not apply to this plugin. */
_Noreturn void conform_fail(struct conform *conform, const char *format, ...) TUTTI_PRINTF(2, 3);
_Noreturn void conform_skip(struct conform *conform, const char *format, ...) TUTTI_PRINTF(2, 3);
#define REQUIRE(conform, condition, ...)                                                                               \
  do {                                                                                                                 \
    if (!(condition))                                                                                                  \
      conform_fail((conform), __VA_ARGS__);                                                                            \
  } while (0)
/* A call that has to work, and one that has to fail with a message. */
#define TRY(conform, call) ((conform)->calling = #call, conform_try((conform), (call), #call))
void conform_try(struct conform *conform, enum tutti_status status, const char *call);
void conform_refused(struct conform *conform, enum tutti_status status, const char *what);
void *conform_alloc(struct conform *conform, size_t count, size_t size);
/* |a - b| <= relative * max(|a|, |b|) + absolute */
bool conform_close(double a, double b, double relative, double absolute);

/* --- what no plugin of any kind may do --- */

/* A copy of what an operation is given and must not change, until the end of the check (given.c). If the operation
   writes to it, the process ends, and the report says that it wrote to `what`, a literal. NULL stays NULL. */
const void *conform_given(struct conform *conform, const char *what, const void *data, size_t bytes);
void conform_release_given(void);
/* From now on the report is written to why[why_size], which outlives the process. */
void conform_watch_given(const struct conform *conform, char *why, size_t why_size);
/* A check of every plugin: it exports its one symbol and no other (exports.c). */
void conform_exports(struct conform *conform);
/* A file in memory that stdout and stderr may be led to, and the first words and the number of bytes that were written
   to it since the last call (leavings.c). */
int conform_listen(void);
size_t conform_heard(int listening, char *words, size_t size);
/* Does each of many runs of again(argument) leave memory or open files behind? Then `why` says what; not if one
   fails. */
bool conform_leaves(bool (*again)(void *argument), void *argument, char *why, size_t size);

/* --- the world in which a plugin is tried (world.c) --- */

/* Spaces that this program brings along. */
enum world_space {
  WORLD_POINTS, /* real, log-integer, categorical and conditional dimensions */
  WORLD_FEW,    /* three points in all, no hyperparameters */
  WORLD_GRAPHS  /* no domain, two measures of distance */
};

struct world {
  struct tutti_task task;
  struct tutti_host_facts facts;
  tutti_host *host; /* the plugin stands in the section named by its kind */
  tutti_space *space;
  tutti_domain *hyperparameters;
  tutti_scope *scope;
};

enum { WORLD_BUDGET = 24, WORLD_ROWS = 40, WORLD_SEED = 7 };

/* A task on a table of 4 features: regression of one target, 3 classes, or none. */
struct tutti_task world_task(enum tutti_task_kind kind);
/* A host with the plugin, its presets and the settings of the command line. */
tutti_host *world_host(struct conform *conform, const struct tutti_host_facts *facts);
void world_make(struct conform *conform, enum world_space space, size_t window, struct world *world);
void world_end(struct world *world);
/* `count` candidates drawn from the stream `index`. */
tutti_candidate **world_candidates(struct conform *conform, const struct world *world, uint64_t index, size_t count);
void world_release(size_t count, tutti_candidate **candidates);
/* Candidates as points, with vectors where there is a joint domain; free vectors by tutti_free. */
struct tutti_points world_points(struct conform *conform, const struct world *world, size_t count,
                                 tutti_candidate *const *candidates, double **vectors);
/* Something to minimise: in [0, 1), a function of architecture and hyperparameters alone. */
double world_loss(const tutti_candidate *candidate);
/* Synthetic predictions of models: pool.trials = first, first + 1, ... */
void world_pool(struct conform *conform, enum tutti_task_kind kind, size_t models, size_t rows, uint64_t seed,
                struct tutti_pool *pool);
void world_pool_free(struct tutti_pool *pool);
/* A pool with the same numbers as an operation is given it: see conform_given. */
const struct tutti_pool *world_given_pool(struct conform *conform, const struct tutti_pool *pool);
/* The linked-in plugins (world_spaces.c, world_surrogate.c). */
extern const struct tutti_descriptor world_space_points, world_space_few, world_space_graphs, world_surrogate_ramp;

/* A worker of executors: speaks the protocol on descriptor 0 and does as its requests say (worker.c). */
int conform_worker(void);

#endif
