/* run_effort.c - tells what a manager's work has cost. */
#include "manager_impl.h"

#include <inttypes.h>
#include <sys/resource.h>

void tutti_effort_log(const struct tutti_manager *manager) {
  const struct tutti_effort *effort = &manager->effort;
  const double *seconds = effort->seconds;
  const uint64_t *times = effort->times;
  tutti_context *context = manager->context;
  struct rusage usage = {0};
  char *said = NULL;
  (void)getrusage(RUSAGE_SELF, &usage);
  tutti_log(context, TUTTI_LOG_INFO,
            "manager: %" PRIu64 " asks in %.4g s (%.4g ms each), %" PRIu64 " results told in %.4g s, %" PRIu64
            " commits in %.4g s, %" PRIu64
            " replies in %.4g s, waited for %.4g s; the longest step took %.4g s; memory %.4g MiB",
            times[TUTTI_EFFORT_ASK], seconds[TUTTI_EFFORT_ASK],
            times[TUTTI_EFFORT_ASK] ? 1e3 * seconds[TUTTI_EFFORT_ASK] / (double)times[TUTTI_EFFORT_ASK] : 0,
            times[TUTTI_EFFORT_TELL], seconds[TUTTI_EFFORT_TELL], times[TUTTI_EFFORT_RECORD],
            seconds[TUTTI_EFFORT_RECORD], times[TUTTI_EFFORT_REPLY], seconds[TUTTI_EFFORT_REPLY],
            seconds[TUTTI_EFFORT_WAIT], effort->longest, (double)usage.ru_maxrss / 1024);
  if (!manager->executor)
    return;
  if (tutti_executor_describe(context, manager->executor, &said) != TUTTI_OK)
    tutti_error_clear(context);
  if (said)
    tutti_log(context, TUTTI_LOG_INFO, "executor %s: %s", tutti_executor_descriptor(manager->executor)->name, said);
  tutti_free(said);
}
