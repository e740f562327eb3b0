/* report.h - finished (or stopped) runs as a page for people: one HTML file that opens without a network. */
#ifndef TUTTI_REPORT_H
#define TUTTI_REPORT_H

#include <tutti/run.h>

TUTTI_BEGIN_DECLS

struct tutti_report_options {
  size_t size; /* sizeof(struct tutti_report_options) */
  /* Out: the programs that were not there (gnuplot, graphviz's dot), without which the page has tables alone; static,
     NULL if none was missing. */
  const char *lacking;
  size_t runs; /* out: how many runs the page shows */
};
/* Describe the runs in directories[count] (of ablations: of all their cells), side by side if there are several, on a
   page *html (free with tutti_free). Nothing outside the directories is read, except plugins, and nothing is written;
   all texts of the runs are escaped. What a run does not have, such as test rows or an ensemble, the page says.
   `options` may be NULL. TUTTI_ERROR_USAGE: no directory, or one without a run; TUTTI_ERROR_CORRUPT: a file is not as
   it was written; TUTTI_ERROR_IO: gnuplot or dot failed. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_report(tutti_context *context, size_t count,
                                                         const char *const *directories,
                                                         struct tutti_report_options *options, char **html);

TUTTI_END_DECLS
#endif
