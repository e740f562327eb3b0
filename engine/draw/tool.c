/* tool.c - runs another program as a filter. Its input is a file in memory, so that it may read and write as it likes.
   */
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <tutti/clock.h>
#include <unistd.h>

enum { TIMEOUT_SECONDS = 60, POLL_MILLISECONDS = 100, PIECE = 1 << 16, MOST_OF_MESSAGE = 400 };

extern char **environ;

struct child {
  const char *name;
  pid_t id;
  int input, output, messages;
};

static enum tutti_status fail(tutti_context *context, const char *name, const char *doing) {
  return TUTTI_FAIL(context, TUTTI_ERROR_IO, "%s: cannot %s: %s", name, doing, strerror(errno));
}

static enum tutti_status write_all(tutti_context *context, const struct child *child, const char *text) {
  for (size_t left = strlen(text); left > 0;) {
    ssize_t n = write(child->input, text, left);
    if (n < 0 && errno != EINTR)
      return fail(context, child->name, "hand over its input");
    text += n > 0 ? n : 0;
    left -= n > 0 ? (size_t)n : 0;
  }
  return lseek(child->input, 0, SEEK_SET) == 0 ? TUTTI_OK : fail(context, child->name, "hand over its input");
}

/* In a process group of its own, so that an interrupt at the terminal reaches it only through us. */
static enum tutti_status spawn(tutti_context *context, const char *const *command, struct child *child) {
  int ends[2];
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  if (pipe2(ends, O_CLOEXEC) != 0)
    return fail(context, child->name, "make a pipe for it");
  (void)posix_spawn_file_actions_init(&actions);
  (void)posix_spawnattr_init(&attributes);
  (void)posix_spawn_file_actions_adddup2(&actions, child->input, 0);
  (void)posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  (void)posix_spawn_file_actions_adddup2(&actions, child->messages, 2);
  (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  int error = posix_spawnp(&child->id, command[0], &actions, &attributes, (char *const *)(uintptr_t)command, environ);
  (void)posix_spawn_file_actions_destroy(&actions);
  (void)posix_spawnattr_destroy(&attributes);
  (void)close(ends[1]);
  child->output = ends[0];
  if (!error)
    return TUTTI_OK;
  child->id = 0;
  return TUTTI_FAIL(context, error == ENOENT ? TUTTI_ERROR_UNSUPPORTED : TUTTI_ERROR_IO, "%s cannot be run: %s",
                    child->name, strerror(error));
}

static enum tutti_status read_all(tutti_context *context, const struct child *child, char **output) {
  double end = tutti_clock() + TIMEOUT_SECONDS;
  size_t used = 0, room = 0;
  for (;;) {
    struct pollfd wait = {.fd = child->output, .events = POLLIN};
    if (tutti_cancelled(context))
      return TUTTI_FAIL(context, TUTTI_ERROR_CANCELLED, "%s was ended: cancelled", child->name);
    if (tutti_clock() > end)
      return TUTTI_FAIL(context, TUTTI_ERROR_IO, "%s was ended: it took longer than %d s", child->name,
                        TIMEOUT_SECONDS);
    if (poll(&wait, 1, POLL_MILLISECONDS) <= 0)
      continue;
    if (room - used < PIECE + 1) {
      TUTTI_TRY(context, tutti_realloc(context, used, 2 * room + PIECE + 1, 1, output));
      room = 2 * room + PIECE + 1;
    }
    ssize_t n = read(child->output, *output + used, room - used - 1);
    if (n < 0 && errno != EINTR)
      return fail(context, child->name, "read its output");
    if (n == 0)
      break;
    used += n > 0 ? (size_t)n : 0;
  }
  (*output)[used] = '\0';
  return TUTTI_OK;
}

/* Its first line that is not blank. */
static void first_message(const struct child *child, char message[MOST_OF_MESSAGE]) {
  ssize_t n = pread(child->messages, message, MOST_OF_MESSAGE - 1, 0);
  message[n > 0 ? n : 0] = '\0';
  size_t blank = strspn(message, " \t\r\n");
  memmove(message, message + blank, strlen(message + blank) + 1);
  message[strcspn(message, "\r\n")] = '\0';
}

static enum tutti_status finish(tutti_context *context, const struct child *child) {
  char message[MOST_OF_MESSAGE];
  int how = 0;
  while (waitpid(child->id, &how, 0) < 0 && errno == EINTR)
    ;
  if (WIFEXITED(how) && WEXITSTATUS(how) == 0)
    return TUTTI_OK;
  if (WIFEXITED(how) && WEXITSTATUS(how) == 127)
    return TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED, "%s cannot be run", child->name);
  first_message(child, message);
  return WIFSIGNALED(how)
             ? TUTTI_FAIL(context, TUTTI_ERROR_IO, "%s was killed by signal %d", child->name, WTERMSIG(how))
             : TUTTI_FAIL(context, TUTTI_ERROR_IO, "%s failed with exit code %d: %s", child->name, WEXITSTATUS(how),
                          *message ? message : "without a message");
}

enum tutti_status tutti_tool_run(tutti_context *context, const char *const *command, const char *input, char **output) {
  enum tutti_status status = TUTTI_OK;
  struct child child = {.name = command[0], .output = -1};
  *output = NULL;
  child.input = memfd_create("tutti-input", MFD_CLOEXEC);
  child.messages = memfd_create("tutti-messages", MFD_CLOEXEC);
  if (child.input < 0 || child.messages < 0)
    TUTTI_TRY_OUT(context, fail(context, child.name, "make a file in memory for it"));
  TUTTI_TRY_OUT(context, write_all(context, &child, input));
  TUTTI_TRY_OUT(context, spawn(context, command, &child));
  status = read_all(context, &child, output);
  if (status == TUTTI_OK)
    status = finish(context, &child);
  else {
    (void)kill(child.id, SIGKILL);
    while (waitpid(child.id, NULL, 0) < 0 && errno == EINTR)
      ;
  }
out:
  for (size_t i = 0; i < 3; i++) {
    const int files[] = {child.input, child.messages, child.output};
    if (files[i] >= 0)
      (void)close(files[i]);
  }
  if (status != TUTTI_OK) {
    tutti_free(*output);
    *output = NULL;
  }
  return status;
}
