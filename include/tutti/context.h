/* context.h - the context: error and trace, log, cancel flag, thread budget, memory. There is no other global state. */
#ifndef TUTTI_CONTEXT_H
#define TUTTI_CONTEXT_H

#include <stdarg.h>
#include <tutti/status.h>

TUTTI_BEGIN_DECLS

typedef struct tutti_context tutti_context;

/* Create a context. It belongs to one thread at a time; only the cancel flag may be raised from elsewhere.
   TUTTI_ERROR_MEMORY. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_context_create(tutti_context **context);
/* Destroy it, after everything that was made with it; NULL is allowed. */
TUTTI_API void tutti_context_destroy(tutti_context *context);

/* --- errors ------------------------------------------------------------------------------------------------- */

/* Set the current error and start a new trace with this place; returns `status`. The message says what was expected,
   what was found, where, and what to do; beyond 4095 bytes it is cut off. Arguments may point into the old message. */
TUTTI_API enum tutti_status tutti_error_set(tutti_context *context, enum tutti_status status, const char *file,
                                            int line, const char *function, const char *format, ...) TUTTI_PRINTF(6, 7);
/* Add a place to the trace of the current error; returns `status`. */
TUTTI_API enum tutti_status tutti_error_trace(tutti_context *context, enum tutti_status status, const char *file,
                                              int line, const char *function);
/* Put text in front of the current message, as in "trial 12: "; returns `status`. */
TUTTI_API enum tutti_status tutti_error_prefix(tutti_context *context, enum tutti_status status, const char *format,
                                               ...) TUTTI_PRINTF(3, 4);
/* The current message, "" if there is none; borrowed until the next error. Of NULL it says what tutti_context_create
   failed of: there is no memory. */
TUTTI_API const char *tutti_error_message(const tutti_context *context);
/* The places that the error passed, one a line, innermost first; borrowed until the next error. */
TUTTI_API const char *tutti_error_trace_text(const tutti_context *context);
/* The status of the current error; TUTTI_OK if there is none. tutti_error_clear: forget the error. */
TUTTI_API enum tutti_status tutti_error_status(const tutti_context *context);
TUTTI_API void tutti_error_clear(tutti_context *context);

/* Set the error with this place. The value is `status`, which is evaluated twice, so that compilers and analysers see
   it. */
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

/* Send messages to function(argument, level, message); NULL (the default) drops them. Libraries and plugins never
   print. */
TUTTI_API void tutti_log_to(tutti_context *context, tutti_log_function function, void *argument);
/* Log a message, cut off beyond 4095 bytes. */
TUTTI_API void tutti_log(tutti_context *context, enum tutti_log_level level, const char *format, ...)
    TUTTI_PRINTF(3, 4);

/* --- cancel, threads ---------------------------------------------------------------------------------------- */

/* Raise the cancel flag: long work soon returns TUTTI_ERROR_CANCELLED. Safe in a signal handler and on other
   threads. */
TUTTI_API void tutti_cancel(tutti_context *context);
/* Has the flag been raised? */
TUTTI_API bool tutti_cancelled(const tutti_context *context);
/* Set how many threads one plugin may use at once (BLAS included); 0 counts as 1, which is also the default.
   tutti_threads: that number. */
TUTTI_API void tutti_threads_set(tutti_context *context, unsigned threads);
TUTTI_API unsigned tutti_threads(const tutti_context *context);

/* --- memory ------------------------------------------------------------------------------------------------- */

/* Set *(void **)pointer to `count` zeroed elements of `size` bytes, 64-byte aligned; NULL if either is 0.
   TUTTI_ERROR_MEMORY, also if the product overflows; the pointer is NULL then. Memory that crosses a plugin's boundary
   comes from here and goes back through tutti_free. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_alloc(tutti_context *context, size_t count, size_t size,
                                                        void *pointer);
/* Grow or shrink *(void **)pointer to `count` elements: the first `kept` are kept and the others zeroed. On
   TUTTI_ERROR_MEMORY it stays as it is. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_realloc(tutti_context *context, size_t kept, size_t count,
                                                          size_t size, void *pointer);
/* The most bytes that data may take: half of the machine's memory or, where that is less, of what bounds this process:
   RLIMIT_AS and RLIMIT_DATA (ulimit -v, -d) and the memory limits of its control groups. */
TUTTI_API size_t tutti_memory_for_data(void);
/* The same; *of says half of what it is, for messages: "the machine's memory"; static. */
TUTTI_API size_t tutti_memory_for_data_of(const tutti_context *context, const char **of);
/* Free memory of tutti_alloc and everything that is said to be freed by this; NULL is allowed. */
TUTTI_API void tutti_free(void *pointer);
/* Copy `text`; free *copy with tutti_free. TUTTI_ERROR_MEMORY. tutti_format: likewise *text, as printf formats it. */
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_strdup(tutti_context *context, const char *text, char **copy);
TUTTI_API TUTTI_NODISCARD enum tutti_status tutti_format(tutti_context *context, char **text, const char *format, ...)
    TUTTI_PRINTF(3, 4);

TUTTI_END_DECLS
#endif
