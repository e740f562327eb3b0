/* names.h - names that people type, and words beside numbers. */
#ifndef TUTTI_NAMES_H
#define TUTTI_NAMES_H

#include <string.h>
#include <tutti/status.h>

TUTTI_BEGIN_DECLS

/* The name among names[count] (NULL entries are skipped) that is closest to `name` by edit distance, where a letter
   in another case counts for little; NULL if none is close enough to be meant. */
TUTTI_API const char *tutti_closest_name(const char *name, size_t count, const char *const *names);

/* The word for so many: "row" of 1, and "rows" of 0 or 2, of tutti_plural(count, "row", "rows"); likewise "is" and
   "are". */
static inline const char *tutti_plural(size_t count, const char *one, const char *many) {
  return count == 1 ? one : many;
}

/* What people call a file: "standard input", which programs open as /dev/stdin, or its path. */
static inline const char *tutti_path_name(const char *path) {
  return strcmp(path, "/dev/stdin") == 0 ? "standard input" : path;
}

TUTTI_END_DECLS
#endif
