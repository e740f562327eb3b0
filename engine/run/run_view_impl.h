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
};

/* TUTTI_ERROR_USAGE: the run has no rows to predict: it is a fit, or its backend works without data. */
TUTTI_NODISCARD enum tutti_status tutti_view_check_data(tutti_context *context, const tutti_view *view);
/* `given`, or the run's own ensemble; free *text with tutti_free. TUTTI_ERROR_USAGE: there is neither. */
TUTTI_NODISCARD enum tutti_status tutti_view_ensemble(tutti_context *context, const tutti_view *view, const char *given,
                                                      char **text);

#endif
