/* memory.c - what is said when data do not fit into memory. */
#include "memory.h"

#include <stdio.h>

enum tutti_status reading_explain_memory(tutti_context *context, const char *path, size_t bytes,
                                         enum tutti_status status) {
  const char *of;
  char size[32] = "data";
  if (status != TUTTI_ERROR_MEMORY)
    return status;
  if (bytes > 0)
    (void)snprintf(size, sizeof size, "%zu MiB", bytes >> 20);
  const size_t all = 2 * tutti_memory_for_data_of(context, &of);
  return tutti_error_prefix(context, status,
                            "%s: its %s do not fit beside all else into %zu MiB, %s; take a part of the rows: ", path,
                            size, all >> 20, of);
}
