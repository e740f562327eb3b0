/* registry_impl.h - what the files of engine/plugins share of the registry. */
#ifndef TUTTI_REGISTRY_IMPL_H
#define TUTTI_REGISTRY_IMPL_H

#include <tutti/registry.h>

/* The plugin if it is loaded or linked in, or NULL. */
const struct tutti_descriptor *tutti_plugin_loaded(const tutti_context *context, enum tutti_kind kind,
                                                   const char *name);
/* The file on the search path that has a plugin; free *file with tutti_free. TUTTI_ERROR_USAGE: none has. */
TUTTI_NODISCARD enum tutti_status tutti_plugin_locate(tutti_context *context, enum tutti_kind kind, const char *name,
                                                      char **file);
/* The program of tutti_plugin_scan_with; NULL: none. */
const char *tutti_plugin_scanner(const tutti_context *context);
/* Load and check one file, without remembering it. */
TUTTI_NODISCARD enum tutti_status tutti_plugin_load_file(tutti_context *context, const char *file,
                                                         const struct tutti_descriptor **descriptor);
/* Every folder of the search path that is there, once, in order. */
TUTTI_NODISCARD enum tutti_status
tutti_plugin_visit_folders(tutti_context *context, enum tutti_status (*visit)(void *argument, const char *folder),
                           void *argument);
/* NAME of a file called KIND-NAME.so; false for others. */
bool tutti_plugin_file_name(const char *file, enum tutti_kind kind, char *name, size_t size);
/* Names of a kind's plugins, on the search path or loaded, sorted; for tutti_plugin_names_free. */
TUTTI_NODISCARD enum tutti_status tutti_plugin_names(tutti_context *context, enum tutti_kind kind, size_t *count,
                                                     char ***names);
void tutti_plugin_names_free(size_t count, char **names);

#endif
