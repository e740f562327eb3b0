/* run_staging.h - the files of a run's workers that do not see its directory: which they read, and where what they
   write belongs. */
#ifndef TUTTI_RUN_STAGING_H
#define TUTTI_RUN_STAGING_H

#include <tutti/executor.h>
#include <tutti/recipe.h>

/* recipe: NULL where nothing is visited, as in an agent. Both are borrowed. */
struct tutti_run_staging {
  const char *directory;
  const tutti_recipe *recipe;
};

/* Append to a run's worker.log, if it can be written. */
TUTTI_NODISCARD enum tutti_status tutti_run_append_log(tutti_context *context, const char *directory, const char *bytes,
                                                       size_t count);

/* What an executor is given of it, borrowed by what it returns. */
struct tutti_staging tutti_run_staging_offer(struct tutti_run_staging *staging);

#endif
