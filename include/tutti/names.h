/* names.h - names that people type, and words beside numbers. */
#ifndef TUTTI_NAMES_H
#define TUTTI_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <tutti/status.h>

TUTTI_BEGIN_DECLS

/* The name among names[count] (NULL entries are skipped) that is closest to `name` by edit distance, where a letter
   in another case counts for little; NULL if none is close enough to be meant. */
TUTTI_API const char *tutti_closest_name(const char *name, size_t count, const char *const *names);

/* The first of these signs in a list of a recipe, outside of quotes: an item may stand in "...". NULL: there is
   none. */
TUTTI_API const char *tutti_list_find(const char *list, const char *signs);
/* The next item of a list whose items are separated by one or more of these signs, without the blanks around it and
   without its quotes, if it has them: *item, of *length bytes, is a part of the list. *rest is set behind it. False:
   there is no more. */
TUTTI_API bool tutti_list_next(const char **rest, const char *signs, const char **item, size_t *length);

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
