/* together.h - several runs: which they are, and what is drawn of all of them in one figure. */
#ifndef TUTTI_REPORT_TOGETHER_H
#define TUTTI_REPORT_TOGETHER_H

#include "report_impl.h"

struct report_runs {
  size_t count, given, waiting;   /* waiting: cells of ablations that have not begun; they are not among the others */
  char **paths, **labels;         /* [count] */
  const char *const *directories; /* [given], as they were given; borrowed */
};
/* Find the runs in directories: runs, folders of them, ablations. Call forget even after a failure. */
TUTTI_NODISCARD enum tutti_status tutti_report_find(tutti_context *context, size_t count,
                                                    const char *const *directories, struct report_runs *runs);
void tutti_report_forget(struct report_runs *runs);
/* Make the figures over all runs, page->together; a single run has none. */
TUTTI_NODISCARD enum tutti_status tutti_report_together(tutti_context *context, const struct report_runs *runs,
                                                        struct report_page *page);

#endif
