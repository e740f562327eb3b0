/* version.h - which Tutti this is. */
#ifndef TUTTI_VERSION_H
#define TUTTI_VERSION_H

#include <tutti/status.h>

TUTTI_BEGIN_DECLS

/* The release, as in "0.1.0"; static. */
TUTTI_API const char *tutti_version(void);

/* The sources that it was built from: git's description of them, or "unknown"; static. */
TUTTI_API const char *tutti_build_id(void);

TUTTI_END_DECLS
#endif
