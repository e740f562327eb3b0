/* crew_cores.c - the cores that workers are bound to: worker i of a crew gets the i-th set of blas_threads cores of
   those that this process may use, so that no two workers share one. */
#include "crew_impl.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

const char *const crew_bindings[] = {[CREW_BIND_NO] = "no", [CREW_BIND_CORES] = "cores", NULL};

static enum tutti_status read_allowed(tutti_context *context, cpu_set_t *allowed) {
  CPU_ZERO(allowed);
  return sched_getaffinity(0, sizeof *allowed, allowed) == 0
             ? TUTTI_OK
             : TUTTI_FAIL(context, TUTTI_ERROR_UNSUPPORTED,
                          "executor.bind = cores: the cores of this process are not known: %s; take bind = no",
                          strerror(errno));
}

enum tutti_status crew_cores_check(tutti_context *context, const struct crew_config *config, size_t workers) {
  cpu_set_t allowed;
  if (config->bind == CREW_BIND_NO)
    return TUTTI_OK;
  TUTTI_TRY(context, read_allowed(context, &allowed));
  size_t cores = (size_t)CPU_COUNT(&allowed), threads = (size_t)config->blas_threads;
  if (workers <= cores / threads)
    return TUTTI_OK;
  return TUTTI_FAIL(
      context, TUTTI_ERROR_USAGE,
      "executor.bind = cores: %zu workers with %zu cores each (executor.blas_threads), and this process may "
      "use %zu cores; take fewer workers (run.workers, or executor.workers_per_rank), or bind = no",
      workers, threads, cores);
}

enum tutti_status crew_cores_enter(tutti_context *context, const struct crew_config *config, size_t worker,
                                   cpu_set_t *before) {
  cpu_set_t own;
  size_t threads = (size_t)config->blas_threads, first = worker * threads, seen = 0;
  CPU_ZERO(before);
  if (config->bind == CREW_BIND_NO)
    return TUTTI_OK;
  TUTTI_TRY(context, read_allowed(context, before));
  CPU_ZERO(&own);
  for (int core = 0; core < CPU_SETSIZE; core++) {
    if (!CPU_ISSET(core, before))
      continue;
    if (seen >= first && seen < first + threads)
      CPU_SET(core, &own);
    seen++;
  }
  if (sched_setaffinity(0, sizeof own, &own) == 0)
    return TUTTI_OK;
  int error = errno;
  CPU_ZERO(before);
  return TUTTI_FAIL(context, TUTTI_ERROR_IO, "executor.bind = cores: worker %zu cannot be bound: %s", worker,
                    strerror(error));
}

void crew_cores_leave(const cpu_set_t *before) {
  if (CPU_COUNT(before) > 0)
    (void)sched_setaffinity(0, sizeof *before, before);
}
