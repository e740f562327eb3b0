/* memory_bound_impl.h - how much memory this process may have, and who says so; for core/, and in
   engine/ for workers. */
#ifndef TUTTI_MEMORY_BOUND_IMPL_H
#define TUTTI_MEMORY_BOUND_IMPL_H

#include "private.h"

#include <stddef.h>
#include <tutti/context.h>

struct tutti_memory_bound {
  size_t bytes;
  const char *of; /* what has, or allows, so many: "the machine's memory"; static */
};

/* The least of the machine's memory, the limits RLIMIT_AS and RLIMIT_DATA, and those of the process's control groups.
   Takes some 50 microseconds: files of the system are read. Without a context (NULL), no limit has another name. */
TUTTI_PRIVATE struct tutti_memory_bound tutti_memory_bound(const tutti_context *context);
/* If RLIMIT_AS is `bytes`, it is not the user's ulimit, but `of` (static, "what ... allows"). */
TUTTI_PRIVATE void tutti_memory_name_limit(tutti_context *context, size_t bytes, const char *of);

#endif
