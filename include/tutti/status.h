/* status.h - result codes, and the attributes that public declarations carry. */
#ifndef TUTTI_STATUS_H
#define TUTTI_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
#define TUTTI_BEGIN_DECLS extern "C" {
#define TUTTI_END_DECLS }
#else
#define TUTTI_BEGIN_DECLS
#define TUTTI_END_DECLS
#endif

#if defined(__GNUC__)
#define TUTTI_API __attribute__((visibility("default")))
#define TUTTI_NODISCARD __attribute__((warn_unused_result))
#define TUTTI_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define TUTTI_API
#define TUTTI_NODISCARD
#define TUTTI_PRINTF(text, first)
#endif

TUTTI_BEGIN_DECLS

/* What a function that can fail returns; the message and the trace are in the context (context.h). */
enum tutti_status {
  TUTTI_OK = 0,
  TUTTI_ERROR_USAGE,       /* a recipe, an argument or an input file is wrong, which the caller can mend; exit code 2 */
  TUTTI_ERROR_IO,          /* the system refused: open, read, write, spawn */
  TUTTI_ERROR_FULL,        /* no space left on the device, or a quota is reached */
  TUTTI_ERROR_MEMORY,      /* an allocation failed, or a size overflows */
  TUTTI_ERROR_CORRUPT,     /* a file of ours is torn or not what it says */
  TUTTI_ERROR_BUSY,        /* a run directory has another manager */
  TUTTI_ERROR_NUMERIC,     /* NaN, infinity, a matrix that is not positive definite */
  TUTTI_ERROR_UNSUPPORTED, /* a capability that this plugin does not have */
  TUTTI_ERROR_PLUGIN,      /* a plugin broke its contract, or cannot be loaded */
  TUTTI_ERROR_CANCELLED,   /* the context's cancel flag was raised */
  TUTTI_ERROR_INTERNAL     /* a bug of ours */
};

/* The status's name, as in "usage"; "unknown" for other numbers. Static. */
TUTTI_API const char *tutti_status_name(enum tutti_status status);

TUTTI_END_DECLS
#endif
