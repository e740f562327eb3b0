/* running_impl.h - which plugin's code runs: for watchers of the process. */
#ifndef TUTTI_RUNNING_IMPL_H
#define TUTTI_RUNNING_IMPL_H

#include "core/base/private.h"

#include <tutti/descriptor.h>

/* The plugin whose code runs now in a call with this context, the innermost of several, or NULL; *seconds is how long
   the outermost has run. Safe in signal handlers and on other threads. */
TUTTI_PRIVATE const struct tutti_descriptor *tutti_running_plugin(const tutti_context *context, double *seconds);

#endif
