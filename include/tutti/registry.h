/* registry.h - finds and loads plugins. A plugin of kind K and name N is the file K-N.so in a folder of the search
   path. That has the recipe's folders, then those of TUTTI_PLUGIN_PATH (colon-separated), then tutti/plugins beside
   libtutti-engine, wherever that was installed or moved to; if there is no such folder, $(pkglibdir)/plugins. The
   environment variable TUTTI_PLUGIN_FOLDER replaces the last one ("": none); a build tree sets it, so as not to meet
   the plugins of an installed Tutti. Of two K-N.so, the one in the earlier folder is used: it shadows the other. Loaded
   plugins stay for the life of the process. */
#ifndef TUTTI_REGISTRY_H
#define TUTTI_REGISTRY_H

#include <tutti/descriptor.h>

TUTTI_BEGIN_DECLS

/* Put a folder in front of this context's search path; it is copied. A folder that was added before stays where it
   is. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_plugin_path_add(tutti_context *context, const char *folder);
/* Put the folders of a list, separated by colons, in front of the search path, in this order. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_plugin_path_add_list(tutti_context *context, const char *folders);
/* Loading a plugin runs its code. So the folders of plugins that the recipe of a run names count when that run is
   started, but not when it is only looked at, unless `trusted` is set for the context; at first it is not. */
TUTTI_API void tutti_trust_runs(tutti_context *context, bool trusted);
TUTTI_API bool tutti_trusts_runs(const tutti_context *context);
/* Load (once) and check a plugin: file, symbol, ABI, kind, name, table, required ops, available(). *descriptor is valid
   for the life of the process. TUTTI_ERROR_USAGE: there is no such plugin (with the closest name);
   TUTTI_ERROR_UNSUPPORTED: available() says no; TUTTI_ERROR_PLUGIN: another check failed. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_plugin_find(tutti_context *context, enum tutti_kind kind,
                                                              const char *name,
                                                              const struct tutti_descriptor **descriptor);
/* The file that a descriptor was loaded from, borrowed; NULL if it was not loaded in this context, or is linked in. */
TUTTI_API const char *tutti_plugin_file(const tutti_context *context, const struct tutti_descriptor *descriptor);

/* Name the tutti program, by which plugins are looked at in a child process of their own (scan.h): `program scan-plugin
   FILE`. Without one, tutti_source_find loads sources into this process, where a broken one may end it. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_plugin_scan_with(tutti_context *context, const char *program);
/* Add a descriptor that is linked in (tests, embedders), with the checks of tutti_plugin_find. TUTTI_ERROR_PLUGIN also
   if its kind and name are registered already. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_plugin_register(tutti_context *context,
                                                                  const struct tutti_descriptor *descriptor);

TUTTI_END_DECLS
#endif
