/* registry.h - finds and loads plugins. A plugin of kind K and name N is the file K-N.so in a folder of the search path:
   the recipe's, then TUTTI_PLUGIN_PATH (colon-separated), then $(pkglibdir)/plugins, or TUTTI_PLUGIN_FOLDER in its place
   if that is in the environment ("": none; a build tree sets it, so as not to meet an installed Tutti's plugins). The same K-N.so in two folders is an
   error that names both. Loaded plugins stay for the life of the process. */
#ifndef TUTTI_REGISTRY_H
#define TUTTI_REGISTRY_H

#include <tutti/descriptor.h>

TUTTI_BEGIN_DECLS

/* Put a folder in front of the search path of this context. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_plugin_path_add(tutti_context *context, const char *folder);
/* Load (once) and check a plugin: file, symbol, ABI, kind, name, table, required ops, available(). The error says which
   of these failed and, for a name that is not there, the closest one. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_plugin_find(tutti_context *context, enum tutti_kind kind,
                                                              const char *name,
                                                              const struct tutti_descriptor **descriptor);
/* The file that a loaded descriptor came from; NULL if it is not loaded in this context. */
TUTTI_API const char *tutti_plugin_file(const tutti_context *context, const struct tutti_descriptor *descriptor);

/* One plugin file, as seen by a scan. */
struct tutti_plugin_entry {
  size_t size; /* sizeof(struct tutti_plugin_entry) of the library */
  enum tutti_kind kind;
  const char *name, *file;
  bool works;
  const char *reason;            /* why it does not, "" if it does */
  const char *version, *summary; /* "" if it does not load */
  bool lacking;                  /* it is sound, but its available() says no: a device or a library is missing here */
};
/* Try every plugin file of the search path in a child process each (program `scanner`, called as `scanner scan-plugin
   FILE`, which is the tutti program), so that a broken one harms nothing. visit() sees them by kind, then name. */
TUTTI_API TUTTI_NODISCARD enum tutti_status
tutti_plugin_scan(tutti_context *context, const char *scanner,
                  void (*visit)(void *argument, const struct tutti_plugin_entry *entry), void *argument);
/* The child's side of a scan: load FILE, print one line of JSON on the descriptor `output`. Returns the exit code. */
TUTTI_API int tutti_plugin_scan_child(tutti_context *context, const char *file, int output);
/* Add a descriptor that is linked in (tests, embedders), with the same checks. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_plugin_register(tutti_context *context,
                                                                  const struct tutti_descriptor *descriptor);

TUTTI_END_DECLS
#endif
