/* run_plugins.h - do manager and workers have the same plugins? Else results would depend on the node, or on when a
   worker was started. */
#ifndef TUTTI_RUN_PLUGINS_H
#define TUTTI_RUN_PLUGINS_H

#include <jansson.h>
#include <tutti/recipe.h>

/* The files of the plugins that trainings use, as JSON: {"backend/cpu": "SIZE bytes, CRC-32 HEX", ...}; free *text with
   tutti_free. Plugins that are linked in are left out. TUTTI_ERROR_IO: one cannot be read. */
TUTTI_NODISCARD enum tutti_status tutti_run_plugins_print(tutti_context *context, const tutti_recipe *recipe,
                                                          char **text);
/* Compare the manager's with a worker's own, of such a text. TUTTI_ERROR_CORRUPT: the first that differs. */
TUTTI_NODISCARD enum tutti_status tutti_run_plugins_check(tutti_context *context, const json_t *managers,
                                                          const char *own);

#endif
