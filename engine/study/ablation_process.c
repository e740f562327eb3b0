/* ablation_process.c - the child process that works on a cell: starting it, waiting for it, ending it, and finding out
   why it failed. Children are spawned, never forked, in their own process groups: an interrupt at the terminal reaches
   only the ablation, which passes it on. Their standard output is a pipe; when it closes, they have ended. */
#include "ablation_impl.h"

#include "core/base/file_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum tutti_status tutti_ablation_spawn(tutti_context *context, const char *const *command, const char *log,
                                       struct ablation_process *process) {
  enum tutti_status status = TUTTI_OK;
  int output[2];
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none;
  if (pipe2(output, O_CLOEXEC) != 0)
    return TUTTI_FAIL(context, TUTTI_ERROR_IO, "cannot make a pipe for a cell: %s", strerror(errno));
  (void)sigemptyset(&none);
  (void)posix_spawn_file_actions_init(&actions);
  (void)posix_spawnattr_init(&attributes);
  (void)posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  (void)posix_spawn_file_actions_adddup2(&actions, output[1], 1);
  (void)posix_spawn_file_actions_addopen(&actions, 2, log, O_WRONLY | O_CREAT | O_APPEND, 0644);
  (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  (void)posix_spawnattr_setsigmask(&attributes, &none);
  int error = posix_spawnp(&process->pid, command[0], &actions, &attributes, (char *const *)command, environ);
  (void)close(output[1]);
  process->output = output[0];
  if (error) {
    (void)close(output[0]);
    process->pid = 0;
    status = TUTTI_FAIL(context, TUTTI_ERROR_IO, "cannot start %s (with messages to %s): %s", command[0], log,
                        strerror(error));
  }
  (void)posix_spawn_file_actions_destroy(&actions);
  (void)posix_spawnattr_destroy(&attributes);
  return status;
}

enum tutti_status tutti_ablation_wait(tutti_context *context, tutti_ablation *ablation, double seconds) {
  struct pollfd *polls;
  nfds_t count = 0;
  TUTTI_TRY(context, tutti_alloc(context, ablation->count, sizeof *polls, &polls));
  for (size_t i = 0; i < ablation->count; i++)
    if (ablation->cells[i].process.pid)
      polls[count++] = (struct pollfd){.fd = ablation->cells[i].process.output, .events = POLLIN};
  if (poll(polls, count, (int)(seconds * 1000)) < 0 && errno != EINTR) {
    tutti_free(polls);
    return TUTTI_FAIL(context, TUTTI_ERROR_IO, "cannot wait for cells: %s", strerror(errno));
  }
  tutti_free(polls);
  return TUTTI_OK;
}

/* Read the available output; at the end of the pipe the process has ended, or is about to. */
bool tutti_ablation_ended(struct ablation_process *process, int *how) {
  char buffer[4096];
  struct pollfd ready = {.fd = process->output, .events = POLLIN};
  while (poll(&ready, 1, 0) > 0) {
    ssize_t n = read(process->output, buffer, sizeof buffer);
    if (n > 0 || (n < 0 && errno == EINTR))
      continue;
    (void)close(process->output);
    while (waitpid(process->pid, how, 0) < 0 && errno == EINTR)
      ;
    process->pid = 0;
    return true;
  }
  return false;
}

void tutti_ablation_kill(struct ablation_process *process) {
  if (!process->pid)
    return;
  (void)kill(process->pid, SIGKILL);
  while (waitpid(process->pid, NULL, 0) < 0 && errno == EINTR)
    ;
  (void)close(process->output);
  process->pid = 0;
}

/* The last line that begins with "tutti: ", without it; NULL when there is none. Cuts the text. */
static const char *last_message(char *text) {
  static const char mark[] = "tutti: ";
  for (;;) {
    char *line = strrchr(text, '\n');
    line = line ? line + 1 : text;
    if (strncmp(line, mark, sizeof mark - 1) == 0)
      return line + sizeof mark - 1;
    if (line == text)
      return NULL;
    line[-1] = '\0';
  }
}

enum tutti_status tutti_ablation_reason(tutti_context *context, const char *log, int how, char **reason) {
  char *text = NULL;
  size_t bytes;
  if (WIFSIGNALED(how))
    return tutti_format(context, reason, "the process was killed by signal %d (%s)", WTERMSIG(how),
                        strsignal(WTERMSIG(how)));
  if (tutti_file_read(context, log, &text, &bytes) != TUTTI_OK)
    tutti_error_clear(context);
  const char *message = text ? last_message(text) : NULL;
  enum tutti_status status = message
                                 ? tutti_strdup(context, message, reason)
                                 : tutti_format(context, reason, "exit code %d, without a message", WEXITSTATUS(how));
  tutti_free(text);
  return status;
}
