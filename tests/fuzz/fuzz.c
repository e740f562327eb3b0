/* fuzz.c - context, files and properties for the fuzz targets. */
#include "fuzz.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void fuzz_require(bool holds, const char *condition, const char *file, int line) {
  if (holds)
    return;
  (void)fprintf(stderr, "%s:%d: expected %s\n", file, line, condition);
  abort();
}

/* --- the context --- */

static tutti_context *context;

static void end_context(void) { tutti_context_destroy(context); }

static void ignore(void *argument, enum tutti_log_level level, const char *message) {
  (void)argument, (void)level, (void)message;
}

tutti_context *fuzz_context(void) {
  if (!context) {
    FUZZ_REQUIRE(tutti_context_create(&context) == TUTTI_OK);
    tutti_log_to(context, ignore, NULL);
    (void)atexit(end_context);
  }
  tutti_error_clear(context);
  return context;
}

void fuzz_failed(const void *result) {
  if (getenv("TUTTI_VERBOSE"))
    (void)fprintf(stderr, "%s\n", tutti_error_message(context));
  FUZZ_REQUIRE(result == NULL);
  FUZZ_REQUIRE(tutti_error_status(context) != TUTTI_OK && *tutti_error_message(context));
}

void fuzz_refused(const void *result) {
  fuzz_failed(result);
  FUZZ_REQUIRE(tutti_error_status(context) != TUTTI_ERROR_PLUGIN &&
               tutti_error_status(context) != TUTTI_ERROR_INTERNAL);
}

/* --- files --- */

static char folder[64];

static int remove_one(const char *path, const struct stat *facts, int type, struct FTW *walk) {
  (void)facts, (void)type, (void)walk;
  return remove(path);
}

static void end_folder(void) { (void)nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS); }

const char *fuzz_folder(void) {
  if (!*folder) {
    (void)snprintf(folder, sizeof folder, "%.40s/tutti-fuzz-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    FUZZ_REQUIRE(mkdtemp(folder) != NULL);
    (void)atexit(end_folder);
  }
  return folder;
}

const char *fuzz_file(const char *name, const uint8_t *data, size_t size) {
  enum { NAMES = 4 };
  static char paths[NAMES][256];
  static size_t turn;
  char *path = paths[turn++ % NAMES];
  (void)snprintf(path, sizeof paths[0], "%s/%s", fuzz_folder(), name);
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  FUZZ_REQUIRE(file >= 0);
  while (size > 0) {
    ssize_t written = write(file, data, size);
    FUZZ_REQUIRE(written > 0);
    data += written;
    size -= (size_t)written;
  }
  FUZZ_REQUIRE(close(file) == 0);
  return path;
}

char *fuzz_text(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  FUZZ_REQUIRE(text != NULL);
  if (size)
    memcpy(text, data, size);
  text[size] = '\0';
  return text;
}

/* --- sources --- */

static tutti_host *host;
static tutti_source *source;

static void end_source(void) {
  tutti_source_destroy(source);
  tutti_host_destroy(host);
}

static void read_rows(const struct tutti_source_request *request) {
  tutti_context *here = fuzz_context();
  tutti_rows *rows = NULL;
  if (tutti_source_read(here, source, request, &rows) == TUTTI_OK) {
    for (size_t r = 0; r < tutti_rows_count(rows); r++)
      for (size_t c = 0; c < tutti_rows_columns(rows); c++)
        FUZZ_REQUIRE(tutti_rows_cell(rows, r, c) <= TUTTI_CELL_TEXT && tutti_rows_text(rows, r, c));
  } else {
    fuzz_refused(rows);
  }
  tutti_rows_destroy(rows);
}

void fuzz_source(const char *plugin, const char *name, const uint8_t *data, size_t size, const uint8_t *labels,
                 size_t labels_size) {
  tutti_context *here = fuzz_context();
  if (!source) {
    struct tutti_host_facts facts = {.size = sizeof facts};
    FUZZ_REQUIRE(tutti_host_create(here, &facts, &host) == TUTTI_OK);
    struct tutti_source_setup setup = {.size = sizeof setup, .host = host};
    if (tutti_host_put(here, host, "data", TUTTI_KIND_SOURCE, plugin) != TUTTI_OK ||
        tutti_source_create(here, host, "data", &setup, &source) != TUTTI_OK) {
      (void)fprintf(stderr, "fuzz: %s\n", tutti_error_message(here));
      abort();
    }
    (void)atexit(end_source);
  }
  struct tutti_source_request request = {.size = sizeof request, .path = fuzz_file(name, data, size)};
  if (labels)
    request.target_path = fuzz_file("labels", labels, labels_size);
  read_rows(&request);
  request = (struct tutti_source_request){.size = sizeof request, .path = request.path, .new_rows = true};
  read_rows(&request);
  request.named = true;
  read_rows(&request);
}
