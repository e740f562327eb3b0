/* running.c - which plugin's code runs. */
#include "running_impl.h"

#include "context_impl.h"

#include <tutti/clock.h>

const struct tutti_descriptor *tutti_running_enter(tutti_context *context, const struct tutti_descriptor *plugin) {
  const struct tutti_descriptor *caller = context->running;
  if (!caller)
    context->running_since = tutti_clock();
  context->running = plugin;
  return caller;
}

void tutti_running_leave(tutti_context *context, const struct tutti_descriptor *caller) { context->running = caller; }

void tutti_running_loads(tutti_context *context, bool loading) { context->loading = loading; }

bool tutti_running_is_loading(const tutti_context *context) { return context->loading; }

void tutti_running_set_limit(tutti_context *context, double seconds) { context->running_limit = seconds; }

double tutti_running_limit(const tutti_context *context) { return context->running_limit; }

const struct tutti_descriptor *tutti_running_plugin(const tutti_context *context, double *seconds) {
  const struct tutti_descriptor *running = context->running;
  *seconds = running ? tutti_clock() - context->running_since : 0;
  return running;
}
