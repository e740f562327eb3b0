/* common.c - what the commands share: errors, exit codes, interrupts, output. */
#include "program_impl.h"

#include "core/base/json_impl.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The environment passes --verbose on to this process's workers and scans. */
static const char verbose_variable[] = "TUTTI_VERBOSE";

bool is_verbose(void) {
  const char *value = getenv(verbose_variable);
  return value && *value && strcmp(value, "0") != 0;
}

bool be_verbose(void) { return setenv(verbose_variable, "1", 1) == 0; }

int fail(tutti_context *context, enum tutti_status status) {
  (void)fprintf(stderr, "tutti: %s\n", tutti_error_message(context));
  if (is_verbose())
    (void)fprintf(stderr, "tutti: error \"%s\", raised at\n%s", tutti_status_name(status),
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
  (void)sigaction(number, &standard, NULL); /* a second signal ends the program at once */
}

void catch_interrupts(tutti_context *context) {
  struct sigaction action = {.sa_handler = on_interrupt};
  interrupted_context = context;
  (void)sigaction(SIGINT, &action, NULL);
  (void)sigaction(SIGTERM, &action, NULL);
}

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

/* --- output --- */

bool is_terminal(FILE *file) { return isatty(fileno(file)) != 0; }

void print_json(const json_t *root) {
  (void)json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
  (void)putchar('\n');
}

int print_result(const char *text, bool as_json, void (*show)(const json_t *root, const void *options, FILE *out),
                 const void *options) {
  if (as_json) {
    (void)fputs(text, stdout);
  } else {
    json_t *root = json_loads(text, 0, NULL);
    show(root, options, stdout);
    json_decref(root);
  }
  return finish_output();
}

int print_view(tutti_context *context, const char *directory, bool as_json,
               enum tutti_status (*work)(tutti_context *context, tutti_view *view, const void *options, char **text),
               void (*show)(const json_t *root, const void *options, FILE *out), const void *options) {
  tutti_view *view = NULL;
  char *text = NULL;
  enum tutti_status status = tutti_view_open(context, directory, &view);
  if (status == TUTTI_OK)
    status = work(context, view, options, &text);
  int code = status == TUTTI_OK ? print_result(text, as_json, show, options) : fail(context, status);
  tutti_free(text);
  tutti_view_close(view);
  return code;
}

int finish_output(void) {
  if (fflush(stdout) == 0 && !ferror(stdout))
    return EXIT_DONE;
  perror("tutti: cannot write the result");
  return EXIT_FAILED;
}

struct result_file begin_result(const char *path) {
  struct result_file file = {.path = path};
  struct stat facts;
  if (stat(path, &facts) != 0 || S_ISREG(facts.st_mode)) {
    size_t size = strlen(path) + 16;
    file.temporary = malloc(size);
    if (file.temporary)
      (void)snprintf(file.temporary, size, "%s.%ld", path, (long)getpid());
  }
  file.stream = fopen(file.temporary ? file.temporary : path, "w");
  if (!file.stream) {
    (void)fprintf(stderr, "tutti: %s: cannot be written: %s\n", path, strerror(errno));
    free(file.temporary);
  }
  return file;
}

int end_result(struct result_file *file) {
  bool bad = ferror(file->stream) != 0 || fflush(file->stream) != 0;
  if (file->temporary)
    bad = bad || fsync(fileno(file->stream)) != 0;
  bad = fclose(file->stream) != 0 || bad;
  if (file->temporary)
    bad = bad || rename(file->temporary, file->path) != 0;
  if (bad)
    (void)fprintf(stderr, "tutti: %s: cannot be written: %s\n", file->path, strerror(errno));
  if (bad && file->temporary)
    (void)unlink(file->temporary);
  free(file->temporary);
  return bad ? EXIT_FAILED : EXIT_DONE;
}
