/* progress.h - shows the progress of a run: a bar on a terminal, plain lines now and then elsewhere. */
#ifndef TUTTI_PROGRESS_H
#define TUTTI_PROGRESS_H

#include <tutti/run.h>

struct progress {
  bool terminal, colour, quiet;
  double shown;  /* seconds of the run at the last line */
  double next;   /* plain lines: time of the next one */
  bool drawn;    /* there is a bar on the current line */
  bool launched; /* as the run says */
};
void progress_begin(struct progress *progress, bool quiet);
/* A tutti_run_options.progress; the argument is the struct. */
void progress_show(void *argument, const struct tutti_run_progress *run);
void progress_end(struct progress *progress);

#endif
