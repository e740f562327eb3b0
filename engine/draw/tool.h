/* tool.h - another program as a filter: a text goes in, a text comes out. */
#ifndef TUTTI_TOOL_H
#define TUTTI_TOOL_H

#include <tutti/context.h>

/* Run command[0], found on PATH, with `input` as its standard input; *output (free with tutti_free) is what it printed.
   TUTTI_ERROR_UNSUPPORTED: it is not there; TUTTI_ERROR_CANCELLED: the flag was raised, and it was ended;
   TUTTI_ERROR_IO: it failed, with its first message, or took longer than a minute. */
TUTTI_NODISCARD enum tutti_status tutti_tool_run(tutti_context *context, const char *const *command, const char *input,
                                                 char **output);

#endif
