/* running_impl.h - which plugin's code runs: noted around all of it, so that a watcher of the process can name the
   plugin that ends or stops it. */
#ifndef TUTTI_RUNNING_IMPL_H
#define TUTTI_RUNNING_IMPL_H

#include "private.h"

#include <tutti/context.h>

struct tutti_descriptor;

/* Note that the plugin's code runs from here on. Returns what tutti_running_leave takes back: the plugin that called
   this one, or NULL. */
TUTTI_PRIVATE const struct tutti_descriptor *tutti_running_enter(tutti_context *context,
                                                                 const struct tutti_descriptor *plugin);
TUTTI_PRIVATE void tutti_running_leave(tutti_context *context, const struct tutti_descriptor *caller);
/* A plugin is being loaded, or no longer: nothing of a run can be lost then. */
TUTTI_PRIVATE void tutti_running_loads(tutti_context *context, bool loading);
TUTTI_PRIVATE bool tutti_running_is_loading(const tutti_context *context);
/* The most seconds for a call of a plugin, infinite unless a recipe says otherwise (run.plugin_timeout). */
TUTTI_PRIVATE void tutti_running_set_limit(tutti_context *context, double seconds);
TUTTI_PRIVATE double tutti_running_limit(const tutti_context *context);

/* The plugin whose code runs now in a call with this context, the innermost of several, or NULL; *seconds is how long
   the outermost has run. Safe in signal handlers and on other threads. */
TUTTI_PRIVATE const struct tutti_descriptor *tutti_running_plugin(const tutti_context *context, double *seconds);

#endif
