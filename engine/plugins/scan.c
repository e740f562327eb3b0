/* scan.c - tries each plugin of the search path in a child process of its own, so that a broken one harms nothing. */
#include "scan_impl.h"

#include "core/base/file_impl.h"
#include "core/base/json_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tutti/clock.h>
#include <tutti/sized.h>
#include <tutti/source.h>
#include <unistd.h>

/* A plugin that takes longer than this to load hangs. */
enum { TIMEOUT_SECONDS = 10, OUTPUT_SIZE = 8192 };

extern char **environ;

/* --- the child --- */

/* What plugins print while loading must not mix with the answer, which gets a descriptor of its own. */
static int set_output_apart(int output) {
  int answer = fcntl(output, F_DUPFD_CLOEXEC, 3), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (answer >= 0 && nowhere >= 0 && dup2(nowhere, output) >= 0) {
    (void)close(nowhere);
    return answer;
  }
  return output;
}

/* The endings of the files that a source reads; NULL if it is none that reads files. */
static json_t *files_read(const struct tutti_descriptor *descriptor) {
  struct tutti_source_ops ops;
  if (descriptor->kind != TUTTI_KIND_SOURCE)
    return NULL;
  TUTTI_TAKE(&ops, (const struct tutti_source_ops *)descriptor->ops);
  json_t *endings = ops.reads & TUTTI_SOURCE_PATH ? json_array() : NULL;
  for (size_t i = 0; endings && ops.endings && ops.endings[i]; i++)
    json_array_append_new(endings, json_string(ops.endings[i]));
  return endings;
}

/* What of this machine it works with, on one line. */
static const char *uses_of(const struct tutti_descriptor *theirs, char *text, size_t size) {
  struct tutti_descriptor descriptor;
  TUTTI_TAKE(&descriptor, theirs);
  *text = '\0';
  if (descriptor.uses)
    descriptor.uses(text, size);
  text[size - 1] = '\0';
  return text;
}

int tutti_plugin_scan_child(tutti_context *context, const char *file, int output) {
  const struct tutti_descriptor *descriptor = NULL;
  char uses[256];
  output = set_output_apart(output);
  enum tutti_status status = tutti_plugin_load_file(context, file, &descriptor);
  json_t *root = status == TUTTI_OK
                     ? json_pack("{s:b, s:s, s:s, s:s, s:s, s:o*}", "works", 1, "reason", "", "version",
                                 descriptor->version, "summary", descriptor->summary, "uses",
                                 uses_of(descriptor, uses, sizeof uses), "reads", files_read(descriptor))
                     : json_pack("{s:b, s:b, s:s, s:s, s:s}", "works", 0, "lacking", status == TUTTI_ERROR_UNSUPPORTED,
                                 "reason", tutti_error_message(context), "version", "", "summary", "");
  char *text;
  if (tutti_json_line(context, root, &text) != TUTTI_OK)
    return 1;
  size_t length = strlen(text), written = 0;
  text[length++] = '\n'; /* in place of the NUL */
  while (written < length) {
    ssize_t n = write(output, text + written, length - written);
    if (n < 0 && errno != EINTR)
      break;
    written += n > 0 ? (size_t)n : 0;
  }
  tutti_free(text);
  return written == length ? 0 : 1;
}

/* --- the parent --- */

/* Read all that a child writes, until it ends, the time is over or the work is cancelled. */
static bool read_output(const tutti_context *context, int descriptor, char *text, size_t size) {
  size_t used = 0;
  double end = tutti_clock() + TIMEOUT_SECONDS;
  for (;;) {
    struct pollfd wait = {.fd = descriptor, .events = POLLIN};
    double left = tutti_cancelled(context) ? 0 : end - tutti_clock();
    int ready = left > 0 ? poll(&wait, 1, (int)(left * 1000)) : 0;
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready <= 0)
      return false;
    ssize_t n = read(descriptor, text + used, size - 1 - used);
    if (n <= 0)
      break;
    used += (size_t)n;
    if (used == size - 1)
      break;
  }
  text[used] = '\0';
  return true;
}

json_t *tutti_plugin_ask(const tutti_context *context, const char *scanner, const char *file) {
  int ends[2], how = 0;
  pid_t child;
  char text[OUTPUT_SIZE] = "", reason[512] = "";
  char *const command[] = {(char *)(uintptr_t)scanner, (char *)(uintptr_t) "scan-plugin", (char *)(uintptr_t)file,
                           NULL};
  posix_spawn_file_actions_t actions;
  if (pipe2(ends, O_CLOEXEC) != 0)
    return NULL;
  (void)posix_spawn_file_actions_init(&actions);
  (void)posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  (void)posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  int error = posix_spawnp(&child, scanner, &actions, NULL, command, environ);
  (void)posix_spawn_file_actions_destroy(&actions);
  (void)close(ends[1]);
  bool in_time = !error && read_output(context, ends[0], text, sizeof text);
  (void)close(ends[0]);
  if (!error) {
    /* Even after the end of its output: a child that closed it and goes on hangs, and one that is ending does not
       mind. */
    (void)kill(child, SIGKILL);
    while (waitpid(child, &how, 0) < 0 && errno == EINTR)
      ;
  }
  json_t *answer = json_loads(text, JSON_DISABLE_EOF_CHECK, NULL);
  if (answer)
    return answer;
  if (error)
    (void)snprintf(reason, sizeof reason, "%s cannot be run: %s", scanner, strerror(error));
  else if (!in_time || (WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL))
    (void)snprintf(reason, sizeof reason, "it hangs while loading (no answer in %d s)", TIMEOUT_SECONDS);
  else if (WIFSIGNALED(how))
    (void)snprintf(reason, sizeof reason, "it crashes while loading (SIG%s: %s)", sigabbrev_np(WTERMSIG(how)),
                   sigdescr_np(WTERMSIG(how)));
  else
    (void)snprintf(reason, sizeof reason, "it ends the program while loading (exit code %d)", WEXITSTATUS(how));
  return json_pack("{s:b, s:s, s:s, s:s}", "works", 0, "reason", reason, "version", "", "summary", "");
}

/* A plugin's file; `place` is its folder's on the search path. */
struct found {
  enum tutti_kind kind;
  size_t place;
  char *name, *file;
};

struct scan {
  tutti_context *context;
  struct found *files;
  size_t count, room, places;
};

static enum tutti_status add_file(struct scan *scan, enum tutti_kind kind, const char *folder, const char *file,
                                  const char *name) {
  char *path;
  TUTTI_TRY(scan->context, tutti_format(scan->context, &path, "%s/%s", folder, file));
  if (scan->count == scan->room) {
    size_t room = scan->room * 2 + 32;
    TUTTI_TRY(scan->context, tutti_realloc(scan->context, scan->count, room, sizeof *scan->files, &scan->files));
    scan->room = room;
  }
  struct found *found = &scan->files[scan->count++];
  *found = (struct found){.kind = kind, .place = scan->places, .file = path};
  return tutti_strdup(scan->context, name, &found->name);
}

static enum tutti_status scan_folder(void *argument, const char *folder) {
  struct scan *scan = argument;
  enum tutti_status status = TUTTI_OK;
  DIR *entries = opendir(folder);
  struct dirent *entry;
  char name[256];
  while (entries && status == TUTTI_OK && (entry = readdir(entries)))
    for (int kind = 0; kind < TUTTI_KIND_COUNT && status == TUTTI_OK; kind++)
      if (tutti_plugin_file_name(entry->d_name, (enum tutti_kind)kind, name, sizeof name))
        status = add_file(scan, (enum tutti_kind)kind, folder, entry->d_name, name);
  if (entries)
    (void)closedir(entries);
  scan->places++;
  return status;
}

static int by_kind_and_name(const void *a_, const void *b_) {
  const struct found *a = a_, *b = b_;
  if (a->kind != b->kind)
    return (int)a->kind - (int)b->kind;
  int order = strcmp(a->name, b->name);
  return order ? order : a->place < b->place ? -1 : 1;
}

/* Do they have the same kind and name? */
static bool are_twins(const struct found *a, const struct found *b) {
  return a->kind == b->kind && strcmp(a->name, b->name) == 0;
}

static const char *text_of(const json_t *answer, const char *key) {
  const char *text = json_string_value(json_object_get(answer, key));
  return text ? text : "";
}

static enum tutti_status show(tutti_context *context, const char *scanner, const struct found *found,
                              void (*visit)(void *argument, const struct tutti_plugin_entry *entry), void *argument) {
  json_t *answer = tutti_plugin_ask(context, scanner, found->file);
  if (tutti_cancelled(context)) {
    json_decref(answer);
    return TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "interrupted while plugins were looked at");
  }
  const struct tutti_plugin_entry entry = {.size = sizeof entry,
                                           .kind = found->kind,
                                           .name = found->name,
                                           .file = found->file,
                                           .works = json_is_true(json_object_get(answer, "works")),
                                           .reason = text_of(answer, "reason"),
                                           .version = text_of(answer, "version"),
                                           .summary = text_of(answer, "summary"),
                                           .lacking = json_is_true(json_object_get(answer, "lacking")),
                                           .uses = text_of(answer, "uses")};
  visit(argument, &entry);
  json_decref(answer);
  return TUTTI_OK;
}

/* A file that an earlier folder's stands before is not loaded; the same file, met by another way, is passed over. */
static void show_shadowed(const struct found *found, const struct found *first,
                          void (*visit)(void *argument, const struct tutti_plugin_entry *entry), void *argument) {
  const struct tutti_plugin_entry entry = {.size = sizeof entry,
                                           .kind = found->kind,
                                           .name = found->name,
                                           .file = found->file,
                                           .reason = "an earlier folder of the search path has it, too",
                                           .version = "",
                                           .summary = "",
                                           .shadowed_by = first->file,
                                           .uses = ""};
  if (!tutti_file_is_same(found->file, first->file))
    visit(argument, &entry);
}

enum tutti_status tutti_plugin_scan(tutti_context *context,
                                    void (*visit)(void *argument, const struct tutti_plugin_entry *entry),
                                    void *argument) {
  struct scan scan = {.context = context};
  const char *scanner = tutti_plugin_scanner(context);
  if (!scanner)
    return TUTTI_FAIL(context, TUTTI_ERROR_USAGE,
                      "plugins are scanned by a program, and none is named: call tutti_plugin_scan_with");
  enum tutti_status status = tutti_plugin_visit_folders(context, scan_folder, &scan);
  if (status == TUTTI_OK && scan.count > 1)
    qsort(scan.files, scan.count, sizeof *scan.files, by_kind_and_name);
  for (size_t i = 0, first = 0; i < scan.count && status == TUTTI_OK; i++) {
    if (!are_twins(&scan.files[i], &scan.files[first]))
      first = i;
    if (first == i)
      status = show(context, scanner, &scan.files[i], visit, argument);
    else
      show_shadowed(&scan.files[i], &scan.files[first], visit, argument);
  }
  for (size_t i = 0; i < scan.count; i++) {
    tutti_free(scan.files[i].name);
    tutti_free(scan.files[i].file);
  }
  tutti_free(scan.files);
  return status;
}
