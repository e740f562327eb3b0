/* ablation.h - a matrix of runs: recipes, times values of some of their keys, times seeds. Every cell is an ordinary
   run directory. Cells share the machine's workers and, where they can, a search. */
#ifndef TUTTI_ABLATION_H
#define TUTTI_ABLATION_H

#include <tutti/recipe.h>

TUTTI_BEGIN_DECLS

struct tutti_ablation_options {
  size_t size;
  size_t recipes;
  const char *const *recipe; /* [recipes] paths */
  size_t swaps;
  /* [swaps] "section.key=a,b,c": the matrix has a cell for each combination of values. With " where section.key=a,b"
     behind it, only cells in which that key has one of those values, by the recipe and the swaps before, have it. */
  const char *const *swap;
  size_t overrides;
  const char *const *override; /* [overrides] "section.key=value", for every cell */
  int64_t seeds;               /* cells with run.seed = the recipe's, the next one, ...; at least 1 */
};

typedef struct tutti_ablation tutti_ablation;

/* Make the matrix and check every cell as tutti_run_check does; nothing is written. Options are copied. The caller
   destroys *ablation. TUTTI_ERROR_USAGE: no recipe, no seed, a swap that cannot be read, or a cell that is wrong, which
   the error names. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_ablation_create(tutti_context *context, const struct tutti_ablation_options *options, tutti_ablation **ablation);
/* Destroy it; NULL is allowed. */
TUTTI_API void tutti_ablation_destroy(tutti_ablation *ablation);
/* The matrix as the JSON text of ablation.json (docs/ablation.md); free *json with tutti_free. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_ablation_describe(tutti_context *context,
                                                                    const tutti_ablation *ablation, char **json);

enum tutti_ablation_event {
  TUTTI_ABLATION_KEPT,    /* it had finished before */
  TUTTI_ABLATION_STARTED, /* progress->workers says with how many workers */
  TUTTI_ABLATION_FINISHED,
  TUTTI_ABLATION_FAILED
};
/* What has become of a cell. Texts are borrowed until the call returns. */
struct tutti_ablation_progress {
  size_t size;
  enum tutti_ablation_event event;
  const char *cell, *reason;               /* reason: of a failure; else "" */
  int64_t workers;                         /* that the cell has, or had */
  size_t cells, finished, failed, running; /* after the event */
  double seconds;                          /* since the cell started */
};

struct tutti_ablation_run_options {
  size_t size;
  const char *directory; /* made if absent */
  const char *program;   /* the tutti program, for runs */
  bool resume;           /* go on with what is in the directory; false: refuse one that has an ablation */
  int64_t workers;       /* worker processes of all cells together; 0: one a core */
  void (*progress)(void *argument, const struct tutti_ablation_progress *progress); /* may be NULL */
  void *argument;
};
/* Run every cell that is not finished, in child processes; then compare them and write ablation.json, whose text is
   *json (free with tutti_free). A cell that fails does not end the others: *failed counts them. After
   TUTTI_ERROR_CANCELLED every cell is in order and can be resumed. TUTTI_ERROR_USAGE: the directory has an ablation
   already and `resume` is false; TUTTI_ERROR_BUSY: another run is at work in a cell. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_ablation_run(tutti_context *context, tutti_ablation *ablation,
                                                               const struct tutti_ablation_run_options *options,
                                                               size_t *failed, char **json);

/* Does the directory hold an ablation that has begun? */
TUTTI_API bool tutti_ablation_is_there(const char *directory);
/* Where it stands, at work or not, as JSON: {"directory", "running", "counts": {"waiting", "running", "finished",
   "failed"}, "cells": [{"name", "state", "reason" of a failure, "trials" and "budget" of what has begun and not ended,
   "status" of one that runs: as tutti_view_status, without its trials and its ensemble}]}; free *json with tutti_free.
   Failures are those that were recorded when it ended. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_ablation_status(tutti_context *context, const char *directory,
                                                                  char **json);

TUTTI_END_DECLS
#endif
