/* run_view_impl.h - a run directory that is open for reading. */
#ifndef TUTTI_RUN_VIEW_IMPL_H
#define TUTTI_RUN_VIEW_IMPL_H

#include "run_impl.h"

struct tutti_view {
  char *directory;
  struct tutti_experiment *experiment;
  struct tutti_run_pool pool;
  tutti_catalogue *catalogue;
  struct tutti_history history;
  /* Of several runs that are one pool (joined.c): they, whose first gives `experiment`; there is no catalogue. */
  size_t part_count;
  struct tutti_part *parts;
  bool unnamed; /* they are no directory together, and `directory` is what messages call them */
};

/* Where recipe and data are: in the view's directory or, of several runs, in that of the first. */
const char *tutti_view_source(const tutti_view *view);
/* Close parts[count] and free them; NULL is allowed. */
void tutti_joined_close(size_t count, struct tutti_part *parts);
/* Open a directory that has the pools of several runs. */
TUTTI_NODISCARD enum tutti_status tutti_joined_open(tutti_context *context, const char *directory, tutti_view **view);
/* Copy the runs of the view to a new directory, of which the view is from then on. */
TUTTI_NODISCARD enum tutti_status tutti_joined_write(tutti_context *context, tutti_view *view, const char *directory);
/* Mark the trials whose models a run before theirs has, too, and count them in the parts of the view: no members. */
TUTTI_NODISCARD enum tutti_status tutti_joined_mark_repeats(tutti_context *context, tutti_view *view);
/* The runs and how many of the ensemble's members are of each, a new reference; NULL for a single run. */
json_t *tutti_joined_pools(const tutti_view *view, const json_t *ensemble);
/* Say of a summary, and of an ensemble, of which runs they are made: "pools", and "pool" and "pool_trial" of each
   member. Of a single run, nothing. Free the texts with tutti_free, as before. */
TUTTI_NODISCARD enum tutti_status tutti_joined_describe(tutti_context *context, const tutti_view *view, char **summary);
TUTTI_NODISCARD enum tutti_status tutti_joined_locate(tutti_context *context, const tutti_view *view, char **ensemble);

/* TUTTI_ERROR_USAGE: it is a fit, and chooses nothing. */
TUTTI_NODISCARD enum tutti_status tutti_view_check_search(tutti_context *context, const tutti_view *view);
/* TUTTI_ERROR_USAGE: the run has no rows to predict: it is a fit, or its backend works without data. */
TUTTI_NODISCARD enum tutti_status tutti_view_check_data(tutti_context *context, const tutti_view *view);
/* `given`, or the run's own ensemble; free *text with tutti_free. TUTTI_ERROR_USAGE: there is neither. */
TUTTI_NODISCARD enum tutti_status tutti_view_ensemble(tutti_context *context, const tutti_view *view, const char *given,
                                                      char **text);

#endif
