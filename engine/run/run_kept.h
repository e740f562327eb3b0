/* run_kept.h - an ensemble that was kept in a run's directory in place of the one that its recipe chooses. */
#ifndef TUTTI_RUN_KEPT_H
#define TUTTI_RUN_KEPT_H

#include "run_impl.h"

/* Add to the text of ensemble.json the settings by which it was chosen otherwise than by the recipe, as "kept":
   "split", if it is not NULL, and "set", the overrides; without any, the text stays. */
TUTTI_NODISCARD enum tutti_status tutti_kept_mark(tutti_context *context, const char *split, size_t count,
                                                  const char *const *overrides, char **chosen);
/* Warn if the directory's ensemble was kept so, and is another than `chosen` (NULL: that is not known yet), which
   replaces it. `removes`: weights of models that are not members of that are removed. */
TUTTI_NODISCARD enum tutti_status tutti_kept_warn(tutti_context *context, const char *directory, const char *chosen,
                                                  bool removes);

#endif
