/* run_inputs.h - the inputs of a run's splits, which its manager reads and encodes once and its workers map. They lie
   in the run's directory while the run is at work. They are the run's own files, written whole under another name and
   changed by nobody: unlike a user's file, none becomes shorter under who has mapped it. They are not made durable:
   whoever goes on with the run writes them anew. */
#ifndef TUTTI_RUN_INPUTS_H
#define TUTTI_RUN_INPUTS_H

#include "experiment_impl.h"

/* For the manager, before its first worker starts: write them if they are as large as the recipe says. If they cannot
   be written, workers read the data themselves, and the log says why. It keeps its own copy, so that it lives to tell
   if somebody damages the files all the same. */
TUTTI_NODISCARD enum tutti_status tutti_run_inputs_offer(tutti_context *context, const char *directory,
                                                         const struct tutti_experiment *experiment);
/* After a worker was lost: have the files still all the rows of the manager's data set? A file that became shorter ends
   whoever has mapped it, and is the fault of no trial. TUTTI_ERROR_CORRUPT or _IO names the file. */
TUTTI_NODISCARD enum tutti_status tutti_run_inputs_check(tutti_context *context, const char *directory,
                                                         const tutti_dataset *dataset);
/* Remove them; who has mapped them keeps them. */
void tutti_run_inputs_withdraw(tutti_context *context, const char *directory);
/* For a worker: the data set with the inputs mapped, which the caller destroys; NULL: none are offered. */
TUTTI_NODISCARD enum tutti_status tutti_run_inputs_take(tutti_context *context, const char *directory,
                                                        const tutti_recipe *recipe, tutti_dataset **dataset);

#endif
