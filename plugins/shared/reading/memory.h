/* memory.h - what is said when data do not fit into memory. */
#ifndef READING_MEMORY_H
#define READING_MEMORY_H

#include <tutti/context.h>

/* Give `status` back. If it is TUTTI_ERROR_MEMORY, its message now begins with the file, its `bytes` (0: not known),
   all the memory that there is, and what to do. */
TUTTI_NODISCARD enum tutti_status reading_explain_memory(tutti_context *context, const char *path, size_t bytes,
                                                         enum tutti_status status);

#endif
