/* source_impl.h - how a source says which files are its own. */
#ifndef TUTTI_SOURCE_IMPL_H
#define TUTTI_SOURCE_IMPL_H

#include <tutti/source.h>

/* The longer of two endings of a path: the end of `path` where `ending` fits, or what was found before (NULL:
   nothing). */
const char *tutti_source_ending(const char *path, const char *ending, const char *before);

#endif
