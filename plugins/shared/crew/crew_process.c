/* crew_process.c - starts and ends a worker process. */
#include "crew_impl.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <tutti/cpu.h>
#include <unistd.h>

/* --- environment --- */

extern char **environ;

static bool is_set(const char *entry, const char *name) {
  size_t length = strlen(name);
  return strncmp(entry, name, length) == 0 && entry[length] == '=';
}

enum tutti_status crew_environment_make(tutti_context *context, const struct crew_config *config,
                                        struct crew_environment *environment) {
  size_t count = 0, *kept = &environment->count;
  while (environ[count])
    count++;
  TUTTI_TRY(context, tutti_alloc(context, count + 5, sizeof *environment->entries, &environment->entries));
  const char *coretype = getenv("OPENBLAS_CORETYPE") ? NULL : tutti_cpu_blas_coretype();
  for (size_t i = 0; i < count; i++)
    if (!is_set(environ[i], "OPENBLAS_NUM_THREADS") && !is_set(environ[i], "OMP_NUM_THREADS"))
      TUTTI_TRY(context, tutti_strdup(context, environ[i], &environment->entries[(*kept)++]));
  long long threads = (long long)config->blas_threads;
  TUTTI_TRY(context, tutti_format(context, &environment->entries[(*kept)++], "OPENBLAS_NUM_THREADS=%lld", threads));
  TUTTI_TRY(context, tutti_format(context, &environment->entries[(*kept)++], "OMP_NUM_THREADS=%lld", threads));
  if (coretype)
    TUTTI_TRY(context, tutti_format(context, &environment->entries[(*kept)++], "OPENBLAS_CORETYPE=%s", coretype));
  return TUTTI_OK;
}

void crew_environment_release(struct crew_environment *environment) {
  for (size_t i = 0; i < environment->count; i++)
    tutti_free(environment->entries[i]);
  tutti_free(environment->entries);
  *environment = (struct crew_environment){0};
}

/* --- process --- */

/* The first entry of a name counts, so one worker's own comes first; what it pushes away goes to the end. */
static void put_own(const struct crew_environment *environment, char *own) {
  environment->entries[environment->count] = environment->entries[0];
  environment->entries[0] = own;
}

static void take_own(const struct crew_environment *environment) {
  environment->entries[0] = environment->entries[environment->count];
  environment->entries[environment->count] = NULL;
}

static int spawn(const struct tutti_executor_setup *setup, const struct crew_environment *environment, const char *own,
                 int socket, pid_t *pid) {
  const char *const *command = setup->worker_command;
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  sigset_t none;
  (void)sigemptyset(&none);
  (void)posix_spawn_file_actions_init(&actions);
  (void)posix_spawnattr_init(&attributes);
  (void)posix_spawn_file_actions_adddup2(&actions, socket, 0);
  (void)posix_spawn_file_actions_adddup2(&actions, 2, 1); /* output that plugins print is not a result of the run */
  (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  (void)posix_spawnattr_setsigmask(&attributes, &none);
  if (own)
    put_own(environment, (char *)own);
  int error = posix_spawnp(pid, command[0], &actions, &attributes, (char *const *)command, environment->entries);
  if (own)
    take_own(environment);
  (void)posix_spawn_file_actions_destroy(&actions);
  (void)posix_spawnattr_destroy(&attributes);
  return error;
}

enum tutti_status crew_process_start(tutti_context *context, const struct tutti_executor_setup *setup,
                                     const struct crew_environment *environment, const char *own,
                                     struct crew_process *process) {
  enum tutti_status status = TUTTI_OK;
  int pair[2] = {-1, -1}, error = 0;
  *process = (struct crew_process){.socket = -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    status = TUTTI_FAIL(context, TUTTI_ERROR_IO, "cannot make a socket for a worker: %s", strerror(errno));
    goto out;
  }
  TUTTI_TRY_OUT(context, tutti_frames_create(context, &process->frames));
  error = spawn(setup, environment, own, pair[1], &process->pid);
  if (error) {
    process->pid = 0;
    tutti_frames_destroy(process->frames);
    process->frames = NULL;
    status = TUTTI_FAIL(context, TUTTI_ERROR_IO, "cannot start the worker program %s: %s", setup->worker_command[0],
                        strerror(error));
    goto out;
  }
  if (setup->memory_limit) {
    struct rlimit limit = {setup->memory_limit, setup->memory_limit};
    (void)prlimit(process->pid, RLIMIT_AS, &limit, NULL);
  }
  process->socket = pair[0];
  pair[0] = -1;
out:
  if (pair[0] >= 0)
    (void)close(pair[0]);
  if (pair[1] >= 0)
    (void)close(pair[1]);
  return status;
}

int crew_process_end(struct crew_process *process, int signal_number) {
  int how = 0;
  (void)close(process->socket);
  if (signal_number)
    (void)kill(process->pid, signal_number);
  while (waitpid(process->pid, &how, 0) < 0 && errno == EINTR)
    ;
  tutti_frames_destroy(process->frames);
  *process = (struct crew_process){.socket = -1};
  return how;
}
