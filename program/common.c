/* common.c - what the commands share: errors, exit codes, signals. */
#include "program_impl.h"

#include "core/base/json_impl.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The environment passes --verbose on to this process's workers and scans. */
static const char verbose_variable[] = "TUTTI_VERBOSE";

bool is_verbose(void) {
  const char *value = getenv(verbose_variable);
  return value && *value && strcmp(value, "0") != 0;
}

bool be_verbose(void) { return setenv(verbose_variable, "1", 1) == 0; }

static void put_bytes(const char *text, size_t length, FILE *out) {
  const unsigned char *byte = (const unsigned char *)text;
  for (size_t i = 0; i < length; i++) {
    bool control = (byte[i] < 0x20 && byte[i] != '\n' && byte[i] != '\t') || byte[i] == 0x7f ||
                   (byte[i] == 0xc2 && i + 1 < length && byte[i + 1] >= 0x80 && byte[i + 1] < 0xa0);
    (void)fputc(control ? '?' : byte[i], out);
    i += control && byte[i] == 0xc2;
  }
}

void put_plain(const char *text, size_t length, FILE *out) {
  size_t width = line_width(out);
  if (width == 0) {
    put_bytes(text, length, out);
    return;
  }
  for (const char *end = text + length; text < end;) {
    const char *line_end = memchr(text, '\n', (size_t)(end - text));
    wrap_line(text, (size_t)((line_end ? line_end : end) - text), width, put_bytes, out);
    if (line_end)
      (void)fputc('\n', out);
    text = line_end ? line_end + 1 : end;
  }
}

void print_harmless(FILE *out, const char *format, ...) {
  char *text;
  va_list arguments;
  va_start(arguments, format);
  int length = vasprintf(&text, format, arguments);
  va_end(arguments);
  if (length < 0) {
    perror("tutti: cannot show the result");
    return;
  }
  put_plain(text, (size_t)length, out);
  free(text);
}

int fail(tutti_context *context, enum tutti_status status) {
  print_harmless(stderr, "tutti: %s\n", tutti_error_message(context));
  if (is_verbose())
    print_harmless(stderr, "tutti: error \"%s\", raised at\n%s", tutti_status_name(status),
                   tutti_error_trace_text(context));
  switch (status) {
  case TUTTI_ERROR_CANCELLED:
    return EXIT_INTERRUPTED;
  case TUTTI_ERROR_USAGE:
  case TUTTI_ERROR_PLUGIN:
  case TUTTI_ERROR_UNSUPPORTED:
  case TUTTI_ERROR_BUSY:
    return EXIT_USAGE;
  default:
    return EXIT_FAILED;
  }
}

/* --- interrupts --- */

/* The context that an interrupt cancels: signal handlers take no argument. */
static tutti_context *volatile interrupted_context;

static void on_interrupt(int number) {
  struct sigaction standard = {.sa_handler = SIG_DFL};
  if (interrupted_context)
    tutti_cancel(interrupted_context);
  guard_interrupted();
  (void)sigaction(number, &standard, NULL); /* a second signal ends the program at once */
}

void catch_interrupts(tutti_context *context) {
  struct sigaction action = {.sa_handler = on_interrupt}, before;
  interrupted_context = context;
  (void)sigaction(SIGINT, &action,
                  NULL); /* even if it is ignored, as a shell has it for what it runs in the background */
  (void)sigaction(SIGTERM, &action, NULL);
  if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) /* nohup ignores it */
    (void)sigaction(SIGHUP, &action, NULL);
}

void survive_full_disks(void) { (void)signal(SIGXFSZ, SIG_IGN); }

const char *program_path(char *buffer, size_t size) {
  ssize_t length = readlink("/proc/self/exe", buffer, size - 1);
  if (length < 0)
    return "tutti";
  buffer[length] = '\0';
  return buffer;
}

enum tutti_status read_json(tutti_context *context, const char *path, char **text) {
  json_error_t error;
  json_t *root = json_load_file(path, 0, &error);
  if (!root)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE, "%s: expected the JSON of an ensemble: %s", path, error.text);
  return tutti_json_line(context, root, text);
}
