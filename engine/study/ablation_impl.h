/* ablation_impl.h - the cells of an ablation; for engine/study/ alone. */
#ifndef TUTTI_ABLATION_IMPL_H
#define TUTTI_ABLATION_IMPL_H

#include "engine/run/run_impl.h"

#include <jansson.h>
#include <sys/types.h>
#include <tutti/ablation.h>
#include <tutti/compare.h>

/* Where a key is swapped: in cells in which another key has one of these values. */
struct ablation_condition {
  char *text;    /* "section.key=a,b", as it was given; NULL: in every cell */
  char *key;     /* "section.key" */
  char **values; /* [count] */
  size_t count;
};

/* A key and the values that it takes. */
struct ablation_swap {
  struct ablation_condition condition;
  char *key;     /* "section.key" */
  char **values; /* [count] */
  char **labels; /* [count], used in names: for paths the shortest parts that differ, otherwise the values themselves */
  size_t count;
};

/* In the place of a value's number: the key is not swapped here. */
#define ABLATION_NO_VALUE SIZE_MAX

enum ablation_state { ABLATION_WAITING, ABLATION_RUNNING, ABLATION_FINISHED, ABLATION_FAILED };
/* Their names, in ablation.json. */
extern const char *const tutti_ablation_states[ABLATION_FAILED + 1];

/* A child process that works on a cell. */
struct ablation_process {
  pid_t pid;     /* 0: none */
  int output;    /* its standard output; end of file means that the process has ended */
  double began;  /* seconds */
  bool stopping; /* it was asked to stop, to go on with more workers */
};

struct ablation_cell {
  char *name;
  const char *recipe; /* path; of the options */
  char **overrides;   /* [override_count], all of them */
  size_t override_count;
  size_t *values;  /* [swaps]: which of each swap's; ABLATION_NO_VALUE where its condition fails */
  char *text;      /* the effective recipe */
  char *search;    /* the part of it that determines search and training */
  size_t searcher; /* the cell whose search it shares; itself if it has its own */
  int64_t seed, window, budget;
  bool fit;        /* the recipe is one for `tutti fit` */
  bool repeatable; /* order = trial: it may be stopped and resumed at any time */
  bool removes;    /* the weights of models that are not in its ensemble */
  bool timed;      /* chooses by what predictions take, or has that measured */
  enum ablation_state state;
  char *reason; /* of a failure */
  char *directory;
  int64_t workers;
  uint64_t restored; /* trials that were done when its process started */
  struct ablation_process process;
};

struct tutti_ablation {
  size_t recipes, swap_count, overrides;
  char **recipe, **override, **labels; /* [recipes], [overrides], [recipes]: the recipes' names */
  struct ablation_swap *swaps;
  int64_t seeds;
  struct ablation_cell *cells;
  size_t count;
};

/* A recipe with a combination of values. */
struct ablation_variant {
  size_t recipe, *values; /* values[swap_count]: which of the swap's; ABLATION_NO_VALUE where its condition fails */
  char *name;
};

/* --- the cells (ablation_matrix.c) --- */

/* Does a cell that shares the search of this one, and is not finished, need what predictions take, which this one would
   not measure for itself? */
bool tutti_ablation_measures(const tutti_ablation *ablation, size_t searcher);

/* --- what is swapped (ablation_swap.c) --------------------------------------------------------------------------- */

TUTTI_NODISCARD enum tutti_status tutti_ablation_copy_texts(tutti_context *context, size_t count,
                                                            const char *const *from, char ***to);
void tutti_ablation_free_texts(size_t count, char **texts);
/* Read "section.key=a,b,c", perhaps with " where section.key=a,b" behind it, into swap number `index`; those before it
   are there. */
TUTTI_NODISCARD enum tutti_status tutti_ablation_parse_swap(tutti_context *context, tutti_ablation *ablation,
                                                            size_t index, const char *text);
void tutti_ablation_release_swap(struct ablation_swap *swap);
/* What stands where " where" may have been meant: the word before "section.key=" in a value, as in "a,b if
   section.key=c". Returns its length; 0: there is none. *word points into the swap. */
size_t tutti_ablation_not_where(const struct ablation_swap *swap, const char **word);
/* The last part of a key "section.key". */
const char *tutti_ablation_last_part(const char *key);
/* Are its values paths? */
bool tutti_ablation_has_paths(const struct ablation_swap *swap);
/* "section.key=value"; free it with tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_ablation_setting(tutti_context *context, const tutti_ablation *ablation,
                                                         size_t swap, size_t value, char **setting);

/* --- where it is swapped (ablation_condition.c) ------------------------------------------------------------------ */

/* Does the condition of a swap hold for this recipe, with the values of the swaps before it? */
TUTTI_NODISCARD enum tutti_status tutti_ablation_condition(tutti_context *context, const tutti_ablation *ablation,
                                                           size_t recipe, const size_t *values, size_t swap,
                                                           bool *holds);
/* Look for a slip in the condition of a swap. TUTTI_ERROR_USAGE: its key has none of its values in any of the
   variants[count]; with the closest key or value, and those that there are. If it has some, the others get a warning:
   the same condition may serve several ablations. */
TUTTI_NODISCARD enum tutti_status tutti_ablation_check_condition(tutti_context *context, const tutti_ablation *ablation,
                                                                 size_t swap, size_t count,
                                                                 const struct ablation_variant *variants);

/* --- one cell's process (ablation_process.c) --------------------------------------------------------------------- */

/* Start the program with these arguments; standard error goes to the file `log`. */
TUTTI_NODISCARD enum tutti_status tutti_ablation_spawn(tutti_context *context, const char *const *command,
                                                       const char *log, struct ablation_process *process);
/* Wait at most this many seconds until a process of a running cell writes or ends; read its output. */
TUTTI_NODISCARD enum tutti_status tutti_ablation_wait(tutti_context *context, tutti_ablation *ablation, double seconds);
/* Has the process ended? *how is a status as from waitpid. */
bool tutti_ablation_ended(struct ablation_process *process, int *how);
/* End it at once, and wait for that. */
void tutti_ablation_kill(struct ablation_process *process);
/* Why a process failed: the last message in its log, or how it ended. */
TUTTI_NODISCARD enum tutti_status tutti_ablation_reason(tutti_context *context, const char *log, int how,
                                                        char **reason);

/* --- directories (ablation_directory.c) -------------------------------------------------------------------------- */

/* The layout of an ablation's directory. */
enum ablation_file {
  ABLATION_FILE_REPORT,  /* the report: the cells and their comparison */
  ABLATION_FILE_RUNS,    /* one run directory per cell */
  ABLATION_FILE_RECIPES, /* one recipe per cell */
  ABLATION_FILE_LOGS     /* one log file per cell */
};
/* Free *path with tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_ablation_path(tutti_context *context, const char *directory,
                                                      enum ablation_file file, char **path);
/* The path of a cell in one of the folders. */
TUTTI_NODISCARD enum tutti_status tutti_ablation_cell_path(tutti_context *context, const char *directory,
                                                           const char *cell, enum ablation_file file, char **path);
/* Create and lock the directory (closing *lock unlocks it), or check that the runs in it are of these cells; note which
   are finished, and which have begun their own search. */
TUTTI_NODISCARD enum tutti_status tutti_ablation_open(tutti_context *context, tutti_ablation *ablation,
                                                      const char *directory, bool resume, int *lock);
/* Has the directory this file? */
bool tutti_ablation_has(const char *directory, enum ablation_file file);
/* ablation.json; the caller releases *plan. TUTTI_ERROR_CORRUPT: it has no cells. */
TUTTI_NODISCARD enum tutti_status tutti_ablation_read(tutti_context *context, const char *directory, json_t **plan);
/* Make a cell's run directory from that of its searcher. */
TUTTI_NODISCARD enum tutti_status tutti_ablation_link(tutti_context *context, const struct ablation_cell *cell,
                                                      const struct ablation_cell *searcher);

#endif
