/* output.c - results on stdout and in files. While a command works, the descriptor of stdout leads to stderr: what a
   plugin prints must not end up among the results. */
#include "program_impl.h"
#include "table.h"

#include "core/base/json_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where results go; -1: stdout is not held. A descriptor belongs to the process, and so does this. */
static int held = -1;

void hold_output(void) {
  (void)fflush(stdout);
  if (held >= 0)
    return;
  held = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (held >= 0 && dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    (void)close(held);
    held = -1;
  }
}

void begin_output(void) {
  (void)fflush(stdout);
  if (held < 0)
    return;
  (void)dup2(held, STDOUT_FILENO);
  (void)close(held);
  held = -1;
}

int finish_output(void) {
  bool written = fflush(stdout) == 0 && !ferror(stdout);
  if (!written)
    perror("tutti: cannot write the result");
  hold_output();
  return written ? EXIT_DONE : EXIT_FAILED;
}

bool is_terminal(FILE *file) { return isatty(fileno(file)) != 0; }

enum { NARROWEST = 20 };

size_t line_width(FILE *out) {
  struct winsize window = {.ws_col = 0};
  if (!is_terminal(out) || ioctl(fileno(out), TIOCGWINSZ, &window) != 0)
    return 0;
  return window.ws_col >= NARROWEST ? window.ws_col : 0;
}

size_t table_width(FILE *out) {
  const size_t here = line_width(out), later = here ? here : line_width(stdout);
  return later ? later : SIZE_MAX;
}

void print_json(const json_t *root) {
  begin_output();
  (void)json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
  (void)putchar('\n');
}

bool begin_plain(struct plain_output *output) {
  *output = (struct plain_output){0};
  output->stream = open_memstream(&output->text, &output->length);
  if (!output->stream)
    perror("tutti: cannot show the result");
  return output->stream != NULL;
}

void end_plain(struct plain_output *output, FILE *out) {
  if (fclose(output->stream) == 0)
    put_plain(output->text, output->length, out);
  else
    perror("tutti: cannot show the result");
  free(output->text);
}

void print_table(struct table *table) {
  struct plain_output output;
  if (!begin_plain(&output))
    return;
  table_end(table, output.stream);
  end_plain(&output, stdout);
}

int print_result(const char *text, bool as_json, void (*show)(const json_t *root, const void *options, FILE *out),
                 const void *options) {
  begin_output();
  if (as_json) {
    (void)fputs(text, stdout);
  } else {
    struct plain_output output;
    json_t *root = json_loads(text, 0, NULL);
    if (begin_plain(&output)) {
      show(root, options, output.stream);
      end_plain(&output, stdout);
    }
    json_decref(root);
  }
  return finish_output();
}

int print_view(tutti_context *context, const char *directory, bool as_json,
               enum tutti_status (*work)(tutti_context *context, tutti_view *view, const void *options, char **text),
               void (*show)(const json_t *root, const void *options, FILE *out), const void *options) {
  const struct texts one = {.count = 1, .items = {directory}};
  return print_views(context, &one, as_json, work, show, options);
}

int print_views(tutti_context *context, const struct texts *directories, bool as_json,
                enum tutti_status (*work)(tutti_context *context, tutti_view *view, const void *options, char **text),
                void (*show)(const json_t *root, const void *options, FILE *out), const void *options) {
  tutti_view *view = NULL;
  char *text = NULL;
  enum tutti_status status = directories->count == 1
                                 ? tutti_view_open(context, directories->items[0], &view)
                                 : tutti_view_open_all(context, directories->count, directories->items, &view);
  if (status == TUTTI_OK)
    status = work(context, view, options, &text);
  int code = status == TUTTI_OK ? print_result(text, as_json, show, options) : fail(context, status);
  tutti_free(text);
  tutti_view_close(view);
  return code;
}

struct result_file begin_result(const char *path) {
  struct result_file file = {.path = path};
  struct stat facts;
  begin_output(); /* the path may be /dev/stdout */
  if (stat(path, &facts) != 0 || S_ISREG(facts.st_mode)) {
    size_t size = strlen(path) + 16;
    file.temporary = malloc(size);
    if (file.temporary)
      (void)snprintf(file.temporary, size, "%s.%ld", path, (long)getpid());
  }
  file.stream = fopen(file.temporary ? file.temporary : path, "w");
  if (!file.stream) {
    print_harmless(stderr, "tutti: %s: cannot be written: %s\n", path, strerror(errno));
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
    print_harmless(stderr, "tutti: %s: cannot be written: %s\n", file->path, strerror(errno));
  if (bad && file->temporary)
    (void)unlink(file->temporary);
  free(file->temporary);
  return bad ? EXIT_FAILED : EXIT_DONE;
}
