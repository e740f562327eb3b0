/* scratch.h - the folder of an agent that does not see the run's directory. Its workers are started in it. */
#ifndef EXECUTOR_MPI_SCRATCH_H
#define EXECUTOR_MPI_SCRATCH_H

#include "freight.h"

struct scratch {
  char *path; /* NULL: there is none */
  int lock;   /* held as long as the folder is in use */
};

/* Make a new folder in `parent` ("": in TMPDIR, or in /tmp). Folders of agents that were killed are removed there. */
TUTTI_NODISCARD enum tutti_status scratch_make(tutti_context *context, const char *parent, struct scratch *scratch);
/* Store a piece of a file that workers read; *whole: it was the last one of its file. */
TUTTI_NODISCARD enum tutti_status scratch_store(tutti_context *context, const struct scratch *scratch,
                                                const struct freight_piece *piece, bool *whole);
/* Put the files of a folder in it into `freight`, under their names; one that is not there has none. */
TUTTI_NODISCARD enum tutti_status scratch_collect(tutti_context *context, const struct scratch *scratch,
                                                  const char *folder, struct freight *freight);
/* Remove a folder in it. */
void scratch_forget(tutti_context *context, const struct scratch *scratch, const char *folder);
/* Remove all of it. */
void scratch_remove(struct scratch *scratch);

#endif
