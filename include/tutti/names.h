/* names.h - names that people type. */
#ifndef TUTTI_NAMES_H
#define TUTTI_NAMES_H

#include <tutti/status.h>

TUTTI_BEGIN_DECLS

/* The name among names[count] (NULL entries are skipped) that is closest to `name` by edit distance; NULL if none is
   close enough to be meant. */
TUTTI_API const char *tutti_closest_name(const char *name, size_t count, const char *const *names);

TUTTI_END_DECLS
#endif
