/* version.c - which Tutti this is. */
#include "config.h"

#include <tutti/version.h>

#include "build_id.h"

const char *tutti_version(void) { return PACKAGE_VERSION; }
const char *tutti_build_id(void) { return TUTTI_BUILD_ID; }
