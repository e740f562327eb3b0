/* context.h - the context: error and trace, log, cancel flag, thread budget, memory. There is no other global state. */
#ifndef TUTTI_CONTEXT_H
#define TUTTI_CONTEXT_H

#include <stdarg.h>
#include <tutti/status.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_context tutti_context;

/* Create a context. It belongs to one thread at a time; the cancel flag alone may be raised from elsewhere. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_context_create(tutti_context **context);
/* Destroy it after everything that was made with it; NULL is allowed. */
TUTTI_API void tutti_context_destroy(tutti_context *context);

/* --- errors ------------------------------------------------------------------------------------------------- */

/* Set the error: what was expected, what was found, where, what to do; starts a new trace. Returns `status`. */
TUTTI_API enum tutti_status tutti_error_set(tutti_context *context, enum tutti_status status, const char *file,
                                            int line, const char *function, const char *format, ...) TUTTI_PRINTF(6, 7);
/* Add a place to the trace of the current error. Returns `status`. */
TUTTI_API enum tutti_status tutti_error_trace(tutti_context *context, enum tutti_status status, const char *file,
                                              int line, const char *function);
/* Put text in front of the current message, as in "trial 12: ". Returns `status`. */
TUTTI_API enum tutti_status tutti_error_prefix(tutti_context *context, enum tutti_status status, const char *format,
                                               ...) TUTTI_PRINTF(3, 4);
/* The current message, "" when there is none; borrowed until the next error. */
TUTTI_API const char *tutti_error_message(const tutti_context *context);
/* The places that the error passed, one a line, innermost first; borrowed likewise. */
TUTTI_API const char *tutti_error_trace_text(const tutti_context *context);
TUTTI_API enum tutti_status tutti_error_status(const tutti_context *context);
TUTTI_API void tutti_error_clear(tutti_context *context);

/* The error with this place; its value is `status`, as compilers and analysers can see (it is evaluated twice). */
#define TUTTI_FAIL(context, status, ...)                                                                               \
  ((void)tutti_error_set((context), (status), __FILE__, __LINE__, __func__, __VA_ARGS__), (status))

/* Return from the calling function when `expression` fails. */
#define TUTTI_TRY(context, expression)                                                                                 \
  do {                                                                                                                 \
    enum tutti_status tutti_try_ = (expression);                                                                       \
    if (tutti_try_ != TUTTI_OK) {                                                                                      \
      (void)tutti_error_trace((context), tutti_try_, __FILE__, __LINE__, __func__);                                    \
      return tutti_try_;                                                                                               \
    }                                                                                                                  \
  } while (0)

/* Set the local `status` and go to the label `out` when `expression` fails. */
#define TUTTI_TRY_OUT(context, expression)                                                                             \
  do {                                                                                                                 \
    status = (expression);                                                                                             \
    if (status != TUTTI_OK) {                                                                                          \
      (void)tutti_error_trace((context), status, __FILE__, __LINE__, __func__);                                        \
      goto out;                                                                                                        \
    }                                                                                                                  \
  } while (0)

/* --- log ---------------------------------------------------------------------------------------------------- */

enum tutti_log_level { TUTTI_LOG_DEBUG, TUTTI_LOG_INFO, TUTTI_LOG_WARNING, TUTTI_LOG_ERROR };
typedef void (*tutti_log_function)(void *argument, enum tutti_log_level level, const char *message);

/* Where messages go; NULL (the default) drops them. Libraries and plugins never print. */
TUTTI_API void tutti_log_to(tutti_context *context, tutti_log_function function, void *argument);
TUTTI_API void tutti_log(tutti_context *context, enum tutti_log_level level, const char *format, ...)
    TUTTI_PRINTF(3, 4);

/* --- cancel, threads ---------------------------------------------------------------------------------------- */

/* Raise the cancel flag: long work returns TUTTI_ERROR_CANCELLED soon. Safe in a signal handler and other threads. */
TUTTI_API void tutti_cancel(tutti_context *context);
TUTTI_API bool tutti_cancelled(const tutti_context *context);
/* Threads that one plugin may use at once (BLAS included); 1 unless set. */
TUTTI_API void tutti_threads_set(tutti_context *context, unsigned threads);
TUTTI_API unsigned tutti_threads(const tutti_context *context);

/* --- memory ------------------------------------------------------------------------------------------------- */

/* `count` zeroed elements of `size` bytes, 64-byte aligned; the product is checked. *pointer = NULL for count 0.
   Memory that crosses a plugin's boundary comes from here and goes back through tutti_free. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_alloc(tutti_context *context, size_t count, size_t size,
                                                        void *pointer);
/* Grow or shrink *(void **)pointer to `count` elements, of which the first `kept` are kept and the others zeroed. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_realloc(tutti_context *context, size_t kept, size_t count,
                                                          size_t size, void *pointer);
TUTTI_API void tutti_free(void *pointer);
/* A copy of `text`, or a formatted text; free with tutti_free. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_strdup(tutti_context *context, const char *text, char **copy);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_format(tutti_context *context, char **text, const char *format, ...)
    TUTTI_PRINTF(3, 4);

TUTTI_END_DECLS
#endif
