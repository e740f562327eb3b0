/* context.c - errors with their trace, log, cancel flag, thread budget. */
#include "context_impl.h"

#include "utf8_impl.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum tutti_status tutti_context_create(tutti_context **context) {
  *context = calloc(1, sizeof **context);
  if (!*context)
    return TUTTI_ERROR_MEMORY;
  (*context)->threads = 1;
  (*context)->running_limit = INFINITY;
  return TUTTI_OK;
}

void tutti_context_destroy(tutti_context *context) {
  if (!context)
    return;
  if (context->registry_destroy)
    context->registry_destroy(context->registry);
  if (context->ops_destroy)
    context->ops_destroy(context->ops);
  free(context);
}

/* --- errors --- */

enum tutti_status tutti_error_trace(tutti_context *context, enum tutti_status status, const char *file, int line,
                                    const char *function) {
  size_t used = strlen(context->trace);
  const char *base = strrchr(file, '/');
  (void)snprintf(context->trace + used, sizeof context->trace - used, "%s:%d: %s\n", base ? base + 1 : file, line,
                 function);
  return status;
}

enum tutti_status tutti_error_set(tutti_context *context, enum tutti_status status, const char *file, int line,
                                  const char *function, const char *format, ...) {
  /* Arguments may point into the old message, so build the new one apart. */
  char message[TUTTI_MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  tutti_text_mend(message);
  memcpy(context->message, message, sizeof message);
  context->status = status;
  context->trace[0] = '\0';
  return tutti_error_trace(context, status, file, line, function);
}

enum tutti_status tutti_error_prefix(tutti_context *context, enum tutti_status status, const char *format, ...) {
  char message[TUTTI_MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  if (length >= 0 && (size_t)length < sizeof message)
    (void)snprintf(message + length, sizeof message - (size_t)length, "%s", context->message);
  tutti_text_mend(message);
  memcpy(context->message, message, sizeof message);
  return status;
}

const char *tutti_error_message(const tutti_context *context) {
  return context ? context->message : "there is no memory for a context";
}

const char *tutti_error_trace_text(const tutti_context *context) { return context->trace; }

enum tutti_status tutti_error_status(const tutti_context *context) { return context->status; }

void tutti_error_clear(tutti_context *context) {
  context->status = TUTTI_OK;
  context->message[0] = context->trace[0] = '\0';
}

/* --- log --- */

void tutti_log_to(tutti_context *context, tutti_log_function function, void *argument) {
  context->log = function;
  context->log_argument = argument;
}

void tutti_log(tutti_context *context, enum tutti_log_level level, const char *format, ...) {
  if (!context->log)
    return;
  char message[TUTTI_MESSAGE_SIZE];
  va_list arguments;
  va_start(arguments, format);
  (void)vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  tutti_text_mend(message);
  context->log(context->log_argument, level, message);
}

/* --- cancel, threads --- */

void tutti_cancel(tutti_context *context) { context->cancelled = true; }

bool tutti_cancelled(const tutti_context *context) { return context->cancelled; }

void tutti_threads_set(tutti_context *context, unsigned threads) { context->threads = threads ? threads : 1; }

unsigned tutti_threads(const tutti_context *context) { return context->threads; }
