/* scan.h - looks at plugins in a process of their own, where a broken one harms nothing. */
#ifndef TUTTI_SCAN_H
#define TUTTI_SCAN_H

#include <tutti/registry.h>

TUTTI_BEGIN_DECLS

/* One plugin file, as seen by a scan. */
struct tutti_plugin_entry {
  size_t size; /* sizeof(struct tutti_plugin_entry) of the library */
  enum tutti_kind kind;
  const char *name, *file;
  bool works;
  const char *reason;            /* why it does not, "" if it does */
  const char *version, *summary; /* "" if it does not load */
  bool lacking;                  /* it is sound, but its available() says no: a device or a library is missing */
  /* The file of the same kind and name in an earlier folder, which is used in place of this one; this one was not
     loaded, and does not work. NULL: none. */
  const char *shadowed_by;
  const char *uses; /* what of this machine it works with; "": it does not load, or does not say */
};
/* Load every plugin file of the search path in a child process of its own, so that a broken one harms nothing. Calls
   visit(argument, entry) by kind, then by name; the entry is borrowed until it returns. TUTTI_ERROR_USAGE: no program
   for it was named. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_plugin_scan(tutti_context *context, void (*visit)(void *argument, const struct tutti_plugin_entry *entry),
                  void *argument);
/* The child's side of a scan: load `file` and print one line of JSON on the descriptor `output`. Returns the exit
   code. */
TUTTI_API int tutti_plugin_scan_child(tutti_context *context, const char *file, int output);

/* Find the source that reads `path` by its ending, among all on the search path; those that cannot be loaded are passed
   over and logged. `own` (NULL: none) is preferred, if it reads files, where only "" fits and where several fit as
   well. *name is never freed. TUTTI_ERROR_USAGE: no source fits, or more than one. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_source_find(tutti_context *context, const char *path, const char *own,
                                                              const char **name);

TUTTI_END_DECLS
#endif
