/* no_symbol.c - a shared object that is no plugin. */
#include <tutti/status.h>

TUTTI_API int tutti_no_plugin(void);
TUTTI_API int tutti_no_plugin(void) { return 0; }
