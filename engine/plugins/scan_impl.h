/* scan_impl.h - what scan.c and source_find.c share. */
#ifndef TUTTI_SCAN_IMPL_H
#define TUTTI_SCAN_IMPL_H

#include "registry_impl.h"

#include <jansson.h>
#include <tutti/scan.h>

/* What the scanner says of a plugin's file: the JSON that tutti_plugin_scan_child prints, or one that says how the
   child died. The caller drops it; NULL if memory or descriptors run out. Worth nothing once the context is
   cancelled. */
json_t *tutti_plugin_ask(const tutti_context *context, const char *scanner, const char *file);
#endif
