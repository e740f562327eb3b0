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

/* What an executor is given of it, borrowed by what it returns. */
struct tutti_staging tutti_run_staging_offer(struct tutti_run_staging *staging);

#endif
