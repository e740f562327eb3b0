/* pattern_impl.h - files that a pattern names, such as splits/test_*.txt. */
#ifndef TUTTI_PATTERN_IMPL_H
#define TUTTI_PATTERN_IMPL_H

#include <tutti/context.h>

/* In the order of their names. */
struct tutti_matches {
  char **paths; /* [count] */
  size_t count, room;
};
/* Find the files that `path` names: its folder is taken as it is called, the name behind it is the pattern, as of
   fnmatch(3). There may be none. The caller releases *matches, also on failure. TUTTI_ERROR_USAGE: the folder cannot be
   read. */
TUTTI_NODISCARD enum tutti_status tutti_matches_find(tutti_context *context, const char *path,
                                                     struct tutti_matches *matches);
void tutti_matches_release(struct tutti_matches *matches);

#endif
