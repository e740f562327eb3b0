/* run_weights.h - which trials keep their weights when a run has ended (run.weights_of). The weights of the others are
   removed once the ensemble is chosen and written: their reports say so first, so a file that is still there then is
   only left over. Predictions stay, so every ensemble can still be chosen; models that it needs are trained again. */
#ifndef TUTTI_RUN_WEIGHTS_H
#define TUTTI_RUN_WEIGHTS_H

#include "manager_impl.h"

/* Is this the report of a trial whose weights were removed? */
bool tutti_weights_removed(const char *report);
/* Refuse an ensemble (the text of ensemble.json; trials are those of `source`) of which members have no weights any
   more: TUTTI_ERROR_USAGE. */
TUTTI_NODISCARD enum tutti_status tutti_weights_check(tutti_context *context, const struct tutti_run_pool *source,
                                                      const char *ensemble);
/* Let the members of an ensemble (NULL: there is none) that have no weights any more be trained again, before it
   becomes the run's. */
TUTTI_NODISCARD enum tutti_status tutti_weights_restore(struct tutti_manager *manager, const char *ensemble);
/* Remove the weights of all trials but the members of the ensemble that has become the run's, if the recipe wants that;
   and what an earlier removal has left. */
TUTTI_NODISCARD enum tutti_status tutti_weights_remove(struct tutti_manager *manager, const char *ensemble);

#endif
