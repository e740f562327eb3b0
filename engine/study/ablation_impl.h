/* ablation_impl.h - the cells of an ablation; for engine/study/ alone. */
#ifndef TUTTI_ABLATION_IMPL_H
#define TUTTI_ABLATION_IMPL_H

#include "engine/run/run_impl.h"

#include <jansson.h>
#include <sys/types.h>
#include <tutti/ablation.h>
#include <tutti/compare.h>

/* A key and the values that it is swapped for. */
struct ablation_swap {
  char *key;     /* "section.key" */
  char **values; /* [count] */
  char **labels; /* [count], for names: of paths the shortest that tell them apart, of other values themselves */
  size_t count;
};

enum ablation_state { ABLATION_WAITING, ABLATION_RUNNING, ABLATION_FINISHED, ABLATION_FAILED };

/* A child process that works on a cell. */
struct ablation_process {
  pid_t pid;     /* 0: none */
  int output;    /* its standard output; the end of it is the end of the process */
  double began;  /* seconds */
  bool stopping; /* it was asked to stop, so as to go on with more workers */
};

struct ablation_cell {
  char *name;
  const char *recipe; /* path; of the options */
  char **overrides;   /* [override_count], all of them */
  size_t override_count, first_swap;
  char *text;      /* the effective recipe */
  char *search;    /* the part of it that says what is searched and trained */
  size_t searcher; /* the cell whose search it shares; itself when the search is its own */
  int64_t seed, window, budget;
  bool repeatable; /* order = trial: it may be stopped and resumed at will */
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

/* --- one cell's process (ablation_process.c) --------------------------------------------------------------------- */

/* Start the program with these arguments; standard error goes to the file `log`. */
TUTTI_NODISCARD enum tutti_status tutti_ablation_spawn(tutti_context *context, const char *const *command,
                                                       const char *log, struct ablation_process *process);
/* Wait at most so many seconds until a process of a running cell writes or ends; read what is written. */
TUTTI_NODISCARD enum tutti_status tutti_ablation_wait(tutti_context *context, tutti_ablation *ablation, double seconds);
/* Has the process ended? *how is as waitpid's. */
bool tutti_ablation_ended(struct ablation_process *process, int *how);
/* End it at once, and wait for that. */
void tutti_ablation_kill(struct ablation_process *process);
/* Why a process failed: the last message in its log, or how it ended. */
TUTTI_NODISCARD enum tutti_status tutti_ablation_reason(tutti_context *context, const char *log, int how,
                                                        char **reason);

/* --- directories (ablation_directory.c) -------------------------------------------------------------------------- */

/* What is where in the directory of an ablation. */
enum ablation_file {
  ABLATION_FILE_REPORT,  /* what it is, and how its cells compare */
  ABLATION_FILE_RUNS,    /* a run directory a cell */
  ABLATION_FILE_RECIPES, /* a recipe a cell */
  ABLATION_FILE_LOGS     /* a file of messages a cell */
};
/* Free *path with tutti_free. */
TUTTI_NODISCARD enum tutti_status tutti_ablation_path(tutti_context *context, const char *directory,
                                                      enum ablation_file file, char **path);
/* What a cell has in one of the folders. */
TUTTI_NODISCARD enum tutti_status tutti_ablation_cell_path(tutti_context *context, const char *directory,
                                                           const char *cell, enum ablation_file file, char **path);
/* Make the directory and lock it (closing *lock gives it back), or see that what is there are runs of these cells; note
   which are finished, and which have begun a search of their own. */
TUTTI_NODISCARD enum tutti_status tutti_ablation_open(tutti_context *context, tutti_ablation *ablation,
                                                      const char *directory, bool resume, int *lock);
/* Make a cell's run directory out of that of its searcher. */
TUTTI_NODISCARD enum tutti_status tutti_ablation_link(tutti_context *context, const struct ablation_cell *cell,
                                                      const struct ablation_cell *searcher);

#endif
