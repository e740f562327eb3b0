/* other_build.c - loaded before a program (LD_PRELOAD), it makes it a Tutti of another build, by what it says of
   itself. */
#include <tutti/version.h>

__attribute__((visibility("default"))) const char *tutti_build_id(void) { return "another build"; }
