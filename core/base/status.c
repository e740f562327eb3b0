/* status.c - names of result codes. */
#include <tutti/status.h>

const char *tutti_status_name(enum tutti_status status) {
  switch (status) {
  case TUTTI_OK:
    return "ok";
  case TUTTI_ERROR_USAGE:
    return "usage";
  case TUTTI_ERROR_IO:
    return "input-output";
  case TUTTI_ERROR_FULL:
    return "no-space";
  case TUTTI_ERROR_MEMORY:
    return "memory";
  case TUTTI_ERROR_CORRUPT:
    return "corrupt";
  case TUTTI_ERROR_BUSY:
    return "busy";
  case TUTTI_ERROR_NUMERIC:
    return "numeric";
  case TUTTI_ERROR_UNSUPPORTED:
    return "unsupported";
  case TUTTI_ERROR_PLUGIN:
    return "plugin";
  case TUTTI_ERROR_CANCELLED:
    return "cancelled";
  case TUTTI_ERROR_INTERNAL:
    return "internal";
  }
  return "unknown";
}
